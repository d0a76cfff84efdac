"""A search whose embeddings come over HTTP, while the endpoint does everything wrong that one can."""

from __future__ import annotations

import pytest
from rough_endpoint import RoughEndpoint, answer, rough_endpoint, says

from faulty_parts import QUERY, TOOLS, Clock, warnings_of
from semantic_toolsearch import OpenAICompatibleEmbedder, ToolSearch
from semantic_toolsearch.errors import EmbedderError
from semantic_toolsearch.guarded import GuardedEmbedder
from semantic_toolsearch.outages import RETRY_SECONDS

pytest.importorskip("openai")


@pytest.fixture
def endpoint():
    with rough_endpoint() as made:
        yield made


def embedder_of(endpoint, **settings):
    return OpenAICompatibleEmbedder(
        endpoint.url, "m", **{"dimension": 64, "timeout": 5.0, "max_retries": 0, **settings}
    )


def searching(endpoint, *, clock=None, limit=None, **settings):
    guard = GuardedEmbedder(embedder_of(endpoint, **settings), clock or Clock(), limit=limit)
    return ToolSearch(TOOLS, embedder=guard, cache=False)


def held(result, why):
    assert [hit.name for hit in result.tools] == ["flux_list"]
    assert why in result.degraded


HTML = b"<!DOCTYPE html><html><body>Please log in</body></html>"
BAD = {
    "resets in the middle": (RoughEndpoint.resets, "failed"),
    "breaks off before its stated length": (RoughEndpoint.promises_more, "failed"),
    "states half of its length": (RoughEndpoint.promises_less, "is no answer with embeddings"),
    "hangs up": (RoughEndpoint.hangs_up, "Connection"),
    "speaks no HTTP": (RoughEndpoint.speaks_no_http, "Connection"),
    "drips": (RoughEndpoint.drips, "not complete after 0.3 s"),
    "never ends": (RoughEndpoint.endless, "longer than"),
    "shows a page to log in at": (says(200, HTML), "DOCTYPE html"),
    "cuts its JSON": (says(200, b'{"data": [{"index": 0, "embed'), "is no answer with embeddings"),
    "nests without end": (says(200, b"[" * 200_000), "RecursionError"),
    "refuses the key": (says(401, b'{"error": {"message": "who are you"}}'), "who are you"),
    "has a broken gateway": (says(502, HTML), "502"),
    "asks to wait": (says(429, b'{"error": {"message": "slow down"}}', Retry_After="30"), "slow down"),
}


@pytest.mark.parametrize("side", ["document", "query"])
@pytest.mark.parametrize("fault", BAD)
def test_bc54_whatever_an_endpoint_does_words_answer_and_it_is_used_once_it_is_well(
    endpoint, fault, side, caplog
):
    conduct, why = BAD[fault]
    search = searching(endpoint, timeout=0.3 if fault == "drips" else 5.0)
    if side == "query":
        search.prepare()
    endpoint.conduct = conduct
    held(search.search(QUERY), why)
    held(
        search.search(QUERY), "words alone"
    )  # a client may find the rest of the first answer before the second
    assert len(warnings_of(caplog)) == 1
    endpoint.conduct = None
    assert search.search(QUERY).degraded is None
    assert search.stats().indexed == len(TOOLS)


@pytest.mark.parametrize("conduct", [RoughEndpoint.silent, RoughEndpoint.drips], ids=["silent", "drips"])
def test_bc54_a_search_does_not_wait_as_long_as_the_endpoints_own_patience(endpoint, conduct, monkeypatch):
    """Thirty seconds and two more attempts are the endpoint's; a search has its own, and the call goes on alone."""
    clock = Clock()
    search = searching(endpoint, clock=clock, limit=0.5, timeout=30.0, max_retries=2)
    endpoint.conduct = conduct
    for number in range(5):
        held(search.search(f"{QUERY} {number}"), "gave no answer within 0.5 s")
    assert len(endpoint.requests) <= 1
    endpoint.conduct = None
    monkeypatch.setattr("semantic_toolsearch.guarded.PROBE_SECONDS", 30.0)
    clock.now += RETRY_SECONDS
    search._snapshot.embedder._limit = 30.0
    assert search.search(QUERY).degraded is None


