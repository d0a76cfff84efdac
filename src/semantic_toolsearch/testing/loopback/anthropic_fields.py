"""Objects of a Messages request in; a refusal in the provider's words where a field is missing, unknown or wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from .refusal import Refusal

__all__ = ["cache_control", "fields_of", "flag", "list_of", "text_matching", "text_of"]

_TTLS: Final = ("5m", "1h")


def fields_of(
    value: Any, where: str, required: tuple[str, ...], optional: tuple[str, ...]
) -> Mapping[str, Any]:
    """Check that a value is an object with these fields and no others."""
    prefix = f"{where}." if where else ""
    if not isinstance(value, Mapping):
        raise Refusal(f"{where}: Input should be a valid dictionary")
    for name in required:
        if name not in value:
            raise Refusal(f"{prefix}{name}: Field required")
    for name in value:
        if name not in required and name not in optional:
            raise Refusal(f"{prefix}{name}: Extra inputs are not permitted")
    return value


def text_of(value: Any, where: str) -> str:
    """Check that a value is a text."""
    if not isinstance(value, str):
        raise Refusal(f"{where}: Input should be a valid string")
    return value


def text_matching(value: Any, where: str, pattern: str) -> str:
    """Check that a value is a text of this form."""
    if not re.fullmatch(pattern.strip("^$"), text_of(value, where)):
        raise Refusal(f"{where}: String should match pattern '{pattern}'")
    return str(value)


def list_of(value: Any, where: str) -> list[Any]:
    """Check that a value is a list."""
    if not isinstance(value, list):
        raise Refusal(f"{where}: Input should be a valid list")
    return value


def flag(value: Any, where: str, *, nullable: bool = False) -> bool:
    """Check that a value is true or false."""
    if value is None and nullable:
        return False
    if not isinstance(value, bool):
        raise Refusal(f"{where}: Input should be a valid boolean")
    return value


def cache_control(holder: Mapping[str, Any], where: str) -> bool:
    """Check an object's cache mark; return whether it has one."""
    mark = holder.get("cache_control")
    if mark is None:
        return False
    fields_of(mark, f"{where}.cache_control", ("type",), ("ttl",))
    if mark["type"] != "ephemeral":
        raise Refusal(f"{where}.cache_control.type: Input should be 'ephemeral'")
    if mark.get("ttl", "5m") not in _TTLS:
        raise Refusal(f"{where}.cache_control.ttl: Input should be '5m' or '1h'")
    return True
