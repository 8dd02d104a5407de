"""Stages on disk: one owner, nothing lost but the call under way, and no way into another project."""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from memoranda.core.errors import BadName, Conflict, NotFound, OutsideVault, VaultBusy, VaultFull, VaultUnreadable
from memoranda.core.records import replace
from memoranda.core.stages import StageArchive, StageRecord
from memoranda.storage import jsonlines
from memoranda.storage.open_stages import UNREADABLE, OpenStage
from memoranda.storage.stage_files import StageFiles, StageSummary
from memoranda.storage.store import Storage
from observing import crash_at, in_child

BEGUN, ENDED = "2026-07-10T03:00:00Z", "2026-07-10T04:00:00Z"
HELLO = StageRecord("dialogue", BEGUN, "user", "Lin", "你好\nhello")
CALL = StageRecord("tool", BEGUN, tool="ls", arguments={"deep": [1]}, result="x" * 100_000)
NOTE = StageRecord("note", text="half a pair \ud800")


@pytest.fixture
def files(storage: Storage) -> StageFiles:
    return StageFiles(storage.vault)


@pytest.fixture
def folder(root: Path) -> Path:
    """Where the stages of the project ``shop`` lie."""
    return root / "projects/shop/stages"


def begin(files: StageFiles, stage: str = "design", *records: StageRecord, project: str = "shop") -> OpenStage:
    opened = files.open(project, stage, agent="scout", begun=BEGUN)
    for record in records:
        opened.append(record)
    return opened


def left_open(files: StageFiles, stage: str = "design", *records: StageRecord, project: str = "shop") -> None:
    begin(files, stage, *records, project=project).close()


def ended(files: StageFiles, stage: str = "design", *records: StageRecord, project: str = "shop") -> StageArchive:
    return begin(files, stage, *records, project=project).finish(ENDED, "")


class TestOneStage:
    """From its first line to its archive."""

    def test_each_record_is_on_disk_when_the_call_returns(self, files: StageFiles, folder: Path) -> None:
        opened = begin(files)
        for count, record in enumerate((HELLO, CALL, NOTE), 1):
            opened.append(record)
            assert len(files.read("shop", "design").records) == count
        assert opened.records == files.read("shop", "design").records == (HELLO, CALL, NOTE)
        lines = (folder / "design.open.jsonl").read_bytes().splitlines()
        assert json.loads(lines[0]) == {
            "format": 1, "stage": "design", "project": "shop", "agent": "scout", "begun": BEGUN,
        }  # fmt: skip
        opened.close()

    def test_one_that_was_left_open_is_gone_on_with(self, files: StageFiles) -> None:
        left_open(files, "design", HELLO)
        opened = files.open("SHOP", "Design", agent="other", begun=ENDED)
        assert (opened.head.agent, opened.head.begun, opened.head.stage) == ("scout", BEGUN, "design")
        opened.append(NOTE)
        assert opened.records == (HELLO, NOTE)
        opened.close()
        assert opened.is_closed

    def test_its_archive_is_readable_and_all_there_is(self, files: StageFiles, folder: Path) -> None:
        opened = begin(files, "design", HELLO, CALL, NOTE)
        archive = opened.finish(ENDED, "Said hello.")
        assert archive == StageArchive(
            "design", "shop", "scout", BEGUN, ENDED, (HELLO, CALL, NOTE), "Said hello."
        ) == files.read("shop", "design")  # fmt: skip
        assert os.listdir(folder) == ["design.json"]
        assert "你好" in (folder / "design.json").read_text("utf-8")
        assert (folder / "design.json").stat().st_mode & 0o777 == 0o600

    def test_what_others_wrote_into_the_first_line_stays(self, files: StageFiles, folder: Path) -> None:
        folder.mkdir(parents=True)
        head = {"stage": "x", "project": "atlas", "ended": ENDED, "summary": "so far", "host": {"half": "\ud800"}}
        (folder / "design.open.jsonl").write_text(json.dumps(head) + "\n")
        archive = ended(files)
        assert archive == StageArchive(
            "design", "shop", "", "", ENDED, (), "so far", {"host": {"half": "\ud800"}}
        ) == files.read("shop", "design")  # fmt: skip

    def test_an_ended_one_is_a_conflict_that_names_a_free_name(self, files: StageFiles) -> None:
        ended(files, "design", HELLO)
        left_open(files, "Design-2")
        with pytest.raises(Conflict, match="stage design of project shop has ended; open design-3"):
            begin(files, "DESIGN")
        left_open(files, "design-3")

    def test_closed_it_takes_nothing_more(self, files: StageFiles) -> None:
        opened = begin(files, "design", HELLO)
        opened.close()
        opened.close()
        with pytest.raises(Conflict, match="is closed"):
            opened.append(NOTE)
        with pytest.raises(Conflict, match="is closed"):
            opened.finish(ENDED, "")
        assert opened.records == (HELLO,)

    @pytest.mark.parametrize("name", ["../x", "a/b", "a:b", "/abs", "x\0y", ".x", "", "con", "x" * 300, "a\nb"])
    def test_names_that_cannot_be(self, name: str, files: StageFiles, root: Path) -> None:
        for project, stage in ((name, "design"), ("shop", name)):
            with pytest.raises(BadName):
                files.open(project, stage, agent="", begun=BEGUN)
            with pytest.raises(BadName):
                files.read(project, stage)
        assert not (root / "projects").exists()

    def test_they_lie_in_the_vault_wherever_the_memory_is(
        self, root: Path, open_storage: Callable[[], Storage]
    ) -> None:
        open_storage()
        (root / "memoranda.toml").write_text('[projects.Shop]\npath = "../elsewhere"\n')
        files = StageFiles(open_storage().vault)
        ended(files, "design", HELLO)
        assert (root / "projects/Shop/stages/design.json").exists()
        assert not (root.parent / "elsewhere").exists()


