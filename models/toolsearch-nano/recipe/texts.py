"""The training folder, the written texts and WordNet come in; examples and the texts to distil go out."""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from wordnet import read_wordnet

from semantic_toolsearch.documents import dense_text

sys.path.append(str(Path(__file__).resolve().parents[2] / "toolsearch-small" / "recipe"))

from data import Example, read_examples
from written import read_phrases, read_requests

__all__ = ["Example", "Texts", "read_texts"]

SHARE = 4.3
"""Times the counts of the small model's first pass: nearly all pairs there are, since a step costs little here."""

FROM_WORDNET = 60_000


@dataclass(frozen=True, slots=True)
class Texts:
    """What the model is trained on.

    Attributes:
        examples: Queries with their documents.
        distilled: Texts, and for each the text whose teacher vector it should have: for English its own, for a
            phrase of another language that of the English phrase.
    """

    examples: list[Example]
    distilled: dict[str, str]


def read_texts(data: Path, written: Path, wordnet: Path, *, seed: int) -> Texts:
    """Read and draw; the same seed and folders give the same."""
    examples = read_examples(data, dense_text, seed=seed, share=SHARE) + _written(
        written, random.Random(seed)
    )
    texts = {
        text
        for example in examples
        for text in (example.query, example.document, example.negative)
        if text is not None
    }
    texts.update(read_wordnet(wordnet, FROM_WORDNET, seed=seed))
    phrases = read_phrases(written)
    texts.update(phrase.english for phrase in phrases)
    distilled = {text: text for text in sorted(texts)}
    for phrase in phrases:
        distilled.setdefault(phrase.text, phrase.english)
    return Texts(examples, distilled)


def _written(folder: Path, chance: random.Random) -> list[Example]:
    """Every written request with each tool that it needs, and one that it does not need of the same server."""
    tools, requests = read_requests(folder)
    texts = {key: dense_text(tool) for key, tool in tools.items()}
    servers: dict[str, list[str]] = defaultdict(list)
    for key in tools:
        servers[key.rsplit(":", 1)[0]].append(key)
    examples = []
    for request in requests:
        for tool in request.tools:
            siblings = [key for key in servers[tool.rsplit(":", 1)[0]] if key not in request.tools]
            other = chance.choice(siblings) if siblings else None
            also = frozenset(request.tools) - {tool}
            negative = None if other is None else texts[other]
            examples.append(Example(request.text, texts[tool], tool, also, negative, other, "written"))
    return examples
