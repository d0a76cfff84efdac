"""A tool named by the query is first, however it is spelled, under every ranker, in catalogs of any size."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from library_tools import RANKERS, hashed, lexical, names, t
from made_up_rankers import Hostile
from semantic_toolsearch import Catalog, ToolSearch
from semantic_toolsearch.exact_names import named_tools, unwrapped
from semantic_toolsearch.names import split_identifier
from semantic_toolsearch.testing import HashingEmbedder

SIX_RANKERS = {name: name for name in RANKERS} | {"custom": Hostile}

VERBS = [
    "create",
    "get",
    "list",
    "update",
    "delete",
    "search",
    "export",
    "import",
    "merge",
    "assign",
    "close",
    "open",
    "send",
    "count",
    "copy",
]
THINGS = [
    "invoice",
    "user",
    "page",
    "ticket",
    "order",
    "report",
    "file",
    "branch",
    "alert",
    "room",
    "video",
    "mail",
    "team",
    "route",
    "card",
]
WAYS = ["by_id", "for_team", "with_history", "in_bulk", "as_draft", "from_url", "to_csv", "v2", "2fa"]
SERVERS = [None, "billing", "my-wiki", "Acme CRM", "shop.eu", "地図", "git_hub"]
STYLES = {
    "snake": "_".join,
    "kebab": "-".join,
    "camel": lambda words: words[0] + "".join(map(str.capitalize, words[1:])),
    "Pascal": lambda words: "".join(map(str.capitalize, words)),
    "dotted": ".".join,
    "UPPER": lambda words: "_".join(words).upper(),
    "words": lambda words: " ".join(words).capitalize(),
    "prefixed": lambda words: "mcp__hub__" + "_".join(words),
}


def varied_tools(count, seed=3):
    """Tools of all naming styles with and without servers; descriptions talk about other tools' words."""
    random = np.random.default_rng(seed)
    tools = {}
    while len(tools) < count:
        words = [str(random.choice(VERBS)), str(random.choice(THINGS))]
        words += str(random.choice(WAYS)).split("_") if random.random() < 0.8 else []
        server = SERVERS[int(random.integers(len(SERVERS)))]
        style = str(random.choice(list(STYLES)))
        name = STYLES[style](words)
        noise = " ".join(map(str, random.choice(VERBS + THINGS, 8)))
        tools.setdefault(
            (server, name), t(name, f"{noise}, see also {random.choice(THINGS)}_list", server=server)
        )
    return list(tools.values())


def spellings(tool):
    """The seven ways to write a tool's name; the last one in another case style."""
    name, server = tool.name, tool.namespace or "hub"
    words = split_identifier(name)
    restyled = STYLES["snake" if "_" not in name else "Pascal"](list(words))
    qualified = [f"{server}.{name}", f"{server}__{name}"] if tool.namespace else [name, f" {name}. "]
    return [name, f'"{name}"', f"`{name}`", f"{name}()", *qualified, restyled]


def check_names_first(search, sample):
    """Each spelling's first hit is one of the tools that it may mean, and so is the tool that was spelled.

    Where a spelling is letter for letter the name of other tools, it means those.
    """
    missed = []
    for place in map(int, sample):
        tool = search.catalog[place]
        for spelling in spellings(tool):
            meant = search.catalog.find(unwrapped(spelling))
            others_name = spelling == spellings(tool)[-1] and search.catalog.exact(spelling)
            hits = search.search(spelling).tools
            first = hits[0] if hits else None
            if first is None or first.position not in meant or not (place in meant or others_name):
                missed.append((tool.identity, spelling, [hit.name for hit in hits[:2]]))
    assert missed == []


@pytest.fixture(scope="module")
def large():
    return Catalog(varied_tools(2_000), strict=True)


@pytest.mark.parametrize("ranker", SIX_RANKERS)
def test_s04_seven_spellings_are_first_in_a_large_catalog(large, ranker):
    search = ToolSearch(large, ranker=SIX_RANKERS[ranker], embedder=HashingEmbedder(64), cache=False)
    check_names_first(search, np.random.default_rng(5).choice(len(large), 50, replace=False))


@pytest.mark.parametrize("ranker", SIX_RANKERS)
def test_s04_wire_names_are_first_and_alone_among_their_like(large, ranker):
    search = ToolSearch(large, ranker=SIX_RANKERS[ranker], embedder=HashingEmbedder(64), cache=False)
    for place in np.random.default_rng(6).choice(len(large), 50, replace=False).tolist():
        assert search.search(large.wire_names[place]).tools[0].position == place


@pytest.mark.data
@pytest.mark.parametrize("ranker", SIX_RANKERS)
@pytest.mark.parametrize("task", ["azure_mcp", "acebench_en", "acebench_zh"])
def test_s04_seven_spellings_are_first_in_public_catalogs(public_data, task, ranker):
    with (public_data / task / "tools.jsonl").open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    keys = ("name", "description", "parameters", "namespace")
    catalog = Catalog({key: record[key] for key in keys} for record in records)
    search = ToolSearch(catalog, ranker=SIX_RANKERS[ranker], embedder=HashingEmbedder(64), cache=False)
    check_names_first(search, np.random.default_rng(7).choice(len(catalog), 150))


# --- what counts as naming ---

TOOLS = [
    t("read_file"),
    t("searchWiki", server="wiki"),
    t("search", server="shop"),
    t("Get Weather"),
    t("_private"),
    t("mcp__lab__ask_oracle"),
    t("検索する"),
    t("lint-code"),
    t("open-my-mail"),
    t("OpenBox"),
]


