"""One foreign tool definition of any known form in; a `ToolDefinition`, or why there is none, out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from semantic_toolsearch.definitions import POLICIES, ToolDefinition, UnusableToolError
from semantic_toolsearch.errors import InvalidToolError
from semantic_toolsearch.functions import is_function, read_function
from semantic_toolsearch.report import Problem

__all__ = ["Reading", "read_definition"]

SCHEMA_KEYS: Final = ("parameters", "input_schema", "inputSchema")
"""Where a form keeps its schema: OpenAI and the neutral form, Anthropic, MCP."""

_JSON_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_FREE_TEXT = {
    "type": "object",
    "properties": {"input": {"type": "string", "description": "The tool's input as free text"}},
    "required": ["input"],
    "additionalProperties": False,
}


class Reading(NamedTuple):
    """What one foreign definition gave: the tool, or None and the deciding problem last."""

    tool: ToolDefinition | None
    name: str | None
    namespace: str | None
    problems: tuple[Problem, ...]


def read_definition(source: Any, namespace: str | None = None) -> Reading:
    """Read one definition; whatever it is, this never raises.

    Forms: `ToolDefinition`, OpenAI Chat and Responses functions and custom tools, Anthropic, MCP (dicts, SDK
    objects and whatever else has pydantic's `model_dump`), Python functions, and the neutral form with this
    library's field names.

    Args:
        source: The definition. It is copied, never altered.
        namespace: Namespace of a definition that names none itself.
    """
    if issubclass(type(source), ToolDefinition):
        return _finish(
            lambda: _known(source, namespace), source.__dict__.get("name"), source.__dict__.get("namespace")
        )
    problems: list[Problem] = []
    fields: dict[str, Any] = {}

    def read() -> ToolDefinition:
        fields.update(_fields(source, problems))
        if fields.get("namespace") is None:
            fields["namespace"] = namespace
        return ToolDefinition(**fields)

    reading = _finish(read, None, namespace)
    name, owner = (fields.get(key) for key in ("name", "namespace"))
    if reading.tool is None:
        name = name if isinstance(name, str) else _name_of(source)
        owner = owner if isinstance(owner, str) else namespace
        return Reading(None, name, owner, (*problems, *reading.problems))
    return reading._replace(problems=(*problems, *reading.problems))


def _finish(make: Callable[[], ToolDefinition], name: Any, namespace: Any) -> Reading:
    try:
        tool = make()
    except UnusableToolError as error:
        problems = error.problems
    except InvalidToolError as error:
        problems = (Problem("$", str(error)),)
    except ValidationError as error:
        problems = tuple(
            Problem(".".join(("$", *map(str, fault["loc"]))), fault["msg"])
            for fault in error.errors(include_url=False, include_input=False, include_context=False)
        )
    except Exception as error:  # a foreign object may raise anything from anywhere when it is looked at
        problems = (Problem("$", f"reading it raised {type(error).__name__}: {_message(error)}"),)
    else:
        return Reading(tool, tool.name, tool.namespace, tool.problems)
    told_name = name if isinstance(name, str) else None
    return Reading(None, told_name, namespace if isinstance(namespace, str) else None, problems)


def _known(tool: ToolDefinition, namespace: str | None) -> ToolDefinition:
    checked = tool.recheck()
    if namespace is None or checked.namespace is not None:
        return checked
    return checked.model_copy(update={"namespace": namespace}).recheck()


def _message(error: Exception) -> str:
    try:
        return str(error)[:200]
    except Exception:
        return "(its message cannot be shown)"


def _name_of(source: Any) -> str | None:
    try:
        name = source.get("name") if isinstance(source, Mapping) else getattr(source, "name", None)
        return name if isinstance(name, str) else None
    except Exception:
        return None


def _unusable(path: str, reason: str) -> UnusableToolError:
    return UnusableToolError((Problem(path, reason),))


def _fields(source: Any, problems: list[Problem]) -> dict[str, Any]:
    """Return the fields of a `ToolDefinition`, of the right types but not cleaned yet."""
    if isinstance(source, Mapping):
        return _from_mapping(dict(source), problems)
    if not isinstance(source, type) and callable(getattr(source, "model_dump", None)):
        return _from_mapping(_dump(source), problems)
    if is_function(source):
        fields, found = read_function(source)
        problems.extend(found)
        return fields
    kind = type(source).__name__
    if isinstance(source, type):
        raise _unusable(
            "$", f"the class {source.__name__}, not a tool: give a function or a method of an instance"
        )
    if isinstance(source, list | tuple):
        raise _unusable("$", f"a {kind} inside of the list: tools are given in one flat list")
    raise _unusable("$", f"a value of type {kind} is no tool definition")


def _dump(source: Any) -> dict[str, Any]:
    try:
        dumped = source.model_dump(by_alias=True, exclude_none=True, mode="json", warnings=False)
    except TypeError:  # something like pydantic, with fewer options
        dumped = source.model_dump(by_alias=True)
    if not isinstance(dumped, Mapping):
        raise _unusable("$", f"{type(source).__name__}.model_dump() gives no object")
    return dict(dumped)


def _from_mapping(data: dict[str, Any], problems: list[Problem]) -> dict[str, Any]:
    data = _unwrap(data)
    kind = data.get("type")
    fields: dict[str, Any] = {"name": _name(data, kind), "parameters": _parameters(data, problems)}
    fields["description"] = _description(data, problems)
    fields["namespace"] = _namespace(data, problems)
    fields["defer"] = _defer(data, problems)
    fields["registered"] = _flag(data, "registered", True, problems)
    fields["aliases"] = _words(data, "aliases", problems)
    fields["tags"] = _words(data, "tags", problems)
    kept = data.pop("provider_fields", None)
    if data.get("type") == "function" or (kind == "custom" and fields["parameters"] is not _FREE_TEXT):
        del data["type"]
    fields["provider_fields"] = {**data, **kept} if isinstance(kept, Mapping) else data
    return fields


def _unwrap(data: dict[str, Any]) -> dict[str, Any]:
    """Return OpenAI Chat's nested form flat: what stands beside `function` belongs to the tool too."""
    for key in ("function", "custom"):
        inner = data.get(key)
        if isinstance(inner, Mapping) and data.get("type") in (key, None):
            return {**{k: v for k, v in data.items() if k != key}, **inner}
    return data


def _name(data: dict[str, Any], kind: Any) -> str:
    has_schema = any(key in data for key in SCHEMA_KEYS)
    if isinstance(kind, str) and not has_schema:
        if kind == "namespace" or isinstance(data.get("tools"), list):
            raise _unusable("$.type", "a namespace inside of a namespace: list its tools one level up")
        if "name" not in data and (kind in _JSON_TYPES or "properties" in data):
            raise _unusable("$.name", "a bare JSON Schema without a tool's name around it")
        if kind not in ("function", "custom"):
            reason = (
                f"{kind!r} is run by the provider, without a schema here: send it beside the catalog's tools"
            )
            raise _unusable("$.type", reason)
    if "name" not in data:
        raise _unusable("$.name", "missing: a tool needs a name")
    name = data.pop("name")
    if not isinstance(name, str):
        raise _unusable("$.name", f"{_kind(name)} instead of text: a tool needs a name")
    return name


def _parameters(data: dict[str, Any], problems: list[Problem]) -> Any:
    present = [key for key in SCHEMA_KEYS if key in data]
    schemas = {key: data.pop(key) for key in present}
    if not present and data.get("type") == "custom":
        return _FREE_TEXT
    given = [key for key in present if schemas[key] is not None]
    if len(given) > 1 and any(schemas[key] != schemas[given[0]] for key in given):
        problems.append(Problem("$.parameters", f"several schemas ({', '.join(given)}): {given[0]} is used"))
    return schemas[given[0]] if given else None


def _description(data: dict[str, Any], problems: list[Problem]) -> str:
    description = data.pop("description", "")
    if isinstance(description, str):
        return description
    problems.append(Problem("$.description", f"{_kind(description)} instead of text: read as none"))
    return ""


def _namespace(data: dict[str, Any], problems: list[Problem]) -> str | None:
    given = [data.pop(key, None) for key in ("namespace", "server")]
    for value in given:
        if isinstance(value, str):
            return value
        if value is not None:
            problems.append(Problem("$.namespace", f"{_kind(value)} instead of text: read as none"))
    return None


def _defer(data: dict[str, Any], problems: list[Problem]) -> str:
    """Return the policy; a flag that is set wins over one that is not, a named policy over both."""
    policy = data.pop("defer", None)
    flags = [data.pop(key, None) for key in ("deferred", "defer_loading")]
    meta = data.get("_meta")
    if isinstance(meta, Mapping):  # where MCP lets a server say what the protocol has no field for
        flags += [meta.get(key) for key in ("deferred", "defer_loading")]
    if isinstance(policy, str) and policy in POLICIES:
        return policy
    if isinstance(policy, bool):
        flags.append(policy)
    elif policy is not None:
        reason = f"{policy!r} instead of {', '.join(POLICIES)}: read as automatic"[:300]
        problems.append(Problem("$.defer", reason))
    wrong = [flag for flag in flags if flag is not None and not isinstance(flag, bool)]
    problems += [
        Problem("$.defer", f"{_kind(flag)} instead of true or false: read as false") for flag in wrong
    ]
    return "always" if any(flag is True for flag in flags) else "automatic"


def _flag(data: dict[str, Any], key: str, default: bool, problems: list[Problem]) -> bool:
    value = data.pop(key, default)
    if isinstance(value, bool):
        return value
    problems.append(Problem(f"$.{key}", f"{_kind(value)} instead of true or false: read as {default}"))
    return default


def _words(data: dict[str, Any], key: str, problems: list[Problem]) -> tuple[str, ...]:
    value = data.pop(key, ())
    if isinstance(value, str):
        value = (value,)
    elif isinstance(value, set | frozenset):
        value = sorted(value, key=str)
    if value is None or not isinstance(value, list | tuple):
        problems.append(Problem(f"$.{key}", f"{_kind(value)} instead of a list of words: read as none"))
        return ()
    words = tuple(word for word in value if isinstance(word, str) and word.strip())
    if len(words) < len(value):
        problems.append(Problem(f"$.{key}", "left out what is no word"))
    return words


def _kind(value: Any) -> str:
    return "null" if value is None else f"a value of type {type(value).__name__}"
