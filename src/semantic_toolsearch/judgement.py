"""What the rules decide about each tool that a ranker found for one query (records)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from semantic_toolsearch.results import Verdict

__all__ = ["Candidate", "Judgement"]


@dataclass(slots=True)
class Candidate:
    """One tool as the rules decide about it.

    Attributes:
        position: Its place in the catalog.
        score: The ranker's score in [0, 1], plus ``EXACT_NAME_BONUS`` where the query is its name.
        strong: Whether the ranker is confident that it answers the query.
        named: As in ``Hit``.
        literal: Whether the query is its wire name letter for letter.
        verdict: What became of it.
        reason: The verdict in one sentence, with the numbers that decided.
    """

    position: int
    score: float = 0.0
    strong: bool = True
    named: Literal["whole", "mentioned"] | None = None
    literal: bool = False
    verdict: Verdict = "unranked"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Every candidate of one query in final order, each with its verdict.

    Attributes:
        candidates: The ranked tools, best first, named ones before all others.
        notes: What the ranker has to say about the query.
        degraded: Why the ranking is worse than it should be, or None.
    """

    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...]
    degraded: str | None

    @property
    def returned(self) -> list[Candidate]:
        """The tools that a search loads, best first."""
        return [candidate for candidate in self.candidates if candidate.verdict == "returned"]

    @property
    def hints(self) -> list[Candidate]:
        """The unsure ones; none where surer ones had no room."""
        if any(candidate.verdict == "capped" for candidate in self.candidates):
            return []
        return [candidate for candidate in self.candidates if candidate.verdict == "weak"]
