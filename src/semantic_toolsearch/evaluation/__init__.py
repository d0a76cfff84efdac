"""The evaluation suite: datasets and arms in, figures with their uncertainty out.

    from semantic_toolsearch.evaluation import find_datasets, parse_arm, run_suite

    suite = run_suite(find_datasets(["library"]), [parse_arm("bm25"), parse_arm("hybrid")])
    suite.write("evaluation")

Data flows through the folders in this order: ``data`` reads datasets, ``arms`` and ``hosted`` answer their queries,
``measuring`` makes figures of the answers, ``costs`` counts conversations and growing catalogs, ``report`` shows it
all, ``mining`` tells authors what to change. Names are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semantic_toolsearch.evaluation.answers import Answer as Answer
    from semantic_toolsearch.evaluation.answers import Arm as Arm
    from semantic_toolsearch.evaluation.answers import Build as Build
    from semantic_toolsearch.evaluation.answers import PreparedArm as PreparedArm
    from semantic_toolsearch.evaluation.answers import Why as Why
    from semantic_toolsearch.evaluation.arms.local import LocalArm as LocalArm
    from semantic_toolsearch.evaluation.arms.parsing import parse_arm as parse_arm
    from semantic_toolsearch.evaluation.costs.conversations import conversation_costs as conversation_costs
    from semantic_toolsearch.evaluation.costs.sizes import size_curve as size_curve
    from semantic_toolsearch.evaluation.data.folder import read_dataset as read_dataset
    from semantic_toolsearch.evaluation.data.folder import write_dataset as write_dataset
    from semantic_toolsearch.evaluation.data.sources import DatasetSource as DatasetSource
    from semantic_toolsearch.evaluation.data.sources import find_datasets as find_datasets
    from semantic_toolsearch.evaluation.dataset import Dataset as Dataset
    from semantic_toolsearch.evaluation.dataset import Query as Query
    from semantic_toolsearch.evaluation.files import read_results as read_results
    from semantic_toolsearch.evaluation.files import write_results as write_results
    from semantic_toolsearch.evaluation.parts import Parts as Parts
    from semantic_toolsearch.evaluation.report.html import to_html as to_html
    from semantic_toolsearch.evaluation.report.markdown import to_markdown as to_markdown
    from semantic_toolsearch.evaluation.results import Evaluation as Evaluation
    from semantic_toolsearch.evaluation.settings import RunSettings as RunSettings
    from semantic_toolsearch.evaluation.suite import Suite as Suite
    from semantic_toolsearch.evaluation.suite import run_suite as run_suite

_HOMES = {
    "Answer": "answers",
    "Arm": "answers",
    "Build": "answers",
    "Dataset": "dataset",
    "DatasetSource": "data.sources",
    "Evaluation": "results",
    "LocalArm": "arms.local",
    "Parts": "parts",
    "PreparedArm": "answers",
    "Query": "dataset",
    "RunSettings": "settings",
    "Suite": "suite",
    "Why": "answers",
    "conversation_costs": "costs.conversations",
    "find_datasets": "data.sources",
    "parse_arm": "arms.parsing",
    "read_dataset": "data.folder",
    "read_results": "files",
    "run_suite": "suite",
    "size_curve": "costs.sizes",
    "to_html": "report.html",
    "to_markdown": "report.markdown",
    "write_dataset": "data.folder",
    "write_results": "files",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
