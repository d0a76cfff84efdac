from __future__ import annotations

import pytest

from semantic_toolsearch import ToolDefinition
from semantic_toolsearch.documents import lexical_tokens
from semantic_toolsearch.evaluation.dataset import Dataset, Query
from semantic_toolsearch.evaluation.measuring.slices import (
    AXES,
    overlap,
    query_slices,
    script_of,
    slice_figures,
)


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Turn on the light", "latin"),
        ("Gerätestatus prüfen", "latin"),
        ("ＦＵＬＬ　ｗｉｄｔｈ", "latin"),
        ("查询天气", "cjk"),
        ("東京都の天気予報", "kana"),
        ("ライトをつけて", "kana"),
        ("ﾗｲﾄ", "kana"),
        ("查询ライト天气预报", "cjk"),
        ("조명을 켜 줘", "hangul"),
        ("включи свет", "cyrillic"),
        ("شغل الضوء", "arabic"),
        ("बत्ती जलाओ", "devanagari"),
        ("เปิดไฟ", "thai"),
        ("άναψε το φως", "greek"),
        ("תדליק את האור", "hebrew"),
        ("ჩართე შუქი", "other"),
        ("42 + 7?", "other"),
        ("", "other"),
        ("свет on", "cyrillic"),
        ("свет lamp", "mixed"),
    ],
)
def test_a_text_is_in_the_script_of_most_of_its_letters(text, script):
    assert script_of(text) == script


def test_overlap_is_the_share_of_content_words_by_hand():
    tool = ToolDefinition(
        name="create_invoice",
        description="Bills a customer.",
        parameters={"type": "object", "properties": {"amount": {"type": "number", "enum": [10, 20]}}},
    )
    words = frozenset(lexical_tokens(tool))
    # Content words: bill, customer, amount, 10 (a number, left out), euros.
    assert overlap("Bill the customer an amount of 10 euros", [words]) == 3 / 4
    assert overlap("bill bill BILLS customers", [words]) == 1.0
    assert overlap("Bill euros", [words, frozenset({"euro"})]) == 1 / 2
    assert overlap("Bill", [words, frozenset()]) == 1 / 2
    assert overlap("the of 7", [words]) == 0.0


def a_dataset():
    tools = (
        ToolDefinition(name="create_invoice", description="Bills a customer"),
        ToolDefinition(name="weather.now", description="Tells the weather"),
    )
    queries = (
        Query("q1", "use createInvoice to bill a customer", kind="named", language="en"),
        Query("q2", "will it rain", kind="plain", language="en"),
        Query("q3", "bill Berlin about tomorrow's rain, thunder and more", kind="plain", language="de"),
        Query("q4", "погода", language="ru"),
        Query("q5", "make me a sandwich", kind="nothing", answerable=False),
        Query("q6", "lost", kind="plain"),
    )
    return Dataset(
        name="two tools",
        tools=tools,
        ids=("a", "b"),
        queries=queries,
        gold={"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"a": 1, "b": 1}, "q4": {"b": 1}, "q6": {"gone": 1}},
        unusable={"gone": "broken"},
    )


def test_queries_are_sorted_along_each_axis():
    slices = query_slices(a_dataset())
    assert slices == {
        "q1": {
            "kind": "named",
            "overlap": ">=60 %",
            "name": "named",
            "gold tools": "1",
            "script": "latin",
            "language": "en",
        },
        "q2": {
            "kind": "plain",
            "overlap": "<15 %",
            "name": "not named",
            "gold tools": "1",
            "script": "latin",
            "language": "en",
        },
        "q3": {
            "kind": "plain",
            "overlap": "<15 %",
            "name": "not named",
            "gold tools": "2+",
            "script": "latin",
            "language": "de",
        },
        "q4": {
            "overlap": "<15 %",
            "name": "not named",
            "gold tools": "1",
            "script": "cyrillic",
            "language": "ru",
        },
        "q5": {"kind": "nothing", "script": "latin"},
        "q6": {"kind": "plain", "gold tools": "1", "script": "latin"},
    }
    assert all(list(row) == [axis for axis in AXES if axis in row] for row in slices.values())


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("call create_invoice now", True),
        ("please CREATE-INVOICE", True),
        ("create an invoice", False),
        ("create invoice for ACME", True),
        ("recreate invoices", False),
        ("create invoices", False),
        ("is the weather now fine", True),
        ("how is the weather", False),
    ],
)
def test_a_name_stands_in_a_query_in_any_case_style_but_whole(query, named):
    known = a_dataset()
    dataset = Dataset("one", known.tools, known.ids, (Query("q", query),), {"q": {"a": 1, "b": 1}})
    assert query_slices(dataset)["q"]["name"] == ("named" if named else "not named")


