"""The local validator: each rule names its own bad request, and requests in order pass."""

from __future__ import annotations

import json

import pytest
from bad_requests import (
    ANSWER,
    ASKED,
    BAD,
    BM25,
    CLIENT,
    DEFERRED,
    HOSTED_PAIR,
    LATER,
    MODEL,
    TEXT,
    TOLD,
    USER,
    call,
    declared,
    flat,
    function,
    nested,
    output,
    plain,
    reference,
    result,
    search_pair,
    server_result,
    server_use,
    space,
    talk,
    use,
)
from wire_requests import GOLDEN

from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.providers.validate import RULES, validate


@pytest.mark.parametrize(
    ("api", "rule", "where", "request_"), BAD, ids=[f"{api}-{rule}" for api, rule, _, _ in BAD]
)
def test_x26_the_rule_is_named_and_no_other(api, rule, where, request_):
    before = json.dumps(request_)
    found = validate(api, **request_)
    assert [(violation.rule, violation.where) for violation in found] == [(rule, where)]
    assert found[0].message
    assert rule in str(found[0])
    assert json.dumps(request_) == before


@pytest.mark.parametrize("api", RULES)
def test_x26_every_rule_has_a_bad_request(api):
    assert {rule for name, rule, _, _ in BAD if name == api} == set(RULES[api])
    assert all(sentence.endswith(".") for sentence in RULES[api].values())


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_x26_golden_requests_pass(path):
    content = json.loads(path.read_text(encoding="utf-8"))
    assert validate(path.stem.partition("_")[0], content["tools"]) == ()


MIXED = talk(
    "q",
    [TEXT, server_use(), use()],
    [result()],
    [server_result("fx_rate"), use("toolu_2")],
    [result("toolu_2", [reference()])],
)
GOOD = [
    ("anthropic", {"tools": []}),
    (
        "anthropic",
        {"tools": [BM25, plain(**LATER)], "messages": MIXED, "settings": {"model": "claude-sonnet-5"}},
    ),
    # A pause is answered by the same messages with the response behind them.
    ("anthropic", {"tools": [BM25, plain(**LATER)], "messages": talk("q", [TEXT, server_use()])}),
    (
        "anthropic",
        {
            "tools": [BM25, plain(**LATER)],
            "messages": [
                *talk("q", [server_use()]),
                {"role": "assistant", "content": [server_result(), use()]},
                {"role": "user", "content": [result()]},
            ],
        },
    ),
    ("anthropic", {"tools": [plain(), plain("other")], "messages": talk("q", [use()], [result(), TEXT])}),
    (
        "anthropic",
        {
            "tools": [BM25, {"type": "mcp_toolset", "mcp_server_name": "gh"}],
            "messages": talk("q", [server_use(), server_result("gh_search")]),
        },
    ),
    (
        "anthropic",
        {
            "tools": [BM25, plain(**LATER)],
            "settings": {"betas": ["tool-search-tool-2025-10-19"]},
            "transport": "vertex",
        },
    ),
    ("anthropic", {"tools": [plain()], "tool_choice": {"type": "tool", "name": "fx_rate"}}),
    ("anthropic", {"tools": [plain()], "tool_choice": {"type": "any"}}),
    ("responses", {"tools": []}),
    ("responses", {"tools": [space(flat()), space(flat(), name="crm_2")]}),
    ("responses", {"tools": DEFERRED, "messages": "List the open orders.", "settings": {"model": "gpt-5.4"}}),
    ("responses", {"tools": DEFERRED, "settings": {"model": "gpt-6"}}),
    ("responses", {"tools": [flat()], "settings": {"model": "gpt-4.1"}}),
    (
        "responses",
        {"tools": DEFERRED, "messages": [USER, *HOSTED_PAIR, call("find", namespace="crm"), output()]},
    ),
    ("responses", {"tools": DEFERRED, "messages": [USER, call(namespace="fx_rate"), output()]}),
    (
        "responses",
        {
            "tools": [CLIENT],
            "messages": [
                USER,
                *search_pair(flat(**LATER)),
                call(namespace="fx_rate"),
                output(),
                *search_pair(identity="b"),
            ],
        },
    ),
    # A client's pair beside hosted search, as after another provider.
    ("responses", {"tools": DEFERRED, "messages": [USER, *search_pair(flat("other", **LATER))]}),
    # A call of a tool that is gone from the request altogether.
    ("responses", {"tools": [flat("now")], "messages": [USER, call(), output()]}),
    (
        "responses",
        {
            "tools": DEFERRED,
            "messages": [
                {"type": "additional_tools", "role": "developer", "tools": [flat("find")]},
                call("find"),
                output(),
            ],
        },
    ),
    (
        "responses",
        {"tools": [flat()], "messages": [output()], "settings": {"previous_response_id": "resp_1"}},
    ),
    (
        "responses",
        {"tools": DEFERRED, "messages": [USER, {"type": "future_item", "x": 1}], "tool_choice": "required"},
    ),
    (
        "responses",
        {
            "tools": [flat(), *DEFERRED[:1], *DEFERRED[2:]],
            "tool_choice": {"type": "function", "name": "fx_rate"},
        },
    ),
    ("chat", {"tools": [nested()], "messages": [USER, ASKED, TOLD, USER]}),
    ("chat", {"tools": [nested()], "tool_choice": "auto"}),
    ("gemini", {"tools": declared(function()), "messages": [MODEL, {"role": "user", "parts": [ANSWER]}]}),
    (
        "gemini",
        {"tools": [{"googleSearch": {}}, *declared(function("a.b"), {"name": "ping", "description": "d"})]},
    ),
]


