"""The rules of the Messages interface's betas, of its token counts, keys and paths, broken through the real SDK."""

from __future__ import annotations

import http.client
import json
from typing import Any

import anthropic
import pytest
from anthropic.types.available_tools_limit_exceeded_error import AvailableToolsLimitExceededError
from anthropic.types.compaction_too_many_tool_references_error import CompactionTooManyToolReferencesError
from anthropic.types.tool_name_conflict_error import ToolNameConflictError
from anthropic.types.tool_reference_unresolved_error import ToolReferenceUnresolvedError
from loopback_requests import (
    BM25,
    CLAUDE,
    CLAUDE_CLOCK,
    CLAUDE_FX,
    CLAUDE_SEARCH,
    CLAUDE_STOCK,
    USER,
    claude,
)

from semantic_toolsearch.testing.loopback import LoopbackProvider

TOOLS = [BM25, CLAUDE_FX, CLAUDE_STOCK, CLAUDE_CLOCK]


def _ask(server: LoopbackProvider, messages: Any, **more: Any) -> anthropic.types.Message:
    request = {"model": CLAUDE, "max_tokens": 100, "messages": messages, **more}
    return claude(server).messages.create(tools=TOOLS, **request)


CHANGES = {
    "extra_headers": {"anthropic-beta": "mid-conversation-tool-changes-2026-07-01,inline-tools-2026-09-15"}
}


def _addition(tool: dict[str, Any]) -> dict[str, Any]:
    return {"role": "system", "content": [{"type": "tool_addition", "tool": tool}]}


def test_a_tool_change_of_an_unknown_tool(talking: LoopbackProvider) -> None:
    messages = [USER, _addition({"type": "tool_reference", "name": "gone"}), USER]
    with pytest.raises(ToolReferenceUnresolvedError, match="references unknown tool 'gone'") as caught:
        _ask(talking, messages=messages, **CHANGES)
    assert caught.value.error_code == "tool_reference_unresolved"


def test_a_tool_added_under_a_name_in_use(talking: LoopbackProvider) -> None:
    messages = [USER, _addition({"type": "tool_definition", "definition": CLAUDE_CLOCK}), USER]
    with pytest.raises(ToolNameConflictError):
        _ask(talking, messages=messages, **CHANGES)


def test_too_many_tools_added() -> None:
    messages = [USER, _addition({"type": "tool_definition", "definition": CLAUDE_SEARCH}), USER]
    with (
        LoopbackProvider(available_limit=len(TOOLS)) as server,
        pytest.raises(AvailableToolsLimitExceededError),
    ):
        _ask(server, messages=messages, **CHANGES)


def test_a_compaction_that_records_too_many_tools() -> None:
    change = {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "fx_rate"}}
    compaction = {"type": "compaction", "content": "...", "tool_changes": [change, change]}
    messages = [USER, {"role": "assistant", "content": [compaction]}, USER]
    with (
        LoopbackProvider(compaction_limit=1) as server,
        pytest.raises(CompactionTooManyToolReferencesError),
    ):
        _ask(server, messages=messages)


def test_an_addition_reveals_a_deferred_tool(talking: LoopbackProvider) -> None:
    messages = [USER, _addition({"type": "tool_reference", "name": "fx_rate"}), USER]
    _ask(talking, messages=messages, **CHANGES)
    assert talking.model_view(0).knowledge("fx_rate") == "loaded"
    assert talking.model_view(0).knowledge("stock_quote") == "blind"


def test_a_definition_in_a_message_is_there_and_a_removed_tool_is_not(talking: LoopbackProvider) -> None:
    removal = {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "clock"}}
    added = _addition({"type": "tool_definition", "definition": CLAUDE_SEARCH})
    _ask(talking, [USER, added, USER, {"role": "system", "content": [removal]}, USER], **CHANGES)
    view = talking.model_view(0)
    assert (view.knowledge("tool_search"), view.knowledge("clock")) == ("loaded", "unknown")


