"""The page in a real browser: its script shows queries, its filters filter, and foreign texts run nothing."""

from __future__ import annotations

import io
import os

import chromium
import pytest
from reported import EVIL, made_up, measured

from semantic_toolsearch.evaluation.report.html import to_html

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module", autouse=True)
def _browser():
    if chromium.found() is None:
        reason = f"no headless Chromium: none of {', '.join(chromium.NAMES)} is on PATH"
        if os.environ.get("TOOLSEARCH_NEEDS_BROWSER") == "1":
            pytest.fail(f"{reason}, and TOOLSEARCH_NEEDS_BROWSER=1 asks for one")
        pytest.skip(reason)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A page with all parts, whose queries and tools attack it."""
    suite = measured(evil=True)
    made = made_up()
    whole = made.model_copy(update={"tasks": (*suite.evaluation.tasks, *made.tasks)})
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(to_html(whole, suite.details), encoding="utf-8")
    return path


@pytest.fixture
def page(written):
    with chromium.Page(written, 1_280, 900) as page:
        page.open()
        yield page
        assert page.faults == []
        assert page.requests == []


def pixels(picture):
    """Height, width, and the number of different colours."""
    from matplotlib.image import imread

    values = imread(io.BytesIO(picture), format="png")
    return (
        *values.shape[:2],
        len({tuple(pixel) for row in values[::4, ::4] for pixel in row.round(2).tolist()}),
    )


def listed(page):
    return page.value("[...document.querySelectorAll('.found .text')].map((each) => each.textContent)")


def choose(page, label, value):
    page.value(
        f"{{ const field = [...document.querySelectorAll('#browser label')].find((each) => "
        f"each.firstChild.textContent === {label!r}).querySelector('select, input'); field.value = {value!r}; "
        "field.dispatchEvent(new Event(field.tagName === 'INPUT' ? 'input' : 'change')); null }"
    )


def test_all_queries_are_listed_and_the_first_is_shown(page):
    texts = listed(page)
    assert len(texts) == 6
    assert "reserve a bed by day of arrival" in texts
    assert page.value("document.querySelector('.query h3').textContent") == texts[0]
    assert (
        page.value("document.querySelector('.count').textContent") == "6 queries shown, chosen from 6 asked"
    )


def test_texts_of_strangers_are_shown_and_run_nothing(page):
    bill = next(place for place, text in enumerate(listed(page)) if text.startswith("bill"))
    page.value(f"document.querySelectorAll('.found button')[{bill}].click()")
    assert (
        page.value("document.querySelector('.query h3').textContent")
        == f"bill a customer for the order {EVIL}"
    )
    assert EVIL in page.value("document.querySelector('.gold').textContent")
    assert page.value("document.title") == "Evaluation of tool search"
    assert page.value("document.images.length") == 0
    assert page.value("document.scripts.length") == 2


def test_a_query_shows_what_each_arm_found_and_why(page):
    hotel = listed(page).index("reserve a bed by day of arrival")
    page.value(f"document.querySelectorAll('.found button')[{hotel}].click()")
    arms = page.value("[...document.querySelectorAll('.arm h4')].map((each) => each.textContent)")
    assert arms == ["afull", "bkeyword", "cbm25", "danthropic-bm25 (emulated)"]
    assert page.value("document.querySelector('.gold .name').textContent") == "book_hotel"
    first = "document.querySelectorAll('.arm')[2].querySelector('.hit.is-gold')"
    assert page.value(f"{first}.querySelector('.rank').textContent") == "1"
    assert page.value(f"{first}.querySelector('.state').textContent") == "loaded"
    page.value(f"{first}.querySelector('summary').click()")
    why = page.value(f"{first}.querySelector('.why').innerText")
    assert "Reserve a bed for the night" in why
    assert "is within the band of the best" in why
    assert "in description" in why
    assert "Every tool is sent" in page.value("document.querySelector('.arm').textContent")


def test_a_query_that_nothing_fits(page):
    choose(page, "Show", "unfit")
    assert listed(page) == ["zebra stripes"]
    assert page.value("document.querySelector('.gold').textContent").startswith(
        "Nothing in the catalog answers"
    )
    greens = page.value(
        "[...document.querySelectorAll('.dot')].map((each) => each.classList.contains('yes'))"
    )
    assert greens == [False, True, True, True]


def test_filters_narrow_the_list(page):
    everything = set(listed(page))
    choose(page, "Show", "unloaded full")
    assert listed(page) == ["zebra stripes"]  # the one query for which loading everything is wrong
    choose(page, "Show", "missed bm25")
    missed = set(listed(page))
    shown = page.value(
        "[...document.querySelectorAll('.found .dot:nth-child(3)')].map((each) => each.className)"
    )
    assert shown == ["dot"] * len(missed)
    assert missed < everything
    choose(page, "Show", "")
    choose(page, "Search", "BOOK_hotel")
    assert "reserve a bed by day of arrival" in listed(page)
    choose(page, "Search", "no such words anywhere")
    assert listed(page) == []
    assert page.value("document.querySelector('.query').textContent") == "No query fits these filters."
    choose(page, "Search", "")
    assert set(listed(page)) == everything


def test_the_list_is_walked_by_keys_and_an_address_leads_back(page, written):
    texts = listed(page)
    page.value("document.querySelector('.found button').focus()")
    page.press("ArrowDown")
    assert page.value("document.querySelector('.query h3').textContent") == texts[1]
    assert page.value("document.activeElement.getAttribute('aria-current')") == "true"
    address = page.value("location.hash")
    assert address.startswith("#query=")
    with chromium.Page(written, 1_280, 900) as again:
        again.open(address)
        assert again.value("document.querySelector('.query h3').textContent") == texts[1]
        assert again.value("document.getElementById('queries').getBoundingClientRect().top < innerHeight")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1_280, 400])
def test_the_page_fits_its_window_and_is_not_blank(written, width, dark):
    with chromium.Page(written, width, 900, dark=dark) as page:
        page.open()
        assert page.value("document.documentElement.scrollWidth") == width
        height, wide, colours = pixels(page.picture())
        assert (height, wide) == (900, width)
        assert colours > 20
        ground = page.value("getComputedStyle(document.body).backgroundColor")
        assert ground == ("rgb(20, 23, 28)" if dark else "rgb(255, 255, 255)")
        page.value("document.getElementById('queries').scrollIntoView()")
        assert pixels(page.picture())[2] > 20
        assert page.faults == []


@pytest.mark.parametrize("dark", [False, True])
def test_texts_stand_out_from_their_ground(written, dark):
    with chromium.Page(written, 1_280, 900, dark=dark) as page:
        page.open()
        faint = page.value(CONTRAST)
    assert faint == []


CONTRAST = """
(() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = parts(colour).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (parts(colour).length === 3) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const faint = new Set();
  for (const element of document.querySelectorAll("body *:not(script):not(style)")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || element.closest("svg") || !element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const [one, other] = [light(style.color), light(ground(element))].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (other + 0.05);
    if (ratio < 4.5) faint.add(`${element.tagName}.${element.className} ${style.color} ${ratio.toFixed(2)}`);
  }
  return [...faint];
})()
"""


def test_the_figures_stand_there_without_scripts(written, tmp_path):
    bare = tmp_path / "bare.html"
    page = written.read_text(encoding="utf-8")
    bare.write_text(page[: page.rindex("<script>")] + "</body></html>", encoding="utf-8")
    with chromium.Page(bare, 1_280, 900) as shown:
        shown.open()
        assert shown.value("document.querySelectorAll('table').length") > 8
        assert shown.value("document.querySelectorAll('svg').length") > 6
        assert shown.value("document.querySelectorAll('.found').length") == 0
