"""`toolsearch search` and `explain`: what is written where, and the exit codes."""

from __future__ import annotations

import json
import re

import pytest

from semantic_toolsearch import ToolSearch

NEED = "a buyer wants his cash returned"


def test_tools_are_shown_best_first_with_server_and_description(toolsearch, shop):
    result = toolsearch("search", NEED, shop)
    assert result.exit_code == 0
    assert re.search(
        r"^1 +shop__create_refund +\d\.\d{3} +shop +Give a customer the money", result.stdout, re.MULTILINE
    )


def test_a_broken_definition_is_told_on_standard_error_only(toolsearch, shop):
    result = toolsearch("search", NEED, shop)
    assert "no_schema_at_all" not in result.stdout
    (line,) = result.stderr.splitlines()
    assert line.startswith("toolsearch: 1 of 5 definitions cannot be used")
    assert "shop.json [4]" in line
    assert "$.parameters" in line


def test_json_is_the_result_and_nothing_else(toolsearch, shop, shop_tools):
    result = toolsearch("search", NEED, shop, "--json", "--limit", 2)
    content = json.loads(result.stdout)
    assert content == ToolSearch(shop_tools).search(NEED, limit=2).as_dict()
    assert content["tools"][0]["name"] == "shop__create_refund"


def test_json_keeps_other_scripts_readable(toolsearch, write):
    file = write("zh.json", [{"name": "查询天气", "description": "查询一个城市的天气预报"}])
    result = toolsearch("search", "天气预报", file, "--json")
    assert json.loads(result.stdout)["tools"][0]["description"] == "查询一个城市的天气预报"
    assert "查询一个城市的天气预报" in result.stdout


def test_a_miss_exits_with_1_and_lists_names(toolsearch, shop):
    result = toolsearch("search", "zzzz qqqq", shop)
    assert result.exit_code == 1
    assert "Nothing among 4 tools fits 'zzzz qqqq'." in result.stdout
    assert (
        "Names: list_orders, mail__send_message, shop__create_refund, weather__get_forecast" in result.stdout
    )
    assert "Servers: mail (1), shop (1), weather (1)" in result.stdout
    assert toolsearch("search", "zzzz qqqq", shop, "--json").exit_code == 1


def test_an_empty_query_lists_names_and_is_no_miss(toolsearch, shop):
    result = toolsearch("search", "", shop)
    assert result.exit_code == 0
    assert "4 tools" in result.stdout
    assert "Names: list_orders," in result.stdout


def test_a_limit_over_the_most_is_lowered_with_a_note(toolsearch, shop):
    result = toolsearch("search", NEED, shop, "--limit", 900)
    assert "Note: The limit 900 was lowered to 20" in result.stdout
    assert toolsearch("search", NEED, shop, "--limit", "many").exit_code == 2


def test_only_visible_tools_are_searched(toolsearch, shop):
    result = toolsearch("search", "", shop, "--visible", "mail.send_message", "--visible", "list_orders")
    assert "Names: list_orders, mail__send_message" in result.stdout
    assert "create_refund" not in result.stdout


def test_a_visible_name_that_is_no_tool_is_an_error_with_the_nearest(toolsearch, shop):
    result = toolsearch("search", "", shop, "--visible", "list_order")
    assert result.exit_code == 2
    assert "list_orders" in result.stderr


@pytest.mark.parametrize("ranker", ["hybrid", "semantic", "bm25", "keyword", "regex"])
def test_every_ranker_may_be_named(toolsearch, shop, ranker):
    result = toolsearch("search", "forecast", shop, "--ranker", ranker, "--json")
    assert json.loads(result.stdout)["tools"][0]["name"] == "weather__get_forecast"


def test_an_unknown_ranker_is_one_line_on_standard_error(toolsearch, shop):
    result = toolsearch("search", NEED, shop, "--ranker", "best")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1].startswith("toolsearch: ")
    assert "hybrid" in result.stderr
    assert "Traceback" not in result.stderr


def test_debug_shows_where_an_error_came_from(toolsearch, shop):
    from semantic_toolsearch.errors import ConfigError

    with pytest.raises(ConfigError):
        toolsearch("--debug", "search", NEED, shop, "--ranker", "best")


def test_names_and_descriptions_of_others_cannot_write_to_the_terminal(toolsearch, write):
    file = write(
        "evil.json",
        [{"name": "pay\u001b[2J[red]it", "description": "[bold]Pay[/bold] a bill\u001b[31m\u202e now"}],
    )
    result = toolsearch("search", "pay a bill", file)
    assert "\u001b" not in result.output
    assert "\u202e" not in result.output
    assert "[bold]Pay[/bold] a bill" in result.stdout


def test_explain_tells_verdict_rank_arms_and_rule(toolsearch, shop):
    result = toolsearch("explain", NEED, "create_refund", shop)
    assert result.exit_code == 0
    assert result.stdout.startswith("shop__create_refund: returned, rank 1, score ")
    assert re.search(r"^ +cosine +0\.\d{3}$", result.stdout, re.MULTILINE)


def test_explain_writes_the_same_as_json(toolsearch, shop):
    content = json.loads(toolsearch("explain", NEED, "shop.create_refund", shop, "--json").stdout)
    assert content["verdict"] == "returned"
    assert content["rank"] == 1
    assert set(content) == {
        "query",
        "name",
        "verdict",
        "rank",
        "score",
        "arms",
        "reason",
        "fields",
        "degraded",
    }


def test_x07_explain_reveals_nothing_of_an_invisible_tool(toolsearch, shop):
    words = ["explain", NEED, "create_refund", shop, "--visible", "list_orders", "--json"]
    content = json.loads(toolsearch(*words).stdout)
    assert content["verdict"] == "not visible"
    assert (content["rank"], content["score"], content["arms"]) == (None, 0.0, {})


def test_explain_of_an_unknown_tool_names_the_nearest(toolsearch, shop):
    result = toolsearch("explain", NEED, "create_refunds", shop)
    assert result.exit_code == 2
    assert "create_refund" in result.stderr
