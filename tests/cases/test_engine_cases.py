"""Failures of other tool searches, from public reports: the engine (BC-54 to BC-56)."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys

import numpy as np
import pytest
from case_tools import found, raw_names, t

from semantic_toolsearch import OpenAICompatibleEmbedder, SearchConfig, ToolSearch
from semantic_toolsearch.testing import HashingEmbedder

# --- BC-54: the embedding back end fails ---

FLUX = [t("flux_list", "List deployments"), t("lamp_set", "Set a lamp")]


def _raises(matrix):
    raise RuntimeError("CUDA out of memory")


def _times_out(matrix):
    raise TimeoutError("no answer within 30 s")


FAULTS = {
    "raises": _raises,
    "times out": _times_out,
    "NaN": lambda matrix: np.full_like(matrix, np.nan),
    "zeros": np.zeros_like,
    "wrong dimension": lambda matrix: matrix[:, :-1],
    "too few vectors": lambda matrix: matrix[:-1],
    "no matrix": lambda matrix: None,
}


class Faulty(HashingEmbedder):
    """Breaks what it returns for documents or for queries, while it is told to."""

    def __init__(self, fault, where):
        super().__init__()
        self.fault = FAULTS[fault]
        self.where = where
        self.failing = True
        self.asked = 0

    def _broken(self, matrix, where):
        self.asked += 1
        return self.fault(matrix) if self.failing and where == self.where else matrix

    def encode_document(self, texts):
        return self._broken(super().encode_document(texts), "document")

    def encode_query(self, texts):
        return self._broken(super().encode_query(texts), "query")


@pytest.fixture(params=["document", "query"])
def where(request):
    return request.param


@pytest.fixture(params=["hybrid", "semantic"])
def dense_ranker(request):
    return request.param


@pytest.mark.parametrize("fault", FAULTS)
def test_bc54_s19_a_failed_model_leaves_the_hits_of_bm25(fault, where, dense_ranker, caplog):
    lexical = ToolSearch(FLUX, ranker="bm25", cache=False)
    search = ToolSearch(FLUX, ranker=dense_ranker, embedder=Faulty(fault, where), cache=False)
    for query in ("list deployments", "set the lamp", "deployments"):
        result, expected = search.search(query), lexical.search(query)
        assert result.outcome == "matched"
        assert raw_names(result.tools) == raw_names(expected.tools)
        assert [hit.score for hit in result.tools] == [hit.score for hit in expected.tools]
        assert "words alone" in result.degraded
        assert result.as_dict()["degraded"] == result.degraded
        assert expected.degraded is None
    warnings = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warnings) == 1
    assert warnings[0].name == "semantic_toolsearch"


@pytest.mark.parametrize("fault", FAULTS)
def test_bc54_the_next_search_tries_again_and_recovers(fault, where, dense_ranker):
    embedder = Faulty(fault, where)
    search = ToolSearch(FLUX, ranker=dense_ranker, embedder=embedder, cache=False)
    assert search.search("list deployments").degraded
    embedder.failing = False
    result = search.search("list deployments")
    assert result.degraded is None
    assert raw_names(result.tools)[:1] == ["flux_list"]
    assert search.stats().indexed == 2


def test_bc54_a_dead_model_is_not_asked_by_every_search(where, dense_ranker):
    embedder = Faulty("raises", where)
    search = ToolSearch(FLUX, ranker=dense_ranker, embedder=embedder, cache=False)
    for number in range(30):
        assert search.search(f"list deployments {number}").degraded
    assert embedder.asked <= 4  # three attempts, and the documents where only queries fail


def test_bc54_names_browse_and_explain_work_without_the_model(where, dense_ranker):
    search = ToolSearch(FLUX, ranker=dense_ranker, embedder=Faulty("times out", where), cache=False)
    for query in ("flux_list", "`FluxList`", "please call lamp_set()"):
        first = search.search(query)
        assert first.tools[0].named
        assert first.degraded
    assert raw_names(search.search(names=["lamp_set", "flux_list"]).tools) == ["lamp_set", "flux_list"]
    assert search.search("").names == ("flux_list", "lamp_set")
    assert search.explain("list deployments", "flux_list").verdict == "returned"


def test_bc54_what_no_word_finds_is_a_miss_that_says_it_is_degraded(where, dense_ranker):
    search = ToolSearch(FLUX, ranker=dense_ranker, embedder=Faulty("NaN", where), cache=False)
    result = search.search("bake bread")
    assert result.outcome == "no_match"
    assert result.degraded
    assert result.names == ("flux_list", "lamp_set")


def test_bc54_prepare_does_not_fail_with_the_model_and_save_does():
    from semantic_toolsearch.errors import EmbedderError

    embedder = Faulty("raises", "document")
    search = ToolSearch(FLUX, embedder=embedder, cache=False).prepare()
    assert search.stats().indexed == 0
    with pytest.raises(EmbedderError, match=r"cannot be saved.*CUDA out of memory"):
        search.save("nowhere")
    assert not os.path.exists("nowhere")


def test_bc54_a_hanging_endpoint_is_bounded_by_the_embedders_own_timeout():
    """A server that accepts and never answers: the search comes back with what the words give."""
    pytest.importorskip("openai")
    with socket.create_server(("127.0.0.1", 0)) as server:
        embedder = OpenAICompatibleEmbedder(
            f"http://127.0.0.1:{server.getsockname()[1]}/v1", "m", dimension=8, timeout=0.2, max_retries=0
        )
        result = ToolSearch(FLUX, embedder=embedder, cache=False).search("list deployments")
    assert raw_names(result.tools) == ["flux_list"]
    assert "Timeout" in result.degraded


def test_bc54_kind_an_endpoint_that_is_away_costs_meaning_only_and_comes_back_with_it():
    """Of the same kind: nothing listens at the address yet, not even for the question how long vectors are."""
    pytest.importorskip("openai")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    embedder = OpenAICompatibleEmbedder(f"http://127.0.0.1:{port}/v1", "m", timeout=2, max_retries=0)
    result = ToolSearch(FLUX, embedder=embedder, cache=False).search("list deployments")
    assert raw_names(result.tools) == ["flux_list"]
    assert "Connection" in result.degraded


def test_bc54_kind_a_damaged_model_folder_costs_meaning_only(tmp_path, model):
    """Of the same kind: the local model's own file was truncated by a full disk."""
    import shutil

    from semantic_toolsearch import OnnxEmbedder

    folder = tmp_path / "model"
    shutil.copytree(model.folder, folder)
    weights = next(folder.glob("*.onnx"))
    weights.write_bytes(weights.read_bytes()[:1000])
    result = ToolSearch(FLUX, embedder=OnnxEmbedder(folder), cache=False).search("list deployments")
    assert raw_names(result.tools) == ["flux_list"]
    assert result.degraded


