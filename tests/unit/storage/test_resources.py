"""Conversations as they were said: one file each, legal everywhere, added to and blanked."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.accounts import as_nobody, needs_root
from fakes.disk import FaultyDisk, full
from memoranda.core.errors import OutsideVault, VaultFull, VaultUnreadable
from memoranda.core.model import Turn
from memoranda.storage.clock import parse_moment
from memoranda.storage.resources import Resources, bytes_digest, turn_from_record
from memoranda.storage.store import Storage

MONTH = "2026-07"
conversations = st.text(min_size=1, max_size=12).filter(lambda text: "/" not in text)


@pytest.fixture
def resources(storage: Storage) -> Resources:
    return Resources(storage.vault)


def said(conversation: str, turn: str, text: str = "hello", **more: object) -> Turn:
    return Turn(conversation, turn, text, **more)  # type: ignore[arg-type]


def put(resources: Resources, conversation: str, *turns: Turn, month: str = MONTH) -> str:
    staged = resources.stage(conversation, turns, month)
    resources.append(staged)
    return staged.relative


IDS = [
    "conv_1",
    "CON",
    "con.x",
    "nul",
    "COM1",
    "..x",
    ".",
    "..",
    ".hidden",
    "a:b",
    "a：b",
    "a\\b",
    "a*b?",
    'a"b',
    "a<b>c|d",
    "a#b^c",
    "[[a]]",
    "100%",
    "%41",
    "trailing.",
    "trailing ",
    " leading",
    "two  spaces",
    "x" * 300,
    "海" * 100,
    "喜欢",
    "🐘",
    "cafe\u0301",
    "tab\there",
    "a\u2028b",
    "\ud800",
    "nul\0byte",
    "conv.jsonl",
    "~",
    "-rf",
]


class TestNames:
    """Whatever a conversation is called, its file can be made on every system."""

    @pytest.mark.parametrize("conversation", IDS)
    def test_is_found_again(self, conversation: str, resources: Resources, root: Path) -> None:
        assert resources.find(conversation) is None
        assert resources.turns(conversation) == []
        relative = put(resources, conversation, said(conversation, "1"), said(conversation, "2"))
        path = root / relative
        assert path.is_file()
        assert path.parent == root / "resources" / MONTH
        assert resources.find(conversation) == str(path.resolve())
        assert [turn.turn for turn in resources.turns(conversation)] == ["1", "2"]
        assert put(resources, conversation, said(conversation, "3"), month="2026-08") == relative
        assert [turn.turn for turn in resources.turns(conversation)] == ["1", "2", "3"]
        assert all(turn.conversation == conversation for turn in resources.turns(conversation))

    @pytest.mark.parametrize("conversation", IDS)
    def test_is_legal_everywhere(self, conversation: str, resources: Resources) -> None:
        name = put(resources, conversation, said(conversation, "1")).rpartition("/")[2]
        stem = name.removesuffix(".jsonl")
        assert len(name.encode()) <= 200
        assert not set(name) & set('\\/:*?"<>|\0\t\n')
        assert stem
        assert not stem.startswith(".")
        assert not stem.endswith((".", " "))
        assert stem.split(".")[0].lower() not in {"con", "prn", "aux", "nul", "com1"}

    @given(st.lists(conversations, min_size=1, max_size=6, unique=True))
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
    def test_two_never_mix(self, resources: Resources, root: Path, ids: list[str]) -> None:
        """Two ids may share a file (they differ in what some systems cannot tell apart), never their turns."""
        for path in (root / "resources").rglob("*.jsonl"):
            path.unlink()
        for number, conversation in enumerate(ids):
            put(resources, conversation, said(conversation, str(number)))
        for number, conversation in enumerate(ids):
            assert [turn.turn for turn in resources.turns(conversation)] == [str(number)]

    def test_readable_names_stay_readable(self, resources: Resources) -> None:
        assert put(resources, "喜欢 a-b_c.1", said("喜欢 a-b_c.1", "1")) == f"resources/{MONTH}/喜欢 a-b_c.1.jsonl"
        assert put(resources, "a:b", said("a:b", "1")) == f"resources/{MONTH}/a%3Ab.jsonl"


def test_the_month_is_the_users(resources: Resources) -> None:
    """Case D20: half past midnight of the first of August in Shanghai is July in UTC."""
    moment = datetime(2026, 7, 31, 16, 30, tzinfo=UTC)
    local = parse_moment("2026-08-01T00:30", ZoneInfo("Asia/Shanghai"))
    assert local == moment
    month = local.astimezone(ZoneInfo("Asia/Shanghai")).strftime("%Y-%m")
    assert put(resources, "c", said("c", "1"), month=month) == "resources/2026-08/c.jsonl"


class TestAppending:
    """Lines are added whole."""

    def test_what_a_line_holds(self, resources: Resources, root: Path) -> None:
        turn = said("c", "1", "", ts="2026-07-10T03:00:00Z", speaker="lin", role="user", extra={"mood": "", "n": [1]})
        relative = put(resources, "c", turn)
        assert json.loads((root / relative).read_bytes()) == {
            "conversation": "c",
            "turn": "1",
            "ts": "2026-07-10T03:00:00Z",
            "speaker": "lin",
            "role": "user",
            "text": "",
            "mood": "",
            "n": [1],
        }
        assert resources.turns("c") == [turn]
        assert (root / relative).stat().st_mode & 0o777 == 0o600

    def test_staging_writes_nothing_and_says_where(self, resources: Resources, root: Path) -> None:
        put(resources, "c", said("c", "1"))
        before = (root / f"resources/{MONTH}/c.jsonl").read_bytes()
        staged = resources.stage("c", [said("c", "2")], MONTH)
        assert (root / f"resources/{MONTH}/c.jsonl").read_bytes() == before
        assert staged.as_extra() == {
            "path": f"resources/{MONTH}/c.jsonl",
            "start": len(before),
            "end": len(before) + len(staged.data),
            "hash": bytes_digest(staged.data),
        }
        resources.append(staged)
        after = (root / f"resources/{MONTH}/c.jsonl").read_bytes()
        assert bytes_digest(after[staged.start :]) == staged.as_extra()["hash"]

    def test_a_torn_tail_is_mended_first(self, resources: Resources, root: Path) -> None:
        put(resources, "c", said("c", "1"))
        path = root / f"resources/{MONTH}/c.jsonl"
        with path.open("ab") as stream:
            stream.write(b'{"conversation":"c","tu')
        put(resources, "c", said("c", "2"))
        assert [turn.turn for turn in resources.turns("c")] == ["1", "2"]
        assert resources.torn() == [(f"resources/{MONTH}/c.jsonl", 1)]

    def test_a_full_disk(self, resources: Resources, root: Path) -> None:
        put(resources, "c", said("c", "1"))
        path = root / f"resources/{MONTH}/c.jsonl"
        before = path.read_bytes()
        staged = resources.stage("c", [said("c", "2")], MONTH)
        with FaultyDisk(full).mounted(), pytest.raises(VaultFull):
            resources.append(staged)
        assert path.read_bytes() == before

    @pytest.mark.parametrize("link", ["resources", f"resources/{MONTH}", f"resources/{MONTH}/c.jsonl"])
    def test_never_out_of_the_vault(self, link: str, resources: Resources, root: Path) -> None:
        outside = root.parent / "outside"
        (outside / MONTH).mkdir(parents=True)
        (outside / "c.jsonl").write_bytes(b"")
        (root / link).parent.mkdir(parents=True, exist_ok=True)
        (root / link).symlink_to(outside / "c.jsonl" if link.endswith(".jsonl") else outside)
        with pytest.raises(OutsideVault):
            put(resources, "c", said("c", "1"))
        assert list(resources.files()) == []
        assert (outside / "c.jsonl").read_bytes() == b""


class TestReading:
    """What is no turn is passed over and counted."""

    @pytest.mark.parametrize(
        "record",
        [
            {},
            {"conversation": "c"},
            {"turn": "1"},
            {"conversation": "", "turn": "1"},
            {"conversation": 7, "turn": "1"},
            {"conversation": "c", "turn": None},
            {"conversation": "c", "turn": True},
            {"conversation": "c", "turn": 1.5},
        ],
    )
    def test_no_turn(self, record: dict[str, object], resources: Resources, root: Path) -> None:
        assert turn_from_record(record) is None
        put(resources, "c", said("c", "1"))
        with (root / f"resources/{MONTH}/c.jsonl").open("ab") as stream:
            stream.write(json.dumps(record).encode() + b"\n[]\n")
        assert [turn.turn for turn in resources.turns("c")] == ["1"]
        assert resources.torn() == [(f"resources/{MONTH}/c.jsonl", 2)]

    def test_leniently(self) -> None:
        found = turn_from_record({"conversation": "c", "turn": 7, "text": None, "ts": 5, "forgotten": "yes", "x": 1})
        assert found == Turn("c", "7", "", extra={"x": 1})

    def test_every_file_by_month(self, resources: Resources, root: Path) -> None:
        assert list(resources.files()) == []
        put(resources, "b", said("b", "1"), month="2026-08")
        put(resources, "z", said("z", "1"))
        put(resources, "a", said("a", "1"))
        for other in ("notes.txt", ".hidden.jsonl", "z.jsonl.torn"):
            (root / "resources" / MONTH / other).write_bytes(b"")
        (root / "resources" / MONTH / "folder.jsonl").mkdir()
        (root / "resources" / MONTH / "dangling.jsonl").symlink_to("nothing.jsonl")
        (root / "resources" / "others").mkdir()
        (root / "resources" / "2026-09").write_bytes(b"")
        names = [file.relative for file in resources.files()]
        assert names == ["resources/2026-07/a.jsonl", "resources/2026-07/z.jsonl", "resources/2026-08/b.jsonl"]
        assert all(file.stamp.size == Path(file.path).stat().st_size for file in resources.files())

    @needs_root
    @pytest.mark.usefixtures("reachable")
    def test_what_may_not_be_read_is_said(self, resources: Resources, root: Path) -> None:
        put(resources, "c", said("c", "1"))
        for path in (root, root / "resources"):
            path.chmod(0o755)

        def refused() -> None:
            with pytest.raises(VaultUnreadable):
                list(resources.files())
            with pytest.raises(VaultUnreadable):
                resources.read(str(root / f"resources/{MONTH}/c.jsonl"))

        as_nobody(refused)
        (root / "resources").chmod(0o000)

        def closed() -> None:
            with pytest.raises(VaultUnreadable):
                resources.turns("c")

        as_nobody(closed)


class TestBlanking:
    """Forgetting takes the words and leaves a tombstone."""

    def test_leaves_a_tombstone(self, resources: Resources, root: Path) -> None:
        secret = said("c", "2", "secret", speaker="lin", ts="2026-07-10", extra={"x": "secret"})
        put(resources, "c", said("c", "1", "kept"), secret)
        put(resources, "d", said("d", "2", "kept too"))
        path = root / f"resources/{MONTH}/c.jsonl"
        Path(str(path) + ".torn").write_bytes(b'{"text":"secr\n')
        assert resources.blank(lambda turn: turn.text == "secret") == ["turn/c#2"]
        assert resources.turns("c") == [said("c", "1", "kept"), Turn("c", "2", "", forgotten=True)]
        assert resources.turns("d") == [said("d", "2", "kept too")]
        assert b"secr" not in b"".join(p.read_bytes() for p in (root / "resources").rglob("*") if p.is_file())
        assert resources.blank(lambda turn: turn.turn == "2" and turn.conversation == "c") == []

    def test_a_full_disk_takes_nothing(self, resources: Resources, root: Path) -> None:
        put(resources, "c", said("c", "1", "secret"))
        before = (root / f"resources/{MONTH}/c.jsonl").read_bytes()
        with FaultyDisk(full).mounted(), pytest.raises(VaultFull):
            resources.blank(lambda turn: True)
        assert (root / f"resources/{MONTH}/c.jsonl").read_bytes() == before
        assert os.listdir(root / "resources" / MONTH) == ["c.jsonl"]


class TestRecovery:
    """Turns are written ahead like every other change."""

    def interrupted(self, storage: Storage, resources: Resources, written: int | None) -> None:
        from memoranda.core.model import JournalEntry
        from memoranda.storage.history import ChangeRecord
        from memoranda.storage.journal import to_record

        staged = resources.stage("c", [said("c", "9", "the last")], MONTH)
        entry = JournalEntry("0123456789", "2026-07-10T03:00:00Z", "import")
        record = ChangeRecord(
            entry.id, entry.ts, "import", journal=(to_record(entry),), extra={"turns": staged.as_extra()}
        )
        storage.history.append(record)
        path = Path(storage.vault.path(staged.relative))
        path.parent.mkdir(parents=True, exist_ok=True)
        if written is None or written > 0:
            with path.open("ab") as stream:
                stream.write(staged.data[:written])

    @pytest.mark.parametrize("before", [True, False])
    @pytest.mark.parametrize("written", [0, 1, 20, None])
    def test_all_or_none(
        self, written: int | None, before: bool, storage: Storage, resources: Resources, root: Path
    ) -> None:
        path = root / f"resources/{MONTH}/c.jsonl"
        if before:
            put(resources, "c", said("c", "1"))
        kept = path.read_bytes() if before else None
        self.interrupted(storage, resources, written)
        with storage.locked():
            pass
        if written is None:
            assert [entry.action for entry in storage.journal.read()] == ["import"]
            assert [turn.turn for turn in resources.turns("c")][-1] == "9"
        else:
            assert list(storage.journal.read()) == []
            assert storage.history.last() is None
            assert (path.read_bytes() if path.exists() else None) == kept
