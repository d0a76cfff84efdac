"""What went wrong with a request comes in, and the provider's status and error body go out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

__all__ = ["Refusal", "ScriptError", "anthropic_error", "openai_error"]

_ANTHROPIC_TYPES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_OPENAI_TYPES: Final = {429: "rate_limit_exceeded", 500: "server_error", 503: "server_error"}


@dataclass
class Refusal(Exception):  # noqa: N818 - it is an answer of the provider, not a failure of ours
    """The provider refuses a request.

    Attributes:
        message: Text of the error body.
        status: HTTP status.
        param: Where it is wrong, as OpenAI tells.
        code: OpenAI's error code.
        type: Error type, or None for the usual one of this status.
        details: Anthropic's machine-readable part.
        headers: Further HTTP headers.
    """

    message: str
    status: int = 400
    param: str | None = None
    code: str | None = None
    type: str | None = None
    details: dict[str, Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.message


class ScriptError(Exception):
    """The script asks for something that no model could do with this request."""


def anthropic_error(refusal: Refusal, request_id: str) -> dict[str, Any]:
    """The body of an error answer of the Messages interface."""
    kind = refusal.type or _ANTHROPIC_TYPES.get(refusal.status, "invalid_request_error")
    error: dict[str, Any] = {"type": kind, "message": refusal.message}
    if refusal.details is not None:
        error["details"] = refusal.details
    return {"type": "error", "error": error, "request_id": request_id}


def openai_error(refusal: Refusal) -> dict[str, Any]:
    """The body of an error answer of the Responses and Chat Completions interfaces."""
    kind = refusal.type or _OPENAI_TYPES.get(refusal.status, "invalid_request_error")
    return {
        "error": {"message": refusal.message, "type": kind, "param": refusal.param, "code": refusal.code},
    }
