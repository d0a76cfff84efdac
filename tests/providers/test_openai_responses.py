"""The tools list of OpenAI's Responses API, mode by mode, and our answers to searches and calls."""

from __future__ import annotations

import json
import random

import pytest
from responses_requests import (
    CATEGORIES,
    CRM,
    CUSTOMER,
    GOLDEN,
    MCP,
    golden_of,
    plan_of,
    request_of,
    rows,
    search_call,
    tool,
)
from wire_requests import LIB, SHOP, golden_text, many, obj, record_of

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.errors import ConfigError, UnknownToolError
from semantic_toolsearch.exchange import RawCall, SearchCall, TurnRequest
from semantic_toolsearch.providers.openai_responses import (
    cache_key,
    call_result,
    parse,
    render,
    resolve,
    search_answer,
)
from semantic_toolsearch.providers.validate import validate

ROWS = dict(rows())
ACTIVATOR = {"type": "tool_search"}


def functions(tools):
    """Every function entry, those in namespaces included."""
    for entry in tools:
        yield from entry["tools"] if entry["type"] == "namespace" else [entry]


def named(tools):
    return [entry.get("name", entry["type"]) for entry in tools]


@pytest.mark.parametrize("file", ROWS)
def test_golden_request(file):
    text = golden_text(golden_of(ROWS[file]))
    assert text == (GOLDEN / f"{file}.json").read_text(encoding="utf-8")


def test_every_golden_file_is_a_row():
    assert {path.stem for path in GOLDEN.glob("responses_*.json")} == set(ROWS)


@pytest.mark.parametrize("file", ROWS)
def test_o04_every_entry_is_of_the_sdks_types(file):
    pydantic = pytest.importorskip("pydantic")
    types = pytest.importorskip("openai.types.responses")
    from openai.types.responses.response_input_item_param import ResponseInputItemParam

    content = golden_of(ROWS[file])
    check = pydantic.TypeAdapter(types.ToolParam)
    for entry in content["tools"]:
        assert unlazy(check.validate_python(entry)) == entry
    if "search_answer" in content:
        item = content["search_answer"]
        assert unlazy(pydantic.TypeAdapter(ResponseInputItemParam).validate_python(item)) == item


def unlazy(value):
    """A validated value with the lists that pydantic reads lazily."""
    if isinstance(value, dict):
        return {key: unlazy(part) for key, part in value.items()}
    return (
        value
        if isinstance(value, str) or not hasattr(value, "__iter__")
        else [unlazy(part) for part in value]
    )


@pytest.mark.parametrize("file", ROWS)
def test_x26_golden_requests_are_in_order(file):
    assert validate("responses", golden_of(ROWS[file])["tools"]) == ()


def test_e10_e42_hosted_ends_with_one_activator_and_has_no_function_of_that_name():
    tools = render(request_of(many(20), "hosted"))
    assert tools[-1] == ACTIVATOR
    assert sum(entry["type"] == "tool_search" for entry in tools) == 1
    assert "tool_search" not in [entry["name"] for entry in tools if entry["type"] == "function"]
    assert len(tools) == 21


def test_e35_every_function_name_is_in_the_catalog():
    request = request_of(CATEGORIES, "hosted")
    raw = {found.name for found in request.catalog}
    assert {entry["name"] for entry in functions(render(request)[:-1])} == raw


def test_e36_e37_e38_o05_tools_are_grouped_by_category_under_a_safe_name():
    tools = render(request_of(CATEGORIES, "hosted"))
    spaces = {entry["name"]: entry for entry in tools if entry["type"] == "namespace"}
    assert {name: len(entry["tools"]) for name, entry in spaces.items()} == {"File_Operations": 3, "Web": 2}
    assert "File Operations" in spaces["File_Operations"]["description"]
    (odd,) = [entry for entry in render(request_of([tool("a", "Web & Mail")], "hosted")) if "tools" in entry]
    assert odd["name"] == "Web_Mail"
    long = render(request_of([tool("a", "n" * 80)], "hosted"))[0]
    assert len(long["name"]) == 64
    assert long["name"] == render(request_of([tool("b", "n" * 80)], "hosted"))[0]["name"]


