"""Tables of an evaluation in a terminal and as plain text."""

from __future__ import annotations

import io
import re

import pytest
from reported import made_up, measured, words
from rich.console import Console

from semantic_toolsearch.evaluation.report.table import show
from semantic_toolsearch.evaluation.results import Evaluation, TaskResult


def shown(evaluation, width=160, encoding="utf-8", **options):
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    show(evaluation, Console(file=file, width=width, highlight=False, **options))
    file.flush()
    return raw.getvalue().decode(encoding)


def row(text, name):
    return next(line for line in text.splitlines() if re.match(rf"\s*\w {re.escape(name)}\b", line))


def section(text, title):
    return next(part for part in text.split("\n\n") if part.startswith(title))


def test_a_task_s_row_has_each_figure_once_and_letters_of_the_arms_it_beats():
    text = shown(made_up())
    assert row(text, "words").split() == [
        *("a", "words", "local", "25.0", "50.0", "25.0", "43.2", "37.5"),
        *("4.0", "1,234", "20.0", "50.0", "25.0", "0.0", "0.0", "10.0"),
    ]
    cells = row(text, "meaning").split()
    assert cells[:8] == ["b", "meaning", "local", "75.0", "87.5", "75.0", "80.0ᵃᶜ", "78.9ᵃ"]


def test_s24_how_an_arm_ran_stands_in_its_row_and_in_a_note():
    text = shown(made_up())
    assert row(text, "anthropic-bm25").split()[1:4] == ["anthropic-bm25", "[1,2]", "emulated"]
    assert row(text, "openai-tool-search").split()[1:4] == ["openai-tool-search", "[3,4]", "replayed"]
    plain = " ".join(text.split())
    assert "[1] emulated: the provider's documented rules, run here" in plain
    assert "[2] anthropic-bm25: Its tokenizer is not documented." in plain
    assert "(emulated)" in text.split("office:")[0]  # the overview names it too


def test_s25_an_arm_without_order_has_empty_rank_cells_and_a_note_and_keeps_what_it_loads():
    text = shown(made_up())
    cells = row(text, "openai-tool-search").split("replayed")[1].split()
    assert cells == ["1.2", "90", "60.0", "70.0", "60.0", "0.0"]
    assert "[4] no order: the arm shows no order of tools, so its rank columns are empty" in text
    assert "Without an order of tools, and so without nDCG@10: openai-tool-search (replayed)." in text


def test_an_arm_that_failed_says_why_and_its_row_has_no_figures():
    text = shown(made_up())
    home = text[text.index("home:") :]
    assert row(home, "words").split() == ["a", "words", "failed"]
    assert "words failed: RankerError: position 12 of 12 tools." in home
    (line,) = (line for line in section(text, "nDCG@10").splitlines() if line.startswith("home"))
    assert line.split() == ["home", "1,200", "4", "failed", "80.0", "43.2"]


def test_what_is_said_below_a_task():
    text = shown(made_up())
    assert "office: 1,200 tools, 5 queries of the split test, 1 of them unanswerable" in text
    assert "anthropic-bm25: 1 of 5 queries have no answer and count 0: no answer within 30 s (1)." in text
    assert "3 definitions cannot be used and are never found." in text
    assert "All definitions in full are 98,765 tokens (characters / 4)." in text
    assert "openai-tool-search: the provider counted 4,321 input_tokens." in text


def test_the_commonest_reasons_of_missing_answers_come_first():
    reasons = ["rare", *["common"] * 2, *["usual"] * 3, "odd"]
    failures = {f"q{place}": reason for place, reason in enumerate(reasons)}
    task = made_up().tasks[0].model_copy(update={"arms": (words(failures=failures),)})
    text = " ".join(shown(Evaluation(tasks=(task,))).split())
    assert "count 0: usual (3); common (2); odd (1); 1 other reasons." in text


def test_the_overview_stands_only_above_several_tasks():
    evaluation = made_up()
    assert "nDCG@10, in percent" in shown(evaluation)
    one = evaluation.model_copy(update={"tasks": evaluation.tasks[:1], "sizes": ()})
    assert "nDCG@10, in percent" not in shown(one)


