"""Capability ids and their JSON form in; which mechanisms they allow, and a ``SearchConfig``, out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, get_args

from semantic_toolsearch.config import CAPABILITY_IDS, CapabilityId, SearchConfig
from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.names import nearest
from semantic_toolsearch.threshold import read_threshold, read_whole

__all__ = ["CONFIG_KEYS", "HARNESSES", "Capability", "Mechanisms", "combine", "parse", "read_config"]

Provider: TypeAlias = Literal["openai", "anthropic"]

CONFIG_KEYS: Final = ("threshold", "never_defer", "ranker", "default_limit", "max_limit")
"""Keys that a capability's ``config`` may hold."""

HARNESSES: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {"worker": {"capabilities": ["auto_tool_search"]}}
)
"""Ready-made harnesses in their JSON form."""

_VENDORS: Final[Mapping[str, Provider]] = {
    "openai_tool_search": "openai",
    "claude_tool_search": "anthropic",
}
_RANKERS: Final[tuple[str, ...]] = get_args(SearchConfig.model_fields["ranker"].annotation)


@dataclass(frozen=True, slots=True)
class Capability:
    """One capability of an agent, as a harness describes it.

    Attributes:
        id: One of the four ids.
        category: What it is for.
        features: Features that it needs; none.
        dependencies: Capabilities that it needs; none.
        config: Its settings as they were written, see ``CONFIG_KEYS``.
    """

    id: CapabilityId
    category: str = "Optimization"
    features: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Mechanisms:
    """What a set of capability ids allows; a plan takes one of it.

    Attributes:
        hosted: Vendors whose hosted search may be used.
        client: Whether searching here may be used where no hosted search is.
        automatic: Whether ``auto_tool_search`` alone decides.
        warnings: Which ids say nothing new.
    """

    hosted: frozenset[Provider]
    client: bool
    automatic: bool
    warnings: tuple[str, ...]


def parse(value: Any) -> tuple[Capability, ...]:
    """Read capabilities: one id, one object with ``ref`` and optional ``config``, or a list of these.

    Raises:
        ConfigError: An unknown id or key, or something that is none of these forms.
    """
    if isinstance(value, Capability):
        return (value,)
    if isinstance(value, (list, tuple)):
        return tuple(capability for entry in value for capability in _parse_one(entry))
    return _parse_one(value)


def combine(ids: Sequence[str]) -> Mechanisms:
    """Say what several capabilities mean together.

    ``auto_tool_search`` with ``tool_search`` searches here everywhere; a hosted id with ``tool_search`` is
    hosted where that works and else here; hosted ids beside ``auto_tool_search`` say nothing new.

    Args:
        ids: Known capability ids, in any order.
    """
    given = set(ids)
    named = [name for name in _VENDORS if name in given]
    auto, client = "auto_tool_search" in given, "tool_search" in given
    warnings = []
    if auto and named:
        warnings.append(f"{' and '.join(named)} beside auto_tool_search: auto_tool_search alone decides.")
    repeated = [name for name in CAPABILITY_IDS if list(ids).count(name) > 1]
    if repeated:
        warnings.append(f"Given more than once: {', '.join(repeated)}.")
    if auto:
        hosted: frozenset[Provider] = frozenset() if client else frozenset(_VENDORS.values())
    else:
        hosted = frozenset(_VENDORS[name] for name in named)
    return Mechanisms(hosted, auto or client, auto and not client, tuple(warnings))


def read_config(value: Any) -> SearchConfig:
    """Read the JSON form of a harness: its ``capabilities``, with their ``config`` objects united.

    Absent, null and blank values mean the default. Numbers may be digits in a text; a threshold of 0 means
    always, as 1 does. ``threshold`` takes the forms of ``SearchConfig.threshold``; lists of ``never_defer``
    are united. Where the limits leave a choice, the model has it.

    Args:
        value: ``{"capabilities": [...]}`` as a mapping or JSON text. Without ``capabilities`` it is
            ``auto_tool_search``; an empty list turns deferring off.

    Raises:
        ConfigError: An unknown key or capability, a value that cannot be read, or two capabilities that give
            one key different values. The message names the key.
    """
    if isinstance(value, (str, bytes)):
        try:
            value = json.loads(value)
        except ValueError as fault:
            raise ConfigError(f"This is no JSON: {fault}.") from None
    if not isinstance(value, Mapping):
        raise ConfigError(f'The JSON form is {{"capabilities": [...]}}, not {_kind(value)}.')
    _known_keys(value, ("capabilities",), "the JSON form")
    listed = value.get("capabilities")
    capabilities = parse("auto_tool_search" if _absent(listed) else listed)
    settings: dict[str, Any] = {}
    for capability in capabilities:
        for key, given in _settings(capability).items():
            if key == "never_defer":
                given = tuple(dict.fromkeys((*settings.get(key, ()), *given)))
            elif key in settings and settings[key] != given:
                raise ConfigError(f"{key}: {settings[key]!r} and {given!r} for one agent; give one of them.")
            settings[key] = given
    return _with_limits(settings, mechanism=tuple(capability.id for capability in capabilities))


