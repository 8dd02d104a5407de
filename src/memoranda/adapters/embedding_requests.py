"""One request to an endpoint of embeddings, made once: what was answered, or why it failed and what may help."""

from __future__ import annotations

from memoranda.adapters.embedding_answers import read_answer
from memoranda.adapters.endpoint_answers import Refused, describe_status
from memoranda.adapters.endpoint_requests import EndpointRequests
from memoranda.adapters.time_limits import OutOfTime, TimeLimit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence
    from typing import Any

    from memoranda.adapters.embedding_endpoints import Endpoint
    from memoranda.adapters.providers import Place

__all__ = ["EmbeddingRequests"]

#: Bytes that one number of an answer may take, and one vector's length at most: what is longer is not read to its end.
_BYTES_OF_VECTOR = 32 * 65536


class EmbeddingRequests:
    """Asks one endpoint for the vectors of one model."""

    def __init__(self, endpoint: Endpoint, place: Place, model: str, key: str, dimension: int, extra: str) -> None:
        self._endpoint, self._place, self._model, self._dimension = endpoint, place, model, dimension
        self._requests = EndpointRequests(endpoint.provider, place, key, extra, "embedding")
        self._limit = TimeLimit()

    def load(self) -> None:
        """Import what a request needs. Raises MissingExtra."""
        self._requests.load()

    def send(self, texts: Sequence[str], question: bool, seconds: float) -> list[array[float]]:
        """The vectors of texts, in their order. ``seconds`` bound all of it but loading the package.

        Raises:
            Refused: whatever went wrong, in words that may be shown.
            UsageError: there is no credential.
            MissingExtra: the package is missing.
        """
        self.load()
        try:
            return self._limit.call(seconds, lambda: self._send(texts, question, seconds))
        except OutOfTime:
            pass
        raise Refused(f"{self._place.name} did not answer in {seconds:g} s", late=True)

    def _send(self, texts: Sequence[str], question: bool, seconds: float) -> list[array[float]]:
        from time import monotonic

        beside: dict[str, Any] = self._endpoint.beside(self._model, question)
        if self._dimension:
            beside[self._endpoint.dimension_name] = self._dimension
        answered = self._requests.send(
            lambda client: client.embeddings.with_streaming_response.create(
                model=self._model,
                input=list(texts),
                encoding_format=self._endpoint.encoding,
                extra_body=beside,
                timeout=seconds,
            ),
            "vectors",
            _BYTES_OF_VECTOR * len(texts) + 65536,
            monotonic() + seconds,
            seconds,
        )
        if answered.status != 200:
            raise describe_status(answered.status, answered.body, answered.headers, self._place.name, answered.key)
        return read_answer(answered.body, len(texts), self._place.name, answered.key)
