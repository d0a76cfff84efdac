"""Parts that fail as they are told to, and every place of the library where a failing part can strike."""

from __future__ import annotations

import json
import logging

from semantic_toolsearch import SearchConfig, ToolSearch
from semantic_toolsearch.dense import DenseSearcher, KnownVectors
from semantic_toolsearch.documents import dense_text
from semantic_toolsearch.rankers.bm25 import Bm25Ranker
from semantic_toolsearch.rankers.hybrid import HybridRanker
from semantic_toolsearch.testing import HashingEmbedder

TOOLS = [
    {"name": "flux_list", "description": "List deployments"},
    {"name": "lamp_set", "description": "Set a lamp"},
    {"name": "ferry_book", "description": "Reserve a seat on a boat", "namespace": "sea"},
]
QUERY = "list deployments"


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


class Moody(HashingEmbedder):
    """Fails while it is told to, from one call on, and counts how often it was asked."""

    def __init__(self, *, failing=True, after=0):
        super().__init__()
        self.failing = failing
        self.asked = 0
        self.after = after

    def _encode(self, texts):
        self.asked += 1
        if self.failing and self.asked > self.after:
            raise ConnectionError("the endpoint is away")
        return super()._encode(texts)


class Broken(HashingEmbedder):
    """Gives ``fault(matrix)`` for documents or for queries, while it is told to; counts the calls of that side."""

    def __init__(self, fault, side="query", *, failing=True):
        super().__init__(64)
        self.fault, self.side, self.failing = fault, side, failing
        self.asked = 0

    def _given(self, side, matrix):
        if side != self.side:
            return matrix
        self.asked += 1
        return self.fault(matrix) if self.failing else matrix

    def encode_document(self, texts):
        return self._given("document", super().encode_document(texts))

    def encode_query(self, texts):
        return self._given("query", super().encode_query(texts))


def raising(fault):
    """A fault that raises this exception."""

    def fails(matrix):
        raise fault

    return fails


def custom(embedder):
    """A ranker of a user's own around the dense half, made anew for each catalog."""

    class Mine:
        def __init__(self, catalog):
            texts = [dense_text(tool) for tool in catalog]
            self._ranker = HybridRanker(
                Bm25Ranker.of(catalog), DenseSearcher(lambda: texts, embedder, KnownVectors(None, None))
            )

        def rank(self, query, *, limit, visible=None):
            return self._ranker.rank(query, limit=limit, visible=visible)

        def explain(self, query, position):
            return self._ranker.explain(query, position)

    return Mine


RANKERS = ("hybrid", "semantic", "custom")


def searching(ranker, embedder, tools=TOOLS, **options):
    """A search with a built-in ranker, or with one of a user's own that asks the same embedder."""
    spec = custom(embedder) if ranker == "custom" else ranker
    return ToolSearch(tools, ranker=spec, embedder=embedder, cache=False, **options)


def answered_in_a_turn(search):
    """What the model reads of a search that it makes in a turn."""
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c0",
                "type": "function",
                "function": {"name": "tool_search", "arguments": json.dumps({"query": QUERY})},
            }
        ],
    }
    response = {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}
    turn = search.turn([{"role": "user", "content": "Go on."}], model="llama-4")
    (result,) = turn.results(response, lambda call: None)
    return json.loads(result["content"])


DEFERRING = SearchConfig(threshold=1)


def warnings_of(caplog):
    return [record for record in caplog.records if record.levelno >= logging.WARNING]
