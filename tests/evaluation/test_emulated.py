"""The emulated hosted searches as arms: labelled, limited as documented, and one with the loopback provider's."""

from __future__ import annotations

import pytest
from arm_sets import answered, many_tools, names, twelve_tools

from semantic_toolsearch import ToolDefinition
from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.evaluation.answers import DEPTH
from semantic_toolsearch.evaluation.arms import emulated as module
from semantic_toolsearch.evaluation.arms.emulated import EmulatedArm
from semantic_toolsearch.evaluation.arms.patterns import written_pattern
from semantic_toolsearch.evaluation.dataset import Dataset, Query
from semantic_toolsearch.rankers.bm25 import TEXTBOOK_B, TEXTBOOK_K1
from semantic_toolsearch.testing.loopback import Surface
from semantic_toolsearch.testing.loopback.search import by_bm25, by_regex

BM25, REGEX = EmulatedArm("anthropic-bm25", "bm25"), EmulatedArm("anthropic-regex", "regex")


@pytest.mark.parametrize("arm", [BM25, REGEX])
def test_s24_an_emulation_says_so_and_states_what_is_unknown(arm):
    assert arm.how == "emulated"
    assert (arm.ranks, arm.hides) == (True, True)
    documented, chosen = arm.notes
    assert documented.startswith(f"{arm.name}: emulated here, the provider was not asked.")
    assert "at most 5 tools" in documented
    assert "10,000" in documented
    assert "not documented, and chosen" in chosen
    assert "a model would write its own" in chosen


def test_s24_the_unknowns_of_each_variant_are_named():
    assert all(
        word in BM25.notes[1]
        for word in (f"k1 = {TEXTBOOK_K1}", f"b = {TEXTBOOK_B}", "stems", "joined text", "ties")
    )
    assert all(word in REGEX.notes[1] for word in ("one field", "catalog order", "pattern is written"))
    assert "500 characters a query" in BM25.notes[0]
    assert "200 characters" in REGEX.notes[0]


def test_s24_bm25_gets_the_query_and_regex_a_pattern():
    dataset = twelve_tools([("q", "Please REMOVE it for the receiver?", "delete_file")])
    assert names(dataset, answered(REGEX, dataset)["q"].ranked) == ["send_mail", "delete_file"]
    found = names(dataset, answered(BM25, dataset)["q"].ranked)
    assert set(found) >= {"send_mail", "delete_file", "book_hotel"}  # the hotel has "for" and "the"


def test_s24_five_are_returned_and_nothing_is_padded_in():
    dataset = many_tools(80, "thing", "zebra")
    for arm in (BM25, REGEX):
        found = answered(arm, dataset)
        assert found["q0"].ranked == tuple(range(DEPTH))
        assert found["q0"].returned == (0, 1, 2, 3, 4)
        assert (found["q1"].ranked, found["q1"].returned, found["q1"].failed) == ((), (), None)


def test_s24_what_the_provider_refuses_fails_with_its_error():
    dataset = many_tools(5, "thing " * 100, "thing")
    found = answered(BM25, dataset)
    assert found["q0"].failed == "invalid_tool_input: Query exceeds 500 characters"
    assert found["q0"].ranked == ()
    assert found["q1"].failed is None
    assert answered(REGEX, dataset)["q0"].failed is None  # the pattern is one word
    prepared = BM25.prepare(dataset)
    assert prepared.explain(dataset.queries[0], [0]) == []


@pytest.mark.parametrize("arm", [BM25, REGEX])
def test_s24_more_tools_than_a_request_may_defer_are_refused(arm):
    with pytest.raises(ConfigError, match=r"at most 10,000 deferred tools in a request, and many has 10,001"):
        arm.prepare(many_tools(10_001, "thing"))


@pytest.mark.parametrize("arm", [BM25, REGEX])
def test_s28_hidden_tools_are_neither_ranked_nor_returned(arm):
    dataset = many_tools(80, "thing")
    found = answered(arm, dataset, {"q0": [0, 2, 70]})["q0"]
    left = [place for place in range(80) if place not in (0, 2, 70)]
    assert found.ranked == tuple(left[:DEPTH])
    assert found.returned == (1, 3, 4, 5, 6)


