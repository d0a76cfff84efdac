"""Anthropic Messages: what is sent, what is read, and streams that amount to the same."""

from __future__ import annotations

import json

import pytest
from wire_requests import LIB, SHOP, many, record_of, request_of, search_call

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.errors import ConfigError, ConversationError, UnknownToolError
from semantic_toolsearch.exchange import RawCall, SearchCall, TurnPlan, TurnRequest
from semantic_toolsearch.facts import Found
from semantic_toolsearch.history import read
from semantic_toolsearch.providers import anthropic
from semantic_toolsearch.providers.validate import validate

BM25 = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}
REGEX = {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}


def message(*blocks, stop="tool_use", **fields):
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5",
        "content": list(blocks),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 1591, "output_tokens": 198},
        **fields,
    }


def use(name="fx_rate", given=None, call_id="toolu_B", **fields):
    return {"type": "tool_use", "id": call_id, "name": name, "input": given or {}, **fields}


def hosted_use(call_id="srvtoolu_A"):
    return {
        "type": "server_tool_use",
        "id": call_id,
        "name": "tool_search_tool_bm25",
        "input": {"query": "currency"},
    }


def hosted_result(*names, call_id="srvtoolu_A"):
    references = [{"type": "tool_reference", "tool_name": name} for name in names]
    content = {"type": "tool_search_tool_search_result", "tool_references": references}
    return {"type": "tool_search_tool_result", "tool_use_id": call_id, "content": content}


def hosted_error(code, call_id="srvtoolu_A"):
    content = {"type": "tool_search_tool_result_error", "error_code": code}
    return {"type": "tool_search_tool_result", "tool_use_id": call_id, "content": content}


# What is sent


def test_e11_e47_e48_e49_hosted_search_defers_each_tool_and_adds_one_entry():
    tools = anthropic.render(request_of(many(20), "hosted", "anthropic", search="bm25"))
    assert [entry for entry in tools if entry.get("defer_loading")] == tools[1:]
    assert len(tools) == 21
    assert tools[0] == BM25
    assert [entry["name"] for entry in tools[1:]] == [f"tool_{i:02}" for i in range(20)]
    assert [entry["input_schema"] for entry in tools[1:]] == [tool["parameters"] for tool in many(20)]
    assert "tool_search" not in {entry["name"] for entry in tools}


def test_e50_the_search_entry_is_not_deferred_where_all_tools_are():
    always = [{**tool, "defer": "always"} for tool in many(15)]
    for search, entry in (("bm25", BM25), ("regex", REGEX)):
        tools = anthropic.render(request_of(always, "hosted", "anthropic", search=search))
        assert [found for found in tools if not found.get("defer_loading")] == [entry]


def test_e31_never_is_sent_whole_and_undeferred():
    tools = anthropic.render(request_of(LIB, "hosted", "anthropic", search="bm25"))
    assert tools[0] == {
        "name": "find_reader",
        "description": "Look up a reader",
        "input_schema": {"type": "object", "properties": {}},
    }


@pytest.mark.parametrize("mode", ["hosted", "reference"])
def test_x01_loading_changes_no_byte(mode):
    search = "bm25" if mode == "hosted" else None
    before = anthropic.render(request_of(SHOP, mode, "anthropic", search=search))
    after = anthropic.render(request_of(SHOP, mode, "anthropic", search=search, loaded=("fx_rate",)))
    assert json.dumps(before) == json.dumps(after)


def test_x01_deferred_tools_stand_in_catalog_order_whatever_the_plan_says():
    request = request_of(many(4), "reference", "anthropic")
    turned = TurnPlan("reference", "anthropic", "", (), request.plan.deferred[::-1], search="ours")
    other = TurnRequest(request.catalog, turned, request.search_tool)
    assert anthropic.render(other) == anthropic.render(request)


def test_provider_fields_that_are_known_are_passed_on():
    fields = {
        "strict": True,
        "eager_input_streaming": True,
        "input_examples": [{"a": 1}],
        "allowed_callers": ["direct", "programmatic", "code_execution_20260120"],
        "cache_control": {"type": "ephemeral", "ttl": "1h"},
        "annotations": {"readOnlyHint": True},
    }
    tool = {"name": "a", "parameters": {}, "provider_fields": fields}
    (entry,) = anthropic.render(request_of([tool], "full", "anthropic"))
    assert entry == {
        "name": "a",
        "input_schema": {"type": "object", "properties": {}},
        "strict": True,
        "eager_input_streaming": True,
        "input_examples": [{"a": 1}],
        "allowed_callers": ["direct", "code_execution_20260120"],
        "cache_control": {"type": "ephemeral", "ttl": "1h"},
    }
    stub = anthropic.render(request_of([tool], "stub", "anthropic"))[-1]
    assert stub == {
        "name": "a",
        "input_schema": {"type": "object", "additionalProperties": True},
        "cache_control": {"type": "ephemeral", "ttl": "1h"},
    }


