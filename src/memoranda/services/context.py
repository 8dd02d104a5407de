"""What an agent should know as it goes to work: its project's memory, its own experience, and the stage so far.

Each part is a framed block of its own (:mod:`memoranda.retrieval.rendering`),
all under one budget of tokens; what one part leaves over the next may have.
"""

from __future__ import annotations

from memoranda.core.names import content_hash, name_key
from memoranda.core.records import dataclass
from memoranda.core.tokens import estimate_tokens
from memoranda.retrieval.packing import pack
from memoranda.retrieval.rendering import render_block
from memoranda.retrieval.result import Hit
from memoranda.services.item_value import read_usage, value_of
from memoranda.services.promotion import is_present
from memoranda.services.sleep_plan import ASIDE
from memoranda.services.stage_digest import SUMMARIES, digest_of
from memoranda.storage.clock import written_moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime, tzinfo

    from memoranda.core.model import Item
    from memoranda.core.stages import StageArchive, StageRecord

__all__ = ["PromptContext", "make_context"]

#: What the parts may take of a budget, the stage last: it gets what is left.
_PROJECT, _EXPERIENCE = 0.4, 0.3
#: From so much of its share on, a stage's history gives way to a summary and its newest records.
_NEWEST = 0.6


@dataclass(frozen=True, slots=True)
class PromptContext:
    """The parts, each a framed block or empty; ``left_out`` are addresses that did not fit."""

    project: str = ""
    experience: str = ""
    stage: str = ""
    left_out: tuple[str, ...] = ()

    def render(self) -> str:
        """All of it for a prompt; empty where there is nothing."""
        titled = (
            ("Memory of this project", self.project),
            ("Experience from earlier work", self.experience),
            ("This stage so far", self.stage),
        )
        return "\n".join(f"## {title}\n\n{block}" for title, block in titled if block)


def make_context(
    items: Sequence[Item],
    *,
    project: str,
    agent: str,
    stage: StageArchive | None,
    budget: int,
    usage_path: str,
    now: datetime,
    zone: tzinfo,
    found: Callable[[str], Sequence[str]] | None = None,
) -> PromptContext:
    """The context within ``budget`` tokens, the most valuable first.

    ``found`` gives the addresses that retrieval finds in a scope for what is
    asked: these come first.
    """
    value = value_of(read_usage(usage_path, now))
    left_out: list[str] = []

    def block(kind: str, name: str, tokens: float) -> tuple[str, int]:
        if not name:
            return "", 0
        moment = written_moment(now)
        mine = [
            one
            for one in items
            if one.address.scope.kind == kind
            and name_key(one.address.scope.name) == name_key(name)
            and one.address.category not in (ASIDE, SUMMARIES)
            and is_present(one, moment)
        ]
        first = {address: at for at, address in enumerate(found(f"{kind}/{name}") if found is not None else ())}
        mine.sort(key=value, reverse=True)
        mine.sort(key=lambda one: first.get(str(one.address), len(first)))
        kept, dropped = pack([_hit(one) for one in mine], int(tokens), zone)
        left_out.extend(one.address for one in dropped)
        text = render_block(kept, zone)
        return text, estimate_tokens(text)

    of_project, spent = block("project", project, budget * _PROJECT)
    of_agent, more = block("agent", agent, budget * (_PROJECT + _EXPERIENCE) - spent)
    of_stage = _stage(stage, budget - spent - more, zone) if stage is not None else ""
    return PromptContext(of_project, of_agent, of_stage, tuple(left_out))


def _hit(item: Item) -> Hit:
    metadata = item.metadata
    return Hit(
        str(item.address), "item", 0.0, item.text, item.hash, metadata.ts, metadata.source, "", metadata.trust
    )  # fmt: skip


def _stage(stage: StageArchive, budget: int, zone: tzinfo) -> str:
    """A stage's records; where they take too much, a summary and the newest of them. The raw ones stay on disk."""
    records = [one for one in stage.records if not one.forgotten]
    hits = [_of_record(stage, at, one) for at, one in enumerate(records, 1)]
    kept, dropped = pack(hits, budget, zone)
    if not dropped:
        return render_block(kept, zone)
    summary = digest_of(stage).summary
    head = [Hit(f"{stage.source}#summary", "resource", 0.0, summary, content_hash(summary))] if summary else []
    kept, _ = pack(head, int(budget * (1.0 - _NEWEST)), zone)
    left = budget - estimate_tokens(render_block(kept, zone))
    newest: list[Hit] = []
    for hit in reversed(hits):
        if len(pack([hit, *newest], left, zone)[0]) <= len(newest):
            break
        newest.insert(0, hit)
    return render_block([*kept, *newest], zone)


def _of_record(stage: StageArchive, number: int, record: StageRecord) -> Hit:
    text = record.text
    if record.kind == "tool":
        text = f"{record.tool}({record.arguments!r}) → {record.result}"
    who = record.speaker or record.role or record.kind
    return Hit(f"{stage.source}#{number}", "resource", 0.0, text, content_hash(text), record.ts or None, speaker=who)
