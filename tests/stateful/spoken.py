"""What a model may say and what a server may offer: strategies, and the plain rules of what comes of them."""

from __future__ import annotations

import wires
from hypothesis import strategies as st
from pool import POOL, WIRE, Version

UNKNOWN = ("zq98_nothing", "tool-search", "call_tool__zq99")

versions = st.builds(
    Version,
    st.integers(0, 99),
    st.sampled_from(["automatic"] * 4 + ["always", "never"]),
    st.sampled_from([True, True, True, False]),
)
tools = st.sampled_from(POOL)
apis = st.sampled_from(sorted(wires.MODELS))
needs = st.sampled_from(
    ["renew a loan", "send", "find a page of kind", "close the ticket please", "xyzzy", "", "*", "room room"]
) | tools.map(WIRE.get)
limits = st.none() | st.integers(-2, 40) | st.sampled_from(["3", "many", 2.5, True, [1]])
asked = st.fixed_dictionaries(
    {"query": needs},
    optional={
        "limit": limits,
        "queries": st.lists(needs, max_size=3),
        "names": st.lists(tools.map(WIRE.get) | st.sampled_from(UNKNOWN), min_size=1, max_size=3),
    },
)
good = st.sampled_from([{"count": 3}, {"count": "4"}])
bad = st.sampled_from([{}, {"count": "many"}, {"count": None}, {"count": [1, 2]}])
called = st.tuples(tools | st.sampled_from(UNKNOWN), good | bad)
configs = st.fixed_dictionaries(
    {"ranker": st.sampled_from(["bm25", "hybrid", "keyword"])},
    optional={
        "threshold": st.sampled_from([1, 1, 3, 8, None, {"tokens": 400}]),
        "activate": st.sampled_from(["flagged", "threshold"]),
        "sticky": st.booleans(),
        "unloaded": st.sampled_from(["stub", "omit"]),
        "unloaded_calls": st.sampled_from(["run", "refuse_with_schema"]),
        "search_scope": st.sampled_from(["visible", "deferred"]),
        "loaded_take_places": st.booleans(),
        "result_schemas": st.sampled_from(["none", "full"]),
        "namespace_max": st.sampled_from([None, 2, 9]),
        "default_limit": st.sampled_from([1, 5]),
        "max_limit": st.sampled_from([5, 20]),
        "offer_limit": st.booleans(),
        "weak_hits": st.sampled_from(["hint", "load", "drop"]),
        "miss_names": st.sampled_from([0, 3, None]),
    },
)


def is_good(given):
    return given in ({"count": 3}, {"count": "4"})


def cap_of(config, sent):
    limit, most = sent.get("limit"), config.max_limit
    cap = config.default_limit
    if config.offer_limit and limit is not None and limit not in ("many", True, [1]):
        cap = min(max(int(float(limit)), 1), most)
    asked = {text for text in (sent["query"], *sent.get("queries", ())) if any(map(str.isalnum, text))}
    return max(cap, min(len(asked), most))
