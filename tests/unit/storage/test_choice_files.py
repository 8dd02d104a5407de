"""Choices on disk: readable, durable, inside the vault, and damage that stays a value."""

from __future__ import annotations

import json
import os
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memoranda.core.choices import Choice
from memoranda.core.errors import BadName, NotFound, OutsideVault, VaultFull, VaultUnreadable
from memoranda.core.model import Problem
from memoranda.core.records import replace
from memoranda.storage import choice_files as module
from memoranda.storage.choice_files import ChoiceFiles
from memoranda.storage.vault import VaultFolder

NOW = datetime(2026, 7, 10, 3, 0, tzinfo=UTC)
ASKED = Choice("", "choice", "scout", "", "喜欢海边吗？", ("yes", "no"), created_at="2026-07-10T03:00:00Z")


@pytest.fixture
def folder(root: Path) -> VaultFolder:
    return VaultFolder(str(root))


@pytest.fixture
def files(folder: VaultFolder) -> ChoiceFiles:
    return ChoiceFiles(folder)


def path_of(folder: VaultFolder, id: str) -> Path:
    return Path(folder.path("choices")) / f"{id}.json"


def test_it_lies_in_a_readable_file_of_its_owner(files: ChoiceFiles, folder: VaultFolder) -> None:
    made = files.put(ASKED, NOW)
    path = path_of(folder, made.id)
    text = path.read_text("utf-8")
    assert '\n "question": "喜欢海边吗？",\n' in text
    assert text.endswith("}\n")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert files.read(made.id) == made == replace(ASKED, id=made.id)
    assert os.listdir(path.parent) == [path.name]


def test_ids_sort_by_time_and_can_be_typed(files: ChoiceFiles, folder: VaultFolder) -> None:
    moments = [NOW, NOW, NOW - timedelta(hours=1), NOW + timedelta(seconds=2), NOW + timedelta(days=3)]
    made = [files.put(ASKED, moment).id for moment in moments]
    assert made == sorted(made) == files.ids()
    assert len(set(made)) == 5
    assert all(len(id) == 11 and id.isalnum() and id.islower() and id.isascii() for id in made)
    later = ChoiceFiles(folder).put(ASKED, NOW + timedelta(days=9000)).id
    assert later > max(made)


def test_a_name_that_is_taken_is_not_written_over(
    files: ChoiceFiles, folder: VaultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.os, "urandom", lambda n: b"\0" * n)
    first = files.put(ASKED, NOW)
    second = ChoiceFiles(folder).put(replace(ASKED, question="Another?"), NOW)
    assert second.id != first.id
    assert files.read(first.id) == first


def test_a_change_is_seen_and_so_is_the_stamp(files: ChoiceFiles, folder: VaultFolder) -> None:
    made = files.put(ASKED, NOW)
    before = files.stamp(made.id)
    ended = replace(made, status="answered", answer=("yes",))
    ChoiceFiles(folder).change(ended)
    assert files.stamp(made.id) != before
    assert files.read(made.id) == ended
    assert files.all() == [ended]
    files.remove(made.id)
    assert files.stamp(made.id) is None
    assert files.all() == []
    files.remove(made.id)
    with pytest.raises(NotFound, match="no choice"):
        files.read(made.id)


