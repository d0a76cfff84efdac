"""The emulated hosted searches on their own: what they search, in which order, and where they stop."""

from __future__ import annotations

from typing import Any

import pytest
from loopback_requests import schema

from semantic_toolsearch.testing.loopback import ScriptError, Search, Surface
from semantic_toolsearch.testing.loopback.search import (
    SearchFailure,
    by_bm25,
    by_paths,
    by_regex,
    choose_paths,
)


def _tool(name: str, description: str = "", parameters: dict[str, Any] | None = None) -> Surface:
    return Surface(name, {"name": name, "description": description}, parameters or schema(), deferred=True)


def _names(found: list[Surface]) -> list[str]:
    return [surface.name for surface in found]


NESTED = {
    "type": "object",
    "properties": {
        "stay": {
            "type": "object",
            "properties": {"checkin": {"type": "string", "description": "arrival day"}},
        },
        "guests": {
            "type": "array",
            "items": {"type": "object", "properties": {"nickname": {"type": "string"}}},
        },
        "payment": {"anyOf": [{"type": "object", "properties": {"iban": {"type": "string"}}}]},
    },
    "$defs": {"room": {"type": "object", "properties": {"balcony": {"type": "boolean"}}}},
}
HOTEL = _tool("bookHotelRoom", "Reserve a place to sleep.", NESTED)
TOOLS = [_tool("send_mail", "Write to somebody."), HOTEL, _tool("read_mail", "Show the inbox.")]


@pytest.mark.parametrize(
    "word", ["hotel", "sleep", "stay", "checkin", "arrival", "nickname", "iban", "balcony", "bookHotelRoom"]
)
def test_both_variants_search_name_description_and_arguments(word: str) -> None:
    assert _names(by_bm25(word, None, TOOLS)) == ["bookHotelRoom"]
    assert _names(by_regex(word, None, TOOLS)) == ["bookHotelRoom"]


def test_bm25_ranks_rare_words_first_and_keeps_the_order_of_equal_scores() -> None:
    assert _names(by_bm25("mail somebody", None, TOOLS)) == ["send_mail", "read_mail"]
    same = [_tool(f"mail_{letter}", "Mail.") for letter in "abcdefgh"]
    assert _names(by_bm25("mail", None, same)) == [f"mail_{letter}" for letter in "abcde"]
    assert _names(by_bm25("inbox mail", None, TOOLS)) == ["read_mail", "send_mail"]


@pytest.mark.parametrize(
    ("limit", "count"), [(None, 5), (1, 1), (3, 3), (12, 12), (99, 20), (0, 1), ("4", 5), (True, 5)]
)
def test_limits(limit: Any, count: int) -> None:
    many = [_tool(f"mail_{number}") for number in range(30)]
    assert len(by_bm25("mail", limit, many)) == count
    assert len(by_regex("mail", limit, many)) == count


def test_a_miss_is_not_padded() -> None:
    assert by_bm25("zebra", 5, TOOLS) == []
    assert by_bm25("", 5, TOOLS) == []
    assert by_regex("zebra", 5, TOOLS) == []


def test_regex_ignores_case_matches_single_fields_and_keeps_the_order() -> None:
    assert _names(by_regex("(?i)MAIL$", None, TOOLS)) == ["send_mail", "read_mail"]
    assert _names(by_regex("^read_.*", None, TOOLS)) == ["read_mail"]
    assert by_regex("mail.*inbox", None, TOOLS) == []
    assert _names(by_regex("book|send", None, TOOLS)) == ["send_mail", "bookHotelRoom"]


@pytest.mark.parametrize("pattern", ["(", "[a-", "*mail", "(?P<x", "a{2,1}"])
def test_a_pattern_that_is_none(pattern: str) -> None:
    with pytest.raises(SearchFailure, match="Invalid regular expression pattern") as caught:
        by_regex(pattern, None, TOOLS)
    assert caught.value.code == "invalid_tool_input"


def test_lengths() -> None:
    assert by_regex("m" * 200, None, TOOLS) == []
    assert by_bm25("m" * 500, None, TOOLS) == []
    with pytest.raises(SearchFailure, match="200 characters"):
        by_regex("m" * 201, None, TOOLS)
    with pytest.raises(SearchFailure, match="500 characters"):
        by_bm25("m" * 501, None, TOOLS)


def test_a_pattern_that_takes_too_long() -> None:
    with pytest.raises(SearchFailure) as caught:
        by_regex("(.*a){25}$", None, [_tool("slow", "a" * 2_000 + "b")])
    assert caught.value.code == "execution_time_exceeded"


def _grouped(name: str, namespace: str, *, deferred: bool = True) -> Surface:
    return Surface(name, {"name": name}, schema(), deferred=deferred, namespace=namespace, grouped=True)


SURFACES = [
    Surface("fx_rate", {"name": "fx_rate"}, schema(), deferred=True, namespace="fx_rate"),
    _grouped("get_profile", "crm", deferred=False),
    _grouped("list_orders", "crm"),
    _grouped("lookup", "crm"),
    _grouped("lookup", "shop"),
    Surface("clock", {"name": "clock"}, schema()),
]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["crm"], [("crm", "list_orders"), ("crm", "lookup")]),
        (["fx_rate"], [("fx_rate", "fx_rate")]),
        (["crm.lookup"], [("crm", "lookup")]),
        (["shop", "crm.lookup", "shop.lookup"], [("shop", "lookup"), ("crm", "lookup")]),
        (["lookup", "clock", "gone", "crm.get_profile"], []),
    ],
)
def test_paths_are_exact_names(paths: list[str], expected: list[tuple[str, str]]) -> None:
    assert [(surface.namespace, surface.name) for surface in by_paths(paths, SURFACES)] == expected


def test_a_path_with_two_meanings() -> None:
    flat = Surface("crm", {"name": "crm"}, schema(), deferred=True, namespace="crm")
    with pytest.raises(ScriptError, match="'crm' is both a function and a namespace"):
        by_paths(["crm"], [flat, *SURFACES])


def test_paths_that_are_not_given_are_chosen_among_what_is_shown() -> None:
    shown = [
        {"type": "namespace", "name": "crm", "description": "Customer records."},
        {"type": "function", "name": "fx_rate", "description": "Exchange rate.", "defer_loading": True},
        {"type": "function", "name": "clock", "description": "Exchange rate by the hour."},
    ]
    assert choose_paths(Search("exchange rate"), shown) == ["fx_rate"]
    assert choose_paths(Search("the `crm` and fx_rate"), shown) == ["crm", "fx_rate"]
    assert choose_paths(Search("rate of exchange for a customer", limit=2), shown) == ["fx_rate", "crm"]
    assert choose_paths(Search("zebra"), shown, SURFACES) == []
    assert choose_paths(Search("open orders"), shown) == []
    assert choose_paths(Search("open orders"), shown, SURFACES) == ["crm"]
    assert choose_paths(Search("zebra", paths=("x",)), shown) == ["x"]
