"""The tools of a small web shop, as its examples use them: definitions, and one function that runs a call."""

from __future__ import annotations

from typing import Any

from semantic_toolsearch.exchange import ToolCall

_TEXT, _NUMBER = {"type": "string"}, {"type": "number"}


def _tool(name: str, description: str, **properties: dict[str, str]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "description": description, "parameters": schema}


TOOLS = [
    _tool("refund_order", "Pay a customer's money back for an order.", order_id=_TEXT, amount=_NUMBER),
    _tool("cancel_order", "Stop an order before it ships.", order_id=_TEXT),
    _tool("get_order", "Read an order: items, state, address.", order_id=_TEXT),
    _tool("list_orders", "List the orders of a customer.", customer_id=_TEXT),
    _tool("create_invoice", "Bill a customer.", customer_id=_TEXT, amount=_NUMBER),
    _tool("send_reminder", "Remind a customer of an unpaid invoice.", invoice_id=_TEXT),
    _tool("track_parcel", "Say where a shipment is now.", tracking_number=_TEXT),
    _tool("book_pickup", "Have the carrier collect a return.", order_id=_TEXT, day=_TEXT),
    _tool("print_label", "Make a shipping label.", order_id=_TEXT),
    _tool("find_customer", "Look a customer up by e-mail address.", email=_TEXT),
    _tool("update_address", "Change where a customer lives.", customer_id=_TEXT, address=_TEXT),
    _tool("send_email", "Write to a customer.", to=_TEXT, subject=_TEXT, body=_TEXT),
    _tool("stock_level", "Count the pieces of an article in the warehouse.", sku=_TEXT),
    _tool("reorder_article", "Buy more of an article from its supplier.", sku=_TEXT, pieces=_NUMBER),
    _tool("set_price", "Change the price of an article.", sku=_TEXT, price=_NUMBER),
    _tool("create_coupon", "Make a discount code.", code=_TEXT, percent=_NUMBER),
    _tool("exchange_rate", "Convert between two currencies.", base=_TEXT, quote=_TEXT),
    _tool("sales_report", "Sum up the sales of a month.", month=_TEXT),
    _tool("open_ticket", "Hand a problem over to a human colleague.", summary=_TEXT),
    _tool("list_reviews", "Read what buyers say of an article.", sku=_TEXT),
]


def run_tool(call: ToolCall) -> dict[str, Any]:
    """Run a call; a real shop would look the name up among its functions."""
    print(f"running {call.name} {call.arguments}")
    return {"ok": True, "tool": call.name}
