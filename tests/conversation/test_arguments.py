"""`arguments.check`: what fits comes back, harmless slips put right; what does not fit is explained in one go."""

from __future__ import annotations

import copy
import json
import pickle
import threading
from collections import OrderedDict

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from library_tools import ORDER
from semantic_toolsearch import ToolDefinition
from semantic_toolsearch.arguments import check
from semantic_toolsearch.errors import ArgumentsError, InvalidToolError, ToolSearchError


def obj(*required, **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


def tool(schema, name="renewLoan"):
    return ToolDefinition(name=name, parameters=schema)


RENEW = tool(obj("readerCard", "extraDays", readerCard={"type": "string"}, extraDays={"type": "integer"}))

NODE = obj(
    "label",
    label={"type": "string"},
    size={"type": "integer"},
    children={"type": "array", "items": {"$ref": "#/$defs/Node"}},
)
OUTLINE = tool({**obj("root", root={"$ref": "#/$defs/Node"}), "$defs": {"Node": NODE}}, "outline_save")


def refused(definition, arguments, **options):
    with pytest.raises(ArgumentsError) as caught:
        check(definition, arguments, **options)
    return caught.value


def one(schema, value):
    """The value as it comes back for a single parameter of this schema."""
    return check(tool(obj("x", x=schema)), {"x": value})["x"]


def test_c34_arguments_that_fit_come_back_unchanged():
    given_ = {"readerCard": "7", "extraDays": 3}
    assert check(RENEW, given_) == given_


def test_c35_a_wrong_value_is_named_by_its_path():
    error = refused(RENEW, {"extraDays": "soon"})
    assert error.path == "extraDays"
    assert error.problems[0].rule == "type"
    assert error.missing == ("readerCard",)
    assert 'extraDays: must be integer, not text "soon" (type)' in str(error)


@pytest.mark.parametrize("empty", [None, "", "  \n", "{}", "null", {}, '""'])
def test_nothing_is_a_call_without_arguments(empty):
    assert check(tool({"type": "object", "properties": {}}), empty) == {}
    assert refused(RENEW, empty).missing == ("readerCard", "extraDays")


@pytest.mark.parametrize(
    "text",
    ['{"readerCard": "7", "extraDays": 3}', json.dumps('{"readerCard": "7", "extraDays": 3}')],
    ids=["text", "text of a text"],
)
def test_the_text_of_an_object_is_that_object(text):
    assert check(RENEW, text) == {"readerCard": "7", "extraDays": 3}


def test_any_mapping_will_do_and_is_not_altered():
    inner = {"label": "a", "size": "3"}
    given_ = OrderedDict(root=inner)
    before = copy.deepcopy(given_)
    result = check(OUTLINE, given_)
    assert result == {"root": {"label": "a", "size": 3}}
    assert given_ == before
    result["root"]["label"] = "changed"
    assert inner["label"] == "a"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ('{"readerCard": "7"', "this text is no JSON: Expecting ',' delimiter at character 18 of 18"),
        ("readerCard=7", "Expecting value at character 0 of 12, near"),
        ("[1]", "not an array"),
        ("3", "not a number"),
        ([], "not an array"),
        (True, "not a boolean"),
        (object(), "not object"),
        ('{"extraDays": NaN}', "arguments.extraDays: nan is not a JSON number"),
        ({"extraDays": {1, 2}}, "a value of type set has no JSON form"),
        ("[" * 100_000, "a nesting beyond all use"),
        ('{"extraDays": ' + "9" * 5_000 + "}", "a number or a nesting beyond all use"),
    ],
)
def test_what_is_no_json_object_is_refused_with_the_reason_and_the_schema(arguments, words):
    error = refused(RENEW, arguments)
    assert (error.path, [problem.rule for problem in error.problems]) == ("", ["json"])
    assert words in str(error)
    assert str(error).endswith(json.dumps(RENEW.parameters, separators=(",", ":")))


def test_arguments_that_contain_themselves_are_refused():
    cyclic = {}
    cyclic["root"] = cyclic
    assert "contains itself" in str(refused(OUTLINE, cyclic))


