"""The same queries over catalogs that grow."""

from __future__ import annotations

import gc
import logging
import weakref
from dataclasses import dataclass, field
from dataclasses import replace as changed
from itertools import pairwise
from statistics import fmean

import pytest
from kitchen import kitchen, market

from semantic_toolsearch.accounting import CHARACTERS
from semantic_toolsearch.errors import ConfigError, DatasetError
from semantic_toolsearch.evaluation.answers import Answer, Build
from semantic_toolsearch.evaluation.arms.full import FullArm
from semantic_toolsearch.evaluation.arms.local import LocalArm
from semantic_toolsearch.evaluation.costs.nested import groups_of
from semantic_toolsearch.evaluation.costs.sizes import size_curve
from semantic_toolsearch.evaluation.costs.ways import tokens_by_mode
from semantic_toolsearch.evaluation.results import MEASURES
from semantic_toolsearch.testing import HashingEmbedder


@dataclass
class Watching:
    """Ranks by shared characters of the name, the same whatever other tools there are, and writes down what it saw."""

    name: str = "watching"
    how: str = "local"
    ranks: bool = True
    hides: bool = False
    notes: tuple[str, ...] = ()
    most: int = 1_000
    seen: list = field(default_factory=list)
    alive: weakref.WeakSet = field(default_factory=weakref.WeakSet)

    def prepare(self, dataset):
        gc.collect()
        assert not self.alive  # whatever was prepared before is gone
        if len(dataset.tools) > self.most:
            raise ValueError(f"no more than {self.most} tools, please")
        prepared = Prepared(dataset)
        self.alive.add(prepared)
        self.seen.append((len(dataset.tools), dataset))
        return prepared


class Noting(Watching):
    """The same without a look at what is alive, which takes long."""

    def prepare(self, dataset):
        self.seen.append((len(dataset.tools), dataset))
        return Prepared(dataset)


class Prepared:
    build = Build()

    def __init__(self, dataset):
        self.dataset = dataset

    def answers(self, queries, hidden=None):
        for query in queries:
            shared = [len(set(query.text) & set(tool.name)) for tool in self.dataset.tools]
            order = sorted(
                range(len(shared)), key=lambda place, shared=shared: (-shared[place], self.dataset.ids[place])
            )
            yield query, Answer(ranked=tuple(order[:50]), seconds=0.001 * (1 + len(order)))

    def explain(self, query, places):
        return []


def curve(dataset, arms, **options):
    return size_curve(dataset, arms, **{"counter": CHARACTERS, **options})


BM25 = LocalArm("bm25", "bm25", cache=False)


def test_catalogs_of_a_group_lie_in_each_other_and_hold_all_its_right_tools():
    dataset = market(120, namesakes=40)
    groups = groups_of(dataset, dataset.queries[:60], room=10, seed=7)
    assert sorted(query.id for group in groups for query in group.queries) == list(dataset.ids[:60])
    assert len(groups) < 20
    for group in groups:
        right = {place for query in group.queries for place in dataset.right_places(query.id)}
        assert len(right) <= 10
        assert sorted(group.order) == list(range(120))
        sizes = [group.places(size) for size in (20, 50, 119, 120)]
        assert [len(places) for places in sizes] == [20, 50, 119, 120]
        for smaller, larger in pairwise(sizes):
            assert set(smaller) < set(larger)
        assert all(right <= set(places) for places in sizes)
        assert all(list(places) == sorted(places) for places in sizes)
    orders = {group.order[10:] for group in groups}
    assert len(orders) == len(groups)  # each group has other tools beside its own
    again, other = (groups_of(dataset, dataset.queries[:60], room=10, seed=seed) for seed in (7, 8))
    assert again == groups
    assert [group.queries for group in other] == [group.queries for group in groups]
    assert [group.order for group in other] != [group.order for group in groups]


def test_the_same_queries_are_asked_at_every_size_with_their_right_tools_there():
    dataset, arm = market(90, namesakes=30), Watching()
    results = curve(dataset, [arm], sizes=(10, 30, None), queries=40)
    assert [(each.tools, each.queries) for each in results] == [(10, 40), (30, 40), (90, 40)]
    asked = {}
    for tools, part in arm.seen:
        for query in part.queries:
            asked.setdefault(tools, []).append(query.id)
            assert set(part.gold[query.id]) <= set(part.ids)
            assert set(dataset.copies.get(query.id, {})) <= set(part.ids)
    assert len(asked[90]) == 40
    assert sorted(asked[10]) == sorted(asked[30]) == sorted(asked[90])
    parts = [[part for tools, part in arm.seen if tools == size] for size in (10, 30, 90)]
    assert [len(each) for each in parts] == [each.catalogs for each in results]
    assert results[0].catalogs == results[1].catalogs > results[2].catalogs == 1
    for smaller, larger in zip(parts[0], parts[1], strict=True):
        assert set(smaller.ids) < set(larger.ids)
        assert [query.id for query in smaller.queries] == [query.id for query in larger.queries]
        right = {place for query in smaller.queries for place in smaller.right_places(query.id)}
        assert len(right) <= 5


