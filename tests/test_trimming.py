"""Conversations without their old outputs, and cut to a budget."""

from __future__ import annotations

import copy
import json
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations import BY_NAME, FORMATS
from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.compaction import compact
from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.history import pairs
from semantic_toolsearch.loaded import loaded_names
from semantic_toolsearch.trimming import CLEARED, clear_outputs, fit_history

every_format = pytest.mark.parametrize("form", FORMATS, ids=str)
SYSTEM = {"role": "system", "content": "Be brief."}


def catalog(*names, **fields):
    return Catalog(
        [{"name": name, "description": "d", "parameters": {"type": "object"}, **fields} for name in names]
    )


ABC = catalog("a", "b", "c")


def canonical(message):
    return json.dumps(message, ensure_ascii=False).encode()


# Clearing ----------------------------------------------------------------------------------------------


@every_format
def test_c27_clearing_blanks_outputs_and_never_search_results(form):
    searches = [form.search("s1", ["a"]), form.search("s2", ["b"])]
    outputs = [form.call(f"c{i}", "c", f"secret {i}") for i in range(5)]
    messages = [form.user("x"), *searches[0], *chain(*outputs[:3]), *searches[1], *chain(*outputs[3:])]
    before = copy.deepcopy(messages)
    cleared = clear_outputs(messages, keep_last=1)
    text = json.dumps(cleared)
    assert messages == before
    assert [f"secret {i}" in text for i in range(5)] == [False] * 4 + [True]
    assert text.count(CLEARED) == 4
    for search in searches:
        at = messages.index(search[-1])
        assert cleared[at] is messages[at]
        assert canonical(cleared[at]) == canonical(before[at])
    assert loaded_names(cleared, ABC) == loaded_names(messages, ABC)
    assert pairs(cleared) == pairs(messages)
    assert clear_outputs(cleared, keep_last=1) == cleared


@every_format
def test_c27_the_number_kept_is_counted_in_outputs(form):
    messages = [m for i in range(3) for m in form.call(f"c{i}", "a", f"secret {i}")] + form.search("s", ["b"])
    for keep in range(5):
        text = json.dumps(clear_outputs(messages, keep, text="gone"))
        assert [f"secret {i}" in text for i in range(3)] == [i >= 3 - keep for i in range(3)]
        assert text.count('"gone"') == max(3 - keep, 0)


def test_c27_a_search_result_beside_outputs_in_one_message_keeps_its_bytes():
    uses = [
        {"type": "tool_use", "id": i, "name": n, "input": {}}
        for i, n in (("1", "a"), ("2", "tool_search"), ("3", "b"))
    ]
    references = [{"type": "tool_reference", "tool_name": "c"}]
    results = [
        {"type": "tool_result", "tool_use_id": "1", "content": "one", "is_error": True},
        {"type": "tool_result", "tool_use_id": "2", "content": references},
        {"type": "tool_result", "tool_use_id": "3", "content": [{"type": "text", "text": "three"}]},
        {"type": "text", "text": "go on"},
    ]
    messages = [{"role": "assistant", "content": uses}, {"role": "user", "content": results}]
    cleared = clear_outputs(messages, 0)
    assert cleared[1]["content"] == [
        {**results[0], "content": CLEARED},
        results[1],
        {**results[2], "content": CLEARED},
        results[3],
    ]
    assert cleared[1]["content"][1] is results[1]
    assert results[0]["content"] == "one"


def test_c27_an_unreadable_search_answer_is_not_blanked_either():
    call, answer = BY_NAME["chat"].search("s", [])
    messages = [call, {**answer, "content": "not json"}]
    assert clear_outputs(messages, 0) == messages


def test_c27_what_answers_nothing_and_what_holds_no_text_stays():
    orphan = {"role": "tool", "tool_call_id": "c9", "content": "x"}
    screen = [
        {"type": "computer_call", "call_id": "c", "action": {}},
        {"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot"}},
    ]
    call = {"type": "custom_tool_call", "call_id": "d", "name": "a", "input": "x"}
    output = {"type": "custom_tool_call_output", "call_id": "d", "output": "secret"}
    cleared = clear_outputs([orphan, *screen, call, output], 0)
    assert cleared == [orphan, *screen, call, {**output, "output": CLEARED}]
    assert clear_outputs([call, output, *screen], 1) == [call, output, *screen]


def test_clearing_works_on_sdk_objects():
    types = pytest.importorskip("openai.types.responses")
    call, output = BY_NAME["responses-client"].call("c", "a", "secret")
    item = types.ResponseFunctionToolCall.model_validate(call)
    assert clear_outputs([item, output], 0) == [item, {**output, "output": CLEARED}]


