"""memoranda itself, through its public API: a vault in a temporary folder."""

from __future__ import annotations

import dataclasses
import inspect
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from memoranda import Vault
from memoranda_bench.datasets import Document
from memoranda_bench.systems.interface import SystemMissing

__all__ = ["Ours", "is_parameter", "parameters_with", "takes_parameters", "without_floor"]

_CATEGORY = "passages"
_NO_DEADLINE = float("inf")
#: The retrieval parameter that switches the floor of evidence off when it is zero.
_FLOOR = "floor"
#: Seconds that what embeds in the background may take: a slow model has thousands of passages.
_PATIENCE = 7200.0
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def takes_parameters() -> bool:
    """Whether this version of memoranda can be asked with other retrieval parameters than its own."""
    return "parameters" in inspect.signature(Vault.retrieve).parameters


def without_floor() -> Any:
    """Retrieval parameters that keep every hit, however little speaks for it; ``None`` if there are none such."""
    if not takes_parameters() or not is_parameter(_FLOOR):
        return None
    return parameters_with({_FLOOR: "0"})


def is_parameter(name: str) -> bool:
    """Whether retrieval has a number of this name (``floor``, or ``turns.near`` for one of a part)."""
    from memoranda.retrieval.parameters import RetrievalParameters

    part, dot, inner = name.partition(".")
    value = getattr(RetrievalParameters(), part, None)
    return isinstance(getattr(value, inner, None) if dot else value, int | float)


def parameters_with(values: Mapping[str, str]) -> Any:
    """The product's retrieval parameters, but for some numbers.

    Raises:
        ValueError: there is no such number, or the value is none.
    """
    from memoranda.retrieval.parameters import RetrievalParameters

    made: Any = RetrievalParameters()
    for name, value in values.items():
        if not is_parameter(name):
            raise ValueError(f"retrieval has no number {name!r}")
        part, _, inner = name.partition(".")
        if inner:
            made = _changed(made, part, _changed(getattr(made, part), inner, value))
        else:
            made = _changed(made, part, value)
    return made


def _changed(record: Any, name: str, value: Any) -> Any:
    """A copy of a frozen record with one field changed; text becomes a number of the kind that is there."""
    if isinstance(value, str):
        value = type(getattr(record, name))(float(value))
    return dataclasses.replace(record, **{name: value})


class Ours:
    """Turns are imported and asked at level ``resource``; passages are remembered and asked at level ``item``.

    ``settings`` are lines for ``memoranda.toml`` (such as ``{"b": "0.75"}``).
    ``parameters`` is a ``memoranda.retrieval.parameters.RetrievalParameters``
    in place of the product's own. ``embedder`` names a provider of vectors.
    """

    def __init__(
        self, settings: Mapping[str, str] | None = None, parameters: Any = None, embedder: str | None = None
    ) -> None:
        """Make an empty vault.

        Raises:
            SystemMissing: ``parameters`` are given and this version of memoranda takes none.
            ValueError: the settings mean nothing.
        """
        if parameters is not None and not takes_parameters():
            raise SystemMissing("this version of memoranda takes no retrieval parameters from its caller")
        self._more = {} if parameters is None else {"parameters": parameters}
        self._folder = tempfile.TemporaryDirectory(prefix="memoranda-bench-", ignore_cleanup_errors=True)
        root = os.path.join(self._folder.name, "v")
        self._ids: dict[str, str] = {}
        self._level: Literal["item", "resource"] = "item"
        os.mkdir(root)
        if settings:
            with open(os.path.join(root, "memoranda.toml"), "w", encoding="utf-8") as stream:
                stream.writelines(f"{name} = {value}\n" for name, value in settings.items())
        self._embeds = embedder is not None
        self.vault = Vault.open(root) if embedder is None else Vault.open(root, embedder=_embedder(embedder))
        if self.vault.settings_faults:
            self.close()
            raise ValueError("; ".join(self.vault.settings_faults))

    def index(self, documents: Sequence[Document]) -> None:
        """Fill the vault and read it, so that no question pays for that.

        Raises:
            RuntimeError: not everything was taken in.
        """
        if documents and documents[0].is_turn:
            self._level = "resource"
            imported = self.vault.import_turns(document.as_turn() for document in documents)
            if imported.problems or imported.added != len(documents):
                raise RuntimeError(f"{imported.added} of {len(documents)} turns imported; {imported.problems[:1]}")
        else:
            with self.vault.batch():
                for document, name in zip(documents, _names(), strict=False):
                    written = self.vault.remember(f"{_CATEGORY}:{name}", document.text)
                    if written.status != "added":
                        raise RuntimeError(f"{document.id} was not added: {written.status}")
                    self._ids[f"{_CATEGORY}:{name}"] = document.id
        self.vault.warm((self._level,))
        if self._embeds:
            self.vault.embed(patience=_PATIENCE)

    def ask(self, question: str, k: int) -> list[str]:
        """See :class:`memoranda_bench.systems.interface.System`."""
        return self.ids(self.retrieve(question, k))

    def retrieve(self, question: str, k: int, parameters: Any = None) -> Any:
        """The product's own answer, a ``Retrieval``; without a deadline, so that a busy machine changes nothing.

        ``parameters`` are for this question alone.
        """
        more = self._more if parameters is None else {"parameters": parameters}
        return self.vault.retrieve(question, k=k, levels=(self._level,), deadline=_NO_DEADLINE, **more)

    def ids(self, found: Any) -> list[str]:
        """The documents that an answer consists of."""
        return [self._ids.get(hit.address) or hit.address.rpartition("#")[2] for hit in found.hits]

    def close(self) -> None:
        """Remove the vault."""
        self.vault.close()
        self._folder.cleanup()


def _embedder(name: str) -> Any:
    from memoranda_bench.embedded import load

    folder = os.environ.get("MEMORANDA_BENCH_VECTORS")
    return load(name, folder or tempfile.mkdtemp(prefix="memoranda-bench-vectors-"))


def _names() -> Iterator[str]:
    """Item names that no question asks for: ``zqaaaa``, ``zqaaab``, ..."""
    for number in range(len(_LETTERS) ** 4):
        name = ""
        for _ in range(4):
            number, letter = divmod(number, len(_LETTERS))
            name = _LETTERS[letter] + name
        yield f"zq{name}"
