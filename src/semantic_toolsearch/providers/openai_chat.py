"""OpenAI Chat Completions: a request in, its ``tools`` list out; a response or stream in, its calls out.

This interface, and the many servers compatible with it, never carries hosted search. The list's order: the
caller's own entries, full tools, our search tool and bridge, then stubs in catalog order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.exchange import RawCall, SearchCall
from semantic_toolsearch.providers import base, openai_chat_stream
from semantic_toolsearch.providers.malformed import reads_responses, reads_streams
from semantic_toolsearch.providers.openai_schemas import parameters_of

if TYPE_CHECKING:
    from semantic_toolsearch.exchange import Mode, ParsedResponse, TurnRequest

__all__ = ["MODES", "assemble", "call_result", "parse", "render", "search_answer"]

MODES: Final[frozenset[Mode]] = frozenset({"full", "stub", "bridge"})

_CUT: Final = frozenset({"length", "content_filter", "error"})
"""Finish reasons after which nothing of the response may be run."""


def render(request: TurnRequest) -> list[dict[str, Any]]:
    """Return the ``tools`` list of a request.

    Raises:
        ConfigError: The plan is not one for Chat Completions.
        UnknownToolError: The plan names a tool that the catalog does not hold.
    """
    base.check_plan(request, "chat", MODES)
    entries = [dict(entry) for entry in request.extra]
    for name, tool in base.tools_named(request, request.plan.full):
        parameters, strict = parameters_of(tool)
        said = isinstance(tool.provider_fields.get("strict"), bool)
        entries.append(_function(name, tool.description, parameters, strict if said else None))
    entries += [_function(own.name, own.description, base.own_schema(own)) for own in base.own_tools(request)]
    # A stub is never strict: a strict function takes no argument that its schema does not list.
    entries += [
        _function(name, base.cut_description(tool.description), base.openai_stub_schema())
        for name, tool in base.tools_named(request, base.unloaded_names(request))
    ]
    return entries


@reads_responses("OpenAI Chat Completions")
def parse(response: Any) -> ParsedResponse:
    """Read a complete chat completion, as a dict or an SDK object; of several choices the first.

    Raises:
        ConversationError: It is an error body, or no chat completion.
    """
    completion = base.response_of(response, "choices", "OpenAI Chat Completions")
    choices = [choice for choice in completion["choices"] or () if isinstance(choice, Mapping)]
    choice = min(choices, key=lambda found: found.get("index") or 0, default={})
    message = choice.get("message")
    calls = message.get("tool_calls") if isinstance(message, Mapping) else None
    stop = choice.get("finish_reason")
    cut = stop in _CUT or (stop is None and "finish_reason" in choice)
    return base.parsed(_calls(calls or ()), stop=stop, complete=bool(choices) and not cut)


@reads_streams("OpenAI Chat Completions")
def assemble(events: Iterable[Any]) -> dict[str, Any]:
    """Return the complete chat completion that a stream of chunks amounts to.

    A stream that ends early gives a choice without a finish reason, which `parse` calls incomplete.

    Raises:
        ConversationError: A chunk reports an error, or there is none.
    """
    return openai_chat_stream.assemble(events)


def search_answer(call: SearchCall, record: dict[str, Any], request: TurnRequest) -> dict[str, Any]:
    """Return the ``tool`` message for a search of ours: the record as JSON text."""
    return _result(call.id, base.json_text(record))


def call_result(call: RawCall, text: str, *, is_error: bool) -> dict[str, Any]:
    """Return the ``tool`` message for a call that is answered without being run.

    This format has no mark for errors, so the text alone says what `is_error` would.
    """
    return _result(call.id, base.wire_text(text))


def _result(call_id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": base.wire_text(call_id), "content": content}


def _function(
    name: str, description: str, parameters: dict[str, Any], strict: bool | None = None
) -> dict[str, Any]:
    function: dict[str, Any] = {"name": name, "description": description, "parameters": parameters}
    if not description:
        del function["description"]
    if strict is not None:
        function["strict"] = strict
    return {"type": "function", "function": function}


def _calls(calls: Iterable[Any]) -> Iterator[RawCall | SearchCall]:
    for place, call in enumerate(calls):
        if not isinstance(call, Mapping):
            continue
        # Some compatible servers leave the id out; within one answer the place tells calls apart as well.
        call_id = str(call.get("id") or f"call_{place}")
        function, custom = call.get("function"), call.get("custom")
        if isinstance(function, Mapping):
            name, arguments = str(function.get("name", "")), function.get("arguments")
            yield base.read_call(id=call_id, name=name, arguments=arguments, raw=call)
        elif isinstance(custom, Mapping):  # a free-text tool of the caller's own: its input is no JSON
            yield RawCall(call_id, str(custom.get("name", "")), None, custom.get("input", ""), None, call)
