"""What messages say about tools, fact by fact: the records that ``history`` reads out of a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from semantic_toolsearch.search_records import Form, WireName

__all__ = ["Answered", "Asked", "Called", "Fact", "Found", "Noted", "Place"]


class Place(NamedTuple):
    """Where a call or an answer stands: index of the message, and field and index of the part; None for all of it."""

    at: int
    field: Literal["content", "tool_calls", "parts"] | None = None
    part: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """The model asked for tools.

    Attributes:
        at: Index of the message.
        id: What the answer echoes; empty where the format gives none.
        arguments: The object sent, or the text that was none.
        hosted: Whether the provider searches.
    """

    at: int
    id: str
    arguments: Any
    hosted: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A search of this conversation was answered.

    Attributes:
        at: Index of the message.
        id: Id of the search, empty where the format gives none.
        names: Tools that it loads, best first; empty for a miss, an error and an unreadable answer.
        hosted: Whether the provider searched.
        form: How the tools arrived: by ``references`` (Anthropic), as ``definitions`` (OpenAI search output),
            or as a ``record`` (JSON of ours).
        call: Index of the message with the search.
        record: The JSON object of a ``record``, or None.
    """

    at: int
    id: str
    names: tuple[WireName, ...]
    hosted: bool
    form: Form
    call: int
    record: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Called:
    """The model called a tool, answered or not.

    Attributes:
        at: Index of the message.
        id: What the result echoes; empty where the format gives none.
        name: The tool as called; through the bridge, the tool that it names.
        namespace: OpenAI namespace, or None.
        bridged: Whether the call went through ``call_tool``.
    """

    at: int
    id: str
    name: str
    namespace: str | None = None
    bridged: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """A call of an ordinary tool was answered.

    Attributes:
        at: Index of the message.
        id: Id of the call.
        part: Index of the block within the message, or None where the message is the answer.
        call: Index of the message with the call.
    """

    at: int
    id: str
    part: int | None
    call: int


@dataclass(frozen=True, slots=True)
class Noted:
    """A system message says what a compacted part of the conversation had loaded."""

    at: int
    names: tuple[WireName, ...]


Fact: TypeAlias = Asked | Found | Called | Answered | Noted
"""One thing that messages say about tools. (Events are what a hook is told, see ``events``.)"""
