"""The texts in ``written/`` come in; tools, requests and phrases in other languages go out.

Two kinds of files, both plain text. ``requests-*.txt`` hold imagined servers::

    ## greenhouse control
    @ set_vent_opening | Opens or closes the roof vents of one house. | house: which one; percent: 0 shut, 100 open
    > it's boiling in house 3, let some air out
    & set_vent_opening, get_soil_moisture > is bed 4 dry? and open the vents of that house a little

A line with ``@`` is a tool (name, description, parameters), one with ``>`` a request that it answers, one with ``&`` a
request that needs several tools of its server. ``phrases-*.txt`` hold an English phrase (``=``) and the same in
other languages, each line led by its language code.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semantic_toolsearch.definitions import ToolDefinition

_PARAMETER = re.compile(r"(?P<name>[\w.\-\[\]$]+)\s*(?P<rest>[^:]*)(?::(?P<text>.*))?", re.DOTALL)
_ENUM = re.compile(r"\(?enum:?\s+([^)]*)\)?")
_PHRASE = re.compile(r"(?P<language>[a-z]{2,3}(?:-[A-Za-z]+)?) (?P<text>.+)")


@dataclass(frozen=True, slots=True)
class Request:
    """A request and the ids of the tools that it needs, one or several of one server."""

    text: str
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Phrase:
    """The same in English and in another language."""

    english: str
    language: str
    text: str


def read_requests(folder: Path) -> tuple[dict[str, ToolDefinition], list[Request]]:
    """Read the tools, by id ``written:FILE:LINE:NAME``, and the requests; stops at a line it cannot read."""
    tools: dict[str, ToolDefinition] = {}
    requests: list[Request] = []
    for path in sorted(folder.glob("requests-*.txt")):
        siblings: dict[str, str] = {}
        server = current = ""
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            mark, rest = line[:1], line[1:].strip()
            if mark == "#":
                server, siblings, current = f"written:{path.stem}:{number}", {}, ""
            elif mark == "@":
                tool = _tool(rest)
                current = siblings[tool.name] = f"{server}:{tool.name}"
                tools[current] = tool
            elif mark == ">" and current:
                requests.append(Request(rest, (current,)))
            elif mark == "&" and " > " in rest:
                names, text = rest.split(" > ", 1)
                needed = tuple(siblings.get(name.strip(), "") for name in names.split(","))
                if "" in needed:
                    _stop(path, number, "names a tool that its server lacks")
                requests.append(Request(text.strip(), needed))
            elif line.strip():
                _stop(path, number, "is neither a server, a tool nor a request")
    return tools, requests


def read_phrases(folder: Path) -> list[Phrase]:
    """Read the phrases in other languages; stops at a line it cannot read."""
    phrases = []
    for path in sorted(folder.glob("phrases-*.txt")):
        english = ""
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith("="):
                english = line[1:].strip()
            elif english and (found := _PHRASE.fullmatch(line.strip())):
                phrases.append(Phrase(english, found["language"], found["text"].strip()))
            elif line.strip():
                _stop(path, number, "is neither an English phrase nor one in a language")
    return phrases


def _tool(text: str) -> ToolDefinition:
    name, description, parameters = (part.strip() for part in (text + "||").split("|", 3)[:3])
    properties = {
        found["name"]: _parameter(f"{found['rest'].strip()} {(found['text'] or '').strip()}".strip())
        for part in parameters.split(";")
        if (found := _PARAMETER.fullmatch(part.strip()))
    }
    return ToolDefinition(
        name=name, description=description, parameters={"type": "object", "properties": properties}
    )


def _parameter(text: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    if values := _ENUM.search(text):
        schema["enum"] = [value.strip() for value in values[1].split(",") if value.strip()]
        text = f"{text[: values.start()]}{text[values.end() :]}".strip()
    return schema | ({"description": text} if text else {})


def _stop(path: Path, number: int, what: str) -> None:
    sys.exit(f"{path.name}, line {number}: {what}")
