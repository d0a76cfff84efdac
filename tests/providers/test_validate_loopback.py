"""The local validator and the provider on the loopback, written apart from each other, judge alike."""

from __future__ import annotations

import pytest
from bad_requests import BAD, USER
from test_validate import GOOD

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
