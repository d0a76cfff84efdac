"""Requests of OpenAI's Responses API for the tests; run as a program it writes their golden files anew."""

from __future__ import annotations

from wire_requests import GOLDEN, SHOP, golden_text, obj, record_of

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.exchange import SearchCall, TurnPlan, TurnRequest, bridge_tool, search_tool
from semantic_toolsearch.providers import openai_responses

CUSTOMER = {
    "type": "object",
    "properties": {"customer_id": {"type": "string"}},
    "required": ["customer_id"],
    "additionalProperties": False,
}


def tool(name, namespace=None, **fields):
    entry = {"name": name, "description": f"Does {name}.", "parameters": obj(value={"type": "string"})}
    return entry | ({"namespace": namespace} if namespace else {}) | fields


CATEGORIES = [
    tool("read_file", "File Operations"),
    tool("fetch_page", "Web"),
    tool("fx_rate"),
    tool("edit_file", "File Operations"),
    tool("write_todos", defer="never"),
    tool("find_page", "Web"),
    tool("grep_files", "File Operations"),
]

CRM = [
    tool(
        "list_open_orders",
        "crm",
        description="Open orders of one customer.",
        parameters=CUSTOMER,
        strict=True,
    ),
    tool("get_profile", "crm", description="Profile of one customer.", parameters=CUSTOMER, strict=True),
    tool("fx_rate", description="Exchange rate of a pair."),
]

MCP = {
    "type": "mcp",
    "server_label": "tickets",
    "server_url": "https://mcp.example/",
    "require_approval": "never",
    "server_description": "Support tickets.",
    "defer_loading": True,
}


def plan_of(catalog, mode, *, loaded=(), **fields):
    """What a planner would decide: policy never is sent in full, everything else deferred."""
    fixed = [name for name, found in zip(catalog.wire_names, catalog, strict=True) if found.defer == "never"]
    full = list(catalog.wire_names) if mode == "full" else fixed
    if mode == "stub":
        full += [name for name in loaded if name not in full]
    search = {"hosted": "openai", "full": None}.get(mode, "ours")
    deferred = tuple(name for name in catalog.wire_names if name not in full)
    return TurnPlan(mode, "responses", "a test", tuple(full), deferred, tuple(loaded), search, **fields)


def request_of(tools, mode, *, extra=(), **fields):
    catalog = tools if isinstance(tools, Catalog) else Catalog(tools)
    plan = plan_of(catalog, mode, **fields)
    own = search_tool(offer_limit=True, max_limit=20) if plan.search == "ours" else None
    bridge = bridge_tool() if mode == "bridge" else None
    return TurnRequest(catalog, plan, own, bridge, tuple(extra))


def search_call(identity="call_77"):
    raw = {
        "type": "tool_search_call", "id": "tsc_2", "execution": "client", "call_id": identity, "status": "completed",
        "arguments": {"query": "shipping eta", "limit": 5},
    }  # fmt: skip
    return SearchCall(identity, raw["arguments"], raw)


def rows():
    yield "responses_full", request_of(SHOP, "full")
    yield "responses_hosted", request_of(CATEGORIES, "hosted")
    yield "responses_hosted_mcp", request_of(CRM, "hosted", extra=[MCP])
    yield "responses_hosted_split", request_of([tool(f"deal_{i:02}", "CRM") for i in range(11)], "hosted")
    yield "responses_output", request_of(SHOP, "output")
    yield "responses_stub", request_of(SHOP, "stub", loaded=("fx_rate",))
    yield "responses_stub_omitted", request_of(SHOP, "stub", unloaded="omit")
    yield "responses_bridge", request_of(SHOP, "bridge")


def golden_of(request):
    content = {"tools": openai_responses.render(request)}
    if request.plan.search == "ours":
        own = request.plan.mode == "output"
        call = search_call() if own else SearchCall("call_77", {}, {"type": "function_call"})
        schemas = {"invoice_create": request.catalog["invoice_create"].parameters}
        record = record_of(
            request.catalog, ["invoice_create"], schemas=schemas if request.plan.mode == "bridge" else None
        )
        content["search_answer"] = openai_responses.search_answer(call, record, request)
    return content


if __name__ == "__main__":
    for file, request in rows():
        (GOLDEN / f"{file}.json").write_text(golden_text(golden_of(request)), encoding="utf-8")
