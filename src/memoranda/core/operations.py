"""What a language model may propose for one exchange: a few operations, and what was read of its reply.

A model never deletes and never overwrites: it adds, merges into an item, sets
an item aside for a newer one, or says that there is nothing to keep.
"""

from __future__ import annotations

from memoranda.core.records import dataclass

__all__ = ["ITEM_TYPES", "OPERATIONS", "Operation", "Reading"]

#: What an operation may do.
OPERATIONS = ("add", "merge", "supersede", "skip")

#: What kinds of items there are.
ITEM_TYPES = ("profile", "event", "knowledge", "behavior", "skill", "tool")


@dataclass(frozen=True, slots=True)
class Operation:
    """One proposed change, as the model wrote it: nothing in it has been looked up or checked against the vault.

    ``op`` is one of :data:`OPERATIONS`, ``type`` one of :data:`ITEM_TYPES` or
    empty. ``target`` and ``links`` are addresses of listed items, without
    brackets. ``add`` has a text; ``merge`` and ``supersede`` have a target and
    a text; ``skip`` may have nothing. ``category`` and ``name`` may be empty:
    the caller finds one. ``about`` is whom the text is about; ``ephemeral``
    says that it will not be true for long.
    """

    op: str
    category: str = ""
    name: str = ""
    text: str = ""
    target: str = ""
    type: str = ""
    about: str = ""
    links: tuple[str, ...] = ()
    ephemeral: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of a reply.

    ``faults`` say in words what was incomplete, invalid or dropped, each with
    the piece it is about. ``whole`` is whether the reply was exactly what was
    asked for, so that nothing had to be salvaged.
    """

    operations: tuple[Operation, ...] = ()
    faults: tuple[str, ...] = ()
    whole: bool = False
