"""What an SDK raised in; why a query has no answer, and what that means for the others, out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

__all__ = ["NoAnswer", "Stops", "fault_of", "redacted", "without"]

Stops = Literal["never", "first", "always"]

_MOST_CHARACTERS: Final = 300
_SHORTEST_KEY: Final = 12
_ALWAYS: Final = (401, 402, 403, 404)
"""The key, the account or the model is wrong: no other query can go better."""
_FIRST: Final = (400, 405, 413, 422)
"""The request is wrong; where none has been accepted yet, all of them are."""
_OUT_OF_MONEY: Final = ("insufficient_quota", "billing_not_active", "billing_error")


class NoAnswer(Exception):  # noqa: N818 - it is the outcome of a query, never raised to a caller
    """A query has no answer.

    Args:
        reason: Why, in words.
        stops: Whether no further query is to be asked: ``always``, or where none has been accepted yet (``first``).
        final: Whether it is what the model did, so that asking again would be another draw. What is not final is
            asked again by a later run.
    """

    def __init__(self, reason: str, *, stops: Stops = "never", final: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.stops = stops
        self.final = final


def fault_of(sdk: Any, error: Exception, *, timeout: float, max_retries: int, secret: str | None) -> NoAnswer:
    """Say what an exception of a provider's SDK means.

    Args:
        sdk: The package, whose exceptions have the same names at both providers.
        error: What it raised, after its own retries.
        timeout: Seconds that one attempt had.
        max_retries: Further attempts that it had.
        secret: The key, which messages may repeat.
    """
    again = f" (asked again up to {max_retries} times)" if max_retries else ""
    if isinstance(error, sdk.APITimeoutError):
        return NoAnswer(f"no response within {timeout:g} s{again}")
    if isinstance(error, sdk.APIStatusError):
        status, body = error.status_code, _inner(error.body)
        message = redacted(str(body.get("message") or error.message), secret)
        code = str(body.get("code") or body.get("type") or "")
        if status in _ALWAYS or code in _OUT_OF_MONEY:
            return NoAnswer(f"HTTP {status}: {message}", stops="always")
        if status in _FIRST:
            return NoAnswer(f"HTTP {status}: {message}", stops="first")
        return NoAnswer(f"HTTP {status}: {message}{again}")
    if isinstance(error, sdk.APIConnectionError):
        cause = f": {error.__cause__}" if error.__cause__ else ""
        return NoAnswer(redacted(f"no connection{cause}", secret) + again)
    return NoAnswer(redacted(f"{type(error).__name__}: {error}", secret))


def redacted(text: str, secret: str | None) -> str:
    """The text on one line, shortened, without the secret."""
    line = " ".join(without(secret, text).split())
    return line if len(line) <= _MOST_CHARACTERS else f"{line[:_MOST_CHARACTERS]} [...]"


def without(secret: str | None, text: str) -> str:
    """The text with a mark in place of the secret; a word that is no real key stays."""
    return text.replace(secret, "[key]") if secret and len(secret) >= _SHORTEST_KEY else text


def _inner(body: Any) -> Mapping[str, Any]:
    """The part of an error body that tells what is wrong; one SDK gives it, the other what stands around it."""
    if not isinstance(body, Mapping):
        return {}
    inner = body.get("error")
    return inner if isinstance(inner, Mapping) else body
