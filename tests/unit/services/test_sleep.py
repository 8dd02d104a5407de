"""Sleep: stages into project memory, that into long-term memory, which is tidied; as one change, or not at all."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fakes.clock import FakeClock
from memoranda.bootstrap import Vault
from memoranda.core.errors import Conflict, NotFound, UsageError, VaultBusy
from memoranda.services import sleep as sleeping
from memoranda.services.near_duplicates import near_duplicates
from memoranda.services.sleep import Interrupted, Sleep
from memoranda.services.sleep_preview import Probe
from memoranda.storage.locks import VaultLock

RULE = "Never log a token, not even at debug level."
DETAIL = "The checkout service listens on port 8081."
OPEN = "Perhaps keep queues small."


def set_sleep(root: Path, **values: object) -> None:
    root.mkdir(exist_ok=True)
    lines = [f"{key} = {json.dumps(value)}\n" for key, value in values.items()]
    (root / "memoranda.toml").write_text("[sleep]\n" + "".join(lines))


def stage(vault: Vault, name: str = "design", project: str = "shop", *notes: str) -> None:
    with vault.stage(name, project=project, agent="developer") as opened:
        for note in notes or (RULE, DETAIL, OPEN):
            opened.note(note)
        opened.say("We decided to use Postgres for orders. Thanks!")
        opened.tool("pytest", {"args": "-q"}, "3 failed")


def tree(root: Path) -> dict[str, bytes]:
    """All that is truth, but for the records of what happened."""
    left_out = (".cache", "history", "journal.jsonl", "usage.jsonl", "MEMORY.md")
    found: dict[str, bytes] = {}
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root).as_posix()
        if path.is_file() and not relative.startswith((*left_out, ".lock")):
            found[relative] = path.read_bytes()
    return found


def texts(vault: Vault, scope: str) -> list[str]:
    return [item.text for item in vault.items(scope=scope)]


def test_a_finished_stage_goes_into_project_memory_once(vault: Vault) -> None:
    stage(vault)
    slept = vault.sleep()
    assert slept.stages == ("shop/design",)
    kept = {str(item.address): item for item in vault.items(scope="project/shop")}
    assert {RULE, DETAIL, OPEN, "We decided to use Postgres for orders."} <= {item.text for item in kept.values()}
    assert {item.address.category for item in kept.values()} >= {"conventions", "decisions", "stages"}
    assert all(item.metadata.source == "stage/shop/design" for item in kept.values())
    assert kept["project/shop/stages:design"].text.count("\n- ") >= 2
    assert vault.sleep().change is None


def test_what_is_only_mentioned_is_not_kept(vault: Vault) -> None:
    with vault.stage("talk", project="shop", agent="developer") as opened:
        for said in ("Reading index.ts.", "在看 query.sql。", "OK.", "What about the port?", "Thanks!", "Sounds fine."):
            opened.say(said)
    vault.sleep()
    assert {item.address.category for item in vault.items(scope="project/shop")} <= {"stages"}


def test_a_stage_that_goes_on_is_left_alone(vault: Vault) -> None:
    opened = vault.stage("now", project="shop", agent="developer")
    opened.note(RULE)
    assert vault.sleep().change is None
    opened.end()
    assert vault.sleep().stages == ("shop/now",)


def test_everything_is_asked_unless_a_person_says_otherwise(vault: Vault) -> None:
    stage(vault)
    slept = vault.sleep()
    assert slept.promoted == ()
    assert texts(vault, "agent/developer") == []
    asked = {choice.question.partition("\n")[2] for choice in vault.choices.open()}
    assert asked == {RULE, OPEN}
    assert {choice.source_agent for choice in vault.choices.open()} == {"developer"}


@pytest.mark.parametrize(("promotion", "promoted", "asked"), [("clear", 1, 1), ("auto", 1, 0)])
def test_what_is_clear_may_go_without_a_question(
    root: Path, clock: FakeClock, promotion: str, promoted: int, asked: int
) -> None:
    set_sleep(root, promotion=promotion)
    with Vault.open(root, clock=clock) as vault:
        stage(vault)
        slept = vault.sleep()
        assert (len(slept.promoted), len(slept.asked)) == (promoted, asked)
        (item,) = vault.items(scope="agent/developer")
        assert (item.text, item.metadata.get("kind")) == (RULE, "common_pitfall")
        assert item.metadata.source == "project/shop/conventions:never-log-a-token-not-even"
        assert vault.sleep().change is None


def test_answers_are_carried_out(vault: Vault) -> None:
    vault.remember("project/shop/notes:a", f"{RULE} [[notes:b]]", actor="developer", owner="user:lin")
    vault.remember("project/shop/notes:b", OPEN, actor="developer")
    vault.remember("project/shop/notes:c", "Maybe ask twice.", actor="developer")
    vault.remember("agent/developer/notes:first", "So that there is an agent.")
    vault.sleep()
    by_subject = {choice.subject: choice.id for choice in vault.choices.open()}
    vault.choices.answer(by_subject["project/shop/notes:a"], ["save_long"], by="lin", channel="host")
    vault.choices.answer(
        by_subject["project/shop/notes:b"], ["edit"], by="lin", channel="host", text="Keep queues small."
    )
    vault.choices.answer(by_subject["project/shop/notes:c"], ["ignore"], by="lin", channel="host")
    made = {str(item.address): item for item in vault.items(scope="agent/developer")}
    assert made["agent/developer/lessons:a"].text == f"{RULE} b"
    assert made["agent/developer/lessons:a"].metadata.owner == "user:lin"
    assert made["agent/developer/experience:b"].text == "Keep queues small."
    assert not any("ask twice" in item.text for item in made.values())
    assert vault.sleep().asked == ()
    assert "promote" in {entry.action for entry in vault.log()}
    vault.undo()
    assert "agent/developer/experience:b" not in {str(item.address) for item in vault.items(scope="agent/developer")}


def test_what_is_forgotten_takes_its_copies_along(root: Path, clock: FakeClock) -> None:
    set_sleep(root, promotion="clear")
    with Vault.open(root, clock=clock) as vault:
        stage(vault)
        vault.sleep()
        (copy,) = vault.items(scope="agent/developer")
        gone = vault.forget(copy.metadata.source)
        assert str(copy.address) in gone.items
        assert texts(vault, "agent/developer") == []
        assert "token" not in "".join(path.read_text() for path in root.rglob("*.json*"))


def test_a_text_that_has_changed_is_asked_anew(vault: Vault) -> None:
    vault.remember("agent/developer/notes:first", "So that there is an agent.")
    vault.remember("project/shop/notes:a", OPEN, actor="developer")
    vault.sleep()
    (first,) = vault.choices.open()
    vault.revise("project/shop/notes:a", "Perhaps keep queues long.")
    vault.sleep()
    (second,) = vault.choices.open()
    assert second.id != first.id
    assert "long" in second.question
    vault.revise("project/shop/notes:a", "Once more.")
    with pytest.raises(Conflict, match="asks anew"):
        vault.choices.answer(second.id, ["save_long"], by="lin", channel="host")
    assert vault.choices.get(second.id).is_open
    assert len(vault.items(scope="agent/developer")) == 1


def test_an_answer_that_cannot_be_carried_out_is_none(vault: Vault, root: Path) -> None:
    stage(vault, "s", "shop", OPEN)
    vault.sleep()
    (choice,) = vault.choices.open()
    for text in ("", "## a heading"):
        with pytest.raises(UsageError):
            vault.choices.answer(choice.id, ["edit"], by="lin", channel="host", text=text)
    away = root / "projects/away"
    (root / "projects/shop").rename(away)
    with pytest.raises(NotFound, match="away"):
        vault.choices.answer(choice.id, ["save_long"], by="lin", channel="host")
    away.rename(root / "projects/shop")
    assert vault.choices.get(choice.id).is_open
    for by in ("developer", "agent:developer", "Agent/Developer", "ｄｅｖｅｌｏｐｅｒ", "develo\u200bper"):
        with pytest.raises(UsageError, match="cannot answer"):
            vault.choices.answer(choice.id, ["save_long"], by=by, channel="host")
    vault.choices.answer(choice.id, ["save_long"], by="lin", channel="host")
    assert texts(vault, "agent/developer") == [OPEN]


def test_half_a_character_is_no_trouble(vault: Vault) -> None:
    stage(vault, "cut", "shop", "Perhaps the emoji \ud83d was cut.", "And \ud83d\ude00 was not, maybe.")
    vault.sleep()
    kept = texts(vault, "project/shop")
    assert "Perhaps the emoji \ufffd was cut." in kept
    assert "And \U0001f600 was not, maybe." in kept


def test_no_more_is_asked_than_a_person_can_answer(root: Path, clock: FakeClock) -> None:
    set_sleep(root, most_questions=3)
    with Vault.open(root, clock=clock) as vault:
        stage(vault, "s", "shop", *(f"Perhaps thing {number} matters." for number in range(5)))
        slept = vault.sleep()
        assert (len(slept.asked), slept.postponed) == (3, 2)
        assert vault.sleep().change is None
        vault.choices.answer(vault.choices.open()[0].id, ["ignore"], by="lin", channel="host")
        assert len(vault.sleep().asked) == 1


def test_near_duplicates_are_superseded_not_removed(vault: Vault) -> None:
    vault.remember("agent/a/lessons:one", "Never log a token, not even at the debug level of a program.", pinned=True)
    vault.remember("agent/a/lessons:two", "Never log a token, not even at the debug level of programs.")
    vault.remember("agent/a/lessons:three", "Log a token, even at the debug level of a program.")
    vault.remember("agent/b/lessons:four", "Never log a token, not even at the debug level of a program.")
    slept = vault.sleep()
    assert slept.superseded == (("agent/a/lessons:two", "agent/a/lessons:one", "duplicate"),)
    two = vault.get("agent/a/lessons:two")
    assert two is not None
    assert two.metadata.superseded_by == "agent/a/lessons:one"


def test_over_the_cap_the_least_valuable_is_set_aside(root: Path, clock: FakeClock) -> None:
    set_sleep(root, cap=150)
    with Vault.open(root, clock=clock) as vault:
        for number in range(20):
            text = f"Lesson {number}: {random.Random(number).choice(['tea', 'milk', 'bread'])} number {number * 7}."
            vault.remember(f"agent/a/lessons:l{number}", text, pinned=number == 3, ts=f"2026-01-{number + 1:02}")
        for number in (5, 6):
            vault.retrieve(f"Lesson {number}", scopes=["agent/a"], k=1)
        slept = vault.sleep()
        aside = {old.rpartition(":")[2] for old, _, why in slept.superseded if why == "cap"}
        assert "l3" not in aside
        assert {"l5", "l6"}.isdisjoint(aside)
        assert "l0" in aside
        assert len(vault.items("agent/a/lessons")) == 20
        assert all(name in vault.items("agent/a/set-aside")[0].text for name in aside)
        assert vault.sleep().change is None


def test_old_stages_are_put_aside_and_undo_brings_every_byte_back(vault: Vault, root: Path, clock: FakeClock) -> None:
    stage(vault)
    vault.remember("project/shop/notes:by-hand", "Mine.")
    clock.advance(days=31)
    before = tree(root)
    slept = vault.sleep()
    assert slept.archives == ("shop/design",)
    assert vault.stages() == []
    assert slept.change is not None
    assert tree(root) != before
    vault.undo(slept.change)
    assert tree(root) == before
    again = vault.sleep()
    assert (again.stages, again.archives) == (slept.stages, slept.archives)


def test_a_sleep_that_only_took_in_a_stage_with_nothing_in_it_can_be_undone(vault: Vault) -> None:
    vault.remember("notes:before", "Mine.")
    with vault.stage("idle", project="shop", agent="developer") as opened:
        opened.say("Where is it?")
    slept = vault.sleep()
    assert (slept.stages, slept.added) == (("shop/idle",), 0)
    assert vault.undo().notes == ("the next sleep takes in anew what this one took in",)
    assert vault.undo().notes == ("removed notes:before",)
    assert vault.sleep().stages == ("shop/idle",)


class Once:
    """A model that says ``unknown`` of all it is asked, and counts."""

    def __init__(self, kind: Callable[[str], str] = lambda note: "preference") -> None:
        self.calls, self.kind = 0, kind

    def chat(self, messages: Sequence[Mapping[str, str]]) -> str:
        self.calls += 1
        notes = [json.loads(line) for line in messages[-1]["content"].splitlines()]
        return json.dumps({"notes": [{"n": note["n"], "kind": self.kind(note["note"])} for note in notes]})


def test_a_model_is_asked_once_and_what_it_says_is_kept(root: Path, clock: FakeClock) -> None:
    set_sleep(root, promotion="clear")
    with Vault.open(root, clock=clock) as vault:
        stage(vault)
        model = Once(lambda note: "preference" if "queues" in note else "project_detail")
        slept = vault.sleep(model=model)
        assert model.calls == 1
        # The rules call one a pitfall, the model a detail: where judges do not agree a person is asked.
        assert [c.question.partition("\n")[2] for c in vault.choices.open()] == [RULE]
        assert [item.text for item in vault.items(scope="agent/developer")] == [OPEN]
        assert slept.change is not None
        vault.undo(slept.change)
        again = vault.sleep(model=model)
        assert (model.calls, len(again.promoted)) == (1, 1)
        assert again.change is not None
        vault.undo(again.change)
        assert len(vault.sleep().promoted) == 1  # what it said counts without it


@pytest.mark.parametrize("reply", ["", "no JSON", '{"n": 9, "kind": "preference"}', '{"n": 1, "kind": "fruit"}'])
def test_a_model_that_says_nothing_of_use_leaves_it_to_rules(vault: Vault, reply: str) -> None:
    class Model:
        def chat(self, messages: Sequence[Mapping[str, str]]) -> str:
            if not reply:
                raise OSError("down")
            return reply

    stage(vault)
    assert len(vault.sleep(model=Model()).asked) == 2


def test_whoever_works_interrupts_and_then_nothing_has_happened(vault: Vault, root: Path) -> None:
    stage(vault)
    before = tree(root)
    steps = 0

    def interrupt() -> bool:
        nonlocal steps
        steps += 1
        return steps > 3

    with pytest.raises(Interrupted):
        vault.sleep(interrupt=interrupt)
    assert tree(root) == before
    assert vault.sleep().stages == ("shop/design",)


def test_a_hundred_interruptions_end_where_none_would(tmp_path: Path) -> None:
    chance = random.Random(7)

    def filled(name: str) -> Vault:
        set_sleep(tmp_path / name, promotion="clear", cap=200)
        vault = Vault.open(tmp_path / name, clock=FakeClock(datetime(2026, 5, 4, 3, 0, tzinfo=UTC)))
        for number in range(6):
            stage(vault, f"s{number}", "shop" if number % 2 else "atlas", f"Always check part {number}.", OPEN, DETAIL)
        for number in range(12):
            vault.remember(
                f"agent/developer/lessons:l{number}", f"Lesson {number} is about the letter {chr(97 + number)}."
            )
        return vault

    def neutral(root: Path) -> dict[str, str]:
        found = {}
        for relative, data in tree(root).items():
            text = re.sub(r'"(?:id|sleep|created_at)": "[^"]*"', "", data.decode())
            if relative.startswith("choices/"):
                relative = "choices/" + str(json.loads(data)["subject"])
            if relative not in ("vault.json", "memoranda.toml") and not relative.startswith("sleep/"):
                found[relative] = text
        return found

    with filled("one") as unbroken:
        unbroken.sleep()
        assert unbroken.sleep().change is None
    with filled("other") as vault:
        interrupted = 0
        while interrupted < 100:
            left = chance.randint(0, 60)

            def interrupt() -> bool:
                nonlocal left
                left -= 1
                return left < 0

            try:
                vault.sleep(interrupt=interrupt)
            except Interrupted:
                interrupted += 1
            else:
                break
        vault.sleep()
    assert interrupted > 0
    assert neutral(tmp_path / "one") == neutral(tmp_path / "other")


@pytest.mark.parametrize("calls", range(1, 6))
def test_what_follows_the_change_is_done_whatever_happens(
    vault: Vault, root: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    stage(vault)
    clock.advance(days=31)
    made = 0
    real_ask, real_aside = Sleep._ask, sleeping.set_stage_aside

    def dies(real: Callable[..., object]) -> Callable[..., object]:
        def counted(*given: object) -> object:
            nonlocal made
            made += 1
            if made == calls:
                raise KeyboardInterrupt
            return real(*given)

        return counted

    monkeypatch.setattr(Sleep, "_ask", dies(real_ask))
    monkeypatch.setattr(sleeping, "set_stage_aside", dies(real_aside))
    if calls <= 3:
        with pytest.raises(KeyboardInterrupt):
            vault.sleep()
    else:
        vault.sleep()
    monkeypatch.undo()
    assert vault.sleep().change is None
    assert len(vault.choices.open()) == 2
    assert vault.stages() == []
    assert not (root / "sleep/pending.json").exists()


def test_one_process_sleeps_at_a_time(vault: Vault, root: Path) -> None:
    stage(vault)
    with VaultLock(os.fspath(root / ".lock.sleep")), pytest.raises(VaultBusy, match="sleeps"):
        vault.sleep()


def test_a_dry_run_shows_what_would_change_and_changes_nothing(vault: Vault, root: Path) -> None:
    stage(vault)
    before = tree(root)
    preview = vault.preview_sleep(probes=[Probe("token", scopes=("project/shop",)), Probe("nothing of the kind")])
    assert tree(root) == before
    assert not (root / "usage.jsonl").exists()
    assert f"+{RULE}" in preview.diff
    assert preview.diff[1] == "+++ b/projects/shop/memory/conventions.md"
    assert (preview.recall.asked, preview.recall.lost) == (0, ())
    vault.sleep()
    again = vault.preview_sleep()
    assert again.diff == ()
    assert again.recall.asked == again.recall.kept > 3


def test_a_dry_run_reaches_no_repository(root: Path, clock: FakeClock, tmp_path: Path) -> None:
    home = tmp_path / "repository"
    (home / "memory").mkdir(parents=True)
    (home / "memory/notes.md").write_text("## a\n\nMine.\n")
    root.mkdir()
    for path in (json.dumps(str(home)), '"../repository"'):
        (root / "memoranda.toml").write_text(f"[projects.shop]\npath = {path}\n")
        with Vault.open(root, clock=clock) as vault:
            if not vault.stages():
                stage(vault)
            preview = vault.preview_sleep()
        assert preview.slept.added == 5
        assert [line for line in preview.diff if line.startswith("+++")] == [
            "+++ b/projects/shop/memory/conventions.md",
            "+++ b/projects/shop/memory/decisions.md",
            "+++ b/projects/shop/memory/notes.md",
            "+++ b/projects/shop/memory/stages.md",
        ]
        assert {file.name for file in home.rglob("*") if file.is_file()} == {"notes.md"}
        assert (home / "memory/notes.md").read_text() == "## a\n\nMine.\n"


def test_recall_that_a_sleep_would_lose_is_told(root: Path, clock: FakeClock) -> None:
    set_sleep(root, cap=100)
    with Vault.open(root, clock=clock) as vault:
        for number in range(40):
            vault.remember(f"agent/a/lessons:l{number}", f"Lesson {number} about {chr(97 + number % 26)}{number}.")
        preview = vault.preview_sleep(probes=[Probe("lesson about a0", "agent/a/lessons:l0", ("agent/a",))])
        assert preview.recall.asked == 1
        assert preview.slept.superseded


def test_why_it_is_not_time_to_sleep(vault: Vault, clock: FakeClock) -> None:
    vault.remember("project/shop/notes:a", "text")
    assert "min without work are wanted" in vault.why_not_sleep()
    clock.advance(minutes=31)
    assert vault.why_not_sleep() == ""


def test_the_context_of_a_prompt_keeps_to_its_budget_and_its_project(vault: Vault) -> None:
    stage(vault)
    stage(vault, "other", "atlas", "Atlas uses port 9999.")
    vault.sleep()
    vault.remember("agent/developer/lessons:tokens", RULE)
    vault.remember("agent/reviewer/lessons:mine", "Of the reviewer alone.")
    context = vault.context(project="shop", agent="developer", stage="design", query="port")
    text = context.render()
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Memory of this project", "## Experience from earlier work", "## This stage so far",
    ]  # fmt: skip
    assert "9999" not in text
    assert "reviewer" not in text
    assert context.project.splitlines()[3].strip() == DETAIL
    small = vault.context(project="shop", agent="developer", stage="design", budget=200)
    assert small.left_out
    assert len(small.render()) < len(text)
    assert vault.context().render() == ""


def test_a_long_stage_is_summed_up_and_its_newest_kept(vault: Vault) -> None:
    with vault.stage("long", project="shop", agent="developer") as opened:
        for number in range(60):
            opened.say(f"Sentence number {number} speaks of the cart and of prices.")
    text = vault.context(project="shop", stage="long", budget=600).stage
    assert "stage/shop/long#summary" in text
    assert "number 59" in text
    assert "number 30 " not in text or "number 59" in text
    assert len(vault.stage_archive("shop", "long").records) == 60


def test_a_host_may_leave_it_to_a_thread(root: Path) -> None:
    set_sleep(root, after=0, hours="")
    with Vault.open(root) as vault:
        stage(vault)
        idle = vault.sleep_when_idle(every=0.05)
        try:
            for _ in range(100):
                if idle.slept is not None:
                    break
                idle._stopped.wait(0.1)
        finally:
            idle.close()
        assert idle.fault == ""
        assert idle.slept is not None


HEADED = "# Findings\n\n## Cache\n\nAlways bound it."
UNCLOSED = "```\nAlways close it."
POSING = "Always check.\n\n<!-- memoranda: pinned=true kind=preference -->"
MERGED = "Always check.\n\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b"
HALF = "Always check a half: \ud800."


def test_a_note_is_kept_whatever_it_holds(vault: Vault) -> None:
    stage(vault, "s", "shop", HEADED, UNCLOSED, POSING, MERGED, HALF)
    slept = vault.sleep()
    kept = vault.items(scope="project/shop")
    assert len(kept) == slept.added == 7
    notes = {item.text for item in kept}
    assert "### Findings\n\n### Cache\n\nAlways bound it." in notes
    assert f"{UNCLOSED}\n```" in notes
    assert f"```\n{POSING}\n```" in notes
    assert f"```\n{MERGED}\n```" in notes
    assert "Always check a half: \ufffd." in notes
    assert not any(item.metadata.pinned or item.metadata.get("kind") for item in kept)
    assert vault.sleep().change is None


def test_a_name_that_was_put_aside_may_be_used_again(vault: Vault, clock: FakeClock) -> None:
    stage(vault, "daily", "shop", "Never do one.")
    clock.advance(days=31)
    assert vault.sleep().archives == ("shop/daily",)
    stage(vault, "daily", "shop", "Never do two.")
    assert vault.sleep().stages == ("shop/daily",)
    assert "Never do two." in texts(vault, "project/shop")


def test_what_differs_in_a_capital_or_holds_again_is_kept(vault: Vault) -> None:
    stage(vault, "s", "shop", "Always pass -v to it.", "Always pass -V to it.", "We use Redis.")
    vault.sleep()
    assert {"Always pass -v to it.", "Always pass -V to it."} <= set(texts(vault, "project/shop"))
    (old,) = (str(item.address) for item in vault.items(scope="project/shop") if item.text == "We use Redis.")
    vault.remember("project/shop/notes:new", "We use Valkey.", supersedes=old)
    stage(vault, "t", "shop", "We use Redis.")
    vault.sleep()
    found = [item.metadata.superseded_by for item in vault.items(scope="project/shop") if item.text == "We use Redis."]
    assert sorted(found, key=str) == [None, "project/shop/notes:new"]


_HEAD = '{\n "stage": "bad",\n "project": "shop",\n "agent": "%s",\n "ended": "%s",\n "records": [\n  %s\n ]\n}\n'
_NOTE = '{"kind":"note","ts":"whenever","text":"Always test twice."}'
_ENDED = "2026-05-01T00:00:00Z"


@pytest.mark.parametrize(
    ("damaged", "taken"),
    [
        (_HEAD % ("developer", "soon", _NOTE), True),
        (_HEAD % ("../../x", _ENDED, _NOTE), True),
        (_HEAD % ("\\ud800", _ENDED, _NOTE), True),
        (_HEAD % ("developer", _ENDED, '{"kind":"nonsense"}'), False),
        (_HEAD % ("developer", _ENDED, '{"kind":"note","text":5}'), False),
        (_HEAD % ("developer", _ENDED, '{"kind": note"}'), False),
        ("[" * 100_000, False),
    ],
)
def test_a_damaged_stage_costs_only_itself(root: Path, clock: FakeClock, damaged: str, taken: bool) -> None:
    set_sleep(root, promotion="clear")
    with Vault.open(root, clock=clock) as vault:
        stage(vault)
        (root / "projects/shop/stages/bad.json").write_text(damaged)
        slept = vault.sleep()
        assert slept.stages == (("shop/bad", "shop/design") if taken else ("shop/design",))
        assert ("Always test twice." in texts(vault, "project/shop")) is taken
        assert {item.address.scope.name for item in vault.items() if item.address.scope.kind == "agent"} == {
            "developer"
        }
        assert vault.sleep().change is None


@pytest.mark.parametrize("name", ["sleep/pending.json", "sleep/judgements.jsonl", "usage.jsonl", "choices/bad.json"])
@pytest.mark.parametrize("damaged", [b"", b"\xff", b"[" * 100_000, b"[]", b"null\n", b'{"change":"x"'])
def test_a_damaged_file_does_not_keep_a_vault_from_sleep(vault: Vault, root: Path, name: str, damaged: bytes) -> None:
    stage(vault)
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_bytes(damaged)
    assert len(vault.sleep().asked) == 2
    assert vault.sleep().change is None


@pytest.mark.parametrize(
    "noted",
    [
        {"questions": [1, {}, "x", {"question": "Q", "context": "", "subject": "s", "agent": "a", "effect": {}}]},
        {"questions": "abc", "archives": "abc"},
        {"archives": ["foo", "../x/y", 5, None]},
    ],
)
def test_what_was_noted_of_a_change_may_be_damaged(vault: Vault, root: Path, noted: dict[str, object]) -> None:
    stage(vault)
    change = vault.sleep().change
    for path in (root / "choices").glob("*.json"):
        path.unlink()
    (root / "sleep/pending.json").write_text(json.dumps({"change": change, "questions": [], "archives": []} | noted))
    assert len(vault.sleep().asked) == 2
    assert len(vault.choices.open()) == 2
    assert vault.sleep().change is None


@pytest.mark.parametrize("reply", [None, 5, b"{}", '{"n": 1e999, "kind": "preference"}'])
def test_a_model_may_reply_anything(vault: Vault, reply: object) -> None:
    class Model:
        def chat(self, messages: Sequence[Mapping[str, str]]) -> Any:
            return reply

    stage(vault)
    assert len(vault.sleep(model=Model()).asked) == 2


def test_a_sleep_that_is_undone_while_it_asks_leaves_nothing(
    vault: Vault, root: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage(vault)
    clock.advance(days=31)
    before = tree(root)
    real, asked = Sleep._ask, 0

    def ask(self: Sleep, one: Mapping[str, Any]) -> str:
        nonlocal asked
        asked += 1
        if asked == 2:
            with Vault.open(root, clock=clock) as other:
                other.undo(next(entry.id for entry in other.log() if entry.action == "sleep"))
        return real(self, one)

    monkeypatch.setattr(Sleep, "_ask", ask)
    vault.sleep()
    assert asked == 2
    assert tree(root) == before


def test_what_a_person_changes_while_it_is_planned_is_judged_anew(
    root: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_sleep(root, promotion="clear")
    with Vault.open(root, clock=clock) as vault:
        vault.remember(
            "agent/a/lessons:one", "Never log a token, not even at the debug level of a program.", pinned=True
        )
        vault.remember("agent/a/lessons:two", "Never log a token, not even at the debug level of programs.")
        vault.remember("project/shop/notes:rule", "Always bound a cache.", actor="a")
        vault.remember("project/shop/notes:gone", "Always read the log first.", actor="a")
        real = Sleep.plan

        def plan(self: Sleep) -> Any:
            made = real(self)
            vault.revise("agent/a/lessons:two", "Something else by now.")
            vault.revise("project/shop/notes:rule", "Bound no cache, as of today.")
            vault.remove("project/shop/notes:gone")
            return made

        monkeypatch.setattr(Sleep, "plan", plan)
        assert vault.sleep().promoted == ()
        two = vault.get("agent/a/lessons:two")
        assert two is not None
        assert (two.text, two.metadata.superseded_by) == ("Something else by now.", None)
        assert len(vault.items(scope="agent/a")) == 2


@pytest.mark.parametrize("linked", ["projects/shop", "projects/shop/memory"])
def test_a_dry_run_reaches_no_repository_by_a_link(root: Path, clock: FakeClock, tmp_path: Path, linked: str) -> None:
    home = tmp_path / "repository"
    (home / "memory").mkdir(parents=True)
    (home / "memory/notes.md").write_text("## a\n\nMine.\n")
    (root / linked).parent.mkdir(parents=True)
    (root / linked).symlink_to(home / "memory" if linked.endswith("memory") else home)
    (root / "memoranda.toml").write_text(f"[projects.shop]\npath = {json.dumps(str(home))}\n")
    with Vault.open(root, clock=clock) as vault:
        stage(vault, "s", "atlas")
        assert vault.preview_sleep().slept.added
    assert (home / "memory/notes.md").read_text() == "## a\n\nMine.\n"
    assert (root / linked).is_symlink()


def test_many_that_are_alike_are_each_told_once() -> None:
    alike = [
        f"The deploy of service {'x' * (n % 7)} failed since its token had expired, as it does." for n in range(40)
    ]
    assert [at for at, _ in near_duplicates(alike)] == list(range(7, 40))
