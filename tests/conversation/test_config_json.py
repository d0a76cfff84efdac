from __future__ import annotations

import json

import pytest

from semantic_toolsearch.config import DEFAULT_THRESHOLD, MAX_HOT, PRESETS, SearchConfig
from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.threshold import TokenThreshold, check_threshold, read_threshold


def form(*entries):
    return {"capabilities": list(entries)}


def configured(ref="tool_search", **config):
    return SearchConfig.from_json(form({"ref": ref, "config": config}))


def test_e03_a_bare_id_is_an_object_with_an_empty_config():
    bare = SearchConfig.from_json(form("tool_search"))
    assert bare == SearchConfig.from_json(form({"ref": "tool_search", "config": {}}))
    assert bare == SearchConfig.from_json(json.dumps(form("tool_search")))
    assert bare.threshold == DEFAULT_THRESHOLD == 15
    assert bare.mechanism == ("tool_search",)


def test_the_json_form_is_the_preset_with_five_changes():
    everruns = SearchConfig.preset("everruns")
    changed = {
        "ranker": "hybrid",
        "masked_transport": "client",
        "weak_hits": "hint",
        "miss_names": 50,
        "browse_names": 100,
    }
    assert SearchConfig.from_json(form("auto_tool_search")) == everruns.but(**changed)


@pytest.mark.parametrize("value", [{}, {"capabilities": None}, {"capabilities": " "}])
def test_without_capabilities_it_is_auto_and_an_empty_list_is_none(value):
    assert SearchConfig.from_json(value).mechanism == ("auto_tool_search",)
    assert SearchConfig.from_json({"capabilities": []}).mechanism == ()


@pytest.mark.parametrize(
    "ref", ["auto_tool_search", "openai_tool_search", "claude_tool_search", "tool_search"]
)
def test_e04_the_threshold_is_set_for_any_of_the_four(ref):
    assert configured(ref, threshold=10).threshold == 10


def test_e04_nine_tools_are_full_and_ten_deferred_on_every_model(plan, many):
    config = configured("auto_tool_search", threshold=10)
    for model in ("gpt-5.4", "claude-sonnet-5", "gemini-3-pro"):
        assert plan(many(9), config, model).mode == "full"
        assert len(plan(many(10), config, model).deferred) == 10


def test_e05_never_defer_goes_with_the_threshold(plan, files, many):
    config = configured(threshold=20, never_defer=["read_file", "bash"])
    tools = [tool for tool in files if tool["name"] in ("read_file", "bash")] + many(20)
    made = plan(tools, config, "gemini-3-pro")
    assert made.full == ("read_file", "bash")
    assert len(made.deferred) == 20


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (None, 15), ("", 15), ("  ", 15), ("10", 10), (" 10 ", 10), (10, 10), (10.0, 10), (0, 1), ("0", 1), (1, 1),
        ("10%", "10%"), ("2.5 %", "2.5%"), ("0%", 1), ({"tokens": 500}, TokenThreshold(tokens=500)),
        ({"tokens": "500"}, TokenThreshold(tokens=500)), ([20, "10%"], (20, "10%")), ([20], 20),
    ],
)  # fmt: skip
def test_d21_d08_values_of_the_threshold(value, read):
    assert configured(threshold=value).threshold == read


@pytest.mark.parametrize(
    "value",
    [
        -1, "-1", 1.5, "1.5", "abc", True, False, [], [[]], {}, {"tokens": -1}, {"tokens": None}, {"token": 5},
        "101%", "-3%", "%", float("nan"), float("inf"), "1e3", "\u0661", "10 tools", [15, "x"],
    ],
)  # fmt: skip
def test_d21_other_values_of_the_threshold_are_errors_that_name_it(value):
    with pytest.raises(ConfigError, match=r"^threshold: "):
        configured(threshold=value)


def test_d21_unknown_keys_are_errors_that_name_them_and_the_known_ones():
    with pytest.raises(ConfigError, match=r"^treshold: .*threshold, never_defer, ranker.*Nearest: threshold"):
        configured(treshold=3)
    with pytest.raises(ConfigError, match=r"^capabilites: .*Nearest: capabilities"):
        SearchConfig.from_json({"capabilites": []})


@pytest.mark.parametrize("value", ["read_file", 3, ["read_file", 3], [""], {"read_file": True}])
def test_d21_never_defer_is_a_list_of_names(value):
    with pytest.raises(ConfigError, match=r"^never_defer: "):
        configured(never_defer=value)


@pytest.mark.parametrize("value", [None, "", " ", []])
def test_d21_an_absent_never_defer_is_the_default(value):
    assert configured(never_defer=value).never_defer == ()


def test_d21_the_ranker_is_one_of_the_known_ones():
    assert configured(ranker="bm25").ranker == "bm25"
    assert configured(ranker="").ranker == "hybrid"
    with pytest.raises(ConfigError, match=r"^ranker: .*semantic.*nearest: semantic"):
        configured(ranker="semantik")


@pytest.mark.parametrize(
    ("config", "limits"),
    [
        ({}, (8, 8, False)),
        ({"default_limit": 3, "max_limit": 12}, (3, 12, True)),
        ({"default_limit": "3"}, (3, 8, True)),
        ({"default_limit": 12}, (12, 12, False)),
        ({"max_limit": 12}, (8, 12, True)),
        ({"max_limit": 5}, (5, 5, False)),
        ({"default_limit": "", "max_limit": None}, (8, 8, False)),
    ],
)
def test_d01_both_limits_are_keys_and_leave_the_model_a_choice_where_they_differ(config, limits):
    made = configured(**config)
    assert (made.default_limit, made.max_limit, made.offer_limit) == limits