def test_fields_of_other_providers_or_types_are_left_out():
    fields = {
        "strict": "yes",
        "allowed_callers": ["programmatic"],
        "cache_control": None,
        "input_examples": {},
    }
    (entry,) = anthropic.render(request_of([{"name": "a", "provider_fields": fields}], "full", "anthropic"))
    assert set(entry) == {"name", "input_schema"}


def marked(tools):
    return {entry["name"]: entry["cache_control"] for entry in tools if "cache_control" in entry}


def test_bc45_the_marker_is_on_the_last_tool_that_is_not_deferred():
    tools = [{"name": "a", "defer": "never"}, {"name": "b"}, {"name": "c"}]
    request = request_of(tools, "hosted", "anthropic", search="bm25", cache_breakpoint=True)
    assert marked(anthropic.render(request)) == {"tool_search_tool_bm25": {"type": "ephemeral"}}
    assert anthropic.moved_markers(request) == ()
    bare = TurnRequest(
        request.catalog,
        TurnPlan("hosted", "anthropic", "", ("a",), ("b", "c"), search=None),
        cache_breakpoint=True,
    )
    assert marked(anthropic.render(bare)) == {"a": {"type": "ephemeral"}}
    none = TurnRequest(
        request.catalog,
        TurnPlan("hosted", "anthropic", "", (), ("b", "c"), search=None),
        cache_breakpoint=True,
    )
    assert marked(anthropic.render(none)) == {}


def test_bc45_a_callers_marker_on_a_deferred_tool_moves_and_is_told():
    long = {"type": "ephemeral", "ttl": "1h"}
    tools = [
        {"name": "a", "defer": "never"},
        {"name": "b", "cache_control": long},
        {"name": "c", "cache_control": {"type": "ephemeral"}},
    ]
    request = request_of(tools, "reference", "anthropic")
    assert marked(anthropic.render(request)) == {"tool_search": long}
    assert anthropic.moved_markers(request) == ("b", "c")
    assert anthropic.moved_markers(request_of(tools, "stub", "anthropic")) == ()
    assert set(marked(anthropic.render(request_of(tools, "stub", "anthropic")))) == {"b", "c"}


