"""A conversation in; the same without old outputs, or without its oldest part, out.

Searches keep their answers when outputs are cleared. Cutting to a budget frees what only the cut part had
loaded.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.facts import Answered
from semantic_toolsearch.history import SYSTEM_ROLES, blocks, plain, read
from semantic_toolsearch.linking import links, role
from semantic_toolsearch.loaded import loaded_names
from semantic_toolsearch.visible import visible_mask

if TYPE_CHECKING:
    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.visible import VisibleTools

__all__ = ["CLEARED", "clear_outputs", "fit_history"]

CLEARED = "[output cleared]"
"""What stands in place of an output that was cleared."""


def clear_outputs(messages: Iterable[Any], keep_last: int, text: str = CLEARED) -> list[Any]:
    """Return the conversation with the outputs of ordinary tools blanked, save the last ones.

    Answers to searches are never touched, nor are results without a call, nor outputs that hold more than
    text by their type (screenshots). Messages that do not change are the same objects.

    Args:
        messages: The conversation; it is not changed.
        keep_last: Number of outputs that stay, counted from the end.
        text: What stands in place of an output.

    Raises:
        ConfigError: `keep_last` is negative.
    """
    if keep_last < 0:
        raise ConfigError(f"keep_last is a number of outputs, at least 0, not {keep_last}.")
    items = list(messages)
    blanked = dict[int, Mapping[str, Any]]()
    for fact in reversed(read(items)):
        if not isinstance(fact, Answered):
            continue
        message = _blanked(blanked.get(fact.at, items[fact.at]), fact.part, text)
        if message is None:
            continue
        if keep_last:
            keep_last -= 1
        else:
            blanked[fact.at] = message
    return [blanked.get(at, message) for at, message in enumerate(items)]


def fit_history(
    history: Iterable[Any],
    window: int,
    count: Callable[[Any], int],
    catalog: Catalog,
    *,
    reserve: int = 0,
    always: Collection[str] = (),
    visible: VisibleTools = None,
) -> list[Any]:
    """Return the newest part of a conversation that fits a budget together with the schemas that it loads.

    The oldest exchange (a user's message and all that follows it) goes first, then the oldest steps of the
    newest exchange. System messages, the newest user message and the newest step stay, even where they do not
    fit. A call goes with its answers, and reasoning with what it led to. Tools that only the cut part had
    loaded are not loaded any more, and their schemas not counted.

    Args:
        history: The conversation; it is not changed.
        window: Budget in the unit of `count`.
        count: Size of a JSON value (a list of messages, or a tool definition), such as its tokens. It must
            not grow when messages are removed.
        catalog: The tools.
        reserve: Part of the window that is needed for other things: instructions, undeferred tools, the
            answer.
        always: Wire names of tools that are sent in full whatever was loaded and counted in `reserve`. Those
            with the policy `never` need not be named.
        visible: The tools that the caller may see, as in ``ToolSearch.search``; the others are not sent, and so not
            counted.
    """
    items = list(history)
    values = [_json(message) for message in items]
    units = _cuttable(values)
    mask = visible_mask(catalog, visible)

    def left(cuts: int) -> list[int]:
        going = {at for unit in units[:cuts] for at in unit}
        return [at for at in range(len(items)) if at not in going]

    def fits(cuts: int) -> bool:
        part = [values[at] for at in left(cuts)]
        size = count(part) + reserve
        for name in loaded_names(part, catalog, visible=mask):
            tool = catalog[name]
            if tool.defer != "never" and name not in always:
                size += count({"name": name, "description": tool.description, "parameters": tool.parameters})
        return size <= window

    # A further cut removes messages and loads, never adds any: the first number that fits is the fewest.
    return [items[at] for at in left(bisect_left(range(len(units)), True, key=fits))]


def _cuttable(messages: Sequence[Any]) -> list[list[int]]:
    """Return what may be cut, oldest first: whole exchanges, then steps of the newest one but its last."""
    changes = [0] * (len(messages) + 1)
    for first, second in links(messages):
        changes[first + 1] += 1
        changes[second + 1] -= 1
    free = [bound == 0 for bound in accumulate(changes)]  # nothing spans the place before this message
    exchanges: list[list[list[int]]] = [[]]
    prompted = False
    for at, message in enumerate(messages):
        if role(message) in SYSTEM_ROLES:
            continue
        prompt = free[at] and _is_prompt(message)
        if prompt and not prompted and exchanges[-1]:
            exchanges.append([])
        steps = exchanges[-1]
        if not steps or (free[at] and not (prompt and prompted)):
            steps.append([at])
        else:
            steps[-1].append(at)
        prompted = prompt
    *older, newest = exchanges
    opening = 1 if newest and _is_prompt(messages[newest[0][0]]) else 0
    return [[at for step in exchange for at in step] for exchange in older] + newest[opening:-1]


def _is_prompt(message: Any) -> bool:
    if role(message) != "user":
        return False
    value = plain(message)
    content = [*blocks(value.get("content")), *blocks(value.get("parts"))]
    return not any(
        block.get("type") == "tool_result" or "functionResponse" in block or "function_response" in block
        for _, block in content
    )


def _json(message: Any) -> Any:
    """Return a message as JSON values, SDK objects within its lists included."""
    value = plain(message)
    lists = {
        key: [plain(entry) or entry for entry in value[key]]
        for key in ("content", "parts", "tool_calls")
        if isinstance(value.get(key), (list, tuple))
    }
    return {**value, **lists} if value else message


def _blanked(message: Any, part: int | None, text: str) -> Mapping[str, Any] | None:
    """Return the message with the text in place of one output; None where an output holds no text."""
    value = _json(message)
    if part is None:
        if value.get("type") in ("function_call_output", "custom_tool_call_output"):
            return {**value, "output": text}
        return {**value, "content": text} if value.get("role") == "tool" else None
    key = "content" if isinstance(value.get("content"), list) else "parts"
    block = value[key][part]
    if key == "content":
        block = {**block, "content": text}
    else:
        name = "functionResponse" if "functionResponse" in block else "function_response"
        response = {name_: held for name_, held in block[name].items() if name_ != "parts"}
        block = {**block, name: {**response, "response": {"output": text}}}
    return {**value, key: [*value[key][:part], block, *value[key][part + 1 :]]}