def test_e38_a_namespace_has_its_servers_description():
    catalog = Catalog(
        [{"type": "namespace", "name": "crm", "description": "Customer records.", "tools": CRM[:2]}]
    )
    (space,) = [entry for entry in render(request_of(catalog, "hosted")) if entry["type"] == "namespace"]
    assert space["description"] == "crm: Customer records."


def test_e39_labels_that_become_equal_stay_two_namespaces_in_any_order():
    tools = [tool("read", "File Operations"), tool("write", "File/Operations")]
    found = []
    for order in (tools, tools[::-1]):
        spaces = [entry for entry in render(request_of(order, "hosted")) if entry["type"] == "namespace"]
        found.append({entry["tools"][0]["name"]: entry["name"] for entry in spaces})
    assert found[0] == found[1]
    assert len(set(found[0].values())) == 2


def test_e40_deferred_functions_keep_their_whole_schema():
    request = request_of(SHOP + CRM[:2], "hosted")
    entries = {entry["name"]: entry for entry in functions(render(request)) if "name" in entry}
    for found in request.catalog:
        if found.defer != "never":
            assert entries[found.name]["defer_loading"] is True
            assert entries[found.name]["parameters"] == found.parameters
    assert "defer_loading" not in entries["list_branches"]


def test_e43_the_order_is_full_namespaces_flat_activator():
    tools = render(request_of(CATEGORIES, "hosted"))
    assert named(tools) == ["write_todos", "File_Operations", "Web", "fx_rate", "tool_search"]
    assert named(tools[1]["tools"]) == ["read_file", "edit_file", "grep_files"]
    assert named(tools[2]["tools"]) == ["fetch_page", "find_page"]


def test_e45_o24_what_the_plan_sends_in_full_is_full():
    catalog = Catalog([*many(15), tool("elsewhere", registered=False)])
    plan = plan_of(catalog, "hosted")
    plan = type(plan)(
        "hosted",
        "responses",
        "limited",
        full=("elsewhere",),
        deferred=catalog.wire_names[:15],
        search="openai",
    )
    tools = render(TurnRequest(catalog, plan))
    assert tools[0]["name"] == "elsewhere"
    assert "defer_loading" not in tools[0]
    assert sum(entry.get("defer_loading") is True for entry in tools) == 15


def test_o01_the_mark_is_true_or_absent_never_false():
    for request in ROWS.values():
        text = json.dumps(render(request))
        assert '"defer_loading": false' not in text
    assert '"defer_loading": true' in json.dumps(render(ROWS["responses_hosted"]))


def test_o03_bc46_deferral_and_search_come_as_a_pair():
    none = render(request_of([{**found, "defer": "never"} for found in many(5)], "hosted"))
    assert "tool_search" not in named(none)
    assert "defer_loading" not in json.dumps(none)
    switched_off = render(request_of(many(5), "full"))
    assert "tool_search" not in json.dumps(switched_off)
    assert "defer_loading" not in json.dumps(switched_off)
    both = render(request_of(many(1), "hosted"))
    assert both[-1] == ACTIVATOR
    assert both[0]["defer_loading"] is True


def test_o06_o07_d19_a_large_category_is_split_and_a_new_tool_moves_no_other():
    deals = [tool(f"deal_{i:02}", "CRM") for i in range(24)]
    before = render(request_of(deals[:23], "hosted"))
    assert [(entry["name"], len(entry["tools"])) for entry in before[:-1]] == [
        ("CRM", 9),
        ("CRM_2", 9),
        ("CRM_3", 5),
    ]
    after = render(request_of(deals, "hosted"))
    for old, new in zip(before[:-1], after[:-1], strict=True):
        assert named(new["tools"])[: len(old["tools"])] == named(old["tools"])
    whole = render(request_of(deals[:23], "hosted", namespace_max=None))
    assert [(entry["name"], len(entry["tools"])) for entry in whole[:-1]] == [("CRM", 23)]
    twelve = render(request_of([tool(f"t{i}", "x") for i in range(110)], "hosted"))
    assert named(twelve)[:-1] == ["x", *(f"x_{i}" for i in range(2, 14))]


