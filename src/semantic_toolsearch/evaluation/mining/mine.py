"""An author's tools and what users say in; what goes wrong, and which descriptions to change, out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Final

from semantic_toolsearch.documents import shared_words
from semantic_toolsearch.errors import MissingExtraError
from semantic_toolsearch.evaluation.data.phrasings import dataset_from_phrasings
from semantic_toolsearch.evaluation.measuring.measures import means, per_query
from semantic_toolsearch.evaluation.measuring.returned import returned_figures
from semantic_toolsearch.evaluation.mining.cases import HEAD, Case, ask
from semantic_toolsearch.evaluation.mining.changes import find_changes
from semantic_toolsearch.evaluation.mining.confusions import find_confusions
from semantic_toolsearch.evaluation.mining.magnets import Pull, Raised, pulls
from semantic_toolsearch.evaluation.mining.records import (
    Magnet,
    MineReport,
    PhrasingResult,
    Stray,
    ToolFigures,
)
from semantic_toolsearch.evaluation.mining.said_words import held_words

if TYPE_CHECKING:
    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.evaluation.data.phrasings import Phrasing
    from semantic_toolsearch.evaluation.dataset import Dataset
    from semantic_toolsearch.toolsearch import ToolSearch

__all__ = ["mine", "phrasing_dataset"]

_FIGURES: Final = ("size", "precision", "recall", "complete", "empty", "nothing_loaded")


def mine(search: ToolSearch, dataset: Dataset, *, unlabelled: Collection[str] = ()) -> MineReport:
    """Ask every phrasing and gather what goes wrong.

    Args:
        search: The author's tools, with the ranker and the rules that are asked.
        dataset: The same tools in the same order, with phrasings; all splits are asked.
        unlabelled: Ids of phrasings of which nobody said what fits. Without gold tools they say nothing about a
            tool's being found, but much about magnets.

    Raises:
        DatasetError: Search and dataset hold different tools, or an unlabelled phrasing has gold tools.
        RankerError: The ranker raised or broke its contract.
    """
    cases, degraded = ask(search, dataset, unlabelled)
    retriever = search.seen_by(None)[0].retriever
    names = dataset.catalog.wire_names
    magnets = _magnets(search.catalog, cases, names)
    confusions = find_confusions(retriever, cases, names)
    sure = {place: magnet for place, magnet in magnets.items() if magnet.sure}
    changes, note = find_changes(search, cases, sure, confusions, names)
    judged = dataset.only(case.query for case in cases if case.labelled)
    figures, values, missing = _figures(judged, cases)
    return MineReport(
        name=dataset.name,
        ranker=str(getattr(search.ranker, "name", type(search.ranker).__name__)),
        figures=figures,
        values=values,
        answerable=tuple(case.query.id for case in cases if case.gold),
        tools=tuple(_tools(dataset, cases, names)),
        changes=tuple(changes),
        magnets=tuple(magnets.values()),
        confusions=tuple(confusions),
        strays=tuple(
            Stray(case.query.text, _named(case.loaded, names)) for case in cases if case.state == "stray"
        ),
        phrasings=tuple(_phrasing(case, dataset, names) for case in cases),
        notes=(*degraded, *filter(None, (note, missing, _pattern_note(search)))),
    )


def phrasing_dataset(
    catalog: Catalog, phrasings: Sequence[Phrasing], name: str
) -> tuple[Dataset, frozenset[str]]:
    """Make a dataset of phrasings, those included of which nobody said what fits.

    Args:
        catalog: The tools.
        phrasings: As ``read_phrasings`` gives them.
        name: Name of the dataset.

    Returns:
        The dataset, and the ids of the phrasings without a label, for ``mine``.

    Raises:
        DatasetError: As for ``dataset_from_phrasings``.
    """
    told = [phrasing._replace(tools=phrasing.tools or ()) for phrasing in phrasings]
    dataset = dataset_from_phrasings(catalog, told, name)
    return dataset, frozenset(
        query.id for query, phrasing in zip(dataset.queries, phrasings, strict=True) if phrasing.tools is None
    )


def _magnets(catalog: Catalog, cases: Sequence[Case], names: Sequence[str]) -> dict[int, Magnet]:
    """The magnets by place, the surest and strongest first; each as what it attracts most by."""
    raised: dict[str, Callable[[Case], Sequence[int]]] = {
        "loaded": lambda case: case.loaded,
        "first": lambda case: case.ranked[:1],
    }
    found: dict[int, Magnet] = {}
    for sure in (True, False):
        asked = [case for case in cases if case.labelled == sure]
        pulled: list[tuple[Pull, str]] = [
            (pull, by)
            for by, tools in raised.items()
            for pull in pulls(
                [Raised(case.right, frozenset(case.gold) or case.query.id, tools(case)) for case in asked],
                len(names),
                tests=2 * len(names),
            )
        ]
        for pull, by in sorted(pulled, key=lambda each: (-each[0].low, names[each[0].place])):
            if pull.place in found:
                continue
            taken = [asked[number] for number in pull.numbers]
            fields = shared_words(catalog[pull.place], "\n".join(case.said.text for case in taken))
            found[pull.place] = Magnet(
                tool=names[pull.place],
                by="loaded" if by == "loaded" else "first",
                count=len(taken),
                of=pull.of,
                needs=pull.needs,
                low=pull.low,
                typical=pull.typical,
                sure=sure,
                words=held_words([case.said for case in taken], fields),
                texts=tuple(case.query.text for case in taken),
            )
    return found


def _figures(
    dataset: Dataset, cases: Sequence[Case]
) -> tuple[dict[str, float], dict[str, tuple[float, ...]], str | None]:
    """Means and values of the measures, over what somebody labelled; and what is missing where it is."""
    answers = {case.query.id: case.answer for case in cases if case.labelled}
    returned = returned_figures(dataset, answers, [0] * len(dataset.tools))
    loaded = {name: figure for name, figure in returned.items() if name in _FIGURES}
    try:
        values = per_query(dataset, answers)
    except MissingExtraError as error:
        return loaded, {}, f"Rank measures are left out. {error}"
    kept = [place for place, query in enumerate(dataset.queries) if query.answerable]
    return (
        {**means(dataset, values), **loaded},
        {measure: tuple(listed[place] for place in kept) for measure, listed in values.items()},
        None,
    )


def _tools(dataset: Dataset, cases: Sequence[Case], names: Sequence[str]) -> list[ToolFigures]:
    """The table of all tools: in catalog order, then wanted definitions that cannot be used."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for case in cases:
        for number, tool in enumerate(case.gold):
            above = case.above(number)
            where = "nowhere" if above is None else _where(len(above))
            counts[tool].update(("wanted", where))
            counts[tool]["loaded"] += case.loads(number)
        if case.labelled:
            for place in set(case.loaded) - case.right:
                counts[dataset.ids[place]]["taken"] += 1
            for place in set(case.ranked[:1]) - case.right:
                counts[dataset.ids[place]]["taken_first"] += 1
    table = [_tool_figures(name, counts[tool]) for tool, name in zip(dataset.ids, names, strict=True)]
    return table + [
        _tool_figures(tool, counts[tool], why) for tool, why in dataset.unusable.items() if tool in counts
    ]


