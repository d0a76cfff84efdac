"""Each row of the mode table as a readable request, accepted by the types of the provider's own SDK."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import pytest
from wire_requests import (
    CANONICAL_STUB,
    GOLDEN,
    LIB,
    OPENAI_STUB,
    PROVIDERS,
    SHOP,
    golden_of,
    golden_text,
    many,
    request_of,
    rows,
)

from library_tools import ORDER
from semantic_toolsearch.providers.validate import validate

ROWS = {file: (api, request) for file, api, request in rows()}


def plain(value):
    """A validated value as JSON values: pydantic reads some lists lazily."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value


def adapter(api):
    from pydantic import TypeAdapter

    if api == "anthropic":
        types = pytest.importorskip("anthropic.types")
        return TypeAdapter(types.ToolUnionParam)
    types = pytest.importorskip("openai.types.chat")
    return TypeAdapter(types.ChatCompletionToolParam)


@pytest.mark.parametrize("file", ROWS)
def test_golden_request(file):
    api, request = ROWS[file]
    assert golden_text(golden_of(api, request)) == (GOLDEN / f"{file}.json").read_text(encoding="utf-8")


def test_every_golden_file_is_a_row():
    mine = {path.stem for path in GOLDEN.glob("*.json") if path.stem.startswith(tuple(PROVIDERS))}
    assert mine == set(ROWS)


@pytest.mark.parametrize("file", [file for file, (api, _) in ROWS.items() if api != "gemini"])
def test_golden_request_is_of_the_sdks_types(file):
    api, request = ROWS[file]
    check = adapter(api)
    for entry in PROVIDERS[api].render(request):
        assert plain(check.validate_python(entry)) == entry


@pytest.mark.parametrize("file", ROWS)
def test_x26_golden_requests_break_no_published_rule(file):
    api, request = ROWS[file]
    assert validate(api, PROVIDERS[api].render(request)) == ()


@pytest.mark.parametrize("api", PROVIDERS)
@pytest.mark.parametrize("mode", ["full", "stub", "bridge"])
def test_e61_rendering_is_stable_and_gives_nothing_of_the_catalog_away(api, mode):
    request = request_of(SHOP, mode, api, extra=({"type": "x", "name": "y"},))
    before, fingerprint = [tool.model_dump() for tool in request.catalog], request.catalog.fingerprint
    first = PROVIDERS[api].render(request)
    text = json.dumps(first, ensure_ascii=False)
    spoil(first)
    assert json.dumps(PROVIDERS[api].render(request), ensure_ascii=False) == text
    assert [tool.model_dump() for tool in request.catalog] == before
    assert request.catalog.fingerprint == fingerprint


def spoil(value):
    if isinstance(value, dict):
        for item in value.values():
            spoil(item)
        value["spoiled"] = True
    elif isinstance(value, list):
        for item in value:
            spoil(item)
        value.append("spoiled")


@pytest.mark.parametrize("api", PROVIDERS)
def test_e58_e59_e60_stubs_in_every_format(api):
    request = request_of(many(20), "stub", api)
    text = json.dumps(PROVIDERS[api].render(request))
    for tool in request.catalog:
        assert f'"{tool.name}"' in text
        assert tool.description in text
        assert not any(parameter in text for parameter in tool.parameters["properties"])
    assert "defer_loading" not in text
    assert "tool_search_tool" not in text
    stubs = [
        entry
        for entry in entries(api, request)
        if entry["name"].startswith("tool_") and entry["name"] != "tool_search"
    ]
    assert len(stubs) == 20
    assert not any("tool_search" in json.dumps(stub) for stub in stubs)
    written = [json.dumps(stub["schema"], separators=(",", ":")) for stub in stubs]
    if api == "anthropic":
        assert written == [CANONICAL_STUB] * 20
        assert len(CANONICAL_STUB) == 45
    elif api in ("chat", "responses"):
        assert written == [OPENAI_STUB] * 20


def entries(api, request):
    """The list's entries in one form: name, description, schema."""
    rendered = PROVIDERS[api].render(request)
    if api == "gemini":
        rendered = rendered[-1]["functionDeclarations"]
    found = []
    for entry in rendered:
        inner = entry.get("function", entry)
        schema = next(
            (inner[key] for key in ("input_schema", "parameters", "parametersJsonSchema") if key in inner),
            None,
        )
        found.append(
            {
                "name": inner["name"],
                "description": inner.get("description", ""),
                "schema": schema,
                "entry": entry,
            }
        )
    return found