def test_a_negative_number_of_outputs_is_refused():
    with pytest.raises(ConfigError, match="at least 0, not -1"):
        clear_outputs([], -1)


# Cutting -----------------------------------------------------------------------------------------------


def sized(messages_size, schema_size):
    """Count messages alike and definitions alike, whatever they hold."""
    return lambda value: messages_size * len(value) if isinstance(value, list) else schema_size


@every_format
def test_c37_schemas_that_the_history_loads_count(form):
    """Window 1,000; history 700; two schemas of 200 loaded in its newest part: at most 600 remain."""
    older = [form.user("x") for _ in range(7)]
    older = [m for user in older for m in (user, {"role": "assistant", "content": "y"})]
    newest = [form.user("now"), *form.search("s1", ["a", "b"])]
    history = [*older, *newest]
    each = 700 / len(history)
    count = lambda value: sum(each for _ in value) if isinstance(value, list) else 200  # noqa: E731 - one line
    fitted = fit_history(history, 1_000, count, ABC)
    assert count(fitted) <= 600
    assert count(fitted) + 2 * each > 600
    assert fitted == history[len(history) - len(fitted) :]
    assert loaded_names(fitted, ABC) == ("a", "b")
    assert fit_history(history, 1_100, count, ABC) == history


@every_format
def test_d22_cutting_a_search_unloads_its_tools_and_frees_their_schemas(form):
    search = [form.user("x"), *form.search("s1", ["a"])]
    rest = [form.user("y"), *form.search("s2", ["b"])]
    history = [*search, *rest]
    size = len(rest) * 10 + 100
    assert fit_history(history, size, sized(10, 100), ABC) == rest
    assert loaded_names(rest, ABC) == ("b",)
    assert loaded_names(compact(history, range(len(search))), ABC) == ("a", "b")
    assert fit_history(history, len(history) * 10 + 200, sized(10, 100), ABC) == history


@every_format
def test_c38_the_oldest_exchange_goes_first_and_whole(form):
    exchanges = [[form.user(f"x{i}"), *form.call(f"c{i}", "a", "out")] for i in range(4)]
    history = [SYSTEM, *chain(*exchanges)]
    size = len(exchanges[0])
    for kept in range(1, 5):
        for spare in range(size):
            fitted = fit_history(history, 1 + kept * size + min(spare, size - 1), sized(1, 0), ABC)
            assert fitted == [SYSTEM, *chain(*exchanges[4 - kept :])]


@every_format
def test_c38_the_newest_is_never_cut(form):
    history = [form.user("x"), *form.search("s1", ["a"]), form.user("y"), *form.call("c1", "a", "out")]
    fitted = fit_history(history, 0, sized(10, 100), ABC)
    assert fitted == [form.user("y"), *form.call("c1", "a", "out")]


@every_format
def test_c38_in_one_long_exchange_the_oldest_steps_go_and_the_request_stays(form):
    steps = [form.call(f"c{i}", "a", "out") for i in range(5)]
    history = [form.user("do it"), *chain(*steps)]
    for kept in range(1, 6):
        fitted = fit_history(history, 1 + kept * len(steps[0]), sized(1, 0), ABC)
        assert fitted == [form.user("do it"), *chain(*steps[5 - kept :])]
    assert fit_history(history, 0, sized(1, 0), ABC) == [form.user("do it"), *steps[-1]]


def test_c38_parallel_calls_and_their_results_are_one_step():
    calls = [{"type": "function_call", "call_id": i, "name": "a", "arguments": "{}"} for i in ("1", "2")]
    outputs = [{"type": "function_call_output", "call_id": i, "output": "x"} for i in ("1", "2")]
    reasoning = {"type": "reasoning", "id": "rs", "summary": []}
    step = [reasoning, *calls, *outputs]
    user = {"role": "user", "content": "x"}
    last = BY_NAME["responses-client"].search("s", ["b"])
    for window in range(3, 8):
        assert fit_history([user, *step, *last], window, sized(1, 0), ABC) == [user, *last]
    assert fit_history([user, *step, *last], 8, sized(1, 0), ABC) == [user, *step, *last]


def test_c38_a_hosted_search_across_messages_stays_whole():
    use, found = BY_NAME["anthropic-hosted"].search("s", ["a"])[0]["content"]
    clock = {"type": "tool_use", "id": "t", "name": "clock", "input": {}}
    open_turn = [
        {"role": "assistant", "content": [use, clock]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "12"}]},
        {"role": "assistant", "content": [found, {"type": "text", "text": "ok"}]},
    ]
    history = [{"role": "user", "content": "x"}, *open_turn]
    assert fit_history(history, 0, sized(1, 0), ABC) == history