def _parse_one(entry: Any) -> tuple[Capability, ...]:
    if isinstance(entry, Capability):
        return (entry,)
    if isinstance(entry, str):
        return (Capability(_known_id(entry)),)
    if not isinstance(entry, Mapping):
        raise ConfigError(f"A capability is an id or an object with ref and config, not {_kind(entry)}.")
    _known_keys(entry, ("ref", "config"), "a capability")
    if "ref" not in entry:
        raise ConfigError("A capability object needs the key ref, which names one of its ids.")
    config = {} if _absent(entry.get("config")) else entry["config"]
    if not isinstance(config, Mapping):
        raise ConfigError(f"config: an object with {', '.join(CONFIG_KEYS)}, not {_kind(config)}.")
    identity = _known_id(entry["ref"])
    _known_keys(config, CONFIG_KEYS, f"the config of {identity}")
    return (Capability(identity, config=MappingProxyType(dict(config))),)


def _known_id(name: Any) -> CapabilityId:
    for known in CAPABILITY_IDS:
        if name == known:
            return known
    similar = nearest(str(name), CAPABILITY_IDS)
    hint = f" Nearest: {similar[0]}." if similar else ""
    raise ConfigError(f"There is no capability {name!r}; there are {', '.join(CAPABILITY_IDS)}.{hint}")


def _known_keys(given: Mapping[Any, Any], known: Sequence[str], where: str) -> None:
    for key in given:
        if key not in known:
            similar = nearest(str(key), known)
            hint = f" Nearest: {similar[0]}." if similar else ""
            raise ConfigError(f"{key}: no key of {where}; its keys are {', '.join(known)}.{hint}")


def _settings(capability: Capability) -> dict[str, Any]:
    """The values that a capability's config really gives, read."""
    read = {"threshold": read_threshold, "never_defer": _tool_names, "ranker": _ranker}
    settings: dict[str, Any] = {}
    for key, given in capability.config.items():
        if _absent(given):
            continue
        try:
            settings[key] = read.get(key, _limit)(given)
        except ValueError as fault:
            raise ConfigError(f"{key}: {fault}.") from None
    return settings


def _with_limits(settings: dict[str, Any], mechanism: tuple[str, ...]) -> SearchConfig:
    form = SearchConfig.preset(
        "everruns",
        ranker="hybrid",
        masked_transport="client",
        weak_hits="hint",
        miss_names=50,
        browse_names=100,
        mechanism=mechanism,
    )
    # One limit alone moves the other one where they would contradict.
    default = settings.get(
        "default_limit", min(form.default_limit, settings.get("max_limit", form.max_limit))
    )
    most = settings.get("max_limit", max(form.max_limit, default))
    if default > most:
        raise ConfigError(f"default_limit: {default} is over the max_limit of {most}.")
    limits = {"default_limit": default, "max_limit": most, "offer_limit": default < most}
    return form.but(**{**settings, **limits})


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _tool_names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(
        isinstance(name, str) and name.strip() for name in value
    ):
        raise ValueError(f"{value!r} is no list of tool names")
    return tuple(value)


def _ranker(value: Any) -> str:
    if value not in _RANKERS:
        similar = nearest(str(value), _RANKERS)
        hint = f"; nearest: {similar[0]}" if similar else ""
        raise ValueError(f"there is no ranker {value!r}, there are {', '.join(_RANKERS)}{hint}")
    return str(value)


def _limit(value: Any) -> int:
    number = read_whole(value)
    if not number:
        raise ValueError(f"{value!r} is no number of tools from 1")
    return number


def _kind(value: Any) -> str:
    return "null" if value is None else f"{type(value).__name__} {str(value)[:60]!r}"
