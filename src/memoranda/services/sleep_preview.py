"""A sleep tried on a copy of the vault: what it would change, and whether questions find the same items after it."""

from __future__ import annotations

import difflib
import os
import shutil
import tempfile
from contextlib import contextmanager

from memoranda.core.records import dataclass
from memoranda.storage.files import TEMPORARY_PREFIX, reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from memoranda.core.model import Item

__all__ = ["Probe", "RecallCheck", "check_recall", "copied", "differences", "made_probes"]

#: What a sleep neither reads nor writes, at the top of a vault.
_LEFT_OUT = (".cache", "docs", "raw", "resources", "inbox")
_MOST_PROBES = 200
_CONTEXT = 2


@dataclass(frozen=True, slots=True)
class Probe:
    """A question, and the address that its answer should have; none: whatever is found now."""

    question: str
    expected: str = ""
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecallCheck:
    """How many questions find what they found before, and which do not."""

    asked: int
    kept: int
    lost: tuple[str, ...] = ()


@contextmanager
def copied(root: str, projects: Mapping[str, str]) -> Iterator[str]:
    """A copy of a vault that is gone afterwards, without what sleep has nothing to do with.

    The memory of ``projects`` that lies elsewhere lies inside the copy, which
    has to be opened as if nothing were said of them: what is tried there must
    reach no repository.

    Raises:
        VaultUnreadable: it cannot be copied.
    """
    with tempfile.TemporaryDirectory(prefix="memoranda-sleep-") as folder:
        target = os.path.join(folder, "vault")
        with reading(root):
            shutil.copytree(root, target, ignore=_left_out(root), symlinks=True)
            for project, home in projects.items():
                memory = os.path.join(target, "projects", project, "memory")
                _unlinked(target, memory)
                shutil.rmtree(memory, ignore_errors=True)
                if os.path.isdir(os.path.join(home, "memory")):
                    shutil.copytree(os.path.join(home, "memory"), memory, symlinks=True)
        yield target


def _unlinked(root: str, path: str) -> None:
    """Remove the links on the way from a folder to a path in it: nothing is to be done where they lead."""
    while path != root:
        if os.path.islink(path):
            os.unlink(path)
        path = os.path.dirname(path)


def _left_out(root: str) -> Callable[[str, list[str]], Iterable[str]]:
    home = os.path.realpath(root)

    def ignore(folder: str, names: list[str]) -> Iterable[str]:
        top = os.path.realpath(folder) == home
        return [
            name
            for name in names
            if (top and name in _LEFT_OUT) or name.startswith((".lock", ".git", TEMPORARY_PREFIX))
        ]

    return ignore


def differences(before: str, after: str, projects: Mapping[str, str]) -> list[str]:
    """The lines in which the memory of two vaults differs, as ``diff -u`` shows them.

    In the first one that of ``projects`` lies elsewhere.
    """
    lines: list[str] = []
    old, new = _memory(before), _memory(after)
    for project, home in projects.items():
        inside = f"projects/{project}/"
        old = {name: text for name, text in old.items() if not name.startswith(inside)}
        old |= {f"{inside}{name}": text for name, text in _memory(home, ("memory",)).items()}
    for relative in sorted(old.keys() | new.keys()):
        if (was := old.get(relative, "")) != (now := new.get(relative, "")):
            names = (f"a/{relative}" if was else "/dev/null", f"b/{relative}" if now else "/dev/null")
            lines += difflib.unified_diff(was.splitlines(), now.splitlines(), *names, lineterm="", n=_CONTEXT)
    return lines


def _memory(root: str, tops: Iterable[str] = ("memory", "users", "agents", "projects")) -> dict[str, str]:
    found: dict[str, str] = {}
    for top in tops:
        for folder, folders, names in os.walk(os.path.join(root, top)):
            folders.sort()
            for name in names:
                if name.endswith(".md"):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8", errors="replace") as stream:
                        found[os.path.relpath(path, root).replace(os.sep, "/")] = stream.read()
    return found


def made_probes(items: Sequence[Item]) -> list[Probe]:
    """Questions made of items' names, spread over all of them."""
    step = -(-len(items) // _MOST_PROBES) or 1
    return [
        Probe(one.name.replace("-", " ").replace("_", " "), str(one.address), (str(one.address.scope),))
        for one in items[::step]
        if not one.name.startswith(("~", "^"))
    ]


def check_recall(
    probes: Sequence[Probe],
    before: Callable[[Probe], Sequence[str]],
    after: Callable[[Probe], Sequence[str]],
    successors: Mapping[str, str],
) -> RecallCheck:
    """Ask the same questions before and after: what was found is found, or what took its place is."""
    lost: list[str] = []
    asked = 0
    for probe in probes:
        found = before(probe)
        wanted = probe.expected if probe.expected in found else "" if probe.expected else next(iter(found), "")
        if not wanted:
            continue
        asked += 1
        now = after(probe)
        if wanted not in now and successors.get(wanted, wanted) not in now:
            lost.append(f"{probe.question}: {wanted}")
    return RecallCheck(asked, asked - len(lost), tuple(lost))