def test_more_tools_never_help_where_scores_do_not_depend_on_them():
    results = curve(market(120), [Watching()], sizes=(10, 40, None), queries=40)
    for measure in MEASURES:
        values = [each.arms["watching"][measure] for each in results]
        assert values == sorted(values, reverse=True)
    assert results[0].arms["watching"]["MRR"] > results[-1].arms["watching"]["MRR"]


def test_an_exact_name_stays_first_however_many_tools_there_are():
    embedder = HashingEmbedder()
    arms = [BM25, LocalArm("hybrid", "hybrid", embedder=embedder, cache=False)]
    for each in curve(market(150), arms, sizes=(20, 60, None), queries=30):
        for arm in ("bm25", "hybrid"):
            assert list(each.arms[arm]) == list(MEASURES)
            assert set(each.arms[arm].values()) == {1.0}
            assert 0 < each.times[arm]["p50_ms"] <= each.times[arm]["p95_ms"]


def test_sizes_beyond_the_tools_are_passed_over_and_equal_ones_are_all_of_them():
    dataset, arm = market(30), Watching()

    def sizes(*wanted):
        return [(each.tools, each.catalogs) for each in curve(dataset, [arm], sizes=wanted, queries=4)]

    assert sizes(None, 10, 30, 31, 5_000) == [(10, 1), (30, 1)]
    assert sizes(30) == sizes(None) == [(30, 1)]
    assert sizes(31, 5_000) == []
    assert sizes() == []


def test_figures_are_means_over_all_queries_and_times_are_of_all_answers():
    dataset = kitchen()
    (whole,) = curve(dataset, [BM25], sizes=(None,))
    one_by_one = [curve(dataset.only([query]), [BM25], sizes=(None,))[0] for query in dataset.queries]
    assert whole.queries == 12
    for measure in MEASURES:
        values = [each.arms["bm25"][measure] for each in one_by_one]
        assert whole.arms["bm25"][measure] == pytest.approx(sum(values) / 12, abs=1e-6)
    (timed,) = curve(market(99), [Watching()], sizes=(None,))
    assert timed.times["watching"] == {"p50_ms": 100.0, "p95_ms": 100.0}


def test_the_same_seed_gives_the_same_figures_but_for_times():
    def figures(seed):
        results = curve(market(80), [Watching()], sizes=(10, 30), queries=15, seed=seed)
        return [each.model_copy(update={"times": {}}) for each in results]

    assert figures(7) == figures(7)
    assert figures(7) != figures(8)


def test_queries_that_do_not_fit_and_those_that_nothing_answers_are_not_asked():
    texts = {"wide": "food", "near": "quiet music", "nothing": "mend my shoes"}
    gold = {"wide": ("bake_bread", "roast_chicken", "order_flour"), "near": ("play_music",)}
    dataset = kitchen(queries=texts.items(), gold=gold)
    assert [each.queries for each in curve(dataset, [BM25], sizes=(4, None))] == [1, 1]
    assert [each.queries for each in curve(dataset, [BM25], sizes=(6, None))] == [2, 2]
    assert [each.queries for each in curve(dataset, [BM25], sizes=(None,))] == [2]
    with pytest.raises(DatasetError, match="kitchen: no query has a usable gold tool and fits"):
        curve(dataset.only(dataset.queries[::2]), [BM25], sizes=(4,))


def test_an_arm_that_fails_with_many_tools_is_left_out_there_and_the_others_go_on(caplog):
    with caplog.at_level(logging.WARNING, "semantic_toolsearch"):
        results = curve(market(60), [Watching(most=20), BM25], sizes=(20, 40, None), queries=20)
    assert [sorted(each.arms) for each in results] == [["bm25", "watching"], ["bm25"], ["bm25"]]
    assert [sorted(each.times) for each in results] == [sorted(each.arms) for each in results]
    assert "watching has no figures with 40 tools: ValueError: no more than 20 tools, please" in caplog.text


def test_an_arm_whose_every_answer_failed_has_no_figures(caplog):
    class Broken(Prepared):
        def answers(self, queries, hidden=None):
            yield from ((query, Answer(failed="out of order")) for query in queries)

    class Arm(Watching):
        def prepare(self, dataset):
            return Broken(dataset)

    with caplog.at_level(logging.WARNING, "semantic_toolsearch"):
        (result,) = curve(kitchen(), [Arm("broken"), BM25], sizes=(None,))
    assert list(result.arms) == ["bm25"]
    assert "out of order" in caplog.text


def test_an_arm_that_shows_no_order_has_no_curve():
    (result,) = curve(kitchen(), [FullArm(), BM25], sizes=(None,))
    assert list(result.arms) == ["bm25"]


