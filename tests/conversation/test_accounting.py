"""Tokens sent and saved, what a load costs in prompt cache, and the advice that follows from use."""

from __future__ import annotations

import hashlib
import json

import pytest

from semantic_toolsearch.accounting import (
    ANTHROPIC_PRICES,
    CHARACTERS,
    OPENAI_PRICES,
    UNCACHED,
    CachePrices,
    Prompt,
    TokenCounter,
    advise,
    cache_cost,
    count_tokens,
    counting,
    default_counter,
    hot_tools,
    report,
    turn_tokens,
)
from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.errors import ConfigError, UnknownToolError
from semantic_toolsearch.exchange import TurnPlan, TurnRequest, bridge_tool, search_tool
from semantic_toolsearch.providers import anthropic, openai_chat, openai_responses

SEARCH = search_tool(offer_limit=True, max_limit=20)
CHARS = TokenCounter("characters", len)
"""One token a character: sums are then exact."""


def request(catalog, mode, full, deferred=(), loaded=(), api="anthropic", **fields):
    plan = TurnPlan(
        mode, api, "test", tuple(full), tuple(deferred), tuple(loaded), fields.pop("search", "ours")
    )
    own = SEARCH if plan.search == "ours" else None
    return TurnRequest(catalog, plan, own, bridge_tool() if mode == "bridge" else None)


def size(value):
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


@pytest.fixture
def no_tables(monkeypatch, tmp_path):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    default_counter.cache_clear()
    yield tmp_path
    default_counter.cache_clear()


def test_e97_without_a_tokenizer_tokens_are_a_quarter_of_the_characters(no_tables):
    count = count_tokens("x" * 9_080)
    assert (count.tokens, int(count), count.label) == (2_270, 2_270, "chars/4")
    assert str(count) == "2,270 tokens (chars/4)"
    assert count_tokens({"ä": [1, None]}).tokens == 4  # 14 characters of compact JSON
    assert count_tokens("").tokens == 0


def test_e97_a_table_that_cannot_be_trusted_is_not_used_nor_fetched(no_tables):
    url = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
    table = no_tables / hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()
    table.write_bytes(b"IQ== 0\n")
    assert default_counter() is CHARACTERS
    assert table.read_bytes() == b"IQ== 0\n"


def test_e97_with_its_table_the_tokenizer_counts_and_the_label_says_so(no_tables, monkeypatch):
    url = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
    table = no_tables / hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()
    table.write_bytes(b"IQ== 0\n")
    monkeypatch.setitem(counting._TABLES, "o200k_base", hashlib.sha256(b"IQ== 0\n").hexdigest())

    class Words:
        def get_encoding(self, name):
            assert name == "o200k_base"
            return self

        def encode(self, text, disallowed_special):
            return text.split()

    monkeypatch.setattr(counting, "import_module", lambda name: {"tiktoken": Words()}[name])
    count = count_tokens("three words here")
    assert (count.tokens, count.label) == (3, "tiktoken o200k_base")


def test_e97_a_counter_of_ones_own_is_used_and_named(many):
    assert count_tokens("abc", CHARS).tokens == 3
    assert report(Catalog(many(2)), counter=CHARS).label == "characters"


def test_bc53_the_count_is_of_what_is_sent(many):
    catalog = Catalog(many(40))
    names = catalog.wire_names
    first = request(catalog, "stub", names[:4], names[4:])
    then = request(catalog, "stub", names[:6], names[6:], loaded=names[4:6])
    sent = [anthropic.render(each) for each in (first, then)]
    everything = anthropic.render(request(catalog, "full", names, search=None))
    assert [sum("properties" in tool["input_schema"] for tool in tools) for tools in sent] == [5, 7]
    assert [len(tools) for tools in sent] == [41, 41]  # 4 + 36 stubs + search; 4 + 2 + 34 stubs + search

    before, after = (turn_tokens(each, tools, CHARS) for each, tools in zip((first, then), sent, strict=True))
    assert (before.sent, after.sent) == (size(sent[0]), size(sent[1]))
    assert after.sent > before.sent
    assert before.full == after.full == size(everything)
    assert before.saved == size(everything) - size(sent[0])
    assert (before.loaded, after.loaded) == (0, size(everything[4:6]))
    assert (before.deferred, after.deferred) == (size(everything[4:]), size(everything[6:]))
    assert before.wire == before.sent
    assert f"{after.saved:,} saved" in str(after)
    assert after.label == "characters"