@pytest.mark.parametrize("api", PROVIDERS)
def test_e63_the_search_tool_is_whole_and_never_deferred(api):
    request = request_of([{**tool, "defer": "always"} for tool in many(3)], "stub", api)
    (own,) = [entry for entry in entries(api, request) if entry["name"] == "tool_search"]
    assert own["schema"]["required"] == ["query"]
    assert own["schema"]["additionalProperties"] is False
    assert "defer_loading" not in own["entry"]


@pytest.mark.parametrize("api", PROVIDERS)
def test_e27_a_full_request_is_the_plain_rendering_without_search(api):
    found = entries(api, request_of(many(14), "full", api))
    assert [entry["name"] for entry in found] == [f"tool_{i:02}" for i in range(14)]
    assert [entry["schema"] for entry in found] == [tool["parameters"] for tool in many(14)]


@pytest.mark.parametrize("api", PROVIDERS)
def test_e31_c04_c10_d16_omitted_tools_leave_no_trace(api):
    request = request_of(LIB, "stub", api, unloaded="omit")
    assert [entry["name"] for entry in entries(api, request)] == ["find_reader", "tool_search"]
    assert "extraDays" not in json.dumps(PROVIDERS[api].render(request))
    stubs = entries(api, request_of(LIB, "stub", api))
    assert [entry["name"] for entry in stubs] == [
        "find_reader",
        "tool_search",
        "renewLoan",
        "reserve_title",
        "fee-report",
    ]
    assert stubs[0]["schema"] != stubs[2]["schema"]


@pytest.mark.parametrize("api", PROVIDERS)
def test_e67_a_loaded_tool_has_its_registered_schema(api):
    request = request_of(SHOP, "stub", api, loaded=("invoice_create",))
    found = {entry["name"]: entry["schema"] for entry in entries(api, request)}
    assert found["invoice_create"] == SHOP[0]["parameters"]
    assert list(found) == ["list_branches", "invoice_create", "tool_search", "fx_rate"]


@pytest.mark.parametrize("api", PROVIDERS)
def test_x03_the_list_of_the_bridge_never_changes(api):
    before = PROVIDERS[api].render(request_of(SHOP, "bridge", api))
    after = PROVIDERS[api].render(request_of(SHOP, "bridge", api, loaded=("fx_rate", "invoice_create")))
    assert json.dumps(before) == json.dumps(after)
    assert "invoice_create" not in json.dumps(before)
    assert [entry["name"] for entry in entries(api, request_of(SHOP, "bridge", api))] == [
        "list_branches",
        "tool_search",
        "call_tool",
    ]


@pytest.mark.parametrize("api", PROVIDERS)
def test_x21_a_long_description_is_cut_visibly_in_stubs_only(api):
    tool = {"name": "long", "description": "word " * 1_000, "parameters": {}}
    (stub,) = [e for e in entries(api, request_of([tool], "stub", api)) if e["name"] == "long"]
    assert len(stub["description"]) <= 1_024
    assert stub["description"].endswith(" [...]")
    assert stub["description"][:500] == tool["description"][:500]
    (full,) = entries(api, request_of([tool], "full", api))
    assert full["description"] == tool["description"]


@pytest.mark.parametrize("api", PROVIDERS)
@pytest.mark.parametrize("mode", ["full", "stub"])
def test_bc29_the_request_is_utf8_json(api, mode):
    tools = [
        {"name": "photo_tag", "description": "Tag a photo \ud83d with a label"},
        {"name": "log_clear", "description": "Clear\x00 the\x07 log\u202e"},
        {"name": "mail\u200b_send", "description": "Send\u200b a mail"},
        {"name": "badge", "description": "Set", "parameters": obj_icon()},
    ]
    text = json.dumps(PROVIDERS[api].render(request_of(tools, mode, api)), ensure_ascii=False)
    assert json.loads(text.encode("utf-8"))
    assert not any(hidden in text for hidden in ("\u200b", "\u202e", "\x07", "\\u0007", "\\u0000"))
    assert '"mail_send' in text


def obj_icon():
    return {"type": "object", "properties": {"icon": {"enum": ["\udc00", "star"]}}}


@pytest.mark.parametrize("api", PROVIDERS)
def test_bc22_bc24_the_schema_keeps_its_meaning(api):
    union = {"anyOf": [obj_of("id"), obj_of("email")]}
    request = request_of(
        [{"name": "order_query", "parameters": ORDER}, {"name": "ticket_find", "parameters": union}],
        "stub",
        api,
        loaded=("order_query", "ticket_find"),
    )
    found = {entry["name"]: entry["schema"] for entry in entries(api, request)}
    assert found["order_query"] == ORDER
    assert found["ticket_find"]["type"] == "object"
    assert set(found["ticket_find"]["properties"]) == {"id", "email"}


def obj_of(name):
    return {"type": "object", "properties": {name: {"type": "string"}}}
