"""What scripted conversations cost, mode by mode."""

from __future__ import annotations

from functools import partial

import pytest
from kitchen import kitchen, tool

from semantic_toolsearch.accounting import CHARACTERS
from semantic_toolsearch.definitions import ToolDefinition
from semantic_toolsearch.errors import ConfigError, ConversationError, DatasetError
from semantic_toolsearch.evaluation.costs import conversations as module
from semantic_toolsearch.evaluation.costs.conversations import conversation_costs
from semantic_toolsearch.evaluation.costs.endpoints import ENDPOINTS, Provider
from semantic_toolsearch.evaluation.costs.scripted import need_of
from semantic_toolsearch.evaluation.costs.ways import WAYS, carries
from semantic_toolsearch.evaluation.dataset import Dataset, Query
from semantic_toolsearch.testing import HashingEmbedder
from semantic_toolsearch.testing.loopback import Say

CLIENT = ("reference", "output", "stub", "bridge")


def costs(dataset, **options):
    return conversation_costs(
        dataset, **{"ranker": "bm25", "cache": False, "conversations": 2, "counter": CHARACTERS, **options}
    )


def table(results):
    return {(each.api, each.mode, each.turns): each for each in results}


@pytest.fixture(scope="module")
def whole():
    return table(costs(kitchen(), conversations=1))


def test_s29_every_mode_has_its_row_at_1_5_and_20_turns(whole):
    assert list(whole) == [(api, mode, turns) for api, mode in WAYS for turns in (1, 5, 20)]
    for each in whole.values():
        assert (each.task, each.tools, each.conversations, each.counted) == ("kitchen", 12, 1, "chars/4")
        assert each.input_tokens == pytest.approx(each.read + each.written + each.fresh)
        price = each.prices
        assert each.cost == pytest.approx(
            each.read * price["read"] + each.written * price["write"] + each.fresh, abs=0.01
        )
    assert whole["anthropic", "full", 1].prices == {"read": 0.1, "write": 1.25}
    assert whole["responses", "full", 1].prices == {"read": 0.1, "write": 1.0}


def test_s29_full_is_the_hundred_percent_that_others_are_compared_with(whole):
    for (api, mode, turns), each in whole.items():
        full = whole[api, "full", turns]
        assert full.requests == 2 * turns  # a call and a sentence for each message
        assert (full.rewrites, full.answered) == (0, 1)
        if mode != "full":
            assert each.first_tokens < full.first_tokens
    for api, mode in (("anthropic", "reference"), ("responses", "output"), ("anthropic", "hosted")):
        assert whole[api, mode, 1].input_tokens < whole[api, "full", 1].input_tokens / 2


def test_s29_cache_reads_grow_with_the_turns_and_only_stubs_rewrite_the_tools(whole):
    for api, mode in WAYS:
        one, five, twenty = (whole[api, mode, turns] for turns in (1, 5, 20))
        assert one.read <= five.read < twenty.read
        assert one.requests < five.requests < twenty.requests
        assert one.first_tokens == five.first_tokens == twenty.first_tokens
        if mode != "stub":
            assert twenty.rewrites == 0
        else:
            assert one.rewrites == 1
            assert one.rewrites < five.rewrites <= twenty.rewrites


def test_s29_stubs_rewrite_as_often_as_searches_load(whole):
    for api in ("anthropic", "responses", "chat"):
        for turns in (1, 5, 20):
            stub = whole[api, "stub", turns]
            # Every query finds its tool, so each request beyond a call and a sentence is a search that loads.
            assert stub.answered == 1
            assert stub.rewrites == stub.requests - 2 * turns
            assert stub.written > whole[api, "bridge", turns].written


def test_s29_our_searches_answer_the_same_whatever_carries_them(whole):
    for turns in (1, 5, 20):
        rows = [each for (_, mode, length), each in whole.items() if mode in CLIENT and length == turns]
        assert len({(each.requests, each.answered) for each in rows}) == 1
        assert len(rows) == 8


