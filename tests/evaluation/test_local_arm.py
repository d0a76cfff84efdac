"""The arms that search here: what they rank, return, refuse and explain."""

from __future__ import annotations

import numpy as np
import pytest
from arm_sets import answered, many_tools, names, twelve_tools

from semantic_toolsearch import Ranking, SearchConfig, ToolSearch
from semantic_toolsearch.errors import EmbedderError, RankerError
from semantic_toolsearch.evaluation.answers import DEPTH, Answer
from semantic_toolsearch.evaluation.arms.full import FullArm
from semantic_toolsearch.evaluation.arms.local import GIVEN_UP, LocalArm
from semantic_toolsearch.evaluation.arms.rrf import ReciprocalRankFusion
from semantic_toolsearch.evaluation.dataset import Query
from semantic_toolsearch.testing import HashingEmbedder

BUILT_IN = ("keyword", "bm25", "regex", "semantic", "hybrid", "rrf")


def local(ranker, **more):
    return LocalArm(str(ranker), ranker, embedder=HashingEmbedder(), cache=False, **more)


class Fixed:
    """Ranks by fixed scores, whatever is asked."""

    def __init__(self, *scores, strong=None):
        self.scores, self.strong = np.array(scores, dtype=np.float32), strong
        self.asked = []

    def rank(self, query, *, limit, visible=None):
        self.asked.append(query)
        strong = None if self.strong is None else np.array(self.strong)
        return Ranking(np.arange(len(self.scores)), self.scores, strong)


class Fussy(Fixed):
    """Fails for some queries."""

    def __init__(self, fails, *scores):
        super().__init__(*scores)
        self.fails = fails

    def rank(self, query, *, limit, visible=None):
        ranking = super().rank(query, limit=limit, visible=visible)
        if self.fails(query):
            raise ValueError(f"cannot read {query!r}")
        return ranking


@pytest.mark.parametrize("ranker", ["keyword", "bm25", "semantic", "hybrid"])
def test_s23_an_arm_returns_what_a_search_returns(ranker):
    dataset = twelve_tools()
    search = ToolSearch(dataset.catalog, ranker=ranker, embedder=HashingEmbedder(), cache=False)
    for query, answer in local(ranker).prepare(dataset).answers(dataset.queries):
        hits = search.search(query.text).tools
        assert answer.returned == tuple(hit.position for hit in hits)
        assert answer.failed is None
        assert answer.seconds > 0


def test_s23_the_ranking_goes_on_where_the_rules_cut():
    dataset = many_tools(80, "thing", "tool_7 please")
    found = answered(local("bm25"), dataset)
    assert len(found["q0"].ranked) == DEPTH
    assert len(set(found["q0"].ranked)) == DEPTH
    assert found["q0"].returned == found["q0"].ranked[:5]
    assert names(dataset, found["q1"].ranked[:1]) == ["tool_7"]


def test_s23_the_regex_arm_gets_a_written_pattern():
    dataset = twelve_tools(
        [
            ("q", "please send it to the receiver, and DELETE the rest", "send_mail"),
            ("id", "git_undo", "git_undo"),
        ]
    )
    arm = local("regex")
    found = answered(arm, dataset)
    assert sorted(names(dataset, found["q"].ranked)) == ["delete_file", "send_mail"]
    assert names(dataset, found["id"].returned) == ["git_undo"]
    assert any("pattern" in note for note in arm.notes)


@pytest.mark.parametrize("rules", [True, False])
@pytest.mark.parametrize("ranker", BUILT_IN)
def test_s28_hidden_tools_are_never_ranked_nor_returned(ranker, rules):
    dataset = twelve_tools()
    hidden = {query.id: dataset.right_places(query.id) for query in dataset.queries if query.answerable}
    seen, found = (
        answered(local(ranker, rules=rules), dataset),
        answered(local(ranker, rules=rules), dataset, hidden),
    )
    for query, places in hidden.items():
        assert not set(places) & {*found[query].ranked, *found[query].returned}
    assert found["nothing"].ranked == seen["nothing"].ranked
    assert all(set(seen[query].ranked) & set(places) for query, places in hidden.items())


