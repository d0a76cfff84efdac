"""A request in, Anthropic's response by its own SDK out; responses in, the tools that its search found out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.errors import ConversationError, MissingExtraError
from semantic_toolsearch.evaluation.answers import DEPTH, Answer
from semantic_toolsearch.evaluation.hosted.faults import NoAnswer
from semantic_toolsearch.evaluation.hosted.searched import parts_of, told, usage_of, without_search
from semantic_toolsearch.providers import anthropic as wire
from semantic_toolsearch.search_records import reference_names

if TYPE_CHECKING:
    from types import ModuleType

    from semantic_toolsearch.evaluation.hosted.requests import Requests
    from semantic_toolsearch.exchange import ParsedResponse

__all__ = ["following", "load_sdk", "open_client", "read", "send"]

_KNOWN: Final = frozenset(
    {"text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "tool_search_tool_result"}
)
_PASSING: Final = frozenset({"unavailable", "too_many_requests"})
"""Errors of the search that say nothing about what was searched for."""


def load_sdk() -> ModuleType:
    """See ``ProviderModule``."""
    try:
        import anthropic
    except ImportError as error:
        raise MissingExtraError("Asking Anthropic's hosted search", "anthropic") from error
    return anthropic


def open_client(address: str, key: str, *, foreign: bool, timeout: float, max_retries: int) -> Any:
    """See ``ProviderModule``."""
    del foreign  # an explicit key keeps the SDK from sending any other secret of the environment
    return load_sdk().Anthropic(base_url=address, api_key=key, timeout=timeout, max_retries=max_retries)


def send(client: Any, body: Mapping[str, Any]) -> str:
    """See ``ProviderModule``."""
    text: str = client.messages.with_raw_response.create(**body).http_response.text
    return text


def following(body: Mapping[str, Any], response: Any) -> dict[str, Any] | None:
    """See ``ProviderModule``; a provider that pauses gets what it has said so far."""
    if not _parsed(response).resume:
        return None
    said = {"role": "assistant", "content": response["content"]}
    return {**body, "messages": [*body["messages"], said]}


def read(responses: Sequence[Any], requests: Requests) -> Answer:
    """See ``ProviderModule``; the tools of the first search in their order, then new ones of later ones."""
    stop = [_parsed(response).stop for response in responses][-1]
    asked: dict[str, Any] = {}
    found: dict[str, list[str]] = {}
    failed: dict[str, str] = {}
    strange: list[str] = []
    for block in (block for response in responses for block in parts_of(response, "content")):
        kind, id_ = block["type"], str(block.get("tool_use_id"))
        if kind == "server_tool_use" and str(block.get("name")).startswith("tool_search_tool"):
            asked[str(block.get("id"))] = block.get("input")
        elif kind == "tool_search_tool_result":
            asked.setdefault(id_, None)
            _take_result(id_, block.get("content"), found, failed)
        elif kind not in _KNOWN:
            strange.append(kind)
    if not asked:
        return without_search(stop, strange, responses)
    if not found:
        raise _nothing_found(failed)
    places: dict[int, None] = {}
    for name in (name for id_ in asked for name in found.get(id_, ())):
        place = requests.place(name)
        if place is None:
            raise NoAnswer(f"the response names a tool that was not sent: {name!r}")
        places[place] = None
    order = tuple(places)
    notes = [told(list(asked.values())), *(f"a search failed: {code}" for code in failed.values())]
    if asked.keys() - found.keys() - failed.keys():
        notes.append("a search has no result")
    return Answer(
        ranked=order[:DEPTH], returned=order, usage=usage_of(responses, len(asked)), notes=tuple(notes)
    )


def _parsed(response: Any) -> ParsedResponse:
    try:
        return wire.parse(response)
    except ConversationError as error:
        raise NoAnswer(f"the response cannot be read: {error}") from error


def _take_result(id_: str, content: Any, found: dict[str, list[str]], failed: dict[str, str]) -> None:
    """Read one result block.

    Raises:
        NoAnswer: It is none that this version knows.
    """
    kind = content.get("type") if isinstance(content, Mapping) else None
    if kind == "tool_search_tool_result_error":
        failed[id_] = str(content.get("error_code") or "unknown")
        return
    references = content.get("tool_references") if kind == "tool_search_tool_search_result" else None
    if not isinstance(references, list) or not all(map(_is_reference, references)):
        raise NoAnswer("the response holds a search result that cannot be read")
    found[id_] = [name for _, name in reference_names(references)]


def _is_reference(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and value.get("type") == "tool_reference"
        and isinstance(value.get("tool_name"), str)
    )


def _nothing_found(failed: Mapping[str, str]) -> NoAnswer:
    if not failed:
        return NoAnswer("the search has no result", final=True)
    codes = ", ".join(dict.fromkeys(failed.values()))
    return NoAnswer(f"the search failed: {codes}", final=_PASSING.isdisjoint(failed.values()))