def test_what_has_not_changed_is_not_read_again(
    files: ChoiceFiles, folder: VaultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = files.put(ASKED, NOW)
    assert files.all() == [made]
    old = time.time() - 5
    os.utime(path_of(folder, made.id), (old, old))
    assert files.all() == [made]
    reads: list[str] = []
    monkeypatch.setattr(module, "read_bytes", lambda path: reads.append(path) or Path(path).read_bytes())
    assert files.all() == [made]
    assert reads == []
    files.change(replace(made, asked=2))
    assert files.all() == [replace(made, asked=2)]
    assert len(reads) == 1


@pytest.mark.parametrize(
    ("data", "line", "said"),
    [
        (b"", 1, "is no JSON"),
        (b'{"id": 1,\n "question"', 2, "is no JSON"),
        (b"[]", 0, "is no choice: it is no JSON object"),
        (b"[" * 200_000, 0, "is no choice"),
        (b'"\xff"', 0, "is no choice"),
        (b'{"id": "x"}', 0, "does not say its type"),
        (b'{"id": "y", "type": "choice", "question": "?", "status": "open", "created_at": "2026-07-10"}', 0,
         "its id is 'y', which its name does not say"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_a_value(files: ChoiceFiles, folder: VaultFolder, data: bytes, line: int, said: str) -> None:
    made = files.put(ASKED, NOW)
    path_of(folder, "x").write_bytes(data)
    good, bad = files.all()
    assert good == made
    assert isinstance(bad, Problem)
    assert (bad.path, bad.line, bad.kind) == ("choices/x.json", line, "choice")
    assert said in bad.message
    assert path_of(folder, "x").read_bytes() == data


def test_what_is_no_file_or_leads_out_is_a_value_too(files: ChoiceFiles, folder: VaultFolder, tmp_path: Path) -> None:
    made = files.put(ASKED, NOW)
    path_of(folder, "dir").mkdir()
    outside = tmp_path / "outside.json"
    outside.write_text("{}")
    path_of(folder, "out").symlink_to(outside)
    path_of(folder, "odd:name").write_text("{}")
    kinds = {one.path: one.kind for one in files.all() if isinstance(one, Problem)}
    assert kinds == {
        "choices/dir.json": "unreadable",
        "choices/out.json": "outside",
        "choices/odd:name.json": "unreadable",
    }
    with pytest.raises(OutsideVault):
        files.change(replace(made, id="out"))
    with pytest.raises(OutsideVault):
        files.remove("out")
    assert outside.read_text() == "{}"


@pytest.mark.parametrize("id", ["../vault", "a/b", "..", ".hidden", ""])
def test_an_id_is_one_name_in_the_folder(files: ChoiceFiles, id: str) -> None:
    files.put(ASKED, NOW)
    for call in (files.read, files.remove, lambda id: files.change(replace(ASKED, id=id))):
        with pytest.raises(BadName):
            call(id)


def test_the_folder_must_lie_in_the_vault(folder: VaultFolder, root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / "choices").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutsideVault):
        ChoiceFiles(folder).put(ASKED, NOW)
    assert os.listdir(tmp_path / "elsewhere") == []


def test_a_full_disk_leaves_nothing_and_changes_nothing(
    files: ChoiceFiles, folder: VaultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    made = files.put(ASKED, NOW)

    def full(*_: object, **__: object) -> str:
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr("memoranda.storage.new_files.write_temporary", full)
    monkeypatch.setattr("memoranda.storage.files.write_temporary", full)
    with pytest.raises(VaultFull):
        files.put(ASKED, NOW)
    with pytest.raises(VaultFull):
        files.change(replace(made, asked=9))
    assert files.all() == [made]


def test_no_folder_is_no_choice_and_one_that_is_a_file_is_none_either(files: ChoiceFiles, root: Path) -> None:
    assert files.ids() == []
    files.clear_temporaries()
    (root / "choices").write_text("")
    assert files.ids() == []
    files.clear_temporaries()


def test_temporaries_of_a_crash_are_no_choices_and_are_cleared(files: ChoiceFiles, folder: VaultFolder) -> None:
    made = files.put(ASKED, NOW)
    left = path_of(folder, made.id).with_name(".memoranda-00.tmp")
    left.write_text("{")
    path_of(folder, ".hidden").write_text("{")
    assert files.ids() == [made.id]
    files.clear_temporaries()
    assert not left.exists()
    assert files.ids() == [made.id]


def test_one_that_goes_meanwhile_is_passed_over(
    files: ChoiceFiles, folder: VaultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = files.put(ASKED, NOW)
    monkeypatch.setattr(files, "ids", lambda: ["gone", made.id])
    assert files.all() == [made]


def test_a_stamp_that_cannot_be_had_is_a_value(
    files: ChoiceFiles, folder: VaultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = files.put(ASKED, NOW)

    def refused(id: str) -> None:
        raise VaultUnreadable("no")

    monkeypatch.setattr(files, "stamp", refused)
    assert files.all() == [Problem(f"choices/{made.id}.json", 0, "unreadable", "no")]


def test_many_put_at_once_and_none_is_lost(folder: VaultFolder) -> None:
    made: list[str] = []

    def put() -> None:
        own = ChoiceFiles(folder)
        made.extend(own.put(ASKED, NOW).id for _ in range(20))

    threads = [threading.Thread(target=put) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == ChoiceFiles(folder).ids()
    assert len(set(made)) == 80
    assert all(json.loads(path_of(folder, id).read_text())["id"] == id for id in made)
