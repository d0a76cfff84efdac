"""Parts of an evaluation in; the sections of the page out, each whole HTML or nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from semantic_toolsearch.evaluation.report.cost_grids import (
    conversation_grids,
    conversation_groups,
    size_grids,
    sizes_by_task,
)
from semantic_toolsearch.evaluation.report.details import TaskDetails
from semantic_toolsearch.evaluation.report.grids import Legend, count
from semantic_toolsearch.evaluation.report.html_tables import bullets, escaped, table
from semantic_toolsearch.evaluation.report.overview_grids import overviews, wins_grid
from semantic_toolsearch.evaluation.report.plots import (
    conversation_costs,
    latency,
    quality_by_size,
    recall_curve,
    tokens_by_size,
)
from semantic_toolsearch.evaluation.report.task_grids import slice_grids, task_grid
from semantic_toolsearch.evaluation.report.wording import LETTERS, SIGNIFICANCE, findings, meanings, versions
from semantic_toolsearch.evaluation.results import Evaluation, TaskResult

__all__ = [
    "conversations_section",
    "counted",
    "method_section",
    "overview_section",
    "queries_section",
    "sizes_section",
    "tasks_section",
]

_NAMESPACE: Final = re.compile(r' xmlns="[^"]*"')


def counted(evaluation: Evaluation, shared: Legend) -> list[tuple[str, str]]:
    """What the evaluation is about, in numbers."""
    asked = sum(task.asked for task in evaluation.tasks)
    tools = [task.tools for task in evaluation.tasks]
    facts = [("tasks", count(len(tools))), ("queries", count(asked)), ("arms", count(len(shared.letters)))]
    return [*facts, ("tools, in the largest catalog", count(max(tools)))] if tools else facts


def overview_section(evaluation: Evaluation, shared: Legend) -> str:
    """Which arm wins where, and how to read that."""
    if not evaluation.tasks:
        return ""
    told = bullets(findings(evaluation, shared)[1:], "findings")
    reading = f'<div class="aside"><h3>How to read the tables</h3><p>{escaped(LETTERS)}</p></div>'
    first, *others = filter(None, (*overviews(evaluation, shared), wins_grid(evaluation, shared)))
    tables = "\n".join(table(grid, shaded=True) for grid in (first, *others))
    return _section(
        "overview", "Overview", f'<div class="split"><div>{told}</div><div>{reading}</div></div>', tables
    )


def tasks_section(evaluation: Evaluation, shared: Legend) -> str:
    """Each task by itself."""
    if not evaluation.tasks:
        return ""
    contents = "".join(
        f'<li><a href="#task-{place}">{escaped(task.name)}</a></li>'
        for place, task in enumerate(evaluation.tasks, 1)
    )
    listing = f'<ul class="contents">{contents}</ul>' if len(evaluation.tasks) > 1 else ""
    tasks = (_task(task, shared, place) for place, task in enumerate(evaluation.tasks, 1))
    return _section("tasks", "Tasks", listing, *tasks)


def sizes_section(evaluation: Evaluation, shared: Legend) -> str:
    """What grows with the catalog."""
    if not evaluation.sizes:
        return ""
    drawings = [
        drawing
        for results in sizes_by_task(evaluation).values()
        for drawing in (
            quality_by_size(results, shared, "recall@5"),
            quality_by_size(results, shared, "nDCG@10"),
            tokens_by_size(results),
        )
    ]
    told = (
        '<p class="quiet">The same queries over catalogs that grow: each keeps its right tools while random other '
        "tools are added. A larger catalog holds all of a smaller one.</p>"
    )
    tables = "\n".join(table(grid) for grid in size_grids(evaluation, shared))
    return _section("sizes", "Catalog size", told, _plots(drawings), _folded("The figures", tables))


def conversations_section(evaluation: Evaluation) -> str:
    """What conversations cost, mode by mode."""
    if not evaluation.conversations:
        return ""
    drawings = [conversation_costs(results) for results in conversation_groups(evaluation)]
    told = (
        '<p class="quiet">Scripted conversations in which a model searches, loads and calls tools, counted request '
        "by request with the prompt cache. Sending every definition in every request is 100 %.</p>"
    )
    tables = "\n".join(table(grid) for grid in conversation_grids(evaluation))
    return _section("conversations", "Conversations", told, _plots(drawings), _folded("The figures", tables))


def queries_section(details: Sequence[TaskDetails]) -> str:
    """Where the page's script shows single queries."""
    if not any(task.queries for task in details):
        return ""
    told = (
        '<p class="quiet">What was asked, which tools answer it, what each arm found, and why. A green letter: the arm '
        "has all gold tools in its first five; where it shows no order, or nothing fits, it loads just what it should. "
        "Open a tool to see why it stands where it does. Queries on which arms differ or the best one misses came "
        "first when these were chosen.</p>"
    )
    scriptless = "<noscript><p>This part needs JavaScript; all tables above do without.</p></noscript>"
    return _section("queries", "Queries", told, f'<div id="browser">{scriptless}</div>')


