"""The choice box: asked once, answered once, carried out once, whatever is killed when."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fakes.clock import FakeClock
from memoranda.bootstrap import Vault
from memoranda.core.choices import Choice
from memoranda.core.errors import (
    AlreadyAnswered,
    CannotUndo,
    Conflict,
    MemorandaError,
    NotFound,
    UsageError,
    VaultFull,
    VaultReadOnly,
)
from memoranda.core.model import Problem
from memoranda.core.records import replace
from memoranda.services.choices import ChoiceBox
from memoranda.storage.store import Storage
from memoranda.storage.vault import VaultFolder
from observing import crash_at, journal, places_of

OPTIONS = ("save", "drop")
KEY = "sk-" + "ant-" + "api03-" + "a1B2c3D4e5F6g7H8"


@pytest.fixture
def applied() -> list[Choice]:
    """What was carried out."""
    return []


@pytest.fixture
def another(root: Path, clock: FakeClock, applied: list[Choice]) -> Callable[..., ChoiceBox]:
    """Opens the box anew, as another process would."""

    def open_box(apply: Callable[[Choice], object] = applied.append) -> ChoiceBox:
        return ChoiceBox(Storage.at(VaultFolder(str(root)), clock, "tester"), apply)

    return open_box


@pytest.fixture
def box(another: Callable[..., ChoiceBox]) -> ChoiceBox:
    return another()


def lines(root: Path, *actions: str) -> list[dict[str, Any]]:
    """What the journal says of choices."""
    wanted = actions or ("ask", "choose", "cancel", "expire")
    return [line for line in journal(root) if line["action"] in wanted]


def on_disk(root: Path, choice: Choice) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((root / "choices" / f"{choice.id}.json").read_text("utf-8"))
    return found


def test_a_question_is_on_disk_and_in_the_journal(box: ChoiceBox, root: Path) -> None:
    asked = box.ask(
        " Keep it? ", OPTIONS, agent="scout", context="It was said twice.", subject="a:b", effect={"x": [1]}
    )
    assert (asked.question, asked.status, asked.asked, asked.askers) == ("Keep it?", "open", 1, ("scout",))
    assert asked.created_at == "2026-07-10T02:00:00Z"
    assert on_disk(root, asked)["effect"] == {"x": [1]}
    (line,) = lines(root)
    assert (line["action"], line["detail"]) == ("ask", {"choice": asked.id, "agent": "scout"})
    assert box.open() == [asked] == box.all() == [box.get(asked.id)]


def test_an_answer_is_given_once_and_carried_out(box: ChoiceBox, applied: list[Choice], root: Path) -> None:
    asked = box.ask("Keep it?", OPTIONS, agent="scout")
    ended = box.answer(asked.id, ["SAVE"], by="user", channel="terminal", text="for ever")
    assert (ended.answer, ended.text, ended.status, ended.applied) == (("save",), "for ever", "answered", True)
    assert applied == [replace(ended, applied=False)]
    assert box.get(asked.id) == ended
    assert box.open() == []
    choose = lines(root)[-1]
    assert choose["action"] == "choose"
    assert choose["detail"] == {"choice": asked.id, "answer": ["save"], "by": "user", "channel": "terminal"}
    with pytest.raises(AlreadyAnswered, match=r"answered save by user \(terminal\) at 2026"):
        box.answer(asked.id, ["drop"], by="lin", channel="web")
    with pytest.raises(AlreadyAnswered):
        box.cancel(asked.id, by="scout")
    assert len(applied) == 1
    assert len(lines(root)) == 2


@pytest.mark.parametrize("by", ["scout", " SCOUT ", "cafe\u0301"])
def test_who_asked_cannot_answer(box: ChoiceBox, root: Path, by: str) -> None:
    asked = box.ask("Keep it?", OPTIONS, agent="Scout")
    box.ask("Keep it?", OPTIONS, agent="Caf\u00e9")
    with pytest.raises(UsageError, match="a person has to"):
        box.answer(asked.id, ["save"], by=by, channel="host")
    assert box.get(asked.id).is_open
    assert lines(root, "choose") == []


@pytest.mark.parametrize(
    ("options", "by", "channel", "said"),
    [
        (["keep"], "user", "web", "none of save, drop"),
        ([], "user", "web", "one of save, drop"),
        (["save"], " ", "web", "who gives it"),
        (["save"], "user", "timeout", "not by 'timeout'"),
        (["save"], "user", "radio", "not by 'radio'"),
    ],
)
def test_what_is_no_answer_changes_nothing(
    box: ChoiceBox, root: Path, options: list[str], by: str, channel: str, said: str
) -> None:
    asked = box.ask("Keep it?", OPTIONS)
    before = on_disk(root, asked)
    with pytest.raises(UsageError, match=said):
        box.answer(asked.id, options, by=by, channel=channel)
    assert on_disk(root, asked) == before


def test_an_edit_is_answered_by_a_text(box: ChoiceBox, root: Path) -> None:
    asked = box.ask("What should it say?", type="edit", default=["As it is."])
    ended = box.answer(asked.id, (), by="user", channel="web", text="喜欢海边。")
    assert (ended.answer, ended.text) == ((), "喜欢海边。")
    assert "喜欢" not in (root / "journal.jsonl").read_text("utf-8")


def test_a_question_that_is_asked_again_is_one(box: ChoiceBox, another: Callable[..., ChoiceBox], root: Path) -> None:
    first = box.ask("Keep the decision?", OPTIONS, agent="scout", context="Said on Monday.", subject="a:b")
    again = another().ask("What about it?", OPTIONS, agent="mo", context="Said on Friday.", subject="a:b")
    assert again.id == first.id
    assert (again.question, again.asked, again.askers) == ("Keep the decision?", 2, ("scout", "mo"))
    assert again.context == "Said on Monday.\n\nSaid on Friday."
    third = box.ask("Keep it?", OPTIONS, agent="scout", context="on Friday", subject="a:b")
    assert (third.asked, third.askers, third.context) == (3, ("scout", "mo"), again.context)
    assert [line["detail"].get("asked") for line in lines(root)] == [None, 2, 3]
    # Others are others.
    assert box.ask("Keep the decision?", OPTIONS, subject="a:c").id != first.id
    assert box.ask("Keep the decision?", (*OPTIONS, "edit"), subject="a:b").id != first.id
    assert box.ask("Keep the decision?", OPTIONS, subject="a:b", effect={"action": "x"}).id != first.id
    # What was answered is not open: it may be asked anew.
    box.answer(first.id, ["save"], by="user", channel="web")
    assert box.ask("Keep the decision?", OPTIONS, subject="a:b").id != first.id


def test_a_context_comes_to_one_that_had_none(box: ChoiceBox) -> None:
    box.ask("Keep the decision?", OPTIONS)
    assert box.ask("keep the decision", OPTIONS, context="Why not.").context == "Why not."


def test_secrets_are_taken_out_of_every_text(box: ChoiceBox, root: Path) -> None:
    asked = box.ask(
        f"Keep {KEY}?", ["save", f"use {KEY}"], default=[f"use {KEY}"], context=f"It is {KEY}.", subject=f"a:{KEY}",
        agent=f"scout {KEY}", effect={"text": f"a {KEY}", "more": [{"deep": KEY}], "n": 1},
    )  # fmt: skip
    box.answer(asked.id, ["save"], by="user", channel="web", text=f"or {KEY}")
    other = box.ask("Another?", OPTIONS)
    box.cancel(other.id, by="scout", reason=f"it was {KEY}")
    assert places_of(root, KEY) == []
    assert asked.options == ("save", "use [redacted:anthropic-key]") == ("save", *asked.default)
    assert asked.effect["more"] == [{"deep": "[redacted:anthropic-key]"}]


@pytest.mark.parametrize("effect", [{"x": object()}, {"x": float("nan")}, {"x": {1, 2}}])
def test_an_effect_is_json(box: ChoiceBox, effect: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="JSON object"):
        box.ask("Keep it?", OPTIONS, effect=effect)
    assert box.all() == []


@pytest.mark.parametrize(("options", "default"), [("yes", ()), (OPTIONS, "save")])
def test_one_text_is_no_list(box: ChoiceBox, options: Any, default: Any) -> None:
    with pytest.raises(UsageError, match="not one text"):
        box.ask("Keep it?", options, default=default)


def test_it_is_found_by_the_beginning_of_its_id(box: ChoiceBox, clock: FakeClock) -> None:
    first = box.ask("Keep the boat?", OPTIONS)
    clock.advance(days=400)
    second = box.ask("Is the weather fine?", OPTIONS)
    assert box.get(second.id[:6].upper()) == second
    assert box.get(f" {first.id} ") == first
    with pytest.raises(UsageError, match="write more of it"):
        box.get(first.id[0])
    for unknown in ("", "zzz", "../vault"):
        with pytest.raises(NotFound):
            box.get(unknown)


def test_many_that_begin_alike_are_not_all_named(box: ChoiceBox) -> None:
    made = [box.ask("Keep it?", OPTIONS, subject=f"a:{n}") for n in range(7)]
    with pytest.raises(UsageError, match="or another; write more") as raised:
        box.get(made[0].id[0])
    assert str(raised.value).count(" or ") == 5


def test_cancelling_is_told(box: ChoiceBox, applied: list[Choice], root: Path) -> None:
    asked = box.ask("Keep it?", OPTIONS, agent="scout")
    ended = box.cancel(asked.id, by="scout", reason="no longer of interest")
    assert (ended.status, ended.text, ended.answered_by) == ("cancelled", "no longer of interest", "scout")
    assert box.wait(asked.id) == ended
    assert applied == []
    assert lines(root)[-1]["detail"] == {"choice": asked.id, "by": "scout"}


def test_when_the_time_is_up_the_default_is_the_answer(
    box: ChoiceBox, applied: list[Choice], clock: FakeClock, root: Path
) -> None:
    kept = box.ask("Keep it?", OPTIONS, default=["save"], timeout=60)
    said = box.ask("What should it say?", type="edit", default=["As it is."], timeout=60)
    lapsed = box.ask("Is the weather fine?", OPTIONS, timeout=60)
    stays = box.ask("Who is there?", OPTIONS, default=["save"])
    clock.advance(seconds=59)
    assert box.settle() == []
    clock.advance(seconds=1)
    assert box.open() == [stays]
    assert (box.get(kept.id).answer, box.get(kept.id).channel) == (("save",), "timeout")
    assert (box.get(said.id).answer, box.get(said.id).text) == ((), "As it is.")
    assert (box.get(lapsed.id).status, box.get(lapsed.id).answer) == ("expired", ())
    assert {choice.id for choice in applied} == {kept.id, said.id}
    assert [line["action"] for line in lines(root)[-3:]] == ["choose", "choose", "expire"]
    with pytest.raises(AlreadyAnswered, match=r"answered save \(timeout\)"):
        box.answer(kept.id, ["drop"], by="user", channel="web")
    assert len(lines(root)) == 7


def test_who_comes_late_is_told_that_the_time_was_up(box: ChoiceBox, clock: FakeClock) -> None:
    asked = box.ask("Keep it?", OPTIONS, default=["save"], timeout=60)
    clock.advance(minutes=2)
    with pytest.raises(AlreadyAnswered, match="timeout"):
        box.answer(asked.id, ["drop"], by="user", channel="web")
    assert [choice.answer for choice in box.all()] == [("save",)]


def test_reminders(box: ChoiceBox, clock: FakeClock) -> None:
    asked = box.ask("Keep it?", OPTIONS)
    assert box.due_reminders() == []
    clock.advance(days=1)
    (reminded,) = box.due_reminders()
    assert (reminded.id, reminded.reminders) == (asked.id, 1)
    assert box.due_reminders() == []
    clock.advance(days=2)
    assert [choice.reminders for choice in box.due_reminders()] == [2]
    box.answer(asked.id, ["save"], by="user", channel="web")
    clock.advance(days=9)
    assert box.due_reminders() == []


def test_waiting(box: ChoiceBox, another: Callable[..., ChoiceBox], clock: FakeClock) -> None:
    asked = box.ask("Keep it?", OPTIONS)
    assert box.wait(asked.id, timeout=0) == asked
    assert box.wait(asked.id, timeout=0.05) == asked
    timer = threading.Timer(0.1, lambda: another().answer(asked.id, ["save"], by="user", channel="web"))
    timer.start()
    ended = box.wait(asked.id[:9], timeout=20)
    timer.join()
    assert (ended.answer, ended.applied) == (("save",), True)
    assert box.wait(asked.id, timeout=0) == ended
    timed = box.ask("Is the weather fine?", OPTIONS, default=["drop"], timeout=3600)
    timer = threading.Timer(0.1, lambda: clock.advance(hours=1))
    timer.start()
    assert box.wait(timed.id, timeout=20).answer == ("drop",)


def test_who_waits_for_what_is_removed_is_told(box: ChoiceBox, root: Path) -> None:
    asked = box.ask("Keep it?", OPTIONS)
    threading.Timer(0.1, (root / "choices" / f"{asked.id}.json").unlink).start()
    with pytest.raises(NotFound):
        box.wait(asked.id, timeout=20)


def test_the_asker_is_called_back_once(box: ChoiceBox, another: Callable[..., ChoiceBox]) -> None:
    told: list[tuple[Choice, bool]] = []
    heard = threading.Event()

    def hear(choice: Choice) -> None:
        told.append((choice, threading.current_thread().daemon))
        heard.set()

    asked = box.ask("Keep it?", OPTIONS, on_answer=hear)
    ended = another().answer(asked.id, ["save"], by="user", channel="web")
    assert heard.wait(20)
    assert told == [(ended, True)]


def test_nobody_is_called_back_about_what_was_removed(box: ChoiceBox, root: Path) -> None:
    told: list[Choice] = []
    asked = box.ask("Keep it?", OPTIONS, on_answer=told.append)
    (root / "choices" / f"{asked.id}.json").unlink()
    for thread in threading.enumerate():
        if thread.name.endswith(asked.id):
            thread.join(20)
            assert not thread.is_alive()
    assert told == []


@pytest.mark.parametrize("fault", [Conflict("its name is taken"), KeyError("a hand has been at the effect: taken")])
def test_a_fault_of_what_follows_is_told_and_tried_again(
    box: ChoiceBox, another: Callable[..., ChoiceBox], applied: list[Choice], root: Path, fault: Exception
) -> None:
    def refuse(choice: Choice) -> None:
        raise fault

    failing = another(refuse)
    asked = failing.ask("Keep it?", OPTIONS)
    with pytest.raises(type(fault), match="taken"):
        failing.answer(asked.id, ["save"], by="user", channel="web")
    assert (box.get(asked.id).answer, box.get(asked.id).applied) == (("save",), False)
    assert failing.finish() == []
    assert failing.open() == []  # one that cannot be carried out does not hold up the rest
    assert failing.wait(asked.id, timeout=5).status == "answered"
    assert [choice.id for choice in box.finish()] == [asked.id]
    assert [choice.id for choice in applied] == [asked.id]
    assert box.finish() == []
    assert len(lines(root, "choose")) == 1


def test_what_follows_may_remove_the_question(box: ChoiceBox, another: Callable[..., ChoiceBox], root: Path) -> None:
    def forget(choice: Choice) -> None:
        (root / "choices" / f"{choice.id}.json").unlink()

    asked = box.ask("Forget it?", type="confirm")
    another(forget).answer(asked.id, ["yes"], by="user", channel="web")
    assert box.all() == []


@pytest.mark.parametrize("end", ["answer", "cancel", "settle"])
def test_an_end_that_is_cut_short_anywhere_is_completed_once(
    end: str, root: Path, clock: FakeClock, tmp_path: Path
) -> None:
    """What is carried out writes a line of its own; a power cut at every call that changes a file."""

    def boxed(where: Path) -> ChoiceBox:
        def apply(choice: Choice) -> None:
            marks = where / "carried-out"
            if not marks.exists():  # as whoever carries something out must see what is done
                marks.write_text(choice.id)

        return ChoiceBox(Storage.at(VaultFolder(str(where)), clock, "tester"), apply)

    ended_before = False
    for step in range(200):
        where = tmp_path / f"vault-{step}"
        clock.set(datetime(2026, 7, 10, 2, 0, tzinfo=UTC))
        asked = boxed(where).ask("Keep it?", OPTIONS, default=["save"], timeout=60)

        def work(asked: Choice = asked, where: Path = where) -> None:
            own = boxed(where)
            if end == "answer":
                own.answer(asked.id, ["save"], by="user", channel="web")
            elif end == "cancel":
                own.cancel(asked.id, by="user")
            else:
                clock.advance(minutes=2)
                own.settle()

        finished = not crash_at(step, work)
        after = boxed(where)
        after.finish()
        ended = after.get(asked.id)
        own_lines = lines(where, "choose", "cancel")
        if ended.is_open:
            assert not ended_before
            assert own_lines == []
            assert not (where / "carried-out").exists()
        else:
            ended_before = True
            assert ended.applied
            assert len(own_lines) == 1
            assert own_lines[0]["detail"]["choice"] == asked.id
            assert (where / "carried-out").exists() is (end != "cancel")
        assert after.problems() == []
        if finished:
            assert not ended.is_open
            break
    else:
        pytest.fail("it never ran to its end")


def test_a_question_that_is_cut_short_is_asked_whole_or_not_at_all(clock: FakeClock, tmp_path: Path) -> None:
    for step in range(200):
        where = tmp_path / f"vault-{step}"
        storage = Storage.at(VaultFolder(str(where)), clock, "tester")
        finished = not crash_at(step, lambda s=storage: ChoiceBox(s, print).ask("Keep it?", OPTIONS))
        after = ChoiceBox(Storage.at(VaultFolder(str(where)), clock, "tester"), print)
        found = after.open()
        assert [choice.asked for choice in found] == [1] * len(found)
        assert [line["detail"]["choice"] for line in lines(where)] == [choice.id for choice in found]
        again = after.ask("Keep it?", OPTIONS)
        assert again.asked == 1 + len(found)
        if finished:
            break
    else:
        pytest.fail("it never ran to its end")


def test_two_boxes_answer_at_once_and_one_is_told(another: Callable[..., ChoiceBox], applied: list[Choice]) -> None:
    asked = another().ask("Keep it?", OPTIONS)
    outcomes: list[str] = []
    start = threading.Barrier(4)

    def answer(name: str) -> None:
        own = another()
        start.wait()
        try:
            own.answer(asked.id, ["save"], by=name, channel="web")
            outcomes.append(name)
        except AlreadyAnswered as error:
            outcomes.append(f"told {error}")

    threads = [threading.Thread(target=answer, args=(name,)) for name in ("a", "b", "c", "d")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (won,) = [one for one in outcomes if not one.startswith("told")]
    assert sum(f"by {won} (web)" in one for one in outcomes) == 3
    assert len(applied) == 1


def test_a_damaged_file_holds_nobody_up(box: ChoiceBox, root: Path, vault: Vault) -> None:
    asked = box.ask("Keep it?", OPTIONS)
    (root / "choices" / "broken.json").write_text("{")
    assert box.open() == [asked]
    (problem,) = box.problems()
    assert problem.path == "choices/broken.json"
    assert [one for one in vault.check() if one.path.startswith("choices/")] == [problem]
    with pytest.raises(Conflict, match=r"broken.json:1: is no JSON .*mend the file"):
        box.get("broken")
    assert (root / "choices" / "broken.json").read_text() == "{"


def test_a_vault_that_cannot_be_written_is_read(
    box: ChoiceBox, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed = box.ask("Keep it?", OPTIONS, timeout=60)
    stays = box.ask("Is the weather fine?", OPTIONS)
    clock.advance(minutes=2)

    def refused(*_: object) -> None:
        raise VaultReadOnly("read-only")

    monkeypatch.setattr(box._storage.lock, "acquire", refused)
    assert box.open() == [stays]
    assert box.wait(timed.id, timeout=0).is_open
    with pytest.raises(VaultReadOnly):
        box.settle()
    with pytest.raises(MemorandaError):
        box.answer(stays.id, ["save"], by="user", channel="web")


def test_a_full_disk_leaves_the_question_open(box: ChoiceBox, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = box.ask("Keep it?", OPTIONS)

    def full(choice: Choice) -> None:
        raise VaultFull("no room")

    monkeypatch.setattr(box._files, "change", full)
    with pytest.raises(VaultFull):
        box.answer(asked.id, ["save"], by="user", channel="web")
    monkeypatch.undo()
    assert box.get(asked.id).is_open
    assert lines(root, "choose") == []
    assert box.answer(asked.id, ["save"], by="user", channel="web").applied


# In a vault


def test_undo_passes_over_questions(vault: Vault, root: Path) -> None:
    vault.remember("a:boat", "Ana sails.")
    asked = vault.choices.ask("Keep it?", OPTIONS)
    vault.choices.answer(asked.id, ["save"], by="user", channel="host")
    vault.choices.cancel(vault.choices.ask("Is the weather fine?", OPTIONS).id, by="user")
    for line in lines(root):
        with pytest.raises(CannotUndo, match="about a question") as raised:
            vault.undo(line["id"])
        assert "\n" not in str(raised.value)
    assert vault.undo().address == "a:boat"
    assert vault.get("a:boat") is None
    with pytest.raises(NotFound, match="nothing to undo"):
        vault.undo()


def test_the_status_says_how_many_wait(vault: Vault, clock: FakeClock) -> None:
    assert vault.status().open_choices == 0
    asked = vault.choices.ask("Keep it?", OPTIONS)
    vault.choices.ask("Is the weather fine?", OPTIONS, timeout=60)
    assert vault.status().open_choices == 2
    vault.choices.answer(asked.id, ["save"], by="user", channel="host")
    assert vault.status().open_choices == 1
    clock.advance(hours=1)
    assert vault.status().open_choices == 0


def test_an_effect_that_nobody_knows_is_left_to_its_asker(vault: Vault) -> None:
    asked = vault.choices.ask("Keep it?", OPTIONS, effect={"action": "theirs"})
    assert vault.choices is vault.choices
    assert vault.choices.answer(asked.id, ["save"], by="user", channel="host").applied


SECRET = "The canary sings at midnight."


@pytest.fixture
def canary(vault: Vault) -> Vault:
    vault.remember("birds:canary-7731", SECRET)
    vault.remember("birds:canary-77310", "Another canary altogether.")
    return vault


@pytest.mark.parametrize(
    ("question", "more"),
    [
        ("Keep it?", {"subject": "birds:canary-7731"}),
        ("Keep it?", {"subject": "Birds:CANARY-7731"}),
        ("Keep it?", {"effect": {"action": "promote", "item": "birds:canary-7731"}}),
        ("Keep it?", {"effect": {"action": "promote", "of": [{"category": "birds", "name": "canary-7731"}]}}),
        (f"Is it true: {SECRET}", {}),
        ("Keep it?", {"context": f"A line.\n{SECRET}\nAnother line."}),
        ("要忘记birds:canary-7731吗？", {}),
        ("Forget [[birds#canary-7731]]?", {}),
        ("Which?", {"options": (SECRET, "none of it")}),
        ("What should it say?", {"type": "edit", "options": (), "default": (SECRET,)}),
    ],
)
@pytest.mark.parametrize("ended", [False, True])
def test_forgetting_takes_questions_about_it(
    canary: Vault, root: Path, question: str, more: dict[str, Any], ended: bool
) -> None:
    asked = canary.choices.ask(question, **({"options": OPTIONS} | more))
    stays = canary.choices.ask("Keep the other?", OPTIONS, subject="birds:canary-77310")
    if ended:
        canary.choices.answer(asked.id, asked.options[:1], by="user", channel="web", text="so" if asked.default else "")
    preview = canary.forget("birds:canary-7731", preview=True)
    assert preview.choices == (asked.id,)
    assert canary.choices.all() != []
    done = canary.forget("birds:canary-7731")
    assert done.choices == (asked.id,)
    assert canary.choices.open() == [stays]
    assert places_of(root, SECRET) == []
    assert [place for place in places_of(root, "canary-7731") if "7731" not in place] == places_of(root, "canary-77310")


def test_forgetting_takes_what_an_answer_said_and_what_a_crash_left(canary: Vault, root: Path) -> None:
    asked = canary.choices.ask("Keep it?", OPTIONS)
    canary.choices.answer(asked.id, ["save"], by="user", channel="web", text=f"Yes: {SECRET}")
    (root / "choices" / ".memoranda-00.tmp").write_text(SECRET)
    (root / "choices" / "broken.json").write_text("{")
    assert canary.forget("birds:canary-7731").choices == (asked.id,)
    assert places_of(root, SECRET) == []
    (line,) = lines(root, "choose")
    assert line["detail"] == {"choice": asked.id, "by": "user", "channel": "web"}
    assert isinstance(canary.choices.problems()[0], Problem)


def test_forgetting_a_turn_takes_questions_that_name_it(vault: Vault) -> None:
    vault.import_turns([{"conversation": "talk", "turn": 1, "text": SECRET}])
    asked = vault.choices.ask("Keep it?", OPTIONS, subject="turn/talk#1")
    stays = vault.choices.ask("Keep it?", OPTIONS, subject="turn/talk#12")
    assert vault.forget("turn/talk#1").choices == (asked.id,)
    assert vault.choices.open() == [stays]
