"""A dataset in; what Anthropic's hosted search would find by its documented rules out. Always labelled emulated."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from semantic_toolsearch.documents import shared_words
from semantic_toolsearch.emulated_search import (
    DEFAULT_RESULTS,
    MAX_PATTERN,
    MAX_QUERY,
    EmulatedSearch,
    SearchFailure,
    searched_texts,
)
from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.evaluation.answers import DEPTH, Answer, Build, How, Why
from semantic_toolsearch.evaluation.arms.patterns import written_pattern
from semantic_toolsearch.modes import MAX_DEFERRED
from semantic_toolsearch.rankers.bm25 import TEXTBOOK_B, TEXTBOOK_K1
from semantic_toolsearch.schema_projection import wire_projection

if TYPE_CHECKING:
    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.evaluation.dataset import Dataset, Query

__all__ = ["EmulatedArm", "Variant"]

Variant = Literal["bm25", "regex"]

_DOCUMENTED: Final = (
    "{name}: emulated here, the provider was not asked. Documented, and kept: names, descriptions, argument names and "
    f"argument descriptions are searched; at most {DEFAULT_RESULTS} tools are returned, none is padded in; "
    f"{MAX_DEFERRED:,} deferred tools a request; "
)
_NOTES: Final[Mapping[Variant, tuple[str, ...]]] = {
    "bm25": (
        f"{_DOCUMENTED}{MAX_QUERY} characters a query.",
        f"{{name}}: not documented, and chosen: k1 = {TEXTBOOK_K1} and b = {TEXTBOOK_B}; words split at separators and "
        "capitals, without stems or stop words; one joined text a tool; ties in catalog order. The query is sent "
        "as it stands, where a model would write its own; ranks beyond "
        f"{DEFAULT_RESULTS} are shown by the emulation alone.",
    ),
    "regex": (
        f"{_DOCUMENTED}patterns are Python's with case ignored, of {MAX_PATTERN} characters.",
        "{name}: not documented, and chosen: a pattern matches within one field; tools come in catalog order. The "
        "pattern is written from the query's telling words, where a model would write its own; ranks beyond "
        f"{DEFAULT_RESULTS} are shown by the emulation alone.",
    ),
}


@dataclass(frozen=True)
class EmulatedArm:
    """One of Anthropic's two variants.

    Attributes:
        name: As tables show it.
        variant: ``bm25`` gets the query as it stands, ``regex`` the pattern that stands for it.
        how, ranks, hides: See ``Arm``. A hidden tool is left out of the results; the weights of words stay.
    """

    name: str
    variant: Variant
    how: ClassVar[How] = "emulated"
    ranks: ClassVar[bool] = True
    hides: ClassVar[bool] = True

    @property
    def notes(self) -> tuple[str, ...]:
        """What is documented and kept, and what is not and was chosen."""
        return tuple(note.format(name=self.name) for note in _NOTES[self.variant])

    def prepare(self, dataset: Dataset) -> PreparedEmulation:
        """Collect the texts as a request would carry them.

        Raises:
            ConfigError: There are more tools than one request may defer.
        """
        catalog = dataset.catalog
        if len(catalog) > MAX_DEFERRED:
            raise ConfigError(
                f"Anthropic's search takes at most {MAX_DEFERRED:,} deferred tools in a request, and "
                f"{dataset.name} has {len(catalog):,}."
            )
        start = time.perf_counter()
        prepared = PreparedEmulation(catalog, self.variant)
        prepared.build = Build(time.perf_counter() - start)
        return prepared


class PreparedEmulation:
    """The emulated search over one catalog.

    Attributes:
        build: What getting ready took.
    """

    def __init__(self, catalog: Catalog, variant: Variant) -> None:
        self.build = Build()
        self._catalog = catalog
        self._variant = variant
        self._search = EmulatedSearch(
            searched_texts(name, tool.description, wire_projection(tool.parameters)[0])
            for name, tool in zip(catalog.wire_names, catalog, strict=True)
        )
        self._order("warm up", DEPTH)

    def answers(
        self, queries: Sequence[Query], hidden: Mapping[str, Collection[int]] | None = None
    ) -> Iterator[tuple[Query, Answer]]:
        """Answer in the order of the queries; see ``PreparedArm.answers``."""
        for query in queries:
            unseen = set((hidden or {}).get(query.id, ()))
            text = self._input(query)
            start = time.perf_counter()
            try:
                found = [place for place in self._order(text, DEPTH + len(unseen)) if place not in unseen]
            except SearchFailure as failure:
                failed = f"{failure.code}: {failure.message}"
                yield query, Answer(seconds=time.perf_counter() - start, failed=failed)
                continue
            seconds = time.perf_counter() - start
            yield query, Answer(tuple(found[:DEPTH]), tuple(found[:DEFAULT_RESULTS]), seconds)

    def explain(self, query: Query, places: Collection[int]) -> list[Why]:
        """See ``PreparedArm.explain``; empty where the search fails. Scores are those of the emulation."""
        text = self._input(query)
        try:
            order = self._order(text, len(self._catalog))
        except SearchFailure:
            return []
        scores = self._search.documents.scores(text) if self._variant == "bm25" else None
        ranks = {place: rank for rank, place in enumerate(order, 1)}
        whys = []
        for place in places:
            rank = ranks.get(place)
            score = float(rank is not None) if scores is None else float(scores[place])
            words = shared_words(self._catalog[place], query.text)
            whys.append(Why(place, rank, score, *self._verdict(rank), words=words))
        return whys

    def _input(self, query: Query) -> str:
        return query.text if self._variant == "bm25" else written_pattern(query.text)

    def _order(self, text: str, most: int) -> list[int]:
        if self._variant == "bm25":
            return self._search.by_bm25(text)[:most]
        return list(islice(self._search.by_regex(text), most))

    def _verdict(self, rank: int | None) -> tuple[str, str]:
        if rank is None:
            what = "It shares no word with the query." if self._variant == "bm25" else "No field matches."
            return "unranked", what
        verdict = "returned" if rank <= DEFAULT_RESULTS else "capped"
        return verdict, f"It is number {rank}, and the first {DEFAULT_RESULTS} are returned."
