"""Failures of other tool searches, from public reports: the arguments of a search (BC-18, BC-19, BC-20)."""

from __future__ import annotations

import pytest
from case_tools import asked, raw_names, t

from semantic_toolsearch import ToolSearch

NOTHING_ASKED = [{}, {"query": None}, {"query": ""}, {"query": "   "}, {"query": "*"}, {"query": "..."}]
MORE_OF_IT = [{"query": text} for text in (" \n ", "?!", "**", "\u200b", "。", "—")]
CATALOGS = {
    "reported": [t(f"tool_{i}", "something") for i in range(40)],
    "japanese server": [t(f"機能{i}", "何か", server="道具") for i in range(140)],
    "one": [t("only", "the one")],
    "cyrillic servers": [t(f"Работа{i}", "Дело", server=f"цех-{i % 9}") for i in range(30)],
}


@pytest.mark.parametrize("ranker", ["hybrid", "bm25", "keyword", "regex"])
@pytest.mark.parametrize("tools", CATALOGS.values(), ids=list(CATALOGS))
def test_bc18_an_empty_missing_or_wildcard_query_browses(model, tools, ranker):
    """Kind: arguments. A query that asks nothing lists names and the total, and loads nothing."""
    search = ToolSearch(tools, ranker=ranker, embedder=model, cache=False)
    for call in [*NOTHING_ASKED, *MORE_OF_IT]:
        if ranker == "regex" and call.get("query") in ("?!", "**", "。", "—"):
            continue  # signs alone may be a pattern
        result, given = search.search(**call), asked(search, call)
        assert (result.outcome, result.tools, result.hints) == ("browse", (), ()), call
        assert result.total == len(tools)
        assert len(result.names) == min(len(tools), 100)
        assert (given["loaded"], given["tools"], given["total"]) == ([], [], len(tools))
        assert given["names"] == list(result.names)
        assert given.get("namespaces", {}) == dict(result.namespaces)
        assert given["note"].startswith("These are names only; nothing was loaded.")


@pytest.mark.parametrize(
    ("limit", "count"),
    [(-1, 1), (0, 1), (10**9, 20), ("3", 3), (2.7, 2), (None, 5), (True, 5), ("many", 5), ([], 5)],
)
@pytest.mark.parametrize(
    ("tools", "query"),
    [
        ([t(f"mail_{verb}", f"{verb} a mail") for verb in ("send", "read", "move", "flag")], "mail"),
        ([t(f"photo{i:02}", "Edit a photo") for i in range(25)], "photo"),
        ([t(f"メール{i:02}", "メールを扱う") for i in range(25)], "メール"),
        ([t(f"فاتورة-{i:02}", "إرسال فاتورة") for i in range(40)], "فاتورة"),
    ],
    ids=["reported", "camel", "japanese", "arabic kebab"],
)
@pytest.mark.parametrize("ranker", ["hybrid", "bm25"])
def test_bc19_odd_limits(model, embeddings, ranker, tools, query, limit, count):
    """Kind: arguments. A limit is clamped or defaulted and the reply says so; nothing comes from the wrong end."""
    search = ToolSearch(tools, ranker=ranker, embedder=model, cache=embeddings)
    result, everything = search.search(query, limit=limit), search.search(query, limit=20)
    assert raw_names(result.tools) == raw_names(everything.tools)[:count]
    assert bool(result.notes) == (limit is not None)
    given = asked(search, {"query": query, "limit": limit})
    assert given["loaded"] == [hit.name for hit in result.tools]
    assert given.get("notes", []) == list(result.notes)


@pytest.mark.parametrize(
    ("tools", "expectations"),
    [
        (
            [
                t("cpp_build", "Compile a C++ target"),
                t("cs_build", "Compile a C# project"),
                t("env_show", "Show the .env file"),
                t("ab_test", "Run an A/B test"),
            ],
            [
                ("loaded", "cpp_build", "C++", "c++ (target)"),
                ("loaded", "cs_build", "C#", "`C#`"),
                ("loaded", "env_show", ".env"),
                ("loaded", "ab_test", "A/B"),
            ],
        ),
        (
            [
                t("dotnetNew", "Start a .NET project"),
                t("pipelineState", "CI/CD pipeline"),
                t("scriptRun", "Run an F# script"),
                t("costShow", "R&D costs"),
                t("nodeRun", "Run Node.js code"),
                t("mentions", "Find @mentions"),
            ],
            [
                ("loaded", "dotnetNew", ".NET", '".net"'),
                ("loaded", "pipelineState", "CI/CD"),
                ("loaded", "scriptRun", "F#"),
                ("loaded", "costShow", "R&D"),
                ("loaded", "nodeRun", "Node.js"),
                ("loaded", "mentions", "@mentions"),
            ],
        ),
        (
            [t("言語_一", "C++を翻訳する"), t("言語_二", "C#を翻訳する"), t("言語_三", "Cを翻訳する")],
            [("loaded", "言語_一", "C++ を翻訳する"), ("loaded", "言語_二", "C# を翻訳する")],
        ),
        (
            [
                t("сборка-плюсы", "Собрать проект на C++"),
                t("сборка-шарп", "Собрать проект на C#"),
                t("файл-среды", "Показать файл .env"),
                t("проба", "Запустить A/B-тест"),
                *(t(f"сборка-{i}", f"Собрать проект {i}") for i in range(60)),
            ],
            [
                ("loaded", "сборка-плюсы", "C++", "«C++»"),
                ("loaded", "сборка-шарп", "C#"),
                ("loaded", "файл-среды", ".env"),
                ("loaded", "проба", "A/B"),
            ],
        ),
        (
            [
                t("Sheet.Sum", "Evaluate =SUM(A1:A9)"),
                t("Sheet.Mail", "Mail to a@b.example"),
                t("Sheet.Tag", "Set #todo"),
            ],
            [
                ("first", "Sheet.Sum", "=SUM()", "SUM(A1:A9)"),
                ("first", "Sheet.Mail", "a@b.example", "<a@b.example>"),
                ("first", "Sheet.Tag", "#todo"),
            ],
        ),
    ],
    ids=["reported", "camel", "japanese", "cyrillic kebab, 64", "dotted pascal"],
)
def test_bc20_punctuation_that_carries_meaning(check, tools, expectations):
    """Kind: arguments. Signs that make a word another word count, and none is an error."""
    check(tools, *expectations)


@pytest.mark.parametrize("ranker", ["hybrid", "semantic", "bm25", "keyword", "regex"])
def test_bc20_no_sign_is_an_error(search_of, ranker):
    """Kind: arguments. What full-text indexes and patterns take for syntax is text here."""
    search = search_of([t("note_find", "Find a note"), t("заметка", "Найти заметку")], ranker=ranker)
    for query in (
        '"',
        "(",
        "[",
        "*note",
        "note:*",
        "NEAR(a b)",
        "a AND",
        "-",
        "^",
        "\\",
        "{}",
        "%",
        "note' OR 1=1 --",
    ):
        assert search.search(query).outcome in ("matched", "no_match", "browse")
