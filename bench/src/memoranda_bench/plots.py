"""Figures as pictures: SVG by matplotlib, the same bytes for the same figures."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from memoranda_bench.speed.tables import without_scan
from memoranda_bench.systems.interface import require

__all__ = ["draw", "growth", "recall_bars", "save"]

_COLOURS = {
    "ours": "#c1440e",
    "ours, without the look at the files": "#e8a07c",
    "grep": "#9aa0a6",
    "bm25s": "#2a6f97",
    "bm25-stemmed": "#61a5c2",
    "fts5": "#4c956c",
    "fts5, content words alone": "#a3c9a8",
    "fts5-raw": "#a3c9a8",
    "tantivy": "#7b5ea7",
}
_GREY = "#555555"
#: One line: what it is called, and its points as (size, value).
Line = tuple[str, list[tuple[int, float]]]


def draw(out: str, quality: Sequence[Mapping[str, Any]], speed: Mapping[str, Any] | None) -> list[str]:
    """Write every picture for which there are figures; the names of the files.

    Raises:
        SystemMissing: matplotlib is not installed.
    """
    written = []
    if bars := recall_bars(quality):
        written.append(save(out, "recall.svg", lambda plot: _bars(plot, bars)))
    for name, title, lines in growth(speed or {}):
        if lines:
            written.append(save(out, f"{name}.svg", lambda plot, t=title, found=lines: _lines(plot, t, found)))
    return written


def recall_bars(quality: Sequence[Mapping[str, Any]]) -> list[tuple[str, dict[str, tuple[float, float]]]]:
    """By group of questions: each system's recall@10 with half its 95 % interval."""
    found = []
    for result in quality:
        if "systems" not in result or "baseline" not in result:
            continue
        names = list(dict.fromkeys(g for one in result["systems"].values() for g in one["groups"]))
        wanted = [n for n in names if n == "all" or (n.startswith("categories") and "tuned on" not in n)]
        for name in wanted:
            bars = {
                system: (one["groups"][name]["recall"]["10"], one["groups"][name]["interval"])
                for system, one in result["systems"].items()
                if name in one["groups"]
            }
            label = result["set"] if len(wanted) == 1 else f"{result['set']}, {name.rpartition(', ')[2]}"
            found.append((label, bars))
    return found


def growth(speed: Mapping[str, Any]) -> list[tuple[str, str, list[Line]]]:
    """The pictures by size: file name, title, and lines."""
    warm: dict[str, list[tuple[int, float]]] = {}
    build: dict[str, list[tuple[int, float]]] = {}
    memory: dict[str, list[tuple[int, float]]] = {}
    for size, one in sorted((int(size), one) for size, one in speed.get("sizes", {}).items()):
        for name, row in one.get("systems", {}).items():
            figures = row.get("warm") if name == "ours" else row
            if not figures or "natural" not in figures:
                continue
            if name != "fts5-raw":  # it cannot find Chinese, so its time says nothing
                warm.setdefault(name, []).append((size, figures["natural"]["p50"]))
            if name == "ours" and figures["scan"]:
                warm.setdefault("ours, without the look at the files", []).append((size, without_scan(figures)))
            if name == "fts5":
                warm.setdefault("fts5, content words alone", []).append((size, figures["content"]["p50"]))
            build.setdefault(name, []).append(
                (size, row["build"]["seconds"] if name == "ours" else row["build_seconds"])
            )
            if figures.get("peak"):
                memory.setdefault(name, []).append((size, figures["peak"] / 1e6))
    return [
        ("warm", "one question, median, ms", list(warm.items())),
        ("build", "from raw text to ready, s", list(build.items())),
        ("memory", "most memory of a process that answers, MB", list(memory.items())),
    ]


def save(out: str, name: str, paint: Any) -> str:
    matplotlib = require("matplotlib")
    matplotlib.use("Agg")
    pyplot = require("matplotlib.pyplot", "matplotlib")
    style = {"svg.hashsalt": "memoranda", "svg.fonttype": "none", "font.size": 9, "axes.spines.top": False}
    with pyplot.rc_context(style | {"axes.spines.right": False, "font.family": "sans-serif"}):
        figure, axes = pyplot.subplots(figsize=(8, 4))
        paint(axes)
        figure.tight_layout()
        figure.savefig(os.path.join(out, name), format="svg", metadata={"Date": None, "Creator": None})
        pyplot.close(figure)
    return name


def _bars(axes: Any, bars: Sequence[tuple[str, Mapping[str, tuple[float, float]]]]) -> None:
    systems = list(dict.fromkeys(system for _, one in bars for system in one))
    width = 0.8 / len(systems)
    for place, system in enumerate(systems):
        held = [(at, one[system]) for at, (_, one) in enumerate(bars) if system in one]
        axes.bar(
            [at + (place - (len(systems) - 1) / 2) * width for at, _ in held],
            [recall for _, (recall, _) in held],
            width * 0.92,
            yerr=[half for _, (_, half) in held],
            label=system,
            color=_COLOURS.get(system, _GREY),
            error_kw={"elinewidth": 0.7, "ecolor": _GREY},
        )
    axes.set_xticks(range(len(bars)), [label.replace(", ", ",\n") for label, _ in bars])
    axes.set_ylim(0, 1.05)
    axes.set_ylabel("recall@10 (bars: 95 %)")
    axes.legend(ncols=3, frameon=False, loc="upper left", fontsize=8)


def _lines(axes: Any, title: str, lines: Sequence[Line]) -> None:
    for name, points in lines:
        axes.plot(
            [size for size, _ in points],
            [value for _, value in points],
            marker="o",
            markersize=3.5,
            linewidth=2 if name == "ours" else 1.2,
            label=name,
            color=_COLOURS.get(name, _GREY),
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("items")
    axes.set_ylabel(title)
    axes.grid(True, which="major", linewidth=0.3)
    axes.legend(frameon=False, fontsize=8)
