"""Every number that the behaviour of a search depends on, as one frozen record.

Three presets repeat the documented behaviour of other systems, so that they can be compared on equal terms.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from semantic_toolsearch.errors import ConfigError

__all__ = ["PRESETS", "SearchConfig"]

Count = Annotated[int, Field(ge=1)]


class SearchConfig(BaseModel):
    """How searches behave; unknown fields and values out of range raise ``ConfigError``.

    Attributes:
        ranker: Name of the built-in ranker: ``hybrid``, ``semantic``, ``bm25``, ``keyword`` or ``regex``.
        default_limit: Tools returned when the caller names no limit.
        max_limit: Most tools that a caller may ask for; larger limits are lowered and the result says so.
        offer_limit: Whether a caller's limit counts at all.
        band: Share of the best score that a further tool must reach, 0 to 1; 0 turns the rule off.
        ties: Order of tools with equal scores: by ``name``, the same for every registration order, or by
            ``registration``.
        weak_hits: What becomes of tools that a ranker is not sure of: ``hint`` lists their names,
            ``load`` treats them like any other, ``drop`` leaves them out.
        hints: Most names of weak tools that a result lists.
        miss_names: Most names listed when nothing matched; None for all.
        browse_names: Most names listed for an empty query; None for all.
        hnsw_from: Number of tools from which the vector index is approximate; None for the index's own
            default.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ranker: Literal["hybrid", "semantic", "bm25", "keyword", "regex"] = "hybrid"
    default_limit: Count = 5
    max_limit: Count = 20
    offer_limit: bool = True
    band: Annotated[float, Field(ge=0, le=1)] = 0.5
    ties: Literal["name", "registration"] = "name"
    weak_hits: Literal["hint", "load", "drop"] = "hint"
    hints: Annotated[int, Field(ge=0)] = 5
    miss_names: Annotated[int, Field(ge=0)] | None = 50
    browse_names: Annotated[int, Field(ge=0)] | None = 100
    hnsw_from: Count | None = None

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as fault:
            raise ConfigError(_readable(fault)) from None

    @model_validator(mode="after")
    def _limits_agree(self) -> Self:
        if self.default_limit > self.max_limit:
            raise ValueError(f"default_limit {self.default_limit} is over max_limit {self.max_limit}")
        return self

    @classmethod
    def preset(cls, name: str, **changes: Any) -> SearchConfig:
        """A named set of values, with ``changes`` on top.

        Raises:
            ConfigError: No preset has this name.
        """
        if name not in PRESETS:
            raise ConfigError(f"There is no preset {name!r}; choose one of {', '.join(sorted(PRESETS))}.")
        return cls(**{**PRESETS[name], **changes})

    def but(self, **changes: Any) -> SearchConfig:
        """A copy with some values changed, checked like a new one."""
        return SearchConfig(**{**self.model_dump(), **changes})


PRESETS: Final[dict[str, dict[str, Any]]] = {
    "everruns": {
        "ranker": "keyword",
        "default_limit": 8,
        "max_limit": 8,
        "offer_limit": False,
        "ties": "registration",
        "weak_hits": "load",
        "miss_names": None,
        "browse_names": None,
    },
    "cogitator": {"ranker": "bm25", "band": 0.0, "weak_hits": "load"},
    "openhands": {},
}


def _readable(fault: ValidationError) -> str:
    problems = []
    for error in fault.errors(include_url=False):
        field = ".".join(map(str, error["loc"])) or "SearchConfig"
        problems.append(
            f"{field}: {error['msg']} (got {error.get('input')!r})"
            if error["loc"]
            else f"{field}: {error['msg']}"
        )
    known = ", ".join(SearchConfig.model_fields)
    return f"Invalid setting: {'; '.join(problems)}. Settings are: {known}."
