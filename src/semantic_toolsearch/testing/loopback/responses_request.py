"""A Responses request in; a refusal in the provider's words, or the request as its model sees it, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .cache import Segment
from .openai_fields import fields_of, list_of, text_of
from .refusal import Refusal
from .responses_input import check_items, check_namespaces, check_pairs, item_type
from .responses_tools import check_tool_choice, check_tools
from .settings import Settings
from .view import Choice, RequestView, SearchOffer, Surface, canonical

__all__ = ["ResponsesRequest", "StoredResponse", "function_surface", "read_request"]

_OPTIONAL: Final = (
    "access_programs", "background", "background_options", "context_management", "conversation", "image", "include",
    "input", "instructions", "max_output_tokens", "max_tool_calls", "metadata", "model", "moderation",
    "parallel_tool_calls", "previous_response_id", "prompt", "prompt_cache_key", "prompt_cache_options",
    "prompt_cache_retention", "reasoning", "safety_identifier", "service_tier", "store", "stream", "stream_options",
    "temperature", "text", "tool_choice", "tools", "top_logprobs", "top_p", "truncation", "user",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A response that was kept: the whole conversation up to and with it."""

    body: Mapping[str, Any]
    items: tuple[Mapping[str, Any], ...]


@dataclass(slots=True)
class ResponsesRequest:
    """A request that passed: what the model sees, the whole conversation, and the canonical prompt for the cache."""

    view: RequestView
    items: tuple[Mapping[str, Any], ...]
    segments: list[Segment]


def read_request(
    body: Mapping[str, Any], index: int, stored: Mapping[str, StoredResponse], settings: Settings
) -> ResponsesRequest:
    """Check a request and read it.

    Raises:
        Refusal: A rule is broken.
    """
    fields_of(body, "", ("model",), _OPTIONAL)
    text_of(body["model"], "model")
    tools = check_tools(body, settings)
    check_tool_choice(body, tools, settings)
    before = _before(body, stored)
    items = (*before, *_own_items(body, stored))
    if not items:
        raise Refusal(
            "Missing required parameter: 'input'.", param="input", code="missing_required_parameter"
        )
    check_pairs(items)
    surfaces = _declared(tools)
    for item in items:
        if item_type(item) in ("tool_search_output", "additional_tools"):
            _load(item, surfaces, deferred=item_type(item) == "tool_search_output")
    eager = {surface.name for surface in surfaces if surface.namespace is None}
    reachable: dict[str, set[str]] = {}
    for surface in surfaces:
        if surface.namespace is not None:
            reachable.setdefault(surface.name, set()).add(surface.namespace)
    check_namespaces(items, eager, reachable, len(before))
    view = RequestView(index, "responses", body, items, surfaces, tuple(map(_shown, tools)))
    view.search = _offer(tools, settings)
    view.choice = _choice(body)
    view.results = _results(items)
    view.user_text = next(
        (_text(item["content"]) for item in reversed(items) if item.get("role") == "user"), ""
    )
    segments = [Segment(canonical(entry)) for entry in view.up_front]
    segments += [
        Segment(canonical(body.get("instructions"))),
        *(Segment(canonical(_plain(item))) for item in items),
    ]
    return ResponsesRequest(view, items, segments)


def _before(body: Mapping[str, Any], stored: Mapping[str, StoredResponse]) -> tuple[Mapping[str, Any], ...]:
    previous = body.get("previous_response_id")
    if body.get("conversation") is not None:
        raise Refusal("Conversation not found.", status=404, param="conversation")
    if previous is None:
        return ()
    if previous not in stored:
        raise Refusal(
            f"Previous response with id '{previous}' not found.",
            param="previous_response_id",
            code="previous_response_not_found",
        )
    return stored[previous].items


def _own_items(
    body: Mapping[str, Any], stored: Mapping[str, StoredResponse]
) -> tuple[Mapping[str, Any], ...]:
    given = body.get("input", [])
    if isinstance(given, str):
        return ({"type": "message", "role": "user", "content": given},)
    items = list_of(given, "input")
    check_items(items)
    known = {item["id"]: item for response in stored.values() for item in response.items if item.get("id")}
    resolved = []
    for item in items:
        if item_type(item) != "item_reference":
            resolved.append(item)
            continue
        if item["id"] not in known:
            raise Refusal(f"Item with id '{item['id']}' not found.", status=404, param="input")
        resolved.append(known[item["id"]])
    return tuple(resolved)