def test_sizes_go_up_and_modes_stand_in_the_order_of_the_modes():
    text = shown(made_up())
    tokens = section(text, "office: tokens of the tools in a first request")
    assert tokens.splitlines()[1].split() == ["hosted,"]
    assert tokens.splitlines()[2].split() == ["tools", "full", "hosted", "responses", "bridge"]
    assert [line.split() for line in tokens.splitlines()[4:]] == [
        ["50", "4,000", "20", "200", "340"],
        ["1,200", "96,000", "20", "4,800", "340"],
    ]
    quality = section(text, "office, the same 4 queries over growing catalogs: nDCG@10")
    assert [line.split() for line in quality.splitlines()[-2:]] == [
        ["50", "4", "61.0", "90.0"],
        ["1,200", "1", "40.0", "90.0"],
    ]


def test_s29_conversations_are_compared_with_full_as_100_percent():
    text = shown(made_up())
    lines = section(text, "office, 1,200 tools, anthropic: means over scripted conversations").splitlines()
    rows = {tuple(line.split()[:2]): line.split() for line in lines if re.match(r" +[15] ", line)}
    assert list(rows) == [("1", "full"), ("1", "hosted"), ("5", "full"), ("5", "hosted")]
    cost = {key: cells[-4:-2] for key, cells in rows.items()}
    assert cost[("5", "full")] == ["20,000", "100.0"]
    assert cost[("5", "hosted")] == ["2,500", "12.5"]
    assert "5 conversations of each length." in lines
    assert "Price of a token against an ordinary input token: read 0.1, write 1.25." in lines
    assert "Hosted searches are imitated." in lines


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160])
def test_no_line_of_a_table_is_wider_than_the_console(width):
    text = shown(made_up(), width)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    for head in ("hit@1", "MRR", "precision", "p95", "build"):
        assert head in text
    for figure in ("80.0ᵃᶜ", "1,234", "12.5", "140"):
        assert figure in text


def test_a_wide_console_keeps_a_task_in_one_table_and_a_narrow_one_repeats_its_arms():
    assert len(re.findall(r"b meaning +local", shown(made_up(), 200))) == 2
    assert len(re.findall(r"b meaning +local", shown(made_up(), 80))) > 4


def test_a_console_without_unicode_gets_plain_letters():
    text = shown(made_up(), encoding="ascii")
    assert "80.0 ac" in text


def test_more_arms_than_letters_are_still_told_apart():
    arms = tuple(words(arm=f"arm{number}") for number in range(30))
    best = words(arm="best", beats={"MRR": ("arm0", "arm29")})
    task = made_up().tasks[0].model_copy(update={"arms": (*arms, best)})
    text = shown(Evaluation(tasks=(task,)))
    lines = [line.split()[:2] for line in text.splitlines() if re.match(r"\w+ arm\d+ ", line)]
    assert len({letter for letter, _ in lines}) == 30
    assert lines[29] == ["ae", "arm29"]
    assert "37.5ᵃ,ᵃᵉ" in text


def test_a_pipe_gets_plain_text_and_a_terminal_the_best_in_bold():
    evaluation = made_up()
    assert "\x1b" not in shown(evaluation)
    assert "\x1b[1m80.0\x1b[0mᵃᶜ" in shown(evaluation, force_terminal=True, color_system="standard")


def test_names_cannot_write_to_the_terminal_or_break_a_row():
    task = TaskResult(
        name="t\x1b[31m[bold]\nx",
        split="test",
        tools=1,
        arms=(words(arm="a\x1b]0;x\x07\nb[/]", notes=("n\x1b[2J",)),),
    )
    text = shown(Evaluation(tasks=(task,)))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "a a]0;x b[/]" in text
    assert "t[31m[bold] x" in text


def test_an_empty_evaluation_shows_nothing():
    assert shown(Evaluation()).strip() == ""


def test_a_real_run_is_shown_with_its_own_figures():
    evaluation = measured(details=0).evaluation
    bm25 = next(arm for arm in evaluation.tasks[0].arms if arm.arm == "bm25")
    text = shown(evaluation, 200)
    assert f"{100 * bm25.measures['nDCG@10']:.1f}" in row(text, "bm25")
    assert "twelve: 12 tools, 6 queries of the split test, 1 of them unanswerable" in text
    assert row(text, "full").split("local")[1].split()[:2] == ["12.0", f"{evaluation.tasks[0].full_tokens:,}"]
