"""The numbers of the rules, and the presets."""

from __future__ import annotations

import pytest

from semantic_toolsearch import SearchConfig
from semantic_toolsearch.errors import ConfigError


def test_d01_the_defaults():
    config = SearchConfig()
    assert (config.ranker, config.default_limit, config.max_limit, config.offer_limit) == (
        "hybrid",
        5,
        20,
        True,
    )
    assert (config.band, config.ties, config.weak_hits) == (0.5, "name", "hint")
    assert (config.miss_names, config.browse_names) == (50, 100)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "everruns",
            {
                "ranker": "keyword",
                "default_limit": 8,
                "max_limit": 8,
                "offer_limit": False,
                "band": 0.5,
                "ties": "registration",
                "weak_hits": "load",
                "miss_names": None,
                "browse_names": None,
            },
        ),
        (
            "cogitator",
            {
                "ranker": "bm25",
                "default_limit": 5,
                "max_limit": 20,
                "offer_limit": True,
                "band": 0.0,
                "ties": "name",
                "weak_hits": "load",
                "miss_names": 50,
                "browse_names": 100,
            },
        ),
        (
            "openhands",
            {"default_limit": 5, "max_limit": 20, "band": 0.5, "ties": "name", "weak_hits": "hint"},
        ),
    ],
)
def test_d01_presets_repeat_their_sources(name, expected):
    values = SearchConfig.preset(name).model_dump()
    assert {key: values[key] for key in expected} == expected


def test_a_preset_takes_changes():
    changed = SearchConfig.preset("everruns", ranker="hybrid", miss_names=50)
    assert (changed.ranker, changed.miss_names, changed.max_limit) == ("hybrid", 50, 8)


def test_a_copy_with_changes_is_checked_and_the_original_stays():
    config = SearchConfig()
    assert config.but(band=0.0).band == 0.0
    assert config.band == 0.5
    with pytest.raises(ConfigError, match="default_limit"):
        config.but(max_limit=3)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"bandd": 0.5}, "bandd"),
        ({"band": 1.5}, "band"),
        ({"band": float("nan")}, "band"),
        ({"default_limit": 0}, "default_limit"),
        ({"default_limit": 30}, "max_limit 20"),
        ({"ties": "random"}, "ties"),
        ({"weak_hits": "maybe"}, "weak_hits"),
        ({"hints": -1}, "hints"),
        ({"miss_names": -1}, "miss_names"),
        ({"ranker": "elastic"}, "hybrid"),
        ({"hnsw_from": 0}, "hnsw_from"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(values, told):
    with pytest.raises(ConfigError, match=told):
        SearchConfig(**values)


def test_an_unknown_preset_lists_the_presets():
    with pytest.raises(ConfigError, match=r"cogitator, everruns, openhands"):
        SearchConfig.preset("everun")


def test_settings_do_not_change():
    with pytest.raises(ValueError, match="frozen"):
        SearchConfig().band = 0.1