@pytest.mark.parametrize(("api", "request_"), GOOD)
def test_x26_what_the_providers_accept_passes(api, request_):
    assert validate(api, **request_) == ()


def test_x26_warnings_are_for_what_is_advised_or_undocumented():
    warned = set()
    for api, rule, _, request_ in BAD:
        (violation,) = validate(api, **request_)
        if violation.severity == "warning":
            warned.add((api, rule))
    assert warned == {
        ("anthropic", "choice_deferred"), ("anthropic", "mixed_references"), ("responses", "namespace_size"),
        ("responses", "namespace_clash"), ("responses", "namespace_unknown"), ("responses", "choice_allowed"),
        ("responses", "flat_deferral_dropped"), ("responses", "search_fields"), ("responses", "hosted_pair_broken"),
    }  # fmt: skip


def test_x26_objects_of_the_sdks_are_read_like_dicts():
    blocks = pytest.importorskip("anthropic.types")
    message = {"role": "assistant", "content": [blocks.ToolUseBlock.construct(**use())]}
    tools = [BM25, plain(**LATER)]
    messages = [*talk("q"), message, {"role": "user", "content": [result(content=[])]}]
    assert [found.rule for found in validate("anthropic", tools, messages=messages)] == ["empty_tool_result"]
    items = pytest.importorskip("openai.types.responses")
    made = items.ResponseFunctionToolCall.construct(**call())
    found = validate("responses", DEFERRED, messages=[USER, made, output()])
    assert [violation.rule for violation in found] == ["missing_namespace"]


@pytest.mark.parametrize("api", RULES)
@pytest.mark.parametrize(
    "tools",
    [None, "text", 7, [None, 7, "x"], [{}], [{"type": None}], [{"type": ["x"], "name": {}, "tools": 3}]],
)
def test_x26_nonsense_is_reported_or_passed_over_but_never_raises(api, tools):
    for messages in (
        None,
        "q",
        [None, 7],
        [{"role": None, "content": {"type": 1}}],
        [{"type": "tool_search_output"}],
    ):
        for choice in (None, "x", {"type": "tool"}, {"type": "function"}, {"function": 3}, [1]):
            assert isinstance(validate(api, tools, messages=messages, tool_choice=choice), tuple)


def test_an_unknown_format_is_the_programs_mistake():
    with pytest.raises(ConfigError, match="cohere"):
        validate("cohere", [])


class _Unreadable:
    """An SDK object of which nothing can be read."""

    def __getattr__(self, name):
        raise RuntimeError(name)


@pytest.mark.parametrize("api", RULES)
def test_messages_that_hold_themselves_or_raise_are_checked_all_the_same(api):
    endless: list = []
    endless.append(endless)
    for content in ([_Unreadable()], endless, _Unreadable()):
        message = {"role": "user", "content": content, "parts": content}
        assert isinstance(validate(api, [], messages=[message, _Unreadable()]), tuple)
