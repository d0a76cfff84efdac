"""Results over growing catalogs and of conversations in; tables of them out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final

from semantic_toolsearch.evaluation.report.grids import (
    Cell,
    Column,
    Grid,
    Legend,
    Row,
    best_of,
    count,
    duration,
    mean,
    percent,
)
from semantic_toolsearch.evaluation.report.task_grids import ABOUT
from semantic_toolsearch.evaluation.results import ConversationResult, Evaluation, SizeResult

__all__ = ["MODES", "conversation_grids", "conversation_groups", "modes_of", "size_grids", "sizes_by_task"]

MODES: Final = ("full", "hosted", "hosted, responses", "reference", "output", "stub", "bridge")
"""How unloaded tools travel, in the order of tables."""

_SIZE_MEASURES: Final = ("recall@5", "nDCG@10")

_CONVERSATION: Final = (
    Column("requests", "Model requests, with those that searches add."),
    Column("tools, first request", "Tokens of the tools in the first request.", "tokens"),
    Column("input", "Input tokens of all requests.", "tokens", "input tokens"),
    Column("cache reads", "Input tokens that are read from the prompt cache.", "tokens"),
    Column("cache writes", "Input tokens that are written to it.", "tokens"),
    Column("fresh", "Input tokens that are neither.", "tokens", "fresh tokens"),
    Column(
        "tokens' worth",
        "All of them in ordinary input tokens, at the prices below.",
        "cost",
        "cost in tokens",
    ),
    Column("% of full", "Cost against sending every definition in every request.", "cost", "cost, % of full"),
    Column("rewrites", "Requests whose tools list differs from the one before."),
    Column("answered, %", "Share of the user messages whose gold tool was called."),
)


def modes_of(found: Iterable[str]) -> list[str]:
    """Modes, each once, in the order of tables."""
    known = set(found)
    return [*(mode for mode in MODES if mode in known), *sorted(known - set(MODES))]


def sizes_by_task(evaluation: Evaluation) -> dict[str, list[SizeResult]]:
    """The results over growing catalogs, by task, smallest catalog first."""
    found: dict[str, list[SizeResult]] = {}
    for result in evaluation.sizes:
        found.setdefault(result.task, []).append(result)
    return {task: sorted(results, key=lambda each: each.tools) for task, results in found.items()}


def conversation_groups(evaluation: Evaluation) -> list[list[ConversationResult]]:
    """Conversations over the same tools on the same wire format together: fewest turns first, modes as in tables."""
    tasks = list(dict.fromkeys(each.task for each in evaluation.conversations))
    ordered = sorted(
        evaluation.conversations,
        key=lambda each: (tasks.index(each.task), each.tools, each.api, each.turns, MODES.index(each.mode)),
    )
    groups = groupby(ordered, key=lambda each: (each.task, each.tools, each.api))
    return [list(group) for _, group in groups]


def size_grids(evaluation: Evaluation, shared: Legend, *, times: bool = True) -> list[Grid]:
    """Measures, tokens and times against the number of tools: one row a catalog size."""
    grids = []
    for task, results in sizes_by_task(evaluation).items():
        arms = [arm for arm in shared.letters if any(arm in each.arms for each in results)]
        about = f"{task}, the same {_spread(results)} over growing catalogs"
        grids += [_measure_grid(about, results, arms, measure, shared) for measure in _SIZE_MEASURES]
        modes = modes_of(mode for each in results for mode in each.tokens)
        if modes:
            heads = [Column(mode) for mode in modes]
            rows = [(each, [count(each.tokens.get(mode)) for mode in modes]) for each in results]
            grids.append(_grid(f"{task}: tokens of the tools in a first request, by mode", heads, rows))
        timed = [arm for arm in arms if any(arm in each.times for each in results)]
        if times and timed:
            heads = [shared.column(arm, "p50 / p95 of a query.") for arm in timed]
            rows = [(each, [_span(each.times.get(arm, {})) for arm in timed]) for each in results]
            grids.append(_grid(f"{task}: p50 / p95 of a query in milliseconds", heads, rows))
    return grids


def conversation_grids(evaluation: Evaluation) -> list[Grid]:
    """One table a task and wire format: one row a mode and number of turns; full is 100 %."""
    grids = []
    for results in conversation_groups(evaluation):
        first = results[0]
        full = {each.turns: each.cost for each in results if each.mode == "full"}
        rows = [Row(_conversation_cells(each, full)) for each in results]
        title = f"{first.task}, {count(first.tools)} tools, {first.api}: means over scripted conversations"
        columns = (Column("turns", "User messages."), Column("mode", numeric=False), *_CONVERSATION)
        grids.append(Grid(title, columns, tuple(rows), _conversation_notes(results), keys=2))
    return grids


def _measure_grid(
    about: str, results: Sequence[SizeResult], arms: Sequence[str], measure: str, shared: Legend
) -> Grid:
    heads = [shared.column(arm, ABOUT[measure]) for arm in arms]
    rows = []
    for each in results:
        values = [each.arms.get(arm, {}).get(measure) for arm in arms]
        best = best_of(values)
        cells = [
            Cell(percent(value), best=value is not None and value == best, share=value) for value in values
        ]
        rows.append(Row((Cell(count(each.tools)), Cell(count(each.catalogs)), *cells)))
    columns = (
        Column("tools"),
        Column("catalogs", "Catalogs that the queries are spread over."),
        *heads,
    )
    return Grid(f"{about}: {measure}, in percent", columns, tuple(rows))


def _grid(title: str, heads: Sequence[Column], rows: Iterable[tuple[SizeResult, Sequence[str]]]) -> Grid:
    body = tuple(Row((Cell(count(each.tools)), *map(Cell, texts))) for each, texts in rows)
    return Grid(title, (Column("tools"), *heads), body)


def _spread(results: Sequence[SizeResult]) -> str:
    totals = sorted({each.queries for each in results})
    return f"{count(totals[0])} queries" if len(totals) == 1 else "queries"


def _span(times: Mapping[str, float]) -> str:
    return " / ".join(duration(times[key]) for key in ("p50_ms", "p95_ms") if key in times)


def _conversation_cells(each: ConversationResult, full: Mapping[int, float]) -> tuple[Cell, ...]:
    against = full.get(each.turns)
    tokens = (each.first_tokens, each.input_tokens, each.read, each.written, each.fresh, each.cost)
    return (
        Cell(str(each.turns)),
        Cell(each.mode),
        Cell(mean(each.requests)),
        *(Cell(count(total)) for total in tokens),
        Cell(f"{100 * each.cost / against:.1f}" if against else ""),
        Cell(mean(each.rewrites)),
        Cell(percent(each.answered)),
    )


def _conversation_notes(results: Sequence[ConversationResult]) -> tuple[str, ...]:
    totals = sorted({each.conversations for each in results})
    span = count(totals[0]) if len(totals) == 1 else f"{count(totals[0])} to {count(totals[-1])}"
    notes = [f"{span} conversations of each length."]
    for each in results:
        if each.prices:
            prices = ", ".join(f"{name} {price:g}" for name, price in sorted(each.prices.items()))
            notes.append(f"Price of a token against an ordinary input token: {prices}.")
        if each.counted:
            notes.append(f"Tokens: {each.counted}.")
        notes += each.notes
    return tuple(dict.fromkeys(notes))
