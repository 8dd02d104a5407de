"""The figures of :mod:`memoranda_bench.quality` and :mod:`memoranda_bench.floor` as markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memoranda_bench.bootstrap import RESAMPLES
from memoranda_bench.markdown import table
from memoranda_bench.metrics import CUTOFFS

__all__ = ["floor_report", "set_report"]


def set_report(result: Mapping[str, Any]) -> str:
    """One data set: how each system did in each group of questions, against the baseline, and how fast."""
    parts = [f"## {result['set']}", _about(result), _found(result)]
    if result["gains"]:
        parts += [
            f"Gain over `{result['baseline']}` on the same questions: mean [95 % of {RESAMPLES:,} paired resamples].",
            _gains(result),
        ]
    parts.append(_times(result))
    left_out = {**result["unfit"], **result["skipped"]}
    parts += [f"`{system}` was left out: {reason}." for system, reason in left_out.items()]
    return "\n\n".join(parts)


def _about(result: Mapping[str, Any]) -> str:
    asked = len(result["collections"])
    text = f"Language {result['language']}; {asked} {'collection' if asked == 1 else 'conversations'}"
    if result["dropped"]:
        text += f"; {result['dropped']} questions have no usable evidence and are left out"
    if asked > 1 and not result["dated"]:
        text += "; the others get turns without their date"
    return text + ". Averages count each question the same; ± is half the 95 % interval of R@10."


def _found(result: Mapping[str, Any]) -> str:
    head = ["questions", "system", "n", *(f"R@{cutoff}" for cutoff in CUTOFFS)]
    head += [f"nDCG@{result['k']}", "MRR", "R@10 ±", "empty"]
    names = list(dict.fromkeys(name for one in result["systems"].values() for name in one["groups"]))
    rows = []
    for name in names:
        for system, figures in result["systems"].items():
            group = figures["groups"][name]
            values = [*(group["recall"][str(cutoff)] for cutoff in CUTOFFS), group["ndcg"], group["mrr"]]
            rows.append([name, system, group["n"], *(f"{v:.3f}" for v in values), f"{group['interval']:.3f}"])
            rows[-1].append(_share(group["empty"], group["n"]) if group["empty"] else "0")
    return table(head, rows)


def _gains(result: Mapping[str, Any]) -> str:
    rows = [[g["group"], g["system"], g["n"], _gain(g["R@10"]), _gain(g["MRR"])] for g in result["gains"]]
    return table(["questions", "system", "n", "R@10", "MRR"], rows)


def _gain(gain: Mapping[str, float]) -> str:
    # Adding zero turns a negative zero into a positive one.
    mean, lower, upper = (round(gain[end], 3) + 0.0 for end in ("mean", "lower", "upper"))
    return f"{mean:+.3f} [{lower:+.3f}, {upper:+.3f}]"


def _times(result: Mapping[str, Any]) -> str:
    times = (f"{system} {one['ms']['p50']:.2f} ({one['ms']['p95']:.2f})" for system, one in result["systems"].items())
    return "ms a question, median (95th percentile): " + ", ".join(times) + "."


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.1%}" if whole else "–"


def floor_report(result: Mapping[str, Any]) -> str:
    """The decision that there is nothing, in one language."""
    parts = [
        f"## unanswerable ({result['language']})",
        "Each conversation is asked its own questions (answerable) and those of another one with the speakers' names "
        "taken out (unanswerable). *Nothing*: no hits at all. *Kept*: of the relevant turns among the first ten "
        "without a floor, those that are still there with it; in brackets where the names are taken out of the "
        "answerable questions too. Precision and recall are those of answering nothing.",
    ]
    if not result["has_floor"]:
        parts.append("This version's floor cannot be switched off, so what is kept is not known.")
    head = ["questions", "system", "unanswerable", "nothing", "no_match", "nothing or weak only"]
    head += ["answerable", "silenced", "relevant hits", "kept", "precision", "recall"]
    rows = []
    for system, by_group in result["systems"].items():
        for name, g in by_group.items():
            kept = "–"
            if result["has_floor"]:
                bare = _share(g["bare_hits"], g["bare_hits_without"])
                kept = f"{_share(g['hits'], g['hits_without'])} ({bare})"
            silent = g["nothing"] + g["silenced"]
            rows.append(
                [
                    name,
                    system,
                    g["unanswerable"],
                    _share(g["nothing"], g["unanswerable"]),
                    _share(g["no_match"], g["unanswerable"]),
                    _share(g["weak_only"], g["unanswerable"]),
                    g["answerable"],
                    _share(g["silenced"], g["answerable"]),
                    g["hits_without"],
                    kept,
                    _share(g["nothing"], silent),
                    _share(g["nothing"], g["unanswerable"]),
                ]
            )
    return "\n\n".join([*parts, table(head, rows)])
