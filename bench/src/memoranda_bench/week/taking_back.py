"""Every sleep undone, the newest first: the files are what they were before it, byte for byte."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memoranda import Vault

__all__ = ["Night", "differing", "expected_trees", "read_tree", "undo_nights"]

#: What is derived, or says what happened: an undo adds to it, and takes nothing away.
_LEFT_OUT = (".cache", "history", "sleep", "journal.jsonl", "usage.jsonl", "MEMORY.md")
_TEMPORARY = (".lock", ".memoranda-")
#: So many files that differ are named.
_NAMED = 5

Tree = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Night:
    """A sleep: its change (``None``: it did nothing), the files before and after it, how many stages it put aside."""

    change: str | None
    before: Tree
    after: Tree
    put_aside: int = 0


def read_tree(root: str) -> dict[str, bytes]:
    """The files of a vault that are its contents, by their paths below it."""
    found: dict[str, bytes] = {}
    for folder, folders, names in os.walk(root):
        if folder == root:
            folders[:] = [name for name in folders if name not in _LEFT_OUT]
            names = [name for name in names if name not in _LEFT_OUT]
        for name in names:
            if not name.startswith(_TEMPORARY):
                path = os.path.join(folder, name)
                with open(path, "rb") as stream:
                    found[os.path.relpath(path, root).replace(os.sep, "/")] = stream.read()
    return found


def expected_trees(nights: Sequence[Night]) -> list[dict[str, bytes]]:
    """What the files have to be once each sleep and all later ones are undone: as before it, and the later days' work.

    Days write what no sleep writes.
    """
    expected: list[dict[str, bytes]] = []
    worked: dict[str, bytes] = {}
    for number in range(len(nights) - 1, -1, -1):
        expected.append({**nights[number].before, **worked})
        if number:
            left = nights[number - 1].after
            for path, data in nights[number].before.items():
                if left.get(path) != data:
                    worked.setdefault(path, data)
    return expected[::-1]


def differing(tree: Tree, expected: Tree) -> list[str]:
    """The paths of files that are in one alone, or not the same in both."""
    return sorted(path for path in tree.keys() | expected.keys() if tree.get(path) != expected.get(path))


def undo_nights(vault: Vault, root: str, nights: Sequence[Night]) -> dict[str, Any]:
    """Undo them: how many were ``undone``, how many ``exact``, and in what others differ.

    Raises:
        CannotUndo: one cannot be.
    """
    expected = expected_trees(nights)
    undone = exact = 0
    faults: list[str] = []
    for number in range(len(nights) - 1, -1, -1):
        change = nights[number].change
        if change is None:
            continue
        vault.undo(change)
        undone += 1
        different = differing(read_tree(root), expected[number])
        exact += not different
        if different:
            more = ", …" if len(different) > _NAMED else ""
            faults.append(f"night {number + 1}: {', '.join(different[:_NAMED])}{more}")
    return {"undone": undone, "exact": exact, "faults": faults}