@pytest.mark.parametrize(
    ("schema", "sent", "received"),
    [
        ({"type": "integer"}, "3", 3),
        ({"type": "integer"}, " -3 ", -3),
        ({"type": "integer"}, 3.0, 3),
        ({"type": "integer"}, "3.0", 3),
        ({"type": "number"}, "2.5", 2.5),
        ({"type": "number"}, "1e3", 1000.0),
        ({"type": "boolean"}, "true", True),
        ({"type": "boolean"}, "False", False),
        ({"type": "string"}, 3, "3"),
        ({"type": ["integer", "null"]}, "null", None),
        ({"type": ["integer", "boolean"]}, "true", True),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"type": "array", "items": {"type": "integer"}}, '["1", 2]', [1, 2]),
        ({"type": "array", "items": {"type": "integer"}}, ["1", 2.0], [1, 2]),
        ({"enum": [1, 2, None]}, "2", 2),
        ({"const": True}, "true", True),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "3", 3),
        ({"oneOf": [{"type": "integer"}, {"type": "boolean"}]}, "true", True),
        ({"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]}, ["1"], [1]),
        ({"allOf": [{"type": "integer"}, {"minimum": 2}]}, "3", 3),
    ],
)
def test_x24_harmless_types_are_coerced(schema, sent, received):
    result = one(schema, sent)
    assert result == received
    assert type(result) is type(received)


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({"type": "string"}, "3"),
        ({"type": ["string", "integer"]}, "3"),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "true"),
        ({"type": ["number", "integer"]}, 3.5),
        ({"type": "number"}, 3.0),
        ({"enum": ["2", 2]}, "2"),
        ({}, "true"),
        (True, "3"),
    ],
)
def test_x24_what_fits_is_left_alone(schema, sent):
    result = one(schema, sent)
    assert result == sent
    assert type(result) is type(sent)


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({"type": "integer"}, "three"),
        ({"type": "integer"}, "3.5"),
        ({"type": "integer"}, 3.5),
        ({"type": "integer"}, "007"),
        ({"type": "integer"}, "1,000"),
        ({"type": "integer"}, ""),
        ({"type": "integer"}, True),
        ({"type": "integer"}, [3]),
        ({"type": "number"}, "NaN"),
        ({"type": "boolean"}, "yes"),
        ({"type": "boolean"}, 1),
        ({"type": "string"}, True),
        ({"type": "string"}, 2.5),
        ({"type": "string"}, ["a"]),
        ({"type": "array"}, "a"),
        ({"type": "array", "items": {"type": "string"}}, "a"),
        ({"type": "array", "items": {"type": "integer"}}, 3),
        ({"type": "object"}, "{broken"),
        ({"enum": [1, 2]}, "3"),
    ],
)
def test_x24_what_has_no_one_reading_is_refused(schema, sent):
    assert refused(tool(obj("x", x=schema)), {"x": sent}).path == "x"


def test_x24_alternatives_that_read_a_value_differently_leave_it():
    schema = {"anyOf": [obj("n", n={"type": "integer"}), obj("n", n={"type": "boolean"}, m={"type": "null"})]}
    assert one(schema, {"n": "3"}) == {"n": 3}  # only one of them can read it
    both = {
        "anyOf": [
            obj("a", a={"type": "integer"}, b={"type": "boolean"}),
            obj("b", b={"type": "string"}, a={"type": "boolean"}),
        ]
    }
    error = refused(tool(obj("x", x=both)), {"x": {"a": "1", "b": 5}})
    assert "fits none of 2 alternatives" in str(error)


def test_null_for_what_may_be_left_out_is_left_out():
    schema = obj("to", to={"type": "string"}, copy={"type": "string"}, tags=obj(colour={"enum": ["red"]}))
    assert check(tool(schema), {"to": "a", "copy": None, "tags": {"colour": None}}) == {"to": "a", "tags": {}}
    assert refused(tool(schema), {"to": None}).missing == ("to",)
    assert check(tool(obj(copy={"type": ["string", "null"]})), {"copy": None}) == {"copy": None}
    assert (
        refused(tool(obj(xs={"type": "array", "items": {"type": "string"}})), {"xs": [None]}).path == "xs[0]"
    )


def test_defaults_are_not_filled_in():
    assert check(tool(obj(days={"type": "integer", "default": 7})), {}) == {}


def test_x24_everything_wrong_comes_back_in_one_round_with_the_schema():
    schema = {
        **obj(
            "guestName",
            "room",
            guestName={"type": "string", "minLength": 2},
            room={"enum": ["single", "double"]},
            nights={"type": "integer", "minimum": 1},
            guests={
                "type": "array",
                "items": {**obj("mail", mail={"type": "string"}), "additionalProperties": False},
            },
        ),
        "additionalProperties": False,
    }
    error = refused(
        tool(schema, "book"),
        {"guest_name": "A", "room": "dubble", "nights": 0, "guests": [{"mail": "a@b"}, {"email": "c@d"}]},
        name="hotel__book",
    )
    assert [(problem.path, problem.rule) for problem in error.problems] == [
        ("room", "enum"),
        ("nights", "minimum"),
        ("guests[1].mail", "required"),
        ("guestName", "required"),
        ("guests[1].email", "additionalProperties"),
        ("guest_name", "additionalProperties"),
    ]
    assert error.missing == ("guests[1].mail", "guestName")
    assert error.unexpected == ("guests[1].email", "guest_name")
    text = str(error)
    assert text.startswith("hotel__book was not run: ")
    assert 'room: must be one of "single", "double", not "dubble"; nearest: double (enum)' in text
    assert "nights: must be at least 1, not 0 (minimum)" in text
    assert "guest_name: is no parameter; nearest: guestName" in text
    assert "guests[1].email: is no parameter; nearest: mail" in text
    assert json.loads(text.partition("fit this schema: ")[2]) == schema


