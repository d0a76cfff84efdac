"""A museum's tools and what its staff says, with faults planted on purpose, for tests of what is mined from them."""

from __future__ import annotations

from library_tools import t
from semantic_toolsearch import Catalog, ToolSearch
from semantic_toolsearch.evaluation.data.phrasings import Phrasing
from semantic_toolsearch.evaluation.mining.mine import mine, phrasing_dataset

GOOD = {
    "sell_ticket": "Sell an entrance ticket to a visitor.",
    "book_guide": "Book a guide for a tour through the rooms.",
    "lend_painting": "Lend a painting to another museum.",
    "restore_frame": "Order the restoration of a damaged frame.",
    "insure_transport": "Insure the transport of a work of art.",
    "print_poster": "Print posters for an exhibition.",
    "hire_guard": "Hire a guard for the night shift.",
    "count_visitors": "Count the visitors of a day.",
    "order_cake": "Order cake for the museum cafe.",
    "check_humidity": "Read the humidity in a room.",
}
SAYINGS = {
    "sell_ticket": ["sell two tickets", "a ticket for a student", "entrance for a visitor with a dog"],
    "book_guide": ["book a guide", "guide for a tour in Dutch", "tour through the rooms on Sunday"],
    "lend_painting": ["lend the painting to Oslo", "another museum asks for a painting", "lend it out"],
    "restore_frame": ["the frame is damaged", "restoration of the old frame", "frame needs restoration"],
    "insure_transport": ["insure the transport", "transport of a statue", "insure this work of art"],
    "print_poster": ["print a poster", "posters for the exhibition", "print fifty posters"],
    "hire_guard": ["hire a guard", "guard for the night", "night shift on Friday"],
    "count_visitors": ["count visitors of Monday", "count the visitors", "how many visitors in a day"],
    "order_cake": ["order cake", "cake for the cafe", "the cafe has no cake"],
    "check_humidity": ["read the humidity", "humidity in room four", "is the humidity fine"],
    "archiveItem": [
        "put the vase into storage",
        "storage for this coin",
        "move it to the cellar",
        "to the cellar please",
    ],
}
THIN = t("archiveItem", "")
MENDED = t("archiveItem", "Put an object into storage in the cellar.")
MAGNET = t(
    "ask_museum",
    "Tickets, visitors, guides, tours, paintings, frames, transports, posters, guards, nights, cakes, cafes, "
    "humidity, rooms. Ticket, visitor, guide, tour, painting, frame, transport, poster, guard, night, cake, cafe, "
    "humidity, room: ask.",
)
MODEST = t("ask_museum", "Explain the history of an exhibit to a child.")


def tools(*more, without=()):
    return [t(name, text) for name, text in GOOD.items() if name not in without] + list(more)


def sayings(without=(), **more):
    said = {name: texts for name, texts in SAYINGS.items() if name not in without} | more
    return [(text, name) for name, texts in said.items() for text in texts]


def phrasings(pairs):
    """Phrasings of (text, tool or tools, () for nothing, None for nobody said) pairs."""
    return [
        Phrasing(line, text, (wanted,) if isinstance(wanted, str) else wanted)
        for line, (text, wanted) in enumerate(pairs, 1)
    ]


def mined(definitions, pairs, ranker="bm25", **options):
    catalog = definitions if isinstance(definitions, Catalog) else Catalog(definitions)
    dataset, unlabelled = phrasing_dataset(catalog, phrasings(pairs), "museum")
    search = ToolSearch(catalog, **{"ranker": ranker, "cache": False, **options})
    return mine(search, dataset, unlabelled=unlabelled)
