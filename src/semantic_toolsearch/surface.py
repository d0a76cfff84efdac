"""Nothing in; the nineteen tools of a general agent, in full and with eighteen of them deferred, out.

The tools stand for what such agents carry everywhere: files, a shell, the web, the session, storage, to-dos,
time, schedules, sub-agents, and the search for tools. They are data to measure with; nothing runs them. Their search
tool takes a query and nothing else.
"""

from __future__ import annotations

from typing import Any, Final

from semantic_toolsearch.exchange import SEARCH_TOOL_NAME
from semantic_toolsearch.providers.base import stub_schema

__all__ = ["deferred_surface", "full_surface"]


def _text(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


def _whole(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "integer", "description": description, **more}


def _flag(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "boolean", "description": description, **more}


def _list(description: str, items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "description": description, "items": items, **more}


_SURFACE: Final[tuple[tuple[str, str, dict[str, Any], tuple[str, ...]], ...]] = (
    (
        "read_file",
        "Show a file of the workspace, whole or in part.",
        {
            "path": _text("Path from the workspace's root, with forward slashes."),
            "first_line": _whole("Line to start at; lines are numbered from 1.", minimum=1, default=1),
            "lines": _whole("Most lines to return; longer files are cut there.", maximum=2000),
        },
        ("path",),
    ),
    (
        "write_file",
        "Create a file, or replace all that it holds.",
        {
            "path": _text("Path from the workspace's root; missing folders are made."),
            "content": _text("The new content, the last line break included."),
            "encoding": _text("How the text becomes bytes.", enum=["utf-8", "latin-1", "base64"]),
            "only_new": _flag("Refuse to touch a file that is there already."),
        },
        ("path", "content"),
    ),
    (
        "edit_file",
        "Put one passage of a file in another's place.",
        {
            "path": _text("Path of a text file that exists, from the workspace's root."),
            "old": _text("The passage as it stands, indentation included; must occur once."),
            "new": _text("What to put there; empty to delete the passage."),
            "everywhere": _flag("Change each place where the passage occurs, not one.", default=False),
        },
        ("path", "old", "new"),
    ),
    (
        "list_folder",
        "Name the files and folders inside a folder.",
        {
            "path": _text("Folder to look into; the workspace's root when left out."),
            "depth": _whole("Levels of folders to open below it.", minimum=1, maximum=8),
            "hidden": _flag("Whether to name what begins with a dot as well."),
        },
        (),
    ),
    (
        "find_in_files",
        "Search the text of files by a pattern.",
        {
            "pattern": _text("Regular expression that a line has to match."),
            "files": _text("Shell pattern of the files to read, such as src/**/*.py."),
            "ignore_case": _flag("Treat capital and small letters alike."),
            "most": _whole("Matches after which the search ends.", default=100),
        },
        ("pattern",),
    ),
    (
        "run_shell",
        "Run a command line and return what it prints.",
        {
            "command": _text("One command line for bash, quoted as it would be typed."),
            "folder": _text("Folder to run it in, from the workspace's root."),
            "seconds": _whole("Time after which it is stopped.", minimum=1, maximum=600),
            "variables": {
                "type": "object",
                "description": "Environment variables to add.",
                "additionalProperties": {"type": "string"},
            },
        },
        ("command",),
    ),
    (
        "fetch_page",
        "Get a web page or file by its address.",
        {
            "url": _text("Address, beginning with https://.", format="uri"),
            "form": _text("What to make of a page.", enum=["markdown", "text", "html", "links"]),
            "most_characters": _whole("Where to cut a long answer.", maximum=200000),
        },
        ("url",),
    ),
    (
        "read_session",
        "Look up earlier messages of this session.",
        {
            "words": _text("Only messages that contain all of these words."),
            "roles": _list("Whose messages to return.", {"enum": ["user", "assistant", "tool"]}),
            "most": _whole("Messages to return, newest first.", minimum=1, maximum=50),
        },
        (),
    ),
    (
        "label_session",
        "Change the title and labels of the session.",
        {
            "title": _text("Title in the user's list of sessions.", maxLength=80),
            "add": _list("Labels to put on it.", {"type": "string", "maxLength": 30}),
            "remove": _list("Labels to take off; those it does not bear are ignored.", {"type": "string"}),
        },
        (),
    ),
    (
        "store_value",
        "Keep a value for later sessions.",
        {
            "key": _text("Name to find it by: letters, digits, dots.", pattern="^[a-z0-9.]+$"),
            "value": {
                "description": "Any JSON value of up to 64 kB.",
                "type": ["object", "array", "string", "number", "boolean"],
            },
            "scope": _text("Who can read it.", enum=["session", "user", "team"]),
        },
        ("key", "value"),
    ),
    (
        "load_value",
        "Return values that were kept earlier.",
        {
            "keys": _list("Names of the values; a star at the end stands for any rest.", {"type": "string"}),
            "scope": _text("Where to look for them.", enum=["session", "user", "team"]),
            "with_times": _flag("Tell also when each was stored and when it ends."),
        },
        ("keys",),
    ),
    (
        "write_todos",
        "Replace the list of steps for the task at hand.",
        {
            "steps": _list(
                "All steps, in the order in which they are to be done.",
                {
                    "type": "object",
                    "properties": {
                        "text": _text("The step in one sentence."),
                        "state": {"enum": ["open", "doing", "done", "dropped"]},
                        "needs": _list("Places of steps to do first.", {"type": "integer"}),
                    },
                    "required": ["text", "state"],
                },
            ),
        },
        ("steps",),
    ),
    (
        "list_todos",
        "Show the steps of this and earlier tasks.",
        {
            "states": _list("Only steps in these states.", {"enum": ["open", "doing", "done", "dropped"]}),
            "task": _text("Task they belong to; the present one when left out."),
            "since": _text("Only steps changed after this day.", format="date"),
        },
        (),
    ),
    (
        "current_time",
        "Tell date and time, or turn one into another zone.",
        {
            "zone": _text("Time zone by its IANA name, such as Europe/Lisbon."),
            "moment": _text("Moment to convert instead of now, in ISO 8601.", format="date-time"),
            "form": _text("How to write it.", enum=["iso", "long", "unix", "relative"]),
        },
        (),
    ),
    (
        "schedule_task",
        "Have something done later, once or regularly.",
        {
            "prompt": _text("What to do, complete enough for a fresh session."),
            "at": _text("Moment of the first run, in ISO 8601.", format="date-time"),
            "repeat": _text("Five cron fields; it runs once when left out."),
            "tell": _text("When to notify the user.", enum=["always", "on_failure", "never"]),
        },
        ("prompt", "at"),
    ),
    (
        "change_schedule",
        "Pause, resume, move or delete a scheduled task.",
        {
            "id": _text("Identifier that scheduling the task returned."),
            "action": _text("What to do with it.", enum=["pause", "resume", "move", "delete"]),
            "at": _text("New moment for the action move, in ISO 8601.", format="date-time"),
        },
        ("id", "action"),
    ),
    (
        "start_subagent",
        "Give part of the work to another agent.",
        {
            "task": _text("What it has to find out or make, and how it is to answer."),
            "files": _list("Paths that it may read from the start.", {"type": "string"}),
            "tools": _list("Names of the tools that it may call.", {"type": "string"}),
            "most_turns": _whole("Turns after which it has to stop.", minimum=1, maximum=100),
        },
        ("task",),
    ),
    (
        "message_subagent",
        "Ask, correct or stop an agent that was started.",
        {
            "id": _text("Identifier that starting the agent returned."),
            "text": _text("Message to it; left out, only its state is returned."),
            "wait_seconds": _whole("How long to wait for its answer.", minimum=0, maximum=300),
        },
        ("id",),
    ),
    (
        SEARCH_TOOL_NAME,
        "Find tools by what they do.",
        {"query": _text("What the tool should do.")},
        ("query",),
    ),
)


def full_surface() -> list[dict[str, Any]]:
    """Return all nineteen tools with their schemas."""
    return [
        {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": properties,
                **({"required": list(required)} if required else {}),
                "additionalProperties": False,
            },
        }
        for name, description, properties, required in _SURFACE
    ]


def deferred_surface() -> list[dict[str, Any]]:
    """Return the same list with a stub for each tool but the search."""
    return [
        tool if tool["name"] == SEARCH_TOOL_NAME else {**tool, "parameters": stub_schema()}
        for tool in full_surface()
    ]
