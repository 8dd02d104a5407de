"""An embedder behind an endpoint that speaks OpenAI's language: batches, retries, cuts, and a limit of time."""

from __future__ import annotations

from memoranda.adapters.embedding_endpoints import ENDPOINTS
from memoranda.adapters.embedding_models import model_facts, prefixes, space_name
from memoranda.adapters.embedding_requests import EmbeddingRequests
from memoranda.adapters.endpoint_answers import Refused
from memoranda.adapters.providers import read_place
from memoranda.core.errors import ServiceFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterator, Sequence

    from memoranda.storage.embedding_settings import EmbeddingSettings

__all__ = ["OpenAIEmbedder", "endpoint_embedder"]

#: Tries of one request, and the seconds before the second; each further pause is twice as long, up to the longest.
TRIES = 6
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 20.0
#: Characters that are sent at once, over all texts.
LARGEST_REQUEST = 200_000
#: A text that is refused as too long is halved at least so often, and on until it is this short.
FEWEST_CUTS = 3
SHORTEST_CUT = 64
#: Hardly a token of any language has more characters: what lies beyond a model's window is not sent.
_CHARACTERS_OF_TOKEN = 8


def endpoint_embedder(settings: EmbeddingSettings, extra: str) -> OpenAIEmbedder:
    """The embedder of a provider in :data:`ENDPOINTS`. Raises UsageError: its address cannot be one."""
    return OpenAIEmbedder(settings, extra)


