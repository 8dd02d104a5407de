"""A speed run: every size, every system, one process after the other; figures are kept as they come."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from memoranda_bench.conditions import conditions
from memoranda_bench.speed.corpus import CATEGORIES, Corpus, make
from memoranda_bench.speed.peers import PEERS
from memoranda_bench.speed.readings import directory_bytes, free_bytes, free_memory, processes_with

__all__ = ["SYSTEMS", "Plan", "read_figures", "run", "systems_named", "write_figures"]

#: Every system, in the order in which it is measured.
SYSTEMS = ("ours", *PEERS)

_COLD_ROUNDS = 11
_COLD_SECONDS = 120.0
_PATIENCE = 1800.0
_QUIET = 0.1

# What an item takes, in bytes: in memory as long as no smaller size was measured, and on disk beside the corpus.
_MEMORY = {"ours": 3000, "bm25s": 3500, "fts5": 100, "fts5-raw": 100, "fts5-trigram": 100, "tantivy": 300}
_DISK = {"ours": 2000, "bm25s": 0, "fts5": 1000, "fts5-raw": 600, "fts5-trigram": 1500, "tantivy": 400}
_CORPUS_DISK = 700


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure; ``work`` keeps the made-up corpora."""

    sizes: tuple[int, ...]
    systems: tuple[str, ...] = SYSTEMS
    seed: int = 0
    queries: int = 200
    work: str = ""


def systems_named(text: str) -> tuple[str, ...]:
    """Read ``ours,fts5,tantivy``; ``fts5`` means all of its rows (raw text by two tokenizers, and our tokens).

    Raises:
        ValueError: there is no such system.
    """
    named = [name.strip() for name in text.split(",") if name.strip()]
    for name in named:
        if name not in SYSTEMS:
            raise ValueError(f"there is no system {name!r}; there are: {', '.join(SYSTEMS)}")
    return tuple(one for one in SYSTEMS if one in named or (one.startswith("fts5-") and "fts5" in named))


def read_figures(path: str, plan: Plan) -> dict[str, Any]:
    """The figures of an earlier run of the same plan; empty rows if there is no such file.

    Raises:
        ValueError: they were made with another seed or another number of questions.
    """
    try:
        with open(path, encoding="utf-8") as stream:
            found: dict[str, Any] = json.load(stream)
    except FileNotFoundError:
        return _fresh(plan)
    if (found.get("seed"), found.get("queries")) != (plan.seed, plan.queries):
        raise ValueError(f"{path} was made with another seed or number of questions; name another file")
    return found


def _fresh(plan: Plan) -> dict[str, Any]:
    return {"seed": plan.seed, "queries": plan.queries, "categories": CATEGORIES, "sizes": {}}


def run(plan: Plan, path: str | None = None, *, resume: bool = False) -> dict[str, Any]:
    """Measure; each finished (size, system) is written to ``path`` at once.

    With ``resume`` what is finished there is not measured again. A system that
    fails or would not fit has a row that says so.

    Raises:
        ValueError: ``path`` holds figures of another seed.
        KeyboardInterrupt: stopped by hand; what was finished is in ``path``.
    """
    figures = read_figures(path, plan) if path and resume else _fresh(plan)
    figures["conditions"] = conditions()
    if plan.work:
        os.makedirs(plan.work, exist_ok=True)
        return _run_in(plan, plan.work, figures, path)
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as work:
        return _run_in(plan, work, figures, path)


def _run_in(plan: Plan, work: str, figures: dict[str, Any], path: str | None) -> dict[str, Any]:
    for size in plan.sizes:
        size_figures = figures["sizes"].setdefault(str(size), {"systems": {}})
        rows = size_figures["systems"]
        wanted = [name for name in plan.systems if not _is_finished(rows.get(name))]
        if not wanted:
            continue
        if problem := _room(size, _CORPUS_DISK * size, 0, work):
            size_figures["skipped"] = problem
            _say(f"{size:,}: {problem}")
            continue
        size_figures.pop("skipped", None)
        corpus = make(work, size, plan.seed, _progress(size))
        size_figures["corpus"] = {"bytes": corpus.bytes, "stop_share": corpus.stop_share}
        for name in wanted:
            begin = time.perf_counter()
            problem = _room(size, _DISK[name] * size, _expected_memory(name, size, figures), work)
            rows[name] = {"skipped": problem} if problem else _measure(name, corpus, plan, work)
            size_figures["systems"] = rows = {one: rows[one] for one in SYSTEMS if one in rows}
            state = rows[name].get("skipped") or rows[name].get("failed") or "done"
            _say(f"{size:,}: {name}: {state}, {time.perf_counter() - begin:.1f} s")
            if path:
                write_figures(path, figures)
    if path:
        write_figures(path, figures)
    return figures


def write_figures(path: str, figures: dict[str, Any]) -> None:
    """Replace the file as a whole: a run may be stopped at any moment."""
    temporary = f"{path}.tmp"
    with open(temporary, "w", encoding="utf-8", newline="\n") as stream:
        json.dump(figures, stream, ensure_ascii=False, indent=1)
        stream.write("\n")
    os.replace(temporary, path)


