"""An evaluation, and queries to look at, in; one HTML page that needs nothing else, out.

Texts of tools and queries come from strangers. In the page they are escaped, or stand as JSON that the page's script
sets as text; and the page's own policy runs no script but that one and loads nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib.resources import files
from string import Template
from typing import Any, Final

from semantic_toolsearch.cleaning import clean_prose
from semantic_toolsearch.evaluation.report.details import TaskDetails
from semantic_toolsearch.evaluation.report.drilldown import DECISIVE
from semantic_toolsearch.evaluation.report.grids import Legend, legend
from semantic_toolsearch.evaluation.report.html_sections import (
    conversations_section,
    counted,
    method_section,
    overview_section,
    queries_section,
    sizes_section,
    tasks_section,
)
from semantic_toolsearch.evaluation.report.html_tables import escaped
from semantic_toolsearch.evaluation.report.wording import findings
from semantic_toolsearch.evaluation.results import Evaluation

__all__ = ["to_html"]

_SECTIONS: Final = {
    "overview": "Overview",
    "tasks": "Tasks",
    "sizes": "Catalog size",
    "conversations": "Conversations",
    "queries": "Queries",
    "method": "Method",
}

_UNSAFE: Final = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
"""What could end a script element or a line of script; in JSON strings escapes mean the same."""


def to_html(evaluation: Evaluation, details: Sequence[TaskDetails] = (), *, title: str | None = None) -> str:
    """Write an evaluation as one page.

    All but the queries is plain HTML that is read without scripts.

    Args:
        evaluation: The results.
        details: Queries to show one by one, by task; texts of others are in no results.
        title: Heading of the page; None for a plain one.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    shared = legend(evaluation)
    sections = {
        "overview": overview_section(evaluation, shared),
        "tasks": tasks_section(evaluation, shared),
        "sizes": sizes_section(evaluation, shared),
        "conversations": conversations_section(evaluation),
        "queries": queries_section(details),
        "method": method_section(evaluation, shared),
    }
    told = findings(evaluation, shared)
    facts = "".join(
        f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)}</dd></div>"
        for name, value in counted(evaluation, shared)
    )
    script = _asset("report.js")
    page = Template(_asset("report.html")).substitute(
        title=escaped(title or "Evaluation of tool search"),
        script_hash=f"sha256-{base64.b64encode(hashlib.sha256(_between_tags(script)).digest()).decode()}",
        css=_asset("report.css"),
        js=script,
        lead=f'<p class="lead">{escaped(told[0])}</p>' if told else "",
        facts=f'<dl class="facts">{facts}</dl>',
        nav="".join(f'<a href="#{key}">{_SECTIONS[key]}</a>' for key, text in sections.items() if text),
        body="\n".join(text for text in sections.values() if text),
        footer=escaped(f"semantic_toolsearch {evaluation.versions.get('semantic_toolsearch', '')}"),
        data=_data(details, shared, evaluation) if sections["queries"] else "",
    )
    return clean_prose(page)[0]  # names and texts of others may hold what turns the text around it


def _data(details: Sequence[TaskDetails], shared: Legend, evaluation: Evaluation) -> str:
    """The queries as a data block, which no browser runs."""
    ranks = {result.arm: result.ranks for task in evaluation.tasks for result in task.arms}
    content: dict[str, Any] = {
        "measure": DECISIVE,
        "arms": [
            {
                "name": arm,
                "label": label,
                "letter": shared.letters[arm],
                "place": place,
                "ranks": ranks.get(arm, True),
            }
            for place, (arm, label) in enumerate(shared.labels.items())
        ],
        "tasks": [task.model_dump(mode="json", exclude_defaults=True) for task in details if task.queries],
    }
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).translate(_UNSAFE)
    return f'<script type="application/json" id="data">{text}</script>'


def _between_tags(script: str) -> bytes:
    """The script as it stands in the page, which is what its hash is of."""
    return f"\n{script}".encode()


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
