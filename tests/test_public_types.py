"""The public types as a type checker sees them: ``make test`` runs mypy over this file too."""

from __future__ import annotations

from typing import Any, assert_type

from semantic_toolsearch import Catalog, Explanation, Hit, Ranking, SearchResult, ToolCall, ToolSearch, Turn
from semantic_toolsearch.definitions import ToolDefinition
from semantic_toolsearch.report import CatalogReport

TOOLS: list[Any] = [{"name": "send_mail", "description": "Send a mail."}]


def test_searches_and_catalogs() -> None:
    search = ToolSearch(TOOLS, ranker="bm25", cache=False)
    result = assert_type(search.search("send a mail"), SearchResult)
    assert_type(result.tools, tuple[Hit, ...])
    assert_type(result.tools[0].tool, ToolDefinition)
    assert_type(search.explain("send a mail", "send_mail"), Explanation)
    assert_type(search.replace("wiki", ()), CatalogReport)
    assert_type(Catalog(TOOLS).wire_names, tuple[str, ...])


def test_turns() -> None:
    turn = assert_type(ToolSearch(TOOLS, ranker="bm25", cache=False).turn([], model="gpt-5.4"), Turn)
    assert_type(turn.tools, list[dict[str, Any]])
    assert_type(turn.plan.full, tuple[str, ...])
    response: dict[str, Any] = {"object": "response", "status": "completed", "output": []}
    assert_type(turn.calls(response), list[ToolCall])
    assert_type(turn.answer(response), list[dict[str, Any]])


def test_a_function_is_a_ranker_and_a_tool() -> None:
    import numpy as np

    def double(number: int) -> int:
        """Twice a number."""
        return 2 * number

    class First:
        def rank(self, query: str, *, limit: int, visible: Any = None) -> Ranking:
            return Ranking(np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.float32))

    assert_type(ToolSearch([double], ranker=First()).search("twice").names, tuple[str, ...])
