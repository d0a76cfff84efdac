"""A synchronous front over the asynchronous MCP SDK: servers in; their tools, and answers to calls, out.

The servers of one `connect` live in one background thread with an event loop, a task for each: a server
that does not start, writes garbage, exits or hangs costs its own tools and nobody else's.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from semantic_toolsearch.errors import McpServerError, MissingExtraError
from semantic_toolsearch.mcp.content import CallResult
from semantic_toolsearch.mcp.server import McpServer

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

    from semantic_toolsearch.mcp.connection import Connection, Greeting

__all__ = ["ConnectedServers", "ServerReport", "connect", "read_tools", "require_sdk"]


@dataclass(frozen=True, slots=True)
class ServerReport:
    """How one server came up.

    Attributes:
        namespace: What its tools are called by, unique among the servers of one `connect`.
        server: The server as it was asked for.
        tools: Number of tools read; 0 where it failed.
        seconds: From the start of its process to its last tool.
        failure: One or more lines that say what happened, or None where it is up.
        note: Something worth knowing about a server that is up, such as a cut list; else None.
    """

    namespace: str
    server: McpServer
    tools: int
    seconds: float
    failure: str | None = None
    note: str | None = None


class ConnectedServers:
    """Running servers; made by `connect`, and of use inside its ``with`` block."""

    def __init__(
        self,
        portal: BlockingPortal,
        up: Mapping[str, tuple[Connection, Greeting]],
        reports: Iterable[ServerReport],
    ) -> None:
        self._portal = portal
        self._up = dict(up)
        self._reports = tuple(reports)

    @property
    def reports(self) -> tuple[ServerReport, ...]:
        """How each server came up, in the order they were given."""
        return self._reports

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Namespaces of the servers that are up, in the order they were given."""
        return tuple(self._up)

    def tools(self) -> list[Any]:
        """All tools of all servers that are up, as plain dictionaries for a catalog.

        Each is what the server wrote (``name``, ``description``, ``inputSchema``, ...) plus its
        ``namespace``. Entries that are no JSON object are passed on as they are, for the catalog's report.
        """
        return [
            {**tool, "namespace": namespace} if isinstance(tool, dict) else tool
            for namespace, (_, greeting) in self._up.items()
            for tool in greeting.tools
        ]

    def call(
        self,
        namespace: str,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
    ) -> CallResult:
        """Call one tool and wait for its answer.

        Args:
            namespace: Which server, as its tools name it.
            name: The tool's own (raw) name on that server.
            arguments: Arguments by parameter name.
            timeout: Seconds to wait; None means the server's own timeout.

        Raises:
            McpServerError: No such server is up, it went away, it took too long, or what it answered is no
                result. A call that the server refused, or a tool that failed, is no error here: the result
                has ``is_error`` set and says why.
        """
        if namespace not in self._up:
            up = ", ".join(self._up) or "none"
            raise McpServerError(f"No MCP server {namespace!r} is connected (connected: {up}).")
        connection, _ = self._up[namespace]
        result: CallResult = self._portal.call(connection.call, name, dict(arguments or {}), timeout)
        return result


@contextmanager
def connect(
    servers: Iterable[McpServer], *, on_report: Callable[[ServerReport], None] | None = None
) -> Iterator[ConnectedServers]:
    """Start several servers at once and keep them until the ``with`` block ends.

    Args:
        servers: The servers; they start in parallel.
        on_report: Called in the calling thread for each server, in the order given, once it is up or has
            failed.

    Yields:
        The servers that are up. Those that failed are in its ``reports``.

    Raises:
        MissingExtraError: The extra ``mcp`` is not installed.
    """
    require_sdk()
    from anyio.from_thread import start_blocking_portal

    from semantic_toolsearch.mcp.connection import Connection

    wanted = tuple(servers)
    with ExitStack() as stack:
        portal = stack.enter_context(start_blocking_portal())
        connections = [Connection(server) for server in wanted]
        ready: list[Future[Greeting]] = []
        for connection in connections:
            greeting: Future[Greeting] = Future()
            running = portal.start_task_soon(connection.run, greeting)
            # Runs before the portal is left: every server is told to stop, then all are waited for together.
            stack.callback(running.result)
            ready.append(greeting)
        stack.callback(lambda: [portal.call(connection.stop) for connection in connections])

        reports: list[ServerReport] = []
        up: dict[str, tuple[Connection, Greeting]] = {}
        taken = {server.name for server in wanted if server.name}
        for connection, future in zip(connections, ready, strict=True):
            report, hello = _outcome(connection, future, taken, {known.namespace for known in reports})
            if hello is not None:
                up[report.namespace] = (connection, hello)
            reports.append(report)
            if on_report is not None:
                on_report(report)
        yield ConnectedServers(portal, up, reports)


def read_tools(server: McpServer) -> list[Any]:
    """Start one server, read all its tools, and stop it.

    Returns:
        Its tools as plain dictionaries for a catalog, each with its ``namespace``.

    Raises:
        McpServerError: The server did not start, answer in time, or list its tools.
        MissingExtraError: The extra ``mcp`` is not installed.
    """
    with connect([server]) as servers:
        (report,) = servers.reports
        if report.failure is not None:
            raise McpServerError(report.failure)
        return servers.tools()


def _outcome(
    connection: Connection, future: Future[Greeting], taken: set[str], used: set[str]
) -> tuple[ServerReport, Greeting | None]:
    """Wait for one server; its namespace avoids those in use and those that others were given by name."""
    server = connection.server
    try:
        hello = future.result()
    except McpServerError as error:
        namespace = _unique(server.label, used if server.name else used | taken)
        return ServerReport(namespace, server, 0, connection.seconds, failure=str(error)), None
    name = server.name or hello.name or server.label
    namespace = _unique(name, used if server.name else used | taken)
    return ServerReport(namespace, server, len(hello.tools), connection.seconds, note=hello.note), hello


def _unique(name: str, used: set[str]) -> str:
    """The name, or the name with the first free number: two servers may call themselves the same."""
    number, candidate = 1, name
    while candidate in used:
        number += 1
        candidate = f"{name}-{number}"
    return candidate


def require_sdk() -> None:
    """Check that the SDK is there.

    Raises:
        MissingExtraError: The extra ``mcp`` is not installed.
    """
    if find_spec("mcp") is None or find_spec("mcp_types") is None:
        raise MissingExtraError("Speaking to MCP servers and clients", "mcp")
    # Servers that print to their standard output are common and are told in the report; without a handler
    # of its own the SDK's message about each such line would land on this program's standard error.
    logger = logging.getLogger("mcp.client.stdio")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