@pytest.mark.parametrize("value", [0, -1, 1.5, "many", True, {"tokens": 3}, "10%"])
@pytest.mark.parametrize("key", ["default_limit", "max_limit"])
def test_d21_a_limit_is_a_whole_number_from_1(key, value):
    with pytest.raises(ConfigError, match=f"^{key}: "):
        configured(**{key: value})


def test_d21_limits_that_contradict_each_other_are_an_error():
    with pytest.raises(ConfigError, match=r"^default_limit: 10 .* 5"):
        configured(default_limit=10, max_limit=5)


def test_d21_several_configs_are_united_and_may_not_contradict_each_other():
    def two(first, second):
        return SearchConfig.from_json(
            form({"ref": "auto_tool_search", "config": first}, {"ref": "tool_search", "config": second})
        )

    both = two(
        {"threshold": 10, "never_defer": ["a", "b"]},
        {"threshold": "10", "never_defer": ["b", "c"], "ranker": ""},
    )
    assert (both.threshold, both.never_defer) == (10, ("a", "b", "c"))
    assert both.mechanism == ("auto_tool_search", "tool_search")
    with pytest.raises(ConfigError, match=r"^threshold: 10 and 20"):
        two({"threshold": 10}, {"threshold": 20})


@pytest.mark.parametrize("value", ["{", "[]", 3, None, ["tool_search"]])
def test_what_is_no_json_form_is_an_error(value):
    with pytest.raises(ConfigError):
        SearchConfig.from_json(value)


def test_the_presets_hold_the_documented_values():
    table = {
        "mechanism": (
            ("auto_tool_search",),
            ("auto_tool_search",),
            ("tool_search",),
            ("openai_tool_search",),
        ),
        "activate": ("flagged", "threshold", "flagged", "flagged"),
        "threshold": (15, 15, None, None),
        "search_scope": ("visible", "visible", "deferred", "deferred"),
        "loaded_take_places": (False, True, True, False),
        "unloaded": ("stub", "stub", "omit", "stub"),
        "result_schemas": ("none", "full", "none", "none"),
        "unloaded_calls": ("run", "run", "run", "run"),
        "never_defer_overrides_always": (False, True, False, False),
        "masked_transport": ("client", "full", "client", "full"),
        "unregistered": ("search", "limited", "search", "search"),
        "on_unsupported": ("full", "full", "full", "full"),
        "namespace_max": (9, None, 9, 9),
        "session_store": (None, 4096, None, None),
        "ranker": ("hybrid", "keyword", "bm25", "hybrid"),
        "default_limit": (5, 8, 5, 5),
        "max_limit": (20, 8, 20, 20),
        "offer_limit": (True, False, True, True),
    }
    configs = [
        SearchConfig(),
        *(SearchConfig.preset(name) for name in ("everruns", "cogitator", "openhands")),
    ]
    assert {field: tuple(getattr(config, field) for config in configs) for field in table} == table
    assert set(PRESETS) == {"everruns", "cogitator", "openhands"}


def test_settings_can_be_compared_hashed_and_copied():
    config = SearchConfig(support={"b": True, "a": False}, threshold=["10%", {"tokens": 5}], hot={"z", "y"})
    same = SearchConfig(support={"a": False, "b": True}, threshold=("10%", {"tokens": 5}), hot=["y", "z"])
    assert config == same
    assert hash(config) == hash(same)
    assert config.but(sticky=False).but(sticky=True) == config


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("mechanism", "tool_serch"), ("mechanism", 3), ("never_defer", "bash"), ("hot", list("abcdef")),
        ("threshold", -1), ("activate", "always"), ("namespace_max", 0), ("support", {"x": "perhaps"}),
        ("transports", {"x": {"speed": 3}}), ("unloaded", "hidden"),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_an_error_that_names_it(field, value):
    with pytest.raises(ConfigError, match=field):
        SearchConfig(**{field: value})


def test_a_hot_list_holds_five_names():
    assert SearchConfig(hot=list("abcde")).hot == tuple("abcde")
    assert MAX_HOT == 5


def test_d08_a_threshold_counts_tokens_only_when_it_must_and_once():
    calls = []

    def tokens():
        calls.append(1)
        return 700

    def ask(threshold, tools=10, window=None, cap=None):
        return check_threshold(read_threshold(threshold), tools=tools, tokens=tokens, window=window, cap=cap)

    assert ask(10).words == "10 tools reach the threshold of 10"
    assert not ask(11).reached
    assert not ask(None).reached
    assert calls == []
    either = ask([11, {"tokens": 701}, {"tokens": 700}])
    assert (either.reached, calls) == (True, [1])
    assert either.words == "700 tokens of 10 tools reach the threshold of 700 tokens"
    assert ask("70%", window=1000).reached
    assert not ask("71%", window=1000).reached
    assert ask("71%", window=1000, cap=700).reached
    assert "capped at 700" in ask("71%", window=1000, cap=700).words
    assert ask("10%", cap=700).reached
    assert not ask("10%", cap=701).reached
    assert not ask("10%").reached
    assert "unknown size" in ask("10%").words