class OpenAIEmbedder:
    """Embeds by requests. ``sleep`` and ``chance`` (from 0 to 1) are for tests.

    A request is tried six times where that may help: after 429 (as long as
    ``Retry-After`` says, a minute at most), 5xx, a fault of the connection, no
    answer in time, an answer that is an error or a web page. A batch that is
    too large is halved, a single text that is too long is cut. Vectors are
    believed when there are as many as texts, all of one length, the one that
    was asked for and that came before, and all their numbers are finite.
    """

    def __init__(
        self,
        settings: EmbeddingSettings,
        extra: str = "openai",
        *,
        sleep: Callable[[float], None] | None = None,
        chance: Callable[[], float] | None = None,
    ) -> None:
        from threading import Lock

        endpoint = ENDPOINTS[settings.provider]
        place = read_place(endpoint.provider, settings.base_url, "embedding", "/embeddings")
        model = settings.model or endpoint.model
        self._query_prefix, self._document_prefix = prefixes(settings, model)
        self._name = space_name(
            endpoint.provider.name, model, settings.dimension, place.name, self._query_prefix, self._document_prefix
        )
        self._requests = EmbeddingRequests(endpoint, place, model, settings.key, settings.dimension, extra)
        self._place, self._timeout = place.name, settings.timeout
        self._asked, self._dimension = settings.dimension, settings.dimension
        self._batch = min(settings.batch, endpoint.batch)
        self._longest = model_facts(model).tokens * _CHARACTERS_OF_TOKEN or LARGEST_REQUEST
        self._sleep, self._chance = sleep, chance
        self._refusals = 0
        self._lock = Lock()

    @property
    def model(self) -> str:
        """The space: provider, model, dimension as asked for, place, and prefixes."""
        return self._name

    def warm(self) -> None:
        """Import what the first call would (about a second). Raises MissingExtra."""
        self._requests.load()

    def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector for each text. Raises ServiceFailed, MissingExtra; UsageError: there is no credential."""
        prepared = [self._prepared(self._document_prefix, text) for text in texts]
        vectors: list[array[float]] = []
        while len(vectors) < len(prepared):
            batch = self._next_batch(prepared, len(vectors))
            vectors += self._embed(batch, len(vectors), len(prepared))
        return vectors

    def embed_query(self, text: str, seconds: float | None = None) -> Sequence[float]:
        """The vector of a question, tried once. ``seconds`` bound all but the first import.

        Raises ServiceFailed, MissingExtra; UsageError: there is no credential.
        """
        from time import monotonic

        self.warm()
        allowed = self._timeout if seconds is None else seconds
        until = monotonic() + allowed
        head, piece = self._prepared(self._query_prefix, text)
        failed = ""
        for cut in self._cuts(piece):
            left = max(0.0, until - monotonic())
            try:
                return self._checked(self._requests.send([_whole(head, cut)], True, left))[0]
            except Refused as refused:
                # The seconds that were left are no news to who gave more of them.
                failed = f"{self._place} did not answer in {allowed:g} s" if refused.late else str(refused)
                if not refused.size:
                    break
        raise ServiceFailed(failed)

    def _prepared(self, prefix: str, text: str) -> tuple[str, str]:
        """The prefix and what is sent of a text, which may be cut further."""
        return prefix, text[: self._longest].encode("utf-8", "replace").decode()

    def _next_batch(self, prepared: Sequence[tuple[str, str]], start: int) -> Sequence[tuple[str, str]]:
        size, end = 0, start
        while end < len(prepared) and end - start < self._batch:
            size += len(prepared[end][0]) + len(prepared[end][1])
            if size > LARGEST_REQUEST and end > start:
                break
            end += 1
        return prepared[start:end]

    def _embed(self, batch: Sequence[tuple[str, str]], start: int, total: int) -> list[array[float]]:
        """The vectors of a batch that begins at ``start`` of ``total``, halved as long as it is too large."""
        if len(batch) == 1:
            return [self._embed_one(batch[0], start, total)]
        try:
            return self._tried([_whole(*one) for one in batch])
        except Refused as refused:
            if not refused.size:
                raise ServiceFailed(str(refused)) from None
        half = (len(batch) + 1) // 2
        self._refusals += 1
        refusals = self._refusals
        vectors = self._embed(batch[:half], start, total) + self._embed(batch[half:], start + half, total)
        if self._refusals == refusals:  # this size is taken: what follows is not to be refused again and again
            self._batch = min(self._batch, half)
        return vectors

    def _embed_one(self, text: tuple[str, str], start: int, total: int) -> array[float]:
        head, piece = text
        failed: Refused | None = None
        for cut in self._cuts(piece):
            try:
                return self._tried([_whole(head, cut)])[0]
            except Refused as refused:
                failed = refused
                if not refused.size:
                    break
                self._refusals += 1
        if failed is not None and failed.size:
            which = f"text {start + 1} of {total} ({piece[:40]!r}…, {len(piece)} characters)"
            raise ServiceFailed(f"{which} is too long, however it is cut: {failed}")
        raise ServiceFailed(str(failed))

    @staticmethod
    def _cuts(text: str) -> Iterator[str]:
        """The text, its first half, the first half of that, and so on."""
        yield text
        cuts = 0
        while cuts < FEWEST_CUTS or len(text) > SHORTEST_CUT:
            text = text[: max(1, len(text) // 2)]
            cuts += 1
            yield text

    def _tried(self, texts: Sequence[str]) -> list[array[float]]:
        """The vectors of one request, tried again where that may help. Raises Refused."""
        pause = FIRST_PAUSE
        for left in reversed(range(TRIES)):
            try:
                return self._checked(self._requests.send(texts, False, self._timeout))
            except Refused as refused:
                if not refused.again:
                    raise
                if not left:
                    raise Refused(f"{refused} (tried {TRIES} times)") from None
                wait = refused.wait
            self._pause(pause if wait is None else wait, wait is None)
            pause = min(pause * 2, LONGEST_PAUSE)
        raise AssertionError("unreachable")

    def _pause(self, seconds: float, spread: bool) -> None:
        """Wait; spread out, so that those who failed together do not come back together."""
        if self._sleep is None or self._chance is None:
            from random import random
            from time import sleep

            self._sleep, self._chance = self._sleep or sleep, self._chance or random
        self._sleep(seconds * (0.5 + self._chance() / 2) if spread else seconds + self._chance() * 0.25)

    def _checked(self, vectors: list[array[float]]) -> list[array[float]]:
        """The vectors, all of the length that was asked for and came before."""
        with self._lock:
            for vector in vectors:
                if not self._dimension:
                    self._dimension = len(vector)
                if len(vector) != self._dimension:
                    why = "were asked for" if self._asked else "came before"
                    raise Refused(
                        f"{self._place} answered with vectors of {len(vector)} numbers where {self._dimension} {why}"
                    )
        return vectors


def _whole(head: str, text: str) -> str:
    """What is sent: never nothing, which some endpoints refuse."""
    whole = head + text
    return whole if whole.strip() else " "
