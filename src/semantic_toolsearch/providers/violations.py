"""What a broken provider rule is reported as, and the checks of names that all wire formats share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

__all__ = ["NAME", "Entry", "Severity", "Violation", "entries_at", "name_problems"]

Severity: TypeAlias = Literal["error", "warning"]

Entry: TypeAlias = tuple[str, dict[str, Any]]
"""An object of a request and its JSON path."""

NAME: Final = "[a-zA-Z0-9_-]{1,64}"


@dataclass(frozen=True, slots=True)
class Violation:
    """One rule that a request breaks.

    Attributes:
        rule: Id of the rule, a key of `validate.RULES`.
        where: JSON path of the part that breaks it.
        message: What is wrong there, and what to do.
        severity: ``error`` where the provider refuses the request; ``warning`` where it advises against it or
            has not said what happens.
    """

    rule: str
    where: str
    message: str
    severity: Severity = "error"

    def __str__(self) -> str:
        return f"{self.severity}: {self.rule} at {self.where}: {self.message}"


def entries_at(values: Any, path: str) -> Iterator[Entry]:
    """Give the objects of a list with their JSON paths; whatever is no object is passed over."""
    if isinstance(values, list | tuple):
        for index, value in enumerate(values):
            if isinstance(value, Mapping):
                yield f"{path}[{index}]", dict(value)


def name_problems(named: Iterable[tuple[str, Any]], pattern: str = NAME) -> Iterator[Violation]:
    """Check that names are legal and different.

    Args:
        named: JSON path and name of each tool.
        pattern: Regular expression that the whole of a name must match.
    """
    first: dict[str, str] = {}
    for where, name in named:
        if not isinstance(name, str) or not re.fullmatch(pattern, name):
            yield Violation("tool_name", where, f"{repr(name)[:100]} is no name: it must match ^{pattern}$.")
        elif name in first:
            yield Violation("unique_names", where, f"{name!r} is the name at {first[name]} too.")
        else:
            first[name] = where