def test_bc54_a_service_that_says_when_to_come_back_holds_no_search_up(endpoint):
    """The client waits as long as it is told to, half a minute here; the search does not."""
    search = searching(endpoint, limit=0.5, max_retries=2)
    endpoint.conduct = says(429, b"{}", Retry_After="30")
    held(search.search(QUERY), "gave no answer within 0.5 s")
    assert len(endpoint.requests) <= 1


def test_a_hiccup_in_the_middle_of_an_answer_is_tried_again_by_itself(endpoint):
    broken = []

    def once(self, connection, body):
        if not broken:
            broken.append(body)
            return self.resets(connection, body)
        return self.well(connection, body)

    endpoint.conduct = once
    assert searching(endpoint, max_retries=1).search(QUERY).degraded is None
    assert len(broken) == 1
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_texts_are_sent_to_no_other_address_than_the_one_given(endpoint, status):
    with rough_endpoint() as other:
        endpoint.conduct = says(status, Location=f"{other.url}/embeddings")
        result = searching(endpoint, api_key="a-secret").search(QUERY)
        held(result, f"it redirects to '{other.url}/embeddings'")
        assert other.heads == []
    assert "a-secret" not in result.degraded


def test_an_answer_that_never_ends_is_not_kept_in_memory(endpoint):
    endpoint.conduct = RoughEndpoint.endless
    with pytest.raises(EmbedderError, match=r"longer than 2,000,000 bytes"):
        embedder_of(endpoint).encode_query(["x"])


@pytest.mark.parametrize(
    "data",
    [
        b'{"data": [{"index": 1, "embedding": [1.0]}]}',
        b'{"data": [{"index": "0", "embedding": [1.0]}]}',
        b'{"data": [{"index": true, "embedding": [1.0]}]}',
        b'{"data": [{"index": 0, "embedding": "AAAA AAAA"}]}',
        b'{"data": [{"index": 0, "embedding": {"values": [1.0]}}]}',
        b'{"data": {"index": 0, "embedding": [1.0]}}',
        b'{"data": [{"index": 0, "embedding": [1e999, 0.0]}]}',
        b'{"data": [{"index": 0, "embedding": [' + b"9" * 5000 + b"]}]}",
    ],
)
def test_bc54_answers_that_only_look_right_are_refused(endpoint, data):
    endpoint.conduct = says(200, data)
    with pytest.raises(EmbedderError):
        embedder_of(endpoint, dimension=1).encode_query(["x"])


def test_nothing_that_an_endpoint_says_is_taken_for_its_dimension_but_a_vector(endpoint):
    endpoint.conduct = says(200, b'{"data": [{"index": 0, "embedding": {"length": 64}}]}')
    with pytest.raises(EmbedderError, match="no vector"):
        _ = embedder_of(endpoint, dimension=None).dimension
    endpoint.conduct = None
    assert embedder_of(endpoint, dimension=None).dimension == 64


HUGE = {
    "names of parameters": {
        "parameters": {"type": "object", "properties": {f"見出し語{number}😀": {} for number in range(900)}}
    },
    "tags": {"tags": [f"😀{number}" * 20 for number in range(400)]},
    "description": {"description": "😀" * 50_000},
}


def strict(self, connection, body):
    """A service that refuses a request for one text with more tokens than its model reads."""
    if max(len(text.encode()) for text in body["input"]) > 8_192:
        connection.sendall(answer(b'{"error": {"message": "maximum context length"}}', 400))
    else:
        self.well(connection, body)


@pytest.mark.parametrize("part", HUGE)
def test_one_servers_endless_text_costs_no_other_tool_its_meaning(endpoint, part):
    endpoint.conduct = strict
    search = ToolSearch(
        [*TOOLS, {"name": "endless", **HUGE[part]}], embedder=embedder_of(endpoint), cache=False
    )
    assert search.search(QUERY).degraded is None


def test_one_users_endless_query_costs_no_other_query_its_meaning(endpoint):
    endpoint.conduct = strict
    search = searching(endpoint)
    for number in range(4):
        assert search.search(f"{QUERY} {number} " + "😀" * 50_000).degraded is None


def test_a_password_in_the_address_is_in_no_message(endpoint):
    endpoint.conduct = says(500, b"oops")
    embedder = OpenAICompatibleEmbedder(
        endpoint.url.replace("//", "//user:a-secret@"), "m", dimension=64, max_retries=0
    )
    result = ToolSearch(TOOLS, embedder=embedder, cache=False).search(QUERY)
    held(result, endpoint.url)
    assert "a-secret" not in result.degraded
