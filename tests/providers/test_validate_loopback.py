"""The local validator and the provider on the loopback, written apart from each other, judge alike."""

from __future__ import annotations

import json

import pytest
from bad_requests import BAD, USER
from responses_requests import CRM, request_of, search_call
from test_validate import GOOD
from wire_requests import GOLDEN, record_of

from semantic_toolsearch.providers.openai_responses import call_result, parse, render, search_answer
from semantic_toolsearch.providers.validate import validate
from semantic_toolsearch.testing.loopback import anthropic_request, chat_request, responses_request
from semantic_toolsearch.testing.loopback.refusal import Refusal
from semantic_toolsearch.testing.loopback.settings import Settings

MILDER = {
    # The loopback is a vendor's own interface: it knows no other transports.
    ("anthropic", "transport_fields"), ("anthropic", "transport_references"),
    # Required by the vendors' texts, and not known to be refused.
    ("responses", "client_search_fields"), ("responses", "defer_unsupported"),
}  # fmt: skip


def refusal(api, request):
    """What the loopback says against a request, or None."""
    settings = Settings(bedrock=request.get("transport") == "bedrock_invoke")
    fields = dict(request.get("settings") or {})
    betas = fields.pop("betas", ())
    messages = request.get("messages") or [USER]
    if api == "chat" and messages[0].get("role") != "user":
        messages = [USER, *messages]
    body = {
        "model": "claude-sonnet-5" if api == "anthropic" else "gpt-5.4",
        "tools": request["tools"],
        **fields,
    }
    body["input" if api == "responses" else "messages"] = messages
    if request.get("tool_choice") is not None:
        body["tool_choice"] = request["tool_choice"]
    try:
        if api == "anthropic":
            headers = {"anthropic-version": "2026-10-21", "x-api-key": "k", "anthropic-beta": ",".join(betas)}
            anthropic_request.read_request({"max_tokens": 9, **body}, headers, 0, settings, beta=bool(betas))
        elif api == "responses":
            responses_request.read_request(body, 0, {}, settings)
        else:
            chat_request.read_request(body, 0, settings)
    except Refusal as refused:
        return refused
    return None


@pytest.mark.parametrize(
    "case", [case for case in BAD if case[0] != "gemini"], ids=lambda case: f"{case[0]}-{case[1]}"
)
def test_x26_what_the_validator_calls_an_error_is_refused(case):
    api, rule, _, request = case
    (violation,) = validate(api, **request)
    if violation.severity == "error" and (api, rule) not in MILDER:
        assert refusal(api, request) is not None


def test_x26_what_the_validator_lets_pass_is_accepted():
    unlike = (
        "previous_response_id",
        "future_item",
        "mcp_toolset",
        "tool-search-tool-2025-10-19",
        "tool_calls",
    )
    asked = [case for case in GOOD if case[0] != "gemini" and not any(word in str(case) for word in unlike)]
    assert len(asked) > 15
    for api, request in asked:
        assert refusal(api, request) is None


@pytest.mark.parametrize(
    "path",
    sorted(GOLDEN.glob("responses_*.json")),
    ids=lambda path: path.stem,
)
def test_x26_golden_requests_are_accepted(path):
    content = json.loads(path.read_text(encoding="utf-8"))
    assert refusal(path.stem.partition("_")[0], content) is None


@pytest.mark.parametrize("kept", [True, False])
def test_o10_o16_an_answered_search_and_the_call_after_it_are_replayed(kept):
    """Our search output loads the tool, and its call is accepted with its namespace and refused without."""
    request = request_of(CRM, "output")
    search = search_call()
    answer = search_answer(search, record_of(request.catalog, ["crm__list_open_orders"]), request)
    (function,) = answer["tools"]
    item = {"type": "function_call", "call_id": "call_8", "name": function["name"], "arguments": "{}"}
    if kept:
        item["namespace"] = function["name"]
    (call,) = parse({"output": [item]}).calls
    messages = [USER, search.raw, answer, call.raw, call_result(call, "wrong arguments", is_error=True)]
    sent = {"tools": render(request), "messages": messages}
    found = [violation.rule for violation in validate("responses", **sent)]
    assert found == ([] if kept else ["missing_namespace"])
    assert (refusal("responses", sent) is None) is kept
