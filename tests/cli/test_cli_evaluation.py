"""`toolsearch eval` from the shell: real runs over the small set that comes along."""

from __future__ import annotations

import json
import sys

import pytest

from semantic_toolsearch.evaluation.files import read_results, without_times


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for key in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    return tmp_path


def run(toolsearch, folder, *options, arms="keyword,bm25", data="library"):
    return toolsearch(
        "eval", "run", "--data", data, "--rankers", arms, "--out", str(folder / "out"), *options
    )


def test_s23_a_run_prints_a_table_and_writes_results_report_and_page(toolsearch, folder):
    result = run(toolsearch, folder, arms="full,keyword,bm25,anthropic-bm25")
    assert result.exit_code == 0, result.output
    assert "library: 12 tools" in result.stdout
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "report.html", "report.md", "results.json"
    ]  # fmt: skip
    evaluation = read_results(folder / "out" / "results.json")
    assert [arm.arm for arm in evaluation.tasks[0].arms] == ["full", "keyword", "bm25", "anthropic-bm25"]
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert evaluation.tasks[0].queries[0].id in page


def test_s24_without_a_key_hosted_arms_are_emulated_and_say_so_everywhere(toolsearch, folder):
    result = run(toolsearch, folder, arms="anthropic-bm25,anthropic-regex", data="library")
    assert result.stdout.count("emulated") >= 2
    (task,) = read_results(folder / "out" / "results.json").tasks
    assert {arm.how for arm in task.arms} == {"emulated"}
    assert "emulated" in (folder / "out" / "report.md").read_text(encoding="utf-8")
    assert "emulated" in (folder / "out" / "report.html").read_text(encoding="utf-8")


def test_s30_two_equal_runs_give_equal_json_but_for_times(toolsearch, folder):
    written = []
    for place in ("one", "two"):
        assert run(toolsearch, folder / place).exit_code == 0
        written.append(read_results(folder / place / "out" / "results.json"))
    assert without_times(written[0]) == without_times(written[1])


def test_s30_a_worse_ranker_fails_the_comparison(toolsearch, folder):
    run(toolsearch, folder, "--split", "test", arms="hybrid,keyword", data="workplace")
    results = str(folder / "out" / "results.json")
    worse = toolsearch("eval", "compare", results, results, "--arm", "hybrid=keyword")
    assert worse.exit_code == 1, worse.output
    assert "worse" in worse.stdout
    same = toolsearch("eval", "compare", results, results)
    assert same.exit_code == 0
    better = toolsearch("eval", "compare", results, results, "--arm", "keyword=hybrid", "--json")
    assert better.exit_code == 0
    told = json.loads(better.stdout)["differences"]
    assert {row["verdict"] for row in told if row["measure"] == "nDCG@10"} == {"better"}


def test_a_report_is_made_again_from_the_results(toolsearch, folder):
    run(toolsearch, folder)
    results = str(folder / "out" / "results.json")
    shown = toolsearch("eval", "report", results)
    assert shown.exit_code == 0
    assert "library" in shown.stdout
    made = toolsearch(
        "eval", "report", results, "--markdown", str(folder / "r.md"), "--html", str(folder / "r.html")
    )
    assert made.exit_code == 0
    assert "bm25" in (folder / "r.md").read_text(encoding="utf-8")
    assert (folder / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_baselines_are_written_held_and_missed(toolsearch, folder):
    place = str(folder / "baselines")
    options = ("--data", "library", "--folder", place)
    missing = toolsearch("eval", "baseline", *options)
    assert missing.exit_code == 2
    assert "eval baseline --write" in missing.stderr
    assert toolsearch("eval", "baseline", *options, "--write").exit_code == 0
    held = toolsearch("eval", "baseline", *options)
    assert held.exit_code == 0, held.output
    assert "0 worse" in held.stdout


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--data", "nowhere"), "nowhere"),
        (("--data", "library", "--rankers", "hybird"), "hybrid"),
        (("--data", "library", "--rankers", ""), "No arm is named"),
        (("--data", "library", "--rankers", "bm25,bm25"), "named twice"),
        (("--data", "library", "--split", "train"), "dev, test"),
        (("--data", "library", "--rankers", "openai-tool-search"), "no ranking"),
        (("--data", "library", "--rankers", "no_such_module:Ranker"), "no_such_module"),
    ],
)
def test_what_cannot_be_run_is_one_line_that_says_what_to_do(toolsearch, folder, options, told):
    result = toolsearch("eval", "run", "--out", str(folder / "out"), *options)
    assert result.exit_code == 2
    assert told in result.stderr
    assert "Traceback" not in result.output
    assert not (folder / "out" / "results.json").exists()