def test_an_extra_that_is_allowed_counts_only_where_something_is_missing():
    schema = obj("message", message={"type": "string"}, urgent={"type": "boolean"})
    assert check(tool(schema), {"message": "a", "mesage": "b"}) == {"message": "a", "mesage": "b"}
    error = refused(tool(schema), {"mesage": "b"})
    assert (error.missing, error.unexpected) == (("message",), ("mesage",))
    assert "mesage: is no parameter; nearest: message" in str(error)


def test_a_long_list_of_problems_is_cut_in_the_text_only():
    error = refused(tool(obj(xs={"type": "array", "items": {"type": "integer"}})), {"xs": ["a"] * 50})
    assert len(error.problems) == 50
    assert str(error).count("must be integer") == 20
    assert "and 30 more" in str(error)


def test_bc21_three_levels_of_a_recursive_schema_are_checked():
    good = {"root": {"label": "a", "children": [{"label": "b", "children": [{"label": "c", "size": "1"}]}]}}
    assert check(OUTLINE, good)["root"]["children"][0]["children"] == [{"label": "c", "size": 1}]
    bad = {"root": {"label": "a", "children": [{"label": "b", "children": [{"size": "big"}]}]}}
    error = refused(OUTLINE, bad)
    assert error.path == "root.children[0].children[0].size"
    assert error.missing == ("root.children[0].children[0].label",)


def test_bc21_a_schema_that_refers_to_its_own_root():
    tree = tool(
        {
            **obj("name", name={"type": "string"}, parent={"$ref": "#"}),
            "$schema": "http://json-schema.org/draft-07/schema#",
        }
    )
    assert check(tree, {"name": "a", "parent": {"name": 5}}) == {"name": "a", "parent": {"name": "5"}}
    assert refused(tree, {"name": "a", "parent": {"parent": {}}}).missing == (
        "parent.parent.name",
        "parent.name",
    )


FIND = tool(
    {"anyOf": [obj("id", id={"type": "integer"}), obj("email", email={"type": "string"})]}, "ticket_find"
)


def test_x10_bc22_the_union_as_registered_is_what_counts():
    from semantic_toolsearch.schema_projection import wire_projection

    assert check(FIND, {"id": "7"}) == {"id": 7}
    assert check(FIND, {"email": "a@b"}) == {"email": "a@b"}
    jsonschema.validate({}, wire_projection(FIND.parameters)[0])  # the projection cannot say it
    error = refused(FIND, {})
    assert (error.path, error.problems[0].rule) == ("", "anyOf")
    assert "fits none of 2 alternatives: (1) id is missing; (2) email is missing" in str(error)
    assert '"anyOf"' in str(error)


ORDERS = tool(ORDER, "order_query")


def test_x10_bc24_definitions_bounds_and_null_in_an_enum_hold():
    assert check(ORDERS, {"cond": {"id": "1", "kind": None}}) == {"cond": {"id": 1, "kind": None}}
    assert refused(ORDERS, {"cond": {"id": 0}}).problems[0].rule == "minimum"
    assert refused(ORDERS, {"cond": {"kind": "c"}}).path == "cond.kind"
    assert refused(ORDERS, {"cond": {"id": 1}, "limit": 3}).unexpected == ("limit",)


