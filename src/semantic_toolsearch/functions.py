"""A Python function in; name, description and (by pydantic) the schema of its tool definition out."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any

from pydantic import ConfigDict, Field, create_model
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind

from semantic_toolsearch.definitions import UnusableToolError
from semantic_toolsearch.marking import mark_of
from semantic_toolsearch.report import Problem

__all__ = ["is_function", "read_function"]


def is_function(value: Any) -> bool:
    """Whether the value can be read as a Python function; classes are not."""
    return callable(value) and not isinstance(value, type)


def read_function(function: Callable[..., Any]) -> tuple[dict[str, Any], list[Problem]]:
    """Return a tool definition's fields for a function, bound method, partial, wrapper or callable object.

    Name and description are the function's own; parameters come from its signature without `self`, `cls`,
    bound and `*args` parameters, their descriptions from `Field(description=...)` or the docstring (Google,
    NumPy, Sphinx or Epytext style). A parameter whose type has no JSON form is one that the application
    injects: it is left out.

    Raises:
        UnusableToolError: The function has no name or no signature, or pydantic cannot describe its
        parameters.
    """
    inner = _innermost(function)
    name = getattr(function, "__name__", None) or getattr(inner, "__name__", None) or type(inner).__name__
    if name == "<lambda>":
        raise UnusableToolError((Problem("$.name", "a lambda has no name: use def"),))
    description, documented = _documentation(inner)
    problems: list[Problem] = []
    parameters = _schema(function, inner, documented, problems)
    mark = mark_of(function)
    fields: dict[str, Any] = {"name": name, "description": description, "parameters": parameters}
    fields |= {"defer": mark.defer, "namespace": mark.namespace, "aliases": mark.aliases, "tags": mark.tags}
    return fields, problems


def _innermost(function: Any) -> Any:
    """Follow partials and `functools.wraps` wrappers down to the function that was written."""
    for _ in range(100):
        if isinstance(function, functools.partial):
            function = function.func
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        else:
            break
    return function


def _documentation(function: Any) -> tuple[str, dict[str, str]]:
    """Return the description without its parameter section, and the parameters' descriptions."""
    text = inspect.getdoc(function if hasattr(function, "__name__") else type(function).__call__)
    if not hasattr(function, "__name__"):
        text = inspect.getdoc(type(function)) or text
    if not text:
        return "", {}
    import docstring_parser

    try:
        parsed = docstring_parser.parse(text)
    except Exception:  # whatever the parser trips over, the text itself is still the description
        return text, {}
    parts = [parsed.short_description or "", parsed.long_description or ""]
    described = {parameter.arg_name.lstrip("*"): parameter.description or "" for parameter in parsed.params}
    return "\n\n".join(part for part in parts if part) or text, described


def _schema(function: Any, inner: Any, documented: dict[str, str], problems: list[Problem]) -> dict[str, Any]:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise UnusableToolError((Problem("$.parameters", f"no signature to read: {error}"),)) from None
    hints = _hints(inner, signature, problems)
    fields: dict[str, Any] = {}
    open_ended = False
    for parameter in _callable_parameters(function, inner, signature):
        if parameter.kind is parameter.VAR_KEYWORD:
            open_ended = True
            continue
        annotation = hints.get(parameter.name, Any)
        field = _field(parameter, annotation, documented.get(parameter.name, ""))
        try:
            _generate({"p": field}, open_ended=False, notes=[])
        except Exception as error:  # pydantic raises many kinds for types that have no JSON form
            reason = (
                f"its type has no JSON Schema ({type(error).__name__}): left to the application to supply"
            )
            problems.append(Problem(f"$.parameters.properties.{parameter.name}", reason))
            continue
        # Field names are free in Python but not in pydantic (`_x`, `schema`, `model_config`): the alias
        # carries them.
        fields[f"p{len(fields)}"] = field
    notes: list[str] = []
    try:
        schema = _generate(fields, open_ended=open_ended, notes=notes)
    except Exception as error:
        raise UnusableToolError(
            (Problem("$.parameters", f"pydantic cannot describe it: {error}"),)
        ) from error
    problems.extend(Problem("$.parameters", note) for note in dict.fromkeys(notes))
    return schema


def _callable_parameters(
    function: Any, inner: Any, signature: inspect.Signature
) -> Iterator[inspect.Parameter]:
    bound = _bound_keywords(function)
    for index, parameter in enumerate(signature.parameters.values()):
        unannotated = parameter.annotation is parameter.empty
        receiver = (
            index == 0 and parameter.name in ("self", "cls") and unannotated and inspect.isfunction(inner)
        )
        if not receiver and parameter.name not in bound and parameter.kind is not parameter.VAR_POSITIONAL:
            yield parameter


def _bound_keywords(function: Any) -> set[str]:
    """Names that a partial fixed by keyword; a call could override them, but they were fixed on purpose."""
    bound: set[str] = set()
    while isinstance(function, functools.partial):
        bound.update(function.keywords)
        function = function.func
    return bound


def _hints(inner: Any, signature: inspect.Signature, problems: list[Problem]) -> dict[str, Any]:
    """Return evaluated annotations; one that cannot be evaluated costs that parameter's type only."""
    target = inner if hasattr(inner, "__name__") else type(inner).__call__
    try:
        return typing.get_type_hints(target, include_extras=True)
    except Exception:  # an annotation may raise anything when it is evaluated
        hints: dict[str, Any] = {}
    names = getattr(inspect.unwrap(target), "__globals__", {})
    for parameter in signature.parameters.values():
        if parameter.annotation is parameter.empty:
            continue
        single = types.SimpleNamespace(__annotations__={parameter.name: parameter.annotation})
        try:
            hints |= typing.get_type_hints(single, globalns=names, include_extras=True)
        except Exception as error:
            reason = f"annotation {str(parameter.annotation)[:80]!r} cannot be evaluated ({error}): any value"
            problems.append(Problem(f"$.parameters.properties.{parameter.name}", reason))
    return hints


def _field(parameter: inspect.Parameter, annotation: Any, documented: str) -> tuple[Any, Any]:
    described = FieldInfo.from_annotation(annotation)
    own = described.description or _plain_description(described.metadata)
    default = ... if parameter.default is parameter.empty else parameter.default
    if isinstance(default, FieldInfo):
        own = default.description or own
    settings: dict[str, Any] = {"alias": parameter.name}
    if own or documented:
        settings["description"] = own or documented
    return typing.Annotated[annotation, Field(**settings)], default


def _plain_description(metadata: list[Any]) -> str:
    """Description written as `Annotated[str, "text"]` or `Annotated[str, Doc("text")]`."""
    for item in metadata:
        text = item if isinstance(item, str) else getattr(item, "documentation", None)
        if isinstance(text, str):
            return text
    return ""


class _SchemaGenerator(GenerateJsonSchema):
    """Pydantic's generator without titles, which repeat the names; what it warns of becomes notes."""

    notes: typing.ClassVar[list[str]]

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def emit_warning(self, kind: JsonSchemaWarningKind, detail: str) -> None:
        self.notes.append(detail)


def _generate(fields: dict[str, Any], *, open_ended: bool, notes: list[str]) -> dict[str, Any]:
    config = ConfigDict(extra="allow" if open_ended else "forbid", arbitrary_types_allowed=False)
    model = create_model("Arguments", __config__=config, **fields)
    generator = type("_Generator", (_SchemaGenerator,), {"notes": notes})
    schema = model.model_json_schema(by_alias=True, schema_generator=generator)
    schema.pop("title", None)
    schema.setdefault("properties", {})
    return schema