class TestOwner:
    """One at a time."""

    def test_a_second_opener_is_told(self, files: StageFiles, root: Path) -> None:
        opened = begin(files)
        with pytest.raises(VaultBusy, match="is open already"):
            begin(files, "Design")

        def other() -> None:
            with pytest.raises(VaultBusy):
                begin(files)
            left_open(files, "another")

        assert in_child(other) == 0
        opened.close()
        left_open(files)
        assert not list(root.glob(".lock.stage.*"))

    def test_its_death_frees_it(self, files: StageFiles) -> None:
        def other() -> None:
            begin(files, "design", HELLO)
            os._exit(0)

        assert in_child(other) == 0
        opened = begin(files)
        assert opened.records == (HELLO,)
        opened.close()

    def test_a_child_of_the_owner_is_none(self, files: StageFiles) -> None:
        opened = begin(files, "design", HELLO)

        def child() -> None:
            assert opened.records == (HELLO,)
            with pytest.raises(VaultBusy, match="the process that this one comes from"):
                opened.append(NOTE)
            opened.close()

        assert in_child(child) == 0
        opened.append(NOTE)
        opened.close()

    def test_another_thread_may_close_it(self, files: StageFiles) -> None:
        opened = begin(files, "design", HELLO)
        thread = threading.Thread(target=opened.close)
        thread.start()
        thread.join()
        left_open(files)

    def test_threads_add_to_it_at_once(self, files: StageFiles) -> None:
        opened = begin(files)

        def add(number: int) -> None:
            for count in range(10):
                opened.append(StageRecord("note", text=f"{number}-{count}"))
                assert opened.records

        threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(one.text for one in opened.finish(ENDED, "").records) == sorted(
            f"{number}-{count}" for number in range(4) for count in range(10)
        )

    def test_what_others_do_to_the_file_is_seen(self, files: StageFiles, folder: Path) -> None:
        opened = begin(files, "design", HELLO, NOTE)
        assert files.blank(lambda one: replace(one, records=tuple(r.blanked() for r in one.records))) == [
            "projects/shop/stages/design.open.jsonl"
        ]
        assert [one.forgotten for one in opened.records] == [True, True]
        opened.append(CALL)
        (folder / "design.open.jsonl").unlink()
        assert opened.records == ()
        opened.append(NOTE)
        assert opened.finish(ENDED, "") == StageArchive("design", "shop", "scout", BEGUN, ENDED, (NOTE,))


