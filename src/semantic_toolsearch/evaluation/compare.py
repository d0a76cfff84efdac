"""Two results files of the same queries in; what became better or worse beyond chance out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from semantic_toolsearch.errors import DatasetError
from semantic_toolsearch.evaluation.measuring.significance import holm, paired_test
from semantic_toolsearch.evaluation.results import MEASURES, ArmResult, Evaluation, TaskResult

__all__ = ["Comparison", "Difference", "compare"]

LOADED_GOLD: Final = "loads gold"
"""Share of the answerable queries that load a gold tool or a copy of one."""

LOADED_NOTHING: Final = "loads nothing"
"""Share of the unanswerable queries that load nothing."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One measure of one arm on one task, before and after.

    Attributes:
        task: The dataset.
        arm: The arm; `a -> b` where two arms are compared.
        measure: A rank measure, `loads gold` or `loads nothing`.
        queries: Queries that both have.
        before: Mean before.
        after: Mean after.
        low: Lower end of the 95 % bootstrap interval of the difference.
        high: Upper end.
        p: Of the paired randomisation test, after Holm's correction over the measures of this arm and task.
        verdict: ``better`` or ``worse`` where p is under 0.05, else ``same``.
    """

    task: str
    arm: str
    measure: str
    queries: int
    before: float
    after: float
    low: float
    high: float
    p: float
    verdict: Literal["better", "worse", "same"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between two evaluations.

    Attributes:
        differences: One entry a task, arm and measure.
        notes: What could not be compared, and why.
        lost: Tasks and arms that had figures before and have failed now.
    """

    differences: tuple[Difference, ...]
    notes: tuple[str, ...]
    lost: tuple[tuple[str, str], ...] = ()

    @property
    def worse(self) -> tuple[Difference, ...]:
        """What dropped beyond noise."""
        return tuple(each for each in self.differences if each.verdict == "worse")

    @property
    def better(self) -> tuple[Difference, ...]:
        """What rose beyond noise."""
        return tuple(each for each in self.differences if each.verdict == "better")

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "differences": [asdict(each) for each in self.differences],
            "notes": list(self.notes),
            "lost": [{"task": task, "arm": arm} for task, arm in self.lost],
        }


def compare(
    before: Evaluation,
    after: Evaluation,
    *,
    arms: Sequence[tuple[str, str]] | None = None,
    seed: int = 7,
    alpha: float = 0.05,
) -> Comparison:
    """Compare two evaluations query by query.

    Args:
        before: The evaluation to compare with.
        after: The new one.
        arms: Pairs of arms, the first of ``before``, the second of ``after``; None for those that both have.
        seed: Of the resampling.
        alpha: Corrected p under which a difference is no chance.

    Raises:
        DatasetError: They have no task, or no arm with figures, in common.
    """
    notes: list[str] = []
    lost: list[tuple[str, str]] = []
    differences: list[Difference] = []
    later = {task.name: task for task in after.tasks}
    for task in before.tasks:
        if task.name not in later:
            notes.append(f"{task.name} is in the first evaluation only.")
            continue
        differences += _task(task, later[task.name], arms, seed, alpha, notes, lost)
    notes += [
        f"{name} is in the second evaluation only."
        for name in later
        if name not in {task.name for task in before.tasks}
    ]
    if not differences:
        raise DatasetError(
            f"There is nothing to compare: no task and arm has figures in both. {' '.join(notes)}".strip()
        )
    return Comparison(tuple(differences), tuple(notes), tuple(lost))


def _task(
    one: TaskResult,
    other: TaskResult,
    arms: Sequence[tuple[str, str]] | None,
    seed: int,
    alpha: float,
    notes: list[str],
    lost: list[tuple[str, str]],
) -> Iterator[Difference]:
    firsts, seconds = ({arm.arm: arm for arm in task.arms} for task in (one, other))
    pairs = arms if arms is not None else [(name, name) for name in firsts if name in seconds]
    if one.sha256 != other.sha256:
        notes.append(f"The files of {one.name} differ between the two; queries of the same id are compared.")
    rows = {row.id: place for place, row in enumerate(other.queries)}
    shared = [(place, rows[row.id]) for place, row in enumerate(one.queries) if row.id in rows]
    if len(shared) < max(len(one.queries), len(other.queries)):
        notes.append(
            f"{one.name}: {len(shared)} queries are in both, of {len(one.queries)} and {len(other.queries)}."
        )
    if not shared:
        return
    for first, second in pairs:
        name = first if first == second else f"{first} -> {second}"
        missing = [arm for arm, found in ((first, firsts), (second, seconds)) if arm not in found]
        if missing:
            notes.append(f"{one.name} has no arm {missing[0]!r}.")
            continue
        before, after = firsts[first], seconds[second]
        if failed := before.failed or after.failed:
            notes.append(f"{one.name}, {name}: an arm failed: {failed}")
            if before.failed is None:
                lost.append((one.name, name))
            continue
        yield from _arm(one, other, before, after, name, shared, seed, alpha)


def _arm(
    one: TaskResult,
    other: TaskResult,
    before: ArmResult,
    after: ArmResult,
    name: str,
    shared: Sequence[tuple[int, int]],
    seed: int,
    alpha: float,
) -> Iterator[Difference]:
    olds, news = _series(one, before), _series(other, after)
    tested = {}
    for measure in olds:
        if measure not in news:
            continue
        pairs = [
            (olds[measure][a], news[measure][b])
            for a, b in shared
            if a in olds[measure] and b in news[measure]
        ]
        if pairs:
            tested[measure] = (
                pairs,
                paired_test([new for _, new in pairs], [old for old, _ in pairs], seed=seed),
            )
    corrected = dict(zip(tested, holm([test.p for _, test in tested.values()]), strict=True))
    for measure, (pairs, test) in tested.items():
        chance = corrected[measure] >= alpha or test.difference == 0
        yield Difference(
            task=one.name,
            arm=name,
            measure=measure,
            queries=len(pairs),
            before=round(sum(old for old, _ in pairs) / len(pairs), 6),
            after=round(sum(new for _, new in pairs) / len(pairs), 6),
            low=round(test.low, 6),
            high=round(test.high, 6),
            p=round(corrected[measure], 6),
            verdict="same" if chance else "better" if test.difference > 0 else "worse",
        )


def _series(task: TaskResult, arm: ArmResult) -> Mapping[str, Mapping[int, float]]:
    """By measure, the value of each query that it is about, by its row."""
    answerable = [place for place, row in enumerate(task.queries) if row.answerable]
    series: dict[str, dict[int, float]] = {
        measure: {place: arm.values[measure][place] for place in answerable}
        for measure in MEASURES
        if measure in arm.values
    }
    if arm.loaded:
        right = [{*row.gold, *row.copies} for row in task.queries]
        series[LOADED_GOLD] = {
            place: float(not right[place].isdisjoint(arm.loaded[place])) for place in answerable
        }
        series[LOADED_NOTHING] = {
            place: float(not arm.loaded[place])
            for place, row in enumerate(task.queries)
            if not row.answerable
        }
    return series
