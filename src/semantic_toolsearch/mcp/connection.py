"""How a server is started in; its tools, and answers to calls, out, until it is stopped: one server's whole life.

Runs inside the event loop of `semantic_toolsearch.mcp.client`. Whatever goes wrong with the server comes out
as an McpServerError that names its command and ends with the last lines of its standard error.
"""

from __future__ import annotations

import math
import re
import tempfile
import time
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import mcp_types
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from pydantic import ValidationError

from semantic_toolsearch._version import __version__
from semantic_toolsearch.errors import McpServerError
from semantic_toolsearch.mcp.content import CallResult, read_result
from semantic_toolsearch.mcp.listing import MessageTap, list_all_tools
from semantic_toolsearch.mcp.server import McpServer

__all__ = ["Connection", "Greeting"]

_TAIL_LINES = 6
_TAIL_BYTES = 4096
_LINE_LENGTH = 160

_ESCAPES = re.compile(
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|[^\x20-\x7e\xa0-\U0010ffff]"
)
"""Terminal control sequences and control characters: a server's text must not drive the user's terminal."""


@dataclass(frozen=True, slots=True)
class Greeting:
    """What a server says once it is up: its own name (may be empty), its tools, and a note on the list."""

    name: str
    tools: list[Any]
    note: str | None


class Connection:
    """One server; `run` is its life, the other methods are for other tasks of the same event loop.

    Attributes:
        server: The server as it was asked for.
        seconds: Time from its start until it was up or had failed.
    """

    def __init__(self, server: McpServer) -> None:
        self.server = server
        self.seconds = 0.0
        self._client: Client | None = None
        self._tap: MessageTap | None = None
        self._errors: Path | None = None
        self._starting: anyio.CancelScope | None = None
        self._stop = anyio.Event()

    async def run(self, greeting: Future[Greeting]) -> None:
        """Start the server, tell ``greeting`` what it says or an McpServerError, keep it until `stop`."""
        started = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="toolsearch-mcp-", ignore_cleanup_errors=True) as folder:
            self._errors = Path(folder) / "stderr"
            try:
                with anyio.CancelScope(deadline=anyio.current_time() + self.server.timeout) as self._starting:
                    async with Client(self._transport(), client_info=_ourselves(), cache=None) as client:
                        hello = await self._greet(client)
                        self._starting.deadline = math.inf
                        self._client, self.seconds = client, time.perf_counter() - started
                        greeting.set_result(hello)
                        await self._stop.wait()
                problem = f"did not start and list its tools within {self.server.timeout:g} s"
            except Exception as error:  # whatever a foreign program causes costs that server only
                problem = _reason(error, self.server)
            finally:
                self._client = None
            if not greeting.done():
                self.seconds = time.perf_counter() - started
                greeting.set_exception(self._failure(problem))

    async def stop(self) -> None:
        """Let `run` end: the server's standard input is closed, and what does not exit soon is killed."""
        self._stop.set()
        if self._client is None and self._starting is not None:
            self._starting.cancel()

    async def call(self, name: str, arguments: dict[str, Any], timeout: float | None) -> CallResult:
        """Call one tool; see `ConnectedServers.call`."""
        if self._client is None:
            raise McpServerError(f"The MCP server {self.server.label!r} was stopped: cannot call {name!r}.")
        seconds = self.server.timeout if timeout is None else timeout
        try:
            with anyio.fail_after(seconds):
                return read_result(await self._client.call_tool(name, arguments))
        except TimeoutError:
            raise self._failure(f"did not answer the call of {name!r} within {seconds:g} s") from None
        except MCPError as error:
            if _went_away(error):
                raise self._failure(f"went away, so {name!r} cannot be called") from error
            return CallResult(error.message, is_error=True)
        except Exception as error:  # as above: a foreign program's doing
            raise self._failure(f"{_reason(error, self.server)} (call of {name!r})") from error

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        """The server's process with its two streams, incoming messages running through the tap."""
        server = self.server
        program, *arguments = server.argv
        parameters = StdioServerParameters(
            command=program,
            args=arguments,
            env=dict(server.env) if server.env is not None else None,
            cwd=server.cwd,
            encoding_error_handler="replace",
        )
        assert self._errors is not None  # noqa: S101  set by run() before the transport is opened
        with self._errors.open("w", encoding="utf-8") as errors:
            async with stdio_client(parameters, errlog=errors) as (incoming, outgoing):
                self._tap = MessageTap(incoming)
                yield self._tap, outgoing

    async def _greet(self, client: Client) -> Greeting:
        assert self._tap is not None  # noqa: S101  an open client has gone through the transport
        tools, note = await list_all_tools(client, self._tap)
        info = client.server_info
        return Greeting(info.name.strip() if info else "", tools, note)

    def _failure(self, problem: str) -> McpServerError:
        lines = [f"The MCP server {self.server.label!r} ({self.server.command_line}) {problem}."]
        if self._tap is not None and self._tap.garbage:
            lines.append(
                f"  Its standard output held what is no protocol message: {_clean(self._tap.garbage)}"
            )
        lines += [f"  stderr: {line}" for line in self._last_words()]
        return McpServerError("\n".join(lines))

    def _last_words(self) -> list[str]:
        """The last lines of the server's standard error, fit to be shown."""
        try:
            with (self._errors or Path()).open("rb") as file:
                file.seek(0, 2)
                file.seek(max(0, file.tell() - _TAIL_BYTES))
                text = file.read().decode("utf-8", "replace")
        except OSError:
            return []
        return [line for raw in text.splitlines() if (line := _clean(raw))][-_TAIL_LINES:]


def _ourselves() -> mcp_types.Implementation:
    return mcp_types.Implementation(name="semantic-toolsearch", version=__version__)


def _reason(error: BaseException, server: McpServer) -> str:
    """What happened, as the end of a sentence that begins with the server."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    match error:
        case MCPError() if _went_away(error):
            return "exited, or closed its output, before it answered"
        case MCPError():
            return f"answered with the error {error.code}: {_clean(error.message)}"
        case ValidationError():
            return "answered with something that the protocol does not allow"
        case OSError() if server.cwd is not None and not Path(server.cwd).is_dir():
            return f"cannot be started: its working directory {str(server.cwd)!r} is no folder"
        case FileNotFoundError():
            return f"cannot be started: there is no program {server.argv[0]!r} on the PATH"
        case OSError():
            return f"cannot be started: {error.strerror or error}"
        case ValueError():
            return f"cannot be used: {_clean(str(error))}"
        case _:
            return f"failed with {type(error).__name__}: {_clean(str(error))}"


def _went_away(error: MCPError) -> bool:
    # Servers use the same code, -32000, for errors of their own; the text is the SDK's.
    return error.code == mcp_types.CONNECTION_CLOSED and error.message == "Connection closed"


def _clean(text: str) -> str:
    text = _ESCAPES.sub(" ", text).rstrip()
    return text if len(text) <= _LINE_LENGTH else text[: _LINE_LENGTH - 1] + "…"
