"""A Python function in, the same function out, marked with how it travels as a tool."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar, overload

from semantic_toolsearch.errors import ConfigError

__all__ = ["Mark", "mark_of", "tool"]

_MARK: Final = "__toolsearch__"
_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Mark:
    """What `tool` says about a function; a `functools.wraps` wrapper inherits it with the attributes."""

    defer: Literal["never", "automatic", "always"] = "automatic"
    namespace: str | None = None
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@overload
def tool(function: _F, /) -> _F: ...
@overload
def tool(
    *,
    deferred: bool = False,
    never: bool = False,
    namespace: str | None = None,
    aliases: Iterable[str] = (),
    tags: Iterable[str] = (),
) -> Callable[[_F], _F]: ...
def tool(
    function: _F | None = None,
    /,
    *,
    deferred: bool = False,
    never: bool = False,
    namespace: str | None = None,
    aliases: Iterable[str] = (),
    tags: Iterable[str] = (),
) -> _F | Callable[[_F], _F]:
    """Mark a function as a tool and say how it travels; the function itself is returned, not a wrapper.

    Args:
        function: Given when used bare, as `@tool`.
        deferred: Always defer it (policy `always`).
        never: Always send its schema (policy `never`).
        namespace: Server or category.
        aliases: Other names to find it by.
        tags: Words to find it by.

    Raises:
        ConfigError: `deferred` and `never` at once, aliases that are one string, or an object that takes no
            mark.
    """
    if deferred and never:
        raise ConfigError("tool(deferred=True, never=True) contradicts itself: give one of them.")
    for label, words in (("aliases", aliases), ("tags", tags)):
        if isinstance(words, str):
            raise ConfigError(f"tool({label}={words!r}) is one string; give a list: {label}=[{words!r}].")
    policy: Literal["never", "automatic", "always"] = (
        "always" if deferred else "never" if never else "automatic"
    )
    mark = Mark(policy, namespace, tuple(aliases), tuple(tags))

    def decorate(function: _F) -> _F:
        try:
            setattr(function, _MARK, mark)
        except (AttributeError, TypeError):
            kind = type(function).__name__
            raise ConfigError(
                f"{kind} objects cannot be marked; wrap it in a function of your own."
            ) from None
        return function

    return decorate if function is None else decorate(function)


def mark_of(function: Any) -> Mark:
    """Return a function's mark, looked for through `functools.wraps` wrappers, partials and bound methods."""
    for _ in range(100):
        mark = getattr(function, _MARK, None)
        if isinstance(mark, Mark):
            return mark
        if isinstance(function, functools.partial):
            function = function.func
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        else:
            break
    return Mark()
