"""Whatever a conversation holds is read, shortened and planned for; it raises nothing and is not changed."""

from __future__ import annotations

import json

from budget import bounded, fuzzed
from conversation_values import CALLED, conversations
from hypothesis import given
from hypothesis import strategies as st
from strange_values import anything

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.compaction import compact, compaction_note, is_compaction_note
from semantic_toolsearch.history import pairs, read
from semantic_toolsearch.linking import links
from semantic_toolsearch.loaded import loaded_names, missing
from semantic_toolsearch.search_records import note_names, read_record
from semantic_toolsearch.trimming import clear_outputs, fit_history

CATALOG = Catalog(
    [
        {"name": name, "description": "Reads."}
        for name in CALLED
        if name.strip() and name.isprintable() and len(name) < 99
    ]
    + [{"name": "search", "namespace": "wiki"}, {"name": "read_file", "namespace": "disk", "defer": "never"}]
)
SEARCH = ToolSearch(CATALOG, ranker="bm25", cache=False)
TARGETS = [
    ("anthropic", "claude-sonnet-5"), ("responses", "gpt-5.4"), ("chat", "llama-4"), ("gemini", "gemini-3-pro"),
]  # fmt: skip


def size(value):
    """A size that never grows when messages go."""
    return len(value) if isinstance(value, list) else 1


@fuzzed
@given(conversations)
def test_any_conversation_is_read(messages):
    with bounded():
        messages = messages if isinstance(messages, list | tuple) else [messages]
        events = read(messages)
        assert all(0 <= event.at < len(messages) for event in events)
        assert all(
            0 <= a < len(messages) and 0 <= b < len(messages) for a, b in (*pairs(messages), *links(messages))
        )
        loaded = loaded_names(messages, CATALOG)
        assert set(loaded) <= set(CATALOG.wire_names)
        assert len(set(loaded)) == len(loaded)
        assert all(isinstance(name, str) for name in missing(messages, CATALOG))


@fuzzed
@given(conversations, st.data())
def test_any_conversation_is_compacted_and_keeps_its_loads(messages, data):
    messages = list(messages) if isinstance(messages, list | tuple) else [messages]
    drop = data.draw(st.lists(st.integers(0, len(messages) - 1), max_size=4)) if messages else []
    with bounded():
        kept = compact(messages, drop, CATALOG)
        assert sum(map(is_compaction_note, kept)) <= max(1, sum(map(is_compaction_note, messages)))
        assert loaded_names(kept, CATALOG) == loaded_names(messages, CATALOG)
        compaction_note([messages[at] for at in dict.fromkeys(drop)], kept)
        compact(messages, drop)


@fuzzed
@given(conversations, st.integers(0, 8), st.integers(0, 3))
def test_any_conversation_is_cut_to_a_budget_and_cleared(messages, window, keep):
    messages = list(messages) if isinstance(messages, list | tuple) else [messages]
    with bounded():
        cut = fit_history(messages, window, size, CATALOG)
        rest = iter(messages)
        assert all(any(each is message for each in rest) for message in cut)
        cleared = clear_outputs(messages, keep)
        assert len(cleared) == len(messages)
        assert loaded_names(cleared, CATALOG) == loaded_names(messages, CATALOG)


@fuzzed
@given(conversations, st.sampled_from(TARGETS), st.booleans())
def test_any_conversation_gives_a_turn(messages, target, sees_all):
    api, model = target
    messages = list(messages) if isinstance(messages, list | tuple) else [messages]
    visible = None if sees_all else CATALOG.wire_names[:4]
    with bounded():
        turn = SEARCH.turn(messages, api=api, model=model, visible=visible)
        json.dumps(turn.tools)
        json.dumps([turn.instructions, *turn.plan.warnings])
        assert len(turn.messages) <= len(messages)
        assert visible is None or {*turn.plan.full, *turn.plan.deferred} <= set(visible)
        turn.next([*messages, *messages])


@fuzzed
@given(anything)
def test_any_answer_is_read_as_a_record_or_none(content):
    with bounded():
        note_names(content)
        read([{"role": "tool", "tool_call_id": "a", "content": content}, content])
        if isinstance(content, str | list | dict):
            read_record(content)
