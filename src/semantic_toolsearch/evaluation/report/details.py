"""Some queries with all that a reader asks about them: the records that ``drilldown`` makes and the page shows.

Texts of queries and tools belong to whoever owns the dataset, so they are kept apart from the results.
"""

from __future__ import annotations

from collections.abc import Mapping

from semantic_toolsearch.evaluation.results import FrozenRecord

__all__ = ["ArmDetails", "QueryDetails", "Reason", "TaskDetails", "ToolText"]


class ToolText(FrozenRecord):
    """A tool as a reader needs it.

    Attributes:
        name: Its name.
        namespace: Its namespace, or None.
        description: How its description begins, on one line.
    """

    name: str
    namespace: str | None = None
    description: str = ""


class Reason(FrozenRecord):
    """Why a tool stands where it does for a query and an arm; its fields are those of ``Why``."""

    place: int
    rank: int | None = None
    score: float = 0.0
    verdict: str = ""
    reason: str = ""
    parts: Mapping[str, float] = {}
    words: Mapping[str, tuple[str, ...]] = {}


class ArmDetails(FrozenRecord):
    """What one arm made of a query.

    Attributes:
        arm: Its name.
        ranked: Places of the first tools of its ranking.
        loaded: Places of the first tools that it returned.
        returned: Number of the tools that it returned; None where it returned all there are.
        complete: Whether it returned all gold tools, or copies of them; nothing, where nothing fits.
        values: Its measures of this query; empty where it shows no order or nothing fits.
        why: Why gold tools and its first ones stand where they do.
        failed: Why it has no answer.
    """

    arm: str
    ranked: tuple[int, ...] = ()
    loaded: tuple[int, ...] = ()
    returned: int | None = None
    complete: bool = False
    values: Mapping[str, float] = {}
    why: tuple[Reason, ...] = ()
    failed: str | None = None


class QueryDetails(FrozenRecord):
    """One query.

    Attributes:
        id: Its id.
        text: What was asked.
        answerable: Whether a tool answers it.
        gold: Places of its gold tools.
        copies: Places of near copies of them.
        lost: Ids of gold tools whose definition cannot be used.
        slices: Its value on each axis.
        differs: Whether arms differ in having all its gold tools in the first five; for a query that nothing answers,
            in loading nothing.
        arms: What each arm made of it.
    """

    id: str
    text: str
    answerable: bool = True
    gold: tuple[int, ...] = ()
    copies: tuple[int, ...] = ()
    lost: tuple[str, ...] = ()
    slices: Mapping[str, str] = {}
    differs: bool = False
    arms: tuple[ArmDetails, ...] = ()


class TaskDetails(FrozenRecord):
    """Some queries of a task.

    Attributes:
        task: Its name.
        asked: Number of queries that these were chosen from.
        queries: The chosen ones, the most telling first.
        tools: By place, every tool that one of them mentions.
    """

    task: str
    asked: int
    queries: tuple[QueryDetails, ...] = ()
    tools: Mapping[int, ToolText] = {}
