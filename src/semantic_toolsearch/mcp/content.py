"""The content blocks that a called tool answers in; one text for the model out."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_types import CallToolResult

__all__ = ["CallResult", "read_result"]


@dataclass(frozen=True, slots=True)
class CallResult:
    """The answer of one tool call.

    Attributes:
        text: Everything that can be read as text; pictures and sounds are named with their type and size.
        is_error: The tool itself says that it failed; ``text`` then tells the model why.
        structured: The answer as JSON, where the tool gives one, else None.
        blocks: The content blocks as the server sent them, to be passed on with pictures and all.
    """

    text: str
    is_error: bool = False
    structured: Any = None
    blocks: tuple[Any, ...] = field(default=(), compare=False, repr=False)

    def __str__(self) -> str:
        return self.text


def read_result(result: CallToolResult) -> CallResult:
    """Turn the SDK's result of a call into one text."""
    parts = [_block_text(block) for block in result.content]
    if not parts and result.structured_content is not None:
        parts = [json.dumps(result.structured_content, ensure_ascii=False, indent=2)]
    return CallResult("\n".join(parts), result.is_error, result.structured_content, tuple(result.content))


def _block_text(block: Any) -> str:
    match block.type:
        case "text":
            return str(block.text)
        case "image" | "audio":
            return f"[{block.type}, {block.mime_type}, {len(block.data)} base64 characters]"
        case "resource_link":
            return f"[{block.name}: {block.uri}]"
        case _:
            resource = block.resource
            if (text := getattr(resource, "text", None)) is not None:
                return str(text)
            return f"[resource {resource.uri}, {len(resource.blob)} base64 characters]"
