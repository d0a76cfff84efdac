"""Figures of an evaluation in; drawings of them, each one SVG text, the same bytes for the same figures, out.

Colours are CSS variables with a fallback, so that a page can set others for light and dark; every line has a colour, a
marker and its name at its end, so that no reader depends on colours.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.errors import MissingExtraError
from semantic_toolsearch.evaluation.report.cost_grids import MODES, modes_of
from semantic_toolsearch.evaluation.report.grids import Legend, count, duration
from semantic_toolsearch.evaluation.report.svg import page_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from semantic_toolsearch.evaluation.results import ConversationResult, SizeResult, TaskResult

__all__ = ["conversation_costs", "latency", "quality_by_size", "recall_curve", "tokens_by_size"]

_PALETTE: Final = ("#0072b2", "#d55e00", "#009e73", "#aa3377", "#b8860b", "#3aa0d8", "#7a5cc7", "#7f8c1f")
"""Told apart with the common kinds of colour blindness: Okabe and Ito's and Tol's sets, without their pale ones."""

_MARKERS: Final = "os^Dv<>P"

_INK, _RULE, _PAPER = "#5f6672", "#c9ced6", "#fefefd"

_VARIABLES: Final = {
    **{colour: f"var(--series-{place}, {colour})" for place, colour in enumerate(_PALETTE, 1)},
    _INK: f"var(--plot-ink, {_INK})",
    _RULE: f"var(--plot-rule, {_RULE})",
    _PAPER: f"var(--plot-paper, {_PAPER})",
}

_STYLE: Final[Mapping[str, Any]] = {
    "svg.fonttype": "none",  # text stays text: it can be read aloud, searched and selected
    "text.parse_math": False,  # names may hold dollar signs
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.edgecolor": _RULE,
    "axes.labelcolor": _INK,
    "axes.titlecolor": _INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _RULE,
    "grid.linewidth": 0.6,
    "text.color": _INK,
    "xtick.color": _RULE,
    "xtick.labelcolor": _INK,
    "ytick.labelcolor": _INK,
    "ytick.major.size": 0,
    "ytick.minor.size": 0,
    "xtick.minor.size": 0,
    "lines.linewidth": 1.6,
    "lines.markersize": 6,
    "lines.markeredgewidth": 0.8,
}

_WIDTH: Final = 5.1
"""Inches: text stays readable where the drawing fills a narrow screen."""

_HEIGHT: Final = 3.3
"""Inches of a drawing with lines."""

_LINE: Final = 11.5 / (72 * 0.78 * _HEIGHT)
"""Share of the axes' height between the names of two lines."""

_INSTANT: Final = 0.01
"""Milliseconds under which an arm did not search at all."""

_Lines = Mapping[str, tuple[Mapping[float, float], int]]
"""By name, the points of a line and the number of its colour."""


def recall_curve(task: TaskResult, shared: Legend) -> str:
    """Recall among the first tools of the rankings against their number; empty where no arm ranks."""
    lines = {
        shared.labels[result.arm]: (
            {float(tools): 100 * recall for tools, recall in enumerate(result.recall_at, 1)},
            _number(shared, result.arm),
        )
        for result in task.arms
        if result.failed is None and result.recall_at
    }

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        last = int(max(max(points) for points, _ in lines.values()))
        axes.set_xlim(0.7, last)
        axes.set_ylim(0, 100)
        axes.set_xticks([tools for tools in (1, 5, 10, 15, 20) if tools <= last])
        axes.set_xlabel("first tools of the ranking")
        _title(figure, "recall, %")
        _draw_lines(axes, lines, [tools - 1 for tools in (1, 3, 5, 10, 15, 20) if tools <= last])

    return _drawn(f"{task.name}: recall against tools returned", _HEIGHT, draw) if lines else ""