def _pattern_note(search: ToolSearch) -> str | None:
    if getattr(search.ranker, "takes_patterns", False):
        return "This ranker reads each phrasing as a pattern; plain words find next to nothing."
    return None


def _where(above: int) -> str:
    """What a tool with so many wrong ones above it counts as."""
    if not above:
        return "first"
    return "in_five" if above < HEAD else "later"


def _tool_figures(name: str, counts: Counter[str], unusable: str | None = None) -> ToolFigures:
    return ToolFigures(
        tool=name,
        wanted=counts["wanted"],
        first=counts["first"],
        in_five=counts["in_five"],
        later=counts["later"],
        nowhere=counts["nowhere"],
        loaded=counts["loaded"],
        taken=counts["taken"],
        taken_first=counts["taken_first"],
        unusable=unusable,
    )


def _phrasing(case: Case, dataset: Dataset, names: Sequence[str]) -> PhrasingResult:
    ranks = (case.above(number) for number in range(len(case.gold)))
    return PhrasingResult(
        id=case.query.id,
        text=case.query.text,
        wanted=tuple(
            tool if place is None else names[place]
            for tool, place in zip(case.gold, case.places, strict=True)
        ),
        ranks=tuple(None if above is None else len(above) + 1 for above in ranks),
        fates=tuple(map(case.fate, range(len(case.gold)))),
        best=_named(case.ranked[:HEAD], names),
        loaded=_named(case.loaded, names),
        state=case.state,
    )


def _named(places: Sequence[int], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(names[place] for place in places)
