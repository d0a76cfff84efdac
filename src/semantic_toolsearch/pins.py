"""A tool's definition in, the hash that pins it out; and the JSON file in which pins are kept.

A pin is ``1:`` and the SHA-256, in hex, of a canonical JSON text: the fields ``changes.CONTENT`` of the definition as
this library holds it (cleaned and mended), keys sorted, no blanks, ASCII. It is the same in every process, and whatever
other tools there are. The number names this way of writing and changes with it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.changes import CONTENT
from semantic_toolsearch.errors import ConfigError

if TYPE_CHECKING:
    from semantic_toolsearch.definitions import ToolDefinition

__all__ = ["content_hash", "pins_text", "read_pins", "write_pins"]

_PIN: Final = re.compile(r"1:[0-9a-f]{64}")


def content_hash(tool: ToolDefinition) -> str:
    """Return the hash that pins this definition: equal for equal content, and only then."""
    content = {field: getattr(tool, field) for field in CONTENT}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return f"1:{hashlib.sha256(text.encode()).hexdigest()}"


def pins_text(pins: Mapping[str, str]) -> str:
    """Return pins as the text of a JSON file, one tool a line, sorted so that a diff shows what changed."""
    return json.dumps(dict(sorted(pins.items())), indent=1, ensure_ascii=True) + "\n"


def write_pins(pins: Mapping[str, str], path: str | PathLike[str]) -> None:
    """Write a file that ``read_pins`` reads.

    Raises:
        ConfigError: The file cannot be written.
    """
    try:
        Path(path).write_text(pins_text(pins), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}.") from error


def read_pins(source: Any) -> dict[str, str]:
    """Read pins from a mapping of wire names to hashes, or from a JSON file of one.

    Raises:
        ConfigError: The file cannot be read, or this is no such mapping; the message names the first wrong entry.
    """
    label = "pins"
    if isinstance(source, (str, PathLike)):
        label = str(source)
        try:
            source = json.loads(Path(source).read_bytes())
        except OSError as error:
            raise ConfigError(f"The pins in {label} cannot be read: {error.strerror or error}.") from error
        except (ValueError, RecursionError) as error:
            raise ConfigError(
                f"{label} is no JSON file of pins ({error}); write one with toolsearch pin."
            ) from error
    if not isinstance(source, Mapping):
        raise ConfigError(
            f"{label}: pins are a mapping of wire names to hashes, or the path of a JSON file of one, not "
            f"{type(source).__name__}."
        )
    pins = dict(source)
    for name, pin in pins.items():
        if not isinstance(name, str) or not isinstance(pin, str) or not _PIN.fullmatch(pin):
            raise ConfigError(
                f"{label}: {str(name)[:80]!r} has the pin {str(pin)[:80]!r}; a pin of this version is '1:' and 64 hex "
                "digits, as Catalog.pins() gives them. Review the tools and pin them again."
            )
    return pins
