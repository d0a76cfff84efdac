"""What a search hands out: hits, the result they belong to, and the explanation of one tool's place (records)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from semantic_toolsearch.hidden_text import seen

if TYPE_CHECKING:
    from semantic_toolsearch.definitions import ToolDefinition

__all__ = [
    "EXACT_NAME_BONUS",
    "MOST_NAMESPACES",
    "Explanation",
    "Hit",
    "Outcome",
    "SearchResult",
    "Stats",
    "UnknownName",
    "Verdict",
]

EXACT_NAME_BONUS = 100.0
"""Added to a ranker's score, which is at most 1, where the whole query is a tool's name."""

MOST_NAMESPACES = 30
"""Namespaces that a listing of bounded length tells; with 20,000 tools there may be thousands."""

Outcome: TypeAlias = Literal["matched", "no_match", "browse"]
"""Whether something answers the query, nothing does, or the query was empty and the names are listed."""

Verdict: TypeAlias = Literal["returned", "weak", "banded", "capped", "unranked", "not visible"]
"""What became of a tool: returned; ranked, but not surely an answer; under the band below the best score;
past the limit; without anything in common with the query; not visible to the caller."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One tool found.

    Attributes:
        name: The tool's wire name: legal for every provider, unique in the catalog.
        tool: Its definition.
        score: The ranker's score in [0, 1], plus ``EXACT_NAME_BONUS`` where the query is its name.
        position: Its place in the catalog.
        named: Whether the query is the tool's name (``whole``), holds it (``mentioned``), or neither.
    """

    name: str
    tool: ToolDefinition
    score: float
    position: int
    named: Literal["whole", "mentioned"] | None = None


@dataclass(frozen=True, slots=True)
class UnknownName:
    """A name that was asked for and that no visible tool has.

    Attributes:
        name: The name as it was asked for.
        nearest: The visible wire names most like it, at most three, best first.
    """

    name: str
    nearest: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer to one search.

    Attributes:
        query: What was asked, several queries joined by ``|``, without hidden characters.
        outcome: ``matched`` when ``tools`` answers, ``no_match`` when nothing does, ``browse`` for an empty
            query.
        tools: The tools to load, best first; never more than the cap, save those asked for by name.
        hints: Tools that might fit, to be named and not loaded.
        names: For a miss or a browse, names of visible tools in alphabetical order, cut at the configured
            number.
        namespaces: For a miss or a browse, the visible namespaces with the number of their visible tools, in
            alphabetical order; where names are cut, the largest ``MOST_NAMESPACES`` only.
        total: Number of visible tools.
        unknown: Names asked for that no visible tool has.
        notes: What was changed or went wrong, in sentences fit for the model.
        degraded: Why the ranking is worse than it should be, or None.
        generation: Number of the catalog snapshot that answered; it grows with each replacement.
    """

    query: str
    outcome: Outcome
    tools: tuple[Hit, ...] = ()
    hints: tuple[Hit, ...] = ()
    names: tuple[str, ...] = ()
    namespaces: tuple[tuple[str, int], ...] = ()
    total: int = 0
    unknown: tuple[UnknownName, ...] = ()
    notes: tuple[str, ...] = ()
    degraded: str | None = None
    generation: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The result as plain JSON values a model may see, without parts that are empty."""
        content: dict[str, Any] = {
            "query": self.query,
            "outcome": self.outcome,
            "tools": [_hit(hit) for hit in self.tools],
            "hints": [_hit(hit) for hit in self.hints],
            "names": list(self.names),
            "namespaces": dict(self.namespaces),
            "total": self.total,
            "unknown": [{"name": unknown.name, "nearest": list(unknown.nearest)} for unknown in self.unknown],
            "notes": list(self.notes),
            "degraded": self.degraded,
            "generation": self.generation,
        }
        kept = {"query", "outcome", "tools", "total", "generation"}
        shown: dict[str, Any] = seen({key: value for key, value in content.items() if value or key in kept})
        return shown


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why one tool is where it is for one query.

    Attributes:
        query: The query.
        name: The tool's wire name.
        verdict: What became of it.
        rank: Its place in the ranking before any cut, from 1; None when it was not ranked.
        score: Its score with the exact-name bonus, as compared by the rules.
        arms: Each part of the score by name, in the ranker's own units, ``exact_name`` for the bonus.
        reason: The verdict in one sentence, with the numbers that decided.
        fields: The index words of the query that each field of the tool holds, by field.
        degraded: Why the ranking is worse than it should be, as in ``SearchResult``.
    """

    query: str
    name: str
    verdict: Verdict
    rank: int | None
    score: float
    arms: dict[str, float]
    reason: str
    fields: dict[str, tuple[str, ...]] = field(default_factory=dict)
    degraded: str | None = None


@dataclass(frozen=True, slots=True)
class Stats:
    """What a ``ToolSearch`` holds.

    Attributes:
        registered: Usable tools.
        quarantined: Definitions that could not be used.
        indexed: Tools that the ranker can find: those in the vector index (0 before it is built, and while
            the embedding model fails), or all where the ranker uses no vectors.
        embedded: Texts that the model had to embed to build this generation.
        from_cache: Texts whose vectors were known already.
        generation: Number of the catalog snapshot.
        held: Tools left out until they are approved.
    """

    registered: int
    quarantined: int
    indexed: int
    embedded: int
    from_cache: int
    generation: int
    held: int = 0


def _hit(hit: Hit) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": hit.name,
        "description": hit.tool.description,
        "score": round(hit.score, 6),
    }
    if hit.tool.namespace:
        entry["namespace"] = hit.tool.namespace
    if hit.named:
        entry["named"] = hit.named
    return entry
