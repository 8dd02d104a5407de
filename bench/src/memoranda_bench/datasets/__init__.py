"""The data sets by name. None is part of this package: all are read from the folder that ``--data`` names."""

from __future__ import annotations

from memoranda_bench.datasets import documents, locomo, passages, unanswerable
from memoranda_bench.datasets.model import (
    Collection,
    DataMissing,
    DataSet,
    Document,
    Options,
    Question,
    SetSkipped,
    find_file,
)

__all__ = [
    "NAMES",
    "Collection",
    "DataMissing",
    "DataSet",
    "Document",
    "Options",
    "Question",
    "SetSkipped",
    "load",
    "present",
]

_FILES: dict[str, tuple[str, ...]] = {
    **locomo.FILES,
    "cmrc2018": passages.CMRC2018,
    "cranfield": passages.CRANFIELD,
    "docs": documents.FILES,
}

#: Every data set, in the order in which they are reported.
NAMES = (*_FILES, "unanswerable")


def present(data: str | None) -> list[str]:
    """The sets whose files the data folder has.

    Raises:
        DataMissing: none of them, or no folder was named.
    """
    found = [name for name in _FILES if _has(data, name)]
    if not found:
        find_file(data, locomo.FILES["locomo"][0])  # says what is missing
        raise DataMissing(f"there is no data set in {data}")
    if any(name in found for name in unanswerable.SOURCES):
        found.append("unanswerable")
    return found


def _has(data: str | None, name: str) -> bool:
    try:
        for relative in _FILES[name]:
            find_file(data, relative)
    except DataMissing:
        return False
    return True


def load(name: str, data: str | None, options: Options | None = None) -> list[DataSet]:
    """A set by its name: one, but for ``unanswerable``, which is one for each language that is there.

    Raises:
        DataMissing: no such set, or it is not there.
        SetSkipped: it is there and cannot be measured.
    """
    if name in locomo.FILES:
        return [locomo.load(data, name, options)]
    if name == "cmrc2018":
        return [passages.load_cmrc2018(data)]
    if name == "cranfield":
        return [passages.load_cranfield(data)]
    if name == "docs":
        return [documents.load(data)]
    if name == "unanswerable":
        sources = [source for source in unanswerable.SOURCES if _has(data, source)]
        if not sources:
            find_file(data, locomo.FILES["locomo"][0])
        return [unanswerable.asked_elsewhere(locomo.load(data, source, options)) for source in sources]
    raise DataMissing(f"there is no data set {name!r}; there are: {', '.join(NAMES)}")
