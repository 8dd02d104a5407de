"""Looking at a vault from outside: its bytes, its journal, and whether some text is left anywhere."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

__all__ = ["as_nobody", "crash_at", "in_child", "journal", "memory_bytes", "places_of", "tree_bytes", "write"]

_NOBODY = 65534


def tree_bytes(root: str | Path, *folders: str) -> dict[str, bytes]:
    """Some files and folders of the vault (without any: all but the cache), file by file."""
    found = {}
    for name in folders or (".",):
        start = Path(root, name)
        for path in (start, *sorted(start.rglob("*"))):
            relative = path.relative_to(root).as_posix()
            if path.is_file() and not path.is_symlink() and (folders or not relative.startswith(".cache/")):
                found[relative] = path.read_bytes()
    return found


def memory_bytes(root: str | Path) -> dict[str, bytes]:
    """Every file that holds memory."""
    return tree_bytes(root, "memory", "users", "agents", "projects")


def journal(root: str | Path) -> list[dict[str, Any]]:
    """The journal's lines, oldest first."""
    path = Path(root, "journal.jsonl")
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line] if path.exists() else []


def places_of(root: str | Path, *needles: str) -> list[str]:
    """The files, and file names, of a vault that hold one of the needles, as text or escaped as JSON."""
    found = []
    wanted = {n.encode() for n in needles} | {json.dumps(n)[1:-1].encode() for n in needles}
    for folder, folders, names in os.walk(root):
        for name in (*folders, *names):
            path = os.path.join(folder, name)
            data = Path(path).read_bytes() if name in names and os.path.isfile(path) else b""
            if any(needle in data or needle in os.fsencode(name) for needle in wanted):
                found.append(os.path.relpath(path, root))
    return found


def write(root: str | Path, relative: str, text: str | bytes) -> Path:
    """A file as a person saves it: a new file put over the old one."""
    path = Path(root, relative)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}~")
    temporary.write_bytes(text if isinstance(text, bytes) else text.encode())
    temporary.replace(path)
    return path


def in_child(work: Callable[[], None]) -> int:
    """Do some work in a process of its own; its exit code, 1 for an exception."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def as_nobody(work: Callable[[], None]) -> None:
    """Do some work as a user who owns nothing; skipped where the tests may not change users."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to become a user who owns nothing")

    def first() -> None:
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)
        work()

    assert in_child(first) == 0


#: The calls that change files.
_CHANGING = ("write", "fsync", "replace", "rename", "link", "unlink")


def crash_at(step: int, work: Callable[[], object]) -> bool:
    """Do some work in a process that ends like a power cut at the n-th call that changes a file; whether it did."""

    def doomed() -> None:
        left = step

        def counted(real: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any, **options: Any) -> Any:
                nonlocal left
                left -= 1
                if left < 0:
                    os._exit(9)
                return real(*arguments, **options)

            return call

        for name in _CHANGING:
            setattr(os, name, counted(getattr(os, name)))
        work()

    code = in_child(doomed)
    assert code in (0, 9)
    return code == 9