def method_section(evaluation: Evaluation, shared: Legend) -> str:
    """What the figures mean, what must be said about arms, and what was asked for."""
    terms = "".join(
        f"<dt>{escaped(head)}</dt><dd>{escaped(about)}</dd>"
        for head, about in meanings(evaluation, shared).items()
    )
    notes = "".join(
        f'<li id="note-{place}">{escaped(note)}</li>' for place, note in enumerate(shared.notes, 1)
    )
    config = json.dumps(evaluation.config, indent=2, sort_keys=True, ensure_ascii=False)
    lines = "\n".join(map(_indented, config.split("\n")))
    hashes = "".join(
        f'<tr><th scope="row">{escaped(task.name)}</th><td>{escaped(file)}</td><td class="hash">{escaped(digest)}</td>'
        "</tr>"
        for task in evaluation.tasks
        for file, digest in sorted(task.sha256.items())
    )
    data = (
        '<div class="scroll"><table><caption class="hidden">Hashes of the data</caption><thead><tr>'
        '<th scope="col">task</th><th scope="col">file</th><th scope="col">sha256</th></tr></thead>'
        f"<tbody>{hashes}</tbody></table></div>"
    )
    return _section(
        "method",
        "Method",
        f'<h3>What the figures mean</h3><dl class="meanings">{terms}</dl>' if terms else "",
        f"<h3>How arms are compared</h3><p>{escaped(SIGNIFICANCE)}</p>" if evaluation.tasks else "",
        f"<h3>Notes on the arms</h3><ol>{notes}</ol>" if notes else "",
        f"<h3>Settings</h3><p>Versions: {escaped(versions(evaluation))}.</p>"
        if evaluation.versions
        else "<h3>Settings</h3>",
        _folded("What was asked for", f"<pre>{lines}</pre>"),
        _folded("Hashes of the data", data) if hashes else "",
    )


def _indented(line: str) -> str:
    return " " * (len(line) - len(line.lstrip(" "))) + escaped(line)


def _task(task: TaskResult, shared: Legend, place: int) -> str:
    grid = task_grid(task, shared)
    about = f'<p class="quiet">{escaped(task.description)}</p>' if task.description else ""
    slices = "\n".join(table(each, shaded=True) for each in slice_grids(task, shared))
    parts = (
        f'<h3 id="task-{place}">{escaped(task.name)}</h3>',
        about,
        f"<p>{escaped(grid.about)}</p>",
        table(grid, caption=False),
        _plots([recall_curve(task, shared), latency(task, shared)]),
        _folded(f"Kinds of queries of {escaped(task.name)}", slices) if slices else "",
    )
    return "\n".join(filter(None, parts))


def _plots(drawings: Sequence[str]) -> str:
    figures = "\n".join(f"<figure>{_NAMESPACE.sub('', drawing)}</figure>" for drawing in drawings if drawing)
    return f'<div class="plots">{figures}</div>' if figures else ""


def _folded(summary: str, content: str) -> str:
    return f"<details><summary>{summary}</summary>{content}</details>" if content else ""


def _section(key: str, heading: str, *parts: str) -> str:
    content = "\n".join(filter(None, parts))
    return f'<section id="{key}" aria-labelledby="{key}-h"><h2 id="{key}-h">{heading}</h2>\n{content}\n</section>'
