"""Which tools the runs so far used in; which to keep in full, and whether deferring pays at all, out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from semantic_toolsearch.accounting.cache import UNCACHED, CachePrices
from semantic_toolsearch.accounting.catalogs import search_tool_cost, tool_costs
from semantic_toolsearch.accounting.counting import TokenCounter, default_counter
from semantic_toolsearch.errors import ConfigError, UnknownToolError

if TYPE_CHECKING:
    from semantic_toolsearch.catalog import Catalog

__all__ = ["Advice", "ToolAdvice", "advise", "hot_tools"]


@dataclass(frozen=True, slots=True)
class ToolAdvice:
    """What use says about one tool.

    Attributes:
        name: Wire name.
        used: Runs that called it.
        runs: Runs in all.
        keep: Whether to keep it in full rather than defer it.
        tokens: Its full definition.
    """

    name: str
    used: int
    runs: int
    keep: bool
    tokens: int

    def __str__(self) -> str:
        what = "keep" if self.keep else "defer"
        return f"{self.name}: used in {self.used:,} of {self.runs:,} runs, {self.tokens:,} tokens: {what}"


@dataclass(frozen=True, slots=True)
class Advice:
    """Whether to defer, and what.

    Attributes:
        decision: ``send in full`` or ``defer``.
        sentence: The decision with its numbers.
        tools: One line per tool: most used first, then by name.
        full: Tokens per run with all schemas in every request, weighed by the cache's prices.
        deferred: Tokens per run, in the same unit, with the kept tools in full and the others deferred: the list, its
            searches, the definitions they load, and the requests they add.
        searches: Searches per run that `deferred` counts: one for each deferred tool that the run used.
        unknown: Names in the runs that no tool of the catalog has.
        label: How the tokens were counted.
    """

    decision: Literal["send in full", "defer"]
    sentence: str
    tools: tuple[ToolAdvice, ...]
    full: float
    deferred: float
    searches: float
    unknown: tuple[str, ...]
    label: str

    @property
    def keep(self) -> tuple[str, ...]:
        """Wire names to keep in full, most used first."""
        return tuple(tool.name for tool in self.tools if tool.keep)

    def __str__(self) -> str:
        return "\n".join([self.sentence, *map(str, self.tools)])


def advise(
    catalog: Catalog,
    runs: Iterable[Collection[str]],
    *,
    turns: int = 5,
    mode: Literal["stub", "inline"] = "stub",
    prices: CachePrices = UNCACHED,
    keep_from: float = 0.5,
    prompt_tokens: int = 0,
    search_tokens: int = 150,
    counter: TokenCounter | None = None,
) -> Advice:
    """Compare sending everything with deferring what most runs do not use.

    Args:
        catalog: The tools; those with the policy ``never`` are kept.
        runs: The names of the tools that each run called, in any spelling of `Catalog.position`.
        turns: Requests of a run, without those that searches add.
        mode: How deferred tools travel: as stubs, so that each load writes the prompt to the cache again, or not at
            all (hosted, by reference, by output), so that a load adds its definition to the conversation.
        prices: What cached tokens cost; by default there is no cache.
        keep_from: Share of runs that must use a tool to keep it.
        prompt_tokens: System prompt and messages of an average request.
        search_tokens: One search's call and answer.
        counter: How to count; by default as `default_counter` says.

    Raises:
        ConfigError: There are no runs, or less than one turn.
    """
    counter = counter or default_counter()
    records = [frozenset(run) for run in runs]
    if not records:
        raise ConfigError("Advice needs at least one run: pass the names of the tools that each run called.")
    if turns < 1:
        raise ConfigError(f"A run has at least one turn, not {turns}.")
    used, unknown = _by_place(catalog, records)
    counts = Counter(place for run in used for place in run)
    costs = list(tool_costs(catalog, counter))
    kept = {
        place
        for place, tool in enumerate(catalog)
        if tool.defer == "never" or counts[place] >= keep_from * len(records)
    }
    listed = search_tool_cost(counter)
    listed += sum(
        cost.full if place in kept else cost.stub if mode == "stub" else 0 for place, cost in enumerate(costs)
    )
    once = prices.write + (turns - 1) * prices.read
    everything = sum(cost.full for cost in costs)
    deferred = searches = 0.0
    for run in used:
        loads = [costs[place].full for place in run - kept]
        searches += len(loads)
        again = prices.write if mode == "stub" else prices.read
        deferred += listed * (once + len(loads) * again) + sum(loads) * once
        deferred += len(loads) * (prompt_tokens * again + search_tokens)
    deferred, searches = deferred / len(records), searches / len(records)
    pays = deferred < everything * once
    tools = [
        ToolAdvice(cost.name, counts[place], len(records), place in kept, cost.full)
        for place, cost in enumerate(costs)
    ]
    return Advice(
        decision="defer" if pays else "send in full",
        sentence=_sentence(
            pays, len(costs), len(kept), everything * once, deferred, searches, turns, counter.label
        ),
        tools=tuple(sorted(tools, key=lambda tool: (-tool.used, tool.name))),
        full=everything * once,
        deferred=deferred,
        searches=searches,
        unknown=unknown,
        label=counter.label,
    )


def hot_tools(counts: Mapping[str, int], n: int = 3) -> tuple[str, ...]:
    """Return the names of the most called tools, most called first, equals by name; never called ones are none.

    Args:
        counts: Calls by tool name.
        n: How many names at most; 3 to 5 are worth keeping in full (`SearchConfig.hot` takes at most 5).

    Raises:
        ConfigError: `n` is less than 1.
    """
    if n < 1:
        raise ConfigError(f"A hot list has at least 1 name, not {n}.")
    called = sorted((-count, name) for name, count in counts.items() if count > 0)
    return tuple(name for _, name in called[:n])


def _by_place(catalog: Catalog, records: list[frozenset[str]]) -> tuple[list[set[int]], tuple[str, ...]]:
    places: dict[str, int | None] = {}
    for name in sorted({name for run in records for name in run}):
        try:
            places[name] = catalog.position(name)
        except UnknownToolError:
            places[name] = None
    used = [{place for name in run if (place := places[name]) is not None} for run in records]
    return used, tuple(name for name, place in places.items() if place is None)


def _sentence(
    pays: bool, tools: int, kept: int, full: float, deferred: float, searches: float, turns: int, label: str
) -> str:
    share = abs(full - deferred) / full if full else 0.0
    numbers = (
        f"a run of {turns} turns costs {full:,.0f} tokens with all {tools:,} tools in full, and {deferred:,.0f} with "
        f"{kept:,} of them in full and {searches:.1f} searches ({label})"
    )
    if pays:
        return f"Defer: {numbers}: {share:.0%} less."
    return f"Send in full: {numbers}: deferring does not pay."
