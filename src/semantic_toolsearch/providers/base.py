"""A definition, call or event in, those parts of it that every provider writes or reads alike out."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from semantic_toolsearch.cleaning import replace_surrogates
from semantic_toolsearch.errors import ConfigError, ConversationError
from semantic_toolsearch.exchange import (
    BRIDGE_TOOL_NAME,
    SEARCH_TOOL_NAME,
    Api,
    Mode,
    ParsedResponse,
    RawCall,
    SearchCall,
    TurnRequest,
    as_dict,
)
from semantic_toolsearch.hidden_text import may_hide, seen, seen_schema
from semantic_toolsearch.schema_projection import wire_projection

if TYPE_CHECKING:
    from semantic_toolsearch.definitions import ToolDefinition
    from semantic_toolsearch.exchange import OwnTool

__all__ = [
    "CUT_MARK",
    "SEARCH_ANNOTATIONS",
    "STUB_DESCRIPTION",
    "check_plan",
    "copied",
    "cut_description",
    "events_of",
    "json_text",
    "merged_usage",
    "openai_stub_schema",
    "own_schema",
    "own_tools",
    "parse_arguments",
    "parsed",
    "read_call",
    "response_of",
    "stub_schema",
    "tools_named",
    "unloaded_names",
    "unwrap_bridge",
    "wire_schema",
    "wire_text",
]

STUB_DESCRIPTION: Final = 1_024
"""Most characters of a stub's description, mark included; the schema brings the whole text."""

CUT_MARK: Final = " [...]"

SEARCH_ANNOTATIONS: Final = MappingProxyType({"readOnlyHint": True, "idempotentHint": True})
"""What an MCP server says of the search tool: it changes nothing, and asking twice is asking once."""

_PROJECTIONS: Final[WeakKeyDictionary[ToolDefinition, str]] = WeakKeyDictionary()


def check_plan(request: TurnRequest, api: Api, modes: Collection[Mode]) -> None:
    """Refuse a plan that this wire format cannot carry.

    Raises:
        ConfigError: The plan is for another wire format, its mode is none of `modes`, or the tool that its
            mode needs (search, bridge) is missing.
    """
    plan = request.plan
    if plan.api != api:
        raise ConfigError(f"This plan is for the {plan.api!r} format and cannot be written as {api!r}.")
    if plan.mode not in modes:
        allowed = ", ".join(sorted(modes))
        raise ConfigError(f"Mode {plan.mode!r} cannot be written as {api!r}; its modes are: {allowed}.")
    if plan.search == "ours" and request.search_tool is None:
        raise ConfigError("The plan says that our own search answers, but the request has no search_tool.")
    if plan.mode == "bridge" and request.bridge is None:
        raise ConfigError("Bridge mode needs the fixed call tool: pass bridge=exchange.bridge_tool().")


def tools_named(request: TurnRequest, names: Iterable[str]) -> Iterator[tuple[str, ToolDefinition]]:
    """Give each wire name with its definition.

    Raises:
        UnknownToolError: The plan names a tool that the catalog does not hold.
    """
    for name in names:
        yield name, request.catalog[request.catalog.position(name)]


def unloaded_names(request: TurnRequest) -> tuple[str, ...]:
    """Return the wire names sent as deferred or as stubs, in catalog order; none where they are omitted.

    Raises:
        UnknownToolError: The plan names a tool that the catalog does not hold.
    """
    plan = request.plan
    if plan.mode == "bridge" or (plan.mode == "stub" and plan.unloaded == "omit"):
        return ()
    return tuple(sorted(plan.deferred, key=request.catalog.position))


def own_tools(request: TurnRequest) -> tuple[OwnTool, ...]:
    """Our own tools in the order they are sent: search, then the bridge."""
    return tuple(tool for tool in (request.search_tool, request.bridge) if tool is not None)


def wire_schema(tool: ToolDefinition) -> dict[str, Any]:
    """Return the definition's schema as every provider accepts it; the caller may alter what it gets.

    The projection is made once per definition and kept as text: reading it back is faster than copying it.
    """
    text = _PROJECTIONS.get(tool)
    if text is None:
        text = _compact(wire_projection(tool.parameters)[0])
        if may_hide(text):
            text = _compact(seen_schema(json.loads(text)))
        _PROJECTIONS[tool] = text
    schema: dict[str, Any] = json.loads(text)
    return schema


def own_schema(tool: OwnTool) -> dict[str, Any]:
    """Return a copy of our own tool's schema."""
    schema: dict[str, Any] = copied(tool.parameters)
    return schema


def copied(value: Any) -> Any:
    """Return a copy of a JSON value that shares nothing with it, and holds no hidden characters."""
    return json.loads(json.dumps(seen(value)))


def stub_schema() -> dict[str, Any]:
    """Return the smallest open object: any arguments, said in 45 bytes."""
    return {"type": "object", "additionalProperties": True}


def openai_stub_schema() -> dict[str, Any]:
    """Return the open object as OpenAI takes it: it refuses an object schema that lacks ``properties``."""
    return {"type": "object", "properties": {}, "additionalProperties": True}


def cut_description(text: str, most: int = STUB_DESCRIPTION) -> str:
    """Return the text in at most `most` characters, with a mark at its end where it was cut."""
    if len(text) <= most:
        return text
    return text[: max(most - len(CUT_MARK), 0)].rstrip() + CUT_MARK


