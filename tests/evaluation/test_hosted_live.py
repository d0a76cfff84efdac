"""Hosted searches, asked through the real SDKs over a real local server that keeps the providers' rules."""

from __future__ import annotations

import json
import os
import signal
import threading
from dataclasses import replace

import pytest
from hosted_sets import ARMS, KEY, address, arm_of, ask, asked, searches_once, shop

from semantic_toolsearch.errors import ConfigError, MissingExtraError
from semantic_toolsearch.evaluation.dataset import Query
from semantic_toolsearch.evaluation.hosted import HOSTED, has_key, live_arm
from semantic_toolsearch.evaluation.hosted.prepared import SAME_REQUEST
from semantic_toolsearch.evaluation.hosted.requests import Requests
from semantic_toolsearch.providers.validate import validate
from semantic_toolsearch.providers.violations import Violation
from semantic_toolsearch.testing.loopback import (
    Call,
    LoopbackProvider,
    Parallel,
    Pause,
    Say,
    Search,
    Status,
)

CLAUDE = ("anthropic-bm25", "anthropic-regex")


def without_times(answers):
    return {id_: (each.ranked, each.returned, each.failed, each.notes) for id_, each in answers.items()}


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch):
    for hosted in HOSTED.values():
        monkeypatch.delenv(hosted.key_variable, raising=False)


@pytest.mark.parametrize("name", ARMS)
def test_s23_s24_each_search_answers_live_and_is_labelled_so(name, tmp_path):
    dataset = shop()
    with LoopbackProvider(searches_once) as server:
        arm = arm_of(name, server, tmp_path)
        answers = asked(arm, dataset)
        assert (server.failures, len(server.exchanges)) == ([], len(dataset.queries))
    assert (arm.name, arm.how) == (name, "live")
    assert set(answers) == {query.id for query in dataset.queries}
    assert all(answer.failed is None and answer.returned for answer in answers.values())
    assert dataset.gold_places("q3")[0] in answers["q3"].returned
    assert all(answer.usage["searches"] == 1 for answer in answers.values())
    assert all(
        answer.usage["input_tokens"] > 0 and answer.usage["output_tokens"] > 0 for answer in answers.values()
    )


@pytest.mark.parametrize("name", ARMS)
def test_s24_stored_responses_give_the_same_answers_without_server_and_key(name, tmp_path):
    answers, _ = ask(name, searches_once, tmp_path)
    arm = live_arm(name, store=tmp_path, replay=True)
    assert asked(arm, shop()) == answers
    assert arm.how == "replayed"
    assert any("stored from" in note for note in arm.notes)


def test_s24_replay_needs_no_sdk(tmp_path, monkeypatch):
    answers, _ = ask("anthropic-bm25", searches_once, tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "anthropic", None)
    assert asked(live_arm("anthropic-bm25", store=tmp_path, replay=True), shop()) == answers
    with pytest.raises(MissingExtraError, match=r"semantic-toolsearch\[anthropic\]"):
        live_arm("anthropic-bm25", store=tmp_path, api_key=KEY).prepare(shop())


@pytest.mark.parametrize("name", ARMS)
def test_every_tool_is_deferred_and_the_search_is_the_one_asked_for(name, tmp_path):
    dataset = shop(tools=tuple(tool.model_copy(update={"defer": "never"}) for tool in shop().tools))
    _, server = ask(name, searches_once, tmp_path, dataset)
    body = server.requests[0]
    entries = [inner for entry in body["tools"] for inner in entry.get("tools", [entry])]
    assert sum(entry.get("defer_loading") is True for entry in entries) == 12
    (search,) = [entry["type"] for entry in entries if not entry.get("defer_loading")]
    kinds = {"bm25": "tool_search_tool_bm25_20251119", "regex": "tool_search_tool_regex_20251119"}
    assert search == kinds.get(HOSTED[name].search, "tool_search")


