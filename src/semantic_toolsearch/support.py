"""A model id and the way to it in; whether hosted search and its client forms work there, and why, out.

What is known about models and transports stands in two tables; rows of the user's own win over both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from semantic_toolsearch.config import TransportForm
from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.names import nearest

if TYPE_CHECKING:
    from semantic_toolsearch.exchange import Api

__all__ = ["MODELS", "MOST_TOOLS", "TRANSPORTS", "ModelRow", "Support", "infer_api", "lookup"]

Provider: TypeAlias = Literal["openai", "anthropic"]

_DISPUTED: Final = "one source lists it, while Anthropic says that Opus 4.1 and older have no hosted search"


class ModelRow(NamedTuple):
    """One row of the model table.

    Attributes:
        pattern: Regular expression for the whole of a bare model id.
        provider: Whose hosted search it has.
        note: Why the row is doubtful, or "".
        sample: An id that the row means.
    """

    pattern: str
    provider: Provider
    note: str
    sample: str


def _exact(model: str) -> str:
    """The id itself, or with the date of one release behind it."""
    return rf"{re.escape(model)}([-@]\d{{8}})?"


def _family(model: str) -> str:
    """The id and whatever follows it, other than digits that make it another number."""
    return rf"{re.escape(model)}(?!\d).*"


# The first row that matches counts.
MODELS: Final[tuple[ModelRow, ...]] = (
    ModelRow(_family("gpt-5.4"), "openai", "", "gpt-5.4-mini"),
    ModelRow(_family("gpt-5.5"), "openai", "", "gpt-5.5-pro"),
    ModelRow(_family("gpt-5.6"), "openai", "", "gpt-5.6-sol"),
    ModelRow(r"claude-opus-4(-[01])?([-@]\d{8})?", "anthropic", _DISPUTED, "claude-opus-4-1"),
    ModelRow(_exact("claude-opus-5-5"), "anthropic", "", "claude-opus-5-5"),
    ModelRow(_exact("claude-opus-5"), "anthropic", "", "claude-opus-5"),
    ModelRow(_family("claude-opus-4"), "anthropic", "", "claude-opus-4-8"),
    ModelRow(_exact("claude-sonnet-5-5"), "anthropic", "", "claude-sonnet-5-5"),
    ModelRow(_exact("claude-sonnet-5"), "anthropic", "", "claude-sonnet-5"),
    ModelRow(_exact("claude-sonnet-4-6"), "anthropic", "", "claude-sonnet-4-6"),
    ModelRow(_exact("claude-haiku-5-5"), "anthropic", "", "claude-haiku-5-5"),
    ModelRow(_exact("claude-haiku-4-5"), "anthropic", "", "claude-haiku-4-5-20251001"),
    ModelRow(_exact("claude-fable-5-1"), "anthropic", "", "claude-fable-5-1"),
    ModelRow(_exact("claude-fable-5"), "anthropic", "", "claude-fable-5"),
    # Documented by the vendor beside those above.
    ModelRow(_exact("claude-sonnet-4-5"), "anthropic", "", "claude-sonnet-4-5-20250929"),
    ModelRow(_exact("claude-fable-5-2"), "anthropic", "", "claude-fable-5-2"),
    ModelRow(r"claude-mythos-.+", "anthropic", "", "claude-mythos-preview"),
)

TRANSPORTS: Final[Mapping[str, TransportForm]] = {
    "first_party": TransportForm(hosted=("openai", "anthropic"), client_forms=("reference", "output")),
    "azure": TransportForm(hosted=("openai", "anthropic"), client_forms=("reference", "output")),
    "vertex": TransportForm(hosted=("anthropic",), client_forms=("reference",)),
    # Takes the regex variant only; whether references work there is not documented.
    "bedrock_invoke": TransportForm(hosted=("anthropic",), variant="regex"),
    "bedrock_converse": TransportForm(),
    "openrouter": TransportForm(),
    # Somebody's own address: it may drop or refuse what it does not know.
    "gateway": TransportForm(),
}

MOST_TOOLS: Final[Mapping[Api, int]] = {"chat": 128, "gemini": 128}
"""Most entries of a tools list by wire format. A server of one's own may take more: say so by ``most_tools``."""

_FIRST_PARTY_HOSTS: Final[Mapping[Provider, str]] = {
    "openai": "api.openai.com",
    "anthropic": "api.anthropic.com",
}
_HOSTED_API: Final[Mapping[str, Provider]] = {"responses": "openai", "anthropic": "anthropic"}
_CLIENT_FORM: Final[Mapping[Provider, Literal["reference", "output"]]] = {
    "openai": "output",
    "anthropic": "reference",
}
_NEWEST_GPT: Final = (5, 6)
_GPT: Final = re.compile(r"gpt-(?:(\d{1,2})\.(\d{1,2})|(\d))(?:-.*)?")


@dataclass(frozen=True, slots=True)
class Support:
    """What one model over one transport can do.

    Attributes:
        model: The id that was asked about.
        provider: Whose hosted search the model has, or None.
        hosted: Whether hosted search works for this model, interface and transport.
        variant: The kind of Anthropic's hosted search to ask for, None elsewhere.
        client_forms: ``reference`` or ``output`` where that form of a client's search works.
        transport: Name of the transport.
        masked: Whether only an undeclared address stands between the model and its hosted search.
        betas: Beta values that deferred tools need on this transport.
        reason: Why ``hosted`` is what it is, in words.
        warnings: What the programmer should know where tools are deferred.
        most_tools: Most entries that the request's tools list may have, None for no known limit.
    """

    model: str | None
    provider: Provider | None
    hosted: bool
    variant: Literal["bm25", "regex"] | None
    client_forms: tuple[Literal["reference", "output"], ...]
    transport: str
    masked: bool
    betas: tuple[str, ...]
    reason: str
    warnings: tuple[str, ...] = ()
    most_tools: int | None = None


