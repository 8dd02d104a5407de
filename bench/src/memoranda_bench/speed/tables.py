"""The figures of a speed run as markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memoranda_bench.markdown import table

__all__ = ["noise", "ratio_table", "ratios", "size_report", "speed_report", "without_scan"]

_Figures = Mapping[str, Any]

# Ours gets every question as it is and leaves function words out by itself.
_COMPARED = (
    ("fts5", "natural", "common words included"),
    ("fts5", "content", "content words alone"),
    ("tantivy", "natural", "common words included"),
    ("bm25s", "natural", "common words included"),
)


def speed_report(figures: _Figures) -> str:
    """Every size, and the ratios that matter."""
    about = (
        f"Made-up items of about 26 tokens, Chinese and English, in {figures['categories']} files (seed "
        f"{figures['seed']}); {figures['queries']} questions of 3 to 8 words of an item, function words included. "
        "*Content*: the same questions without function words. *Found*: the item is among the first ten. Ours is the "
        "whole answer (look at the files, analysis, ranking, result); the others are their engine alone. All but "
        "`fts5-raw` and `fts5-trigram` index memoranda's own tokens, and what making these takes is part of *build*. "
        "Those two get the text: `fts5-raw` takes what stands between blanks for a word, a whole clause in Chinese; "
        "`fts5-trigram` finds any three characters in a row, and no word of two. Times in milliseconds but for *build* "
        "(seconds); memory is the most a process had, in MB."
    )
    parts = [about]
    for size, one in _by_size(figures):
        parts += [f"### {size:,} items", size_report(one)]
    in_brackets = "In brackets by processor time, which a busy machine disturbs less."
    parts += ["### Ratios", in_brackets, ratio_table(figures), noise(figures)]
    return "\n\n".join(part for part in parts if part)


def _by_size(figures: _Figures) -> list[tuple[int, _Figures]]:
    return sorted((int(size), one) for size, one in figures["sizes"].items())


def size_report(one: _Figures) -> str:
    """One size: all systems, then what only ours has."""
    if reason := one.get("skipped"):
        return f"Not measured: {reason}."
    rows, notes = [], []
    for name, row in one["systems"].items():
        if why := row.get("skipped") or row.get("failed"):
            notes.append(f"`{name}`: not measured ({why}).")
            continue
        warm = row["warm"] if name == "ours" else row
        build = row["build"]["seconds"] if name == "ours" else row["build_seconds"]
        disk = row["rebuild"]["cache_bytes"] if name == "ours" else row["disk_bytes"]
        rest = [_megabytes(warm["peak"]), _megabytes(disk)]
        rows.append([name, f"{build:.2f}", *_times(warm, 0.0), f"{warm['natural']['found']:.1%}", *rest])
        if name == "ours" and warm["scan"]:
            rows.append(["ours, without the look at the files", "", *_times(warm, warm["scan"]["p50"]), "", "", ""])
    head = ["system", "build", "p50", "p99", "content p50", "content p99", "found", "memory", "disk"]
    parts = [table(head, rows), *notes]
    ours = one["systems"].get("ours", {})
    if "warm" in ours:
        parts.append(table(["ours", ""], _ours(ours)))
    return "\n\n".join(parts)


def _times(warm: _Figures, less: float) -> list[str]:
    return [f"{warm[v][p] - less:.2f}" for v in ("natural", "content") for p in ("p50", "p99")]


def _ours(row: _Figures) -> list[list[str]]:
    build, again, warm, cold, add = (row[stage] for stage in ("build", "rebuild", "warm", "cold", "add"))
    return [
        ["first opening, from markdown files alone; closing", _seconds(build["seconds"], build["close_seconds"])],
        ["what goes on in the background after that", f"{build['background_seconds']:.2f} s"],
        [
            "opening with all derived files thrown away; background",
            _seconds(again["seconds"], again["background_seconds"]),
        ],
        ["memory of the first opening, and of its largest worker", _both(build["peak"], build["peak_of_workers"])],
        ["opening what was built", f"{warm['open_seconds'] * 1000:.0f} ms"],
        ["memory of a long-lived process: most, and after the questions", _both(warm["peak"], warm["resident"])],
        ["look at the files, part of each answer", f"{warm['scan']['p50']:.2f} ms" if warm["scan"] else "–"],
        ["remember, one item: p50, p99", f"{add['remember']['p50']:.1f}, {add['remember']['p99']:.1f} ms"],
        ["recall right after: p50, p99", f"{add['after_add']['p50']:.2f}, {add['after_add']['p99']:.2f} ms"],
        ["the same recall right before: p50, p99", f"{add['plain']['p50']:.2f}, {add['plain']['p99']:.2f} ms"],
        ["what was just added comes first", f"{add['found']:.0%}"],
        [f"`memoranda recall` in a new process, median of {cold['rounds']}", f"{cold['recall_ms']:.0f} ms"],
        ["bare interpreter", f"{cold['bare_ms']:.0f} ms"],
        ["difference, median of pairs", f"{cold['difference_ms']:.0f} ms"],
        ["memory of the new process (bare)", f"{_megabytes(cold['peak'])} ({_megabytes(cold['bare_peak'])}) MB"],
        ["`.cache` on disk", f"{_megabytes(again['cache_bytes'])} MB"],
    ]


def _seconds(first: float, second: float) -> str:
    return f"{first:.2f}, {second:.2f} s"


def _both(first: int | None, second: int | None) -> str:
    return f"{_megabytes(first)}, {_megabytes(second)} MB"


def _megabytes(size: int | None) -> str:
    return "–" if size is None else f"{size / 1e6:.1f}"


def without_scan(warm: _Figures, figure: str = "p50") -> float:
    """Ours, natural questions, without the look at the files, in milliseconds (``p50`` or ``cpu_p50``)."""
    scan = warm["scan"][figure] if warm["scan"] else 0.0
    return float(warm["natural"][figure] - scan)


def ratios(one: _Figures) -> dict[str, tuple[float, float | None]]:
    """What matters at one size, by the wall clock and by processor time.

    Each is a ratio but for the last, which is in milliseconds; what was not
    measured is left out.
    """
    systems = one.get("systems", {})
    ours = systems.get("ours", {})
    if "warm" not in ours:
        return {}
    warm, add = ours["warm"], ours["add"]
    found: dict[str, tuple[float, float | None]] = {}
    for name, variant, words in _COMPARED:
        if variant not in systems.get(name, {}):
            continue
        other = systems[name][variant]
        by = {figure: float(other[figure]) for figure in ("p50", "cpu_p50")}
        found[f"p50: ours / {name}, {words}"] = (
            warm["natural"]["p50"] / by["p50"],
            warm["natural"]["cpu_p50"] / by["cpu_p50"],
        )
        found[f"the same without the look at the files ({name}, {words})"] = (
            without_scan(warm) / by["p50"],
            without_scan(warm, "cpu_p50") / by["cpu_p50"],
        )
    found["p50: recall right after an addition / right before it"] = (
        add["after_add"]["p50"] / add["plain"]["p50"],
        add["after_add"]["cpu_p50"] / add["plain"]["cpu_p50"],
    )
    for name in ("fts5", "fts5-trigram", "fts5-raw"):
        if "build_seconds" not in (other := systems.get(name, {})):
            continue
        for about, which in (("ours", "build"), ("ours once more", "rebuild")):
            found[f"build: {about} / {name}"] = (
                ours[which]["seconds"] / other["build_seconds"],
                ours[which]["cpu_seconds"] / other["build_cpu_seconds"],
            )
    cold = ours["cold"]
    found["new process: recall less bare interpreter, ms"] = (cold["difference_ms"], cold["difference_cpu_ms"])
    return found


def ratio_table(figures: _Figures) -> str:
    """The ratios of every size side by side; empty if there are none."""
    by_size = {size: found for size, one in _by_size(figures) if (found := ratios(one))}
    names = list(dict.fromkeys(name for found in by_size.values() for name in found))
    rows = [[name, *(_ratio(found.get(name)) for found in by_size.values())] for name in names]
    return table(["", *(f"{size:,}" for size in by_size)], rows) if rows else ""


def _ratio(value: tuple[float, float | None] | None) -> str:
    if value is None:
        return "–"
    wall, cpu = value
    return _short(wall) + ("" if cpu is None else f" ({_short(cpu)})")


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.2f}"


def noise(figures: _Figures) -> str:
    """How steady the machine was: the same piece of work, timed before and after every measurement."""
    spins: list[float] = []
    for _, one in _by_size(figures):
        for row in one.get("systems", {}).values():
            for stage in (row, *(part for part in row.values() if isinstance(part, dict))):
                spins += stage.get("spin_ms", [])
    if not spins:
        return ""
    low, high = min(spins), max(spins)
    text = f"A fixed piece of work took {low:.1f} to {high:.1f} ms in the {len(spins)} places where it was timed"
    verdict = "quiet" if high < 1.15 * low else "not quiet: read ratios within a size, not times"
    return f"{text}; the machine was {verdict}."