class TestCrashes:
    """What a crash or a person leaves behind."""

    @pytest.mark.parametrize("tail", [b'{"kind":"note","te', b"\0\0\0", b"\xff", b"[1]"])
    def test_a_torn_line_is_set_aside(self, tail: bytes, files: StageFiles, folder: Path) -> None:
        left_open(files, "design", HELLO)
        path = folder / "design.open.jsonl"
        path.write_bytes(path.read_bytes() + tail)
        assert files.read("shop", "design").records == (HELLO,)
        opened = begin(files, "design", NOTE)
        assert opened.records == (HELLO, NOTE)
        assert (folder / "design.open.jsonl.torn").read_bytes() == tail + b"\n"
        assert opened.finish(ENDED, "").extra == {}
        assert os.listdir(folder) == ["design.json"]

    @pytest.mark.parametrize("data", [b"", b'{"format":1,"sta', b"\0\0\n"])
    def test_a_torn_first_line_is_written_again(self, data: bytes, files: StageFiles, folder: Path) -> None:
        folder.mkdir(parents=True)
        (folder / "design.open.jsonl").write_bytes(data)
        assert ended(files, "design", HELLO) == StageArchive("design", "shop", "scout", BEGUN, ENDED, (HELLO,))

    def test_lines_that_are_none_are_kept(self, files: StageFiles, folder: Path) -> None:
        left_open(files, "design", HELLO, NOTE)
        path = folder / "design.open.jsonl"
        _, first, second = path.read_bytes().splitlines()
        path.write_bytes(b"\n".join([b"head by hand", first, b'{"kind":"song"}', b"\0", second, b"[" * 9999, b""]))
        archive = ended(files)
        assert (archive.agent, archive.begun, archive.records) == ("scout", BEGUN, (HELLO, NOTE))
        assert archive.extra == {UNREADABLE: ["head by hand", '{"kind":"song"}', "[" * 9999]}

    def test_a_whole_archive_wins(self, files: StageFiles, folder: Path) -> None:
        left_open(files, "design", HELLO)
        kept = (folder / "design.open.jsonl").read_bytes()
        ended(files, "design", NOTE)
        (folder / "design.open.jsonl").write_bytes(kept)
        assert files.read("shop", "design").records == (HELLO, NOTE)
        assert [(one.ended, one.records) for one in files.summaries()] == [(ENDED, 2)]
        with pytest.raises(Conflict, match="has ended"):
            begin(files)
        assert os.listdir(folder) == ["design.json"]

    @pytest.mark.parametrize(
        ("data", "said"),
        [
            (b"{", "it is no JSON .line 1"),
            (b"\xff", "it is not UTF-8"),
            (b"[" * 100_000, "it is nested too deeply"),
            (b'{"stage":"design","project":"shop"}', "it does not say when it ended"),
            (b'{"stage":"design","project":"shop","records":[1]}', "record 1: "),
        ],
    )
    def test_a_damaged_archive_does_not(self, data: bytes, said: str, files: StageFiles, folder: Path) -> None:
        left_open(files, "design", HELLO)
        (folder / "design.json").write_bytes(data)
        (folder / "alone.json").write_bytes(data)
        assert files.read("shop", "design").records == (HELLO,)
        with pytest.raises(Conflict, match=f"stage alone of project shop is damaged: {said}"):
            files.read("shop", "alone")
        with pytest.raises(Conflict, match="its file is damaged"):
            begin(files, "alone")
        alone, design = files.summaries("shop")
        assert (alone.problem != "", design.records, design.ended) == (True, 1, "")
        assert files.blank(lambda one: one) == []
        ended(files)
        assert files.read("shop", "design").records == (HELLO,)
        assert (folder / "design.json.damaged").read_bytes() == data

    def test_a_full_disk_takes_nothing_and_loses_nothing(
        self, files: StageFiles, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        opened = begin(files, "design", HELLO)

        def full(descriptor: int, data: bytes) -> None:
            os.write(descriptor, data[:5])
            raise OSError(errno.ENOSPC, "no room")

        with monkeypatch.context() as patch:
            patch.setattr(jsonlines, "write_all", full)
            with pytest.raises(VaultFull):
                opened.append(NOTE)
        assert opened.records == (HELLO,)
        opened.append(CALL)
        assert opened.finish(ENDED, "").records == (HELLO, CALL)

    def test_ended_at_any_step_nothing_is_lost(self, files: StageFiles) -> None:
        for step in range(40):
            name = f"design{step}"
            left_open(files, name, HELLO, NOTE)

            def end(name: str = name) -> None:
                begin(files, name, CALL).finish(ENDED, "")

            crashed = crash_at(step, end)
            found = files.read("shop", name)
            assert found.records in ((HELLO, NOTE), (HELLO, NOTE, CALL))
            if not found.ended:
                found = ended(files, name)
            with pytest.raises(Conflict, match="has ended"):
                begin(files, name)
            if not crashed:
                assert step > 5
                return
        raise AssertionError("it never came to its end")


class TestList:
    """Which stages there are, without holding them in memory."""

    def test_open_and_ended_ones_by_name(self, files: StageFiles) -> None:
        assert list(files.summaries()) == list(files.summaries("shop")) == []
        ended(files, "b", HELLO, CALL, NOTE)
        ended(files, "none")
        left_open(files, "a", HELLO)
        left_open(files, "z", project="atlas")
        found = list(files.summaries())
        assert found == [
            StageSummary("atlas", "z", "scout", BEGUN),
            StageSummary("shop", "a", "scout", BEGUN, "", 1),
            StageSummary("shop", "b", "scout", BEGUN, ENDED, 3),
            StageSummary("shop", "none", "scout", BEGUN, ENDED, 0),
        ]
        assert list(files.summaries("SHOP")) == found[1:]
        assert [len(one.records) for one in files.readable()] == [0, 1, 3, 0]

    def test_ended_ones_are_not_read_as_a_whole(
        self, files: StageFiles, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ended(files, "b", HELLO, CALL)
        monkeypatch.setattr(StageFiles, "_archive", None)
        assert [one.records for one in files.summaries()] == [2]

    def test_those_a_person_has_been_at(self, files: StageFiles, folder: Path) -> None:
        ended(files, "a", HELLO, NOTE)
        path = folder / "a.json"
        path.write_text(json.dumps(json.loads(path.read_bytes()), indent=4))
        ended(files, "b", HELLO, NOTE)
        whole = (folder / "b.json").read_bytes()
        (folder / "b.json").write_bytes(whole.replace(b'{"kind":"note"', b'{\n"kind":"note"'))
        (folder / "c.json").write_bytes(whole[:-5])
        left_open(files, "d", HELLO)
        lines = (folder / "d.open.jsonl").read_bytes().splitlines(keepends=True)
        (folder / "d.open.jsonl").write_bytes(lines[1])
        for name in (".hidden.json", "con.json", "x.txt", ".json"):
            (folder / name).write_bytes(b"{}")
        (folder / "folder.json").mkdir()
        (folder.parents[1] / "file").write_bytes(b"")
        found = {one.stage: one for one in files.summaries()}
        assert {name: one.records for name, one in found.items()} == {"a": 2, "b": 2, "c": 0, "d": 1, "folder": 0}
        assert "damaged" in found["c"].problem
        assert "could not be read" in found["folder"].problem

    def test_what_is_not_there(self, files: StageFiles) -> None:
        with pytest.raises(NotFound, match="there is no stage design of project shop"):
            files.read("shop", "design")


class TestLinks:
    """A link leads nowhere: neither out of the vault nor into another project."""

    @pytest.mark.parametrize("link", ["projects/shop", "projects/shop/stages"])
    @pytest.mark.parametrize("inside", [True, False])
    def test_of_folders(self, link: str, inside: bool, files: StageFiles, root: Path, tmp_path: Path) -> None:
        ended(files, "secret", HELLO, project="atlas")
        target = root / "projects/atlas" if inside else tmp_path / "outside"
        (target / "stages").mkdir(parents=True, exist_ok=True)
        (root / link).parent.mkdir(parents=True, exist_ok=True)
        (root / link).symlink_to(target if link.endswith("shop") else target / "stages")
        for call in (
            lambda: files.read("shop", "secret"),
            lambda: left_open(files),
            lambda: [*files.summaries("shop")],
        ):
            with pytest.raises(OutsideVault):
                call()
        assert [one.project for one in files.summaries()] == ["atlas"]
        assert files.blank(lambda one: replace(one, summary=one.project)) == ["projects/atlas/stages/secret.json"]

    @pytest.mark.parametrize("ending", [".json", ".open.jsonl", ".open.jsonl.torn"])
    def test_of_files(self, ending: str, files: StageFiles, folder: Path, root: Path) -> None:
        ended(files, "secret", HELLO, project="atlas")
        before = (root / "projects/atlas/stages/secret.json").read_bytes()
        left_open(files, "design")
        (folder / f"link{ending}").symlink_to(root / "projects/atlas/stages/secret.json")
        for call in (lambda: files.read("shop", "link"), lambda: left_open(files, "link", NOTE)):
            with pytest.raises(OutsideVault, match="is a link"):
                call()
        found = {one.stage: one.problem for one in files.summaries("shop")}
        assert found.pop("design") == ""
        assert all("is a link" in problem for problem in found.values())
        files.blank(lambda one: one)
        assert (root / "projects/atlas/stages/secret.json").read_bytes() == before


class TestBlanking:
    """Rewriting what is forgotten."""

    def test_open_ended_and_put_away(self, files: StageFiles, root: Path, folder: Path) -> None:
        ended(files, "a", HELLO)
        left_open(files, "b", HELLO)
        with (folder / "b.open.jsonl").open("ab") as stream:
            stream.write(b"no record\n{")
        (folder / "b.open.jsonl.torn").write_bytes(b"{\n")
        left_open(files, "c", NOTE)
        (folder / ".memoranda-1.tmp").write_bytes(b"hello")
        aside = root / "history/sleep/20260710/shop"
        aside.mkdir(parents=True)
        ended(files, "old", HELLO)
        (folder / "old.json").rename(aside / "old.json")
        (folder / "a.open.jsonl").write_bytes(b"left by a crash")

        def change(one: StageArchive) -> StageArchive:
            records = tuple(r.blanked() if r.speaker == "Lin" else r for r in one.records)
            return one if records == one.records else replace(one, records=records, summary="-", extra={})

        changed = [
            "projects/shop/stages/a.json",
            "projects/shop/stages/b.open.jsonl",
            "history/sleep/20260710/shop/old.json",
        ]
        assert files.blank(change) == changed
        assert files.blank(change) == []
        assert sorted(os.listdir(folder)) == ["a.json", "b.open.jsonl", "c.open.jsonl"]
        everything = b"".join(path.read_bytes() for path in root.rglob("*") if path.is_file())
        assert b"hello" not in everything
        assert b"no record" not in everything
        assert files.read("shop", "b").summary == "-"
        opened = begin(files, "b")
        assert opened.records == (HELLO.blanked(),)
        opened.close()

    def test_a_link_among_what_was_put_away(self, files: StageFiles, root: Path) -> None:
        ended(files, "a", HELLO)
        (root / "history/sleep/1").mkdir(parents=True)
        (root / "history/sleep/1/shop").symlink_to(root / "projects/shop/stages")
        assert files.blank(lambda one: replace(one, summary="x")) == ["projects/shop/stages/a.json"]


def test_a_folder_that_may_not_be_read(files: StageFiles, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left_open(files)

    def closed(path: str) -> list[str]:
        raise PermissionError(errno.EACCES, "closed", path)

    monkeypatch.setattr(os, "listdir", closed)
    with pytest.raises(VaultUnreadable):
        list(files.summaries())
