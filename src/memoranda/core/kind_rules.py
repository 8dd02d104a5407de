"""Rules that tell an item's kind from its text, without a model: what binds it to a project, what generalizes it.

They are made to err on one side. A text goes to long-term memory by rules only
where something generalizes it and nothing at all binds it; where both speak, or
neither, the person is asked.
"""

from __future__ import annotations

import re
from functools import cache

from memoranda.core.kind_cues import CUES, WELL_KNOWN
from memoranda.core.kinds import MATRIX, UNKNOWN, Judgement, Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memoranda.core.kind_cues import Cue

__all__ = ["judge_by_rules", "judge_by_said_kind", "strength_of"]

#: So much has to speak for a verdict.
_ENOUGH = 1.5
#: Less than that binds nothing.
_NOTHING = 1.0
#: What binds a text outweighs what generalizes it from here on.
_OUTWEIGHS = 1.5
#: How much a name binds a text: of its project or a part of that, and any other.
_OWN_NAME, _OTHER_NAME = 2.5, 1.0
_NAME = re.compile(r"(?<=[a-z,;:)\"'] )[A-Z][\w-]*|(?<=[\u3400-\u9fff])[A-Z][a-z]+(?=[\u3400-\u9fff])")


def judge_by_said_kind(kind: str | None, matrix: Mapping[str, Kind] = MATRIX) -> Judgement | None:
    """What an item's own ``kind`` means; ``None`` where it says none that the matrix has."""
    found = matrix.get((kind or "").strip().casefold().replace("-", "_"))
    if found is None or found.name == UNKNOWN:
        return None
    return Judgement(found.name, found.verdict, "metadata", f"it says so: {found.name}")


def judge_by_rules(
    text: str, bound: Iterable[str] = (), matrix: Mapping[str, Kind] = MATRIX, *, category: str = ""
) -> Judgement:
    """What the words of a text say of its kind.

    ``bound`` are names that tie a text to its project: the project's own, and
    its parts'. In a ``category`` of decisions more is needed to generalize.
    """
    reasons: dict[str, list[str]] = {}
    strength = strength_of(text, reasons)
    for name, weight in _names(text, bound):
        strength["project_detail"] = strength.get("project_detail", 0.0) + weight
        reasons.setdefault("project_detail", []).append(f"a name ({name})")
    doubt = strength.pop(UNKNOWN, 0.0)
    sides = {
        verdict: {kind: weight for kind, weight in strength.items() if matrix[kind].verdict == verdict}
        for verdict in ("yes", "no")
    }
    general, tied = (sum(sides[verdict].values()) for verdict in ("yes", "no"))
    if "decision" in category.casefold() or "决定" in category or "决策" in category:
        tied += 0.5
    if tied >= _ENOUGH and tied >= _OUTWEIGHS * general:
        return _judgement("no", sides["no"], reasons)
    if general >= _ENOUGH and tied < _NOTHING and not doubt:
        return _judgement("yes", sides["yes"], reasons)
    if general and tied:
        because = "; ".join(words for kind in strength for words in reasons[kind])
        return Judgement(UNKNOWN, "ask", "rules", f"it generalizes and is bound: {because}")
    return Judgement(UNKNOWN, "ask", "rules", "too little tells what it is")


def strength_of(text: str, reasons: dict[str, list[str]] | None = None) -> dict[str, float]:
    """How much the words of a text speak for each kind; ``reasons`` gets in words what does."""
    strength: dict[str, float] = {}
    for cue in CUES:
        if (found := _pattern(cue).search(text)) is not None:
            strength[cue.kind] = strength.get(cue.kind, 0.0) + cue.weight
            if reasons is not None:
                reasons.setdefault(cue.kind, []).append(f"{cue.named} ({' '.join(found[0].split())[:40]})")
    return strength


def _judgement(verdict: str, side: Mapping[str, float], reasons: Mapping[str, list[str]]) -> Judgement:
    kind = max(side, key=side.__getitem__)
    because = ", ".join(words for each in sorted(side, key=side.__getitem__, reverse=True) for words in reasons[each])
    return Judgement(kind, "yes" if verdict == "yes" else "no", "rules", because)


def _names(text: str, bound: Iterable[str]) -> list[tuple[str, float]]:
    """Names in a text that everybody's projects do not have, and how much each binds it."""
    folded = text.casefold()
    found = {name.casefold(): (name, _OWN_NAME) for name in bound if name and name.casefold() in folded}
    for match in _NAME.finditer(text):
        name = match[0].casefold()
        if name not in WELL_KNOWN and name.rstrip("s") not in WELL_KNOWN:
            found.setdefault(name, (match[0], _OTHER_NAME))
    return list(found.values())[:3]


@cache
def _pattern(cue: Cue) -> re.Pattern[str]:
    return re.compile(cue.pattern)
