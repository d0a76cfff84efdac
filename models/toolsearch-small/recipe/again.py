"""The training folder, the written texts and the model so far come in; the examples of the second pass go out.

What is new in the second pass: requests written for this project, most of which share no word with their tool;
phrases in some fifty languages with their English; and look-alikes that the model itself takes for the right tool.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import torch
from data import Example, draw, read_tools
from torch import Tensor
from whole import whole_text
from written import read_phrases, read_requests

MIX = {"metatool": 5_000, "sealtools": 2_500, "tldr": 1_500, "apibench": 400, "toolalpaca": 234}
"""English pairs by source that are shown again."""

PER_LANGUAGE = 25
"""Most pairs of one other language that are shown again."""

FROM_SERVER = 0.5
"""How often the look-alike of a written request is a tool of the same server."""

NEAR_COPY = 0.93
BELOW = 0.97
"""A look-alike must score below this share of the right tool's cosine: what scores higher may answer too. Not so
for tools of the same server, of which it is known that they do not."""

FIRST = 12
"""The look-alike is drawn from so many of the best wrong tools."""

Encode = Callable[[list[str], str], Tensor]
"""Texts and what they are, "query" or "document", to unit vectors, float32 ``[n, d]``."""


def read_second_examples(folder: Path, written: Path, encode: Encode, *, seed: int) -> list[Example]:
    """Draw the examples of the second pass; the same seed, texts and model give the same list."""
    chance = random.Random(seed)
    tools, requests = read_requests(written)
    tools |= {key: tool for key, tool in read_tools(folder).items() if key.split(":")[0] in MIX}
    texts = {key: whole_text(tool) for key, tool in tools.items()}
    wanted = [
        (pair["query"], pair["pos"], frozenset(pair["also_pos"]), pair["source"])
        for pair in draw(folder, chance, MIX, PER_LANGUAGE)
    ]
    wanted += [
        (request.text, tool, frozenset(request.tools) - {tool}, "written")
        for request in requests
        for tool in request.tools
    ]
    examples = _with_look_alikes(wanted, texts, encode, chance)
    examples += [
        Example(phrase.text, phrase.english, f"phrase:{phrase.english}", frozenset(), None, None, "phrase")
        for phrase in read_phrases(written)
    ]
    chance.shuffle(examples)
    return examples


def _with_look_alikes(
    wanted: list[tuple[str, str, frozenset[str], str]],
    texts: dict[str, str],
    encode: Encode,
    chance: random.Random,
) -> list[Example]:
    """Give each pair one of the tools that the model so far ranks high and that do not answer."""
    keys = list(texts)
    place = {key: position for position, key in enumerate(keys)}
    servers: dict[str, list[str]] = defaultdict(list)
    for key in keys:
        servers[_server(key)].append(key)
    documents = encode([texts[key] for key in keys], "document")
    queries = encode([query for query, *_ in wanted], "query")
    examples = []
    for start in range(0, len(wanted), 512):
        part = wanted[start : start + 512]
        right_places = torch.tensor([place[tool] for _, tool, _, _ in part])
        cosines = queries[start : start + 512] @ documents.T
        copies = documents[right_places] @ documents.T >= NEAR_COPY
        best = cosines.topk(60, dim=1)
        for row, (query, tool, also, source) in enumerate(part):
            right = also | {tool}
            bound = BELOW * max(cosines[row, place[tool]].item(), 0.0)
            choice = [
                keys[position]
                for position, cosine in zip(
                    best.indices[row].tolist(), best.values[row].tolist(), strict=True
                )
                if cosine < bound and not copies[row, position] and keys[position] not in right
            ][:FIRST]
            siblings = [key for key in servers[_server(tool)] if key not in right]
            if source == "written" and siblings and (chance.random() < FROM_SERVER or not choice):
                choice = siblings
            negative = chance.choice(choice) if choice else None
            text = None if negative is None else texts[negative]
            examples.append(Example(query, texts[tool], tool, also, text, negative, source))
    return examples


def _server(key: str) -> str:
    """The server of a written tool; other sources have none."""
    return key.rsplit(":", 1)[0] if key.startswith("written:") else key
