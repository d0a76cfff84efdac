"""The training folder's tools and pairs come in; a seeded, shuffled list of training examples goes out.

This is the first pass; ``again.py`` has the second. A folder holds ``tools.jsonl`` (id, name, description, parameters,
namespace) and ``pairs.jsonl`` (query, pos, also_pos, neg, source, lang). How many pairs of each source are drawn is
`MIX`; the rest is made here from the texts of the tools and from the queries themselves.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semantic_toolsearch.definitions import ToolDefinition
from semantic_toolsearch.names import split_identifier
from semantic_toolsearch.tokens import telling_tokens, tokenize

MIX = {"metatool": 8_000, "sealtools": 5_000, "tldr": 6_500, "apibench": 1_500, "toolalpaca": 234}
"""English pairs by source. Sources that are not named here are not used: the model card says why."""

PER_LANGUAGE = 100
"""Most pairs of one other language (all from tldr): every language a few, none of them many."""

FROM_NAMES, FROM_DESCRIPTIONS, SHORTENED = 1_000, 1_500, 1_500
"""Examples made from tool names, from first sentences, and by shortening queries to a few words."""

SHORTENED_SOURCES = ("metatool", "toolalpaca", "sealtools", "apibench")
"""Sources whose queries are whole sentences; tldr's are short as they are."""

Text = Callable[[ToolDefinition], str]
"""What is shown of a tool."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True, slots=True)
class Example:
    """One query, the document that answers it and one that does not.

    Attributes:
        query: What is searched for.
        document: Text of the tool that answers.
        tool: That tool's id.
        also: Ids of tools that answer too and must not serve as negatives.
        negative: Text of a look-alike that does not answer, or None.
        negative_tool: The look-alike's id, or None.
        source: Where the pair comes from, for the counts in the log.
    """

    query: str
    document: str
    tool: str
    also: frozenset[str]
    negative: str | None
    negative_tool: str | None
    source: str


def read_examples(folder: Path, text: Text, *, seed: int, share: float = 1.0) -> list[Example]:
    """Draw and make the examples of one epoch.

    Args:
        folder: Training folder.
        text: What is shown of a tool.
        seed: Seed of every draw; the same seed and folder give the same list.
        share: Every count of this module is multiplied by it.
    """
    chance = random.Random(seed)
    tools = read_tools(folder)
    texts = {identity: text(tool) for identity, tool in tools.items()}
    pairs = draw(folder, chance, MIX, PER_LANGUAGE, share)
    examples = [_example(pair, pair["query"], texts, chance, pair["source"]) for pair in pairs]
    examples += _shortened(pairs, texts, chance, round(share * SHORTENED))
    usable = {identity: tool for identity, tool in tools.items() if identity.split(":")[0] in MIX}
    examples += _named(usable, texts, text, chance, round(share * FROM_NAMES))
    examples += _described(usable, text, chance, round(share * FROM_DESCRIPTIONS))
    chance.shuffle(examples)
    return examples


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_tools(folder: Path) -> dict[str, ToolDefinition]:
    """The tools of the training folder by id."""
    return {
        line["id"]: ToolDefinition(
            name=line["name"],
            description=line["description"] or "",
            parameters=line["parameters"],
            namespace=line["namespace"],
        )
        for line in _lines(folder / "tools.jsonl")
    }


def draw(
    folder: Path, chance: random.Random, mix: dict[str, int], per_language: int, share: float = 1.0
) -> list[dict[str, Any]]:
    """So many English pairs of each source, and so many of every other language, as the file has them."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for pair in _lines(folder / "pairs.jsonl"):
        if pair["source"] in mix:
            groups[pair["source"], pair["lang"]].append(pair)
    drawn = []
    for (source, language), pairs in sorted(groups.items()):
        most = round(share * (mix[source] if language == "en" else per_language))
        drawn += chance.sample(pairs, min(most, len(pairs)))
    return drawn


def _example(
    pair: dict[str, Any], query: str, texts: dict[str, str], chance: random.Random, source: str
) -> Example:
    negatives = [identity for identity in pair["neg"] if identity not in pair["also_pos"]]
    negatives = [identity for identity in negatives if texts[identity] != texts[pair["pos"]]]
    negative = chance.choice(negatives) if negatives else None
    return Example(
        query,
        texts[pair["pos"]],
        pair["pos"],
        frozenset(pair["also_pos"]),
        None if negative is None else texts[negative],
        negative,
        source,
    )


def _shortened(
    pairs: list[dict[str, Any]], texts: dict[str, str], chance: random.Random, count: int
) -> list[Example]:
    """Searches as a model writes them: the two to five rarest of the query's words, in their order.

    Words that no tool has (most of them values: names, places, numbers) do not count. Only queries with one
    need: the words of a query with several may all belong to another need.
    """
    tools_with = Counter(token for text in texts.values() for token in set(tokenize(text)))
    whole = [
        pair
        for pair in pairs
        if pair["source"] in SHORTENED_SOURCES and pair["lang"] == "en" and not pair["also_pos"]
    ]
    made: list[Example] = []
    for pair in chance.sample(whole, len(whole)):
        words = re.findall(r"[A-Za-z][A-Za-z'-]*", pair["query"])
        rarity = {
            index: min(tools_with[token] for token in tokens)
            for index, word in enumerate(words)
            if (tokens := telling_tokens(word)) and min(tools_with[token] for token in tokens) > 2
        }
        if len(rarity) < 4:
            continue
        kept = sorted(rarity, key=rarity.__getitem__)[: chance.randint(2, 5)]
        query = " ".join(words[index] for index in sorted(kept)).lower()
        made.append(_example(pair, query, texts, chance, f"{pair['source']}/short"))
        if len(made) == count:
            break
    return made


def _named(
    tools: dict[str, ToolDefinition], texts: dict[str, str], text: Text, chance: random.Random, count: int
) -> list[Example]:
    """Name words to the tool: half of the time the document lacks its name, so that meaning must do."""
    made: list[Example] = []
    for identity in chance.sample(sorted(tools), len(tools)):
        tool = tools[identity]
        words = split_identifier(tool.name)
        if not 2 <= len(words) <= 6 or not tool.description or any(word.isdigit() for word in words):
            continue
        document = texts[identity] if chance.random() < 0.5 else text(_without_name(tool))
        made.append(_made(" ".join(words), document, identity, "name"))
        if len(made) == count:
            break
    return made


def _described(
    tools: dict[str, ToolDefinition], text: Text, chance: random.Random, count: int
) -> list[Example]:
    """A description's first sentence to the tool without it: what stays is the name, the rest, the parameters."""
    made: list[Example] = []
    for identity in chance.sample(sorted(tools), len(tools)):
        tool = tools[identity]
        first, *rest = _SENTENCE_END.split(tool.description.strip(), maxsplit=1)
        words = len(split_identifier(tool.name))
        if not 4 <= len(first.split()) <= 30 or (words < 2 and not rest):
            continue
        document = text(tool.model_copy(update={"description": rest[0] if rest else ""}))
        made.append(_made(first.rstrip("."), document, identity, "description"))
        if len(made) == count:
            break
    return made


def _without_name(tool: ToolDefinition) -> ToolDefinition:
    return tool.model_copy(update={"name": "tool"})


def _made(query: str, document: str, identity: str, source: str) -> Example:
    return Example(query, document, identity, frozenset(), None, None, source)
