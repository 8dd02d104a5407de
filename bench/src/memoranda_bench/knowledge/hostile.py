"""Hostile files taken in, each by a process of its own: what became of it, and what that took."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from memoranda_bench.knowledge.hostile_files import ESCAPED, FILES, PAGES
from memoranda_bench.knowledge.taking_in import Told, markdown_of, take_in

__all__ = ["MEMORY", "SECONDS", "check_pages", "check_sizes", "check_small", "judge", "measure_hostile"]

#: What each may take at most.
MEMORY, SECONDS = 1 << 30, 60.0
_PATIENCE = 300.0
#: Columns of a passage with the usual settings of a corpus.
_BOUND = 1000
#: An expanded bomb would be longer than that.
_SMALL = 1 << 20
_REFUSED = frozenset({"corrupt", "empty", "no_text", "too_large", "too_slow", "unsafe", "unsupported"})
_PAGE = re.compile(r"^<!-- page (\d+) -->$", re.MULTILINE)


def measure_hostile(folder: str, seed: int = 0) -> dict[str, Any]:
    """Write the files and take them in one by one, into one vault."""
    files, vault = os.path.join(folder, "a", "b", "files"), os.path.join(folder, "a", "b", "vault")
    os.makedirs(files)
    rows: list[dict[str, Any]] = []
    for name, (write, about) in FILES.items():
        path = os.path.join(files, name)
        write(path, seed)
        taken, told, _, errors = take_in(vault, [path], patience=_PATIENCE)
        [one] = told or [Told(path, "", "", "took too long")]
        text = markdown_of(vault, one.document) if one.document else ""
        faults = judge(name, one, text, taken, errors)
        faults += [f"{found} was written" for found in _escaped(folder)]
        rows.append(
            {
                "file": name,
                "about": about,
                "bytes": os.path.getsize(path),
                "outcome": one.outcome,
                "reason": one.reason or "; ".join(one.notes),
                "taking_in": taken,
                "faults": faults,
            }
        )
        print(f"hostile: {name}, {one.outcome}, {taken['seconds']:.1f} s", file=sys.stderr)
    promises = [
        {"promise": f"{row['file']}: {row['about']}", "figure": "; ".join(row["faults"]) or "as it should be",
         "held": not row["faults"]}
        for row in rows
    ]  # fmt: skip
    return {"seed": seed, "memory_limit": MEMORY, "seconds_limit": SECONDS, "files": rows, "promises": promises}


def judge(name: str, told: Told, text: str, taken: dict[str, Any], errors: str) -> list[str]:
    """What is not as it should be, in words; nothing for a file that was dealt with well."""
    faults = []
    if taken["seconds"] > SECONDS:
        faults.append(f"took {taken['seconds']:.0f} s")
    memory = max(taken["peak"] or 0, taken["together"] or 0)
    if memory > MEMORY:
        faults.append(f"took {memory >> 20:,} MB")
    if "Traceback" in errors:
        faults.append("a traceback was shown")
    if told.outcome != "stored":
        if not told.reason.strip() or "\n" in told.reason:
            faults.append("refused without a clear line")
        if told.outcome not in _REFUSED:
            faults.append(f"ended as {told.outcome or 'nothing'}")
    return faults + _CHECKS[name](told, text)


def check_small(told: Told, text: str) -> list[str]:
    """A bomb: refused, or stored as it is written and not expanded."""
    return [f"{len(text):,} characters were made of it"] if len(text) > _SMALL else []


def _check_refused(told: Told, text: str) -> list[str]:
    return ["was stored"] if told.outcome == "stored" else []


def check_pages(told: Told, text: str) -> list[str]:
    """The long PDF: stored, every page with its place and its text, and every passage with its page."""
    from memoranda.core.passages import cut

    if told.outcome != "stored":
        return ["was not stored"]
    faults = []
    if (pages := [int(page) for page in _PAGE.findall(text)]) != list(range(1, PAGES + 1)):
        faults.append(f"names {len(pages)} pages of {PAGES}")
    if missing := [page for page in range(1, PAGES + 1) if f"marker{page:04}" not in text]:
        faults.append(f"{len(missing)} pages lost their text")
    passages = cut(text, size=_BOUND)
    if astray := [one for one in passages if not _on_its_page(one.text, one.place)]:
        faults.append(f"{len(astray)} of {len(passages)} passages name no page or another")
    return faults


def _on_its_page(text: str, place: str) -> bool:
    named = [int(number) for number in re.findall(r"\d+", place)]
    return bool(named) and all(named[0] <= int(page) <= named[-1] for page in re.findall(r"marker(\d{4})", text))


def check_sizes(told: Told, text: str) -> list[str]:
    """The long cell: stored whole, and no passage over its bound."""
    from memoranda.core.passages import cut
    from memoranda.core.sentences import columns

    if told.outcome != "stored":
        return ["was not stored"]
    passages = cut(text, size=_BOUND)
    widest = max((columns(one.text, 0, len(one.text)) for one in passages), default=0)
    faults = [f"a passage of {widest:,} columns"] if widest > _BOUND else []
    if len(passages) < 2:
        faults.append("was not cut")
    return faults


def _escaped(folder: str) -> list[str]:
    """Files that came out of the archive: below the working folder, or beside and above where programs work."""
    found = [os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in names if ESCAPED in name]
    for place in (tempfile.gettempdir(), os.getcwd()):
        for above in (place, os.path.dirname(place), os.path.dirname(os.path.dirname(place))):
            found += [os.path.join(above, name) for name in os.listdir(above) if ESCAPED in name]
    return list(dict.fromkeys(found))


_CHECKS: dict[str, Callable[[Told, str], list[str]]] = {
    "bomb.docx": _check_refused,
    "near.docx": lambda told, text: [],
    "laughs.xml": check_small,
    "laughs.svg": check_small,
    "laughs.docx": check_small,
    "long.pdf": check_pages,
    "table.md": check_sizes,
    "traversal.zip": lambda told, text: [],
}
