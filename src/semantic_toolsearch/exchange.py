"""The types that the conversation half hands from one module to the next, and the two fixed tools of its own.

History and policy make a ``TurnPlan``; a provider renders a ``TurnRequest`` as its ``tools`` list and reads a response
back as a ``ParsedResponse``. Nothing here knows a provider's format.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from semantic_toolsearch.hidden_text import seen
from semantic_toolsearch.results import MOST_NAMESPACES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.results import SearchResult

__all__ = [
    "BRIDGE_TOOL_NAME",
    "SEARCH_TOOL_NAME",
    "Api",
    "Mode",
    "OwnTool",
    "ParsedResponse",
    "RawCall",
    "SearchCall",
    "ToolCall",
    "TurnPlan",
    "TurnRequest",
    "as_dict",
    "bridge_tool",
    "search_record",
    "search_tool",
]

SEARCH_TOOL_NAME: Final = "tool_search"
BRIDGE_TOOL_NAME: Final = "call_tool"

Api: TypeAlias = Literal["anthropic", "responses", "chat", "gemini"]
"""The wire format of a request: Anthropic Messages, OpenAI Responses, OpenAI Chat Completions, Gemini-style."""

Mode: TypeAlias = Literal["full", "hosted", "reference", "output", "stub", "bridge"]
"""Who searches and how a found tool arrives: nobody; the provider; ours by Anthropic references; ours by OpenAI search
output; ours, with stubs that the next request replaces; ours, with calls through one fixed tool."""


@dataclass(frozen=True, slots=True)
class OwnTool:
    """A tool of this library's own: name, description and JSON Schema."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """What one request will carry, and why.

    Attributes:
        mode: How deferred tools are searched and loaded.
        api: Wire format.
        reason: Why this mode, in words, with the numbers that decided.
        full: Wire names sent with their schema, in the order they are sent: undeferred tools in catalog order, then
            loaded ones in first-seen order (in the modes where loading moves a tool to full).
        deferred: Wire names that are not loaded yet or, in cache-keeping modes, stay declared as deferred.
        loaded: Wire names whose schema the model has or gets now because the conversation loaded them.
        search: Who searches: None, ``ours``, ``bm25`` or ``regex`` (Anthropic), ``openai``.
        unloaded: How an unloaded tool travels in stub mode: as a ``stub``, or not at all (``omit``).
        namespace_max: Most functions of one OpenAI namespace, or None.
        betas: Beta headers that this transport needs, for the caller to send.
        warnings: What the programmer should know.
        forced: The tool that ``tool_choice`` names, or None.
        room: Most tools that searches can have loaded at a time, where the request may have only so many; else
            None.
    """

    mode: Mode
    api: Api
    reason: str
    full: tuple[str, ...]
    deferred: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()
    search: Literal["ours", "bm25", "regex", "openai"] | None = None
    unloaded: Literal["stub", "omit"] = "stub"
    namespace_max: int | None = 9
    betas: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    forced: str | None = None
    room: int | None = None


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """Everything a provider needs to write a ``tools`` list.

    Attributes:
        catalog: The tools; ``plan`` names some of them by wire name.
        plan: What to send.
        search_tool: Our search tool where ``plan.search`` is ``ours``, else None.
        bridge: The fixed call tool in bridge mode, else None.
        extra: Entries of the caller's own that are passed through unchanged and in front (provider-defined tools).
        cache_breakpoint: Whether to put a prompt-cache marker on the last tool that may carry one.
        result_schemas: Whether search results of ours carry the full schemas.
    """

    catalog: Catalog
    plan: TurnPlan
    search_tool: OwnTool | None = None
    bridge: OwnTool | None = None
    extra: tuple[dict[str, Any], ...] = ()
    cache_breakpoint: bool = False
    result_schemas: Literal["none", "full"] = "none"


@dataclass(frozen=True, slots=True)
class SearchCall:
    """The model asks our search tool.

    Attributes:
        id: What the answer must echo.
        arguments: As the model sent them: an object, or a text that is none.
        raw: The item or block as received.
    """

    id: str
    arguments: Any
    raw: Mapping[str, Any] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class RawCall:
    """A call as it stands on the wire, before it is resolved to a tool.

    Attributes:
        id: What the result must echo.
        name: Name as called.
        namespace: OpenAI namespace, or None.
        arguments: An object, or the text that was no JSON object.
        caller: Who calls (programmatic calling), or None.
        raw: The item or block as received.
    """

    id: str
    name: str
    namespace: str | None
    arguments: Any
    caller: Mapping[str, Any] | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call for the application to run. Equal where tool and arguments are, whatever the mode it came through.

    Attributes:
        name: Raw name, as the tool's owner calls it.
        arguments: Checked against the full schema.
        namespace: The tool's namespace in the catalog.
        id: What the result must echo.
        wire_name: Name as the model knows it.
        loaded: Whether a search had loaded the tool, or it was sent in full.
        raw: The call as it stood on the wire.
    """

    name: str
    arguments: dict[str, Any]
    namespace: str | None = None
    id: str = field(default="", compare=False)
    wire_name: str = field(default="", compare=False)
    loaded: bool = field(default=True, compare=False)
    raw: RawCall | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ParsedResponse:
    """What one response asks for.

    Attributes:
        calls: Calls of tools, in order, calls of ours included as ``searches`` only.
        searches: Calls of our search tool, in order.
        order: Ids of calls and searches together, in the order they came.
        stop: The provider's stop reason or status.
        complete: False where the output was cut, so that nothing in it may be run.
        resume: True where the same request is to be sent again with this response appended (``pause_turn``).
        open_searches: Ids of hosted searches without a result yet.
        hosted_errors: Error codes of hosted searches.
    """

    calls: tuple[RawCall, ...] = ()
    searches: tuple[SearchCall, ...] = ()
    order: tuple[str, ...] = ()
    stop: str | None = None
    complete: bool = True
    resume: bool = False
    open_searches: tuple[str, ...] = ()
    hosted_errors: tuple[str, ...] = ()


