"""One tool as its owner describes it in; the same, checked, cleaned and independent of what it was made from, out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, Self, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field, ModelWrapValidatorHandler, PrivateAttr, model_validator

from semantic_toolsearch.cleaning import clean_prose, has_hidden, replace_surrogates, strip_hidden
from semantic_toolsearch.errors import InvalidToolError
from semantic_toolsearch.json_values import NotJsonError, copy_json, json_path
from semantic_toolsearch.marking import tool
from semantic_toolsearch.report import Problem
from semantic_toolsearch.schema_projection import require_object
from semantic_toolsearch.schema_repair import empty_object, repair_schema

__all__ = ["LONG_DESCRIPTION", "MAX_NAME", "DeferPolicy", "ToolDefinition", "UnusableToolError", "tool"]

DeferPolicy: TypeAlias = Literal["never", "automatic", "always"]
"""Whether a tool is always sent in full, deferred once there are many, or always deferred."""

POLICIES: Final = get_args(DeferPolicy)

MAX_NAME: Final = 1_024
"""Characters of a raw name or namespace; a longer text is no name."""

LONG_DESCRIPTION: Final = 2_048
"""Characters above which clients are known to cut a description in silence; longer ones are remarked on."""


class UnusableToolError(InvalidToolError):
    """A definition cannot be used; `problems` says why, the deciding problem last."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__(str(problems[-1]))
        self.problems = problems


class ToolDefinition(BaseModel):
    """A tool: what it is called, what it does, what it takes, and how it may travel.

    Making one copies and cleans what it is given: hidden characters leave the texts, and a schema that is
    not quite one is repaired; what was mended is told by `problems`. Two definitions are equal when all their
    fields are; the hash is the identity's.

    Raises:
        InvalidToolError: The name is blank or too long, or the schema cannot describe a call with named
            arguments.
        pydantic.ValidationError: A field has the wrong type, or there is no such field.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    """Raw name, as its owner calls it. Hidden characters stay in it; they never reach a wire name."""
    description: str = ""
    """What it does, without hidden characters."""
    parameters: dict[str, Any] = Field(default_factory=empty_object)
    """JSON Schema as registered; arguments are validated by it. Providers get a form that is legal for them."""
    namespace: str | None = None
    """Server or category."""
    defer: DeferPolicy = "automatic"
    """When its schema is held back."""
    aliases: tuple[str, ...] = ()
    """Other names, searched like words of the name, never sent to the model."""
    tags: tuple[str, ...] = ()
    """Words to find it by, never sent to the model."""
    registered: bool = True
    """False for a tool that is known but has nobody who would run it now."""
    provider_fields: dict[str, Any] = {}
    """What else the definition said (strict, cache_control, title, annotations, ...), passed through."""

    _problems: tuple[Problem, ...] = PrivateAttr(default=())
    _checked: tuple[Any, ...] = PrivateAttr(default=())

    @property
    def identity(self) -> tuple[str | None, str]:
        """Namespace and raw name: what makes this tool this tool."""
        return self.namespace, self.name

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was mended or remarked on when this definition was made."""
        return self._problems

    def recheck(self) -> Self:
        """Return this definition, checked anew where `model_copy` or `model_construct` went around it.

        Raises:
            InvalidToolError: As on construction.
            pydantic.ValidationError: As on construction.
        """
        parts = self._parts()
        known = self.__pydantic_private__ and self._checked
        if known and all(a is b for a, b in zip(known, parts, strict=True)) and self.defer in POLICIES:
            return self
        return type(self).model_validate(dict(self.__dict__))

    def _parts(self) -> tuple[Any, ...]:
        fields = self.__dict__
        return tuple(fields.get(name) for name in _CLEANED)

    @model_validator(mode="wrap")
    @classmethod
    def _clean(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(data, Mapping):
            return handler(data)
        cleaned, problems = _clean_fields(dict(data))
        definition = handler(cleaned)
        definition._problems = problems
        definition._checked = definition._parts()
        return definition

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ToolDefinition) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((self.namespace, self.name))


_CLEANED = ("name", "description", "parameters", "namespace", "aliases", "tags", "provider_fields")


