"""The name of an embedding model in; how sure its cosines make an answer, as a probability, out.

A cosine alone does not tell: a vague query lies near everything, a precise one near nothing. So it is compared with how
near the query is to tools of other people's catalogs (as speaker verification compares a voice with a cohort of
strangers; Auckenthaler, Carey, Lloyd-Thomas, "Score Normalization for Text-Independent Speaker Verification Systems",
Digital Signal Processing 2000). An answer is what fits better than those. The numbers of each model that comes with the
library lie in ``calibrations``, written by ``eval/fit_ranking``.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["CALIBRATIONS", "NEAREST", "Calibration", "calibration_of", "elsewhere"]

CALIBRATIONS: Final = Path(__file__).with_name("calibrations")
"""Folder of the fitted numbers: ``<embedder id>.json`` and ``<embedder id>.npy``, and ``any.json`` for other models."""

NEAREST: Final = 3
"""So many of the nearest tools of the cohort tell how near a query is to tools elsewhere."""

LEAST_WORDS: Final = 0.2
MOST_WORDS: Final = 0.6
"""Bounds of the words' share, for catalogs of a few tools and of very many."""

_MIDDLE: Final = 400
_ID: Final = re.compile(r"[\w\-][\w.\-]{0,99}")


@dataclass(frozen=True, slots=True)
class Calibration:
    """How far a model's cosines can be trusted, beside words and by themselves.

    ``cosine``, ``coverage``, ``elsewhere`` and ``constant`` make the logarithm of the odds of an answer.

    Attributes:
        words: Share of the words' arm in the fused order among 400 tools; meaning has the rest.
        growth: What is added to it with each tenfold number of tools: in a crowd many tools mean nearly the same.
        foreign: The share of the words' arm for a query in a script that the model was not trained to read.
        cosine: Weight of the best tool's cosine.
        coverage: Weight of the best tool's share of the query's words.
        elsewhere: Weight of the query's nearness to tools of other catalogs; 0 where there is no cohort.
        constant: The logarithm of the odds where all of these are 0.
        strong: Probability from which the tools are an answer.
        strong_cosine: Cosine from which a tool is one by meaning alone.
        cohort: float32 ``[m, d]``, unit vectors of other people's tools; None for a model without.
    """

    words: float
    growth: float
    foreign: float
    cosine: float
    coverage: float
    elsewhere: float
    constant: float
    strong: float
    strong_cosine: float
    cohort: npt.NDArray[np.float32] | None = None

    def word_weight(self, tools: int) -> float:
        """The words' share of the fused order among so many tools."""
        grown = self.words + self.growth * math.log10(max(tools, 1) / _MIDDLE)
        return min(max(grown, LEAST_WORDS), MOST_WORDS)

    def probability(self, cosine: float, coverage: float, elsewhere: float) -> float:
        """How likely the best tools answer a query, if half of all queries had an answer."""
        odds = self.cosine * cosine + self.coverage * coverage + self.elsewhere * elsewhere + self.constant
        return 1.0 / (1.0 + math.exp(-min(max(odds, -30.0), 30.0)))

    def elsewhere_of(self, vector: npt.NDArray[np.float32]) -> float:
        """The mean cosine of a query's vector, ``[1, d]`` or ``[d]``, to the nearest tools of the cohort."""
        return 0.0 if self.cohort is None else float(elsewhere(vector.reshape(1, -1), self.cohort)[0])


def elsewhere(vectors: npt.NDArray[np.float32], cohort: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """float32 ``[n]``: how near each of ``[n, d]`` queries is to its nearest tools of the cohort, on average."""
    cosines = vectors @ cohort.T
    nearest = np.partition(cosines, cosines.shape[1] - NEAREST, axis=1)[:, -NEAREST:]
    means: npt.NDArray[np.float32] = nearest.mean(axis=1)
    return means


@lru_cache(maxsize=8)
def calibration_of(embedder: str, dimension: int) -> Calibration:
    """The numbers for a model; those for any model where it has none of its own.

    Args:
        embedder: Its id.
        dimension: Columns of its vectors.
    """
    own = CALIBRATIONS / f"{embedder}.json"
    if embedder == "any" or not _ID.fullmatch(embedder) or not own.is_file():
        return Calibration(**_numbers(CALIBRATIONS / "any.json"))
    cohort = np.load(own.with_suffix(".npy"), allow_pickle=False).astype(np.float32)
    if cohort.shape[1] != dimension:  # another model of this name
        return Calibration(**_numbers(CALIBRATIONS / "any.json"))
    return Calibration(**_numbers(own), cohort=cohort / np.linalg.norm(cohort, axis=1, keepdims=True))


def _numbers(path: Path) -> dict[str, Any]:
    numbers: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return numbers
