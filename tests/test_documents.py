"""What is indexed of a tool."""

from __future__ import annotations

import pytest

from semantic_toolsearch.definitions import ToolDefinition
from semantic_toolsearch.documents import (
    DENSE_DESCRIPTION_CHARACTERS,
    MOST_REPEATS,
    NAME_WEIGHT,
    dense_text,
    lexical_tokens,
    readable_name,
    shared_words,
)
from semantic_toolsearch.tokens import tokenize


def tool(name="doIt", description="", parameters=None, **fields):
    return ToolDefinition(
        name=name, description=description, parameters=parameters or {"type": "object"}, **fields
    )


def parameter(name, **schema):
    return {"type": "object", "properties": {name: {"type": "string", **schema}}}


NESTED = {
    "type": "object",
    "properties": {
        "outer": {"type": "object", "properties": {"list": {"type": "array", "items": parameter("zebra")}}}
    },
}
IN_DEFS = {
    "type": "object",
    "properties": {"node": {"$ref": "#/$defs/Node"}},
    "$defs": {"Node": parameter("kind", description="zebra kind")},
}

SPOTS = {
    "name whole": tool("zebra"),
    "name split": tool("feedZebra"),
    "description": tool(description="Looks after a zebra"),
    "parameter name": tool(parameters=parameter("zebra")),
    "parameter description": tool(parameters=parameter("animal", description="the zebra")),
    "nested parameter": tool(parameters=NESTED),
    "enum value": tool(parameters=parameter("animal", enum=["horse", "zebra"])),
    "inside $defs": tool(parameters=IN_DEFS),
    "namespace": tool(namespace="zebra"),
    "alias": tool(aliases=("zebra",)),
    "tag": tool(tags=("zebra",)),
}


OF_WORDS_ALONE = {"parameter description", "enum value", "inside $defs"}


@pytest.mark.parametrize("spot", SPOTS)
def test_s01_a_word_in_any_spot_is_indexed(spot):
    assert "zebra" in lexical_tokens(SPOTS[spot])


@pytest.mark.parametrize("spot", sorted(SPOTS.keys() - OF_WORDS_ALONE))
def test_s01_what_names_and_describes_a_tool_is_embedded(spot):
    assert "zebra" in dense_text(SPOTS[spot]).lower()


@pytest.mark.parametrize("spot", sorted(OF_WORDS_ALONE))
def test_what_parameters_say_in_detail_does_not_blur_the_vector(spot):
    assert "zebra" not in dense_text(SPOTS[spot]).lower()


def test_a_parameter_name_stands_once_in_the_embedded_text():
    twice = parameter("from", properties={"zebraId": {"type": "string"}}, type="object")
    twice["properties"]["to"] = {"type": "object", "properties": {"zebraId": {"type": "string"}}}
    assert dense_text(tool(parameters=twice)).count("zebra id") == 1


def test_s01_the_last_word_of_a_huge_description_is_indexed():
    assert "zebra" in lexical_tokens(tool(description="reference text " * 20_000 + "zebra"))


def test_x20_a_word_repeated_in_one_field_counts_a_few_times_only():
    some = lexical_tokens(
        tool(description="refund an order with care, then refund the rest, refund all, refund")
    )
    assert some.count("refund") == MOST_REPEATS
    parameters = {
        "type": "object",
        "properties": {f"p{i}": {"description": "the order id"} for i in range(4)},
    }
    assert lexical_tokens(tool(parameters=parameters)).count("order") == MOST_REPEATS


@pytest.mark.parametrize("words", ["refund order mail file", "退款订单邮件文件"])
def test_x20_a_description_that_is_nothing_but_repeats_counts_each_word_once(words):
    tokens = lexical_tokens(tool(description=f"{words} " * 200))
    assert all(tokens.count(word) == 1 for word in tokenize(words))


def test_names_aliases_and_tags_outweigh_a_mention():
    tokens = lexical_tokens(tool("zebra", aliases=("okapi",), tags=("quagga",), description="gnu"))
    assert [tokens.count(word) for word in ("zebra", "okapi", "quagga", "gnu")] == [NAME_WEIGHT] * 3 + [1]


def test_bc12_the_transport_prefix_is_no_word_of_the_tool():
    found = tool("mcp__harvest__get_people", namespace="harvest")
    assert "mcp" not in lexical_tokens(found)
    assert "mcp" not in dense_text(found)
    assert "mcp" in lexical_tokens(tool("mcp_inspector_start"))


@pytest.mark.parametrize(
    ("name", "namespace", "readable"),
    [
        ("createIssue", "orbit", "orbit create issue"),
        ("orbit_create_issue", "orbit", "orbit create issue"),
        ("createIssue", None, "create issue"),
        ("mcp__orbit__createIssue", "orbit", "orbit create issue"),
    ],
)
def test_a_name_is_led_by_its_namespace_once(name, namespace, readable):
    assert readable_name(tool(name, namespace=namespace)) == readable


def test_the_embedded_text_keeps_room_for_parameters():
    text = dense_text(tool(description="word " * 5_000, parameters=parameter("zebra")))
    assert len(text) < DENSE_DESCRIPTION_CHARACTERS + 100
    assert text.endswith("zebra")


def test_x07_shared_words_are_told_by_field():
    found = tool(
        "send_mail", "Send a message", parameter("recipient", description="mail address"), namespace="post"
    )
    assert shared_words(found, "send the mails of the post") == {
        "name": ("send", "mail"),
        "namespace": ("post",),
        "description": ("send",),
        "parameters": ("mail",),
    }
    assert shared_words(found, "translate") == {}
