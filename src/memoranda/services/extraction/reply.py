"""Reading a language model's reply: what is complete is saved, what is not is reported, nothing is guessed.

Asked for is ``{"operations": [{"op": "add", ...}, ...]}``. An object with an
``op`` is an operation wherever it stands, except within another operation or
in a text; it counts once it has closed. What was decided:

* Keys and ``op`` are read in any case. ``operation`` and ``action`` are ``op``;
  ``create`` and ``insert`` are ``add``; ``noop``, ``none`` and ``nothing`` are
  ``skip``. No other word stands for another: ``update`` and ``delete`` are faults.
* A field of the wrong type, a key with two different values and a text whose
  end is in doubt make the operation a fault. ``null`` and unknown keys are nothing.
  A type that is not listed is reported and left out.
* The same operation again is one operation.
* ``{"facts": ["...", ...]}``: each text is added, without a category; that it was so is reported.
* JSON in a string is read where tool calls and endpoints put it (``arguments``, ``content``, ...).
* What a model thought (``<think>``) is void. If there is nothing else, the object or list
  that the thought ends with is read.
"""

from __future__ import annotations

import json

from memoranda.core.operations import ITEM_TYPES, OPERATIONS, Operation, Reading
from memoranda.services.extraction.json_pieces import LIST, NUMBER, OBJECT, Listener, Odd, joined_halves, read_pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.services.extraction.json_pieces import Piece, Value

__all__ = ["read_reply"]

_TEXTS = ("category", "name", "text", "target", "type", "about", "reason")
_FIELDS = frozenset(["op", *_TEXTS, "links", "ephemeral"])
_SAYS_OP = ("op", "operation", "action")
_SYNONYMS = {"create": "add", "insert": "add", "noop": "skip", "none": "skip", "nothing": "skip"}
#: Where JSON may stand in a string, outside of operations.
_CARRIERS = ("operations", "arguments", "input", "parameters", "content", "output", "response", "result")
#: So often may JSON be wrapped in strings.
_DEEPEST = 3
_NO_OPERATION = "not an operation"  # is no fault of what stands within an operation, in a key that is unknown
_MOST_FAULTS = 50
_LONGEST_FAULT = 120


def read_reply(text: str) -> Reading:
    """What a reply holds, in time linear in its length; never raises for any text.

    Each fault has at most 120 characters; of more than 50 the rest is counted.
    """
    text = joined_halves(text)
    reader = _Reader(text, 0)
    reader.read()
    operations = tuple(dict.fromkeys(reader.operations))
    faults = reader.faults
    if len(faults) > _MOST_FAULTS:
        faults = [*faults[: _MOST_FAULTS - 1], f"{len(faults) - _MOST_FAULTS + 1} further faults"]
    whole = not faults and len(operations) == _asked_for(text)
    return Reading(operations, tuple(faults), whole)


class _Repeated(Exception):
    """A key stands twice in an object."""


def _asked_for(text: str) -> int:
    """How many operations a reply holds that is exactly what was asked for; -1 for any other."""
    try:
        reply = json.loads(text, object_pairs_hook=_once, parse_constant=_refused, parse_int=float)
    except (ValueError, RecursionError, _Repeated):
        return -1
    if not isinstance(reply, dict) or list(reply) != ["operations"] or not isinstance(reply["operations"], list):
        return -1
    found = reply["operations"]
    exact = all(isinstance(one, dict) and one.get("op") in OPERATIONS for one in found)
    exact = exact and all(one.get("type") in (None, "", *ITEM_TYPES) for one in found)
    exact = exact and all(key.strip().casefold() == key for one in found for key in one)
    return len(found) if exact else -1


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise _Repeated
    return made


def _refused(constant: str) -> None:
    raise ValueError(constant)


