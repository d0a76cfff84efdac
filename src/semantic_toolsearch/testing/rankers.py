"""A ranker comes in, and a broken promise goes out as an `AssertionError`."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

import numpy as np

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.rankers.protocol import Ranker, RankerFactory, Ranking, Visible
from semantic_toolsearch.testing.embedders import require

__all__ = ["check_ranker"]

_TOOLS: Final = [
    {"name": name, "description": description, "parameters": {"type": "object", "properties": properties}}
    for name, description, properties in (
        ("create_invoice", "Bill a customer for an order", {"customer": {"type": "string"}}),
        ("sendMail", "Send a mail to a colleague", {"to": {"description": "Address", "type": "string"}}),
        ("git-undo", "Undo the last commit", {}),
        ("read_file", "Return the text of a file", {"path": {"type": "string"}}),
        ("read_file_lines", "Return some lines of a file", {"path": {"type": "string"}}),
        ("weather.forecast", "Weather of the coming days", {"place": {"enum": ["Oslo", "Rome"]}}),
        ("lights_off", "Turn off the lights of a room", {}),
        ("翻訳", "文章を別の言語に翻訳します", {}),
        ("café_finden", "Ein Café in der Nähe suchen", {}),
        ("empty", "", {}),
    )
]

_QUERIES: Final = (
    "bill a customer",
    "read_file",
    "file",
    "undo my last commit please",
    "`sendMail`",
    "翻訳して",
    "cafe",
    "xyzzy",
    "a",
    "",
    "   ",
    "?!",
    "C++ & C#",
    "(unbalanced [pattern",
    "cut \ud83d emoji",
    "nul \x00 byte",
    "long query " * 360,
)


def check_ranker(ranker: Ranker | RankerFactory, tools: Any = None) -> None:
    """Check that a ranker keeps every promise of the protocol; call it in a test of your own ranker.

    Args:
        ranker: The object to check, made for ``tools``; or a callable that makes one from a ``Catalog``.
        tools: The tools it ranks, as for ``ToolSearch``; None for ten small ones, which only a callable can be
            checked with.

    Raises:
        AssertionError: A promise is broken; the message says which one.
    """
    catalog = Catalog(_TOOLS if tools is None else tools)
    require(len(catalog) > 0, "a ranker can only be checked with tools")
    if isinstance(ranker, type) or not hasattr(ranker, "rank"):
        made: Any = cast(Callable[[Catalog], Any], ranker)(catalog)
        require(hasattr(made, "rank"), f"the callable made a {type(made).__name__}, which has no rank method")
    else:
        require(tools is not None, "pass the tools that the ranker was made for")
        made = ranker
    queries = (*_QUERIES, *(tool.name for tool in catalog.tools[:3]))
    for query in queries:
        _check_answer(made, query, len(catalog))
        _check_limits(made, query, len(catalog))
        _check_visible(made, query, len(catalog))
        _check_explanation(made, query)
    _check_threads(made, queries, len(catalog))


def _rank(ranker: Ranker, query: str, limit: int, size: int, visible: Visible | None = None) -> Ranking:
    """One answer, with all that must hold of any single one."""
    before = np.ones(size, dtype=np.bool_) if visible is None else visible.copy()
    ranking = ranker.rank(query, limit=limit, visible=visible)
    asked = f"rank({query[:30]!r}, limit={limit})"
    require(isinstance(ranking, Ranking), f"{asked} must return a Ranking, not {type(ranking).__name__}")
    positions, scores = np.asarray(ranking.positions), np.asarray(ranking.scores)
    require(positions.ndim == 1, f"{asked}: positions must be one row, not of shape {positions.shape}")
    require(positions.shape == scores.shape, f"{asked}: {positions.shape} positions, {scores.shape} scores")
    require(len(positions) <= limit, f"{asked} returned {len(positions)} tools")
    if len(positions):
        require(positions.dtype.kind in "iu", f"{asked}: positions must be integers, not {positions.dtype}")
        require(scores.dtype.kind == "f", f"{asked}: scores must be floats, not {scores.dtype}")
        inside = positions.min() >= 0 and positions.max() < size
        require(bool(inside), f"{asked}: positions reach outside of {size} tools")
        require(len(set(positions.tolist())) == len(positions), f"{asked} returned a tool twice")
        require(bool(np.isfinite(scores).all()), f"{asked}: scores must be finite")
        require(scores.min() >= 0 and scores.max() <= 1 + 1e-4, f"{asked}: scores must be from 0 to 1")
        require(bool((np.diff(scores) <= 1e-6).all()), f"{asked}: the best score must stand first")
    if ranking.strong is not None:
        strong = np.asarray(ranking.strong)
        require(strong.shape == scores.shape, f"{asked}: {strong.shape} 'strong' for {scores.shape} scores")
        require(strong.dtype == np.bool_ or not len(strong), f"{asked}: 'strong' must be bool")
    require(isinstance(ranking.notes, tuple), f"{asked}: notes must be a tuple")
    if visible is not None:
        require(np.array_equal(before, visible), f"{asked} changed the mask it was given")
        require(bool(visible[positions].all()), f"{asked} returned an invisible tool")
    return ranking


def _check_answer(ranker: Ranker, query: str, size: int) -> None:
    first, second = (_rank(ranker, query, size, size) for _ in range(2))
    _require_same(first, second, f"{query[:30]!r}: a second identical call answers differently")


def _check_limits(ranker: Ranker, query: str, size: int) -> None:
    """A smaller limit cuts the answer and changes nothing else; among equal scores any tool may stay."""
    everything = _rank(ranker, query, size, size)
    for limit in {1, 2, max(1, size // 2)}:
        some = _rank(ranker, query, limit, size)
        same = len(some) == min(limit, len(everything)) and np.allclose(
            some.scores, everything.scores[: len(some)], atol=1e-5
        )
        require(same, f"{query[:30]!r}: limit {limit} does not give the best of what limit {size} gives")


def _check_visible(ranker: Ranker, query: str, size: int) -> None:
    everything = _rank(ranker, query, size, size, np.ones(size, dtype=np.bool_))
    _require_same(everything, _rank(ranker, query, size, size), f"{query[:30]!r}: a mask of all is not None")
    _rank(ranker, query, size, size, np.arange(size) % 2 == 0)
    nothing = _rank(ranker, query, size, size, np.zeros(size, dtype=np.bool_))
    require(not len(nothing), f"{query[:30]!r}: tools come back although none is visible")
    for position in everything.positions[:1].tolist():
        alone = _rank(ranker, query, 1, size, np.arange(size) == position)
        found = alone.positions.tolist() == [position]
        require(found, f"{query[:30]!r}: the best tool is not found when it is the only one visible")
        others = _rank(ranker, query, 1, size, np.arange(size) != position)
        kept = len(others) == min(1, len(everything) - 1)
        require(kept, f"{query[:30]!r}: hidden tools count against the limit, so that visible ones are lost")


def _check_explanation(ranker: Ranker, query: str) -> None:
    explain = getattr(ranker, "explain", None)
    if explain is None:
        return
    parts = explain(query, 0)
    require(isinstance(parts, Mapping), f"explain must return a mapping, not {type(parts).__name__}")
    for name, part in parts.items():
        good = isinstance(name, str) and math.isfinite(part)
        require(good, f"explain({query[:30]!r}, 0): {name!r} is {part!r}, not a finite number by name")


def _check_threads(ranker: Ranker, queries: tuple[str, ...], size: int) -> None:
    expected = [_rank(ranker, query, size, size) for query in queries]
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for query, before in zip(queries, expected, strict=True):
                _require_same(before, _rank(ranker, query, size, size), f"threads disturb {query[:30]!r}")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    require(not failures, f"rank failed when called from several threads: {failures[:1]}")


def _require_same(one: Ranking, other: Ranking, message: str) -> None:
    same = np.array_equal(one.positions, other.positions) and np.allclose(one.scores, other.scores, atol=1e-5)
    require(same, message)