def test_bc45_a_moved_marker_does_not_outlive_an_earlier_one():
    tools = [
        {"name": "a", "defer": "never", "cache_control": {"type": "ephemeral"}},
        {"name": "b", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
    ]
    rendered = anthropic.render(request_of(tools, "reference", "anthropic"))
    assert marked(rendered) == {"a": {"type": "ephemeral"}, "tool_search": {"type": "ephemeral"}}


def test_a_plan_for_another_format_is_refused():
    with pytest.raises(ConfigError, match="'chat' format"):
        anthropic.render(request_of(SHOP, "stub", "chat"))
    with pytest.raises(ConfigError, match="'output' cannot be written"):
        anthropic.render(request_of(SHOP, "output", "anthropic"))
    plan = TurnPlan("stub", "anthropic", "", (), (), search="ours")
    request = request_of(SHOP, "stub", "anthropic")
    with pytest.raises(ConfigError, match="search_tool"):
        anthropic.render(TurnRequest(request.catalog, plan))
    with pytest.raises(ConfigError, match="bridge_tool"):
        anthropic.render(TurnRequest(request.catalog, TurnPlan("bridge", "anthropic", "", ())))
    with pytest.raises(UnknownToolError):
        anthropic.render(TurnRequest(request.catalog, TurnPlan("full", "anthropic", "", ("gone",))))


# Results


def test_x01_found_tools_arrive_as_references_only():
    request = request_of(SHOP, "reference", "anthropic")
    record = {
        **record_of(request.catalog, ["fx_rate", "invoice_create"]),
        "hints": [{"name": "list_branches"}],
    }
    record["loaded"].append("fx_rate")
    block = anthropic.search_answer(search_call(), record, request)
    assert block == {
        "type": "tool_result",
        "tool_use_id": "s1",
        "content": [
            {"type": "tool_reference", "tool_name": "fx_rate"},
            {"type": "tool_reference", "tool_name": "invoice_create"},
        ],
        "is_error": False,
    }


@pytest.mark.parametrize("names", [[], ["gone_tool"]])
def test_x01_a_miss_is_one_text_that_reads_back_as_nothing_loaded(names):
    request = request_of(SHOP, "reference", "anthropic")
    record = {**record_of(request.catalog, []), "loaded": names}
    block = anthropic.search_answer(search_call(), record, request)
    (content,) = block["content"]
    assert content["type"] == "text"
    assert json.loads(content["text"])["loaded"] == []
    messages = [
        {"role": "assistant", "content": [use("tool_search", {"query": "q"}, "s1")]},
        {"role": "user", "content": [block]},
    ]
    (found,) = [event for event in read(messages) if isinstance(event, Found)]
    assert found.names == ()


def test_e65_e66_c19_d15_by_stub_the_record_arrives_as_text():
    request = request_of(SHOP, "stub", "anthropic")
    plain = record_of(request.catalog, ["invoice_create"])
    text = anthropic.search_answer(search_call(), plain, request)["content"]
    read_back = json.loads(text)
    assert read_back["loaded"] == ["invoice_create"]
    assert set(read_back) >= {"query", "tools", "loaded", "note"}
    assert [set(tool) for tool in read_back["tools"]] == [{"name", "description"}]
    schemas = {"invoice_create": SHOP[0]["parameters"]}
    full = record_of(request.catalog, ["invoice_create"], schemas=schemas)
    text = anthropic.search_answer(search_call(), full, request)["content"]
    assert json.loads(text)["tools"][0]["parameters"] == SHOP[0]["parameters"]


def test_bc29_results_encode_as_utf8():
    request = request_of(SHOP, "stub", "anthropic")
    record = record_of(request.catalog, [], query="kaputt \udc80")
    block = anthropic.search_answer(search_call(), record, request)
    assert json.loads(block["content"].encode())["query"] == "kaputt \ufffd"
    block = anthropic.call_result(RawCall("t1", "x", None, {}), "bad \ud800", is_error=True)
    assert block == {"type": "tool_result", "tool_use_id": "t1", "content": "bad \ufffd", "is_error": True}


# What is read


def test_e51_e52_hosted_search_and_call_give_one_call():
    found = anthropic.parse(
        message(
            {"type": "text", "text": "Looking."},
            hosted_use(),
            hosted_result("fx_rate"),
            use(given={"base": "USD"}, caller={"type": "direct"}),
        )
    )
    assert found.calls == (RawCall("toolu_B", "fx_rate", None, {"base": "USD"}, {"type": "direct"}),)
    assert (found.searches, found.order) == ((), ("toolu_B",))
    assert (found.complete, found.resume, found.open_searches) == (True, False, ())
    assert found.stop == "tool_use"


def test_calls_and_searches_keep_their_order():
    search = use("tool_search", {"query": "bill"}, "toolu_1")
    found = anthropic.parse(message(use(call_id="toolu_0"), search, use(call_id="toolu_2")))
    assert found.order == ("toolu_0", "toolu_1", "toolu_2")
    assert found.searches == (SearchCall("toolu_1", {"query": "bill"}, search),)
    assert [call.id for call in found.calls] == ["toolu_0", "toolu_2"]
    assert found.searches[0].raw == search


def test_x23_a_hosted_search_left_open_by_a_parallel_call():
    found = anthropic.parse(
        message(hosted_use("srvtoolu_1"), hosted_result(call_id="srvtoolu_1"), hosted_use(), use())
    )
    assert found.open_searches == ("srvtoolu_A",)
    assert [call.id for call in found.calls] == ["toolu_B"]
    later = anthropic.parse(
        message(hosted_result("fx_rate"), {"type": "text", "text": "ok"}, stop="end_turn")
    )
    assert (later.open_searches, later.calls) == ((), ())
    web = {"type": "server_tool_use", "id": "srvtoolu_W", "name": "web_search", "input": {}}
    assert anthropic.parse(message(web, use())).open_searches == ()


@pytest.mark.parametrize("stop", ["max_tokens", "refusal", "model_context_window_exceeded", None])
def test_x27_a_cut_response_is_incomplete(stop):
    found = anthropic.parse(message(use(), stop=stop))
    assert not found.complete
    assert found.stop == stop


@pytest.mark.parametrize("stop", ["end_turn", "tool_use", "stop_sequence", "pause_turn", "a_new_reason"])
def test_other_stop_reasons_are_complete(stop):
    found = anthropic.parse(message(use(), stop=stop))
    assert found.complete
    assert found.resume == (stop == "pause_turn")


@pytest.mark.parametrize("code", ["unavailable", "too_many_requests", "a_code_of_tomorrow"])
def test_hosted_errors_are_told(code):
    found = anthropic.parse(message(hosted_use(), hosted_error(code), stop="end_turn"))
    assert found.hosted_errors == (code,)
    assert found.open_searches == ()


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # the SDK's, about its own stand-in below
def test_sdk_objects_read_like_dicts():
    types = pytest.importorskip("anthropic.types")
    from anthropic._models import construct_type

    blocks = [
        {"type": "block_of_tomorrow", "text": "not a text", "id": "toolu_X"},
        hosted_use(),
        hosted_result("fx_rate"),
        use(given={"base": "USD"}),
    ]
    built = construct_type(type_=types.Message, value=message(*blocks))
    assert type(built.content[0]).__name__ == "TextBlock"  # the SDK's stand-in for what it does not know
    assert anthropic.parse(built) == anthropic.parse(message(*blocks))
    assert [call.id for call in anthropic.parse(built).calls] == ["toolu_B"]


@pytest.mark.parametrize(
    ("given", "name", "arguments"),
    [
        ({"name": "pay", "arguments": {"id": "9"}}, "pay", {"id": "9"}),
        ({"name": "pay", "arguments": '{"id": "9"}'}, "pay", {"id": "9"}),
        ({"name": "pay", "arguments": {}, "id": "9"}, "pay", {"id": "9"}),
        ({"name": "pay", "id": "9"}, "pay", {"id": "9"}),
        ({"name": "pay", "arguments": None, "id": "9"}, "pay", {"id": "9"}),
        ({"name": "ping"}, "ping", {}),
        ({"name": "pay", "arguments": "id is 9"}, "pay", "id is 9"),
        ({"name": "pay", "arguments": ["9"]}, "pay", '["9"]'),
    ],
)
def test_bc44_x03_arguments_survive_the_bridge(given, name, arguments):
    (call,) = anthropic.parse(message(use("call_tool", given))).calls
    assert (call.name, call.arguments, call.id) == (name, arguments, "toolu_B")


@pytest.mark.parametrize(
    "given",
    [
        {"name": "pay", "arguments": {"id": "9"}, "id": "8"},
        {"arguments": {"id": "9"}},
        {"name": 7, "arguments": {}},
        {"name": " ", "arguments": {}},
    ],
)
def test_bc44_x03_what_reads_in_two_ways_is_a_text_that_says_why(given):
    (call,) = anthropic.parse(message(use("call_tool", given))).calls
    assert isinstance(call.arguments, str)
    assert json.dumps(given["arguments"], separators=(",", ":")) in call.arguments
    with pytest.raises(ValueError):
        json.loads(call.arguments)
    assert call.name == ("pay" if given.get("name") == "pay" else "call_tool")


def test_errors_and_foreign_responses_are_named():
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    with pytest.raises(ConversationError, match=r"Anthropic.*overloaded_error.*Overloaded"):
        anthropic.parse(error)
    with pytest.raises(ConversationError, match="no 'content', only 'choices'"):
        anthropic.parse({"choices": []})
    with pytest.raises(ConversationError, match="NoneType"):
        anthropic.parse(None)


# Streams


def recorded(*, stop="tool_use", last=()):
    """The order of events of a hosted search with a call after it, as the provider sends them."""
    start = message(stop=None)
    start["usage"] = {"input_tokens": 702, "output_tokens": 1}
    yield {"type": "message_start", "message": start}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    yield {"type": "ping"}
    for text in ("Looking for ", "a tool."):
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
    yield {"type": "content_block_stop", "index": 0}
    opened = {"type": "server_tool_use", "id": "srvtoolu_A", "name": "tool_search_tool_bm25", "input": {}}
    yield {"type": "content_block_start", "index": 1, "content_block": opened}
    for part in ("", '{"query": "cur', 'rency"}'):
        yield {"type": "content_block_delta", "index": 1, "delta": json_delta(part)}
    yield {"type": "content_block_stop", "index": 1}
    yield {"type": "ping"}
    yield {"type": "content_block_start", "index": 2, "content_block": hosted_result("fx_rate")}
    yield {"type": "content_block_stop", "index": 2}
    called = use(caller={"type": "direct"})
    yield {"type": "content_block_start", "index": 3, "content_block": called}
    for part in ("", '{"base": "USD", ', '"quote": "EUR"}'):
        yield {"type": "content_block_delta", "index": 3, "delta": json_delta(part)}
    yield {"type": "content_block_stop", "index": 3}
    yield {
        "type": "content_block_start",
        "index": 4,
        "content_block": use("list_branches", call_id="toolu_C"),
    }
    yield {"type": "content_block_delta", "index": 4, "delta": json_delta("")}
    yield {"type": "content_block_stop", "index": 4}
    yield from last
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": stop, "stop_sequence": None},
        "usage": {"input_tokens": 1591, "output_tokens": 198, "cache_read_input_tokens": None},
    }
    yield {"type": "message_stop"}


