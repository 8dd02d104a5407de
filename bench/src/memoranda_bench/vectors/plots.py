"""The figures of a run over vectors as pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memoranda_bench import plots
from memoranda_bench.vectors.tables import by_size

__all__ = ["draw_vectors", "recall_lines", "time_lines"]

_COLOURS = {
    "ours": "#c1440e",
    "float32": "#9aa0a6",
    "bits": "#2a6f97",
    "faiss-bits": "#61a5c2",
    "sqlite-vec": "#4c956c",
    "sqlite-vec-bits": "#a3c9a8",
    "chroma": "#7b5ea7",
    "qdrant-local": "#d4a017",
    "qdrant-memory": "#e9c46a",
}
_GREY = "#555555"
#: One line: what it is called, and its points.
Line = tuple[str, list[tuple[float, float]]]


def draw_vectors(out: str, figures: Mapping[str, Any]) -> list[str]:
    """Write ``vectors-<dimension>.svg`` (time by size) and ``vectors-<dimension>-recall.svg``; the files' names.

    Raises:
        SystemMissing: matplotlib is not installed.
    """
    written = []
    for dimension in sorted(figures["dimensions"], key=int):
        if lines := time_lines(figures, int(dimension)):
            title = f"one question over {dimension} numbers, median, ms"
            name = f"vectors-{dimension}.svg"
            written.append(plots.save(out, name, lambda axes, t=title, found=lines: _times(axes, t, found)))
        size, lines = recall_lines(figures, int(dimension))
        if lines:
            title = f"{size:,} vectors of {dimension} numbers"
            name = f"vectors-{dimension}-recall.svg"
            written.append(plots.save(out, name, lambda axes, t=title, found=lines: _recall(axes, t, found)))
    return written


def time_lines(figures: Mapping[str, Any], dimension: int) -> list[Line]:
    """By system: size, and the median of its own way of being asked."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for one, size, found in by_size(figures):
        for name, row in found.get("systems", {}).items():
            if one == dimension and "ask" in row:
                own = next(iter(row["ask"]["settings"].values()))
                lines.setdefault(name, []).append((size, own["p50"]))
    return list(lines.items())


def recall_lines(figures: Mapping[str, Any], dimension: int) -> tuple[int, list[Line]]:
    """The largest size at which ours was measured; by system there: median and recall of each way, fastest first."""
    sizes = [
        (size, found)
        for one, size, found in by_size(figures)
        if one == dimension and "ask" in found.get("systems", {}).get("ours", {})
    ]
    if not sizes:
        return 0, []
    size, found = sizes[-1]
    lines = []
    for name, row in found["systems"].items():
        if "ask" in row:
            lines.append((name, sorted((way["p50"], way["recall"]) for way in row["ask"]["settings"].values())))
    return size, lines


def _times(axes: Any, title: str, lines: Sequence[Line]) -> None:
    _paint(axes, lines)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("vectors")
    axes.set_ylabel(title)


def _recall(axes: Any, title: str, lines: Sequence[Line]) -> None:
    _paint(axes, lines, joined=("ours",))
    axes.set_xscale("log")
    axes.set_ylim(min(0.9, *(recall for _, points in lines for _, recall in points)) - 0.02, 1.01)
    axes.set_xlabel(f"one question, median, ms: {title}")
    axes.set_ylabel("recall@10")


def _paint(axes: Any, lines: Sequence[Line], joined: Sequence[str] | None = None) -> None:
    for name, points in lines:
        axes.plot(
            [place for place, _ in points],
            [value for _, value in points],
            marker="o",
            markersize=3.5,
            linewidth=2 if name == "ours" else 1.2,
            linestyle="-" if joined is None or name in joined else "none",
            label=name,
            color=_COLOURS.get(name, _GREY),
        )
    axes.grid(True, which="major", linewidth=0.3)
    axes.legend(frameon=False, fontsize=8)
