"""The figures of a knowledge run as markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from memoranda_bench.bootstrap import RESAMPLES
from memoranda_bench.conditions import condition_rows
from memoranda_bench.knowledge.matching import CUTOFFS
from memoranda_bench.knowledge.taking_in import CORPUS
from memoranda_bench.markdown import table

__all__ = ["documents_report", "hostile_report", "knowledge_report", "passages_report", "throughput_report"]

_Figures = Mapping[str, Any]

_FOLDER = f"docs/{CORPUS}/"


def knowledge_report(figures: _Figures) -> str:
    """Every part that was measured, and under which conditions."""
    parts = ["# Knowledge", table(["", ""], condition_rows(figures["conditions"]))]
    reports: dict[str, Callable[[Any], str]] = {
        "documents": documents_report,
        "passages": passages_report,
        "throughput": throughput_report,
        "hostile": hostile_report,
    }
    for name, report in reports.items():
        if name in figures["parts"]:
            parts.append(report(figures["parts"][name]))
    parts += [f"Not measured: {name}: {reason}." for name, reason in figures["skipped"].items()]
    return "\n\n".join(parts)


def documents_report(one: _Figures) -> str:
    """Outcomes beside labels, then questions by mode, then each question that was not answered well."""
    verdicts = one["verdicts"]
    parts = [
        "## Documents",
        f"{one['files']} real and made files of every format, {len(one['unlabelled'])} of them without a label. "
        f"Outcomes beside {one['labels']} labels: "
        f"{verdicts['same']} as labelled, {verdicts['alternative']} as the label's alternative, "
        f"{verdicts['other']} another, {verdicts['missing']} not told of. Stored without a text that the label "
        f"names: {len(one['texts']['without'])} of {one['texts']['checked']} that name one.",
        _outcomes(one),
    ]
    differences = [
        [row["document"], row["labelled"], row["outcome"] or "–", _cell(row["reason"]) or "–", _cell(row["note"])]
        for row in one["differences"]
    ]
    if differences:
        parts.append(table(["document", "labelled", "ours", "our reason", "the label's note"], differences))
    parts += [f"- {row['document']} lacks `{row['expected']}`" for row in one["texts"]["without"]]
    takings = [["taking in", one["taking_in"]]]
    if "embedding" in one:
        takings.append([f"embedding ({one['embedder']})", one["embedding"]])
    parts.append(_takings(takings))
    parts += [
        "A hit is a passage that holds the expected text, of whichever document; NFKC, case, white space and the signs "
        "of markdown do not count.",
        _hits(one["modes"]),
    ]
    for mode, given in one["modes"].items():
        parts += _misses(mode, given)
    return "\n\n".join(parts)


def _outcomes(one: _Figures) -> str:
    outcomes = one["outcomes"]
    return table(["outcome", *outcomes], [["documents", *outcomes.values()]])


def _hits(modes: Mapping[str, _Figures]) -> str:
    rows = []
    for mode, given in modes.items():
        count = given["questions"]
        hits = [f"{given[f'hit@{cutoff}'] / count:.3f} ({given[f'hit@{cutoff}']}/{count})" for cutoff in CUTOFFS]
        rows.append([mode, *hits, f"{given['mrr']:.3f}", f"{given['ms']['p50']:.1f} ({given['ms']['p95']:.1f})"])
    return table(["mode", *(f"hit@{cutoff}" for cutoff in CUTOFFS), "MRR", "ms median (p95)"], rows)


def _misses(mode: str, given: _Figures) -> Iterator[str]:
    for reason in given["unavailable"]:
        yield f"`{mode}`: not available: {reason}."
    if given["missed"]:
        yield f"`{mode}`: {len(given['missed'])} questions without their answer in the first three passages."
        rows = [
            [
                miss["id"],
                _cell(miss["question"]),
                _cell(miss["expect"][:60]),
                miss["document"],
                miss["place"] or "–",
                _cell(f"{miss['first'].removeprefix(_FOLDER)}: {miss['first_text']}") if miss["first"] else "nothing",
            ]
            for miss in given["missed"]
        ]
        yield table(["", "question", "expected", "document", "place", "what came first"], rows)


def passages_report(sets: Sequence[_Figures]) -> str:
    """Each set: ours and BM25 over the same passages, and what ours gains."""
    parts = [
        "## Passages as documents",
        "One markdown file a document, taken in by `kb add`. A document's place is that of its best passage. BM25 has "
        "the same passages: what is searched of each, its headings and its text. `bm25-stemmed`: Snowball and a long "
        "stop list; `bm25s` in Chinese: pairs of characters.",
    ]
    for one in sets:
        parts.append(f"### {one['set']}")
        parts.append(
            f"{one['documents']:,} documents, {one['passages']:,} passages, {one['questions']:,} questions; taken in "
            f"in {one['taking_in']['seconds']:.1f} s."
        )
        rows = [
            [
                system,
                *(f"{given[metric]:.4f}" for metric in ("nDCG@10", "R@10", "MRR")),
                f"{given['ms']['p50']:.1f} ({given['ms']['p95']:.1f})",
            ]
            for system, given in one["systems"].items()
        ]
        parts.append(table(["system", "nDCG@10", "R@10", "MRR", "ms median (p95)"], rows))
        parts.append(f"Gain over `{one['baseline']}`: mean [95 % of {RESAMPLES:,} paired resamples].")
        gains = [[system, *map(_gain, given.values())] for system, given in one["gains"].items()]
        parts += [table(["system", "nDCG@10", "R@10", "MRR"], gains), _promises(one["promises"])]
    return "\n\n".join(parts)


def throughput_report(one: _Figures) -> str:
    """Ours by size, MarkItDown beside it, and the ratios."""
    peer = one["peer"]
    takings = [
        [f"ours, {one['documents']:,} documents", one["whole"]],
        [f"ours, {one['half']:,} documents", one["part"]],
        [f"ours, {one['documents']:,} documents again, nothing changed", one["again"]],
    ]
    rows = [
        [kind, f"{one['ms'][key]['ours']:.2f}", f"{one['ms'][key]['markitdown']:.2f}", f"{one['ratio'][key]:.2f} ×"]
        for kind, key in (("wall", "seconds"), ("processor", "cpu_seconds"))
    ]
    failed = sum(run["failed"] for run in peer)
    return "\n\n".join(
        [
            "## Throughput",
            f"{one['documents']:,} made-up documents (seed {one['seed']}; {one['bytes'] / 1e6:.1f} MB; text and "
            "markdown, English and Chinese). Ours is `kb add` as a process: start, hashes, conversion, markdown and "
            "original durably on disk. MarkItDown alone converts in one process and writes nothing, without its "
            f"import and start; it has {peer[0]['documents']:,} of the documents, evenly chosen, twice, and its time "
            "is scaled. Order: ours, MarkItDown, MarkItDown, ours (half).",
            _takings(takings),
            table(["ms a document", "ours", "MarkItDown", "ratio"], rows),
            "MarkItDown: " + " and ".join(f"{run['seconds']:.1f} s" for run in peer) + f"; {failed} failed.",
            f"A fixed piece of work took {one['spin_ms'][0]:.1f} ms before and {one['spin_ms'][1]:.1f} ms after.",
            _promises(one["promises"]),
        ]
    )


def hostile_report(one: _Figures) -> str:
    """Each file: its outcome and what that took."""
    rows = [
        [
            row["file"],
            row["about"],
            f"{row['bytes'] / 1e6:.2f}",
            row["outcome"] or "–",
            _cell(row["reason"])[:160] or "–",
            f"{row['taking_in']['seconds']:.1f}",
            _megabytes(row["taking_in"]["peak"]),
            _megabytes(row["taking_in"]["together"]),
        ]
        for row in one["files"]
    ]
    head = ["file", "what", "MB", "outcome", "reason", "seconds", "peak", "together"]
    return "\n\n".join(
        [
            "## Hostile files",
            f"Each taken in by a process of its own; bounds are {one['seconds_limit']:.0f} s and "
            f"{one['memory_limit'] >> 20:,} MB. *Peak* is the most that its largest process had, *together* the most "
            "that all had at once (sampled; what they share counts for each), in MB.",
            table(head, rows),
            _promises(one["promises"]),
        ]
    )


def _takings(rows: Sequence[Sequence[Any]]) -> str:
    head = ["", "wall s", "user + system s", "peak MB", "all processes MB"]
    return table(
        head,
        [
            [
                what,
                f"{taken['seconds']:.2f}",
                f"{taken['cpu_seconds']:.2f}",
                _megabytes(taken["peak"]),
                _megabytes(taken["together"]),
            ]
            for what, taken in rows
        ],
    )


def _promises(promises: Sequence[_Figures]) -> str:
    rows = [[one["promise"], _cell(one["figure"]), "yes" if one["held"] else "**no**"] for one in promises]
    return table(["promise", "figure", "held"], rows)


def _gain(gain: Mapping[str, float]) -> str:
    # Adding zero turns a negative zero into a positive one.
    mean, lower, upper = (round(gain[end], 4) + 0.0 for end in ("mean", "lower", "upper"))
    return f"{mean:+.4f} [{lower:+.4f}, {upper:+.4f}]"


def _megabytes(count: float | None) -> str:
    return "–" if count is None else f"{count / 1e6:,.0f}"


def _cell(text: str) -> str:
    """Text that stays in its cell."""
    return " ".join(text.split()).replace("|", "\\|")