class _Reader(Listener):
    """Operations and faults in order. A piece's mark is how many there were when it began."""

    def __init__(self, text: str, depth: int) -> None:
        self.text, self.depth = text, depth
        self.operations: list[Operation] = []
        self.faults: list[str] = []
        self.empty = 0  # lists of no operations, which say that there is nothing to keep
        self.last = (0, 0)  # the outermost piece that closed last: where it ends, and the operations before it
        self.outermost: Piece | None = None
        self.thoughts: list[tuple[int, int]] = []
        self.cut = False

    def read(self) -> None:
        read_pieces(self.text, self)
        if not self._seen() and self.thoughts:
            self._read_thought()
        if not self._seen():
            blank = not self.text.strip()
            self._fault("the reply is empty" if blank else "no operation in the reply")

    def _seen(self) -> int:
        return len(self.operations) + len(self.faults) + self.empty

    def _fault(self, what: str, start: int = 0, end: int | None = None) -> None:
        """Report what stands between these places."""
        if len(self.faults) < _MOST_FAULTS:  # beyond them they are only counted
            end = len(self.text) if end is None else end
            shown = self.text[start : min(end, start + 2 * _LONGEST_FAULT)]
            shown = " ".join("".join(mark if mark.isprintable() else " " for mark in shown).split())
            what = f"{what}: {shown}" if shown else what
            what = what if len(what) <= _LONGEST_FAULT else what[: _LONGEST_FAULT - 1] + "…"
        self.faults.append(what)

    def _fault_in(self, piece: Piece, what: str) -> None:
        self._fault(what, piece.start, piece.end or None)

    # What the scanner tells.

    def opened(self, piece: Piece, outermost: bool) -> None:
        piece.mark = (len(self.operations), len(self.faults), self._seen())
        if outermost:
            self.outermost = piece

    def closed(self, piece: Piece) -> None:
        if piece.is_list:
            self._list(piece)
            if not piece.items and (piece.under == "operations" or piece is self.outermost):
                self.empty += 1
        elif (op := _op_of(piece)) is not None:
            self._drop_within(piece)
            first = piece.mark[1]
            self.faults[first:] = [fault for fault in self.faults[first:] if not fault.startswith(_NO_OPERATION)]
            self._take(piece, op)
        else:
            self._carried(piece)
            if "op" in piece.fields and "operations" in piece.fields:
                self._fault_in(piece, "an operation around operations")
            in_list = not piece.under and piece is not self.outermost
            alone = not piece.under and (bool(piece.fields) or (in_list and bool(piece.damage)))
            if self._seen() == piece.mark[2] and (alone or not _FIELDS.isdisjoint(piece.fields)):
                self._fault_in(piece, _NO_OPERATION)
        if piece is self.outermost:
            self.last = (piece.end, piece.mark[0])

    def left_open(self, piece: Piece, at_end: bool) -> None:
        if piece.is_list:
            self._list(piece)
            told = not at_end or (piece.loose and not piece.under)
        elif _op_of(piece) is not None or self._holds_a_text(piece) or (piece.waiting and not at_end):
            self._drop_within(piece)
            self._fault_in(piece, "cut off" if at_end else "left open")
            told = True
            self.cut = self.cut or at_end
        else:
            self._carried(piece)
            told = not at_end or not (piece.fields or piece.waiting)
        if not told and not self.cut and piece is self.outermost:
            self._fault("the reply ends early: …", max(piece.start, len(self.text) - 80))

    def astray(self, at: int) -> None:
        self._fault("outside of any object", at)

    def escaped(self, text: str) -> None:
        self._within(text)

    def thought(self, start: int, end: int) -> None:
        self.thoughts.append((start, end))
        if start == 0:
            self.operations.clear()
            self.faults.clear()
            self.empty = 0

    def _holds_a_text(self, piece: Piece) -> bool:
        """Whether an object that was cut looks like an operation that has not said yet what it does."""
        around = "operations" in piece.fields or piece.key in _CARRIERS
        return not around and not {"text", "target"}.isdisjoint(piece.fields)

    # What is made of it.

    def _list(self, piece: Piece) -> None:
        """The texts of a list of facts; a fault where operations should be and are not."""
        texts = [item.strip() for item in piece.items if isinstance(item, str)]
        if piece.under == "facts" and any(texts):
            self._fault_in(piece, "facts without operations, added without a category")
            self.operations += (Operation("add", text=text) for text in texts if text)
        elif piece.under == "operations" or (piece is self.outermost and texts):
            others = [item for item in piece.items if item is not OBJECT]
            if others:
                self._fault_in(piece, "in the list of operations stands what is none")

    def _carried(self, piece: Piece) -> None:
        """Read what an object that is no operation carries in its strings."""
        for key in _CARRIERS:
            carried = piece.fields.get(key)
            if isinstance(carried, str):
                self._within(carried)
        if piece.text and piece.key in _CARRIERS:
            self._within(piece.text)

    def _within(self, text: str) -> None:
        if self.depth == _DEEPEST or not ("{" in text or "[" in text):
            return
        inner = _Reader(text, self.depth + 1)
        inner.read()
        self.operations += inner.operations
        self.faults += inner.faults
        self.empty += inner.empty

    def _drop_within(self, piece: Piece) -> None:
        """Operations within an operation are none."""
        if len(self.operations) > piece.mark[0]:
            del self.operations[piece.mark[0] :]
            self._fault_in(piece, "an operation within another")

    def _read_thought(self) -> None:
        """The answer at the end of a thought, if nothing follows it but fences and tags."""
        start, end = self.thoughts[-1]
        inner = _Reader(self.text[start:end], _DEEPEST)
        read_pieces(inner.text, inner)
        closed, first = inner.last
        rest = inner.text[closed:].strip().strip("`").strip()
        if closed and (not rest or (rest.startswith("</") and rest.endswith(">"))) and inner.operations[first:]:
            self.operations += inner.operations[first:]
            self._fault("only a thought; the operations at its end were taken", max(start, end - 60), end)
        else:
            self._fault("only a thought", max(start, end - 80), end)

    def _take(self, piece: Piece, op: Value) -> None:
        """The operation that an object is, or a fault."""
        fault = _why_not(piece, op)
        if fault:
            self._fault_in(piece, fault)
            return
        fields = piece.fields
        texts = {key: _text(fields.get(key)) for key in _TEXTS}
        texts["target"] = _bare(texts["target"])
        if texts["type"].lower() in ITEM_TYPES:
            texts["type"] = texts["type"].lower()
        elif texts["type"]:
            self._fault_in(piece, f"no such type as {texts['type'][:20]!r}, left out")
            texts["type"] = ""
        links = fields.get("links") or []
        bare = [_bare(link.strip()) for link in links if isinstance(link, str)] if isinstance(links, list) else []
        linked, ephemeral = tuple(link for link in bare if link), fields.get("ephemeral") is True
        self.operations.append(Operation(_op_word(op), links=linked, ephemeral=ephemeral, **texts))
        if any("\ufffd" in text for text in texts.values()):
            self._fault_in(piece, "a broken character")


