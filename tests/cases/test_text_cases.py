"""Failures of other tool searches, from public reports: huge and hostile texts (BC-28, BC-29)."""

from __future__ import annotations

import json
import re

import pytest
from case_tools import best, obj, t

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.providers.base import CUT_MARK, STUB_DESCRIPTION
from semantic_toolsearch.schemas import schema_fields
from semantic_toolsearch.testing.loopback import Call, LoopbackProvider, Parallel, Say, Search
from turn_rounds import converse

HUGE = {
    "reported": (
        [
            t(
                "sandbox_run",
                "Runs code in the sandbox. "
                + "helper reference text " * 4500
                + " The function zebrafish lists aquaria.",
            ),
            t("fish_list", "List fish"),
            t("code_format", "Format code"),
        ],
        ("zebrafish", "sandbox_run"),
        ("list fish", "fish_list"),
    ),
    "french": (
        [
            t(
                "kb",
                "Base de connaissances. "
                + "article de référence interne " * 3500
                + " Voir aussi ornithorynque.",
            ),
            t("animal_photo", "Photographier un animal"),
            t("article_write", "Rédiger un article"),
        ],
        ("ornithorynque", "kb"),
        ("photographier un animal", "animal_photo"),
    ),
    "japanese": (
        [
            t("manual", "機械の説明書。" + "部品と手順の参照。" * 11_000 + "最後に蓄電池の交換。"),
            t("bolt_order", "ボルトを注文する"),
            t("photo_print", "写真を印刷する"),
        ],
        ("蓄電池", "manual"),
        ("ボルトを注文", "bolt_order"),
    ),
}
huge = pytest.mark.parametrize(("tools", "tail", "short"), HUGE.values(), ids=list(HUGE))


@huge
def test_bc28_a_description_of_100_000_characters(model, tools, tail, short):
    """Kind: size. A huge description is indexed to its end, wins nothing else, and is remarked on."""
    catalog = Catalog(tools, strict=True)
    told = [entry for entry in catalog.report.entries if entry.problems]
    assert [(entry.position, entry.status) for entry in told] == [(0, "ok")]
    assert told[0].problems[0].path == "$.description"
    assert catalog[0].description == tools[0]["description"]
    assert best(model, tools, tail[0]) == {(None, tail[1])}
    assert best(model, tools, short[0]) == {(None, short[1])}


@huge
@pytest.mark.parametrize("model", ["llama-4", "claude-sonnet-5", "gpt-5.4", "gemini-3-pro"])
def test_bc28_its_stub_is_cut_with_a_mark(tools, tail, short, model):
    """Kind: size. Until it is loaded, its description costs no more than another's may."""
    turn = ToolSearch(tools, ranker="bm25", cache=False).turn(
        [], model=model, mode="stub", deferred_tools=[tools[0]["name"]]
    )
    sent = json.dumps(turn.tools, ensure_ascii=False)
    shown = next(
        text
        for text in re.findall('"description": "([^"]*)"', sent)
        if text[:9] == tools[0]["description"][:9]
    )
    assert len(shown) <= STUB_DESCRIPTION
    assert shown.endswith(CUT_MARK)
    assert tail[0] not in sent


HIDDEN = re.compile("[\x00-\x08\u200b\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
HOSTILE = {
    "reported": (
        [
            t("photo_tag", "Tag a photo \ud83d with a label"),
            t("log_clear", "Clear\x00 the\x07 log\u202e"),
            t("mail\u200b_send", "Send\u200b a mail"),
            t("badge", "Set a badge", obj(icon={"enum": ["\udc00", "star"]})),
        ],
        "send mail",
        "mail\u200b_send",
    ),
    "german": (
        [
            t("raum_bu\u2060chen", "Einen Raum re\u00adservieren\u200b"),
            t(
                "tür\u200dcode",
                "Code\x1f der Tür\ufeff",
                obj(tür={"title": "T\u202dür", "const": "\ud83dA"}),
            ),
            t("plan", "\U000e0049\U000e0067Plan zeigen"),
        ],
        "Raum reservieren",
        "raum_bu\u2060chen",
    ),
    "persian": (
        [
            t("متن\u200bساده", "پاک\u202bکردن متن"),
            t("نامه", "فرستادن\u061c نامه", obj(گیرنده={"description": "نشانی\u2067 گیرنده"})),
            t("عکس", "گرفتن عکس \udfff"),
        ],
        "فرستادن نامه",
        "نامه",
    ),
    "japanese, 42": (
        [
            t("Mail\u2064Sort", "メール\u200bを整理\ud800する"),
            t("Mail\u200eDrop", "メール\ufeffを捨てる"),
            *(t(f"Box\u200b{i}", f"箱{i}\u202eを\u0000開ける") for i in range(40)),
        ],
        "メールを整理",
        "Mail\u2064Sort",
    ),
}
hostile = pytest.mark.parametrize(("tools", "query", "expected"), HOSTILE.values(), ids=list(HOSTILE))


@hostile
def test_bc29_characters_that_break_json_or_hide_text(model, tools, query, expected):
    """Kind: unicode. Hidden characters neither split nor join words, and each change is in the report."""
    catalog = Catalog(tools, strict=True)
    assert len(catalog.report.repaired) == len(tools)
    for tool in catalog:
        assert not HIDDEN.search(tool.description)
        for field in schema_fields(tool.parameters):
            (field.description + "".join(field.values)).encode("utf-8")
    assert best(model, tools, query) == {(None, expected)}


@hostile
@pytest.mark.parametrize("api", ["anthropic", "responses", "chat"])
def test_bc29_requests_results_and_errors_are_utf8(tools, query, expected, api):
    """Kind: unicode. A whole conversation goes over the wire, with such a character in the result of a call too."""
    search = ToolSearch(tools, ranker="bm25", cache=False)
    name = search.catalog.wire_names[[tool["name"] for tool in tools].index(expected)]
    steps = [Search(query), Parallel([Call(name), Call("no_such_tool")]), Say("Done.")]
    with LoopbackProvider(steps) as server:
        run = converse(
            server,
            search,
            api,
            mode="stub",
            deferred_tools=search.catalog.wire_names,
            execute=lambda call: "\ud83d ok",
        )
        assert (server.failures, server.remaining) == ([], 0)
        assert {exchange.status for exchange in server.exchanges} == {200}
    assert [call.name for call in run.calls] == [expected]
