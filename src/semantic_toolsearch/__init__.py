"""Client-side tool search for LLM agents: finds tools by meaning, offline, in milliseconds.

The public names are imported when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from semantic_toolsearch._version import __version__

if TYPE_CHECKING:
    from semantic_toolsearch.catalog import Catalog as Catalog
    from semantic_toolsearch.compaction import compact as compact
    from semantic_toolsearch.compaction import compaction_note as compaction_note
    from semantic_toolsearch.config import SearchConfig as SearchConfig
    from semantic_toolsearch.definitions import ToolDefinition as ToolDefinition
    from semantic_toolsearch.definitions import tool as tool
    from semantic_toolsearch.embedding import Embedder as Embedder
    from semantic_toolsearch.embedding import EmbeddingCache as EmbeddingCache
    from semantic_toolsearch.embedding import OnnxEmbedder as OnnxEmbedder
    from semantic_toolsearch.embedding import OpenAICompatibleEmbedder as OpenAICompatibleEmbedder
    from semantic_toolsearch.embedding import SentenceTransformerEmbedder as SentenceTransformerEmbedder
    from semantic_toolsearch.embedding import StaticEmbedder as StaticEmbedder
    from semantic_toolsearch.errors import ConfigError as ConfigError
    from semantic_toolsearch.errors import ToolSearchError as ToolSearchError
    from semantic_toolsearch.events import CallChecked as CallChecked
    from semantic_toolsearch.events import CatalogReplaced as CatalogReplaced
    from semantic_toolsearch.events import Degraded as Degraded
    from semantic_toolsearch.events import Recovered as Recovered
    from semantic_toolsearch.events import Searched as Searched
    from semantic_toolsearch.events import ToolChanged as ToolChanged
    from semantic_toolsearch.exchange import ToolCall as ToolCall
    from semantic_toolsearch.exchange import TurnPlan as TurnPlan
    from semantic_toolsearch.loaded import SessionStore as SessionStore
    from semantic_toolsearch.rankers import Ranker as Ranker
    from semantic_toolsearch.rankers import Ranking as Ranking
    from semantic_toolsearch.report import CatalogReport as CatalogReport
    from semantic_toolsearch.results import Explanation as Explanation
    from semantic_toolsearch.results import Hit as Hit
    from semantic_toolsearch.results import SearchResult as SearchResult
    from semantic_toolsearch.toolsearch import ToolSearch as ToolSearch
    from semantic_toolsearch.trimming import clear_outputs as clear_outputs
    from semantic_toolsearch.trimming import fit_history as fit_history
    from semantic_toolsearch.turn import Turn as Turn

_HOMES = {
    "ConfigError": "errors",
    "ToolChanged": "events",
    "Searched": "events",
    "Recovered": "events",
    "Degraded": "events",
    "CatalogReplaced": "events",
    "CallChecked": "events",
    "SessionStore": "loaded",
    "ToolCall": "exchange",
    "Turn": "turn",
    "TurnPlan": "exchange",
    "clear_outputs": "trimming",
    "compact": "compaction",
    "compaction_note": "compaction",
    "fit_history": "trimming",
    "Catalog": "catalog",
    "CatalogReport": "report",
    "Embedder": "embedding",
    "EmbeddingCache": "embedding",
    "Explanation": "results",
    "Hit": "results",
    "OnnxEmbedder": "embedding",
    "OpenAICompatibleEmbedder": "embedding",
    "Ranker": "rankers",
    "Ranking": "rankers",
    "SearchConfig": "config",
    "SearchResult": "results",
    "SentenceTransformerEmbedder": "embedding",
    "StaticEmbedder": "embedding",
    "ToolDefinition": "definitions",
    "ToolSearch": "toolsearch",
    "ToolSearchError": "errors",
    "tool": "definitions",
}

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
