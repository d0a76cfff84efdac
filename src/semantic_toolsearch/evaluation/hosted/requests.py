"""A hosted search and a catalog in; the request for each query, with every tool deferred, out."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.exchange import TurnPlan, TurnRequest
from semantic_toolsearch.modes import MAX_DEFERRED
from semantic_toolsearch.names import nearest
from semantic_toolsearch.providers import anthropic, openai_responses
from semantic_toolsearch.providers.base import wire_text
from semantic_toolsearch.providers.validate import validate

if TYPE_CHECKING:
    from semantic_toolsearch.catalog import Catalog

__all__ = ["HOSTED", "INSTRUCTIONS", "MAX_OUTPUT", "HostedSearch", "Requests", "hosted_search"]

INSTRUCTIONS: Final = (
    "The tools that you have are not shown: find them by tool search. Search for every tool that the user's request "
    "needs; where it needs several different ones, search for each. Do not call the tools that you find, do not ask "
    "anything and do not answer the request. After searching reply with one word: done."
)
"""What the model is told, the same at every provider."""

MAX_OUTPUT: Final = 2_048
"""Most output tokens of a response: a search takes few, but models that think first need room for that."""

_ENTRY: Final = re.compile(r"\$\.tools\[(\d+)\](?:\.tools\[(\d+)\])?")


@dataclass(frozen=True, slots=True)
class HostedSearch:
    """One search that a provider hosts.

    Attributes:
        name: Name of the arm.
        vendor: Name of the provider.
        api: Wire format.
        search: Which of its searches.
        writes: What the model writes to search.
        ranks: Whether the response shows an order.
        model: Model that is asked where nobody names one.
        key_variable: Variable of the environment that holds the key.
        package: The provider's SDK, and the extra that brings it.
        address: The provider's own address.
        most_tools: Most deferred tools of a request, or None where none is documented.
    """

    name: str
    vendor: str
    api: Literal["anthropic", "responses"]
    search: Literal["bm25", "regex", "openai"]
    writes: str
    ranks: bool
    model: str
    key_variable: str
    package: str
    address: str
    most_tools: int | None


_BM25: Final = HostedSearch(
    name="anthropic-bm25",
    vendor="Anthropic",
    api="anthropic",
    search="bm25",
    writes="query",
    ranks=True,
    model="claude-sonnet-5",
    key_variable="ANTHROPIC_API_KEY",
    package="anthropic",
    address="https://api.anthropic.com",
    most_tools=MAX_DEFERRED,
)
_REGEX: Final = replace(_BM25, name="anthropic-regex", search="regex", writes="pattern")
_OPENAI: Final = HostedSearch(
    name="openai-tool-search",
    vendor="OpenAI",
    api="responses",
    search="openai",
    writes="paths",
    ranks=False,
    model="gpt-5.4",
    key_variable="OPENAI_API_KEY",
    package="openai",
    address="https://api.openai.com/v1",
    most_tools=None,
)

HOSTED: Final[Mapping[str, HostedSearch]] = MappingProxyType(
    {each.name: each for each in (_BM25, _REGEX, _OPENAI)}
)
"""Every hosted search by the name of its arm."""


def hosted_search(name: str) -> HostedSearch:
    """The hosted search of this name.

    Raises:
        ConfigError: There is none.
    """
    if name in HOSTED:
        return HOSTED[name]
    similar = nearest(name, list(HOSTED))
    hint = f" Nearest: {similar[0]}." if similar else ""
    raise ConfigError(f"There is no hosted search {name!r}; there are {', '.join(HOSTED)}.{hint}")


class Requests:
    """The requests of one hosted search about one catalog; they differ in the user's text only.

    Args:
        hosted: The search.
        catalog: The tools. Each is deferred, whatever its own policy says.
        model: Model to ask.
        task: Name of the catalog, for messages.

    Attributes:
        turn: What the tools list is rendered from.
        tools: The ``tools`` list.
        left_out: Places of tools that the provider would refuse, and the whole request with them, with the reason.

    Raises:
        ConfigError: The catalog is empty, or holds more tools than the provider takes.
    """

    def __init__(self, hosted: HostedSearch, catalog: Catalog, model: str, task: str) -> None:
        count, most = len(catalog), hosted.most_tools
        if not count:
            raise ConfigError(f"{hosted.name} has nothing to search in {task}: it has no tools.")
        if most is not None and count > most:
            raise ConfigError(
                f"{hosted.name} cannot search {task}: it has {count:,} tools, and {hosted.vendor} takes at most "
                f"{most:,} deferred tools in a request. Ask about fewer tools."
            )
        self.hosted = hosted
        self.model = model
        self._provider = anthropic if hosted.api == "anthropic" else openai_responses
        self.left_out: Mapping[int, str] = {}
        self.turn = self._turn(catalog, catalog.wire_names)
        self.tools: list[dict[str, Any]] = self._provider.render(self.turn)
        self.left_out = self._refused()
        if self.left_out:
            kept = tuple(name for at, name in enumerate(catalog.wire_names) if at not in self.left_out)
            if not kept:
                raise ConfigError(
                    f"{hosted.vendor} refuses every tool of {task}: {next(iter(self.left_out.values()))}."
                )
            self.turn = self._turn(catalog, kept)
            self.tools = self._provider.render(self.turn)
        self._digest = openai_responses.cache_key(self.tools)

    def first(self, text: str) -> dict[str, Any]:
        """The request for a query's text; its ``tools`` are shared between requests and must not be altered.

        One search or call at a time: a search beside a call would end the response without the search's result.
        """
        user = {"role": "user", "content": wire_text(text)}
        if self.hosted.api == "anthropic":
            return {
                "model": self.model,
                "max_tokens": MAX_OUTPUT,
                "system": INSTRUCTIONS,
                "messages": [user],
                "tools": self.tools,
                "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
            }
        return {
            "model": self.model,
            "max_output_tokens": MAX_OUTPUT,
            "instructions": INSTRUCTIONS,
            "input": [user],
            "tools": self.tools,
            "tool_choice": "auto",
            "parallel_tool_calls": False,
            "store": False,
        }

    def key(self, body: Mapping[str, Any]) -> str:
        """A SHA-256 in hex over a request: equal for equal requests, whatever the order of object keys."""
        text = json.dumps({**body, "tools": self._digest}, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def place(self, name: str, namespace: str | None = None) -> int | None:
        """The place of the tool that a response names so, or None where no tool was sent under this name.

        Args:
            name: Its name on the wire.
            namespace: Its namespace there; OpenAI's responses alone have one.
        """
        catalog = self.turn.catalog
        if self.hosted.api == "responses":
            place = openai_responses.resolve(self.turn, name, namespace)
        else:
            found = catalog.exact(name)
            place = found[0] if len(found) == 1 and catalog.wire_names[found[0]] == name else None
        return place if place not in self.left_out else None

    def _turn(self, catalog: Catalog, deferred: tuple[str, ...]) -> TurnRequest:
        plan = TurnPlan(
            mode="hosted",
            api=self.hosted.api,
            reason="a hosted search is evaluated",
            full=(),
            deferred=deferred,
            search=self.hosted.search,
        )
        return TurnRequest(catalog, plan)

    def _refused(self) -> dict[int, str]:
        """Tools that break a published rule of the provider, which would refuse the request because of one."""
        refused: dict[int, str] = {}
        settings = {"model": self.model}
        for violation in validate(self.hosted.api, self.tools, settings=settings):
            if violation.severity != "error":
                continue
            at = _ENTRY.match(violation.where)
            entry: Mapping[str, Any] = self.tools[int(at[1])] if at else {}
            namespace = None
            if at and at[2]:
                namespace, entry = entry.get("name"), entry["tools"][int(at[2])]
            place = self.place(str(entry.get("name")), namespace) if entry else None
            if place is None:
                raise ConfigError(f"{self.hosted.vendor} would refuse the request: {violation}")
            refused.setdefault(place, violation.message.rstrip("."))
        return refused
