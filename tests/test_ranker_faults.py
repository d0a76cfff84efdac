"""What a custom ranker may do wrong, and that it is named."""

from __future__ import annotations

import pytest

from made_up_rankers import FILES, Scores
from semantic_toolsearch import Ranking, ToolSearch
from semantic_toolsearch.errors import RankerError


class Faulty:
    def __init__(self, answer):
        self.answer = answer

    def rank(self, query, *, limit, visible=None):
        return self.answer()


def ranking(positions, scores, **more):
    return lambda: Ranking(positions, scores, **more)


FAULTS = {
    "NaN score": ranking([0], [float("nan")]),
    "infinite score": ranking([0], [float("inf")]),
    "score of 1e300": ranking([0], [1e300]),
    "negative score": ranking([0], [-0.1]),
    "score over 1": ranking([0], [1.5]),
    "text score": ranking([0], ["high"]),
    "position outside": ranking([99], [0.5]),
    "negative position": ranking([-1], [0.5]),
    "fractional position": ranking([0.5], [0.5]),
    "boolean position": ranking([True], [0.5]),
    "text position": ranking(["read_file"], [0.5]),
    "unequal lengths": ranking([0, 1], [0.5]),
    "matrix": ranking([[0, 1]], [[0.5, 0.4]]),
    "numbers": ranking(0, 0.5),
    "unequal strong": ranking([0], [0.5], strong=[True, False]),
    "strong is no truth": ranking([0], [0.5], strong=[0.7]),
    "notes are None": ranking([0], [0.5], notes=None),
    "None": lambda: None,
    "list": lambda: [(0, 0.5)],
    "raises": lambda: 1 / 0,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_s14_a_custom_ranker_s_fault_is_named(fault):
    search = ToolSearch(FILES, ranker=Faulty(FAULTS[fault]), cache=False)
    for use in (lambda: search.search("x y"), lambda: search.explain("x y", "bash")):
        with pytest.raises(RankerError, match=r"Faulty\.rank"):
            use()


def test_s14_what_a_ranker_raised_is_the_cause():
    with pytest.raises(RankerError, match="division by zero") as caught:
        ToolSearch(FILES, ranker=Faulty(FAULTS["raises"]), cache=False).search("x y")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("parts", [None, 3, {"arm": "high"}, {"arm": None}])
def test_s14_a_fault_of_explain_is_named(parts):
    class Explains(Scores):
        def explain(self, query, position):
            return parts

    with pytest.raises(RankerError, match=r"Explains\.explain"):
        ToolSearch(FILES[:1], ranker=Explains(0.5), cache=False).explain("x y", "read_file")


def test_s14_faults_of_the_harmless_kind_are_mended():
    """Twice the same tool, the wrong order, lists instead of arrays, more than asked for: no reason to fail."""
    search = ToolSearch(
        FILES, ranker=Faulty(ranking([3, 1, 3, 0, 1], [0.5, 0.9, 0.8, 0.0, 0.6])), cache=False
    )
    result = search.search("x y")
    assert [(hit.name, round(hit.score, 2)) for hit in result.tools] == [
        ("write_file", 0.9),
        ("list_directory", 0.8),
    ]


def test_s14_a_ranker_is_not_asked_when_nothing_is_visible():
    search = ToolSearch(FILES, ranker=Faulty(FAULTS["raises"]), cache=False)
    assert search.search("x y", visible=[]).outcome == "no_match"
    assert ToolSearch([], ranker=Faulty(FAULTS["raises"]), cache=False).search("x y").total == 0
