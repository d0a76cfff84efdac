"""A query's words in; the share of their weight that each tool holds, by BM25 over its tokens, out.

The formula is Lucene's variant (Kamphuis et al., "Which BM25 Do You Mean?", ECIR 2020), whose weights are
positive in a catalog of any size. A raw score is divided by the weight of all of the query's words, those
that no tool knows included, so that 1 would be a tool made of the query and scores of different queries
compare.
"""

from __future__ import annotations

import io
import json
import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from semantic_toolsearch.documents import lexical_tokens
from semantic_toolsearch.rankers.protocol import Ranking, Visible, best
from semantic_toolsearch.tokens import telling_tokens, tokenize

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from semantic_toolsearch.catalog import Catalog

__all__ = ["K1", "TEXTBOOK_B", "TEXTBOOK_K1", "B", "Bm25Ranker", "LexicalIndex"]

K1: Final = 1.6
"""How slowly further occurrences of a word lose weight; tools repeat few words, and ``documents`` caps those."""

TEXTBOOK_K1: Final = 1.2
"""The same where another BM25 than the library's own is shown: Lucene's default."""

B: Final = 0.9
"""How much a long text counts against a tool: more than is usual, since a list of words for every request is long."""

TEXTBOOK_B: Final = 0.75
"""The same where another BM25 than the library's own is shown."""


class LexicalIndex:
    """The precomputed word weights of one catalog, as a sparse matrix stored by word.

    Where a caller sees a part of the catalog, weights are those of an index of that part alone: how rare a word is, and
    how long texts are, would else tell of tools that he may not see.

    Attributes:
        size: Number of tools, n.
        vocabulary: Word -> column.
        weights: float32 ``[nnz]``, positions: int32 ``[nnz]``, starts: int64 ``[columns + 1]``.
        lengths: int32 ``[n]``, tokens of each tool.
        k1: What the weights were made with, as is ``b``.
        FILES: Names of the files that an index is saved as.
    """

    FILES: Final = frozenset(
        {"words.json", *(f"words-{name}.npy" for name in ("weights", "positions", "starts", "lengths"))}
    )

    def __init__(
        self,
        size: int,
        vocabulary: Mapping[str, int],
        weights: npt.NDArray[np.float32],
        positions: npt.NDArray[np.int32],
        starts: npt.NDArray[np.int64],
        lengths: npt.NDArray[np.int32],
        k1: float = K1,
        b: float = B,
    ) -> None:
        self.size = size
        self.vocabulary = vocabulary
        self.weights = weights
        self.positions = positions
        self.starts = starts
        self.lengths = lengths
        self.k1 = k1
        self.b = b

    @classmethod
    def build(cls, documents: Iterable[list[str]], *, k1: float = K1, b: float = B) -> LexicalIndex:
        """Index token lists, one a tool, in catalog order."""
        corpus = list(documents)
        lengths = np.array([len(tokens) for tokens in corpus], dtype=np.int32)
        if not any(corpus):
            empty = np.zeros(0, dtype=np.float32)
            starts = np.zeros(1, dtype=np.int64)
            return cls(len(corpus), {}, empty, empty.astype(np.int32), starts, lengths, k1, b)
        import bm25s

        model = bm25s.BM25(method="lucene", k1=k1, b=b)
        model.index(corpus, show_progress=False, create_empty_token=False)
        return cls(
            len(corpus),
            dict(model.vocab_dict),
            np.asarray(model.scores["data"], dtype=np.float32),
            np.asarray(model.scores["indices"], dtype=np.int32),
            np.asarray(model.scores["indptr"], dtype=np.int64),
            lengths,
            k1,
            b,
        )

    def scores(self, words: Iterable[str], visible: Visible | None = None) -> npt.NDArray[np.float32]:
        """The share of the query's weight that each tool holds.

        Args:
            words: The query's tokens, each once: who repeats a word does not ask for more of it.
            visible: bool ``[n]``, the tools that there are; None for all.

        Returns:
            float32 ``[n]`` in [0, 1).
        """
        size = self._size(visible)
        norms = None if visible is None else self._norms(visible)
        total = np.zeros(self.size, dtype=np.float32)
        weight = 0.0
        for word in words:
            found, positions = self._found(word, visible)
            idf = _idf(len(positions), size)
            if norms is None:
                total[positions] += self.weights[found]
            else:
                counts = self._counts[found]
                shares = counts / (norms[positions] + counts)
                total[positions] += (np.float32(idf) * shares).astype(np.float32)
            weight += idf
        return total / np.float32(weight) if weight else total

    def coverage(self, words: Iterable[str], visible: Visible | None = None) -> npt.NDArray[np.float32]:
        """The share of the query's weight whose words a tool has at all, however long its text.

        Args:
            words: The query's tokens.
            visible: As in ``scores``.

        Returns:
            float32 ``[n]`` in [0, 1]; 1 where the tool has every word.
        """
        size = self._size(visible)
        total = np.zeros(self.size, dtype=np.float32)
        weight = 0.0
        for word in dict.fromkeys(words):
            _, positions = self._found(word, visible)
            idf = _idf(len(positions), size)
            total[positions] += np.float32(idf)
            weight += idf
        return total / np.float32(weight) if weight else total

    def _found(
        self, word: str, visible: Visible | None
    ) -> tuple[npt.NDArray[np.int64] | slice, npt.NDArray[np.int32]]:
        """Where the visible tools that hold a word stand in the arrays, and in the catalog."""
        column = self.vocabulary.get(word)
        if column is None:
            return slice(0, 0), self.positions[:0]
        found = slice(int(self.starts[column]), int(self.starts[column + 1]))
        positions = self.positions[found]
        if visible is None:
            return found, positions
        kept = np.flatnonzero(visible[positions])
        return kept + found.start, positions[kept]

    def _size(self, visible: Visible | None) -> int:
        return self.size if visible is None else int(np.count_nonzero(visible))

    def _norms(self, visible: Visible | None) -> npt.NDArray[np.float64]:
        """float64 ``[n]``: how many occurrences of a word are worth half of its weight, by the length of the text."""
        lengths = self.lengths.astype(np.float64)
        counted = lengths if visible is None else lengths[visible]
        average = max(counted.mean() if len(counted) else 0.0, 1e-9)
        return self.k1 * ((1 - self.b) + self.b * lengths / average)

    @cached_property
    def _counts(self) -> npt.NDArray[np.float32]:
        """float32 ``[nnz]``: how often each word stands in each tool, read back from the weights."""
        idf = np.array([_idf(int(held), self.size) for held in np.diff(self.starts)])
        shares = self.weights / np.repeat(idf, np.diff(self.starts))
        counts = np.rint(shares / (1 - shares) * self._norms(None)[self.positions])
        exact: npt.NDArray[np.float32] = counts.astype(np.float32)
        return exact

    def to_files(self) -> dict[str, bytes]:
        """The index as named files, without any pickle."""
        arrays: dict[str, npt.NDArray[Any]] = {
            "weights": self.weights,
            "positions": self.positions,
            "starts": self.starts,
            "lengths": self.lengths,
        }
        files = {f"words-{name}.npy": _npy(array) for name, array in arrays.items()}
        columns = sorted(self.vocabulary, key=self.vocabulary.__getitem__)
        files["words.json"] = json.dumps(columns, ensure_ascii=False).encode("utf-8", "surrogatepass")
        return files

    @classmethod
    def from_files(cls, size: int, files: Mapping[str, bytes]) -> LexicalIndex:
        """Read what ``to_files`` wrote for a catalog of ``size`` tools; the bytes must have been verified.

        Raises:
            ValueError: They are something else, or do not fit together.
        """
        weights, lengths = _read(files, "weights", np.float32), _read(files, "lengths", np.int32)
        positions, starts = _read(files, "positions", np.int32), _read(files, "starts", np.int64)
        try:
            vocabulary = {
                word: column
                for column, word in enumerate(
                    json.loads(files["words.json"].decode("utf-8", "surrogatepass"))
                )
            }
        except (TypeError, RecursionError) as error:
            raise ValueError(f"words.json is no list of words ({error})") from error
        if not (
            len(starts) == len(vocabulary) + 1
            and starts[0] == 0
            and (np.diff(starts) >= 0).all()
            and len(weights) == len(positions) == starts[-1]
            and len(lengths) == size
            and ((positions >= 0) & (positions < size)).all()
            and np.isfinite(weights).all()
        ):
            raise ValueError(f"the words, their places and their weights are not those of {size} tools")
        return cls(size, vocabulary, weights, positions, starts, lengths)


