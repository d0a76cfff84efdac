"""Failures of other tool searches, from public reports: the embedding model fails, or works twice (BC-54, BC-55)."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys

import numpy as np
import pytest
from case_tools import raw_names, t

from semantic_toolsearch import OpenAICompatibleEmbedder, ToolSearch
from semantic_toolsearch.testing import HashingEmbedder

# --- BC-54: the embedding back end fails ---

FLUX = [t("flux_list", "List deployments"), t("lamp_set", "Set a lamp")]
HARBOUR = [t("満潮.照会", "満潮の時刻を調べる"), t("係留.予約", "係留場所を予約する"), t("船", "船の一覧")]
DEPOT = [
    t("Отгрузить", "Отгрузить товар", server="склад"),
    *(t(f"Полка{i}", f"Полка {i}") for i in range(40)),
]
FAILING = {
    "reported": (FLUX, ["list deployments", "set the lamp", "deployments"]),
    "japanese dotted": (HARBOUR, ["満潮の時刻", "係留を予約したい", "満潮"]),
    "cyrillic on a server, 13": (DEPOT, ["отгрузить товар", "товары", "полка 7"]),
}


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
@pytest.mark.parametrize(("tools", "queries"), FAILING.values(), ids=list(FAILING))
def test_bc54_s19_a_failed_model_leaves_the_hits_of_bm25(tools, queries, fault, where, dense_ranker, caplog):
    """Kind: engine. The words' hits with the words' scores, marked as degraded, and one warning."""
    lexical = ToolSearch(tools, ranker="bm25", cache=False)
    search = ToolSearch(tools, ranker=dense_ranker, embedder=Faulty(fault, where), cache=False)
    for query in queries:
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
    """Kind: engine. The model that is back is used at once, with what it had not embedded."""
    embedder = Faulty(fault, where)
    search = ToolSearch(FLUX, ranker=dense_ranker, embedder=embedder, cache=False)
    assert search.search("list deployments").degraded
    embedder.failing = False
    result = search.search("list deployments")
    assert result.degraded is None
    assert raw_names(result.tools)[:1] == ["flux_list"]
    assert search.stats().indexed == 2


def test_bc54_a_dead_model_is_not_asked_by_every_search(where, dense_ranker):
    """Kind: engine. The attempts are bounded, so that no search pays for a model that stays away."""
    embedder = Faulty("raises", where)
    search = ToolSearch(FLUX, ranker=dense_ranker, embedder=embedder, cache=False)
    for number in range(30):
        assert search.search(f"list deployments {number}").degraded
    assert embedder.asked <= 4  # three attempts, and the documents where only queries fail


def test_bc54_names_browse_and_explain_work_without_the_model(where, dense_ranker):
    """Kind: engine. What needs no meaning needs no model."""
    search = ToolSearch(FLUX, ranker=dense_ranker, embedder=Faulty("times out", where), cache=False)
    for query in ("flux_list", "`FluxList`", "please call lamp_set()"):
        first = search.search(query)
        assert first.tools[0].named
        assert first.degraded
    assert raw_names(search.search(names=["lamp_set", "flux_list"]).tools) == ["lamp_set", "flux_list"]
    assert search.search("").names == ("flux_list", "lamp_set")
    assert search.explain("list deployments", "flux_list").verdict == "returned"


def test_bc54_what_no_word_finds_is_a_miss_that_says_it_is_degraded(where, dense_ranker):
    """Kind: engine. A miss by words alone is told as such."""
    search = ToolSearch(FLUX, ranker=dense_ranker, embedder=Faulty("NaN", where), cache=False)
    result = search.search("bake bread")
    assert result.outcome == "no_match"
    assert result.degraded
    assert result.names == ("flux_list", "lamp_set")


def test_bc54_prepare_does_not_fail_with_the_model_and_save_does():
    """Kind: engine. Nothing incomplete is written, and nothing that can go on stops."""
    from semantic_toolsearch.errors import EmbedderError

    embedder = Faulty("raises", "document")
    search = ToolSearch(FLUX, embedder=embedder, cache=False).prepare()
    assert search.stats().indexed == 0
    with pytest.raises(EmbedderError, match=r"cannot be saved.*CUDA out of memory"):
        search.save("nowhere")
    assert not os.path.exists("nowhere")


def test_bc54_a_hanging_endpoint_is_bounded_by_the_embedders_own_timeout():
    """Kind: engine. A server that accepts and never answers: the search comes back with what the words give."""
    pytest.importorskip("openai")
    with socket.create_server(("127.0.0.1", 0)) as server:
        embedder = OpenAICompatibleEmbedder(
            f"http://127.0.0.1:{server.getsockname()[1]}/v1", "m", dimension=8, timeout=0.2, max_retries=0
        )
        result = ToolSearch(FLUX, embedder=embedder, cache=False).search("list deployments")
    assert raw_names(result.tools) == ["flux_list"]
    assert "Timeout" in result.degraded


def test_bc54_kind_an_endpoint_that_is_away_costs_meaning_only_and_comes_back_with_it():
    """Kind: engine. Nothing listens at the address yet, not even for the question how long vectors are."""
    pytest.importorskip("openai")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    embedder = OpenAICompatibleEmbedder(f"http://127.0.0.1:{port}/v1", "m", timeout=2, max_retries=0)
    result = ToolSearch(FLUX, embedder=embedder, cache=False).search("list deployments")
    assert raw_names(result.tools) == ["flux_list"]
    assert "Connection" in result.degraded


def test_bc54_kind_a_damaged_model_folder_costs_meaning_only(tmp_path, model):
    """Kind: engine. The local model's own file was truncated by a full disk."""
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


def stations(count, changed=()):
    return [
        t(f"駅.{n}", f"{n}番線の時刻を調べる" + ("。新しい説明" if n in changed else ""))
        for n in range(count)
    ]


def shelves(count, changed=()):
    return [
        t(f"Полка{n}", f"Состояние полки {n}" + (", новое" if n in changed else ""), server=f"склад-{n % 7}")
        for n in range(count)
    ]


EMBEDDED = {
    "reported": (numbered, SIZE, "start job 7"),
    "japanese dotted": (stations, 90, "7番線の時刻"),
    "cyrillic servers": (shelves, 120, "состояние полки"),
}
embedded = pytest.mark.parametrize(("made", "size", "query"), EMBEDDED.values(), ids=list(EMBEDDED))


def asked(search, embedder, query):
    """Embed what the tools need, ask one query; the number of documents and queries embedded."""
    before = embedder.documents, embedder.queries
    result = search.search(query)
    assert result.degraded is None
    return embedder.documents - before[0], embedder.queries - before[1]


@embedded
def test_bc55_s21_texts_are_embedded_once_in_batches_and_sessions_add_none(made, size, query, tmp_path):
    """Kind: engine. A query adds one, a further session nothing else."""
    cache = tmp_path / "cache.sqlite3"
    embedder = HashingEmbedder()
    search = ToolSearch(made(size), embedder=embedder, cache=cache)
    assert asked(search, embedder, query) == (size, 1)
    assert embedder.calls <= size / 50 + 2  # one of them for the query
    assert (search.stats().embedded, search.stats().from_cache) == (size, 0)
    for _ in range(SESSIONS if size == SIZE else 3):
        embedder = HashingEmbedder()
        session = ToolSearch(made(size), embedder=embedder, cache=cache)
        assert asked(session, embedder, query) == (0, 1)
        assert (session.stats().embedded, session.stats().from_cache) == (0, size)


@embedded
def test_bc55_s21_only_what_changed_is_embedded_whatever_the_order(made, size, query, tmp_path):
    """Kind: engine. One changed tool adds one; another order and repeats of the same texts add none."""
    cache = tmp_path / "cache.sqlite3"
    ToolSearch(made(size), embedder=HashingEmbedder(), cache=cache).prepare()
    embedder = HashingEmbedder()
    changed = ToolSearch(made(size, changed={23}), embedder=embedder, cache=cache)
    assert asked(changed, embedder, query) == (1, 1)
    tools = made(size)
    embedder = HashingEmbedder()
    shuffled = ToolSearch(tools[::2] + tools[::-2] + tools[:10], embedder=embedder, cache=cache)
    assert asked(shuffled, embedder, query) == (0, 1)


@pytest.mark.parametrize("cache", [None, False], ids=["disk", "memory"])
def test_bc55_x13_replace_embeds_only_what_changed(cache):
    """Kind: engine. A server's new list is compared text by text, before the swap."""
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
    """Kind: engine. Vectors of one model are no vectors of another."""
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
    """Kind: engine. A new process finds what the last one embedded."""
    runs = [
        subprocess.run(
            [sys.executable, "-c", CHILD], capture_output=True, text=True, check=True
        ).stdout.split(maxsplit=2)
        for _ in range(2)
    ]
    assert [run[:2] for run in runs] == [["500", "1"], ["0", "1"]]
    assert runs[0][2] == runs[1][2]