def test_bc53_what_the_provider_holds_back_is_not_counted_as_sent(many):
    catalog = Catalog(many(10))
    names = catalog.wire_names
    everything = anthropic.render(request(catalog, "full", names, search=None))
    for mode, search in (("reference", "ours"), ("hosted", "bm25")):
        first = request(catalog, mode, names[:2], names[2:], search=search)
        then = request(catalog, mode, names[:2], names[2:], loaded=names[4:5], search=search)
        tools = anthropic.render(first)
        before, after = turn_tokens(first, tools, CHARS), turn_tokens(then, anthropic.render(then), CHARS)
        assert before.sent == size(tools[:3])
        assert before.wire > before.full - 100
        # The loaded definition stands in the conversation, and is read there: itself and one comma.
        assert after.sent == before.sent + size(everything[4]) + 1
        assert after.deferred == before.deferred - size(everything[4]) - 1
        assert after.loaded == size(everything[4:5])


def test_o24_what_the_model_reads_falls_by_more_than_three_fifths(many):
    core = [{"name": name, "description": "Core tool"} for name in ("shell", "editor", "delegate")]
    catalog = Catalog([*core, *many(38, namespace="browser")])
    names = catalog.wire_names
    each = request(catalog, "hosted", names[:3], names[3:], api="responses", search="openai")
    tokens = turn_tokens(each, openai_responses.render(each))
    assert tokens.saved > 0.6 * tokens.full
    assert tokens.deferred > 0.6 * tokens.full


def test_the_count_works_in_bridge_mode_and_for_chat(many):
    catalog = Catalog(many(10))
    names = catalog.wire_names
    each = request(catalog, "bridge", names[:1], names[1:], loaded=names[3:4], api="chat")
    tools = openai_chat.render(each)
    tokens = turn_tokens(each, tools, CHARS)
    in_full = openai_chat.render(request(catalog, "full", names, api="chat", search=None))
    assert tokens.sent == size([*tools, in_full[3]])
    assert tokens.full == size(in_full)


def test_a_catalog_that_is_not_worth_deferring_saves_less_than_nothing():
    catalog = Catalog([{"name": "ping"}])
    each = request(catalog, "stub", (), catalog.wire_names)
    assert turn_tokens(each, anthropic.render(each)).saved < 0


def saving(tools):
    catalog = Catalog(tools)
    each = request(catalog, "stub", (), catalog.wire_names)
    return turn_tokens(each, anthropic.render(each), CHARS).saved


def test_e98_savings_grow_with_tools_and_with_schemas(many):
    assert 0 < saving(many(20)) < saving(many(40)) < saving(many(80))
    longer = many(20)
    for tool in longer:
        for rule in tool["parameters"]["properties"].values():
            rule["description"] *= 2
    assert saving(longer) > saving(many(20))


def history(answer):
    """Two requests before the load is used, two after it."""
    talk = [{"role": "user", "content": "Please do it"}]
    call = {"type": "tool_use", "id": "s1", "name": "tool_search", "input": {"query": "seven"}}
    found = [
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "s1", "content": answer}]},
    ]
    return [talk[:1], [*talk, {"role": "assistant", "content": "Sure."}, talk[0]], found]


def by_mode(many, mode, count=80):
    """The prompts of four turns, with a load on the second."""
    catalog = Catalog(many(count))
    names = catalog.wire_names
    stub = mode == "stub"
    first = request(catalog, mode, names[:4], names[4:])
    then = request(
        catalog, mode, names[:5] if stub else names[:4], names[5:] if stub else names[4:], names[4:5]
    )
    answer = '{"loaded":["tool_04"]}' if stub else [{"type": "tool_reference", "tool_name": "tool_04"}]
    start, second, found = history(answer)
    talks = [start, second, second + found, second + found + start]
    plans = [first, first, then, then]
    return [
        Prompt(anthropic.render(plan), "You are helpful.", talk)
        for plan, talk in zip(plans, talks, strict=True)
    ]


def test_c39_by_stub_a_load_changes_the_list_once(many):
    prompts = by_mode(many, "stub")
    lists = [json.dumps(prompt.tools) for prompt in prompts]
    assert lists[0] == lists[1] != lists[2] == lists[3]
    cost = cache_cost(prompts)
    assert cost.rewrites == 1
    assert [turn.rewritten for turn in cost.turns] == [False, False, True, False]


