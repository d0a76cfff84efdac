"""One tool with its findings, phrasings and confusions in; the evidence that its text wants a change out.

What is said here is what was counted: no description is ever made up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from semantic_toolsearch.documents import lexical_tokens, readable_name
from semantic_toolsearch.evaluation.mining.records import Confusion, Magnet, Reason, Word
from semantic_toolsearch.evaluation.mining.said_words import Said, missing_words
from semantic_toolsearch.names import split_identifier
from semantic_toolsearch.tokens import STOP_WORDS

if TYPE_CHECKING:
    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.definitions import ToolDefinition
    from semantic_toolsearch.lint import Finding

__all__ = ["magnet_reason", "pair_reasons", "says_nothing", "text_reasons", "word_reasons"]

COPY: Final = 0.8
"""Share of the words of two texts that both hold, from which one is called nearly a copy of the other."""

# fmt: off
_EMPTY_WORDS: Final = frozenset((
    "act", "action", "api", "app", "base", "call", "cmd", "command", "common", "custom", "data", "default",
    "do", "endpoint", "entity", "exec", "execute", "fetch", "fn", "func", "function", "general", "generic",
    "get", "handle", "handler", "helper", "info", "input", "invoke", "item", "job", "main", "manage",
    "manager", "method", "misc", "module", "my", "new", "object", "op", "operation", "output", "perform",
    "process", "processor", "request", "resource", "response", "run", "runner", "service", "set", "step",
    "system", "task", "test", "thing", "tmp", "tool", "util", "utils", "v", "value",
))
# fmt: on
"""Words that any tool's name may hold."""

_ADVICE: Final[Mapping[str, str]] = {
    "thin": "Say in a sentence what it does, to what, and what it returns.",
    "name": "Name it by what it does to what, or give it aliases that do.",
    "words": "Say it in their words where they are true of the tool.",
    "copy": "Let each text say what only that tool does, or keep one of them.",
    "magnet": "Leave out what other tools do, and say in its first words what only this one is for.",
    "stuffed": "Write sentences that say what the tool does; repeats and lists of words gain nothing.",
}


def text_reasons(tool: ToolDefinition, findings: Sequence[Finding], name: str) -> Iterator[Reason]:
    """What the check of definitions found in the tool's own text.

    Args:
        tool: The tool.
        findings: What was found about it.
        name: What it is called in reports.
    """
    for finding in findings:
        if finding.kind == "thin-description":
            yield Reason("thin", finding.message, _ADVICE["thin"])
        elif finding.kind == "stuffed":
            yield Reason("stuffed", finding.message, _ADVICE["stuffed"])
        elif finding.kind == "near-duplicate":
            others = [other for other in finding.tools if other != name]
            more = f" and {len(others) - 3} more" if len(others) > 3 else ""
            message = f"The model can hardly tell it from {', '.join(others[:3])}{more}."
            yield Reason("copy", message, _ADVICE["copy"])
    if says_nothing(readable_name(tool)):
        yield Reason("name", f"Its name says nothing of what it does: {tool.name!r}.", _ADVICE["name"])


def says_nothing(name: str) -> bool:
    """Whether a tool's name tells nothing of what the tool does: `run_task2`, `fn`, `x1`.

    Words of one letter, numbers, function words, and words that any tool may bear tell nothing.
    """
    return all(
        len(word) < 2 or word.isdigit() or word in STOP_WORDS or word in _EMPTY_WORDS
        for word in split_identifier(name)
    )


def word_reasons(tool: ToolDefinition, own: Sequence[Said], others: Sequence[Said]) -> Iterator[Reason]:
    """What users say for the tool that stands nowhere in its text.

    Args:
        tool: The tool.
        own: The phrasings that want it, at least one.
        others: The phrasings that want others.
    """
    words = missing_words(own, others, set(lexical_tokens(tool)))
    if words:
        holding = sum(any(said.holds(word.word) for word in words) for said in own)
        pronoun = "they stand" if len(words) > 1 else "it stands"
        yield Reason(
            "words",
            f"Users say {_listed(words)} in {holding} of {_phrasings(len(own))}; "
            f"{pronoun} nowhere in its name, description or parameters.",
            _ADVICE["words"],
            words,
        )


def pair_reasons(catalog: Catalog, pairs: Sequence[Confusion], least: int) -> Iterator[Reason]:
    """The wrong tool that is above this one most often, and the first that is nearly its copy.

    Args:
        catalog: The tools.
        pairs: The tool's confusions, the most frequent first.
        least: Phrasings from which a wrong tool above it is worth a word.
    """
    for pair in pairs:
        share, both = _in_common(catalog[pair.wanted], catalog[pair.instead])
        if share >= COPY:
            yield Reason(
                "copy",
                f"Its text is nearly that of {pair.instead}, which is above it in {pair.count} of "
                f"{_phrasings(pair.of)}: {both} words stand in both.",
                _ADVICE["copy"],
            )
            break
    for worst in pairs[:1]:
        if worst.count < least:
            continue
        because = ""
        won = {part: both for part, both in worst.parts.items() if both[1] > both[0]}
        if worst.words:
            because = f", which holds {_listed(worst.words)} where it does not"
        elif won:
            told = (f"{part} {wrong:.2f} against {right:.2f}" for part, (right, wrong) in won.items())
            because = f" ({', '.join(told)})"
        message = f"Above it in {worst.count} of {_phrasings(worst.of)} stands {worst.instead}{because}."
        yield Reason("beaten", message, words=worst.words)


def magnet_reason(magnet: Magnet) -> Reason:
    """How much a tool attracts, and by which words."""
    how = "It is loaded" if magnet.by == "loaded" else "It comes first"
    whose = "that want other tools" if magnet.sure else "of which nobody said what they want"
    average = magnet.typical * magnet.of
    text = f"{how} for {magnet.count} of {_phrasings(magnet.of)} {whose} (another tool: {average:.1f} on average)"
    if magnet.words:
        text += f"; of their words it holds {_listed(magnet.words)}"
    else:
        text += "; by meaning alone, for it holds none of their words"
    doubt = (
        ""
        if magnet.sure
        else " If it is what people want most, say so in the phrasings and nothing is wrong."
    )
    return Reason("magnet", f"{text}.", f"{_ADVICE['magnet']}{doubt}", magnet.words)


def _in_common(first: ToolDefinition, second: ToolDefinition) -> tuple[float, int]:
    """Share and number of the index words of two tools that both hold."""
    one, other = set(lexical_tokens(first)), set(lexical_tokens(second))
    both = len(one & other)
    return both / max(1, len(one | other)), both


def _listed(words: Sequence[Word]) -> str:
    return ", ".join(f"'{word.word}' ({word.count})" for word in words)


def _phrasings(count: int) -> str:
    return f"{count:,} phrasing{'' if count == 1 else 's'}"
