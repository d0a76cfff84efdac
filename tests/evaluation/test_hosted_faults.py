"""A provider that refuses, fails, or answers nonsense: that query fails with the reason, and the rest is kept."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hosted_sets import ARMS, KEY, arm_of, ask, asked, searches_once, shop

from semantic_toolsearch.evaluation.hosted import HOSTED, live_arm
from semantic_toolsearch.testing.loopback import (
    Call,
    Cut,
    HostedError,
    LoopbackProvider,
    Parallel,
    Say,
    Search,
    Status,
)

REFERENCES = {"type": "tool_reference", "tool_name": "fx_rate"}


def result(content):
    call = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "tool_search_tool_bm25", "input": {}}
    return [call, {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_1", "content": content}]


def message(content, stop="end_turn"):
    return {"type": "message", "role": "assistant", "content": content, "stop_reason": stop, "usage": {}}


def output(items, status="completed", **more):
    return {"object": "response", "status": status, "output": items, "usage": None, **more}


def failing(texts, step):
    """A model that searches once, but for some texts."""
    return lambda view: step if view.user_text in texts else searches_once(view)


def sixth_fails(step):
    return failing([shop().queries[5].text], step)


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_refusal_that_passes_is_asked_again(name, status, tmp_path):
    refused = set()

    def refuses_once(view):
        if view.user_text not in refused and not view.emitted_search:
            refused.add(view.user_text)
            return Status(status)
        return searches_once(view)

    answers, server = ask(name, refuses_once, tmp_path, max_retries=2)
    assert all(each.failed is None for each in answers.values())
    assert sorted(exchange.status for exchange in server.exchanges) == [200] * 8 + [status] * 8


@pytest.mark.parametrize("name", ARMS)
def test_a_failure_that_stays_costs_its_query_only(name, tmp_path):
    answers, server = ask(name, sixth_fails(Status(500)), tmp_path, max_retries=1)
    reason = "HTTP 500: scripted failure (asked again up to 1 times)"
    assert {id_: each.failed for id_, each in answers.items() if each.failed} == {"q6": reason}
    assert len(server.exchanges) == 9
    assert asked(live_arm(name, store=tmp_path, replay=True), shop()) == answers
    later, server = ask(name, searches_once, tmp_path)
    assert len(server.exchanges) == 1
    assert all(each.failed is None for each in later.values())


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_key_or_model_stops_at_the_first_request(name, status, tmp_path):
    answers, server = ask(name, lambda view: Status(status, "not for you"), tmp_path, max_retries=3)
    assert len(server.exchanges) == 1
    assert {each.failed for each in answers.values()} == {f"HTTP {status}: not for you"}


def test_a_key_that_is_withdrawn_stops_the_rest(tmp_path):
    answers, server = ask(
        "anthropic-bm25", failing([shop().queries[3].text], Status(401, "gone")), tmp_path, concurrency=1
    )
    assert len(server.exchanges) == 4
    failed = [id_ for id_, each in answers.items() if each.failed == "HTTP 401: gone"]
    assert failed == ["q4", "q5", "q6", "q7", "q8"]


def test_no_money_left_stops_the_rest(tmp_path):
    body = {"error": {"message": "You exceeded your quota", "type": "x", "code": "insufficient_quota"}}
    answers, server = ask("openai-tool-search", lambda view: Status(429, body), tmp_path)
    assert len(server.exchanges) == 1
    assert {each.failed for each in answers.values()} == {"HTTP 429: You exceeded your quota"}


@pytest.mark.parametrize("name", ARMS)
def test_a_refused_first_request_stops_and_a_refused_later_one_does_not(name, tmp_path):
    answers, server = ask(name, lambda view: Status(400, "bad schema"), tmp_path / "first")
    assert len(server.exchanges) == 1
    assert {each.failed for each in answers.values()} == {"HTTP 400: bad schema"}
    answers, server = ask(name, sixth_fails(Status(400, "bad text")), tmp_path / "later")
    assert len(server.exchanges) == 8
    assert {id_: each.failed for id_, each in answers.items() if each.failed} == {"q6": "HTTP 400: bad text"}


def test_a_provider_that_is_down_is_not_asked_for_ever(tmp_path):
    from semantic_toolsearch.evaluation.dataset import Query

    queries = tuple(Query(str(at), f"text {at}") for at in range(30))
    dataset = shop(queries=queries, gold={query.id: {"fx_rate": 1} for query in queries})
    answers, server = ask("anthropic-bm25", lambda view: Status(503), tmp_path, dataset, concurrency=1)
    assert len(server.exchanges) == 10
    assert {each.failed for each in answers.values()} == {"HTTP 503: scripted failure"}


def test_no_connection_and_no_response_in_time_are_told_apart(tmp_path):
    with LoopbackProvider() as server:
        arm = arm_of("anthropic-bm25", server, tmp_path)
    answers = asked(arm, shop().only(shop().queries[:1]))
    assert answers["q1"].failed.startswith("no connection")
    release = threading.Event()

    def waits(view):
        release.wait(20)
        return Say("late")

    with LoopbackProvider(waits) as server:
        slow = arm_of("openai-tool-search", server, tmp_path, timeout=0.2)
        answers = asked(slow, shop().only(shop().queries[:1]))
        release.set()
    assert answers["q1"].failed == "no response within 0.2 s"


GARBAGE = {
    "no message": ("anthropic-bm25", {"hello": "world"}, "has no 'content'"),
    "a list": ("anthropic-bm25", message("text instead of blocks"), "no list of typed parts"),
    "a block without type": ("anthropic-bm25", message([{"text": "x"}]), "no list of typed parts"),
    "unknown blocks": ("anthropic-bm25", message([{"type": "oracle"}]), "unknown parts: oracle"),
    "a strange result": ("anthropic-bm25", message(result({"type": "oracle"})), "search result that cannot"),
    "a strange reference": (
        "anthropic-bm25",
        message(result({"type": "tool_search_tool_search_result", "tool_references": [{"x": 1}]})),
        "search result that cannot be read",
    ),
    "an unknown tool": (
        "anthropic-bm25",
        message(
            result(
                {
                    "type": "tool_search_tool_search_result",
                    "tool_references": [{**REFERENCES, "tool_name": "nobody"}],
                }
            )
        ),
        "a tool that was not sent: 'nobody'",
    ),
    "an error in the body": (
        "anthropic-bm25",
        {"type": "error", "error": {"type": "overloaded_error", "message": "later"}},
        "overloaded_error",
    ),
    "no output": ("openai-tool-search", {"hello": "world"}, "has no 'output'"),
    "no items": ("openai-tool-search", output("text"), "no list of typed parts"),
    "unknown items": ("openai-tool-search", output([{"type": "oracle"}]), "unknown parts: oracle"),
    "a failed response": (
        "openai-tool-search",
        output([], "failed", error={"code": "server_error", "message": "broken"}),
        "the response is failed: broken",
    ),
    "strange tools": (
        "openai-tool-search",
        output([{"type": "tool_search_output", "tools": [7]}]),
        "search result that cannot be read",
    ),
    "an unknown function": (
        "openai-tool-search",
        output([{"type": "tool_search_output", "tools": [{"type": "function", "name": "nobody"}]}]),
        "a tool that was not sent: 'nobody'",
    ),
}


@pytest.mark.parametrize("kind", GARBAGE)
def test_a_body_that_cannot_be_read_fails_its_query_and_is_asked_again_later(kind, tmp_path):
    name, body, words = GARBAGE[kind]
    answers, server = ask(name, sixth_fails(Status(200, body)), tmp_path)
    assert len(server.exchanges) == 8
    assert [id_ for id_, each in answers.items() if each.failed] == ["q6"]
    assert words in answers["q6"].failed
    assert (answers["q6"].ranked, answers["q6"].returned) == ((), ())
    stored = (tmp_path / name / "shop.jsonl").read_text().splitlines()
    assert body in [json.loads(line)["response"] for line in stored]
    assert asked(live_arm(name, store=tmp_path, replay=True), shop()) == answers
    _, server = ask(name, searches_once, tmp_path)
    assert len(server.exchanges) == 1


@pytest.mark.parametrize("name", ARMS)
def test_a_body_that_is_no_json_fails_its_query(name, tmp_path):
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            data = f"<html>captive portal {KEY}</html>".encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        base = f"http://127.0.0.1:{server.server_address[1]}"
        arm = live_arm(name, store=tmp_path, base_url=base, api_key=KEY, max_retries=0)
        answers = asked(arm, shop().only(shop().queries[:2]))
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert all("no JSON: '<html>captive portal [key]" in each.failed for each in answers.values())
    replayed = asked(live_arm(name, store=tmp_path, replay=True), shop().only(shop().queries[:2]))
    assert replayed == answers


@pytest.mark.parametrize(
    ("code", "requests"),
    [("unavailable", 1), ("too_many_requests", 1), ("invalid_tool_input", 0), ("execution_time_exceeded", 0)],
)
def test_a_failed_search_fails_with_its_code_and_only_what_may_pass_is_asked_again(code, requests, tmp_path):
    def fails(view):
        if view.emitted_search:
            return Say("done")
        return HostedError(code) if view.user_text == shop().queries[5].text else Search(view.user_text)

    answers, _ = ask("anthropic-bm25", fails, tmp_path)
    assert {id_: each.failed for id_, each in answers.items() if each.failed} == {
        "q6": f"the search failed: {code}"
    }
    _, server = ask("anthropic-bm25", searches_once, tmp_path)
    assert len(server.exchanges) == requests


def test_a_search_that_the_model_mends_is_an_answer_with_a_note(tmp_path):
    script = [Search(pattern="(broken"), Search(pattern="exchange"), Say("done")]
    answers, _ = ask("anthropic-regex", script, tmp_path, shop().only(shop().queries[:1]))
    assert (answers["q1"].failed, answers["q1"].ranked) == (None, (6,))
    assert answers["q1"].notes == ("searched: (broken; exchange", "a search failed: invalid_tool_input")


@pytest.mark.parametrize("name", ARMS)
def test_a_response_that_is_cut_before_a_search_has_failed_for_good(name, tmp_path):
    answers, _ = ask(name, sixth_fails(Cut(Say("thinking about it " * 20))), tmp_path)
    assert "cut at its most output tokens" in answers["q6"].failed
    _, server = ask(name, searches_once, tmp_path)
    assert server.exchanges == []


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("anthropic-bm25", message([{"type": "text", "text": "No."}], "refusal")),
        (
            "openai-tool-search",
            output([{"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}]),
        ),
    ],
)
def test_a_refusal_by_the_model_is_told(name, body, tmp_path):
    answers, _ = ask(name, sixth_fails(Status(200, body)), tmp_path)
    assert answers["q6"].failed == "the model refused"


def test_a_search_left_open_beside_a_call_has_no_result(tmp_path):
    both = Parallel([Search("exchange rate"), Call("fx_rate", {"pair": "USDEUR"})])
    answers, _ = ask("anthropic-bm25", sixth_fails(both), tmp_path)
    assert answers["q6"].failed == "the search has no result"


def test_an_unknown_part_beside_a_search_does_no_harm(tmp_path):
    found = result({"type": "tool_search_tool_search_result", "tool_references": [REFERENCES]})
    body = message([{"type": "oracle"}, *found])
    answers, _ = ask("anthropic-bm25", sixth_fails(Status(200, body)), tmp_path)
    assert (answers["q6"].failed, answers["q6"].ranked) == (None, (6,))


@pytest.mark.parametrize("name", HOSTED)
def test_replay_without_a_store_has_failed_not_raised(name, tmp_path):
    answers = asked(live_arm(name, store=tmp_path / "nowhere", replay=True), shop())
    assert {each.failed for each in answers.values()} == {"not stored"}
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("name", ARMS)
def test_a_proxy_that_repeats_the_key_of_the_environment_has_it_written_nowhere(name, tmp_path, monkeypatch):
    monkeypatch.setenv(HOSTED[name].key_variable, KEY)
    with LoopbackProvider(lambda view: Status(401, f"{KEY} is no key")) as server:
        address = f"{server.url}/v1" if name.startswith("openai") else server.url
        arm = live_arm(name, store=tmp_path, base_url=address, max_retries=0)
        answers = asked(arm, shop())
        assert not any(KEY in str(exchange.headers) for exchange in server.exchanges)
    assert {each.failed for each in answers.values()} == {"HTTP 401: [key] is no key"}
    assert not any(KEY in path.read_text("utf-8") for path in tmp_path.rglob("*.jsonl"))
