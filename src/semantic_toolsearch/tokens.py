"""Text in, index tokens out: the one tokenizer of every lexical ranker.

A token is a folded, stemmed word; a symbol word such as ``c++``, ``.env`` or ``a/b``; an identifier as a
whole beside its parts (``createinvoice``, ``creat``, ``invoic``); or, in scripts that put no spaces between
words, a pair of neighbouring characters, and each ideograph. Queries and tools go through the same function,
so whatever folding loses, it loses on both sides.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.names import split_identifier, squash

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CLOSING", "OPENING", "STOP_WORDS", "WRAPPING", "fold", "telling_tokens", "tokenize"]

OPENING: Final = "([{<\"'`“‘«「『（【*"
CLOSING: Final = ")]}>\"'`”’»」』）】*.,;:!?…。、，；：！？"
WRAPPING: Final = OPENING + CLOSING
"""Punctuation that people and models put around a word or a name without meaning it."""

# fmt: off
STOP_WORDS: Final = frozenset((
    "a", "about", "above", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at",
    "be", "because", "been", "before", "being", "below", "between", "both", "but", "by", "can", "cant",
    "could", "couldnt", "d", "did", "didnt", "do", "does", "doesnt", "doing", "done", "dont", "down",
    "during", "each", "few", "for", "from", "further", "had", "has", "have", "having", "he", "her",
    "here", "hers", "him", "his", "how", "i", "id", "if", "im", "in", "into", "is", "isnt", "it", "its",
    "itself", "ive", "just", "let", "lets", "like", "ll", "m", "may", "me", "might", "more", "most",
    "must", "my", "myself", "no", "nor", "not", "now", "of", "off", "on", "once", "only", "or", "other",
    "our", "ours", "out", "over", "own", "please", "re", "s", "same", "shall", "she", "should", "so",
    "some", "such", "t", "than", "that", "thats", "the", "their", "theirs", "them", "then", "there",
    "theres", "these", "they", "this", "those", "through", "to", "too", "under", "until", "up", "upon",
    "us", "ve", "very", "via", "want", "was", "wasnt", "we", "were", "what", "whats", "when", "where",
    "whether", "which", "while", "who", "whom", "whose", "why", "will", "with", "within", "wont",
    "would", "you", "your", "youre", "yours",
))
# fmt: on
"""English function words, dropped from running text; a tool's name keeps all of its words."""

_ID: Final = "id"
_I_WOULD: Final = re.compile("i['’]d", re.IGNORECASE)
"""The one function word that is a word of its own without its apostrophe, and one that tools are made of."""

_SYMBOLS: Final = frozenset("+#./&@")
_LONGEST_SYMBOL_WORD: Final = 24
_RUN: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
# The looks behind change no match. They keep a search from starting anew at every letter of a run, which for a word
# of a hundred thousand letters, such as a key in base64, would take minutes.
_JOINED: Final = re.compile(r"(?<![^\W_])[^\W_]+(?:[_\-][^\W_]+)+")
_NUMBERED: Final = re.compile(r"(?:(?<![A-Z])[A-Z]+[a-z]*|(?<![A-Za-z])[a-z]+)?\d+[a-z]*")

# Scripts written without spaces, where words are found by overlapping character pairs. Hangul has spaces,
# but its particles are glued to the word, so it is indexed both ways.
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003134f々〆〇]+"
)
_GLUED: Final = re.compile(f"{_UNSPACED.pattern}|[\u1100-\u11ff\uac00-\ud7af]+")
"""Scripts whose words follow others without a space."""
_IDEOGRAPH: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")
_HANGUL: Final = re.compile("[\u1100-\u11ff\uac00-\ud7af]+")
_STEMMED: Final = (
    (re.compile("[\u0400-\u04ff]"), "russian"),
    (re.compile("[\u0600-\u06ff]"), "arabic"),
    (re.compile("[\u0900-\u097f]"), "hindi"),
    (re.compile("[\u0370-\u03ff]"), "greek"),
    (re.compile("[\u0b80-\u0bff]"), "tamil"),
)
"""Scripts that tell the language, or its nearest relative with a stemmer; all others are stemmed as English."""
_ARABIC_MARKS: Final = re.compile("[\u0610-\u061a\u0640\u064b-\u065f\u0670]")
_VARIATION: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Selectors of a character's looks, which stand behind most emoji."""
_REMEMBERED_CHUNK: Final = 40
"""Longer pieces are not kept in memory: they are data that comes once, and could be megabytes."""

_PLURAL_WITHOUT_VOWEL: Final = re.compile("[bcdfghjklmnpqrstvwxz]{2,}(?<!s)s")


def tokenize(text: str, *, keep_stop_words: bool = False) -> list[str]:
    """Split a text into index tokens, in reading order, repeats included.

    Args:
        text: A query, a name or a description, in any language and script.
        keep_stop_words: Whether function words count, as they do in a tool's name.

    Returns:
        Tokens; the empty list when the text holds no word.
    """
    tokens: list[str] = []
    for chunk in _clean(text).split():
        read = _chunk_tokens if len(chunk) <= _REMEMBERED_CHUNK else _chunk_tokens.__wrapped__
        tokens += read(chunk, keep_stop_words)
    return tokens


