"""Every error this library raises, as one tree.

A message says what was wrong, where, and what to do about it.

    ToolSearchError
    ├── ConfigError              a setting that is unknown, out of range or contradictory
    ├── CatalogError             a tool definition that cannot be used (strict mode, or a wrong call)
    │   ├── InvalidToolError     one definition is malformed
    │   ├── DuplicateToolError   two definitions claim the same namespace and name
    │   └── UnknownToolError     a name that no tool of the catalog has
    ├── IndexFileError           an index on disk that must not be used
    │   ├── IndexFormatError     not an index, or written by a format this version does not read
    │   ├── IndexCorruptError    bytes are missing, added or changed
    │   └── IndexMismatchError   intact, but built for another embedder, recipe or catalog
    ├── EmbedderError            an embedding model failed or returned unusable vectors
    ├── RankerError              a ranker broke its contract
    ├── ConversationError        a response or a stream that cannot be read
    ├── ArgumentsError           a call's arguments do not fit its tool's schema; the text is for the model
    ├── DatasetError             evaluation data, or a results file, that cannot be used; names file and line
    ├── McpServerError           a server did not start, answer or list its tools
    └── MissingExtraError        an optional dependency is not installed (also an ImportError)

What a model sends (an empty query, a limit of 900, a broken pattern) is never an error: it becomes a
result that the model can act on. What a foreign server sends wrong costs that tool only and is listed
in the catalog's report.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "ArgumentProblem",
    "ArgumentsError",
    "CatalogError",
    "ConfigError",
    "ConversationError",
    "DatasetError",
    "DuplicateToolError",
    "EmbedderError",
    "IndexCorruptError",
    "IndexFileError",
    "IndexFormatError",
    "IndexMismatchError",
    "InvalidToolError",
    "McpServerError",
    "MissingExtraError",
    "RankerError",
    "ToolSearchError",
    "UnknownToolError",
    "described",
]


class ToolSearchError(Exception):
    """Base of every error raised by this library."""


class ConfigError(ToolSearchError):
    """A setting is unknown, out of range, or contradicts another one."""


class CatalogError(ToolSearchError):
    """A tool definition cannot be used."""


class InvalidToolError(CatalogError):
    """One definition is malformed; raised only when reading is strict."""


class DuplicateToolError(CatalogError):
    """Two definitions claim the same namespace and name; raised only when reading is strict."""


class UnknownToolError(CatalogError):
    """The programmer named a tool that the catalog does not hold."""


class IndexFileError(ToolSearchError):
    """An index on disk that must not be used."""


class IndexFormatError(IndexFileError):
    """The folder is no index, or its format is not one this version reads."""


class IndexCorruptError(IndexFileError):
    """Bytes of the index are missing, added or changed."""


class IndexMismatchError(IndexFileError):
    """The index is intact, but was built for another embedder, document recipe or catalog."""


class EmbedderError(ToolSearchError):
    """An embedding model failed, or returned vectors that cannot be used."""


class RankerError(ToolSearchError):
    """A ranker broke its contract; the message names its class and what it returned."""


class ConversationError(ToolSearchError):
    """A response or stream cannot be read: it reports an error, is of another format, or is empty."""


@dataclass(frozen=True, slots=True)
class ArgumentProblem:
    """One rule of a schema that a call's arguments break.

    Attributes:
        path: Where, from the arguments down: `days`, `guests[0].mail`; "" for the arguments as a whole.
        rule: The schema keyword, such as `type` or `required`; `json` where the text is no JSON object.
        message: What is wrong there, to be read behind the path.
    """

    path: str
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path or 'arguments'}: {self.message} ({self.rule})"


class ArgumentsError(ToolSearchError):
    """A call's arguments do not fit its tool's schema, and nothing was run.

    The text is fit to be sent to the model as it is: every problem, the nearest names, and the full schema.

    Args:
        text: The whole message.
        problems: Each broken rule: wrong values first, then what is missing, then what is no parameter.
        missing: Paths of parameters that are required and not there.
        unexpected: Paths of what was given and is no parameter.
    """

    def __init__(
        self,
        text: str,
        problems: tuple[ArgumentProblem, ...] = (),
        missing: tuple[str, ...] = (),
        unexpected: tuple[str, ...] = (),
    ) -> None:
        super().__init__(text)
        self.problems = problems
        self.missing = missing
        self.unexpected = unexpected

    @property
    def path(self) -> str:
        """Path of the first problem."""
        return self.problems[0].path if self.problems else ""


class DatasetError(ToolSearchError):
    """Evaluation data or a results file that is missing, malformed or contradicts itself.

    Args:
        message: What is wrong and what to do.
        path: The file, or None where the data came from none.
        line: Its line, from 1, or None where the whole file is meant.
    """

    def __init__(self, message: str, path: object = None, line: int | None = None) -> None:
        where = "" if path is None else f"{path}: " if line is None else f"{path}, line {line}: "
        super().__init__(where + message)
        self.path = path
        self.line = line


class McpServerError(ToolSearchError):
    """A server did not start, answer in time, or list its tools."""


class MissingExtraError(ToolSearchError, ImportError):
    """An optional dependency is not installed.

    Args:
        feature: What needs it, as the user would say it.
        extra: Name of the extra that brings it.
    """

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs the optional dependencies of the extra {extra!r}: "
            f"pip install 'semantic-toolsearch[{extra}]'"
        )
        self.extra = extra


def described(fault: BaseException) -> str:
    """What somebody else's exception says, with its class; the class alone where its text cannot be had.

    Args:
        fault: Any exception; one of this library says all by its text.
    """
    name = type(fault).__name__
    try:
        text = str(fault)
    except Exception:  # its own code again
        return name
    if isinstance(fault, ToolSearchError):
        return text
    return f"{name}: {text}" if text else name
