"""A query in, a ``SearchResult`` out: the rules that hold on top of any ranker, in one place.

In this order: only visible tools; the ranker's scores; tools that the query names come first; a tool must
reach a share of the best score, be a confident answer (the others are hints at best), and fit under the cap;
no server alone takes every place. An empty query lists names, a miss lists a bounded number of them, and
neither loads anything. What a ranker returns is checked and filtered again, so that a custom ranker can never
leak a tool that the caller may not see.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from semantic_toolsearch.documents import shared_words
from semantic_toolsearch.exact_names import VisibleNames, named_tools, unwrapped
from semantic_toolsearch.judgement import Candidate, Judgement
from semantic_toolsearch.names import nearest
from semantic_toolsearch.rankers.checked import checked_parts, checked_rank, cleaned, takes_patterns
from semantic_toolsearch.rankers.protocol import Ranker, Ranking, Visible
from semantic_toolsearch.results import (
    EXACT_NAME_BONUS,
    MOST_NAMESPACES,
    Explanation,
    Hit,
    SearchResult,
    UnknownName,
)
from semantic_toolsearch.search_input import clean_text, usable_limit, usable_queries
from semantic_toolsearch.spread import LENIENCE, Standing, places_to_swap, server_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.config import SearchConfig

__all__ = ["Retriever"]

_POOL: Final = 50
"""Tools asked of a ranker at first; more are asked for while others may tie with the last that matters."""

_SAME: Final = 1e-6
"""Scores closer than this are equal, so that rounding decides no order."""

_MOST_SUGGESTIONS: Final = 20
"""Unknown names for which the nearest names are looked for: each costs a walk over the catalog."""


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
        self._takes_patterns = takes_patterns(ranker)
        self._servers = [server_of(*identity) for identity in catalog.identities]
        self._several = len(set(self._servers)) > 1
        self._tie_order = list(range(len(catalog)))
        if config.ties == "name":
            for rank, place in enumerate(sorted(self._tie_order, key=catalog.wire_names.__getitem__)):
                self._tie_order[place] = rank

    def search(
        self, queries: Sequence[str], limit: object = None, visible: Visible | None = None
    ) -> SearchResult:
        """Answer one or several queries together.

        Args:
            queries: What is asked; blank ones are left out, none at all is a browse.
            limit: The most tools to return, as the model gave it: anything that is no usable number is
                replaced or clamped, and a note says so. Several queries get room for one tool each.
            visible: bool ``[n]``, the tools the caller may see; None for all.

        Raises:
            RankerError: The ranker raised or broke its contract.
        """
        asked, notes = usable_queries(queries, patterns=self._takes_patterns)
        if not asked:
            return self._listing("browse", visible)
        most, remarks = usable_limit(limit, self.config)
        most = max(most, min(len(asked), self.config.max_limit))
        judgements = [self._judge(query, most, visible) for query in asked]
        notes += remarks + [note for judgement in judgements for note in judgement.notes]
        degraded = next((judgement.degraded for judgement in judgements if judgement.degraded), None)
        tools = self._page(_alternating([judgement.returned for judgement in judgements]), most)
        hints: list[Candidate] = []
        if self.config.weak_hits == "hint":
            taken = {candidate.position for candidate in tools}
            unsure = _alternating([judgement.hints for judgement in judgements])
            unsure = [candidate for candidate in unsure if candidate.position not in taken]
            hints = self._page(unsure, self.config.hints)
        return self._result(
            asked,
            visible,
            tools,
            hints=tuple(map(self._hit, hints)),
            notes=tuple(dict.fromkeys(notes)),
            degraded=degraded,
        )

    def select(self, names: Sequence[str], visible: Visible | None = None) -> SearchResult:
        """Return exactly the tools of these names, in the order asked, without any limit.

        Args:
            names: Wire names, raw names or spellings of either; blank ones are left out, none at all is a
                browse. A wire name means its tool alone; another name means every visible tool that bears it,
                and a note lists them.
            visible: bool ``[n]``, the tools the caller may see; None for all.
        """
        wanted = [name for name in map(clean_text, names) if name]
        if not wanted:
            return self._listing("browse", visible)
        found: dict[int, None] = {}
        unknown: list[UnknownName] = []
        notes = []
        for name in wanted:
            places = self._called(name, visible)
            found |= dict.fromkeys(places)
            if len(places) > 1:
                bearers = ", ".join(self.catalog.wire_names[place] for place in places[:5])
                more = f" and {len(places) - 5} more" if len(places) > 5 else ""
                notes.append(f"{name!r} is the name of {len(places)} tools: {bearers}{more}.")
            elif not places:
                similar = self._nearest(name, visible) if len(unknown) < _MOST_SUGGESTIONS else ()
                unknown.append(UnknownName(name, similar))
        tools = [Candidate(place, EXACT_NAME_BONUS, named="whole") for place in found]
        return self._result(wanted, visible, tools, unknown=tuple(unknown), notes=tuple(notes))

    def explain(
        self, query: str, position: int, limit: object = None, visible: Visible | None = None
    ) -> Explanation:
        """Say what became of the tool at one position, and which rule decided.

        Raises:
            RankerError: The ranker raised or broke its contract.
        """
        name = self.catalog.wire_names[position]
        if visible is not None and not visible[position]:
            reason = "The tool is not visible to the caller."
            return Explanation(clean_text(query), name, "not visible", None, 0.0, {}, reason)
        asked, _ = usable_queries([query], patterns=self._takes_patterns)
        if not asked:
            reason = "An empty query lists names and ranks nothing."
            return Explanation("", name, "unranked", None, 0.0, {}, reason)
        most, _ = usable_limit(limit, self.config)
        judgement = self._judge(asked[0], most, visible, pool=len(self.catalog))
        arms = checked_parts(self.ranker, asked[0], position, visible)
        ranks = {each.position: rank for rank, each in enumerate(judgement.candidates, 1)}
        rank = ranks.get(position)
        nothing = Candidate(position, reason="The ranker sees nothing in common with the query.")
        candidate = nothing if rank is None else judgement.candidates[rank - 1]
        if candidate.named == "whole":
            arms["exact_name"] = EXACT_NAME_BONUS
        return Explanation(
            query=asked[0],
            name=name,
            verdict=candidate.verdict,
            rank=rank,
            score=candidate.score,
            arms=arms,
            reason=candidate.reason,
            fields=shared_words(self.catalog[position], asked[0]),
            degraded=judgement.degraded,
        )

    def judge(
        self, query: str, *, limit: object = None, visible: Visible | None = None, depth: int = _POOL
    ) -> Judgement:
        """Rank the tools for one query and decide about each: what ``search`` cuts its result from.

        Args:
            query: What is asked; a blank one ranks nothing.
            limit: As in ``search``.
            visible: As in ``search``.
            depth: How many tools to rank at least, as far as they have anything in common with the query.

        Raises:
            RankerError: The ranker raised or broke its contract.
        """
        asked, _ = usable_queries([query], patterns=self._takes_patterns)
        if not asked:
            return Judgement((), (), None)
        most, _ = usable_limit(limit, self.config)
        return self._judge(asked[0], most, visible, max(depth, _POOL))

    def _judge(self, query: str, limit: int, visible: Visible | None, pool: int = _POOL) -> Judgement:
        """Rank, put the named tools first, and decide about each."""
        ranking = self._ranked(query, limit, visible, pool)
        sure = ranking.strong if ranking.strong is not None else [True] * len(ranking)
        candidates = {
            int(place): Candidate(int(place), float(score), bool(strong))
            for place, score, strong in zip(ranking.positions, ranking.scores, sure, strict=True)
        }
        named = named_tools(self.catalog, query, visible)
        for place in named.mentioned:
            candidates.setdefault(place, Candidate(place)).named = "mentioned"
        for place in named.whole:
            candidate = candidates.setdefault(place, Candidate(place))
            candidate.named, candidate.literal = "whole", place == named.literal
            candidate.score += EXACT_NAME_BONUS
        ordered = sorted(candidates.values(), key=self._order)
        self._decide(ordered, limit)
        if self.config.spread:
            self._spread(ordered, limit)
        return Judgement(tuple(ordered), ranking.notes, ranking.degraded)

    def _ranked(self, query: str, limit: int, visible: Visible | None, pool: int) -> Ranking:
        """The ranker's best visible tools: enough that no other can tie with those that will be shown."""
        size = len(self.catalog)
        if not self._count(visible):  # nothing to rank, whatever the ranker would make of that
            return Ranking(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32))
        shown = limit + self.config.hints
        pool = max(pool, 2 * shown)
        while True:
            answer = checked_rank(self.ranker, query, min(pool, size), size, visible)
            ranking = cleaned(answer, visible)
            if len(answer) < pool or pool >= size:
                return ranking
            if len(ranking) > shown and self._enough(ranking, limit, shown):
                return ranking
            pool *= 4

    def _enough(self, ranking: Ranking, limit: int, shown: int) -> bool:
        """Whether what is not ranked can neither tie with what is shown, nor claim a place kept for another server."""
        scores = ranking.scores
        if scores[shown - 1] - scores[-1] <= _SAME:
            return False
        servers = [self._servers[place] for place in ranking.positions]
        first = set(servers[:limit])
        if not self.config.spread or len(first) > 1 or None in first or not self._several:
            return True
        other = next((row for row, server in enumerate(servers) if server not in first), None)
        if other is None:
            return bool(scores[-1] < LENIENCE * self.config.band * scores[0])
        return bool(scores[other] - scores[-1] > _SAME)

    def _order(self, candidate: Candidate) -> tuple[bool, bool, int, int]:
        """Named tools first, the one of this very wire name before all; then by score; then the tie rule."""
        return (
            candidate.named is None,
            not candidate.literal,
            -round(candidate.score / _SAME),
            self._tie_order[candidate.position],
        )

    def _decide(self, ordered: Sequence[Candidate], limit: int) -> None:
        """Give each candidate its verdict by band, confidence and cap; named tools face the cap alone."""
        top = max((candidate.score for candidate in ordered), default=0.0)
        floor = self.config.band * top - _SAME
        unsure_pass = self.config.weak_hits == "load"
        returned = 0
        for candidate in ordered:
            shown = f"score {candidate.score:.3f}"
            if candidate.named is None and candidate.score < floor:
                candidate.verdict = "banded"
                candidate.reason = f"Its {shown} is under {self.config.band:g} of the best score, {top:.3f}."
            elif candidate.named is None and not candidate.strong and not unsure_pass:
                candidate.verdict = "weak"
                candidate.reason = f"The ranker is not confident that it answers the query ({shown})."
            elif returned == limit:
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

    def _spread(self, ordered: Sequence[Candidate], limit: int) -> None:
        """Give the last place of a page that one server alone would fill to the best tool from elsewhere."""
        page = [candidate for candidate in ordered if candidate.verdict == "returned"]
        if len(page) < limit:
            return
        floor = LENIENCE * self.config.band * max(candidate.score for candidate in ordered)
        unsure_pass = self.config.weak_hits == "load"
        waiting = [
            candidate
            for candidate in ordered
            if candidate.verdict == "capped"
            or (
                candidate.verdict == "banded"
                and candidate.score >= floor
                and (candidate.strong or unsure_pass)
            )
        ]
        if (places := self._places_to_swap(page, waiting)) is None:
            return
        last, other = page[places[0]], waiting[places[1]]
        server = self._standing(last).server
        last.verdict, other.verdict = "capped", "returned"
        last.reason = f"It made room for a tool from elsewhere (score {last.score:.3f})."
        other.reason = (
            f"It is the best beside those of {server}, which fill no result alone (score {other.score:.3f})."
        )

    def _page(self, found: Sequence[Candidate], most: int) -> list[Candidate]:
        """The first of them, without cutting off all that is not of one server."""
        page, waiting = [*found[:most]], found[most:]
        if self.config.spread and (places := self._places_to_swap(page, waiting)) is not None:
            page[places[0]] = waiting[places[1]]
        return page

    def _places_to_swap(
        self, page: Sequence[Candidate], waiting: Sequence[Candidate]
    ) -> tuple[int, int] | None:
        return places_to_swap([*map(self._standing, page)], [*map(self._standing, waiting)])

    def _standing(self, candidate: Candidate) -> Standing:
        return Standing(self._servers[candidate.position], candidate.named is not None)

    def _called(self, name: str, visible: Visible | None) -> tuple[int, ...]:
        """The visible tools that a name means, in the order of their names."""
        names = VisibleNames(self.catalog, visible)
        for spelling in (name, unwrapped(name)):
            places = names.find(spelling)
            literal = tuple(place for place in places if self.catalog.wire_names[place] == spelling)
            if places:
                return literal or tuple(sorted(places, key=self._tie_order.__getitem__))
        return ()

    def _nearest(self, name: str, visible: Visible | None) -> tuple[str, ...]:
        """Wire names of at most three visible tools whose wire name or raw name looks like this one."""
        wire_of: dict[str, str] = {}
        for place in self._visible_places(visible):
            wire = self.catalog.wire_names[place]
            wire_of[wire] = wire
            wire_of.setdefault(self.catalog.identities[place][1], wire)
        return tuple(dict.fromkeys(wire_of[found] for found in nearest(name, sorted(wire_of), limit=6)))[:3]

    def _result(
        self,
        asked: Sequence[str],
        visible: Visible | None,
        tools: Sequence[Candidate],
        **details: Any,
    ) -> SearchResult:
        """``matched`` with tools to load, or ``no_match`` with names to choose from."""
        found = (
            SearchResult("", "matched", tools=tuple(map(self._hit, tools)), total=self._count(visible))
            if tools
            else self._listing("no_match", visible)
        )
        return replace(found, query=" | ".join(asked), generation=self.generation, **details)

    def _listing(self, outcome: Literal["browse", "no_match"], visible: Visible | None) -> SearchResult:
        """A result that loads nothing and shows a bounded number of names."""
        most = self.config.browse_names if outcome == "browse" else self.config.miss_names
        spaces = (self.catalog.identities[place][0] for place in self._visible_places(visible))
        owners = Counter(space for space in spaces if space is not None)
        largest = sorted(owners.items(), key=lambda owner: (-owner[1], owner[0]))
        return SearchResult(
            query="",
            outcome=outcome,
            names=tuple(sorted(self._visible_names(visible))[:most]),
            namespaces=tuple(sorted(largest if most is None else largest[:MOST_NAMESPACES])),
            total=self._count(visible),
            generation=self.generation,
        )

    def _hit(self, candidate: Candidate) -> Hit:
        place = candidate.position
        name, tool = self.catalog.wire_names[place], self.catalog[place]
        return Hit(name, tool, candidate.score, place, candidate.named)

    def _visible_places(self, visible: Visible | None) -> Sequence[int]:
        return range(len(self.catalog)) if visible is None else np.flatnonzero(visible).tolist()

    def _visible_names(self, visible: Visible | None) -> list[str]:
        return [self.catalog.wire_names[place] for place in self._visible_places(visible)]

    def _count(self, visible: Visible | None) -> int:
        return len(self.catalog) if visible is None else int(np.count_nonzero(visible))


def _alternating(lists: Sequence[Sequence[Candidate]]) -> list[Candidate]:
    """The best of each list, then the second of each, no tool twice."""
    merged: dict[int, Candidate] = {}
    for row in zip_longest(*lists):
        for candidate in filter(None, row):
            merged.setdefault(candidate.position, candidate)
    return list(merged.values())
