"""A catalog, policies, loaded tools and the model's support in; what one request carries, and why, out.

Every visible tool is sent in full, or is deferred and can be loaded through a search in the same request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from semantic_toolsearch.capabilities import combine
from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.exact_names import VisibleNames
from semantic_toolsearch.exchange import SEARCH_TOOL_NAME, TurnPlan
from semantic_toolsearch.modes import MAX_DEFERRED, ModeChoice, choose_mode, within_limits
from semantic_toolsearch.policies import NO_LISTS, Policies, PolicyLists, decide
from semantic_toolsearch.threshold import check_threshold, estimate_tokens

if TYPE_CHECKING:
    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.config import SearchConfig
    from semantic_toolsearch.exchange import Api, Mode
    from semantic_toolsearch.rankers.protocol import Visible
    from semantic_toolsearch.support import Support

__all__ = ["plan_turn", "search_mask"]

_DECLARING: Final = frozenset({"hosted", "reference", "output"})


def plan_turn(
    catalog: Catalog,
    config: SearchConfig,
    *,
    api: Api,
    support: Support,
    loaded: Sequence[str] = (),
    native: Sequence[str] | None = None,
    forced: str | None = None,
    forced_before: Sequence[str] = (),
    visible: Visible | None = None,
    prefer: Literal["hosted", "client"] | None = None,
    mode: Mode | None = None,
    turn: PolicyLists = NO_LISTS,
    agent: PolicyLists = NO_LISTS,
    window: int | None = None,
    count: Callable[[Any], int] = estimate_tokens,
    searched_before: bool = False,
    searched: Sequence[str] = (),
    extra: int = 0,
    extra_deferred: int = 0,
) -> TurnPlan:
    """Decide what one request carries.

    Args:
        catalog: All tools.
        config: The settings.
        api: Wire format of the request.
        support: What the model can do over this transport, looked up for the same ``api``.
        loaded: Wire names that the conversation loaded, in first-places order; those that are not visible do
            not count.
        native: Those of ``loaded`` whose load stands in the messages in this provider's own form. The others
            are sent in full in the modes that otherwise keep the tool list as it is. None for all of them.
        forced: The tool that ``tool_choice`` names, by wire name or unique raw name, or ``tool_search`` for
            ours.
        forced_before: Wire names that were forced earlier in this run.
        visible: Boolean ``[n_tools]``, None for all.
        prefer: ``client`` for our ranker where the provider would search; ``hosted`` says no more than the
            default.
        mode: The mode to use once something is deferred; None to choose.
        turn: Options of this turn.
        agent: Lists of the agent.
        window: Context window in tokens, for thresholds that are a share of it.
        count: Tokens of a text or JSON value.
        searched_before: Whether a search of the conversation loaded something.
        searched: Those of ``loaded`` that searches found, where that is known. They tell whether a
            conversation whose tools are below the threshold now was above it before, or had only flagged
            tools deferred.
        extra: Number of the caller's own entries, passed through unread.
        extra_deferred: Number of those that carry ``defer_loading``.

    Raises:
        ConfigError: ``mode`` cannot be used here; a hosted capability does not fit and ``on_unsupported`` is
            ``raise``; lists contradict each other; ``visible`` has another length.
        UnknownToolError: No visible tool, or more than one, is called ``forced``.
    """
    places = _visible_places(catalog, visible)
    names = catalog.wire_names
    policies = decide(catalog, places, config, agent=agent, turn=turn)
    search_forced = forced == SEARCH_TOOL_NAME
    must = _forced(catalog, forced, visible)
    choice = choose_mode(config, api, support, prefer=prefer, mode=mode, search_forced=search_forced)
    most = None if support.most_tools is None else support.most_tools - extra
    wanted, active = _deferrable(
        catalog, config, places, policies, searched, window, count, searched_before, most
    )
    wanted -= {place for name in forced_before for place in catalog.exact(name)} | {must}
    choice = within_limits(choice, config, api, support, len(wanted))
    limited = _limited(catalog, config, places)
    unloaded = config.unloaded
    if choice.mode == "stub" and most is not None and len(places) + 1 > most:
        unloaded = "omit"
    if choice.mode != "stub" or unloaded != "stub":
        wanted -= limited
    if choice.mode == "full" or not wanted - limited:
        wanted = set()

    known = {names[place]: place for place in places}
    remembered = [known[name] for name in dict.fromkeys(loaded) if known.get(name) in wanted]
    arrived = _arrived(choice.mode, remembered, names, native)
    room = None
    crowded: list[str] = []
    if choice.mode == "stub" and most is not None and len(places) > most:
        room = max(most - 1 - (len(places) - len(wanted)), 0)  # beside the search tool
        crowded = [names[place] for place in arrived[: max(len(arrived) - room, 0)]]
        arrived = arrived[len(crowded) :]
    left = wanted.difference(arrived)
    if not left - limited:  # nothing that a search could load
        arrived += sorted(left)
        left = set()
    serves_extra = extra_deferred > 0 and choice.mode == "hosted"
    final: Mode = choice.mode if left or serves_extra else "full"
    full = [place for place in places if place not in wanted] + arrived
    warnings = [*combine(config.mechanism).warnings, *policies.warnings]
    if limited:
        warnings.append(f"No search returns {_tools(len(limited))} that somebody else executes.")
    if unable := [names[place] for place in policies.programs if place in left]:
        warnings.append(f"Only programs may call {', '.join(unable)}, and programs cannot load a tool.")
    warnings += _crowded(crowded, len(full), most)
    warnings += _without_search(choice, final, 0 if serves_extra else extra_deferred, search_forced)
    if final in _DECLARING:
        warnings += support.warnings
    return TurnPlan(
        mode=final,
        api=api,
        reason=_reason(final, choice, active, len(full), len(left), bool(wanted), config, policies),
        full=tuple(names[place] for place in full),
        deferred=tuple(names[place] for place in places if place in left),
        loaded=tuple(names[place] for place in remembered if names[place] not in crowded),
        search=_searcher(final, support),
        unloaded="omit" if len(left) > MAX_DEFERRED else unloaded,
        namespace_max=config.namespace_max,
        betas=support.betas if final in _DECLARING else (),
        warnings=tuple(dict.fromkeys(warnings)),
        forced=names[must] if must is not None else forced,
        room=room,
    )


def search_mask(
    catalog: Catalog, config: SearchConfig, plan: TurnPlan, visible: Visible | None = None
) -> Visible:
    """Tell what the model's searches may return in this turn, as a boolean ``[n_tools]``.

    Invisible tools never; with ``search_scope="deferred"`` only what policy defers; with
    ``unregistered="limited"`` no tool that somebody else executes.
    """
    mask = np.zeros(len(catalog), dtype=np.bool_)
    mask[_visible_places(catalog, visible)] = True
    if config.search_scope == "deferred":
        scope = {*plan.deferred, *plan.loaded}
        mask &= np.array([name in scope for name in catalog.wire_names], dtype=np.bool_)
    if config.unregistered == "limited":
        mask &= np.array([tool.registered for tool in catalog], dtype=np.bool_)
    return mask


def _visible_places(catalog: Catalog, visible: Visible | None) -> list[int]:
    if visible is None:
        return list(range(len(catalog)))
    if len(visible) != len(catalog):
        raise ConfigError(f"visible speaks of {len(visible):,} tools, the catalog has {len(catalog):,}.")
    return [int(place) for place in np.flatnonzero(visible)]


def _forced(catalog: Catalog, forced: str | None, visible: Visible | None) -> int | None:
    if forced is None or forced == SEARCH_TOOL_NAME:
        return None
    return VisibleNames(catalog, visible).position(forced)


def _deferrable(
    catalog: Catalog,
    config: SearchConfig,
    places: Sequence[int],
    policies: Policies,
    searched: Sequence[str],
    window: int | None,
    count: Callable[[Any], int],
    searched_before: bool,
    most: int | None,
) -> tuple[set[int], str]:
    """Return the positions that policy defers, and the comparison with the threshold in words."""
    check = check_threshold(
        config.threshold,
        tools=len(places),
        tokens=lambda: sum(_definition_tokens(catalog, place, count) for place in places),
        window=window,
        cap=config.threshold_cap,
    )
    everything = set(places) - policies.kept
    flagged = set(policies.flagged) if config.activate == "flagged" else set()
    if check.reached:
        return everything, check.words
    if most is not None and len(places) > most and config.threshold is not None:
        return everything, f"{check.words}, but a request may have {most:,}"
    if config.sticky and searched_before and config.threshold is not None:
        # A search record does not tell whether flags or the threshold had started it; what was found does.
        unflagged = {catalog.wire_names[place] for place in everything - flagged}
        if not flagged or not unflagged.isdisjoint(searched):
            return everything, f"{check.words}, but this conversation has searched before"
    if flagged:
        return flagged, f"{_tools(len(flagged))} flagged as deferred, {check.words}"
    return set(), check.words


def _definition_tokens(catalog: Catalog, place: int, count: Callable[[Any], int]) -> int:
    tool = catalog[place]
    return count(
        {"name": catalog.wire_names[place], "description": tool.description, "parameters": tool.parameters}
    )


def _arrived(
    mode: Mode, remembered: Sequence[int], names: Sequence[str], native: Sequence[str] | None
) -> list[int]:
    """Return the loaded tools whose schema this request must bring, in first-places order."""
    if mode == "stub":
        return list(remembered)
    if mode in _DECLARING and native is not None:
        there = set(native)
        return [place for place in remembered if names[place] not in there]
    return []


def _limited(catalog: Catalog, config: SearchConfig, places: Sequence[int]) -> set[int]:
    if config.unregistered == "search":
        return set()
    return {place for place in places if not catalog[place].registered}


def _without_search(choice: ModeChoice, final: Mode, extra_deferred: int, search_forced: bool) -> list[str]:
    """Warn of what the caller sends and only a search that is not there could serve."""
    warnings = []
    if extra_deferred > 0:
        warnings.append(
            f"{extra_deferred:,} entries of your own are deferred, which only a search by the provider can "
            f"load, and there is none in this request: {choice.why}."
        )
    if search_forced and final == "full":
        warnings.append(f"tool_choice names {SEARCH_TOOL_NAME}, but nothing is deferred, so it is not sent.")
    return warnings


def _crowded(crowded: Sequence[str], full: int, most: int | None) -> list[str]:
    """Warn of what does not fit into a request that may have only so many tools."""
    warnings = []
    if most is not None and crowded:
        warnings.append(
            f"A request may have {most:,} tools here, so what was loaded first is unloaded: {', '.join(crowded)}."
        )
    if most is not None and full > most:
        warnings.append(
            f"{full:,} tools are sent in full where a request may have {most:,}: it will be refused. Defer more, show "
            "fewer, or declare what the transport takes by the setting transports and its field most_tools."
        )
    return warnings


def _reason(
    final: Mode,
    choice: ModeChoice,
    active: str,
    full: int,
    deferred: int,
    all_loaded: bool,
    config: SearchConfig,
    policies: Policies,
) -> str:
    if final != "full":
        reason = [f"{final}: {choice.why}", active, f"{deferred:,} deferred, {full:,} in full"]
    elif choice.mode == "full":
        reason = [f"full: {choice.why}", active]
    else:
        reason = ["full: all is loaded that was deferred" if all_loaded else "full: nothing to defer", active]
    if final == "hosted":
        reason.append(f"the ranker ({config.ranker}) is not used")
    if policies.programs and config.programmatic == "full":
        reason.append(
            f"{_tools(len(policies.programs))} in full, since only programs may call and programs cannot search"
        )
    return "; ".join(reason)


def _searcher(mode: Mode, support: Support) -> Literal["ours", "bm25", "regex", "openai"] | None:
    if mode == "full":
        return None
    if mode != "hosted":
        return "ours"
    return "openai" if support.provider == "openai" else support.variant


def _tools(number: int) -> str:
    return f"{number:,} tool{'' if number == 1 else 's'}"
