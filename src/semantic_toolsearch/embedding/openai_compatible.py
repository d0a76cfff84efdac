"""The address of an OpenAI-compatible endpoint and texts come in; unit vectors computed there go out."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from semantic_toolsearch.embedding.checks import checked
from semantic_toolsearch.embedding.endpoint_answer import read_answer, vectors_of
from semantic_toolsearch.embedding.protocol import Matrix
from semantic_toolsearch.embedding.texts import as_texts
from semantic_toolsearch.errors import ConfigError, EmbedderError, MissingExtraError, described

OPENAI = "https://api.openai.com/v1"

BATCH_CHARACTERS = 200_000
"""Characters of one request. OpenAI allows 300,000 tokens a request, and no script has more tokens than
that."""


class OpenAICompatibleEmbedder:
    """Embeds through ``POST {base_url}/embeddings``: OpenAI, vLLM, Ollama, llama.cpp, LM Studio and others.

    Needs the extra ``openai``. Texts leave this machine for ``base_url``, and a redirect is not followed. An answer
    may neither be endless nor arrive for ever. Instances may be shared by threads.

    Args:
        base_url: Address up to and including the version, for instance "http://localhost:11434/v1"; None is
            OpenAI.
        model: Name of the model there.
        api_key: Secret sent as a bearer token. None reads ``OPENAI_API_KEY``, but only when ``base_url`` is
            OpenAI: a key from the environment is never sent to another host.
        dimension: Length of the vectors. None asks the endpoint with one short text at first use.
        request_dimension: Ask the endpoint to shorten its vectors to ``dimension`` (few models can).
        query_prefix: Put before every query, for models trained with one ("query: ").
        document_prefix: Likewise for documents ("passage: ").
        batch_size: Texts of one request.
        max_characters: Characters kept of each text; endpoints refuse a whole request for one text too long.
        timeout: Seconds until one attempt is given up: without any sign of an answer, and again for its arrival.
        max_retries: Further attempts after a refusal (429), a server error or a timeout.

    Attributes:
        id: Model, host, prefixes and requested dimension.

    Raises:
        MissingExtraError: At first use, when the ``openai`` package is not installed.
        EmbedderError: The endpoint failed, or its answer is not one unit-length-able vector for each text.
        ConfigError: A number is out of range, or the address is not http(s).
    """

    def __init__(
        self,
        base_url: str | None,
        model: str,
        api_key: str | None = None,
        *,
        dimension: int | None = None,
        request_dimension: bool = False,
        query_prefix: str = "",
        document_prefix: str = "",
        batch_size: int = 64,
        max_characters: int = 24_000,
        timeout: float = 30.0,
        max_retries: int = 2,
    ) -> None:
        _positive(dimension=dimension, batch_size=batch_size, max_characters=max_characters, timeout=timeout)
        if max_retries < 0:
            raise ConfigError(
                f"OpenAICompatibleEmbedder: max_retries must not be negative, not {max_retries!r}"
            )
        if request_dimension and dimension is None:
            raise ConfigError("OpenAICompatibleEmbedder: request_dimension needs a dimension to ask for")
        self.base_url = (base_url or OPENAI).rstrip("/")
        address = urlsplit(self.base_url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ConfigError(
                f"OpenAICompatibleEmbedder: base_url {self.base_url!r} is no http(s) address; "
                f"an example is 'http://localhost:11434/v1'"
            )
        self.model = model
        self._api_key = api_key
        self._dimension = dimension
        self._request_dimension = request_dimension
        self._prefixes = {"query": query_prefix, "document": document_prefix}
        self._batch_size = batch_size
        self._max_characters = max_characters
        self._timeout = timeout
        self._max_retries = max_retries
        self._lock = threading.RLock()
        self._client: Any = None
        place = address.netloc.rpartition("@")[2] + address.path  # a password is for no id and no message
        self._shown = f"{address.scheme}://{place}"
        prefixes = f"|{query_prefix}|{document_prefix}" if query_prefix or document_prefix else ""
        self.id = f"{model}@{place}{prefixes}" + (f"|{dimension}" if request_dimension else "")

    @property
    def dimension(self) -> int:
        """Columns of every matrix; asks the endpoint once unless it was given."""
        with self._lock:
            if self._dimension is None:
                rows = self._request(["dimension"])
                if not isinstance(rows[0], (list, np.ndarray)) or not len(rows[0]):
                    raise self._error("the answer holds no vector")
                self._dimension = len(rows[0])
            return self._dimension

    def encode_document(self, texts: Sequence[str]) -> Matrix:
        """Embed texts that are searched; see `Embedder.encode_document`."""
        return self._encode(texts, self._prefixes["document"])

    def encode_query(self, texts: Sequence[str]) -> Matrix:
        """Embed texts that search; see `Embedder.encode_query`."""
        return self._encode(texts, self._prefixes["query"])

    def _encode(self, texts: Sequence[str], prefix: str) -> Matrix:
        # Endpoints refuse an empty text; a space is its nearest neighbour that they accept.
        clean = [text or " " for text in as_texts(texts, prefix=prefix, limit=self._max_characters)]
        parts = []
        for batch in self._batches(clean):
            rows = self._request(batch)
            parts.append(checked(rows, len(batch), self.dimension, self.id))
        return np.concatenate(parts) if parts else np.empty((0, self.dimension), dtype=np.float32)

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        characters = 0
        for text in texts:
            if batch and (len(batch) == self._batch_size or characters + len(text) > BATCH_CHARACTERS):
                yield batch
                batch, characters = [], 0
            batch.append(text)
            characters += len(text)
        if batch:
            yield batch

    def _request(self, texts: list[str]) -> list[Any]:
        """Send one request; returns the vectors as the endpoint wrote them, in the order of ``texts``."""
        client = self._open()
        options = {"dimensions": self._dimension} if self._request_dimension else {}
        for attempts_left in range(self._max_retries, -1, -1):
            arriving = False
            try:
                with client.embeddings.with_streaming_response.create(
                    model=self.model, input=texts, encoding_format="base64", **options
                ) as response:
                    arriving = True
                    answer = read_answer(response.iter_bytes(), len(texts), self._timeout)
                    arriving = False
                return vectors_of(answer, len(texts))
            except Exception as error:  # of the SDK, and where the connection breaks of libraries below it
                # Up to the answer the SDK tries again by itself.
                if not (arriving and attempts_left) or isinstance(error, (ValueError, TimeoutError)):
                    raise self._error(_reason(error)) from error
        raise AssertionError("the last attempt returns or raises")

    def _open(self) -> Any:
        with self._lock:
            if self._client is None:
                try:
                    from openai import DefaultHttpxClient, OpenAI, OpenAIError
                except ImportError as error:
                    raise MissingExtraError("OpenAICompatibleEmbedder", "openai") from error
                foreign = self.base_url != OPENAI
                key = self._api_key or ("unused" if foreign else None)
                try:
                    client = OpenAI(
                        base_url=self.base_url,
                        api_key=key,
                        timeout=self._timeout,
                        max_retries=self._max_retries,
                        # The texts are meant for this address, and for no other that it may name.
                        http_client=DefaultHttpxClient(follow_redirects=False),
                    )
                except OpenAIError as error:  # no key, neither given nor in the environment
                    raise self._error(str(error)) from error
                if foreign:
                    client.organization = client.project = None  # read from the environment, meant for OpenAI
                weakref.finalize(self, client.close)
                self._client = client
            return self._client

    def _error(self, reason: str) -> EmbedderError:
        return EmbedderError(f"embedding endpoint {self._shown} (model {self.model!r}) failed: {reason}")


def _reason(error: Exception) -> str:
    """What made a request fail, with what the SDK keeps for itself."""
    response: Any = getattr(error, "response", None)
    place = None if response is None else response.headers.get("location")
    if place is not None:
        return f"it redirects to {place[:200]!r}; give that address as base_url if it is the right one"
    if isinstance(error, (ValueError, TimeoutError)):
        return str(error)[:300]
    cause = "" if error.__cause__ is None else f" ({described(error.__cause__)[:200]})"
    return described(error)[:300] + cause


def _positive(**values: float | None) -> None:
    for name, value in values.items():
        if value is not None and not value > 0:
            raise ConfigError(f"OpenAICompatibleEmbedder: {name} must be above 0, not {value!r}")