def _op_of(piece: Piece) -> Value:
    """What an object says to do, whatever type it has; ``None`` if it says nothing and is no operation."""
    fields = piece.fields
    if "operations" in fields or piece.key == "operations":
        return None
    if "op" in fields and fields["op"] not in (LIST, OBJECT) and not isinstance(fields["op"], list):
        return fields["op"] if fields["op"] is not None else NUMBER
    return next((fields[key] for key in _SAYS_OP if isinstance(fields.get(key), str)), None)


def _op_word(op: Value) -> str:
    word = op.strip().lower() if isinstance(op, str) else ""
    return _SYNONYMS.get(word, word)


def _why_not(piece: Piece, op: Value) -> str:
    """Why a closed object cannot be taken as an operation; empty if it can."""
    fields, word = piece.fields, _op_word(op)
    if piece.damage:
        return piece.damage
    if piece.clash in _FIELDS or piece.clash in _SAYS_OP:
        return f"{piece.clash!r} stands twice with different values"
    if not isinstance(op, str):
        return "op is not a word"
    if word not in OPERATIONS:
        return f"no such operation as {word[:20]!r}"
    for key in (*_TEXTS, "links", "ephemeral"):
        value = fields.get(key)
        if value is not None and not _fits(key, value):
            return f"{key} is {value.what if isinstance(value, Odd) else 'of the wrong type'}"
    if word != "skip" and not _text(fields.get("text")):
        return f"{word} without a text"
    if word in ("merge", "supersede") and not _bare(_text(fields.get("target"))):
        return f"{word} without a target"
    return ""


def _fits(key: str, value: Value) -> bool:
    if key == "links":
        return isinstance(value, list) and all(isinstance(link, str) for link in value)
    return isinstance(value, bool if key == "ephemeral" else str)


def _text(value: Value) -> str:
    return value.strip() if isinstance(value, str) else ""


def _bare(address: str) -> str:
    """An address without the brackets of a link, and without what a link shows."""
    if address.startswith("[[") and address.endswith("]]"):
        address = address[2:-2].partition("|")[0]
    return address.strip()