def test_s25_openai_shows_no_ranking(tmp_path):
    script = [Search(paths=("crm", "fx_rate")), Say("done")]
    answers, _ = ask("openai-tool-search", script, tmp_path, shop().only(shop().queries[:1]))
    arm = live_arm("openai-tool-search", store=tmp_path, replay=True)
    assert not arm.ranks
    assert any("no ranking" in note for note in arm.notes)
    assert (answers["q1"].ranked, answers["q1"].returned) == ((), (0, 1, 2, 6))
    assert answers["q1"].notes == ('searched: ["crm", "fx_rate"]',)


def test_later_searches_add_what_is_new_behind_the_first(tmp_path):
    script = [Search("plane seat", limit=1), Search("hotel room plane", limit=2), Say("done")]
    answers, _ = ask("anthropic-bm25", script, tmp_path, shop().only(shop().queries[:1]))
    assert answers["q1"].ranked == answers["q1"].returned == (3, 4)
    assert answers["q1"].usage["searches"] == 2
    assert answers["q1"].notes == (
        'searched: {"query": "plane seat", "limit": 1}; {"query": "hotel room plane", "limit": 2}',
    )


def test_a_regex_is_noted_as_it_was_written(tmp_path):
    script = [Search(pattern="(?i)exchange.*rate"), Say("done")]
    answers, _ = ask("anthropic-regex", script, tmp_path, shop().only(shop().queries[:1]))
    assert (answers["q1"].ranked, answers["q1"].notes) == ((6,), ("searched: (?i)exchange.*rate",))


@pytest.mark.parametrize("name", CLAUDE)
@pytest.mark.parametrize("open_search", [False, True])
def test_a_paused_response_is_gone_on_with(name, open_search, tmp_path):
    find = Search("exchange rate")
    script = [Parallel([find, Pause()])] if open_search else [find, Pause()]
    one = shop().only(shop().queries[2:3])
    answers, server = ask(name, [*script, Say("done")], tmp_path, one)
    assert [exchange.status for exchange in server.exchanges] == [200, 200]
    assert 6 in answers["q3"].returned
    assert (answers["q3"].usage["requests"], answers["q3"].usage["searches"]) == (2, 1)
    assert asked(live_arm(name, store=tmp_path, replay=True), one) == answers


@pytest.mark.parametrize("name", ARMS)
def test_a_model_that_does_not_search_loads_nothing(name, tmp_path):
    answers, _ = ask(name, lambda view: Say("I know that."), tmp_path)
    assert {(each.ranked, each.returned, each.failed) for each in answers.values()} == {((), (), None)}
    assert {each.notes for each in answers.values()} == {("the model did not search",)}


def test_a_call_beside_the_search_does_not_hide_what_was_found(tmp_path):
    def calls_after(view):
        return Call("fx_rate", {"pair": "USDEUR"}) if view.emitted_search else Search("exchange rate")

    answers, _ = ask("anthropic-bm25", calls_after, tmp_path)
    assert {each.ranked[0] for each in answers.values()} == {6}


@pytest.mark.parametrize("name", ARMS)
def test_four_at_once_give_the_same_answers_as_one(name, tmp_path):
    alone, _ = ask(name, searches_once, tmp_path / "1", concurrency=1)
    together, _ = ask(name, searches_once, tmp_path / "4", concurrency=4)
    assert without_times(alone) == without_times(together)


def test_requests_do_go_out_at_once(tmp_path):
    """The first goes alone; then four wait for one another, which only four at once can."""
    meeting = threading.Barrier(4, timeout=20)
    places = iter(range(100))

    def together(view):
        if not view.emitted_search:
            if next(places) > 0:
                meeting.wait()
            return Search(view.user_text)
        return Say("done")

    dataset = shop().only(shop().queries[:5])
    answers, server = ask("anthropic-bm25", together, tmp_path, dataset, concurrency=4)
    assert server.failures == []
    assert [each.failed for each in answers.values()] == [None] * 5


