"""A small dataset, a scripted model that searches once, and arms that ask it over a real local server."""

from __future__ import annotations

from semantic_toolsearch.definitions import ToolDefinition
from semantic_toolsearch.evaluation.dataset import Dataset, Query
from semantic_toolsearch.evaluation.hosted import HOSTED, live_arm
from semantic_toolsearch.testing.loopback import LoopbackProvider, Say, Search

ARMS = tuple(HOSTED)
KEY = "sk-secret-0123456789abcdef"

_TOOLS = (
    ("crm", "create_invoice", "Bill a customer for an order.", "amount"),
    ("crm", "find_customer", "Look up a customer by name.", "customer"),
    ("crm", "list_orders", "Show the open orders of a customer.", "order_state"),
    ("travel", "book_flight", "Reserve a plane seat.", "destination"),
    ("travel", "book_hotel", "Reserve a room in a hotel.", "nights"),
    ("travel", "rent_car", "Hire a car at an airport.", "pickup"),
    (None, "fx_rate", "Exchange rate of two currencies.", "pair"),
    (None, "send_email", "Write a letter to a person.", "recipient"),
    (None, "translate_text", "Turn words into another language.", "language"),
    (None, "weather_today", "Forecast for a city.", "city"),
    (None, "stock_quote", "Last traded price of a share.", "ticker"),
    (None, "set_alarm", "Wake somebody at a time.", "clock"),
)
_QUERIES = {
    "q1": ("bill the customer for an order", "create_invoice"),
    "q2": ("reserve a plane seat", "book_flight"),
    "q3": ("exchange rate of the dollar", "fx_rate"),
    "q4": ("forecast for Oslo", "weather_today"),
    "q5": ("price of a share", "stock_quote"),
    "q6": ("reserve a room in a hotel", "book_hotel"),
    "q7": ("wake me at a time", "set_alarm"),
    "q8": ("write a letter", "send_email"),
}


def shop(**changes):
    """12 tools in two namespaces and none, 8 queries with one gold tool each."""
    tools = tuple(
        ToolDefinition(
            name=name,
            description=description,
            namespace=namespace,
            parameters={"type": "object", "properties": {argument: {"type": "string"}}},
        )
        for namespace, name, description, argument in _TOOLS
    )
    fields = {
        "name": "shop",
        "tools": tools,
        "ids": tuple(tool.name for tool in tools),
        "queries": tuple(Query(id_, text) for id_, (text, _) in _QUERIES.items()),
        "gold": {id_: {gold: 1} for id_, (_, gold) in _QUERIES.items()},
    }
    return Dataset(**{**fields, **changes})


def searches_once(view):
    """A model that searches for what the user wrote, and is done."""
    return Say("done") if view.emitted_search else Search(view.user_text)


def address(server, name):
    """Where the SDK of a search finds the server."""
    return server.url if HOSTED[name].api == "anthropic" else server.openai_url


def arm_of(name, server, folder, **options):
    """A live arm of a running server."""
    options = {"api_key": KEY, "max_retries": 0, "timeout": 20.0, **options}
    return live_arm(name, store=folder, base_url=address(server, name), **options)


def asked(arm, dataset):
    """Answers by query id."""
    return {query.id: answer for query, answer in arm.prepare(dataset).answers(dataset.queries)}


def ask(name, script, folder, dataset=None, **options):
    """Answers of a scripted model, and the server that it ran on."""
    with LoopbackProvider(script) as server:
        return asked(arm_of(name, server, folder, **options), dataset or shop()), server