def _shown(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the model reads of an entry before anything is loaded."""
    if entry["type"] == "namespace":
        whole = [tool for tool in entry["tools"] if not tool.get("defer_loading")]
        shown = {key: entry[key] for key in ("type", "name", "description")}
        return {**shown, "tools": whole} if whole else shown
    if entry.get("defer_loading"):
        kept = ("type", "name", "description", "server_label", "server_description", "defer_loading")
        return {key: entry[key] for key in kept if key in entry}
    return entry


def function_surface(
    entry: Mapping[str, Any], namespace: str | None, *, grouped: bool, loaded: bool = False
) -> Surface:
    """One function or custom tool; a flat deferred one is called in a namespace of its own name."""
    deferred = bool(entry.get("defer_loading"))
    return Surface(
        name=entry["name"],
        definition=entry,
        parameters=entry.get("parameters") or {},
        deferred=deferred,
        loaded=loaded,
        namespace=entry["name"] if namespace is None and (deferred or loaded) else namespace,
        grouped=grouped,
        kind="custom" if entry["type"] == "custom" else "function",
    )


def _functions(tools: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], str | None]]:
    found: list[tuple[Mapping[str, Any], str | None]] = []
    for entry in tools:
        if entry["type"] in ("function", "custom"):
            found.append((entry, None))
        elif entry["type"] == "namespace":
            found.extend((inner, entry["name"]) for inner in entry["tools"])
    return found


def _declared(tools: Sequence[Mapping[str, Any]]) -> list[Surface]:
    return [function_surface(entry, space, grouped=space is not None) for entry, space in _functions(tools)]


def _load(item: Mapping[str, Any], surfaces: list[Surface], *, deferred: bool) -> None:
    """Make the tools of a search's output known; those of ``additional_tools`` count as sent in full."""
    for entry, space in _functions(item["tools"]):
        if not deferred:
            surfaces.append(function_surface(entry, space, grouped=space is not None))
            continue
        loaded = function_surface(entry, space, grouped=space is not None, loaded=True)
        same = [s for s in surfaces if s.name == loaded.name and s.namespace in (loaded.namespace, space)]
        for surface in same:
            if surface.deferred:  # the model has read the definition of the output
                surface.loaded, surface.definition, surface.parameters = True, entry, loaded.parameters
        if not same:
            surfaces.append(loaded)


def _offer(tools: Sequence[Mapping[str, Any]], settings: Settings) -> SearchOffer | None:
    for entry in tools:
        if entry["type"] == "tool_search":
            client = entry.get("execution") == "client"
            return SearchOffer("client" if client else "paths", "tool_search", entry.get("parameters") or {})
    for entry in tools:
        if (
            entry["type"] == "function"
            and entry["name"] in settings.search_names
            and not entry.get("defer_loading")
        ):
            return SearchOffer("function", entry["name"], entry.get("parameters") or {})
    return None


def _choice(body: Mapping[str, Any]) -> Choice:
    given = body.get("tool_choice") or "auto"
    parallel = body.get("parallel_tool_calls") is not False
    if isinstance(given, str):
        return Choice("none" if given == "none" else "any" if given == "required" else "auto", None, parallel)
    if given["type"] in ("function", "custom"):
        return Choice("tool", given["name"], parallel)
    return Choice("auto", None, parallel)


def _results(items: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    results: list[str] = []
    for item in reversed(items):
        if not item_type(item).endswith("_output"):
            break
        if item_type(item) == "tool_search_output":
            results.append(
                "\n".join(entry.get("name") or entry.get("server_label") or "" for entry in item["tools"])
            )
        else:
            results.append(_text(item.get("output", "")))
    return tuple(reversed(results))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content)


def _plain(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item without what the server gave it, so that replayed and stored ones are the same prompt."""
    return {
        key: value
        for key, value in item.items()
        if key not in ("id", "status", "created_by") and value is not None
    }
