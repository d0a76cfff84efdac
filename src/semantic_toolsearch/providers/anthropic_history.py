"""Messages and the names that a request declares in; the same messages without references to any other name out.

One reference to a tool that is not declared makes Anthropic refuse the request, and every later one of that
conversation ("Tool reference 'x' not found in available tools", tool search documentation, "Error handling").
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from semantic_toolsearch.history import plain as plain_of

__all__ = ["without_gone"]

_NOTHING_LEFT = {"type": "text", "text": "The tools found here are not loaded now."}


def without_gone(
    messages: Iterable[Any], declared: Collection[str], extra: Sequence[Mapping[str, Any]] = ()
) -> list[Any]:
    """Leave out references to tools that are gone; what needs no change is the caller's own object.

    A search of ours that found nothing else keeps a text, since an empty result is refused; a hosted one may be empty.

    Args:
        messages: The conversation.
        declared: Names that the request declares.
        extra: The caller's own entries of its tools list: tools, and sets of a server's tools.
    """
    own = {str(entry.get("name")) for entry in extra}
    servers = tuple(f"{entry['mcp_server_name']}_" for entry in extra if entry.get("mcp_server_name"))

    def is_gone(name: str) -> bool:
        return name not in declared and name not in own and not name.startswith(servers)

    return [_message(message, is_gone) for message in messages]


def _message(message: Any, is_gone: Callable[[str], bool]) -> Any:
    plain = plain_of(message)
    content = plain.get("content")
    if not isinstance(content, (list, tuple)):
        return message
    blocks = [_block(block, is_gone) for block in content]
    if all(new is old for new, old in zip(blocks, content, strict=True)):
        return message
    return {**plain, "content": blocks}


def _block(block: Any, is_gone: Callable[[str], bool]) -> Any:
    plain = plain_of(block)
    content = plain.get("content")
    if plain.get("type") == "tool_result" and isinstance(content, list):
        kept = [part for part in content if not _names_gone(part, is_gone)]
        return block if len(kept) == len(content) else {**plain, "content": kept or [_NOTHING_LEFT]}
    if plain.get("type") == "tool_search_tool_result" and isinstance(content, Mapping):
        references = content.get("tool_references")
        if isinstance(references, list):
            kept = [part for part in references if not _names_gone(part, is_gone)]
            if len(kept) < len(references):
                return {**plain, "content": {**content, "tool_references": kept}}
    return block


def _names_gone(part: Any, is_gone: Callable[[str], bool]) -> bool:
    plain = plain_of(part)
    return plain.get("type") == "tool_reference" and is_gone(str(plain.get("tool_name")))
