"""``ToolSearch`` as a library: choosing its parts, wrong arguments, the same answers everywhere, its counts."""

from __future__ import annotations

import itertools
import json
import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from library_tools import LIB, RANKERS, TWO_SERVERS, hashed, lexical, names, shown, t
from semantic_toolsearch import Catalog, EmbeddingCache, Ranking, SearchConfig, SearchResult, ToolSearch
from semantic_toolsearch.errors import CatalogError, ConfigError, RankerError, UnknownToolError
from semantic_toolsearch.rankers.keyword import KeywordRanker
from semantic_toolsearch.testing import HashingEmbedder


def test_s16_it_works_without_any_conversation(model):
    result = ToolSearch(LIB, embedder=model).search("keep a book longer")
    assert isinstance(result, SearchResult)
    assert result.outcome == "matched"
    found = {hit.name: hit.tool for hit in result.tools}
    assert found["renewLoan"].description == "Extend the time a reader keeps a book"


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
    assert names(ToolSearch(LIB, embedder="small", ranker="bm25").search("fees")) == ["fee-report"]


class NoRanker:
    pass


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ranker": object()}, "rank"),
        ({"ranker": NoRanker()}, "NoRanker"),
        ({"ranker": NoRanker}, "NoRanker"),
        ({"ranker": 5}, "int"),
        ({"embedder": "no-such-model"}, "toolsearch-small"),
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
    tools = [t(f"job_{n}", f"Start job {n}") for n in range(150)]
    search = hashed(tools, embedder=embedder).prepare(lambda done, total: steps.append((done, total)))
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
