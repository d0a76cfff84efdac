"""Failures of other tool searches, from public reports: state over a long run (BC-32 to BC-40)."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest

from conversations import BY_NAME, FORMATS
from semantic_toolsearch import ToolSearch
from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.compaction import compact, compaction_note, is_compaction_note
from semantic_toolsearch.config import SearchConfig
from semantic_toolsearch.exchange import search_record
from semantic_toolsearch.loaded import SessionStore, loaded_names, missing
from semantic_toolsearch.trimming import clear_outputs, fit_history

every_format = pytest.mark.parametrize("form", FORMATS, ids=str)


def obj(**props):
    return {"type": "object", "properties": props}


def t(name, description="", parameters=None, **kw):
    return {
        "name": name,
        "description": description,
        "parameters": obj() if parameters is None else parameters,
        **kw,
    }


def catalog(*names):
    return Catalog([t(name, "d") for name in names])


def answered(engine, query, id_, messages):
    """Append a search of ours and its answer as a turn would write them; give the record."""
    result = engine.search(query)
    known = loaded_names(messages, engine.catalog)
    new = [hit.name for hit in result.tools if hit.name not in known]
    again = [hit.name for hit in result.tools if hit.name in known]
    record = search_record(result, loaded=new, available=again, note="n")
    arguments = json.dumps({"query": query})
    call = {"id": id_, "type": "function", "function": {"name": "tool_search", "arguments": arguments}}
    messages += [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id_, "content": json.dumps(record)},
    ]
    return record


# BC-32: compaction removes the search result -----------------------------------------------------------

BC32 = [
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


def test_bc32_a_compacted_search_stays_loaded_by_a_short_note():
    tools = catalog("invoice_create", "other")
    assert loaded_names(BC32, tools) == ("invoice_create",)
    for drop in ([1, 2], [1], [2], range(4)):
        compacted = compact(BC32, drop)
        (note,) = [message for message in compacted if is_compaction_note(message)]
        assert len(note["content"]) / 4 < 40
        assert loaded_names(compacted, tools) == ("invoice_create",)
    assert compact(BC32, [1, 2])[1:] == [BC32[0], BC32[3]]


def test_bc32_the_note_survives_further_compactions():
    tools, messages = catalog("invoice_create", "other"), BC32
    for round_ in range(3):
        messages = compact(messages, range(1, len(messages)))
        assert loaded_names(messages, tools) == ("invoice_create",)
        assert sum(is_compaction_note(message) for message in messages) == 1
        messages = [*messages, {"role": "user", "content": f"round {round_}"}]
    assert [message["role"] for message in messages] == ["system", "user"]


@every_format
def test_bc32_in_every_format(form):
    messages = [
        form.user("bill"),
        *form.search("c1", ["invoice_create"]),
        {"role": "assistant", "content": "ok"},
    ]
    compacted = compact(messages, range(1, len(messages) - 1))
    assert loaded_names(compacted, catalog("invoice_create")) == ("invoice_create",)


# BC-33: compaction rebuilds from the last load only ----------------------------------------------------


@every_format
def test_bc33_every_earlier_load_survives_not_only_the_last(form):
    before = ["mail_list", "mail_move", "sign_send"]
    tools = Catalog(
        [*(t(name, defer="never") for name in ("bash", "read_file")), *(t(name) for name in before)]
    )
    searches = [m for i, name in enumerate(before) for m in form.search(f"s{i}", [name])]
    messages = [form.user("x"), *form.call("c", "bash", "out"), *searches, form.user("y")]
    everything = range(len(messages))
    last = len(form.search("s2", ["sign_send"])) + 1
    for drop in (everything[:-1], everything[:-last], everything[1:2]):
        compacted = compact(messages, drop, tools)
        loaded = [name for name in loaded_names(compacted, tools) if name not in ("bash", "read_file")]
        assert loaded == before
    note = compaction_note(messages, [], tools)
    assert note["content"] == "[tool_search loaded: mail_list, mail_move, sign_send]"


# BC-34: the history names a tool that is gone ----------------------------------------------------------


@every_format
def test_bc34_a_lost_tool_is_left_out_reported_and_back_without_a_search(form):
    messages = [*form.search("s1", ["design_sync"]), *form.search("s2", ["mail_list"])]
    now, later = catalog("mail_list"), catalog("mail_list", "design_sync")
    assert loaded_names(messages, now) == ("mail_list",)
    assert missing(messages, now) == ("design_sync",)
    assert loaded_names(messages, later) == ("design_sync", "mail_list")
    assert missing(messages, later) == ()


@every_format
def test_bc34_it_comes_back_after_a_compaction_while_it_was_away(form):
    messages = [form.user("x"), *form.search("s1", ["design_sync"]), form.user("y")]
    now, later = catalog("mail_list"), catalog("mail_list", "design_sync")
    compacted = compact(messages, range(1, len(messages) - 1), now)
    assert missing(compacted, now) == ("design_sync",)
    assert loaded_names(compacted, later) == ("design_sync",)


# BC-35: the catalogue changes during the session -------------------------------------------------------

V1 = [t("probe_run", "Run a probe", obj(a={"type": "string"}), server="lab")]
V2 = [
    t("probe_run", "Run a probe", obj(a={"type": "string"}, b={"type": "integer"}), server="lab"),
    t("centrifuge_spin", "Spin samples", server="lab"),
]


def test_bc35_loaded_tools_follow_the_catalogue_there_and_back():
    messages: list = []
    engine = ToolSearch(Catalog(V1), ranker="bm25", cache=False)
    answered(engine, "run a probe", "s1", messages)
    assert loaded_names(messages, engine.catalog) == ("lab__probe_run",)
    engine.replace("lab", V2)
    (probe,) = loaded_names(messages, engine.catalog)
    assert list(engine.catalog[probe].parameters["properties"]) == ["a", "b"]
    assert answered(engine, "spin samples", "s2", messages)["loaded"] == ["lab__centrifuge_spin"]
    assert loaded_names(messages, engine.catalog) == ("lab__probe_run", "lab__centrifuge_spin")
    engine.replace("lab", V1)
    assert loaded_names(messages, engine.catalog) == ("lab__probe_run",)
    store = SessionStore()
    store.add("s", ["lab__centrifuge_spin", "lab__probe_run"])
    assert loaded_names([], engine.catalog, store=store, session="s") == ("lab__probe_run",)


# BC-36: broken search items in stored history ----------------------------------------------------------

BC36 = [
    {"role": "assistant", "tool_calls": [{"id": "c1", "name": "tool_search", "arguments": '{"query": "inv'}]},
    {"role": "tool", "tool_call_id": "c1", "name": "tool_search", "content": "not json"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "c2", "name": "tool_search", "arguments": {"query": "refund"}}],
    },
    {"role": "tool", "tool_call_id": "", "name": "tool_search", "content": None},
    {"role": "tool", "tool_call_id": "c9", "name": "tool_search", "content": '{"tools": "refund_issue"}'},
]


def test_bc36_broken_items_load_nothing_and_later_good_ones_count():
    tools = catalog("refund_issue", "invoice_create")
    assert loaded_names(BC36, tools) == ()
    assert missing(BC36, tools) == ()
    for form in FORMATS:
        assert loaded_names([*BC36, *form.search("c3", ["refund_issue"])], tools) == ("refund_issue",)


def test_bc36_nothing_that_works_on_a_history_stumbles():
    tools = catalog("refund_issue")
    messages = [*BC36, {"role": "user", "content": "go on"}]
    assert clear_outputs(messages, 0) == messages
    assert compact(messages, range(5), tools) == messages[5:]
    assert fit_history(messages, 0, len, tools) == messages[5:]
    assert compaction_note(BC36, []) is None


# BC-38: two users at once ------------------------------------------------------------------------------

SESSIONS = {"user_1": "invoice", "user_2": "refund"}
ROUNDS = 200


def a_session(engine, store, session, word, turns):
    """One user's rounds; each yields, so that tasks alternate."""
    messages: list = []
    for round_ in range(turns):
        record = answered(engine, word, f"s{round_}", messages)
        store.add(session, record["loaded"])
        yield
        names = loaded_names(messages, engine.catalog, store=store, session=session)
        assert names
        assert all(name.startswith(word) for name in names)
        assert names == store.names(session)


@pytest.fixture(scope="module")
def shared():
    tools = [
        t(f"{word}_{verb}", f"{word} {verb}") for word in SESSIONS.values() for verb in ("open", "close")
    ]
    engine = ToolSearch(tools, ranker="bm25", cache=False)
    engine.search("invoice")
    return engine


def test_bc38_two_threads_see_only_their_own_loads(shared):
    store, failures, start = SessionStore(), [], threading.Barrier(2)

    def work(session, word):
        try:
            start.wait()
            for _ in a_session(shared, store, session, word, ROUNDS // 2):
                pass
        except BaseException as error:  # a thread's failure must reach the test
            failures.append(error)

    threads = [threading.Thread(target=work, args=item) for item in SESSIONS.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert not set(store.names("user_1")) & set(store.names("user_2"))


def test_bc38_two_tasks_see_only_their_own_loads(shared):
    store = SessionStore()

    async def work(engine, session, word):
        for _ in a_session(engine, store, session, word, ROUNDS // 2):
            await asyncio.sleep(0)

    async def both():
        await asyncio.gather(*(work(shared, *item) for item in SESSIONS.items()))

    asyncio.run(both())
    assert len(store) == 2


def test_bc38_an_engine_built_inside_the_task_sees_the_same_state():
    store, outside = SessionStore(), ToolSearch([t("invoice_open", "d")], ranker="bm25", cache=False)

    async def write():
        store.add("user_1", ["invoice_open"])

    async def read():
        inside = ToolSearch([t("invoice_open", "d")], ranker="bm25", cache=False)
        return loaded_names([], inside.catalog, store=store, session="user_1")

    async def run():
        await asyncio.create_task(write())
        return await asyncio.create_task(read())

    assert asyncio.run(run()) == ("invoice_open",)
    assert loaded_names([], outside.catalog, store=store, session="user_1") == ("invoice_open",)


# BC-39: eviction throws out the wrong tools ------------------------------------------------------------

ALWAYS = ["bash", "read_file", "skill"]
SEARCHES = [["a1"], ["a2"], ["a3"], ["b1", "b2", "b3", "b4"]]


@every_format
def test_bc39_nothing_loaded_is_evicted_by_later_loads(form):
    names = [name for search in SEARCHES for name in search]
    tools = Catalog([*(t(name, defer="never") for name in ALWAYS), *(t(name) for name in names)])
    messages = [form.user("x")]
    for at, search in enumerate(SEARCHES):
        messages += form.search(f"s{at}", search)
        loaded = loaded_names(messages, tools)
        assert loaded[-len(search) :] == tuple(search)
    assert loaded == tuple(names)


def test_bc39_a_search_over_the_cap_announces_only_what_is_loaded():
    tools = [*(t(name, "shell", defer="never") for name in ALWAYS), *(t(f"b{i}", "bee") for i in range(1, 5))]
    engine = ToolSearch(tools, ranker="bm25", cache=False, config=SearchConfig(default_limit=3, max_limit=3))
    messages: list = []
    record = answered(engine, "bee", "s1", messages)
    announced = [tool["name"] for tool in record["tools"]]
    assert len(announced) == 3
    assert announced == record["loaded"] == list(loaded_names(messages, engine.catalog))


@every_format
def test_bc39_a_full_budget_evicts_the_oldest_and_never_the_newest_load(form):
    names = [name for search in SEARCHES for name in search]
    tools = Catalog([*(t(name, defer="never") for name in ALWAYS), *(t(name) for name in names)])
    messages = [
        m for i, search in enumerate(SEARCHES) for m in (form.user("x"), *form.search(f"s{i}", search))
    ]
    for schema in range(6):
        count = lambda value, each=schema: 0 if isinstance(value, list) else each  # noqa: E731 - one line
        fitted = fit_history(messages, 10, count, tools)
        loaded = loaded_names(fitted, tools)
        assert loaded[-4:] == tuple(SEARCHES[-1])
        assert loaded == tuple(names[len(names) - len(loaded) :])
        assert len(loaded) == 4 or schema * len(loaded) <= 10


def test_bc39_a_full_store_drops_another_session_than_the_one_that_loads():
    store = SessionStore(max_sessions=1)
    for session in ("a", "b", "c"):
        store.add(session, ["x"])
        assert store.names(session) == ("x",)
    assert len(store) == 1


# BC-40: searching again for what is loaded -------------------------------------------------------------


def test_bc40_repeats_and_misses_change_nothing_that_is_loaded():
    tools = [t("invoice_create", "Create an invoice"), t("weather_now", "Weather of a place")]
    engine = ToolSearch(tools, ranker="bm25", cache=False)
    messages: list = []
    assert answered(engine, "invoice", "s0", messages)["loaded"] == ["invoice_create"]
    known = loaded_names(messages, engine.catalog)
    for at, query in enumerate(["invoice", "xyzzy-nothing", "invoice create"]):
        record = answered(engine, query, f"r{at}", messages)
        assert record["loaded"] == []
        assert ("available" in record) == (query != "xyzzy-nothing")
        assert loaded_names(messages, engine.catalog) == known == ("invoice_create",)


@every_format
def test_bc40_a_repeat_keeps_the_order_in_every_format(form):
    tools, messages = catalog("a", "b", "c"), []
    for at, names in enumerate((["b", "c"], ["c", "b"], [], ["a", "c"], ["c"])):
        messages += form.search(f"s{at}", names)
    assert loaded_names(messages, tools) == ("b", "c", "a")
    assert loaded_names([*messages, *BY_NAME["chat"].call("c", "c", "x")], tools) == ("b", "c", "a")
