"""A script and a speaker of one interface in; a whole response out, step by step, as far as a model could do it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from .refusal import Refusal, ScriptError
from .script import Call, Cut, HostedError, Parallel, Pause, Say, Script, Search, Status, Step, StreamError

if TYPE_CHECKING:
    from .settings import Settings
    from .view import Knowledge, RequestView, SearchOffer, Surface

__all__ = ["EmittedCall", "ScriptedStatus", "Speaker", "conduct", "prepare", "search_arguments"]

_MOST_GROUPS = 50


@dataclass(frozen=True, slots=True)
class EmittedCall:
    """A call that the model made.

    Attributes:
        request: Index of the request.
        name: Name on the wire.
        namespace: OpenAI namespace, or None.
        arguments: As given in the script.
        id: The call's id.
        knowledge: How the model knew the schema.
    """

    request: int
    name: str
    namespace: str | None
    arguments: Mapping[str, Any] | str
    id: str
    knowledge: Knowledge


class ScriptedStatus(Refusal):
    """A failure that the script asks for; ``body`` replaces the usual error body."""

    body: Mapping[str, Any] | None = None


class Speaker(Protocol):
    """Writes one response in one provider's form."""

    view: RequestView
    calls: list[EmittedCall]

    def say(self, text: str) -> None:
        """Write a text."""

    def call(self, surface: Surface | None, step: Call, knowledge: Knowledge) -> None:
        """Write a call of a tool."""

    def ask(self, offer: SearchOffer, step: Search, *, leave_open: bool) -> None:
        """Write a search, and its result where the provider answers it and it is not left open."""

    def answered(self) -> None:
        """Write the results of the hosted searches of this group."""

    def hosted_error(self, step: HostedError) -> None:
        """Write a hosted search that fails."""

    def pause(self) -> bool:
        """End with a pause; return False where the provider knows none."""

    def cut(self, step: Call | Say | Search) -> None:
        """Write the start of a step and end at the token limit."""

    def break_off(self, step: StreamError) -> None:
        """End a stream with an error."""


def conduct(script: Script, speaker: Speaker, settings: Settings) -> None:
    """Take steps from the script until the response is complete.

    Raises:
        Refusal: The script wants this request to fail.
        ScriptError: The script wants what no model could do.
    """
    with script.response():
        for _ in range(_MOST_GROUPS):
            if _group(script.next(speaker.view), speaker, settings):
                break
        else:
            raise ScriptError(f"more than {_MOST_GROUPS} searches in one response")
    _check_choice(speaker)


def _group(step: Step, speaker: Speaker, settings: Settings) -> bool:
    """Write one step or group; return whether it ends the response."""
    if isinstance(step, Status):
        raise _status(step)
    if isinstance(step, StreamError):
        speaker.break_off(step)
        return True
    if isinstance(step, Cut):
        speaker.cut(step.step)
        return True
    if isinstance(step, HostedError):
        speaker.hosted_error(step)
        return False
    steps: Sequence[Any] = step.steps if isinstance(step, Parallel) else (step,)
    offer = speaker.view.search
    if offer is None:
        steps = [one for one in steps if not (isinstance(one, Search) and one.optional)]
        if not steps:
            return False
    client = any(
        isinstance(s, Call) or (isinstance(s, Search) and not (offer and offer.hosted)) for s in steps
    )
    paused = any(isinstance(s, Pause) for s in steps)
    for one in steps:
        _write(one, speaker, settings, leave_open=client or paused)
    if client:
        return True
    if paused:
        return speaker.pause()
    speaker.answered()
    return not any(isinstance(one, Search) for one in steps)


def _write(step: Any, speaker: Speaker, settings: Settings, *, leave_open: bool) -> None:
    if isinstance(step, Say):
        speaker.say(step.text)
    elif isinstance(step, Call):
        surface, knowledge = prepare(step, speaker.view, settings)
        speaker.call(surface, step, knowledge)
    elif isinstance(step, Search):
        offer = speaker.view.search
        if offer is None:
            raise ScriptError(f"request {speaker.view.index} offers no search; tools: {_names(speaker.view)}")
        if offer.hosted:
            speaker.ask(offer, step, leave_open=leave_open)
        elif offer.kind == "client":
            speaker.ask(offer, step, leave_open=True)
        else:
            call = Call(offer.name, search_arguments(offer, step), step.id)
            speaker.call(speaker.view.find(offer.name), call, "full")
    elif not isinstance(step, Pause):
        raise ScriptError(f"{type(step).__name__} cannot stand in a group")


def prepare(step: Call, view: RequestView, settings: Settings) -> tuple[Surface | None, Knowledge]:
    """Find the tool that a call means, and how the model knows it.

    Raises:
        ScriptError: It cannot know it, and blind calls are off.
    """
    surface = view.find(step.tool, step.namespace)
    knowledge = view.knowledge(step.tool, step.arguments, step.namespace)
    if not settings.blind_calls and knowledge in ("blind", "unknown"):
        raise ScriptError(
            f"the model cannot know the schema of {step.tool!r} ({knowledge}) in request {view.index}; "
            f"tools: {_names(view)}"
        )
    return surface, knowledge


def search_arguments(offer: SearchOffer, step: Search) -> dict[str, Any]:
    """What the model passes to a search that we run."""
    if step.arguments is not None:
        return dict(step.arguments)
    arguments: dict[str, Any] = {"query": step.query}
    if step.limit is not None:
        arguments["limit"] = step.limit
    elif "limit" in offer.parameters.get("required", ()):
        arguments["limit"] = 5
    return arguments


def _status(step: Status) -> ScriptedStatus:
    message = step.body if isinstance(step.body, str) else json.dumps(dict(step.body))
    failure = ScriptedStatus(message, status=step.status, headers={"retry-after-ms": "1", **step.headers})
    failure.body = None if isinstance(step.body, str) else step.body
    return failure


def _check_choice(speaker: Speaker) -> None:
    """A model that is told to call must call, and one that is told not to must not."""
    choice, calls = speaker.view.choice, speaker.calls
    where = f"request {speaker.view.index} says tool_choice"
    if choice.kind == "none" and calls:
        raise ScriptError(f"{where} none, and the script calls {calls[0].name}")
    if choice.kind == "any" and not calls and not speaker.view.emitted_search:
        raise ScriptError(f"{where} any, and the script calls nothing")
    if choice.kind == "tool" and choice.name not in [call.name for call in calls]:
        raise ScriptError(f"{where} {choice.name}, and the script does not call it")
    if not choice.parallel and len(calls) > 1:
        raise ScriptError(
            f"request {speaker.view.index} forbids parallel calls, and the script makes {len(calls)}"
        )


def _names(view: RequestView) -> str:
    return ", ".join(surface.name for surface in view.surfaces) or "none"
