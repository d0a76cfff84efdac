"""The calls and searches of a turn's responses in; to the hook, each of them once, out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from semantic_toolsearch.events import CallChecked

if TYPE_CHECKING:
    from semantic_toolsearch.errors import ArgumentsError
    from semantic_toolsearch.exchange import RawCall, SearchCall
    from semantic_toolsearch.snapshot import Snapshot

__all__ = ["TurnEvents"]


class TurnEvents:
    """What the hook is told of one turn: a response may be looked at several times, its calls are told once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._hook = snapshot.hook
        self._generation = snapshot.generation
        self._told: set[tuple[str, str]] = set()

    def wants(self, said: RawCall | SearchCall) -> bool:
        """Whether the hook is to be told of this call or search; False from the second time on."""
        if self._hook is None:
            return False
        key = said.id, repr(said.arguments)
        known = key in self._told
        self._told.add(key)
        return not known

    def checked(
        self,
        call: RawCall,
        tool: str | None,
        *,
        loaded: bool,
        fault: ArgumentsError | None = None,
        refused: bool = False,
    ) -> None:
        """Tell of one call.

        Args:
            call: The call.
            tool: Wire name of its tool; None where there is none.
            loaded: Whether the model had the tool's schema.
            fault: What is wrong with it, or None.
            refused: Whether it was answered with the schema because the tool was not loaded.
        """
        if self._hook is None or not self.wants(call):
            return
        outcome: Literal["run", "unknown", "arguments", "refused"] = "refused" if refused else "run"
        if fault is not None:
            outcome = "unknown" if tool is None else "arguments" if fault.problems else "refused"
        self._hook.tell(CallChecked(outcome, tool, loaded, self._generation))