def test_o07_a_tool_keeps_its_namespace_when_others_are_hidden_or_sent_in_full():
    catalog = Catalog([tool(f"deal_{i:02}", "CRM") for i in range(23)])
    plan = plan_of(catalog, "hosted")
    some = type(plan)("hosted", "responses", "r", plan.deferred[:2], plan.deferred[10:], search="openai")
    tools = render(TurnRequest(catalog, some))
    assert named(tools) == ["CRM__deal_00", "CRM__deal_01", "CRM_2", "CRM_3", "tool_search"]
    assert named(tools[2]["tools"])[0] == "deal_10"
    assert "deal_09" not in json.dumps(tools)  # neither full nor deferred: invisible


def test_c04_d16_stub_mode_hides_schemas_or_whole_tools():
    tools = render(request_of(LIB, "stub"))
    assert named(tools) == ["find_reader", "tool_search", "renewLoan", "reserve_title", "fee-report"]
    assert "extraDays" not in json.dumps(tools)
    stub = {"type": "object", "properties": {}, "additionalProperties": True}
    assert [entry["parameters"] for entry in tools[2:]] == [stub] * 3
    assert named(render(request_of(LIB, "stub", unloaded="omit"))) == ["find_reader", "tool_search"]


def test_o09_the_client_executed_search_has_all_four_keys_and_deferred_tools_are_not_declared():
    tools = render(request_of(LIB, "output"))
    assert named(tools) == ["find_reader", "tool_search"]
    assert set(tools[1]) == {"type", "execution", "description", "parameters"}
    assert tools[1]["execution"] == "client"
    assert tools[1]["description"]
    assert tools[1]["parameters"]["required"] == ["query"]


def test_o10_the_answer_echoes_the_id_and_holds_the_definition():
    request = request_of(CRM, "output")
    answer = search_answer(
        search_call("call_77"), record_of(request.catalog, ["crm__list_open_orders"]), request
    )
    assert {key: answer[key] for key in answer if key != "tools"} == {
        "type": "tool_search_output", "call_id": "call_77", "execution": "client", "status": "completed",
    }  # fmt: skip
    (function,) = answer["tools"]
    assert function["parameters"] == CUSTOMER
    assert function["defer_loading"] is True
    assert function["strict"] is True
    assert resolve(request, function["name"], function["name"]) == 0


def test_o10_nothing_found_is_an_empty_list_and_what_was_loaded_before_comes_again():
    request = request_of(CRM, "output", loaded=("fx_rate",))
    assert search_answer(search_call(), record_of(request.catalog, []), request)["tools"] == []
    again = record_of(request.catalog, []) | {"available": ["fx_rate", "crm__get_profile"]}
    assert named(search_answer(search_call(), again, request)["tools"]) == ["fx_rate", "crm__get_profile"]
    full = request_of([{**CRM[2], "defer": "never"}], "output")
    assert search_answer(search_call(), again | {"available": ["fx_rate"]}, full)["tools"] == []


def test_o10_a_record_that_names_no_tool_is_the_programs_mistake():
    request = request_of(CRM, "output")
    with pytest.raises(UnknownToolError):
        search_answer(search_call(), {"loaded": ["nothing"]}, request)


