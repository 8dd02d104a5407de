"""What of a finished stage belongs into its project's memory, without a model: sentences that say so, and a summary.

Nothing is worded anew: what is kept was said. A note is kept whole, laid out so
that it can stand as an item's text.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from memoranda.core.analysis import analyze
from memoranda.core.kind_rules import judge_by_rules, strength_of
from memoranda.core.records import dataclass
from memoranda.core.sentences import columns, sentence_starts
from memoranda.core.settling import standing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memoranda.core.stages import StageArchive, StageRecord

__all__ = ["SUMMARIES", "Kept", "StageDigest", "digest_of"]

#: The category of a project that summaries of stages go to.
SUMMARIES = "stages"
_SHORTEST, _LONGEST = 8, 600
#: So many sentences of what was said are kept at most, beside the notes; and so many in a summary.
_MOST, _IN_SUMMARY = 10, 5
_ISSUE = re.compile(
    r"(?i)\b(?:bugs?|issues?|fails?|failed|failing|broken|crash(?:es|ed)?|errors?|leaks?|flaky|regression|timeouts?)\b"
    r"|问题|报错|失败|崩溃|故障|修复|超时|漏|不稳定"
)
#: What speaks for a category of a project's memory, by the kinds that :mod:`memoranda.core.kind_rules` tells.
_DECISION, _CONVENTION = 2.0, 1.5
#: A fact about the project takes so many columns; what is shorter only mentions something.
_FACT = 24
_PASSING = re.compile(
    r"[?？]\s*$|^(?:ok|okay|yes|no|thanks?|thank you|sure|好的?|嗯|行|可以|谢谢)[\s\W]*$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Kept:
    """Something to be kept: the category it belongs to, what was said, when, and by whom."""

    category: str
    text: str
    ts: str = ""
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class StageDigest:
    """What is kept of a stage."""

    summary: str
    kept: tuple[Kept, ...]


def digest_of(archive: StageArchive) -> StageDigest:
    """Notes, and what was said that decides, agrees upon or warns; a summary of what was said where none was given."""
    kept: list[Kept] = []
    said: list[tuple[float, Kept]] = []
    for record in archive.records:
        if record.forgotten or not record.text.strip():
            continue
        if record.kind == "note":
            if text := standing(record.text.strip()):
                kept.append(Kept(_category(record.text) or "notes", text, record.ts, archive.agent))
        elif record.kind == "dialogue":
            said += _telling(record)
    best = sorted(range(len(said)), key=lambda at: -said[at][0])[:_MOST]
    known = {" ".join(one.text.split()).casefold() for one in kept}
    for at in sorted(best):
        one = said[at][1]
        if (text := " ".join(one.text.split()).casefold()) not in known:
            known.add(text)
            kept.append(one)
    return StageDigest(standing(archive.summary.strip() or _summary(archive.records)), tuple(kept))


def _telling(record: StageRecord) -> list[tuple[float, Kept]]:
    """The sentences of something said that are worth keeping, and how much speaks for each."""
    found: list[tuple[float, Kept]] = []
    for sentence in _sentences(record.text):
        if not _SHORTEST <= len(sentence) <= _LONGEST or _PASSING.search(sentence):
            continue
        if category := _category(sentence):
            weight = sum(strength_of(sentence).values())
            found.append((weight, Kept(category, standing(sentence), record.ts, record.speaker or record.role)))
    return found


def _category(text: str) -> str:
    """``decisions``, ``issues``, ``conventions``, or nothing."""
    strength = strength_of(text)
    if strength.get("one_off_decision", 0.0) >= _DECISION:
        return "decisions"
    if _ISSUE.search(text) or strength.get("common_pitfall", 0.0) >= 2 * _CONVENTION:
        return "issues"
    rules = ("design_principle", "working_mode", "common_pitfall", "preference", "general_experience")
    if sum(strength.get(kind, 0.0) for kind in rules) >= _CONVENTION:
        return "conventions"
    bound = strength.get("project_detail", 0.0) >= 2.0 and judge_by_rules(text).verdict == "no"
    return "conventions" if bound and columns(text) >= _FACT else ""


def _summary(records: Sequence[StageRecord]) -> str:
    """The sentences whose words the stage is about most, in their order."""
    sentences = [
        sentence
        for record in records
        if record.kind in ("note", "dialogue") and not record.forgotten
        for sentence in _sentences(record.text)
        if _SHORTEST <= len(sentence) <= _LONGEST and not _PASSING.search(sentence)
    ]
    terms = [set(analyze(sentence)) for sentence in sentences]
    frequency = Counter(term for each in terms for term in each)

    def weight(at: int) -> float:
        # A word that stands in one sentence alone says nothing of the whole.
        return sum(frequency[term] - 1 for term in terms[at]) / (len(terms[at]) + 5)

    chosen = sorted(sorted(range(len(sentences)), key=lambda at: -weight(at))[:_IN_SUMMARY])
    return "\n".join(f"- {sentences[at]}" for at in chosen)


def _sentences(text: str) -> Iterable[str]:
    starts = [0, *sentence_starts(text), len(text)]
    for start, end in pairwise(starts):
        for line in text[start:end].splitlines():
            if line.strip():
                yield line.strip()