def what_is_named(query, visible=None, tools=TOOLS):
    catalog = Catalog(tools, strict=True)
    found = named_tools(catalog, query, visible)
    return [catalog[place].name for place in found.whole], [catalog[place].name for place in found.mentioned]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("read_file", "read_file"),
        ("`read_file()`.", "read_file"),
        ("read_file(path='a.txt', lines=(1, 2))", "read_file"),
        ("**ReadFile**", "read_file"),
        ("wiki.searchWiki", "searchWiki"),
        ("wiki__search_wiki", "searchWiki"),
        ("wiki::searchWiki", "searchWiki"),
        ("shop/search", "search"),
        ("search", "search"),
        ("get weather", "Get Weather"),
        ("“Get Weather”", "Get Weather"),
        ("_private", "_private"),
        ("ask_oracle", "mcp__lab__ask_oracle"),
        ("「検索する」。", "検索する"),
    ],
)
def test_s04_a_query_that_is_a_name(query, name):
    assert what_is_named(query) == ([name], [])


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("read file", ["read_file"]),
        ("load read_file please", ["read_file"]),
        ("load read_file, then searchWiki.", ["read_file", "searchWiki"]),
        ("call ask-oracle(), it knows", ["mcp__lab__ask_oracle"]),
        ("first `search` and then wait", ["search"]),
        ('open "Get Weather" for me', ["Get Weather"]),
        ("まず「検索する」を使って", ["検索する"]),
        ('now use "search", please', ["search"]),
        ("the `Ask-Oracle` and the 'SearchWiki()'", ["mcp__lab__ask_oracle", "searchWiki"]),
        ("run searchWiki on it", ["searchWiki"]),
        ("have lint-code look at it", ["lint-code"]),
        ("is OpenMyMail or open_box at fault?", ["open-my-mail", "OpenBox"]),
    ],
)
def test_s05_a_sentence_that_mentions_names(query, named):
    whole, mentioned = what_is_named(query)
    assert (whole, sorted(mentioned)) == ([], sorted(named))


@pytest.mark.parametrize(
    "query",
    [
        "search the shop",
        "what is the weather",
        'create a page called "weather report"',
        "",
        "()",
        "...",
        "``",
        "a private room",
        'the list called "Search"',  # a value, not the tool "search"
        "get-weather is one thing I never do",  # hyphens are prose, unless that is how the name is written
        "the Lint-Code movement",
        "what costs an OpenBox?",  # as brands are written
        "search and/or read.",
    ],
)
def test_s05_plain_words_name_nothing(query):
    assert what_is_named(query) == ([], [])


def test_s05_a_sentence_full_of_names_is_read_in_bounded_steps():
    tools = [t(f"tool_{number:03}") for number in range(300)]
    query = " ".join(tool["name"] for tool in tools)
    assert what_is_named(query, tools=tools) == ([], [f"tool_{number:03}" for number in range(20)])


@pytest.mark.parametrize(
    "query", ["(" * 4_000, "a(" * 2_000, "`" * 4_000, "f()" * 1_300, "a" * 4_000, "_" * 4_000, '"' * 3_999]
)
def test_x21_hostile_punctuation_names_nothing(query):
    assert what_is_named(query) == ([], [])


def test_x11_an_invisible_name_neither_answers_nor_stands_in_the_way():
    tools = [t("add_guest"), t("addGuest"), t("hotel__add_guest"), t("other")]
    for visible, found in (
        ([1, 1, 1, 1], ["add_guest"]),
        ([0, 1, 1, 1], ["addGuest"]),
        ([0, 0, 1, 1], ["hotel__add_guest"]),
        ([0, 0, 0, 1], []),
    ):
        assert what_is_named("add_guest", np.array(visible, dtype=bool), tools) == (found, [])


def test_x11_several_tools_of_one_name_are_all_named_when_visible():
    tools = [t("search", server=server) for server in ("a", "b", "c")]
    assert len(what_is_named("search", tools=tools)[0]) == 3
    assert what_is_named("search", np.array([False, True, False]), tools)[0] == ["search"]


# --- the same in another process ---

SCRIPT = """
import json, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from test_exact_names import SIX_RANKERS, varied_tools
from semantic_toolsearch import ToolSearch
tools = varied_tools(60)
order = np.random.default_rng(int(sys.argv[2])).permutation(len(tools))
answers = []
for ranker in SIX_RANKERS.values():
    if not isinstance(ranker, str):
        continue
    search = ToolSearch([tools[place] for place in order], ranker=ranker, cache=False)
    for query in ("create an invoice", "export users to csv", "mail the team", "page|report", "close_ticket", "xyzzy"):
        result = search.search(query, limit=8)
        answers.append([hit.name for hit in (*result.tools, *result.hints)])
print(json.dumps(answers))
"""


def test_s20_the_same_answers_in_fresh_processes():
    """Other registration orders, hash seeds and numbers of threads, with the shipped model."""
    outputs = set()
    for seed, threads in (("0", "1"), ("1", "2"), ("77", "4")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "OMP_NUM_THREADS": threads}
        command = [sys.executable, "-c", SCRIPT, str(Path(__file__).parent), seed]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        outputs.add(done.stdout)
    assert len(outputs) == 1
    answers = json.loads(outputs.pop())
    assert sum(map(len, answers)) > 60


def test_the_generated_catalog_is_varied(large):
    styles = [sum(mark in tool.name for tool in large.tools) for mark in ("_", "-", ".", " ", "mcp__")]
    assert min(styles) > 100
    assert sum(tool.namespace is not None for tool in large.tools) > 1_000


def test_s04_names_first_also_by_select(large):
    search = lexical(large)
    asked = [large.wire_names[place] for place in (1999, 0, 500, 7)]
    assert names(search.search(names=asked)) == asked
    assert names(hashed(large, ranker="hybrid").search(names=[f"`{asked[0]}`"])) == asked[:1]