def quality_by_size(results: Sequence[SizeResult], shared: Legend, measure: str) -> str:
    """A measure against the number of tools, by arm; empty without two sizes."""
    lines = {
        shared.labels[arm]: (
            {
                float(each.tools): 100 * each.arms[arm][measure]
                for each in results
                if measure in each.arms.get(arm, {})
            },
            _number(shared, arm),
        )
        for arm in shared.letters
    }

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        _size_axis(axes, results)
        axes.set_ylim(0, 100)
        _title(figure, f"{measure}, %")
        _draw_lines(axes, lines)

    if len(results) < 2:
        return ""
    return _drawn(f"{results[0].task}: {measure} against catalog size", _HEIGHT, draw)


def tokens_by_size(results: Sequence[SizeResult]) -> str:
    """Tokens of the first request's tools against the number of tools, by mode; empty without two sizes."""
    lines = {
        mode: (
            {float(each.tools): each.tokens[mode] for each in results if mode in each.tokens},
            _mode_number(mode),
        )
        for mode in modes_of(mode for each in results for mode in each.tokens)
    }

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        _size_axis(axes, results)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(_short)
        _title(figure, "tokens of the first request's tools")
        tokens = [total for points, _ in lines.values() for total in points.values()]
        axes.set_ylim(max(1, min(tokens) / 2), max(tokens) * 2)
        _draw_lines(axes, lines)

    if len(results) < 2 or not any(points for points, _ in lines.values()):
        return ""
    return _drawn(f"{results[0].task}: tokens of the first request against catalog size", _HEIGHT, draw)


def latency(task: TaskResult, shared: Legend) -> str:
    """From the median to the 95th percentile of a query's time, by arm; empty where nothing was timed."""
    rows = [
        (result.arm, result.times["p50_ms"], result.times["p95_ms"])
        for result in reversed(task.arms)
        if result.failed is None and result.times.get("p50_ms", 0) > _INSTANT and "p95_ms" in result.times
    ]

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        for height, (arm, half, most) in enumerate(rows):
            colour = _PALETTE[_number(shared, arm) % len(_PALETTE)]
            axes.plot([half, most], [height, height], color=colour, linewidth=5, solid_capstyle="butt")
            axes.plot([half], [height], "o", color=colour, markeredgecolor=_PAPER, markersize=8)
            _beside(axes, most, height, f"{duration(half)} to {duration(most)}")
        low, high = min(half for _, half, _ in rows), max(most for _, _, most in rows)
        axes.set_xscale("log")
        axes.set_xlim(low / 1.5, high * (high / low) ** 0.4 * 2)
        axes.xaxis.set_major_formatter(_short)
        axes.set_yticks(range(len(rows)), [shared.labels[arm] for arm, _, _ in rows])
        axes.set_ylim(-0.6, len(rows) - 0.4)
        axes.grid(visible=False, axis="y")
        _title(figure, "milliseconds of a query, median to 95th percentile")

    return _drawn(f"{task.name}: time of a query", 0.9 + 0.3 * len(rows), draw) if rows else ""


def conversation_costs(results: Sequence[ConversationResult]) -> str:
    """Cost of conversations by mode, a panel for each number of turns; empty where no two modes are compared.

    Args:
        results: Conversations over the same tools on the same wire format.
    """
    turns = sorted({each.turns for each in results})
    modes = [mode for mode in reversed(MODES) if any(each.mode == mode for each in results)]

    def draw(figure: Figure) -> None:
        first = results[0]
        _title(
            figure, f"{first.api}: cost in ordinary input tokens, {count(first.tools)} tools of {first.task}"
        )
        for axes, number in zip(figure.subplots(len(turns), 1, squeeze=False)[:, 0], turns, strict=True):
            costs = {each.mode: each.cost for each in results if each.turns == number}
            full = costs.get("full")
            for height, mode in enumerate(modes):
                if mode in costs:
                    axes.barh(height, costs[mode], 0.6, color=_PALETTE[_mode_number(mode)])
                    share = f" ({100 * costs[mode] / full:.0f} %)" if full else ""
                    _beside(axes, costs[mode], height, count(costs[mode]) + share)
            axes.set_xlim(0, 1.45 * max(1, *costs.values()))
            axes.set_xticks([])
            axes.set_yticks(range(len(modes)), modes)
            axes.grid(visible=False)
            axes.spines["bottom"].set_visible(False)
            axes.set_title(f"{number} user message{'s' if number > 1 else ''}")

    if len(modes) < 2:
        return ""
    height = 0.25 + len(turns) * (0.4 + 0.2 * len(modes))
    title = f"{results[0].task}, {results[0].api}: cost of a conversation by mode"
    return _drawn(title, height, draw)