CHANGE_RULES: dict[str, tuple[dict[str, Any], str]] = {
    "other_block": ({"type": "image", "source": {}}, "Input tag 'image' found using 'type' does not match"),
    "no_tool": ({"type": "tool_addition"}, "tool_addition.tool: Field required"),
    "server": (
        {"type": "tool_addition", "tool": {"type": "mcp_toolset_reference", "server_name": "gh"}},
        "references unknown tool 'gh'",
    ),
    "tool_of_a_server": (
        {"type": "tool_removal", "tool": {"type": "mcp_tool_reference", "server_name": "gh", "name": "issues"}},
        "references unknown tool 'issues'",
    ),
    "key_of_a_search_result": (
        {"type": "tool_addition", "tool": {"type": "tool_reference", "tool_name": "fx_rate"}}, "name: Field required",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("block", "message"), CHANGE_RULES.values(), ids=CHANGE_RULES)
def test_tool_changes_that_break_a_rule(talking: LoopbackProvider, block: Any, message: str) -> None:
    with pytest.raises(anthropic.BadRequestError, match=message):
        _ask(talking, [USER, {"role": "system", "content": [block]}, USER], **CHANGES)


def test_definitions_in_messages_need_their_own_beta(talking: LoopbackProvider) -> None:
    messages = [USER, _addition({"type": "tool_definition", "definition": CLAUDE_SEARCH}), USER]
    header = {"anthropic-beta": "mid-conversation-tool-changes-2026-07-01"}
    with pytest.raises(anthropic.BadRequestError, match="require the inline-tools beta"):
        _ask(talking, messages, extra_headers=header)


def test_an_mcp_toolset_passes_over_the_beta_interface(talking: LoopbackProvider) -> None:
    toolset = {
        "type": "mcp_toolset", "mcp_server_name": "gh", "default_config": {"defer_loading": True},
        "configs": {"search_issues": {"defer_loading": False}},
    }  # fmt: skip
    ask = claude(talking).beta.messages.create
    request = {"model": CLAUDE, "max_tokens": 100, "messages": [USER], "betas": ["mcp-client-2025-11-20"]}
    server = {"type": "url", "name": "gh", "url": "https://mcp.example/sse"}
    assert ask(tools=[BM25, toolset], mcp_servers=[server], **request).stop_reason == "end_turn"
    assert talking.exchanges[0].headers["anthropic-beta"] == "mcp-client-2025-11-20"
    with pytest.raises(anthropic.BadRequestError, match="MCP server 'gh' not found in mcp_servers"):
        ask(tools=[BM25, toolset], mcp_servers=[], **request)
    cached = {**toolset, "configs": {}, "cache_control": {"type": "ephemeral"}}
    with pytest.raises(anthropic.BadRequestError, match="cannot have both defer_loading=true and cache"):
        ask(tools=[BM25, cached], mcp_servers=[server], **request)


def test_tokens_are_counted_without_deferred_tools(talking: LoopbackProvider) -> None:
    count = claude(talking).messages.count_tokens
    less = count(model=CLAUDE, messages=[USER], tools=[CLAUDE_CLOCK, CLAUDE_FX]).input_tokens
    more = count(model=CLAUDE, messages=[USER], tools=[CLAUDE_CLOCK, {**CLAUDE_FX, "defer_loading": False}])
    assert 0 < less < more.input_tokens
    with pytest.raises(anthropic.BadRequestError, match="server tools are not supported"):
        count(model=CLAUDE, messages=[USER], tools=[BM25, CLAUDE_FX])
    assert talking.requests == []
    assert len(talking.token_counts) == 3


def test_keys_and_paths(talking: LoopbackProvider) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", int(talking.url.rsplit(":", 1)[1]))
    connection.request("POST", "/v1/messages", "{}", {"anthropic-version": "2026-10-21"})
    answer = connection.getresponse()
    assert (answer.status, json.load(answer)["error"]["type"]) == (401, "authentication_error")
    connection.request(
        "POST", "/v1/messages", '{"model": "x", "max_tokens": 1, "messages": []}', {"x-api-key": "any"}
    )
    assert "anthropic-version: header is required" in connection.getresponse().read().decode()
    connection.request("POST", "/v1/messages", "no json", {"x-api-key": "any"})
    answer = connection.getresponse()
    assert (answer.status, json.load(answer)["error"]["type"]) == (400, "invalid_request_error")
    connection.close()
    with pytest.raises(anthropic.NotFoundError):
        claude(talking).models.list()
