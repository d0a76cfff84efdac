"""One model call: the request's tools go out, the response comes in, its searches are answered and its calls checked.

The only place where search and conversation meet. Nothing is sent from here: the application sends the request with
``tools``, and appends what ``answer`` and its own tools return.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from semantic_toolsearch import arguments, exchange
from semantic_toolsearch.accounting import TurnTokens, turn_tokens
from semantic_toolsearch.asking import find, watched
from semantic_toolsearch.deferral import search_mask
from semantic_toolsearch.errors import ArgumentsError
from semantic_toolsearch.exact_names import VisibleNames, named_tools
from semantic_toolsearch.facts import Asked, Found
from semantic_toolsearch.history import read
from semantic_toolsearch.loaded import Resolver, named
from semantic_toolsearch.names import nearest
from semantic_toolsearch.providers import openai_responses
from semantic_toolsearch.providers.by_api import PROVIDERS
from semantic_toolsearch.results import Hit
from semantic_toolsearch.search_input import usable_limit
from semantic_toolsearch.turn_events import TurnEvents
from semantic_toolsearch.turn_texts import (
    INSTRUCTIONS,
    forbidden_to_programs,
    gone,
    ignored_deferral,
    no_room,
    note,
    refused,
    unknown_tool,
)

if TYPE_CHECKING:
    from semantic_toolsearch.exchange import (
        ParsedResponse,
        RawCall,
        SearchCall,
        ToolCall,
        TurnPlan,
        TurnRequest,
    )
    from semantic_toolsearch.loaded import SessionStore
    from semantic_toolsearch.rankers.protocol import Visible
    from semantic_toolsearch.snapshot import Snapshot

__all__ = ["Turn", "TurnState"]

_MOST_SUGGESTIONS: Final = 20
"""Calls of one response for which the nearest names are looked for: each costs a walk over the catalog."""


@dataclass(frozen=True, slots=True)
class TurnState:
    """What a turn knows of the conversation it belongs to.

    Attributes:
        misses: Searches without any result that the conversation ends with.
        missing: Names that it loaded and that no tool has now.
        forced_before: Wire names forced earlier in this run.
        shown: Wire names whose present parameters stand in an answered search of the conversation.
        store: Where loads are kept for hosts without history, or None.
        session: Whose loads those are.
    """

    misses: int = 0
    missing: tuple[str, ...] = ()
    forced_before: tuple[str, ...] = ()
    shown: frozenset[str] = frozenset()
    store: SessionStore | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class _Settled:
    """One call of a response: its result, when it is answered here, or the call that the application is to run."""

    id: str
    result: dict[str, Any] | None = None
    call: ToolCall | None = None


class Turn:
    """One model call of a conversation; made by ``ToolSearch.turn``.

    Attributes:
        tools: The request's ``tools`` list. Where it is empty, leave the field out: Chat Completions refuses it so.
        instructions: A note for the system prompt; empty where the provider searches or nothing is deferred. It holds
            compaction notes where messages cannot.
        messages: The conversation as it can be sent: what names tools that are gone is left out, calls get the
            namespace that OpenAI asks for; all else is the caller's own objects.
        plan: What is sent in full, what is deferred, who searches, and why.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        request: TurnRequest,
        messages: list[Any],
        notes: Sequence[str],
        state: TurnState,
        visible: Visible | None,
        again: Callable[[list[Any], tuple[str, ...]], Turn],
    ) -> None:
        self._snapshot = snapshot
        self._request = request
        self._state = state
        self._visible = visible
        self._names = VisibleNames(snapshot.catalog, visible)
        self._again = again
        self._events = TurnEvents(snapshot)
        self._provider = PROVIDERS[request.plan.api]
        self.plan: TurnPlan = request.plan
        self.tools: list[dict[str, Any]] = self._provider.render(request)
        self.messages = messages
        own = INSTRUCTIONS.get(request.plan.mode, "") if request.plan.search == "ours" else ""
        self.instructions = "\n".join(filter(None, (own, *notes)))

    @cached_property
    def cache_key(self) -> str:
        """SHA-256 over the canonical tools list: equal for turns that share a cached prefix."""
        return openai_responses.cache_key(self.tools)

    @cached_property
    def tokens(self) -> TurnTokens:
        """Tokens of the tools list: sent, deferred, loaded, and saved against sending everything."""
        return turn_tokens(self._request, self.tools)

    def next(self, messages: Iterable[Any]) -> Turn:
        """The next model call of the same run: the same options, a forced choice gone and its tool kept in full."""
        forced = () if self.plan.forced in (None, exchange.SEARCH_TOOL_NAME) else (self.plan.forced,)
        return self._again(list(messages), tuple(dict.fromkeys((*self._state.forced_before, *forced))))

    def assemble(self, events: Iterable[Any]) -> dict[str, Any]:
        """The complete response that a stream of raw events amounts to, for the other methods and for the history.

        Raises:
            ConversationError: The stream reports an error, or is none of this provider's.
        """
        response: dict[str, Any] = self._provider.assemble(events)
        return response

    def answer(self, response: Any) -> list[dict[str, Any]]:
        """Results for what is not the application's to run: searches of ours, and calls that cannot be run.

        Args:
            response: The complete response, as a dict or an SDK object.

        Returns:
            Blocks, items or messages in the provider's form, in the order of the calls; empty where the provider
            searched, and for a response that was cut.

        Raises:
            ConversationError: The response is none of this provider's.
        """
        return [settled.result for settled in self._settle(response) if settled.result is not None]

    def calls(self, response: Any) -> list[ToolCall]:
        """The calls to run: each resolved to its tool, its arguments checked against the full schema.

        Raises:
            ConversationError: The response is none of this provider's.
        """
        return [settled.call for settled in self._settle(response) if settled.call is not None]

    def results(self, response: Any, run: Callable[[ToolCall], Any]) -> list[dict[str, Any]]:
        """``answer`` and the results of running ``calls``, one for each id, in the order of the calls.

        Args:
            response: As for ``answer``.
            run: Runs one call and returns its output; a text, or a value that is written as JSON.
        """
        results = []
        for settled in self._settle(response):
            if settled.call is not None:
                results.append(self.result(settled.call, run(settled.call)))
            elif settled.result is not None:
                results.append(settled.result)
        return results

    def result(self, call: ToolCall, output: Any, *, is_error: bool = False) -> dict[str, Any]:
        """One call's output in the provider's form.

        Args:
            call: A call that came from ``calls``.
            output: A text, or a value that is written as JSON.
            is_error: Whether the tool failed, where the provider's form can say so.

        Raises:
            ValueError: The call was made by hand, so that no id is known.
        """
        from semantic_toolsearch.providers.base import json_text

        if call.raw is None:
            raise ValueError("Only a call that came from Turn.calls has a result in a provider's form.")
        text = output if isinstance(output, str) else json_text(output)
        block: dict[str, Any] = self._provider.call_result(call.raw, text, is_error=is_error)
        return block

    def done(self, response: Any) -> bool:
        """Whether the model is finished: nothing to run, nothing to answer, and no pause to resume from."""
        parsed = self._parse(response)
        return not parsed.resume and not (parsed.complete and (parsed.calls or parsed.searches))

    def notices(self, response: Any) -> tuple[str, ...]:
        """What the programmer should know of a response: that the way to the model seems to ignore deferral.

        The sign is a call of a deferred tool that nothing has loaded, in a response without any hosted search. Some
        gateways accept the fields, send the model everything, and charge for it.
        """
        if self.plan.mode != "hosted":
            return ()
        parsed = self._parse(response)
        if any(isinstance(fact, Asked) and fact.hosted for fact in read(self._said(response))):
            return ()
        unloaded = set(self.plan.deferred) - set(self.plan.loaded)
        names = map(self._name, parsed.calls)
        called = [name for name in dict.fromkeys(names) if name in unloaded]
        return (ignored_deferral(called),) if called else ()

    def deferred_in(self, text: str) -> tuple[str, ...]:
        """Deferred tools that a text, such as a system prompt, names: wire names, in the order of the text.

        Nothing has loaded them, so a prompt that orders the model to call them at once fights the deferral.
        """
        waiting = set(self.plan.deferred) - set(self.plan.loaded)
        found: dict[str, None] = {}
        for line in text.splitlines():
            tools = named_tools(self._snapshot.catalog, line, self._visible)
            whole = tools.whole if tools.literal is None else (tools.literal,)
            found |= dict.fromkeys(
                self._snapshot.catalog.wire_names[place] for place in (*whole, *tools.mentioned)
            )
        return tuple(name for name in found if name in waiting)

    def check(self, call: RawCall) -> ToolCall:
        """The call to run that a call on the wire means.

        Raises:
            ArgumentsError: It cannot be run; the text is fit to send to the model.
        """
        return self._checked(call, frozenset())

    def _checked(self, call: RawCall, found: Collection[str], *, suggest: bool = True) -> ToolCall:
        """``check``, where searches of the same response have found tools."""
        place = self._place(call)
        if place is None:
            raise ArgumentsError(self._unknown(call, suggest=suggest))
        tool, name = self._snapshot.catalog[place], self._snapshot.catalog.wire_names[place]
        loaded = self._has(name, found)
        programmatic = (call.caller or {}).get("type") not in (None, "direct")
        if programmatic and not loaded:
            raise ArgumentsError(forbidden_to_programs(name))
        checked = arguments.check(tool, call.arguments, name=name)
        return exchange.ToolCall(tool.name, checked, tool.namespace, call.id, name, loaded, call)

    def _settle(self, response: Any) -> list[_Settled]:
        """Each call and search of a response with its result or its call, in order; searches serve the others."""
        parsed = self._parse(response)
        if not parsed.complete or parsed.resume:
            return []
        settled: dict[str, _Settled] = {}
        found = self._found_by_provider(response)
        misses = self._state.misses
        for search in parsed.searches:
            record = self._search(search, misses, told=self._events.wants(search))
            if record["query"]:  # looking through the names neither counts nor starts anew
                misses = 0 if record["loaded"] or record.get("available") else misses + 1
            found.update(record["loaded"])
            result = self._provider.search_answer(search, record, self._request)
            settled.setdefault(search.id, _Settled(search.id, result))
            if self._state.store is not None:
                self._state.store.add(self._state.session, record["loaded"])
        for at, call in enumerate(parsed.calls):
            if call.id not in settled:
                settled[call.id] = self._settle_call(call, found, suggest=at < _MOST_SUGGESTIONS)
        return [settled[each] for each in dict.fromkeys(parsed.order) if each in settled]

    def _settle_call(self, call: RawCall, found: set[str], *, suggest: bool) -> _Settled:
        try:
            checked = self._checked(call, found, suggest=suggest)
        except ArgumentsError as fault:
            name = self._name(call)
            self._events.checked(call, name, loaded=self._has(name, found), fault=fault)
            return _Settled(call.id, self._provider.call_result(call, str(fault), is_error=True))
        if not checked.loaded and self._snapshot.config.unloaded_calls == "refuse_with_schema":
            tool = self._snapshot.catalog[self._snapshot.catalog.position(checked.wire_name)]
            self._events.checked(call, checked.wire_name, loaded=False, refused=True)
            text = refused(checked.wire_name, tool.parameters)
            return _Settled(call.id, self._provider.call_result(call, text, is_error=True))
        self._events.checked(call, checked.wire_name, loaded=checked.loaded)
        return _Settled(call.id, call=checked)

    def _name(self, call: RawCall) -> str | None:
        """The wire name of the tool that a call means."""
        place = self._place(call)
        return None if place is None else self._snapshot.catalog.wire_names[place]

    def _has(self, name: str | None, found: Collection[str]) -> bool:
        """Whether the model has a tool's schema."""
        return name in self.plan.full or name in self.plan.loaded or name in found

    def _found_by_provider(self, response: Any) -> set[str]:
        """Wire names that hosted searches of this very response found: the calls beside them know the schemas."""
        resolve = Resolver(self._snapshot.catalog, self._visible)
        found = [fact for fact in read(self._said(response)) if isinstance(fact, Found)]
        places = [resolve(name) for fact in found for name in named(fact)]
        return {self._snapshot.catalog.wire_names[place] for place in places if place is not None}

    def _said(self, response: Any) -> Sequence[Any]:
        """A response as the messages or items that it adds to the conversation."""
        body = exchange.as_dict(response)
        if self.plan.api == "responses":
            return list(body["output"] or ())
        return [{"role": "assistant", "content": body.get("content")}]

    def _search(self, search: SearchCall, misses: int, *, told: bool) -> dict[str, Any]:
        """The record of one answered search; ``told`` where the hook is to know of it."""
        config, retriever = self._snapshot.config, self._snapshot.retriever
        asked = _asked(search.arguments)
        mask = search_mask(self._snapshot.catalog, config, self.plan, self._visible)
        wanted = asked.pop("limit")
        with watched(self._snapshot, "model") as tell:
            result = find(retriever, **asked, limit=wanted, visible=mask)
            if told:
                tell(result)
        at_hand = {*self.plan.full, *self.plan.loaded}
        # There a tool's parameters stand in the conversation, which may have lost them.
        if self.plan.mode == "bridge":
            at_hand &= {*self.plan.full, *self._state.shown}
        available = [hit for hit in result.tools if hit.name in at_hand]
        fresh = [hit for hit in result.tools if hit.name not in at_hand]
        if available and fresh and not config.loaded_take_places and not asked["names"]:
            # What is at hand takes no place under the cap, but does not make way for worse tools by itself.
            limit, _ = usable_limit(wanted, config)
            more = find(retriever, **asked, limit=limit + len(available), visible=mask)
            fresh = [hit for hit in more.tools if hit.name not in at_hand][:limit]
        notes = result.notes
        if self.plan.room is not None and len(fresh) > self.plan.room:
            notes += (no_room([hit.name for hit in fresh[self.plan.room :]]),)
            fresh = fresh[: self.plan.room]
        result = replace(result, tools=tuple(fresh), hints=_others(result.hints, at_hand), notes=notes)
        loaded = [hit.name for hit in fresh]
        schemas = None
        if self.plan.mode == "bridge" or config.result_schemas == "full":
            schemas = {hit.name: hit.tool.parameters for hit in fresh}
        return exchange.search_record(
            result,
            loaded=loaded,
            available=[hit.name for hit in available],
            note=note(self.plan.mode, result, loaded, available, misses),
            schemas=schemas,
        )

    def _place(self, call: RawCall) -> int | None:
        """The catalog position that a call means, or None when no visible tool has this very name."""
        if self.plan.api == "responses":
            place = openai_responses.resolve(self._request, call.name, call.namespace)
        else:
            places = self._names.exact(call.name)
            place = places[0] if len(places) == 1 else None
        return None if place is None or (self._visible is not None and not self._visible[place]) else place

    def _unknown(self, call: RawCall, *, suggest: bool) -> str:
        if not {call.name, f"{call.namespace}.{call.name}"}.isdisjoint(self._state.missing):
            return gone(call.name)
        names = self._snapshot.catalog.wire_names
        seen = names if self._visible is None else [names[int(at)] for at in np.flatnonzero(self._visible)]
        similar = nearest(call.name, seen) if suggest else ()
        return unknown_tool(call.name, similar, searchable=self.plan.search is not None)

    def _parse(self, response: Any) -> ParsedResponse:
        parsed: ParsedResponse = self._provider.parse(response)
        return parsed


def _asked(sent: Any) -> dict[str, Any]:
    """The arguments of a search as a model may send them: an object, or a text that is none."""
    if isinstance(sent, Mapping):
        return {
            "query": sent.get("query"),
            "queries": sent.get("queries") or (),
            "names": sent.get("names") or (),
            "limit": sent.get("limit"),
        }
    return {"query": sent, "queries": (), "names": (), "limit": None}


def _others(hits: tuple[Hit, ...], names: set[str]) -> tuple[Hit, ...]:
    return tuple(hit for hit in hits if hit.name not in names)
