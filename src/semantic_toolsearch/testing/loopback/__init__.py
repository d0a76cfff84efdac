"""A scripted model behind a real local HTTP server with the providers' interfaces and rules, for tests and examples.

    with LoopbackProvider([Search("currency"), Call("fx_rate", {"pair": "EURUSD"}), Say("1.08")]) as server:
        client = anthropic.Anthropic(base_url=server.url, api_key="any")

The hosted searches and the token and cache figures are emulated; the rules follow the providers' published formats and
error messages.
"""

from __future__ import annotations

from .cache import CacheUse
from .conduct import EmittedCall
from .refusal import ScriptError
from .script import (
    HOSTED_ERRORS,
    Call,
    Cut,
    HostedError,
    Parallel,
    Pause,
    Say,
    Search,
    Status,
    Step,
    StreamError,
)
from .server import Exchange, LoopbackProvider
from .settings import Settings
from .view import RequestView, Surface

__all__ = [
    "HOSTED_ERRORS",
    "CacheUse",
    "Call",
    "Cut",
    "EmittedCall",
    "Exchange",
    "HostedError",
    "LoopbackProvider",
    "Parallel",
    "Pause",
    "RequestView",
    "Say",
    "ScriptError",
    "Search",
    "Settings",
    "Status",
    "Step",
    "StreamError",
    "Surface",
]
