"""The texts written for training: every line is read, and none of them is an evaluation set's."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import pytest

from semantic_toolsearch.documents import dense_text
from semantic_toolsearch.tokens import telling_tokens

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "models" / "toolsearch-small" / "recipe"
OWN = ROOT / "eval" / "datasets"


@pytest.fixture(scope="module")
def reader() -> Iterable[ModuleType]:
    sys.path.insert(0, str(RECIPE))
    import written

    yield written
    sys.path.remove(str(RECIPE))
    del sys.modules["written"]


def test_every_line_is_read(reader: ModuleType) -> None:
    tools, requests = reader.read_requests(RECIPE / "written")
    lines = Counter(
        line[:1]
        for path in (RECIPE / "written").glob("requests-*.txt")
        for line in path.read_text(encoding="utf-8").splitlines()
    )
    assert len(tools) == lines["@"] > 3_000
    assert len(requests) == lines[">"] + lines["&"] > 18_000
    assert Counter(len(request.tools) > 1 for request in requests)[True] == lines["&"]
    assert all(request.text and set(request.tools) <= tools.keys() for request in requests)


def test_every_phrase_is_read_with_its_language(reader: ModuleType) -> None:
    phrases = reader.read_phrases(RECIPE / "written")
    lines = [
        line
        for path in (RECIPE / "written").glob("phrases-*.txt")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("=")
    ]
    assert len(phrases) == len(lines) > 17_000
    assert len({phrase.language for phrase in phrases}) > 50
    assert all(phrase.english and phrase.text for phrase in phrases)


def test_a_line_that_cannot_be_read_stops_with_its_place(reader: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "requests-x.txt").write_text("## s\n@ a | does a |\n> ask\n& a, b > both\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"requests-x\.txt, line 4: .*lacks"):
        reader.read_requests(tmp_path)
    (tmp_path / "requests-x.txt").write_text("## s\n@ a | does a |\nask\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="line 3"):
        reader.read_requests(tmp_path)
    (tmp_path / "phrases-x.txt").write_text("= turn it on\nGerman: anmachen\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"phrases-x\.txt, line 2"):
        reader.read_phrases(tmp_path)


def test_parameters_become_a_schema(reader: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "requests-x.txt").write_text(
        "## s\n@ play | Plays. | speed: how fast (enum slow, fast); volume\n> louder\n", encoding="utf-8"
    )
    tools, _ = reader.read_requests(tmp_path)
    [tool] = tools.values()
    assert tool.parameters["properties"] == {
        "speed": {"type": "string", "enum": ["slow", "fast"], "description": "how fast"},
        "volume": {"type": "string"},
    }


def test_most_requests_share_no_telling_word_with_their_tool(reader: ModuleType) -> None:
    tools, requests = reader.read_requests(RECIPE / "written")
    without = [
        not set(telling_tokens(request.text)) & set(telling_tokens(dense_text(tools[request.tools[0]])))
        for request in requests
        if len(request.tools) == 1
    ]
    assert sum(without) / len(without) > 0.7


def test_nothing_comes_from_the_own_sets(reader: ModuleType) -> None:
    assert _near(reader, [OWN / "workplace", OWN / "library"]) == []


@pytest.mark.data
def test_nothing_comes_from_the_public_sets(reader: ModuleType, public_data: Path) -> None:
    folders = sorted(path.parent for path in public_data.glob("*/queries.jsonl"))
    assert _near(reader, folders) == []


def _near(reader: ModuleType, folders: list[Path]) -> list[tuple[str, str]]:
    """Pairs of a written text and an evaluation set's text that say nearly the same words."""
    tools, requests = reader.read_requests(RECIPE / "written")
    texts = [request.text for request in requests]
    texts += [phrase.text for phrase in reader.read_phrases(RECIPE / "written")]
    queries = [line["text"] for folder in folders for line in _lines(folder / "queries.jsonl")]
    known = [
        f"{line['name']} {line['description']}"
        for folder in folders
        for line in _lines(folder / "tools.jsonl")
    ]
    ours = [f"{tool.name} {tool.description}" for tool in tools.values()]
    return _alike(texts, queries, 0.8) + _alike(ours, known, 0.6)


def _alike(ours: list[str], theirs: list[str], share: float) -> list[tuple[str, str]]:
    """Pairs whose distinct words are this much the same (Jaccard)."""
    words = [frozenset(re.findall(r"\w+", text.lower())) for text in theirs]
    having: dict[str, list[int]] = defaultdict(list)
    for place, held in enumerate(words):
        for word in held:
            having[word].append(place)
    found = []
    for text in dict.fromkeys(ours):
        mine = frozenset(re.findall(r"\w+", text.lower()))
        # The rarest words are enough to meet every text that has most of them.
        rare = sorted(mine, key=lambda word: len(having[word]))[: len(mine) - int(share * len(mine)) + 1]
        places = {place for word in rare for place in having[word]}
        found += [
            (text, theirs[place])
            for place in places
            if len(mine & words[place]) >= share * len(mine | words[place])
        ]
    return found


def _lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
