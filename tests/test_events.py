"""The hook is told of searches, outages, replacements and calls: once each, in order, without texts."""

from __future__ import annotations

import dataclasses
import json
import threading

import pytest

from faulty_parts import Moody
from library_tools import TWO_SERVERS, hashed, lexical, t
from semantic_toolsearch import (
    CallChecked,
    CatalogReplaced,
    Degraded,
    Recovered,
    SearchConfig,
    Searched,
    ToolSearch,
)
from semantic_toolsearch.errors import ConfigError, RankerError


def test_a_search_is_told_with_its_outcome_names_and_numbers():
    told = []
    search = hashed(TWO_SERVERS, on_event=told.append)
    results = [
        search.search("find a page", limit=1),
        search.search("zzz qqq"),
        search.search(""),
        search.search("page", visible=["desk__search"]),
    ]
    assert [type(event) for event in told] == [Searched] * 4
    for event, result in zip(told, results, strict=True):
        assert event.outcome == result.outcome
        assert event.tools == tuple(hit.name for hit in result.tools)
        assert (event.hints, event.total) == (len(result.hints), result.total)
        assert (event.degraded, event.generation, event.by) == (False, 0, "application")
        assert 0 < event.seconds < 60
    assert told[0].tools == ("wiki__search",)


def test_no_text_of_a_query_or_description_is_in_an_event_unless_asked_for():
    told = []
    search = hashed(TWO_SERVERS, on_event=told.append)
    search.search("find a page about giraffes")
    assert told[0].query is None
    assert "giraffes" not in repr(told)
    assert "Find a page" not in repr(told)
    asked = hashed(TWO_SERVERS, on_event=told.append, config=SearchConfig(event_queries=True))
    asked.search("find a page about giraffes")
    assert told[-1].query == "find a page about giraffes"


def test_events_are_records_that_cannot_be_changed():
    for event in (Degraded("vector index", "r"), Recovered("vector index"), CallChecked("run", "a", True, 0)):
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError, TypeError)):
            event.anything = 1
        assert not hasattr(event, "__dict__")


def test_bc54_an_outage_is_told_when_it_begins_and_when_it_ends_before_the_searches_it_concerns():
    told, embedder = [], Moody()
    search = hashed(TWO_SERVERS, embedder=embedder, on_event=told.append)
    search.search("find a page")
    search.search("find a ticket")
    embedder.failing = False
    search.search("tell the time")
    assert [type(event) for event in told] == [Degraded, Searched, Searched, Recovered, Searched]
    assert "the endpoint is away" in told[0].reason
    assert told[0].part == told[3].part == "embedding model"
    assert [event.degraded for event in told if isinstance(event, Searched)] == [True, True, False]


def test_an_outage_that_begins_with_preparing_is_told_at_once():
    told, embedder = [], Moody()
    search = hashed(TWO_SERVERS, embedder=embedder, on_event=told.append)
    search.prepare()
    assert [type(event) for event in told] == [Degraded]


def test_a_replacement_is_told_after_it_took_place():
    told = []

    def hook(event):
        told.append(event)
        if isinstance(event, CatalogReplaced):
            assert search.stats().generation == event.generation

    search = lexical(TWO_SERVERS, on_event=hook)
    search.replace("wiki", [t("search", "Find a page, or two"), t("read", "Read a page")])
    search.replace(None, [])
    changed, first, second = told
    assert changed.name == "wiki__search"
    assert first == CatalogReplaced(("wiki",), ("wiki__read",), ("wiki__edit",), ("wiki__search",), 1)
    assert second == CatalogReplaced((None,), (), ("clock",), (), 2)


def test_a_refused_replacement_is_not_told():
    told = []
    search = lexical(TWO_SERVERS, on_event=told.append)
    with pytest.raises(Exception, match="cannot be read"):
        search.replace("wiki", 5)
    assert told == []


def test_a_hook_that_raises_breaks_no_search_and_is_logged_once(caplog):
    def hook(event):
        raise RuntimeError("the collector is away")

    search = hashed(TWO_SERVERS, on_event=hook)
    plain = hashed(TWO_SERVERS)
    for query in ("find a page", "find a ticket", ""):
        assert search.search(query).as_dict() == plain.search(query).as_dict()
    search.replace(None, [])
    assert search.stats().generation == 1
    warnings = [record for record in caplog.records if record.levelname == "WARNING"]
    assert len(warnings) == 1
    assert "the collector is away" in warnings[0].exc_text


