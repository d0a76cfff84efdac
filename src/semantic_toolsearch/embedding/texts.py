"""What a caller passes as texts comes in; a list of strings that UTF-8 can carry goes out."""

from __future__ import annotations

from collections.abc import Sequence


def as_texts(texts: Sequence[str], *, prefix: str = "", limit: int | None = None) -> list[str]:
    """Prepare texts for a tokenizer or a request.

    Args:
        texts: The caller's texts.
        prefix: Put before every text.
        limit: Characters kept of each text, without the prefix; None keeps all.

    Returns:
        As many strings, in the same order. Lone surrogates, which occur in text cut from JSON and which
        neither a tokenizer nor UTF-8 accepts, are replaced by a question mark.

    Raises:
        TypeError: One string instead of a sequence (it would be embedded letter by letter), or an entry that
            is no string.
    """
    if isinstance(texts, str | bytes):
        raise TypeError("expected a sequence of texts, not one text: put it in a list")
    result = []
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"text {position} is of type {type(text).__name__}, expected str")
        result.append((prefix + text[:limit]).encode("utf-8", "replace").decode("utf-8"))
    return result
