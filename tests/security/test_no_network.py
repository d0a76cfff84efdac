"""The core opens no socket: searches, turns, saved indexes and the command line work where every one is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

REFUSE = """
import json, pathlib, sys

refused = []

def hook(event, arguments):
    # Making a socket is refused too: whatever needs one would go on to use it.
    if event.startswith("socket.") or event in ("urllib.Request", "http.client.connect"):
        refused.append(event)
        raise PermissionError(f"{event} in a process that has no network")

sys.addaudithook(hook)
TOOLS = [
    {"name": "thermostat_set", "description": "Set the target temperature of a room"},
    {"name": "parcel_track", "description": "Track a shipment by its number"},
    {"name": "vm_halt", "description": "Shut down a virtual machine"},
]
"""

LIBRARY = """
from semantic_toolsearch import ToolSearch
from semantic_toolsearch.lint import lint_catalog

for embedder in ("small", "nano"):
    search = ToolSearch(TOOLS, embedder=embedder)
    result = search.search("where is my package")
    assert result.degraded is None
    assert (*result.tools, *result.hints)[0].name == "parcel_track"
    search.replace("desk", [{"name": "close", "description": "Close a ticket"}])
    search.explain("close the ticket", "desk__close")
    search.save(f"index-{embedder}")
    loaded = ToolSearch.load(f"index-{embedder}", embedder=embedder)
    assert loaded.search("close the ticket").degraded is None
    assert loaded.stats().embedded == 0
for model in ("gpt-5.4", "claude-sonnet-5", "gemini-3-pro", "llama-4"):
    turn = search.turn([{"role": "user", "content": "hi"}], model=model, mode=None)
    assert turn.tools and turn.tokens is not None
lint_catalog(search.catalog)
REFERENCE = {"$ref": "https://example.com/schema.json", "type": "object"}
remote = ToolSearch([{"name": "far", "description": "d", "parameters": REFERENCE}], ranker="bm25")
call = {"id": "1", "type": "function", "function": {"name": "far", "arguments": "{}"}}
message = {"role": "assistant", "content": None, "tool_calls": [call]}
remote.turn([], model="llama-4").calls({"choices": [{"finish_reason": "tool_calls", "message": message}]})
assert refused == [], refused
print("done")
"""

PROGRAM = """
pathlib.Path("tools.json").write_text(json.dumps(TOOLS))
from semantic_toolsearch.cli import app

for words in (
    ["index", "tools.json", "--out", "tools.index"],
    ["search", "track a shipment", "tools.json"],
    ["search", "track a shipment", "--index", "tools.index"],
    ["explain", "where is my package", "parcel_track", "tools.json"],
    ["lint", "tools.json"],
    ["pin", "tools.json", "--out", "pins.json"],
):
    try:
        app(words, standalone_mode=True)
    except SystemExit as end:
        assert end.code in (0, None), (words, end.code)
assert refused == [], refused
print("done")
"""

PROBE = """
import socket

try:
    socket.create_connection(("127.0.0.1", 9), 1)
except PermissionError as error:
    print(error)
"""


def run(code, home):
    """Run code in a process of its own that knows neither the user's folders nor any key."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "SYSTEMROOT")}
    home.mkdir()
    surroundings = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "LOCALAPPDATA": str(home)}
    return subprocess.run(
        [sys.executable, "-c", REFUSE + code],
        capture_output=True, text=True, check=False, cwd=home, env={**kept, **surroundings},
    )  # fmt: skip


def test_the_refusal_of_this_test_works(tmp_path):
    assert "no network" in run(PROBE, tmp_path / "home").stdout


@pytest.mark.parametrize("code", [LIBRARY, PROGRAM], ids=["library", "program"])
def test_s17_the_core_opens_no_socket(code, tmp_path):
    done = run(code, tmp_path / "home")
    assert done.stdout.splitlines()[-1:] == ["done"], done.stderr


def test_a_cache_that_cannot_be_written_is_no_reason_for_the_network(tmp_path):
    lines = (
        f"import os; os.environ['XDG_CACHE_HOME'] = {json.dumps(os.devnull)}",
        "from semantic_toolsearch import ToolSearch",
        "assert ToolSearch(TOOLS, embedder='nano').search('track a shipment').degraded is None",
        "assert refused == []",
        "print('done')",
    )
    done = run("\n".join(lines), tmp_path / "home")
    assert done.stdout.splitlines()[-1:] == ["done"], done.stderr
