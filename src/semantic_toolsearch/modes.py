"""Capabilities and the model's support in; the mode for a request with deferred tools, out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from semantic_toolsearch.capabilities import combine
from semantic_toolsearch.errors import ConfigError

if TYPE_CHECKING:
    from semantic_toolsearch.config import SearchConfig
    from semantic_toolsearch.exchange import Api, Mode
    from semantic_toolsearch.support import Support

__all__ = ["MAX_DEFERRED", "ModeChoice", "choose_mode", "within_limits"]

MAX_DEFERRED: Final = 10_000
"""Most deferred tools that one Anthropic request may hold."""

_UNFORCEABLE: Final = "tool_choice cannot name a search by the provider"


@dataclass(frozen=True, slots=True)
class ModeChoice:
    """A mode, and why it is taken.

    Attributes:
        mode: The mode to use where something is deferred; ``full`` where nothing may be.
        why: The reason in words.
        asked: Whether the caller asked for this very mode.
    """

    mode: Mode
    why: str
    asked: bool = False


def choose_mode(
    config: SearchConfig,
    api: Api,
    support: Support,
    *,
    prefer: Literal["hosted", "client"] | None = None,
    mode: Mode | None = None,
    search_forced: bool = False,
) -> ModeChoice:
    """Choose who searches and how a found tool arrives.

    Args:
        config: Its ``mechanism`` says what may be used.
        api: Wire format of the request.
        support: What the model can do over this transport, looked up for the same ``api``.
        prefer: ``client`` for our ranker where the provider would search.
        mode: A mode that the caller insists on.
        search_forced: Whether ``tool_choice`` names our search tool.

    Raises:
        ConfigError: ``mode`` cannot be used here; or a hosted capability alone does not fit and
            ``on_unsupported`` is ``raise``.
    """
    provider = support.provider
    hosted = support.hosted and not search_forced
    form = next(iter(support.client_forms), None)
    if form == "output" and search_forced:
        form = None
    if mode is not None:
        return _as_asked(mode, hosted, form, support, api)
    allowed = combine(config.mechanism)
    own = provider is not None and provider in allowed.hosted
    if prefer == "client" and form and (allowed.client or own):
        return ModeChoice(form, f"our ranker by {form}, as preferred")
    if hosted and own and not (prefer == "client" and allowed.client):
        return ModeChoice("hosted", f"{provider} searches, since {support.reason}")
    why = _UNFORCEABLE if search_forced and support.hosted else support.reason
    if allowed.client:
        masked = support.masked and allowed.automatic and prefer != "client"
        if masked and config.masked_transport == "full":
            return ModeChoice("full", f"{why} (masked_transport='full')")
        why = "as preferred" if prefer == "client" else why if allowed.hosted else "as the capabilities say"
        return ModeChoice("stub", f"our ranker by stub, {why}")
    if not allowed.hosted:
        return ModeChoice("full", "no capability to search tools is set")
    if provider is not None and not own:
        why = f"model not supported: {support.model} is no model of this capability"
    return _unsupported(config, support, why)


def within_limits(
    choice: ModeChoice, config: SearchConfig, api: Api, support: Support, deferred: int
) -> ModeChoice:
    """Change a mode that would declare more deferred tools than a request may hold.

    Args:
        choice: The mode.
        config: The settings.
        api: Wire format of the request.
        support: What the model can do.
        deferred: Number of tools to defer.

    Raises:
        ConfigError: The mode was asked for, or there is no other and ``on_unsupported`` is ``raise``.
    """
    if api != "anthropic" or choice.mode not in ("hosted", "reference") or deferred <= MAX_DEFERRED:
        return choice
    why = f"{deferred:,} deferred tools are more than the {MAX_DEFERRED:,} that one request may declare"
    if choice.asked:
        raise ConfigError(f"mode={choice.mode!r}: {why}. Use mode='bridge', or show fewer tools.")
    if combine(config.mechanism).client:
        return ModeChoice("stub", f"our ranker with unloaded tools omitted, since {why}")
    return _unsupported(config, support, why)


def _as_asked(mode: Mode, hosted: bool, form: Mode | None, support: Support, api: Api) -> ModeChoice:
    if (mode == "hosted" and not hosted) or (mode in ("reference", "output") and mode != form):
        raise ConfigError(
            f"mode={mode!r} cannot be used with model {support.model!r}, transport {support.transport!r} and "
            f"the {api} interface ({support.reason}), nor where tool_choice names a search that is not a "
            "function. Use mode='stub', which works everywhere, or declare what is supported by the settings "
            "support and transports."
        )
    return ModeChoice(mode, f"mode {mode} was asked for", asked=True)


def _unsupported(config: SearchConfig, support: Support, why: str) -> ModeChoice:
    ids = " and ".join(dict.fromkeys(config.mechanism))
    if config.on_unsupported == "raise":
        raise ConfigError(
            f"{ids} cannot search for model {support.model!r} over transport {support.transport!r}: {why}. "
            "Add the capability tool_search to search here instead, declare the transport if it carries "
            "hosted search, or set on_unsupported='full'."
        )
    return ModeChoice("full", f"{ids}: {why}")
