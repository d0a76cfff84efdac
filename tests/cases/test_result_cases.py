"""Failures of other tool searches, from public reports: what a result holds (BC-11, BC-15, BC-16, BC-17)."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from case_tools import asked, raw_names, t

from semantic_toolsearch import ToolSearch

# --- BC-11: tiny catalogs


@pytest.mark.parametrize(
    ("tools", "expectations"),
    [
        (
            [t("forecast_get", "Weather forecast for a place"), t("mail_send", "Send a mail")],
            [("loaded", "forecast_get", "weather forecast", "forecast weather")],
        ),
        (
            [t("forecast_get", "Weather forecast for a place")],
            [("loaded", "forecast_get", "weather forecast", "weather")],
        ),
        ([t("翻訳", "文章を翻訳します")], [("loaded", "翻訳", "翻訳して", "翻訳")]),
        (
            [
                t("forecastGet", "Weather forecast"),
                t("radarShow", "Weather radar"),
                t("alertList", "Weather alerts"),
            ],
            [("within3", "forecastGet radarShow alertList", "weather")],
        ),
        (
            [t("قفل-الباب", "إغلاق باب البيت"), t("قفل-النافذة", "إغلاق نافذة البيت")],
            [("within3", "قفل-الباب قفل-النافذة", "إغلاق البيت")],
        ),
    ],
    ids=["reported", "one", "one japanese", "all share the word", "both share all words"],
)
def test_bc11_tiny_catalogs(check, search_of, tools, expectations):
    """Kind: arithmetic. Weights stay positive with one tool, with two, and for a word that all share."""
    check(tools, *expectations)
    words = search_of(tools, ranker="bm25").search(expectations[0][2])
    assert set(raw_names(words.tools)) == set(expectations[0][1].split())


# --- BC-15: named loads are not cut


LETTERS = [f"tool_{c}" for c in "hagbfced"]


@pytest.mark.parametrize(
    ("tools", "wanted", "unknown", "nearest"),
    [
        ([t(f"tool_{c}", "x") for c in "abcdefghij"], LETTERS, "tool_zz", "tool_"),
        (
            [
                t(f"set{what}", "x", server="lamp")
                for what in ("Hue", "Glow", "Fade", "Blink", "Scene", "Timer", "Group", "Name")
            ],
            ["setTimer", "setHue", "setName", "setBlink", "setFade", "setGlow"],
            "setTimr",
            "lamp__setTimer",
        ),
        (
            [t(f"操作{number}", "x") for number in range(30)],
            [f"操作{number}" for number in (29, 3, 15, 0, 8, 21, 11)],
            "操作99",
            "",
        ),
        (
            [t(f"отчёт-{number}", "x") for number in range(60)],
            [f"отчёт-{number}" for number in range(59, 0, -2)],
            "отчёт-61",
            "",
        ),
    ],
    ids=["reported", "camel", "japanese", "thirty cyrillic"],
)
def test_bc15_x12_named_loads_are_not_cut_at_the_limit(search_of, tools, wanted, unknown, nearest):
    """Kind: selection. All tools asked for by name come, in the order asked, and the unknown one is reported."""
    search = search_of(tools)
    result = search.search(names=[*wanted, unknown], limit=5)
    assert raw_names(result.tools) == wanted
    assert [missing.name for missing in result.unknown] == [unknown]
    assert result.unknown[0].nearest[0].startswith(nearest)
    assert set(result.unknown[0].nearest) <= set(search.catalog.wire_names)
    given = asked(search, {"query": "", "names": [*wanted, unknown]})
    assert (
        given["loaded"] == [entry["name"] for entry in given["tools"]] == [hit.name for hit in result.tools]
    )
    assert given["unknown"] == [{"name": unknown, "nearest": list(result.unknown[0].nearest)}]


# --- BC-16: same question, same answer

EQUAL = {
    "reported": ([t(f"report_{i}", "Monthly report") for i in range(12)], "monthly report"),
    "one name": ([t("export", "Write a table", server=f"s{i}") for i in range(70)], "write a table"),
    "japanese": ([t(f"機能{i}", "月次報告を作成") for i in range(12)], "月次報告"),
    "arabic kebab": ([t(f"تقرير-{i}", "تقرير شهري") for i in range(30)], "تقرير شهري"),
}


@pytest.mark.parametrize(("tools", "query"), EQUAL.values(), ids=list(EQUAL))
@pytest.mark.parametrize("ranker", ["hybrid", "bm25", "keyword", "semantic"])
def test_bc16_same_question_same_answer(model, embeddings, ranker, tools, query):
    """Kind: determinism. Registration order changes nothing; ties are broken by name."""
    answers = []
    for seed in range(5):
        shuffled = [tools[place] for place in np.random.default_rng(seed).permutation(len(tools))]
        search = ToolSearch(shuffled, ranker=ranker, embedder=model, cache=embeddings)
        for _ in range(2):
            result = search.search(query)
            answers.append([hit.name for hit in (*result.tools, *result.hints)])
    assert all(answer == answers[0] for answer in answers)
    assert answers[0]
    if ranker in ("bm25", "keyword"):
        assert answers[0] == sorted(answers[0])


FRESH = """
import json, sys
from semantic_toolsearch import ToolSearch
for tools, query in json.load(sys.stdin):
    result = ToolSearch(tools[::-1], cache=False).search(query)
    print(json.dumps([[hit.name, hit.score] for hit in (*result.tools, *result.hints)]))