def test_without_rules_the_ranker_alone_decides():
    dataset = many_tools(12, "tool_9", "something")
    scores = [0.9, 0.8, 0.3, 0.2, 0.15, 0.14, 0.13]
    ranker = Fixed(*scores, strong=[True, False, *[True] * 5])
    ruled, alone = answered(local(ranker), dataset), answered(local(ranker, rules=False), dataset)
    assert ruled["q0"].ranked == (9, 0, 1, 2, 3, 4, 5, 6)
    assert ruled["q0"].returned == (9,)  # named: all others are under the band of its score
    assert ruled["q1"].returned == (0,)  # 1 is unsure, the others are under the band
    assert alone["q0"].ranked == alone["q1"].ranked == (0, 1, 2, 3, 4, 5, 6)
    assert alone["q0"].returned == (0, 1, 2, 3, 4)
    three = local(ranker, rules=False, config=SearchConfig(default_limit=3))
    assert answered(three, dataset)["q0"].returned == (0, 1, 2)
    assert "first 3" in three.notes[0]
    assert local(ranker).notes == ()


def test_numbers_of_the_rules_count():
    dataset = many_tools(12, "something")
    config = SearchConfig(band=0.0, default_limit=4)
    assert answered(local(Fixed(0.9, 0.8, 0.3, 0.2, 0.1), config=config), dataset)["q0"].returned == (
        0,
        1,
        2,
        3,
    )


def test_a_query_is_asked_once_and_alone():
    dataset = many_tools(3, "one", "two")
    ranker = Fixed(0.5, 0.4)
    prepared = local(ranker).prepare(dataset)
    warm = list(ranker.asked)
    assert len(warm) == 1
    list(prepared.answers(dataset.queries))
    assert ranker.asked == [*warm, "one", "two"]


def test_a_crashing_ranker_costs_only_the_queries_it_crashes_on():
    dataset = many_tools(3, "one", "bad", "three")
    found = answered(local(Fussy(lambda query: query == "bad", 0.5)), dataset)
    assert found["q1"].failed == "Fussy.rank raised ValueError: cannot read 'bad'"
    assert (found["q1"].ranked, found["q1"].returned) == ((), ())
    assert [found[each].returned for each in ("q0", "q2")] == [(0,), (0,)]


def test_a_ranker_that_always_crashes_is_not_asked_for_ever():
    dataset = many_tools(3, *(f"query {place}" for place in range(GIVEN_UP + 30)))
    ranker = Fussy(lambda query: True, 0.5)
    answers = list(answered(local(ranker), dataset).values())
    assert len(answers) == GIVEN_UP + 30
    assert all("Fussy.rank raised ValueError" in answer.failed for answer in answers)
    assert len(ranker.asked) == GIVEN_UP + 1  # with the warm-up
    assert answers[GIVEN_UP - 1].failed.startswith("Fussy.rank")
    assert answers[GIVEN_UP].failed.startswith("not asked, since the first 20 queries all failed")


def test_a_ranker_that_answers_now_and_then_is_asked_on():
    dataset = many_tools(3, *(f"query {place}" for place in range(GIVEN_UP + 30)))
    answers = list(answered(local(Fussy(lambda query: query != "query 3", 0.5)), dataset).values())
    assert [place for place, answer in enumerate(answers) if answer.failed is None] == [3]
    assert not any("not asked" in (answer.failed or "") for answer in answers)


def test_a_ranker_that_fails_in_different_ways_is_asked_on():
    class Moody(Fixed):
        def rank(self, query, *, limit, visible=None):
            super().rank(query, limit=limit, visible=visible)
            raise (ValueError if len(self.asked) % 2 else KeyError)(query)

    dataset, ranker = many_tools(3, *(f"query {place}" for place in range(GIVEN_UP + 5))), Moody(0.5)
    assert all(answer.failed for answer in answered(local(ranker), dataset).values())
    assert len(ranker.asked) == GIVEN_UP + 5 + 1


def test_a_ranker_that_breaks_its_contract_is_named():
    class Wild:
        def rank(self, query, *, limit, visible=None):
            return Ranking(np.array([99]), np.array([0.5]))

    failed = answered(local(Wild()), many_tools(3, "one"))["q0"].failed
    assert failed == "Wild.rank returned positions [99] for a catalog of 3 tools."


