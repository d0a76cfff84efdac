"""`toolsearch eval mine`: what is shown, the JSON form, the comparison, errors and exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "mine"
TOOLS, AFTER, PHRASINGS = (EXAMPLE / name for name in ("tools.json", "tools_after.json", "phrasings.txt"))

DESK = [
    {"name": "open_ticket", "description": "Hand a problem over to a colleague."},
    {"name": "close_ticket", "description": "Mark a ticket as solved."},
    {"name": "qx", "description": ""},
]
SAID = """
hand the problem over -> open_ticket
the ticket is solved, close it -> close_ticket
erase all of it -> qx
boil an egg -> nothing
"""


@pytest.fixture
def desk(write):
    return ["eval", "mine", "--catalog", write("desk.json", DESK), "--ranker", "bm25"]


@pytest.mark.parametrize(("ranker", "changes"), [("hybrid", 1), ("bm25", 2)])
def test_s31_the_example_names_the_thin_tool_and_the_magnet(toolsearch, ranker, changes):
    """The magnet attracts by its words; beside meaning they are not enough."""
    result = toolsearch("eval", "mine", "--catalog", TOOLS, "--queries", PHRASINGS, "--ranker", ranker)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == f"15 tools, 48 phrasings, 44 of them with their tools; ranker {ranker}"
    start = lines.index(f"Descriptions to change ({changes})")
    section = "\n".join(lines[start : lines.index("", start)])
    assert re.search(r"\ncancelOrder: loaded for [0-4] of 5 phrasings", section)
    assert "It has no description." in section
    assert "'purchase' (2)" in section
    by_words = ranker == "bm25"
    assert ("Magnets (1): ask_help_desk" in lines) == by_words
    assert ("\nask_help_desk: a magnet\n" in section) == by_words
    assert ("'I want my money back'" in section) == by_words


def test_s31_a_tool_without_the_users_words_is_never_found_by_words(toolsearch):
    words = ["eval", "mine", "--catalog", TOOLS, "--queries", PHRASINGS, "--ranker", "bm25"]
    assert "Never found (1): cancelOrder" in toolsearch(*words).stdout.splitlines()


def test_s31_against_tells_what_the_mended_descriptions_won(toolsearch):
    result = toolsearch(
        "eval", "mine", "--catalog", AFTER, "--against", TOOLS, "--queries", PHRASINGS, "--ranker", "bm25"
    )
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "Since before: 7 phrasings won, 1 lost"
    assert "Found now: cancelOrder" in lines
    assert "No magnet any more: ask_help_desk" in lines
    assert "'please call off my purchase before it ships' -> cancelOrder: missed, now first" in lines
    assert not any(line.startswith(("Never found", "Magnets", "Descriptions to change")) for line in lines)


def test_the_page_fits_a_terminal_of_80_columns(toolsearch, monkeypatch):
    from semantic_toolsearch.cli import output

    monkeypatch.setattr(output, "_PIPED_WIDTH", 80)
    stdout = toolsearch("eval", "mine", "--catalog", AFTER, "--against", TOOLS, "--queries", PHRASINGS).stdout
    assert max(map(len, stdout.splitlines())) <= 80
    assert "change_delivery_address" in stdout


def test_json_has_the_whole_report_and_with_against_the_comparison(toolsearch, desk, write):
    words = [*desk, "--queries", write("said.txt", SAID), "--json"]
    content = json.loads(toolsearch(*words).stdout)
    assert content["never_found"] == ["qx"]
    assert [tool["tool"] for tool in content["tools"]] == ["open_ticket", "close_ticket", "qx"]
    assert [phrasing["state"] for phrasing in content["phrasings"]] == ["first", "first", "missed", "nothing"]
    assert "comparison" not in content
    compared = json.loads(toolsearch(*words, "--against", write("before.json", DESK)).stdout)
    assert compared["comparison"]["won"] == compared["comparison"]["lost"] == []
    assert compared["before"] == {key: compared[key] for key in content} == content


def test_only_a_strict_check_fails_where_a_tool_is_never_found(toolsearch, desk, write):
    words = [*desk, "--queries", write("said.txt", SAID)]
    assert toolsearch(*words).exit_code == 0
    assert toolsearch(*words, "--strict").exit_code == 1
    found = [*desk, "--queries", write("found.txt", SAID.replace("erase all of it", "qx")), "--strict"]
    assert toolsearch(*found).exit_code == 0


def test_where_nothing_goes_wrong_it_says_so(toolsearch, desk, write):
    said = "hand the problem over -> open_ticket\nmark it as solved -> close_ticket\nqx -> qx\n"
    stdout = toolsearch(*desk, "--queries", write("said.txt", said)).stdout
    assert stdout.splitlines()[-1] == "Nothing goes wrong."


def test_long_lists_are_cut_and_say_how_to_see_all(toolsearch):
    words = ["eval", "mine", "--catalog", TOOLS, "--queries", PHRASINGS, "--ranker", "bm25"]
    assert "more (--show " in toolsearch(*words, "--show", 1).stdout
    assert "more (--show " not in toolsearch(*words, "--show", 100).stdout


def test_a_ranker_of_the_users_own_is_asked(toolsearch, desk, write, tmp_path):
    (tmp_path / "backwards.py").write_text(
        "import numpy as np\n"
        "from semantic_toolsearch import Ranking\n"
        "class Backwards:\n"
        "    name = 'backwards'\n"
        "    def __init__(self, catalog): self.size = len(catalog)\n"
        "    def rank(self, query, *, limit, visible=None):\n"
        "        return Ranking(np.arange(self.size), np.linspace(0.1, 0.9, self.size))\n"
    )
    words = ["--ranker", "backwards:Backwards", "--queries", write("said.txt", SAID), "--json"]
    content = json.loads(toolsearch(*desk[:4], *words).stdout)
    assert content["ranker"] == "backwards"
    assert {phrasing["best"][0] for phrasing in content["phrasings"]} == {"qx"}


def test_tools_may_come_from_standard_input_and_broken_ones_are_told(toolsearch, write):
    broken = {"name": "no_schema", "inputSchema": "text"}
    result = toolsearch(
        "eval", "mine", "--catalog", "-", "--ranker", "bm25", "--queries", write("said.txt", SAID),
        stdin=json.dumps([*DESK, broken]),
    )  # fmt: skip
    assert result.exit_code == 0
    assert "1 of 4 definitions cannot be used" in result.stderr
    assert result.stdout.startswith("3 tools, 4 phrasings")


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("a\nhand over -> open_tickets\n", r"said.txt, line 2: "),
        ("hand over -> open_tickets\n", "open_ticket"),
        ("# nothing but a remark\n", "holds no phrasing"),
    ],
)
def test_s31_a_faulty_file_of_phrasings_is_an_error_with_file_and_line(
    toolsearch, desk, write, said, message
):
    result = toolsearch(*desk, "--queries", write("said.txt", said))
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_without_tools_it_says_how_to_give_some(toolsearch, write):
    result = toolsearch("eval", "mine", "--queries", write("said.txt", SAID))
    assert result.exit_code == 2
    assert "--catalog FILE" in result.stderr


def test_a_tool_that_was_renamed_since_is_an_error(toolsearch, desk, write):
    old = write("old.json", [{**DESK[0], "name": "create_ticket"}, *DESK[1:]])
    result = toolsearch(*desk, "--queries", write("said.txt", SAID), "--against", old)
    assert result.exit_code == 2
    assert "open_ticket" in result.stderr


def test_what_phrasings_hold_is_shown_without_control_characters(toolsearch, desk, write):
    said = SAID + "egg \x1b[31mred [bold]ticket -> nothing\n"
    result = toolsearch(*desk, "--queries", write("said.txt", said))
    assert "\x1b" not in result.stdout
    assert "[bold]ticket" in result.stdout
