"""A ranker of a user's own that fails: its class and reason are named, and the next search is as if nothing was."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from faulty_parts import DEFERRING, QUERY, TOOLS, answered_in_a_turn
from semantic_toolsearch import Ranking, ToolSearch
from semantic_toolsearch.dense import Unavailable
from semantic_toolsearch.errors import RankerError


class Mute(Exception):  # noqa: N818 - named for what it does
    def __str__(self):
        raise RuntimeError("no text")


class Unwritable:
    def __str__(self):
        raise RuntimeError("cannot be written")


class Refusing:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no array to be had")

    def __len__(self):
        raise RuntimeError("no length to be had")


class Lazy:
    """A ranking whose parts are computed when they are asked for, which fails."""

    def __init__(self, part):
        self._part = part

    def __getattr__(self, name):
        if name == self._part:
            raise RuntimeError(f"{name} is lost")
        return {"positions": [0], "scores": [0.5], "strong": None, "degraded": None, "notes": ()}[name]


def raising(fault):
    def answer():
        raise fault

    return answer


class Faulty:
    """Answers as it is told to while it fails, and then with the first tool."""

    def __init__(self, answer=None, *, explains=None):
        self.answer = answer
        self.failing = True
        if explains is not None:
            self.explain = lambda query, position: explains() if self.failing else {"score": 0.5}

    def rank(self, query, *, limit, visible=None):
        if self.answer is not None and self.failing:
            return self.answer()
        return Ranking([0], [0.5])


ANSWERS = {
    "no memory": raising(MemoryError()),
    "too deep": raising(RecursionError()),
    "StopIteration": raising(StopIteration()),
    "a text that cannot be had": raising(Mute()),
    "vectors that are not there": raising(Unavailable("no vectors")),
    "positions beyond 63 bits": lambda: Ranking(np.array([2**63], dtype=np.uint64), [0.5]),
    "positions beyond 64 bits": lambda: Ranking([10**30], [0.5]),
    "positions that are no array": lambda: Ranking(Refusing(), [0.5]),
    "scores that are no array": lambda: Ranking([0], Refusing()),
    "complex scores": lambda: Ranking([0], [0.5 + 0j]),
    "half of the scores": lambda: Ranking([0, 1], [0.5, None]),
    "strong that is no array": lambda: Ranking([0], [0.5], strong=Refusing()),
    "notes as one text": lambda: Ranking([0], [0.5], notes="careful"),
    "a note that cannot be written": lambda: Ranking([0], [0.5], notes=(Unwritable(),)),
    "a reason that cannot be written": lambda: Ranking([0], [0.5], degraded=Unwritable()),
    **{f"lost {part}": lambda part=part: Lazy(part) for part in ("positions", "scores", "strong", "notes")},
    "a class": lambda: Ranking,
    "a coroutine": lambda: asyncio.sleep(0),
}
PARTS = {
    "raises": raising(KeyError("part")),
    "a text that cannot be had": raising(Mute()),
    "NaN": lambda: {"score": float("nan")},
    "a number beyond any float": lambda: {"score": 10**400},
    "a name that cannot be written": lambda: {Unwritable(): 0.5},
    "a list": lambda: [1, 2],
}


def made(ranker, **options):
    return ToolSearch(TOOLS, ranker=ranker, cache=False, **options)


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize("fault", ANSWERS)
def test_s14_the_class_is_named_and_the_next_search_is_as_if_nothing_was(fault):
    ranker = Faulty(ANSWERS[fault])
    search = made(ranker)
    for use in (search.search, lambda query: search.explain(query, "flux_list")):
        with pytest.raises(RankerError, match=r"^Faulty\.rank"):
            use(QUERY)
    ranker.failing = False
    result = search.search(QUERY)
    assert ([hit.name for hit in result.tools], result.degraded, result.notes) == (["flux_list"], None, ())
    assert search.explain(QUERY, "flux_list").verdict == "returned"


@pytest.mark.parametrize("fault", PARTS)
def test_s14_a_fault_of_explain_alone_costs_no_search(fault):
    ranker = Faulty(explains=PARTS[fault])
    search = made(ranker)
    with pytest.raises(RankerError, match=r"^Faulty\.explain"):
        search.explain(QUERY, "flux_list")
    assert [hit.name for hit in search.search(QUERY).tools] == ["flux_list"]
    ranker.failing = False
    assert search.explain(QUERY, "flux_list").arms == {"score": 0.5}


@pytest.mark.parametrize("part", ["explain", "takes_patterns"])
def test_s14_an_attribute_that_raises_is_named(part):
    def fails(self):
        raise RuntimeError("is lost")

    search = made(type("Lost", (Faulty,), {part: property(fails)})())
    with pytest.raises(RankerError, match=rf"^Lost\.{part} .*is lost"):
        search.explain(QUERY, "flux_list")


@pytest.mark.parametrize("ending", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
@pytest.mark.parametrize("where", ["rank", "explain"])
def test_what_ends_a_program_or_a_task_passes(ending, where):
    ends = raising(ending())
    search = made(Faulty(ends) if where == "rank" else Faulty(explains=ends))
    with pytest.raises(ending):
        search.explain(QUERY, "flux_list")


def test_s14_a_factory_that_fails_is_named_and_replaces_nothing():
    failing = False

    class Made(Faulty):
        def __init__(self, catalog):
            if failing:
                raise LookupError("no weights")
            super().__init__()

    search = made(Made)
    assert search.search(QUERY).tools
    failing = True
    with pytest.raises(
        RankerError, match=r"^Made raised LookupError: 'no weights'|^Made raised LookupError: no"
    ):
        search.replace("sea", [])
    result = search.search(QUERY)
    assert (result.generation, result.total) == (0, len(TOOLS))
    for use in ("search", "prepare", "explain"):
        with pytest.raises(RankerError, match=r"^Made raised LookupError"):
            getattr(made(Made), use)(
                *{"search": [QUERY], "prepare": [], "explain": [QUERY, "flux_list"]}[use]
            )
    failing = False
    search.replace("sea", [])
    assert (search.search(QUERY).generation, search.search(QUERY).total) == (1, 2)


@pytest.mark.parametrize("factory", [lambda catalog: 1 / 0, lambda: None], ids=["raises", "takes no catalog"])
def test_s14_a_function_that_makes_no_ranker_is_named(factory):
    with pytest.raises(RankerError, match=r"<lambda> raised (ZeroDivision|Type)Error"):
        made(factory).search(QUERY)


def test_s14_a_turn_raises_it_too_and_the_next_one_goes_on():
    ranker = Faulty(ANSWERS["no memory"])
    search = made(ranker, config=DEFERRING)
    with pytest.raises(RankerError, match=r"Faulty\.rank raised MemoryError"):
        answered_in_a_turn(search)
    ranker.failing = False
    assert answered_in_a_turn(search)["loaded"] == ["flux_list"]


def test_s13_what_a_ranker_does_to_its_arrays_and_to_the_mask_afterwards_changes_nothing():
    positions, scores = np.array([0, 1]), np.array([0.9, 0.8])

    class Busy:
        def rank(self, query, *, limit, visible=None):
            if visible is not None:
                visible[:] = True
            return Ranking(positions, scores)

        def explain(self, query, position, visible=None):
            if visible is not None:
                visible[:] = True
            return {}

    search = made(Busy())
    before = search.search("x y")
    scores[:] = 0
    positions[:] = 2
    assert [(hit.name, round(hit.score, 3)) for hit in before.tools] == [
        ("flux_list", 0.9),
        ("lamp_set", 0.8),
    ]
    scores[:] = 0.9
    positions[:] = [0, 2]
    seen = np.array([True, True, False])
    snapshot, _ = search.seen_by(None)
    assert snapshot.retriever.explain("x y", 0, visible=seen).verdict == "returned"
    assert [hit.name for hit in snapshot.retriever.search(["x y"], visible=seen).tools] == ["flux_list"]
    assert seen.tolist() == [True, True, False]
