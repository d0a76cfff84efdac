"""Gemini contents: a request in, its ``tools`` list out; a response or stream in, its calls out.

There is no hosted search in this format. All functions stand in one entry, after the caller's own entries:
full tools, our search tool and bridge, then stubs in catalog order.

Schemas go into ``parametersJsonSchema``, which takes JSON Schema as it is. Its older twin ``parameters`` takes
a subset without ``$ref``, ``additionalProperties`` or exclusive bounds; one of them fails the whole request. The
Live (two-way) interface does not read ``parametersJsonSchema``; these requests are not for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.exchange import BRIDGE_TOOL_NAME, RawCall, SearchCall
from semantic_toolsearch.providers import base, gemini_stream
from semantic_toolsearch.providers.malformed import reads_responses, reads_streams

if TYPE_CHECKING:
    from semantic_toolsearch.exchange import Mode, OwnTool, ParsedResponse, TurnRequest

__all__ = ["MODES", "STUB_ARGUMENT", "assemble", "call_result", "parse", "render", "search_answer"]

MODES: Final[frozenset[Mode]] = frozenset({"full", "stub", "bridge"})

STUB_ARGUMENT: Final = "unloaded_arguments"
"""The one argument of a stub, a text that holds all arguments; `parse` opens it."""

_DONE: Final = frozenset({"STOP", "FINISH_REASON_UNSPECIFIED"})


def render(request: TurnRequest) -> list[dict[str, Any]]:
    """Return the ``tools`` list of a request.

    Raises:
        ConfigError: The plan is not one for Gemini.
        UnknownToolError: The plan names a tool that the catalog does not hold.
    """
    base.check_plan(request, "gemini", MODES)
    functions = [
        _function(name, tool.description, base.wire_schema(tool))
        for name, tool in base.tools_named(request, request.plan.full)
    ]
    functions += [_function(own.name, own.description, _own_schema(own)) for own in base.own_tools(request)]
    functions += [
        _function(name, base.cut_description(tool.description), _stub_schema())
        for name, tool in base.tools_named(request, base.unloaded_names(request))
    ]
    entries = [dict(entry) for entry in request.extra]
    return [*entries, {"functionDeclarations": functions}] if functions else entries


@reads_responses("Gemini")
def parse(response: Any) -> ParsedResponse:
    """Read a complete response, as a dict (camelCase or snake_case) or an SDK object; its first candidate.

    Raises:
        ConversationError: It is an error body, or no response of Gemini's.
    """
    reply = base.response_of(response, ("candidates", "promptFeedback", "prompt_feedback"), "Gemini")
    candidates = [found for found in reply.get("candidates") or () if isinstance(found, Mapping)]
    if not candidates:
        feedback = either(reply, "promptFeedback", "prompt_feedback")
        blocked = either(feedback, "blockReason", "block_reason") if isinstance(feedback, Mapping) else None
        return base.parsed((), stop=blocked, complete=False)
    candidate = candidates[0]
    content = candidate.get("content")
    parts = content.get("parts") if isinstance(content, Mapping) else None
    given = "finishReason" in candidate or "finish_reason" in candidate
    stop = either(candidate, "finishReason", "finish_reason")
    return base.parsed(_calls(parts or ()), stop=stop, complete=stop in _DONE or not given)


@reads_streams("Gemini")
def assemble(events: Iterable[Any]) -> dict[str, Any]:
    """Return the complete response that a stream of responses amounts to.

    A stream that ends early gives a candidate without a finish reason, which `parse` calls incomplete.

    Raises:
        ConversationError: An event reports an error, there is none, or arguments come in parts.
    """
    return gemini_stream.assemble(events)


def search_answer(call: SearchCall, record: dict[str, Any], request: TurnRequest) -> dict[str, Any]:
    """Return the part that answers a search of ours: the record as JSON text.

    As an object it would be refused where a schema in it holds a ``$ref``, which means a picture here.
    """
    return _response(call.raw, {"output": base.json_text(record)})


def call_result(call: RawCall, text: str, *, is_error: bool) -> dict[str, Any]:
    """Return the part that answers a call which is not run."""
    return _response(call.raw, {"error" if is_error else "output": base.wire_text(text)})


def either(value: Mapping[str, Any], camel: str, snake: str) -> Any:
    """Return a field by its name on the wire or by its name in the Python SDK."""
    return value[camel] if camel in value else value.get(snake)


def _stub_schema() -> dict[str, Any]:
    """Return a schema that is accepted and cannot be taken for a function without arguments.

    An object without properties is either refused here or read as taking nothing, and the model then sends
    nothing. One required text is accepted by every version of the interface and has to be filled.
    """
    description = "The function's arguments as a JSON object in text form; '{}' if it takes none."
    return {
        "type": "object",
        "properties": {STUB_ARGUMENT: {"type": "string", "description": description}},
        "required": [STUB_ARGUMENT],
    }


def _own_schema(tool: OwnTool) -> dict[str, Any]:
    """Return our own tool's schema; the bridge's free-form object, which would come empty, is a text here."""
    schema = base.own_schema(tool)
    if tool.name == BRIDGE_TOOL_NAME:
        description = "Arguments of the tool as a JSON object in text form."
        schema["properties"]["arguments"] = {"type": "string", "description": description}
    return schema


def _function(name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    # A description is required; where the owner gave none, the name is all that is known.
    function: dict[str, Any] = {"name": name, "description": description or name}
    if schema.get("properties") or schema.get("additionalProperties") or schema.get("patternProperties"):
        function["parametersJsonSchema"] = schema
    return function  # without a schema it takes no arguments


def _calls(parts: Iterable[Any]) -> Iterator[RawCall | SearchCall]:
    place = 0
    for part in parts:
        call = either(part, "functionCall", "function_call") if isinstance(part, Mapping) else None
        if not isinstance(call, Mapping):
            continue
        arguments = call.get("args")
        if isinstance(arguments, Mapping) and list(arguments) == [STUB_ARGUMENT]:
            arguments = arguments[STUB_ARGUMENT]
        yield base.read_call(
            id=str(call.get("id") or f"call_{place}"),
            name=str(call.get("name") or ""),
            arguments=arguments,
            raw=part,
        )
        place += 1


def _response(part: Mapping[str, Any], response: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a call under its name, and under its id where the provider gave one."""
    call = either(part, "functionCall", "function_call")
    answer: dict[str, Any] = {"name": base.wire_text(str(call.get("name") or "")), "response": response}
    if call.get("id"):
        answer = {"id": base.wire_text(str(call["id"])), **answer}
    return {"functionResponse": answer}