def test_d15_as_a_function_the_search_is_answered_with_the_record_as_json():
    for mode in ("stub", "bridge"):
        request = request_of(LIB, mode)
        record = record_of(request.catalog, ["renewLoan"])
        call = SearchCall("call_5", {}, {"type": "function_call", "call_id": "call_5"})
        answer = search_answer(call, record, request)
        assert answer["type"] == "function_call_output"
        assert answer["call_id"] == "call_5"
        assert json.loads(answer["output"]) == record
        assert "extraDays" not in answer["output"]


def test_o23_x02_the_list_never_changes_however_much_is_loaded():
    for mode in ("hosted", "output"):
        texts = {
            json.dumps(render(request_of(CATEGORIES, mode, loaded=loaded)))
            for loaded in (
                (),
                ("fx_rate",),
                ("fx_rate", "Web__fetch_page"),
                ("Web__find_page",),
                (),
                ("fx_rate",),
            )
        }
        assert len(texts) == 1


def test_e46_the_cache_key_follows_the_content_not_the_order_of_keys():
    tools = render(request_of(CATEGORIES, "hosted"))
    mixed = [dict(sorted(entry.items(), reverse=True)) for entry in tools]
    assert cache_key(tools) == cache_key(mixed) == cache_key(render(request_of(CATEGORIES, "hosted")))
    changed = [
        {**found, "description": "Other."} if found["name"] == "fx_rate" else found for found in CATEGORIES
    ]
    assert cache_key(render(request_of(changed, "hosted"))) != cache_key(tools)
    assert cache_key(tools[::-1]) != cache_key(tools)


def test_o26_entries_of_the_callers_own_pass_through_and_count_as_deferred():
    for mode in ("hosted", "full"):
        tools = render(request_of([{**CRM[2], "defer": "never"}], mode, extra=[MCP]))
        assert tools[0] == MCP
        assert named(tools) == ["mcp", "fx_rate", "tool_search"]
        assert tools[-1] == ACTIVATOR
    custom = {"type": "custom", "name": "sql", "description": "Run SQL.", "defer_loading": True}
    assert render(request_of([], "hosted", extra=[custom])) == [custom, ACTIVATOR]
    space = {"type": "namespace", "name": "n", "description": "d", "tools": [{**custom}]}
    assert render(request_of([], "full", extra=[space])) == [space, ACTIVATOR]
    client = render(request_of(CRM, "output", extra=[MCP]))
    assert [entry["execution"] for entry in client if entry["type"] == "tool_search"] == ["client"]


def test_e42_an_activator_of_the_callers_own_is_not_sent_twice_or_for_nothing():
    twice = render(request_of(many(2), "hosted", extra=[ACTIVATOR]))
    assert named(twice) == ["tool_00", "tool_01", "tool_search"]
    assert render(request_of([], "full", extra=[ACTIVATOR])) == []
    own = {"type": "tool_search", "execution": "client", "description": "d", "parameters": obj()}
    assert render(request_of([], "full", extra=[own, MCP])) == [own, MCP]
    for mode in ("hosted", "output"):
        with pytest.raises(ConfigError, match="client-executed"):
            render(request_of(many(2), mode, extra=[own]))


def test_a_custom_tool_stays_one():
    grammar = {"type": "grammar", "syntax": "regex", "definition": "SELECT .*"}
    sql = {"type": "custom", "name": "sql", "description": "Run SQL.", "format": grammar}
    entry = {**sql, "defer_loading": True}
    assert render(request_of([{**sql, "namespace": "db"}], "hosted"))[0]["tools"] == [entry]
    assert render(request_of([sql], "full")) == [sql]
    assert render(request_of([sql], "stub"))[-1] == {key: sql[key] for key in ("type", "name", "description")}