def test_live_arms_ask_before_they_spend(toolsearch, folder, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    result = run(toolsearch, folder, arms="anthropic-bm25")
    assert result.exit_code == 2
    assert "--yes" in result.stderr
    assert "requests" in result.stderr
    offline = run(toolsearch, folder, "--offline", arms="anthropic-bm25")
    assert offline.exit_code == 0, offline.output


def test_s24_with_a_provider_hosted_arms_are_live_and_can_be_replayed(toolsearch, folder, monkeypatch):
    from semantic_toolsearch.testing.loopback import LoopbackProvider, Say, Search

    def decide(view):
        return Say("Found.") if any(view.emitted) else Search(str(view.index))

    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    with LoopbackProvider(decide) as server:
        live = run(toolsearch, folder, "--live", "--yes", "--base-url", server.url, arms="anthropic-bm25")
        asked = len(server.exchanges)
    assert live.exit_code == 0, live.output
    assert asked >= 31
    (arm,) = read_results(folder / "out" / "results.json").tasks[0].arms
    assert arm.how == "live"
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    again = run(toolsearch, folder, "--replay", arms="anthropic-bm25")
    assert again.exit_code == 0, again.output
    (replayed,) = read_results(folder / "out" / "results.json").tasks[0].arms
    assert replayed.how == "replayed"
    assert (replayed.measures, replayed.loaded) == (arm.measures, arm.loaded)


def test_a_report_goes_into_a_page_of_other_text_and_a_summary_holds_no_query(toolsearch, folder):
    run(toolsearch, folder)
    results = folder / "out" / "results.json"
    page = folder / "page.md"
    page.write_text(
        "# Ours\n\n<!-- results: begin -->\nold\n<!-- results: end -->\n\nThe end.\n", encoding="utf-8"
    )
    made = toolsearch(
        "eval", "report", str(results), "--into", str(page), "--summary", str(folder / "summary.json")
    )
    assert made.exit_code == 0, made.output
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Ours\n\n<!-- results: begin -->\n\n## Overview\n")
    assert text.endswith("\n<!-- results: end -->\n\nThe end.\n")
    assert "old" not in text.splitlines()
    again = toolsearch("eval", "report", str(folder / "summary.json"), "--into", str(page))
    assert again.exit_code == 0
    assert page.read_text(encoding="utf-8") == text
    summary = (folder / "summary.json").read_text(encoding="utf-8")
    queries = read_results(results).tasks[0].queries
    assert not [row.id for row in queries if row.id in summary]
    page.write_text("no such lines", encoding="utf-8")
    refused = toolsearch("eval", "report", str(results), "--into", str(page))
    assert refused.exit_code == 2
    assert "<!-- results: begin -->" in refused.stderr


RANKER = """
from semantic_toolsearch import Ranking

class Loud:
    def __init__(self, catalog):
        print("made")

    def rank(self, query, *, limit, visible=None):
        print("asked", query)
        return Ranking([0], [1.0])

class Stops(Loud):
    def rank(self, query, *, limit, visible=None):
        raise KeyboardInterrupt

class Crashes(Loud):
    def __init__(self, catalog):
        raise KeyError("no such\\nluck")

class Exits(Loud):
    def __init__(self, catalog):
        raise SystemExit(7)
"""


@pytest.fixture
def own_rankers(tmp_path, monkeypatch):
    (tmp_path / "own_loud.py").write_text(RANKER, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield
    sys.modules.pop("own_loud", None)


@pytest.mark.usefixtures("own_rankers")
def test_what_a_ranker_prints_stands_in_no_json(toolsearch, folder):
    result = run(toolsearch, folder, "--json", arms="own_loud:Loud")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["tasks"][0]["arms"][0]["arm"] == "own_loud:Loud"
    assert "asked" in result.stderr


@pytest.mark.usefixtures("own_rankers")
def test_s30_an_interrupted_run_says_where_it_goes_on(toolsearch, folder):
    stopped = run(toolsearch, folder, arms="keyword,own_loud:Stops")
    assert stopped.exit_code == 130
    assert "the same command goes on from there" in stopped.stderr
    assert [path.name.partition(".")[0] for path in (folder / "out" / "parts").iterdir()] == [
        "library--keyword"
    ]


@pytest.mark.usefixtures("own_rankers")
@pytest.mark.parametrize(
    ("ranker", "told"),
    [("Crashes", "Crashes raised KeyError: "), ("Exits", "The ranker has failed: SystemExit: 7")],
)
def test_s31_mining_with_a_ranker_that_fails_is_one_line(toolsearch, folder, ranker, told):
    (folder / "tools.json").write_text('[{"name": "create_refund"}]', encoding="utf-8")
    (folder / "said.txt").write_text("money back -> create_refund\n", encoding="utf-8")
    words = ("eval", "mine", "--catalog", folder / "tools.json", "--queries", folder / "said.txt")
    failed = toolsearch(*words, "--ranker", f"own_loud:{ranker}")
    assert failed.exit_code == 2
    assert failed.stderr.startswith(f"toolsearch: {told}")
    assert len(failed.stderr.splitlines()) == 1
    loud = toolsearch(*words, "--ranker", "own_loud:Loud", "--json")
    assert json.loads(loud.stdout)["tools"]


@pytest.mark.parametrize("package", ["ir_measures", "matplotlib"])
def test_a_missing_extra_is_told_before_work_is_done(toolsearch, folder, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    result = run(toolsearch, folder)
    assert result.exit_code == 2
    assert "pip install 'semantic-toolsearch[eval]'" in result.stderr
    assert "keyword" not in result.stderr
    assert not (folder / "out").exists()


def test_a_folder_that_cannot_be_written_is_told_before_work_is_done(toolsearch, folder):
    (folder / "out").write_text("a file", encoding="utf-8")
    result = run(toolsearch, folder)
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr
    assert "keyword" not in result.stderr


def test_what_live_arms_take_is_shown_where_nobody_is_asked_too(toolsearch, folder, monkeypatch):
    from semantic_toolsearch.testing.loopback import LoopbackProvider, Status

    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    with LoopbackProvider(lambda view: Status(401, "not you")) as server:
        options = ("--live", "--yes", "--base-url", server.url)
        result = run(toolsearch, folder, *options, arms="keyword,anthropic-bm25")
    assert result.exit_code == 1, result.output
    assert result.stderr.index("input tokens") < result.stderr.index("library: anthropic-bm25 (31 queries)")
    keyword, hosted = read_results(folder / "out" / "results.json").tasks[0].arms
    assert hosted.failed == "HTTP 401: not you"
    assert keyword.failed is None


def test_an_address_that_is_empty_is_no_address(toolsearch, folder, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    result = run(toolsearch, folder, "--live", "--yes", "--base-url", "", arms="anthropic-bm25")
    assert result.exit_code == 2
    assert "base_url is an address" in result.stderr


def test_figures_that_are_missing_are_told_and_the_rest_is_written(toolsearch, folder):
    data = folder / "nothing_fits"
    data.mkdir()
    (data / "tools.jsonl").write_text('{"id": "a", "name": "paint"}\n', encoding="utf-8")
    query = '{"id": "q", "text": "sing", "answerable": false}\n'
    (data / "queries.jsonl").write_text(query, encoding="utf-8")
    (data / "qrels.tsv").write_text("query-id\ttool-id\tgrade\n", encoding="utf-8")
    result = run(toolsearch, folder, "--sizes", data=str(data))
    assert result.exit_code == 1
    assert "There are no figures by catalog size" in result.stderr
    assert read_results(folder / "out" / "results.json").tasks[0].arms[0].failed is None
