"""A choice: a question that waits for the person who owns the vault, and what became of it."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, timedelta

from memoranda.core.errors import UsageError
from memoranda.core.names import name_key
from memoranda.core.records import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

__all__ = [
    "CHANNELS",
    "CHOICE_ACTIONS",
    "TYPES",
    "Choice",
    "check_answer",
    "check_question",
    "choice_from_record",
    "choice_to_record",
    "option_meant",
    "same_question",
]

TYPES = ("choice", "confirm", "rating", "edit")
#: The ways an answer comes in; the last is nobody's: the time is up.
CHANNELS = ("terminal", "web", "client", "host", "timeout")
#: What the journal says of choices. None of it changes memory, so none of it can be taken back.
CHOICE_ACTIONS = frozenset({"ask", "choose", "cancel", "expire"})

_STATUSES = ("open", "answered", "cancelled", "expired")
_GIVEN_OPTIONS = {"confirm": ("yes", "no"), "rating": ("1", "2", "3", "4", "5"), "edit": ()}
#: A hundred years; the calendar ends before some numbers do.
_LONGEST_TIMEOUT = 100 * 365 * 86_400.0
#: Two questions are nearly the same where so much of their terms is in both.
_OVERLAP = 0.8
#: Where two questions differ in one of these they are never the same.
_DENIALS = frozenset(
    ["no", "not", "never", "none", "without", "cannot", "don't", "doesn't", "isn't", "won't", "shouldn't", "can't"]
) | frozenset("不没沒无無别別未勿")


@dataclass(frozen=True, slots=True)
class Choice:
    """One question with its answer, once there is one.

    ``subject`` is what it is about (an address or a key, perhaps nothing) and
    ``effect`` what an answer will do; who carries it out knows what it says.
    ``timeout_seconds`` count from ``created_at``; ``None`` is never. ``answer``
    holds options, ``text`` that of an edit or a remark. ``applied``: all that
    follows from its end has been done. ``asked`` counts how often it was asked,
    by ``askers``; 0 while it is being asked for the first time. ``extra`` is
    what its file says beyond all that.
    """

    id: str
    type: str
    source_agent: str
    context: str
    question: str
    options: tuple[str, ...] = ()
    multi: bool = False
    default: tuple[str, ...] = ()
    timeout_seconds: float | None = None
    created_at: str = ""
    subject: str = ""
    effect: dict[str, Any] = field(default_factory=dict)
    status: str = "open"
    answer: tuple[str, ...] = ()
    text: str = ""
    answered_by: str = ""
    channel: str = ""
    answered_at: str = ""
    applied: bool = False
    asked: int = 1
    askers: tuple[str, ...] = ()
    reminded_at: str = ""
    reminders: int = 0
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Whether it still waits for an answer."""
        return self.status == "open"

    @property
    def expires(self) -> datetime | None:
        """When the default takes effect, or the question lapses; ``None``: never."""
        if self.timeout_seconds is None:
            return None
        return _moment(self.created_at) + timedelta(seconds=self.timeout_seconds)

    def age(self, now: datetime) -> timedelta:
        """How long ago it was first asked."""
        return now - _moment(self.created_at)

    def is_due(self, now: datetime) -> bool:
        """Whether it is open and its time is up."""
        return self.is_open and (expires := self.expires) is not None and expires <= now

    def reminder_due(self, now: datetime) -> bool:
        """Whether it is open and has not been shown for a day, once reminded of it two days, then four, and so on."""
        shown = _moment(self.reminded_at or self.created_at)
        return self.is_open and now - shown >= timedelta(days=2 ** min(self.reminders, 12))

    def is_proposed_by(self, name: str) -> bool:
        """Whether somebody of this name asked it, however it is spelled: ``agent:scout``, in wide letters, ..."""
        return _plain_name(name) in {_plain_name(one) for one in (self.source_agent, *self.askers) if one.strip()}

    @property
    def outcome(self) -> str:
        """What became of it and through whom, in words."""
        if self.is_open:
            return "is open"
        what = self.status
        if self.status == "answered":
            what = f"answered {', '.join(self.answer) or repr(self.text)}"
        whom = f" by {self.answered_by}" if self.answered_by and self.answered_by != self.channel else ""
        return f"{what}{whom}{f' ({self.channel})' if self.channel else ''} at {self.answered_at}"


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def check_question(
    type: str,
    question: str,
    options: Sequence[str],
    multi: bool,
    default: Sequence[str],
    timeout: float | None,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The options and the default as they are stored.

    Raises:
        UsageError: it is no question that could be answered; the message says why.
    """
    if type not in TYPES:
        raise UsageError(f"a question is one of {', '.join(TYPES)}, not {type!r}")
    if not question.strip():
        raise UsageError("the question is empty")
    if multi and type != "choice":
        raise UsageError(f"several answers make no sense to a {type}")
    kept = _check_options(type, options)
    if timeout is not None and not 0 < timeout <= _LONGEST_TIMEOUT:
        raise UsageError(f"a timeout is a number of seconds above 0, not {timeout!r}")
    if not default:
        return kept, ()
    if isinstance(default, str):
        raise UsageError("the default is a list of options, not one text")
    if type == "edit":
        if len(default) != 1 or not default[0].strip():
            raise UsageError("the default of an edit is one text")
        return kept, (default[0],)
    try:
        return kept, check_answer(type, kept, multi, default, "")[0]
    except UsageError as error:
        raise UsageError(f"the default cannot be taken: {error}") from None


def _check_options(type: str, options: Sequence[str]) -> tuple[str, ...]:
    if isinstance(options, str):
        raise UsageError("options are a list of texts, not one text")
    kept = tuple(" ".join(option.split()) for option in options)
    if not kept:
        if type == "choice":
            raise UsageError("a choice needs options")
        return _GIVEN_OPTIONS[type]
    if type in ("rating", "edit") and kept != _GIVEN_OPTIONS[type]:
        raise UsageError("a rating is 1 to 5" if type == "rating" else "an edit is answered by a text, not by options")
    if type == "confirm" and len(kept) != 2:
        raise UsageError("a confirm has two options: the one that agrees, then the one that does not")
    if not all(kept):
        raise UsageError("an option is empty")
    if len({name_key(option) for option in kept}) != len(kept):
        raise UsageError("two options are the same")
    return kept


def _plain_name(name: str) -> str:
    """What two spellings of one name have in common."""
    seen = "".join(one for one in unicodedata.normalize("NFKC", name) if unicodedata.category(one) != "Cf")
    return re.sub(r"^(?:agent|user)\s*[:/]\s*", "", name_key(" ".join(seen.split())))


def check_answer(
    type: str, options: Sequence[str], multi: bool, answer: Sequence[str], text: str
) -> tuple[tuple[str, ...], str]:
    """The options that an answer names, and its text, as they are stored.

    Raises:
        UsageError: it does not answer the question; the message names what would.
    """
    if isinstance(answer, str):
        raise UsageError("an answer is a list of options, not one text")
    if type == "edit":
        if len(answer) > 1 or (answer and text.strip()):
            raise UsageError("an edit is answered by one text")
        text = text if text.strip() else "".join(answer)
        if not text.strip():
            raise UsageError("an edit is answered by a text")
        return (), text
    by_key = {name_key(option): option for option in options}
    for one in answer:
        if name_key(one) not in by_key:
            raise UsageError(f"{one!r} is none of {', '.join(options)}")
    kept = tuple(dict.fromkeys(by_key[name_key(one)] for one in answer))
    if not kept:
        raise UsageError(f"an answer is {'some' if multi else 'one'} of {', '.join(options)}")
    if len(kept) > 1 and not multi:
        raise UsageError(f"one answer is wanted, not {len(kept)}")
    return kept, text


def option_meant(options: Sequence[str], word: str) -> str | None:
    """The option that a person means by its text or by its number, counted from 1; ``None``: none of them."""
    key = name_key(word)
    for option in options:
        if name_key(option) == key:
            return option
    if key.isascii() and key.isdecimal() and 1 <= int(key) <= len(options):
        return options[int(key) - 1]
    return None


def same_question(one: Choice, other: Choice, one_terms: Iterable[str], other_terms: Iterable[str]) -> bool:
    """Whether two questions ask for the same, or nearly so, and one answer does for both.

    Type, options and the effect's action must be the same. About one subject
    they then are; without subjects their wording decides, by its terms.
    """
    if (one.type, one.options, one.multi) != (other.type, other.options, other.multi):
        return False
    if name_key(one.subject) != name_key(other.subject):
        return False
    if one.effect.get("action") != other.effect.get("action"):
        return False
    if one.subject:
        return True
    first, second = set(one_terms), set(other_terms)
    if first == second:
        return bool(first) or name_key(one.question) == name_key(other.question)
    different = first ^ second
    if different & _DENIALS or any(character.isdecimal() for term in different for character in term):
        return False
    return len(first & second) >= _OVERLAP * len(first | second)


def choice_to_record(choice: Choice) -> dict[str, Any]:
    """The choice as a JSON object; what says nothing is left out, what is not ours is kept."""
    row: dict[str, Any] = {}
    for name in _KINDS:
        value = getattr(choice, name)
        if name in _ALWAYS or value not in ("", (), {}, None, False, 0):
            row[name] = list(value) if isinstance(value, tuple) else value
    return row | choice.extra


_TEXT, _TEXTS, _FLAG, _COUNT, _TABLE, _SECONDS, _TIME = "text", "texts", "flag", "count", "table", "seconds", "time"
_KINDS = {
    "id": _TEXT, "type": _TEXT, "source_agent": _TEXT, "question": _TEXT, "context": _TEXT, "options": _TEXTS,
    "multi": _FLAG, "default": _TEXTS, "timeout_seconds": _SECONDS, "created_at": _TIME, "subject": _TEXT,
    "effect": _TABLE, "status": _TEXT, "answer": _TEXTS, "text": _TEXT, "answered_by": _TEXT, "channel": _TEXT,
    "answered_at": _TIME, "applied": _FLAG, "asked": _COUNT, "askers": _TEXTS, "reminded_at": _TIME,
    "reminders": _COUNT,
}  # fmt: skip
_ALWAYS = frozenset({"id", "type", "question", "status", "created_at", "asked"})
_REQUIRED = frozenset({"id", "type", "question", "status", "created_at"})


def choice_from_record(record: Mapping[str, Any]) -> Choice:
    """The choice in a JSON object. Raises ValueError: it holds none; the message says what is wrong."""
    if not hasattr(record, "items"):
        raise ValueError("it is no JSON object")
    values: dict[str, Any] = {"source_agent": "", "context": ""}
    for name, kind in _KINDS.items():
        if name in record:
            values[name] = _value(name, kind, record[name])
        elif name in _REQUIRED:
            raise ValueError(f"it does not say its {name}")
    for name, known in (("type", TYPES), ("status", _STATUSES)):
        if values[name] not in known:
            raise ValueError(f"its {name} is {values[name]!r}; this program knows {', '.join(known)}")
    choice = Choice(**values, extra={key: value for key, value in record.items() if key not in _KINDS})
    try:
        _ = choice.expires
    except OverflowError:
        raise ValueError("its time is up after the end of the calendar") from None
    return choice


def _value(name: str, kind: str, value: Any) -> Any:
    """One value of a record. Raises ValueError."""
    if kind == _TEXTS:
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return tuple(value)
        raise ValueError(f"its {name} is no list of texts")
    if kind == _TIME:
        try:
            if value or name in _REQUIRED:
                _moment(value)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"its {name} is no moment: {value!r}") from None
        return value
    if kind == _SECONDS:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if value is None or (number and 0 < value <= _LONGEST_TIMEOUT):
            return value
    elif kind == _COUNT:
        if type(value) is int and value >= 0:
            return value
    elif type(value) is {_TEXT: str, _FLAG: bool, _TABLE: dict}[kind]:
        return value
    raise ValueError(f"its {name} cannot be {value!r}")
