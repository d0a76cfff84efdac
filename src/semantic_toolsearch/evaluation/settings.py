"""What an evaluation is asked to do, as one frozen record that its results repeat."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from semantic_toolsearch.config import SearchConfig
from semantic_toolsearch.embedding import DEFAULT_MODEL
from semantic_toolsearch.errors import ConfigError

__all__ = ["RunSettings"]


@dataclass(frozen=True)
class RunSettings:
    """The choices of one run.

    Attributes:
        split: Split whose queries are asked: ``dev`` to choose settings on, ``test`` to report.
        most: Queries of each task at most, drawn with the seed; None for all.
        seed: Of every draw and resampling; 0 or more.
        strict: Whether near copies of a gold tool count for nothing.
        rules: Whether the library's rules (exact names, band, confidence, cap) stand between ranker and figures.
        embedder: Embedding model of the arms that name none.
        config: Numbers of the rules.
        probes: Queries of each task that are asked again with their gold tools hidden, to see what is loaded when
            nothing fits, and tools whose bare names are asked for; 0 for none.
        strangers: Queries of each other task that are asked of a small catalog too; 0 for none.
        sizes: Catalog sizes of the curve over the largest task, None standing for all its tools; empty for no curve.
        conversations: User messages of the scripted conversations; empty for none.

    Raises:
        ConfigError: A number is out of its range.
    """

    split: str = "test"
    most: int | None = 1_000
    seed: int = 7
    strict: bool = False
    rules: bool = True
    embedder: str = DEFAULT_MODEL
    config: SearchConfig = field(default_factory=SearchConfig)
    probes: int = 150
    strangers: int = 20
    sizes: tuple[int | None, ...] = ()
    conversations: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name, value, least in (
            ("most", self.most, 1),
            ("seed", self.seed, 0),
            ("probes", self.probes, 0),
            ("strangers", self.strangers, 0),
            *(("sizes", size, 2) for size in self.sizes),
            *(("conversations", turns, 1) for turns in self.conversations),
        ):
            if value is not None and value < least:
                raise ConfigError(f"{name} must be at least {least}, not {value}.")

    def as_dict(self) -> dict[str, Any]:
        """The choices as plain JSON values."""
        return {**asdict(self), "config": self.config.model_dump(mode="json")}

    def of_one_arm(self) -> dict[str, Any]:
        """The choices that one arm's figures on one task depend on."""
        whole = self.as_dict()
        return {name: value for name, value in whole.items() if name not in ("sizes", "conversations")}
