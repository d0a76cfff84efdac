"""The OpenAI-compatible embedder, with the real SDK, against a real server that answers well and badly."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pytest

from semantic_toolsearch.embedding import OpenAICompatibleEmbedder
from semantic_toolsearch.errors import ConfigError, EmbedderError, MissingExtraError
from semantic_toolsearch.testing import HashingEmbedder

TEXTS = ["Send an email", "What is the weather?", "undo the last commit", "Turn off the lights"]


def _embedder(endpoint: Any, **settings: Any) -> OpenAICompatibleEmbedder:
    return OpenAICompatibleEmbedder(
        endpoint.url, "some-model", **({"dimension": 64, "max_retries": 0} | settings)
    )


def _expected(texts: list[str]) -> Any:
    return HashingEmbedder(64).encode_document(texts)


@pytest.mark.parametrize("packed", [True, False], ids=["base64", "numbers"])
def test_vectors_are_the_servers_scaled_to_unit_length(endpoint: Any, packed: bool) -> None:
    endpoint.base64 = packed
    assert np.allclose(_embedder(endpoint).encode_document(TEXTS), _expected(TEXTS), atol=1e-6)
    assert endpoint.requests[0]["model"] == "some-model"
    assert endpoint.requests[0]["path"] == "/v1/embeddings"


def test_entries_are_ordered_by_their_index(endpoint: Any) -> None:
    endpoint.always = lambda request, entries: entries.reverse()
    assert np.allclose(_embedder(endpoint).encode_query(TEXTS), _expected(TEXTS), atol=1e-6)


def test_a_server_that_sends_no_index_is_taken_in_order(endpoint: Any) -> None:
    endpoint.always = lambda request, entries: [entry.pop("index") for entry in entries] and None
    assert np.allclose(_embedder(endpoint).encode_query(TEXTS), _expected(TEXTS), atol=1e-6)


def test_requests_are_bounded_in_texts_and_characters(endpoint: Any) -> None:
    texts = [f"text {number} " + "x" * 40_000 for number in range(23)]
    found = _embedder(endpoint, batch_size=10, max_characters=30_000).encode_document(texts)
    assert np.allclose(found, _expected([text[:30_000] for text in texts]), atol=1e-6)
    assert sum(len(request["input"]) for request in endpoint.requests) == 23
    for request in endpoint.requests:
        assert len(request["input"]) <= 10
        assert sum(map(len, request["input"])) <= 200_000


def test_no_texts_cost_no_request(endpoint: Any) -> None:
    assert _embedder(endpoint).encode_document([]).shape == (0, 64)
    assert endpoint.requests == []


def test_empty_texts_are_sent_as_a_space(endpoint: Any) -> None:
    _embedder(endpoint).encode_document(["", "a"])
    assert endpoint.requests[0]["input"] == [" ", "a"]


def test_prefixes_are_put_before_the_texts_and_into_the_id(endpoint: Any) -> None:
    embedder = _embedder(endpoint, query_prefix="query: ", document_prefix="passage: ")
    embedder.encode_query(["a"])
    embedder.encode_document(["b"])
    assert [request["input"] for request in endpoint.requests] == [["query: a"], ["passage: b"]]
    assert embedder.id != _embedder(endpoint).id


def test_an_unknown_dimension_is_asked_for_once(endpoint: Any) -> None:
    embedder = _embedder(endpoint, dimension=None)
    assert (embedder.dimension, embedder.dimension) == (64, 64)
    assert len(endpoint.requests) == 1


def test_a_dimension_is_requested_only_when_told_to(endpoint: Any) -> None:
    _embedder(endpoint).encode_query(["a"])
    _embedder(endpoint, request_dimension=True).encode_query(["a"])
    assert [request.get("dimensions") for request in endpoint.requests] == [None, 64]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_passing_failures_are_retried(endpoint: Any, status: int) -> None:
    endpoint.faults = [lambda request, entries: (status, b'{"error": {"message": "later"}}')] * 2
    found = _embedder(endpoint, max_retries=2).encode_query(TEXTS)
    assert np.allclose(found, _expected(TEXTS), atol=1e-6)
    assert len(endpoint.requests) == 3


def _edit(**fields: Any) -> Any:
    def fault(request: Any, entries: Any) -> None:
        entries[1].update(fields)

    return fault


def _body(status: int, body: bytes) -> Any:
    return lambda request, entries: (status, body)


def _drop(request: Any, entries: Any) -> None:
    del entries[-1]


def _double(request: Any, entries: Any) -> None:
    entries.append(dict(entries[0]))


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (_body(429, b'{"error": {"message": "slow down"}}'), "slow down"),
        (_body(500, b"oops"), "500"),
        (_body(401, b'{"error": {"message": "who are you"}}'), "who are you"),
        (_body(404, b""), "404"),
        (_body(200, b""), "failed"),
        (_body(200, b"<html>hello</html>"), "failed"),
        (_body(200, b"{"), "failed"),
        (_body(200, b"[]"), "failed"),
        (_body(200, b"null"), "failed"),
        (_body(200, b'{"data": null}'), "failed"),
        (_body(200, b'{"data": []}'), "failed"),
        (_body(200, b'{"data": [1, 2, 3, 4]}'), "failed"),
        (_body(200, b'{"data": [{}, {}, {}, {}]}'), "failed|no matrix of numbers"),
        (_drop, "3 vectors for 4 texts"),
        (_double, "5 vectors for 4 texts"),
        (_edit(index=0), "indices"),
        (_edit(index=9), "indices"),
        (_edit(embedding=[0.5] * 63), "no matrix of numbers"),
        (_edit(embedding=[]), "no matrix of numbers"),
        (_edit(embedding=None), "failed|no matrix of numbers"),
        (_edit(embedding=[float("nan")] * 64), "NaN"),
        (_edit(embedding=[float("inf")] + [0.0] * 63), "infinite"),
        (_edit(embedding=[0.0] * 64), "zero vector"),
        (_edit(embedding=["a"] * 64), "failed|no matrix of numbers"),
        (_edit(embedding="not base64!"), "failed"),
        (_edit(embedding="AAAA"), "failed|no matrix of numbers"),
    ],
)
def test_bc54_bad_answers_are_embedder_errors(endpoint: Any, fault: Any, message: str) -> None:
    endpoint.always = fault
    with pytest.raises(EmbedderError, match=message):
        _embedder(endpoint).encode_document(TEXTS)


def test_bc54_vectors_of_another_dimension_are_refused(endpoint: Any) -> None:
    with pytest.raises(EmbedderError, match="dimension 64; it states 128"):
        _embedder(endpoint, dimension=128).encode_document(TEXTS)


def test_bc54_a_server_that_does_not_answer_is_given_up(endpoint: Any) -> None:
    endpoint.always = lambda request, entries: endpoint.release.wait(20) and None
    with pytest.raises(EmbedderError, match="APITimeoutError"):
        _embedder(endpoint, timeout=0.2).encode_query(["a"])


def test_bc54_a_server_that_is_not_there_is_an_embedder_error(endpoint: Any) -> None:
    embedder = OpenAICompatibleEmbedder("http://127.0.0.1:9/v1", "m", dimension=4, max_retries=0)
    with pytest.raises(
        EmbedderError, match=r"http://127\.0\.0\.1:9/v1 .model 'm'. failed: APIConnectionError"
    ):
        embedder.encode_query(["a"])


def test_a_failure_is_not_remembered(endpoint: Any) -> None:
    embedder = _embedder(endpoint, dimension=None)
    endpoint.faults = [_body(500, b"oops")]
    with pytest.raises(EmbedderError):
        embedder.encode_query(["a"])
    assert embedder.encode_query(["a"]).shape == (1, 64)


def test_secrets_of_the_environment_go_to_openai_only(endpoint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "a-secret")
    _embedder(endpoint).encode_query(["a"])
    assert "a-secret" not in json.dumps(endpoint.headers)


def test_a_given_key_is_sent_and_is_in_no_message(endpoint: Any) -> None:
    embedder = _embedder(endpoint, api_key="my-key")
    embedder.encode_query(["a"])
    assert endpoint.headers[0]["authorization"] == "Bearer my-key"
    endpoint.always = _body(500, b"oops")
    with pytest.raises(EmbedderError) as caught:
        embedder.encode_query(["a"])
    assert "my-key" not in str(caught.value) + embedder.id


def test_openai_without_a_key_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(EmbedderError, match="OPENAI_API_KEY"):
        OpenAICompatibleEmbedder(None, "text-embedding-3-small").encode_query(["a"])


def test_without_the_extra_the_command_is_named(endpoint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtraError, match=r"semantic-toolsearch\[openai\]"):
        _embedder(endpoint).encode_query(["a"])


@pytest.mark.parametrize(
    "settings",
    [
        {"dimension": 0},
        {"batch_size": 0},
        {"max_characters": 0},
        {"timeout": 0},
        {"max_retries": -1},
        {"request_dimension": True, "dimension": None},
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(settings))):
        OpenAICompatibleEmbedder("http://127.0.0.1:9/v1", "m", **settings)


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host/v1", "http://", "file:///etc/passwd"])
def test_addresses_that_are_none_are_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="no http"):
        OpenAICompatibleEmbedder(url, "m")


def test_id_tells_models_and_hosts_apart_and_hides_credentials() -> None:
    ids = {
        OpenAICompatibleEmbedder(url, model).id
        for url in ("http://127.0.0.1:9/v1", "http://127.0.0.1:9/v2", "http://user:pw@127.0.0.1:8/v1")
        for model in ("a", "b")
    }
    assert len(ids) == 6
    assert not any("pw" in identity for identity in ids)
