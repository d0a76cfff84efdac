"""A conversation and the options of one model call in, a ``Turn`` out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from semantic_toolsearch import exchange
from semantic_toolsearch.broken_searches import without_broken_searches
from semantic_toolsearch.compaction import is_compaction_note
from semantic_toolsearch.deferral import plan_turn
from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.facts import Called, Found
from semantic_toolsearch.history import plain, read
from semantic_toolsearch.loaded import Resolver, loaded_names, missing, named
from semantic_toolsearch.policies import NO_LISTS, PolicyLists
from semantic_toolsearch.providers import anthropic, anthropic_history, openai_history
from semantic_toolsearch.providers.base import unloaded_names
from semantic_toolsearch.providers.openai_namespaces import namespaces_of
from semantic_toolsearch.providers.validate import validate
from semantic_toolsearch.support import infer_api, lookup
from semantic_toolsearch.turn import Turn, TurnState

if TYPE_CHECKING:
    from semantic_toolsearch.exchange import Api, Mode
    from semantic_toolsearch.facts import Fact
    from semantic_toolsearch.loaded import SessionStore
    from semantic_toolsearch.rankers.protocol import Visible
    from semantic_toolsearch.snapshot import Snapshot

__all__ = ["TurnOptions", "make_turn"]

_NO_SYSTEM_MESSAGES = ("anthropic", "gemini")
"""Wire formats whose system text stands beside the messages, where a compaction note has to go as well."""

_NATIVE_FORM = {"anthropic": "references", "responses": "definitions"}


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """The options of one model call; see ``ToolSearch.turn``."""

    model: str | None = None
    api: Api | None = None
    tool_choice: Any = None
    transport: str | None = None
    base_url: Any = None
    prefer: Literal["hosted", "client"] | None = None
    mode: Mode | None = None
    session: str | None = None
    window: int | None = None
    lists: PolicyLists = NO_LISTS
    agent: PolicyLists = NO_LISTS
    extra: tuple[dict[str, Any], ...] = ()
    cache_breakpoint: bool = False
    validate: bool = False
    forced_before: tuple[str, ...] = ()


def make_turn(
    snapshot: Snapshot,
    messages: Iterable[Any],
    options: TurnOptions,
    visible: Visible | None,
    store: SessionStore | None = None,
) -> Turn:
    """Plan one model call and write its tools list.

    Raises:
        ConfigError: Options that contradict each other or that this provider cannot carry.
        UnknownToolError: ``tool_choice`` names no tool, or several.
    """
    config, catalog = snapshot.config, snapshot.catalog
    messages = list(messages)
    facts = read(messages)
    api = options.api or infer_api(options.model)
    support = lookup(
        options.model,
        api=api,
        transport=options.transport,
        base_url=options.base_url,
        overrides=config.support,
        transports=config.transports,
        assume_newer=config.assume_newer,
    )
    loaded = loaded_names(messages, catalog, store=store, session=options.session, visible=visible)
    plan = plan_turn(
        catalog,
        config,
        api=api,
        support=support,
        loaded=loaded,
        native=_found(facts, snapshot, visible, api),
        forced=_forced(options.tool_choice),
        forced_before=options.forced_before,
        visible=visible,
        prefer=options.prefer,
        mode=options.mode,
        turn=options.lists,
        agent=options.agent,
        window=options.window,
        # A search that loaded nothing may never have been offered.
        searched_before=any(isinstance(fact, Found) and fact.names for fact in facts),
        searched=_found(facts, snapshot, visible),
        extra=len(options.extra),
        extra_deferred=sum(entry.get("defer_loading") is True for entry in options.extra),
    )
    gone = missing(messages, catalog, visible)
    warnings = list(plan.warnings)
    if gone:
        warnings.append(f"The conversation loaded tools that cannot be used now: {', '.join(gone)}.")
    request = exchange.TurnRequest(
        catalog=catalog,
        plan=plan,
        search_tool=_search_tool(snapshot, plan) if plan.search == "ours" else None,
        bridge=exchange.bridge_tool() if plan.mode == "bridge" else None,
        extra=options.extra,
        cache_breakpoint=options.cache_breakpoint,
        result_schemas=config.result_schemas,
    )
    sound = without_broken_searches(messages, api)
    if len(sound) < len(messages) or any(new is not old for new, old in zip(sound, messages, strict=True)):
        warnings.append("Searches that broke off, or answers to no call, are left out of the conversation.")
    messages = sound
    if api == "anthropic":
        moved = anthropic.moved_markers(request)
        if moved:
            warnings.append(f"cache_control was moved off deferred tools: {', '.join(moved)}.")
        declared = {*plan.full, *unloaded_names(request)}
        messages = anthropic_history.without_gone(messages, declared, options.extra)
    notes: list[str] = []
    if api in _NO_SYSTEM_MESSAGES:
        notes = [_note(message) for message in messages if is_compaction_note(message)]
        messages = [message for message in messages if not is_compaction_note(message)]
    request = replace(request, plan=replace(plan, warnings=tuple(warnings)))
    shown = _shown(facts, snapshot) if plan.mode == "bridge" else frozenset()
    state = TurnState(_misses(facts), gone, options.forced_before, shown, store, options.session)

    def again(following: list[Any], names: tuple[str, ...]) -> Turn:
        return make_turn(
            snapshot, following, replace(options, tool_choice=None, forced_before=names), visible, store
        )

    turn = Turn(snapshot, request, messages, notes, state, visible, again)
    if api == "responses":
        turn.messages = openai_history.with_namespaces(messages, turn.tools)
    if options.validate:
        require_valid(turn, options, support.most_tools)
    return turn


def _note(message: Any) -> str:
    """The text of a compaction note."""
    content = plain(message)["content"]
    return content if isinstance(content, str) else str(plain(content[0])["text"])


def require_valid(turn: Turn, options: TurnOptions, most_tools: int | None = None) -> None:
    """Check a turn's request against the provider's published rules.

    Args:
        turn: The request.
        options: Its options.
        most_tools: What the transport takes, where that is more than the provider's own interface.

    Raises:
        ConfigError: The provider would refuse it; the message names every rule.
    """
    found = validate(
        turn.plan.api,
        turn.tools,
        messages=turn.messages,
        tool_choice=options.tool_choice if isinstance(options.tool_choice, Mapping) else None,
        transport=options.transport,
    )
    takes_them = most_tools is not None and len(turn.tools) <= most_tools
    errors = [
        violation
        for violation in found
        if violation.severity == "error" and not (takes_them and violation.rule == "tool_limit")
    ]
    if errors:
        listed = "; ".join(f"{violation.where}: {violation.message}" for violation in errors)
        raise ConfigError(f"The provider would refuse this request: {listed}")


def _search_tool(snapshot: Snapshot, plan: exchange.TurnPlan) -> exchange.OwnTool:
    config = snapshot.config
    namespaces: dict[str, int] = {}
    hidden = plan.mode in ("reference", "output", "bridge") or plan.unloaded == "omit"
    if hidden:
        for name in plan.deferred:
            owner = snapshot.catalog[snapshot.catalog.position(name)].namespace
            if owner is not None:
                namespaces[owner] = namespaces.get(owner, 0) + 1
    return exchange.search_tool(
        offer_limit=config.offer_limit, max_limit=config.max_limit, namespaces=sorted(namespaces.items())
    )


def _found(
    facts: Iterable[Fact],
    snapshot: Snapshot,
    visible: Visible | None,
    api: Api | None = None,
) -> list[str]:
    """Wire names of tools that searches of the conversation loaded: in any form, or in one provider's own.

    In its own form a provider has loaded what the name addresses there. A tool that has moved into a namespace since
    is still meant by its old name, but is not what the provider has.
    """
    catalog = snapshot.catalog
    resolve, inside = Resolver(catalog, visible), namespaces_of(catalog, snapshot.config.namespace_max)
    places: dict[int, None] = {}
    for fact in facts:
        if not isinstance(fact, Found) or (api is not None and fact.form != _NATIVE_FORM.get(api)):
            continue
        for owner, name in named(fact):
            place = resolve((owner, name))
            if place is not None and (api is None or inside.position(owner, name) == place):
                places[place] = None
    return [catalog.wire_names[place] for place in places]


def _shown(facts: Iterable[Fact], snapshot: Snapshot) -> frozenset[str]:
    """Wire names of tools whose parameters, as they are now, stand in a record of a search."""
    catalog, resolve = snapshot.catalog, Resolver(snapshot.catalog)
    shown = set()
    for fact in facts:
        listed = fact.record.get("tools") if isinstance(fact, Found) and fact.record else None
        for entry in listed if isinstance(listed, list) else ():
            name = entry.get("name") if isinstance(entry, Mapping) else None
            place = resolve((None, name)) if isinstance(name, str) else None
            if place is not None and entry.get("parameters") == catalog[place].parameters:
                shown.add(catalog.wire_names[place])
    return frozenset(shown)


def _forced(choice: Any) -> str | None:
    """The tool that a ``tool_choice`` names, in any provider's form, or by its bare name."""
    if isinstance(choice, str):
        return None if choice in ("auto", "any", "none", "required", "validated") else choice
    if isinstance(choice, Mapping):
        inner = choice.get("function")
        name = inner.get("name") if isinstance(inner, Mapping) else choice.get("name")
        return (
            name
            if isinstance(name, str) and choice.get("type") in ("tool", "function", "custom", None)
            else None
        )
    return None


def _misses(facts: Iterable[Fact]) -> int:
    """Searches without any result that the conversation ends with; a hit or an ordinary call starts anew.

    Looking through the names is no search: it neither counts nor starts anew.
    """
    count = 0
    for fact in facts:
        if isinstance(fact, Found):
            if fact.record is not None and fact.record.get("query") == "":
                continue
            count = 0 if fact.names or (fact.record or {}).get("available") else count + 1
        elif isinstance(fact, Called):
            count = 0
    return count
