"""The history and the journal: what is written reads back, also what a person has edited."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.disk import FaultyDisk, full
from memoranda.core.errors import VaultFull, VaultUnreadable
from memoranda.core.model import JournalEntry
from memoranda.storage.history import ChangeRecord, FileChange, History, ItemChange, ItemState, TextEdit
from memoranda.storage.journal import Journal, change_of, from_record, new_change_id, to_record
from memoranda.storage.standing import is_month
from memoranda.storage.store import Storage

texts = st.text(max_size=12)
states = st.none() | st.builds(ItemState, texts, texts, texts)
hashes = st.none() | st.text("0123456789abcdef", min_size=16, max_size=16)
records = st.builds(
    ChangeRecord,
    id=st.text("0123456789abcdef", min_size=1, max_size=10),
    ts=st.just("2026-07-10T03:00:00Z"),
    action=texts,
    files=st.lists(
        st.builds(
            FileChange,
            texts,
            hashes,
            hashes,
            st.lists(st.builds(TextEdit, st.integers(0, 10**6), texts, texts), max_size=3).map(tuple),
            st.lists(st.tuples(texts, texts, texts), max_size=2).map(tuple),
        ),
        max_size=2,
    ).map(tuple),
    items=st.lists(st.builds(ItemChange, texts, states, states), max_size=3).map(tuple),
    journal=st.lists(st.dictionaries(texts, texts, max_size=2), max_size=2).map(tuple),
    state=st.sampled_from(["", "forgotten"]),
    extra=st.dictionaries(texts, texts, max_size=2),
)
entries = st.builds(
    JournalEntry,
    id=texts,
    ts=texts,
    action=texts,
    category=st.none() | texts,
    item=st.none() | texts,
    scope=texts,
    actor=texts,
    source=st.none() | texts,
    before=hashes,
    after=hashes,
    detail=st.dictionaries(texts, texts | st.integers() | st.booleans(), max_size=2),
)


@pytest.fixture
def history(storage: Storage) -> History:
    return storage.history


@pytest.fixture
def journal(storage: Storage) -> Journal:
    return storage.journal


def record(number: int, ts: str = "2026-07-10T03:00:00Z", **more: Any) -> ChangeRecord:
    return ChangeRecord(f"{number:010x}", ts, "add", **more)


class TestHistory:
    """Records by month, in the order in which things happened."""

    @given(st.lists(records, max_size=4))
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
    def test_reads_back(self, history: History, root: Path, written: list[ChangeRecord]) -> None:
        for path in (root / "history").glob("*"):
            path.unlink()
        for one in written:
            history.append(one)
        assert list(history.read()) == written
        assert list(history.read_backwards()) == written[::-1]
        assert history.last() == (written[-1] if written else None)

    def test_months_and_a_clock_that_goes_back(self, history: History, root: Path) -> None:
        days = ["2026-06-30", "2026-07-01", "2026-06-30", "2026-08-01"]
        times = [*(f"{day}T00:00:00Z" for day in days), "", "x"]
        for number, ts in enumerate(times):
            history.append(record(number, ts))
        assert sorted(p.stem for p in (root / "history").iterdir()) == ["2026-06", "2026-07", "2026-08"]
        assert [r.id for r in history.read()] == [f"{n:010x}" for n in range(len(times))]
        assert [r.id for r in history.read_backwards()] == [f"{n:010x}" for n in range(len(times))][::-1]

    def test_a_record_without_a_time(self, history: History, root: Path) -> None:
        history.append(record(1, ""))
        assert [p.name for p in (root / "history").iterdir()] == ["0000-00.jsonl"]

    def test_what_a_sync_program_left_is_no_month(self, history: History, root: Path) -> None:
        history.append(record(1))
        for name in ("2026-07.sync-conflict-20260710-030000-ABC.jsonl", "zzz.jsonl", "2026-07.jsonl.torn"):
            (root / "history" / name).write_bytes(b'{"id":"x"}\n')
        history.append(record(2))
        assert [r.id for r in history.read()] == [record(1).id, record(2).id]

    def test_finds_the_newest_of_a_change(self, history: History) -> None:
        history.append(record(1))
        history.append(replace(record(1), state="forgotten"))
        found = history.find(record(1).id)
        assert found is not None
        assert found.state == "forgotten"
        assert history.find("nothing") is None

    @pytest.mark.parametrize(
        "row",
        [
            {},
            {"id": 1, "ts": None, "action": [], "files": 7, "items": "x", "journal": {}, "extra": []},
            {"files": [1, {"path": 3, "before": 4, "edits": [{"at": "x"}, 5, {"at": 1.5, "old": 2}]}]},
            {"files": [{"corrections": "x"}, {"corrections": [1, [], ["a"], ["a", 2, "c"], ["a", "b", "c"]]}]},
            {"items": [{"path": "p", "before": 3, "after": {"name": 1, "text": None, "comment": 4}}]},
        ],
    )
    def test_what_a_person_broke_reads_as_empty(self, row: dict[str, Any], history: History, root: Path) -> None:
        (root / "history").mkdir()
        (root / "history/2026-07.jsonl").write_text(json.dumps(row) + "\n")
        (found,) = history.read()
        assert isinstance(found, ChangeRecord)
        assert found.id == ""
        assert all(isinstance(edit.at, int) for file in found.files for edit in file.edits)
        history.append(found)
        assert list(history.read())[1] == found

    def test_taking_back(self, history: History, root: Path) -> None:
        assert not history.take_back("x")
        history.append(record(1, "2026-06-01T00:00:00Z"))
        history.append(record(2))
        assert not history.take_back(record(1).id)
        assert history.take_back(record(2).id)
        assert history.last() == record(1, "2026-06-01T00:00:00Z")
        # The newer month is empty now, and the older one comes next.
        assert history.take_back(record(1).id)
        assert history.last() is None
        assert not history.take_back(record(1).id)

    def test_a_full_disk(self, history: History) -> None:
        history.append(record(1))
        with FaultyDisk(full).mounted(), pytest.raises(VaultFull):
            history.append(record(2))
        assert [r.id for r in history.read()] == [record(1).id]
        with FaultyDisk(full).mounted():
            # Making room needs none.
            try:
                history.take_back(record(1).id)
            except VaultFull:
                assert history.last() is None

    def test_torn_lines_are_counted(self, history: History, root: Path) -> None:
        history.append(record(1))
        with (root / "history/2026-07.jsonl").open("ab") as stream:
            stream.write(b'{"id":"to')
        assert history.torn() == 1
        history.append(record(2))
        assert history.torn() == 1
        assert [r.id for r in history.read()] == [record(1).id, record(2).id]

    def test_since(self, history: History, root: Path) -> None:
        start = history.mark()
        assert start == ("", 0, 0)
        history.append(record(1, "2026-06-01T00:00:00Z"))
        first = history.mark()
        history.append(record(2))
        history.append(record(3))
        ids = [r.id for r in history.since(start) or []]
        assert ids == [record(n).id for n in (1, 2, 3)]
        assert [r.id for r in history.since(first) or []] == [record(n).id for n in (2, 3)]
        assert history.since(history.mark()) == []
        name, size, inode = history.mark()
        assert history.since((name, size + 1, inode)) is None
        assert history.since((name, size - 1, inode)) is None
        assert history.since((name, size, inode + 1)) is None
        assert history.since(("2025-01.jsonl", 0, 0)) is None

    def test_scrubbing(self, history: History, root: Path) -> None:
        edits, corrections = (TextEdit(0, "", "secret"),), (("secret", "secret", "1" * 16),)
        file = FileChange("memory/x.md", None, "0" * 16, edits, corrections)
        item = ItemChange("memory/x.md", None, ItemState("secret", "secret"))
        history.append(record(1, files=(file,), items=(item,)))
        history.append(record(2))
        (root / "history/2026-07.jsonl.torn").write_bytes(b"secr\n")

        def change(found: ChangeRecord) -> ChangeRecord:
            if found.id != record(1).id:
                return found
            files = tuple(replace(f, edits=()) for f in found.files)
            return replace(found, state="forgotten", items=(), files=files)

        assert history.scrub(change) == 1
        assert b"secr" not in b"".join(p.read_bytes() for p in (root / "history").iterdir())
        assert [r.state for r in history.read()] == ["forgotten", ""]
        assert history.scrub(lambda found: found) == 0
        assert history.scrub(lambda found: replace(found, action="other")) == 2

    def test_a_file_in_its_place(self, history: History, root: Path) -> None:
        (root / "history").write_bytes(b"")
        with pytest.raises(VaultUnreadable):
            list(history.read())


class TestJournal:
    """One line for every change."""

    @given(st.lists(entries, max_size=4))
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
    def test_reads_back(self, journal: Journal, written: list[JournalEntry]) -> None:
        Path(journal.path).unlink(missing_ok=True)
        journal.append(written)
        assert list(journal.read()) == written
        assert list(journal.read_backwards()) == written[::-1]
        assert journal.last_id() == (written[-1].id if written else None)
        assert journal.size() == (Path(journal.path).stat().st_size if written else 0)

    def test_what_a_person_broke_reads_as_empty(self) -> None:
        assert from_record({}) == JournalEntry("", "", "")
        broken = {"id": 1, "scope": None, "actor": [], "category": 5, "detail": "x", "before": 7}
        assert from_record(broken) == JournalEntry("", "", "")
        assert from_record({"id": "a", "extra": 1, "item": "b"}) == JournalEntry("a", "", "", item="b")

    def test_a_line_has_every_field(self) -> None:
        assert list(to_record(JournalEntry("a", "b", "c"))) == [
            "id",
            "ts",
            "action",
            "category",
            "item",
            "scope",
            "actor",
            "source",
            "before",
            "after",
            "detail",
        ]

    def test_lines_of_a_change(self, journal: Journal) -> None:
        ids = ["aa", "bb.1", "bb.2", "cc", "bb.3"]
        journal.append(JournalEntry(one, "", "add") for one in ids[:4])
        assert journal.lines_of("bb") == {"bb.1", "bb.2"}
        assert journal.lines_of("cc") == {"cc"}
        assert journal.lines_of("dd") == set()
        assert change_of("bb.2") == change_of("bb") == "bb"

    def test_ids_are_short_and_differ(self) -> None:
        ids = {new_change_id() for _ in range(1000)}
        assert len(ids) == 1000
        assert all(len(one) == 10 and set(one) <= set("0123456789abcdef") for one in ids)

    def test_scrubbing(self, journal: Journal) -> None:
        journal.append([JournalEntry("a", "", "add", item="secret"), JournalEntry("b", "", "add", item="kept")])
        changed = journal.scrub(lambda entry: replace(entry, item="(forgotten)") if entry.item == "secret" else entry)
        assert changed == 1
        assert [entry.item for entry in journal.read()] == ["(forgotten)", "kept"]

    def test_a_full_disk(self, journal: Journal) -> None:
        journal.append([JournalEntry("a", "", "add")])
        with FaultyDisk(full).mounted(), pytest.raises(VaultFull):
            journal.append([JournalEntry("b", "", "add")])
        assert [entry.id for entry in journal.read()] == ["a"]
        assert journal.torn() == 0

    def test_a_folder_in_its_place(self, journal: Journal) -> None:
        Path(journal.path).mkdir()
        with pytest.raises(VaultUnreadable):
            list(journal.read())


def test_what_is_a_month() -> None:
    assert all(map(is_month, ("2026-07", "0000-00")))
    assert not any(map(is_month, ("2026-7", "2026_07", "2026-07 ", "2026-0a", "٢٠٢٦-٠٧", "", "2026-07.jsonl")))