# --- BC-55: unchanged tools are embedded again ---

SIZE, SESSIONS = 500, 20


def numbered(count, changed=()):
    return [
        t(
            f"job_{n}",
            f"Start job {n} of department {n % 37}" + (" with a new description" if n in changed else ""),
        )
        for n in range(count)
    ]


def asked(search, embedder, query):
    """Embed what the tools need, ask one query; the number of documents and queries embedded."""
    before = embedder.documents, embedder.queries
    result = search.search(query)
    assert result.degraded is None
    return embedder.documents - before[0], embedder.queries - before[1]


def test_bc55_s21_texts_are_embedded_once_in_batches_and_sessions_add_none(tmp_path):
    cache = tmp_path / "cache.sqlite3"
    embedder = HashingEmbedder()
    search = ToolSearch(numbered(SIZE), embedder=embedder, cache=cache)
    assert asked(search, embedder, "start job 7") == (SIZE, 1)
    assert embedder.calls <= SIZE / 50 + 1
    assert (search.stats().embedded, search.stats().from_cache) == (SIZE, 0)
    for _ in range(SESSIONS):
        embedder = HashingEmbedder()
        session = ToolSearch(numbered(SIZE), embedder=embedder, cache=cache)
        assert asked(session, embedder, "start job 7") == (0, 1)
        assert (session.stats().embedded, session.stats().from_cache) == (0, SIZE)


def test_bc55_s21_one_changed_tool_adds_one(tmp_path):
    cache = tmp_path / "cache.sqlite3"
    ToolSearch(numbered(SIZE), embedder=HashingEmbedder(), cache=cache).prepare()
    embedder = HashingEmbedder()
    changed = ToolSearch(numbered(SIZE, changed={123}), embedder=embedder, cache=cache)
    assert asked(changed, embedder, "start job 7") == (1, 1)


def test_bc55_order_and_repeats_of_the_same_texts_add_none(tmp_path):
    cache = tmp_path / "cache.sqlite3"
    tools = numbered(SIZE)
    ToolSearch(tools, embedder=HashingEmbedder(), cache=cache).prepare()
    tools = tools[::2] + tools[::-2] + tools[:10]
    embedder = HashingEmbedder()
    assert asked(ToolSearch(tools, embedder=embedder, cache=cache), embedder, "job") == (0, 1)


@pytest.mark.parametrize("cache", [None, False], ids=["disk", "memory"])
def test_bc55_x13_replace_embeds_only_what_changed(cache):
    embedder = HashingEmbedder()
    servers = {"a": numbered(100), "b": numbered(60, changed=range(60))}
    search = ToolSearch(servers, embedder=embedder, cache=cache)
    first = asked(search, embedder, "start job 7")
    before = embedder.documents
    search.replace("a", numbered(100, changed={5, 6}))
    assert embedder.documents == before + 2, "embedded before the swap, and nothing else"
    assert asked(search, embedder, "start job 8") == (0, 1)
    assert first[0] == 160
    assert (search.stats().embedded, search.stats().from_cache) == (2, 158)


def test_bc55_another_embedder_shares_nothing_with_the_first(tmp_path):
    cache = tmp_path / "cache.sqlite3"
    ToolSearch(numbered(20), embedder=HashingEmbedder(64), cache=cache).prepare()
    other = HashingEmbedder(128)
    ToolSearch(numbered(20), embedder=other, cache=cache).prepare()
    assert other.documents == 20