def test_queries_of_one_text_are_asked_and_paid_once(tmp_path):
    twin = shop(
        queries=(Query("a", "exchange rate"), Query("b", "exchange rate"), Query("c", "forecast")),
        gold={"a": {"fx_rate": 1}, "b": {"fx_rate": 1}, "c": {"weather_today": 1}},
    )
    answers, server = ask("anthropic-bm25", searches_once, tmp_path, twin)
    assert len(server.exchanges) == 2
    assert answers["a"].ranked == answers["b"].ranked == (6,)
    assert (answers["a"].usage["requests"], answers["b"].usage) == (1, {})
    assert answers["b"].notes[-1] == SAME_REQUEST
    assert asked(live_arm("anthropic-bm25", store=tmp_path, replay=True), twin) == answers


@pytest.mark.parametrize("name", ARMS)
def test_the_key_is_nowhere_in_the_store(name, tmp_path):
    def repeats_it(view):
        return Status(401, f"Incorrect key: {KEY}") if view.index else searches_once(view)

    with LoopbackProvider(repeats_it) as server:
        answers = asked(arm_of(name, server, tmp_path), shop())
        assert KEY in str(server.exchanges[0].headers)
        assert KEY in str(server.exchanges[1].response)
    assert "[key]" in str(answers)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    for path in files:
        text = path.read_text()
        assert KEY not in text
        assert "authorization" not in text.lower()
        assert "api-key" not in text.lower()


def test_a_body_that_repeats_the_key_is_stored_without_it(tmp_path):
    body = {"type": "message", "content": [{"type": "text", "text": f"Your key is {KEY}."}], "usage": {}}
    ask("anthropic-bm25", lambda view: Status(200, body), tmp_path, shop().only(shop().queries[:1]))
    text = (tmp_path / "anthropic-bm25" / "shop.jsonl").read_text()
    assert KEY not in text
    assert "Your key is [key]." in text


@pytest.mark.parametrize("name", ARMS)
def test_resuming_asks_only_what_is_missing(name, tmp_path):
    dataset = shop()
    some, first = ask(name, searches_once, tmp_path, dataset.only(dataset.queries[:3]))
    answers, second = ask(name, searches_once, tmp_path)
    assert (len(first.exchanges), len(second.exchanges)) == (3, 5)
    assert {id_: answers[id_] for id_ in some} == some
    _, third = ask(name, searches_once, tmp_path)
    assert third.exchanges == []


def test_another_model_is_asked_anew_and_named(tmp_path):
    ask("anthropic-bm25", searches_once, tmp_path)
    with LoopbackProvider(searches_once) as server:
        arm = arm_of("anthropic-bm25", server, tmp_path, model="claude-haiku-4-5")
        asked(arm, shop())
        assert {body["model"] for body in server.requests} == {"claude-haiku-4-5"}
        assert len(server.exchanges) == 8
    assert arm.name == "anthropic-bm25@claude-haiku-4-5"


def test_a_limit_bounds_the_requests_and_a_later_run_goes_on(tmp_path):
    answers, server = ask("anthropic-bm25", searches_once, tmp_path, limit=3)
    assert len(server.exchanges) == 3
    failed = [each.failed for each in answers.values() if each.failed]
    assert failed == ["not asked: the limit of 3 requests is reached"] * 5
    answers, server = ask("anthropic-bm25", searches_once, tmp_path)
    assert len(server.exchanges) == 5
    assert all(each.failed is None for each in answers.values())


