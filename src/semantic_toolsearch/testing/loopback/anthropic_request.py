"""A Messages request in; a refusal in the provider's words, or the request as its model sees it, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .anthropic_fields import cache_control, fields_of, list_of, text_of
from .anthropic_messages import blocks_of, check_messages
from .anthropic_tools import check_tool_choice, check_tools, is_hosted_search
from .cache import Segment
from .refusal import Refusal
from .settings import Settings
from .view import Choice, RequestView, SearchOffer, Surface, canonical, tokens_of

__all__ = ["MessagesRequest", "count_tokens", "read_request"]

_OPTIONAL: Final = (
    "cache_control", "container", "diagnostics", "inference_geo", "metadata", "output_config", "service_tier", "speed",
    "stop_sequences", "stream", "system", "thinking", "tool_choice", "tools", "prefill", "user_profile_id",
    "workspace_id",
)  # fmt: skip
_BETA_OPTIONAL: Final = (
    "mcp_servers", "context_management", "compaction", "billing_policy", "fallbacks", "fallback_credit_token", "thread",
    "output_format",
)  # fmt: skip
_SAMPLING: Final = ("temperature", "top_p", "top_k")
_SAMPLING_REMOVED_IN: Final = "2026-10-21"
_OBSOLETE_BETAS: Final = ("advanced-tool-use-", "tool-search-tool-")
_MOST_MARKS: Final = 4


@dataclass(slots=True)
class MessagesRequest:
    """A request that passed.

    Attributes:
        view: What the model sees.
        open_searches: Hosted searches whose results the response must start with.
        segments: The canonical prompt for the cache.
        beta: Whether it came over the beta interface.
    """

    view: RequestView
    open_searches: dict[str, Mapping[str, Any]]
    segments: list[Segment]
    beta: bool = False


def read_request(
    body: Mapping[str, Any], headers: Mapping[str, str], index: int, settings: Settings, *, beta: bool
) -> MessagesRequest:
    """Check a request and read it.

    Raises:
        Refusal: A rule is broken.
    """
    betas = _betas(headers)
    sampling = () if headers["anthropic-version"] >= _SAMPLING_REMOVED_IN else _SAMPLING
    optional = (*_OPTIONAL, *sampling, *(_BETA_OPTIONAL if beta else ()))
    fields_of(body, "", ("model", "max_tokens", "messages"), optional)
    text_of(body["model"], "model")
    most = body["max_tokens"]
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        raise Refusal("max_tokens: Input should be greater than or equal to 1")
    tools = check_tools(body, betas, settings)
    check_tool_choice(body, tools, settings)
    open_searches = check_messages(body, tools, betas, settings)
    _check_marks(body, tools)
    view = _view(body, tools, index, settings)
    return MessagesRequest(view, open_searches, _segments(view, tools), beta)


def count_tokens(
    body: Mapping[str, Any], headers: Mapping[str, str], settings: Settings, *, beta: bool
) -> int:
    """Answer a token count: deferred tools count nothing. The hosted search tools are refused, as recorded.

    Raises:
        Refusal: A rule is broken.
    """
    for position, entry in enumerate(list_of(body.get("tools", []), "tools")):
        if isinstance(entry, Mapping) and is_hosted_search(entry):
            raise Refusal(f"tools.{position}: server tools are not supported by the token counting endpoint")
    request = read_request({"max_tokens": 1, **body}, headers, -1, settings, beta=beta)
    return sum(tokens_of(segment.text) for segment in request.segments)


def _betas(headers: Mapping[str, str]) -> list[str]:
    if not headers.get("x-api-key") and not headers.get("authorization"):
        raise Refusal("x-api-key header is required", status=401)
    if "anthropic-version" not in headers:
        raise Refusal("anthropic-version: header is required")
    betas = [beta.strip() for beta in headers.get("anthropic-beta", "").split(",") if beta.strip()]
    for beta in betas:
        if beta.startswith(_OBSOLETE_BETAS):
            raise Refusal(f"Unexpected value(s) `{beta}` for the `anthropic-beta` header.")
    return betas


def _check_marks(body: Mapping[str, Any], tools: Sequence[Mapping[str, Any]]) -> None:
    holders: list[tuple[Mapping[str, Any], str]] = [(body, "")]
    system = body.get("system")
    holders += [(part, f"system.{i}") for i, part in enumerate(system)] if isinstance(system, list) else []
    holders += [(tool, f"tools.{i}") for i, tool in enumerate(tools)]
    for i, message in enumerate(body["messages"]):
        holders += [(block, f"messages.{i}.content.{j}") for j, block in enumerate(blocks_of(message))]
    count = sum(cache_control(holder, where) for holder, where in holders)
    if count > _MOST_MARKS:
        raise Refusal(f"A maximum of {_MOST_MARKS} blocks with cache_control may be provided. Found {count}.")


def _view(
    body: Mapping[str, Any], tools: Sequence[Mapping[str, Any]], index: int, settings: Settings
) -> RequestView:
    surfaces = [_surface(entry) for entry in tools if "name" in entry and not is_hosted_search(entry)]
    shown = tuple(
        {key: value for key, value in entry.items() if key not in ("cache_control", "defer_loading")}
        for entry in tools
        if not entry.get("defer_loading")
    )
    view = RequestView(index, "anthropic", body, body["messages"], surfaces, shown)
    view.search = _offer(tools, settings)
    view.choice = _choice(body.get("tool_choice"))
    for message in body["messages"]:
        blocks = blocks_of(message)
        for block in blocks:
            _apply(block, view)
        if message["role"] == "user":
            view.results = tuple(_text(block) for block in blocks if block["type"] == "tool_result")
            texts = [block["text"] for block in blocks if block["type"] == "text"]
            view.user_text = texts[-1] if texts else view.user_text
    return view


def _surface(entry: Mapping[str, Any], *, loaded: bool = False) -> Surface:
    return Surface(
        name=entry["name"],
        definition={
            key: value for key, value in entry.items() if key not in ("defer_loading", "cache_control")
        },
        parameters=entry.get("input_schema") or {},
        deferred=bool(entry.get("defer_loading")),
        loaded=loaded,
        kind="function" if entry.get("type") in (None, "custom") else "server",
    )


def _offer(tools: Sequence[Mapping[str, Any]], settings: Settings) -> SearchOffer | None:
    for entry in tools:
        if is_hosted_search(entry):
            return SearchOffer("bm25" if "bm25" in entry["name"] else "regex", entry["name"])
    for entry in tools:
        if entry.get("name") in settings.search_names and not entry.get("defer_loading"):
            return SearchOffer("function", entry["name"], entry.get("input_schema") or {})
    return None


def _choice(given: Mapping[str, Any] | None) -> Choice:
    if not given:
        return Choice()
    return Choice(given["type"], given.get("name"), not given.get("disable_parallel_tool_use"))


def references(content: Any) -> list[str]:
    """Names that a result refers to."""
    if isinstance(content, Mapping):
        content = content.get("tool_references", [])
    if not isinstance(content, list):
        return []
    return [part["tool_name"] for part in content if part.get("type") == "tool_reference"]


def load(view: RequestView, names: Sequence[str]) -> None:
    """Mark the named deferred tools as loaded."""
    for surface in view.surfaces:
        if surface.name in names and surface.deferred:
            surface.loaded = True


def _apply(block: Mapping[str, Any], view: RequestView) -> None:
    """Follow what a block of the history loads, adds or removes."""
    if block["type"] in ("tool_result", "tool_search_tool_result"):
        load(view, references(block.get("content")))
    elif block["type"] == "tool_addition":
        tool = block["tool"]
        if tool["type"] == "tool_definition":
            view.surfaces.append(_surface(tool["definition"], loaded=True))
        elif tool["type"] == "tool_reference":
            load(view, [tool["name"]])
    elif block["type"] == "tool_removal" and block["tool"]["type"] == "tool_reference":
        view.surfaces[:] = [surface for surface in view.surfaces if surface.name != block["tool"]["name"]]


def _text(block: Mapping[str, Any]) -> str:
    content = block.get("content", "")
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text") or part.get("tool_name") or "") for part in content)


def _segments(view: RequestView, tools: Sequence[Mapping[str, Any]]) -> list[Segment]:
    """The prompt in its order: undeferred tools, system, messages; loaded tools stand where a reference loads them."""
    marks = [entry.get("cache_control") is not None for entry in tools if not entry.get("defer_loading")]
    segments = [Segment(canonical(entry), mark) for entry, mark in zip(view.up_front, marks, strict=True)]
    system = view.body.get("system") or []
    segments += map(_segment, [{"type": "text", "text": system}] if isinstance(system, str) else system)
    definitions = {surface.name: surface.definition for surface in view.surfaces}
    for message in view.messages:
        for block in blocks_of(message):
            names = references(block.get("content"))
            expanded = "".join(canonical(definitions[name]) for name in names if name in definitions)
            segments.append(_segment(block, f"{message['role']}:", expanded))
    if view.body.get("cache_control") is not None and segments:
        segments[-1] = Segment(segments[-1].text, mark=True)
    return segments


def _segment(block: Mapping[str, Any], before: str = "", after: str = "") -> Segment:
    plain = {key: value for key, value in block.items() if key != "cache_control"}
    return Segment(before + canonical(plain) + after, block.get("cache_control") is not None)
