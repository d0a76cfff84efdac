"""A text file in; its lines with their numbers, checked one by one, and the file's hash out."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semantic_toolsearch.errors import DatasetError

__all__ = ["Record", "identifier_fault", "json_records", "read_json", "text_lines"]

_WORD = re.compile(r"[\w.-]+")


def text_lines(
    path: Path, hashes: dict[str, str], expected: str, *, name: str | None = None
) -> Iterator[tuple[int, str]]:
    """Yield each line with its number, from 1, without its line end, blank ones too.

    Args:
        path: A UTF-8 file; lines end with LF or CRLF.
        hashes: Gets the file's SHA-256 in hex when the last line was taken.
        expected: What the file holds, for the message when it is missing.
        name: Its key in ``hashes``; None for the file's name.

    Raises:
        DatasetError: The file is missing, cannot be read, or a line is not UTF-8.
    """
    digest = hashlib.sha256()
    number = 0
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                digest.update(raw)
                text = raw.decode("utf-8").removesuffix("\n").removesuffix("\r")
                yield number, text.removeprefix("\ufeff") if number == 1 else text
    except UnicodeDecodeError as error:
        raise DatasetError(f"not UTF-8 ({error.reason}); save the file as UTF-8.", path, number) from error
    except FileNotFoundError as error:
        raise DatasetError(f"is missing. Expected is {expected}.", path) from error
    except OSError as error:
        raise DatasetError(f"cannot be read: {error.strerror or error}.", path) from error
    hashes[name or path.name] = digest.hexdigest()


def json_records(
    path: Path, hashes: dict[str, str], expected: str, *, name: str | None = None
) -> Iterator[Record]:
    """Yield the JSON object of each line that is not blank.

    The arguments are those of ``text_lines``.

    Raises:
        DatasetError: As ``text_lines``, or a line is no JSON object, or there is none at all.
    """
    some = False
    for number, text in text_lines(path, hashes, expected, name=name):
        if text.strip():
            some = True
            yield Record(path, number, _object(text, path, number))
    if not some:
        raise DatasetError(f"is empty. Expected is {expected}.", path)


def read_json(path: Path, hashes: dict[str, str], expected: str) -> Record:
    """Return the JSON object that a whole file holds; its record has no line.

    The arguments are those of ``text_lines``.

    Raises:
        DatasetError: As ``text_lines``, or the file is no JSON object.
    """
    text = "\n".join(line for _, line in text_lines(path, hashes, expected))
    return Record(path, None, _object(text, path, None))


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON object of a file.

    Attributes:
        path: The file.
        line: Its line, or None where it is the whole file.
        fields: The object.
    """

    path: Path
    line: int | None
    fields: dict[str, Any]

    def fault(self, message: str) -> DatasetError:
        """The error that says what is wrong with this record."""
        return DatasetError(message, self.path, self.line)

    def identifier(self, key: str) -> str:
        """The text of a required field that names something.

        Raises:
            DatasetError: It is missing, no text, blank, or cannot stand in a tab-separated file.
        """
        value = self.text(key)
        if fault := identifier_fault(value):
            raise self.fault(f"{key!r} {fault}.")
        return value

    def text(self, key: str) -> str:
        """The text of a required field.

        Raises:
            DatasetError: It is missing, no text, or blank.
        """
        if key not in self.fields:
            known = ", ".join(map(repr, sorted(self.fields))) or "no field"
            raise self.fault(f"the field {key!r} is missing; there is {known}.")
        value = self.optional(key)
        if value is None or not value.strip():
            raise self.fault(f"{key!r} is {'null' if value is None else 'blank'}; text is expected.")
        return value

    def optional(self, key: str) -> str | None:
        """The text of a field that may be missing or null.

        Raises:
            DatasetError: It is something else than text.
        """
        value = self.fields.get(key)
        if value is None or isinstance(value, str):
            if value is not None and _broken(value):
                raise self.fault(f"{key!r} holds half of a surrogate pair, which is no character.")
            return value
        raise self.fault(f"{key!r} is {_kind(value)}; text is expected.")

    def word(self, key: str, default: str) -> str:
        """A field of one word, or the default where it is missing or null.

        Raises:
            DatasetError: It is no text, or not one word.
        """
        value = self.optional(key)
        if value is None:
            return default
        if not _WORD.fullmatch(value):
            raise self.fault(f"{key!r} is {value!r}; one word is expected, such as {default!r}.")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """A field that is true or false, or the default where it is missing.

        Raises:
            DatasetError: It is something else.
        """
        value = self.fields.get(key, default)
        if not isinstance(value, bool):
            raise self.fault(f"{key!r} is {_kind(value)}; true or false is expected.")
        return value


def identifier_fault(text: str) -> str | None:
    """Why a text cannot be an id in a tab-separated file, to be read behind the text; None when it can."""
    if not text.strip():
        return "is blank"
    if any(mark in text for mark in "\t\n\r"):
        return "holds a tab or a line break, which a tab-separated file cannot"
    return "holds half of a surrogate pair" if _broken(text) else None


def _object(text: str, path: Path, line: int | None) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        place = f"column {error.colno}: " if line is not None else f"line {error.lineno}: "
        raise DatasetError(f"{place}not JSON ({error.msg}).", path, line) from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or nested too deep
        raise DatasetError(f"not JSON that can be read ({error}).", path, line) from error
    if not isinstance(value, dict):
        raise DatasetError(f"{_kind(value)}; a JSON object is expected.", path, line)
    return value


def _broken(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


_KINDS = {
    list: "a list",
    dict: "an object",
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
}


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "null")
