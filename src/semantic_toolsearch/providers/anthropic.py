"""Anthropic Messages: a request in, its ``tools`` list out; a response or stream in, its calls out.

In the modes with deferred loading the list is the same for every turn, whatever is loaded, so that the prompt
cache keeps it. Its order: the caller's own entries, full tools, our tools or the hosted search tool, then
deferred tools or stubs in catalog order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.exchange import RawCall, SearchCall
from semantic_toolsearch.providers import anthropic_stream, base
from semantic_toolsearch.providers.anthropic_arguments import TOGETHER, opened, sendable
from semantic_toolsearch.providers.malformed import reads_responses, reads_streams

if TYPE_CHECKING:
    from semantic_toolsearch.definitions import ToolDefinition
    from semantic_toolsearch.exchange import Mode, ParsedResponse, TurnRequest

__all__ = ["MODES", "assemble", "call_result", "moved_markers", "parse", "render", "search_answer"]

MODES: Final[frozenset[Mode]] = frozenset({"full", "hosted", "reference", "stub", "bridge"})

HOSTED: Final = {
    "bm25": {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
    "regex": {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"},
}

_CUT: Final = frozenset({"max_tokens", "refusal", "model_context_window_exceeded"})
"""Stop reasons after which nothing of the response may be run: its last call may be a torso."""

_RESUMED: Final = frozenset({"pause_turn", "compaction"})

_FLAGS: Final = ("strict", "eager_input_streaming")


def render(request: TurnRequest) -> list[dict[str, Any]]:
    """Return the ``tools`` list of a request.

    Raises:
        ConfigError: The plan is not one for Anthropic.
        UnknownToolError: The plan names a tool that the catalog does not hold.
    """
    base.check_plan(request, "anthropic", MODES)
    plan = request.plan
    entries = [_full(name, tool) for name, tool in base.tools_named(request, plan.full)]
    if plan.search in ("bm25", "regex"):
        entries.append(dict(HOSTED[plan.search]))
    entries += [
        {"name": own.name, "description": own.description, "input_schema": base.own_schema(own)}
        for own in base.own_tools(request)
    ]
    markable = len(entries)
    unloaded = base.tools_named(request, base.unloaded_names(request))
    if plan.mode in ("hosted", "reference"):
        entries += [_deferred(name, tool) for name, tool in unloaded]
    else:
        entries += [_stub(name, tool) for name, tool in unloaded]
        markable = len(entries)
    _set_marker(request, entries[:markable])
    return [*(dict(entry) for entry in request.extra), *entries]


def moved_markers(request: TurnRequest) -> tuple[str, ...]:
    """Return the wire names of deferred tools whose own ``cache_control`` is left off them in the list.

    A deferred tool must not carry one. The marker moves to the last tool that is not deferred; where that has
    one already, or where there is none, it is left out.
    """
    if request.plan.mode not in ("hosted", "reference"):
        return ()
    tools = base.tools_named(request, request.plan.deferred)
    return tuple(name for name, tool in tools if _marker(tool) is not None)


@reads_responses("Anthropic")
def parse(response: Any) -> ParsedResponse:
    """Read a complete message, as a dict or an SDK object.

    Raises:
        ConversationError: It is an error body, or no message of Anthropic's.
    """
    message = base.response_of(response, "content", "Anthropic")
    blocks = [block for block in message["content"] or () if isinstance(block, Mapping)]
    stop = message.get("stop_reason")
    cut = stop in _CUT or (stop is None and "stop_reason" in message)
    answered = {block.get("tool_use_id") for block in blocks}
    return base.parsed(
        _calls(blocks),
        stop=stop,
        complete=not cut,
        resume=stop in _RESUMED,
        open_searches=tuple(
            str(block.get("id"))
            for block in blocks
            if block.get("type") == "server_tool_use"
            and str(block.get("name")).startswith("tool_search_tool")
            and block.get("id") not in answered
        ),
        hosted_errors=tuple(_search_errors(blocks)),
    )


@reads_streams("Anthropic")
def assemble(events: Iterable[Any]) -> dict[str, Any]:
    """Return the complete message that a stream of raw events amounts to.

    A stream that ends early gives a message without a stop reason, which `parse` calls incomplete; calls
    whose block never ended are left out of it.

    Raises:
        ConversationError: An event reports an error, or no message ever started.
    """
    return anthropic_stream.assemble(events)


def search_answer(call: SearchCall, record: dict[str, Any], request: TurnRequest) -> dict[str, Any]:
    """Return the ``tool_result`` block for a search of ours.

    By reference it holds nothing but references, each to a tool that the request declares: one to any other
    would make this and every later request of the conversation fail. Where nothing is loaded it is the record
    as text, never an empty list.
    """
    if request.plan.mode != "reference":
        return _result(call.id, base.json_text(record), is_error=False)
    declared = {*request.plan.full, *request.plan.deferred}
    names = [name for name in dict.fromkeys(record.get("loaded", ())) if name in declared]
    if names:
        references = [{"type": "tool_reference", "tool_name": name} for name in names]
        return _result(call.id, references, is_error=False)
    text = base.json_text({**record, "loaded": []})
    return _result(call.id, [{"type": "text", "text": text}], is_error=False)


def call_result(call: RawCall, text: str, *, is_error: bool) -> dict[str, Any]:
    """Return the ``tool_result`` block for a call that is answered without being run."""
    return _result(call.id, base.wire_text(text), is_error=is_error)


def _result(call_id: str, content: Any, *, is_error: bool) -> dict[str, Any]:
    return {
        "type": "tool_result",
        "tool_use_id": base.wire_text(call_id),
        "content": content,
        "is_error": is_error,
    }


def _full(name: str, tool: ToolDefinition) -> dict[str, Any]:
    entry = _head(name, tool.description)
    entry["input_schema"] = sendable(base.wire_schema(tool))
    fields = tool.provider_fields
    entry.update({flag: fields[flag] for flag in _FLAGS if isinstance(fields.get(flag), bool)})
    if isinstance(fields.get("input_examples"), list):
        examples = base.copied(fields["input_examples"])
        renamed = list(entry["input_schema"]["properties"]) == [TOGETHER]
        entry["input_examples"] = [{TOGETHER: example} for example in examples] if renamed else examples
    callers = fields.get("allowed_callers")
    if isinstance(callers, list):  # other providers use the same key with values of their own
        known = [who for who in callers if who == "direct" or str(who).startswith("code_execution_")]
        entry.update({"allowed_callers": known} if known else {})
    if (marker := _marker(tool)) is not None:
        entry["cache_control"] = marker
    return entry


def _deferred(name: str, tool: ToolDefinition) -> dict[str, Any]:
    entry = _full(name, tool)
    entry.pop("cache_control", None)
    entry["defer_loading"] = True
    return entry


def _stub(name: str, tool: ToolDefinition) -> dict[str, Any]:
    entry = _head(name, base.cut_description(tool.description))
    entry["input_schema"] = base.stub_schema()
    if (marker := _marker(tool)) is not None:
        entry["cache_control"] = marker
    return entry


def _head(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "description": description} if description else {"name": name}


def _marker(tool: ToolDefinition) -> dict[str, Any] | None:
    marker = tool.provider_fields.get("cache_control")
    return dict(marker) if isinstance(marker, dict) else None


def _set_marker(request: TurnRequest, entries: list[dict[str, Any]]) -> None:
    """Put the marker that the caller or a deferred tool wants on the last of these entries."""
    moved = moved_markers(request)
    if not entries or not (request.cache_breakpoint or moved) or "cache_control" in entries[-1]:
        return
    tools = (tool for _, tool in base.tools_named(request, moved))
    marker = next((found for tool in tools if (found := _marker(tool)) is not None), {"type": "ephemeral"})
    earlier = [entry["cache_control"] for entry in (*request.extra, *entries) if entry.get("cache_control")]
    if any(found.get("ttl") != "1h" for found in earlier):
        marker.pop("ttl", None)  # a long-lived marker after a short-lived one is refused
    entries[-1]["cache_control"] = marker


def _calls(blocks: list[Mapping[str, Any]]) -> Iterator[RawCall | SearchCall]:
    for block in blocks:
        if block.get("type") == "tool_use":
            caller = block.get("caller")
            yield base.read_call(
                id=str(block.get("id", "")),
                name=str(block.get("name", "")),
                arguments=opened(anthropic_stream.input_of(block)),
                raw=block,
                caller=caller if isinstance(caller, Mapping) else None,
            )


def _search_errors(blocks: list[Mapping[str, Any]]) -> Iterator[str]:
    for block in blocks:
        content = block.get("content")
        if (
            block.get("type") == "tool_search_tool_result"
            and isinstance(content, Mapping)
            and content.get("type") == "tool_search_tool_result_error"
        ):
            yield str(content.get("error_code") or "unknown")