def lookup(
    model: str | None,
    *,
    api: Api | None = None,
    transport: str | None = None,
    base_url: Any = None,
    overrides: Mapping[str, bool] | None = None,
    transports: Mapping[str, TransportForm] | None = None,
    assume_newer: bool = False,
) -> Support:
    """Look up what a model can do over a transport.

    Args:
        model: Model id as the request has it, or None. Only bare ids of the vendors match the table, in their
            own case: no prefix of a cloud or a router.
        api: Wire format; None for the one that ``infer_api`` names.
        transport: Name of the way to the model; wins over ``base_url``.
        base_url: Address of the API, as text or URL object. An address that is not the vendor's own is a
            ``gateway``.
        overrides: Rows of the user's own, True for hosted search: ids, or shell patterns; an id counts with a
            release date too. Ids win over patterns, longer patterns over shorter ones.
        transports: Rows of the user's own for transports.
        assume_newer: Whether GPT models newer than the table have hosted search.

    Raises:
        ConfigError: There is no such transport.
    """
    api = api or infer_api(model)
    known, provider, why, warnings = _model(model, api, overrides or {}, assume_newer)
    name = transport or _transport(base_url, provider)
    form = _form(name, transports or {})
    reason, masked = why, False
    speaks = provider is not None and _HOSTED_API.get(api) == provider
    carried = provider in (form.hosted or ())
    if known and not speaks:
        reason = f"the {api} interface does not carry {provider} hosted search"
    elif known and not carried:
        masked = name == "gateway"
        address = f" ({_shown(base_url)})" if masked and not transport else ""
        reason = f"the transport {name}{address} is not known to carry {provider} hosted search"
    usable = known and speaks
    hosted = usable and carried
    native = _CLIENT_FORM[provider] if provider and usable else None
    return Support(
        model=model,
        provider=provider,
        hosted=hosted,
        variant=(form.variant or "bm25") if hosted and provider == "anthropic" else None,
        client_forms=(native,) if native and native in (form.client_forms or ()) else (),
        transport=name,
        masked=masked,
        betas=(form.betas or ()) if usable else (),
        reason=reason,
        warnings=warnings if usable else (),
        most_tools=form.most_tools or MOST_TOOLS.get(api),
    )


def infer_api(model: str | None) -> Api:
    """The wire format that a bare model id suggests; Chat Completions where it suggests none."""
    name = model or ""
    if name.startswith("claude-"):
        return "anthropic"
    if name.startswith("gemini-"):
        return "gemini"
    return "responses" if re.match(r"gpt-|o\d|codex-", name) else "chat"


def _model(
    model: str | None, api: Api, overrides: Mapping[str, bool], assume_newer: bool
) -> tuple[bool, Provider | None, str, tuple[str, ...]]:
    """Return whether the model has hosted search, whose, why (not), and warnings."""
    if not model or not model.strip():
        return False, None, "model not known", ()
    row = next((row for row in MODELS if re.fullmatch(row.pattern, model)), None)
    own = _override(model, overrides)
    if own is not None:
        provider = row.provider if row else _HOSTED_API.get(api)
        supported = "has" if own else "does not have"
        return own, provider, f"model {model} {supported} hosted search by your own row", ()
    if row:
        warnings = (f"Hosted search on {model} is disputed: {row.note}.",) if row.note else ()
        return True, row.provider, f"model {model} has {row.provider} hosted search", warnings
    version = _GPT.fullmatch(model)
    if version and (int(version[1] or version[3]), int(version[2] or 0)) > _NEWEST_GPT:
        why = f"model {model} is newer than the table"
        return (
            assume_newer,
            "openai",
            f"{why}, and newer ones are assumed to have it" if assume_newer else why,
            (),
        )
    return False, None, f"model not supported: {model} is not in the table of hosted search", ()


def _override(model: str, rows: Mapping[str, bool]) -> bool | None:
    undated = re.sub(r"[-@]\d{8}$", "", model)
    for name in (model, undated):
        if name in rows:
            return rows[name]
    patterns = sorted((row for row in rows if fnmatchcase(model, row)), key=lambda row: (-len(row), row))
    return rows[patterns[0]] if patterns else None


def _transport(base_url: Any, provider: Provider | None) -> str:
    if base_url is None or not str(base_url).strip():
        return "first_party"
    host = _host(base_url)
    owners = [provider] if provider else list(_FIRST_PARTY_HOSTS)
    own = (_FIRST_PARTY_HOSTS[owner] for owner in owners)
    return "first_party" if any(host == name or host.endswith(f".{name}") for name in own) else "gateway"


def _host(base_url: Any) -> str:
    text = str(base_url).strip()
    try:
        host = urlsplit(text if "//" in text else f"//{text}").hostname
    except ValueError:
        return ""
    return (host or "").rstrip(".")


def _shown(base_url: Any) -> str:
    """The address without user, password, path and query, which may hold secrets."""
    return _host(base_url) or "no readable address"


def _form(name: str, rows: Mapping[str, TransportForm]) -> TransportForm:
    built_in, own = TRANSPORTS.get(name), rows.get(name)
    if built_in is None and own is None:
        known = [*TRANSPORTS, *rows]
        similar = nearest(name, known)
        hint = f" Nearest: {similar[0]}." if similar else ""
        raise ConfigError(f"There is no transport {name!r}; there are {', '.join(known)}.{hint}")
    fields = built_in.model_dump() if built_in else {}
    if own is not None:
        fields.update(own.model_dump(exclude_none=True))
    return TransportForm(**fields)
