"""An open session in; the server's whole tool list, as the server wrote it, out.

The SDK checks a page of tools as one value, so one tool with a broken schema would hide all others on its
page. Therefore a tap on the incoming messages keeps each page as it came and hands the SDK a plain stand-in
for it: names with an open schema. What is wrong with a tool is for the catalog to find and report.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from mcp import Client
    from mcp.shared.message import SessionMessage

__all__ = ["MAX_PAGES", "MessageTap", "list_all_tools"]

MAX_PAGES = 100
"""Pages read of one server's tool list; a server that pages for ever must not hold its client for ever."""


class MessageTap:
    """A stream of incoming messages that passes everything on and keeps tool lists and garbage.

    Attributes:
        page: The last ``tools/list`` result as the server wrote it, until taken with `take_page`.
        garbage: The first line on standard output that was no protocol message, else None.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.page: dict[str, Any] | None = None
        self.garbage: str | None = None

    def take_page(self) -> dict[str, Any] | None:
        """Return the kept page and forget it."""
        page, self.page = self.page, None
        return page

    async def receive(self) -> SessionMessage | Exception:
        """Wait for the next message."""
        return self._keep(await self._stream.receive())

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return self._keep(await self._stream.__anext__())

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        await self._stream.__aexit__(exc_type, exc_val, exc_tb)
        return None

    def _keep(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if isinstance(item, Exception):
            if self.garbage is None:
                self.garbage = _offending_line(item)
            return item
        result = getattr(item.message, "result", None)
        if isinstance(result, dict) and isinstance(result.get("tools"), list):
            self.page = result
            tools = [stand_in for tool in result["tools"] if (stand_in := _stand_in(tool))]
            item.message = item.message.model_copy(update={"result": {**result, "tools": tools}})
        return item


async def list_all_tools(client: Client, tap: MessageTap) -> tuple[list[Any], str | None]:
    """Follow the pages of a server's tool list to the end.

    Args:
        client: An open client whose transport reads through ``tap``.
        tap: The tap on that client's messages.

    Returns:
        The tools as the server wrote them, in its order, and a note where the list is not whole.

    Raises:
        mcp.MCPError: The server answered a page with an error, or went away.
        ValueError: The server answered with something that is no tool list.
    """
    from mcp import MCPError
    from mcp_types import METHOD_NOT_FOUND
    from pydantic import ValidationError

    tools: list[Any] = []
    seen: set[str] = set()
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        tap.take_page()
        try:
            await client.list_tools(cursor=cursor)
        except ValidationError as error:
            # Something around the tools is not as the protocol wants it; the tools themselves may do.
            if tap.page is None:
                raise ValueError("it answered tools/list with something that is no list of tools") from error
        except MCPError as error:
            if error.code == METHOD_NOT_FOUND and not tools:
                return [], "it offers no tools"
            raise
        page = tap.take_page() or {}
        tools.extend(page.get("tools", ()))
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str) or not cursor:
            return tools, None
        if cursor in seen:
            return tools, f"its list of tools came back to an earlier page; read {len(tools)} tools"
        seen.add(cursor)
    return tools, f"its list of tools has more than {MAX_PAGES} pages; read the first {len(tools)} tools"


def _stand_in(tool: Any) -> dict[str, Any] | None:
    name = tool.get("name") if isinstance(tool, dict) else None
    return {"name": name, "inputSchema": {"type": "object"}} if isinstance(name, str) else None


def _offending_line(error: Exception) -> str:
    """The line that the SDK could not read; its validation error carries it as input."""
    from pydantic import ValidationError

    if isinstance(error, ValidationError) and (details := error.errors(include_url=False)):
        return str(details[0].get("input", "")).strip()
    return str(error)