def test_a_factory_makes_the_ranker_and_its_crash_is_the_arm_s():
    dataset = many_tools(3, "one")
    assert answered(local(lambda catalog: Fixed(*[0.5] * len(catalog))), dataset)["q0"].returned == (0, 1, 2)

    def broken(catalog):
        raise KeyError("no weights")

    with pytest.raises(RankerError, match="broken raised KeyError: 'no weights'"):
        local(broken).prepare(dataset)


class Moody(HashingEmbedder):
    """Embeds tools; queries only while it is in the mood."""

    good = True

    def encode_query(self, texts):
        if not self.good:
            raise EmbedderError("the endpoint is down")
        return super().encode_query(texts)


@pytest.mark.parametrize("ranker", ["semantic", "hybrid", "rrf"])
@pytest.mark.parametrize("rules", [True, False])
def test_a_degraded_search_is_noted(ranker, rules):
    dataset, model = twelve_tools(), Moody()
    prepared = LocalArm(ranker, ranker, embedder=model, cache=False, rules=rules).prepare(dataset)
    assert all(answer.notes == () for _, answer in prepared.answers(dataset.queries))
    model.good = False
    again = [Query(f"again {query.id}", f"{query.text} now") for query in dataset.queries]
    answers = {query.id: answer for query, answer in prepared.answers(again)}
    assert all("the endpoint is down" in answer.notes[0] for answer in answers.values())
    assert names(dataset, answers["again bill"].returned)[:1] == ["create_invoice"]  # by words


def test_a_model_that_cannot_embed_the_tools_has_no_figures():
    class Dead(HashingEmbedder):
        def encode_document(self, texts):
            raise EmbedderError("out of memory")

    with pytest.raises(EmbedderError, match="The tools cannot be embedded: out of memory"):
        LocalArm("semantic", "semantic", embedder=Dead(), cache=False).prepare(twelve_tools())


def test_build_counts_embedded_and_kept_texts(tmp_path):
    dataset, cache = twelve_tools(), tmp_path / "cache.sqlite3"
    builds = [
        LocalArm(name, name, embedder=HashingEmbedder(), cache=cache).prepare(dataset).build
        for name in ("semantic", "hybrid", "rrf", "bm25")
    ]
    assert [(build.embedded, build.from_cache) for build in builds] == [(12, 0), (0, 12), (0, 12), (0, 0)]
    assert all(build.seconds > 0 for build in builds)


def test_explain_tells_the_five_verdicts():
    ranker = Fixed(0.9, 0.8, 0.7, 0.6, 0.55, 0.5, 0.1, strong=[True, False, *[True] * 5])
    ranker.explain = lambda query, position: {"fixed": float(position)}
    dataset = many_tools(9, "word4 something")
    prepared = local(ranker, config=SearchConfig(default_limit=3)).prepare(dataset)
    whys = prepared.explain(dataset.queries[0], range(9))
    assert [(why.rank, why.verdict) for why in whys] == [
        (1, "returned"),
        (2, "weak"),
        (3, "returned"),
        (4, "returned"),
        (5, "capped"),
        (6, "capped"),
        (7, "banded"),
        (None, "unranked"),
        (None, "unranked"),
    ]
    assert [why.place for why in whys] == list(range(9))
    assert whys[4].score == pytest.approx(0.55)
    assert "score 0.550" in whys[4].reason
    assert "under 0.5 of the best score" in whys[6].reason
    assert "nothing in common" in whys[7].reason
    assert whys[4].parts == {"fixed": 4.0}
    assert whys[4].words == {"name": ("4",), "description": ("word4", "word", "4")}
    (_, answer), = prepared.answers(dataset.queries)  # fmt: skip
    assert answer.ranked == tuple(why.place for why in whys if why.rank)
    assert answer.returned == tuple(why.place for why in whys if why.verdict == "returned")


def test_explain_of_a_named_tool():
    dataset = many_tools(3, "tool_2")
    why, other = local(Fixed(0.9, 0.5)).prepare(dataset).explain(dataset.queries[0], [2, 0])
    assert (why.rank, why.verdict, why.reason) == (1, "returned", "The query is its name.")
    assert why.parts == {"exact_name": 100.0}
    assert (other.rank, other.verdict) == (2, "banded")


