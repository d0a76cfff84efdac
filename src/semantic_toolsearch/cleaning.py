"""Text in, the same text without lone surrogates, control, bidi and zero-width characters out."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["HIDDEN", "clean_prose", "has_hidden", "one_line", "replace_surrogates", "strip_hidden"]

# Characters that are not seen but change what a reader, a tokenizer or a JSON encoder gets. Sources: Unicode
# Default_Ignorable_Code_Point, the format controls, the bidi controls of UAX 9, the C0/C1 controls without tab,
# line feed, return, and the private use planes, whose characters mean nothing but to whom it was agreed with.
_HIDDEN_CLASS = (
    "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f"
    "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufdd0-\\ufdef\\ufe00-\\ufe0f\\ufeff\\uffa0"
    "\\ufff0-\\ufffb\\ufffe\\uffff\\U00013430-\\U0001343f\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a"
    "\\U000e0000-\\U000e0fff\\U000f0000-\\U0010ffff"
)
HIDDEN = re.compile(f"[{_HIDDEN_CLASS}]|\\r(?!\\n)")
_SURROGATES = re.compile("[\ud800-\udfff]")
_JOINERS = "\u200c\u200d"
_PRESENTATION = "\ufe0e\ufe0f"
_VARIATION = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")

_JOINING = re.compile(
    "[\u0590-\u109f\u1780-\u18af\u1a20-\u1aaf\u1b00-\u1cff\ua840-\ua87f\ua8e0-\uabff\ufb1d-\ufdcf\ufe70-\ufefc"
    "\U00010a00-\U00011fff\U0001e800-\U0001e95f]"
)
"""Scripts in which a joiner chooses the form of letters: those from Hebrew to Myanmar, Khmer and Mongolian."""

_MOST_VARIANTS = 8
"""Selectors of a written variant that one text keeps; each can hide a byte, and no prose needs many."""

_FLOOD = re.compile(
    "([\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{8})[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)
"""More marks on one letter than any spelling has; what stands beneath cannot be read."""


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

    Joiners stay where scripts and emoji need them (between two letters of a joining script, between two
    symbols, or after a virama), and so does one variation selector after a character that may have one, a few
    of them in one text. Control characters that are white space become a space, so that words do not run
    together; all others vanish, and so do marks that flood a letter.

    Returns:
        The cleaned text, and what was done (empty when nothing was).
    """
    if text.isascii() and text.isprintable():
        return text, ()
    text, surrogates = replace_surrogates(text)
    removed = variants = 0

    def one(match: re.Match[str]) -> str:
        nonlocal removed, variants
        if _legitimate(text, match.start()):
            variants += match[0] not in _JOINERS + _PRESENTATION
            if variants <= _MOST_VARIANTS:
                return match[0]
        removed += 1
        return _blank(match)

    cleaned = HIDDEN.sub(one, text)
    cleaned, floods = _FLOOD.subn(r"\1", cleaned)
    done = []
    if surrogates:
        done.append(f"{surrogates} lone surrogate(s) became U+FFFD")
    if removed:
        done.append(f"{removed} hidden, control or bidi character(s) removed")
    if floods:
        done.append(f"combining marks that flood {floods} letter(s) removed")
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
        if before == "\ufe0f" and not _legitimate(text, at - 1):
            return False
        return _joining(before) and _joining(after)
    if _VARIATION.match(char):
        if char in _PRESENTATION:  # text or emoji
            return before != "" and (
                before in "0123456789#*ℹ" or (not before.isascii() and _is(before, "SP"))
            )
        # A second selector in a row chooses nothing: runs of them are a known way to hide text.
        return not before.isascii() and _is(before, "PNM", "Lo", "Sm") and not HIDDEN.match(before)
    return False


def _joining(char: str) -> bool:
    if char == "" or char.isascii():
        return False
    return _JOINING.match(char) is not None or _is(char, "S") or char == "\ufe0f"


def _is(char: str, kinds: str, *categories: str) -> bool:
    found = unicodedata.category(char)
    return found[0] in kinds or found in categories