def test_c38_a_users_word_between_call_and_result_parts_nothing():
    call, output = BY_NAME["responses-client"].call("c", "a", "x")
    user = {"role": "user", "content": "x"}
    history = [user, call, {"role": "user", "content": "hurry"}, output]
    assert fit_history(history, 0, sized(1, 0), ABC) == history


def test_system_messages_stay_wherever_they_stand_and_notes_with_them():
    form = BY_NAME["chat"]
    note = {"role": "system", "content": "[tool_search loaded: a]"}
    later = {"role": "developer", "content": "z"}
    history = [SYSTEM, note, form.user("x"), later, *form.search("s", ["b"]), form.user("y")]
    fitted = fit_history(history, 0, sized(1, 1), ABC)
    assert fitted == [SYSTEM, note, later, form.user("y")]
    assert loaded_names(fitted, ABC) == ("a",)


def test_reserve_and_tools_sent_anyway():
    form = BY_NAME["chat"]
    history = [form.user("x"), form.user("y"), {"role": "assistant", "content": "z"}, form.user("now")]
    assert fit_history(history, 4, sized(1, 0), ABC) == history
    assert fit_history(history, 4, sized(1, 0), ABC, reserve=1) == history[3:]
    loading = [*history[:3], form.user("now"), *form.call("c", "a", "x")]
    assert fit_history(loading, 6, sized(1, 5), ABC) == loading[3:]
    assert fit_history(loading, 6, sized(1, 5), ABC, always={"a"}) == loading
    assert fit_history(loading, 6, sized(1, 5), catalog("a", defer="never")) == loading


def test_the_size_counted_is_that_of_json_values():
    types = pytest.importorskip("openai.types.responses")
    call, output = BY_NAME["responses-client"].call("c", "a", "out")
    item = types.ResponseFunctionToolCall.model_validate(call)
    user = {"role": "user", "content": "x"}
    count = lambda value: len(json.dumps(value))  # noqa: E731 - one line
    history = [user, {"role": "assistant", "content": "y" * 1_000}, user, item, output]
    assert fit_history(history, 600, count, ABC) == history[2:]
    assert fit_history(history, 6_000, count, ABC)[3] is item


def test_an_empty_history_stays_empty():
    assert fit_history([], 0, sized(1, 1), ABC) == []
    assert fit_history([SYSTEM], 0, sized(1, 1), ABC) == [SYSTEM]


steps = st.lists(
    st.tuples(
        st.sampled_from(FORMATS),
        st.sampled_from(["search", "call", "user", "system", "reasoning"]),
        st.lists(st.sampled_from("abcz"), max_size=2),
    ),
    max_size=10,
)


@given(steps, st.integers(0, 60), st.integers(0, 10))
def test_a_cut_is_the_smallest_that_fits_and_leaves_whole_pairs(plan, window, schema):
    history = []
    for at, (form, kind, names) in enumerate(plan):
        if kind == "search":
            history += form.search(f"s{at}", names)
        elif kind == "call":
            history += [m for name in names for m in form.call(f"c{at}{name}", name, "out")]
        elif kind == "reasoning":
            reasoning = {"type": "reasoning", "id": f"rs{at}", "summary": []}
            history += [reasoning, *BY_NAME["responses-client"].call(f"r{at}", "a", "x")]
        else:
            history.append(form.user("x") if kind == "user" else dict(SYSTEM))
    count = sized(2, schema)
    fitted = fit_history(history, window, count, ABC)
    places = [id(message) for message in history]
    kept = {id(message) for message in fitted}
    assert [place for place in places if place in kept] == [id(message) for message in fitted]
    assert all((places[i] in kept) == (places[j] in kept) for i, j in pairs(history))
    for at, message in enumerate(history):
        if message.get("type") == "reasoning":
            assert (places[at] in kept) == (places[at + 1] in kept)
        if message.get("role") == "system":
            assert places[at] in kept
    if history:
        assert places[-1] in kept
    needed = count(history) + schema * len(loaded_names(history, ABC))
    assert (fitted == history) or needed > window
    size = count(fitted) + schema * len(loaded_names(fitted, ABC))
    least = fit_history(history, -1, count, ABC)
    assert size <= window or fitted == least
    assert set(loaded_names(fitted, ABC)) <= set(loaded_names(history, ABC))
