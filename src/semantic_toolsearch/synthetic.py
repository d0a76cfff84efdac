"""A number in; that many different, plausible tool definitions out, the same ones every time.

For measuring time only: sizes are like those of real catalogs (about 70 word pieces a tool, a few parameters
each), but no tool exists, so nothing about quality can be learnt from them.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

__all__ = ["synthetic_queries", "synthetic_tools"]

_SERVERS: Final = (
    "billing", "calendar", "crm", "helpdesk", "inventory", "payroll", "shipping", "analytics", "storage",
    "identity", "mail", "chat", "wiki", "repository", "builds", "monitoring", "maps", "travel",
    "banking", "insurance", "clinic", "library", "school", "recruiting", "contracts", "survey",
    "advertising", "podcast", "video", "photo", "music", "weather", "energy", "fleet", "factory", "farm",
    "restaurant", "hotel", "museum", "sports",
)  # fmt: skip

_VERBS: Final = {
    "create": "Create a new", "list": "List every", "get": "Return one", "update": "Change an existing",
    "delete": "Remove a", "search": "Search for a", "export": "Export a", "import": "Read in a",
    "approve": "Approve a pending", "archive": "Move an old", "assign": "Hand over a", "cancel": "Call off a",
    "compare": "Compare two versions of a", "copy": "Make a copy of a", "count": "Count each",
    "describe": "Summarise a", "merge": "Join a duplicate", "notify": "Send word about a",
    "rename": "Give another name to a", "restore": "Bring back a deleted", "schedule": "Plan a",
    "share": "Give others access to a", "validate": "Check a", "watch": "Follow the changes of a",
}  # fmt: skip

_THINGS: Final = (
    "invoice", "customer", "meeting", "ticket", "shipment", "report", "folder", "account", "message",
    "channel", "page", "branch", "pipeline", "alert", "route", "booking", "payment", "policy", "patient",
    "book", "course", "candidate", "contract", "questionnaire", "campaign", "episode", "clip", "album",
    "playlist", "forecast", "meter", "vehicle", "machine", "field", "menu", "room", "exhibit", "match",
    "refund", "order", "coupon", "subscription", "warehouse", "supplier", "employee", "shift", "holiday",
    "salary", "timesheet", "dashboard", "metric", "query", "backup", "password", "role", "session",
    "domain", "certificate", "newsletter", "attachment", "comment", "label", "milestone", "release",
    "deployment", "incident", "location", "address", "flight", "passport", "loan", "card", "transfer",
    "claim", "prescription", "appointment", "loan_request", "lesson", "exam", "interview", "signature",
    "answer", "banner", "transcript", "thumbnail", "lyric", "sensor", "tariff", "driver", "part",
    "harvest", "recipe", "guest", "ticket_office", "score",
)  # fmt: skip

_WAYS: Final = (
    "by_date", "by_owner", "by_status", "by_region", "in_bulk", "as_draft", "for_team", "with_history",
    "from_template", "with_approval", "by_tag", "by_price", "for_review", "in_background",
    "with_reminder", "by_priority",
)  # fmt: skip

_PARAMETERS: Final = (
    ("id", "string", "Identifier as returned by the list call"),
    ("name", "string", "Name shown to the people who use it"),
    ("start_date", "string", "First day in the form YYYY-MM-DD"),
    ("end_date", "string", "Last day in the form YYYY-MM-DD"),
    ("owner", "string", "Mail address of the person in charge"),
    ("status", "string", "Only entries in this state"),
    ("limit", "integer", "Most entries to return"),
    ("cursor", "string", "Where the last page ended"),
    ("amount", "number", "Sum in the smallest unit of the currency"),
    ("currency", "string", "Three-letter currency code"),
    ("region", "string", "Part of the world that it belongs to"),
    ("dry_run", "boolean", "Say what would happen without doing it"),
    ("recipients", "array", "Everybody who is told about it"),
    ("reason", "string", "Why it is done, kept in the history"),
    ("tags", "array", "Words that it is filed under"),
    ("priority", "integer", "From 1, most urgent, to 5"),
    ("language", "string", "Language of the texts, such as en or fr"),
    ("format", "string", "Kind of file to write"),
    ("include_archived", "boolean", "Whether old entries count too"),
    ("sort_by", "string", "Field that decides the order"),
)

_ENDINGS: Final = (
    "Fails when the {thing} is locked by somebody else.",
    "Returns the {thing} with its current state and the time of its last change.",
    "Use it after the {thing} has been looked up; it does not search by itself.",
    "Only people with write access to {server} may do this.",
    "Takes effect at once and is written to the history of {server}.",
    "Large answers come in pages of fifty entries.",
)

_NEEDS: Final = (
    "I have to {verb} the {thing} {way}",
    "please {verb} a {thing} in {server}",
    "how can somebody {verb} {thing}s {way}",
    "{thing} {verb}",
    "{verb} all of last month's {thing}s for the {server} team",
    "somebody asked me to {verb} this {thing}, with the {word}",
)


def synthetic_tools(number: int) -> list[dict[str, Any]]:
    """Return tool definitions as MCP servers list them, with namespaces; no two have the same name.

    Args:
        number: How many; the first ones are the same for every number.

    Raises:
        ValueError: More are asked for than there are different names, some 900,000.
    """
    most = len(_SERVERS) * len(_VERBS) * len(_THINGS) * len(_WAYS)
    if not 0 <= number <= most:
        raise ValueError(f"{number} synthetic tools were asked for; there are 0 to {most:,}.")
    random = Random(20_240_601)
    tools: list[dict[str, Any]] = []
    taken = set()
    while len(tools) < number:
        server, verb = random.choice(_SERVERS), random.choice(list(_VERBS))
        thing, way = random.choice(_THINGS), random.choice(_WAYS)
        if (server, verb, thing, way) in taken:
            continue
        taken.add((server, verb, thing, way))
        tools.append(_tool(random, server, verb, thing, way))
    return tools


def synthetic_queries(number: int) -> list[str]:
    """Return needs as people put them, in the words of the synthetic tools; no two are the same."""
    random = Random(7)
    queries: dict[str, None] = {}
    while len(queries) < number:
        need = random.choice(_NEEDS).format(
            verb=random.choice(list(_VERBS)),
            thing=random.choice(_THINGS).replace("_", " "),
            way=random.choice(_WAYS).replace("_", " "),
            server=random.choice(_SERVERS),
            word=random.choice(_PARAMETERS)[0].replace("_", " "),
        )
        queries[need] = None
    return list(queries)


def _tool(random: Random, server: str, verb: str, thing: str, way: str) -> dict[str, Any]:
    words = {"thing": thing.replace("_", " "), "server": server}
    ending = random.choice(_ENDINGS).format(**words)
    parameters = random.sample(_PARAMETERS, random.choice((1, 2, 3, 3, 4, 5, 6)))
    return {
        "name": f"{verb}_{thing}_{way}",
        "namespace": server,
        "description": f"{_VERBS[verb]} {words['thing']} {way.replace('_', ' ')} in {server}. {ending}",
        "inputSchema": {
            "type": "object",
            "properties": {name: _parameter(kind, text) for name, kind, text in parameters},
            "required": [parameters[0][0]],
        },
    }


def _parameter(kind: str, text: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": kind, "description": text}
    return {**schema, "items": {"type": "string"}} if kind == "array" else schema
