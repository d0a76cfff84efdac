"""Which words users say for a tool alone, how they are written, and which names say nothing."""

from __future__ import annotations

import pytest

from semantic_toolsearch.evaluation.mining.reasons import says_nothing
from semantic_toolsearch.evaluation.mining.records import Word
from semantic_toolsearch.evaluation.mining.said_words import Said, held_words, missing_words
from semantic_toolsearch.tokens import tokenize


def said(*texts):
    return [Said(text) for text in texts]


def missing(own, others=(), held=""):
    return missing_words(said(*own), said(*others), set(tokenize(held)))


def test_words_are_written_as_users_write_them_not_as_the_index_does():
    assert missing(["Cancelling it", "cancelling now", "we cancel"]) == (Word("cancelling", 3),)


def test_words_that_the_tool_holds_in_another_form_are_not_missing():
    assert missing(["refunds", "a refund please"], held="refunding") == ()


def test_function_words_and_numbers_are_no_evidence():
    assert missing(["what is it with the 4471", "it is the 4471 again"]) == ()


def test_of_several_phrasings_two_must_hold_a_word():
    assert missing(["money back", "the money", "a lid"]) == (Word("money", 2),)
    assert missing(["a lid"]) == (Word("lid", 1),)


def test_words_that_are_said_for_other_tools_as_well_are_nobodys():
    others = ["help me with the tax", "help with a door", "more help", "a cup"]
    assert missing(["help with money", "help, the money", "money"], others) == (Word("money", 3),)


def test_a_single_phrasing_counts_only_what_no_other_says():
    assert missing(["tell the lid"], ["tell me a joke", *["a cup"] * 50]) == (Word("lid", 1),)


def test_words_that_never_part_are_one():
    assert missing(["my money back", "money back now", "want money back"]) == (Word("money back", 3),)
    assert missing(["my money back", "money back now", "back, money"]) == (Word("back", 3), Word("money", 3))
    assert missing(["money here back", "money all back"]) == (Word("back", 2), Word("money", 2))


def test_the_most_frequent_come_first_and_six_are_enough():
    words = missing(["one two three four five six seven eight zebra", "zebra one", "zebra two"])
    assert words[0] == Word("zebra", 3)
    assert missing([" ".join(f"word{letter}" for letter in "abcdefghijk")])[0].count == 1
    assert len(missing([" x ".join(f"word{letter}" for letter in "abcdefghijk")])) == 6


def test_scripts_without_spaces_work_too():
    assert missing(["退款", "退款吧"])[0] == Word("退款", 2)


def test_held_words_tell_the_fields_and_leave_out_what_the_right_tool_has():
    phrasings = said("send the parcel", "a parcel, sent today")
    fields = {"name": ("send", "parcel"), "description": ("parcel",)}
    assert held_words(phrasings, fields) == (
        Word("parcel", 2, ("name", "description")),
        Word("send", 1, ("name",)),
    )
    assert held_words(phrasings, fields, without={"parcel"}) == (Word("send", 1, ("name",)),)


@pytest.mark.parametrize(
    "name", ["run", "do_task", "process_data", "fn2", "handleRequest", "get_info", "x", "api.call"]
)
def test_names_that_say_nothing(name):
    assert says_nothing(name)


@pytest.mark.parametrize(
    "name", ["run_tests", "get_weather", "sql", "create_invoice", "list", "dns", "退款", "billing run"]
)
def test_names_that_say_something(name):
    assert not says_nothing(name)
