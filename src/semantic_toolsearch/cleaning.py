"""Text in, the same text without lone surrogates, control, bidi and zero-width characters out."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["HIDDEN", "clean_prose", "has_hidden", "one_line", "replace_surrogates", "strip_hidden"]

# Characters that are not seen but change what a reader, a tokenizer or a JSON encoder gets. Sources: Unicode
# Default_Ignorable_Code_Point, the bidi controls of UAX 9, the C0/C1 controls without tab, line feed, return.
_HIDDEN_CLASS = (
    "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f"
    "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufdd0-\\ufdef\\ufe00-\\ufe0f\\ufeff\\uffa0"
    "\\ufff0-\\ufffb\\ufffe\\uffff\\U0001d173-\\U0001d17a\\U000e0000-\\U000e0fff"
)
HIDDEN = re.compile(f"[{_HIDDEN_CLASS}]|\\r(?!\\n)")
_SURROGATES = re.compile("[\ud800-\udfff]")
_JOINERS = "\u200c\u200d"
_VARIATION = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def replace_surrogates(text: str) -> tuple[str, int]:
    """Return the text with each lone surrogate as U+FFFD, and how many there were."""
    if text.isascii():
        return text, 0
    return _SURROGATES.subn("\ufffd", text)


def has_hidden(text: str) -> bool:
    """Whether the text holds a character that is not seen (joiners and variation selectors included)."""
    return not (text.isascii() and text.isprintable()) and HIDDEN.search(text) is not None


def strip_hidden(text: str) -> str:
    """Return the text without any hidden character; made for comparison keys, where joiners do not count."""
    if text.isascii() and text.isprintable():
        return text
    return HIDDEN.sub(_blank, text)


def one_line(text: str) -> str:
    """Return foreign text as a terminal or a page may show it: one line without any hidden character."""
    return " ".join(strip_hidden(text).split())


def clean_prose(text: str) -> tuple[str, tuple[str, ...]]:
    """Clean a description or title.

    Joiners stay where scripts and emoji need them (between two non-ASCII letters, marks or symbols, or after
    a virama), and so does one variation selector after a visible character. Control characters that are
    white space become a space, so that words do not run together; all others vanish.

    Returns:
        The cleaned text, and what was done (empty when nothing was).
    """
    if text.isascii() and text.isprintable():
        return text, ()
    text, surrogates = replace_surrogates(text)
    removed = 0

    def one(match: re.Match[str]) -> str:
        nonlocal removed
        if _legitimate(text, match.start()):
            return match[0]
        removed += 1
        return _blank(match)

    cleaned = HIDDEN.sub(one, text)
    done = []
    if surrogates:
        done.append(f"{surrogates} lone surrogate(s) became U+FFFD")
    if removed:
        done.append(f"{removed} hidden, control or bidi character(s) removed")
    return cleaned, tuple(done)


def _blank(match: re.Match[str]) -> str:
    char = match[0]
    if char in "\u2028\u2029\r":
        return "\n"
    return " " if char.isspace() else ""


def _legitimate(text: str, at: int) -> bool:
    """Whether the hidden character at this place is one that its script or emoji sequence needs."""
    char = text[at]
    before = text[at - 1] if at else ""
    after = text[at + 1 : at + 2]
    if char in _JOINERS:
        if before and unicodedata.combining(before) == 9:  # a virama: the joiner chooses the letter's form
            return True
        return _joinable(before) and _joinable(after)
    if _VARIATION.match(char):
        keycap = char in "\ufe0e\ufe0f" and before != "" and before in "0123456789#*"
        # A second selector in a row chooses nothing: runs of them are a known way to hide text.
        return keycap or (_joinable(before) and not _VARIATION.match(before))
    return False


def _joinable(char: str) -> bool:
    if char == "" or char.isascii():
        return False
    return unicodedata.category(char)[0] in "LMS" and (
        HIDDEN.match(char) is None or bool(_VARIATION.match(char))
    )
