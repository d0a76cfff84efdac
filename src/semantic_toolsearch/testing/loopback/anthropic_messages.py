"""The ``messages`` of a Messages request in; a refusal in the provider's words, or what is still open, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from .anthropic_blocks import check_block
from .anthropic_fields import fields_of, list_of
from .anthropic_tools import is_hosted_search, tool_name, toolset_servers
from .refusal import Refusal
from .settings import Settings

__all__ = ["Available", "blocks_of", "check_messages"]

_TOOL_CHANGES: Final = ("mid-conversation-tool-changes-2026-07-01", "inline-tools-2026-09-15")
_PAUSED: Final = ("server_tool_use", "tool_search_tool_result")


@dataclass
class _Turn:
    """Blocks of neighbouring messages of one role, each with its place, and the first message's index."""

    role: str
    index: int
    blocks: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)


@dataclass
class Available:
    """Tools that a conversation may refer to, as it grows while the messages are read.

    Attributes:
        declared: Names in ``tools``.
        servers: MCP servers, whose tools are named ``server_tool``.
        added: Definitions that messages added.
        searches: Hosted search tools in ``tools``.
    """

    declared: set[str]
    servers: set[str]
    searches: set[str]
    added: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def knows(self, name: str) -> bool:
        """Whether a reference to this name can be resolved."""
        return (
            name in self.declared or name in self.added or any(name.startswith(f"{s}_") for s in self.servers)
        )


def blocks_of(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A message's content as blocks."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def check_messages(
    body: Mapping[str, Any], tools: Sequence[Mapping[str, Any]], betas: Sequence[str], settings: Settings
) -> dict[str, Mapping[str, Any]]:
    """Check every message and the order of calls and results.

    Returns:
        The hosted searches that are still open, by id; the next response starts with their results.

    Raises:
        Refusal: A rule is broken.
    """
    messages = list_of(body["messages"], "messages")
    if not messages:
        raise Refusal("messages: at least one message is required")
    available = Available(
        {name for name in map(tool_name, tools) if name},
        toolset_servers(tools),
        {entry["name"] for entry in tools if is_hosted_search(entry)},
    )
    turns: list[_Turn] = []
    for index, message in enumerate(messages):
        if _is_system(message, index, len(messages), available, betas, settings):
            continue
        if not turns or turns[-1].role != message["role"]:  # neighbours of one role are one turn
            turns.append(_Turn(message["role"], index))
        for place, block in enumerate(blocks_of(message)):
            where = f"messages.{index}.content.{place}"
            check_block(block, where, message["role"], available, settings)
            turns[-1].blocks.append((where, block))
    if turns and turns[0].role != "user":
        raise Refusal('messages: first message must use the "user" role')
    reader = _Reader(available, settings)
    for turn in turns:
        reader.turn(turn)
    reader.end(len(messages) - 1)
    _check_end(turns, str(body.get("model")))
    return reader.open_searches


def _is_system(
    message: Any, index: int, count: int, available: Available, betas: Sequence[str], settings: Settings
) -> bool:
    """Check a message's frame; read it whole where it is one of the system's."""
    where = f"messages.{index}"
    if not isinstance(message, Mapping):
        raise Refusal(f"{where}: Input should be a valid dictionary")
    role = message.get("role")
    allowed = ("user", "assistant", "system") if set(betas) & set(_TOOL_CHANGES) else ("user", "assistant")
    if role not in allowed:
        raise Refusal(
            f'messages: Unexpected role "{role}". Allowed roles are {", ".join(map(repr, allowed))}.'
        )
    optional = ("output_config", "clear_at") if role == "system" else ()
    fields_of(message, where, ("role", "content"), optional)
    if not isinstance(message["content"], str):
        list_of(message["content"], f"{where}.content")
    if not message["content"] and not (role == "assistant" and index == count - 1):
        raise Refusal(
            f"{where}: all messages must have non-empty content except for the optional final assistant message"
        )
    if role != "system":
        return False
    for place, block in enumerate(blocks_of(message)):
        if block.get("type") != "text":
            _change_tools(block, f"{where}.content.{place}", available, betas, settings)
    return True


def _change_tools(
    block: Mapping[str, Any], where: str, available: Available, betas: Sequence[str], settings: Settings
) -> None:
    kind = block.get("type")
    if kind not in ("tool_addition", "tool_removal"):
        raise Refusal(
            f"{where}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
        )
    tool = block.get("tool")
    if not isinstance(tool, Mapping):
        raise Refusal(f"{where}.{kind}.tool: Field required")
    if tool.get("type") == "tool_definition":
        if "inline-tools-2026-09-15" not in betas:
            raise Refusal(f"{where}.{kind}.tool: tool definitions in messages require the inline-tools beta")
        definition = tool.get("definition") or {}
        name = str(definition.get("name"))
        if available.knows(name):
            raise Refusal(
                f"{where}: tool name '{name}' is already in use",
                details={"error_code": "tool_name_conflict", "tool_name": name},
            )
        available.added[name] = definition
        if len(available.declared) + len(available.added) > settings.available_limit:
            raise Refusal(
                f"{where}: more than {settings.available_limit} tools are available",
                details={"error_code": "available_tools_limit_exceeded"},
            )
        return
    if tool.get("type") == "mcp_toolset_reference":
        known, name = tool.get("server_name") in available.servers, str(tool.get("server_name"))
    elif tool.get("type") == "mcp_tool_reference":
        known, name = tool.get("server_name") in available.servers, str(tool.get("name"))
    else:
        fields_of(tool, f"{where}.{kind}.tool", ("type", "name"), ())
        name = str(tool["name"])
        known = available.knows(name)
    if not known:
        raise Refusal(
            f"tool_addition/tool_removal references unknown tool '{name}'",
            details={"error_code": "tool_reference_unresolved", "tool_name": name},
        )