def wire_text(text: str) -> str:
    """Return the text in a form that UTF-8 can carry: what a program printed may hold lone surrogates."""
    return replace_surrogates(text)[0]


def json_text(value: Any) -> str:
    """Return the value as compact JSON text that UTF-8 can carry."""
    return wire_text(_compact(value))


def parse_arguments(value: Any) -> Any:
    """Return a call's arguments as an object; what is none comes back as its text, unchanged.

    Nothing at all (None or blank text) is a call without arguments.
    """
    if isinstance(value, Mapping):
        return dict(value)
    if value is None or (isinstance(value, str) and not value.strip()):
        return {}
    if not isinstance(value, str):
        return _told(value)
    try:
        read = json.loads(value, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return value
    return read if isinstance(read, dict) else value


def read_call(
    *,
    id: str,  # noqa: A002 - the field's name in every provider's format
    name: str,
    arguments: Any,
    raw: Mapping[str, Any],
    namespace: str | None = None,
    caller: Mapping[str, Any] | None = None,
) -> RawCall | SearchCall:
    """Read one function call: of our search tool, of the bridge (unwrapped), or of any other tool."""
    read = parse_arguments(arguments)
    own = namespace is None or namespace == name  # a flat tool may come back in a namespace of its own name
    if own and name == SEARCH_TOOL_NAME:
        return SearchCall(id, read, raw)
    if own and name == BRIDGE_TOOL_NAME:
        name, read = unwrap_bridge(read)
    return RawCall(id, name, namespace, read, caller, raw)


def unwrap_bridge(arguments: Any) -> tuple[str, Any]:
    """Return the name and the arguments of the tool that a call of the bridge is for.

    The arguments may be an object, the JSON text of one, or stand flat beside the name. What can be read in
    two ways is not guessed: the arguments are then a text that is no JSON and says why. Without a tool's name
    the name is the bridge's own.
    """
    if not isinstance(arguments, dict):
        return BRIDGE_TOOL_NAME, arguments
    name, given = arguments.get("name"), arguments.get("arguments")
    flat = {key: value for key, value in arguments.items() if key not in ("name", "arguments")}
    if not isinstance(name, str) or not name.strip():
        return BRIDGE_TOOL_NAME, f"no name of a tool in: {_told(arguments)}"
    inner = parse_arguments(given)
    if not isinstance(inner, dict):
        return name.strip(), inner
    if inner and flat:
        beside = ", ".join(map(repr, flat))
        return name.strip(), f"arguments both in 'arguments' and beside it ({beside}): {_told(arguments)}"
    return name.strip(), inner or flat


def parsed(found: Iterable[RawCall | SearchCall], **facts: Any) -> ParsedResponse:
    """Return a parsed response of these calls, in the order they came; `facts` are its other fields."""
    every = tuple(found)
    return ParsedResponse(
        calls=tuple(call for call in every if isinstance(call, RawCall)),
        searches=tuple(call for call in every if isinstance(call, SearchCall)),
        order=tuple(call.id for call in every),
        **facts,
    )


def response_of(value: Any, key: str | tuple[str, ...], provider: str) -> dict[str, Any]:
    """Return a response as a plain dict that has `key`, or any of several.

    Raises:
        ConversationError: It is an error body, or no response of this provider.
    """
    response = as_dict(value)
    if not isinstance(response, Mapping):
        raise ConversationError(f"Not a response of {provider}: {type(value).__name__}.")
    keys = (key,) if isinstance(key, str) else key
    if not any(known in response for known in keys):
        raise_error_of(response, provider)
        found = ", ".join(map(repr, list(response)[:8])) or "nothing"
        raise ConversationError(f"Not a response of {provider}: it has no {keys[0]!r}, only {found}.")
    return dict(response)


def events_of(events: Iterable[Any], provider: str) -> Iterator[dict[str, Any]]:
    """Give raw stream events as plain dicts that the caller may keep parts of.

    Raises:
        ConversationError: An event reports an error.
    """
    for value in events:
        event = as_dict(value)
        if isinstance(event, Mapping):
            raise_error_of(event, provider)
            yield json.loads(json.dumps(event, default=_plain))


def raise_error_of(event: Mapping[str, Any], provider: str) -> None:
    """Raise where a body or event says that the request failed.

    Raises:
        ConversationError: It does.
    """
    error = event.get("error")
    if error is None:
        return
    kind, message = "", str(error)
    if isinstance(error, Mapping):
        kind = str(error.get("type") or error.get("code") or "")
        message = str(error.get("message") or "no message")
    raise ConversationError(f"{provider} reports an error{kind and f' ({kind})'}: {message}")


def merged_usage(usage: Mapping[str, Any] | None, later: Mapping[str, Any]) -> dict[str, Any]:
    """Return cumulative counts: later values overwrite, and null says nothing."""
    merged = dict(usage or {})
    merged.update({key: value for key, value in later.items() if value is not None or key not in merged})
    return merged


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _told(value: Any) -> str:
    """Return a value as JSON text; where it has none, a text that is no JSON and says so."""
    try:
        return wire_text(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))
    except (ValueError, TypeError, RecursionError):
        return f"(a value of type {type(value).__name__} that cannot be written as JSON)"


def _plain(value: Any) -> Any:
    """Return what stands for an object inside an event in JSON."""
    plain = as_dict(value)
    return str(value) if plain is value else plain


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")
