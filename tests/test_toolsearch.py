"""``ToolSearch`` as a library: choosing parts, what models may send, what programmers may not, live catalogs."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_toolsearch import Catalog, EmbeddingCache, Ranking, SearchConfig, SearchResult, ToolSearch
from semantic_toolsearch.errors import CatalogError, ConfigError, RankerError, UnknownToolError
from semantic_toolsearch.rankers.keyword import KeywordRanker
from semantic_toolsearch.search_input import MAX_QUERIES
from semantic_toolsearch.testing import HashingEmbedder


def t(name, description="", server=None, **properties):
    return {
        "name": name,
        "description": description,
        "parameters": {"type": "object", "properties": properties},
        "namespace": server,
    }


LIB = [
    t(
        "renewLoan",
        "Extend the time a reader keeps a book",
        readerCard={"type": "string", "description": "number printed on the plastic"},
        extraDays={"type": "integer"},
    ),
    t("reserve_title", "Hold a book that is out"),
    t("fee-report", "Unpaid fees by branch"),
    t("find_reader", "Look up a reader"),
]
RANKERS = ("hybrid", "semantic", "bm25", "keyword", "regex")


def lexical(tools=LIB, **options):
    return ToolSearch(tools, **{"ranker": "bm25", "cache": False, **options})


def hashed(tools=LIB, **options):
    return ToolSearch(tools, **{"embedder": HashingEmbedder(), "cache": False, **options})


def names(result):
    return [hit.name for hit in result.tools]


def shown(result):
    return [hit.name for hit in (*result.tools, *result.hints)]


# --- S-07, S-12, S-13, S-16, S-18: the parts ---


def test_s16_it_works_without_any_conversation(model):
    result = ToolSearch(LIB, embedder=model).search("keep a book longer")
    assert isinstance(result, SearchResult)
    assert result.outcome == "matched"
    assert result.tools[0].name == "renewLoan"
    assert result.tools[0].tool.description == "Extend the time a reader keeps a book"


@pytest.mark.parametrize("name", RANKERS)
def test_s07_a_ranker_is_chosen_by_name_in_code_or_config(name):
    by_argument = hashed(ranker=name)
    by_config = hashed(config=SearchConfig(ranker=name))
    by_json = hashed(config=SearchConfig(**json.loads(json.dumps({"ranker": name}))))
    for search in (by_argument, by_config, by_json):
        assert search.ranker.name == name
        assert search.config.ranker == name
        assert search.search("find_reader").tools[0].name == "find_reader"


def test_s07_the_argument_wins_over_the_config():
    assert hashed(ranker="bm25", config=SearchConfig(ranker="keyword")).ranker.name == "bm25"


@pytest.mark.parametrize("name", ["", "BM25", "faiss", "hybrid "])
def test_s07_an_unknown_ranker_is_refused_at_once_with_the_known_ones(name):
    with pytest.raises(ConfigError) as refused:
        hashed(ranker=name)
    for known in RANKERS:
        assert known in str(refused.value)


def test_s12_hybrid_is_the_default_and_explain_shows_both_arms(model):
    search = ToolSearch(LIB, embedder=model)
    assert search.ranker.name == "hybrid"
    arms = search.explain("keep a book longer", "renewLoan").arms
    assert 0 < arms["cosine"] <= 1
    assert 0 < arms["bm25"] <= 1
    assert set(ToolSearch(LIB, ranker="semantic", embedder=model).explain("a book", "renewLoan").arms) == {
        "cosine"
    }


class Backwards:
    """Ranks the last registered first."""

    def __init__(self, catalog):
        self.size = len(catalog)

    def rank(self, query, *, limit, visible=None):
        positions = np.arange(self.size)[::-1][:limit]
        return Ranking(positions, np.linspace(1.0, 0.6, len(positions), dtype=np.float32))


def test_s13_a_custom_ranker_is_an_object():
    search = hashed(ranker=Backwards(LIB))
    assert names(search.search("anything")) == ["find_reader", "fee-report", "reserve_title", "renewLoan"]
    assert isinstance(search.ranker, Backwards)


@pytest.mark.parametrize(
    "factory",
    [Backwards, lambda catalog: Backwards(catalog), KeywordRanker],
    ids=["class", "function", "ours"],
)
def test_s13_a_factory_makes_the_ranker_of_every_catalog(factory):
    search = hashed(ranker=factory, config=SearchConfig(band=0))
    assert "find_reader" in names(search.search("reader"))
    search.replace("garage", [t("car_wash", "Wash a reader of plates"), t("oil", "Change the reader's oil")])
    assert {"garage__car_wash", "garage__oil"} <= set(names(search.search("reader", limit=6)))


def test_s13_the_rules_hold_for_a_custom_ranker_that_leaks():
    """The ranker above never looks at ``visible``; nothing hidden comes out all the same."""
    search = hashed(ranker=Backwards)
    assert names(search.search("anything", visible={"fee-report"})) == ["fee-report"]
    assert len(search.search("anything", limit=2).tools) == 2
    assert search.search("`renewLoan`").tools[0].name == "renewLoan"


@pytest.mark.parametrize(
    ("positions", "scores"),
    [([0, 99], [1, 1]), ([0], [1, 1]), ([0, 1], [1, np.nan]), ([0, 1], [1, 7]), (["a"], [1])],
)
def test_s13_a_custom_ranker_that_breaks_its_contract_is_named(positions, scores):
    class Broken:
        def rank(self, query, *, limit, visible=None):
            return Ranking(np.array(positions), np.array(scores, dtype=np.float32))

    with pytest.raises(RankerError, match="Broken"):
        hashed(ranker=Broken()).search("anything")


def test_s18_another_embedder_is_one_argument():
    embedder = HashingEmbedder(32)
    search = hashed(embedder=embedder)
    assert shown(search.search("Look up a reader"))[0] == "find_reader"
    assert (embedder.documents, embedder.queries) == (len(LIB), 1)
    assert names(ToolSearch(LIB, embedder="minilm-l6", ranker="bm25").search("fees")) == ["fee-report"]


# --- what programmers send wrong raises at once ---


class NoRanker:
    pass


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ranker": object()}, "rank"),
        ({"ranker": NoRanker()}, "NoRanker"),
        ({"ranker": NoRanker}, "NoRanker"),
        ({"ranker": 5}, "int"),
        ({"embedder": "no-such-model"}, "minilm-l6"),
        ({"embedder": object()}, "encode_document"),
        ({"config": {"band": 0.4}}, "SearchConfig"),
        ({"config": "everruns"}, "SearchConfig"),
        ({"cache": 7}, "cache"),
        ({"cache": ["a"]}, "cache"),
    ],
)
def test_wrong_arguments_are_refused_at_once(options, message):
    with pytest.raises(ConfigError, match=message):
        ToolSearch(LIB, **options)


def test_a_factory_that_makes_no_ranker_is_refused():
    with pytest.raises(ConfigError, match="NoRanker"):
        hashed(ranker=lambda catalog: NoRanker()).search("anything")


@pytest.mark.parametrize("tools", [None, 5, "renewLoan", b"x", LIB[0], object()])
def test_no_collection_of_tools_is_refused_at_once(tools):
    with pytest.raises(CatalogError):
        ToolSearch(tools, cache=False)


def test_wrong_settings_are_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match="default_limit"):
        SearchConfig(limit=3)
    with pytest.raises(ConfigError):
        SearchConfig(band=2)


def test_strict_raises_where_tolerance_reports():
    broken = [*LIB, {"description": "nameless"}]
    assert len(lexical(broken).report.quarantined) == 1
    with pytest.raises(CatalogError):
        lexical(broken, strict=True)


def test_explain_of_an_unknown_tool_names_the_nearest():
    with pytest.raises(UnknownToolError, match="find_reader"):
        lexical().explain("anything", "find_readers")


@pytest.mark.parametrize("cache", [None, True, False, "file", "object"])
def test_the_cache_may_be_given_in_any_way(cache, tmp_path, monkeypatch):
    home = tmp_path / "home"
    monkeypatch.setenv("TOOLSEARCH_CACHE_DIR", str(home))
    own = tmp_path / "own.sqlite3"
    given_cache = {"file": own, "object": EmbeddingCache(own)}.get(cache, cache)
    ToolSearch(LIB, embedder=HashingEmbedder(), cache=given_cache).prepare()
    assert home.exists() == (cache in (None, True))
    assert own.exists() == (cache in ("file", "object"))


# --- what a model may send is never an exception ---

ODD = [
    None, "", "   ", "*", "...", 5, 0, -1.5, True, {}, {"query": "reader"}, [], ["reader", "fees"], ["", None],
    [["reader"]], [{"a": 1}], "a" * 200_000, "\x00", "\ud83d", "😀", "(", "a{99999}", "SELECT * FROM tools",
    float("nan"), 10**5000, b"bytes", ("x",), {"reader", "fees"},
]  # fmt: skip


def deep(levels):
    value = {}
    for _ in range(levels):
        value = {"a": [value]}
    return value


@pytest.mark.parametrize("ranker", RANKERS)
@pytest.mark.parametrize("odd", [*ODD, deep(5_000)], ids=lambda odd: f"{type(odd).__name__}")
def test_x21_any_query_becomes_a_result(ranker, odd):
    search = hashed(ranker=ranker)
    for result in (
        search.search(odd),
        search.search("reader", queries=odd),
        search.search("reader", names=odd),
        search.search(names=odd, limit=odd),
        search.search("reader", limit=odd),
    ):
        assert result.outcome in ("matched", "no_match", "browse")
        json.dumps(result.as_dict())


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=150)
@given(query=anything, queries=anything, wanted=anything, limit=anything)
def test_x21_any_json_in_any_argument_becomes_a_result(query, queries, wanted, limit):
    search = _SHARED
    result = search.search(query, queries=queries, names=wanted, limit=limit)
    assert result.outcome in ("matched", "no_match", "browse")
    assert len(result.tools) <= 20 + len(LIB)
    json.dumps(result.as_dict())


_SHARED = lexical()


def test_x12_queries_and_names_may_be_single_texts():
    search = lexical()
    assert names(search.search(queries="unpaid fees")) == ["fee-report"]
    assert names(search.search(names="find_reader")) == ["find_reader"]
    assert search.search(["unpaid fees", "look up"]).query == "unpaid fees | look up"


def test_x12_names_first_then_what_the_queries_find_besides():
    result = lexical().search(
        "unpaid fees", queries=["reader"], names=["reserve_title", "fee-report", "tool_zz"]
    )
    assert names(result)[:2] == ["reserve_title", "fee-report"]
    assert len(set(names(result))) == len(names(result))
    assert "find_reader" in names(result)
    assert [unknown.name for unknown in result.unknown] == ["tool_zz"]


def test_x12_an_unknown_name_and_a_query_without_answer_are_one_miss():
    result = lexical().search("quux", names=["tool_zz"])
    assert (result.outcome, result.tools) == ("no_match", ())
    assert len(result.names) == len(LIB)
    assert result.unknown[0].name == "tool_zz"


def test_x12_a_name_of_several_tools_gives_all_of_them_and_a_note():
    for extra in ({}, {"query": "tell the time"}):
        result = lexical(TWO_SERVERS).search(names=["search"], **extra)
        assert set(names(result)[:2]) == {"wiki__search", "desk__search"}
        assert any("2 tools" in note for note in result.notes)


def test_x12_repeated_queries_are_asked_once():
    embedder = HashingEmbedder()
    hashed(embedder=embedder).search("reader", queries=["reader"] * 10)
    assert embedder.queries == 1


def test_x12_too_many_queries_are_cut_and_the_model_is_told():
    tools = [t(f"task_{n}", f"Unique{n}word") for n in range(30)]
    result = lexical(tools).search(queries=[f"unique{n}word" for n in range(30)])
    assert len(result.tools) == MAX_QUERIES
    assert any(f"first {MAX_QUERIES} of 30" in note for note in result.notes)


# --- S-20: the same answer everywhere ---

QUERIES = ["keep a book longer", "unpaid", "reader", "book", "hold"]


def test_s20_any_registration_order_gives_the_same_names(model):
    expected = None
    for order in itertools.islice(itertools.permutations(LIB), 0, 24, 5):
        search = ToolSearch(list(order), embedder=model)
        got = [(shown(result), [hit.score for hit in result.tools]) for result in map(search.search, QUERIES)]
        expected = expected or got
        assert [found for found, _ in got] == [found for found, _ in expected]
        for (_, scores), (_, wanted) in zip(got, expected, strict=True):
            np.testing.assert_allclose(scores, wanted, atol=1e-5)


CHILD = f"""
from semantic_toolsearch import ToolSearch
search = ToolSearch({LIB!r})
print([[hit.name for hit in (*r.tools, *r.hints)] for r in map(search.search, {QUERIES!r})])
"""


def test_s20_any_process_and_number_of_threads_gives_the_same_names(model, monkeypatch):
    search = ToolSearch(LIB, embedder=model)
    expected = str([shown(search.search(query)) for query in QUERIES])
    for seed, threads in (("1", "1"), ("77", "2")):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        done = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == expected


def test_s20_ties_go_by_name_or_by_registration():
    twins = [t(name, "Do the same thing") for name in ("zebra", "ape", "mole")]
    assert names(lexical(twins).search("same thing")) == ["ape", "mole", "zebra"]
    by_registration = lexical(twins, config=SearchConfig(ties="registration", ranker="bm25"))
    assert names(by_registration.search("same thing")) == ["zebra", "ape", "mole"]


# --- visible ---

TWO_SERVERS = [
    t("search", "Find a page", server="wiki"),
    t("search", "Find a ticket", server="desk"),
    t("edit", "Change a page", server="wiki"),
    t("clock", "Tell the time"),
]


@pytest.mark.parametrize("ranker", RANKERS)
def test_x11_hidden_tools_are_in_no_part_of_any_answer(ranker):
    search = hashed(TWO_SERVERS, ranker=ranker)
    for ask in (
        {"query": "find a ticket"},
        {"query": "desk__search"},
        {"query": "desk.search"},
        {"query": ""},
        {"query": "nothing like it"},
        {"names": ["desk__search", "search"]},
    ):
        result = search.search(**ask, visible={"wiki__search", "clock"})
        told = json.dumps({**result.as_dict(), "query": "", "unknown": [u.nearest for u in result.unknown]})
        assert "desk" not in told
        assert "edit" not in told
        assert result.total == 2
    why = search.explain("find a ticket", "desk__search", visible={"clock"})
    assert why.verdict == "not visible"
    assert why.score == 0


@pytest.mark.parametrize("nothing", [set(), [], (), {}, iter(()), {"no_such_tool"}, lambda tool: False])
@pytest.mark.parametrize("ranker", ["hybrid", "bm25"])
def test_x11_an_empty_set_means_nothing_at_all(ranker, nothing):
    if hasattr(nothing, "__next__"):
        nothing = iter(())
    result = hashed(TWO_SERVERS, ranker=ranker).search("find a page", visible=nothing)
    assert (result.outcome, result.tools, result.hints, result.names) == ("no_match", (), (), ())
    assert (result.total, result.namespaces) == (0, ())


def test_x11_visible_takes_wire_names_raw_names_and_qualified_names():
    search = lexical(TWO_SERVERS)
    for spelled in ("wiki__search", "wiki.search", "wiki/search"):
        assert search.search("", visible=[spelled]).names == ("wiki__search",)
    assert search.search("", visible=["edit", "clock"]).names == ("clock", "wiki__edit")


def test_x11_visible_takes_a_function_of_the_definition():
    result = lexical(TWO_SERVERS).search("", visible=lambda tool: tool.namespace == "wiki")
    assert result.names == ("wiki__edit", "wiki__search")
    assert result.namespaces == (("wiki", 2),)


def test_x11_a_name_of_several_tools_allows_none_and_says_so(caplog):
    result = lexical(TWO_SERVERS).search("", visible={"search"})
    assert result.names == ()
    assert [record.levelname for record in caplog.records if record.name == "semantic_toolsearch"] == [
        "WARNING"
    ]
    assert "wiki__search" in caplog.text
    assert "desk__search" in caplog.text


def test_x11_spellings_that_models_use_are_no_permission():
    """A permission is literal: what finds a tool for a model must not open it to a caller."""
    for spelling in ("Clock", "CLOCK", " clock", "wiki__Search"):
        assert lexical(TWO_SERVERS).search("", visible={spelling}).total == 0


@pytest.mark.parametrize(
    "wrong", ["clock", b"clock", 5, True, [5], [None], np.array([True, False, True, True])]
)
def test_x11_what_is_no_collection_of_names_is_refused(wrong):
    search = lexical(TWO_SERVERS)
    with pytest.raises(ConfigError, match="visible"):
        search.search("anything", visible=wrong)
    with pytest.raises(ConfigError, match="visible"):
        search.explain("anything", "clock", visible=wrong)


# --- live catalogs ---


def test_x13_generations_count_and_reports_come_back():
    search = hashed(TWO_SERVERS)
    assert search.search("page").generation == search.stats().generation == 0
    report = search.replace("desk", [t("close", "Close a ticket"), {"description": "nameless"}])
    assert len(report.quarantined) == 1
    assert report is search.report
    assert search.search("page").generation == search.stats().generation == 1
    stats = search.stats()
    assert (stats.registered, stats.indexed, stats.quarantined) == (4, 4, 1)


def test_x13_the_namespace_none_is_the_tools_without_one():
    search = lexical(TWO_SERVERS)
    search.replace(None, [t("calendar", "Show the days")])
    assert search.search("").names == ("calendar", "desk__search", "wiki__edit", "wiki__search")
    search.replace(None, [])
    assert search.search("").total == 3


def test_x13_before_the_first_search_nothing_is_built():
    embedder = HashingEmbedder()
    search = hashed(TWO_SERVERS, embedder=embedder)
    search.replace("wiki", [t("purge", "Purge a page")])
    assert embedder.calls == 0
    assert shown(search.search("purge a page"))[0] == "wiki__purge"
    assert embedder.documents == 3


def test_x13_after_it_the_next_generation_is_built_before_it_takes_over():
    embedder = HashingEmbedder()
    search = hashed(TWO_SERVERS, embedder=embedder)
    search.search("page")
    search.replace("wiki", [t("purge", "Purge a page")])
    assert embedder.documents == len(TWO_SERVERS) + 1
    assert (search.stats().embedded, search.stats().from_cache) == (1, 2)


def test_x13_a_refused_replacement_changes_nothing():
    search = hashed(TWO_SERVERS)
    before = search.search("").as_dict()
    for wrong in (5, None, [{"description": "nameless"}]):
        with pytest.raises(CatalogError):
            search.replace("wiki", wrong, strict=True)
    assert search.search("").as_dict() == before


def test_x13_bc54_a_model_that_fails_during_a_replacement_leaves_searches_working():
    class Failing(HashingEmbedder):
        failing = False

        def encode_document(self, texts):
            if self.failing:
                raise OSError("out of reach")
            return super().encode_document(texts)

    embedder = Failing()
    search = hashed(TWO_SERVERS, embedder=embedder)
    search.search("page")
    embedder.failing = True
    search.replace("wiki", [t("purge", "Purge a page")])
    result = search.search("purge a page")
    assert names(result) == ["wiki__purge"]
    assert result.degraded
    assert result.generation == 1
    assert search.stats().indexed == 0
    embedder.failing = False
    assert search.search("purge a page").degraded is None
    assert search.stats().indexed == search.stats().registered == 3
    assert embedder.documents == len(TWO_SERVERS) + 1, "what was known before the failure is still known"


def generation(number):
    """Tools whose words and schema tell which generation they are of."""
    return [
        t(f"alpha_{number}", f"Serve generation {number}", **{f"field_{number}": {"type": "string"}}),
        t("beta", f"Serve generation {number}", **{f"field_{number}": {"type": "string"}}),
    ]


@pytest.mark.parametrize("ranker", ["hybrid", "bm25"])
def test_x13_bc35_a_search_sees_one_generation_from_end_to_end(ranker):
    rounds = 40
    search = hashed({"live": generation(0), "still": [t("rock", "Serve nothing")]}, ranker=ranker)
    search.prepare()
    torn, seen, done = [], set(), threading.Event()

    def read():
        while not done.is_set():
            result = search.search("serve generation", limit=5)
            own = result.generation
            seen.add(own)
            tools = {hit.name: hit.tool for hit in (*result.tools, *result.hints)}
            listed = search.search("")
            fits = (
                set(tools) <= {f"live__alpha_{own}", "live__beta", "still__rock"}
                and "live__beta" in tools
                and tools["live__beta"].description == f"Serve generation {own}"
                and listed.names == (f"live__alpha_{listed.generation}", "live__beta", "still__rock")
                and listed.generation >= own
            )
            if not fits:
                torn.append(result)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for number in range(1, rounds + 1):
        search.replace("live", generation(number))
    while rounds not in seen and any(reader.is_alive() for reader in readers):
        search.search("serve")
    done.set()
    for reader in readers:
        reader.join(60)
    assert torn == []
    assert search.stats().generation == rounds
    assert search.stats().registered == search.stats().indexed == 3


def test_x13_replacements_at_once_lose_nothing():
    search = hashed([], ranker="bm25")
    barrier = threading.Barrier(8)

    def register(number):
        barrier.wait(30)
        for step in range(5):
            search.replace(f"server{number}", [t(f"tool_{step}", "Serve")])

    threads = [threading.Thread(target=register, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert search.search("").names == tuple(f"server{number}__tool_4" for number in range(8))
    assert search.stats().generation == 40


# --- threads and tasks on one object ---

MANY = [t(f"job_{n}", f"Start job number {n} of group {n % 9}") for n in range(150)]


@pytest.mark.parametrize("threads", [2, 16])
@pytest.mark.parametrize("ranker", ["hybrid", "semantic"])
def test_x22_a_first_search_of_many_threads_builds_once(threads, ranker):
    alone = hashed(MANY, ranker=ranker)
    queries = [f"job number {n}" for n in range(threads)]
    expected = [alone.search(query) for query in queries]
    embedder = HashingEmbedder()
    search = hashed(MANY, ranker=ranker, embedder=embedder)
    barrier, outcomes = threading.Barrier(threads), [None] * threads

    def work(place):
        barrier.wait(30)
        outcomes[place] = [search.search(queries[place]) for _ in range(5)]

    workers = [threading.Thread(target=work, args=(place,)) for place in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert outcomes == [[result] * 5 for result in expected]
    assert embedder.documents == len(MANY)
    assert embedder.queries == threads


def test_x22_tasks_share_one_object_through_threads():
    alone = hashed(MANY)
    queries = [f"job number {n}" for n in range(24)]
    expected = [alone.search(query) for query in queries]
    embedder = HashingEmbedder()
    search = hashed(MANY, embedder=embedder)

    async def all_of_them():
        return await asyncio.gather(*(asyncio.to_thread(search.search, query) for query in queries))

    assert asyncio.run(all_of_them()) == expected
    assert embedder.documents == len(MANY)


# --- prepare and stats ---


def test_stats_agree_and_start_with_nothing_built():
    search = hashed([*TWO_SERVERS, {"description": "nameless"}])
    stats = search.stats()
    assert (stats.registered, stats.quarantined, stats.indexed, stats.embedded) == (4, 1, 0, 0)
    assert search.prepare() is search
    stats = search.stats()
    assert (stats.registered, stats.indexed, stats.embedded, stats.from_cache) == (4, 4, 4, 0)


def test_stats_count_equal_texts_once():
    search = hashed({"a": [t("x", "The very same")], "b": [t("y", "Another one")]}).prepare()
    assert search.stats().embedded == 2
    cached = ToolSearch(TWO_SERVERS, embedder=HashingEmbedder())
    assert cached.prepare().stats().embedded == 4
    again = ToolSearch(TWO_SERVERS, embedder=HashingEmbedder()).prepare().stats()
    assert (again.embedded, again.from_cache, again.indexed) == (0, 4, 4)


@pytest.mark.parametrize("ranker", ["bm25", "keyword", "regex", Backwards])
def test_stats_of_rankers_without_vectors_count_every_tool(ranker):
    search = hashed(TWO_SERVERS, ranker=ranker)
    assert search.stats().registered == search.stats().indexed == 4
    assert search.prepare().stats().embedded == 0


def test_prepare_tells_its_progress_and_leaves_nothing_for_the_first_search():
    embedder, steps = HashingEmbedder(), []
    search = hashed(MANY, embedder=embedder).prepare(lambda done, total: steps.append((done, total)))
    assert steps[0] == (0, 150)
    assert steps[-1] == (150, 150)
    search.search("job")
    assert embedder.documents == 150


def test_the_parts_of_the_current_generation_can_be_looked_at():
    catalog = Catalog(TWO_SERVERS)
    search = hashed(catalog)
    assert search.catalog is catalog
    assert search.report is catalog.report
    assert search.config == SearchConfig()


def test_a_broken_cache_file_costs_time_only(tmp_path, caplog):
    path = Path(tmp_path / "cache.sqlite3")
    path.write_bytes(b"this is no database" * 1000)
    caplog.set_level(logging.WARNING)
    result = ToolSearch(LIB, embedder=HashingEmbedder(), cache=path).search("Look up a reader")
    assert result.degraded is None
    assert shown(result)[0] == "find_reader"
    assert "cache" in caplog.text