def test_overlap_bins_hold_their_lower_bound():
    words = " ".join(f"w{chr(97 + number)}x" for number in range(20))

    def bin_of(shared):
        tool = ToolDefinition(name="t", description=" ".join(words.split()[:shared]))
        dataset = Dataset("one", (tool,), ("a",), (Query("q", words),), {"q": {"a": 1}})
        return query_slices(dataset)["q"]["overlap"]

    assert [bin_of(shared) for shared in (0, 2, 3, 6, 7, 11, 12, 20)] == [
        "<15 %",
        "<15 %",
        "15-35 %",
        "15-35 %",
        "35-60 %",
        "35-60 %",
        ">=60 %",
        ">=60 %",
    ]


def test_figures_of_slices_are_means_over_their_answerable_queries():
    dataset = a_dataset()
    values = {"hit@1": (1.0, 0.0, 0.5, 1.0, 0.0, 0.0), "MRR": (1.0, 0.25, 0.5, 1.0, 0.0, 0.0)}
    figures = slice_figures(dataset, query_slices(dataset), values)
    assert figures["kind"] == {
        "named": {"queries": 1, "hit@1": 1.0, "MRR": 1.0},
        "plain": {"queries": 3, "hit@1": 0.5 / 3, "MRR": 0.25},
    }
    assert figures["gold tools"]["2+"] == {"queries": 1, "hit@1": 0.5, "MRR": 0.5}
    assert figures["script"]["latin"]["queries"] == 4
    assert list(figures) == ["kind", "overlap", "name", "gold tools", "script", "language"]
    assert list(figures["overlap"]) == ["<15 %", ">=60 %"]
    assert list(figures["name"]) == ["named", "not named"]
    assert list(figures["language"]) == ["de", "en", "ru"]


def test_axes_that_nobody_said_are_absent():
    dataset = Dataset("one", (ToolDefinition(name="t"),), ("a",), (Query("q", "say t"),), {"q": {"a": 1}})
    figures = slice_figures(dataset, query_slices(dataset), {"MRR": (1.0,)})
    assert "kind" not in figures
    assert "language" not in figures


def with_parts(*said):
    queries = tuple(
        Query(f"q{number}", "say t", part=part, language=language)
        for number, (part, language) in enumerate(said)
    )
    gold = {query.id: {"a": 1} for query in queries}
    return query_slices(Dataset("one", (ToolDefinition(name="t"),), ("a",), queries, gold))


def test_s28_parts_called_by_language_tags_are_the_languages():
    slices = with_parts(("de", None), ("zh-hk", None), ("sr-Latn", None), ("de-CH", None))
    assert [row["language"] for row in slices.values()] == ["de", "zh-hk", "sr-Latn", "de-CH"]


@pytest.mark.parametrize(
    "parts",
    [
        [("de", None), ("dialogues", None)],
        [("de", None), (None, None)],
        [("AM", None), ("FT", None)],
        [("web", None), ("web", None)],
        [("level-1", None), ("de", None)],
    ],
)
def test_s28_other_parts_are_no_languages(parts):
    assert all("language" not in row for row in with_parts(*parts).values())


def test_s28_languages_that_the_dataset_says_come_before_its_parts():
    slices = with_parts(("de", "en"), ("fr", None))
    assert [row.get("language") for row in slices.values()] == ["en", None]


def test_a_gold_tool_that_no_catalog_holds_is_one_of_several():
    known = a_dataset()
    dataset = Dataset(
        "one", known.tools, known.ids, (Query("q", "x"),), {"q": {"a": 1, "gone": 1}}, unusable=known.unusable
    )
    assert query_slices(dataset)["q"]["gold tools"] == "2+"
