"""What became of documents, held against what their labels say should."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from memoranda_bench.knowledge.taking_in import FINE, Told

__all__ = ["Compared", "Label", "compare", "outcome_figures", "read_labels", "read_lines"]

_KINDS = "corrupt|empty|encrypted|no_text|secret|too_large|too_slow|unsafe|unsupported"
_ALTERNATIVE = re.compile(rf"\b(stored|storing|{_KINDS})\b")
_EXPECTED = re.compile(r"(?:^|; )expect=([^;]+)")


@dataclass(frozen=True, slots=True)
class Label:
    """What should become of a document: ``outcome``, or one of ``also``; ``expected`` must stand in its markdown."""

    document: str
    outcome: str
    also: tuple[str, ...] = ()
    expected: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Compared:
    """A document's label beside what became of it. ``verdict``: ``same``, ``alternative``, ``other`` or ``missing``."""

    document: str
    labelled: str
    outcome: str
    verdict: str
    reason: str = ""
    note: str = ""


def read_lines(path: str) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    with open(path, encoding="utf-8") as stream:
        return [json.loads(line) for line in stream if line.strip()]


def read_labels(rows: Iterable[Mapping[str, Any]]) -> list[Label]:
    """The labels; a note may go on with ``also accept: ...`` and with ``expect=...``."""
    labels = []
    for row in rows:
        note = row.get("note") or ""
        _, _, accepted = note.partition("also accept:")
        also = ("stored" if kind == "storing" else kind for kind in _ALTERNATIVE.findall(accepted.partition(";")[0]))
        expected = _EXPECTED.search(note)
        given = tuple(row.get("also") or ()) if not isinstance(row.get("also"), str) else (row["also"],)
        labels.append(
            Label(
                row["document"],
                row["outcome"],
                (*given, *list(also)[:1]),
                expected[1].strip() if expected else "",
                note,
            )
        )
    return labels


def compare(labels: Sequence[Label], told: Iterable[Told], folder: str) -> tuple[list[Compared], list[Told]]:
    """Every label beside what became of its document (a path below ``folder``), and what has no label.

    A document whose bytes are those of one before it is ``unchanged``, which
    counts as stored.
    """
    became = {os.path.relpath(one.path, folder).replace(os.sep, "/"): one for one in told}
    rows = []
    for label in labels:
        one = became.pop(label.document, None)
        if one is None:
            rows.append(Compared(label.document, label.outcome, "", "missing", "nothing was said of it", label.note))
            continue
        outcome = "stored" if one.outcome in FINE else one.outcome
        verdict = "same" if outcome == label.outcome else "alternative" if outcome in label.also else "other"
        rows.append(Compared(label.document, label.outcome, one.outcome, verdict, one.reason, label.note))
    return rows, list(became.values())


def outcome_figures(rows: Sequence[Compared], unlabelled: Sequence[Told]) -> dict[str, Any]:
    """Counts by verdict and by outcome, and every document whose outcome is not the labelled one."""
    verdicts, outcomes = (
        ("same", "alternative", "other", "missing"),
        sorted({row.outcome for row in rows if row.outcome}),
    )
    return {
        "labels": len(rows),
        "verdicts": {verdict: sum(row.verdict == verdict for row in rows) for verdict in verdicts},
        "outcomes": {outcome: sum(row.outcome == outcome for row in rows) for outcome in outcomes},
        "differences": [asdict(row) for row in rows if row.verdict != "same"],
        "unlabelled": [{"path": os.path.basename(one.path), "outcome": one.outcome} for one in unlabelled],
    }
