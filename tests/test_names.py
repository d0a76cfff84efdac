"""Names: words, comparison keys and wire names."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_toolsearch.names import (
    RESERVED_NAMES,
    nearest,
    split_identifier,
    squash,
    wire_name,
    wire_names,
    wire_namespace,
    wire_namespaces,
)

LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,64}")

NAMES = st.one_of(
    st.text(min_size=1, max_size=100),
    st.text(alphabet="abAB_-./: é天\u200b", min_size=1, max_size=80),
    st.sampled_from(
        ["search", "Search", "SEARCH", "get-item", "get_item", "get.item", "tool_search", "a__b", "x" * 65]
    ),
)
IDENTITIES = st.lists(
    st.tuples(
        st.one_of(st.none(), st.sampled_from(["a", "A", "a__b", "File Operations", "天气"]), NAMES), NAMES
    ),
    unique=True,
    max_size=25,
)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("renewLoan", "renew loan"),
        ("renew_loan", "renew loan"),
        ("renew-loan", "renew loan"),
        ("RenewLoan", "renew loan"),
        ("renew.loan", "renew loan"),
        ("renew loan", "renew loan"),
        ("renew::loan/now", "renew loan now"),
        ("RENEW_LOAN", "renew loan"),
        ("parseHTTPHeader2", "parse http header 2"),
        ("getHTTPResponse2", "get http response 2"),
        ("OAuth2Token", "oauth 2 token"),
        ("iOSApp", "ios app"),
        ("createGitHubIssue", "create github issue"),
        ("listURLs", "list urls"),
        ("getIDsByName", "get ids by name"),
        ("HTTPServer", "http server"),
        ("x", "x"),
        ("aB", "a b"),
        ("天気get予報", "天気 get 予報"),
        ("prüfeÜberweisung", "prüfe überweisung"),
        ("получитьСчёт", "получить счёт"),
        ("हिन्दी_नाम", "हिन्दी नाम"),
        ("GET /movie/{movie_id}", "get movie movie id"),
        ("mail\u200b_send", "mail send"),
        ("se\u200bnd", "send"),
        ("ｆｕｌｌＷｉｄｔｈ", "full width"),
        ("cafe\u0301Bar", "café bar"),
        ("+++", ""),
        ("", ""),
    ],
)
def test_c15_identifiers_split_into_words_in_any_style(name, words):
    assert " ".join(split_identifier(name)) == words


@pytest.mark.parametrize(
    "spellings",
    [
        ("addGuest", "ADD_GUEST", "add-guest", "add guest", "AddGuest", "add.guest", "addguest"),
        ("prüfeKonto", "PRÜFE_KONTO", "pru\u0308fe konto"),
        ("straßeSuchen", "STRASSE_SUCHEN"),
        ("天気_予報", "天気予報", "天気-予報"),
        ("mail\u200b_send", "mailSend"),
    ],
)
def test_squash_is_one_key_for_all_case_styles(spellings):
    assert len({squash(spelling) for spelling in spellings}) == 1
    assert squash(spellings[0])


def test_squash_tells_words_with_different_marks_apart():
    assert squash("नाम") != squash("नम")
    assert squash("+++") == squash("") == ""


@given(IDENTITIES, st.randoms(use_true_random=False))
def test_x08_wire_names_are_legal_unique_stable_and_reversible(identities: list, rng: random.Random):
    names = wire_names(identities)
    assert all(LEGAL.fullmatch(name) for name in names)
    assert all(not name[0].isdigit() and name[0] != "-" for name in names)
    assert len({name.lower() for name in names}) == len(identities)
    assert not RESERVED_NAMES & set(names)
    back = dict(zip(names, identities, strict=True))
    shuffled = list(identities)
    rng.shuffle(shuffled)
    assert [back[name] for name in wire_names(shuffled)] == shuffled


@given(IDENTITIES)
def test_x08_a_wire_name_depends_on_its_identity_alone_unless_names_collide(identities):
    alone = [wire_name(*identity) for identity in identities]
    if len({name.lower() for name in alone}) == len(alone):
        assert list(wire_names(identities)) == alone


@given(
    st.lists(
        st.one_of(st.text(max_size=90), st.sampled_from(["File Operations", "file/operations"])), unique=True
    )
)
def test_e39_namespaces_get_distinct_legal_names_in_any_order(labels):
    names = wire_namespaces(labels)
    assert all(LEGAL.fullmatch(name) for name in names)
    assert len({name.lower() for name in names}) == len(labels)
    assert list(wire_namespaces(labels[::-1]))[::-1] == list(names)


def test_e37_namespace_is_made_safe():
    assert wire_namespace("File Operations") == "File_Operations"
    assert wire_namespace("Web & Mail") == "Web_Mail"
    assert len(wire_namespace("x" * 80)) == 64
    assert wire_namespace("x" * 80) != wire_namespace("x" * 81)


def test_e39_equal_labels_stay_two_namespaces():
    one, other = wire_namespaces(["File Operations", "File/Operations"])
    assert one != other
    assert wire_namespaces(["File/Operations", "File Operations"]) == (other, one)


@pytest.mark.parametrize(
    ("namespace", "name", "wire"),
    [
        (None, "search", "search"),
        ("wiki", "search", "wiki__search"),
        ("harvest", "harvest_get", "harvest_get"),
        ("harvest", "mcp__harvest__get_meetings", "mcp__harvest__get_meetings"),
        ("Harvest", "harvest-get", "harvest-get"),
        ("search", "search", "search__search"),
        ("har", "harvest_get", "har__harvest_get"),
        ("File Operations", "File_Operations_read", "File_Operations_read"),
    ],
)
def test_x08_legal_names_are_kept_and_the_prefix_is_not_doubled(namespace, name, wire):
    assert wire_name(namespace, name) == wire


@pytest.mark.parametrize(
    ("namespace", "name", "head"),
    [
        (None, "datei öffnen", "datei_offnen_"),
        (None, "Łódź.straße", "Lodz_strasse_"),
        ("File Operations", "read", "File_Operations__read_"),
        ("w" * 70, "reconcile", "w" * 20),
        (None, "天気", "tool_"),
        (None, "2fa", "_2fa_"),
        (None, "tool_search", "tool_search_"),
    ],
)
def test_x08_changed_names_keep_a_readable_head(namespace, name, head):
    wire = wire_name(namespace, name)
    assert wire.startswith(head)
    assert re.search(r"_[0-9a-f]{8}$", wire)


def test_x08_a_long_namespace_leaves_the_name_readable():
    assert "__reconcile_" in wire_name("w" * 70, "reconcile")


def test_x08_names_equal_ignoring_case_get_hashes_but_the_first_in_sorted_order():
    names = wire_names([("s", "getitem"), ("s", "GetItem"), ("s", "GETITEM")])
    assert names[2] == "s__GETITEM"
    assert all(re.fullmatch(r"s__\w+_[0-9a-f]{8}", name) for name in names[:2])


def test_x08_a_hash_never_takes_another_tools_own_name():
    hashed = wire_name(None, "get.item")
    names = wire_names([(None, "get.item"), (None, hashed)])
    assert names[1] == hashed
    assert names[0] != hashed
    assert LEGAL.fullmatch(names[0])


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        ("renewLoans", ["renewLoan", "reserve_title", "fee-report"], ("renewLoan",)),
        (
            "ask_oracl",
            ["mcp__plugin_lab_x__ask_oracle", "mcp__plugin_lab_x__job_start"],
            ("mcp__plugin_lab_x__ask_oracle",),
        ),
        ("tool_serch", ["auto_tool_search", "tool_search", "grep"], ("tool_search", "auto_tool_search")),
        ("xyzzy", ["renewLoan", "fee-report"], ()),
        ("", ["a"], ()),
        ("気象予", ["気象予報", "地図"], ("気象予報",)),
    ],
)
def test_nearest_names(name, candidates, expected):
    assert nearest(name, candidates) == expected


def test_nearest_keeps_the_limit_and_any_order_of_candidates():
    names = [f"get_item_{i}" for i in range(50)]
    assert len(nearest("get_item", names, limit=2)) == 2
    assert nearest("get_item", names, limit=5) == nearest("get_item", names[::-1], limit=5)
    assert nearest("get_item", names, limit=0) == ()


@given(st.text(max_size=60))
def test_any_text_splits_and_squashes(text):
    words = split_identifier(text)
    assert all(word and word == word.lower() for word in words)
    assert squash(squash(text)) == squash(text)
