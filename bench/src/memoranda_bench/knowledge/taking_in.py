"""``memoranda`` as a person runs it: real processes, what they took, and what they said of each document."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from memoranda_bench.systems import SystemMissing

__all__ = ["CORPUS", "FINE", "Told", "markdown_files", "markdown_of", "memoranda", "read_told", "run", "take_in"]

#: Where documents go that are given to no other corpus.
CORPUS = "main"

#: The outcomes after which a document is in the vault.
FINE = frozenset({"stored", "unchanged"})
#: Longer than that no command may take.
_PATIENCE = 3600.0
#: As an installation leaves the package: compiled. A checkout is not, where the environment forbids writing bytecode.
_COMPILE = "import compileall, os, memoranda; compileall.compile_dir(os.path.dirname(memoranda.__file__), quiet=2)"


@dataclass(frozen=True, slots=True)
class Told:
    """What ``kb add`` says of one file."""

    path: str
    outcome: str
    document: str = ""
    reason: str = ""
    notes: tuple[str, ...] = ()


def run(command: Sequence[str], *, patience: float = _PATIENCE) -> tuple[dict[str, Any], str, str]:
    """Run a command; its figures (see :mod:`.measured`), its standard output and standard error.

    Raises:
        SystemMissing: this system cannot say what a process took.
        RuntimeError: it could not be run.
    """
    if not hasattr(os, "wait4"):
        raise SystemMissing("what a process takes can be measured on POSIX systems alone")
    _compile()
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        out, errors = os.path.join(folder, "out"), os.path.join(folder, "errors")
        small = [sys.executable, "-m", "memoranda_bench.knowledge.measured", str(patience), out, errors]
        done = subprocess.run([*small, *command], check=False, stdout=subprocess.PIPE, env=_environment())
        if done.returncode:
            raise RuntimeError(f"{command[0]} could not be measured")
        return json.loads(done.stdout), _read(out), _read(errors)


@cache
def _compile() -> None:
    subprocess.run([sys.executable, "-c", _COMPILE], check=False, env=_environment())


def _environment() -> dict[str, str]:
    """Processes that are started find the packages where this one found them."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as stream:
        return stream.read()


def memoranda(vault: str, *arguments: str, patience: float = _PATIENCE) -> tuple[dict[str, Any], str, str]:
    """Run the command line on a vault; see :func:`run`."""
    return run([sys.executable, "-m", "memoranda", "-C", vault, *arguments], patience=patience)


def take_in(
    vault: str, paths: Sequence[str], *, patience: float = _PATIENCE
) -> tuple[dict[str, Any], list[Told], str, str]:
    """``kb add`` of these: its figures, what became of each file, and both outputs as they are.

    Raises:
        RuntimeError: it told of no document.
    """
    figures, out, errors = memoranda(vault, "kb", "add", *paths, "--json", patience=patience)
    if figures["late"]:
        return figures, [], out, errors
    try:
        return figures, read_told(json.loads(out)), out, errors
    except (ValueError, KeyError, TypeError) as error:
        last = errors.strip().splitlines()[-1:] or [f"exit code {figures['code']}"]
        raise RuntimeError(f"kb add said nothing of any document: {last[0]}") from error


def read_told(said: Any) -> list[Told]:
    """What the JSON of ``kb add`` says: a list of documents, alone or under ``documents``.

    Raises:
        KeyError, TypeError: it is something else.
    """
    listed: Sequence[Mapping[str, Any]] = said["documents"] if isinstance(said, dict) else said
    return [
        Told(
            one["path"],
            one["outcome"],
            (one.get("document") or "").rpartition("/")[2],
            one.get("reason") or "",
            tuple(one.get("notes") or ()),
        )
        for one in listed
    ]


def markdown_files(vault: str) -> dict[str, str]:
    """The documents of a vault, and the file of each: files are the truth."""
    folder = os.path.join(vault, "docs", CORPUS)
    names = sorted(name for name in os.listdir(folder) if name.endswith(".md"))
    return {name.removesuffix(".md"): os.path.join(folder, name) for name in names}


def markdown_of(vault: str, document: str) -> str:
    """The markdown of a document, with its front matter."""
    with open(markdown_files(vault)[document], encoding="utf-8", newline="") as stream:
        return stream.read()
