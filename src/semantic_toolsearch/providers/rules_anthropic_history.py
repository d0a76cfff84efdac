"""The messages and tools of an Anthropic request in, the rules of replay that they break out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from semantic_toolsearch.providers.rules_anthropic import HOSTED, PLAIN_TRANSPORTS, tool_names
from semantic_toolsearch.providers.violations import Entry, Violation, entries_at

__all__ = ["RULES", "check"]

RULES: Final[Mapping[str, str]] = {
    "reference_unknown": "Every tool that the history refers to is in tools.",
    "transport_references": "Converse and OpenRouter take no references.",
    "empty_tool_result": "The content of a tool_result is no empty list.",
    "mixed_references": "Mixing references with other blocks in one tool_result is undocumented.",
    "server_call_answered": "A call of the provider's own (srvtoolu_...) is never answered by the client.",
    "open_server_call": "A hosted call left open is followed by tool results only, then by its result.",
    "server_result_orphan": "A hosted result belongs to a call before it.",
    "call_unanswered": "Every tool_use is answered in the next message.",
    "result_orphan": "Every tool_result answers a tool_use of the message before it.",
    "result_duplicate": "A tool_use is answered once.",
    "stream_fragment": "A message holds assembled blocks, no pieces of a stream.",
    "response_only_field": "Fields that only responses have are not sent back.",
}

Turn: TypeAlias = tuple[str, str, list[Entry]]

_SERVER_ID: Final = "srvtoolu_"
_RESPONSE_ONLY: Final = ("parsed_output",)


def check(tools: Any, messages: Any, transport: str | None) -> Iterator[Violation]:
    """Check what the messages say of tools against the tools that the request declares."""
    yield from _references(tools, messages, transport)
    turns = _turns(messages)
    waiting: dict[str, Entry] = {}  # hosted calls without a result so far, by id
    for number, (path, role, blocks) in enumerate(turns):
        for place, block in blocks:
            yield from _block(place, block)
        if role == "assistant":
            yield from _hosted(path, blocks, waiting)
            if number + 1 < len(turns):
                yield from _answers(blocks, turns[number + 1][2])
                yield from _left_open(waiting, turns[number + 1], tools, transport)
        elif number == 0:
            yield from _answers([], blocks)


def _turns(messages: Any) -> list[Turn]:
    """Return path, role and blocks of each turn; to the provider, messages of one role in a row are one."""
    turns: list[Turn] = []
    for path, message in entries_at(messages, "$.messages"):
        role, content = message.get("role"), message.get("content")
        blocks = list(entries_at(content, f"{path}.content"))
        if isinstance(content, str):
            blocks = [(f"{path}.content", {"type": "text", "text": content})]
        if turns and turns[-1][1] == role:
            turns[-1][2].extend(blocks)
        elif role in ("user", "assistant"):
            turns.append((path, str(role), blocks))
    return turns


def _references(tools: Any, messages: Any, transport: str | None) -> Iterator[Violation]:
    known = tool_names(tools)
    servers = tuple(
        f"{tool.get('mcp_server_name')}_"
        for _, tool in entries_at(tools, "")
        if tool.get("type") == "mcp_toolset"
    )
    for path, message in entries_at(messages, "$.messages"):
        for place, block in entries_at(message.get("content"), f"{path}.content"):
            change = (
                block.get("tool") if str(block.get("type")) in ("tool_addition", "tool_removal") else None
            )
            if isinstance(change, Mapping) and isinstance(change.get("definition"), Mapping):
                known.add(str(change["definition"].get("name")))
            for where, name in _named(place, block, change):
                if transport in PLAIN_TRANSPORTS:
                    yield Violation("transport_references", where, f"{transport} takes no references.")
                elif name not in known and not name.startswith(servers or ("\0",)):
                    reason = (
                        f"{name!r} is not in tools: keep its definition there, or leave the reference out."
                    )
                    yield Violation("reference_unknown", where, reason)


def _named(place: str, block: dict[str, Any], change: Any) -> Iterator[tuple[str, str]]:
    """Give the JSON path and the tool name of each reference in a block."""
    content = block.get("content")
    if block.get("type") == "tool_search_tool_result" and isinstance(content, Mapping):
        for where, reference in entries_at(
            content.get("tool_references"), f"{place}.content.tool_references"
        ):
            yield f"{where}.tool_name", str(reference.get("tool_name"))
    elif block.get("type") == "tool_result":
        for where, reference in entries_at(content, f"{place}.content"):
            if reference.get("type") == "tool_reference":
                yield f"{where}.tool_name", str(reference.get("tool_name"))
    elif isinstance(change, Mapping) and change.get("type") == "tool_reference":
        yield f"{place}.tool.name", str(change.get("name"))


def _block(place: str, block: dict[str, Any]) -> Iterator[Violation]:
    kind = str(block.get("type"))
    if kind.endswith("_delta"):
        yield Violation(
            "stream_fragment", place, f"{kind!r} is a piece of a stream: store the assembled block."
        )
    for key in _RESPONSE_ONLY:
        if key in block:
            yield Violation(
                "response_only_field", f"{place}.{key}", "leave it out when the block is sent back."
            )
    if kind != "tool_result":
        return
    if str(block.get("tool_use_id")).startswith(_SERVER_ID):
        reason = f"{block['tool_use_id']!r} is a call that the provider answers itself."
        yield Violation("server_call_answered", f"{place}.tool_use_id", reason)
    content = block.get("content")
    if not isinstance(content, list | tuple):
        return
    if not content:
        yield Violation(
            "empty_tool_result", f"{place}.content", "put a text block there, such as 'no match'."
        )
    kinds = {part.get("type") for _, part in entries_at(content, place)}
    if "tool_reference" in kinds and len(kinds) > 1:
        reason = "references and other blocks in one result: send references alone."
        yield Violation("mixed_references", f"{place}.content", reason, "warning")


def _hosted(path: str, blocks: list[Entry], waiting: dict[str, Entry]) -> Iterator[Violation]:
    """Pair hosted calls with their results across messages; what stays in `waiting` is open."""
    before = dict(waiting)
    for place, block in blocks:
        kind = str(block.get("type"))
        if kind == "server_tool_use":
            waiting[str(block.get("id"))] = place, block
        elif kind.endswith("_tool_result") and kind != "mcp_tool_result":
            identity = str(block.get("tool_use_id"))
            if waiting.pop(identity, None) is None:
                yield Violation("server_result_orphan", place, f"no open call {identity!r} stands before it.")
    for identity in [known for known in before if known in waiting]:
        reason = f"the call {identity!r} at {before[identity][0]} should get its result here."
        yield Violation("open_server_call", path, reason)
        del waiting[identity]


def _answers(blocks: list[Entry], following: list[Entry]) -> Iterator[Violation]:
    calls = {str(block.get("id")): place for place, block in blocks if block.get("type") == "tool_use"}
    seen: set[str] = set()
    for place, block in following:
        identity = str(block.get("tool_use_id"))
        if block.get("type") != "tool_result" or identity.startswith(_SERVER_ID):
            continue
        if identity in seen:
            yield Violation("result_duplicate", place, f"the call {identity!r} has its result already.")
        elif identity not in calls:
            yield Violation("result_orphan", place, f"no call {identity!r} stands in the message before it.")
        seen.add(identity)
    for identity in [known for known in calls if known not in seen]:
        reason = f"the call {identity!r} has no result in the next message."
        yield Violation("call_unanswered", calls[identity], reason)


def _left_open(
    waiting: dict[str, Entry], following: Turn, tools: Any, transport: str | None
) -> Iterator[Violation]:
    path, _, blocks = following
    if not waiting:
        return
    if transport == "bedrock_invoke":
        for place, _ in waiting.values():
            yield Violation("open_server_call", place, "Bedrock refuses an open call: leave the block out.")
    if not blocks or any(block.get("type") != "tool_result" for _, block in blocks):
        yield Violation("open_server_call", path, "only tool results may follow while a hosted call is open.")
    names = tool_names(tools)
    for place, call in waiting.values():
        if str(call.get("name")) in HOSTED.values() and call["name"] not in names:
            yield Violation(
                "open_server_call", place, f"keep {call['name']!r} in tools while its call is open."
            )
