"""A wire format and a mode in; whether a catalog can travel that way, and its tokens in a first request, out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from semantic_toolsearch.accounting import TokenCounter
from semantic_toolsearch.accounting.wire import read_by_model
from semantic_toolsearch.config import SearchConfig
from semantic_toolsearch.evaluation.costs.endpoints import ENDPOINTS
from semantic_toolsearch.modes import MAX_DEFERRED
from semantic_toolsearch.support import MOST_TOOLS
from semantic_toolsearch.toolsearch import ToolSearch

if TYPE_CHECKING:
    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.exchange import Api, Mode
    from semantic_toolsearch.turn import Turn

__all__ = ["CHAT_TOOLS", "WAYS", "Way", "carries", "first_request_tokens", "tokens_by_mode"]

Way: TypeAlias = "tuple[Api, Mode]"
"""A wire format, and how deferred tools travel in it."""

WAYS: Final[tuple[Way, ...]] = (
    ("anthropic", "full"), ("anthropic", "hosted"), ("anthropic", "reference"), ("anthropic", "stub"),
    ("anthropic", "bridge"), ("responses", "full"), ("responses", "hosted"), ("responses", "output"),
    ("responses", "stub"), ("responses", "bridge"), ("chat", "full"), ("chat", "stub"), ("chat", "bridge"),
)  # fmt: skip
"""Every wire format with every mode that it can carry; ``full`` comes first, as what the others are compared with."""

CHAT_TOOLS: Final = MOST_TOOLS["chat"]
"""Tools that a request of OpenAI's Chat Completions may have."""

_SHOWN: Final[tuple[tuple[str, Way], ...]] = (
    ("full", ("anthropic", "full")),
    ("hosted", ("anthropic", "hosted")),
    ("hosted, responses", ("responses", "hosted")),
    ("reference", ("anthropic", "reference")),
    ("output", ("responses", "output")),
    ("stub", ("anthropic", "stub")),
    ("bridge", ("anthropic", "bridge")),
)
"""One way for each mode, and both for ``hosted``, where the two providers show the model different things."""


def carries(way: Way, tools: int) -> bool:
    """Whether a request can hold a catalog of so many tools in this way, stubs and all, by the providers' documents."""
    api, mode = way
    if api == "chat" and mode in ("full", "stub"):
        return tools + (mode == "stub") <= CHAT_TOOLS
    return not (api == "anthropic" and mode in ("hosted", "reference") and tools > MAX_DEFERRED)


def first_request_tokens(turn: Turn, counter: TokenCounter) -> int:
    """Tokens that a request carries because of its tools: what the model reads of the list, and how to search it.

    Args:
        turn: The first of a conversation, where nothing is loaded.
        counter: How to count.
    """
    said: list[Any] = [turn.instructions] if turn.instructions else []
    return counter([*read_by_model(turn.tools), *said])


def tokens_by_mode(catalog: Catalog, counter: TokenCounter) -> dict[str, int]:
    """Count the first request over a catalog in each mode, with every tool deferred that can be.

    Args:
        catalog: The tools.
        counter: How to count.

    Returns:
        Tokens by mode; a mode in which no request can hold so many tools is left out. ``hosted`` is Anthropic's,
        ``hosted, responses`` OpenAI's, where the model reads the names of all namespaces.
    """
    # Nothing is searched here, so nothing is built whatever the ranker.
    search = ToolSearch(catalog, ranker="keyword", cache=False, config=SearchConfig(threshold=1))
    tokens = {}
    for name, (api, mode) in _SHOWN:
        if carries((api, mode), len(catalog)):
            turn = search.turn([], model=ENDPOINTS[api].model, api=api, mode=mode)
            tokens[name] = first_request_tokens(turn, counter)
    return tokens
