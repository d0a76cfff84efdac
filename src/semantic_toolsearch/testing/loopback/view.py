"""What a model knows of a request: which tools it reads up front, which are loaded, and how it can search."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from .refusal import ScriptError

__all__ = ["Choice", "Knowledge", "RequestView", "SearchOffer", "Surface", "canonical", "tokens_of"]

Knowledge: TypeAlias = Literal["full", "loaded", "blind", "unknown"]
"""How the model knows the schema it calls with: sent in full, loaded by a search, not at all, or no such tool."""

_INFORMATIVE = ("properties", "$ref", "anyOf", "oneOf", "allOf", "patternProperties")


@dataclass(slots=True)
class Surface:
    """One callable tool.

    Attributes:
        name: Name inside its namespace.
        definition: The entry as sent.
        parameters: Its schema.
        deferred: Whether it was declared as deferred.
        loaded: Whether its schema has reached the model by a search or an addition.
        namespace: OpenAI namespace that a call of it carries, or None.
        grouped: Whether it stands inside a namespace entry.
        kind: ``function``, ``custom``, or ``server`` for a tool that the provider defines.
    """

    name: str
    definition: Mapping[str, Any]
    parameters: Mapping[str, Any]
    deferred: bool = False
    loaded: bool = False
    namespace: str | None = None
    grouped: bool = False
    kind: Literal["function", "custom", "server"] = "function"

    @property
    def description(self) -> str:
        """Its description, or an empty text."""
        return str(self.definition.get("description") or "")

    @property
    def visible(self) -> bool:
        """Whether the model has its definition."""
        return self.loaded or not self.deferred


@dataclass(frozen=True, slots=True)
class SearchOffer:
    """How the model can search: hosted ``bm25``, ``regex`` or ``paths``; ``client``; or a plain ``function``."""

    kind: Literal["bm25", "regex", "paths", "client", "function"]
    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def hosted(self) -> bool:
        """Whether the provider answers it."""
        return self.kind in ("bm25", "regex", "paths")


@dataclass(frozen=True, slots=True)
class Choice:
    """What the request demands: ``auto``, ``none``, ``any`` call, or one ``tool``; and whether calls may be several."""

    kind: Literal["auto", "none", "any", "tool"] = "auto"
    name: str | None = None
    parallel: bool = True


@dataclass(slots=True)
class RequestView:
    """One request as its model sees it.

    Attributes:
        index: Position among all requests of the server.
        api: ``anthropic``, ``responses`` or ``chat``.
        body: The request.
        messages: The conversation in the provider's form, stored turns included.
        surfaces: All tools.
        up_front: What the model reads of the tools list before the conversation.
        search: The search that is offered, or None.
        choice: What ``tool_choice`` demands.
        results: Texts of the tool results that came last, in order.
        user_text: The last text of the user.
        emitted: Blocks or items of this response so far.
    """

    index: int
    api: Literal["anthropic", "responses", "chat"]
    body: Mapping[str, Any]
    messages: Sequence[Mapping[str, Any]]
    surfaces: list[Surface]
    up_front: tuple[Mapping[str, Any], ...]
    search: SearchOffer | None = None
    choice: Choice = field(default_factory=Choice)
    results: tuple[str, ...] = ()
    user_text: str = ""
    emitted: list[dict[str, Any]] = field(default_factory=list)

    @property
    def loaded(self) -> tuple[Mapping[str, Any], ...]:
        """Definitions that searches and additions have put into the context."""
        return tuple(surface.definition for surface in self.surfaces if surface.loaded)

    @property
    def emitted_search(self) -> bool:
        """Whether this response holds a search."""
        kinds = ("server_tool_use", "tool_search_call")
        return any(block.get("type") in kinds for block in self.emitted)

    @property
    def hidden(self) -> tuple[str, ...]:
        """Names of deferred tools that are not loaded."""
        return tuple(surface.name for surface in self.surfaces if not surface.visible)

    @property
    def tokens(self) -> int:
        """An estimate of what the tools cost: four characters a token."""
        return sum(tokens_of(canonical(entry)) for entry in (*self.up_front, *self.loaded))

    def find(self, name: str, namespace: str | None = None) -> Surface | None:
        """The tool that a call means, or None.

        Args:
            name: Name as called; ``namespace.name`` and ``namespace__name`` also find a function of a namespace.
            namespace: OpenAI namespace of the call, or None.

        Raises:
            ScriptError: Several namespaces have it.
        """
        found = [s for s in self.surfaces if s.name == name and namespace in (None, s.namespace)]
        if not found and namespace is None:
            found = [
                s for s in self.surfaces if name in (f"{s.namespace}.{s.name}", f"{s.namespace}__{s.name}")
            ]
        visible = [surface for surface in found if surface.visible]
        for group in (visible, found):
            if len({surface.namespace for surface in group}) > 1:
                spaces = ", ".join(str(surface.namespace) for surface in group)
                raise ScriptError(
                    f"{name!r} exists in several namespaces ({spaces}); say which in Call(namespace=)"
                )
            if group:
                return group[-1]
        return None

    def knowledge(
        self, name: str, arguments: Mapping[str, Any] | str = "", namespace: str | None = None
    ) -> Knowledge:
        """How the model would know the schema of a tool; an open stub tells nothing about arguments.

        Args:
            name: As for ``find``.
            arguments: What it would pass; without any, a stub is enough.
            namespace: As for ``find``.
        """
        surface = self.find(name, namespace)
        if surface is None:
            return "unknown"
        if not surface.visible:
            return "blind"
        if (
            arguments
            and surface.kind == "function"
            and not any(surface.parameters.get(k) for k in _INFORMATIVE)
        ):
            return "blind"
        return "loaded" if surface.loaded else "full"


def canonical(value: Any) -> str:
    """One JSON text for equal values, in the order of their keys."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def tokens_of(text: str) -> int:
    """An estimate: four characters a token."""
    return -(-len(text) // 4)
