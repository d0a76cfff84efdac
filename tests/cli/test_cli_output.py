"""What the program writes where: progress, foreign text, JSON in narrow encodings; and what it loads."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest
from rich.console import Console

from semantic_toolsearch.cli import output


@pytest.fixture
def terminal(monkeypatch):
    """Everything written to standard error, which is made a terminal."""
    stream = io.StringIO()
    monkeypatch.setattr(
        output, "console", lambda **_: Console(file=stream, force_terminal=True, width=80, color_system=None)
    )
    return stream


def test_a_bar_is_drawn_once_the_work_takes_long(terminal, monkeypatch):
    monkeypatch.setattr(output, "_PATIENCE", -1.0)
    with output.embedding_progress("Embedding tools") as progress:
        progress(0, 128)
        progress(64, 128)
    assert "Embedding tools" in terminal.getvalue()
    assert "64/128" in terminal.getvalue()


def test_quick_work_draws_nothing(terminal, monkeypatch):
    monkeypatch.setattr(output, "_PATIENCE", 3600.0)
    with output.embedding_progress("Embedding tools") as progress:
        progress(128, 128)
    assert "Embedding" not in terminal.getvalue()


def test_nothing_is_drawn_where_standard_error_is_no_terminal(monkeypatch, capsys):
    monkeypatch.setattr(output, "_PATIENCE", -1.0)
    with output.embedding_progress("Embedding tools") as progress, output.waiting("Starting"):
        progress(64, 128)
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""


def test_waiting_is_shown_on_a_terminal(terminal):
    with output.waiting("Starting MCP servers"):
        pass
    assert "Starting MCP servers" in terminal.getvalue()


def test_json_is_escaped_where_the_encoding_lacks_a_character(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    monkeypatch.setattr(sys, "stdout", stream)
    output.print_json({"name": "größe 天气"})
    stream.flush()
    written = stream.buffer.getvalue().decode("latin-1")
    assert json.loads(written) == {"name": "größe 天气"}
    assert "\\u5929" in written


def test_a_query_that_is_no_text_is_still_answered_in_json(toolsearch, shop):
    result = toolsearch("search", "caf\udce9", shop, "--json")
    assert json.loads(result.stdout)["outcome"] in ("matched", "no_match")


def test_foreign_text_is_one_line_without_control_characters():
    assert output.plain("a\u001b[31mb\n\tc\u202e[red]d").plain == "a[31mb c[red]d"


def test_s22_help_loads_nothing_that_a_command_needs():
    code = (
        "import sys, semantic_toolsearch.cli\n"
        "heavy = {'numpy', 'pydantic', 'faiss', 'onnxruntime', 'tokenizers', 'bm25s', 'mcp', 'torch'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
