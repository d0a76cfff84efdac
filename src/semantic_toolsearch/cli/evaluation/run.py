"""`toolsearch eval run`: datasets and arms by name in; a folder with results, a report and its page out."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from semantic_toolsearch.cli.evaluation.progress import watching
from semantic_toolsearch.cli.options import AsJson
from semantic_toolsearch.cli.output import console, plain, print_json, prints_aside, warn
from semantic_toolsearch.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semantic_toolsearch.evaluation.answers import Arm
    from semantic_toolsearch.evaluation.data.sources import DatasetSource
    from semantic_toolsearch.evaluation.settings import RunSettings

__all__ = ["FAILED_ARM", "INTERRUPTED", "run"]

FAILED_ARM: Final = 1
"""Exit code where an arm has no figures on some dataset, or something else that was asked for is missing."""

INTERRUPTED: Final = 130
"""Exit code of a run that was interrupted from the keyboard, as shells have it."""

_DEFAULT: Final = "full,keyword,anthropic-bm25,bm25,semantic,hybrid"


def run(
    data: Annotated[
        list[str] | None,
        typer.Option(
            "--data",
            metavar="DATA",
            help="A dataset's folder, a folder of them, own, workplace, library, bfcl, hub:ORG/NAME, or "
            "TOOLS.json+PHRASINGS.txt; may be repeated. By default the sets that come along.",
            show_default=False,
        ),
    ] = None,
    rankers: Annotated[
        str,
        typer.Option(
            "--rankers",
            "--arms",
            metavar="NAMES",
            help="Arms to compare, with commas between: full, keyword, bm25, flat-bm25 (a textbook BM25), "
            "regex, semantic, hybrid, rrf, anthropic-bm25, anthropic-regex, openai-tool-search, module:Ranker; "
            "NAME@MODEL sets the model.",
        ),
    ] = _DEFAULT,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="MODEL",
            help="Embedding model of the arms that name none: small (default), nano, st:FOLDER_OR_NAME, "
            "openai:BASE_URL|MODEL or module:Embedder.",
            show_default=False,
        ),
    ] = None,
    split: Annotated[
        str, typer.Option("--split", metavar="NAME", help="Queries to ask: dev to choose on, test to report.")
    ] = "test",
    queries: Annotated[
        int, typer.Option("--queries", metavar="N", min=0, help="Queries of each dataset at most; 0 for all.")
    ] = 1_000,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed of all draws.")] = 7,
    sizes: Annotated[
        bool, typer.Option("--sizes", help="Ask the same queries of 50, 500, 5,000 and all tools too.")
    ] = False,
    conversations: Annotated[
        bool, typer.Option("--conversations", help="Measure tokens and cache of 1, 5 and 20 turns too.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Near copies of a right tool count for nothing.")
    ] = False,
    bare: Annotated[
        bool, typer.Option("--bare", help="Measure rankers without the rules on top of them.")
    ] = False,
    live: Annotated[
        bool | None,
        typer.Option(
            "--live/--offline",
            help="Whether hosted arms ask the provider; by default where its key is set.",
            show_default=False,
        ),
    ] = None,
    hosted: Annotated[
        str | None,
        typer.Option(
            "--hosted-model", metavar="ID", help="Model that live hosted arms ask.", show_default=False
        ),
    ] = None,
    replay: Annotated[
        bool, typer.Option("--replay", help="Answer hosted arms from the responses stored in the folder.")
    ] = False,
    address: Annotated[
        str | None,
        typer.Option(
            "--base-url",
            metavar="ADDRESS",
            help="Address that live hosted arms ask instead of the provider's own.",
            show_default=False,
        ),
    ] = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", metavar="N", min=1, help="Live requests at a time.")
    ] = 4,
    yes: Annotated[bool, typer.Option("--yes", help="Spend the estimated tokens without asking.")] = False,
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="FOLDER", help="Where results go; an interrupted run goes on from there."
        ),
    ] = Path("evaluation"),
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Measure again what an interrupted run had finished.")
    ] = False,
    details: Annotated[
        int,
        typer.Option("--details", metavar="N", min=0, help="Queries of each dataset that the page explains."),
    ] = 60,
    as_json: AsJson = False,
) -> None:
    """Compare rankers and hosted searches; writes results.json, report.md and report.html.

    Exit code: 0; 1 where an arm has no figures on some dataset; 2 on an error; 130 when interrupted.
    """
    from semantic_toolsearch.embedding import DEFAULT_MODEL
    from semantic_toolsearch.evaluation.costs.conversations import LENGTHS
    from semantic_toolsearch.evaluation.costs.sizes import SIZES
    from semantic_toolsearch.evaluation.data.sources import find_datasets
    from semantic_toolsearch.evaluation.environment import check_installed
    from semantic_toolsearch.evaluation.parts import Parts
    from semantic_toolsearch.evaluation.report.table import show
    from semantic_toolsearch.evaluation.settings import RunSettings
    from semantic_toolsearch.evaluation.suite import run_suite
    from semantic_toolsearch.evaluation.writing import check_writable

    check_installed("ir_measures", "matplotlib")
    settings = RunSettings(
        split=split,
        most=queries or None,
        seed=seed,
        strict=strict,
        rules=not bare,
        embedder=model if model is not None else DEFAULT_MODEL,
        sizes=SIZES if sizes else (),
        conversations=LENGTHS if conversations else (),
    )
    sources = find_datasets(data or (), strict=strict)
    for source in sources:
        if source.note:
            warn(source.note)
    names = [name.strip() for name in rankers.split(",") if name.strip()]
    target = out.absolute()  # a ranker may change the current folder
    way = _Hosted(target / "responses", live, replay, hosted, address, concurrency)
    with prints_aside():
        arms = _arms(names, settings, way)
    check_writable(target)
    if not _may_spend(arms, sources, settings, agreed=yes):
        raise typer.Exit
    parts = Parts(target / "parts")
    if fresh:
        parts.clear()
    try:
        with prints_aside(), watching() as watch:
            suite = run_suite(sources, arms, settings, parts=parts, watch=watch, details=details)
    except KeyboardInterrupt:
        warn(f"interrupted; what was finished is kept in {out}, and the same command goes on from there.")
        raise typer.Exit(INTERRUPTED) from None
    suite.write(target)
    parts.finish()
    for reason in suite.missing:
        warn(reason)
    if as_json:
        print_json(suite.evaluation.model_dump(mode="json"))
    else:
        show(suite.evaluation, console())
        console().print(plain(f"Wrote {out / 'results.json'}, report.md and report.html"))
    if suite.missing or any(arm.failed is not None for task in suite.evaluation.tasks for arm in task.arms):
        raise typer.Exit(FAILED_ARM)


@dataclass(frozen=True, slots=True)
class _Hosted:
    """How hosted arms are to be asked."""

    store: Path
    live: bool | None
    replay: bool
    model: str | None
    address: str | None
    concurrency: int


def _arms(names: Sequence[str], settings: RunSettings, hosted: _Hosted) -> list[Arm]:
    """The arms; of hosted ones the live form where it is wanted and possible."""
    from semantic_toolsearch.evaluation.arms.parsing import parse_arm
    from semantic_toolsearch.evaluation.hosted import HOSTED, has_key, live_arm

    if not names:
        raise ConfigError("No arm is named: give --rankers, such as --rankers bm25,hybrid.")
    if twice := [name for name in names if names.count(name) > 1]:
        raise ConfigError(f"The arm {twice[0]!r} is named twice.")
    arms: list[Arm] = []
    for name in names:
        wanted = hosted.live if hosted.live is not None else name in HOSTED and has_key(name)
        if name in HOSTED and (hosted.replay or wanted):
            arms.append(
                live_arm(
                    name,
                    model=hosted.model,
                    store=hosted.store,
                    base_url=hosted.address,
                    concurrency=hosted.concurrency,
                    replay=hosted.replay,
                )
            )
        else:
            arms.append(
                parse_arm(name, embedder=settings.embedder, config=settings.config, rules=settings.rules)
            )
    return arms


def _may_spend(
    arms: Sequence[Arm], sources: Sequence[DatasetSource], settings: RunSettings, *, agreed: bool
) -> bool:
    """Show what is to be paid, if anything, and tell whether the user agrees to it.

    Raises:
        ConfigError: Nobody is there to agree.
    """
    from semantic_toolsearch.evaluation.hosted.estimate import estimate
    from semantic_toolsearch.evaluation.hosted.live import HostedArm

    asked = [arm for arm in arms if isinstance(arm, HostedArm) and arm.how == "live"]
    if not asked:
        return True
    datasets = (source.load().split(settings.split, settings.most, settings.seed) for source in sources)
    expected = estimate(datasets, asked)
    if not expected.requests:
        return True
    console(err=True).print(str(expected), markup=False)
    if agreed:
        return True
    if not sys.stdin.isatty():
        raise ConfigError("Live arms send requests that cost money: say --yes, or --offline to emulate them.")
    return typer.confirm("Send these requests?")