def test_explain_without_rules_knows_the_limit_alone():
    dataset = many_tools(9, "tool_2")
    prepared = local(Fixed(*[0.9, 0.2] * 3), rules=False).prepare(dataset)
    whys = prepared.explain(dataset.queries[0], [0, 3, 5, 8])
    assert [(why.rank, why.verdict) for why in whys] == [
        (1, "returned"),
        (5, "returned"),
        (6, "capped"),
        (None, "unranked"),
    ]
    assert "number 6" in whys[2].reason


@pytest.mark.parametrize(
    ("ranker", "parts"),
    [
        ("keyword", {"keyword"}),
        ("bm25", {"bm25"}),
        ("semantic", {"cosine"}),
        ("hybrid", {"bm25", "coverage", "cosine", "elsewhere"}),
        ("rrf", {"bm25", "cosine"}),
        ("regex", set()),
    ],
)
def test_explain_tells_each_ranker_s_parts(ranker, parts):
    dataset = twelve_tools()
    prepared = local(ranker).prepare(dataset)
    why = prepared.explain(dataset.queries[0], [0])[0]
    assert set(why.parts) == parts
    assert why.words["description"] == ("bill", "custom", "order")
    found = dict(prepared.answers(dataset.queries[:1]))[dataset.queries[0]]
    assert why.rank == found.ranked.index(0) + 1


def test_explain_survives_a_ranker_s_faults():
    dataset = many_tools(3, "one")
    silent = Fixed(0.9)
    silent.explain = lambda query, position: {"x": "high"}
    why = local(silent).prepare(dataset).explain(dataset.queries[0], [0])[0]
    assert (why.verdict, why.parts) == ("returned", {})
    assert "Fixed.explain must return numbers" in why.reason
    assert local(Fussy(lambda query: True, 0.9)).prepare(dataset).explain(dataset.queries[0], [0]) == []


def test_reciprocal_rank_fusion_adds_ranks():
    class Order(Fixed):
        def __init__(self, *positions, degraded=None):
            self.positions, self.degraded = positions, degraded

        def rank(self, query, *, limit, visible=None):
            scores = np.linspace(1, 0.5, len(self.positions), dtype=np.float32)
            return Ranking(np.array(self.positions), scores, degraded=self.degraded)

    fused = ReciprocalRankFusion(Order(3, 1, 2), Order(2, 3, 0, degraded="half"))
    ranking = fused.rank("x", limit=3)
    expected = {3: 1 / 61 + 1 / 62, 2: 1 / 63 + 1 / 61, 1: 1 / 62, 0: 1 / 63}
    assert ranking.positions.tolist() == [3, 2, 1]
    assert ranking.scores.tolist() == pytest.approx([expected[place] for place in (3, 2, 1)])
    assert ranking.degraded == "half"
    assert fused.rank("x", limit=9).positions.tolist() == [3, 2, 1, 0]
    assert ReciprocalRankFusion(Order(1, 0), Order(0, 1)).rank("x", limit=2).positions.tolist() == [0, 1]


def test_s23_full_returns_every_tool_and_ranks_nothing():
    dataset, arm = twelve_tools(), FullArm()
    assert (arm.ranks, arm.hides, arm.how) == (False, False, "local")
    assert "nothing is searched" in arm.notes[0]
    assert list(answered(arm, dataset).values()) == [Answer(returned=tuple(range(12)))] * 6
    assert arm.prepare(dataset).explain(dataset.queries[0], [0]) == []


def test_s26_the_shipped_model_ranks_by_meaning(model):
    asked = [
        ("q", "how hot will it get outside tomorrow", "weather_forecast"),
        ("z", "get rid of a document", "delete_file"),
    ]
    dataset = twelve_tools(asked)
    found = answered(LocalArm("semantic", "semantic", embedder=model, cache=False), dataset)
    assert names(dataset, found["q"].ranked[:1]) == ["weather_forecast"]
    assert names(dataset, found["z"].ranked[:1]) == ["delete_file"]