@pytest.mark.parametrize("kind", [Degraded, Searched, CatalogReplaced])
def test_a_hook_may_search_and_replace_in_its_turn(kind):
    """Nothing is locked while it is called, not even the index that a failing model was to build."""
    told, embedder = [], Moody()

    def hook(event):
        told.append(event)
        if isinstance(event, kind) and len(told) < 20 and not hook.done:
            hook.done = True
            search.search("find a ticket")
            search.replace("desk", [])

    hook.done = False
    search = hashed(TWO_SERVERS, embedder=embedder, on_event=hook)

    def work():
        search.search("find a page")
        search.replace(None, [])

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    worker.join(60)
    assert not worker.is_alive(), "it waits for itself"
    assert search.stats().generation == 2
    assert search.search("").total == 2


def test_events_of_one_thread_are_told_in_that_thread():
    told = []
    search = hashed(
        TWO_SERVERS, on_event=lambda event: told.append((threading.get_ident(), event.outcome))
    ).prepare()
    expected = []

    def work(query):
        expected.extend((threading.get_ident(), search.search(query).outcome) for _ in range(5))

    threads = [threading.Thread(target=work, args=(query,)) for query in ("find a page", "", "zzz")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(told) == sorted(expected)


def test_an_outage_that_an_explanation_meets_is_told():
    told, embedder = [], Moody()
    search = hashed(TWO_SERVERS, embedder=embedder, on_event=told.append)
    assert search.explain("find a page", "clock").degraded
    assert [type(event) for event in told] == [Degraded]


def test_a_search_that_raises_is_not_told():
    class Ranker:
        def rank(self, query, *, limit, visible=None):
            raise RuntimeError("broken")

    told = []
    search = ToolSearch(TWO_SERVERS, ranker=Ranker(), cache=False, on_event=told.append)
    with pytest.raises(RankerError):
        search.search("page")
    with pytest.raises(ConfigError):
        search.search("page", visible=5)
    assert told == []


class TestTurns:
    def turn(self, told, **config):
        tools = [t("read", "Read a page", number={"type": "integer"}), t("purge", "Delete a page")]
        settings = SearchConfig(ranker="bm25", threshold=1, **config)
        return lexical(tools, config=settings, on_event=told.append, ranker=None).turn([], model="llama-4")

    def said(self, *calls):
        made = [
            {
                "id": f"c{n}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for n, (name, arguments) in enumerate(calls)
        ]
        message = {"role": "assistant", "content": None, "tool_calls": made}
        return {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}

    def test_calls_and_searches_of_a_model_are_told_once_however_often_its_response_is_looked_at(self):
        told = []
        turn = self.turn(told)
        response = self.said(
            ("tool_search", {"query": "read a page", "limit": 1}),
            ("read", {"number": 3}),
            ("read", {"number": "three"}),
            ("erase", {}),
            ("purge", {}),
        )
        turn.answer(response)
        turn.calls(response)
        turn.results(response, lambda call: "done")
        searched, *checked = told
        assert (searched.by, searched.tools, searched.outcome) == ("model", ("read",), "matched")
        assert [(event.outcome, event.tool, event.loaded) for event in checked] == [
            ("run", "read", True),
            ("arguments", "read", True),
            ("unknown", None, False),
            ("run", "purge", False),
        ]

    def test_a_call_that_is_answered_with_the_schema_is_refused(self):
        told = []
        self.turn(told, unloaded_calls="refuse_with_schema").answer(self.said(("read", {"number": 3})))
        assert told == [CallChecked("refused", "read", False, 0)]

    def test_another_response_is_told_anew(self):
        told = []
        turn = self.turn(told)
        turn.answer(self.said(("read", {"number": 3})))
        turn.answer(self.said(("read", {"number": 4})))
        assert len(told) == 2


def test_without_a_hook_nothing_is_kept_or_told():
    search = lexical(TWO_SERVERS)
    turn = search.turn([], model="llama-4")
    turn.answer(TestTurns().said(("nothing", {})))
    assert turn._events._told == set()
    assert search._snapshot.hook is None
