"""Cases in; the pairs of a right tool and a wrong one above it, with what made the wrong one win, out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Final

from semantic_toolsearch.documents import lexical_tokens, shared_words
from semantic_toolsearch.evaluation.mining.records import Confusion
from semantic_toolsearch.evaluation.mining.said_words import held_words
from semantic_toolsearch.rankers.checked import checked_parts

if TYPE_CHECKING:
    from semantic_toolsearch.evaluation.mining.cases import Case
    from semantic_toolsearch.retriever import Retriever

__all__ = ["find_confusions"]

_MEASURED: Final = 50
"""Pairs whose parts of the score are looked up, the most frequent first: each costs the ranker several answers."""

_SAMPLED: Final = 5
"""Phrasings of a pair whose parts are looked up."""


def find_confusions(retriever: Retriever, cases: Sequence[Case], names: Sequence[str]) -> list[Confusion]:
    """Count which wrong tools among the first five are ranked above which right ones.

    Args:
        retriever: What ranked them.
        cases: The phrasings.
        names: By place, what tools are called in reports.

    Returns:
        The most frequent pairs first, then by name.

    Raises:
        RankerError: The ranker's ``explain`` raised or told no numbers.
    """
    pairs: defaultdict[tuple[int, int], list[Case]] = defaultdict(list)
    wanted: defaultdict[int, int] = defaultdict(int)
    for case in cases:
        for number, gold in enumerate(case.places):
            if gold is None:
                continue
            wanted[gold] += 1
            for instead in case.beating(number):
                pairs[gold, instead].append(case)
    order = sorted(pairs, key=lambda pair: (-len(pairs[pair]), names[pair[0]], names[pair[1]]))
    return [
        _confusion(
            retriever, gold, instead, pairs[gold, instead], names, wanted[gold], measured=rank < _MEASURED
        )
        for rank, (gold, instead) in enumerate(order)
    ]


def _confusion(
    retriever: Retriever,
    gold: int,
    instead: int,
    cases: Sequence[Case],
    names: Sequence[str],
    wanted: int,
    *,
    measured: bool,
) -> Confusion:
    catalog = retriever.catalog
    fields = shared_words(catalog[instead], "\n".join(case.said.text for case in cases))
    words = held_words([case.said for case in cases], fields, without=set(lexical_tokens(catalog[gold])))
    parts = {}
    if measured:
        texts = [case.query.text for case in cases[:_SAMPLED]]
        right, wrong = (_mean_parts(retriever, texts, place) for place in (gold, instead))
        parts = {name: (right[name], wrong[name]) for name in right if name in wrong}
    return Confusion(
        wanted=names[gold],
        instead=names[instead],
        count=len(cases),
        of=wanted,
        words=words,
        parts=parts,
        texts=tuple(case.query.text for case in cases),
    )


def _mean_parts(retriever: Retriever, texts: Sequence[str], place: int) -> dict[str, float]:
    told = [checked_parts(retriever.ranker, text, place) for text in texts]
    return {name: fmean(parts.get(name, 0.0) for parts in told) for name in told[0]}
