"""The command line: ``python -m memoranda_bench convert | quality | crash | concurrent``."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from memoranda_bench.locomo import DATA_SETS, DataMissing, load

__all__ = ["main"]


def _convert(options: argparse.Namespace) -> int:
    conversations = load(options.data, options.set, captions=options.captions)
    out = sys.stdout if options.out == "-" else open(options.out, "w", encoding="utf-8", newline="\n")  # noqa: SIM115
    count = 0
    try:
        for conversation in conversations:
            for turn in conversation.turns:
                out.write(json.dumps(turn, ensure_ascii=False) + "\n")
                count += 1
    finally:
        if out is not sys.stdout:
            out.close()
    print(f"{count} turns of {len(conversations)} conversations", file=sys.stderr)
    return 0


def _quality(options: argparse.Namespace) -> int:
    from memoranda_bench.quality import Answered, ask, numbers, report

    conversations = load(options.data, options.set, captions=options.captions, corrected=options.corrected)
    answered: list[Answered] = []
    for number in numbers(options.conversations, len(conversations)):
        conversation = conversations[number - 1]
        answered += ask(conversation, number, k=options.k)
        print(f"{conversation.name}: {len(conversation.questions)} questions", file=sys.stderr)
    dropped = sum(conversation.dropped for conversation in conversations)
    print(
        f"{options.set}, conversations {options.conversations}; {dropped} questions have no usable evidence\n"
    )
    print(report(answered, k=options.k))
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
        rows, fine = crash(
            root, writes=options.writes, kills=options.kills, categories=options.categories, seed=options.seed
        )
    print(table(rows))
    return 0 if fine else 1


def _concurrent(options: argparse.Namespace) -> int:
    from memoranda_bench.concurrent import concurrent
    from memoranda_bench.processes import table

    with _vault(options) as root:
        rows, fine = concurrent(
            root, processes=options.processes, writes=options.writes, person=options.person
        )
    print(table(rows))
    return 0 if fine else 1


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"a number from 1, not {text}")
    return number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="memoranda-bench", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Callable[[argparse.Namespace], int], about: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=about, description=about)
        added.set_defaults(run=run)
        return added

    convert = command(
        "convert", _convert, "write a data set's turns as JSON lines that `memoranda import` reads"
    )
    convert.add_argument("set", choices=DATA_SETS)
    convert.add_argument("--out", required=True, metavar="FILE", help="- for standard output")

    quality = command("quality", _quality, "recall, nDCG and MRR of retrieval over turns")
    quality.add_argument("--set", choices=DATA_SETS, default="locomo")
    quality.add_argument("--k", type=_count, default=10, help="where nDCG is cut off (default 10)")
    quality.add_argument("--conversations", default="1-10", help="such as 6-10 or 1,3 (default all)")
    quality.add_argument(
        "--corrected", action="store_true", help="with the citations that an audit corrected"
    )
    for one in (convert, quality):
        one.add_argument("--data", metavar="DIR", help="the folder of the data (else MEMORANDA_BENCH_DATA)")
        one.add_argument(
            "--captions", action="store_true", help="append the captions of photographs to the text"
        )

    crash = command("crash", _crash, "kill writers at random moments; nothing acknowledged may be lost")
    crash.add_argument("--writes", type=_count, default=2000)
    crash.add_argument("--kills", type=int, default=20)
    crash.add_argument("--categories", type=_count, default=4)
    crash.add_argument("--seed", type=int, default=0)

    concurrent = command("concurrent", _concurrent, "many processes write one category at once")
    concurrent.add_argument("--processes", type=_count, default=8)
    concurrent.add_argument("--writes", type=_count, default=200, help="by each process")
    concurrent.add_argument(
        "--person", action="store_true", help="and a person saves the file without any lock"
    )
    for one in (crash, concurrent):
        one.add_argument("--vault", metavar="DIR", help="write there and leave it (else a temporary folder)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 1 when something was lost, 2 for a wrong call."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except (DataMissing, ValueError) as error:
        print(f"memoranda-bench: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
