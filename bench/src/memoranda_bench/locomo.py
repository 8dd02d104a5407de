"""LoCoMo: ten long conversations and questions with the turns that answer them.

The data (CC BY-NC 4.0, evaluation only) is not part of this package; a folder
that holds it is named by ``--data`` or ``MEMORANDA_BENCH_DATA``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["DATA_SETS", "Conversation", "DataMissing", "Question", "load", "parse_date", "repair_evidence"]

#: By name: the files (below the data folder) of the turns and of the questions.
DATA_SETS = {
    "locomo": ("locomo/locomo10.json", "locomo/locomo10.json"),
    "locomo-zh": ("locomo-zh/medium_locomo_zh.json", "locomo-zh/medium_locomo_zh.json"),
    "locomo-zh-en": ("locomo-zh/medium_locomo.json", "locomo-zh/medium_locomo_zh.json"),
}

_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_DATE = re.compile(
    r"\s*(\d{1,2}):(\d{2})\s*([ap])m\s+on"
    r"\s+(\d{1,2})\s+([A-Za-z]+),?\s+(\d{4})\s*\Z",
    re.IGNORECASE,
)
_SESSION = re.compile(r"session_(\d+)\Z")
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


class DataMissing(Exception):
    """The data set is not where it was looked for."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question; ``evidence`` names the turns that answer it, ``category`` is LoCoMo's (1 to 5)."""

    text: str
    evidence: tuple[str, ...]
    category: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation: ``turns`` are records as ``Vault.import_turns`` takes them."""

    name: str
    turns: tuple[dict[str, str], ...]
    questions: tuple[Question, ...]
    dropped: int = 0


def parse_date(text: str) -> str:
    """A session's date (``1:56 pm on 8 May, 2023``, taken as UTC) in ISO 8601.

    Raises:
        ValueError: it is no such date.
    """
    found = _DATE.match(text)
    if found is None or found[5].lower() not in _MONTHS:
        raise ValueError(f"no session date: {text!r}")
    from datetime import datetime

    if not 1 <= int(found[1]) <= 12:
        raise ValueError(f"no hour of a twelve-hour clock: {text!r}")
    hour = int(found[1]) % 12 + (12 if found[3].lower() == "p" else 0)
    month = _MONTHS.index(found[5].lower()) + 1
    return datetime(int(found[6]), month, int(found[4]), hour, int(found[2])).isoformat() + "Z"


def repair_evidence(evidence: Sequence[str], ids: Collection[str]) -> tuple[str, ...]:
    """The turn ids that the evidence means, each once.

    Mends ``D8:6; D9:17`` (several in one), ``D:11:26`` and ``D30:05``; ids that
    the conversation does not have are dropped.
    """
    meant = (
        f"D{int(session)}:{int(turn)}" for written in evidence for session, turn in _EVIDENCE.findall(written)
    )
    return tuple(dict.fromkeys(turn for turn in meant if turn in ids))


def _turns(name: str, conversation: dict[str, Any], captions: bool) -> Iterator[dict[str, str]]:
    numbers = sorted(int(m[1]) for m in map(_SESSION.match, conversation) if m)
    for number in numbers:
        ts = parse_date(conversation[f"session_{number}_date_time"])
        for turn in conversation[f"session_{number}"]:
            text = turn["text"]
            if captions and turn.get("blip_caption"):
                text += f" [photo: {turn['blip_caption']}]"
            yield {
                "conversation": name,
                "turn": turn["dia_id"],
                "ts": ts,
                "speaker": turn["speaker"],
                "role": "user",
                "text": text,
            }


def _find(data: str | None, relative: str) -> str:
    folder = data or os.environ.get("MEMORANDA_BENCH_DATA")
    if not folder:
        raise DataMissing("name the folder of the data by --data or MEMORANDA_BENCH_DATA")
    for path in (relative, f"data/{relative}", relative.rpartition("/")[2]):
        full = os.path.join(os.path.expanduser(folder), *path.split("/"))
        if os.path.isfile(full):
            return full
    raise DataMissing(f"there is no {relative} in {folder}")


def _corrections(data: str | None) -> dict[tuple[int, int], list[str]]:
    """Evidence that an audit found wrong, by conversation and question (both from 0)."""
    with open(_find(data, "locomo/audit-corrections.json"), encoding="utf-8") as stream:
        audit = json.load(stream)
    found: dict[tuple[int, int], list[str]] = {}
    for entry in audit:
        place = re.fullmatch(r"locomo_(\d+)_qa(\d+)", entry["question_id"])
        if entry["error_type"] == "WRONG_CITATION" and place:
            found[(int(place[1]), int(place[2]))] = entry["correct_evidence"]
    return found


def load(
    data: str | None, name: str = "locomo", *, captions: bool = False, corrected: bool = False
) -> list[Conversation]:
    """Every conversation of a data set, with its usable questions.

    ``captions`` appends the captions of photographs to the text; ``corrected``
    takes the audit's citations in place of the wrong ones (only ``locomo``).

    Raises:
        DataMissing: no such data set, or not there.
    """
    if name not in DATA_SETS:
        raise DataMissing(f"there is no data set {name!r}; there are: {', '.join(DATA_SETS)}")
    samples: list[list[dict[str, Any]]] = []
    for relative in DATA_SETS[name]:
        with open(_find(data, relative), encoding="utf-8") as stream:
            samples.append(json.load(stream))
    corrections = _corrections(data) if corrected and name == "locomo" else {}
    found = []
    for number, (said, asked) in enumerate(zip(*samples, strict=True)):
        turns = tuple(_turns(said["sample_id"], said["conversation"], captions))
        ids = {turn["turn"] for turn in turns}
        questions = [
            Question(
                qa["question"],
                repair_evidence(corrections.get((number, place), qa["evidence"]), ids),
                int(qa["category"]),
            )
            for place, qa in enumerate(asked["qa"])
        ]
        usable = tuple(question for question in questions if question.evidence)
        found.append(Conversation(said["sample_id"], turns, usable, len(questions) - len(usable)))
    return found
