"""An embedder that raises: whatever it raises, wherever it strikes, words answer and the result says so."""

from __future__ import annotations

import asyncio

import pytest

from faulty_parts import (
    DEFERRING,
    QUERY,
    RANKERS,
    TOOLS,
    Broken,
    answered_in_a_turn,
    raising,
    searching,
    warnings_of,
)
from semantic_toolsearch import ToolSearch
from semantic_toolsearch.errors import EmbedderError
from semantic_toolsearch.testing import HashingEmbedder


class Mute(Exception):  # noqa: N818 - named for what it does
    """Not even its text can be had."""

    def __str__(self):
        raise RuntimeError("no text")


FAULTS = {
    "Exception": Exception("x"),
    "MemoryError": MemoryError(),
    "RecursionError": RecursionError("too deep"),
    "StopIteration": StopIteration(),
    "EmbedderError": EmbedderError("refused"),
    "a text that cannot be had": Mute(),
    "a text of a megabyte": ValueError("x" * 1_000_000),
}


@pytest.fixture(params=RANKERS)
def ranker(request):
    return request.param


@pytest.fixture(params=["document", "query"])
def side(request):
    return request.param


def held(result):
    assert [hit.name for hit in result.tools] == ["flux_list"]
    assert "words alone" in result.degraded
    assert len(result.degraded) < 500


@pytest.mark.parametrize("fault", FAULTS)
def test_bc54_any_exception_costs_meaning_alone(side, fault):
    embedder = Broken(raising(FAULTS[fault]), side)
    search = searching("hybrid", embedder)
    held(search.search(QUERY))
    held(search.search(QUERY))
    embedder.failing = False
    assert search.search(QUERY).degraded is None


@pytest.mark.parametrize("fault", ["Exception", "a text that cannot be had"])
def test_bc54_it_is_told_once_whatever_is_asked(ranker, side, fault, caplog):
    embedder = Broken(raising(FAULTS[fault]), side)
    search = searching(ranker, embedder).prepare()
    for _ in range(3):
        held(search.search(QUERY))
    explanation = search.explain(QUERY, "flux_list")
    assert (explanation.verdict, bool(explanation.degraded)) == ("returned", True)
    assert len(warnings_of(caplog)) == 1
    assert embedder.asked == 3


def test_bc54_it_strikes_during_a_replacement(ranker, side, caplog):
    embedder = Broken(raising(OSError("gone")), side, failing=False)
    search = searching(ranker, embedder)
    assert search.search("set a lamp").degraded is None
    embedder.failing = True
    report = search.replace("sea", [{"name": "ship_list", "description": "List deployments of ships"}])
    assert not report.quarantined
    result = search.search("list ships")
    assert result.tools[0].name == "sea__ship_list"
    assert result.generation == 1
    assert result.degraded
    assert len(warnings_of(caplog)) == 1
    embedder.failing = False
    assert search.search("list ships").degraded is None


@pytest.mark.parametrize("ranker", ["hybrid", "semantic"])
@pytest.mark.parametrize("changed", [False, True])
def test_bc54_it_strikes_after_an_index_was_loaded(ranker, changed, tmp_path, caplog):
    ToolSearch(TOOLS, ranker=ranker, embedder=HashingEmbedder(64), cache=False).save(tmp_path / "index")
    embedder = Broken(raising(OSError("gone")), "document" if changed else "query")
    tools = [*TOOLS, {"name": "new", "description": "Brand new"}] if changed else None
    search = ToolSearch.load(tmp_path / "index", tools, ranker=ranker, embedder=embedder, cache=False)
    held(search.search(QUERY))
    assert len(warnings_of(caplog)) == 1
    embedder.failing = False
    assert search.search(QUERY).degraded is None


def test_bc54_a_model_reads_in_its_turn_that_the_answer_is_degraded(ranker, side):
    search = searching(ranker, Broken(raising(OSError("gone")), side), config=DEFERRING)
    record = answered_in_a_turn(search)
    assert record["loaded"] == ["flux_list"]
    assert record["degraded"] is True


@pytest.mark.parametrize(
    ("ranker", "ending"),
    [
        ("hybrid", KeyboardInterrupt),
        ("hybrid", SystemExit),
        ("hybrid", asyncio.CancelledError),
        ("semantic", KeyboardInterrupt),
        ("custom", KeyboardInterrupt),
    ],
)
def test_what_ends_a_program_or_a_task_passes_and_leaves_no_trace(ranker, side, ending, caplog):
    """Ctrl-C that strikes while a model computes is not the model's failure."""
    embedder = Broken(raising(ending()), side)
    search = searching(ranker, embedder)
    for _ in range(4):
        with pytest.raises(ending):
            search.search(QUERY)
    embedder.failing = False
    assert search.search(QUERY).degraded is None
    assert not warnings_of(caplog)


def test_bc54_an_embedder_that_cannot_tell_its_id_refuses_a_saved_index_by_name(tmp_path):
    class Nameless(HashingEmbedder):
        pass

    def away(self):
        raise OSError("no route to the model")

    Nameless.id = property(away, lambda self, value: None)
    ToolSearch(TOOLS, embedder=HashingEmbedder(64), cache=False).save(tmp_path / "index")
    with pytest.raises(EmbedderError, match="no route to the model"):
        ToolSearch.load(tmp_path / "index", embedder=Nameless(64), cache=False)
