"""A turn's request and its ``tools`` list in; the tokens that are sent, held back, loaded and saved, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from semantic_toolsearch.accounting.counting import TokenCounter, default_counter
from semantic_toolsearch.accounting.wire import definitions, read_by_model
from semantic_toolsearch.providers.by_api import PROVIDERS

if TYPE_CHECKING:
    from semantic_toolsearch.exchange import TurnRequest

__all__ = ["TurnTokens", "turn_tokens"]


@dataclass(frozen=True, slots=True)
class TurnTokens:
    """Tokens of one request's tools.

    Attributes:
        sent: What the model reads: the tools list without what the provider holds back, and the definitions of
            loaded tools where they stand in the conversation instead.
        deferred: Full definitions of the tools that are deferred and not loaded.
        loaded: Full definitions of the loaded tools; part of `sent`.
        full: What the model would read if everything were sent in full.
        wire: The tools list as it travels.
        label: How the tokens were counted.
    """

    sent: int
    deferred: int
    loaded: int
    full: int
    wire: int
    label: str

    @property
    def saved(self) -> int:
        """What deferring saves in this request; negative where it costs more than it saves."""
        return self.full - self.sent

    def __str__(self) -> str:
        share = f" ({self.saved / self.full:.0%})" if self.full else ""
        return (
            f"{self.sent:,} tokens sent, {self.loaded:,} of them loaded; {self.deferred:,} deferred; "
            f"{self.saved:,} saved{share} against {self.full:,} in full ({self.label})"
        )


def turn_tokens(
    request: TurnRequest, tools: Sequence[Mapping[str, Any]], counter: TokenCounter | None = None
) -> TurnTokens:
    """Count the tokens of a request's tools.

    Args:
        request: What the list was rendered from.
        tools: The list, as the provider's module rendered it.
        counter: How to count; by default as `default_counter` says.
    """
    counter = counter or default_counter()
    plan = request.plan
    in_full = _in_full(request)
    whole = definitions(in_full)
    read = read_by_model(tools)
    listed = definitions(read)
    loaded = [whole[name] for name in plan.loaded if name in whole]
    elsewhere = [whole[name] for name in plan.loaded if name in whole and listed.get(name) != whole[name]]
    hidden = [whole[name] for name in plan.deferred if name in whole and name not in plan.loaded]
    return TurnTokens(
        sent=counter([*read, *elsewhere]),
        deferred=counter(hidden) if hidden else 0,
        loaded=counter(loaded) if loaded else 0,
        full=counter(in_full),
        wire=counter(list(tools)),
        label=counter.label,
    )


def _in_full(request: TurnRequest) -> list[dict[str, Any]]:
    """Return the list that the same request would have if nothing were deferred."""
    plan = request.plan
    names = tuple(dict.fromkeys((*plan.full, *plan.loaded, *plan.deferred)))
    everything = replace(plan, mode="full", full=names, deferred=(), loaded=(), search=None)
    tools: list[dict[str, Any]] = PROVIDERS[plan.api].render(
        replace(request, plan=everything, search_tool=None, bridge=None)
    )
    return tools
