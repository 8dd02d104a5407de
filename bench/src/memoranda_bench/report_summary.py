"""The figures that count, and those in which others are better than ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from memoranda_bench.markdown import table
from memoranda_bench.speed.tables import ratio_table

__all__ = ["losses", "summary"]

_Figures = Mapping[str, Any]


def summary(results: Sequence[_Figures], speed: _Figures | None) -> str:
    """What the rest of the page proves, in two tables."""
    rows: list[list[str]] = []
    for result in results:
        rows += _floor_rows(result) if result["set"] == "unanswerable" else _quality_rows(result)
    parts = [table(["figure", "value"], rows) if rows else "", ratio_table(speed) if speed else ""]
    return "\n\n".join(filter(None, parts))


def _quality_rows(result: _Figures) -> Iterator[list[str]]:
    ours = result["systems"].get("ours")
    if ours is None:
        return
    gains = {g["group"]: g for g in result["gains"] if g["system"] == "ours"}
    for name, group in ours["groups"].items():
        if name.startswith("category") and "apart" not in name:
            continue
        yield [
            f"{result['set']}, {name}: recall@10, MRR",
            f"{group['recall']['10']:.3f} ± {group['interval']:.3f}, {group['mrr']:.3f}",
        ]
        if name in gains:
            gain = gains[name]["R@10"]
            yield [
                f"{result['set']}, {name}: gain in recall@10 over `{result['baseline']}`, mean and 95 %",
                f"{gain['mean']:+.3f} [{gain['lower']:+.3f}, {gain['upper']:+.3f}]",
            ]


def _floor_rows(result: _Figures) -> Iterator[list[str]]:
    for name, g in result["systems"].get("ours", {}).items():
        if g["unanswerable"]:
            yield [
                f"unanswerable ({result['language']}), {name}: questions met with nothing",
                f"{g['nothing'] / g['unanswerable']:.1%} of {g['unanswerable']}",
            ]
        if result["has_floor"] and g["hits_without"]:
            yield [
                f"answerable ({result['language']}), {name}: relevant hits kept",
                f"{g['hits'] / g['hits_without']:.1%} of {g['hits_without']}",
            ]


def losses(results: Sequence[_Figures], speed: _Figures | None) -> list[str]:
    """Every figure of the tables in which another system is ahead of ours, in words."""
    found = [line for result in results if "baseline" in result for line in _worse_found(result)]
    sizes = (speed or {"sizes": {}})["sizes"]
    for size in sorted(sizes, key=int):
        found += _slower(int(size), sizes[size].get("systems", {}))
    return found


def _worse_found(result: _Figures) -> Iterator[str]:
    ours = result["systems"].get("ours")
    if ours is None:
        return
    for name, mine in ours["groups"].items():
        parts = []
        for metric, value in _METRICS.items():
            ahead = [
                f"{system} {value(one['groups'][name]):.3f}"
                for system, one in result["systems"].items()
                if system != "ours" and name in one["groups"] and value(one["groups"][name]) > value(mine)
            ]
            if ahead:
                parts.append(f"{metric} {value(mine):.3f} ({', '.join(ahead)})")
        if parts:
            yield f"{result['set']}, {name}: {'; '.join(parts)}"


_METRICS: dict[str, Callable[[_Figures], float]] = {
    "recall@10": lambda group: float(group["recall"]["10"]),
    "nDCG": lambda group: float(group["ndcg"]),
    "MRR": lambda group: float(group["mrr"]),
}


def _slower(size: int, systems: _Figures) -> Iterator[str]:
    ours = systems.get("ours", {})
    if "warm" not in ours:
        return
    others = {name: row for name, row in systems.items() if name != "ours" and "natural" in row}
    parts = []
    for figure, own, value in (
        ("one question, ms", _warm_p50(ours["warm"]), _warm_p50),
        ("building, s", float(ours["build"]["seconds"]), lambda row: float(row["build_seconds"])),
        ("memory, MB", _peak(ours["warm"]), _peak),
    ):
        ahead = [f"{name} {value(row):.2f}" for name, row in others.items() if value(row) < own]
        if ahead:
            parts.append(f"{figure} {own:.2f} ({', '.join(ahead)})")
    share = ours["warm"]["natural"]["found"]
    if ahead := [f"{name} {r['natural']['found']:.1%}" for name, r in others.items() if r["natural"]["found"] > share]:
        parts.append(f"found {share:.1%} ({', '.join(ahead)})")
    if parts:
        yield f"{size:,} items: {'; '.join(parts)}"


def _warm_p50(row: _Figures) -> float:
    return float(row["natural"]["p50"])


def _peak(row: _Figures) -> float:
    return float(row["peak"] or 0) / 1e6