def _check_end(turns: Sequence[_Turn], model: str) -> None:
    """A conversation ends with the user, or with an assistant turn that the provider paused."""
    if turns and (turns[-1].role == "user" or any(block["type"] in _PAUSED for _, block in turns[-1].blocks)):
        return
    if any(generation in model for generation in ("claude-3", "-4-5", "-4-1", "-4-0", "-4-2025")):
        return
    raise Refusal(
        "This model does not support assistant message prefill. The conversation must end with a user message."
    )


class _Reader:
    """Follows calls and results through a conversation."""

    def __init__(self, available: Available, settings: Settings) -> None:
        self.available = available
        self.settings = settings
        self.open_calls: dict[str, int] = {}
        self.open_searches: dict[str, Mapping[str, Any]] = {}
        self.seen: set[str] = set()
        self.server_ids: set[str] = set()
        self._searched_in = 0

    def turn(self, turn: _Turn) -> None:
        if turn.role == "user":
            self._user(turn)
        else:
            self._assistant(turn)

    def end(self, index: int) -> None:
        self._all_answered(index)
        if self.open_searches and self.settings.bedrock:
            self._unresolved()
        for block in self.open_searches.values():
            if block["name"] not in self.available.searches:
                self._unresolved()

    def _user(self, turn: _Turn) -> None:
        answered: set[str] = set()
        others = False
        for where, block in turn.blocks:
            if block["type"] != "tool_result":
                others = True
                continue
            identity = str(block["tool_use_id"])
            if identity in answered:
                raise Refusal(
                    f"{where}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: "
                    f"{identity}"
                )
            if identity not in self.open_calls or others:
                self._misplaced(where, identity)
            answered.add(identity)
        missing = [identity for identity in self.open_calls if identity not in answered]
        if missing:
            self._unanswered(turn.index - 1, missing)
        self.open_calls.clear()
        if self.open_searches and (others or not answered):
            self._unresolved()

    def _misplaced(self, where: str, identity: str) -> None:
        """Refuse a result that answers nothing, or that stands behind other blocks."""
        if identity in self.server_ids:
            raise Refusal(
                f"{where}: `tool_result` blocks cannot answer server tool use `{identity}`; "
                "its result is provided by the server"
            )
        if identity in self.open_calls:
            self._unanswered(int(where.split(".")[1]) - 1, [identity])
        raise Refusal(
            f"{where}: unexpected `tool_use_id` found in `tool_result` blocks: {identity}. Each `tool_result` block "
            "must have a corresponding `tool_use` block in the previous message."
        )

    def _assistant(self, turn: _Turn) -> None:
        self._all_answered(turn.index - 1)
        waiting = set(self.open_searches)
        for where, block in turn.blocks:
            if waiting and not (
                block["type"] == "tool_search_tool_result" and block["tool_use_id"] in waiting
            ):
                self._unresolved()
            if block["type"] == "tool_use":
                self._new_id(block, where, "tool_use")
                self.open_calls[block["id"]] = turn.index
            elif block["type"] == "server_tool_use" and block["name"].startswith("tool_search_tool_"):
                self._new_id(block, where, "server_tool_use")
                self.server_ids.add(block["id"])
                self.open_searches[block["id"]] = block
                self._searched_in = int(where.split(".")[1])
            elif block["type"] == "tool_search_tool_result":
                identity = str(block["tool_use_id"])
                if identity not in self.open_searches:
                    raise Refusal(
                        f"{where}: unexpected `tool_use_id` found in `tool_search_tool_result` blocks: {identity}. "
                        "Each `tool_search_tool_result` block must have a corresponding `server_tool_use` block "
                        "before it."
                    )
                del self.open_searches[identity]
                waiting.discard(identity)
        if waiting:
            self._unresolved()

    def _new_id(self, block: Mapping[str, Any], where: str, kind: str) -> None:
        if block["id"] in self.seen:
            raise Refusal(f"{where}: `{kind}` ids must be unique")
        self.seen.add(block["id"])

    def _all_answered(self, index: int) -> None:
        if self.open_calls:
            self._unanswered(index, list(self.open_calls))

    def _unanswered(self, index: int, identities: list[str]) -> None:
        raise Refusal(
            f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(identities)}. Each `tool_use` block must have a corresponding `tool_result` block in the "
            "next message."
        )

    def _unresolved(self) -> None:
        identity, block = next(iter(self.open_searches.items()))
        name = block["name"]
        raise Refusal(
            f"messages.{self._searched_in}: `{name}` tool use with id `{identity}` was found without a corresponding "
            f"`{name}_tool_result` block"
        )