def test_s29_a_tool_that_no_search_finds_costs_the_answer_in_every_client_mode():
    texts = {"known": "quiet music", "lost": "zebra quokka"}
    dataset = kitchen(queries=texts.items(), gold={"known": ("play_music",), "lost": ("bake_bread",)})
    options = {"conversations": 1, "ways": [("anthropic", "reference")]}
    by_seed = [costs(dataset, lengths=(1, 2), seed=seed, **options) for seed in (7, 8)]
    assert [[each.answered for each in row] for row in by_seed] == [
        [1, 0.5],
        [0, 0.5],
    ]  # a share of what was asked
    rows = table(costs(dataset, lengths=(2,)))
    for (_, mode, _), each in rows.items():
        assert each.answered == (0.5 if mode in CLIENT or (each.api, mode) == ("anthropic", "hosted") else 1)
    assert rows["anthropic", "stub", 2].rewrites == 1
    assert rows["anthropic", "reference", 2].requests == 5  # search, call, sentence; search, sentence
    assert rows["anthropic", "hosted", 2].requests == 3  # its searches are part of the responses


def test_s29_a_message_is_answered_when_all_its_tools_were_called_or_copies_of_them():
    both, half = ("play_music", "call_taxi"), ("play_music", "bake_bread")
    options = {"lengths": (1,), "ways": [("anthropic", "full"), ("anthropic", "reference")]}

    def answered(gold, **more):
        dataset = kitchen(queries=[("q", "quiet music, and a taxi")], gold={"q": gold}, **more)
        return [each.answered for each in costs(dataset, **options)]

    assert answered(both) == [1, 1]
    assert answered(half) == [1, 0]
    assert answered(half, copies={"q": {"call_taxi": "bake_bread"}}) == [1, 1]


def test_s29_the_same_seed_gives_the_same_figures_and_another_one_others():
    options = {"lengths": (2,), "conversations": 2}
    first, again, other = (
        costs(kitchen(), **options),
        costs(kitchen(), **options),
        costs(kitchen(), seed=8, **options),
    )
    assert first == again
    assert first != other


def test_s29_each_conversation_is_another_one():
    options = {"lengths": (2,), "ways": [("anthropic", "reference")]}
    (alone,), (together,) = (costs(kitchen(), conversations=number, **options) for number in (1, 3))
    assert (alone.conversations, together.conversations) == (1, 3)
    assert together.input_tokens != alone.input_tokens


def test_s29_a_short_conversation_is_the_beginning_of_a_long_one(whole):
    short = costs(kitchen(), lengths=(5, 1, 5), conversations=1)
    assert table(short) == {key: each for key, each in whole.items() if key[2] != 20}


def test_s29_more_turns_than_queries_ask_again_what_is_loaded_by_then():
    rows = table(costs(kitchen(), lengths=(12, 24), ways=[("anthropic", "reference")]))
    first, both = rows["anthropic", "reference", 12], rows["anthropic", "reference", 24]
    assert both.requests - first.requests == 2 * 12  # no searches any more
    assert both.answered == 1


def test_s29_the_scripted_model_calls_nothing_whose_schema_it_has_not_seen(monkeypatch):
    monkeypatch.setattr(module, "Provider", partial(Provider, blind_calls=False))
    assert all(each.answered == 1 for each in costs(kitchen(), lengths=(6,), conversations=1))


@pytest.mark.parametrize("api", ["anthropic", "responses", "chat"])
def test_s29_reads_are_those_that_the_provider_reports_within_its_own_way_of_counting(monkeypatch, api):
    """The loopback provider has a cache of its own: in steps of 128 tokens at OpenAI, to marks at Anthropic."""
    used = {}

    class Reporting(Provider):
        def ask(self, endpoint, body):
            response = super().ask(endpoint, body)
            usage = response["usage"]
            details = usage.get("input_tokens_details") or usage.get("prompt_tokens_details") or {}
            reported = usage.get("cache_read_input_tokens", details.get("cached_tokens"))
            used["read"] = used.get("read", 0) + reported
            return response

    monkeypatch.setattr(module, "Provider", Reporting)
    for mode in ("full", "stub", "bridge"):
        used.clear()
        (row,) = costs(kitchen(more=20), lengths=(12,), conversations=1, ways=[(api, mode)])
        assert row.read > 10_000
        assert row.read == pytest.approx(used["read"], rel=0.08)


