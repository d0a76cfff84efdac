"""Every setting of searches, turns and live catalogs, as one frozen record.

Three presets repeat the documented behaviour of other systems, so that they can be compared on equal terms. What
``offer_limit``, ``ties``, ``activate``, ``loaded_take_places``, ``result_schemas`` and ``search_scope`` choose is there
for that; others have little reason to change it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self, TypeAlias, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.threshold import Threshold, read_threshold

__all__ = [
    "CAPABILITY_IDS",
    "DEFAULT_THRESHOLD",
    "MAX_HOT",
    "PRESETS",
    "CapabilityId",
    "SearchConfig",
    "TransportForm",
]

Count = Annotated[int, Field(ge=1)]

CapabilityId: TypeAlias = Literal[
    "auto_tool_search", "openai_tool_search", "claude_tool_search", "tool_search"
]
"""Who searches: whoever the model and its address allow; OpenAI; Anthropic; this library."""

CAPABILITY_IDS: Final[tuple[CapabilityId, ...]] = get_args(CapabilityId)
"""Every capability id."""

DEFAULT_THRESHOLD: Final = 15
"""Number of tools from which deferring is worth a search."""

MAX_HOT: Final = 5
"""Most names of a hot list: more tools in full would undo what deferring saves."""


class TransportForm(BaseModel):
    """What one way to the models carries; None leaves a field as the built-in way of that name has it.

    Attributes:
        hosted: Vendors whose hosted search it carries.
        client_forms: The vendors' cache-keeping forms of a client's search that it carries: Anthropic's
            ``reference``, OpenAI's ``output``.
        variant: The kind of Anthropic's hosted search that it takes.
        betas: Beta values that requests with deferred tools need there.
        most_tools: Most entries that a request's tools list may have there, whatever the wire format.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    hosted: tuple[Literal["openai", "anthropic"], ...] | None = None
    client_forms: tuple[Literal["reference", "output"], ...] | None = None
    variant: Literal["bm25", "regex"] | None = None
    betas: tuple[str, ...] | None = None
    most_tools: Count | None = None


def _mechanism(value: Any) -> Any:
    ids = (value,) if isinstance(value, str) else value
    if isinstance(ids, (list, tuple)):
        return tuple("auto_tool_search" if name == "auto" else name for name in ids)
    return ids


def _names(value: Any) -> Any:
    if isinstance(value, str):
        raise ValueError("a single text is no list of tool names")
    if isinstance(value, (set, frozenset)):
        return tuple(sorted(value, key=str))
    return tuple(value) if isinstance(value, list) else value


