"""What every data set consists of: documents to find, and questions with the documents that answer them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Collection", "DataMissing", "DataSet", "Document", "Options", "Question", "SetSkipped", "find_file"]


class DataMissing(Exception):
    """The data set is not where it was looked for."""


class SetSkipped(Exception):
    """The data is there and cannot be measured; the message says why."""


@dataclass(frozen=True, slots=True)
class Options:
    """How data is read: with the captions of photographs, with the citations that an audit corrected."""

    captions: bool = False
    corrected: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """One thing to find.

    A turn of a conversation has a ``speaker``, a ``parent`` (the conversation),
    its place in it (``order``, from 0), and when it was said: ``ts`` in ISO
    8601, ``date`` as the data writes it. A passage has none of these.
    """

    id: str
    text: str
    speaker: str = ""
    ts: str = ""
    date: str = ""
    order: int = 0
    parent: str = ""

    @property
    def is_turn(self) -> bool:
        """Whether this is a turn of a conversation rather than a passage."""
        return bool(self.speaker)

    def shown(self, *, dated: bool = True) -> str:
        """The text that a system without a notion of turns gets: ``[date] speaker: text``."""
        said = f"{self.speaker}: {self.text}" if self.speaker else self.text
        return f"[{self.date}] {said}" if dated and self.date else said

    def as_turn(self) -> dict[str, str]:
        """The record that ``Vault.import_turns`` takes."""
        return {
            "conversation": self.parent,
            "turn": self.id,
            "ts": self.ts,
            "speaker": self.speaker,
            "role": "user",
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class Question:
    """A question; ``relevant`` gives each answering document's grade (from 1), and is empty if nothing answers.

    ``category`` is LoCoMo's kind of question (1 to 5), 0 elsewhere.
    """

    text: str
    relevant: Mapping[str, int]
    category: int = 0


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents that are searched together, and the questions asked of them.

    ``number`` counts from 1 within its data set; ``dropped`` is how many
    questions have no usable evidence.
    """

    name: str
    number: int
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class DataSet:
    """A named set. ``language`` is that of questions and documents: ``en``, ``zh``, or ``zh-en`` (mixed).

    ``tuned`` names the collections that parameters were tuned on (none: not
    used for tuning); what stands in the rest is what counts.
    """

    name: str
    language: str
    collections: tuple[Collection, ...]
    tuned: tuple[int, ...] = field(default=())


def find_file(data: str | None, relative: str) -> str:
    """The path of a file of the data: ``data`` may be the folder of everything, or of this set alone.

    Raises:
        DataMissing: no folder was named, or the file is not in it.
    """
    folder = data or os.environ.get("MEMORANDA_BENCH_DATA")
    if not folder:
        raise DataMissing("name the folder of the data by --data or MEMORANDA_BENCH_DATA")
    for path in (relative, f"data/{relative}", relative.rpartition("/")[2]):
        full = os.path.join(os.path.expanduser(folder), *path.split("/"))
        if os.path.isfile(full):
            return full
    raise DataMissing(f"there is no {relative} in {folder}")
