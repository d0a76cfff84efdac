"""Twelve tools of a restaurant with queries whose answers are known, for the tests of costs and of sizes."""

from __future__ import annotations

from semantic_toolsearch.definitions import ToolDefinition
from semantic_toolsearch.evaluation.dataset import Dataset, Query

_WORDS = (
    ("stock", "count_potatoes", "Counts the potatoes in the cellar."),
    ("stock", "order_flour", "Orders flour from the mill."),
    ("stock", "weigh_butter", "Weighs the butter that is left."),
    ("stock", "list_spices", "Lists every spice in the rack."),
    ("oven", "bake_bread", "Bakes a loaf of bread."),
    ("oven", "roast_chicken", "Roasts a chicken until it is crisp."),
    ("oven", "heat_plates", "Heats plates before they are served."),
    ("guests", "reserve_table", "Reserves a table for a party."),
    ("guests", "print_menu", "Prints the menu of the evening."),
    ("guests", "greet_visitor", "Greets a visitor at the door."),
    (None, "play_music", "Plays quiet music."),
    (None, "call_taxi", "Calls a taxi to the entrance."),
)
_ASKED = {
    "count_potatoes": "how many potatoes are in the cellar",
    "order_flour": "flour from the mill",
    "weigh_butter": "how much butter is left",
    "list_spices": "every spice in the rack",
    "bake_bread": "a fresh loaf of bread",
    "roast_chicken": "a crisp chicken",
    "heat_plates": "warm plates",
    "reserve_table": "a table for a party of six",
    "print_menu": "the menu of this evening",
    "greet_visitor": "someone is at the door, a visitor",
    "play_music": "quiet music",
    "call_taxi": "a taxi to the entrance",
}


def tool(namespace, name, description, more=0):
    """A tool with two required parameters and as many further ones as are asked for."""
    properties = {
        f"{name}_amount": {"type": "integer", "minimum": 1, "description": "How often it is done."},
        f"{name}_mood": {"type": "string", "enum": ["calm", "hasty"], "description": "In which manner."},
        **{
            f"{name}_option_{i}": {"type": "string", "description": f"Something to know, number {i}."}
            for i in range(more)
        },
    }
    parameters = {"type": "object", "properties": properties, "required": list(properties)[:2]}
    return ToolDefinition(name=name, description=description, parameters=parameters, namespace=namespace)


def kitchen(*, more=6, queries=(), gold=None, copies=None):
    """The dataset; one query a tool unless others are given.

    Args:
        more: Further parameters of every tool, which make its definition larger.
        queries: Texts by id instead of the usual ones.
        gold: Names of the gold tools of those, by query id.
        copies: Copies by query id, each with the tool that it stands for.
    """
    tools = tuple(tool(*words, more=more) for words in _WORDS)
    asked = dict(queries) if queries else dict(_ASKED)
    judged = gold if gold is not None else {name: (name,) for name in asked}
    return Dataset(
        name="kitchen",
        tools=tools,
        ids=tuple(each.name for each in tools),
        queries=tuple(
            Query(id=each, text=text, answerable=bool(judged.get(each))) for each, text in asked.items()
        ),
        gold={each: dict.fromkeys(names, 1) for each, names in judged.items() if names},
        copies=copies or {},
    )


def market(number, *, namesakes=0):
    """A dataset of many tools whose names are their queries: ``stall_007`` answers the query ``stall_007``."""
    names = [f"stall_{place:03d}" for place in range(number)]
    tools = tuple(
        tool(f"row {place // 10}", name, f"Sells thing {place}.") for place, name in enumerate(names)
    )
    return Dataset(
        name="market",
        tools=tools,
        ids=tuple(names),
        queries=tuple(Query(id=name, text=name) for name in names),
        gold={name: {name: 1} for name in names},
        copies={
            names[place]: {names[place + 1]: names[place]} for place in range(min(namesakes, number - 1))
        },
    )
