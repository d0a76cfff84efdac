"""Small datasets that arms are tried on, and rankers and models that fail."""

from __future__ import annotations

from semantic_toolsearch import ToolDefinition
from semantic_toolsearch.evaluation.dataset import Dataset, Query

TWELVE = (
    ("create_invoice", "Bill a customer for an order", {"customer": "Who pays"}),
    ("send_mail", "Write a message to a colleague", {"to": "Address of the receiver"}),
    ("read_mail", "Show the messages of the inbox", {}),
    ("git_undo", "Take back the last commit", {"steps": "How many commits"}),
    ("read_file", "Return the text of a file", {"path": "Where it lies"}),
    ("delete_file", "Remove a file for good", {"path": "Where it lies"}),
    ("weather_forecast", "Temperature and rain of the coming days", {"city": "Place to look up"}),
    ("lights_off", "Make a room dark", {"room": "Which room"}),
    ("book_hotel", "Reserve a bed for the night", {"checkin": "Day of arrival"}),
    ("translate_text", "Say the same in another language", {"language": "Target language"}),
    ("play_music", "Start a song", {"song": "Title of the song"}),
    ("convert_currency", "Exchange rate between two currencies", {"base": "Currency to convert from"}),
)

ASKED = (
    ("bill", "bill a customer for the order", "create_invoice"),
    ("mail", "write a message to my colleague", "send_mail"),
    ("name", "read_file", "read_file"),
    ("rain", "temperature and rain in Oslo", "weather_forecast"),
    ("hotel", "reserve a bed by day of arrival", "book_hotel"),
    ("nothing", "zebra stripes", None),
)


def twelve_tools(asked=ASKED):
    tools = tuple(
        ToolDefinition(
            name=name,
            description=description,
            parameters={
                "type": "object",
                "properties": {
                    key: {"type": "string", "description": text} for key, text in arguments.items()
                },
            },
        )
        for name, description, arguments in TWELVE
    )
    return Dataset(
        name="twelve",
        tools=tools,
        ids=tuple(f"id:{tool.name}" for tool in tools),
        queries=tuple(Query(each, text, answerable=gold is not None) for each, text, gold in asked),
        gold={each: {f"id:{gold}": 1} for each, _, gold in asked if gold is not None},
    )


def many_tools(count, *texts):
    """Tools of one word each, which all differ."""
    tools = tuple(
        ToolDefinition(name=f"tool_{place}", description=f"word{place} thing", parameters={"type": "object"})
        for place in range(count)
    )
    return Dataset(
        name="many",
        tools=tools,
        ids=tuple(tool.name for tool in tools),
        queries=tuple(Query(f"q{place}", text) for place, text in enumerate(texts)),
        gold={f"q{place}": {"tool_0": 1} for place in range(len(texts))},
    )


def answered(arm, dataset, hidden=None):
    """Its answers by query id."""
    return {query.id: answer for query, answer in arm.prepare(dataset).answers(dataset.queries, hidden)}


def names(dataset, places):
    return [dataset.tools[place].name for place in places]
