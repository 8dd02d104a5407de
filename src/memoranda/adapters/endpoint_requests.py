"""One request to an endpoint that speaks OpenAI's language, made once: what came back, or why nothing did."""

from __future__ import annotations

from memoranda.adapters.endpoint_answers import NO_KEY, Refused, shown
from memoranda.core.errors import MissingExtra
from memoranda.core.records import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager
    from types import ModuleType
    from typing import Any

    from memoranda.adapters.providers import Place, Provider

__all__ = ["Answered", "EndpointRequests"]


@dataclass(frozen=True, slots=True)
class Answered:
    """What an endpoint answered; ``key`` is the credential that was sent, to be kept out of messages."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    key: str = field(default="", repr=False)


class EndpointRequests:
    """Speaks to one endpoint through the package ``openai``, which is imported at the first request.

    The credential is resolved when the first request is made, and again after
    one was refused. Proxies and certificates are those of the environment;
    redirects are not followed, for they could lead a credential elsewhere.
    ``table`` is where the settings of the endpoint are, for messages.
    """

    def __init__(self, provider: Provider, place: Place, key: str, extra: str, table: str) -> None:
        from threading import Lock

        self._provider, self._place, self._key = provider, place, key
        self._extra, self._table = extra, table
        self._lock = Lock()
        self._client: Any = None
        self._http: Any = None

    def load(self) -> ModuleType:
        """The package. Raises MissingExtra."""
        from importlib import import_module

        try:
            openai = import_module("openai")
        except ImportError as error:
            raise MissingExtra(f"provider = {self._provider.name!r}", self._extra) from error
        with self._lock:
            if self._http is None:
                self._http = openai.DefaultHttpxClient(follow_redirects=False)
        return openai

    def send(
        self, make: Callable[[Any], AbstractContextManager[Any]], what: str, most: int, until: float, seconds: float
    ) -> Answered:
        """The answer to the request that ``make`` makes of a client, whatever its status.

        ``most`` is how many bytes it may have, ``what`` it would hold then (in
        words, for a message); it is given up on at ``until`` (monotonic), which
        is ``seconds`` from when the caller began. Who calls bounds the time of
        the request itself (:class:`memoranda.adapters.time_limits.TimeLimit`).

        Raises:
            Refused: there is no answer, for reasons in words that may be shown.
            UsageError: there is no credential.
            MissingExtra: the package is missing.
        """
        from time import monotonic

        openai = self.load()
        client = self._connected(openai)
        place, key = self._place.name, str(client.api_key)
        # What is raised is worked out here and raised below, so that no traceback carries what the endpoint wrote.
        failed: Refused | None = None
        answered: Answered | None = None
        reading = False
        body = bytearray()
        try:
            with make(client) as response:
                reading = True
                for piece in response.iter_bytes():
                    body += piece
                    if len(body) > most:
                        failed = Refused(f"{place} answered with more than {what} can be")
                        break
                    if monotonic() > until:
                        failed = Refused(f"{place} did not answer in {seconds:g} s", late=True)
                        break
                answered = Answered(response.status_code, dict(response.headers), bytes(body), key)
        except openai.APIStatusError as error:
            answered = self._status(error, key)
        except openai.APITimeoutError:
            failed = Refused(f"{place} did not answer in {seconds:g} s", late=True)
        except openai.APIConnectionError as error:
            cause = error.__cause__
            said = f": {shown(str(cause), key)}" if cause is not None and str(cause) else ""
            failed = Refused(f"{place} cannot be reached{said}", again=True)
        except openai.OpenAIError as error:
            failed = Refused(f"the package openai could not ask {place} ({type(error).__name__})")
        except Exception as error:
            # httpx's own faults come through while a body is read, whichever package it is called by.
            if not reading:
                failed = Refused(f"{place} could not be asked ({type(error).__name__})")
            elif "Timeout" in type(error).__name__:
                failed = Refused(f"{place} did not answer in {seconds:g} s", late=True)
            else:
                failed = Refused(f"{place} broke off its answer ({type(error).__name__})", again=True)
        if failed is not None or answered is None:
            raise failed or Refused(f"{place} did not answer", again=True)
        return answered

    def _status(self, error: Any, key: str) -> Answered:
        try:
            body = bytes(error.response.content)
        except Exception:  # it was not read, or broke off
            body = b""
        if error.status_code == 401:
            with self._lock:
                self._client = None  # the next one looks for the credential again
        return Answered(error.status_code, dict(error.response.headers), body, key)

    def _connected(self, openai: ModuleType) -> Any:
        with self._lock:
            if self._client is not None:
                return self._client
        from memoranda.adapters.credentials import resolve

        provider, place = self._provider, self._place
        # Whose host it is not gets no credential that was not named for it.
        usual = provider.variables if place.own else ()
        keyless = provider.asks_no_key or not place.own
        key = resolve(self._key, usual, NO_KEY if keyless else "", self._table)
        options: dict[str, Any] = {
            "api_key": key,
            "base_url": place.url,
            "max_retries": 0,
            "http_client": self._http,
            "default_query": {name: value for name, value in place.query if name != "api-version"},
        }
        version = dict(place.query).get("api-version")
        if version and provider.name == "azure":
            made = openai.AzureOpenAI(api_version=version, **options)
        else:
            if version:
                options["default_query"]["api-version"] = version
            made = openai.OpenAI(**options)
        with self._lock:
            if self._client is None:
                self._client = made
            return self._client
