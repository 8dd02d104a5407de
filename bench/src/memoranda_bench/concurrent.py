"""Many processes write one category at once, and (by choice) a person saves the file between them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from typing import Any

from memoranda import Vault
from memoranda_bench.processes import Child, read_journal, start
from memoranda_bench.writers import item_text

__all__ = ["concurrent"]

CATEGORY = "crowd"


def _run(root: str, processes: int, writes: int, person: bool) -> tuple[list[Child], Child | None, float]:
    path = os.path.join(root, "memory", f"{CATEGORY}.md")
    writers = [start("remember", root, CATEGORY, f"w{n}", "0", str(writes)) for n in range(processes)]
    editor = start("person", path, "line") if person else None
    everyone = [*writers, *([editor] if editor else [])]
    for child in everyone:
        child.wait_ready()
    begin = time.perf_counter()
    for child in everyone:
        child.go()
    for writer in writers:
        writer.finish()
    seconds = time.perf_counter() - begin
    if editor:
        editor.kill()
    return writers, editor, seconds


def _names(address: str) -> str:
    return address.rpartition(":")[2]


def _external_edits(entries: Sequence[dict[str, Any]], name: str) -> list[str]:
    """Ids of the external edits whose journal line names the item, latest first."""
    found = []
    for entry in reversed(entries):
        if entry.get("action") != "external-edit":
            continue
        if entry.get("item") == name or f'"{name}"' in json.dumps(entry.get("detail", {}), ensure_ascii=False):
            found.append(str(entry["id"]))
    return found


def _headings(path: str) -> set[str]:
    """Names of the level-2 headings, read without memoranda."""
    with open(path, "rb") as stream:
        lines = stream.read().decode("utf-8").split("\n")
    return {line[3:].strip() for line in lines if line.startswith("## ")}


def _bring_back(root: str, missing: Sequence[str]) -> tuple[int, list[str]]:
    """Undo the external edits that removed items: how many undos, and what is still missing."""
    entries, _ = read_journal(root)
    undone: set[str] = set()
    still: list[str] = []
    with Vault.open(root) as vault:
        for address in missing:
            if vault.get(address) is not None:
                continue
            name = _names(address)
            for journal_id in _external_edits(entries, name)[:1]:
                if journal_id not in undone:
                    undone.add(journal_id)
                    vault.undo(journal_id)
            item = vault.get(address)
            if item is None or item_text(name).split("\n")[0] not in item.text:
                still.append(address)
    return len(undone), still


def concurrent(root: str, *, processes: int, writes: int, person: bool = False) -> tuple[dict[str, object], bool]:
    """Figures, and whether nothing was lost: no acknowledged item, and no line of the person."""
    with Vault.open(root):
        pass  # the folder is there before the writers race for it
    writers, editor, seconds = _run(root, processes, writes, person)
    acknowledged = [address for writer in writers for address in writer.written]
    refused = [reason for writer in writers for reason in writer.refused]
    path = os.path.join(root, "memory", f"{CATEGORY}.md")
    with Vault.open(root) as vault:
        on_disk = {str(item.address) for item in vault.items(CATEGORY)}
        problems = [str(problem) for problem in vault.check()]
    headings = _headings(path)
    missing = [address for address in acknowledged if _names(address) not in headings]
    unseen = [address for address in acknowledged if address not in on_disk and address not in missing]
    entries, torn = read_journal(root)
    added = sum(1 for entry in entries if entry.get("action") == "add")
    rows: dict[str, object] = {
        "processes x writes": f"{processes} x {writes}",
        "acknowledged": len(acknowledged),
        "refused": len(refused),
        "on disk": len(headings),
        "journal lines (torn)": f"{len(entries)} ({torn})",
        "of them add": added,
        "problems that check finds": len(problems),
        "seconds": f"{seconds:.1f}",
        "writes a second": f"{len(acknowledged) / seconds:.0f}",
    }
    fine = not (torn or problems or unseen) and len(acknowledged) + len(refused) == processes * writes
    if editor is None:
        rows["acknowledged and lost"] = len(missing)
        fine = fine and not (missing or refused) and added == len(acknowledged)
    else:
        silent = [address for address in missing if not _external_edits(entries, _names(address))]
        undone, still = _bring_back(root, missing)
        with open(path, encoding="utf-8") as stream:
            lines = set(stream.read().split("\n"))
        lost_lines = [marker for marker in editor.written if marker not in lines]
        rows |= {
            "the person's saves": len(editor.written),
            "the person's lines lost": len(lost_lines),
            "items erased by a save": len(missing),
            "of them not journalled": len(silent),
            "undos": undone,
            "items still lost": len(still),
        }
        # Where a person changes the same place, a write may be refused as long as it says so.
        other = [reason for reason in refused if " ChangedUnderneath:" not in reason]
        fine = fine and not (lost_lines or silent or still or other)
    for name, examples in (
        ("refused", refused),
        ("problem", problems),
        ("missing", missing),
        ("unseen", unseen),
    ):
        if examples:
            rows[f"first {name}"] = examples[0]
    return rows, fine
