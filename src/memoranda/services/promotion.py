"""From a project's memory to an agent's: what may be promoted, what is asked before, and the copy that is made.

The original stays where it is. A copy says what it was made of
(``source``), so that nothing is promoted twice.
"""

from __future__ import annotations

import re
from contextlib import suppress

from memoranda.core.addresses import parse_address
from memoranda.core.errors import Conflict, NotFound, UsageError
from memoranda.core.kind_rules import judge_by_rules, judge_by_said_kind
from memoranda.core.kinds import agreed
from memoranda.core.names import content_hash, made_name
from memoranda.core.records import dataclass
from memoranda.services.remember import remember

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from memoranda.core.choices import Choice
    from memoranda.core.kinds import Judgement, Kind
    from memoranda.core.model import Item, Written
    from memoranda.services.writer import Writer

__all__ = [
    "EDIT",
    "HASH",
    "OPTIONS",
    "ORIGIN",
    "SAVE_LONG",
    "Candidate",
    "category_of_kind",
    "check_answered",
    "copied_name",
    "copied_text",
    "effect_of",
    "is_present",
    "judge",
    "promote",
    "promote_answered",
]

#: What a person may say of an item that could be promoted, and what is done where nobody says anything: nothing.
OPTIONS = ("save_long", "save_project", "ignore", "edit")
SAVE_LONG, EDIT = "save_long", "edit"
#: The keys by which a copy says what it was made of.
ORIGIN, HASH = "source", "promoted_hash"
_CATEGORIES = {
    "working_mode": "working_modes",
    "design_principle": "principles",
    "general_experience": "experience",
    "common_pitfall": "lessons",
    "preference": "preferences",
}
_OTHER = "experience"
_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?(?:[^\[\]|#:：]*[#:：])?([^\[\]|]+)\]\]")


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item of a project's memory that may go further: where it is, what it says, whose memory would take it."""

    address: str
    text: str
    category: str
    project: str
    agent: str
    kind: str = ""
    owner: str = ""

    @property
    def hash(self) -> str:
        """Of the text."""
        return content_hash(self.text)


def is_present(item: Item, now: str) -> bool:
    """Whether an item says what holds now: nothing has taken its place, and it has not run out."""
    metadata = item.metadata
    return not metadata.superseded_by and not (metadata.valid_to and metadata.valid_to < now)


def judge(
    candidate: Candidate, matrix: Mapping[str, Kind], names: Iterable[str], said: Judgement | None = None
) -> Judgement:
    """What a candidate is: by its own word, else by rules and what a model ``said``, where these agree.

    ``names`` bind a text to its project.
    """
    own = judge_by_said_kind(candidate.kind, matrix)
    if own is not None:
        return own
    ruled = judge_by_rules(candidate.text, names, matrix, category=candidate.category)
    if said is None:
        return ruled
    # What rules leave open a model may tell; a model that is not sure leaves it open, whatever the rules say.
    return said if said.verdict == "ask" else agreed((ruled, said))


def category_of_kind(kind: str) -> str:
    """The category of long-term memory that a kind goes to."""
    return _CATEGORIES.get(kind, _OTHER)


def copied_name(candidate: Candidate) -> str:
    """The name that a copy has: the item's own, or one made of the text."""
    name = candidate.address.rpartition(":")[2]
    return made_name(candidate.text) if name.startswith(("~", "^")) else name


def copied_text(text: str) -> str:
    """The text of a copy: links to where it comes from are words there."""
    return _LINK.sub(r"\1", text)


def effect_of(candidate: Candidate, judgement: Judgement, address: str = "") -> dict[str, Any]:
    """What promoting a candidate does, as a choice keeps it; ``address`` where it is known that it is free."""
    return {
        "action": "promote",
        "from": candidate.address,
        "hash": candidate.hash,
        "to": address or f"agent/{candidate.agent}/{category_of_kind(judgement.kind)}:{copied_name(candidate)}",
        "kind": judgement.kind,
    }


def promote(writer: Writer, effect: Mapping[str, Any], text: str, *, owner: str = "", actor: str = "") -> Written:
    """Put a copy into long-term memory; the same text is one item. Links to where it came from become words.

    Part of a batch that is open.

    Raises:
        BadText, VaultFull, VaultReadOnly, VaultBusy: it was not.
    """
    kind = str(effect.get("kind") or "")
    fields = {
        "owner": owner or None,
        "kind": kind if kind != "unknown" else None,
        "actor": actor or None,
        ORIGIN: str(effect["from"]),
        HASH: str(effect["hash"]),
    }
    written = remember(writer, str(effect["to"]), copied_text(text), on_exists="rename", fields=fields)
    if written.journal_id:
        detail = {"from": effect["from"], "kind": kind}
        address = parse_address(written.address)
        writer.run("promote", lambda transaction: transaction.log("promote", address, detail=detail))
    return written


def check_answered(writer: Writer, choice: Choice, find: Callable[[str], Item | None]) -> None:
    """See that what a person answers to the question about a candidate can be done.

    Raises:
        NotFound: the item is not there now.
        Conflict: it says something else by now.
        UsageError: an edit without a text, or with one that can be no item's.
    """
    effect, wanted = choice.effect, set(choice.answer) & {SAVE_LONG, EDIT}
    if effect.get("action") != "promote" or not wanted:
        return
    if EDIT in wanted and not choice.text.strip():
        raise UsageError("edit goes with the text that is to be kept (--text)")
    item = find(str(effect["from"]))
    if item is None and EDIT not in wanted:
        raise NotFound(f"{effect['from']} is not there just now: moved, renamed, or its folder is away")
    if item is not None and item.hash != effect["hash"] and EDIT not in wanted:
        raise Conflict(f"{effect['from']} says something else by now; the next sleep asks anew")
    with suppress(_Tried), writer.batch("promote"):
        promote(writer, effect, choice.text if EDIT in wanted or item is None else item.text)
        raise _Tried


class _Tried(Exception):
    """It can be done; nothing is to be written yet."""


def promote_answered(writer: Writer, choice: Choice, find: Callable[[str], Item | None]) -> None:
    """Do what a person has answered to the question about a candidate (see :func:`check_answered`).

    Done twice it is done once. Raises BadText, VaultFull, VaultReadOnly, VaultBusy.
    """
    effect, wanted = choice.effect, set(choice.answer) & {SAVE_LONG, EDIT}
    if effect.get("action") != "promote" or choice.status != "answered" or not wanted:
        return
    text = choice.text if EDIT in wanted else ""
    if not text:
        item = find(str(effect["from"]))
        if item is None or item.hash != effect["hash"]:
            return  # the next sleep asks anew
        text = item.text
    with writer.batch("promote"):
        promote(writer, effect, text, owner=str(effect.get("owner") or ""), actor=choice.source_agent)