def test_tokens_of_the_first_request_grow_with_what_the_model_reads():
    results = curve(market(120), [Watching()], sizes=(20, 60, None), queries=10)
    smallest, middle, largest = (each.tokens for each in results)
    assert set(smallest) == {"full", "hosted", "hosted, responses", "reference", "output", "stub", "bridge"}
    for mode in ("full", "stub", "hosted, responses"):
        assert smallest[mode] < middle[mode] < largest[mode]
    assert smallest["hosted"] == middle["hosted"] == largest["hosted"] < 50
    for tokens in (smallest, middle, largest):
        assert tokens["stub"] < tokens["full"]
        assert max(tokens["reference"], tokens["output"], tokens["bridge"]) < tokens["stub"]
    assert largest["full"] > 5.5 * smallest["full"]


def test_modes_that_no_request_can_carry_have_no_tokens():
    dataset = market(10)
    one = dataset.tools[0]
    many = changed(
        dataset,
        tools=tuple(one.model_copy(update={"name": f"t{place}"}) for place in range(10_001)),
        ids=tuple(f"t{place}" for place in range(10_001)),
        queries=(),
        gold={},
        copies={},
    )
    tokens = tokens_by_mode(many.catalog, CHARACTERS)
    assert set(tokens) == {"full", "hosted, responses", "output", "stub", "bridge"}


def test_progress_counts_arms_over_catalogs():
    steps = []
    arms = [Watching(), changed(BM25, name="words"), FullArm()]
    results = curve(
        market(60), arms, sizes=(10, 30, None), queries=12, progress=lambda *step: steps.append(step)
    )
    total = 2 * sum(each.catalogs for each in results)
    assert steps == [(done, total) for done in range(1, total + 1)]


@pytest.mark.parametrize("wrong", [{"sizes": (1,)}, {"sizes": (0, None)}, {"queries": 0}])
def test_a_curve_of_nothing_is_an_error_of_the_caller(wrong):
    with pytest.raises(ConfigError, match="at least"):
        curve(kitchen(), [BM25], **wrong)


def test_queries_and_catalogs_are_drawn_with_the_seed():
    def seen(dataset, seed):
        arm = Noting()
        curve(dataset, [arm], sizes=(6,), queries=5, seed=seed)
        return [([query.id for query in part.queries], part.ids) for _, part in arm.seen]

    dataset = market(24)
    one, other = ([each for asked, _ in seen(dataset, seed) for each in asked] for seed in (7, 8))
    assert one == sorted(one)
    assert len(one) == len(other) == 5
    assert one != other
    same, turned = (seen(dataset.only(dataset.queries[:5]), seed) for seed in (7, 8))
    assert [asked for asked, _ in same] == [asked for asked, _ in turned]
    assert [ids for _, ids in same] != [ids for _, ids in turned]


def test_groups_are_filled_and_each_has_an_order_of_its_own():
    groups = groups_of(market(40), market(40).queries[:9], room=4, seed=7)
    assert [len(group.queries) for group in groups] == [4, 4, 1]
    shared = set(groups[0].order[4:]) & set(groups[1].order[4:])
    orders = [[place for place in group.order if place in shared] for group in groups[:2]]
    assert orders[0] != orders[1]


def test_copies_count_as_room_that_a_query_takes():
    texts, gold = {"q": "quiet music", "plain": "a taxi"}, {"q": ("play_music",), "plain": ("call_taxi",)}
    copies = {"q": dict.fromkeys(("bake_bread", "order_flour"), "play_music")}
    dataset = kitchen(queries=texts.items(), gold=gold, copies=copies)
    assert [each.queries for each in curve(dataset, [BM25], sizes=(4, None))] == [1, 1]
    assert [each.queries for each in curve(dataset, [BM25], sizes=(6, None))] == [2, 2]


def test_means_are_over_queries_and_tokens_over_catalogs_however_uneven_the_groups():
    arm, same = Noting(), market(50)  # one text for all queries: ids alone decide about ranks
    dataset = changed(same, queries=tuple(changed(query, text="stall") for query in same.queries))
    (result,) = curve(dataset, [arm], sizes=(8,), queries=9)
    parts = [part for _, part in arm.seen]
    assert [len(part.queries) for part in parts] == [4, 4, 1]
    shares = []
    for part in parts:
        ranked = {query.id: answer.ranked for query, answer in Prepared(part).answers(part.queries)}
        shares.append([1 / (1 + ranked[each].index(part.gold_places(each)[0])) for each in ranked])
    together = fmean([share for each in shares for share in each])
    assert result.arms["watching"]["MRR"] == pytest.approx(together, abs=1e-6)
    assert together != pytest.approx(fmean(map(fmean, shares)), abs=0.01)
    counts = [tokens_by_mode(part.catalog, CHARACTERS)["stub"] for part in parts]
    assert result.tokens["stub"] == pytest.approx(sum(counts) / 3, abs=0.051)
    assert len(set(counts)) > 1