def _idf(holders: int, size: int) -> float:
    """The weight of a word that so many of so many tools hold."""
    return math.log1p((size - holders + 0.5) / (holders + 0.5))


def _npy(array: npt.NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _read(files: Mapping[str, bytes], name: str, kind: type[np.generic]) -> npt.NDArray[Any]:
    """One array of ``to_files``."""
    try:
        array: npt.NDArray[Any] = np.load(io.BytesIO(files[f"words-{name}.npy"]), allow_pickle=False)
    except (
        Exception
    ) as error:  # a wrong header ends in almost any error, that of Python's own parser included
        raise ValueError(f"words-{name}.npy is no array ({error})") from error
    if array.dtype != kind or array.ndim != 1:
        raise ValueError(f"words-{name}.npy has {array.ndim} dimensions of {array.dtype}")
    return array


class Bm25Ranker:
    """Ranks by BM25 alone."""

    name = "bm25"

    def __init__(self, index: LexicalIndex) -> None:
        self.index = index

    @classmethod
    def of(cls, catalog: Catalog) -> Bm25Ranker:
        """Index a catalog."""
        return cls(LexicalIndex.build(map(lexical_tokens, catalog)))

    def rank(self, query: str, *, limit: int, visible: Visible | None = None) -> Ranking:
        """Rank the tools that share a word with the query."""
        return best(self.scores(query, visible), limit, visible)

    def scores(self, query: str, visible: Visible | None = None) -> npt.NDArray[np.float32]:
        """float32 ``[n]``: one score a tool, 0 where no word is shared and for invisible tools."""
        return self.index.scores(dict.fromkeys(tokenize(query)), visible)

    def coverage(self, query: str, visible: Visible | None = None) -> npt.NDArray[np.float32]:
        """float32 ``[n]``: the share of the query's weight whose words each tool has, 0 for invisible ones."""
        return self.index.coverage(telling_tokens(query), visible)

    def explain(self, query: str, position: int, visible: Visible | None = None) -> dict[str, float]:
        """The tool's share of the query's weight."""
        return {"bm25": float(self.scores(query, visible)[position])}
