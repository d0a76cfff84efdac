"""Python functions: signature, docstring and pydantic types become a definition."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import jsonschema
import pytest
from pydantic import BaseModel, Field

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.definitions import tool
from semantic_toolsearch.errors import ConfigError

if TYPE_CHECKING:
    from decimal import Decimal as OnlyForTypeCheckers


class Address(BaseModel):
    street: str = Field(description="street and number")
    next: Address | None = None


@dataclass
class Money:
    amount: float
    currency: Literal["EUR", "USD"] = "EUR"


class Connection:
    """Something that no JSON value can be."""


def google(reader_card: str, days: int = 7):
    """Extend the time a reader keeps a book.

    Only once per book.

    Args:
        reader_card: number printed on the plastic
        days: how many more

    Returns:
        The new date.
    """


def numpy_style(reader_card, days=7):
    """Extend the time a reader keeps a book.

    Parameters
    ----------
    reader_card : str
        number printed on the plastic
    days : int
        how many more
    """


def sphinx(reader_card: str, days: int = 7):
    """Extend the time a reader keeps a book.

    :param reader_card: number printed on the plastic
    :param days: how many more
    """


def read(function):
    catalog = Catalog([function], strict=True)
    jsonschema.Draft202012Validator.check_schema(catalog[0].parameters)
    return catalog[0]


def problems(function):
    return [problem.path for problem in Catalog([function]).report.entries[0].problems]


@pytest.mark.parametrize("function", [google, numpy_style, sphinx])
def test_docstring_styles(function):
    definition = read(function)
    assert definition.name == function.__name__
    assert definition.description.startswith("Extend the time a reader keeps a book.")
    assert "reader_card" not in definition.description
    described = {name: schema["description"] for name, schema in definition.parameters["properties"].items()}
    assert described == {"reader_card": "number printed on the plastic", "days": "how many more"}
    assert definition.parameters["required"] == ["reader_card"]
    assert definition.parameters["additionalProperties"] is False


def test_the_long_description_is_kept():
    assert "Only once per book." in read(google).description


def test_types_come_from_pydantic():
    def book(
        address: Address,
        price: Money,
        kind: Literal["single", "double"] = "single",
        guests: Annotated[int, Field(description="head count", ge=1, le=4)] = 1,
        note: str | None = None,
    ):
        """Book.

        Args:
            guests: loses against Field
        """

    # A name that only a local scope knows cannot be looked up later, so these are module-level classes.
    schema = read(book).parameters
    assert schema["properties"]["kind"]["enum"] == ["single", "double"]
    assert schema["properties"]["guests"]["description"] == "head count"
    assert (schema["properties"]["guests"]["minimum"], schema["properties"]["guests"]["maximum"]) == (1, 4)
    validator = jsonschema.Draft202012Validator(schema)
    good = {"address": {"street": "a", "next": {"street": "b"}}, "price": {"amount": 3}, "note": None}
    assert validator.is_valid(good)
    assert not validator.is_valid({**good, "guests": 5})
    assert not validator.is_valid({**good, "unknown": 1})


def test_descriptions_written_into_the_annotation():
    class Doc:
        documentation = "by an object"

    def move(
        x: Annotated[int, "by a text"],
        y: Annotated[int, Doc()] = 0,
        z: int = Field(3, description="by default"),
    ):
        """Move."""

    move.__annotations__ = {"x": Annotated[int, "by a text"], "y": Annotated[int, Doc()], "z": int}
    properties = read(move).parameters["properties"]
    assert [properties[name]["description"] for name in "xyz"] == ["by a text", "by an object", "by default"]
    assert properties["z"]["default"] == 3


def test_awkward_parameter_names():
    def f(_x: int, schema: str, model_config: str, json: int = 0, self: int = 1):
        """F."""

    assert list(read(f).parameters["properties"]) == ["_x", "schema", "model_config", "json", "self"]


def test_varied_parameter_kinds():
    def f(a, /, b, *args: int, c: int = 3, **kwargs: str):
        """F."""

    schema = read(f).parameters
    assert list(schema["properties"]) == ["a", "b", "c"]
    assert schema["required"] == ["a", "b"]
    assert schema["additionalProperties"] is True


class Desk:
    def open(self, door: str):
        """Open a door."""

    @classmethod
    def create(cls, label: str):
        """Create a desk."""

    @staticmethod
    def ring(times: int):
        """Ring."""

    def __call__(self, question: str):
        """Answer a question."""


@pytest.mark.parametrize(
    ("function", "name", "parameter"),
    [
        (Desk().open, "open", "door"),
        (Desk.open, "open", "door"),
        (Desk.create, "create", "label"),
        (Desk.ring, "ring", "times"),
        (Desk(), "Desk", "question"),
    ],
)
def test_methods_and_callable_objects(function, name, parameter):
    definition = read(function)
    assert definition.name == name
    assert definition.description
    assert list(definition.parameters["properties"]) == [parameter]


def test_async_functions_and_generators():
    async def fetch(url: str):
        """Fetch a page."""

    async def pages(url: str):
        """All pages."""
        yield url

    assert [d.description for d in Catalog([fetch, pages], strict=True)] == ["Fetch a page.", "All pages."]


def test_partials_hide_what_they_fix():
    by_keyword = read(functools.partial(google, days=3))
    assert list(by_keyword.parameters["properties"]) == ["reader_card"]
    assert by_keyword.name == "google"
    assert by_keyword.description.startswith("Extend")
    by_position = read(functools.partial(google, "card 7"))
    assert list(by_position.parameters["properties"]) == ["days"]


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def test_c03_wrappers_and_copies_keep_the_flag():
    @logged
    @logged
    @tool(deferred=True, namespace="library", aliases=["prolong"], tags=["books"])
    def renew(reader_card: str):
        """Renew."""

    for function in (renew, functools.partial(renew), functools.partial(functools.partial(renew))):
        definition = read(function)
        assert definition.defer == "always"
        assert definition.identity == ("library", "renew")
        assert (definition.aliases, definition.tags) == (("prolong",), ("books",))
        assert list(definition.parameters["properties"]) == ["reader_card"]
    assert read(renew).model_copy(update={"description": "x"}).defer == "always"


def test_c01_the_decorator_marks_without_wrapping():
    def plain():
        """Plain."""

    assert tool(plain) is plain
    assert tool(never=True)(plain) is plain
    assert read(plain).defer == "never"
    assert plain() is None

    class Holder:
        @tool(deferred=True)
        def method(self, x: int):
            """Method."""

    assert read(Holder().method).defer == "always"
    assert list(read(Holder().method).parameters["properties"]) == ["x"]


def test_e32_an_unmarked_function_is_automatic():
    assert read(google).defer == "automatic"


@pytest.mark.parametrize(
    "call",
    [
        lambda: tool(deferred=True, never=True),
        lambda: tool(aliases="prolong"),
        lambda: tool(len),
    ],
)
def test_wrong_marks_raise_at_once(call):
    with pytest.raises(ConfigError):
        call()


def test_injected_parameters_are_left_out_and_reported():
    def query(sql: str, connection: Connection, callback=None):
        """Query."""

    query.__annotations__ = {"sql": str, "connection": Connection}
    assert list(read(query).parameters["properties"]) == ["sql", "callback"]
    assert problems(query) == ["$.parameters.properties.connection"]


def test_annotations_that_cannot_be_evaluated_cost_their_type_only():
    def pay(amount: OnlyForTypeCheckers, times: int):
        """Pay."""

    schema = read(pay).parameters
    assert schema["properties"] == {"amount": {}, "times": {"type": "integer"}}
    assert problems(pay) == ["$.parameters.properties.amount"]


def test_defaults_without_json_form_are_reported_and_dropped():
    def f(x: int = 3, when: object = object()):
        """F."""

    f.__annotations__ = {"x": int}
    schema = read(f).parameters
    assert schema["properties"] == {"x": {"default": 3, "type": "integer"}, "when": {}}
    assert problems(f) == ["$.parameters"]


@pytest.mark.parametrize("value", [lambda x: x, Desk, int, BaseModel])
def test_lambdas_and_classes_are_no_tools(value):
    report = Catalog([google, value]).report
    assert [entry.status for entry in report.entries] == ["ok", "quarantined"]


def test_a_function_without_docstring_has_no_description():
    def bare(x):
        return x

    definition = read(bare)
    assert definition.description == ""
    assert definition.parameters["properties"] == {"x": {}}


def test_builtins_with_a_signature():
    assert list(read(sorted).parameters["properties"]) == ["iterable", "key", "reverse"]
