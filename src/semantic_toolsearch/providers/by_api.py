"""The name of a wire format in; the module that writes and reads it out."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Final

from semantic_toolsearch.providers import anthropic, gemini, openai_chat, openai_responses

if TYPE_CHECKING:
    from semantic_toolsearch.exchange import Api

__all__ = ["PROVIDERS"]

PROVIDERS: Final[Mapping[Api, ModuleType]] = MappingProxyType(
    {
        "anthropic": anthropic,
        "responses": openai_responses,
        "chat": openai_chat,
        "gemini": gemini,
    }
)
"""Each module has ``render``, ``parse``, ``assemble``, ``search_answer`` and ``call_result``."""