def test_x16_by_stub_one_rewrite_by_reference_none(many):
    stub, reference = (cache_cost(by_mode(many, mode, 400), counter=CHARS) for mode in ("stub", "reference"))
    totals = [
        size(prompt.tools) + size(prompt.system) + sum(map(size, prompt.messages))
        for prompt in by_mode(many, "stub", 400)
    ]
    assert size(by_mode(many, "stub", 400)[0].tools) > 40_000  # 10,000 tokens
    assert [turn.read + turn.written + turn.fresh for turn in stub.turns] == totals
    first, second, third, fourth = stub.turns
    assert (first.read, first.written) == (0, totals[0])
    assert second.read == totals[0]
    assert (third.read, third.written) == (0, totals[2])  # everything behind the list is written again
    assert fourth.read == totals[2]
    assert stub.fresh == 0
    assert stub.cost == pytest.approx(1.25 * stub.written + 0.1 * stub.read)

    assert (stub.rewrites, reference.rewrites) == (1, 0)
    assert all(turn.read > 0 for turn in reference.turns[1:])
    prefix = reference.turns[0].written
    assert reference.written < 2 * prefix
    assert "1 rewrite of the tools" in str(stub)
    assert "0 rewrites of the tools" in str(reference)


def test_x16_a_loaded_definition_is_part_of_the_message_that_refers_to_it(many):
    prompts = by_mode(many, "reference")
    with_load, without = (
        cache_cost(each, counter=CHARS, prices=UNCACHED)
        for each in (prompts, [Prompt(p.tools[:5], p.system, p.messages) for p in prompts])
    )
    definition = {key: value for key, value in prompts[0].tools[5].items() if key != "defer_loading"}
    assert definition["name"] == "tool_04"
    gained = [
        a.read + a.written - b.read - b.written for a, b in zip(with_load.turns, without.turns, strict=True)
    ]
    assert gained == [0, 0, size([definition]), size([definition])]


def test_x16_prices_are_parameters(many):
    prompts = by_mode(many, "stub")
    plain = cache_cost(prompts, prices=UNCACHED)
    assert plain.cost == plain.read + plain.written + plain.fresh
    dear = cache_cost(prompts, prices=CachePrices(write=2.0, read=0.5))
    assert dear.cost == pytest.approx(2.0 * dear.written + 0.5 * dear.read)
    assert (ANTHROPIC_PRICES.write, ANTHROPIC_PRICES.read) == (1.25, 0.1)


def test_x16_a_provider_that_compares_characters_keeps_the_list_up_to_the_change(many):
    whole, characters = (
        cache_cost(by_mode(many, "stub"), prices=prices, counter=CHARS)
        for prices in (ANTHROPIC_PRICES, OPENAI_PRICES)
    )
    lists = [json.dumps(p.tools, separators=(",", ":")) for p in by_mode(many, "stub")[1:3]]
    same = next(place for place, pair in enumerate(zip(*lists, strict=False)) if pair[0] != pair[1])
    assert whole.turns[2].read == 0
    assert characters.turns[2].read == same > 0
    assert characters.rewrites == whole.rewrites == 1


def test_x16_what_lies_behind_the_last_mark_or_is_too_short_is_fresh(many):
    prompts = by_mode(many, "stub")
    cost = cache_cost(prompts, cached_messages=False, counter=CHARS)
    assert [turn.fresh for turn in cost.turns] == [sum(map(size, prompt.messages)) for prompt in prompts]
    assert cost.turns[1].written == 0
    short = cache_cost([Prompt((), "Hello")] * 3)
    assert (short.read, short.written, short.fresh) == (0, 0, 6)
    assert cache_cost([]).cost == 0


def test_c41_most_runs_use_it_keep_it_few_do_defer_it(many):
    catalog = Catalog(many(12))
    runs = [["tool_00"] * 3 if number < 9 else ["tool_01"] for number in range(10)]
    advice = advise(catalog, runs)
    lines = {tool.name: str(tool) for tool in advice.tools}
    assert advice.keep == ("tool_00",)
    assert lines["tool_00"].startswith("tool_00: used in 9 of 10 runs, ")
    assert lines["tool_00"].endswith(": keep")
    assert lines["tool_01"].startswith("tool_01: used in 1 of 10 runs, ")
    assert lines["tool_01"].endswith(": defer")
    assert lines["tool_02"].startswith("tool_02: used in 0 of 10 runs, ")
    assert [tool.name for tool in advice.tools[:2]] == ["tool_00", "tool_01"]
    assert advice.searches == pytest.approx(0.1)
    assert str(advice).splitlines()[1:] == [str(tool) for tool in advice.tools]


def test_x17_small_tools_that_every_run_uses_are_sent_in_full(many):
    catalog = Catalog([{"name": f"small_{number}", "description": "Small"} for number in range(16)])
    advice = advise(catalog, [catalog.wire_names] * 5)
    assert advice.decision == "send in full"
    assert advice.sentence.startswith("Send in full: a run of 5 turns costs ")
    assert f"{advice.full:,.0f} tokens with all 16 tools in full" in advice.sentence
    assert f"and {advice.deferred:,.0f} with 16 of them in full and 0.0 searches" in advice.sentence
    assert advice.deferred > advice.full