def _sorted(value: Any) -> Any:
    return dict(sorted(value.items(), key=lambda row: str(row[0]))) if isinstance(value, Mapping) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_names)]


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
        spread: Whether the last place of a result that tools of one namespace alone would fill goes to the best
            tool from elsewhere, if it is an answer too: no server pushes another's tool out by offering many.
        weak_hits: What becomes of tools that a ranker is not sure of: ``hint`` lists their names,
            ``load`` treats them like any other, ``drop`` leaves them out.
        hints: Most names of weak tools that a result lists.
        miss_names: Most names listed when nothing matched; None for all.
        browse_names: Most names listed for an empty query; None for all.
        hnsw_from: Number of tools from which the vector index is approximate; None for the index's own
            default.
        embedder_timeout: Seconds that a search waits for an embedder of your own (for documents, as many again
            for every 16 of a call) before words alone decide. Embedders are called on threads of their own; with
            None in the searching thread, for as long as they take, as the models of the library always are.
        mechanism: Capability ids that decide who searches (see ``capabilities``); ``auto`` is short for
            ``auto_tool_search``, an empty tuple turns deferring off.
        activate: When tools are deferred: as soon as the ``threshold`` is reached, or (``flagged``) also as
            soon as one visible tool is flagged, and then the flagged ones only.
        threshold: What the visible tools must reach: a number of tools, ``{"tokens": n}``, a share of the
            context window such as ``"10%"``, or several of these, any of which is enough; None for no
            threshold.
        threshold_cap: Most tokens that a share of the window may stand for; None for no such limit.
        sticky: Whether a conversation whose searches loaded something keeps deferring when its tools fall below
            the threshold.
        never_defer: Names of tools that are always sent in full.
        hot: Names of at most 5 tools that are used so often that they are sent in full.
        never_defer_overrides_always: Whether the two lists also hold for tools that are flagged.
        programmatic: What becomes of a tool that only programs may call, which cannot search: ``full`` or
            ``defer``.
        unregistered: A tool that somebody else executes is deferred and found like any other (``search``), or
            is in full where the provider searches and else a stub that no search returns (``limited``).
        search_scope: Whether searches of the model cover all ``visible`` tools or the ``deferred`` ones only.
        loaded_take_places: Whether a tool that is found but loaded already counts under the limit.
        unloaded: Whether an unloaded tool is sent as a ``stub`` or omitted where nobody needs it (``omit``).
        unloaded_calls: Whether a call to an unloaded tool runs once its arguments are valid, or is answered
            with the schema.
        result_schemas: Whether the answers to searches hold full schemas where they need not.
        namespace_max: Most functions of one OpenAI namespace; None for no split.
        masked_transport: What ``auto_tool_search`` does where an address hides whether it carries hosted
            search: search here (``client``), or send everything in full (``full``).
        on_unsupported: What a hosted capability alone does where there is no hosted search: send everything
            in ``full``, or ``raise``.
        assume_newer: Whether GPT models newer than the tables have hosted search.
        support: Models that have hosted search or not, by id or shell pattern; wins over the tables.
        transports: What ways to the models carry, by name; wins over the built-in ones, field by field.
        changed_tools: What becomes of a tool whose content is not what was pinned or last offered under its
            name: an event says so (``report``), or it is also left out until ``ToolSearch.approve`` (``hold``).
        new_tools: What becomes of a tool under a name that was never pinned nor offered: ``use`` or ``hold``.
        event_queries: Whether events hold the text of queries.
        session_store: Most sessions of a store that remembers loaded tools for hosts without history; None
            for none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ranker: Literal["hybrid", "semantic", "bm25", "keyword", "regex"] = "hybrid"
    default_limit: Count = 5
    max_limit: Count = 20
    offer_limit: bool = True
    band: Annotated[float, Field(ge=0, le=1)] = 0.5
    ties: Literal["name", "registration"] = "name"
    spread: bool = True
    weak_hits: Literal["hint", "load", "drop"] = "hint"
    hints: Annotated[int, Field(ge=0)] = 5
    miss_names: Annotated[int, Field(ge=0)] | None = 50
    browse_names: Annotated[int, Field(ge=0)] | None = 100
    hnsw_from: Count | None = None
    embedder_timeout: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = 30.0

    mechanism: Annotated[tuple[CapabilityId, ...], BeforeValidator(_mechanism)] = ("auto_tool_search",)
    activate: Literal["flagged", "threshold"] = "flagged"
    threshold: Annotated[Threshold | None, BeforeValidator(read_threshold)] = DEFAULT_THRESHOLD
    threshold_cap: Count | None = 20_000
    sticky: bool = True
    never_defer: Names = ()
    hot: Annotated[Names, Field(max_length=MAX_HOT)] = ()
    never_defer_overrides_always: bool = False
    programmatic: Literal["full", "defer"] = "full"
    unregistered: Literal["search", "limited"] = "search"
    search_scope: Literal["visible", "deferred"] = "visible"
    loaded_take_places: bool = False
    unloaded: Literal["stub", "omit"] = "stub"
    unloaded_calls: Literal["run", "refuse_with_schema"] = "run"
    result_schemas: Literal["none", "full"] = "none"
    namespace_max: Count | None = 9
    masked_transport: Literal["client", "full"] = "client"
    on_unsupported: Literal["full", "raise"] = "full"
    assume_newer: bool = False
    support: Annotated[dict[str, bool], BeforeValidator(_sorted)] = {}
    transports: Annotated[dict[str, TransportForm], BeforeValidator(_sorted)] = {}
    changed_tools: Literal["report", "hold"] = "report"
    new_tools: Literal["use", "hold"] = "use"
    event_queries: bool = False
    session_store: Count | None = None

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

    @classmethod
    def from_json(cls, value: Any) -> SearchConfig:
        """Settings from the JSON form of a harness.

        ``{"capabilities": [...]}`` with ids, or objects of ``ref`` and ``config``; see
        ``capabilities.read_config`` for how values are read.

        Raises:
            ConfigError: An unknown key, capability or value; the message names it.
        """
        from semantic_toolsearch.capabilities import read_config

        return read_config(value)

    def __hash__(self) -> int:
        return hash(self.model_dump_json())

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
        "spread": False,
        "weak_hits": "load",
        "miss_names": None,
        "browse_names": None,
        "activate": "threshold",
        "loaded_take_places": True,
        "result_schemas": "full",
        "never_defer_overrides_always": True,
        "masked_transport": "full",
        "unregistered": "limited",
        "namespace_max": None,
        "session_store": 4096,
    },
    "cogitator": {
        "ranker": "bm25",
        "band": 0.0,
        "spread": False,
        "weak_hits": "load",
        "mechanism": "tool_search",
        "threshold": None,
        "search_scope": "deferred",
        "loaded_take_places": True,
        "unloaded": "omit",
    },
    "openhands": {
        "spread": False,
        "mechanism": "openai_tool_search",
        "threshold": None,
        "search_scope": "deferred",
        "masked_transport": "full",
    },
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
