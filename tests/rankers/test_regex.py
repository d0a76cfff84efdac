"""Patterns: their semantics, their limits, and that no pattern takes the process down."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from library_tools import t
from made_up_rankers import FILES, MAILS
from semantic_toolsearch import SearchConfig, ToolSearch
from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.rankers.regex import LONGEST_PATTERN, RegexRanker


def matches(pattern, tools=FILES, **options):
    catalog = Catalog(tools, strict=True)
    ranking = RegexRanker(catalog, **options).rank(pattern, limit=99)
    return [catalog[int(place)].name for place in ranking.positions], ranking.notes


def test_s10_a_pattern_finds_names():
    assert matches("^mail_0[1-3]$", MAILS) == (["mail_01", "mail_02", "mail_03"], ())


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("READ", ["read_file"]),
        ("(read|write)_file", ["read_file", "write_file"]),
        ("^.ash$", ["bash"]),
        (r"lines?\b.*pattern", ["grep_files"]),
        ("(?-i:READ)", []),
        ("read.*command", []),
    ],
)
def test_s10_python_syntax_case_ignored_each_field_by_itself(pattern, names):
    assert matches(pattern) == (names, ())


def test_s10_argument_names_and_descriptions_are_fields():
    tools = [t("a", where={"description": "a place on the map"}), t("b", when={"type": "string"})]
    assert matches("^where$", tools)[0] == matches("place on", tools)[0] == ["a"]
    assert matches("^(where|when)$", tools)[0] == ["a", "b"]


def test_s10_results_stand_in_catalog_order_and_the_limit_cuts():
    catalog = Catalog(MAILS[::-1])
    ranking = RegexRanker(catalog).rank("mail", limit=3)
    assert [catalog[int(place)].name for place in ranking.positions] == ["mail_11", "mail_10", "mail_09"]
    assert ranking.scores.tolist() == [1, 1, 1]
    search = ToolSearch(MAILS[::-1], ranker="regex", config=SearchConfig(ties="registration"), cache=False)
    assert [hit.name for hit in search.search("mail").tools][:2] == ["mail_11", "mail_10"]


def test_s10_invisible_tools_do_not_count_against_the_limit():
    visible = np.array([False] * 10 + [True] * 2)
    assert RegexRanker(Catalog(MAILS)).rank("mail", limit=1, visible=visible).positions.tolist() == [10]


@pytest.mark.parametrize("pattern", [".+", r"\w", "^", "."])
def test_s10_a_pattern_of_signs_alone_is_a_pattern(pattern):
    result = ToolSearch(FILES, ranker="regex", cache=False).search(pattern)
    assert (result.outcome, len(result.tools)) == ("matched", 5)


@pytest.mark.parametrize("query", ["", "   ", "*", "..."])
def test_d04_blank_and_wildcard_browse_here_too(query):
    assert ToolSearch(FILES, ranker="regex", cache=False).search(query).outcome == "browse"


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("a" * (LONGEST_PATTERN + 1), "more than 200 characters"),
        ("x" * 200_000, "more than 200 characters"),
        ("(" * 200_000, "more than 200 characters"),
        ("(", "not a valid"),
        ("[a-", "not a valid"),
        ("a)", "not a valid"),
        ("(?P<n>a)(?P<n", "not a valid"),
        (r"\q", "not a valid"),
        ("a**", "not a valid"),
        ("(a", "not a valid"),
        ("(?R)", "not a valid"),
        ("(?P>x)(?P<x>a)", "not a valid"),
        ("(?&x)(?P<x>(?&x)a)", "not a valid"),
        ("(?1)(a(?1)?)", "not a valid"),
        ("(?|(a)|(b))", "not a valid"),
        ("a{99999999999}", "counted repeats"),
        ("(a{1000}){1000}", "counted repeats"),
        ("((a{30}){30}){30}", "counted repeats"),
        ("(a{,100}){ 5, 100 }", "counted repeats"),
        ("(?:a{1001})", "counted repeats"),
    ],
)
def test_s10_a_faulty_pattern_is_stated_and_never_raised(pattern, told):
    names, notes = matches(pattern)
    assert (names, len(notes)) == ([], 1)
    assert told in notes[0]
    result = ToolSearch(FILES, ranker="regex", cache=False).search(pattern)
    assert (result.outcome, result.tools) == ("no_match", ())
    assert any(told in note for note in result.notes)


@pytest.mark.parametrize(
    "pattern", ["a" * LONGEST_PATTERN, "(fo{2}|ba{1,3}){2}", "1,000,000|a,5", "x{2}y{3}"]
)
def test_s10_a_harmless_pattern_is_not_refused(pattern):
    assert matches(pattern)[1] == ()


CATASTROPHES = [
    "(a+)+$",
    "(a|aa)+$",
    "(a*)*b",
    "(a*)*" * 20 + "$",
    "(?:a?){500}a{2}",
    "(a|a)*$",
    "(.*)*x",
    "([a-z]+)*!",
    "(?P<x>a+)(?P=x)+$",
    "(?:(?:(?:a+)+)+)+$",
    "^(?:(a|b|ab)*)*c",
    "(?=(a+)+$)b",
]


@pytest.mark.parametrize("pattern", CATASTROPHES)
def test_s11_a_catastrophic_pattern_ends(pattern):
    names, notes = matches(pattern, [t("trap", "a" * 5_000 + "b"), t("other", "a")], seconds=0.05)
    assert set(names) <= {"trap", "other"}
    assert not names or not notes
    assert all("stopped after 0.05 seconds" in note for note in notes)


def test_s11_a_search_says_that_it_was_stopped():
    result = ToolSearch([t("trap", "a" * 5_000 + "b")], ranker="regex", cache=False).search("(a+)+$")
    assert (result.outcome, result.tools) == ("no_match", ())
    assert "was stopped after" in result.notes[0]


def test_s11_the_time_bound_is_for_all_tools_together():
    tools = [t(f"trap_{number:03}", "a" * 24 + "b") for number in range(400)]
    assert "stopped" in matches("(a|aa)+$", tools, seconds=0.01)[1][0]


def test_s11_the_process_lives_within_little_memory():
    """All hostile patterns at once in a process that may not grow."""
    script = """
import resource, sys
from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.rankers.regex import RegexRanker
limit = 1_500 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
catalog = Catalog([{"name": "trap", "description": "a" * 5_000 + "b"}])
for pattern in sys.stdin.read().split("\\0"):
    RegexRanker(catalog, seconds=0.05).rank(pattern, limit=5)
print("alive")
"""
    patterns = [
        *CATASTROPHES,
        "(" * 200,
        "(" * 100 + ")" * 100,
        "(a{1000}){1000}",
        "((a{99}){99}){99}",
        "(?R)",
        "(a|(?R))+$",
        "(?:aaaaaaaaaa){e<=10}b",
        "[" * 200,
        "{" * 200,
        "(?:" * 60 + "a" + ")*",
        "x*" * 100,
        r"\L<x>",
        "(?(1)a|b)",
        "a{1000}" * 20,
    ]
    done = subprocess.run(
        [sys.executable, "-c", script], input="\0".join(patterns), capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr
