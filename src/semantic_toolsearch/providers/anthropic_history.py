"""Messages and the names that a request declares in; the same messages without references to any other name out.

One reference to a tool that is not declared makes Anthropic refuse the request, and every later one of that
conversation ("Tool reference 'x' not found in available tools", tool search documentation, "Error handling").
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from semantic_toolsearch.exchange import as_dict

__all__ = ["without_gone"]

_NOTHING_LEFT = {"type": "text", "text": "The tools found are not available now."}


def without_gone(messages: Iterable[Any], declared: Collection[str]) -> list[Any]:
    """Leave out references to tools that are gone; what needs no change is the caller's own object.

    A search of ours that found nothing else keeps a text, since an empty result is refused; a hosted one may be empty.
    """
    return [_message(message, declared) for message in messages]


def _message(message: Any, declared: Collection[str]) -> Any:
    plain = as_dict(message)
    content = plain.get("content") if isinstance(plain, Mapping) else None
    if not isinstance(content, (list, tuple)):
        return message
    blocks = [_block(block, declared) for block in content]
    if all(new is old for new, old in zip(blocks, content, strict=True)):
        return message
    return {**plain, "content": blocks}


def _block(block: Any, declared: Collection[str]) -> Any:
    plain = as_dict(block)
    if not isinstance(plain, Mapping):
        return block
    content = plain.get("content")
    if plain.get("type") == "tool_result" and isinstance(content, list):
        kept = [part for part in content if not _is_gone(part, declared)]
        return block if len(kept) == len(content) else {**plain, "content": kept or [_NOTHING_LEFT]}
    if plain.get("type") == "tool_search_tool_result" and isinstance(content, Mapping):
        references = content.get("tool_references")
        if isinstance(references, list):
            kept = [part for part in references if not _is_gone(part, declared)]
            if len(kept) < len(references):
                return {**plain, "content": {**content, "tool_references": kept}}
    return block


def _is_gone(part: Any, declared: Collection[str]) -> bool:
    plain = as_dict(part)
    return (
        isinstance(plain, Mapping)
        and plain.get("type") == "tool_reference"
        and plain.get("tool_name") not in declared
    )