@pytest.mark.parametrize("arm", [BM25, REGEX])
def test_explain_agrees_with_the_answers(arm):
    dataset = twelve_tools()
    prepared = arm.prepare(dataset)
    assert prepared.build.seconds > 0
    for query, answer in prepared.answers(dataset.queries):
        whys = prepared.explain(query, range(12))
        by_rank = sorted((why for why in whys if why.rank), key=lambda why: why.rank)
        assert answer.ranked == tuple(why.place for why in by_rank)
        assert answer.returned == tuple(why.place for why in by_rank if why.verdict == "returned")
        assert {why.verdict for why in by_rank[5:]} <= {"capped"}
        assert all((why.score > 0) == (why.rank is not None) for why in whys)
        assert all(why.verdict == "unranked" and why.reason for why in whys if why.rank is None)
    why = prepared.explain(dataset.queries[0], [0])[0]
    assert why.words["description"] == ("bill", "custom", "order")


def mixed_tools(count=120):
    """Tools of several namespaces with nested arguments, whose names need a wire form."""
    nouns = ("invoice", "mail", "file", "Room", "天気", "straße")
    tools = tuple(
        ToolDefinition(
            name=f"{('get', 'create', 'delete')[place % 3]}{nouns[place % 6]}{place % 40}",
            description=f"Handles {nouns[(place // 6) % 6]} number {place % 17} for a customer",
            namespace=(None, "crm", "files")[place % 3],
            parameters={
                "type": "object",
                "properties": {
                    nouns[(place // 3) % 6]: {"type": "string", "description": f"part {place % 5}"},
                    "more": {
                        "type": "array",
                        "items": {"type": "object", "properties": {f"deep{place % 9}": {}}},
                    },
                },
            },
        )
        for place in range(count)
    )
    texts = (
        "create an invoice for the customer",
        "delete file number 3",
        "天気 straße",
        "deep4 part 2 mail",
        "get-room 7",
        "crm",
        "(unbalanced [pattern",
        "STRASSE",
        "zebra",
        "",
    )
    queries = tuple(Query(f"q{place}", text, answerable=False) for place, text in enumerate(texts))
    return Dataset("mixed", tools, tuple(f"t{place}" for place in range(count)), queries, {})


@pytest.mark.parametrize(("arm", "search"), [(BM25, by_bm25), (REGEX, by_regex)])
def test_s24_an_emulated_arm_finds_what_the_loopback_provider_finds(arm, search):
    from semantic_toolsearch.providers.base import wire_schema

    dataset = mixed_tools()
    catalog = dataset.catalog
    surfaces = [
        Surface(name, {"name": name, "description": tool.description}, wire_schema(tool), deferred=True)
        for name, tool in zip(catalog.wire_names, catalog, strict=True)
    ]
    some = 0
    for query, answer in arm.prepare(dataset).answers(dataset.queries):
        asked = query.text if arm is BM25 else written_pattern(query.text)
        if arm is REGEX and not asked:
            continue
        found = search(asked, None, surfaces)
        twenty = search(asked, 20, surfaces)
        assert [catalog.wire_names[place] for place in answer.returned] == [each.name for each in found]
        assert [catalog.wire_names[place] for place in answer.ranked[:20]] == [each.name for each in twenty]
        some += len(found)
    assert some > 20


@pytest.mark.parametrize("arm", [BM25, REGEX])
def test_s24_as_many_tools_as_a_request_may_defer_are_taken(arm, monkeypatch):
    monkeypatch.setattr(module, "MAX_DEFERRED", 5)
    assert answered(arm, many_tools(5, "thing"))["q0"].failed is None
    with pytest.raises(ConfigError, match="at most 5 deferred tools"):
        arm.prepare(many_tools(6, "thing"))
