"""A turn in; how its model calls a tool, and whether it has the tool's present schema, out."""

from __future__ import annotations

import json

import wires
from pool import WIRE, marker
from spoken import UNKNOWN


def called_as(turn, tool, there):
    if tool in UNKNOWN:
        return {"name": tool}
    mark = marker(tool, there[tool]) if tool in there else "nothing"
    if turn.plan.mode == "bridge":
        return {"name": WIRE[tool]}
    return wires.address(turn.plan.api, turn.plan.mode, turn.tools, WIRE[tool], mark)


def tells_schema(entry, tool, version):
    return f'"{marker(tool, version)}": {{"type"' in json.dumps(entry)


def knows(turn, talk, tool, version):
    """Whether the model has the present schema of a tool that is not in full."""
    if talk.api == "anthropic" and turn.plan.mode in ("reference", "hosted"):
        text = json.dumps(turn.messages)
        return f'"tool_name": "{WIRE[tool]}"' in text
    if turn.plan.mode == "stub":
        return False
    written = json.dumps(turn.messages).replace("\\", "").replace(" ", "")
    return f'"{marker(tool, version)}":{{"type"' in written
