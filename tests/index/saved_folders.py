"""Two small searches of equal shape and different content, their saved folders, and what loading one may end in."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.errors import IndexFileError
from semantic_toolsearch.synthetic import synthetic_tools
from semantic_toolsearch.testing import HashingEmbedder

COUNT, DIMENSION = 6, 16
TOOLS = {"old": synthetic_tools(COUNT), "new": synthetic_tools(2 * COUNT)[COUNT:]}
QUERIES = [
    "create an invoice",
    "send a message to the team",
    "",
    TOOLS["old"][2]["name"],
    TOOLS["new"][3]["name"],
]

ADVICE = re.compile(
    r"save\(\)|check the path|make it readable|raise the limit|"
    r"give the process more|try again later|load it with the same"
)
"""What a message may tell its reader to do."""


def build(which: str, **options: Any) -> ToolSearch:
    return ToolSearch(TOOLS[which], **{"embedder": HashingEmbedder(DIMENSION), "cache": False, **options})


def load(folder: Path, tools: Any = None, **options: Any) -> ToolSearch:
    given = {"embedder": HashingEmbedder(DIMENSION), "cache": False, **options}
    return ToolSearch.load(folder, tools, **given)


def answers(search: ToolSearch) -> list[Any]:
    """Everything that a caller sees, scores to the last bit."""
    results = [search.search(query) for query in QUERIES]
    return [
        (result.as_dict(), [(hit.score, hit.position, hit.tool) for hit in (*result.tools, *result.hints)])
        for result in results
    ]


ANSWERED = {which: answers(build(which)) for which in TOOLS}
assert ANSWERED["old"] != ANSWERED["new"]


class SavedFolder:
    """A saved index that is broken and mended again and again.

    Args:
        folder: Where to save it.
        which: The content: ``old`` or ``new``.
    """

    def __init__(self, folder: Path, which: str = "old") -> None:
        self.folder, self.which = folder, which
        build(which).save(folder)
        (self.data,) = folder.glob("data-*")
        self.manifest = folder / "manifest.json"
        self.paths = {path.name: path for path in (*sorted(self.data.iterdir()), self.manifest)}
        self.content = {name: path.read_bytes() for name, path in self.paths.items()}

    def restore(self) -> None:
        """Put everything back as it was saved."""
        for path in self.folder.iterdir():
            if path.name != ".toolsearch.lock":
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        self.data.mkdir()
        for name, path in self.paths.items():
            path.write_bytes(self.content[name])

    def reseal(self, **changes: object) -> None:
        """Make the manifest true of the files as they are, as only their writer should, with some fields changed."""
        fields = {
            key: value for key, value in json.loads(self.manifest.read_bytes()).items() if key != "sha256"
        }
        present = {name: self.data / name for name in fields["files"] if (self.data / name).is_file()}
        fields["files"] = {
            name: {"bytes": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
            for name, path in present.items()
        }
        seal(self.manifest, fields | changes)

    def outcome(self, **options: Any) -> str:
        """Load and search: ``equal``, or the name of the error. Anything else fails the test."""
        try:
            search = load(self.folder, **options)
        except IndexFileError as error:
            text = str(error)
            assert ADVICE.search(text), f"no word of what to do: {text}"
            assert len(text) < 2000
            return type(error).__name__
        assert answers(search) == ANSWERED[self.which], "a wrong answer"
        return "equal"


def seal(path: Path, fields: dict[str, Any]) -> None:
    """Write a manifest with a right checksum."""
    digest = hashlib.sha256((json.dumps(fields, indent=1) + "\n").encode()).hexdigest()
    path.write_text(json.dumps(fields | {"sha256": digest}, indent=1) + "\n")