def json_delta(text):
    return {"type": "input_json_delta", "partial_json": text}


WHOLE = message(
    {"type": "text", "text": "Looking for a tool."},
    hosted_use(),
    hosted_result("fx_rate"),
    use(given={"base": "USD", "quote": "EUR"}, caller={"type": "direct"}),
    use("list_branches", call_id="toolu_C"),
    usage={"input_tokens": 1591, "output_tokens": 198, "cache_read_input_tokens": None},
)


def test_x27_a_stream_amounts_to_the_complete_response():
    assembled = anthropic.assemble(recorded())
    assert assembled == WHOLE
    assert anthropic.parse(assembled) == anthropic.parse(WHOLE)


def test_x27_sdk_events_and_the_sdks_own_accumulation_agree():
    types = pytest.importorskip("anthropic.types")
    from anthropic._models import construct_type
    from anthropic.lib.streaming._messages import accumulate_event

    events = [
        construct_type(type_=types.RawMessageStreamEvent, value=e) for e in recorded() if e["type"] != "ping"
    ]
    snapshot, buffers = None, {}
    for event in events:
        snapshot = accumulate_event(event=event, current_snapshot=snapshot, json_bufs=buffers)
    mine, theirs = anthropic.assemble(events), snapshot.to_dict()
    assert mine["content"] == theirs["content"]
    assert mine["stop_reason"] == theirs["stop_reason"]
    assert mine["usage"]["input_tokens"] == theirs["usage"]["input_tokens"] == 1591
    assert anthropic.parse(mine) == anthropic.parse(snapshot)


