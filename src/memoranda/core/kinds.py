"""The generalization matrix: which kinds of memory may leave their project, as data.

A kind is what an item says of itself (its ``kind``), what rules make of its text
(:mod:`.kind_rules`), or what a model judged. The settings may add kinds and
change verdicts (``[kinds.NAME]`` in ``memoranda.toml``).
"""

from __future__ import annotations

from memoranda.core.errors import UsageError
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Literal

    Verdict = Literal["yes", "no", "ask"]
else:
    Verdict = str

__all__ = ["MATRIX", "UNKNOWN", "VERDICTS", "Judgement", "Kind", "Verdict", "agreed", "matrix_with"]

_VERDICT_OF: Mapping[str, Verdict] = {"yes": "yes", "no": "no", "ask": "ask"}
VERDICTS = tuple(_VERDICT_OF)
#: What is known of an item of which nothing is known.
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of memory: whether it may go to long-term memory, by what it is known, and an example."""

    name: str
    verdict: Verdict
    criterion: str
    example: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one judge makes of an item. ``by``: ``metadata``, ``rules`` or ``model``; ``because`` in words."""

    kind: str
    verdict: Verdict
    by: str
    because: str = ""


MATRIX: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            "working_mode",
            "yes",
            "how the person or the agent works best, whatever the project",
            "Run the tests before every commit. / 提交之前先跑一遍测试。",
        ),
        Kind(
            "design_principle",
            "yes",
            "a principle of design that holds wherever something is built",
            "A module should have one reason to change. / 一个模块只应有一个变化的理由。",
        ),
        Kind(
            "general_experience",
            "yes",
            "something that was learned and holds elsewhere too",
            "Caches hide slow queries until traffic grows. / 缓存会掩盖慢查询，流量一涨才露出来。",
        ),
        Kind(
            "common_pitfall",
            "yes",
            "a trap into which others will step as well",
            "Never compare floats for equality. / 浮点数不要用等号比较。",
        ),
        Kind(
            "preference",
            "yes",
            "what a person likes or wants, everywhere",
            "Lin prefers short answers. / 林喜欢简短的回答。",
        ),
        Kind(
            "project_detail",
            "no",
            "a fact about this one project: its paths, ports, tables, versions, owners",
            "The shop's API listens on port 8081. / 商城的接口跑在 8081 端口。",
        ),
        Kind(
            "one_off_decision",
            "no",
            "a decision for this case, or for this day",
            "We ship without the export on Friday. / 周五先不带导出功能上线。",
        ),
        Kind(
            "context_fragment",
            "no",
            "a scrap that means nothing outside of its moment",
            "Still waiting for Anna's answer. / 还在等安娜回复。",
        ),
        Kind(
            UNKNOWN,
            "ask",
            "it cannot be told, or what speaks for it and against it do not agree",
            "Perhaps keep queues small. / 队列大概小一点好。",
        ),
    )
}


def matrix_with(added: Mapping[str, Mapping[str, object]]) -> dict[str, Kind]:
    """The matrix with kinds of a person's own, or with other verdicts for those that there are.

    Each has ``verdict`` and may have ``criterion`` and ``example``.

    Raises:
        UsageError: a verdict is none, or a key means nothing.
    """
    made = dict(MATRIX)
    for name, table in added.items():
        known = made.get(name, Kind(name, "ask", "", ""))
        if other := table.keys() - {"verdict", "criterion", "example"}:
            raise UsageError(f"[kinds.{name}] holds verdict, criterion and example, not {', '.join(sorted(other))}")
        verdict = _VERDICT_OF.get(str(table.get("verdict", known.verdict)))
        if verdict is None or not all(isinstance(value, str) for value in table.values()):
            raise UsageError(f'the verdict of [kinds.{name}] is "yes", "no" or "ask", not {table.get("verdict")!r}')
        criterion, example = str(table.get("criterion", known.criterion)), str(table.get("example", known.example))
        made[name] = Kind(name, verdict, criterion, example)
    return made


def agreed(judgements: Iterable[Judgement]) -> Judgement:
    """What several judges say together: who asks has no voice, and where the others do not agree it is to be asked."""
    said = list(judgements)
    sure = [one for one in said if one.verdict != "ask"]
    if not sure:
        return said[0] if said else Judgement(UNKNOWN, "ask", "rules", "nothing tells what it is")
    if len({one.verdict for one in sure}) == 1:
        return sure[0]
    reasons = "; ".join(f"{one.by} say {one.kind} ({one.because})" if one.because else one.by for one in sure)
    return Judgement(UNKNOWN, "ask", "rules", f"they do not agree: {reasons}")