def _progress(size: int) -> Callable[[int], None]:
    return lambda done: _say(f"{size:,}: {done:,} items made")


def _is_finished(row: dict[str, Any] | None) -> bool:
    return bool(row) and not row.keys() & {"skipped", "failed"}  # type: ignore[union-attr]


def _room(size: int, disk: int, memory: int, work: str) -> str | None:
    """Why it would not fit, in words."""
    if disk > free_bytes(work):
        return f"{size:,} items would need {disk / 1e9:.1f} GB of disk, and {free_bytes(work) / 1e9:.1f} are free"
    free = free_memory()
    if free is not None and memory > free:
        return f"{size:,} items may need {memory / 1e9:.1f} GB of memory, and {free / 1e9:.1f} are free"
    return None


def _expected_memory(name: str, size: int, figures: dict[str, Any]) -> int:
    """The most memory a system may take, in bytes: in proportion to the largest smaller size that was measured."""
    for smaller in sorted((int(one) for one in figures["sizes"] if 10_000 <= int(one) < size), reverse=True):
        row = figures["sizes"][str(smaller)]["systems"].get(name, {})
        peaks = [one.get("peak") for one in (row, row.get("build", {})) if one.get("peak")]
        if peaks:
            return int(max(peaks) * size / smaller)
    return _MEMORY[name] * size


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _measure(name: str, corpus: Corpus, plan: Plan, work: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix=f"{name}-", dir=work, ignore_cleanup_errors=True) as folder:
        try:
            return _ours(corpus, plan, work, folder) if name == "ours" else _child(name, corpus, plan, work, folder)
        except RuntimeError as error:
            return {"failed": str(error)}


def _ours(corpus: Corpus, plan: Plan, work: str, folder: str) -> dict[str, Any]:
    """First opening, opening with all derived files gone, a long-lived process, cold ones, and what is added.

    In this order: only the last one writes. What memoranda goes on doing in the
    background is waited for.
    """
    vault = os.path.join(os.path.realpath(folder), "vault")
    cache = os.path.join(vault, ".cache")
    shutil.copytree(corpus.memory, os.path.join(vault, "memory"))
    row: dict[str, Any] = {}
    stages: dict[str, Callable[[], dict[str, Any]]] = {
        "build": lambda: _child("ours-build", corpus, plan, work, vault),
        "rebuild": lambda: _child("ours-build", corpus, plan, work, vault),
        "warm": lambda: _child("ours-warm", corpus, plan, work, vault),
        "cold": lambda: _cold(corpus, vault),
        "add": lambda: _child("ours-add", corpus, plan, work, vault),
    }
    for stage, measure in stages.items():
        _say(f"{corpus.items:,}: ours: {stage} ...")
        if stage == "rebuild":
            shutil.rmtree(cache, ignore_errors=True)
        row[stage] = measure()
        row[stage]["background_seconds"] = _settle(vault)
        if stage == "rebuild":
            row[stage]["cache_bytes"] = directory_bytes(cache)
    return row


def _settle(vault: str) -> float:
    """Wait until no process works on the vault any more; how many seconds that took.

    Raises:
        RuntimeError: one never ends.
    """
    begin = time.perf_counter()
    ended = begin
    # One that has only just started is not seen yet: it must be quiet for a moment.
    while (now := time.perf_counter()) - ended < _QUIET:
        if processes_with(vault):
            ended = now
        if now - begin > _PATIENCE:
            raise RuntimeError(f"memoranda still worked in the background after {_PATIENCE:.0f} s")
        time.sleep(0.02)
    return ended - begin


def _child(system: str, corpus: Corpus, plan: Plan, work: str, folder: str) -> dict[str, Any]:
    numbers = [str(corpus.items), str(plan.seed), folder, str(plan.queries)]
    return _figures(
        ["memoranda_bench.speed.measuring", system, work, *numbers], os.pathsep.join(filter(None, sys.path))
    )


def _cold(corpus: Corpus, vault: str) -> dict[str, Any]:
    import memoranda

    # Nothing but memoranda itself is added to the path: what a user would have.
    path = os.path.dirname(os.path.dirname(os.path.abspath(str(memoranda.__file__))))
    bench = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    asked = json.dumps([question.text for question in corpus.questions[: _COLD_ROUNDS + 1]])
    call = ["memoranda_bench.speed.cold", vault, str(_COLD_ROUNDS), str(_COLD_SECONDS)]
    return _figures(call, os.pathsep.join(dict.fromkeys([path, bench])), asked)


def _figures(module: Sequence[str], path: str, given: str = "") -> dict[str, Any]:
    """What a measuring process prints as its last line.

    Raises:
        RuntimeError: it failed.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", *module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
        start_new_session=True,  # Ctrl-C comes here alone, and ends it with all that it started
    )
    try:
        out, _ = process.communicate(given.encode())
    except BaseException:
        if hasattr(os, "killpg") and process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
        raise
    if process.returncode:
        why = "was killed, perhaps for want of memory" if process.returncode < 0 else "failed"
        raise RuntimeError(f"{module[0].rpartition('.')[2]} {why} (exit code {process.returncode})")
    found: dict[str, Any] = json.loads(out.decode().strip().split("\n")[-1])
    return found
