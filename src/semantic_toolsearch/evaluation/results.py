"""The results file: figures of an evaluation in, JSON that reads the same everywhere out, and back.

A tool's *place* is its index in the dataset's tools. What an arm *returns* for a query is what a model then has
*loaded*: ``loaded`` lists those tools, and ``returned`` holds the figures of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from semantic_toolsearch.evaluation.answers import How

__all__ = [
    "FORMAT",
    "MEASURES",
    "ArmResult",
    "ConversationResult",
    "Evaluation",
    "FrozenRecord",
    "QueryRow",
    "SizeResult",
    "TaskResult",
]

FORMAT: Final = "semantic_toolsearch evaluation 1"

MEASURES: Final = ("hit@1", "recall@5", "complete@5", "nDCG@10", "MRR")
"""The rank measures, in the order of tables."""


class FrozenRecord(BaseModel):
    """A record that is read strictly and never changed."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class QueryRow(FrozenRecord):
    """One query of a task, without its text, which stays with the dataset.

    Attributes:
        id: Its id.
        answerable: Whether a tool answers it.
        gold: Places of its usable gold tools.
        copies: Places of their usable copies, each of which does as well as the gold tool that it stands for.
        slices: Its value on each axis: ``kind``, ``language``, ``script``, ``overlap``, ``name``, ``gold tools``.
    """

    id: str
    answerable: bool = True
    gold: tuple[int, ...] = ()
    copies: tuple[int, ...] = ()
    slices: Mapping[str, str] = {}


class ArmResult(FrozenRecord):
    """The figures of one arm on one task.

    Attributes:
        arm: Its name.
        how: See ``How``.
        ranks: Whether it shows an order; without one ``measures`` and ``values`` are empty.
        notes: What must be said beside the figures.
        failed: Why there are no figures, or None.
        failures: By query id, why a query has no answer; it counts 0.
        measures: Mean of each rank measure over the answerable queries, 0 to 1.
        beats: By measure, the names of the arms that it is significantly better than.
        recall_at: Mean recall among the first 1, 2, 3, ... tools of the ranking.
        returned: Figures of what a model would get: ``size``, ``tokens``, ``precision``, ``recall``, ``complete``,
            ``empty`` over the answerable queries; ``nothing_loaded`` over the unanswerable ones,
            ``nothing_without_gold``, ``nothing_for_strangers`` and ``named_first`` where they were measured. Shares are
            0 to 1.
        slices: By axis and value: ``queries`` and the mean of each measure.
        values: By measure, one value for each query of the task, in its order; 0 where nothing fits.
        ranked: For each query, places of the first tools of the ranking.
        loaded: For each query, places of the tools returned.
        usage: Sums of what a provider counted.
        times: Seconds and the like, which differ from run to run: ``build_s``, ``embedded``, ``from_cache``,
            ``p50_ms``, ``p95_ms``.
    """

    arm: str
    how: How = "local"
    ranks: bool = True
    notes: tuple[str, ...] = ()
    failed: str | None = None
    failures: Mapping[str, str] = {}
    measures: Mapping[str, float] = {}
    beats: Mapping[str, tuple[str, ...]] = {}
    recall_at: tuple[float, ...] = ()
    returned: Mapping[str, float] = {}
    slices: Mapping[str, Mapping[str, Mapping[str, float]]] = {}
    values: Mapping[str, tuple[float, ...]] = {}
    ranked: tuple[tuple[int, ...], ...] = ()
    loaded: tuple[tuple[int, ...], ...] = ()
    usage: Mapping[str, int] = {}
    times: Mapping[str, float] = {}


class TaskResult(FrozenRecord):
    """All arms on one task.

    Attributes:
        name: The dataset's name.
        description: Where it comes from.
        split: The split that was asked.
        tools: Number of usable tools.
        unusable: Number of definitions that cannot be used.
        full_tokens: Tokens of all definitions in full.
        counted: How tokens were counted.
        sha256: Hash of each file of the dataset.
        asked: Number of queries; counted where it is not given.
        unanswerable: Number of those that no tool answers; likewise.
        queries: The queries; empty where results are published without them.
        arms: One entry an arm, in the order of the run.
    """

    name: str
    description: str = ""
    split: str
    tools: int
    unusable: int = 0
    full_tokens: int = 0
    counted: str = ""
    sha256: Mapping[str, str] = {}
    asked: int = 0
    unanswerable: int = 0
    queries: tuple[QueryRow, ...] = ()
    arms: tuple[ArmResult, ...] = ()

    @model_validator(mode="after")
    def _count(self) -> TaskResult:
        if self.queries and not self.asked:
            object.__setattr__(self, "asked", len(self.queries))
            object.__setattr__(self, "unanswerable", sum(not row.answerable for row in self.queries))
        return self


class SizeResult(FrozenRecord):
    """The same queries with one number of tools.

    Attributes:
        task: Dataset that tools and queries come from.
        tools: Tools in each catalog.
        queries: Number of queries.
        catalogs: Number of catalogs that the queries were spread over.
        arms: By arm, the mean of each measure.
        tokens: By mode, tokens of a first request's tools.
        times: By arm, ``p50_ms`` and ``p95_ms`` of a query.
    """

    task: str
    tools: int
    queries: int
    catalogs: int
    arms: Mapping[str, Mapping[str, float]] = {}
    tokens: Mapping[str, float] = {}
    times: Mapping[str, Mapping[str, float]] = {}


class ConversationResult(FrozenRecord):
    """What scripted conversations of one length cost in one mode; all numbers are means over the conversations.

    Attributes:
        task: Dataset that tools and queries come from.
        tools: Number of tools.
        mode: How unloaded tools travel, as in `docs/modes.md`.
        api: Wire format that was spoken.
        turns: User messages of each conversation.
        conversations: Number of conversations.
        requests: Model requests, with those that searches add.
        first_tokens: Tokens of the tools in the first request.
        input_tokens: Input tokens of all requests.
        read: Of those, read from the prompt cache.
        written: Of those, written to it.
        fresh: Neither.
        cost: All of them in ordinary input tokens, at the prices of `prices`.
        rewrites: Requests whose tools list differs from the one before.
        answered: Share of the user messages whose gold tool was called.
        prices: The prices of a cached token against an ordinary one.
        counted: How tokens were counted.
        notes: What must be said beside the figures.
    """

    task: str
    tools: int
    mode: Literal["full", "hosted", "reference", "output", "stub", "bridge"]
    api: str
    turns: int
    conversations: int
    requests: float
    first_tokens: float
    input_tokens: float
    read: float
    written: float
    fresh: float
    cost: float
    rewrites: float
    answered: float
    prices: Mapping[str, float] = {}
    counted: str = ""
    notes: tuple[str, ...] = ()


class Evaluation(FrozenRecord):
    """One run of the suite.

    Attributes:
        format: Format of the file.
        config: What was asked for: arms, split, queries a task, seed, embedding model, numbers of the rules.
        versions: Of the library, Python, and the packages that figures depend on.
        tasks: One entry a task.
        sizes: The same queries over catalogs that grow.
        conversations: What conversations cost, mode by mode.
        times: Seconds of the run and peak memory, which differ from run to run.
    """

    format: Literal["semantic_toolsearch evaluation 1"] = FORMAT
    config: Mapping[str, Any] = {}
    versions: Mapping[str, str] = {}
    tasks: tuple[TaskResult, ...] = ()
    sizes: tuple[SizeResult, ...] = ()
    conversations: tuple[ConversationResult, ...] = ()
    times: Mapping[str, float] = Field(default_factory=dict)
