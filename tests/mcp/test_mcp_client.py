"""Reading and calling tools of real server processes, well-behaved and not."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

import pytest

from semantic_toolsearch.errors import McpServerError, MissingExtraError
from semantic_toolsearch.mcp import McpServer, connect, read_tools

SERVERS = Path(__file__).parent / "servers"
ALL = ["echo", "fail", "picture", "structured", "sleep", "exit", "environment"]


def paging(**settings):
    return McpServer([sys.executable, str(SERVERS / "paging.py")], **settings)


def raw(mode, **settings):
    return McpServer([sys.executable, str(SERVERS / "raw.py"), mode], **settings)


def names(tools):
    return [tool["name"] for tool in tools]


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture(scope="module")
def connected():
    with connect([paging(name="desk")]) as servers:
        yield servers


# Reading


def test_all_pages_are_read_in_order():
    tools = read_tools(paging())
    assert names(tools) == ALL
    assert tools[0]["description"] == "The tool echo."
    assert tools[0]["inputSchema"]["properties"]["text"]["description"] == "What to say"


def test_the_namespace_is_the_servers_own_name_unless_one_is_given():
    assert {tool["namespace"] for tool in read_tools(paging())} == {"paging-server"}
    assert {tool["namespace"] for tool in read_tools(paging(name="desk"))} == {"desk"}


def test_one_broken_tool_hides_no_other():
    tools = read_tools(raw("broken-schemas", name="raw"))
    assert len(tools) == 9
    assert tools[0] == {
        "name": "good",
        "description": "Works.",
        "inputSchema": {"type": "object"},
        "namespace": "raw",
    }
    assert tools[1] == {"name": "schema_is_null", "inputSchema": None, "namespace": "raw"}
    assert tools[7] == "not even an object"
    assert tools[8]["name"] == "last"


def test_a_wrong_frame_around_good_tools_costs_nothing():
    assert names(read_tools(raw("bad-frame"))) == ["good"]


def test_a_banner_before_the_protocol_is_read_over():
    assert names(read_tools(raw("banner"))) == ["good"]


@pytest.mark.parametrize(
    ("mode", "count", "note"),
    [
        ("same-cursor", 2, "came back to an earlier page"),
        ("endless", 100, "more than 100 pages"),
        ("no-tools", 0, "offers no tools"),
    ],
)
def test_a_list_that_is_not_whole_is_noted(mode, count, note):
    with connect([raw(mode)]) as servers:
        (report,) = servers.reports
        assert report.failure is None
        assert note in report.note
        assert report.tools == len(servers.tools()) == count


# Servers that do not come up


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("exit", ["before it answered", "FATAL  no config file"]),
        ("refuse", ["-32000", "licence expired"]),
        ("bad-initialize", ["protocol does not allow"]),
        ("list-error", ["-32603", "database is down"]),
        ("no-list", ["no list of tools"]),
    ],
)
def test_a_server_that_fails_says_what_and_which_command(mode, said):
    with pytest.raises(McpServerError) as caught:
        read_tools(raw(mode))
    message = str(caught.value)
    assert f"raw.py {mode}" in message
    for part in said:
        assert part in message.replace("\n", " ")
    assert "\x1b" not in message


@pytest.mark.parametrize(("mode", "said"), [("hang", "within 1 s"), ("garbage", "Welcome to the server!")])
def test_a_server_that_never_answers_is_given_up_and_killed(mode, said, tmp_path):
    pid_file = tmp_path / "pid"
    with pytest.raises(McpServerError, match=said):
        read_tools(raw(mode, timeout=1, env={"PID_FILE": str(pid_file)}))
    assert not alive(int(pid_file.read_text()))


def test_a_program_that_does_not_exist_is_named():
    with pytest.raises(McpServerError, match="no program 'no-such-mcp-server'"):
        read_tools(McpServer("no-such-mcp-server --flag"))


def test_a_working_directory_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(McpServerError, match=r"working directory .*nowhere"):
        read_tools(paging(cwd=tmp_path / "nowhere"))


def test_a_program_that_may_not_run_is_named(tmp_path):
    script = tmp_path / "server"
    script.write_text("#!/bin/sh\n")
    with pytest.raises(McpServerError, match="cannot be started"):
        read_tools(McpServer([str(script)]))


def test_a_missing_extra_names_itself(monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp_types", None)
    with pytest.raises(MissingExtraError, match=r"semantic-toolsearch\[mcp\]"):
        read_tools(paging())


# Several at once


def test_a_failing_server_costs_its_own_tools_only():
    heard = []
    wanted = [raw("exit", name="broken"), paging(name="desk"), raw("hang", name="slow", timeout=1), raw("ok")]
    with connect(wanted, on_report=heard.append) as servers:
        assert servers.namespaces == ("desk", "raw-server")
        assert names(servers.tools()) == [*ALL, "good"]
        assert tuple(heard) == servers.reports
        assert [report.namespace for report in heard] == ["broken", "desk", "slow", "raw-server"]
        assert [report.failure is None for report in heard] == [False, True, False, True]
        assert servers.call("desk", "echo", {"text": "hi"}).text == "you said hi"


def test_servers_with_one_name_get_namespaces_of_their_own_in_the_order_given():
    with connect([raw("ok"), raw("ok"), raw("ok", name="raw-server-2"), raw("ok")]) as servers:
        expected = ("raw-server", "raw-server-3", "raw-server-2", "raw-server-4")
        assert servers.namespaces == expected
        assert tuple(tool["namespace"] for tool in servers.tools()) == expected


def test_no_servers_is_no_tools():
    with connect([]) as servers:
        assert servers.tools() == []


def test_every_process_is_gone_after_the_block_even_when_it_raises(tmp_path):
    files = [tmp_path / "a", tmp_path / "b"]
    pids = []

    def use_and_fail():
        with connect([raw("ok", env={"PID_FILE": str(file)}) for file in files]):
            pids.extend(int(file.read_text()) for file in files)
            assert all(map(alive, pids))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        use_and_fail()
    assert not any(map(alive, pids))


def test_nothing_of_the_servers_reaches_our_own_output(capfd):
    logging.getLogger("mcp.client.stdio").handlers.clear()
    with connect([raw("exit"), raw("banner"), raw("broken-schemas"), paging()]):
        pass
    assert capfd.readouterr() == ("", "")


# Calling


@pytest.mark.parametrize(
    ("tool", "arguments", "text", "is_error"),
    [
        ("echo", {"text": "größer, 日本"}, "you said größer, 日本", False),
        ("echo", None, "you said None", False),
        ("fail", {}, "no such guest", True),
        ("picture", {}, "here:\n[image, image/png, 4 base64 characters]", False),
        ("structured", {}, '{\n  "degrees": 21\n}', False),
    ],
)
def test_a_call_answers_with_text(connected, tool, arguments, text, is_error):
    result = connected.call("desk", tool, arguments)
    assert (result.text, result.is_error) == (text, is_error)
    assert str(result) == text


def test_structured_answers_are_kept(connected):
    assert connected.call("desk", "structured").structured == {"degrees": 21}


def test_a_call_that_the_server_refuses_is_an_answer_to_the_model(connected):
    result = connected.call("desk", "no_such_tool")
    assert result.is_error
    assert result.text


def test_a_call_that_takes_too_long_names_the_tool_and_leaves_the_server_usable(connected):
    with pytest.raises(McpServerError, match=r"'sleep' within 0\.2 s"):
        connected.call("desk", "sleep", timeout=0.2)
    assert connected.call("desk", "echo", {"text": "still here"}).text == "you said still here"


def test_a_server_that_is_not_connected_is_named_with_those_that_are(connected):
    with pytest.raises(McpServerError, match=r"'crm' is connected \(connected: desk\)"):
        connected.call("crm", "echo")


def test_a_server_that_dies_in_a_call_says_so_now_and_later():
    with connect([paging(name="desk"), raw("ok", name="other")]) as servers:
        with pytest.raises(McpServerError, match="out of memory, giving up"):
            servers.call("desk", "exit")
        with pytest.raises(McpServerError, match="desk"):
            servers.call("desk", "echo")
        with pytest.raises(McpServerError, match=r"protocol does not allow.*'good'"):
            servers.call("other", "good")


def test_only_the_named_environment_reaches_a_server(monkeypatch, tmp_path):
    monkeypatch.setenv("A_SECRET", "token")
    with connect([paging(name="desk", env={"FOR_THE_SERVER": "yes"}, cwd=tmp_path)]) as servers:
        assert servers.call("desk", "environment").text == f"yes None {tmp_path}"
