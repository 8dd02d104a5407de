"""One request to an endpoint of embeddings, made once: what was answered, or why it failed and what may help."""

from __future__ import annotations

from memoranda.adapters.embedding_answers import NO_KEY, Refused, describe_status, read_answer, shown
from memoranda.adapters.time_limits import OutOfTime, TimeLimit
from memoranda.core.errors import MissingExtra

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any

    from memoranda.adapters.embedding_endpoints import Endpoint, Place

__all__ = ["EndpointRequests"]

#: Bytes that one number of an answer may take, and one vector's length at most: what is longer is not read to its end.
_BYTES_OF_VECTOR = 32 * 65536


class EndpointRequests:
    """Speaks to one endpoint through the package ``openai``, which is imported at the first request.

    The credential is resolved when the first request is made, and again after
    one was refused. Proxies and certificates are those of the environment;
    redirects are not followed, for they could lead a credential elsewhere.
    """

    def __init__(self, endpoint: Endpoint, place: Place, model: str, key: str, dimension: int, extra: str) -> None:
        from threading import Lock

        self._endpoint, self._place, self._model = endpoint, place, model
        self._key, self._dimension, self._extra = key, dimension, extra
        self._lock = Lock()
        self._client: Any = None
        self._http: Any = None
        self._limit = TimeLimit()

    def load(self) -> ModuleType:
        """The package. Raises MissingExtra."""
        from importlib import import_module

        try:
            openai = import_module("openai")
        except ImportError as error:
            raise MissingExtra(f"provider = {self._endpoint.name!r}", self._extra) from error
        with self._lock:
            if self._http is None:
                self._http = openai.DefaultHttpxClient(follow_redirects=False)
        return openai

    def send(self, texts: Sequence[str], question: bool, seconds: float) -> list[array[float]]:
        """The vectors of texts, in their order. ``seconds`` bound all of it but loading the package.

        Raises:
            Refused: whatever went wrong, in words that may be shown.
            UsageError: there is no credential.
            MissingExtra: the package is missing.
        """
        openai = self.load()
        try:
            return self._limit.call(seconds, lambda: self._send(openai, texts, question, seconds))
        except OutOfTime:
            pass
        raise Refused(f"{self._place.name} did not answer in {seconds:g} s", late=True)

    def _send(self, openai: ModuleType, texts: Sequence[str], question: bool, seconds: float) -> list[array[float]]:
        from time import monotonic

        until = monotonic() + seconds
        client = self._connected(openai)
        beside: dict[str, Any] = self._endpoint.beside(self._model, question)
        if self._dimension:
            beside[self._endpoint.dimension_name] = self._dimension
        most = _BYTES_OF_VECTOR * len(texts) + 65536
        # What is raised is worked out here and raised below, so that no traceback carries what the endpoint wrote.
        failed: Refused | None = None
        reading = False
        body = bytearray()
        try:
            with client.embeddings.with_streaming_response.create(
                model=self._model,
                input=list(texts),
                encoding_format=self._endpoint.encoding,
                extra_body=beside,
                timeout=seconds,
            ) as response:
                reading = True
                for piece in response.iter_bytes():
                    body += piece
                    if len(body) > most:
                        failed = Refused(f"{self._place.name} answered with more than vectors can be")
                        break
                    if monotonic() > until:
                        failed = Refused(f"{self._place.name} did not answer in {seconds:g} s", late=True)
                        break
        except openai.APIStatusError as error:
            failed = self._status(error, client.api_key)
        except openai.APITimeoutError:
            failed = Refused(f"{self._place.name} did not answer in {seconds:g} s", late=True)
        except openai.APIConnectionError as error:
            cause = error.__cause__
            said = f": {shown(str(cause), client.api_key)}" if cause is not None and str(cause) else ""
            failed = Refused(f"{self._place.name} cannot be reached{said}", again=True)
        except openai.OpenAIError as error:
            failed = Refused(f"the package openai could not ask {self._place.name} ({type(error).__name__})")
        except Exception as error:
            # httpx's own faults come through while a body is read, whichever package it is called by.
            if not reading:
                failed = Refused(f"{self._place.name} could not be asked ({type(error).__name__})")
            elif "Timeout" in type(error).__name__:
                failed = Refused(f"{self._place.name} did not answer in {seconds:g} s", late=True)
            else:
                failed = Refused(f"{self._place.name} broke off its answer ({type(error).__name__})", again=True)
        if failed is not None:
            raise failed
        return read_answer(bytes(body), len(texts), self._place.name, client.api_key)

    def _status(self, error: Any, key: str) -> Refused:
        try:
            body = bytes(error.response.content)
        except Exception:  # it was not read, or broke off
            body = b""
        refused = describe_status(error.status_code, body, dict(error.response.headers), self._place.name, key)
        if error.status_code == 401:
            with self._lock:
                self._client = None  # the next one looks for the credential again
        return refused

    def _connected(self, openai: ModuleType) -> Any:
        with self._lock:
            if self._client is not None:
                return self._client
        from memoranda.adapters.credentials import resolve

        endpoint, place = self._endpoint, self._place
        # Whose host it is not gets no credential that was not named for it.
        usual = endpoint.variables if place.own else ()
        keyless = endpoint.asks_no_key or not place.own
        key = resolve(self._key, usual, NO_KEY if keyless else "")
        options: dict[str, Any] = {
            "api_key": key,
            "base_url": place.url,
            "max_retries": 0,
            "http_client": self._http,
            "default_query": {name: value for name, value in place.query if name != "api-version"},
        }
        version = dict(place.query).get("api-version")
        if version and endpoint.name == "azure":
            made = openai.AzureOpenAI(api_version=version, **options)
        else:
            if version:
                options["default_query"]["api-version"] = version
            made = openai.OpenAI(**options)
        with self._lock:
            if self._client is None:
                self._client = made
            return self._client
