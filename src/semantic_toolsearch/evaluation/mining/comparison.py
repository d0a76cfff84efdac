"""What phrasings showed before and after descriptions were changed in; what was won and lost, tested, out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any, Final

from semantic_toolsearch.errors import DatasetError
from semantic_toolsearch.evaluation.measuring.significance import paired_test
from semantic_toolsearch.evaluation.mining.records import MineReport, PhrasingResult, State

__all__ = ["FigureChange", "MineComparison", "PhrasingChange", "compare_mined"]

_ORDER: Final[tuple[State, ...]] = ("missed", "ranked", "partly loaded", "loaded", "first")
"""States of a phrasing with gold tools, the worst first."""

_ANSWERED: Final[tuple[State, ...]] = ("first", "loaded")
_KEPT_OUT: Final[tuple[State, ...]] = ("nothing",)


@dataclass(frozen=True, slots=True)
class PhrasingChange:
    """A phrasing that fares better or worse.

    Attributes:
        text: The words.
        wanted: Names of its gold tools; empty where nothing fits.
        before: Its state before.
        after: Its state after.
    """

    text: str
    wanted: tuple[str, ...]
    before: State
    after: State


@dataclass(frozen=True, slots=True)
class FigureChange:
    """One figure before and after.

    Attributes:
        measure: A rank measure; ``all loaded``, the share of phrasings whose tools are all loaded; or ``nothing
            loaded``, the share of those that nothing fits and that load nothing.
        before: Mean before.
        after: Mean after.
        low: Lower end of the 95 % bootstrap interval of the difference.
        high: Upper end.
        p: Of the paired randomisation test, not corrected for the other figures.
    """

    measure: str
    before: float
    after: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True)
class MineComparison:
    """What a change of descriptions did.

    Attributes:
        won: Phrasings that fare better.
        lost: Phrasings that fare worse.
        figures: Means before and after.
        found: Tools that were never found and are now.
        missed: Tools that were found and never are now.
        freed: Tools that were magnets and are none now.
        magnets: Tools that have become magnets.
    """

    won: tuple[PhrasingChange, ...]
    lost: tuple[PhrasingChange, ...]
    figures: tuple[FigureChange, ...]
    found: tuple[str, ...]
    missed: tuple[str, ...]
    freed: tuple[str, ...]
    magnets: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The comparison as plain JSON values."""
        content = asdict(self)
        for each in (*content["won"], *content["lost"]):
            each["wanted"] = list(each["wanted"])
        return {key: list(value) for key, value in content.items()}


def compare_mined(before: MineReport, after: MineReport, *, seed: int = 7) -> MineComparison:
    """Compare the same phrasings over two catalogs.

    A phrasing is won where its tools fare better as a whole: missed, ranked, partly loaded, all loaded, all loaded
    with no wrong tool above. Where nothing fits it is won when nothing is loaded any more.

    Args:
        before: What came out before the change.
        after: What came out after it.
        seed: Of the tests.

    Raises:
        DatasetError: The reports are about different phrasings.
    """
    asked = [
        [(each.id, each.text, bool(each.wanted), each.state == "unlabelled") for each in report.phrasings]
        for report in (before, after)
    ]
    if asked[0] != asked[1]:
        raise DatasetError(
            f"{before.name} and {after.name} are about different phrasings; compare the same ones over two catalogs."
        )
    pairs = list(zip(before.phrasings, after.phrasings, strict=True))
    changed = [
        (_better(old, new), PhrasingChange(old.text, old.wanted, old.state, new.state)) for old, new in pairs
    ]
    drew, draw = ([magnet.tool for magnet in report.magnets] for report in (before, after))
    return MineComparison(
        won=tuple(change for better, change in changed if better > 0),
        lost=tuple(change for better, change in changed if better < 0),
        figures=tuple(_figures(before, after, pairs, seed)),
        found=_gone(before.never_found, after.never_found),
        missed=_gone(after.never_found, before.never_found),
        freed=_gone(drew, draw),
        magnets=_gone(draw, drew),
    )


def _better(before: PhrasingResult, after: PhrasingResult) -> int:
    """Above 0 where the second is the better one, below 0 where it is the worse one."""
    if before.state in _ORDER and after.state in _ORDER:
        return _ORDER.index(after.state) - _ORDER.index(before.state)
    return (after.state == "nothing") - (before.state == "nothing")


def _figures(
    before: MineReport, after: MineReport, pairs: Sequence[tuple[PhrasingResult, PhrasingResult]], seed: int
) -> Iterator[FigureChange]:
    listed = {
        measure: (before.values[measure], after.values[measure])
        for measure in before.values
        if measure in after.values
    }
    wanting = [pair for pair in pairs if pair[0].wanted]
    judged = [pair for pair in pairs if not pair[0].wanted and pair[0].state != "unlabelled"]
    listed["all loaded"] = _shares(wanting, _ANSWERED)
    listed["nothing loaded"] = _shares(judged, _KEPT_OUT)
    for measure, (old, new) in listed.items():
        if old:
            test = paired_test(new, old, seed=seed)
            yield FigureChange(measure, fmean(old), fmean(new), test.low, test.high, test.p)


def _shares(
    pairs: Sequence[tuple[PhrasingResult, PhrasingResult]], states: Collection[State]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """1 for each phrasing that is in one of the states, before and after."""
    return (
        tuple(float(before.state in states) for before, _ in pairs),
        tuple(float(after.state in states) for _, after in pairs),
    )


def _gone(names: Collection[str], kept: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in kept)