CHILD = """
from semantic_toolsearch import ToolSearch
from semantic_toolsearch.testing import HashingEmbedder
embedder = HashingEmbedder()
tools = [{"name": f"job_{n}", "description": f"Start job {n} of department {n % 37}"} for n in range(500)]
search = ToolSearch(tools, embedder=embedder)
result = search.search("start job 7 of department 7")
print(embedder.documents, embedder.queries, [hit.name for hit in result.tools])
"""


def test_bc55_s21_a_restart_with_the_disk_cache_adds_none():
    runs = [
        subprocess.run(
            [sys.executable, "-c", CHILD], capture_output=True, text=True, check=True
        ).stdout.split(maxsplit=2)
        for _ in range(2)
    ]
    assert [run[:2] for run in runs] == [["500", "1"], ["0", "1"]]
    assert runs[0][2] == runs[1][2]


# --- BC-56: a needle in a very large catalogue ---

NEEDLES = [
    t("aurora_forecast", "Chance of northern lights tonight"),
    t("zz_last_tool", "Polish brass instruments"),
]
EXPECT = {"northern lights": "aurora_forecast", "polish brass": "zz_last_tool"}


def haystack(count, places):
    """Fillers with the needles at these places."""
    tools = [t(f"svc{i % 700}_op_{i}", f"Operation {i} of service {i % 700}") for i in range(count)]
    for place, needle in sorted(zip(places, NEEDLES, strict=True), key=lambda pair: pair[0]):
        tools.insert(place, needle)
    return tools


@pytest.fixture(scope="module")
def large():
    """The catalog of 20,000 and two needles, one first and one last, read once."""
    from semantic_toolsearch import Catalog

    return Catalog(haystack(20_000, (0, 20_001)))


@pytest.mark.parametrize("ranker", ["bm25", "keyword"])
def test_bc56_needles_are_found_by_words_among_20000(large, ranker):
    search = ToolSearch(large, ranker=ranker, cache=False)
    for query, needle in EXPECT.items():
        assert raw_names(search.search(query).tools) == [needle]
    assert search.stats().registered == search.stats().indexed == 20_002
    for place in (0, 1, 4095, 4096, 9_999, 16_384, 20_000, 20_001):
        assert search.search(f"`{large[place].name}`").tools[0].position == place


class WordSums(HashingEmbedder):
    """Quick enough for 20,000 texts: a word's vector is looked up, and a text's is the sum of its words'."""

    def __init__(self):
        super().__init__(64)
        self.id = "word-sums"
        self._words = {}

    def _encode(self, texts):
        matrix = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().replace(":", " ").split():
                if word not in self._words:
                    self._words[word] = super()._encode([word])[0]
                matrix[row] += self._words[word]
        return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def test_bc56_needles_are_found_by_vectors_among_20000(large):
    embedder = WordSums()
    search = ToolSearch(large, ranker="semantic", embedder=embedder, cache=False).prepare()
    assert search.stats().registered == search.stats().indexed == 20_002
    for query, needle in EXPECT.items():
        assert found(search, query)[0] == needle
    assert embedder.documents == 20_002


@pytest.mark.parametrize("ranker", ["semantic", "hybrid"])
def test_bc56_needles_are_found_in_a_graph_and_after_loading_it(ranker, tmp_path):
    search = ToolSearch(
        haystack(4_000, (0, 4_001)),
        ranker=ranker,
        embedder=WordSums(),
        cache=False,
        config=SearchConfig(hnsw_from=1_000),
    )
    search.save(tmp_path / "index")
    loaded = ToolSearch.load(tmp_path / "index", ranker=ranker, embedder=WordSums(), cache=False)
    for query, needle in EXPECT.items():
        assert found(search, query)[0] == found(loaded, query)[0] == needle
    assert search.stats().registered == search.stats().indexed == loaded.stats().indexed == 4_002
    assert {each._snapshot.dense.index().kind for each in (search, loaded)} == {"hnsw"}


@pytest.mark.parametrize("places", [(0, 1), (1_000, 300), (0, 2_001), (2_001, 2_000)])
def test_bc56_needles_are_found_wherever_they_stand_by_the_default_ranker(places):
    search = ToolSearch(haystack(2_000, places), embedder=HashingEmbedder(), cache=False)
    for query, needle in EXPECT.items():
        assert found(search, query)[0] == needle


def test_bc56_kind_tools_beyond_any_page_of_a_long_result_are_reached():
    """Of the same kind: hundreds of equally good tools before the one that this caller may see."""
    tools = [t(f"report_{n:03}", "Write the monthly report") for n in range(900)]
    for ranker in ("bm25", "hybrid", "semantic", "keyword"):
        search = ToolSearch(tools, ranker=ranker, embedder=HashingEmbedder(), cache=False)
        for last in ("report_899", "report_450"):
            assert found(search, "monthly report", visible={last}) == [last]