def test_the_findings_are_those_of_the_alternative_that_was_meant():
    shapes = {
        "oneOf": [
            obj("kind", "radius", kind={"const": "circle"}, radius={"type": "number"}),
            obj("kind", "side", kind={"const": "square"}, side={"type": "number"}),
        ]
    }
    error = refused(tool(obj("shape", shape=shapes)), {"shape": {"kind": "square", "size": 3}})
    assert (error.missing, error.unexpected) == (("shape.side",), ("shape.size",))
    both = {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
    assert "more than one alternative" in str(refused(tool({**obj(), **both}), {"a": 1, "b": 2}))


@pytest.mark.parametrize(
    ("rule", "sent", "words"),
    [
        ({"maximum": 3}, 4, "must be at most 3, not 4"),
        ({"exclusiveMinimum": 3}, 3, "must be more than 3"),
        ({"exclusiveMaximum": 3}, 3, "must be less than 3"),
        ({"minimum": 3, "exclusiveMinimum": True}, 3, "must be more than 3"),
        ({"multipleOf": 5}, 4, "must be a multiple of 5"),
        ({"minLength": 3}, "ab", "must have at least 3 characters"),
        ({"maxLength": 1}, "ab", "must have at most 1 characters"),
        ({"pattern": "^[0-9]+$"}, "ab", 'must match the pattern "^[0-9]+$", not "ab"'),
        ({"const": "x"}, "y", 'must be "x", not "y"'),
        ({"minItems": 2}, [1], "must have at least 2 items"),
        ({"maxItems": 0}, [1], "must have at most 0 items"),
        ({"uniqueItems": True}, [{"a": 1}, {"a": 1.0}], "holds the same item twice"),
        ({"contains": {"const": 1}}, [2], "must hold an item that fits"),
        ({"minProperties": 1}, {}, "must have at least 1 entries"),
        ({"not": {"type": "integer"}}, 3, "must not fit"),
        ({"items": [{"type": "integer"}], "additionalItems": False}, [1, 2], "is not allowed"),
        ({"prefixItems": [{"type": "integer"}]}, ["a"], "x[0]: must be integer"),
        ({"propertyNames": {"maxLength": 1}}, {"ab": 1}, "must have at most 1 characters"),
        ({"patternProperties": {"^n_": {"type": "integer"}}}, {"n_a": "a"}, "x.n_a: must be integer"),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, "x.b: is missing, and a needs it"),
        ({"dependencies": {"a": ["b"]}}, {"a": 1}, "x.b: is missing, and a needs it"),
        ({"dependencies": {"a": {"required": ["c"]}}}, {"a": 1}, "x.c: is missing"),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"a": 1}, "x.b: is missing"),
        ({"properties": {"a": False}}, {"a": 1}, "x.a: is not allowed"),
        ({"properties": {"a": {}}, "unevaluatedProperties": False}, {"a": 1, "c": 1}, "x.c: is no parameter"),
    ],
)
def test_each_rule_is_told_in_words(rule, sent, words):
    assert words in str(refused(tool(obj(x=rule)), {"x": sent}))


@pytest.mark.parametrize(
    "draft", ["draft-04/schema#", "draft-07/schema#", "draft/2019-09/schema", "draft/2020-12/schema"]
)
def test_x10_the_draft_that_a_schema_names_is_understood(draft):
    schema = {
        "$schema": f"https://json-schema.org/{draft}",
        "$id": "https://example.com/schemas/tool.json",
        **obj(
            "point",
            point={"$ref": "#/definitions/Point"},
            share={"type": "number", "minimum": 0, "exclusiveMinimum": True},
        ),
        "definitions": {"Point": {"type": "array", "items": [{"type": "integer"}, {"type": "string"}]}},
    }
    assert check(tool(schema), {"point": ["1", 2], "share": 0.5}) == {"point": [1, "2"], "share": 0.5}
    assert refused(tool(schema), {"point": ["a", "b"]}).path == "point[0]"
    assert refused(tool(schema), {"point": [], "share": 0}).path == "share"


@pytest.mark.parametrize("pattern", ["([", "*", "a{2,1}", r"\p{Nope}"])
def test_a_pattern_that_is_none_is_no_rule(pattern):
    assert one({"type": "string", "pattern": pattern}, "b") == "b"
    named = {"patternProperties": {pattern: {"type": "integer"}}, "additionalProperties": False}
    assert one(named, {"q": "b"}) == {"q": "b"}
    unevaluated = {"patternProperties": {pattern: {"type": "integer"}}, "unevaluatedProperties": False}
    assert one(unevaluated, {"q": "b"}) == {"q": "b"}


def test_patterns_of_other_languages_hold():
    assert one({"type": "string", "pattern": r"^\p{L}+$"}, "Größe") == "Größe"
    assert refused(tool(obj(x={"pattern": r"^\p{L}+$"})), {"x": "4"}).problems[0].rule == "pattern"


SLOW = "^(a|aa)+$"


def test_a_pattern_that_never_ends_is_no_rule():
    text = "a" * 60 + "b"
    assert one({"type": "string", "pattern": SLOW}, text) == text
    name = {"patternProperties": {SLOW: {"type": "integer"}}, "unevaluatedProperties": False}
    assert one(name, {text: "b"}) == {text: "b"}