"""


def test_bc16_a_fresh_process_answers_the_same(model):
    """Kind: determinism. Nothing depends on the hash seed of a process, whatever the script of the names."""
    cases = [EQUAL["reported"], EQUAL["japanese"], EQUAL["arabic kebab"]]
    fresh = subprocess.run(
        [sys.executable, "-c", FRESH],
        input=json.dumps(cases),
        env={**os.environ, "PYTHONHASHSEED": "4711"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    for (tools, query), line in zip(cases, fresh, strict=True):
        result = ToolSearch(tools, embedder=model, cache=False).search(query)
        assert [[hit.name, hit.score] for hit in (*result.tools, *result.hints)] == json.loads(line)


# --- BC-17: nothing answers the query


@pytest.mark.parametrize(
    ("tools", "queries"),
    [
        (
            [
                t("incident_open", "Open an incident and notify by email"),
                t("incident_escalate", "Raise the level of an incident, email optional"),
                t("team_members", "Members of a team with their email"),
                t("team_remove", "Remove a member by email"),
                t("oncall_now", "Who is on call"),
            ],
            ["read google calendar events", "translate a pdf into french"],
        ),
        (
            [
                t("invoiceCreate", "Create an invoice for a customer", server="billing"),
                t("invoiceSend", "Send an invoice to a customer", server="billing"),
                t("customerList", "List the customers", server="crm"),
                t("customerDelete", "Delete a customer", server="crm"),
            ],
            ["play some jazz music", "book a flight to Rome", "send a rocket to the moon"],
        ),
        (
            [
                t(f"git-{verb}", f"{verb.capitalize()} the repository")
                for verb in ("clone", "push", "pull", "fetch", "reset")
            ],
            ["order a pizza", "what is the weather in Berlin"],
        ),
        (
            [
                t("天気", "天気予報を取得します"),
                t("乗換", "電車の乗換を調べます"),
                t("文章翻訳", "文章を翻訳します"),
            ],
            ["株を購入したい", "ピザを注文して"],
        ),
        (
            [
                t("погода", "Получить прогноз погоды"),
                t("такси", "Заказать такси"),
                t("перевод", "Перевести текст"),
            ],
            ["удалить базу данных", "включи музыку"],
        ),
    ],
    ids=["reported", "billing", "git", "japanese", "russian"],
)
def test_bc17_x05_d23_nothing_answers_the_query(search_of, tools, queries):
    """Kind: no answer. Nothing is loaded for a common word; the reply is small, lists what there is and goes on."""
    search = search_of(tools)
    for query in queries:
        result = search.search(query)
        assert (result.outcome, raw_names(result.tools)) == ("no_match", []), query
        assert set(result.names) == set(search.catalog.wire_names)
        assert {space for space, _ in result.namespaces} == {tool.get("namespace") for tool in tools} - {None}
        assert len(str(result.as_dict())) < 2_500
        given = asked(search, {"query": query})
        assert (given["tools"], given["loaded"], given["total"]) == ([], [], len(tools))
        assert len(json.dumps(given, ensure_ascii=False)) < 2_500
        assert "Nothing matched this query; that does not mean that no tool can do it." in given["note"]
        assert "Use other words, or load a tool by a name from the list." in given["note"]
