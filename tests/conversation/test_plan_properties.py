"""What holds for every plan, whatever the tools, policies, models and conversations."""

from __future__ import annotations

from typing import get_args

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.config import CAPABILITY_IDS, PRESETS, SearchConfig
from semantic_toolsearch.deferral import plan_turn, search_mask
from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.exchange import Api
from semantic_toolsearch.policies import PolicyLists
from semantic_toolsearch.support import TRANSPORTS, lookup

NAMES = [f"t{number:02}" for number in range(20)]
MODELS = ("gpt-5.4", "claude-sonnet-5", "claude-opus-4-1", "gemini-3-pro", None)
# Models over their own interface come more often than over any other.
TARGETS = [
    *[("gpt-5.4", "responses"), ("claude-sonnet-5", "anthropic")] * 8,
    *[(model, api) for model in MODELS for api in get_args(Api)],
]
NATIVE = {"responses": ["output", "hosted"], "anthropic": ["reference", "hosted"]}
HOSTED = {"openai": "responses", "bm25": "anthropic", "regex": "anthropic"}

configs = st.builds(
    lambda preset, changes: SearchConfig.preset(preset, **changes) if preset else SearchConfig(**changes),
    st.sampled_from([None, *PRESETS]),
    st.fixed_dictionaries(
        {},
        optional={
            "mechanism": st.just(["auto_tool_search"])
            | st.lists(st.sampled_from(CAPABILITY_IDS), unique=True),
            "activate": st.sampled_from(["flagged", "threshold"]),
            "threshold": st.sampled_from([1, 1, 3, 3, 6, None, {"tokens": 60}, "10%", [10, {"tokens": 40}]]),
            "unloaded": st.sampled_from(["stub", "omit"]),
            "unregistered": st.sampled_from(["search", "limited"]),
            "programmatic": st.sampled_from(["full", "defer"]),
            "never_defer_overrides_always": st.booleans(),
            "masked_transport": st.sampled_from(["client", "full"]),
            "search_scope": st.sampled_from(["visible", "deferred"]),
            "sticky": st.booleans(),
            "hot": st.lists(st.sampled_from(NAMES), unique=True, max_size=2),
        },
    ),
)
definitions = st.fixed_dictionaries(
    {"defer": st.sampled_from(["never", "automatic", "always"]), "registered": st.booleans()},
    optional={"allowed_callers": st.sampled_from([["direct"], ["programmatic"]])},
)
names = st.lists(st.sampled_from([*NAMES[:10], "gone"]), unique=True, max_size=6)


@st.composite
def situations(draw):
    """A catalog, its settings, and everything else that a plan depends on."""
    count = draw(st.integers(0, 12))
    policies = draw(st.lists(definitions, min_size=count, max_size=count))
    catalog = Catalog(
        [{"name": NAMES[at], "description": "Works", **fields} for at, fields in enumerate(policies)],
        strict=True,
    )
    model, api = draw(st.sampled_from(TARGETS))
    keep, defer = draw(names), draw(names)
    forced = draw(st.sampled_from([None, "tool_search", *catalog.wire_names]))
    visible = draw(st.none() | st.lists(st.booleans(), min_size=len(catalog), max_size=len(catalog)))
    if visible is not None and forced in catalog.wire_names:
        visible[catalog.position(forced)] = True
    return {
        "catalog": catalog,
        "config": draw(configs),
        "api": api,
        "support": lookup(
            model,
            api=api,
            transport=draw(st.sampled_from([None] * 9 + [*TRANSPORTS])),
            base_url=draw(st.sampled_from([None, None, "https://gw.example.test"])),
        ),
        "loaded": tuple(draw(names)),
        "native": draw(st.none() | names),
        "forced": forced,
        "forced_before": tuple(draw(names)),
        "visible": None if visible is None else np.array(visible, dtype=bool),
        "prefer": draw(st.sampled_from([None, "hosted", "client"])),
        "mode": draw(st.none() | st.sampled_from(["bridge", *NATIVE.get(api, [])])),
        "agent": PolicyLists(never_defer=[name for name in keep if name not in defer], deferred_tools=defer),
        "window": draw(st.sampled_from([None, 400, 4000])),
        "searched_before": draw(st.booleans()),
        "searched": tuple(draw(names)),
        "extra_deferred": draw(st.sampled_from([0, 0, 1])),
    }


