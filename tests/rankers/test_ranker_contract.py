"""Every ranker passes one contract suite, and the suite notices each way of breaking it."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from library_tools import LIB, RANKERS
from made_up_rankers import FILES
from semantic_toolsearch import Catalog, Ranker, Ranking, ToolSearch
from semantic_toolsearch.testing import HashingEmbedder, check_ranker

MIXED = [
    *LIB,
    *FILES,
    {"name": "search", "description": "Search the wiki", "namespace": "wiki"},
    {"name": "search", "description": "Search the wiki", "namespace": "shop"},
    {"name": "満潮", "description": "港の満潮と干潮の時刻を調べます"},
]


class FirstLetters:
    """A custom ranker as a user may write it: how many of the query's letters start a name."""

    name = "letters"

    def __init__(self, catalog):
        self.names = [tool.name.lower() for tool in catalog]

    def rank(self, query, *, limit, visible=None):
        letters = set(query.lower())
        scores = np.array([float(name[0] in letters) for name in self.names], dtype=np.float32)
        if visible is not None:
            scores = scores * visible
        order = np.argsort(-scores, kind="stable")[:limit]
        order = order[scores[order] > 0]
        return Ranking(order, scores[order])


def made(ranker, tools, embedder=None):
    return ToolSearch(tools, ranker=ranker, embedder=embedder or HashingEmbedder(), cache=False).ranker


@pytest.mark.parametrize("ranker", [*RANKERS, FirstLetters])
@pytest.mark.parametrize("tools", [LIB, MIXED, MIXED[:1]], ids=["library", "mixed", "one"])
def test_s13_every_ranker_keeps_the_contract(ranker, tools):
    assert isinstance(made(ranker, tools), Ranker)
    check_ranker(made(ranker, tools), tools)


@pytest.mark.parametrize("ranker", [*RANKERS, FirstLetters])
def test_s13_a_factory_is_checked_with_tools_of_the_check_s_own(ranker):
    check_ranker(lambda catalog: made(ranker, catalog))


@pytest.mark.parametrize("ranker", ["hybrid", "semantic"])
def test_s13_the_contract_holds_with_the_shipped_model(ranker, model):
    check_ranker(lambda catalog: made(ranker, catalog, model))


class Broken(HashingEmbedder):
    def encode_query(self, texts):
        raise RuntimeError("CUDA out of memory")


@pytest.mark.parametrize("ranker", ["hybrid", "semantic"])
def test_s19_the_contract_holds_while_the_model_is_down(ranker, caplog):
    check_ranker(lambda catalog: made(ranker, catalog, Broken()))


def test_s12_hybrid_is_the_default_and_shows_both_arms():
    search = ToolSearch(LIB, embedder=HashingEmbedder(), cache=False)
    assert search.ranker.name == "hybrid"
    assert {"bm25", "cosine"} <= set(search.explain("extend a loan", "renewLoan").arms)


class Changed(FirstLetters):
    """A correct ranker whose answer one rule changes."""

    def __init__(self, catalog, change):
        super().__init__(catalog)
        self.change = change
        self.calls = 0

    def rank(self, query, *, limit, visible=None):
        self.calls += 1
        return self.change(self, query, limit, visible, super().rank(query, limit=limit, visible=visible))


def right(ranker, query, limit, visible, answer):
    return answer


def no_ranking(ranker, query, limit, visible, answer):
    return list(answer.positions)


def too_many(ranker, query, limit, visible, answer):
    return FirstLetters.rank(ranker, query, limit=limit + 1, visible=visible)


def twice(ranker, query, limit, visible, answer):
    half = max(1, limit // 2)
    return Ranking(np.repeat(answer.positions[:half], 2)[:limit], np.repeat(answer.scores[:half], 2)[:limit])


def worst_first(ranker, query, limit, visible, answer):
    return Ranking(answer.positions, np.linspace(0.1, 0.9, len(answer), dtype=np.float32))


def outside(ranker, query, limit, visible, answer):
    return Ranking(answer.positions + 1, answer.scores)


def not_finite(ranker, query, limit, visible, answer):
    return Ranking(answer.positions, answer.scores * np.float32("nan"))


def over_one(ranker, query, limit, visible, answer):
    return Ranking(answer.positions, answer.scores * 2)


def unequal(ranker, query, limit, visible, answer):
    return Ranking(answer.positions, answer.scores[:1])


def strong_of_another_length(ranker, query, limit, visible, answer):
    return Ranking(answer.positions, answer.scores, strong=np.ones(99, dtype=np.bool_))


def leaks(ranker, query, limit, visible, answer):
    return FirstLetters.rank(ranker, query, limit=limit)


def writes_the_mask(ranker, query, limit, visible, answer):
    if visible is not None:
        visible[:] = True
    return answer


def forgets(ranker, query, limit, visible, answer):
    """Answers differently the second time."""
    kept = slice(ranker.calls % 2, None)
    return Ranking(answer.positions[kept], answer.scores[kept])


def other_when_cut(ranker, query, limit, visible, answer):
    return Ranking(answer.positions, answer.scores * np.float32(0.5 if limit < 3 else 1.0))


def cuts_before_it_filters(ranker, query, limit, visible, answer):
    everything = FirstLetters.rank(ranker, query, limit=limit)
    keep = np.ones(len(everything), dtype=np.bool_) if visible is None else visible[everything.positions]
    return Ranking(everything.positions[keep], everything.scores[keep])


def dislikes_blanks(ranker, query, limit, visible, answer):
    return answer if query.strip() else 1 / 0


def not_in_threads(ranker, query, limit, visible, answer):
    assert threading.current_thread() is threading.main_thread()
    return answer


@pytest.mark.parametrize(
    "change",
    [
        no_ranking,
        too_many,
        twice,
        worst_first,
        outside,
        not_finite,
        over_one,
        unequal,
        strong_of_another_length,
        leaks,
        writes_the_mask,
        forgets,
        other_when_cut,
        cuts_before_it_filters,
        not_in_threads,
    ],
)
def test_s13_the_check_notices_each_broken_promise(change):
    check_ranker(lambda catalog: Changed(catalog, right))
    with pytest.raises(AssertionError):
        check_ranker(lambda catalog: Changed(catalog, change))


def test_s13_the_check_lets_an_exception_through():
    with pytest.raises(ZeroDivisionError):
        check_ranker(lambda catalog: Changed(catalog, dislikes_blanks))


@pytest.mark.parametrize("parts", [3, {"arm": float("nan")}, {1: 0.5}])
def test_s13_the_check_notices_a_broken_explanation(parts):
    class Explains(FirstLetters):
        def explain(self, query, position):
            return parts

    with pytest.raises(AssertionError, match="explain"):
        check_ranker(Explains)


def test_s13_the_check_needs_the_tools_of_a_ready_ranker():
    with pytest.raises(AssertionError, match="pass the tools"):
        check_ranker(FirstLetters(Catalog(LIB)))
    with pytest.raises(AssertionError, match="no rank method"):
        check_ranker(lambda catalog: catalog)