@lru_cache(maxsize=65_536)
def _chunk_tokens(chunk: str, keep_stop_words: bool) -> tuple[str, ...]:
    """The tokens of one piece of text without white space; most words of a catalog occur many times."""
    words = [
        form
        for run in _runs(chunk)
        for word in map(fold, split_identifier(run))
        if keep_stop_words or word not in STOP_WORDS or (word == _ID and not _I_WOULD.search(chunk))
        for form in _index_forms(word)
    ]
    known = {*words, ""}
    return (*(whole for whole in dict.fromkeys(_wholes(chunk)) if whole not in known), *words)


def telling_tokens(text: str) -> list[str]:
    """The tokens that tell by themselves what a text is about: without single ideographs, if there are others.

    An ideograph may be a word (猫) and must find it, but most are parts of one and stand in many texts.
    """
    tokens = tokenize(text)
    return [token for token in tokens if not _IDEOGRAPH.fullmatch(token)] or tokens


def _clean(text: str) -> str:
    """Fold widths and compatibility forms; drop what is no letter's: format characters and signs on signs."""
    folded = unicodedata.normalize("NFKC", text)
    if folded.isascii():
        return folded
    return "".join(
        char
        for char in folded
        if unicodedata.category(char) not in {"Cf", "Cs", "Me"} and not _VARIATION.match(char)
    )


class _Shadow(dict[int, str]):
    """Code point -> the character, or a letter in place of a mark, for `str.translate`; computed once each."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        self[code] = shade = "ʰ" if unicodedata.category(char)[0] == "M" else char
        return shade


_SHADOW: Final = _Shadow()


def _matches(pattern: re.Pattern[str], text: str) -> list[str]:
    """What a pattern finds where a vowel sign or an accent counts as part of its letter: भुगतान is one run."""
    if text.isascii():
        return pattern.findall(text)
    found = (text[match.start() : match.end()] for match in pattern.finditer(text.translate(_SHADOW)))
    return [piece for piece in found if any(map(str.isalnum, piece))]


def _runs(chunk: str) -> list[str]:
    """The runs of letters and digits, ``don't`` being one."""
    return [run.replace("'", "").replace("’", "") for run in _matches(_RUN, chunk)]


def _wholes(chunk: str) -> Iterator[str]:
    """What a piece of text is also found by as a whole, in any case style: symbol words and identifiers."""
    yield _symbol_word(chunk)
    if not chunk.isascii():
        yield from map(_symbol_word, _GLUED.split(chunk))  # the C++ of C++を翻訳する
    for joined in _matches(_JOINED, chunk):  # create_invoice, create-invoice
        yield squash(joined)
    for run in _runs(chunk):
        if len(split_identifier(run)) > 1 and not _UNSPACED.search(run):  # createInvoice, S3, ipv6
            yield squash(run)
            for numbered in _NUMBERED.findall(run):  # the S3 of uploadS3File
                yield squash(numbered)


def _symbol_word(chunk: str) -> str:
    """``C++``, ``C#``, ``.env``, ``A/B``: a word whose symbols are part of it."""
    word = chunk.lstrip(OPENING).rstrip(CLOSING).casefold()
    if word.startswith(".."):  # an ellipsis is no part of a word, one full stop may be
        word = word.lstrip(".")
    if len(word) > _LONGEST_SYMBOL_WORD or _SYMBOLS.isdisjoint(word) or not any(map(str.isalnum, word)):
        return ""
    return word


@lru_cache(maxsize=65_536)
def fold(word: str) -> str:
    """Case-fold a word and drop the accents of Latin and Greek letters, so that ``cafe`` meets ``café``."""
    word = _ARABIC_MARKS.sub("", word.casefold())
    if word.isascii():
        return word
    kept: list[str] = []
    accents_fall = False
    for char in unicodedata.normalize("NFD", word):
        if unicodedata.combining(char):
            if not accents_fall:
                kept.append(char)
            continue
        # Only where the mark is an accent: a dakuten or a vowel sign makes another letter of its base.
        accents_fall = char < "\u0400"
        kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept))


@lru_cache(maxsize=65_536)
def _index_forms(word: str) -> tuple[str, ...]:
    """The tokens that one folded word is found by."""
    if word.isascii():
        if _PLURAL_WITHOUT_VOWEL.fullmatch(word):  # PDFs, VMs: the stemmer wants a vowel before the s
            return (word[:-1],)
        return (_STEMMERS.stem(word, "english"),)
    unspaced = _UNSPACED.findall(word)
    if unspaced:
        rest = [part for part in _UNSPACED.split(word) if part]
        return (
            *(pair for run in unspaced for pair in _pairs(run)),
            *(char for run in unspaced if len(run) > 1 for char in _IDEOGRAPH.findall(run)),
            *(form for part in rest for form in _index_forms(part)),
        )
    if _HANGUL.search(word):
        return (word, *_pairs(word)) if len(word) > 2 else (word,)
    language = next((language for script, language in _STEMMED if script.search(word)), "english")
    return (_STEMMERS.stem(word, language),)


def _pairs(run: str) -> list[str]:
    return [run[start : start + 2] for start in range(len(run) - 1)] or [run]


class _Stemmers(threading.local):
    """Snowball stemmers by language, each thread its own: PyStemmer keeps state while stemming."""

    def __init__(self) -> None:
        self._by_language: dict[str, Any] = {}

    def stem(self, word: str, language: str) -> str:
        if language not in self._by_language:
            import Stemmer

            self._by_language[language] = Stemmer.Stemmer(language, 0)
        stem: str = self._by_language[language].stemWord(word)
        return stem


_STEMMERS: Final = _Stemmers()
