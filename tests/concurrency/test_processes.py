"""Pools of processes that search: spawned ones with a search each, forked ones with a copy of their parent's."""

from __future__ import annotations

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor

import pytest

from library_tools import t
from semantic_toolsearch import ToolSearch

TOOLS = [t(f"job_{n}", f"Start job number {n} of group {n % 9}") for n in range(60)] + [
    t("renewLoan", "Extend the time a reader keeps a book")
]
QUERIES = ("keep my book a little longer", "renewLoan", "job number 7", "")

_search = None


def start(folder):
    """Once in each process of the pool."""
    global _search
    _search = ToolSearch.load(folder, embedder="nano", cache=False)


def found(query):
    return _search.search(query).as_dict()


def start_empty():
    """Each process builds its own, and all of them share the embedding cache on disk."""
    global _search
    _search = ToolSearch(TOOLS, embedder="nano")


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "index"
    search = ToolSearch(TOOLS, embedder="nano", cache=False)
    search.save(folder)
    return folder, [search.search(query).as_dict() for query in QUERIES]


@pytest.mark.parametrize("built", [True, False], ids=["loaded", "built"])
def test_x22_spawned_processes_give_the_answers_of_one(alone, built):
    folder, expected = alone
    begin = {"initializer": start, "initargs": (folder,)} if built else {"initializer": start_empty}
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"), **begin) as pool:
        assert list(pool.map(found, QUERIES * 4, timeout=120)) == expected * 4


@pytest.mark.skipif(
    sys.platform != "linux", reason="forking a process that has used threads is for Linux alone"
)
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_x22_a_forked_process_searches_on_with_what_its_parent_had_built(alone):
    folder, expected = alone
    start(folder)
    assert [found(query) for query in QUERIES] == expected
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        assert list(pool.map(found, QUERIES * 4, timeout=120)) == expected * 4
    assert [found(query) for query in QUERIES] == expected
