"""The responses of a Gemini stream in, the complete response as a dict out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from semantic_toolsearch.errors import ConversationError
from semantic_toolsearch.providers import base

__all__ = ["assemble"]

_SNAKE = {
    "function_call": "functionCall",
    "thought_signature": "thoughtSignature",
    "finish_reason": "finishReason",
    "partial_args": "partialArgs",
    "will_continue": "willContinue",
}


def assemble(events: Iterable[Any]) -> dict[str, Any]:
    """See `gemini.assemble`."""
    whole: dict[str, Any] = {}
    candidates: dict[int, dict[str, Any]] = {}
    count = 0
    for event in base.events_of(events, "Gemini"):
        count += 1
        for part in event.pop("candidates", None) or ():
            index = part.get("index") or 0
            empty: dict[str, Any] = {"content": {"role": "model", "parts": []}, "finishReason": None}
            _add(candidates.setdefault(index, empty), _camel(part))
        whole.update({key: value for key, value in event.items() if value is not None})
    if not count:
        raise ConversationError("No response came in this stream of Gemini's.")
    return {"candidates": [found for _, found in sorted(candidates.items())], **whole}


def _add(candidate: dict[str, Any], part: dict[str, Any]) -> None:
    content = part.pop("content", None) or {}
    for piece in content.pop("parts", None) or ():
        _add_piece(candidate["content"]["parts"], _camel(piece))
    candidate["content"].update(content)
    candidate.update({key: value for key, value in part.items() if value is not None})


def _add_piece(pieces: list[dict[str, Any]], piece: dict[str, Any]) -> None:
    """Append a part; a plain text continues the plain text before it.

    Raises:
        ConversationError: It holds a part of a call's arguments.
    """
    call = piece.get("functionCall")
    if isinstance(call, Mapping):
        call = _camel(call)
        if call.get("partialArgs") or call.get("willContinue"):
            raise ConversationError(
                "Arguments of a call that come in parts are not read: turn streamFunctionCallArguments off."
            )
    last = pieces[-1] if pieces else {}
    if _continues(last, piece):
        last.update({**piece, "text": last["text"] + piece["text"]})
    else:
        pieces.append(piece)


def _continues(last: Mapping[str, Any], piece: Mapping[str, Any]) -> bool:
    """Whether a part goes on with the text of the last one; a signature closes its text."""
    plain = {"text", "thought", "thoughtSignature"}
    return (
        isinstance(last.get("text"), str)
        and isinstance(piece.get("text"), str)
        and set(last) | set(piece) <= plain
        and "thoughtSignature" not in last
        and bool(last.get("thought")) == bool(piece.get("thought"))
    )


def _camel(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the object with its names as on the wire."""
    return {_SNAKE.get(key, key): item for key, item in value.items()}