def test_o21_o22_fields_of_this_provider_go_along_and_others_do_not():
    fields = {
        "strict": False, "allowed_callers": ["direct", "programmatic"], "output_schema": obj(), "async": True,
        "cache_control": {"type": "ephemeral"}, "input_examples": [{}], "annotations": {"readOnlyHint": True},
    }  # fmt: skip
    (entry, _) = render(request_of([tool("job", **fields)], "hosted"))
    kept = ("strict", "allowed_callers", "output_schema", "async")
    assert {key: entry[key] for key in kept} == {key: fields[key] for key in kept}
    assert set(entry) == {*kept, "type", "name", "description", "parameters", "defer_loading"}
    (foreign,) = render(request_of([tool("job", allowed_callers=["code_execution_20260120"])], "full"))
    assert "allowed_callers" not in foreign


def test_bc45_no_cache_marker_is_ever_written_here():
    tools = [tool("a", defer="never"), tool("b", cache_control={"type": "ephemeral"})]
    request = request_of(tools, "hosted")
    request = TurnRequest(request.catalog, request.plan, cache_breakpoint=True)
    assert "cache_control" not in json.dumps(render(request))


def test_x10_what_openai_refuses_in_a_schema_costs_no_request():
    """An array without items, and strict where the schema is not, fail every call of the conversation."""
    loose = obj(tags={"type": "array"}, pairs={"type": "array", "items": {"type": ["array", "null"]}})
    closed = {**obj(a={"type": "string"}), "required": ["a"], "additionalProperties": False}
    optional = {**closed, "required": []}
    tools = [
        tool("tags", parameters=loose, strict=True),
        tool("closed", parameters=closed, strict=True),
        tool("optional", parameters=optional, strict=True),
        tool(
            "merged", parameters={**closed, "properties": {"a": {"allOf": [{"type": "string"}]}}}, strict=True
        ),
        tool(
            "nested",
            parameters={**obj(a=obj()), "required": ["a"], "additionalProperties": False},
            strict=True,
        ),
    ]
    entries = render(request_of(tools, "full"))
    assert validate("responses", entries) == ()
    assert [entry["strict"] for entry in entries] == [False, True, False, False, False]
    assert entries[0]["parameters"]["properties"]["tags"] == {"type": "array", "items": {}}
    assert entries[0]["parameters"]["properties"]["pairs"]["items"]["items"] == {}
    assert entries[1]["parameters"] == closed
    assert "items" not in loose["properties"]["tags"]


def test_strict_is_always_said():
    for request in ROWS.values():
        for entry in functions(render(request)):
            if entry["type"] == "function":
                assert isinstance(entry["strict"], bool)


@pytest.mark.parametrize("mode", ["hosted", "full"])
def test_x10_bc22_bc24_the_schema_keeps_its_meaning(mode):
    params = {
        "type": "object", "additionalProperties": False, "required": ["cond"],
        "properties": {"cond": {"$ref": "#/$defs/Cond", "description": "filter"}},
        "$defs": {"Cond": {"type": "object", "required": ["id"],
                           "properties": {"id": {"type": "integer", "minimum": 1}, "kind": {"enum": ["a", None]}}}},
    }  # fmt: skip
    union = {"anyOf": [obj(id={"type": "string"}), obj(email={"type": "string"})]}
    request = request_of(
        [tool("order_query", parameters=params), tool("ticket_find", parameters=union)], mode
    )
    entries = render(request)
    assert entries[0]["parameters"] == params
    assert set(entries[1]["parameters"]["properties"]) == {"id", "email"}
    assert entries[1]["parameters"]["type"] == "object"
    assert validate("responses", entries) == ()


def test_bc26_bc27_names_are_legal_and_lead_back_also_inside_of_namespaces():
    long = "mcp__plugin_warehouse-automation_inventory__reconcile_stock_levels_for_region"
    names = [
        "get-item",
        "get_item",
        "get.item",
        "calendar.respondToEvent",
        "users/profile",
        "datei öffnen",
        long,
    ]
    tools = [tool(name, server) for server in ("s", "Böse Server!", None) for name in [*names, "tool_search"]]
    expected = None
    for seed in range(4):
        random.Random(seed).shuffle(tools)
        request = request_of(tools, "hosted")
        rendered = render(request)
        assert validate("responses", rendered) == ()
        found = {}
        for entry in rendered[:-1]:
            space = entry["name"] if entry["type"] == "namespace" else None
            for function in functions([entry]):
                owner = request.catalog[resolve(request, function["name"], space)]
                found[owner.identity] = function["name"]
                if space is None:
                    assert resolve(request, function["name"], function["name"]) is not None
        assert set(found) == set(request.catalog.identities)
        assert expected in (None, found)
        expected = found
    assert expected["s", "get-item"] == "get-item"
    assert expected[None, "get_item"] == "get_item"


