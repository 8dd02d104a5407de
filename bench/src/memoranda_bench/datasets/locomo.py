"""LoCoMo: ten long conversations and questions with the turns that answer them.

The data (CC BY-NC 4.0, evaluation only) is not part of this package; a folder
that holds it is named by ``--data`` or ``MEMORANDA_BENCH_DATA``. Two of the
conversations exist in Chinese (machine-translated) with the same turn ids.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection as Ids
from collections.abc import Iterator, Sequence
from typing import Any

from memoranda_bench.datasets.model import Collection, DataSet, Document, Options, Question, find_file

__all__ = ["ADVERSARIAL", "FILES", "load", "parse_date", "repair_evidence"]

#: By name: the files (below the data folder) of the turns and of the questions.
FILES = {
    "locomo": ("locomo/locomo10.json", "locomo/locomo10.json"),
    "locomo-zh": ("locomo-zh/medium_locomo_zh.json", "locomo-zh/medium_locomo_zh.json"),
    "locomo-zh-en": ("locomo-zh/medium_locomo.json", "locomo-zh/medium_locomo_zh.json"),
}
_LANGUAGES = {"locomo": "en", "locomo-zh": "zh", "locomo-zh-en": "zh-en"}

#: The category of questions that suppose what was never said; always reported apart.
ADVERSARIAL = 5

#: Parameters are tuned on these conversations; on the others they are only measured.
_TUNED = (1, 2, 3, 4, 5)

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


def repair_evidence(evidence: Sequence[str], ids: Ids[str]) -> tuple[str, ...]:
    """The turn ids that the evidence means, each once.

    Mends ``D8:6; D9:17`` (several in one), ``D:11:26`` and ``D30:05``; ids that
    the conversation does not have are dropped.
    """
    meant = (f"D{int(session)}:{int(turn)}" for written in evidence for session, turn in _EVIDENCE.findall(written))
    return tuple(dict.fromkeys(turn for turn in meant if turn in ids))


def _documents(name: str, conversation: dict[str, Any], captions: bool) -> Iterator[Document]:
    order = 0
    for number in sorted(int(m[1]) for m in map(_SESSION.match, conversation) if m):
        date = conversation[f"session_{number}_date_time"]
        ts = parse_date(date)
        for turn in conversation[f"session_{number}"]:
            text = turn["text"]
            if captions and turn.get("blip_caption"):
                text += f" [photo: {turn['blip_caption']}]"
            yield Document(turn["dia_id"], text, turn["speaker"], ts, date, order, name)
            order += 1


def _corrections(data: str | None) -> dict[tuple[int, int], list[str]]:
    """Evidence that an audit found wrong, by conversation and question (both from 0)."""
    with open(find_file(data, "locomo/audit-corrections.json"), encoding="utf-8") as stream:
        audit = json.load(stream)
    found: dict[tuple[int, int], list[str]] = {}
    for entry in audit:
        place = re.fullmatch(r"locomo_(\d+)_qa(\d+)", entry["question_id"])
        if entry["error_type"] == "WRONG_CITATION" and place:
            found[(int(place[1]), int(place[2]))] = entry["correct_evidence"]
    return found


def load(data: str | None, name: str = "locomo", options: Options | None = None) -> DataSet:
    """Every conversation of ``locomo``, ``locomo-zh`` or ``locomo-zh-en``, with its usable questions.

    Raises:
        DataMissing: it is not there.
    """
    options = options or Options()
    samples: list[list[dict[str, Any]]] = []
    for relative in FILES[name]:
        with open(find_file(data, relative), encoding="utf-8") as stream:
            samples.append(json.load(stream))
    corrections = _corrections(data) if options.corrected and name == "locomo" else {}
    found = []
    for number, (said, asked) in enumerate(zip(*samples, strict=True)):
        documents = tuple(_documents(said["sample_id"], said["conversation"], options.captions))
        ids = {document.id for document in documents}
        questions = []
        for place, qa in enumerate(asked["qa"]):
            evidence = repair_evidence(corrections.get((number, place), qa["evidence"]), ids)
            if evidence:
                questions.append(Question(qa["question"], dict.fromkeys(evidence, 1), int(qa["category"])))
        dropped = len(asked["qa"]) - len(questions)
        found.append(Collection(said["sample_id"], number + 1, documents, tuple(questions), dropped))
    # The Chinese set was never tuned on, although its conversations are the first two of the English one.
    return DataSet(name, _LANGUAGES[name], tuple(found), _TUNED if name == "locomo" else ())
