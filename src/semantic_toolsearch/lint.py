"""A catalog and its tools' vectors in; what its owner should mend or look at, finding by finding, out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import numpy as np

from semantic_toolsearch.definitions import LONG_DESCRIPTION, ToolDefinition
from semantic_toolsearch.lint_names import odd_characters, similar_names
from semantic_toolsearch.lint_texts import commands, stuffing
from semantic_toolsearch.tokens import tokenize

if TYPE_CHECKING:
    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.embedding import Matrix
    from semantic_toolsearch.report import CatalogReport, ReportEntry
    from semantic_toolsearch.toolsearch import ToolSearch

__all__ = ["KINDS", "NEAR_DUPLICATE", "Finding", "Kind", "lint_catalog", "tool_vectors"]

Kind: TypeAlias = Literal[
    "quarantined",
    "repaired",
    "look-alike",
    "odd-characters",
    "command",
    "near-duplicate",
    "same-name",
    "stuffed",
    "thin-description",
    "undescribed-parameters",
    "long-description",
]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
"""Every kind of finding, the gravest first."""

NEAR_DUPLICATE: Final = 0.95
"""Cosine from which two tools count as near-duplicates for the shipped model.

Looked up in 8 public catalogs (2,000 tools): from 0.95 on, pairs differ in one or two words of their texts
(`gcd` and `math.gcd`, a delete tool with its neighbour's description) and concern 2 % of the tools; from
0.90 on most pairs are ordinary siblings, such as turning something on and off.
"""

_ADVICE: Final[Mapping[Kind, str]] = {
    "quarantined": "Mend the definition; until then the tool cannot be found or called.",
    "repaired": "Mend the definition at its source; it is used in the mended form.",
    "look-alike": "Rename one of them, and check that both servers are the ones you meant to trust.",
    "odd-characters": "Rename it in plain characters; check that its server is the one you meant to trust.",
    "same-name": "If all are wanted, nothing: ask for one as server.name. Else leave a server out.",
    "near-duplicate": "Keep one of them, or let each description say what only that tool does.",
    "command": "A description says what a tool does; check its server, and take the instruction out.",
    "stuffed": "Write sentences that say what the tool does; repeats and lists of words gain nothing.",
    "thin-description": "Say in a sentence what the tool does, to what, and what it returns.",
    "undescribed-parameters": "Describe them; their words are searched, and the model fills them in by them.",
    "long-description": f"Say what matters in {LONG_DESCRIPTION:,} characters; clients cut the rest.",
}

_BLOCK: Final = 512
"""Rows of the matrix that are compared at a time, to bound memory."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the owner of a catalog should mend or look at.

    Attributes:
        kind: What kind of thing.
        tools: Wire names of the tools concerned; for a definition that was not read its own name, for servers
            `name/*`.
        message: What was found, and where.
        advice: What to do about it.
    """

    kind: Kind
    tools: tuple[str, ...]
    message: str
    advice: str

    def as_dict(self) -> dict[str, Any]:
        """The finding as plain JSON values."""
        return {
            "kind": self.kind,
            "tools": list(self.tools),
            "message": self.message,
            "advice": self.advice,
        }


def lint_catalog(
    catalog: Catalog,
    vectors: Matrix | None = None,
    *,
    report: CatalogReport | None = None,
    ignore: Collection[str] = (),
) -> tuple[Finding, ...]:
    """Check every tool of a catalog.

    Args:
        catalog: The tools.
        vectors: float32 `[n, d]`, the embedded text of each tool, unit rows; None leaves near-duplicates out.
        report: How the definitions were read; None is the catalog's own.
        ignore: Kinds of finding to leave out.

    Returns:
        Findings by kind, the gravest kind first, then in catalog order.
    """
    report = report or catalog.report
    similar = similar_names(catalog)
    found: dict[Kind, _Found] = {
        "quarantined": _from_report(report.quarantined),
        "repaired": _from_report(report.repaired),
        "look-alike": [(tools, message) for kind, tools, message in similar if kind == "look-alike"],
        "same-name": [(tools, message) for kind, tools, message in similar if kind == "same-name"],
        "odd-characters": _each(catalog, odd_characters),
        "command": _each(catalog, lambda tool: commands(tool.description)),
        "near-duplicate": [] if vectors is None else _near_duplicates(catalog, vectors),
        "stuffed": _each(catalog, lambda tool: stuffing(tool.description)),
        "thin-description": _each(catalog, _thin),
        "undescribed-parameters": _each(catalog, _undescribed),
        "long-description": _each(catalog, _long),
    }
    return tuple(
        Finding(kind, tools, message, _ADVICE[kind])
        for kind in KINDS
        if kind not in ignore
        for tools, message in found[kind]
    )


def tool_vectors(search: ToolSearch) -> Matrix:
    """Return float32 `[n, d]`: the embedded text of each tool, in catalog order.

    Raises:
        EmbedderError: The embedding model failed.
    """
    from semantic_toolsearch.dense import Unavailable
    from semantic_toolsearch.errors import EmbedderError

    try:
        return search.seen_by(None)[0].dense.index().vectors()
    except Unavailable as reason:
        raise EmbedderError(str(reason)) from reason


_Found: TypeAlias = list[tuple[tuple[str, ...], str]]
"""Tools concerned and message of each finding of one kind."""


def _from_report(entries: Iterable[ReportEntry]) -> _Found:
    return [
        ((entry.label,), f"{entry.where}: {'; '.join(map(str, entry.problems)) or 'no reason was given'}")
        for entry in entries
    ]


def _near_duplicates(catalog: Catalog, vectors: Matrix) -> _Found:
    """Groups of tools whose texts are near that of their first tool, in the order of wire names."""
    order = sorted(range(len(catalog)), key=catalog.wire_names.__getitem__)
    rows = vectors[order]
    grouped = np.zeros(len(order), dtype=np.bool_)
    found = []
    for start in range(0, len(order), _BLOCK):
        cosines = rows[start : start + _BLOCK] @ rows.T
        for offset, near in enumerate(cosines >= NEAR_DUPLICATE):
            first = start + offset
            if grouped[first]:
                continue
            near[: first + 1] = False
            others = np.flatnonzero(near & ~grouped)
            if others.size:
                grouped[others] = True
                members = [catalog.wire_names[order[place]] for place in (first, *others)]
                least = float(cosines[offset, others].min())
                same = "their texts are the same" if least > 1 - 1e-5 else f"cosine {least:.2f} or more"
                found.append((tuple(members), f"The model can hardly tell them apart: {same}."))
    return found


def _each(catalog: Catalog, check: Callable[[ToolDefinition], str | None]) -> _Found:
    messages = ((name, check(tool)) for name, tool in zip(catalog.wire_names, catalog, strict=True))
    return [((name,), message) for name, message in messages if message]


def _thin(tool: ToolDefinition) -> str | None:
    if not tool.description.strip():
        return "It has no description."
    said = set(tokenize(tool.description))
    name = {*tokenize(tool.name, keep_stop_words=True), *tokenize(tool.namespace or "", keep_stop_words=True)}
    if said <= name:
        return f"Its description says no more than its name: {tool.description.strip()[:80]!r}."
    return None


def _undescribed(tool: ToolDefinition) -> str | None:
    properties = tool.parameters.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        return None
    bare = [name for name, schema in properties.items() if not _described(schema, tool.parameters)]
    if not bare:
        return None
    shown = ", ".join(bare[:5]) + (f" and {len(bare) - 5} more" if len(bare) > 5 else "")
    return f"{len(bare)} of {len(properties)} parameters have no description: {shown}."


def _described(schema: Any, root: Mapping[str, Any]) -> bool:
    """Whether a parameter's schema says what it is: in words or by listed values, here or one step on."""
    return any(
        "const" in part or any(part.get(key) for key in ("description", "title", "enum"))
        for part in _parts(schema, root)
        if isinstance(part, Mapping)
    )


def _parts(schema: Any, root: Mapping[str, Any]) -> Iterator[Any]:
    yield schema
    if not isinstance(schema, Mapping):
        return
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(key), list):
            yield from schema[key]
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        target: Any = root
        for step in reference[2:].split("/"):
            target = target.get(step) if isinstance(target, Mapping) else None
        yield target


def _long(tool: ToolDefinition) -> str | None:
    size = len(tool.description)
    return f"Its description has {size:,} characters." if size > LONG_DESCRIPTION else None
