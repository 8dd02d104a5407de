"""mem0 by its library, without its language model: what is committed is kept word for word (``infer=False``).

It keeps vectors in a Qdrant folder and a history in SQLite, both under one
``folder`` that one process at a time may use. The package is imported at the
first call, with its reports about its use switched off unless the environment
says otherwise, and without making a folder in the user's home.
"""

from __future__ import annotations

import os

from memoranda.adapters.backends.interface import Committed, Retrieved, address_of, line_of
from memoranda.adapters.endpoint_answers import NO_KEY, shown
from memoranda.adapters.time_limits import OutOfTime, TimeLimit
from memoranda.core.errors import MemorandaError, MissingExtra

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any, TypeVar

    T = TypeVar("T")

__all__ = ["Mem0"]

#: Whose memory it is, for mem0, which asks for somebody.
_USER = "memoranda"
#: An address that nobody listens at: mem0 wants a language model to be named, and none is to be asked.
_NOWHERE = "http://127.0.0.1:9/v1"
#: Where a memory says which turn it is.
_SOURCE = "source"


class Mem0:
    """mem0 (``pip install 'memoranda[mem0]'``).

    ``base_url`` and ``model`` name an endpoint that speaks OpenAI's language
    of embeddings, ``dimension`` is the length of its vectors, ``key`` is where
    its credential is: ``env:NAME`` or ``keyring:SERVICE/USER``. ``timeout``
    bounds each call but for the first import; what hangs longer goes on unseen.
    """

    def __init__(
        self, folder: str, *, base_url: str, model: str, dimension: int, key: str = "", timeout: float = 30.0
    ) -> None:
        from threading import Lock

        self._folder, self._timeout = folder, timeout
        self._base_url, self._model, self._dimension, self._key = base_url, model, dimension, key
        self._limit = TimeLimit(4)
        self._lock = Lock()
        self._memory: Any = None

    def warm(self) -> None:
        """Import the package and open the folder.

        Raises:
            MissingExtra: it is not installed.
            UsageError: there is no credential.
        """
        with self._lock:
            if self._memory is None:
                self._memory = _import(self._folder).Memory.from_config(self._configuration())

    def retrieve(self, query: str, k: int) -> Retrieved:
        """At most ``k`` texts. Raises nothing: see ``unavailable``."""
        if not query.strip() or k < 1:
            return Retrieved()
        try:
            answer = self._call(lambda memory: memory.search(query, top_k=k, filters={"user_id": _USER}))
            found = list(_memories(answer))[:k]
        except _Unavailable as why:
            return Retrieved(unavailable=str(why))
        return Retrieved(tuple(text for text, _ in found), tuple(source for _, source in found))

    def commit(self, turns: Sequence[Mapping[str, object]]) -> Committed:
        """Keep turns, one by one; those that are held already are not embedded again. Raises nothing: see ``fault``."""
        count = 0
        try:
            for turn in turns:
                try:
                    source, line = address_of(turn), line_of(turn)
                except (KeyError, TypeError, AttributeError):
                    raise _Unavailable(
                        "what is no turn cannot be committed: conversation, turn and text are needed"
                    ) from None
                self._keep(source, line, "assistant" if turn.get("role") == "assistant" else "user")
                count += 1
        except _Unavailable as why:
            return Committed(count, str(why))
        return Committed(count)

    def close(self) -> None:
        """Give back the folder."""
        with self._lock:
            memory, self._memory = self._memory, None
        if memory is not None:
            for close in (memory.close, getattr(getattr(memory.vector_store, "client", None), "close", None)):
                if close is not None:
                    close()

    def _keep(self, source: str, line: str, role: str) -> None:
        def keep(memory: Any) -> object:
            held = memory.get_all(filters={"user_id": _USER, _SOURCE: source}, top_k=1)
            if any(True for _ in _memories(held)):
                return held
            message = [{"role": role, "content": line}]
            return memory.add(message, user_id=_USER, metadata={_SOURCE: source}, infer=False)

        self._call(keep)

    def _call(self, work: Callable[[Any], T]) -> T:
        """What ``work`` makes of the library. Raises _Unavailable, whatever went wrong."""
        failed = ""
        try:
            self.warm()
            memory = self._memory
            return self._limit.call(self._timeout, lambda: work(memory))
        except OutOfTime:
            failed = f"mem0 did not answer in {self._timeout:g} s"
        except MemorandaError as error:
            failed = str(error)
        except Exception as error:  # a library's own, or of anything that it is built on
            # What is said of a credential may repeat a part of it.
            is_key = getattr(error, "status_code", None) == 401
            said = "its endpoint does not accept the key (401)" if is_key else f"{type(error).__name__}: {error}"
            failed = f"mem0 failed: {shown(said)}"
        raise _Unavailable(failed)

    def _configuration(self) -> dict[str, Any]:
        from memoranda.adapters.credentials import resolve

        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        # Without a key of its own mem0 would send OpenAI's there.
        key = resolve(self._key) if self._key else NO_KEY
        embedder = {"model": self._model, "openai_base_url": self._base_url, "api_key": key}
        store = {
            "collection_name": "memoranda",
            "path": os.path.join(self._folder, "qdrant"),
            "embedding_model_dims": self._dimension,
            "on_disk": True,
        }
        return {
            "embedder": {"provider": "openai", "config": embedder},
            "vector_store": {"provider": "qdrant", "config": store},
            "llm": {"provider": "openai", "config": {"api_key": NO_KEY, "openai_base_url": _NOWHERE}},
            "history_db_path": os.path.join(self._folder, "history.db"),
        }


class _Unavailable(Exception):
    """Why there is nothing, in words that may be shown."""


def _import(folder: str) -> Any:
    """The package; it reads its variables when it is imported, and makes a folder then. Raises MissingExtra."""
    from importlib import import_module

    lent = {"MEM0_TELEMETRY": "False", "MEM0_DIR": os.path.join(folder, "settings")}
    lent = {name: value for name, value in lent.items() if name not in os.environ}
    os.environ.update(lent)
    try:
        return import_module("mem0")
    except ImportError as error:
        raise MissingExtra("the backend mem0", "mem0") from error
    finally:
        for name in lent:
            os.environ.pop(name, None)


def _memories(answer: object) -> Iterator[tuple[str, str]]:
    """The texts of an answer with the turns that they came from; what is neither is passed over."""
    results = answer.get("results") if isinstance(answer, dict) else answer
    for one in results if isinstance(results, list) else []:
        text = one.get("memory") if isinstance(one, dict) else None
        if isinstance(text, str) and text.strip():
            beside = one.get("metadata")
            source = beside.get(_SOURCE) if isinstance(beside, dict) else ""
            yield text, source if isinstance(source, str) else ""
