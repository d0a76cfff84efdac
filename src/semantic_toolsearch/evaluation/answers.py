"""What an arm of an evaluation is, and what it answers: a dataset and queries in, answers out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from semantic_toolsearch.evaluation.dataset import Dataset, Query

__all__ = ["DEPTH", "SEARCHED", "Answer", "Arm", "Build", "How", "PreparedArm", "Why"]

DEPTH: Final = 50
"""Tools of a ranking that are kept: more than any rank measure reads."""

SEARCHED: Final = "searched: "
"""How a note about one answer begins that says what a model wrote to search; it is no matter of the whole arm."""

How: TypeAlias = Literal["local", "emulated", "live", "replayed"]
"""Whether an arm ran here, imitates a provider by its documented rules, asked the provider, or reads its stored
responses."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an arm found for one query.

    Attributes:
        ranked: Places of the tools in the arm's order, best first, each once, at most ``DEPTH``. Without a limit, band
            or confidence where the arm tells the order beyond them; empty where it shows no order.
        returned: Places of the tools that a model would get, best first.
        seconds: Time of this query alone.
        failed: Why there is no answer; the query then counts 0 in every measure.
        usage: What a provider counted for the request: ``input_tokens``, ``output_tokens`` and the like.
        notes: What is to be said about this answer (a degraded search, a cut query).
    """

    ranked: tuple[int, ...] = ()
    returned: tuple[int, ...] = ()
    seconds: float = 0.0
    failed: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Why:
    """Why a tool stands where it does for a query.

    Attributes:
        place: The tool.
        rank: Its place in the ranking, from 1, or None.
        score: Its score.
        verdict: What became of it (``returned``, ``weak``, ``banded``, ``capped``, ``unranked``).
        reason: The verdict in one sentence.
        parts: Parts of the score by name, where the ranker tells them.
        words: Words of the query that the tool's fields hold, by field.
    """

    place: int
    rank: int | None
    score: float
    verdict: str
    reason: str
    parts: Mapping[str, float] = field(default_factory=dict)
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Build:
    """What it took to be ready for queries.

    Attributes:
        seconds: Time to build.
        embedded: Texts that the model embedded.
        from_cache: Texts whose vectors were kept from earlier; time does not count them.
    """

    seconds: float = 0.0
    embedded: int = 0
    from_cache: int = 0


class PreparedArm(Protocol):
    """An arm that is ready to answer queries about one dataset."""

    @property
    def build(self) -> Build:
        """What getting ready took."""
        ...

    def answers(
        self, queries: Sequence[Query], hidden: Mapping[str, Collection[int]] | None = None
    ) -> Iterator[tuple[Query, Answer]]:
        """Answer each query once, in any order, as soon as each is ready.

        A fault of one query is its answer's ``failed``; only what makes all further answers impossible raises.

        Args:
            queries: What is asked.
            hidden: By query id, places of tools to leave out of the search for that query; given to arms whose
                ``hides`` is true only.
        """
        ...

    def explain(self, query: Query, places: Collection[int]) -> list[Why]:
        """Say why tools stand where they do; empty where the arm cannot tell.

        Args:
            query: What was asked.
            places: The tools.
        """
        ...


class Arm(Protocol):
    """One way to search that is compared with others."""

    @property
    def name(self) -> str:
        """As tables show it; unique in a run."""
        ...

    @property
    def how(self) -> How:
        """Where its answers come from."""
        ...

    @property
    def ranks(self) -> bool:
        """Whether it shows an order; one that does not is measured by what it returned alone."""
        ...

    @property
    def hides(self) -> bool:
        """Whether tools can be hidden from single queries, to measure what is loaded when nothing fits."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said beside its figures, a sentence each."""
        ...

    def prepare(self, dataset: Dataset) -> PreparedArm:
        """Build what answering needs.

        Raises:
            ToolSearchError: This arm cannot run on this dataset; its row says why and the others go on.
        """
        ...
