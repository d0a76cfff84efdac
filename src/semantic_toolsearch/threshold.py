"""A threshold as people write it in; whether a request's tools reach it, in words with the numbers, out."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "Threshold",
    "ThresholdCheck",
    "TokenThreshold",
    "check_threshold",
    "estimate_tokens",
    "read_threshold",
    "read_whole",
]

_WHOLE: Final = re.compile(r"\s*([0-9]{1,15})\s*")
_SHARE: Final = re.compile(r"\s*([0-9]{1,3}(?:\.[0-9]{1,6})?)\s*%\s*")
_FORMS: Final = 'a number of tools, {"tokens": n}, a share such as "10%", or a list of these'


class TokenThreshold(BaseModel):
    """So many tokens of tool definitions."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tokens: int = Field(ge=1)


Threshold: TypeAlias = int | TokenThreshold | str | tuple[int | TokenThreshold | str, ...]
"""Number of tools; tokens; share of the context window as ``"10%"``; or several, any of which is enough."""


@dataclass(frozen=True, slots=True)
class ThresholdCheck:
    """Whether a threshold is reached, and the comparison in words."""

    reached: bool
    words: str


def read_threshold(value: Any) -> Threshold | None:
    """Return a threshold in its one canonical form; 0 of anything means always, as 1 tool does.

    Args:
        value: A whole number or its digits as text, a mapping with ``tokens``, a share as text, several of
            these in a list, or None for no threshold.

    Raises:
        ValueError: It is none of these; the message says what it may be.
    """
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        parts = tuple(_read_one(part) for part in value)
        if not parts:
            raise ValueError(f"an empty list is no threshold; give {_FORMS}")
        return parts[0] if len(parts) == 1 else parts
    return _read_one(value)


def check_threshold(
    threshold: Threshold | None,
    *,
    tools: int,
    tokens: Callable[[], int],
    window: int | None,
    cap: int | None,
) -> ThresholdCheck:
    """Compare a request's tools with a threshold.

    Args:
        threshold: As ``read_threshold`` returns it; None is never reached.
        tools: Number of visible tools.
        tokens: Counts the tokens of their definitions; called at most once, and only where tokens matter.
        window: Context window in tokens, None where it is not known.
        cap: Most tokens that a share of the window may stand for, None for no such limit.
    """
    if threshold is None:
        return ThresholdCheck(False, f"no threshold is set for the {_tools(tools)}")
    counted: list[int] = []

    def total() -> int:
        if not counted:
            counted.append(tokens())
        return counted[0]

    parts = threshold if isinstance(threshold, tuple) else (threshold,)
    checks = [_check_one(part, tools, total, window, cap) for part in parts]
    reached = [check for check in checks if check.reached]
    return ThresholdCheck(bool(reached), "; ".join(check.words for check in reached or checks))


def estimate_tokens(value: Any) -> int:
    """Tokens of a text or JSON value, taken as a quarter of its characters."""
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return math.ceil(len(value) / 4)


def read_whole(value: Any) -> int | None:
    """Return a whole number from 0, given as such or in digits; None for anything else."""
    if isinstance(value, str) and (digits := _WHOLE.fullmatch(value)):
        return int(digits[1])
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _read_one(value: Any) -> int | TokenThreshold | str:
    if isinstance(value, TokenThreshold):
        return value
    if isinstance(value, Mapping):
        if set(value) != {"tokens"}:
            raise ValueError(f"an object with {sorted(map(str, value))} is no threshold; give {_FORMS}")
        return TokenThreshold(tokens=max(_whole(value["tokens"]), 1))
    if isinstance(value, str) and (share := _SHARE.fullmatch(value)):
        percent = float(share[1])
        if percent > 100:
            raise ValueError(f"{value.strip()} is more than the whole window; a share is at most 100%")
        return f"{percent:g}%" if percent else 1
    return max(_whole(value), 1)


def _whole(value: Any) -> int:
    number = read_whole(value)
    if number is None:
        raise ValueError(f"{value!r} is no threshold; give {_FORMS}, with whole numbers from 0")
    return number


def _check_one(
    part: int | TokenThreshold | str,
    tools: int,
    total: Callable[[], int],
    window: int | None,
    cap: int | None,
) -> ThresholdCheck:
    if isinstance(part, int):
        reached = tools >= part
        how = "reach" if reached else "are below"
        return ThresholdCheck(reached, f"{_tools(tools)} {how} the threshold of {part:,}")
    if isinstance(part, TokenThreshold):
        limit, meaning = part.tokens, f"the threshold of {part.tokens:,} tokens"
    else:
        share = None if window is None else math.ceil(window * float(part[:-1]) / 100)
        limits = [number for number in (share, cap) if number is not None]
        if not limits:
            return ThresholdCheck(False, f"{part} of a window of unknown size is no number to compare with")
        limit = min(limits)
        size = "unknown size" if window is None else f"{window:,} tokens"
        capped = f", capped at {cap:,}" if cap is not None and limit == cap else ""
        meaning = f"{limit:,} tokens ({part} of a window of {size}{capped})"
    sum_ = total()
    reached = sum_ >= limit
    return ThresholdCheck(
        reached, f"{sum_:,} tokens of {_tools(tools)} {'reach' if reached else 'are below'} {meaning}"
    )


def _tools(number: int) -> str:
    return f"{number:,} tool{'' if number == 1 else 's'}"
