"""Datasets and hosted searches in; the requests, tokens and money that asking them would take, out, nothing sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.accounting import TokenCounter, default_counter
from semantic_toolsearch.accounting.wire import read_by_model
from semantic_toolsearch.emulated_search import DEFAULT_RESULTS
from semantic_toolsearch.errors import ToolSearchError
from semantic_toolsearch.evaluation.hosted.prices import Price, price_of
from semantic_toolsearch.evaluation.hosted.requests import (
    INSTRUCTIONS,
    MAX_OUTPUT,
    HostedSearch,
    Requests,
    hosted_search,
)
from semantic_toolsearch.evaluation.hosted.store import ResponseStore, store_path

if TYPE_CHECKING:
    from semantic_toolsearch.evaluation.dataset import Dataset
    from semantic_toolsearch.evaluation.hosted.live import HostedArm

__all__ = ["Estimate", "EstimateRow", "estimate"]

_SAMPLINGS: Final = 2
"""Times that the prompt is read and billed: before a search and after it."""
_OVERHEAD: Final = {"anthropic": 700, "responses": 0}
"""Input tokens that a provider adds; 721 were recorded for a greeting with one deferred tool at Anthropic."""
_OUTPUT: Final = 200
"""Output tokens of a response with one search; 198 were recorded."""
_SAMPLE: Final = 400
"""Definitions that are counted to know the mean."""


@dataclass(frozen=True, slots=True)
class EstimateRow:
    """One search on one dataset.

    Attributes:
        arm: Name of the search.
        task: Name of the dataset.
        model: Model that would be asked.
        requests: Requests to send.
        stored: Requests that stored responses answer.
        input_tokens: Tokens that the provider would read and bill.
        output_tokens: Tokens that the model would write, without thinking.
        most_output_tokens: Tokens that it could write at most.
        price: What the tokens cost, or None where it is not known.
        failed: Why nothing can be asked, or None.
    """

    arm: str
    task: str
    model: str
    requests: int = 0
    stored: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    most_output_tokens: int = 0
    price: Price | None = None
    failed: str | None = None

    @property
    def cost(self) -> float | None:
        """US dollars, or None where no price is known."""
        return self._dollars(self.output_tokens)

    @property
    def most_cost(self) -> float | None:
        """US dollars with every response as long as it may be."""
        return self._dollars(self.most_output_tokens)

    def _dollars(self, output: int) -> float | None:
        if not self.requests:
            return 0.0
        if self.price is None:
            return None
        return (self.input_tokens * self.price.input + output * self.price.output) / 1e6


@dataclass(frozen=True, slots=True)
class Estimate:
    """What hosted searches would take.

    Attributes:
        rows: One entry for each search and dataset.
        counted: How tokens were counted.
    """

    rows: tuple[EstimateRow, ...]
    counted: str

    @property
    def requests(self) -> int:
        """Requests to send."""
        return sum(row.requests for row in self.rows)

    @property
    def stored(self) -> int:
        """Requests that stored responses answer."""
        return sum(row.stored for row in self.rows)

    @property
    def input_tokens(self) -> int:
        """Tokens to be read."""
        return sum(row.input_tokens for row in self.rows)

    @property
    def output_tokens(self) -> int:
        """Tokens to be written."""
        return sum(row.output_tokens for row in self.rows)

    @property
    def cost(self) -> float | None:
        """US dollars, or None where a price is not known."""
        return _sum(row.cost for row in self.rows)

    @property
    def most_cost(self) -> float | None:
        """US dollars with every response as long as it may be, or None where a price is not known."""
        return _sum(row.most_cost for row in self.rows)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the figures rest on, a sentence each."""
        prices = {row.model: row.price for row in self.rows if row.requests}
        return (
            f"Each request is taken to hold one search, so the prompt is read {_SAMPLINGS} times and tools are loaded "
            f"once: at Anthropic, where deferred tools are no part of the prompt, {DEFAULT_RESULTS} of mean size; at "
            "OpenAI, where names and descriptions are part of it, one namespace or function.",
            f"Anthropic adds {_OVERHEAD['anthropic']} tokens to a prompt with tools; what OpenAI adds is not known and "
            "not counted.",
            f"A response is taken to be {_OUTPUT} tokens; models that think before they search write more, at most "
            f"{MAX_OUTPUT:,}.",
            "Nothing is taken to be read from the prompt cache, which makes long lists of tools at OpenAI cheaper.",
            f"Tokens are counted as {self.counted}; every provider counts otherwise.",
            *(
                f"No price of {model} is known here, so no money is named for it: give one."
                if price is None
                else f"{model}: ${price.input:g} and ${price.output:g} for a million tokens read and written "
                f"({', '.join(filter(None, (price.source, price.date)))})."
                for model, price in prices.items()
            ),
        )

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [
            ("search", "dataset", "requests", "stored", "input tokens", "output tokens", "US$", "at most")
        ]
        rows += [
            (row.arm, row.task, *(_figures(row) if row.failed is None else ("-",) * 6)) for row in self.rows
        ]
        rows.append(("all", "", *_figures(self)))
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = [
            "  ".join(
                cell.ljust(width) if column < 2 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        failed = [f"{row.arm} on {row.task}: {row.failed}" for row in self.rows if row.failed]
        return "\n".join([*lines, *failed, *self.assumptions])


def estimate(
    datasets: Iterable[Dataset],
    arms: Sequence[str | HostedArm],
    *,
    model: str | None = None,
    prices: Mapping[str, Price] | None = None,
    counter: TokenCounter | None = None,
) -> Estimate:
    """Say what asking hosted searches would take, before anything is sent.

    Args:
        datasets: The datasets, one at a time, with the queries that are to be asked.
        arms: Arms, whose stored responses are taken off; or names of hosted searches.
        model: Model of the searches given by name; None for the usual ones.
        prices: Prices by model, which win over those known here.
        counter: How to count tokens; by default as `accounting.default_counter` says.

    Raises:
        ConfigError: There is no hosted search of this name.
    """
    counter = counter or default_counter()
    rows: list[EstimateRow] = []
    for dataset in datasets:
        for arm in arms:
            hosted = hosted_search(arm) if isinstance(arm, str) else arm.hosted
            name = (model or hosted.model) if isinstance(arm, str) else arm.model
            try:
                rows.append(_row(dataset, arm, hosted, name, price_of(name, prices), counter))
            except ToolSearchError as fault:
                rows.append(EstimateRow(_name(arm), dataset.name, name, failed=str(fault)))
    return Estimate(tuple(rows), counter.label)


def _row(
    dataset: Dataset,
    arm: str | HostedArm,
    hosted: HostedSearch,
    model: str,
    price: Price | None,
    counter: TokenCounter,
) -> EstimateRow:
    requests = Requests(hosted, dataset.catalog, model, dataset.name)
    texts = {requests.key(requests.first(query.text)): query.text for query in dataset.queries}
    stored, asked = 0, list(texts.values())
    if not isinstance(arm, str):
        store = ResponseStore(store_path(arm.store, hosted.name, dataset.name))
        known = {key for key in texts if (found := store.find(key)) is not None and found.failed is None}
        stored = len(known)
        asked = [] if arm.how == "replayed" else [text for key, text in texts.items() if key not in known]
        asked = asked[: arm.limit]
    read = read_by_model(requests.tools)
    prompt = counter(INSTRUCTIONS) + (counter(read) if read else 0) + _OVERHEAD[hosted.api]
    loaded = _loaded(requests.tools, counter) * (DEFAULT_RESULTS if hosted.api == "anthropic" else 1)
    each = _SAMPLINGS * prompt + round(loaded)
    return EstimateRow(
        arm=_name(arm),
        task=dataset.name,
        model=model,
        requests=len(asked),
        stored=stored,
        input_tokens=each * len(asked) + _SAMPLINGS * sum(map(counter, asked)),
        output_tokens=_OUTPUT * len(asked),
        most_output_tokens=MAX_OUTPUT * len(asked),
        price=price,
    )


def _loaded(tools: Sequence[Mapping[str, Any]], counter: TokenCounter) -> float:
    """Mean tokens of what a name in the tools list loads, from evenly spaced entries."""
    entries = [tool for tool in tools if tool.get("defer_loading") or tool.get("type") == "namespace"]
    sample = entries[:: max(1, len(entries) // _SAMPLE)]
    return sum(map(counter, sample)) / len(sample)


def _name(arm: str | HostedArm) -> str:
    return arm if isinstance(arm, str) else arm.name


def _sum(costs: Iterable[float | None]) -> float | None:
    total = 0.0
    for cost in costs:
        if cost is None:
            return None
        total += cost
    return total


def _figures(of: EstimateRow | Estimate) -> tuple[str, ...]:
    counts = (of.requests, of.stored, of.input_tokens, of.output_tokens)
    return (*(f"{count:,}" for count in counts), _money(of.cost), _money(of.most_cost))


def _money(cost: float | None) -> str:
    return "not known" if cost is None else f"{cost:,.2f}"
