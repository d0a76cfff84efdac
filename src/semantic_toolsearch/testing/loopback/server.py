"""A script comes in; a local server goes out that speaks both providers' interfaces and refuses what they refuse."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qs, urlsplit

from . import anthropic_request, anthropic_stream, chat_request, responses_request, responses_stream
from .anthropic_api import AnthropicSpeaker
from .anthropic_threads import Threads
from .cache import CacheUse, PromptCache
from .chat_api import ChatSpeaker
from .conduct import EmittedCall, ScriptedStatus, Speaker, conduct
from .http import Answer, HttpServer
from .refusal import Refusal, ScriptError, anthropic_error, openai_error
from .responses_api import ResponsesSpeaker
from .responses_request import StoredResponse
from .script import Script, ScriptSource
from .settings import Settings

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from .view import RequestView

__all__ = ["Exchange", "LoopbackProvider"]

Api = Literal["anthropic", "responses", "chat"]
_ROUTES: dict[str, Api] = {"/messages": "anthropic", "/responses": "responses", "/chat/completions": "chat"}


@dataclass(slots=True)
class Exchange:
    """One request for a response, and what became of it.

    Attributes:
        api: Interface.
        path: Path and query.
        headers: Headers, names in lower case.
        body: The request.
        status: HTTP status, or None while it is being answered.
        response: The complete response or error body, also where it was streamed.
        view: What the model saw before it answered, or None where the request was refused.
        cache: Simulated use of the prompt cache.
        calls: Calls that the model made.
    """

    api: Api
    path: str
    headers: Mapping[str, str]
    body: Any
    status: int | None = None
    response: Mapping[str, Any] | None = None
    view: RequestView | None = None
    cache: CacheUse = field(default_factory=CacheUse)
    calls: tuple[EmittedCall, ...] = ()


class LoopbackProvider:
    """A server on 127.0.0.1 with Anthropic's Messages and OpenAI's Responses and Chat Completions interfaces.

    Use it as a context manager and give its `url` to the SDKs as ``base_url`` (`openai_url` for OpenAI's). The script
    decides what the model does; the rules of the providers decide what it gets to see.

    Args:
        script: Steps of the model, or a function from the request as the model sees it to the next step.
        settings: Fields of `Settings`.

    Attributes:
        exchanges: Requests for a response, in the order they came, refused ones included.
        token_counts: Bodies of requests that only counted tokens.
        failures: What the script could not do; each was answered with status 500.
    """

    def __init__(self, script: ScriptSource = (), **settings: Any) -> None:
        self.settings = Settings(**settings)
        self.exchanges: list[Exchange] = []
        self.token_counts: list[Any] = []
        self.failures: list[str] = []
        self._script = Script(script)
        self._cache = PromptCache(self.settings.cache_minimum)
        self._stored: dict[str, StoredResponse] = {}
        self._threads = Threads()
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._http: HttpServer | None = None

    def __enter__(self) -> Self:
        self._http = HttpServer(self._respond)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop the server; what it recorded stays."""
        if self._http is not None:
            self._http.close()
            self._http = None

    @property
    def url(self) -> str:
        """Base address for the Anthropic SDK.

        Raises:
            RuntimeError: The server does not run.
        """
        if self._http is None:
            raise RuntimeError("the loopback provider runs only inside its with block")
        return f"http://127.0.0.1:{self._http.port}"

    @property
    def openai_url(self) -> str:
        """Base address for the OpenAI SDK."""
        return f"{self.url}/v1"

    @property
    def requests(self) -> list[Any]:
        """Bodies of all requests for a response, in the order they came."""
        return [exchange.body for exchange in self.exchanges]

    @property
    def calls(self) -> list[EmittedCall]:
        """All calls that the model made, in order."""
        return [call for exchange in self.exchanges for call in exchange.calls]

    @property
    def remaining(self) -> int:
        """Steps of the script that no response has taken."""
        return self._script.remaining

    def model_view(self, index: int) -> RequestView:
        """What the model saw of a request before it answered.

        Raises:
            LookupError: There is no such request, or it was refused.
        """
        view = self.exchanges[index].view
        if view is None:
            raise LookupError(f"request {index} was refused: {self.exchanges[index].response}")
        return view

    def cache(self, index: int) -> CacheUse:
        """Simulated use of the prompt cache by a request."""
        return self.exchanges[index].cache

    def _respond(self, method: str, target: str, headers: Mapping[str, str], data: bytes) -> Answer:
        parts = urlsplit(target)
        path = parts.path.removeprefix("/v1")
        api = _ROUTES.get(path)
        anthropic = path.startswith("/messages") or "anthropic-version" in headers
        try:
            if method != "POST" or (api is None and path != "/messages/count_tokens"):
                return self._other(method, path, anthropic=anthropic)
            body = _parsed(data)
            # Older SDKs mark the beta interface in the query, newer ones by the header alone.
            beta = parse_qs(parts.query).get("beta") == ["true"] or "anthropic-beta" in headers
            if api is None:
                self.token_counts.append(body)
                count = anthropic_request.count_tokens(body, headers, self.settings, beta=beta)
                return Answer(200, {"input_tokens": count})
        except Refusal as refusal:
            return self._refused(refusal, anthropic=anthropic)
        exchange = Exchange(api, target, headers, body)
        with self._lock:
            index = len(self.exchanges)
            self.exchanges.append(exchange)
        try:
            answer = self._generate(exchange, index, beta=beta)
        except Refusal as refusal:
            answer = self._refused(refusal, anthropic=api == "anthropic")
        except Exception as error:  # a thread of the server must answer, whatever the request holds
            answer = self._failed(error, anthropic=api == "anthropic")
        exchange.status = answer.status
        exchange.response = exchange.response or answer.body
        return answer

    def _generate(self, exchange: Exchange, index: int, *, beta: bool) -> Answer:
        if exchange.api == "anthropic":
            return self._messages(exchange, index, beta=beta)
        if not exchange.headers.get("authorization"):
            raise Refusal("You didn't provide an API key.", status=401, code="invalid_api_key")
        return (
            self._responses(exchange, index) if exchange.api == "responses" else self._chat(exchange, index)
        )

    def _messages(self, exchange: Exchange, index: int, *, beta: bool) -> Answer:
        body = self._threads.whole(exchange.body)
        request = anthropic_request.read_request(body, exchange.headers, index, self.settings, beta=beta)
        exchange.cache = self._cache.marked(body["model"], request.segments)
        self._seen(exchange, request.view)
        speaker = AnthropicSpeaker(request, exchange.cache, self._new_id, self.settings)
        self._conduct(exchange, speaker)
        exchange.response = speaker.message()
        self._threads.hold(body, exchange.response)
        headers = {"request-id": self._new_id("req_")}
        if exchange.body.get("stream"):
            return Answer(
                200,
                events=anthropic_stream.events(speaker, exchange.response, self.settings),
                headers=headers,
            )
        _raise_broken(speaker)
        return Answer(200, exchange.response, headers=headers)

    def _responses(self, exchange: Exchange, index: int) -> Answer:
        with self._lock:
            stored = dict(self._stored)
        request = responses_request.read_request(exchange.body, index, stored, self.settings)
        exchange.cache = self._cache.automatic(exchange.body["model"], request.segments)
        self._seen(exchange, request.view)
        speaker = ResponsesSpeaker(request, exchange.cache, self._new_id, self.settings)
        self._conduct(exchange, speaker)
        exchange.response = speaker.response()
        if exchange.body.get("store") is not False:
            with self._lock:
                items = (*request.items, *speaker.view.emitted)
                self._stored[speaker.identity] = StoredResponse(exchange.response, items)
        if exchange.body.get("stream"):
            return Answer(200, events=responses_stream.events(speaker, self.settings, self._new_id))
        _raise_broken(speaker)
        return Answer(200, exchange.response)

    def _chat(self, exchange: Exchange, index: int) -> Answer:
        request = chat_request.read_request(exchange.body, index, self.settings)
        exchange.cache = self._cache.automatic(exchange.body["model"], request.segments)
        self._seen(exchange, request.view)
        speaker = ChatSpeaker(request, exchange.cache, self._new_id, self.settings)
        self._conduct(exchange, speaker)
        exchange.response = speaker.completion()
        if exchange.body.get("stream"):
            return Answer(200, events=speaker.chunks(), named=False, done=True)
        _raise_broken(speaker)
        return Answer(200, exchange.response)

    def _seen(self, exchange: Exchange, view: RequestView) -> None:
        """Keep the view as it was before the response, which loads more."""
        exchange.view = replace(view, surfaces=[replace(surface) for surface in view.surfaces], emitted=[])

    def _conduct(self, exchange: Exchange, speaker: Speaker) -> None:
        conduct(self._script, speaker, self.settings)
        exchange.calls = tuple(speaker.calls)

    def _other(self, method: str, path: str, *, anthropic: bool) -> Answer:
        """Stored responses can be read and deleted; nothing else is here."""
        identity = path.removeprefix("/responses/")
        with self._lock:
            stored = self._stored.get(identity)
            if stored is not None and method == "DELETE":
                del self._stored[identity]
                return Answer(200, {"id": identity, "object": "response", "deleted": True})
        if stored is not None and method == "GET":
            return Answer(200, stored.body)
        if path.startswith("/responses/"):
            raise Refusal(f"Response with id '{identity}' not found.", status=404)
        raise Refusal(f"Not found: {method} {path}" if not anthropic else "Not Found", status=404)

    def _refused(self, refusal: Refusal, *, anthropic: bool) -> Answer:
        body: Mapping[str, Any]
        if isinstance(refusal, ScriptedStatus) and refusal.body is not None:
            body = refusal.body
        else:
            body = anthropic_error(refusal, self._new_id("req_")) if anthropic else openai_error(refusal)
        return Answer(refusal.status, body, headers=refusal.headers)

    def _failed(self, error: Exception, *, anthropic: bool) -> Answer:
        words = str(error) if isinstance(error, ScriptError) else f"{type(error).__name__}: {error}"
        self.failures.append(words)
        refusal = Refusal(f"loopback script: {words}", status=500, headers={"x-should-retry": "false"})
        return self._refused(refusal, anthropic=anthropic)

    def _new_id(self, prefix: str) -> str:
        return f"{prefix}{next(self._numbers):016d}"


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        raise Refusal("The request body is not valid JSON.") from None


def _raise_broken(speaker: AnthropicSpeaker | ResponsesSpeaker | ChatSpeaker) -> None:
    """Without a stream, what would break it off is an ordinary error."""
    if speaker.error:
        raise Refusal(
            speaker.error.message,
            status=speaker.error.status,
            type=speaker.error.type,
            headers={"retry-after-ms": "1"},
        )
