"""Tools lists and records of use in; what they cost in tokens and prompt cache, and what to do about it, out."""

from __future__ import annotations

from semantic_toolsearch.accounting.advice import Advice, ToolAdvice, advise, hot_tools
from semantic_toolsearch.accounting.cache import (
    ANTHROPIC_PRICES,
    OPENAI_PRICES,
    UNCACHED,
    CacheCost,
    CachePrices,
    Prompt,
    TurnCost,
    cache_cost,
)
from semantic_toolsearch.accounting.catalogs import CatalogCost, NamespaceCost, report
from semantic_toolsearch.accounting.counting import (
    CHARACTERS,
    TokenCount,
    TokenCounter,
    count_tokens,
    default_counter,
)
from semantic_toolsearch.accounting.turns import TurnTokens, turn_tokens

__all__ = [
    "ANTHROPIC_PRICES",
    "CHARACTERS",
    "OPENAI_PRICES",
    "UNCACHED",
    "Advice",
    "CacheCost",
    "CachePrices",
    "CatalogCost",
    "NamespaceCost",
    "Prompt",
    "TokenCount",
    "TokenCounter",
    "ToolAdvice",
    "TurnCost",
    "TurnTokens",
    "advise",
    "cache_cost",
    "count_tokens",
    "default_counter",
    "hot_tools",
    "report",
    "turn_tokens",
]