@pytest.fixture
def ctrl_c():
    """Ctrl-C interrupts, also where the shell that started the tests has switched it off, as for background jobs."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.usefixtures("ctrl_c")
def test_an_interruption_keeps_what_was_stored(tmp_path):
    def interrupts(view):
        if view.index == 3 and not view.emitted_search:
            os.kill(os.getpid(), signal.SIGINT)
        return searches_once(view)

    with LoopbackProvider(interrupts) as server:
        arm, dataset = arm_of("anthropic-bm25", server, tmp_path, concurrency=2), shop()
        with pytest.raises(KeyboardInterrupt):
            list(arm.prepare(dataset).answers(dataset.queries))
        sent = len(server.exchanges)
    assert 4 <= sent < 8
    answers, second = ask("anthropic-bm25", searches_once, tmp_path)
    assert len(second.exchanges) == 8 - sent
    assert all(each.failed is None for each in answers.values())


def test_a_reader_that_stops_early_loses_nothing(tmp_path):
    with LoopbackProvider(searches_once) as server:
        arm, dataset = arm_of("openai-tool-search", server, tmp_path, concurrency=1), shop()
        answers = arm.prepare(dataset).answers(dataset.queries)
        next(answers)
        answers.close()
        assert len(server.exchanges) == 1
    _, second = ask("openai-tool-search", searches_once, tmp_path)
    assert len(second.exchanges) == 7


@pytest.mark.parametrize("name", ARMS)
def test_s24_without_a_key_the_arm_says_what_to_do(name, tmp_path, monkeypatch):
    assert not has_key(name)
    with pytest.raises(ConfigError, match=HOSTED[name].key_variable):
        live_arm(name, store=tmp_path).prepare(shop())
    monkeypatch.setenv(HOSTED[name].key_variable, KEY)
    assert has_key(name)
    live_arm(name, store=tmp_path).prepare(shop())


@pytest.mark.parametrize("name", ARMS)
def test_a_key_of_the_environment_is_sent_to_nobody_else(name, tmp_path, monkeypatch):
    for variable in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENAI_ORG_ID"):
        monkeypatch.setenv(variable, KEY)
    with LoopbackProvider(searches_once) as server:
        arm = live_arm(name, store=tmp_path, base_url=address(server, name), max_retries=0)
        assert all(each.failed is None for each in asked(arm, shop()).values())
        assert KEY not in str([exchange.headers for exchange in server.exchanges])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name": "anthropic-bm26"}, "Nearest: anthropic-bm25"),
        ({"concurrency": 0}, "concurrency is at least 1"),
        ({"max_retries": -1}, "max_retries is at least 0"),
        ({"timeout": 0}, "timeout is above 0"),
        ({"limit": -1}, "limit is at least 0"),
        ({"base_url": "localhost:80"}, "base_url is an address"),
    ],
)
def test_wrong_settings_are_named(options, words, tmp_path):
    with pytest.raises(ConfigError, match=words):
        live_arm(**{"name": "anthropic-bm25", "store": tmp_path, **options})


def test_more_tools_than_the_provider_takes_are_refused_before_anything_is_sent(tmp_path):
    assert {name: hosted.most_tools for name, hosted in HOSTED.items()} == {
        "anthropic-bm25": 10_000,
        "anthropic-regex": 10_000,
        "openai-tool-search": None,
    }
    small = replace(HOSTED["anthropic-bm25"], most_tools=11)
    with pytest.raises(ConfigError, match="shop: it has 12 tools, and Anthropic takes at most 11 deferred"):
        Requests(small, shop().catalog, "claude-sonnet-5", "shop")
    with pytest.raises(ConfigError, match="no tools"):
        live_arm("anthropic-bm25", store=tmp_path, replay=True).prepare(
            shop(tools=(), ids=(), queries=(), gold={})
        )


def test_a_tool_that_would_spoil_the_request_is_left_out_and_told(tmp_path, monkeypatch):
    """No definition breaks a known rule once it is rendered, so that a rule which comes later stands for it."""

    def newer_rules(api, tools, **settings):
        yield from validate(api, tools, **settings)
        for place, entry in enumerate(tools):
            if entry["name"] == "crm__list_orders":
                yield Violation("tool_shape", f"$.tools[{place}].description", "no orders are listed.")

    monkeypatch.setattr("semantic_toolsearch.evaluation.hosted.requests.validate", newer_rules)
    dataset = shop()
    with LoopbackProvider(searches_once) as server:
        arm = arm_of("anthropic-bm25", server, tmp_path)
        answers = asked(arm, dataset)
        assert "crm__list_orders" not in json.dumps(server.requests[0]["tools"])
    assert all(2 not in each.returned and each.failed is None for each in answers.values())
    assert any("1 of 12 tools" in note and "crm__list_orders" in note for note in arm.notes)
