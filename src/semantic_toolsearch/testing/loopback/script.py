"""The decisions of a scripted model, the same for every provider.

A script is a list of steps, or a function that sees the request and returns the next step. Each response takes steps
until one of them ends it: a call, a text, a pause. A hosted search does not, since the provider answers it at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from .refusal import ScriptError

if TYPE_CHECKING:
    from .view import RequestView

__all__ = [
    "HOSTED_ERRORS",
    "Call",
    "Cut",
    "Decide",
    "HostedError",
    "Parallel",
    "Pause",
    "Say",
    "Script",
    "ScriptSource",
    "Search",
    "Status",
    "Step",
    "StreamError",
]

HOSTED_ERRORS: Final = ("invalid_tool_input", "unavailable", "too_many_requests", "execution_time_exceeded")


@dataclass(frozen=True, slots=True)
class Say:
    """The model writes a text; on its own it ends the turn, inside `Parallel` it stands before or after the rest."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """The model calls a tool.

    Attributes:
        tool: Name on the wire; ``namespace.name`` and ``namespace__name`` also find a function of a namespace.
        arguments: What it passes; a text stands for arguments that are no JSON (OpenAI only).
        id: The call's id, or None for a new one.
        namespace: OpenAI namespace, where the name alone is ambiguous.
        caller: Who calls, for example ``{"type": "program", "caller_id": "prog_1"}``, or None for the model itself.
    """

    tool: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str | None = None
    namespace: str | None = None
    caller: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Search:
    """The model searches, by whatever search the request offers.

    Attributes:
        query: What it looks for. As a regular expression: any of the words, unless ``pattern`` is given.
        limit: How many tools it asks for.
        paths: OpenAI hosted: the names that it loads. None takes the names that stand in the query, else what fits it
            best by what the model sees, else by what is hidden from it (emulated).
        pattern: Anthropic's regex variant: the expression.
        arguments: Arguments of a search that we run, in place of ``{"query": ..., "limit": ...}``.
        id: Id of a call that we run, or None for a new one.
        optional: Whether the model goes on without it where the request offers no search.
    """

    query: str = ""
    limit: int | None = None
    paths: tuple[str, ...] | None = None
    pattern: str | None = None
    arguments: Mapping[str, Any] | None = None
    id: str | None = None
    optional: bool = False


@dataclass(frozen=True, slots=True)
class HostedError:
    """A hosted Anthropic search fails with HTTP 200 and an error block; the model goes on.

    Raises:
        ValueError: The code is none of `HOSTED_ERRORS`.
    """

    code: str
    query: str = "anything"
    message: str | None = None

    def __post_init__(self) -> None:
        if self.code not in HOSTED_ERRORS:
            raise ValueError(
                f"no such error of hosted search: {self.code!r}; one of {', '.join(HOSTED_ERRORS)}"
            )


@dataclass(frozen=True, slots=True)
class Pause:
    """Anthropic stops with ``pause_turn`` after a hosted search, or with one still open; elsewhere nothing happens."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The token limit ends the response in the middle of a call, a search or a text."""

    step: Call | Say | Search


@dataclass(frozen=True, slots=True)
class Status:
    """The request fails with an HTTP status, in the provider's error form.

    Attributes:
        status: For example 429, 500 or 529.
        body: The whole body, or a message for the usual one.
        headers: Further headers; both SDKs honour ``retry-after-ms`` and ``x-should-retry``.
    """

    status: int
    body: Mapping[str, Any] | str = "scripted failure"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StreamError:
    """A stream breaks off with an error event after what was written so far; without streaming it is a `Status`."""

    message: str = "Overloaded"
    type: str = "overloaded_error"
    status: int = 529


@dataclass(frozen=True, slots=True)
class Parallel:
    """Several blocks of one response; nested groups are not allowed."""

    steps: Sequence[Say | Call | Search | Pause]


Step: TypeAlias = Say | Call | Search | HostedError | Pause | Cut | Status | StreamError | Parallel
"""One thing that the model does."""

Decide: TypeAlias = Callable[["RequestView"], Step | None]
"""Sees a request as the model does and says what the model does next; None where the script has ended."""

ScriptSource: TypeAlias = Sequence[Step | Decide] | Decide
"""The whole script: steps, functions among them if need be, or one function."""


class Script:
    """A cursor over a script; several requests may use it at once."""

    def __init__(self, source: ScriptSource) -> None:
        self._decide: Decide | None = None
        self._steps: tuple[Step | Decide, ...] = ()
        if callable(source):
            self._decide = source
        else:
            self._steps = tuple(source)
        self._position = 0
        self._lock = threading.RLock()

    @property
    def remaining(self) -> int:
        """Steps that no response has taken yet; 0 for a function."""
        return len(self._steps) - self._position

    def response(self) -> AbstractContextManager[object]:
        """One response takes its steps while it holds this; functions need not wait for each other."""
        return nullcontext() if self._decide else self._lock

    def next(self, view: RequestView) -> Step:
        """Return the model's next decision.

        Raises:
            ScriptError: The script has ended.
        """
        step: Step | Decide | None
        if self._decide is not None:
            step = self._decide(view)
        elif self._position < len(self._steps):
            step = self._steps[self._position]
            self._position += 1
            if callable(step):
                step = step(view)
        else:
            step = None
        if step is None:
            raise ScriptError(f"the script has no step left for request {view.index} ({view.api})")
        return step