def _draw_lines(axes: Axes, lines: _Lines, marked: Sequence[int] | None = None) -> None:
    """Draw lines with their names at the right; limits and scales of the axes must be set before."""
    ends = []
    for name, (points, number) in lines.items():
        if points:
            xs, ys = zip(*sorted(points.items()), strict=True)
            colour, marker = _PALETTE[number % len(_PALETTE)], _MARKERS[number % len(_MARKERS)]
            axes.plot(
                xs, ys, color=colour, marker=marker, markevery=marked, clip_on=False, markeredgecolor=_PAPER
            )
            ends.append((name, (float(xs[-1]), float(ys[-1])), colour))
    to_share = axes.transData + axes.transAxes.inverted()
    shares = [float(to_share.transform(end)[1]) for _, end, _ in ends]
    for (name, end, colour), height in zip(ends, _apart(shares, _LINE), strict=True):
        leader = {"arrowstyle": "-", "color": colour, "linewidth": 0.6, "shrinkB": 4, "relpos": (0, 0.5)}
        named: dict[str, Any] = {"color": colour, "fontsize": 8.5, "va": "center", "annotation_clip": False}
        axes.annotate(name, end, (1.06, height), "data", "axes fraction", arrowprops=leader, **named)


def _apart(heights: Sequence[float], room: float) -> list[float]:
    """Move heights as little as needed to have room between any two, in their order."""
    order = sorted(range(len(heights)), key=lambda place: heights[place])
    groups: list[list[int]] = []
    centres: list[float] = []
    for place in order:
        groups.append([place])
        centres.append(heights[place])
        while len(groups) > 1 and centres[-1] - centres[-2] < room * (len(groups[-1]) + len(groups[-2])) / 2:
            merged = groups[-2] + groups[-1]
            groups[-2:], centres[-2:] = [merged], [sum(heights[each] for each in merged) / len(merged)]
    moved = list(heights)
    for group, centre in zip(groups, centres, strict=True):
        for step, place in enumerate(group):
            moved[place] = centre + room * (step - (len(group) - 1) / 2)
    return moved


def _title(figure: Figure, text: str) -> None:
    figure.suptitle(text, x=0.01, ha="left", fontsize=9, color=_INK)


def _size_axis(axes: Axes, results: Sequence[SizeResult]) -> None:
    sizes = [each.tools for each in results]
    axes.set_xscale("log")
    axes.set_xlim(min(sizes) / 1.15, max(sizes))
    axes.set_xticks(sizes, [count(size) for size in sizes], minor=False)
    axes.minorticks_off()
    axes.set_xlabel("tools in the catalog")


def _beside(axes: Axes, x: float, y: float, text: str) -> None:
    axes.annotate(text, (x, y), (6, 0), textcoords="offset points", va="center", color=_INK)


def _short(value: float, _: float = 0) -> str:
    for unit, sign in ((1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:g}{sign}"
    return f"{value:g}"


def _mode_number(mode: str) -> int:
    return MODES.index(mode) if mode in MODES else len(MODES)


def _number(shared: Legend, arm: str) -> int:
    return list(shared.letters).index(arm)


def _drawn(title: str, height: float, draw: Callable[[Figure], None]) -> str:
    """Let a function draw on an empty sheet, and write that as SVG.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    try:
        from matplotlib import style
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("Drawing plots", "eval") from error
    written = StringIO()
    with style.context(["default", {**_STYLE, "svg.hashsalt": title}]), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a letter that matplotlib's font lacks is drawn with the reader's
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure)
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(written, format="svg", transparent=True, metadata=nothing)
    return page_svg(written.getvalue(), title, _VARIABLES)
