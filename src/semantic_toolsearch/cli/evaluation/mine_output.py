"""What phrasings showed in; a page for a terminal out, the most useful first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rich.padding import Padding
from rich.table import Table

from semantic_toolsearch.cli.output import plain

if TYPE_CHECKING:
    from rich.console import Console

    from semantic_toolsearch.evaluation.mining.comparison import MineComparison, PhrasingChange
    from semantic_toolsearch.evaluation.mining.records import Change, Confusion, MineReport, ToolFigures

__all__ = ["show_comparison", "show_report"]

_NAMES_SHOWN: Final = 12
_TAKEN_SHOWN: Final = 4
_SPEAKING_SHOWN: Final = 2

_FATES: Final = {
    "weak": "too unsure",
    "banded": "far below the best",
    "capped": "past the limit",
    "unranked": "not ranked",
}
"""What became of tools that were not loaded, in words."""


def show_report(out: Console, report: MineReport, show: int) -> None:
    """Print the findings, then the figures they rest on."""
    _show_summary(out, report)
    taken = {magnet.tool: magnet.texts for magnet in report.magnets}
    if report.changes:
        _head(out, f"Descriptions to change ({len(report.changes)})")
        for change in report.changes[:show]:
            _show_change(out, change, taken.get(change.tool, ()) if change.magnet else ())
        _more(out, len(report.changes), show)
    troubled = [
        each for each in report.tools if min(each.first, each.loaded) < each.wanted or each.taken_first
    ]
    if troubled:
        troubled.sort(key=lambda each: (each.first + each.loaded - 2 * each.wanted, -each.taken, each.tool))
        _head(out, f"Tools that miss or take phrasings, the weakest first ({len(troubled)})")
        _tool_table(out, troubled[:show])
        _more(out, len(troubled), show)
    if report.confusions:
        _head(out, f"Wrong tools above right ones ({_count(len(report.confusions), 'pair')})")
        _confusion_table(out, report.confusions[:show])
        _more(out, len(report.confusions), show)
    if report.strays:
        _head(out, f"Phrasings that nothing fits and that load something ({len(report.strays)})")
        for stray in report.strays[:show]:
            out.print(plain(f"{stray.text!r} loads {', '.join(stray.loaded)}"))
        _more(out, len(report.strays), show)
    if not (report.changes or troubled or report.confusions or report.strays):
        out.print(plain("Nothing goes wrong."))


def show_comparison(out: Console, comparison: MineComparison, show: int) -> None:
    """Print what was won and lost."""
    out.print(
        plain(f"Since before: {_count(len(comparison.won), 'phrasing')} won, {len(comparison.lost)} lost"),
        style="bold",
    )
    for title, names in (
        ("Found now", comparison.found),
        ("Never found any more", comparison.missed),
        ("No magnet any more", comparison.freed),
        ("Magnets now", comparison.magnets),
    ):
        if names:
            out.print(plain(f"{title}: {', '.join(names)}"))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("measure")
    for title in ("before", "after", "change", "95 % interval", "p"):
        table.add_column(title, justify="right", no_wrap=True)
    for each in comparison.figures:
        table.add_row(
            each.measure,
            f"{100 * each.before:.1f}",
            f"{100 * each.after:.1f}",
            f"{100 * (each.after - each.before):+.1f}",
            f"{100 * each.low:+.1f} to {100 * each.high:+.1f}",
            f"{each.p:.3f}",
        )
    out.print(table)
    for title, changes in (("Lost", comparison.lost), ("Won", comparison.won)):
        if changes:
            _head(out, f"{title} ({len(changes)})")
            for change in changes[:show]:
                out.print(plain(_changed(change)))
            _more(out, len(changes), show)


def _show_summary(out: Console, report: MineReport) -> None:
    wanted = sum(bool(each.wanted) for each in report.phrasings)
    title = (
        f"{_count(len(report.tools), 'tool')}, {_count(len(report.phrasings), 'phrasing')}, {wanted:,} of them with "
        f"their tools; ranker {report.ranker}"
    )
    out.print(plain(title), style="bold")
    if report.figures:
        out.print(plain(_sum_up(report)))
    for title, names in (
        ("Never found", report.never_found),
        ("Never sure enough to be loaded", report.never_loaded),
        ("Magnets", [each.tool for each in report.magnets if each.sure]),
        ("Magnets, or what people want most", [each.tool for each in report.magnets if not each.sure]),
        ("Untested, no phrasing wants them", report.untested),
    ):
        if names:
            more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
            out.print(plain(f"{title} ({len(names)}): {', '.join(names[:_NAMES_SHOWN])}{more}"))


def _sum_up(report: MineReport) -> str:
    figures = report.figures
    parts = [
        f"{title} {100 * figures[name]:.0f} %"
        for name, title in (
            ("hit@1", "right tool first"),
            ("recall@5", "among the first five"),
            ("complete", "all loaded"),
            ("nothing_loaded", "nothing loaded where nothing fits"),
        )
        if name in figures
    ]
    if "size" in figures:
        parts.append(f"{figures['size']:.1f} tools loaded a phrasing")
    return f"{'; '.join(parts)}."


def _show_change(out: Console, change: Change, taken: Sequence[str]) -> None:
    roles = ["a magnet"] if change.magnet else []
    if change.wanted:
        fates = ", ".join(f"{count} {_FATES.get(fate, fate)}" for fate, count in change.fates.items())
        missed = f" ({fates})" if fates else ""
        roles.append(f"loaded for {change.loaded} of {_count(change.wanted, 'phrasing')}{missed}")
    out.print(plain(f"{change.tool}: {', '.join(roles)}"), style="bold")
    lines = [f"{reason.message} {reason.advice}" for reason in change.reasons]
    if taken:
        lines.append(f"It takes {', '.join(map(repr, taken[:_TAKEN_SHOWN]))}.")
    for line in lines or ["Nothing in its text tells why; look at its phrasings."]:
        out.print(Padding(plain(line), (0, 0, 0, 2), expand=False))


def _tool_table(out: Console, tools: Sequence[ToolFigures]) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("tool", overflow="fold")
    for title in ("wanted", "first", "2 to 5", "later", "nowhere", "loaded", "taken"):
        table.add_column(title, justify="right", no_wrap=True)
    for each in tools:
        figures = (each.wanted, each.first, each.in_five, each.later, each.nowhere, each.loaded, each.taken)
        table.add_row(plain(each.tool), *map(str, figures))
    out.print(table)


def _confusion_table(out: Console, confusions: Sequence[Confusion]) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("right tool", "wrong one above it"):
        table.add_column(title, overflow="fold")
    table.add_column("times", justify="right", no_wrap=True)
    table.add_column("for the wrong one speak", overflow="fold")
    for each in confusions:
        speaks = [f"'{word.word}'" for word in each.words[: _SPEAKING_SHOWN + 1]]
        won = {
            part: (wrong - right, f"{part} {wrong:.2f} > {right:.2f}")
            for part, (right, wrong) in each.parts.items()
        }
        strongest = sorted((each for each in won.values() if each[0] > 0), reverse=True)
        speaks += [shown for _, shown in strongest[:_SPEAKING_SHOWN]]
        table.add_row(
            plain(each.wanted), plain(each.instead), f"{each.count}/{each.of}", plain(", ".join(speaks))
        )
    out.print(table)


def _changed(change: PhrasingChange) -> str:
    wanted = ", ".join(change.wanted) or "nothing"
    return f"{change.text!r} -> {wanted}: {change.before}, now {change.after}"


def _head(out: Console, title: str) -> None:
    out.print()
    out.print(plain(title), style="bold")


def _more(out: Console, total: int, show: int) -> None:
    if total > show:
        out.print(f"... and {total - show} more (--show {total})", style="dim")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
