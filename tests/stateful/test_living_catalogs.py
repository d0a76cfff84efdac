"""Catalogs that live: searched, replaced, refused, saved and loaded again, in any order, by any ranker."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from long_runs import run_settings
from pool import POOL, SPACES, WIRE, Version, definition, leaks
from talk import meant

from library_tools import RANKERS
from semantic_toolsearch import SearchConfig, ToolSearch
from semantic_toolsearch.errors import CatalogError, UnknownToolError
from semantic_toolsearch.testing import HashingEmbedder

tools = st.sampled_from(POOL)
versions = st.builds(Version, st.integers(0, 99))
needs = st.sampled_from(["renew a loan", "send", "find a page of kind", "xyzzy", "", "*", "close `ticket`"])
needs |= tools.map(lambda tool: tool[1])
configs = st.fixed_dictionaries(
    {"ranker": st.sampled_from(RANKERS)},
    optional={
        "default_limit": st.sampled_from([1, 5]),
        "max_limit": st.sampled_from([5, 20]),
        "band": st.sampled_from([0.0, 0.5, 1.0]),
        "weak_hits": st.sampled_from(["hint", "load", "drop"]),
        "hints": st.sampled_from([0, 5]),
        "miss_names": st.sampled_from([0, 3, None]),
        "browse_names": st.sampled_from([0, 3, None]),
        "ties": st.sampled_from(["name", "registration"]),
        "hnsw_from": st.sampled_from([1, None]),
    },
)
PROBES = ("renew a loan", "find", "zq16-send-invoice", "", "xyzzy")


class Catalogs(RuleBasedStateMachine):
    """One ``ToolSearch`` and a dictionary of what is registered in it."""

    embedder = HashingEmbedder(64)

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="toolsearch-test-"))

    def teardown(self):
        shutil.rmtree(self.folder)

    @initialize(config=configs, there=st.dictionaries(tools, versions, max_size=12))
    def begin(self, config, there):
        self.options = {"embedder": self.embedder, "config": SearchConfig(**config), "cache": False}
        self.there = dict(there)
        self.search = ToolSearch([definition(*row) for row in there.items()], **self.options)
        self.generation, self.saved = 0, None

    @property
    def config(self):
        return self.options["config"]

    @rule(
        query=needs,
        limit=st.none() | st.integers(-1, 30),
        hidden=st.sets(tools, max_size=10),
        all_=st.booleans(),
    )
    def a_caller_searches(self, query, limit, hidden, all_):
        seen = {tool: self.there[tool] for tool in self.there if all_ or tool not in hidden}
        visible = None if all_ else [WIRE[tool] for tool in seen]
        result = self.search.search(query, limit=limit, visible=visible)
        said = [query, result.query]
        assert not leaks(result.as_dict(), seen, said)
        assert (result.total, result.generation, result.degraded) == (len(seen), self.generation, None)
        cap = self.config.default_limit if limit is None else min(max(limit, 1), self.config.max_limit)
        assert len(result.tools) <= cap
        assert len(result.hints) <= self.config.hints
        found = [hit.name for hit in (*result.tools, *result.hints)]
        assert len(found) == len(set(found))
        assert (result.outcome == "matched") == bool(result.tools)
        bearers = {WIRE[tool] for tool in seen if tool[1] == query}
        if bearers and self.config.ranker != "regex":
            first = {hit.name for hit in result.tools[: len(bearers)]}
            assert first <= bearers
            assert len(first) == min(len(bearers), cap)
        for hit in result.tools:
            assert (
                hit.tool.description == definition(hit.tool.identity, seen[hit.tool.identity])["description"]
            )

    @rule(names=st.lists(tools, min_size=1, max_size=6, unique=True), hidden=st.sets(tools, max_size=10))
    def tools_are_asked_for_by_name(self, names, hidden):
        seen = {tool: self.there[tool] for tool in self.there if tool not in hidden}
        wanted = [WIRE[tool] for tool in names]
        result = self.search.search(names=wanted, visible=[WIRE[tool] for tool in seen])
        assert not leaks(result.as_dict(), seen, wanted)
        known = [WIRE[tool] for tool in names if tool in seen]
        assert [hit.name for hit in result.tools if hit.name in wanted] == known
        for tool in names:
            if tool not in self.there:
                continue
            explained = self.search.explain("renew", WIRE[tool], visible=[WIRE[each] for each in seen])
            heir = meant(tool, seen)
            assert explained.name == WIRE[heir or tool]
            assert (explained.verdict == "not visible") == (heir is None)

    @rule(space=st.sampled_from(SPACES), fresh=st.dictionaries(tools, versions, max_size=8))
    def a_server_changes_its_tools(self, space, fresh):
        new = {tool: version for tool, version in fresh.items() if tool[0] == space}
        report = self.search.replace(space, [definition(*row) for row in new.items()])
        self.there = {tool: version for tool, version in self.there.items() if tool[0] != space} | new
        self.generation += 1
        assert [entry.status for entry in report.entries] == ["ok"] * len(self.there)

    @rule(
        space=st.sampled_from(SPACES), wrong=st.sampled_from([5, None, [{"description": "nameless"}], "text"])
    )
    def a_replacement_is_refused(self, space, wrong):
        before = self.search.catalog
        with pytest.raises(CatalogError):
            self.search.replace(space, wrong, strict=True)
        assert self.search.catalog is before

    @rule()
    def the_search_is_saved(self):
        self.search.save(self.folder)
        self.saved = dict(self.there), self.answers()

    @precondition(lambda self: self.saved)
    @rule(current=st.booleans())
    def it_is_loaded(self, current):
        """What was saved comes back; with the present tools, whatever was saved of them is used."""
        if current:
            given = [definition(*row) for row in self.there.items()]
            self.search = ToolSearch.load(self.folder, given, **self.options)
        else:
            self.there, answers = dict(self.saved[0]), self.saved[1]
            self.search = ToolSearch.load(self.folder, **self.options)
            assert self.answers() == answers
        self.generation = 0

    @rule()
    def an_equal_search_answers_alike(self):
        """What a search has been through shows in no answer."""
        order = [tool.identity for tool in self.search.catalog]
        fresh = ToolSearch([definition(tool, self.there[tool]) for tool in order], **self.options)
        assert self.answers(fresh) == self.answers()

    @invariant()
    def the_catalog_is_what_was_registered(self):
        catalog = self.search.catalog
        assert {tool.identity for tool in catalog} == set(self.there)
        stats = self.search.stats()
        assert (stats.generation, stats.registered) == (self.generation, len(self.there))
        assert stats.indexed in (0, len(self.there))
        for tool in POOL[::7]:
            if tool in self.there:
                assert catalog[WIRE[tool]].identity == tool
            elif not any(each[1] == WIRE[tool] for each in self.there):
                with pytest.raises(UnknownToolError):
                    catalog.position(WIRE[tool])

    def answers(self, search=None):
        search = search or self.search
        plain = [search.search(query).as_dict() for query in PROBES]
        for hit in (hit for answer in plain for kind in ("tools", "hints") for hit in answer.get(kind, ())):
            hit["score"] = round(hit["score"], 4)  # the last digits depend on what was embedded together
        return [{key: value for key, value in answer.items() if key != "generation"} for answer in plain]


TestCatalogs = Catalogs.TestCase
TestCatalogs.settings = run_settings(examples=20, steps=15)


def test_catalogs_live_with_the_shipped_model_too(model):
    class WithTheModel(Catalogs):
        embedder = model

    without_shrinking = [Phase.explicit, Phase.generate]  # which would embed thousands of texts
    run_state_machine_as_test(
        WithTheModel,
        settings=settings(
            max_examples=3, stateful_step_count=12, derandomize=True, database=None, phases=without_shrinking
        ),
    )
