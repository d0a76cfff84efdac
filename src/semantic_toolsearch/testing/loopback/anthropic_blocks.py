"""One content block of a Messages request in; a refusal in the provider's words, or nothing, out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from .anthropic_fields import cache_control, fields_of, list_of, text_matching, text_of
from .refusal import Refusal
from .settings import Settings

if TYPE_CHECKING:
    from .anthropic_messages import Available

__all__ = ["check_block"]

_FIELDS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "text": (("text",), ("citations",)),
    "image": (("source",), ("transformations",)),
    "document": (("source",), ("citations", "context", "title")),
    "search_result": (("content", "source", "title"), ("citations",)),
    "thinking": (("thinking", "signature"), ()),
    "redacted_thinking": (("data",), ()),
    "container_upload": (("file_id",), ()),
    "tool_use": (("id", "name", "input"), ("caller", "toolset_name")),
    "server_tool_use": (("id", "name", "input"), ("caller",)),
    "tool_result": (("tool_use_id",), ("content", "is_error", "toolset_name")),
    "tool_reference": (("tool_name",), ()),
    "tool_search_tool_result": (("tool_use_id", "content"), ()),
    "compaction": ((), ("content", "encrypted_content", "signature", "tool_changes")),
}
"""Required and optional fields of each block that is checked; all may have a cache mark but the thinking ones."""

_UNREAD: Final = (
    "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
    "bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "mcp_tool_use", "mcp_tool_result",
    "mcp_tool_listing",
)  # fmt: skip
_USER: Final = ("text", "image", "document", "search_result", "container_upload", "tool_result")
_ASSISTANT: Final = (
    "text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "tool_search_tool_result", "compaction",
    *_UNREAD,
)  # fmt: skip
_IN_RESULT: Final = ("text", "image", "document", "search_result", "tool_reference")


def check_block(block: Any, where: str, role: str, available: Available, settings: Settings) -> None:
    """Check a block of a user or assistant message.

    Raises:
        Refusal: A rule is broken.
    """
    kind = _kind(block, where, (*_USER, *_ASSISTANT))
    if kind not in (_USER if role == "user" else _ASSISTANT):
        other = "assistant" if role == "user" else "user"
        raise Refusal(f"{where}: `{kind}` blocks can only be in `{other}` messages")
    if kind in _UNREAD:
        return
    _check_fields(block, where, kind)
    here = f"{where}.{kind}"
    if kind == "text":
        _check_text(block, here, role)
    elif kind in ("tool_use", "server_tool_use"):
        _check_use(block, here, kind)
    elif kind == "tool_result":
        _check_result(block, here, available, settings)
    elif kind == "tool_search_tool_result":
        _check_search_result(block["content"], f"{here}.content", available)
    elif kind == "compaction" and len(block.get("tool_changes") or ()) > settings.compaction_limit:
        raise Refusal(
            f"{where}: the compaction block records too many tool references",
            details={"error_code": "compaction_too_many_tool_references"},
        )


def _check_text(block: Mapping[str, Any], where: str, role: str) -> None:
    if not block["text"]:
        raise Refusal("messages: text content blocks must be non-empty")
    if role == "user" and not block["text"].strip():
        raise Refusal("messages: text content blocks must contain non-whitespace text")
    if role == "user" and block.get("citations"):
        raise Refusal(f"{where}.citations: citations are not permitted on user text")


def _check_use(block: Mapping[str, Any], where: str, kind: str) -> None:
    if kind == "tool_use":
        text_matching(block["id"], f"{where}.id", "^[a-zA-Z0-9_-]+$")
        text_matching(block["name"], f"{where}.name", "^[a-zA-Z0-9_-]{1,200}$")
    else:
        text_matching(block["id"], f"{where}.id", "^srvtoolu_[a-zA-Z0-9_]+$")
    if not isinstance(block["input"], Mapping):
        raise Refusal(f"{where}.input: Input should be a valid dictionary")


def _kind(block: Any, where: str, kinds: tuple[str, ...]) -> str:
    if not isinstance(block, Mapping):
        raise Refusal(f"{where}: Input should be a valid dictionary")
    if "type" not in block:
        raise Refusal(f"{where}.type: Field required")
    kind = block["type"]
    if kind not in kinds:
        raise Refusal(
            f"{where}: Input tag '{kind}' found using 'type' does not match any of the expected tags: "
            f"{', '.join(map(repr, kinds))}"
        )
    return str(kind)


def _check_fields(block: Mapping[str, Any], where: str, kind: str) -> None:
    required, optional = _FIELDS[kind]
    marks = () if "thinking" in kind else ("cache_control",)
    fields_of(block, f"{where}.{kind}", ("type", *required), (*optional, *marks))
    cache_control(block, f"{where}.{kind}")
    for name in ("text", "tool_use_id", "tool_name", "id", "name"):
        if name in block:
            text_of(block[name], f"{where}.{kind}.{name}")


def _check_result(block: Mapping[str, Any], where: str, available: Available, settings: Settings) -> None:
    content = block.get("content", "")
    if isinstance(content, str):
        return
    if not list_of(content, f"{where}.content"):
        raise Refusal(f"{where}.content: List should have at least 1 item after validation, not 0")
    kinds = set()
    for place, part in enumerate(content):
        here = f"{where}.content.{place}"
        kind = _kind(part, here, _IN_RESULT)
        kinds.add(kind)
        _check_fields(part, here, kind)
        if kind == "text" and not part["text"]:
            raise Refusal("messages: text content blocks must be non-empty")
        if kind == "tool_reference":
            _check_reference(part, available)
    if "tool_reference" in kinds and len(kinds) > 1 and not settings.allow_undocumented:
        raise Refusal(f"loopback: {where}: references beside other blocks in one result are not documented")


def _check_search_result(content: Any, where: str, available: Available) -> None:
    kinds = ("tool_search_tool_search_result", "tool_search_tool_result_error")
    kind = _kind(content, where, kinds)
    if kind == "tool_search_tool_result_error":
        fields_of(content, f"{where}.{kind}", ("type", "error_code"), ("error_message",))
        return
    fields_of(content, f"{where}.{kind}", ("type", "tool_references"), ())
    for place, part in enumerate(list_of(content["tool_references"], f"{where}.tool_references")):
        here = f"{where}.tool_references.{place}"
        _kind(part, here, ("tool_reference",))
        _check_fields(part, here, "tool_reference")
        _check_reference(part, available)


def _check_reference(part: Mapping[str, Any], available: Available) -> None:
    if not available.knows(part["tool_name"]):
        raise Refusal(f"Tool reference '{part['tool_name']}' not found in available tools")