def test_a_reference_outside_is_never_fetched():
    # Sockets are off in these tests: trying would raise.
    schema = obj(
        x={"$ref": "https://example.com/other.json"}, y={"$ref": "http://json-schema.org/draft-07/schema#"}
    )
    assert check(tool(schema), {"x": 1, "y": "z"}) == {"x": 1, "y": "z"}


def test_a_check_that_would_take_for_ever_is_refused():
    union = {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]}
    side = obj(next=union, n={"type": "integer"})
    value = "leaf"
    for _ in range(40):
        value = {"next": value}
    error = refused(tool({**obj(start=union), "$defs": {"A": side, "B": side}}), {"start": value})
    assert error.problems[0].rule == "size"


def test_deep_arguments_are_checked_or_refused_but_never_crash():
    value = {"label": "x"}
    for depth in range(100):
        arguments = {"root": value}
        try:
            assert check(OUTLINE, arguments) == arguments
        except ArgumentsError:
            assert depth > 20
        value = {"label": "x", "children": [value]}


def test_a_definition_that_went_around_its_checks_is_a_programming_error():
    broken = RENEW.model_copy(update={"parameters": {"type": "array"}})
    with pytest.raises(InvalidToolError):
        check(broken, {})


def test_an_own_name_of_a_keyword_is_a_parameter_like_any_other():
    schema = obj(
        "$id", "properties", **{"$id": {"type": "integer"}, "properties": obj(type={"type": "integer"})}
    )
    assert check(tool(schema), {"$id": "1", "properties": {"type": "2"}}) == {
        "$id": 1,
        "properties": {"type": 2},
    }


def test_the_error_is_of_the_tree_and_survives_pickling():
    error = refused(RENEW, {"extraDays": "soon"})
    assert isinstance(error, ToolSearchError)
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - made on the line itself
    assert (str(again), again.problems, again.missing) == (str(error), error.problems, error.missing)


def test_threads_check_at_the_same_time():
    done = []

    def work(number):
        for turn in range(50):
            result = check(RENEW, {"readerCard": number, "extraDays": str(turn)})
            assert result == {"readerCard": str(number), "extraDays": turn}
        done.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == [0, 1, 2, 3]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(-5, 5)
    | st.sampled_from(["", "1", "true", "null", "[1]", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
SCHEMAS = st.recursive(
    st.sampled_from(
        [
            {"type": kind}
            for kind in (
                "string",
                "integer",
                "number",
                "boolean",
                "null",
                "object",
                "array",
                ["string", "null"],
            )
        ]
        + [{"enum": [1, "x", None]}, {"const": True}, {"minimum": 2}, {}]
    ),
    lambda inner: (
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)})
        | st.fixed_dictionaries({"type": st.just("array"), "items": inner})
        | st.fixed_dictionaries(
            {
                "type": st.just("object"),
                "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
                "required": st.lists(st.sampled_from("abc"), unique=True, max_size=2),
                "additionalProperties": st.booleans(),
            }
        )
    ),
    max_leaves=6,
)


@given(
    st.dictionaries(st.sampled_from("abc"), SCHEMAS, max_size=3),
    st.dictionaries(st.sampled_from("abc"), JSON),
)
def test_what_comes_back_always_fits_and_what_fits_always_comes_back(properties, arguments):
    definition = tool({"type": "object", "properties": properties})
    validator = jsonschema.Draft202012Validator(definition.parameters)
    try:
        result = check(definition, arguments)
    except ArgumentsError:
        assert not validator.is_valid(arguments)
        return
    assert validator.is_valid(result)
    if validator.is_valid(arguments):
        assert result == arguments


@pytest.mark.parametrize("name", ["番号", "τιμή", "दूरी", "größe", "номер_счёта"])
def test_bc42_a_name_of_any_script_is_told_as_it_is_written(name):
    """Kind: dispatch. A model that reads escapes of a name cannot mend its call."""
    tool = ToolDefinition(
        name="f",
        parameters={"type": "object", "properties": {name: {"type": "string"}}, "required": [name]},
    )
    with pytest.raises(ArgumentsError, match=f"Missing: {name}[.]") as caught:
        check(tool, {})
    assert caught.value.missing == (name,)


@pytest.mark.parametrize("name", ["a\u200bb", "\ufffd", "a b", "1st", "\u0301a"])
def test_what_does_not_show_in_a_name_is_escaped(name):
    tool = ToolDefinition(
        name="f", parameters={"type": "object", "properties": {}, "additionalProperties": False}
    )
    with pytest.raises(ArgumentsError) as caught:
        check(tool, {name: 1})
    assert caught.value.unexpected == (f"[{json.dumps(name)}]",)
