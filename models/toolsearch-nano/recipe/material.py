"""The teacher's folder and the training texts come in; all that training needs, as arrays, goes out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from asides import asides
from scipy.sparse import csr_matrix
from start import principal_axes, starting_table
from student import counts
from teacher import text_vectors, token_vectors
from texts import Example, Texts

from semantic_toolsearch.embedding import Matrix

__all__ = ["Material", "prepare"]

ASIDES = 3_000


@dataclass(frozen=True, slots=True)
class Material:
    """All that the steps need, as arrays.

    Attributes:
        counts: Tokens of every text, ``[texts, tokens]``.
        teacher: The teacher's vector that each text should have, float32 ``[texts, d]``.
        targets: The same along the table's axes, unit length, ``[texts, dimension]``.
        asides: Tokens of the asides.
        query: Text number of each example's query.
        document: Text number of its document.
        negative: Text number of its look-alike, -1 for none.
        tool: Number of its tool.
        negative_tool: Number of the look-alike's tool, -1 for none.
        right: For each example the numbers of all tools that answer.
    """

    counts: csr_matrix
    teacher: Matrix
    targets: Matrix
    asides: csr_matrix
    query: np.ndarray
    document: np.ndarray
    negative: np.ndarray
    tool: np.ndarray
    negative_tool: np.ndarray
    right: list[frozenset[int]]


def prepare(
    texts: Texts, teacher_folder: Path, cache: Path, *, dimension: int, most: int, seed: int
) -> tuple[Material, Matrix]:
    """Ask the teacher, and make the starting table.

    Args:
        texts: What is trained on.
        teacher_folder: Folder of the model to learn from.
        cache: File in which the teacher's vectors are kept.
        dimension: Columns of the table.
        most: Tokens read of a text.
        seed: Seed of the asides.
    """
    sources = Counter(example.source for example in texts.examples)
    print(len(texts.examples), "examples,", len(texts.distilled), "texts:", dict(sources), flush=True)
    tokenizer = teacher_folder / "tokenizer.json"
    wanted = list(texts.distilled)
    matrix = counts(tokenizer, wanted, most)
    teacher = text_vectors(teacher_folder, list(texts.distilled.values()), cache)
    mean, axes = principal_axes(teacher, dimension)
    targets = (teacher - mean) @ axes
    targets /= np.linalg.norm(targets, axis=1, keepdims=True)
    frequency = np.asarray(matrix.sum(axis=0)).ravel()
    table = starting_table(token_vectors(teacher_folder), axes, frequency)
    place = {text: number for number, text in enumerate(wanted)}
    aside = counts(tokenizer, asides(ASIDES, seed=seed), most)
    return _material(texts.examples, place, matrix, teacher, targets, aside), table


def _material(
    examples: list[Example],
    place: dict[str, int],
    matrix: csr_matrix,
    teacher: Matrix,
    targets: Matrix,
    aside: csr_matrix,
) -> Material:
    tools: dict[str | None, int] = {None: -1}

    def number(tool: str | None) -> int:
        return tools.setdefault(tool, len(tools))

    return Material(
        counts=matrix,
        teacher=teacher,
        targets=targets,
        asides=aside,
        query=np.array([place[example.query] for example in examples]),
        document=np.array([place[example.document] for example in examples]),
        negative=np.array([-1 if e.negative is None else place[e.negative] for e in examples]),
        tool=np.array([number(example.tool) for example in examples]),
        negative_tool=np.array([number(example.negative_tool) for example in examples]),
        right=[frozenset(map(number, {*example.also, example.tool})) for example in examples],
    )
