"""The figures of a run over vectors as markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memoranda_bench.markdown import table

__all__ = ["by_size", "size_report", "vectors_noise", "vectors_ratio_table", "vectors_report", "vectors_section"]

_Figures = Mapping[str, Any]

_ABOUT = (
    "The {top} nearest of so many vectors to each of {queries} questions, by one thread, the files in the system's "
    "cache. *Recall* is the share of the exact ten (one that is as near as the tenth counts like it). *Looked at* is "
    "how much is compared by its floats, or by its bytes in ours: `×40` is forty rows for each that is asked for. "
    "Times in milliseconds but for *build* (seconds). *Open and first* is a new process that opens what was built and "
    "asks once, without the loading of packages. *Private* is the memory that belongs to the process alone "
    "(`Anonymous` in `smaps_rollup`: resident memory without pages of files) beyond what it had before it opened: "
    "after some questions, and the most that was seen during them. Memory and disk in MB. *÷ stream* is the median "
    "divided by the least time in which numpy reads as many bytes as the signs of all vectors take (one bit a number) "
    "once, in the same run; in brackets by processor time, which a busy machine disturbs less. Read again and again, "
    "these bytes stay in the processor's last cache, which those of a system do not once there are a million vectors; "
    "*÷ memory* is the same beside the median time of one such reading after each question, in turn from four places. "
    "Both are left out for very few bytes."
)
#: Fewer bytes than these stay in a processor's own memory.
_LEAST_STREAMED = 4_000_000


def vectors_section(figures: _Figures, pictures: Sequence[str]) -> str:
    """A part of a page, with those of the pictures that belong to it (see :func:`.plots.draw_vectors`)."""
    shown = [f"![{name.removesuffix('.svg')}]({name})" for name in pictures if name.startswith("vectors-")]
    return "\n\n".join(["## Vectors", *shown, vectors_report(figures)])


def vectors_report(figures: _Figures) -> str:
    """Every dimension and size, then the ratios that matter."""
    parts = [_ABOUT.format(top=figures["top"], queries=figures["queries"])]
    for dimension, size, one in by_size(figures):
        parts += [f"### {size:,} vectors of {dimension} numbers", size_report(one, size * dimension // 8)]
    ratios = vectors_ratio_table(figures)
    parts += ["### Ours by size", ratios] if ratios else []
    parts.append(vectors_noise(figures))
    return "\n\n".join(part for part in parts if part)


def by_size(figures: _Figures) -> Iterator[tuple[int, int, _Figures]]:
    """Dimension, size and what was measured of them, in order."""
    for dimension in sorted(figures["dimensions"], key=int):
        sizes = figures["dimensions"][dimension]
        for size in sorted(sizes, key=int):
            yield int(dimension), int(size), sizes[size]


def size_report(one: _Figures, signs: int) -> str:
    """One size: how its vectors were made, the systems, the ways of asking them, and what was left out.

    ``signs`` is how many bytes the signs of all its vectors take.
    """
    if reason := one.get("skipped"):
        return f"Not measured: {reason}."
    rows: list[list[str]] = []
    ways: list[list[str]] = []
    notes: list[str] = []
    for name, row in one["systems"].items():
        if why := row.get("skipped") or row.get("failed"):
            notes.append(f"`{name}`: not measured ({why}).")
            continue
        settings = row["ask"]["settings"]
        stream = _stream(settings, signs)
        own = next(iter(settings))
        rows.append([name, own, *_times(settings[own], stream), *_held(row)])
        if len(settings) > 1:
            ways += [[name, setting, *_times(way, stream)] for setting, way in settings.items()]
    head = ["system", "looked at", "recall", "p50", "p99", "÷ stream"]
    parts = [_corpus(one.get("corpus")), table([*head, "build", "open and first", "private", "most", "disk"], rows)]
    if ways:
        parts += ["By how much is looked at:", table(head, ways)]
    return "\n\n".join(part for part in [*parts, _ours(one["systems"].get("ours")), *notes] if part)


def _corpus(corpus: _Figures | None) -> str:
    if corpus is None:
        return ""
    return (
        f"{corpus['about'][:1].upper()}{corpus['about'][1:]}. Mean cosine of two vectors {corpus['cosine']:.2f}, of a "
        f"vector with its nearest {corpus['nearest']:.3f}; of a question with its first answer "
        f"{corpus['answer']:.3f}, with its tenth {corpus['tenth']:.3f}."
    )


def _stream(settings: _Figures, signs: int) -> float | None:
    """The least time of a look at all signs that was seen in a process; ``None`` if they are too few."""
    return min(float(way["stream_ms"]) for way in settings.values()) if signs >= _LEAST_STREAMED else None


def _times(way: _Figures, stream: float | None) -> list[str]:
    ratio = "–" if stream is None else _ratio(way, stream)
    return [f"{way['recall']:.3f}", _short(way["p50"]), _short(way["p99"]), ratio]


def _ratio(way: _Figures, least: float) -> str:
    return f"{_short(way['p50'] / least)} ({_short(way['cpu_p50'] / least)})"


def _held(row: _Figures) -> list[str]:
    ask = row["ask"]
    first = ask["open_ms"] + ask["first_ms"]
    memory = [_megabytes(ask["private"]), _megabytes(ask["private_most"])]
    return [_short(row["build"]["seconds"]), _short(first), *memory, _megabytes(row["disk_bytes"])]


def _ours(row: _Figures | None) -> str:
    """What ours found out by itself, and what adding costs."""
    if row is None or "ask" not in row:
        return ""
    parts = []
    if made := row["ask"]["about"].get("calibration"):
        parts.append(
            f"Ours chose `{made['method']}`, {made['fraction']:.2%} of the rows and the best {made['rerank']} of "
            f"these, after {made['seconds']:.1f} s with {made['queries']} of its own vectors: recall "
            f"{made['recall']:.3f} of these."
        )
    else:
        parts.append("Ours compares every vector.")
    if added := row.get("add"):
        parts.append(f"{added['rows']:,} rows more took {added['seconds']:.2f} s.")
    return " ".join(parts)


def vectors_ratio_table(figures: _Figures) -> str:
    """Ours at every dimension and size: recall, time, and time beside what a look at all signs takes."""
    rows = []
    for dimension, size, one in by_size(figures):
        row = one.get("systems", {}).get("ours", {})
        if "ask" not in row:
            continue
        settings = row["ask"]["settings"]
        own, stream = next(iter(settings.values())), _stream(settings, size * dimension // 8)
        brute = one["systems"].get("float32", {}).get("ask", {}).get("settings", {}).get("everything")
        beside = "–" if brute is None else _short(own["p50"] / brute["p50"])
        far = None if stream is None else own.get("memory_ms")
        times = [*_times(own, stream), "–" if far is None else _ratio(own, far)]
        rows.append([str(dimension), f"{size:,}", *times, beside, *_held(row)])
    head = ["numbers", "vectors", "recall", "p50", "p99", "÷ stream", "÷ memory", "÷ float32"]
    return table([*head, "build", "open and first", "private", "most", "disk"], rows) if rows else ""


def vectors_noise(figures: _Figures) -> str:
    """How steady the machine was: the same piece of work, timed before and after every measurement."""
    spins = [
        spin
        for _, _, one in by_size(figures)
        for row in one.get("systems", {}).values()
        for stage in row.values()
        if isinstance(stage, dict)
        for spin in stage.get("spin_ms", [])
    ]
    if not spins:
        return ""
    low, high = min(spins), max(spins)
    text = f"A fixed piece of work took {low:.1f} to {high:.1f} ms in the {len(spins)} places where it was timed"
    verdict = "quiet" if high < 1.15 * low else "not quiet: read ratios within a size, not times"
    return f"{text}; the machine was {verdict}."


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _megabytes(size: int | None) -> str:
    return "–" if size is None else f"{size / 1e6:.1f}"
