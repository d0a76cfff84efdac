"""The page of an evaluation: whole, alone, and safe whatever texts it shows."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from html.parser import HTMLParser

import pytest
from reported import EVIL, made_up, measured

from semantic_toolsearch.evaluation.report.details import TaskDetails
from semantic_toolsearch.evaluation.report.html import to_html
from semantic_toolsearch.evaluation.results import Evaluation

VOID = {"meta", "img", "wbr", "br", "hr", "input", "link"}


class Read(HTMLParser):
    """A page as a tree of what tests ask about; raises where an element is not closed."""

    def __init__(self, page):
        super().__init__()
        self.open, self.elements, self.texts = [], [], []
        self.feed(page)
        self.close()
        assert self.open == [], f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open, f"closed twice: {tag}"
        assert self.open.pop() == tag, f"closed in the wrong order: {tag}"

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    def text(self, *tags):
        return " ".join(text for tag, text in self.texts if not tags or tag in tags)


@pytest.fixture(scope="module")
def page():
    return to_html(made_up())


@pytest.fixture(scope="module")
def evil():
    suite = measured(evil=True)
    return to_html(suite.evaluation, suite.details)


def data_of(page):
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1]
    )


def test_the_page_is_well_formed(page, evil):
    for each in (page, evil, to_html(Evaluation())):
        read = Read(each)
        ids = Counter(attributes["id"] for _, attributes in read.elements if attributes.get("id"))
        assert [name for name, count in ids.items() if count > 1] == []


def test_every_link_leads_to_a_place_in_the_page(page):
    read = Read(page)
    ids = {attributes.get("id") for _, attributes in read.elements}
    links = [attributes["href"] for _, attributes in read.elements if attributes.get("href")]
    assert links
    assert {link for link in links if not link.startswith("#") or link[1:] not in ids} == set()


def test_the_page_needs_nothing_else(page, evil):
    for each in (page, evil):
        read = Read(each)
        assert [
            tag for tag, _ in read.elements if tag in ("link", "img", "iframe", "object", "embed", "base")
        ] == []
        assert [attributes for _, attributes in read.elements if "src" in attributes] == []
        assert not re.search(r"@import|url\((?!#)", each)
        assert "http://" not in each
        assert "https://" not in each


def test_its_policy_runs_its_own_script_alone(page, evil):
    for each in (page, evil):
        read = Read(each)
        policy = next(meta["content"] for meta in read.all("meta") if "http-equiv" in meta)
        scripts = [text for tag, text in read.texts if tag == "script"]
        hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
        assert policy == (
            "default-src 'none'; style-src 'unsafe-inline'; "
            f"script-src 'sha256-{hashes[-1]}'; base-uri 'none'; form-action 'none'"
        )


def test_texts_of_strangers_stay_texts(evil):
    read = Read(evil)
    assert [
        tag for tag, attributes in read.elements if any(name.startswith("on") for name in attributes)
    ] == []
    assert len(read.all("script")) == 2
    assert EVIL in read.text("h3")  # the name of the task is shown as it is


def test_the_data_block_cannot_end_early_and_holds_the_texts_unchanged(evil):
    block = re.search(r'<script type="application/json" id="data">(.*?)</script>', evil, re.DOTALL)[1]
    assert not re.search("[<>&\u2028\u2029]", block)
    (task,) = data_of(evil)["tasks"]
    query = next(query for query in task["queries"] if query["id"] == "bill")
    assert query["text"] == f"bill a customer for the order {EVIL}"
    assert EVIL in task["tools"][str(query["gold"][0])]["description"]


def test_tables_have_captions_and_heads(page):
    read = Read(page)
    tables = len(read.all("table"))
    assert tables == len(re.findall("<caption", page)) > 8
    assert {attributes.get("scope") for attributes in read.all("th")} == {"col", "row", "colgroup"}
    assert all(attributes.get("aria-label") for attributes in read.all("svg"))


def test_every_row_of_a_table_is_as_wide_as_its_head(page):
    for table in re.findall(r"<table.*?</table>", page, re.DOTALL):
        widths = set()
        for row in re.findall(r"<tr.*?</tr>", table, re.DOTALL):
            cells = re.findall(r"<t[hd]\b[^>]*>", row)
            widths.add(sum(int((re.search(r'colspan="(\d+)"', cell) or [0, 1])[1]) for cell in cells))
        assert len(widths) == 1, table[:200]


def test_figures_with_the_letters_of_the_beaten_arms(page):
    task = page[page.index('id="task-1"') :]
    row = re.search(r"<tr><th scope=\"row\"><span class=\"letter\">b</span>meaning.*?</tr>", task)[0]
    assert '<b>80.0</b><sup class="beats">ac</sup>' in row
    assert '<b>78.9</b><sup class="beats">a</sup>' in row
    assert '<td class="number">300</td>' in row


def test_s24_how_arms_ran_and_their_notes_are_linked(page):
    task = page[page.index('id="task-1"') :]
    row = re.search(r'<tr><th scope="row"><span class="letter">c</span>anthropic-bm25.*?</tr>', task)[0]
    assert '<td class="how foreign">emulated</td>' in row
    assert '<a href="#note-1">1</a>,<a href="#note-2">2</a>' in row
    assert '<li id="note-1">emulated: the provider&#x27;s documented rules' in page


def test_s25_rank_cells_of_an_arm_without_order_are_empty(page):
    row = re.search(r"<tr><th scope=\"row\"><span class=\"letter\">d</span>openai-tool-search.*?</tr>", page)[
        0
    ]
    cells = re.findall(r"<td class=\"number[^>]*>(.*?)</td>", row)
    assert cells[:8] == ["", "", "", "", "", "1.2", "90", "60.0"]


def test_a_failed_arm_says_why_in_its_row(page):
    assert re.search(
        r'<td class="failed" colspan="\d+">failed: RankerError: position 12 of 12 tools\.</td>', page
    )


def test_without_scripts_all_but_the_queries_is_there(page):
    text = Read(page).text()
    for told in (
        "meaning has the highest nDCG@10 on all 2 tasks.",
        "How to read the tables",
        "By kind of query: nDCG@10, in percent",
        "office: tokens of the tools in a first request, by mode",
        "means over scripted conversations",
        "What the figures mean",
        "paired randomisation test",
        "semantic_toolsearch 9.9, python 3.11",
    ):
        assert told in text


def test_the_plots_are_in_the_page(page):
    labels = [attributes["aria-label"] for attributes in Read(page).all("svg")]
    assert labels == [
        "office: recall against tools returned",
        "office: time of a query",
        "home: recall against tools returned",
        "home: time of a query",
        "office: recall@5 against catalog size",
        "office: nDCG@10 against catalog size",
        "office: tokens of the first request against catalog size",
        "office, anthropic: cost of a conversation by mode",
    ]


def test_parts_that_are_not_there_are_not_spoken_of():
    small = to_html(made_up(sizes=(), conversations=()), [TaskDetails(task="office", asked=5)])
    read = Read(small)
    assert {attributes.get("id") for attributes in read.all("section")} == {"overview", "tasks", "method"}
    assert 'id="data"' not in small
    assert re.findall(r'href="#(\w+)">[A-Z]', small[small.index("<nav") : small.index("</nav>")]) == [
        *("overview", "tasks", "method")
    ]


def test_the_data_of_the_queries_name_every_tool_they_mention():
    suite = measured()
    data = data_of(to_html(suite.evaluation, suite.details))
    assert [arm["name"] for arm in data["arms"]] == ["full", "keyword", "bm25", "anthropic-bm25"]
    assert [arm["ranks"] for arm in data["arms"]] == [False, True, True, True]
    (task,) = data["tasks"]
    for query in task["queries"]:
        mentioned = {*query.get("gold", ())}
        for arm in query["arms"]:
            mentioned |= {
                *arm.get("ranked", ()),
                *arm.get("loaded", ()),
                *(why["place"] for why in arm.get("why", ())),
            }
        assert mentioned <= {int(place) for place in task["tools"]}


def test_the_page_is_the_same_twice():
    assert to_html(made_up()) == to_html(made_up())


def test_a_title_of_one_s_own():
    assert "<title>A &lt;b&gt; &amp; c</title>" in to_html(Evaluation(), title="A <b> & c")
