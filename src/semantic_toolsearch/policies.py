"""Lists of names, tools' own policies and settings in; what is kept in full and what is flagged, out.

The more specific level wins: options of the turn, lists of the agent, the tool's own policy, settings.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

from semantic_toolsearch.config import MAX_HOT
from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.names import nearest

if TYPE_CHECKING:
    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.config import SearchConfig
    from semantic_toolsearch.definitions import ToolDefinition

__all__ = ["NO_LISTS", "Policies", "PolicyLists", "decide"]


@dataclass(frozen=True, slots=True)
class PolicyLists:
    """What one level, a turn or an agent, says about tools by name.

    A name is a tool's wire name, its raw name (which may mean several tools), or ``server.name``; case
    counts.

    Attributes:
        never_defer: Tools to send in full.
        deferred_tools: Tools to defer, as if they were flagged.
        hot: At most 5 tools to send in full because they are used so often.

    Raises:
        ConfigError: A list is a single text, or ``hot`` is too long.
    """

    never_defer: Collection[str] = ()
    deferred_tools: Collection[str] = ()
    hot: Collection[str] = ()

    def __post_init__(self) -> None:
        for field in fields(self):
            names = getattr(self, field.name)
            if isinstance(names, str):
                raise ConfigError(
                    f"{field.name} is the single text {names!r}; pass a collection of tool names."
                )
            object.__setattr__(self, field.name, tuple(dict.fromkeys(names)))
        if len(self.hot) > MAX_HOT:
            raise ConfigError(f"hot names {len(self.hot)} tools; it may name {MAX_HOT} at most.")


NO_LISTS: Final = PolicyLists()


@dataclass(frozen=True, slots=True)
class Policies:
    """What is decided about visible tools, as positions; what is in neither set is automatic.

    Attributes:
        kept: Always sent in full.
        flagged: Deferred as soon as deferral is active at all.
        programs: Tools that only programs may call.
        warnings: What the programmer should know.
    """

    kept: frozenset[int]
    flagged: frozenset[int]
    programs: tuple[int, ...]
    warnings: tuple[str, ...]


def decide(
    catalog: Catalog, visible: Sequence[int], config: SearchConfig, *, agent: PolicyLists, turn: PolicyLists
) -> Policies:
    """Decide about each visible tool.

    Args:
        catalog: All tools.
        visible: Positions of the visible ones.
        config: The settings, whose own lists are the least specific level.
        agent: Lists of the agent.
        turn: Options of this turn.

    Raises:
        ConfigError: One level says both to keep and to defer the same tool.
    """
    warnings: dict[str, None] = {}
    settings = PolicyLists(never_defer=config.never_defer, hot=config.hot)
    levels = [
        _read(catalog, visible, lists, where, warnings)
        for lists, where in ((turn, "turn"), (agent, "agent"), (settings, "config"))
    ]
    kept, flagged, overruled, programs = set(), set(), [], []
    for position in visible:
        tool = catalog[position]
        # Settings can only keep a tool, as `never` does: only `always` is left to compare with.
        said = next((stance for level in levels if (stance := level.get(position))), None)
        if tool.defer == "always" and said == "keep" and not config.never_defer_overrides_always:
            said = "defer"
            overruled.append(catalog.wire_names[position])
        said = said or _OWN[tool.defer]
        if _for_programs_only(tool):
            programs.append(position)
            said = "keep" if config.programmatic == "full" else said
        if said == "keep":
            kept.add(position)
        elif said == "defer":
            flagged.add(position)
    if overruled:
        warnings[
            f"Flagged as deferred and named to be kept in full: {', '.join(overruled)}. The flag counts; set "
            "never_defer_overrides_always to keep them in full."
        ] = None
    return Policies(frozenset(kept), frozenset(flagged), tuple(programs), tuple(warnings))


_OWN: Final = {"never": "keep", "always": "defer", "automatic": None}


def _read(
    catalog: Catalog, visible: Sequence[int], lists: PolicyLists, where: str, warnings: dict[str, None]
) -> dict[int, str]:
    """Return ``keep`` or ``defer`` by position, for one level."""
    keep = _positions(catalog, visible, "never_defer", lists.never_defer, warnings)
    keep |= _positions(catalog, visible, "hot", lists.hot, warnings)
    defer = _positions(catalog, visible, "deferred_tools", lists.deferred_tools, warnings)
    if both := keep & defer:
        names = ", ".join(catalog.wire_names[position] for position in sorted(both))
        raise ConfigError(
            f"The {where} lists say both to keep and to defer {names}: take it from never_defer or hot, or "
            "from deferred_tools."
        )
    return {**dict.fromkeys(keep, "keep"), **dict.fromkeys(defer, "defer")}


def _positions(
    catalog: Catalog, visible: Sequence[int], listed: str, names: Collection[str], warnings: dict[str, None]
) -> set[int]:
    found: set[int] = set()
    for name in names:
        places = catalog.exact(name)
        found.update(places)
        if not places:
            similar = nearest(str(name), (catalog.wire_names[position] for position in visible))
            hint = f" Nearest: {', '.join(similar)}." if similar else ""
            warnings[f"{listed} names {name!r}, which no tool is called.{hint}"] = None
    return found


def _for_programs_only(tool: ToolDefinition) -> bool:
    callers = tool.provider_fields.get("allowed_callers")
    return isinstance(callers, list) and bool(callers) and "direct" not in callers
