"""What must be loaded in a conversation, kept by hand: each step of it with the tools that it makes known."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace

import wires
from pool import POOL, WIRE, Identity

_BY_WIRE = {name: identity for identity, name in WIRE.items()}
_SPACE = {"nk1": "wiki nk1", "nk2": "Desk_nk2", "nk3": "海運nk3"}


@dataclass(frozen=True)
class Step:
    """Messages that stay or go together.

    Attributes:
        kind: ``user``, ``note``, ``system``, or ``model`` for a response with all its results.
        messages: As they stand in the conversation.
        called: Names that the model called, in order.
        found: Tools that searches of this step loaded, in order; None where there was no search.
    """

    kind: str
    messages: tuple[dict, ...]
    called: tuple[str, ...] = ()
    found: tuple[Identity, ...] | None = None

    @property
    def known(self) -> list[Identity | None]:
        """The tools that this step makes known: a call stands before the results of the searches beside it."""
        return [*(_BY_WIRE.get(name) for name in self.called), *(self.found or ())]


@dataclass
class Talk:
    """One branch of a conversation."""

    api: str
    steps: list[Step] = field(default_factory=list)

    @property
    def messages(self) -> list[dict]:
        return [message for step in self.steps for message in step.messages]

    def loaded(self, seen) -> list[Identity]:
        """The tools that must be loaded, of those that are there to be seen.

        A name without a namespace that no tool has any more means the one tool that its owner calls so.
        """
        order: dict[Identity, None] = {}
        for tool in (tool for step in self.steps for tool in step.known if tool is not None):
            heir = meant(tool, seen)
            order |= {} if heir is None else {heir: None}
        return list(order)

    def fork(self) -> Talk:
        return Talk(self.api, list(self.steps))

    def kept(self, messages: list[dict]) -> Talk:
        """This branch after some of its steps were taken out of the messages, whole, and a note put in."""
        there = {id(message) for message in messages}
        steps = []
        for step in self.steps:
            held = [id(message) in there for message in step.messages]
            assert len(set(held)) == 1, f"a step was torn apart: {step}"
            steps += [step] if held[0] else []
        known = {id(message) for message in self.messages}
        for place, message in enumerate(messages):
            if id(message) not in known:
                at = next(at for at in range(len(steps) + 1) if _length(steps[:at]) == place)
                steps.insert(at, Step("note", (message,), found=noted(message)))
        assert [*map(id, messages)] == [id(message) for step in steps for message in step.messages]
        return Talk(self.api, steps)

    def with_messages(self, messages: list[dict]) -> Talk:
        """The same steps with other messages, one for each."""
        assert len(messages) == _length(self.steps)
        rest = iter(messages)
        return Talk(
            self.api,
            [replace(step, messages=tuple(next(rest) for _ in step.messages)) for step in self.steps],
        )

    def handed_to(self, api: str) -> Talk:
        """What a host makes of it for another provider: its own words, and our searches as plain records."""
        steps = []
        for step in self.steps:
            if step.kind == "user":
                steps.append(replace(step, messages=(wires.user(api, "Go on."),)))
            elif step.kind == "model":
                steps += [Step("model", wires.foreign_call(api, name), (name,)) for name in step.called]
                if step.found is not None:
                    names = [WIRE[tool] for tool in step.found]
                    steps.append(Step("model", wires.foreign_search(api, names), found=step.found))
            else:
                steps.append(step)
        return Talk(api, steps)


def meant(tool: Identity, seen) -> Identity | None:
    """The tool that another's wire name means now: itself, else the one whose owner calls it so."""
    heirs = [tool] if tool in seen else [each for each in seen if each[1] == WIRE.get(tool)]
    return heirs[0] if len(heirs) == 1 else None


def noted(message: dict) -> tuple[Identity, ...]:
    """The tools that a compaction note lists, read by what only their names hold."""
    text = re.fullmatch(r"\[tool_search loaded: (.+)\]", message["content"])
    assert message["role"] == "system"
    return tuple(tool for entry in text[1].split(", ") if (tool := _identity_in(entry)))


def _identity_in(entry: str) -> Identity | None:
    """The tool of the pool that a wire name, or a qualified name of any provider, means."""
    if entry in _BY_WIRE:
        return _BY_WIRE[entry]
    owner, _, inner = entry.rpartition(".")
    space = re.search(r"nk\d", owner)
    if space is None and inner in _BY_WIRE and not owner.endswith("_tools"):
        return _BY_WIRE[inner]  # OpenAI gives a flat tool back in a namespace of its own name
    number = re.match(r"zq\d\d", inner)
    label = _SPACE[space[0]] if space else "zq20_rates"
    inside = (tool for tool in POOL if tool[0] == label and number and tool[1].startswith(number[0]))
    return next(inside, None)


def copied(messages: list[dict]) -> list[dict]:
    """The messages as they come back from a store."""
    return json.loads(json.dumps(messages))


def _length(steps: list[Step]) -> int:
    return sum(len(step.messages) for step in steps)
