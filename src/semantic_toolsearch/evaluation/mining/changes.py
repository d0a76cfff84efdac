"""Cases, magnets and confusions in; the tools whose text to change, each with its evidence, out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from semantic_toolsearch.errors import EmbedderError
from semantic_toolsearch.evaluation.mining.reasons import (
    magnet_reason,
    pair_reasons,
    text_reasons,
    word_reasons,
)
from semantic_toolsearch.evaluation.mining.records import Change, Confusion, Magnet
from semantic_toolsearch.lint import KINDS, Finding, lint_catalog, tool_vectors

if TYPE_CHECKING:
    from semantic_toolsearch.evaluation.mining.cases import Case
    from semantic_toolsearch.toolsearch import ToolSearch

__all__ = ["find_changes"]

FEWEST_LOST: Final = 2
"""Lost phrasings from which a tool that is sometimes found may want a change: one is no habit."""

_LINTED: Final = ("near-duplicate", "thin-description", "stuffed")


@dataclass(frozen=True)
class _Fare:
    """How one tool fares: the phrasings that want it, each with its number among the gold tools there."""

    wanting: Sequence[tuple[Case, int]]
    magnets: Collection[int]

    @cached_property
    def loaded(self) -> int:
        return sum(case.loads(number) for case, number in self.wanting)

    @cached_property
    def lost(self) -> int:
        return sum(case.lost(number, self.magnets) for case, number in self.wanting)

    @cached_property
    def found(self) -> bool:
        return self.loaded > 0 or any(case.above(number) == () for case, number in self.wanting)

    @property
    def wants_change(self) -> bool:
        if not self.wanting:
            return False
        return not self.found or (self.lost >= FEWEST_LOST and 2 * self.lost >= len(self.wanting))

    @property
    def fates(self) -> dict[str, int]:
        counts = Counter(case.fate(number) for case, number in self.wanting if not case.loads(number))
        return dict(sorted(counts.items(), key=lambda fate: (-fate[1], fate[0])))


def find_changes(
    search: ToolSearch,
    cases: Sequence[Case],
    magnets: Mapping[int, Magnet],
    confusions: Sequence[Confusion],
    names: Sequence[str],
) -> tuple[list[Change], str | None]:
    """Choose the tools whose text to change, and gather what speaks for it.

    A tool is chosen when it is a magnet; when no phrasing that wants it finds it; or when at least half of the
    phrasings that want it, and two of them, are lost: it is not loaded, or a wrong tool is above it that is no magnet
    (then it is the magnet's text that wants a change). A tool that is found at times is left out where nothing in
    its text speaks for a change.

    Args:
        search: The tools.
        cases: The phrasings.
        magnets: By place, those that are sure.
        confusions: The pairs, the most frequent first.
        names: By place, what tools are called.

    Returns:
        The changes: tools that are never found first, then by lost phrasings and what magnets take. And a note where
        something could not be looked up.
    """
    own: defaultdict[int, list[tuple[Case, int]]] = defaultdict(list)
    for case in cases:
        for number, place in enumerate(case.places):
            if place is not None:
                own[place].append((case, number))
    fares = {place: _Fare(own[place], magnets) for place in sorted({*own, *magnets})}
    chosen = {place: fare for place, fare in fares.items() if place in magnets or fare.wants_change}
    if not chosen:
        return [], None
    linted, note = _linted(search)
    attractive = {names[place] for place in magnets}
    ordered = []
    for place, fare in chosen.items():
        name, tool = names[place], search.catalog[place]
        reasons = [*text_reasons(tool, linted.get(name, ()), name)]
        if place in magnets:
            reasons.insert(0, magnet_reason(magnets[place]))
        if fare.lost:
            # What nobody labelled may want this very tool, so it is no evidence of what others are asked for.
            others = [case.said for case in cases if case.gold and place not in case.right]
            reasons += word_reasons(tool, [case.said for case, _ in fare.wanting], others)
            pairs = [pair for pair in confusions if pair.wanted == name and pair.instead not in attractive]
            reasons += pair_reasons(search.catalog, pairs, FEWEST_LOST if fare.found else 1)
        if reasons or not fare.found:
            wanted = len(fare.wanting)
            change = Change(
                name, place in magnets, wanted, fare.loaded, fare.lost, fare.fates, tuple(reasons)
            )
            taken = magnets[place].count if place in magnets else 0
            ordered.append((wanted == 0 or fare.found, -fare.lost - taken, name, change))
    return [change for *_, change in sorted(ordered, key=lambda entry: entry[:3])], note


def _linted(search: ToolSearch) -> tuple[dict[str, list[Finding]], str | None]:
    """The findings of the check of definitions that concern texts, by tool."""
    vectors, note = None, None
    if search.seen_by(None)[0].uses_dense:
        try:
            vectors = tool_vectors(search)
        except EmbedderError as error:
            note = f"Near-duplicates were looked for by words alone. {error}"
    findings = lint_catalog(search.catalog, vectors, ignore=set(KINDS) - set(_LINTED))
    by_tool: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        for tool in finding.tools:
            by_tool[tool].append(finding)
    return by_tool, note
