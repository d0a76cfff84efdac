"""The records of what an author's phrasings show: figures, findings and evidence, ready to be shown or written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

__all__ = [
    "Change",
    "Confusion",
    "Magnet",
    "MineReport",
    "PhrasingResult",
    "Reason",
    "State",
    "Stray",
    "ToolFigures",
    "Word",
]

State: TypeAlias = Literal[
    "first", "loaded", "partly loaded", "ranked", "missed", "nothing", "stray", "unlabelled"
]
"""What became of a phrasing: all its tools loaded with no wrong one above; all loaded; some loaded; none loaded but
all ranked; not even that. Where nothing fits: nothing loaded, or something was. ``unlabelled`` where nobody said."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word that users say.

    Attributes:
        word: As it is most often written; two words where they always stand together.
        count: Phrasings that hold it.
        fields: Where the tool in question holds it (``name``, ``description``, ``parameters``, ...), or empty.
    """

    word: str
    count: int
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PhrasingResult:
    """One phrasing and what the search made of it.

    Attributes:
        id: Of the query.
        text: The words.
        wanted: Names of its gold tools; empty where nothing fits or nobody said.
        ranks: For each of them, 1 + the wrong tools ranked above it; None where it is not ranked at all.
        fates: For each of them, what became of it (``returned``, ``weak``, ``banded``, ``capped``, ``unranked``,
            ``unusable``).
        best: Names of the first five tools of the ranking.
        loaded: Names of the tools that a model would get.
        state: See ``State``.
    """

    id: str
    text: str
    wanted: tuple[str, ...]
    ranks: tuple[int | None, ...]
    fates: tuple[str, ...]
    best: tuple[str, ...]
    loaded: tuple[str, ...]
    state: State


@dataclass(frozen=True, slots=True)
class ToolFigures:
    """How one tool fares. Each phrasing that wants it counts in exactly one of the four places.

    Attributes:
        tool: Its wire name; the id of a definition that cannot be used.
        wanted: Phrasings that want it.
        first: Of those, with no wrong tool above it.
        in_five: With one to four wrong tools above it.
        later: With more.
        nowhere: Not ranked.
        loaded: Of those, that load it.
        taken: Phrasings of others that load it.
        taken_first: Phrasings of others that it comes first for.
        unusable: Why the definition cannot be used, or None.
    """

    tool: str
    wanted: int = 0
    first: int = 0
    in_five: int = 0
    later: int = 0
    nowhere: int = 0
    loaded: int = 0
    taken: int = 0
    taken_first: int = 0
    unusable: str | None = None

    @property
    def state(self) -> Literal["untested", "unusable", "never found", "never loaded", "found"]:
        """What its phrasings say about it.

        ``untested`` when none wants it; ``never found`` when none loads it or ranks it above all wrong tools;
        ``never loaded`` when it comes first at times, but the search is never sure enough of it; else ``found``.
        ``unusable`` instead of ``never found`` where its definition cannot be used.
        """
        if not self.wanted:
            return "untested"
        if self.loaded:
            return "found"
        if self.first:
            return "never loaded"
        return "never found" if self.unusable is None else "unusable"


@dataclass(frozen=True, slots=True)
class Magnet:
    """A tool that comes up for what others should answer, far more often than tools do.

    Attributes:
        tool: Its name.
        by: Whether it is ``loaded`` for them, or comes ``first``.
        count: Phrasings of others that it comes up for.
        of: Phrasings of others.
        needs: Different sets of wanted tools among ``count``; a phrasing without gold is a need of its own.
        low: Lower end of the confidence interval of ``count / of``.
        typical: The share that another tool has on average, at least that of one phrasing.
        sure: False where nobody said what those phrasings want, so that it may be what people want most.
        words: Words of those phrasings that the tool's text holds.
        texts: Those phrasings.
    """

    tool: str
    by: Literal["loaded", "first"]
    count: int
    of: int
    needs: int
    low: float
    typical: float
    sure: bool
    words: tuple[Word, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Confusion:
    """A wrong tool that is ranked above the right one.

    Attributes:
        wanted: Name of the gold tool.
        instead: Name of the wrong one, among the first five.
        count: Phrasings in which that happens.
        of: Phrasings that want the gold tool.
        words: Words of these phrasings that the wrong tool's text holds and the right one's does not.
        parts: By part of the score, its mean for the right tool and for the wrong one; empty for pairs past the most
            frequent ones, and where the ranker tells none.
        texts: The phrasings.
    """

    wanted: str
    instead: str
    count: int
    of: int
    words: tuple[Word, ...]
    parts: Mapping[str, tuple[float, float]]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reason:
    """One piece of evidence that a tool's text wants a change.

    Attributes:
        kind: ``thin`` (no description, or one that says no more than the name), ``name`` (one that says nothing),
            ``words`` (what users say stands nowhere in it), ``copy`` (a text that is nearly another's), ``beaten``
            (a wrong tool is ranked above it), ``magnet``, or ``stuffed``.
        message: What was found, with its counts.
        advice: What to do about it.
        words: The words concerned.
    """

    kind: Literal["thin", "name", "words", "copy", "beaten", "magnet", "stuffed"]
    message: str
    advice: str = ""
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """A tool whose text to change.

    Attributes:
        tool: Its name.
        magnet: Whether it comes up for others' phrasings.
        wanted: Phrasings that want it.
        loaded: Of those, that load it.
        lost: Of those, that do not load it, or rank a wrong tool above it that is no magnet.
        fates: What became of it where it was not loaded, counted; as in ``PhrasingResult``.
        reasons: The evidence, the most telling first.
    """

    tool: str
    magnet: bool
    wanted: int
    loaded: int
    lost: int
    fates: Mapping[str, int]
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Stray:
    """A phrasing that no tool answers and that loads some all the same."""

    text: str
    loaded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MineReport:
    """What goes wrong between an author's tools and the words of the users.

    Attributes:
        name: Of the dataset.
        ranker: Name of the ranker.
        figures: Mean over the phrasings with gold tools of each rank measure, and of what is loaded (``complete``,
            ``precision``, ``size``, ...); ``nothing_loaded`` over those that nothing fits.
        values: By measure, the value of each phrasing in ``answerable``, in that order.
        answerable: Ids of the phrasings with gold tools.
        tools: One entry a tool, in catalog order, then definitions that cannot be used and are wanted.
        changes: Tools whose text to change, those that lose most phrasings first.
        magnets: Tools that attract what is not theirs, the strongest first.
        confusions: Pairs of a right tool and a wrong one above it, the most frequent first.
        strays: Phrasings that nothing fits and that load something.
        phrasings: One entry a phrasing, in their order.
        notes: What must be said beside the figures.
    """

    name: str
    ranker: str
    figures: Mapping[str, float]
    values: Mapping[str, tuple[float, ...]]
    answerable: tuple[str, ...]
    tools: tuple[ToolFigures, ...]
    changes: tuple[Change, ...]
    magnets: tuple[Magnet, ...]
    confusions: tuple[Confusion, ...]
    strays: tuple[Stray, ...]
    phrasings: tuple[PhrasingResult, ...]
    notes: tuple[str, ...] = ()

    @property
    def never_found(self) -> tuple[str, ...]:
        """Tools that none of their phrasings finds, those included whose definition cannot be used."""
        return tuple(each.tool for each in self.tools if each.state in ("never found", "unusable"))

    @property
    def never_loaded(self) -> tuple[str, ...]:
        """Tools that come first at times, but that the search is never sure enough of to load them."""
        return tuple(each.tool for each in self.tools if each.state == "never loaded")

    @property
    def untested(self) -> tuple[str, ...]:
        """Tools that no phrasing wants."""
        return tuple(each.tool for each in self.tools if each.state == "untested")

    def as_dict(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        content = asdict(self)
        del content["values"], content["answerable"]
        content["tools"] = [{**asdict(each), "state": each.state} for each in self.tools]
        for state in ("never_found", "never_loaded", "untested"):
            content[state] = getattr(self, state)
        plain: dict[str, Any] = _plain(content)
        return plain


def _plain(value: Any) -> Any:
    """Lists instead of tuples, all the way down, as JSON reads them back."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value
