"""A request as it would be sent in, every published provider rule that it breaks out; nothing is sent."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.exchange import Api, as_dict
from semantic_toolsearch.providers import (
    rules_anthropic,
    rules_anthropic_history,
    rules_chat,
    rules_gemini,
    rules_responses,
    rules_responses_history,
)
from semantic_toolsearch.providers.violations import Severity, Violation

__all__ = ["RULES", "Severity", "Violation", "validate"]

RULES: Final[Mapping[Api, Mapping[str, str]]] = MappingProxyType(
    {
        "anthropic": {**rules_anthropic.RULES, **rules_anthropic_history.RULES},
        "responses": {**rules_responses.RULES, **rules_responses_history.RULES},
        "chat": rules_chat.RULES,
        "gemini": rules_gemini.RULES,
    }
)
"""What is checked: for each wire format the rules by id, each in one sentence."""


_LISTS: Final = ("content", "parts", "tools", "tool_calls")
_DEEPEST: Final = 32
"""Lists and messages inside of one another that are read; no wire format nests half as deep, and lists of a program may
hold themselves."""


def validate(
    api: Api,
    tools: Any,
    *,
    messages: Any = None,
    tool_choice: Any = None,
    transport: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> tuple[Violation, ...]:
    """Check a request against the rules of its provider.

    Args:
        api: Wire format.
        tools: The ``tools`` list.
        messages: Messages, input items or contents, as dicts or SDK objects. They are taken for all that is
            sent, so calls without an answer are reported.
        tool_choice: The choice as the format has it (for Gemini the tool config).
        transport: Name of the way to the model, as for `support.lookup`; None for the vendor's own.
        settings: Other fields of the request that rules are about, such as ``model``, ``betas``, ``system``,
            ``temperature`` or ``previous_response_id``.

    Returns:
        What is broken, in the order of the request; () when it is in order.

    Raises:
        ConfigError: There is no such wire format.
    """
    if api not in RULES:
        raise ConfigError(f"No wire format {api!r}; there are {', '.join(RULES)}.")
    tools, messages, choice, rest = (
        _plain(tools),
        _plain(messages),
        as_dict(tool_choice),
        dict(settings or {}),
    )
    if api == "anthropic":
        return (
            *rules_anthropic.check(tools, messages, choice, transport, rest),
            *rules_anthropic_history.check(tools, messages, transport),
        )
    if api == "responses":
        return (
            *rules_responses.check(tools, choice, transport, rest),
            *rules_responses_history.check(tools, messages, rest),
        )
    rules = rules_chat if api == "chat" else rules_gemini
    return tuple(rules.check(tools, messages, choice))


def _plain(values: Any, depth: int = _DEEPEST) -> Any:
    """Return a list of dicts or SDK objects as plain dicts, those inside of messages too; nothing raises on the way."""
    if not depth:
        return None
    if isinstance(values, list | tuple):
        return [_plain(value, depth - 1) for value in values]
    value: Any = {}  # of an object that cannot say what it holds
    with contextlib.suppress(Exception):
        value = as_dict(values)
    if isinstance(value, Mapping):
        return {key: _plain(part, depth - 1) if key in _LISTS else part for key, part in value.items()}
    return value
