"""A server written by hand, for what the SDK would not let one say; its argument is how it misbehaves."""

from __future__ import annotations

import json
import os
import sys
import time

MODE = sys.argv[1]
GOOD = {"name": "good", "description": "Works.", "inputSchema": {"type": "object"}}
BROKEN = [
    GOOD,
    {"name": "schema_is_null", "inputSchema": None},
    {"name": "schema_is_text", "inputSchema": "object"},
    {"name": "no_schema"},
    {"name": "wrong_type", "inputSchema": {"type": 17, "required": None}},
    {"inputSchema": {"type": "object"}},
    {"name": 5, "inputSchema": {"type": "object"}},
    "not even an object",
    {"name": "last", "description": None, "inputSchema": {"type": "object"}},
]


LISTS = {
    "broken-schemas": lambda cursor: {"tools": BROKEN},
    "same-cursor": lambda cursor: {"tools": [GOOD], "nextCursor": "again"},
    "endless": lambda cursor: {"tools": [GOOD], "nextCursor": str(int(cursor or 0) + 1)},
    "no-list": lambda cursor: {"tools": "all of them"},
    "bad-frame": lambda cursor: {"tools": [GOOD], "nextCursor": 17},
}


def main():
    if pid_file := os.environ.get("PID_FILE"):
        with open(pid_file, "w") as file:
            file.write(str(os.getpid()))
    match MODE:
        case "hang":
            time.sleep(600)
        case "exit":
            sys.stderr.write("\x1b[31mFATAL\x1b[0m no config file\n")
            sys.exit(4)
        case "garbage":
            sys.stdout.buffer.write(b"\xff\xfe Welcome to the server!\n")
        case "banner":
            say("Listening on standard input")
    for line in sys.stdin:
        if MODE == "garbage":
            say("still no JSON")
            continue
        message = json.loads(line)
        if "id" in message:
            answer = respond(message["method"], message.get("params") or {})
            say(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}))


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def respond(method, params):
    match method:
        case "initialize":
            return initialize(params["protocolVersion"])
        case "tools/list" if MODE == "list-error":
            return {"error": {"code": -32603, "message": "database is down"}}
        case "tools/list" if MODE != "no-tools":
            return {"result": LISTS.get(MODE, lambda cursor: {"tools": [GOOD]})(params.get("cursor"))}
        case "tools/call":
            return {"result": {"content": "not a list"}}
    return {"error": {"code": -32601, "message": f"no method {method}"}}


def initialize(version):
    if MODE == "refuse":
        return {"error": {"code": -32000, "message": "licence expired"}}
    if MODE == "bad-initialize":
        return {"result": {"protocolVersion": ["?"]}}
    about = {"name": "raw-server", "version": "1"}
    return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}}


main()
