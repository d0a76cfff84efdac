"""Each rule of the Messages interface, broken through the real SDK, and what stands beside it and is legal."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest
from loopback_requests import (
    BM25,
    CLAUDE,
    CLAUDE_CLOCK,
    CLAUDE_FX,
    CLAUDE_SEARCH,
    CLAUDE_STOCK,
    REGEX,
    USER,
    claude,
    claude_tool,
    found,
    result,
    schema,
    server_use,
    use,
)

from semantic_toolsearch.testing.loopback import LoopbackProvider, Say, Search

TOOLS = [BM25, CLAUDE_FX, CLAUDE_STOCK, CLAUDE_CLOCK]


def _ask(
    server: LoopbackProvider, tools: Any = None, messages: Any = None, **more: Any
) -> anthropic.types.Message:
    request = {"model": CLAUDE, "max_tokens": 100, "messages": messages or [USER], **more}
    return claude(server).messages.create(tools=TOOLS if tools is None else tools, **request)


def _assistant(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def _user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


TEXT = {"type": "text", "text": "Go on."}
ANSWER = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "noon"}
CACHE = {"type": "ephemeral"}


def _clock(**more: Any) -> list[Any]:
    return [{**CLAUDE_CLOCK, **more}]


def _schema(**more: Any) -> list[Any]:
    return [claude_tool("clock", "", {**schema(), **more})]


TOOL_RULES = {
    "all_deferred": ([CLAUDE_FX, CLAUDE_STOCK], "At least one tool must have defer_loading=false. All tools cannot be"),
    "deferred_and_cached": (
        [BM25, {**CLAUDE_FX, "cache_control": CACHE}],
        "Tool 'fx_rate' cannot have both defer_loading=true and cache_control set. Tools with defer_loading cannot use",
    ),
    "search_deferred": ([{**BM25, "defer_loading": True}, CLAUDE_CLOCK], "tool search tool and cannot have defer"),
    "duplicate_names": ([BM25, CLAUDE_CLOCK, CLAUDE_CLOCK], "tools: Tool names must be unique."),
    "search_name": ([{**BM25, "name": "tool_search"}], ".name: Input should be 'tool_search_tool_bm25'"),
    "search_field": ([{**BM25, "max_results": 5}], "max_results: Extra inputs are not permitted"),
    "two_searches": ([BM25, REGEX, CLAUDE_FX], "loopback: two hosted search tools"),
    "name_pattern": (_clock(name="what time"), "tools.0.custom.name: String should match pattern"),
    "name_length": (_clock(name="c" * 129), "'^[a-zA-Z0-9_-]{1,128}$'"),
    "no_name": ([{"input_schema": schema()}], "tools.0.custom.name: Field required"),
    "no_schema": ([{"name": "clock"}], "tools.0.custom.input_schema: Field required"),
    "unknown_field": (_clock(parameters={}), "tools.0.custom.parameters: Extra inputs are not permitted"),
    "chat_shape": (
        [{"type": "function", "function": {"name": "clock"}}],
        "tools.0: Input tag 'function' found using 'type' does not match any of the expected tags",
    ),
    "defer_not_bool": (_clock(defer_loading="yes"), "defer_loading: Input should be a valid boolean"),
    "description_null": (_clock(description=None), "description: Input should be a valid string"),
    "cache_kind": (_clock(cache_control={"type": "lasting"}), "cache_control.type: Input should be 'ephemeral'"),
    "cache_ttl": (_clock(cache_control={**CACHE, "ttl": "2h"}), "ttl: Input should be '5m' or '1h'"),
    "caller": (_clock(allowed_callers=["program"]), "allowed_callers: Input should be 'direct'"),
    "schema_no_type": ([claude_tool("clock", "", {})], "tools.0.custom.input_schema.type: Field required"),
    "schema_type": (_schema(type="array"), "tools.0.custom.input_schema.type: Input should be 'object'"),
    "schema_any_of": (_schema(anyOf=[schema()]), "does not support oneOf, allOf, or anyOf at the top level"),
    "schema_one_of": (_schema(oneOf=[schema()]), "does not support oneOf, allOf, or anyOf at the top level"),
    "schema_all_of": (_schema(allOf=[schema()]), "does not support oneOf, allOf, or anyOf at the top level"),
    "schema_required": (_schema(required="when"), "JSON schema is invalid. It must match JSON Schema draft 2020-12"),
    "schema_inner_type": (_schema(properties={"a": {"type": "datetime"}}), "'datetime' is not a type"),
    "schema_draft_4": (_schema(properties={"a": {"exclusiveMinimum": True}}), "exclusive bounds are numbers"),
    "property_name": (_schema(properties={"a b": {}}), "Property keys should match pattern"),
    "schema_null": ([{"name": "clock", "input_schema": None}], "input_schema: Input should be a valid dictionary"),
    "schema_property": (_schema(properties={"a": 5}), "properties/a is neither an object nor a boolean"),
    "schema_enum": (_schema(properties={"a": {"enum": "x"}}), "properties/a: enum is not a list"),
    "schema_defs": (_schema(**{"$defs": []}), "$defs is not an object"),
    "schema_inner_union": (_schema(properties={"a": {"anyOf": []}}), "properties/a: anyOf is not a list of schemas"),
    "schema_in_union": (_schema(properties={"a": {"anyOf": [{"type": "date"}]}}), "a/anyOf/0: 'date' is not"),
    "examples": (_clock(input_examples=["noon"]), "input_examples: Input should be a valid dictionary"),
    "eager": (_clock(eager_input_streaming="yes"), "eager_input_streaming: Input should be a valid boolean"),
    "cache_text": (_clock(cache_control="ephemeral"), "cache_control: Input should be a valid dictionary"),
    "strict_open": (_clock(strict=True), "'additionalProperties' must be explicitly set to false"),
    "toolset_without_beta": (
        [BM25, {"type": "mcp_toolset", "mcp_server_name": "gh"}], "MCP toolsets require an mcp-client beta header",
    ),
    "provider_tool_name": ([{"type": "bash_20250124", "name": "shell"}], ".name: Input should be 'bash'"),
}  # fmt: skip


@pytest.mark.parametrize(("tools", "message"), TOOL_RULES.values(), ids=TOOL_RULES)
def test_a_tools_list_that_breaks_a_rule(talking: LoopbackProvider, tools: Any, message: str) -> None:
    with pytest.raises(anthropic.BadRequestError) as caught:
        _ask(talking, tools)
    assert message in caught.value.body["error"]["message"]
    assert caught.value.body["error"]["type"] == "invalid_request_error"
    assert talking.exchanges[0].status == 400
    assert talking.requests[0]["tools"] == tools


LEGAL_TOOLS = {
    "undated_search": [{"type": "tool_search_tool_bm25", "name": "tool_search_tool_bm25"}, CLAUDE_FX],
    "regex": [REGEX, CLAUDE_FX],
    "search_alone": [BM25],
    "deferred_without_search": [CLAUDE_CLOCK, CLAUDE_FX],
    "mark_on_undeferred": [
        BM25,
        CLAUDE_FX,
        {**CLAUDE_CLOCK, "cache_control": {"type": "ephemeral", "ttl": "1h"}},
    ],
    "toolset_and_eager": [
        {"type": "computer_toolset_20260801"},
        {**CLAUDE_CLOCK, "eager_input_streaming": None},
    ],
    "boolean_schemas": _schema(properties={"a": True, "b": {"anyOf": [{"type": ["string", "null"]}]}}),
    "provider_tools": [
        {"type": "bash_20250124", "name": "bash"},
        {**CLAUDE_FX, "input_examples": [{"base": "USD"}]},
    ],
    "open_object": [claude_tool("clock", "", {"type": "object", "additionalProperties": True})],
    "not_deferred": [BM25, {**CLAUDE_FX, "defer_loading": False, "cache_control": CACHE}],
}


@pytest.mark.parametrize("tools", LEGAL_TOOLS.values(), ids=LEGAL_TOOLS)
def test_a_legal_tools_list_passes(talking: LoopbackProvider, tools: Any) -> None:
    assert _ask(talking, tools).content[0].text == "Understood."


MESSAGE_RULES = {
    "absent_tool_in_hosted_result": (
        [USER, _assistant(server_use(), found("gone")), USER], "Tool reference 'gone' not found in available tools",
    ),
    "absent_tool_in_own_result": (
        [USER, _assistant(use("toolu_1", "tool_search")),
         result("toolu_1", [{"type": "tool_reference", "tool_name": "gone"}])],
        "Tool reference 'gone' not found in available tools",
    ),
    "reference_with_the_other_key": (
        [USER, _assistant(use("toolu_1")), result("toolu_1", [{"type": "tool_reference", "name": "fx_rate"}])],
        "tool_name: Field required",
    ),
    "answers_server_id": (
        [USER, _assistant(server_use(), found("fx_rate"), use("toolu_1")), _user(ANSWER, {**ANSWER, "tool_use_id":
         "srvtoolu_1"})],
        "`tool_result` blocks cannot answer server tool use `srvtoolu_1`",
    ),
    "no_result": (
        [USER, _assistant(use("toolu_1")), USER],
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.",
    ),
    "one_result_missing": (
        [USER, _assistant(use("toolu_1"), use("toolu_2")), _user(ANSWER)], "immediately after: toolu_2",
    ),
    "text_before_result": ([USER, _assistant(use("toolu_1")), _user(TEXT, ANSWER)], "immediately after: toolu_1"),
    "result_twice": ([USER, _assistant(use("toolu_1")), _user(ANSWER, ANSWER)], "must have a single result"),
    "result_of_nothing": ([USER, _assistant(TEXT), _user(ANSWER)], "unexpected `tool_use_id` found in `tool_result`"),
    "empty_result": ([USER, _assistant(use("toolu_1")), result("toolu_1", [])], "List should have at least 1 item"),
    "text_beside_reference": (
        [USER, _assistant(use("toolu_1")), result("toolu_1", [TEXT, {"type": "tool_reference", "tool_name": "clock"}])],
        "references beside other blocks in one result are not documented",
    ),
    "open_search_then_text": (
        [USER, _assistant(server_use(), use("toolu_1")), _user(ANSWER, TEXT)],
        "messages.1: `tool_search_tool_bm25` tool use with id `srvtoolu_1` was found without a corresponding "
        "`tool_search_tool_bm25_tool_result` block",
    ),
    "open_search_then_user": ([USER, _assistant(server_use()), USER], "`srvtoolu_1` was found without"),
    "open_search_repaired": (
        [USER, _assistant(server_use(), use("toolu_1")), _user(ANSWER), _assistant(TEXT), USER],
        "`srvtoolu_1` was found without a corresponding",
    ),
    "search_result_of_nothing": (
        [USER, _assistant(found("fx_rate")), USER],
        "unexpected `tool_use_id` found in `tool_search_tool_result` blocks: srvtoolu_1",
    ),
    "search_result_from_user": (
        [USER, _assistant(use("toolu_1")), _user(found("fx_rate", identity="toolu_1"))],
        "`tool_search_tool_result` blocks can only be in `assistant` messages",
    ),
    "call_from_user": ([_user(use("toolu_1"))], "`tool_use` blocks can only be in `assistant` messages"),
    "result_from_assistant": ([USER, _assistant(ANSWER)], "`tool_result` blocks can only be in `user` messages"),
    "same_id_twice": (
        [USER, _assistant(use("toolu_1")), _user(ANSWER), _assistant(use("toolu_1")), _user(ANSWER)],
        "`tool_use` ids must be unique",
    ),
    "stream_delta_as_block": (
        [USER, _assistant({"type": "input_json_delta", "partial_json": "{}"}), USER],
        "Input tag 'input_json_delta' found using 'type' does not match any of the expected tags",
    ),
    "parsed_output": ([USER, _assistant({**TEXT, "parsed_output": None}), USER], "parsed_output: Extra inputs are not"),
    "foreign_server_id": ([USER, _assistant(server_use("toolu_1")), USER], "should match pattern '^srvtoolu_"),
    "foreign_call_id": ([USER, _assistant(use("call.1")), USER], "tool_use.id: String should match pattern"),
    "input_as_text": ([USER, _assistant(use("toolu_1", arguments="{}")), USER], "input: Input should be a valid dict"),
    "empty_text": ([_user({"type": "text", "text": ""})], "text content blocks must be non-empty"),
    "blank_text": ([_user({"type": "text", "text": " "})], "must contain non-whitespace text"),
    "empty_text_in_result": (
        [USER, _assistant(use("toolu_1")), result("toolu_1", [{"type": "text", "text": ""}])],
        "text content blocks must be non-empty",
    ),
    "user_citations": ([_user({**TEXT, "citations": [{}]})], "citations are not permitted on user text"),
    "block_as_text": ([_user("Hello")], "messages.0.content.0: Input should be a valid dictionary"),
    "block_without_type": ([_user({"text": "Hello"})], "messages.0.content.0.type: Field required"),
    "one_of_two_results": (
        [USER, _assistant(server_use(), server_use("srvtoolu_2"), use("toolu_1")), _user(ANSWER),
         _assistant(found("fx_rate")), USER],
        "`srvtoolu_2` was found without a corresponding",
    ),
    "call_left_open": ([USER, _assistant(server_use(), found(), use("toolu_1"))], "immediately after: toolu_1"),
    "calls_in_two_turns": (
        [USER, _assistant(use("toolu_1")), _assistant(TEXT), USER], "immediately after: toolu_1",
    ),
    "empty_message": ([USER, {"role": "assistant", "content": []}, USER], "messages must have non-empty content"),
    "assistant_first": ([_assistant(TEXT), USER], 'first message must use the "user" role'),
    "assistant_last": ([USER, _assistant(TEXT)], "does not support assistant message prefill"),
    "system_role": ([{"role": "system", "content": "Be brief."}, USER], 'Unexpected role "system"'),
    "marks": ([_user(*[{**TEXT, "cache_control": CACHE}] * 5)], "A maximum of 4 blocks with cache_control may be pro"),
}  # fmt: skip


@pytest.mark.parametrize(("messages", "message"), MESSAGE_RULES.values(), ids=MESSAGE_RULES)
def test_messages_that_break_a_rule(talking: LoopbackProvider, messages: Any, message: str) -> None:
    with pytest.raises(anthropic.BadRequestError) as caught:
        _ask(talking, [*TOOLS, CLAUDE_SEARCH], messages)
    assert message in caught.value.body["error"]["message"]


LEGAL_MESSAGES = {
    "closed_search": [USER, _assistant(server_use(), found("fx_rate"), use("toolu_1")), _user(ANSWER)],
    "no_hits": [USER, _assistant(server_use(), found(), TEXT), USER],
    "text_after_result": [USER, _assistant(use("toolu_1")), _user(ANSWER, TEXT)],
    "result_in_two_messages": [
        USER, _assistant(use("toolu_1"), use("toolu_2")), _user(ANSWER), _user({**ANSWER, "tool_use_id": "toolu_2"}),
    ],
    "result_without_content": [USER, _assistant(use("toolu_1")), _user({"type": "tool_result", "tool_use_id":
                               "toolu_1"})],
    "call_of_a_gone_tool": [USER, _assistant(use("toolu_1", "gone")), _user(ANSWER)],
    "seeded_reference": [
        USER, _assistant(use("toolu_1", "tool_search")),
        result("toolu_1", [{"type": "tool_reference", "tool_name": "fx_rate"}]),
    ],
    "error_block": [
        USER,
        _assistant(server_use(), {**found(), "content": {"type": "tool_search_tool_result_error", "error_code":
                   "unavailable"}}, TEXT),
        USER,
    ],
    "results_of_other_servers": [
        USER, _assistant({"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "x", "server_name": "gh", "input": {}}),
        USER,
    ],
    "four_marks": [_user(*[{**TEXT, "cache_control": CACHE}] * 4)],
}  # fmt: skip


@pytest.mark.parametrize("messages", LEGAL_MESSAGES.values(), ids=LEGAL_MESSAGES)
def test_legal_messages_pass(talking: LoopbackProvider, messages: Any) -> None:
    assert _ask(talking, messages=messages).stop_reason == "end_turn"


def test_a_closed_search_is_replayed_where_the_search_tool_is_gone(talking: LoopbackProvider) -> None:
    messages = [USER, _assistant(server_use(), found("fx_rate"), TEXT), USER]
    assert _ask(talking, [CLAUDE_FX, CLAUDE_CLOCK], messages).stop_reason == "end_turn"


def test_an_open_search_needs_its_search_tool(talking: LoopbackProvider) -> None:
    messages = [USER, _assistant(server_use(), use("toolu_1")), _user(ANSWER)]
    with pytest.raises(anthropic.BadRequestError, match="was found without a corresponding"):
        _ask(talking, [CLAUDE_FX, CLAUDE_CLOCK], messages)


REQUEST_RULES = {
    "no_tokens": ({"max_tokens": 0}, "max_tokens: Input should be greater than or equal to 1"),
    "temperature": ({"extra_body": {"temperature": 0.5}}, "temperature: Extra inputs are not permitted"),
    "top_k": ({"extra_body": {"top_k": 5}}, "top_k: Extra inputs are not permitted"),
    "unknown": ({"extra_body": {"tool_search": True}}, "tool_search: Extra inputs are not permitted"),
    "betas_in_body": ({"extra_body": {"mcp_servers": []}}, "mcp_servers: Extra inputs are not permitted"),
    "old_beta": (
        {"extra_headers": {"anthropic-beta": "advanced-tool-use-2025-11-20"}},
        "Unexpected value(s) `advanced-tool-use-2025-11-20` for the `anthropic-beta` header",
    ),
    "old_model": ({"model": "claude-opus-4-1"}, "does not support tool search"),
    "older_model": ({"model": "claude-3-5-haiku-latest"}, "does not support tool search"),
    "choice_of_nothing": (
        {"tool_choice": {"type": "tool", "name": "gone"}},
        "Tool 'gone' not found in provided tools",
    ),
    "choice_of_deferred": ({"tool_choice": {"type": "tool", "name": "fx_rate"}}, "forcing 'fx_rate'"),
    "choice_of_search": (
        {"tool_choice": {"type": "tool", "name": BM25["name"]}},
        "forcing 'tool_search_tool_bm25'",
    ),
    "choice_word": ({"tool_choice": "auto"}, "tool_choice: Input tag does not match"),
    "parallel_none": (
        {"tool_choice": {"type": "none", "disable_parallel_tool_use": True}},
        "Extra inputs are not",
    ),
}


@pytest.mark.parametrize(("more", "message"), REQUEST_RULES.values(), ids=REQUEST_RULES)
def test_a_request_that_breaks_a_rule(talking: LoopbackProvider, more: Any, message: str) -> None:
    with pytest.raises(anthropic.BadRequestError) as caught:
        _ask(talking, **more)
    assert message in caught.value.body["error"]["message"]


@pytest.mark.parametrize("model", ["claude-opus-4-1", "claude-3-7-sonnet-latest", "claude-sonnet-4-20250514"])
def test_an_old_model_takes_plain_tools(talking: LoopbackProvider, model: str) -> None:
    assert _ask(talking, [CLAUDE_CLOCK, CLAUDE_SEARCH], model=model).stop_reason == "end_turn"


@pytest.mark.parametrize("model", ["claude-opus-4-6", "claude-opus-5", CLAUDE, "anthropic.claude-sonnet-4-6"])
def test_models_with_tool_search(talking: LoopbackProvider, model: str) -> None:
    assert _ask(talking, model=model).stop_reason == "end_turn"


def test_no_messages_at_all(talking: LoopbackProvider) -> None:
    with pytest.raises(anthropic.BadRequestError, match="at least one message is required"):
        claude(talking).messages.create(model=CLAUDE, max_tokens=9, messages=[])


@pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")
def test_models_that_continue_an_answer(talking: LoopbackProvider) -> None:
    message = _ask(talking, messages=[USER, _assistant(TEXT)], model="claude-sonnet-4-5")
    assert message.stop_reason == "end_turn"


def test_choice_without_tools(talking: LoopbackProvider) -> None:
    with pytest.raises(anthropic.BadRequestError, match="may only be specified while providing tools"):
        _ask(talking, [], tool_choice={"type": "any"})


def test_more_deferred_tools_than_allowed() -> None:
    tools = [claude_tool(f"tool_{number}", "", schema(), defer_loading=True) for number in range(10_001)]
    with LoopbackProvider([Say("Understood.")]) as server:
        with pytest.raises(anthropic.BadRequestError, match="At most 10000 tools"):
            _ask(server, [BM25, *tools])
        assert _ask(server, [BM25, *tools[:-1]]).stop_reason == "end_turn"


def test_what_is_not_documented_passes_when_asked_for() -> None:
    messages = [
        USER, _assistant(use("toolu_1")), result("toolu_1", [TEXT, {"type": "tool_reference", "tool_name": "fx_rate"}]),
    ]  # fmt: skip
    with LoopbackProvider([Say("Understood.")], allow_undocumented=True) as server:
        assert _ask(server, [*TOOLS, REGEX], messages).stop_reason == "end_turn"
        assert server.model_view(0).knowledge("fx_rate") == "loaded"


def test_older_bedrock_knows_no_bm25_and_no_open_search() -> None:
    messages = [USER, _assistant(server_use(name=REGEX["name"]), use("toolu_1")), _user(ANSWER)]
    with LoopbackProvider([Search("currency"), Say("Understood.")], bedrock=True) as server:
        with pytest.raises(anthropic.BadRequestError, match="BM25 tool search is not supported on Bedrock"):
            _ask(server)
        with pytest.raises(
            anthropic.BadRequestError, match="`tool_search_tool_regex` tool use with id `srvtoolu_1`"
        ):
            _ask(server, [REGEX, CLAUDE_FX, CLAUDE_CLOCK], messages)
        assert _ask(server, [REGEX, CLAUDE_FX]).content[0].id.startswith("srvtoolu_bdrk_")
