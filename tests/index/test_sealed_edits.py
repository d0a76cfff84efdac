"""Files edited at random under a manifest that vouches for them: what cannot be read is named, now or when searched."""

from __future__ import annotations

import logging
import random
from collections import Counter
from pathlib import Path

import pytest
from saved_folders import QUERIES, SavedFolder, build, load

from semantic_toolsearch.errors import IndexFileError, ToolSearchError

logger = logging.getLogger(__name__)  # the numbers tried: --log-cli-level=INFO

PIECES = (
    b"9",
    b"-",
    b"[",
    b"]",
    b'"',
    b'"x",',
    b"null,",
    b"{}",
    b"\xff",
    b"\0",
    b"\n",
    b"e400",
    b"\\ud800",
    b"," * 3,
)


def edited(data: bytes, draws: random.Random) -> bytes:
    """One to three edits as a hand or a faulty program makes them."""
    changed = bytearray(data)
    for _ in range(draws.randint(1, 3)):
        place = draws.randrange(len(changed) + 1)
        match draws.randrange(4):
            case 0:
                changed[place : place + 1] = bytes([draws.randrange(256)])
            case 1:
                del changed[place : place + draws.choice((1, 8, 10**6))]
            case 2:
                changed[place:place] = draws.choice(PIECES)
            case 3:
                other = draws.randrange(len(changed) + 1)
                changed[place:place] = changed[other : other + 20]
    return bytes(changed)


@pytest.mark.parametrize("edits", [15, pytest.param(1500, marks=pytest.mark.slow)])
def test_a_vouched_for_edit_is_named_where_it_cannot_be_read(tmp_path: Path, edits: int) -> None:
    """FAISS's file is left out: whoever can seal it can write one, and FAISS reads what it is given."""
    broken = SavedFolder(tmp_path / "index")
    tools = build("old").catalog
    found: Counter[str] = Counter()
    for name in broken.content.keys() - {"vectors.faiss", "manifest.json"}:
        draws = random.Random(f"{name} {edits}")
        for _ in range(edits):
            broken.paths[name].write_bytes(edited(broken.content[name], draws))
            broken.reseal()
            for given in (None, tools):
                try:
                    search = load(broken.folder, given)
                    for query in QUERIES:
                        search.search(query)
                    assert len(search.catalog.tools) == len(tools)
                    found["answers"] += 1
                except IndexFileError as error:
                    found[type(error).__name__] += 1
                except ToolSearchError as error:
                    raise AssertionError(f"{name}: {error}") from error
        broken.restore()
    logger.info("sealed edits: %s", dict(found))
    assert found["IndexCorruptError"] > 0
    assert broken.outcome() == "equal"
