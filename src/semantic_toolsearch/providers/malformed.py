"""A function that reads a response or a stream in; the same, with one kind of error for all that is malformed, out.

Gateways and compatible servers put parts of any type anywhere. What a model wrote is no concern of this file: a
call's arguments, whatever they are, are read by `base.read_call` and never fail a response.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any, TypeAlias, TypeVar

from semantic_toolsearch.errors import ConversationError, ToolSearchError

__all__ = ["reads_responses", "reads_streams"]

_Read = TypeVar("_Read")
_Reader: TypeAlias = Callable[[Any], _Read]


def reads_responses(provider: str) -> Callable[[_Reader[_Read]], _Reader[_Read]]:
    """Decorate a function that reads a response: whatever is wrong with one is told as one kind of error."""

    def decorate(read: _Reader[_Read]) -> _Reader[_Read]:
        @wraps(read)
        def reading(response: Any) -> _Read:
            try:
                return read(response)
            except ToolSearchError:
                raise
            except Exception as fault:  # parts of any type stand anywhere, and objects raise what they like
                raise _unreadable("response", provider, fault) from fault

        return reading

    return decorate


def reads_streams(provider: str) -> Callable[[_Reader[_Read]], _Reader[_Read]]:
    """Decorate a function that reads a stream, as `reads_responses`; what the stream itself raises passes through."""

    def decorate(read: _Reader[_Read]) -> _Reader[_Read]:
        @wraps(read)
        def reading(events: Iterable[Any]) -> _Read:
            source = _Source(events)
            try:
                return read(source)
            except ToolSearchError:
                raise
            except Exception as fault:  # as above
                if fault is source.failure:  # a broken connection is the caller's to see as it is
                    raise
                raise _unreadable("stream", provider, fault) from fault

        return reading

    return decorate


class _Source:
    """A stream that remembers what it raised."""

    def __init__(self, events: Iterable[Any]) -> None:
        self._events = iter(events)
        self.failure: Exception | None = None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._events)
        except StopIteration:
            raise
        except Exception as failure:
            self.failure = failure
            raise


def _unreadable(what: str, provider: str, fault: Exception) -> ConversationError:
    kind = type(fault).__name__
    return ConversationError(f"This {what} of {provider} is malformed and cannot be read ({kind}).")
