"""What users write for arms and models, and what they are told when it is wrong."""

from __future__ import annotations

import importlib.util
import sys

import pytest
from arm_sets import ASKED, answered, names, twelve_tools

from model_folders import write_static_model
from semantic_toolsearch import OnnxEmbedder, OpenAICompatibleEmbedder, SearchConfig, StaticEmbedder
from semantic_toolsearch.embedding import DEFAULT_MODEL, shipped
from semantic_toolsearch.errors import ConfigError, EmbedderError, MissingExtraError
from semantic_toolsearch.evaluation.answers import DEPTH
from semantic_toolsearch.evaluation.arms.emulated import EmulatedArm
from semantic_toolsearch.evaluation.arms.flat_bm25 import FlatBm25Ranker
from semantic_toolsearch.evaluation.arms.full import FullArm
from semantic_toolsearch.evaluation.arms.local import LocalArm
from semantic_toolsearch.evaluation.arms.models import model_code, named_embedder
from semantic_toolsearch.evaluation.arms.parsing import ARMS, parse_arm
from semantic_toolsearch.evaluation.running import arm_key
from semantic_toolsearch.testing import HashingEmbedder

HASHING = "semantic_toolsearch.testing:HashingEmbedder"
OFFLINE = [name for name in ARMS if name != "openai-tool-search"]

