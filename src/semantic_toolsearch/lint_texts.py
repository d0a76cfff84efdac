"""A tool's description in; whether it orders the model about, or is stuffed with words, out.

Both are flags for a reader, never verdicts: a description is whatever its server writes, and neither check
changes how a tool is ranked.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from semantic_toolsearch.tokens import STOP_WORDS

__all__ = ["commands", "stuffing"]

_THIS = r"(?:this|the|our)\s+(?:\w+\s+)?(?:tool|function|server|api|command)"
_OTHERS = r"(?:any\s+|all\s+|the\s+)?other\s+(?:\w+\s+)?(?:tools?|functions?|servers?)"
_USE = r"(?:use|call|invoke|run|choose|prefer|select|execute)"

_COMMANDS: Final = re.compile(
    rf"\b(?:always|must(?:\s+always)?|only\s+ever)\s+{_USE}\s+{_THIS}"
    rf"|{_THIS}\s+(?:must|should|has\s+to|needs\s+to)\s+(?:always|first)\s+be\s+\w+"
    rf"|{_THIS}\s+(?:must|should)\s+be\s+(?:called|used|invoked|run)\s+(?:first|before\s+(?:any|all|every)|always)"
    rf"|\b{_USE}\s+{_THIS}\s+(?:first|before\s+(?:any|all|every)\b|instead\s+of\s+{_OTHERS})"
    rf"|\b(?:before|instead\s+of)\s+(?:using\s+|calling\s+)?{_OTHERS}"
    rf"|\b(?:do\s+not|don['’]?t|never)\s+{_USE}\s+{_OTHERS}"
    r"|\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|the\s+|your\s+)*(?:previous|prior|earlier|other|above|system)"
    r"\s+(?:\w+\s+)?(?:instructions?|tools?|prompts?|rules?|messages?)"
    r"|\b(?:do\s+not|don['’]?t|never)\s+(?:tell|inform|mention|reveal|notify|show)\b[^.\n]{0,40}\buser"
    r"|<\s*(?:important|system|instructions?)\s*>",
    re.IGNORECASE,
)

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")

FEWEST_WORDS: Final = 30
"""Shorter descriptions are not stuffed, whatever they repeat."""

LEAST_DIFFERENT: Final = 0.25
"""Share of different words under which a text repeats itself."""

LEAST_FUNCTION_WORDS: Final = 0.03
"""Share of function words under which an English text is a list of words."""


def commands(description: str) -> str | None:
    """Return a message when the text tells the model what to do instead of what the tool does; else None."""
    found = _COMMANDS.search(description)
    if found is None:
        return None
    return f"Its description gives the model an order: {' '.join(found[0].split())!r}."


def stuffing(description: str) -> str | None:
    """Return a message when the text repeats its words over and over or is a mere list of them; else None."""
    words = [word.casefold() for word in _WORD.findall(description)]
    if len(words) < FEWEST_WORDS:
        return None
    counts = Counter(words)
    # Long texts repeat words by nature: different words grow about with the square root of the length.
    different = len(counts) / len(words) * max(1.0, (len(words) / 100) ** 0.5)
    if different < LEAST_DIFFERENT:
        often = ", ".join(
            f"{word} {count} times" for word, count in counts.most_common(12) if word not in STOP_WORDS
        )
        return f"Its description has {len(counts)} different words among {len(words)} ({often})."
    if description.isascii() and sum(word in STOP_WORDS for word in words) < LEAST_FUNCTION_WORDS * len(
        words
    ):
        return f"Its description is a list of {len(words)} words without a sentence."
    return None