def search_tool(*, offer_limit: bool, max_limit: int, namespaces: Sequence[tuple[str, int]] = ()) -> OwnTool:
    """The search tool, the same for the same arguments.

    Args:
        offer_limit: Whether the model may choose the number of results.
        max_limit: The most it may choose.
        namespaces: Names and sizes of what can be searched, told to the model where unloaded tools are not sent; of
            many the largest, since this is read on every turn.
    """
    description = (
        "Search the available tools by what they do, and load the ones that fit so that they can be called. "
        "Describe the need in a few words, or give a tool's exact name."
    )
    if namespaces:
        largest = sorted(namespaces, key=lambda space: (-space[1], space[0]))
        listed = ", ".join(
            f"{' '.join(seen(name).split())} ({count})" for name, count in sorted(largest[:MOST_NAMESPACES])
        )
        rest = largest[MOST_NAMESPACES:]
        more = f", and {len(rest)} more with {sum(count for _, count in rest)} tools" if rest else ""
        description += f" Searchable: {listed}{more}."
    properties: dict[str, Any] = {
        "query": {
            "type": "string",
            "description": "What the tool should do, or its name; empty lists all names.",
        },
        "names": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Exact names of tools to load, instead of or beside the query.",
        },
    }
    if offer_limit:
        properties["limit"] = {
            "type": "integer",
            "minimum": 1,
            "maximum": max_limit,
            "description": "Most tools to load.",
        }
    parameters = {
        "type": "object",
        "properties": properties,
        "required": ["query"],
        "additionalProperties": False,
    }
    return OwnTool(SEARCH_TOOL_NAME, description, parameters)


def bridge_tool() -> OwnTool:
    """The fixed tool through which found tools are called where the tools list must never change."""
    return OwnTool(
        BRIDGE_TOOL_NAME,
        "Call a tool that tool_search found, with arguments that follow the schema it showed.",
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "Name of the tool, as tool_search gave it."},
                "arguments": {
                    "type": "object",
                    "description": "Arguments of the tool.",
                    "additionalProperties": True,
                },
            },
            "required": ["name", "arguments"],
            "additionalProperties": False,
        },
    )


def search_record(
    result: SearchResult,
    *,
    loaded: Sequence[str],
    available: Sequence[str] = (),
    note: str,
    schemas: Mapping[str, dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """One answered search as JSON: what the model reads, and what the conversation is read back from.

    Args:
        result: The search's answer.
        loaded: Wire names that this search loads, in order.
        available: Wire names found that need no loading, because their schema is there already.
        note: What the model can do now, in one or two sentences.
        schemas: Full schemas by wire name, where the result carries them.
    """
    shown = {hit.name: hit.tool.description for hit in result.tools}
    tools: list[dict[str, Any]] = [{"name": name, "description": _shortened(shown[name])} for name in loaded]
    for entry in tools:
        if schemas is not None and entry["name"] in schemas:
            entry["parameters"] = schemas[entry["name"]]
    hints = [{"name": hit.name, "description": _shortened(hit.tool.description, 160)} for hit in result.hints]
    unknown = [{"name": each.name, "nearest": list(each.nearest)} for each in result.unknown]
    optional = {
        "available": list(available),
        "hints": hints,
        "names": list(result.names),
        "namespaces": dict(result.namespaces),
        "total": None if result.outcome == "matched" else result.total,
        "unknown": unknown,
        "notes": list(result.notes),
        "degraded": result.degraded is not None,
    }
    record: dict[str, Any] = {"query": result.query, "tools": tools, "loaded": list(loaded), "note": note}
    record |= {
        key: value for key, value in optional.items() if value or (key == "total" and value is not None)
    }
    readable: dict[str, Any] = seen(record)
    return readable


def as_dict(value: Any) -> Any:
    """A message, block or event as plain JSON values: SDK objects by their own dump, with unset fields left out."""
    for method in ("to_dict", "model_dump"):
        dump = getattr(value, method, None)
        if callable(dump) and not isinstance(value, type):
            # SDK objects with parts that the SDK does not know yet are passed on as they are, without a warning.
            quiet: dict[str, Any] = {"mode": "json", "warnings": False}
            return dump(**quiet) if method == "to_dict" else dump(**quiet, by_alias=True, exclude_unset=True)
    return value


def _shortened(text: str, most: int = 1_000) -> str:
    return text if len(text) <= most else f"{text[:most]} [...]"