MODULE = '''
import numpy as np
from semantic_toolsearch import Ranking
from semantic_toolsearch.testing import HashingEmbedder


class Alphabetical:
    """Ranks by name."""

    def __init__(self, catalog):
        self.order = sorted(range(len(catalog)), key=lambda place: catalog[place].name)

    def rank(self, query, *, limit, visible=None):
        order = [place for place in self.order if visible is None or visible[place]][:limit]
        return Ranking(np.array(order, dtype=np.int64), np.linspace(1, 0.5, len(order), dtype=np.float32))


class First:
    def rank(self, query, *, limit, visible=None):
        return Ranking(np.array([0]), np.array([1.0], dtype=np.float32))


class Shelf:
    first = First()


model = HashingEmbedder(64)
number = 3


def broken_model():
    raise OSError("no such model")
'''


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    """A module in the current folder."""
    (tmp_path / "own_rankers.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "broken_module.py").write_text("import not_there_at_all\n", encoding="utf-8")
    (tmp_path / "crashing_module.py").write_text("1 / 0\n", encoding="utf-8")
    (tmp_path / "no_python.py").write_text("def (:\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each])
    yield "own_rankers"
    for name in ("own_rankers", "broken_module", "crashing_module", "no_python"):
        sys.modules.pop(name, None)
    named_embedder.cache_clear()


def test_s23_every_offline_arm_answers_every_query_of_a_twelve_tool_set(own_module):
    dataset = twelve_tools()
    specs = [*OFFLINE, f"semantic@{HASHING}", f"{own_module}:Alphabetical"]
    arms = [parse_arm(spec, cache=False, embedder=HASHING) for spec in specs]
    assert [arm.name for arm in arms] == specs
    found = {arm.name: answered(arm, dataset) for arm in arms}
    gold = {query: dataset.gold_places(query) for query, _, tool in ASKED if tool}
    for arm in arms:
        answers = found[arm.name]
        assert list(answers) == [query.id for query in dataset.queries]
        assert all(answer.failed is None for answer in answers.values())
        assert all(len(answer.returned) <= 5 for answer in answers.values()) == (arm.name != "full")
        assert all(bool(answer.ranked) for query, answer in answers.items() if query in gold) == arm.ranks
        assert arm.how == ("emulated" if arm.name.startswith("anthropic") else "local")
    for name in specs[:-1]:
        for query, places in gold.items():
            assert set(places) <= set(found[name][query].returned), (name, query)
    for words in ("keyword", "bm25", "flat-bm25", "regex", "anthropic-bm25", "anthropic-regex"):
        assert found[words]["nothing"].returned == ()
    assert names(dataset, found[f"{own_module}:Alphabetical"]["bill"].ranked[:3]) == [
        "book_hotel",
        "convert_currency",
        "create_invoice",
    ]


def test_kinds_of_arms():
    assert isinstance(parse_arm("full"), FullArm)
    for spec, variant in (("anthropic-bm25", "bm25"), ("anthropic-regex", "regex")):
        arm = parse_arm(spec)
        assert isinstance(arm, EmulatedArm)
        assert (arm.name, arm.how, arm.variant) == (spec, "emulated", variant)
    config = SearchConfig(default_limit=3)
    arm = parse_arm("bm25", config=config, rules=False, cache=False)
    assert isinstance(arm, LocalArm)
    assert (arm.ranker, arm.config, arm.rules, arm.cache) == ("bm25", config, False, False)


def test_s23_flat_bm25_ranks_as_the_textbook_does_when_it_is_alone():
    dataset = twelve_tools()
    arm = parse_arm("flat-bm25", rules=False)
    assert (arm.name, arm.how, arm.ranks) == ("flat-bm25", "local", True)
    textbook = FlatBm25Ranker(dataset.catalog)
    for query, answer in ((query, answered(arm, dataset)[query.id]) for query in dataset.queries):
        assert answer.ranked == tuple(textbook.rank(query.text, limit=DEPTH).positions.tolist())


def test_arms_of_one_model_share_its_embedder():
    named = (f"hybrid@{name}" for name in ("small", DEFAULT_MODEL))
    arms = [parse_arm(spec) for spec in ("semantic", "hybrid", *named, "rrf")]
    assert isinstance(arms[0].embedder, OnnxEmbedder)
    assert len({id(arm.embedder) for arm in arms}) == 1
    others = [parse_arm(f"{name}@{HASHING}") for name in ("semantic", "hybrid")]
    assert isinstance(others[0].embedder, HashingEmbedder)
    assert others[0].embedder is others[1].embedder
    assert others[0].embedder is not arms[0].embedder


def test_an_arm_is_named_by_a_models_short_name(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "_PACKAGE", tmp_path)
    (tmp_path / "models").mkdir()
    write_static_model(tmp_path / "models" / "toolsearch-nano")
    named_embedder.cache_clear()
    arms = [parse_arm(f"hybrid@{name}") for name in ("nano", "toolsearch-nano")]
    named_embedder.cache_clear()
    assert [arm.name for arm in arms] == ["hybrid@nano", "hybrid@toolsearch-nano"]
    assert isinstance(arms[0].embedder, StaticEmbedder)
    assert arms[0].embedder is arms[1].embedder


def test_kept_pieces_know_the_weights_they_were_measured_with():
    assert model_code("small") == model_code(DEFAULT_MODEL) == OnnxEmbedder().id
    assert arm_key(parse_arm("hybrid"))["code"] == OnnxEmbedder().id


def test_the_default_model_is_of_arms_that_name_none():
    model = HashingEmbedder()
    assert parse_arm("hybrid", embedder=model).embedder is model
    assert isinstance(parse_arm("hybrid", embedder=HASHING).embedder, HashingEmbedder)
    assert isinstance(parse_arm("hybrid@small", embedder=model).embedder, OnnxEmbedder)


def test_an_endpoint_is_a_model():
    arm = parse_arm("semantic@openai:http://localhost:11434/v1|nomic-embed-text")
    assert isinstance(arm.embedder, OpenAICompatibleEmbedder)
    assert (arm.embedder.base_url, arm.embedder.model) == ("http://localhost:11434/v1", "nomic-embed-text")
    assert named_embedder("openai:|text-embedding-3-small").base_url == "https://api.openai.com/v1"


def test_an_endpoint_that_is_down_fails_the_arm():
    arm = parse_arm("semantic@openai:http://127.0.0.1:9/v1|m", cache=False)
    with pytest.raises(
        EmbedderError, match=r"cannot be embedded: embedding endpoint http://127\.0\.0\.1:9/v1"
    ):
        arm.prepare(twelve_tools())


def test_a_missing_package_is_told_at_once(monkeypatch):
    found = importlib.util.find_spec
    absent = ("sentence_transformers", "openai")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in absent else found(name))
    with pytest.raises(MissingExtraError, match=r"semantic-toolsearch\[sentence-transformers\]"):
        parse_arm("semantic@st:org/never-asked-before")
    with pytest.raises(MissingExtraError, match=r"semantic-toolsearch\[openai\]"):
        parse_arm("semantic@openai:http://localhost:1/v1|never-asked-before")


def test_s13_a_ranker_by_import_path(own_module):
    dataset = twelve_tools()
    assert names(dataset, answered(parse_arm(f"{own_module}:Alphabetical"), dataset)["mail"].ranked[:1]) == [
        "book_hotel"
    ]
    made = parse_arm(f"{own_module}:Shelf.first")
    assert answered(made, dataset)["mail"].ranked == (0,)
    assert parse_arm(f"hybrid@{own_module}:model").embedder.dimension == 64


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("hybird", "There is no arm 'hybird'. Did you mean hybrid? Write one of full, keyword, bm25"),
        ("anthropic_bm25", "Did you mean anthropic-bm25"),
        ("", "There is no arm ''. Write one of"),
        ("zzzz", "There is no arm 'zzzz'. Write one of"),
        ("bm25@small", "bm25 uses no embedding model; those that do are semantic, hybrid, rrf"),
        ("full@small", "full uses no embedding model"),
        ("anthropic-bm25@x", "anthropic-bm25 uses no embedding model"),
        ("hybrid@", "There is no embedding model ''"),
        ("hybrid@smal", "no embedding model 'smal'. Did you mean small? Write one of: small"),
        ("hybrid@st:", "names no model; write st:FOLDER"),
        ("hybrid@openai:http://localhost/v1", "is incomplete; write openai:"),
        ("hybrid@openai:http://localhost/v1|", "is incomplete; write openai:"),
        ("hybrid@openai:ftp://x|m", "is no http(s) address"),
        ("my module:Name", "'my module:Name' is no import path"),
        ("module:", "'module:' is no import path"),
        (":Name", "':Name' is no import path"),
        ("a:b:c", "'a:b:c' is no import path"),
        ("not_there_at_all:Name", "importing not_there_at_all failed with ModuleNotFoundError"),
        ("broken_module:Name", "broken_module failed with ModuleNotFoundError: No module named 'not_there_at_all'"),
        ("crashing_module:Name", "importing crashing_module failed with ZeroDivisionError: division by zero"),
        ("no_python:Name", "importing no_python failed with SyntaxError"),
        ("own_rankers:Alphabetic", "own_rankers has no Alphabetic; did you mean Alphabetical?"),
        ("own_rankers:Shelf.last", "own_rankers has no Shelf.last."),
        ("own_rankers:number", "own_rankers:number: A ranker needs a method rank"),
        ("own_rankers:First@small", "brings its own model; leave out @small"),
        ("hybrid@own_rankers:number", "own_rankers:number: an embedder must be"),
        ("hybrid@own_rankers:broken_model", "own_rankers:broken_model() failed with OSError: no such model"),
        ("hybrid@own_rankers:First", "own_rankers:First: an embedder must be"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told(own_module, monkeypatch, spec, message):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name if name == "openai" else found(name))
    with pytest.raises(ConfigError) as caught:
        parse_arm(spec)
    assert message in str(caught.value)


def test_every_form_is_listed_when_one_is_unknown():
    with pytest.raises(ConfigError) as caught:
        parse_arm("zzzz")
    assert all(name in str(caught.value) for name in (*ARMS, "package.module:Name"))
    with pytest.raises(ConfigError) as caught:
        parse_arm("hybrid@zzzz")
    assert all(
        form in str(caught.value) for form in ("small", "nano", "st:", "openai:", "package.module:Name")
    )


def test_s25_openais_search_is_not_emulated():
    with pytest.raises(
        ConfigError, match=r"shows no ranking .* cannot be emulated: run it with --live .* --replay"
    ):
        parse_arm("openai-tool-search")
