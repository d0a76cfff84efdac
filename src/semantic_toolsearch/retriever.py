"""A query in, a ``SearchResult`` out: the rules that hold on top of any ranker, in one place.

In this order: only visible tools; the ranker's scores; tools that the query names come first; a tool must be a
confident answer, and reach a share of the best score, and fit under the cap. An empty query lists names, a miss
lists a bounded number of them, and neither loads anything. The rules filter again what a ranker returns, so a custom
ranker can never leak a tool that the caller may not see.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from semantic_toolsearch.errors import RankerError
from semantic_toolsearch.exact_names import named_tools
from semantic_toolsearch.names import nearest
from semantic_toolsearch.rankers.protocol import Ranker, Ranking, Visible
from semantic_toolsearch.results import EXACT_NAME_BONUS, Explanation, Hit, SearchResult, UnknownName, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.config import SearchConfig

__all__ = ["Retriever"]

_POOL: Final = 50
"""Tools asked of a ranker at first; more are asked for while the last one ties with others."""

_SAME: Final = 1e-6
"""Scores closer than this are equal, so that rounding decides no order."""


@dataclass(slots=True)
class _Candidate:
    position: int
    score: float
    strong: bool
    named: Literal["whole", "mentioned"] | None = None
    verdict: Verdict = "unranked"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Judgement:
    """Every candidate of one query in final order, each with its verdict."""

    candidates: tuple[_Candidate, ...]
    notes: tuple[str, ...]
    degraded: str | None

    def with_verdict(self, verdict: Verdict) -> list[_Candidate]:
        return [candidate for candidate in self.candidates if candidate.verdict == verdict]


class Retriever:
    """Applies the rules to one catalog and its ranker.

    Args:
        catalog: The tools.
        ranker: Anything that keeps the ``Ranker`` protocol for this catalog.
        config: The numbers of the rules.
        generation: Number of the snapshot, repeated in every result.
    """

    def __init__(self, catalog: Catalog, ranker: Ranker, config: SearchConfig, generation: int = 0) -> None:
        self.catalog = catalog
        self.ranker = ranker
        self.config = config
        self.generation = generation
        by_name = sorted(range(len(catalog)), key=lambda place: catalog.wire_names[place])
        self._tie_order = np.empty(len(catalog), dtype=np.int64)
        self._tie_order[by_name] = np.arange(len(catalog))
        if config.ties == "registration":
            self._tie_order = np.arange(len(catalog))

    def search(
        self, queries: Sequence[str], limit: object = None, visible: Visible | None = None
    ) -> SearchResult:
        """Answer one or several queries together.

        Args:
            queries: What is asked; blank ones are left out, none at all is a browse.
            limit: The most tools to return, as the model gave it: anything that is no usable number is
                replaced or clamped, and a note says so.
            visible: bool ``[n]``, the tools the caller may see; None for all.

        Raises:
            RankerError: The ranker broke its contract.
        """
        wanted, notes = self._limit(limit)
        asked = [query for query in queries if any(map(str.isalnum, query)) or self._is_pattern(query)]
        if not asked:
            return self._listing("browse", queries, visible, notes)
        wanted = max(wanted, min(len(asked), self.config.max_limit))
        judgements = [self._judge(query, wanted, visible) for query in asked]
        for judgement in judgements:
            notes += [note for note in judgement.notes if note not in notes]
        degraded = next((judgement.degraded for judgement in judgements if judgement.degraded), None)
        tools = _alternating([judgement.with_verdict("returned") for judgement in judgements])[:wanted]
        taken = {candidate.position for candidate in tools}
        hints = _alternating([judgement.with_verdict("weak") for judgement in judgements])
        hints = [candidate for candidate in hints if candidate.position not in taken]
        hints = hints[: self.config.hints] if self.config.weak_hits == "hint" else []
        if not tools:
            return self._listing("no_match", asked, visible, notes, hints=hints, degraded=degraded)
        return SearchResult(
            query=" | ".join(asked),
            outcome="matched",
            tools=tuple(map(self._hit, tools)),
            hints=tuple(map(self._hit, hints)),
            total=self._count(visible),
            notes=tuple(notes),
            degraded=degraded,
            generation=self.generation,
        )

    def select(self, names: Sequence[str], visible: Visible | None = None) -> SearchResult:
        """Return exactly the tools of these names, in the order asked, without any limit.

        Args:
            names: Wire names, raw names or spellings of either.
            visible: bool ``[n]``, the tools the caller may see; None for all.
        """
        found: dict[int, None] = {}
        unknown: list[UnknownName] = []
        for name in names:
            places = [place for place in self.catalog.find(name) if visible is None or visible[place]]
            if not places:
                unknown.append(UnknownName(name, tuple(nearest(name, self._visible_names(visible)))))
            found.update(dict.fromkeys(places))
        if not found:
            return self._listing("no_match", names, visible, [], unknown=unknown)
        tools = [_Candidate(place, EXACT_NAME_BONUS, strong=True, named="whole") for place in found]
        return SearchResult(
            query=" | ".join(names),
            outcome="matched",
            tools=tuple(map(self._hit, tools)),
            total=self._count(visible),
            unknown=tuple(unknown),
            generation=self.generation,
        )

    def explain(
        self, query: str, position: int, limit: object = None, visible: Visible | None = None
    ) -> Explanation:
        """Say what became of the tool at one position, and which rule decided."""
        name = self.catalog.wire_names[position]
        if visible is not None and not visible[position]:
            return Explanation(
                query, name, "not visible", None, 0.0, {}, "The tool is not visible to the caller."
            )
        wanted, _ = self._limit(limit)
        judgement = self._judge(query, wanted, visible, pool=len(self.catalog))
        rank, candidate = next(
            ((rank, each) for rank, each in enumerate(judgement.candidates, 1) if each.position == position),
            (None, None),
        )
        explain_arms = getattr(self.ranker, "explain", None)
        arms = dict(explain_arms(query, position)) if explain_arms else {}
        if candidate is None:
            reason = "Query and tool have nothing in common for this ranker."
            return Explanation(query, name, "unranked", None, 0.0, arms, reason)
        if candidate.named == "whole":
            arms["exact_name"] = EXACT_NAME_BONUS
        return Explanation(query, name, candidate.verdict, rank, candidate.score, arms, candidate.reason)

    def _judge(self, query: str, limit: int, visible: Visible | None, pool: int = _POOL) -> _Judgement:
        ranking = self._ranked(query, max(pool, 2 * limit), visible)
        strong = ranking.strong if ranking.strong is not None else np.ones(len(ranking), dtype=np.bool_)
        candidates = {
            int(place): _Candidate(int(place), float(score), bool(sure))
            for place, score, sure in zip(ranking.positions, ranking.scores, strong, strict=True)
        }
        top = max((candidate.score for candidate in candidates.values()), default=0.0)
        named = named_tools(self.catalog, query)
        for kind, places in (("whole", named.whole), ("mentioned", named.mentioned)):
            for place in places:
                if visible is None or visible[place]:
                    candidate = candidates.setdefault(place, _Candidate(place, 0.0, strong=True))
                    candidate.named = "whole" if kind == "whole" else "mentioned"
        for candidate in candidates.values():
            if candidate.named == "whole":
                candidate.score += EXACT_NAME_BONUS
                top = max(top, candidate.score)
        ordered = sorted(candidates.values(), key=self._order)
        self._decide(ordered, top, limit)
        return _Judgement(tuple(ordered), ranking.notes, ranking.degraded)

    def _order(self, candidate: _Candidate) -> tuple[bool, int, int]:
        return (
            candidate.named is None,
            -round(candidate.score / _SAME),
            int(self._tie_order[candidate.position]),
        )

    def _decide(self, ordered: list[_Candidate], top: float, limit: int) -> None:
        """Give each candidate its verdict: the band, then confidence, then the cap; named tools face the cap alone."""
        floor = self.config.band * top - _SAME
        returned = 0
        for candidate in ordered:
            shown = f"score {candidate.score:.3f}"
            if candidate.named is None and candidate.score < floor:
                candidate.verdict = "banded"
                candidate.reason = f"Its {shown} is under {self.config.band:g} of the best score, {top:.3f}."
            elif candidate.named is None and not candidate.strong and self.config.weak_hits != "load":
                candidate.verdict = "weak"
                candidate.reason = f"The ranker is not confident that it answers the query ({shown})."
            elif returned >= limit:
                candidate.verdict = "capped"
                candidate.reason = f"{limit} better tools fill the limit ({shown})."
            else:
                returned += 1
                candidate.verdict = "returned"
                candidate.reason = {
                    "whole": "The query is its name.",
                    "mentioned": "The query mentions its name.",
                    None: f"Its {shown} is within the band of the best, {top:.3f}.",
                }[candidate.named]

    def _ranked(self, query: str, pool: int, visible: Visible | None) -> Ranking:
        """The ranker's best, checked, filtered again, and with every tool that ties with the last one."""
        size = len(self.catalog)
        while True:
            ranking = self._checked(self.ranker.rank(query, limit=min(pool, size), visible=visible))
            complete = len(ranking) < pool or pool >= size
            if complete or ranking.scores[-1] < ranking.scores[pool // 2] - _SAME:
                break
            pool *= 4
        keep = ranking.scores > 0
        if visible is not None:
            keep &= visible[ranking.positions]
        _, first = np.unique(ranking.positions, return_index=True)
        once = np.zeros(len(ranking), dtype=np.bool_)
        once[first] = True
        keep &= once
        strong = None if ranking.strong is None else ranking.strong[keep]
        return Ranking(ranking.positions[keep], ranking.scores[keep], strong, ranking.degraded, ranking.notes)

    def _checked(self, ranking: Ranking) -> Ranking:
        who = type(self.ranker).__name__
        try:
            positions = np.asarray(ranking.positions)
            scores = np.asarray(ranking.scores, dtype=np.float32)
            strong = None if ranking.strong is None else np.asarray(ranking.strong, dtype=np.bool_)
        except (AttributeError, TypeError, ValueError) as fault:
            raise RankerError(
                f"{who}.rank must return a Ranking of positions and scores; {fault}."
            ) from fault
        if (
            positions.ndim != 1
            or positions.shape != scores.shape
            or (strong is not None and strong.shape != scores.shape)
        ):
            raise RankerError(
                f"{who}.rank returned {positions.shape} positions for {scores.shape} scores; give one score a position."
            )
        if len(positions) and not np.issubdtype(positions.dtype, np.integer):
            raise RankerError(f"{who}.rank returned positions of type {positions.dtype}; give whole numbers.")
        if len(positions) and (positions.min() < 0 or positions.max() >= len(self.catalog)):
            outside = [int(place) for place in positions if not 0 <= place < len(self.catalog)][:3]
            raise RankerError(
                f"{who}.rank returned positions {outside} for a catalog of {len(self.catalog)} tools."
            )
        if not np.isfinite(scores).all() or (len(scores) and (scores.min() < 0 or scores.max() > 1 + 1e-4)):
            raise RankerError(f"{who}.rank returned scores that are not numbers from 0 to 1.")
        return Ranking(positions.astype(np.int64), scores, strong, ranking.degraded, tuple(ranking.notes))

    def _limit(self, limit: object) -> tuple[int, list[str]]:
        """The number of tools to return, and what to tell the model when it is not what it asked."""
        default, most = self.config.default_limit, self.config.max_limit
        if limit is None or not self.config.offer_limit:
            return default, []
        number = _whole_number(limit)
        if number is None:
            return default, [f"The limit {str(limit)[:40]!r} is not a number; {default} was used."]
        if number < 1:
            return 1, [f"The limit {number} was raised to 1."]
        if number > most:
            return most, [f"The limit {number} was lowered to {most}, the most that one search returns."]
        return number, [] if number == limit else [f"The limit {str(limit)[:40]!r} was read as {number}."]

    def _is_pattern(self, query: str) -> bool:
        return getattr(self.ranker, "name", "") == "regex" and query.strip() not in {"", "*"}

    def _listing(
        self,
        outcome: Literal["browse", "no_match"],
        queries: Sequence[str],
        visible: Visible | None,
        notes: Sequence[str],
        *,
        hints: Sequence[_Candidate] = (),
        unknown: Sequence[UnknownName] = (),
        degraded: str | None = None,
    ) -> SearchResult:
        """A result that loads nothing and shows a bounded number of names."""
        names = sorted(self._visible_names(visible))
        most = self.config.browse_names if outcome == "browse" else self.config.miss_names
        places = range(len(self.catalog)) if visible is None else np.flatnonzero(visible)
        owners = Counter(self.catalog.identities[int(place)][0] for place in places)
        return SearchResult(
            query=" | ".join(query.strip() for query in queries if query.strip()),
            outcome=outcome,
            hints=tuple(map(self._hit, hints)),
            names=tuple(names[:most]),
            namespaces=tuple(sorted((owner, count) for owner, count in owners.items() if owner is not None)),
            total=len(names),
            unknown=tuple(unknown),
            notes=tuple(notes),
            degraded=degraded,
            generation=self.generation,
        )

    def _hit(self, candidate: _Candidate) -> Hit:
        place = candidate.position
        return Hit(
            self.catalog.wire_names[place], self.catalog[place], candidate.score, place, candidate.named
        )

    def _visible_names(self, visible: Visible | None) -> list[str]:
        names = self.catalog.wire_names
        return list(names) if visible is None else [names[int(place)] for place in np.flatnonzero(visible)]

    def _count(self, visible: Visible | None) -> int:
        return len(self.catalog) if visible is None else int(np.count_nonzero(visible))


def _alternating(lists: Sequence[Sequence[_Candidate]]) -> list[_Candidate]:
    """The best of each list, then the second of each, no tool twice."""
    merged: dict[int, _Candidate] = {}
    for rank in range(max(map(len, lists), default=0)):
        for candidates in lists:
            if rank < len(candidates):
                merged.setdefault(candidates[rank].position, candidates[rank])
    return list(merged.values())


def _whole_number(value: object) -> int | None:
    """A number as models write it: 3, "3", 2.7; None for anything else, truth values included."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return int(float(value)) if not isinstance(value, int) else value
    except (ValueError, OverflowError):
        return None
