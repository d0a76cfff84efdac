"""A hub of datasets on loopback: the endpoints that `huggingface_hub` asks for to list and to fetch files."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_LIST = re.compile(r"/api/datasets/([^/]+/[^/]+)(?:/revision/([^/]+))?")
_FILE = re.compile(r"/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)")


class LocalHub:
    """Serves repositories; each has one commit, which branch `main` and tag `v1` name.

    Args:
        repositories: Files and their content by path, by repository.
    """

    def __init__(self, repositories: dict[str, dict[str, bytes]]) -> None:
        self.repositories = repositories
        self.asked: list[str] = []
        self.status = 200
        self.url = ""

    def commit(self, repository: str) -> str:
        """The commit of a repository, 40 hex digits."""
        parts = (repository.encode(), *(each for item in sorted(self.repositories[repository].items())
                                        for each in (item[0].encode(), item[1])))  # fmt: skip
        return hashlib.sha1(b"\0".join(parts), usedforsecurity=False).hexdigest()

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of a GET."""
        if self.status != 200:
            return self.status, {}, b'{"error": "out of order"}'
        if match := _LIST.fullmatch(path):
            return self._listed(match[1], match[2])
        if match := _FILE.fullmatch(path):
            return self._file(match[1], match[2], match[3])
        return 404, {}, b""

    def _known(self, repository: str, revision: str | None) -> tuple[int, dict[str, str], bytes] | None:
        if repository not in self.repositories:
            return 401, {"X-Error-Code": "RepoNotFound"}, b'{"error": "Repository not found"}'
        if revision not in (None, "main", "v1", self.commit(repository)):
            return 404, {"X-Error-Code": "RevisionNotFound"}, b'{"error": "Invalid rev id"}'
        return None

    def _listed(self, repository: str, revision: str | None) -> tuple[int, dict[str, str], bytes]:
        if (refusal := self._known(repository, revision)) is not None:
            return refusal
        listed = {
            "_id": "1",
            "id": repository,
            "sha": self.commit(repository),
            "private": False,
            "tags": [],
            "siblings": [{"rfilename": name} for name in self.repositories[repository]],
        }
        return 200, {"Content-Type": "application/json"}, json.dumps(listed).encode()

    def _file(self, repository: str, revision: str, name: str) -> tuple[int, dict[str, str], bytes]:
        if (refusal := self._known(repository, revision)) is not None:
            return refusal
        content = self.repositories[repository].get(name)
        if content is None:
            return 404, {"X-Error-Code": "EntryNotFound"}, b""
        headers = {
            "ETag": f'"{hashlib.sha256(content).hexdigest()}"',
            "X-Repo-Commit": self.commit(repository),
        }
        return 200, headers, content


@contextmanager
def serving(hub: LocalHub) -> Iterator[LocalHub]:
    """Serve a hub until the block ends; its address is `hub.url`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self._send(body=True)

        def do_HEAD(self):
            self._send(body=False)

        def _send(self, *, body):
            hub.asked.append(f"{self.command} {self.path}")
            status, headers, content = hub.answer(self.path.partition("?")[0])
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if body:
                self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
