"""Messages of any mix of wire formats in; what they say about tools out, as facts in order.

Read are Anthropic messages, OpenAI Responses items, Chat Completions messages, Gemini contents and the flat
neutral form of Chat, as dicts or SDK objects. What cannot be read gives no fact and never raises: stored
conversations hold whatever an earlier program wrote. A result counts only as the answer to a call that stands
before it, so that text shaped like a search result loads nothing.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from semantic_toolsearch.exchange import BRIDGE_TOOL_NAME, SEARCH_TOOL_NAME, as_dict
from semantic_toolsearch.facts import Answered, Asked, Called, Fact, Found, Noted, Place
from semantic_toolsearch.search_records import (
    MAX_NAME,
    WireName,
    decoded,
    definition_names,
    note_names,
    read_record,
    reference_names,
)

__all__ = ["blocks", "pairs", "plain", "read", "unpaired"]

MODEL_ROLES: Final = frozenset({"assistant", "model"})
SYSTEM_ROLES: Final = frozenset({"system", "developer"})

_HOSTED_PREFIX: Final = "tool_search_tool"
"""How the names of Anthropic's hosted search tools and of their result blocks begin."""

_Key: TypeAlias = tuple[Literal["client", "hosted", "named"], str]


def read(messages: Iterable[Any]) -> tuple[Fact, ...]:
    """Return what the messages say about tools, in order.

    Args:
        messages: Messages, items or contents of any provider, as dicts or SDK objects, mixed freely.
    """
    return tuple(_read(messages).facts)


def pairs(messages: Iterable[Any]) -> tuple[tuple[int, int], ...]:
    """Return the indices (call's message, answer's message) of every answered call, hosted or not."""
    return tuple(_read(messages).pairs)


def unpaired(messages: Iterable[Any]) -> tuple[frozenset[Place], frozenset[Place]]:
    """Return the calls of our search that have no answer, and the answers to no call at all."""
    reader = _read(messages)
    return frozenset(reader.unanswered), frozenset(reader.orphans)


def plain(message: Any) -> Mapping[str, Any]:
    """Return a message as a mapping, SDK objects by their own dump; empty for what is no message."""
    with contextlib.suppress(Exception):
        value = as_dict(message)
        if isinstance(value, Mapping):
            return value
    return {}


