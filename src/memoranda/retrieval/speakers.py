"""Whom a query names, of those who are known to have said something."""

from __future__ import annotations

from memoranda.core.analysis import analyze_query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

__all__ = ["named_speaker"]

#: Speakers who are called what they are; a query that says "user" means any.
_ROLES = ("user", "assistant", "system", "tool", "human", "bot", "agent", "model", "ai", "用户", "助手", "系统")
#: From here on come the scripts that are written without spaces.
_FIRST_DENSE = "\u2e80"
_MOST_KNOWN = 5000

_known: dict[str, tuple[str, ...]] = {}


def named_speaker(text: str, words: Collection[str], speakers: Iterable[str]) -> str:
    """The one speaker that a query names, as ``speakers`` has it; empty if it names none, or several.

    ``text`` is the query case folded, ``words`` those of it that mean
    something. A first name is enough; where two share it, the full name tells
    them apart.
    """
    named = [speaker for speaker in speakers if speaker not in _ROLES and _is_named(text, words, speaker)]
    if len(named) > 1:
        named = [speaker for speaker in named if _is_named_in_full(text, words, speaker)]
    return named[0] if len(named) == 1 else ""


def _is_named(text: str, words: Collection[str], speaker: str) -> bool:
    if max(speaker) < _FIRST_DENSE:
        parts = _parts(speaker)
        return speaker in words or (bool(parts) and parts[0] in words)
    # A Chinese name of three characters also stands without its first, the family's.
    return len(speaker) > 1 and (speaker in text or (len(speaker) == 3 and speaker[1:] in text))


def _is_named_in_full(text: str, words: Collection[str], speaker: str) -> bool:
    if max(speaker) < _FIRST_DENSE:
        return all(part in words for part in _parts(speaker))
    return speaker in text


def _parts(speaker: str) -> tuple[str, ...]:
    """The words of a name, folded as those of a query are."""
    parts = _known.get(speaker)
    if parts is None:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        parts = _known[speaker] = tuple(t.shown for t in analyze_query(speaker) if t.kind in ("word", "whole"))
    return parts