def _clean_fields(fields: dict[str, Any]) -> tuple[dict[str, Any], tuple[Problem, ...]]:
    """Return cleaned copies of a definition's fields, and what was done; wrong types are left for pydantic.

    Raises:
        UnusableToolError: See `ToolDefinition`.
    """
    problems: list[Problem] = []
    if isinstance(fields.get("name"), str):
        fields["name"] = _clean_name(fields["name"], problems)
    if isinstance(fields.get("namespace"), str):
        fields["namespace"] = _clean_namespace(fields["namespace"], problems)
    if isinstance(fields.get("description"), str):
        fields["description"] = _clean_description(fields["description"], problems)
    for key in ("aliases", "tags"):
        if isinstance(fields.get(key), tuple | list):
            fields[key] = tuple(_clean_word(word, f"$.{key}", problems) for word in fields[key])
    if isinstance(fields.get("provider_fields"), Mapping):
        fields["provider_fields"] = _clean_provider_fields(fields["provider_fields"], problems)
    if "parameters" in fields:
        fields["parameters"] = _clean_parameters(fields["parameters"], problems)
    return fields, tuple(problems)


def _clean_name(name: str, problems: list[Problem]) -> str:
    name, surrogates = replace_surrogates(name)
    if surrogates:
        problems.append(Problem("$.name", f"{surrogates} lone surrogate(s) became U+FFFD"))
    if not strip_hidden(name).strip():
        raise UnusableToolError((*problems, Problem("$.name", "blank: a tool needs a name that can be seen")))
    if len(name) > MAX_NAME:
        reason = f"{len(name):,} characters, at most {MAX_NAME:,} make a name"
        raise UnusableToolError((*problems, Problem("$.name", reason)))
    if has_hidden(name):
        problems.append(Problem("$.name", "hidden characters are left out of the wire name and of the index"))
    return name


def _clean_namespace(namespace: str, problems: list[Problem]) -> str | None:
    namespace, surrogates = replace_surrogates(namespace)
    if surrogates:
        problems.append(Problem("$.namespace", f"{surrogates} lone surrogate(s) became U+FFFD"))
    if len(namespace) > MAX_NAME:
        reason = f"{len(namespace):,} characters, at most {MAX_NAME:,} make a name"
        raise UnusableToolError((*problems, Problem("$.namespace", reason)))
    if clean_prose(namespace)[0] != namespace:
        problems.append(Problem("$.namespace", "hidden characters are left out of what a model sees"))
    return namespace if strip_hidden(namespace).strip() else None


def _clean_description(description: str, problems: list[Problem]) -> str:
    cleaned, done = clean_prose(description)
    problems.extend(Problem("$.description", reason) for reason in done)
    if not cleaned.isascii() and any("\ue000" <= char <= "\uf8ff" for char in cleaned):
        reason = "holds private-use characters, which mean nothing but to whom it was agreed with"
        problems.append(Problem("$.description", reason, changed=False))
    if len(cleaned) > LONG_DESCRIPTION:
        reason = f"{len(cleaned):,} characters: indexed whole, but clients and providers cut such texts"
        problems.append(Problem("$.description", reason, changed=False))
    return cleaned


def _clean_word(word: Any, path: str, problems: list[Problem]) -> Any:
    if not isinstance(word, str):
        return word
    cleaned, done = clean_prose(word)
    problems.extend(Problem(path, reason) for reason in done)
    return cleaned


def _clean_provider_fields(fields: Mapping[Any, Any], problems: list[Problem]) -> dict[str, Any]:
    cleaned: dict[str, Any] = {}
    for key, value in fields.items():
        path = json_path("$.provider_fields", str(key)[:80])
        try:
            copy, done = copy_json({key: value}, "$.provider_fields")
        except NotJsonError as error:
            problems.append(Problem(error.problem.path, f"{error.problem.reason}: field left out"))
            continue
        for copied_key, copied in copy.items():
            if copied_key in ("title", "description") and isinstance(copied, str):
                copied = _clean_word(copied, path, problems)
            cleaned[copied_key] = copied
        problems.extend(done)
    return cleaned


def _clean_parameters(parameters: Any, problems: list[Problem]) -> dict[str, Any]:
    schema, done = repair_schema(parameters)
    problems.extend(done)
    if schema is None:
        raise UnusableToolError(tuple(problems))
    try:
        require_object(schema)
    except InvalidToolError as error:
        path, _, reason = str(error).partition(": ")
        raise UnusableToolError((*problems, Problem(path, reason))) from None
    return schema