def blocks(content: Any) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Give the blocks of a content list with their places, SDK objects as dicts; else nothing."""
    if isinstance(content, (list, tuple)):
        for place, block in enumerate(content):
            if value := plain(block):
                yield place, value


def _read(messages: Iterable[Any]) -> _Reader:
    reader = _Reader()
    for at, message in enumerate(messages):
        reader.here = Place(at)
        with contextlib.suppress(Exception):  # one broken message costs itself only
            reader.take(at, plain(message))
    return reader


@dataclass(slots=True)
class _Open:
    """Calls with one key that wait for their answers.

    Two kinds of call under one key are answered for nothing: nobody could tell which answer is the search's.
    """

    batch: int
    name: str
    search: bool
    calls: deque[Place]
    mixed: bool = False


class _Reader:
    """Reads messages one after another and remembers the calls that wait for an answer."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.pairs: list[tuple[int, int]] = []
        self.unanswered: dict[Place, None] = {}
        self.orphans: list[Place] = []
        self.here = Place(0)
        self._open: dict[_Key, _Open] = {}
        self._items: deque[tuple[str, int]] = deque()  # hosted OpenAI searches, which have no id
        self._batch = 0

    def take(self, at: int, message: Mapping[str, Any]) -> None:
        role, kind = message.get("role"), message.get("type")
        if isinstance(role, str):
            self._message(at, role, message)
        elif isinstance(kind, str):
            self._item(at, kind, message)
        elif "parts" in message:  # Gemini's role may be left out: user
            self._message(at, "user", message)

    def _message(self, at: int, role: str, message: Mapping[str, Any]) -> None:
        if role in SYSTEM_ROLES:
            if names := note_names(message.get("content")):
                self.facts.append(Noted(at, names))
        elif role in MODEL_ROLES:
            for place, block in blocks(message.get("content")):
                self.here = Place(at, "content", place)
                self._model_block(at, block)
            for place, call in blocks(message.get("tool_calls")):
                self.here = Place(at, "tool_calls", place)
                self._chat_call(at, place, call)
            for place, part in blocks(message.get("parts")):
                self.here = Place(at, "parts", place)
                self._gemini_call(at, part)
        else:
            self._next_batch()
            self._answers(at, role, message)

    def _answers(self, at: int, role: str, message: Mapping[str, Any]) -> None:
        if role == "tool":
            self._answer(("client", _id(message.get("tool_call_id"))), at, None, message.get("content"))
        elif role == "user":
            for place, block in blocks(message.get("content")):
                if block.get("type") == "tool_result":
                    self.here = Place(at, "content", place)
                    content = None if block.get("is_error") is True else block.get("content")
                    self._answer(("client", _id(block.get("tool_use_id"))), at, place, content)
        for place, part in blocks(message.get("parts")):
            self.here = Place(at, "parts", place)
            self._gemini_answer(at, place, part)

    def _model_block(self, at: int, block: Mapping[str, Any]) -> None:
        kind = block.get("type")
        if kind == "tool_use":
            self._call(at, _id(block.get("id")), block.get("name"), block.get("input"))
        elif kind in ("server_tool_use", "mcp_tool_use"):
            id_, name = _id(block.get("id")), block.get("name")
            search = kind == "server_tool_use" and isinstance(name, str) and name.startswith(_HOSTED_PREFIX)
            if search:
                self.facts.append(Asked(at, id_, decoded(block.get("input")), hosted=True))
            self._wait(("hosted", id_), at, "", search)
        elif isinstance(kind, str) and kind.endswith("tool_result") and kind != "tool_result":
            self._hosted_answer(at, kind, block)

    def _hosted_answer(self, at: int, kind: str, block: Mapping[str, Any]) -> None:
        id_ = _id(block.get("tool_use_id"))
        answered = self._close(("hosted", id_), at)
        if answered is not None and answered[1] and kind.startswith(_HOSTED_PREFIX):
            content = block.get("content")
            listed = content.get("tool_references") if isinstance(content, Mapping) else content
            names = reference_names(block for _, block in blocks(listed))
            self.facts.append(Found(at, id_, names, True, "references", answered[0]))

    def _chat_call(self, at: int, place: int, call: Mapping[str, Any]) -> None:
        inner = call.get("function", call.get("custom"))
        body = inner if isinstance(inner, Mapping) else call
        id_ = _id(call.get("id")) or f"call_{place}"  # some compatible servers leave the id out
        self._call(at, id_, body.get("name"), body.get("arguments", body.get("input")))

    def _gemini_call(self, at: int, part: Mapping[str, Any]) -> None:
        call = part.get("functionCall", part.get("function_call"))
        if isinstance(call, Mapping):
            id_, name = _id(call.get("id")), call.get("name")
            key: _Key | None = None if id_ or not isinstance(name, str) else ("named", name)
            self._call(at, id_, name, call.get("args"), key=key)

    def _gemini_answer(self, at: int, place: int, part: Mapping[str, Any]) -> None:
        answer = part.get("functionResponse", part.get("function_response"))
        if not isinstance(answer, Mapping):
            return
        id_, name = _id(answer.get("id")), answer.get("name")
        key: _Key = ("client", id_)
        if not id_:
            if not isinstance(name, str) or not name:
                return
            key = ("named", name)
            if key not in self._open:  # calls with ids, answered without
                key = next((known for known, waiting in self._open.items() if waiting.name == name), key)
        self._answer(key, at, place, answer.get("response"))

    def _item(self, at: int, kind: str, item: Mapping[str, Any]) -> None:
        id_ = _id(item.get("call_id"))
        if not id_ and (kind == "function_call" or item.get("execution") == "client"):
            id_ = _id(item.get("id"))
        if kind == "tool_search_call":
            self._search_item(at, id_, item)
        elif kind == "tool_search_output":
            self._search_output(at, id_, item)
        elif kind in ("function_call", "custom_tool_call"):
            arguments = item.get("arguments", item.get("input"))
            self._call(at, id_, item.get("name"), arguments, namespace=item.get("namespace"))
        elif kind.endswith("_call_output"):
            self._next_batch()
            self._answer(("client", id_), at, None, item.get("output"))
        elif kind.endswith("_call") and id_:  # other tools of the provider that the application answers
            self._wait(("client", id_), at, "", search=False)

    def _search_item(self, at: int, id_: str, item: Mapping[str, Any]) -> None:
        execution = item.get("execution")
        hosted = execution == "server" or (execution != "client" and not id_)
        self.facts.append(Asked(at, id_, decoded(item.get("arguments")), hosted))
        if hosted:
            self._items.append((id_, at))
        else:
            self._wait(("client", id_), at, SEARCH_TOOL_NAME, search=True)

    def _search_output(self, at: int, id_: str, item: Mapping[str, Any]) -> None:
        execution, names = item.get("execution"), definition_names(item.get("tools"))
        if execution == "client" or (execution != "server" and ("client", id_) in self._open):
            self._next_batch()
            self._answer(("client", id_), at, None, None, names)
        elif self._items:
            # Without ids the oldest waiting search is answered; old recordings repeat an id in both items.
            waiting = next((pair for pair in self._items if id_ and pair[0] == id_), self._items[0])
            self._items.remove(waiting)
            self.pairs.append((waiting[1], at))
            self.facts.append(Found(at, id_, names, True, "definitions", waiting[1]))

    def _call(
        self, at: int, id_: str, name: Any, arguments: Any, *, namespace: Any = None, key: _Key | None = None
    ) -> None:
        known, owner = _name(name), _name(namespace) or None
        own = owner is None or owner == known  # a flat tool may come back in a namespace of its own name
        search = own and known == SEARCH_TOOL_NAME
        if search:
            self.facts.append(Asked(at, id_, decoded(arguments)))
        elif own and known == BRIDGE_TOOL_NAME:
            inner = decoded(arguments)
            if target := _name(inner.get("name") if isinstance(inner, Mapping) else None):
                self.facts.append(Called(at, id_, target, None, bridged=True))
        elif known:
            self.facts.append(Called(at, id_, known, owner))
        self._wait(key or ("client", id_), at, known, search)

    def _wait(self, key: _Key, at: int, name: str, search: bool) -> None:
        if search and key[0] != "hosted":
            self.unanswered[self.here] = None
        if not key[1]:
            return
        waiting = self._open.get(key)
        if waiting is None or waiting.batch != self._batch:
            # Some models number their calls anew in every turn: the older call of that id gets no answer now.
            self._open[key] = _Open(self._batch, name, search, deque([self.here]))
        else:
            waiting.calls.append(self.here)
            waiting.mixed = waiting.mixed or waiting.search != search

    def _close(self, key: _Key, at: int) -> tuple[int, bool] | None:
        """Take the oldest call that waits under a key; None when none does, or it is not clear which."""
        waiting = self._open.get(key) if key[1] else None
        if waiting is None:
            self.orphans += [] if key[0] == "hosted" else [self.here]
            return None
        call = waiting.calls.popleft()
        if not waiting.calls:
            del self._open[key]
        self.unanswered.pop(call, None)
        self.pairs.append((call.at, at))
        return None if waiting.mixed else (call.at, waiting.search)

    def _answer(
        self,
        key: _Key,
        at: int,
        part: int | None,
        content: Any,
        definitions: tuple[WireName, ...] | None = None,
    ) -> None:
        answered = self._close(key, at)
        if answered is None:
            return
        call, search = answered
        id_ = "" if key[0] == "named" else key[1]
        if not search:
            self.facts.append(Answered(at, id_, part, call))
        elif definitions is not None:
            self.facts.append(Found(at, id_, definitions, False, "definitions", call))
        else:
            names, form, record = read_record(content)
            self.facts.append(Found(at, id_, names, False, form, call, record))

    def _next_batch(self) -> None:
        """The model's output ended: hosted searches without an id get no answer any more."""
        self._batch += 1
        self._items.clear()


def _id(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _name(value: Any) -> str:
    return value if isinstance(value, str) and len(value) <= MAX_NAME else ""
