"""Catalogs and requests for the tests of the wire formats; run as a program it writes the golden requests anew."""

from __future__ import annotations

import json
from pathlib import Path

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.exchange import (
    SearchCall,
    TurnPlan,
    TurnRequest,
    bridge_tool,
    search_record,
    search_tool,
)
from semantic_toolsearch.providers import anthropic, gemini, openai_chat
from semantic_toolsearch.results import Hit, SearchResult

PROVIDERS = {"anthropic": anthropic, "chat": openai_chat, "gemini": gemini}
GOLDEN = Path(__file__).parent / "golden"
CANONICAL_STUB = '{"type":"object","additionalProperties":true}'
OPENAI_STUB = (
    '{"type":"object","properties":{},"additionalProperties":true}'  # it refuses one without properties
)


def obj(**properties):
    return {"type": "object", "properties": properties}


def many(count):
    return [
        {
            "name": f"tool_{i:02}",
            "description": f"Does task number {i}.",
            "parameters": obj(
                **{f"p{i:02}{x}": {"type": "string", "description": f"Part {x} of it"} for x in "abc"}
            ),
        }
        for i in range(count)
    ]


LIB = [
    {
        "name": "renewLoan",
        "description": "Extend the time a reader keeps a book",
        "parameters": obj(
            readerCard={"type": "string", "description": "number printed on the plastic"},
            extraDays={"type": "integer"},
        ),
        "defer": "always",
    },
    {"name": "reserve_title", "description": "Hold a book that is out", "defer": "always"},
    {"name": "fee-report", "description": "Unpaid fees by branch", "defer": "always"},
    {"name": "find_reader", "description": "Look up a reader", "defer": "never"},
]

SHOP = [
    {
        "name": "invoice_create",
        "description": "Bill a customer",
        "parameters": {
            "type": "object",
            "additionalProperties": False,
            "required": ["customer", "lines"],
            "properties": {
                "customer": {"type": "string", "description": "Name or number"},
                "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}},
            },
            "$defs": {
                "Line": {
                    "type": "object",
                    "required": ["item"],
                    "properties": {
                        "item": {"type": "string"},
                        "count": {"type": "integer", "minimum": 1},
                        "tax": {"enum": ["full", "reduced", None]},
                    },
                }
            },
        },
        "input_examples": [{"customer": "Ada", "lines": [{"item": "tea", "count": 2}]}],
    },
    {
        "name": "fx_rate",
        "description": "Exchange rate of a currency pair",
        "parameters": {**obj(pair={"type": "string"}), "required": ["pair"], "additionalProperties": False},
        "strict": True,
    },
    {
        "name": "list_branches",
        "description": "All branches of the shop",
        "parameters": obj(),
        "defer": "never",
    },
]


def request_of(tools, mode, api, *, loaded=(), full=(), search=None, **fields):
    """A request as a planner would make it: what is not full is deferred, in the modes that load by name."""
    catalog = tools if isinstance(tools, Catalog) else Catalog(tools)
    fixed = [name for name, tool in zip(catalog.wire_names, catalog, strict=True) if tool.defer == "never"]
    sent = list(catalog.wire_names) if mode == "full" else [*fixed, *full]
    if mode in ("stub", "bridge"):
        sent += [name for name in loaded if mode == "stub" and name not in sent]
    ours = mode in ("reference", "stub", "bridge")
    unloaded = fields.pop("unloaded", "stub")
    plan = TurnPlan(
        mode=mode,
        api=api,
        reason="a test",
        full=tuple(sent),
        deferred=tuple(name for name in catalog.wire_names if name not in sent),
        loaded=tuple(loaded),
        search=search or ("ours" if ours else None),
        unloaded=unloaded,
    )
    if ours:
        fields.setdefault("search_tool", search_tool(offer_limit=True, max_limit=20))
    if mode == "bridge":
        fields.setdefault("bridge", bridge_tool())
    return TurnRequest(catalog=catalog, plan=plan, **fields)


def record_of(catalog, names, *, schemas=None, query="a query", note="They can be called now."):
    hits = tuple(
        Hit(name, catalog[catalog.position(name)], 1.0 - i / 100, catalog.position(name))
        for i, name in enumerate(names)
    )
    outcome = "matched" if names else "no_match"
    return search_record(SearchResult(query, outcome, hits), loaded=names, note=note, schemas=schemas)


def search_call(provider="anthropic", call_id="s1"):
    raw = {"functionCall": {"id": call_id, "name": "tool_search", "args": {"query": "q"}}}
    return SearchCall(call_id, {"query": "q"}, raw if provider == "gemini" else {})


def rows():
    """Every golden request: its file's name, the provider and the request."""
    for api in PROVIDERS:
        yield f"{api}_full", api, request_of(SHOP, "full", api)
        yield f"{api}_stub", api, request_of(SHOP, "stub", api, loaded=("fx_rate",))
        yield f"{api}_stub_omitted", api, request_of(SHOP, "stub", api, unloaded="omit")
        yield f"{api}_bridge", api, request_of(SHOP, "bridge", api)
    extra = ({"type": "bash_20250124", "name": "bash"},)
    fields = {"cache_breakpoint": True, "extra": extra}
    yield (
        "anthropic_hosted_bm25",
        "anthropic",
        request_of(SHOP, "hosted", "anthropic", search="bm25", **fields),
    )
    yield "anthropic_hosted_regex", "anthropic", request_of(SHOP, "hosted", "anthropic", search="regex")
    yield (
        "anthropic_reference",
        "anthropic",
        request_of(SHOP, "reference", "anthropic", cache_breakpoint=True),
    )


def golden_of(api, request):
    """What a golden file holds: the tools list, and our answer to a search that loads one tool."""
    content = {"tools": PROVIDERS[api].render(request)}
    if request.plan.search == "ours":
        catalog = request.catalog
        schemas = {"invoice_create": catalog["invoice_create"].parameters}
        record = record_of(
            catalog, ["invoice_create"], schemas=schemas if request.plan.mode == "bridge" else None
        )
        content["search_answer"] = PROVIDERS[api].search_answer(search_call(api), record, request)
    return content


def golden_text(content):
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for file, api, request in rows():
        (GOLDEN / f"{file}.json").write_text(golden_text(golden_of(api, request)), encoding="utf-8")