def test_o17_the_pair_counts_and_a_flat_tool_may_come_in_its_own_name():
    catalog = Catalog([tool("lookup", "billing"), tool("lookup", "shipping"), tool("fx_rate")])
    for source in (catalog, request_of(catalog, "hosted")):
        assert resolve(source, "lookup", "billing") == 0
        assert resolve(source, "lookup", "shipping") == 1
        assert resolve(source, "fx_rate", "fx_rate") == resolve(source, "fx_rate") == 2
        assert resolve(source, "lookup") is None  # a bare name means no tool of a namespace
        assert resolve(source, "fx_rate", "billing") is None
        assert resolve(source, "billing__lookup") == resolve(source, "billing__lookup", "billing") == 0
        assert resolve(source, "billing__lookup", "shipping") is None
        assert resolve(source, "lookup", "nowhere") is None


def test_e44_o16_a_call_is_answered_by_its_id_and_its_caller_goes_back():
    plain = call_result(
        RawCall("call_9", "list_open_orders", "crm", {}, raw={"type": "function_call"}), "3 orders"
    )
    assert plain == {"type": "function_call_output", "call_id": "call_9", "output": "3 orders"}
    caller = {"type": "program", "caller_id": "prog_1"}
    refused = call_result(RawCall("call_8", "x", None, {}, caller), "no", is_error=True)
    assert refused == {"type": "function_call_output", "call_id": "call_8", "output": "no", "caller": caller}
    custom = call_result(RawCall("call_7", "sql", None, {}, raw={"type": "custom_tool_call"}), "ok")
    assert custom["type"] == "custom_tool_call_output"
    assert call_result(RawCall("c", "x", None, {}), "cut \ud83d")["output"].encode()


def test_the_catalog_is_not_altered_and_the_callers_entries_are_copied():
    catalog = Catalog(CATEGORIES)
    before, fingerprint = json.dumps(MCP), catalog.fingerprint
    for entry in render(request_of(catalog, "hosted", extra=[MCP])):
        spoil(entry)
    assert json.dumps(MCP) == before
    assert Catalog(catalog).fingerprint == fingerprint


def spoil(value):
    for part in value.values() if isinstance(value, dict) else value:
        if isinstance(part, dict | list):
            spoil(part)
    value.clear()


def test_a_plan_for_another_format_is_refused():
    request = request_of(CRM, "hosted")
    with pytest.raises(ConfigError):
        render(request_of(CRM, "reference"))
    plan = request.plan
    other = type(plan)(plan.mode, "chat", plan.reason, plan.full)
    with pytest.raises(ConfigError):
        render(TurnRequest(request.catalog, other))


def test_parse_is_the_same_for_the_answer_of_every_mode():
    call = {"type": "function_call", "call_id": "c", "name": "fx_rate", "arguments": '{"pair":"x"}'}
    flat = parse({"output": [call]}).calls
    own = parse({"output": [{**call, "namespace": "fx_rate"}]}).calls
    through = {"name": "fx_rate", "arguments": {"pair": "x"}}
    bridge = parse({"output": [{**call, "name": "call_tool", "arguments": json.dumps(through)}]}).calls
    catalog = Catalog(CRM)
    for (found,) in (flat, own, bridge):
        assert resolve(catalog, found.name, found.namespace) == 2
        assert found.arguments == {"pair": "x"}
        assert found.id == "c"
