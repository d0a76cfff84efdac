"""A request in, OpenAI's response by its own SDK out; a response in, the tools that its search loaded out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.errors import ConversationError, MissingExtraError
from semantic_toolsearch.evaluation.answers import Answer
from semantic_toolsearch.evaluation.hosted.faults import NoAnswer, redacted
from semantic_toolsearch.evaluation.hosted.searched import parts_of, told, usage_of, without_search
from semantic_toolsearch.providers import openai_responses as wire
from semantic_toolsearch.search_records import definition_names

if TYPE_CHECKING:
    from types import ModuleType

    from semantic_toolsearch.evaluation.hosted.requests import Requests

__all__ = ["following", "load_sdk", "open_client", "read", "send"]

_KNOWN: Final = frozenset({"message", "reasoning", "function_call", "custom_tool_call"})


def load_sdk() -> ModuleType:
    """See ``ProviderModule``."""
    try:
        import openai
    except ImportError as error:
        raise MissingExtraError("Asking OpenAI's hosted search", "openai") from error
    return openai


def open_client(address: str, key: str, *, foreign: bool, timeout: float, max_retries: int) -> Any:
    """See ``ProviderModule``."""
    client = load_sdk().OpenAI(base_url=address, api_key=key, timeout=timeout, max_retries=max_retries)
    if foreign:
        client.organization = client.project = None  # read from the environment, meant for OpenAI
    return client


def send(client: Any, body: Mapping[str, Any]) -> str:
    """See ``ProviderModule``."""
    fields = {name: value for name, value in body.items() if name != "tools"}
    # Tools as a plain field would be matched against every type that the SDK knows: a second for 3,000 of them.
    tools = {"tools": body["tools"]}
    text: str = client.responses.with_raw_response.create(**fields, extra_body=tools).http_response.text
    return text


def following(body: Mapping[str, Any], response: Any) -> None:
    """See ``ProviderModule``; this provider never pauses."""
    del body
    _status(response)


def read(responses: Sequence[Any], requests: Requests) -> Answer:
    """See ``ProviderModule``; nothing tells an order of the tools, so ``ranked`` is empty."""
    (response,) = responses
    stop = _status(response)
    asked: list[Any] = []
    loaded: list[list[tuple[str | None, str]]] = []
    strange: list[str] = []
    refused = False
    for item in parts_of(response, "output"):
        kind = item["type"]
        if kind == "tool_search_call":
            asked.append(item.get("arguments"))
        elif kind == "tool_search_output":
            loaded.append(_definitions(item.get("tools")))
        elif kind not in _KNOWN:
            strange.append(kind)
        refused = refused or _is_refusal(item)
    if not asked and not loaded:
        return without_search(stop, strange, responses, refused=refused)
    if not loaded:
        raise NoAnswer("the search has no result", final=True)
    places: dict[int, None] = {}
    for namespace, name in (pair for pairs in loaded for pair in pairs):
        place = requests.place(name, namespace)
        if place is None:
            shown = name if namespace is None else f"{namespace}.{name}"
            raise NoAnswer(f"the response names a tool that was not sent: {shown!r}")
        places[place] = None
    notes = [told(asked), *(["a search has no result"] if len(asked) > len(loaded) else [])]
    return Answer(returned=tuple(places), usage=usage_of(responses, len(asked)), notes=tuple(notes))


def _status(response: Any) -> str | None:
    """Why the response ended."""
    try:
        parsed = wire.parse(response)
    except ConversationError as error:
        raise NoAnswer(f"the response cannot be read: {error}") from error
    if response.get("status") not in (None, "completed", "incomplete"):
        told_error = response.get("error")
        message = told_error.get("message") if isinstance(told_error, Mapping) else None
        raise NoAnswer(
            redacted(f"the response is {response['status']}: {message or 'no reason given'}", None)
        )
    return parsed.stop


def _definitions(tools: Any) -> list[tuple[str | None, str]]:
    """Namespace and name of each loaded function.

    Raises:
        NoAnswer: The list holds something else.
    """
    entries = tools if isinstance(tools, list) else [None]
    functions = [
        function
        for entry in entries
        for function in (
            entry.get("tools") or [None]
            if isinstance(entry, Mapping) and entry.get("type") == "namespace"
            else [entry]
        )
    ]
    if not all(isinstance(each, Mapping) and isinstance(each.get("name"), str) for each in functions):
        raise NoAnswer("the response holds a search result that cannot be read")
    return list(definition_names(tools))


def _is_refusal(item: Mapping[str, Any]) -> bool:
    content = item.get("content")
    return isinstance(content, list) and any(
        isinstance(part, Mapping) and part.get("type") == "refusal" for part in content
    )