def test_x27_thinking_signatures_and_citations_are_put_together():
    def block(index, start, *deltas):
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}

    thinking = block(
        5,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "So "},
        {"type": "thinking_delta", "thinking": "it is."},
        {"type": "signature_delta", "signature": "c2ln"},
    )
    cited = block(
        6,
        {"type": "text", "text": "", "citations": None},
        {"type": "citations_delta", "citation": {"cited_text": "a"}},
        {"type": "citations_delta", "citation": {"cited_text": "b"}},
        {"type": "delta_of_tomorrow", "text": "x"},
    )
    content = anthropic.assemble(recorded(last=(*thinking, *cited)))["content"]
    assert content[5] == {"type": "thinking", "thinking": "So it is.", "signature": "c2ln"}
    assert content[6] == {"type": "text", "text": "", "citations": [{"cited_text": "a"}, {"cited_text": "b"}]}


@pytest.mark.parametrize("kept", range(1, len(list(recorded()))))
def test_x27_a_stream_cut_anywhere_is_incomplete_and_holds_whole_calls_only(kept):
    found = anthropic.parse(anthropic.assemble(list(recorded())[:kept]))
    assert not found.complete
    assert all(call in anthropic.parse(WHOLE).calls for call in found.calls)


def test_x27_a_call_cut_by_the_token_limit_stays_a_text_and_can_be_sent_back():
    torso = [
        {"type": "content_block_start", "index": 5, "content_block": use("pay", call_id="toolu_D")},
        {"type": "content_block_delta", "index": 5, "delta": json_delta('{"id": "9')},
        {"type": "content_block_stop", "index": 5},
    ]
    assembled = anthropic.assemble(recorded(last=torso, stop="max_tokens"))
    found = anthropic.parse(assembled)
    assert not found.complete
    assert isinstance(assembled["content"][-1]["input"], dict)
    assert found.calls[-1].arguments == '{"id": "9'


def test_x27_errors_in_a_stream_are_raised():
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    with pytest.raises(ConversationError, match="overloaded_error"):
        anthropic.assemble([*list(recorded())[:6], error])
    with pytest.raises(ConversationError, match="No message started"):
        anthropic.assemble([{"type": "ping"}])


def test_a_servers_tool_named_like_the_hosted_search_does_not_stand_beside_it():
    """Two entries of one name make the provider refuse the request, or the model take one for the other."""
    tools = [{"name": f"tool_search_tool_{kind}", "description": "Mine."} for kind in ("bm25", "regex")]
    search = ToolSearch([*tools, {"name": "other", "defer": "always"}], cache=False)
    turn = search.turn(
        [], model="claude-sonnet-5", mode="hosted", never_defer=[tool["name"] for tool in tools]
    )
    assert sum(entry["name"].startswith("tool_search_tool_") for entry in turn.tools) == 3
    assert validate("anthropic", turn.tools) == ()
