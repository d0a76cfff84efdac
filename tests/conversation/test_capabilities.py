from __future__ import annotations

from itertools import combinations

import pytest

from semantic_toolsearch.capabilities import Capability, combine, parse
from semantic_toolsearch.config import CAPABILITY_IDS, SearchConfig
from semantic_toolsearch.errors import ConfigError

AUTO, OPENAI, CLAUDE, CLIENT = CAPABILITY_IDS
MODELS = ("gpt-5.4", "claude-sonnet-5", "gemini-3-pro")
SUBSETS = [subset for size in range(5) for subset in combinations(CAPABILITY_IDS, size)]

# For each subset, the mode on each of the three models and the number of warnings.
EXPECTED = {
    (): ("full", "full", "full", 0),
    (AUTO,): ("hosted", "hosted", "stub", 0),
    (OPENAI,): ("hosted", "full", "full", 0),
    (CLAUDE,): ("full", "hosted", "full", 0),
    (CLIENT,): ("stub", "stub", "stub", 0),
    (AUTO, OPENAI): ("hosted", "hosted", "stub", 1),
    (AUTO, CLAUDE): ("hosted", "hosted", "stub", 1),
    (AUTO, CLIENT): ("stub", "stub", "stub", 0),
    (OPENAI, CLAUDE): ("hosted", "hosted", "full", 0),
    (OPENAI, CLIENT): ("hosted", "stub", "stub", 0),
    (CLAUDE, CLIENT): ("stub", "hosted", "stub", 0),
    (AUTO, OPENAI, CLAUDE): ("hosted", "hosted", "stub", 1),
    (AUTO, OPENAI, CLIENT): ("stub", "stub", "stub", 1),
    (AUTO, CLAUDE, CLIENT): ("stub", "stub", "stub", 1),
    (OPENAI, CLAUDE, CLIENT): ("hosted", "hosted", "stub", 0),
    (AUTO, OPENAI, CLAUDE, CLIENT): ("stub", "stub", "stub", 1),
}


@pytest.mark.parametrize("name", CAPABILITY_IDS)
def test_e01_e02_each_id_parses_and_describes_itself(name):
    (capability,) = parse(name)
    assert capability == Capability(name)
    assert capability.category == "Optimization"
    assert capability.features == ()
    assert capability.dependencies == ()


def test_e01_there_are_four_and_a_typo_is_told_the_nearest():
    assert len(CAPABILITY_IDS) == 4
    with pytest.raises(ConfigError) as raised:
        parse("tool_serch")
    message = str(raised.value)
    assert all(name in message for name in CAPABILITY_IDS)
    assert message.endswith("Nearest: tool_search.")


def test_e03_ids_objects_and_lists_are_read_alike():
    assert parse([{"ref": CLIENT}]) == parse(CLIENT) == parse({"ref": CLIENT, "config": None})
    assert parse([AUTO, {"ref": CLIENT, "config": {"threshold": 3}}]) == (
        Capability(AUTO),
        Capability(CLIENT, config={"threshold": 3}),
    )
    assert parse(parse([AUTO, CLIENT])) == parse([AUTO, CLIENT])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (7, "an id or an object"),
        ([["tool_search"]], "an id or an object"),
        ({"config": {}}, "ref"),
        ({"ref": "tool_search", "cfg": {}}, "cfg: no key"),
        ({"ref": "tool_search", "config": [1]}, "config"),
        ({"ref": "tool_search", "config": {"treshold": 3}}, "treshold: no key.*Nearest: threshold"),
        ({"ref": None}, "None"),
        ("", "no capability ''"),
        ("TOOL_SEARCH", "no capability"),
    ],
)
def test_e01_anything_else_is_refused_with_the_key(value, said):
    with pytest.raises(ConfigError, match=said):
        parse(value)


@pytest.mark.parametrize("subset", SUBSETS)
@pytest.mark.parametrize("turned", [False, True])
def test_d11_e06_e10_e12_e25_every_subset_on_three_models(subset, turned, plan, many):
    *modes, warned = EXPECTED[subset]
    ids = tuple(reversed(subset)) if turned else subset
    config = SearchConfig(mechanism=ids)
    for model, mode in zip(MODELS, modes, strict=True):
        made = plan(many(20), config, model)
        assert made.mode == mode, model
        assert len(made.warnings) == warned, model
        searcher = {"gpt-5.4": "openai", "claude-sonnet-5": "bm25"}.get(model)
        assert made.search == {"hosted": searcher, "stub": "ours", "full": None}[mode]
        assert (len(made.full), len(made.deferred)) == ((20, 0) if mode == "full" else (0, 20))


def test_e25_auto_beside_a_hosted_id_is_auto_alone_with_one_warning(plan, many):
    for model in MODELS:
        both = plan(many(20), SearchConfig(mechanism=(AUTO, OPENAI)), model)
        alone = plan(many(20), SearchConfig(mechanism=AUTO), model)
        assert len(both.warnings) == 1
        assert OPENAI in both.warnings[0]
        assert both.full == alone.full
        assert (both.mode, both.search, both.reason) == (alone.mode, alone.search, alone.reason)


def test_d11_an_id_given_twice_warns():
    assert combine([CLIENT]).warnings == ()
    assert combine([CLIENT, CLIENT]).warnings == ("Given more than once: tool_search.",)
    assert combine([CLIENT, CLIENT]).hosted == combine([CLIENT]).hosted


def test_e23_tool_search_beside_auto_searches_here_behind_an_address(plan, many):
    config = SearchConfig.preset("everruns", mechanism=(AUTO, CLIENT))
    made = plan(many(20), config, "gpt-5.4", base_url="https://gw.example.test/v1")
    assert (made.mode, made.search, len(made.deferred)) == ("stub", "ours", 20)
    assert plan(many(20), config, "gpt-5.4").mode == "stub"


def test_e57_a_hosted_id_beside_tool_search_is_hosted_where_supported(plan, many):
    config = SearchConfig(mechanism=(CLAUDE, CLIENT))
    assert plan(many(20), config, "claude-sonnet-5").mode == "hosted"
    assert plan(many(20), config, "claude-3-5-haiku").mode == "stub"
    assert plan(many(20), config, "claude-sonnet-5", transport="openrouter").mode == "stub"


def test_e73_lists_of_code_and_of_the_json_form_are_united(plan, files, many):
    from semantic_toolsearch.policies import PolicyLists

    config = SearchConfig.from_json(
        {"capabilities": [{"ref": CLIENT, "config": {"never_defer": ["read_file"]}}]}
    )
    made = plan(files + many(20), config, "gemini-3-pro", agent=PolicyLists(never_defer=["bash"]))
    assert made.full == ("read_file", "bash")
    assert len(made.deferred) == 24
