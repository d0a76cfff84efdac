"""FAISS that cannot be loaded, or that raises while it builds, searches or gives its vectors back."""

from __future__ import annotations

import numpy as np
import pytest

from faulty_parts import DEFERRING, QUERY, TOOLS, answered_in_a_turn, custom, warnings_of
from semantic_toolsearch import ToolSearch
from semantic_toolsearch.errors import EmbedderError, ToolSearchError
from semantic_toolsearch.index import FaissIndex
from semantic_toolsearch.testing import HashingEmbedder

FAULTS = [RuntimeError("Error in faiss: out of range"), MemoryError("std::bad_alloc"), AssertionError()]


def searching(ranker="hybrid", embedder=None, **options):
    embedder = embedder or HashingEmbedder(64)
    spec = custom(embedder) if ranker == "custom" else ranker
    return ToolSearch(TOOLS, ranker=spec, embedder=embedder, cache=False, **options)


@pytest.fixture
def broken(monkeypatch):
    """Lets one method of the index raise; the answer mends it."""

    def let(method, fault):
        def fails(*args, **options):
            raise fault

        original = FaissIndex.__dict__[method]
        monkeypatch.setattr(FaissIndex, method, classmethod(fails) if method == "build" else fails)
        return lambda: monkeypatch.setattr(FaissIndex, method, original)

    return let


@pytest.mark.parametrize("ranker", ["hybrid", "semantic", "custom"])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
@pytest.mark.parametrize("method", ["build", "search"])
def test_words_answer_while_the_index_fails(broken, ranker, fault, method, caplog):
    search = searching(ranker)
    mend = broken(method, fault)
    for number in range(2):
        result = search.search(f"{QUERY} {number}")
        assert [hit.name for hit in result.tools] == ["flux_list"]
        assert "The vector index failed, so words alone decide" in result.degraded
        assert type(fault).__name__ in result.degraded
    (warning,) = warnings_of(caplog)
    assert warning.name == "semantic_toolsearch"
    mend()
    caplog.set_level("INFO", "semantic_toolsearch")
    assert search.search(QUERY).degraded is None
    assert [record.message for record in caplog.records if "index works again" in record.message]


def test_an_index_that_cannot_be_built_embeds_nothing_twice(broken):
    embedder = HashingEmbedder(64)
    search = searching(embedder=embedder)
    mend = broken("build", RuntimeError("no"))
    assert search.search(QUERY).degraded
    assert search.search(QUERY).degraded
    mend()
    assert search.search(QUERY).degraded is None
    assert embedder.documents == len(TOOLS)


@pytest.mark.parametrize("ranker", ["hybrid", "semantic"])
def test_explanations_and_turns_go_on_too(broken, ranker):
    search = searching(ranker, config=DEFERRING)
    mend = broken("scores", RuntimeError("no"))
    broken("search", RuntimeError("no"))
    explanation = search.explain(QUERY, "flux_list")
    assert explanation.verdict == "returned"
    assert explanation.degraded
    assert answered_in_a_turn(search)["degraded"] is True
    mend()


def test_a_replacement_does_without_the_vectors_of_an_index_that_fails(broken):
    embedder = HashingEmbedder(64)
    search = searching(embedder=embedder)
    assert search.search(QUERY).degraded is None
    mend = broken("vectors", MemoryError())
    search.replace("sea", [{"name": "ship_list", "description": "List ships"}])
    mend()
    result = search.search("list ships")
    assert (result.tools[0].name, result.degraded, result.generation) == ("sea__ship_list", None, 1)
    assert embedder.documents == len(TOOLS) + 3


def test_nothing_is_saved_and_the_reason_is_told(broken, tmp_path):
    broken("build", RuntimeError("no"))
    with pytest.raises(EmbedderError, match=r"cannot be saved: The vector index failed.*RuntimeError: no"):
        searching().save(tmp_path / "index")
    assert not (tmp_path / "index").exists()


def test_a_wrong_mask_is_no_failure_of_the_index(caplog):
    """A custom ranker's own mistake is named as its own."""
    from semantic_toolsearch.dense import DenseSearcher, KnownVectors

    searcher = DenseSearcher(lambda: ["a", "b"], HashingEmbedder(64), KnownVectors(None, None))
    with pytest.raises(ValueError, match="bool mask"):
        searcher.search("a", 1, np.array([1, 0]))
    with pytest.raises(IndexError):
        searcher.cosines("a", np.array([7]))
    assert not warnings_of(caplog)


@pytest.mark.parametrize(
    "fault", [ImportError("no module"), OSError("libfaiss.so: cannot open"), SystemError()]
)
def test_what_keeps_faiss_from_loading_is_an_error_of_this_library(monkeypatch, fault):
    def fails(name):
        raise fault

    monkeypatch.setattr("semantic_toolsearch.index.runtime.importlib.import_module", fails)
    with pytest.raises(ToolSearchError, match=r"FAISS cannot be loaded .*pip install .*faiss-cpu"):
        FaissIndex.build(np.eye(2, dtype=np.float32))
