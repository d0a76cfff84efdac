"""What holds for any catalog, query, ranker and registration order."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from library_tools import RANKERS, hashed, lexical, names, shown, t
from made_up_rankers import Hostile, Scores
from semantic_toolsearch import Ranking, ToolSearch
from semantic_toolsearch.testing import HashingEmbedder

# --- determinism ---


class WithoutNumbers(HashingEmbedder):
    """Sees no difference between tools that differ in a number."""

    def _encode(self, texts):
        return super()._encode([re.sub(r"\d+", "", text) for text in texts])


@pytest.mark.parametrize("ranker", RANKERS)
@pytest.mark.parametrize("size", [12, 400])
def test_s20_ties_are_broken_by_name_in_any_registration_order(ranker, size):
    tools = [t(f"report_{number:03}", "Monthly report") for number in range(size)]
    answers = set()
    for seed in range(3):
        shuffled = [tools[place] for place in np.random.default_rng(seed).permutation(size)]
        search = hashed(shuffled, ranker=ranker, embedder=WithoutNumbers())
        answers.add(tuple(shown(search.search("monthly report" if ranker != "regex" else "monthly"))))
    assert answers == {tuple(f"report_{number:03}" for number in range(5))}


@settings(max_examples=30)
@given(
    scores=st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.500000001, 1.0]), min_size=1, max_size=70),
    seed=st.integers(0, 99),
    limit=st.integers(1, 20),
)
def test_s20_any_scores_in_any_registration_order(scores, seed, limit):
    """The ranker cuts at its limit in catalog order, as real ones do: ties at the cut must not show."""
    answers = []
    for chosen in (np.arange(len(scores)), np.random.default_rng(seed).permutation(len(scores))):
        ranker = Cutting([scores[place] for place in chosen])
        search = ToolSearch([t(f"tool_{place:02}") for place in chosen], ranker=ranker, cache=False)
        answers.append(shown(search.search("x y", limit=limit)))
    assert answers[0] == answers[1]


class Cutting(Scores):
    def __init__(self, scores):
        self.scores = np.array(scores, dtype=np.float32)

    def rank(self, query, *, limit, visible=None):
        order = np.argsort(-self.scores, kind="stable")[:limit]
        return Ranking(order, self.scores[order])


# --- properties over hostile rankers ---


WORDS = ["read", "file", "mail", "send", "list", "page"]
identities = st.tuples(
    st.sampled_from([None, "wiki", "shop"]),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map("_".join)
    | st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map("-".join),
)
queries = st.lists(
    st.sampled_from([*WORDS, "read_file", "`send_mail`", "wiki.read", "nothing", ""]), max_size=4
).map(" ".join)
BUILT = {name: name for name in RANKERS} | {"hostile": Hostile}


@pytest.mark.parametrize("ranker", BUILT)
@settings(max_examples=25)
@given(
    tools=st.lists(identities, min_size=1, max_size=12, unique=True),
    query=queries,
    limit=st.integers(-3, 40),
    data=st.data(),
)
def test_x11_an_invisible_tool_is_nowhere_and_the_cap_holds(ranker, tools, query, limit, data):
    search = hashed([t(name, f"Used to {name}", server=owner) for owner, name in tools], ranker=BUILT[ranker])
    everything = search.catalog.wire_names
    visible = data.draw(st.sets(st.sampled_from(everything)))
    hidden = set(everything) - visible
    spaces = {search.catalog[name].namespace for name in visible} - {None}
    for asked in ({"query": query, "limit": limit}, {"names": query.split()}, {"names": list(hidden)}):
        result = search.search(**asked, visible=visible)
        listed = [hit.name for hit in (*result.tools, *result.hints)]
        near = [name for unknown in result.unknown for name in unknown.nearest]
        assert set(listed) | set(result.names) | set(near) <= visible
        assert len(listed) == len(set(listed))
        assert result.total == len(visible)
        assert {space for space, _ in result.namespaces} <= spaces
        assert sum(count for _, count in result.namespaces) <= len(visible)
        if "names" not in asked:
            assert len(result.tools) <= min(max(limit, 1), 20)
        assert bool(result.tools) == (result.outcome == "matched")
    for name in hidden:
        explained = search.explain(query, name, visible=visible)
        if explained.name in visible:  # the name is another's too, and without the hidden one it is his alone
            assert search.catalog[explained.name].name == name
        else:
            assert (explained.verdict, explained.rank, explained.arms) == ("not visible", None, {})


@settings(max_examples=60)
@given(tools=st.lists(identities, min_size=1, max_size=10, unique=True), spelling=queries, data=st.data())
def test_x11_hidden_tools_change_no_name_look_up(tools, spelling, data):
    """What a name means is the same as in a catalog without the hidden tools."""
    definitions = {identity: t(identity[1], server=identity[0]) for identity in tools}
    seen = data.draw(st.lists(st.sampled_from(tools), unique=True))
    full, small = lexical(list(definitions.values())), lexical([definitions[identity] for identity in seen])
    mask = {full.catalog.wire_names[full.catalog.identities.index(identity)] for identity in seen}
    wanted = [spelling, *spelling.split(), *(name for _, name in tools)]
    for name in filter(str.strip, wanted):
        one, other = full.search(names=[name], visible=mask), small.search(names=[name])
        if name in full.catalog.wire_names:
            continue  # a wire name may be decided by tools that are hidden
        assert {hit.tool.identity for hit in one.tools} == {hit.tool.identity for hit in other.tools}


@pytest.mark.parametrize("ranker", BUILT)
@settings(max_examples=20)
@given(tools=st.lists(identities, min_size=2, max_size=12, unique=True), data=st.data())
def test_s04_a_wire_name_is_first_in_any_catalog(ranker, tools, data):
    search = hashed([t(name, server=owner) for owner, name in tools], ranker=BUILT[ranker])
    name = data.draw(st.sampled_from(search.catalog.wire_names))
    for query in (name, f"`{name}`", f"{name}()"):
        assert search.search(query, limit=1).tools[0].name == name
    assert names(search.search(names=[name])) == [name]
