"""Failures of other tool searches, from public reports: a conversation is compacted (BC-32, BC-33)."""

from __future__ import annotations

import json

import pytest
from case_tools import obj, t

from conversations import FORMATS
from semantic_toolsearch import ToolSearch
from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.compaction import compact, compaction_note, is_compaction_note
from semantic_toolsearch.loaded import loaded_names
from semantic_toolsearch.testing.loopback import LoopbackProvider, Say, Search
from turn_rounds import converse

every_format = pytest.mark.parametrize("form", FORMATS, ids=str)
TEXT = {"type": "string"}


# --- BC-32: compaction removes the search result

SEARCHED = [
    {"role": "user", "content": "bill the customer"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "c1", "name": "tool_search", "arguments": {"query": "invoice"}}],
    },
    {
        "role": "tool",
        "tool_call_id": "c1",
        "name": "tool_search",
        "content": '{"tools":[{"name":"invoice_create"}]}',
    },
    {"role": "assistant", "content": "done"},
]


@pytest.mark.parametrize(
    "drop", [[1, 2], [1], [2], range(4)], ids=["reported", "call", "answer", "everything"]
)
def test_bc32_a_compacted_search_stays_loaded_by_a_short_note(drop):
    """Kind: compaction. Whatever of the search is dropped, one short message keeps what it loaded."""
    tools = Catalog([t("invoice_create", "d"), t("other", "d")])
    assert loaded_names(SEARCHED, tools) == ("invoice_create",)
    compacted = compact(SEARCHED, drop)
    (note,) = [message for message in compacted if is_compaction_note(message)]
    assert len(note["content"]) / 4 < 40
    assert loaded_names(compacted, tools) == ("invoice_create",)
    assert [message for message in compacted if message in SEARCHED] == (
        [] if len(drop) == 4 else [SEARCHED[0], SEARCHED[3]]
    )


LOADED = {
    "reported": [
        t("invoice_create", "Bill a customer", obj(customer=TEXT)),
        t("other", "Something else"),
    ],
    "japanese dotted": [t("座席.予約", "座席を予約する", obj(番号=TEXT)), t("座席.一覧", "座席の一覧")],
    "cyrillic on a server, 61": [
        t("НайтиРейс", "Найти рейс", obj(город=TEXT), server="полёты"),
        *(t(f"Билет{i}", f"Билет {i}", server="полёты") for i in range(60)),
    ],
}
loads = pytest.mark.parametrize("tools", LOADED.values(), ids=list(LOADED))


@loads
@every_format
def test_bc32_the_note_survives_further_compactions(tools, form):
    """Kind: compaction. In every wire format, three times over, and there is one note at most."""
    catalog = Catalog(tools)
    name = catalog.wire_names[0]
    messages = [form.user("bill"), *form.search("c1", [name]), {"role": "assistant", "content": "ok"}]
    for round_ in range(3):
        messages = compact(messages, range(1, len(messages)))
        assert loaded_names(messages, catalog) == (name,)
        assert sum(map(is_compaction_note, messages)) == 1
        messages = [*messages, form.user(f"round {round_}")]


@loads
@pytest.mark.parametrize(
    ("api", "mode"),
    [("anthropic", "stub"), ("anthropic", "reference"), ("responses", "stub"), ("chat", "stub")],
)
def test_bc32_the_schema_is_in_the_next_request(tools, api, mode):
    """Kind: compaction. The request after it is accepted, and the model knows the arguments without a search."""
    search = ToolSearch(tools, ranker="bm25", cache=False)
    name, parameter = search.catalog.wire_names[0], next(iter(tools[0]["parameters"]["properties"]))
    options = {"mode": mode, "deferred_tools": search.catalog.wire_names}
    with LoopbackProvider([Search(tools[0]["description"]), Say("Done."), Say("Again.")]) as server:
        run = converse(server, search, api, **options)
        kept = compact(run.messages, range(1, len(run.messages)), search.catalog)
        after = converse(
            server, search, api, messages=[*kept, {"role": "user", "content": "And now?"}], **options
        )
        assert (server.failures, server.remaining) == ([], 0)
        view = server.model_view(2)
    (turn,) = after.turns
    assert name in turn.plan.loaded
    assert turn.plan.mode == mode
    surface = view.find(name)
    assert surface.visible
    assert parameter in json.dumps(surface.parameters, ensure_ascii=False)


# --- BC-33: compaction rebuilds from the last load only

SETS = {
    "reported": (["bash", "read_file"], ["mail_list", "mail_move", "sign_send"]),
    "japanese": (["時計"], ["座席.予約", "座席.取消", "切符", "食事"]),
    "arabic kebab": (["أداة-عامة", "أداة-ملف", "أداة-بحث"], ["فاتورة-أنشئ", "فاتورة-أرسل"]),
}
sets = pytest.mark.parametrize(("always", "before"), SETS.values(), ids=list(SETS))


def catalog_of(always, before, spare=1):
    return Catalog(
        [
            *(t(name, f"Always {name}", defer="never") for name in always),
            *(t(name, f"Work of {name}", obj(**{f"of_{i}": TEXT})) for i, name in enumerate(before)),
            *(t(f"spare_{i}", "Something else", obj(of_spare=TEXT)) for i in range(spare)),
        ]
    )


@sets
@every_format
def test_bc33_every_earlier_load_survives_not_only_the_last(always, before, form):
    """Kind: compaction. Loads of separate searches stay, in their order, whatever part is dropped."""
    tools = catalog_of(always, before)
    names = list(tools.wire_names[len(always) : len(always) + len(before)])
    searches = [message for i, name in enumerate(names) for message in form.search(f"s{i}", [name])]
    messages = [form.user("x"), *form.call("c", tools.wire_names[0], "out"), *searches, form.user("y")]
    last = len(form.search("s2", [names[-1]])) + 1
    everything = range(len(messages))
    for drop in (everything[:-1], everything[:-last], everything[1:2]):
        compacted = compact(messages, drop, tools)
        loaded = [name for name in loaded_names(compacted, tools) if tools[name].defer != "never"]
        assert loaded == names
    assert compaction_note(messages, [], tools)["content"] == f"[tool_search loaded: {', '.join(names)}]"


@sets
@pytest.mark.parametrize(("api", "mode"), [("anthropic", "stub"), ("responses", "stub"), ("chat", "stub")])
def test_bc33_after_compaction_all_of_them_are_in_the_request(always, before, api, mode):
    """Kind: compaction. Always-on tools, the search tool, and every tool that any search had loaded."""
    search = ToolSearch(catalog_of(always, before, spare=20), ranker="bm25", cache=False)
    on, loaded = (
        search.catalog.wire_names[: len(always)],
        search.catalog.wire_names[len(always) :][: len(before)],
    )
    steps = [Search(arguments={"query": "", "names": [name]}) for name in loaded]
    with LoopbackProvider([*steps, Say("Done."), Say("Again.")]) as server:
        run = converse(server, search, api, mode=mode)
        kept = compact(run.messages, range(1, len(run.messages) - 3), search.catalog)
        assert len(kept) == 5  # the user's message, a note, the last search and its answer, and the end
        after = converse(
            server, search, api, mode=mode, messages=[*kept, {"role": "user", "content": "Now?"}]
        )
        view = server.model_view(len(steps) + 1)
    assert after.turns[0].plan.full == (*on, *loaded)
    assert view.search is not None
    for i, name in enumerate(loaded):
        assert f"of_{i}" in view.find(name).parameters["properties"]
    assert "of_spare" not in json.dumps(after.turns[0].tools)
