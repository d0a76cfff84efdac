"""The switches of the loopback provider."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How strict the provider is and how it answers.

    Attributes:
        blind_calls: Whether the model may call a tool whose schema it cannot know, as real models do.
        allow_undocumented: Whether requests pass that no document or recording covers: text beside references in one
            result, a forced choice of a deferred tool or of the search, both hosted search tools in one request.
        bedrock: Whether the Messages interface behaves like the older Bedrock one: no BM25, no open server call.
        search_names: Names of ordinary function tools that the model takes for the search.
        pings: Whether Messages streams carry ``ping`` events.
        chunk: Characters per streamed delta.
        change_call_id: Whether a streamed client search has another ``call_id`` when added than when done, as recorded.
        cache_minimum: Tokens below which nothing is cached.
        deferred_limit: Most deferred tools of a Messages request.
        available_limit: Most tools that a Messages conversation may make available; the provider's number is unknown.
        compaction_limit: Most tool changes of a compaction block; the provider's number is unknown.
        chat_tool_limit: Most tools of a Chat Completions request.
    """

    blind_calls: bool = True
    allow_undocumented: bool = False
    bedrock: bool = False
    search_names: tuple[str, ...] = ("tool_search",)
    pings: bool = True
    chunk: int = 12
    change_call_id: bool = True
    cache_minimum: int = 1_024
    deferred_limit: int = 10_000
    available_limit: int = 10_000
    compaction_limit: int = 10_000
    chat_tool_limit: int = 128