def test_s29_hosted_searches_are_labelled_for_what_they_are(whole):
    for (api, mode, _), each in whole.items():
        assert bool(each.notes) == (mode == "hosted")
        assert all(note.startswith(f"hosted, {api}") for note in each.notes)
    assert "emulated" in whole["anthropic", "hosted", 1].notes[0]


def test_s29_our_searches_rank_with_what_is_asked_for():
    options = {"lengths": (12,), "conversations": 1, "ways": [("responses", "output")]}
    (row,) = costs(kitchen(), ranker="semantic", embedder=HashingEmbedder(), **options)
    assert 0 < row.answered < 1  # spelling stands for meaning in this embedder, where words found everything


def test_s29_progress_counts_the_conversations():
    steps = []
    ways = [("anthropic", "full"), ("chat", "stub")]
    costs(kitchen(), lengths=(1,), conversations=3, ways=ways, progress=lambda *step: steps.append(step))
    assert steps == [(done, 6) for done in range(1, 7)]


def test_s29_ways_that_cannot_hold_so_many_tools_are_passed_over():
    assert [way for way in WAYS if not carries(way, 128)] == [("chat", "stub")]
    assert [way for way in WAYS if not carries(way, 129)] == [("chat", "full"), ("chat", "stub")]
    assert {("anthropic", "hosted"), ("anthropic", "reference")} < {
        way for way in WAYS if not carries(way, 10_001)
    }
    tools = tuple(tool("row", f"stall_{place:03d}", f"Sells thing {place}.") for place in range(130))
    many = Dataset(
        "many", tools, tuple(each.name for each in tools), (Query("q", "stall_007"),), {"q": {"stall_007": 1}}
    )
    rows = costs(many, lengths=(1,), conversations=1)
    assert [(each.api, each.mode) for each in rows] == [
        way for way in WAYS if way not in (("chat", "full"), ("chat", "stub"))
    ]
    assert all(each.answered == 1 for each in rows)


def test_what_nobody_can_answer_is_not_asked():
    texts = {"known": "quiet music", "nothing": "mend my shoes"}
    rows = costs(kitchen(queries=texts.items(), gold={"known": ("play_music",)}), lengths=(4,))
    assert all(each.answered == 1 for each in rows)


def test_a_gold_tool_that_is_unusable_is_not_waited_for():
    texts = {"q": "quiet music and a taxi", "gone": "anything"}
    dataset = kitchen(queries=texts.items(), gold={"q": ("play_music", "call_taxi"), "gone": ("call_taxi",)})
    smaller = dataset.with_tools([place for place in range(12) if dataset.ids[place] != "call_taxi"])
    assert need_of(smaller, smaller.queries[0]).tools == ((smaller.places["play_music"],),)
    assert need_of(smaller, smaller.queries[1]).tools == ()
    assert all(each.answered == 1 for each in costs(smaller, lengths=(2,)))


def test_a_call_that_no_arguments_fit_is_refused_and_answers_nothing():
    impossible = ToolDefinition(
        name="open_door",
        description="Opens the door.",
        parameters={
            "type": "object",
            "properties": {"key": {"type": "array", "enum": ["brass"]}},
            "required": ["key"],
        },
    )
    dataset = Dataset("door", (impossible,), ("door",), (Query("q", "open the door"),), {"q": {"door": 1}})
    (row,) = costs(dataset, lengths=(1,), conversations=1, ways=[("anthropic", "full")])
    assert (row.answered, row.requests) == (0, 2)


@pytest.mark.parametrize("wrong", [{"lengths": ()}, {"lengths": (0,)}, {"conversations": 0}])
def test_nothing_to_do_is_an_error_of_the_caller(wrong):
    with pytest.raises(ConfigError, match="at least"):
        costs(kitchen(), **wrong)


def test_a_dataset_without_anything_to_ask_is_named():
    with pytest.raises(DatasetError, match="kitchen: no query has a usable gold tool"):
        costs(kitchen(queries=[("q", "mend my shoes")], gold={}))


def test_a_request_that_breaks_a_rule_of_the_provider_is_no_figure():
    provider = Provider(lambda view: Say("never"))
    with pytest.raises(ConversationError, match="anthropic refuses"):
        provider.ask(ENDPOINTS["anthropic"], {"model": "claude-sonnet-5", "max_tokens": 0, "messages": []})
