"""A dataset in; what whole conversations over its tools cost in each way to send them out.

A user asks the dataset's queries one after another, and a scripted model searches, calls and answers (see
``scripted``). The requests are those that the planner makes, and a provider that enforces the real rules answers them;
only its hosted searches are imitated. What is counted is the input that requests carry: a provider that searches
within a response reads its prompt again there, which no provider tells and nothing here counts.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.accounting import (
    CacheCost,
    Prompt,
    TokenCounter,
    TurnCost,
    cache_cost,
    default_counter,
)
from semantic_toolsearch.config import SearchConfig
from semantic_toolsearch.embedding import DEFAULT_MODEL
from semantic_toolsearch.errors import ConfigError, DatasetError
from semantic_toolsearch.evaluation.costs.endpoints import ENDPOINTS, Provider
from semantic_toolsearch.evaluation.costs.scripted import RESULT, Need, ScriptedModel, need_of
from semantic_toolsearch.evaluation.costs.ways import CHAT_TOOLS, WAYS, Way, carries, first_request_tokens
from semantic_toolsearch.evaluation.results import ConversationResult
from semantic_toolsearch.toolsearch import ToolSearch

if TYPE_CHECKING:
    from os import PathLike

    from semantic_toolsearch.embedding import Embedder, EmbeddingCache
    from semantic_toolsearch.evaluation.dataset import Dataset
    from semantic_toolsearch.exchange import ToolCall
    from semantic_toolsearch.snapshot import RankerSpec
    from semantic_toolsearch.turn import Turn

__all__ = ["LENGTHS", "conversation_costs"]

LENGTHS: Final = (1, 5, 20)
"""User messages of the conversations."""

_HOSTED: Final = {
    "anthropic": "hosted, anthropic: emulated by the documented rules; what the provider reads again after a search is "
    "not counted.",
    "responses": "hosted, responses: the model itself names what it loads; the scripted one names what is right, so "
    "that the share answered tells nothing.",
}
"""What must be said beside the figures of a search that only the provider has."""


@dataclass(slots=True)
class _Conversation:
    """What was sent in one conversation.

    Attributes:
        first_tokens: Tokens that the first request carried because of its tools.
        prompts: The requests.
        ends: Number of requests after each user message.
        answered: Whether the tools that each user message needs were called.
    """

    first_tokens: int = 0
    prompts: list[Prompt] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    answered: list[bool] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Counted:
    """The tokens of one conversation; the requests themselves are large, and are not kept."""

    first_tokens: int
    cost: CacheCost
    ends: tuple[int, ...]
    answered: tuple[bool, ...]


def conversation_costs(
    dataset: Dataset,
    *,
    ways: Sequence[Way] = WAYS,
    lengths: Sequence[int] = LENGTHS,
    conversations: int = 5,
    seed: int = 7,
    ranker: RankerSpec | None = None,
    embedder: str | Embedder = DEFAULT_MODEL,
    cache: EmbeddingCache | str | PathLike[str] | bool | None = None,
    config: SearchConfig | None = None,
    counter: TokenCounter | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[ConversationResult]:
    """Hold the same conversations in every way, and count.

    A shorter conversation is the beginning of a longer one. Every tool that a mode can defer is deferred, however few
    there are. A user message is answered when each of its gold tools was called, itself or a copy of it.

    Args:
        dataset: Tools and queries; what is asked is drawn from the queries that a usable tool answers.
        ways: Wire formats and modes. Those that cannot hold so many tools are passed over: more than ``CHAT_TOOLS``
            entries over ``chat``, more than ``MAX_DEFERRED`` deferred ones at Anthropic.
        lengths: User messages of the conversations.
        conversations: How many of each length.
        seed: Of the draw.
        ranker: What our searches rank with, as for ``ToolSearch``.
        embedder: As for ``ToolSearch``.
        cache: As for ``ToolSearch``.
        config: The numbers of our searches.
        counter: How to count tokens; by default as ``accounting.default_counter`` says.
        progress: Called with (conversations done, conversations in all).

    Returns:
        One result for each way and length, in that order.

    Raises:
        ConfigError: There is nothing to do: no lengths, or a number below 1.
        DatasetError: No query has a usable gold tool.
    """
    if not lengths or min(lengths) < 1 or conversations < 1:
        raise ConfigError("Conversations need at least one length, and every number must be at least 1.")
    counter = counter or default_counter()
    asked = [
        _needs(dataset, max(lengths), random.Random(f"{seed} {number}")) for number in range(conversations)
    ]
    settings = (config or SearchConfig()).but(threshold=1)
    search = ToolSearch(dataset.catalog, ranker=ranker, embedder=embedder, cache=cache, config=settings)
    used = [way for way in ways if carries(way, len(dataset.catalog))]
    model = ScriptedModel(search.catalog, settings.namespace_max)
    results = []
    for place, way in enumerate(used):
        counted = []
        for number, needs in enumerate(asked, 1):
            counted.append(_count(_hold(search, way, model, needs, counter), way, counter))
            if progress is not None:
                progress(place * conversations + number, len(used) * conversations)
        results += [_result(dataset, way, turns, counted, counter) for turns in sorted(set(lengths))]
    return results


def _needs(dataset: Dataset, number: int, draw: random.Random) -> list[Need]:
    """Draw what a user asks; no query comes again before all others came, and more only adds to the end."""
    needs = [need for query in dataset.queries if (need := need_of(dataset, query)).tools]
    if not needs:
        raise DatasetError(f"{dataset.name}: no query has a usable gold tool, so that nothing can be asked.")
    drawn: list[Need] = []
    while len(drawn) < number:
        draw.shuffle(needs)
        drawn += needs
    return drawn[:number]


def _hold(
    search: ToolSearch,
    way: Way,
    model: ScriptedModel,
    needs: Sequence[Need],
    counter: TokenCounter,
) -> _Conversation:
    """Hold one conversation."""
    endpoint, mode = ENDPOINTS[way[0]], way[1]
    turn: Turn
    provider = Provider(lambda view: model.step(view, turn.plan), chat_tool_limit=CHAT_TOOLS)
    held = _Conversation()
    messages: list[Any] = []
    for need in needs:
        model.hear(need)
        messages.append({"role": "user", "content": need.text})
        called: set[str] = set()

        def run(call: ToolCall, called: set[str] = called) -> str:
            called.add(call.wire_name)
            return RESULT

        while True:  # the model searches once, calls each tool once, and then speaks
            turn = search.turn(messages, model=endpoint.model, api=endpoint.api, mode=mode)
            body = endpoint.body(turn)
            if not held.prompts:
                held.first_tokens = first_request_tokens(turn, counter)
            held.prompts.append(_kept(endpoint.prompt(body), held.prompts))
            response = provider.ask(endpoint, body)
            messages += endpoint.reply(response)
            if turn.done(response):
                break
            messages += endpoint.results(turn.results(response, run))
        held.ends.append(len(held.prompts))
        names = search.catalog.wire_names
        held.answered.append(all(any(names[place] in called for place in group) for group in need.tools))
    return held


def _count(held: _Conversation, way: Way, counter: TokenCounter) -> _Counted:
    cost = cache_cost(held.prompts, prices=ENDPOINTS[way[0]].prices, counter=counter)
    return _Counted(held.first_tokens, cost, tuple(held.ends), tuple(held.answered))


def _kept(prompt: Prompt, earlier: Sequence[Prompt]) -> Prompt:
    """The prompt with the tools list of the one before where they are equal: most are, and they are large."""
    tools = earlier[-1].tools if earlier and earlier[-1].tools == prompt.tools else prompt.tools
    return Prompt(tools, prompt.system, list(prompt.messages))


def _result(
    dataset: Dataset, way: Way, turns: int, counted: Sequence[_Counted], counter: TokenCounter
) -> ConversationResult:
    """The means of the conversations up to one length."""
    api, mode = way
    prices = ENDPOINTS[api].prices
    sent = [each.cost.turns[: each.ends[turns - 1]] for each in counted]

    def mean(value: Callable[[TurnCost], float]) -> float:
        return round(fmean(sum(map(value, requests)) for requests in sent), 3)

    return ConversationResult(
        task=dataset.name,
        tools=len(dataset.tools),
        mode=mode,
        api=api,
        turns=turns,
        conversations=len(counted),
        requests=mean(lambda request: 1),
        first_tokens=round(fmean(each.first_tokens for each in counted), 3),
        input_tokens=mean(lambda request: request.read + request.written + request.fresh),
        read=mean(lambda request: request.read),
        written=mean(lambda request: request.written),
        fresh=mean(lambda request: request.fresh),
        cost=mean(lambda request: request.cost),
        rewrites=mean(lambda request: request.rewritten),
        answered=round(fmean(fmean(each.answered[:turns]) for each in counted), 6),
        prices={"read": prices.read, "write": prices.write},
        counted=counter.label,
        notes=(_HOSTED[api],) if mode == "hosted" else (),
    )
