"""HTTP requests of this machine in; JSON answers and event streams out."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["Answer", "HttpServer"]


@dataclass(slots=True)
class Answer:
    """What to send: a JSON body, or a stream of events.

    Attributes:
        status: HTTP status.
        body: JSON body, where there is no stream.
        events: Events of a stream, or None.
        named: Whether each event has a line with its type.
        done: Whether the stream ends with ``[DONE]``.
        headers: Further headers.
    """

    status: int
    body: Mapping[str, Any] = field(default_factory=dict)
    events: Iterator[dict[str, Any]] | None = None
    named: bool = True
    done: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)


Respond = Callable[[str, str, Mapping[str, str], bytes], Answer]
"""Method, path, lower-case headers and body in; an answer out."""


class HttpServer:
    """An HTTP/1.1 server on 127.0.0.1 and a free port, with a thread for each connection."""

    def __init__(self, respond: Respond) -> None:
        self._server = _Server(respond)
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop, close all connections, and wait for their threads."""
        self._server.shutdown()
        self._thread.join()
        self._server.close_connections()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # so that server_close waits for them
    request_queue_size = 128

    def __init__(self, respond: Respond) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.respond = respond
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no failure of the server; answers are prepared without errors."""

    def close_connections(self) -> None:
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def do_GET(self) -> None:
        self._answer(b"")

    def do_DELETE(self) -> None:
        self._answer(b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        """Keep quiet."""

    def _answer(self, body: bytes) -> None:
        headers = {key.lower(): value for key, value in self.headers.items()}
        answer = self.server.respond(self.command, self.path, headers, body)
        self.send_response(answer.status)
        for key, value in answer.headers.items():
            self.send_header(key, value)
        if answer.events is None:
            data = json.dumps(answer.body).encode()
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            return
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in answer.events:
            name = f"event: {event['type']}\n" if answer.named else ""
            self._chunk(f"{name}data: {json.dumps(event)}\n\n")
        if answer.done:
            self._chunk("data: [DONE]\n\n")
        self._chunk("")

    def _chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
