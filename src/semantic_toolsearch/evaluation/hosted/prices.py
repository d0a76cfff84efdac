"""What providers ask for a million tokens, as far as it is known, with where and when it was read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

__all__ = ["PRICES", "Price", "price_of"]


@dataclass(frozen=True, slots=True)
class Price:
    """Prices of one model in US dollars per 10^6 tokens.

    Attributes:
        input: Of a token that is read, outside of any cache.
        output: Of a token that is written.
        source: Where this was read.
        date: When, as year and month.
    """

    input: float
    output: float
    source: str = "as given"
    date: str = ""


_CLAUDE: Final = "platform.claude.com, model overview"
_GPT: Final = "docs.github.com, models and pricing"

PRICES: Final[Mapping[str, Price]] = MappingProxyType(
    {
        "claude-sonnet-5": Price(2.00, 10.00, _CLAUDE, "2026-11"),
        "claude-haiku-4-5": Price(1.00, 5.00, _CLAUDE, "2026-11"),
        "claude-opus-5": Price(5.00, 25.00, _CLAUDE, "2026-11"),
        "gpt-5.4": Price(2.50, 15.00, f"{_GPT} (prompts up to 272,000 tokens)", "2026-11"),
        "gpt-5.4-mini": Price(0.75, 4.50, _GPT, "2026-11"),
        "gpt-5.4-nano": Price(0.20, 1.25, _GPT, "2026-11"),
    }
)
"""Prices change: look them up before a large run, and give your own where they differ."""


def price_of(model: str, prices: Mapping[str, Price] | None = None) -> Price | None:
    """The price of a model, also of one release of it by date; None where none is known.

    Args:
        model: Model id.
        prices: Prices of the user's own, which win.
    """
    undated = re.sub(r"[-@]\d{8}$|-\d{4}-\d{2}-\d{2}$", "", model)
    for table in (prices or {}, PRICES):
        for name in (model, undated):
            if name in table:
                return table[name]
    return None
