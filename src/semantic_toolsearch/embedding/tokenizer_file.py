"""The bytes of a model's tokenizer file come in; a tokenizer that cuts long texts and pads nothing goes out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

CHARACTERS_PER_TOKEN = 40
"""Texts are cut at this many characters per allowed token before they are tokenised: far more than any real
text has, so that a text of a megabyte costs no more than one of ten kilobytes."""


def open_tokenizer(vocabulary: bytes, max_tokens: int) -> Tokenizer:
    """Open a tokenizer.

    Args:
        vocabulary: Content of ``tokenizer.json``.
        max_tokens: Tokens kept of a text, those that the tokenizer adds included.

    Raises:
        Exception: What the tokenizers package raises of content that it cannot read.
    """
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(vocabulary)
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer
