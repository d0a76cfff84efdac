"""An embeddings endpoint on a bare socket, so that it can break off, drip and lie as no HTTP library would."""

from __future__ import annotations

import json
import socket
import struct
import threading
from contextlib import contextmanager

from semantic_toolsearch.testing import HashingEmbedder


class RoughEndpoint:
    """Answers each request with what ``conduct(connection, body)`` writes; None is a right answer.

    Attributes:
        url: Its address, up to the version.
        requests: The bodies received.
        released: Set when the test ends, so that whatever waits on purpose stops.
    """

    def __init__(self, listening):
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        self.requests = []
        self.heads = []
        self.released = threading.Event()
        self.conduct = None
        self._embedder = HashingEmbedder(64)
        self._listening = listening

    def serve(self):
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection):
        with connection:
            try:
                while (request := _request(connection)) is not None:
                    head, body = request
                    self.heads.append(head)
                    self.requests.append(body)
                    conduct = self.conduct or RoughEndpoint.well
                    if conduct(self, connection, body) is False:
                        return
            except OSError:  # the client has given up
                return

    def right(self, body):
        """The body of a right answer."""
        vectors = self._embedder.encode_document(body["input"])
        entries = [{"index": place, "embedding": vector.tolist()} for place, vector in enumerate(vectors)]
        return json.dumps({"data": entries}).encode()

    def well(self, connection, body):
        connection.sendall(answer(self.right(body)))

    def silent(self, connection, body):
        self.released.wait(60)
        return False

    def drips(self, connection, body):
        connection.sendall(head(200, length=10_000_000))
        while not self.released.wait(0.02):
            connection.sendall(b" ")
        return False

    def resets(self, connection, body):
        data = self.right(body)
        connection.sendall(head(200, length=len(data)) + data[: len(data) // 2])
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False

    def promises_more(self, connection, body):
        data = self.right(body)
        connection.sendall(head(200, length=len(data) + 100) + data)
        return False

    def promises_less(self, connection, body):
        data = self.right(body)
        connection.sendall(head(200, length=len(data) // 2, Connection="close") + data)
        return False

    def endless(self, connection, body):
        connection.sendall(head(200) + b'{"data": [')
        while not self.released.is_set():
            connection.sendall(b" " * 1_000_000)
        return False

    def speaks_no_http(self, connection, body):
        connection.sendall(b"220 mail.example.org ESMTP\r\n")
        return False

    def hangs_up(self, connection, body):
        return False


def says(status, data=b"", **headers):
    """A conduct that sends this answer."""

    def conduct(endpoint, connection, body):
        connection.sendall(answer(data, status, **headers))

    return conduct


def head(status, *, length=None, **headers):
    lines = [f"HTTP/1.1 {status} X", "Content-Type: application/json"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    lines += ["Connection: close"] if length is None else [f"Content-Length: {length}"]
    return "\r\n".join([*lines, "", ""]).encode()


def answer(data, status=200, **headers):
    return head(status, length=len(data), **headers) + data


def _request(connection):
    """One request as head and JSON body; None at the end."""
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(65_536)
        if not chunk:
            return None
        data += chunk
    first, _, body = data.partition(b"\r\n\r\n")
    lengths = [
        line.split(b":")[1] for line in first.lower().split(b"\r\n") if line.startswith(b"content-length")
    ]
    while len(body) < int(lengths[0]):
        body += connection.recv(65_536)
    return first.decode(), json.loads(body)


@contextmanager
def rough_endpoint():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        endpoint = RoughEndpoint(listening)
        thread = threading.Thread(target=endpoint.serve, daemon=True)
        thread.start()
        try:
            yield endpoint
        finally:
            endpoint.released.set()
            listening.shutdown(socket.SHUT_RDWR)
            thread.join(30)