def planned(situation):
    """The plan; situations in which a mode was asked for that cannot be used are left out."""
    try:
        return plan_turn(situation["catalog"], situation["config"], **_options(situation))
    except ConfigError as refusal:
        assume(f"mode={situation['mode']!r}" not in str(refusal))
        raise


def _options(situation):
    return {key: value for key, value in situation.items() if key not in ("catalog", "config")}


def seen(situation):
    catalog, visible = situation["catalog"], situation["visible"]
    return [name for at, name in enumerate(catalog.wire_names) if visible is None or visible[at]]


@given(situations())
def test_x04_every_visible_tool_is_full_or_deferred_with_a_usable_loader(situation):
    plan = planned(situation)
    catalog, config, expected = situation["catalog"], situation["config"], seen(situation)
    assert sorted(plan.full + plan.deferred) == sorted(expected)
    assert (plan.mode == "full") == (plan.search is None)
    assert set(plan.loaded) <= {*plan.full, *plan.deferred}
    if plan.search is not None:
        assert plan.deferred or situation["extra_deferred"]
    if plan.search in HOSTED:
        assert plan.mode == "hosted"
        assert HOSTED[plan.search] == plan.api
    if plan.mode in ("reference", "output"):
        assert {"reference": "anthropic", "output": "responses"}[plan.mode] == plan.api
    mask = search_mask(catalog, config, plan, situation["visible"])
    allowed = {name for at, name in enumerate(catalog.wire_names) if mask[at]}
    assert allowed <= set(expected)
    if plan.search == "ours":
        limited = {
            tool.name
            for tool in catalog
            if config.unregistered == "limited" and plan.mode == "stub" and not tool.registered
        }
        assert set(plan.deferred) - limited <= allowed
        assert set(plan.deferred) & allowed
        assert config.unloaded == "stub" or not limited & set(plan.deferred)


@given(situations())
def test_x04_forced_held_and_kept_tools_are_full(situation):
    plan = planned(situation)
    expected = seen(situation)
    for name in (situation["forced"], *situation["forced_before"]):
        if name in expected:
            assert name in plan.full
    for tool in situation["catalog"]:
        if tool.defer == "never" and tool.name not in situation["agent"].deferred_tools:
            assert tool.name not in plan.deferred


@given(situations())
def test_x04_an_empty_catalog_or_view_is_nothing_at_all(situation):
    assume(situation["forced"] in (None, "tool_search"))
    situation["visible"] = np.zeros(len(situation["catalog"]), dtype=bool)
    situation["extra_deferred"] = 0
    plan = planned(situation)
    assert (plan.mode, plan.full, plan.deferred, plan.loaded, plan.search) == ("full", (), (), (), None)


@given(situations())
def test_the_order_is_that_of_the_catalog_then_that_of_the_loads(situation):
    plan = planned(situation)
    order = {name: at for at, name in enumerate(situation["catalog"].wire_names)}
    assert list(plan.deferred) == sorted(plan.deferred, key=order.get)
    arrived = [name for name in plan.full if name in plan.loaded]
    undeferred = [name for name in plan.full if name not in plan.loaded]
    if plan.mode in ("full", "stub"):
        limited = [name for name in undeferred if not situation["catalog"][name].registered]
        rest = [name for name in undeferred if name not in limited]
        assert rest == sorted(rest, key=order.get)
        assert arrived == [name for name in situation["loaded"] if name in arrived]
    else:
        assert list(plan.full) == sorted(undeferred, key=order.get) + arrived
    assert list(plan.loaded) == [name for name in situation["loaded"] if name in plan.loaded]


@given(situations(), st.sampled_from(NAMES))
def test_c39_one_more_load_moves_no_earlier_tool(situation, another):
    before = planned(situation)
    situation["loaded"] = (*situation["loaded"], another)
    if situation["native"] is not None:
        situation["native"] = [*situation["native"], another]
    after = planned(situation)
    assert [name for name in after.full if name in before.full] == list(before.full)
    assert [name for name in before.deferred if name in after.deferred] == list(after.deferred)
    assert set(after.full) - set(before.full) <= {another} or after.mode == "full"
    assert after.loaded[: len(before.loaded)] == before.loaded


@given(situations())
def test_the_same_situation_gives_the_same_plan(situation):
    assert planned(situation) == planned(situation)
