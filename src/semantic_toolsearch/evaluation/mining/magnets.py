"""What phrasings brought up though they want something else in; the tools that attract far too much out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Final

__all__ = ["Pull", "Raised", "pulls", "wilson_low"]

FEWEST: Final = 3
"""Phrasings, and different needs among them, under which nothing is called a magnet: a pair of look-alikes takes
each other's phrasings without attracting anything else."""

FACTOR: Final = 2.0
"""How many times the typical share a magnet has at least."""

ALPHA: Final = 0.05
"""Chance that any tool at all is called a magnet by luck."""


@dataclass(frozen=True, slots=True)
class Raised:
    """One phrasing and the tools that it brought up.

    Attributes:
        right: Places that are an answer.
        need: What it wants, such as the set of its gold tools; equal for phrasings that want the same.
        tools: Places that it brought up.
    """

    right: Collection[int]
    need: Hashable
    tools: Sequence[int]


@dataclass(frozen=True, slots=True)
class Pull:
    """A tool that attracts.

    Attributes:
        place: The tool.
        numbers: Which phrasings, as indices.
        of: Phrasings that it is no answer to.
        needs: Different needs among them.
        low: Lower end of the confidence interval of its share.
        typical: Share of another tool.
    """

    place: int
    numbers: tuple[int, ...]
    of: int
    needs: int
    low: float
    typical: float


def pulls(phrasings: Sequence[Raised], size: int, tests: int | None = None) -> list[Pull]:
    """Find the tools that come up for what is not theirs far more often than tools do.

    A tool's share is the part of the phrasings that it is no answer to and that bring it up. It is a magnet when the
    lower end of Wilson's interval of that share reaches twice the typical share, and the phrasings are at least three,
    with at least three different needs. Typical is the mean share of all other tools, and at least one phrasing. The
    interval is as wide as asking the question of every tool demands (Bonferroni), so that in a large catalog no tool
    is called a magnet by luck.

    Args:
        phrasings: What each phrasing brought up.
        size: Number of tools.
        tests: How often the question is asked in all; by default once a tool.

    Returns:
        The magnets, the largest share (by its lower end) first.
    """
    if size < FEWEST or not phrasings:
        return []
    z = NormalDist().inv_cdf(1 - ALPHA / (tests or size))
    taken: defaultdict[int, list[int]] = defaultdict(list)
    own: defaultdict[int, int] = defaultdict(int)
    for number, phrasing in enumerate(phrasings):
        right = set(phrasing.right)
        for place in right:
            own[place] += 1
        for place in dict.fromkeys(phrasing.tools):
            if place not in right:
                taken[place].append(number)
    shares = {place: len(numbers) / (len(phrasings) - own[place]) for place, numbers in taken.items()}
    total = sum(shares.values())
    found = []
    for place, numbers in taken.items():
        of = len(phrasings) - own[place]
        needs = len({phrasings[number].need for number in numbers})
        typical = max((total - shares[place]) / (size - 1), 1 / len(phrasings))
        low = wilson_low(len(numbers), of, z)
        if len(numbers) >= FEWEST and needs >= FEWEST and low >= FACTOR * typical:
            found.append(Pull(place, tuple(numbers), of, needs, low, typical))
    return sorted(found, key=lambda pull: (-pull.low, pull.place))


def wilson_low(count: int, of: int, z: float) -> float:
    """Lower end of Wilson's score interval of a share ("Probable Inference", JASA 1927).

    Args:
        count: How often.
        of: Of how many, at least 1.
        z: Standard normal quantile of the confidence.
    """
    share = count / of
    middle = share + z * z / (2 * of)
    spread = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return max(0.0, (middle - spread) / (1 + z * z / of))