@pytest.mark.parametrize("mode", ["stub", "inline"])
@pytest.mark.parametrize("prices", [UNCACHED, ANTHROPIC_PRICES])
def test_x17_large_tools_of_which_few_are_used_are_deferred(many, mode, prices):
    catalog = Catalog(many(200))
    advice = advise(catalog, [["tool_03", "tool_50", "tool_99"]] * 2 + [[]] * 3, mode=mode, prices=prices)
    assert advice.decision == "defer"
    assert advice.sentence.startswith("Defer: ")
    assert advice.deferred < advice.full
    assert advice.searches == pytest.approx(1.2)
    assert advice.keep == ()


def test_x17_where_each_load_writes_a_long_prompt_again_deferring_may_not_pay(many):
    catalog = Catalog(many(30))
    runs = [[name] for name in catalog.wire_names[:10]]
    options = {"prices": ANTHROPIC_PRICES, "prompt_tokens": 50_000}
    assert advise(catalog, runs, mode="stub", **options).decision == "send in full"
    assert advise(catalog, runs, mode="stub", prices=UNCACHED).decision == "defer"


def test_c41_tools_that_are_never_deferred_are_kept_and_unknown_names_reported(many):
    catalog = Catalog(many(5)).with_policy("tool_04", "never")
    advice = advise(catalog, [["tool_00", "gone"], ["other"]], keep_from=0.9)
    assert advice.keep == ("tool_04",)
    assert advice.unknown == ("gone", "other")
    with pytest.raises(ConfigError, match="at least one run"):
        advise(catalog, [])
    with pytest.raises(ConfigError, match="at least one turn"):
        advise(catalog, [[]], turns=0)


def test_e53_the_hottest_tools():
    counts = {"a": 90, "b": 80, "c": 70, "d": 5, "e": 4, "f": 1}
    assert hot_tools(counts, n=3) == hot_tools(counts) == ("a", "b", "c")
    assert hot_tools(dict(reversed(counts.items())), n=4) == ("a", "b", "c", "d")
    assert hot_tools({"b": 2, "a": 2, "c": 0}, n=5) == ("a", "b")
    with pytest.raises(ConfigError):
        hot_tools(counts, n=0)


def test_c42_the_cost_of_ones_own_catalog(many):
    tools = many(40)
    servers = {"files": tools[:10], "mail": tools[10:30], "wiki": tools[30:]}
    catalog = Catalog(servers)
    cost = report(catalog, counter=CHARS)
    assert [(part.namespace, part.tools) for part in cost.namespaces] == [
        ("files", 10),
        ("mail", 20),
        ("wiki", 10),
    ]
    entries = anthropic.render(request(catalog, "full", catalog.wire_names, search=None))
    stubs = anthropic.render(request(catalog, "stub", (), catalog.wire_names))
    assert cost.full == sum(map(size, entries))
    assert cost.deferred == sum(map(size, stubs))
    assert cost.difference == cost.full - cost.deferred > 0
    assert cost.namespaces[1].difference == sum(map(size, entries[10:30])) - sum(map(size, stubs[11:31]))
    text = str(cost)
    assert text.splitlines()[0] == "Tokens per turn (characters)"
    assert f"{cost.difference:,}" in text.splitlines()[-1]
    assert report(catalog).full == pytest.approx(cost.full / 4, rel=0.02)


def test_c42_tools_that_stay_cost_the_same_either_way(many):
    catalog = Catalog(many(6)).with_policy("tool_00", "never")
    none, one = report(catalog, counter=CHARS), report(catalog, keep=["tool_01"], counter=CHARS)
    assert one.full == none.full
    assert one.deferred > none.deferred
    everything = report(catalog, keep=catalog.wire_names, counter=CHARS)
    assert everything.difference == -everything.search < 0
    assert report(Catalog()).full == 0
    with pytest.raises(UnknownToolError):
        report(catalog, keep=["nothing"])


def test_bc53_a_loaded_tool_inside_a_namespace_counts_once(many):
    tools = many(3)
    catalog = Catalog({"crm": tools[:2], "wiki": [{**tools[2], "name": "tool_00"}]})
    names = catalog.wire_names
    in_full = openai_responses.render(request(catalog, "full", names, api="responses", search=None))
    first = request(catalog, "hosted", (), names, api="responses", search="openai")
    then = request(catalog, "hosted", (), names, names[2:], api="responses", search="openai")
    before, after = (turn_tokens(each, openai_responses.render(each), CHARS) for each in (first, then))
    assert after.loaded == size(in_full[2:])
    assert after.sent == before.sent + size(in_full[2]) + 1
    assert before.full == size(in_full)
