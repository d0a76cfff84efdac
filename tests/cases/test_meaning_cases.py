"""Failures of other tool searches, from public reports: ranking by meaning (BC-57, BC-58)."""

from __future__ import annotations

import pytest
from case_tools import asked, found, t

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


# And of other naming styles, scripts and sizes.
FARM = [
    t("HerdCount", "Number of animals on a pasture"),
    t("FodderOrder", "Buy hay and grain for livestock"),
    t("VetVisit", "Arrange an examination of a sick animal"),
    t("MilkYield", "Litres that the cows gave today"),
    t("FenceRepair", "Mend the enclosure of a field"),
    *(t(f"Tractor{i}State", f"Condition of tractor number {i}") for i in range(40)),
]
MEANING_FARM = {
    "we are running out of food for the sheep": "FodderOrder",
    "a calf is ill": "VetVisit",
    "there is a hole and the goats escape": "FenceRepair",
}
MEANINGS = {
    "reported": (OFFICE, MEANING),
    "clinic": (CLINIC, MEANING_CLINIC),
    "travel": (TRAVEL, MEANING_TRAVEL),
    "farm, pascal, 45": (FARM, MEANING_FARM),
}
meanings = pytest.mark.parametrize(("tools", "meaning"), MEANINGS.values(), ids=list(MEANINGS))


@pytest.mark.usefixtures("socket_disabled")
@pytest.mark.parametrize("ranker", ["hybrid", "semantic"])
@meanings
def test_bc57_s03_s17_a_tool_is_found_by_meaning_without_a_shared_word(
    model, embeddings, ranker, tools, meaning
):
    """Kind: meaning. By the shipped model and without a network, among the first three."""
    search = ToolSearch(tools, ranker=ranker, embedder=model, cache=embeddings)
    missed = {query: found(search, query, limit=3)[:3] for query, name in meaning.items()}
    assert {query: hits for query, hits in missed.items() if meaning[query] not in hits} == {}
    assert all(search.search(query).degraded is None for query in meaning)


@meanings
def test_bc57_the_queries_share_no_word_with_their_tools(tools, meaning):
    """Kind: meaning. Else the cases above would prove nothing: words alone hardly put these tools first."""
    search = ToolSearch(tools, ranker="bm25", cache=False)
    assert (
        sum(found(search, query)[:1] == [name] for query, name in meaning.items()) <= 1 + len(meaning) // 10
    )


TILES = [
    t("embedded_content_create", "Create an embedded content file", aliases=["tile", "dashboard tile"]),
    t("page_create", "Create a page"),
    t("file_create", "Create a file"),
]


TRIPS = [
    t("行程作成", "旅行の行程を作る", aliases=["しおり"]),
    t("写真追加", "写真を加える"),
    t("地図表示", "地図を見せる"),
]
PLANTS = [
    t("Equipment.Halt", "Stop a unit of equipment", tags=["Notaus", "emergency stop"]),
    *(t(f"Equipment.Gauge{i}", f"Reading of gauge {i}") for i in range(40)),
    t("Equipment.Start", "Start a unit of equipment"),
]
WORDS = {
    "reported": (TILES, ["make a tile", "dashboard tiles", "tile"]),
    "japanese": (TRIPS, ["しおりを作って", "しおり"]),
    "pascal dotted, tags, 42": (PLANTS, ["Notaus", "press the emergency stop"]),
}


@pytest.mark.parametrize("ranker", ["hybrid", "bm25"])
@pytest.mark.parametrize(("tools", "queries"), WORDS.values(), ids=list(WORDS))
def test_bc58_the_products_own_word_is_an_alias(model, embeddings, ranker, tools, queries):
    """Kind: meaning. Aliases and tags are indexed like words of the name."""
    search = ToolSearch(tools, ranker=ranker, embedder=model, cache=embeddings)
    for query in queries:
        assert found(search, query)[:1] == [tools[0]["name"]], query


@pytest.mark.parametrize("query", WORDS["reported"][1])
def test_bc58_the_model_reads_aliases_as_well(model, query):
    """Kind: meaning. By meaning alone, where a tile may be a page."""
    search = ToolSearch(TILES, ranker="semantic", embedder=model)
    assert "embedded_content_create" in found(search, query)[:2]


@pytest.mark.parametrize("key", ["aliases", "tags"])
@pytest.mark.parametrize(
    ("word", "query"),
    [("sprint", "start the next sprint"), ("Zettel", "write a zettel"), ("PR", "open a PR")],
)
def test_bc58_inhouse_words_given_as_aliases_or_tags(model, embeddings, key, word, query):
    """Kind: meaning. Words of a method, of another language, and an abbreviation."""
    tools = [
        t("iteration_begin", "Begin a period of work", **{key: [word]}),
        t("record_add", "Add a record"),
        t("branch_merge", "Combine two lines of development"),
    ]
    for ranker in ("hybrid", "bm25"):
        assert (
            found(ToolSearch(tools, ranker=ranker, embedder=model, cache=embeddings), query)[0]
            == "iteration_begin"
        )


@pytest.mark.parametrize("tools", [TILES, TRIPS, PLANTS], ids=list(WORDS))
@pytest.mark.parametrize("model_id", ["claude-sonnet-5", "gpt-5.4", "llama-4", "gemini-3-pro"])
def test_bc58_aliases_are_not_sent_to_the_model(tools, model_id):
    """Kind: meaning. Neither with the request, loaded or not, nor with the answer to a search."""
    search = ToolSearch(tools, ranker="bm25", cache=False)
    words = tools[0].get("aliases") or tools[0]["tags"]
    hits = search.search(words[0])
    assert hits.tools[0].tool.name == tools[0]["name"]
    sent = [str(hits.as_dict()["tools"]), str(asked(search, {"query": "", "names": [hits.tools[0].name]}))]
    for names in ((), search.catalog.wire_names):
        options = {"deferred_tools": names} if names else {"never_defer": search.catalog.wire_names}
        sent.append(str(search.turn([], model=model_id, **options).tools))
    assert not [word for word in words for text in sent if word in text]
