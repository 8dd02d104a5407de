"""A stage as its host uses it: what is kept, what is taken out, how it ends, and that it can be forgotten."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from fakes.clock import FakeClock
from memoranda.bootstrap import Vault
from memoranda.core.errors import BadName, BadText, Conflict, NotFound, UsageError
from memoranda.core.model import Redaction
from memoranda.core.stages import StageRecord
from memoranda.services import forget as forgetting
from observing import journal, places_of

KEY = "sk-proj-" + "abcdEFGH12345678"
CANARY = 'The canary sings at midnight, "quietly".\nIt is yellow.'
BLOCK = "<memoranda-recall a1b2c3d4e5f6>\nold news\n</memoranda-recall a1b2c3d4e5f6>\n"


class TestKeeping:
    """What is kept of what happens."""

    def test_what_is_said_called_noted_and_thought(self, vault: Vault, clock: FakeClock) -> None:
        with vault.stage("design", project="shop", agent="scout") as stage:
            assert stage.say("Cents\r\nor floats?", speaker="Lin") == ()
            clock.advance(seconds=5)
            stage.say("Cents.", role="assistant")
            stage.tool("grep", {"pattern": ("a", 1)}, "no match")
            stage.tool("ls")
            stage.note("Prices are kept in cents.")
            stage.reason("Floats round.")
            assert (stage.name, stage.project, stage.agent, stage.source) == (
                "design", "shop", "scout", "stage/shop/design",
            )  # fmt: skip
            assert stage.begun == "2026-07-10T02:00:00Z"
            first, second, *rest = stage.records
            assert first == StageRecord("dialogue", "2026-07-10T02:00:00Z", "user", "Lin", "Cents\nor floats?")
            assert (second.ts, second.role) == ("2026-07-10T02:00:05Z", "assistant")
            assert [one.kind for one in rest] == ["tool", "tool", "note", "reasoning"]
            assert rest[0].arguments == {"pattern": ["a", 1]}
            assert vault.stage_archive("shop", "design").records == stage.records
        archive = vault.stage_archive("shop", "design")
        assert archive.ended == "2026-07-10T02:00:05Z"
        assert len(archive.records) == 6
        assert [(one.stage, one.records) for one in vault.stages()] == [("design", 6)]

    def test_secrets_go_and_are_told(self, vault: Vault, root: Path) -> None:
        stage = vault.stage("design", project="shop")
        assert stage.say(f"The key is {KEY}, twice {KEY}.") == (Redaction("openai-key", 2),)
        stage.tool("login", {"password": "Tr0ub4dor&3x", "deep": [{"k": KEY}]}, f"ok {KEY}")
        stage.note(f"{KEY}")
        archive = stage.end(f"Used {KEY}.")
        assert {one.kind: one.count for one in stage.redactions} == {"openai-key": 6, "password": 1}
        assert archive.summary == "Used [redacted:openai-key]."
        assert places_of(root, KEY, "Tr0ub4dor&3x") == []
        for names in (
            {"name": KEY, "project": "shop"},
            {"name": "x", "project": KEY},
            {"name": "x", "project": "shop", "agent": KEY},
        ):
            with pytest.raises(BadName, match="secret"):
                vault.stage(**names)

    def test_recalled_blocks_go(self, vault: Vault) -> None:
        with vault.stage("design", project="shop") as stage:
            stage.say(f"{BLOCK}New.")
            stage.tool("recall", {"context": f"x{BLOCK}"}, BLOCK)
            with pytest.raises(BadText, match="only a recalled block"):
                stage.say(BLOCK)
            assert [(one.text, one.arguments, one.result) for one in stage.records] == [
                ("New.", None, ""), ("", {"context": "x"}, ""),
            ]  # fmt: skip

    def test_a_large_result_is_kept_whole(self, vault: Vault) -> None:
        with vault.stage("design", project="shop") as stage:
            stage.tool("cat", "big", "喜" * 100_000)
        assert vault.stage_archive("shop", "design").records[0].result == "喜" * 100_000

    @pytest.mark.parametrize("value", [{1, 2}, math.nan, object(), b"x"])
    def test_arguments_that_json_cannot_hold(self, value: Any, vault: Vault) -> None:
        with vault.stage("design", project="shop") as stage:
            with pytest.raises(UsageError, match="JSON"):
                stage.tool("x", value)
            deep: list[Any] = []
            for _ in range(100_000):
                deep = [deep]
            with pytest.raises(UsageError, match="JSON"):
                stage.tool("x", deep)
            assert stage.records == ()

    def test_nothing_is_no_record(self, vault: Vault) -> None:
        with vault.stage("design", project="shop") as stage:
            for call in (stage.say, stage.note, stage.reason):
                with pytest.raises(BadText, match="the text is empty"):
                    call(" \n")
            with pytest.raises(UsageError, match="a tool has a name"):
                stage.tool(" ")
            with pytest.raises(UsageError, match="text is a text, not NoneType"):
                stage.note(None)  # type: ignore[arg-type]
            with pytest.raises(UsageError, match="result is a text, not dict"):
                stage.tool("x", None, {})  # type: ignore[arg-type]


class TestEnding:
    """By its block, by a call, or not."""

    def test_an_exception_leaves_it_open(self, vault: Vault) -> None:
        def work() -> None:
            with vault.stage("design", project="shop") as stage:
                stage.note("before")
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            work()
        assert vault.stage_archive("shop", "design").ended == ""
        with vault.stage("design", project="shop") as stage:
            stage.note("after")
        assert [one.text for one in vault.stage_archive("shop", "design").records] == ["before", "after"]
        with pytest.raises(Conflict, match="open design-2 to go on"):
            vault.stage("design", project="shop")

    def test_ended_or_closed_within_its_block(self, vault: Vault) -> None:
        with vault.stage("a", project="shop") as stage:
            assert stage.end(" Done. ").summary == "Done."
            with pytest.raises(Conflict, match="closed"):
                stage.note("too late")
        with vault.stage("b", project="shop") as stage:
            stage.close()
        assert [(one.stage, bool(one.ended)) for one in vault.stages("shop")] == [("a", True), ("b", False)]

    @pytest.mark.parametrize("agent", ["a/b", "..", "x:y"])
    def test_an_agent_has_a_name(self, agent: str, vault: Vault) -> None:
        with pytest.raises(BadName):
            vault.stage("design", project="shop", agent=agent)


@pytest.fixture
def stocked(vault: Vault) -> Vault:
    """Two stages of two projects that tell of the canary, one of them open, and items made of them."""
    with vault.stage("design", project="shop") as stage:
        stage.say(f"Listen: {CANARY} Nice.", speaker="Lin")
        stage.say("Sparrows are better.", speaker="Ana")
        stage.tool("echo", {"list": ["x", CANARY]}, "")
        stage.end(f"It was said: {CANARY}")
    stage = vault.stage("open", project="atlas")
    stage.tool("cat", None, CANARY)
    stage.note("yes")
    stage.note("yes, and more")
    stage.close()
    vault.remember("birds:canary", CANARY, source="stage/shop/design#1")
    vault.remember("birds:sparrow", "Sparrows are better.", source="stage/Shop/Design")
    vault.remember("birds:short", "yes")
    return vault


class TestForgetting:
    """What is forgotten leaves the stages too."""

    def test_an_item(self, stocked: Vault, root: Path) -> None:
        going_on = stocked.stage("open", project="atlas")
        told = stocked.forget("birds:canary", preview=True)
        assert told.stages == ("stage/atlas/open", "stage/shop/design")
        assert len(places_of(root, "canary sings")) > 2
        done = stocked.forget("birds:canary")
        assert (done.stages, done.warnings) == (told.stages, ())
        assert places_of(root, "canary sings", "It is yellow") == []
        design = stocked.stage_archive("shop", "design")
        assert [one.forgotten for one in design.records] == [True, False, True]
        assert design.summary == ""
        assert [one.forgotten for one in going_on.records] == [True, False, False]
        going_on.end()
        assert places_of(root, "canary sings") == []

    def test_a_short_text_takes_what_is_that_and_no_more(self, stocked: Vault) -> None:
        stocked.forget("birds:short")
        assert [one.text for one in stocked.stage_archive("atlas", "open").records] == ["", "", "yes, and more"]

    def test_a_stage_as_the_source(self, stocked: Vault, root: Path) -> None:
        done = stocked.forget(source="stage/SHOP/design")
        assert set(done.items) == {"birds:canary", "birds:sparrow"}
        assert "stage/shop/design" in done.stages
        assert all(one.forgotten for one in stocked.stage_archive("shop", "design").records)
        assert places_of(root, "Sparrows", "canary sings") == []
        with pytest.raises(NotFound):
            stocked.forget(source="stage/SHOP/design")
        with pytest.raises(NotFound):
            stocked.forget(source="stage/shop/nothing")
        with pytest.raises(UsageError, match="stage/PROJECT/STAGE"):
            stocked.forget(source="stage/../shop/x")

    def test_derived_takes_the_stage_with_it(self, stocked: Vault) -> None:
        done = stocked.forget("birds:sparrow", derived=True)
        assert set(done.items) == {"birds:canary", "birds:sparrow"}
        assert all(one.forgotten for one in stocked.stage_archive("shop", "design").records)

    def test_a_person(self, stocked: Vault) -> None:
        assert stocked.forget(user="ana").stages == ("stage/shop/design",)
        assert [one.forgotten for one in stocked.stage_archive("shop", "design").records] == [False, True, False]
        with pytest.raises(NotFound):
            stocked.forget(user="ana")

    def test_lines_that_cannot_be_read_and_what_others_added(self, stocked: Vault, root: Path) -> None:
        path = root / "projects/atlas/stages/open.open.jsonl"
        path.write_text(
            path.read_text().replace('"format":1', '"format":1,"host":"canary sings at midnight"') + "the canary\n"
        )
        stocked.stage("open", project="atlas").end()
        stocked.remember("birds:host", "canary sings at midnight")
        stocked.forget("birds:host")
        assert stocked.stage_archive("atlas", "open").extra == {}

    def test_what_a_crash_cut_short_is_finished(
        self, stocked: Vault, root: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def die(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(forgetting, "blank_stages", die)
        with pytest.raises(KeyboardInterrupt):
            stocked.forget(source="stage/shop/design")
        monkeypatch.undo()
        with Vault.open(root, clock=clock) as again:
            assert all(one.forgotten for one in again.stage_archive("shop", "design").records)
        assert places_of(root, "canary sings", "Sparrows") == []
        assert not (root / "forgetting.json").exists()


def test_stages_are_no_change_of_memory(vault: Vault, root: Path) -> None:
    with vault.stage("design", project="shop") as stage:
        stage.note("Cents.")
    assert journal(root) == []
    assert vault.items() == []
    assert vault.check() == []
    (root / "projects/shop/stages/design.json").write_text("{")
    (problem,) = vault.check()
    assert str(problem).startswith("projects/shop/stages/design.json: stage design of project shop is damaged: ")
