"""Failures of other tool searches, from public reports: ranking by meaning (BC-57, BC-58)."""

from __future__ import annotations

import pytest
from case_tools import found, t

from semantic_toolsearch import ToolSearch

OFFICE = [
    t("object_persist", "Write an object to durable storage"),
    t("invoice_issue", "Issue an invoice to a client"),
    t("cron_add", "Schedule a recurring job"),
    t("thermostat_set", "Set the target temperature of a room"),
    t("parcel_track", "Track a shipment by its number"),
    t("passphrase_reset", "Reset a user's password"),
    t("chart_render", "Render a bar or line chart"),
    t("leave_book", "Book vacation days for an employee"),
    t("vm_halt", "Shut down a virtual machine"),
    t("translate_text", "Translate text between languages"),
]
MEANING = {
    "save data": "object_persist",
    "bill the customer": "invoice_issue",
    "make the living room warmer": "thermostat_set",
    "where is my package": "parcel_track",
    "I forgot my login": "passphrase_reset",
    "plot the sales": "chart_render",
    "take a holiday next week": "leave_book",
    "turn off the server": "vm_halt",
    "say this in Spanish": "translate_text",
    "run this every Monday": "cron_add",
}
# Two more of the same kind: other trades, and no word in common either.
CLINIC = [
    t("encounter_open", "Begin a consultation for a sick person"),
    t("rx_emit", "Prescribe medication"),
    t("invoice_void", "Annul a bill"),
    t("ward_transfer", "Relocate someone to a different ward"),
    t("lab_request", "Request an analysis of a blood sample"),
]
MEANING_CLINIC = {
    "give him some pills": "rx_emit",
    "cancel the payment demand": "invoice_void",
    "the patient changes beds": "ward_transfer",
    "check her cholesterol": "lab_request",
}
TRAVEL = [
    t("itinerary_build", "Plan a journey with several stops"),
    t("lodging_reserve", "Reserve a hotel room"),
    t("fx_quote", "Exchange rate between two currencies"),
    t("advisory_get", "Safety warnings for a country"),
    t("seat_pick", "Choose where to sit on a plane"),
]
MEANING_TRAVEL = {
    "find me somewhere to sleep in Rome": "lodging_reserve",
    "how many yen is a dollar": "fx_quote",
    "is it dangerous to go there": "advisory_get",
    "I want the window on the flight": "seat_pick",
}


def cases(tools, meaning):
    return [pytest.param(tools, query, name, id=query) for query, name in meaning.items()]


@pytest.mark.usefixtures("socket_disabled")
@pytest.mark.parametrize("ranker", ["hybrid", "semantic"])
@pytest.mark.parametrize(
    ("tools", "query", "name"),
    [*cases(OFFICE, MEANING), *cases(CLINIC, MEANING_CLINIC), *cases(TRAVEL, MEANING_TRAVEL)],
)
def test_bc57_s03_s17_a_tool_is_found_by_meaning_without_a_shared_word(model, ranker, tools, query, name):
    search = ToolSearch(tools, ranker=ranker, embedder=model)
    assert name in found(search, query, limit=3)[:3]
    assert search.search(query).degraded is None


def test_bc57_the_queries_share_no_word_with_their_tools():
    """Else the cases above would prove nothing: words alone must not put these tools first for the most part."""
    by_words = 0
    for tools, meaning in ((OFFICE, MEANING), (CLINIC, MEANING_CLINIC), (TRAVEL, MEANING_TRAVEL)):
        search = ToolSearch(tools, ranker="bm25", cache=False)
        by_words += sum(found(search, query)[:1] == [name] for query, name in meaning.items())
    assert by_words <= 3


TILES = [
    t("embedded_content_create", "Create an embedded content file", aliases=["tile", "dashboard tile"]),
    t("page_create", "Create a page"),
    t("file_create", "Create a file"),
]


@pytest.mark.parametrize("ranker", ["hybrid", "semantic", "bm25"])
@pytest.mark.parametrize("query", ["make a tile", "dashboard tiles", "tile"])
def test_bc58_the_products_own_word_is_an_alias(model, ranker, query):
    search = ToolSearch(TILES, ranker=ranker, embedder=model)
    first = 2 if ranker == "semantic" else 1  # meaning alone may take a tile for a page
    assert "embedded_content_create" in found(search, query)[:first]


@pytest.mark.parametrize("key", ["aliases", "tags"])
@pytest.mark.parametrize(
    ("word", "query"),
    [("sprint", "start the next sprint"), ("Zettel", "write a zettel"), ("PR", "open a PR")],
)
def test_bc58_kind_inhouse_words_given_as_aliases_or_tags(model, key, word, query):
    """Of the same kind: words of a method, of another language, and an abbreviation."""
    tools = [
        t("iteration_begin", "Begin a period of work", **{key: [word]}),
        t("record_add", "Add a record"),
        t("branch_merge", "Combine two lines of development"),
    ]
    for ranker in ("hybrid", "bm25"):
        assert found(ToolSearch(tools, ranker=ranker, embedder=model), query)[0] == "iteration_begin"


def test_bc58_aliases_are_not_part_of_what_a_result_sends():
    result = ToolSearch(TILES, ranker="bm25", cache=False).search("dashboard tiles")
    assert result.tools[0].name == "embedded_content_create"
    assert "tile" not in str(result.as_dict()["tools"])
