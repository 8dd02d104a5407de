"""Questions and answers: what can be asked, what answers it, when two ask the same, and what a file says."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.core.analysis import analyze
from memoranda.core.choices import (
    Choice,
    check_answer,
    check_question,
    choice_from_record,
    choice_to_record,
    option_meant,
    same_question,
)
from memoranda.core.errors import UsageError
from memoranda.core.records import replace

ASKED = "2026-07-10T03:00:00Z"
NOW = datetime(2026, 7, 10, 3, 0, tzinfo=UTC)
PLAIN = Choice("1a", "choice", "scout", "", "Keep it?", ("yes", "no"), created_at=ASKED)


@pytest.mark.parametrize(
    ("type", "options", "multi", "default", "kept"),
    [
        ("choice", ["save", " keep  both "], False, ["SAVE"], (("save", "keep both"), ("save",))),
        ("choice", ["a", "b", "c"], True, ["c", "a", "C"], (("a", "b", "c"), ("c", "a"))),
        ("confirm", [], False, [], (("yes", "no"), ())),
        ("confirm", ["好", "不"], False, ["不"], (("好", "不"), ("不",))),
        ("rating", [], False, ["4"], (("1", "2", "3", "4", "5"), ("4",))),
        ("edit", [], False, ["As it was."], ((), ("As it was.",))),
    ],
)
def test_what_can_be_asked(type: str, options: list[str], multi: bool, default: list[str], kept: object) -> None:
    assert check_question(type, "Which?", options, multi, default, None) == kept


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"type": "vote"}, "one of choice, confirm, rating, edit"),
        ({"question": " \n"}, "empty"),
        ({"options": []}, "needs options"),
        ({"options": "ab"}, "not one text"),
        ({"options": ["a", " "]}, "an option is empty"),
        ({"options": ["é", "E\u0301"]}, "the same"),
        ({"type": "confirm", "multi": True}, "several answers"),
        ({"type": "confirm"}, "two options"),
        ({"type": "rating"}, "1 to 5"),
        ({"type": "edit"}, "by a text"),
        ({"type": "edit", "options": [], "default": [" "]}, "one text"),
        ({"type": "edit", "options": [], "default": ["a", "b"]}, "one text"),
        ({"default": ["d"]}, "default cannot be taken: 'd' is none of a, b, c"),
        ({"default": ["a", "b"]}, "one answer is wanted"),
        ({"default": "a"}, "not one text"),
        ({"timeout": 0}, "above 0"),
        ({"timeout": float("nan")}, "above 0"),
        ({"timeout": 1e12}, "above 0"),
    ],
)
def test_what_cannot_be_asked_says_why(changes: dict[str, Any], said: str) -> None:
    asked = {"type": "choice", "question": "Which?", "options": ["a", "b", "c"], "multi": False, "default": [],
             "timeout": None} | changes  # fmt: skip
    with pytest.raises(UsageError, match=said):
        check_question(**asked)


def test_what_answers_it() -> None:
    assert check_answer("choice", ("Save", "drop"), False, ["SAVE "], "why not") == (("Save",), "why not")
    assert check_answer("choice", ("a", "b"), True, ["b", "a", "b"], "") == (("b", "a"), "")
    assert check_answer("rating", ("1", "2"), False, ["2"], "") == (("2",), "")
    assert check_answer("edit", (), False, [], "New.\n") == ((), "New.\n")
    assert check_answer("edit", (), False, ["New."], "") == ((), "New.")


@pytest.mark.parametrize(
    ("type", "answer", "text", "multi", "said"),
    [
        ("choice", [], "", False, "one of a, b"),
        ("choice", [], "", True, "some of a, b"),
        ("choice", ["c"], "", False, "'c' is none of a, b"),
        ("choice", ["a", "b"], "", False, "one answer is wanted, not 2"),
        ("choice", "a", "", False, "a list of options"),
        ("edit", [], " ", False, "answered by a text"),
        ("edit", ["x"], "y", False, "one text"),
        ("edit", ["x", "y"], "", False, "one text"),
    ],
)
def test_what_does_not_answer_it(type: str, answer: list[str], text: str, multi: bool, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check_answer(type, ("a", "b"), multi, answer, text)


def test_an_option_is_meant_by_its_text_or_its_number() -> None:
    assert option_meant(("save", "drop"), "2") == "drop"
    assert option_meant(("save", "drop"), "SAVE") == "save"
    assert option_meant(("2", "1"), "2") == "2"
    assert option_meant(("save", "drop"), "0") is None
    assert option_meant(("save", "drop"), "3") is None
    assert option_meant(("save", "drop"), "²") is None
    assert option_meant(("save", "drop"), "") is None


def same(one: Choice, other: Choice) -> bool:
    return same_question(one, other, analyze(one.question), analyze(other.question))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"question": "keep it"}, True),
        ({"type": "confirm"}, False),
        ({"options": ("no", "yes")}, False),
        ({"multi": True}, False),
        ({"effect": {"action": "promote"}}, False),
        ({"effect": {"of": "another"}}, True),
        ({"subject": "a:b"}, False),
        ({"question": "What is the weather like?"}, False),
    ],
)
def test_when_two_ask_the_same(changes: dict[str, Any], expected: bool) -> None:
    assert same(PLAIN, replace(PLAIN, **changes)) is expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Should we deploy the new version to everybody?", "Should we now deploy the new version to everybody?", True),
        ("Should we deploy the new version to everybody?", "Should we not deploy the new version to everybody?", False),
        ("Delete the old backups of server 12 in the cellar?", "Delete the old backups of server 13 in the cellar?",
         False),
        ("要把这条决定留给以后的项目吗？", "要把这条决定留给以后的项目吗", True),
        ("要部署新版本到生产环境吗？", "不要部署新版本到生产环境吗？", False),
        ("?", "!", False),
        ("?", "?", True),
    ],
)  # fmt: skip
def test_without_a_subject_the_wording_decides(one: str, other: str, expected: bool) -> None:
    assert same(replace(PLAIN, question=one), replace(PLAIN, question=other)) is expected


def test_about_one_subject_the_wording_does_not_matter() -> None:
    first = replace(PLAIN, subject="caf\u00e9:x", question="Keep the decision?")
    assert same(first, replace(first, subject="cafe\u0301:x", question="What about this?"))


def test_when_its_time_is_up() -> None:
    assert PLAIN.expires is None
    assert not PLAIN.is_due(NOW + timedelta(days=10_000))
    timed = replace(PLAIN, timeout_seconds=60)
    assert timed.expires == NOW + timedelta(seconds=60)
    assert not timed.is_due(NOW + timedelta(seconds=59))
    assert timed.is_due(NOW + timedelta(seconds=60))
    assert not replace(timed, status="answered").is_due(NOW + timedelta(days=1))
    assert replace(timed, created_at="2026-07-10T03:00:00").expires == timed.expires
    assert timed.age(NOW + timedelta(hours=1)) == timedelta(hours=1)


def test_reminders_come_after_one_two_and_four_days() -> None:
    choice, shown = PLAIN, []
    for day in range(20):
        now = NOW + timedelta(days=day)
        if choice.reminder_due(now):
            shown.append(day)
            choice = replace(choice, reminded_at=now.isoformat(), reminders=choice.reminders + 1)
    assert shown == [1, 3, 7, 15]
    assert not replace(PLAIN, status="cancelled").reminder_due(NOW + timedelta(days=9))
    assert not replace(PLAIN, reminders=10**6).reminder_due(NOW + timedelta(days=9))


def test_who_proposed_it() -> None:
    choice = replace(PLAIN, source_agent="Café", askers=("Café", "mo"))
    assert choice.is_proposed_by("CAFE\u0301")
    assert choice.is_proposed_by(" mo ")
    assert not choice.is_proposed_by("user")
    assert not replace(PLAIN, source_agent="", askers=()).is_proposed_by("")


def test_the_outcome_in_words() -> None:
    assert PLAIN.outcome == "is open"
    ended = replace(PLAIN, status="answered", answer=("yes",), answered_by="user", channel="web", answered_at=ASKED)
    assert ended.outcome == f"answered yes by user (web) at {ASKED}"
    assert replace(ended, answer=(), text="New.").outcome == f"answered 'New.' by user (web) at {ASKED}"
    by_itself = replace(ended, answered_by="timeout", channel="timeout")
    assert by_itself.outcome == f"answered yes (timeout) at {ASKED}"
    assert replace(ended, status="cancelled", channel="").outcome == f"cancelled by user at {ASKED}"


texts = st.text(max_size=8)
choices = st.builds(
    Choice,
    id=texts,
    type=st.sampled_from(["choice", "confirm", "rating", "edit"]),
    source_agent=texts,
    context=texts,
    question=texts,
    options=st.lists(texts, max_size=3).map(tuple),
    multi=st.booleans(),
    default=st.lists(texts, max_size=2).map(tuple),
    timeout_seconds=st.none() | st.integers(1, 10**6) | st.floats(0.5, 1e6),
    created_at=st.just(ASKED),
    subject=texts,
    effect=st.dictionaries(texts, texts | st.integers(), max_size=3),
    status=st.sampled_from(["open", "answered", "cancelled", "expired"]),
    answer=st.lists(texts, max_size=2).map(tuple),
    text=texts,
    answered_by=texts,
    channel=texts,
    answered_at=st.sampled_from(["", ASKED]),
    applied=st.booleans(),
    asked=st.integers(0, 5),
    askers=st.lists(texts, max_size=2).map(tuple),
    reminded_at=st.sampled_from(["", ASKED]),
    reminders=st.integers(0, 5),
    extra=st.dictionaries(texts.map("x-{}".format), texts, max_size=2),
)


@given(choices)
def test_a_record_is_read_back_whole(choice: Choice) -> None:
    assert choice_from_record(json.loads(json.dumps(choice_to_record(choice)))) == choice


def test_a_record_says_nothing_needless_and_keeps_what_is_not_ours() -> None:
    record = choice_to_record(PLAIN)
    assert list(record) == ["id", "type", "source_agent", "question", "options", "created_at", "status", "asked"]
    read = choice_from_record(record | {"note": {"by": "hand"}, "answered_at": ""})
    assert read == replace(PLAIN, extra={"note": {"by": "hand"}})
    assert choice_to_record(read)["note"] == {"by": "hand"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"id": None}, "its id cannot be None"),
        ({"type": "vote"}, "its type is 'vote'; this program knows"),
        ({"status": "lost"}, "its status is 'lost'"),
        ({"options": "yes"}, "its options is no list of texts"),
        ({"askers": ["a", 1]}, "its askers is no list of texts"),
        ({"created_at": "yesterday"}, "its created_at is no moment: 'yesterday'"),
        ({"created_at": ""}, "its created_at is no moment"),
        ({"created_at": 5}, "its created_at is no moment"),
        ({"reminded_at": "soon"}, "its reminded_at is no moment"),
        ({"created_at": "9999-12-30T00:00:00Z", "timeout_seconds": 864000}, "end of the calendar"),
        ({"timeout_seconds": -1}, "its timeout_seconds cannot be -1"),
        ({"timeout_seconds": True}, "its timeout_seconds cannot be True"),
        ({"asked": -1}, "its asked cannot be -1"),
        ({"asked": "1"}, "its asked cannot be '1'"),
        ({"multi": 1}, "its multi cannot be 1"),
        ({"effect": []}, "its effect cannot be"),
    ],
)
def test_damage_is_named(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        choice_from_record(choice_to_record(PLAIN) | changes)


def test_what_is_no_record_at_all() -> None:
    with pytest.raises(ValueError, match="no JSON object"):
        choice_from_record(["id"])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="does not say its question"):
        choice_from_record({"id": "1", "type": "choice"})
