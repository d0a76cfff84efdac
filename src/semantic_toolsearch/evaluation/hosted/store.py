"""Responses as they were received in; a JSONL file that answers the same requests later, without a key, out."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.evaluation.writing import file_name

__all__ = ["ResponseStore", "Stored", "store_path"]

_ECHO: Final = "left out: the request's own tools, given back"


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of one request. It holds neither headers nor addresses, so no key can be in it.

    Attributes:
        key: SHA-256 of the request.
        arm: Name of the hosted search.
        task: Name of the dataset.
        query: Id of the first query that it was sent for.
        model: Model that was asked.
        sdk: Package and version that sent it.
        time: When the response came, in UTC.
        seconds: How long it took, with the attempts before.
        response: The body as received, without the tools list that OpenAI gives back; None where there is none.
        text: The body where it is no JSON, else None.
        failed: Why there is no body, else None.
    """

    key: str
    arm: str
    task: str
    query: str
    model: str
    sdk: str
    time: str
    seconds: float
    response: Any = None
    text: str | None = None
    failed: str | None = None


def store_path(folder: str | os.PathLike[str], arm: str, task: str) -> Path:
    """The file of one arm and task.

    Args:
        folder: Folder of all stored responses.
        arm: Name of the hosted search.
        task: Name of the dataset; one that no file can have is replaced by what is left of it and a hash.
    """
    return Path(folder, arm, f"{file_name(task)}.jsonl")


class ResponseStore:
    """The responses in one file, the newest for each request; lines are only ever added. Safe between threads.

    Args:
        path: The file; it need not exist yet.

    Attributes:
        broken: Numbers of lines that cannot be read, from 1: a run was ended in the middle of one.

    Raises:
        ConfigError: The file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.broken: tuple[int, ...] = ()
        self._found: dict[str, Stored] = {}
        self._ends_with_line = True
        self._lock = threading.Lock()
        self._read()

    def __len__(self) -> int:
        return len(self._found)

    @property
    def times(self) -> tuple[str, str] | None:
        """When the oldest and the newest of the responses came, or None without any."""
        times = sorted(stored.time for stored in self._found.values())
        return (times[0], times[-1]) if times else None

    def find(self, key: str) -> Stored | None:
        """What became of a request, or None where it was never sent."""
        with self._lock:
            return self._found.get(key)

    def add(self, stored: Stored) -> Stored:
        """Keep what became of a request; once this returns it survives the end of the process.

        Returns:
            What is kept.

        Raises:
            ConfigError: The file cannot be written.
        """
        stored = replace(stored, response=_without_echo(stored.response))
        values = {each.name: getattr(stored, each.name) for each in fields(stored)}
        line = json.dumps({name: value for name, value in values.items() if value is not None}) + "\n"
        with self._lock:
            if not self._ends_with_line:
                line = "\n" + line
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self.path.open("ab") as file:
                    file.write(line.encode())
            except OSError as error:
                raise ConfigError(f"The response cannot be stored: {self.path}: {error.strerror}.") from error
            self._ends_with_line = True
            self._found[stored.key] = stored
        return stored

    def _read(self) -> None:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise ConfigError(f"Stored responses cannot be read: {self.path}: {error.strerror}.") from error
        self._ends_with_line = not data or data.endswith(b"\n")
        broken = []
        for number, line in enumerate(data.split(b"\n"), start=1):
            if not line.strip():
                continue
            try:
                stored = Stored(**json.loads(line))
            except (ValueError, TypeError, RecursionError):
                broken.append(number)
                continue
            self._found[stored.key] = stored
        self.broken = tuple(broken)


def _without_echo(response: Any) -> Any:
    """The body without the request's tools, which OpenAI repeats in every response: they can be megabytes."""
    if isinstance(response, Mapping) and isinstance(response.get("tools"), list):
        return {**response, "tools": _ECHO}
    return response
