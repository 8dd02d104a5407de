"""What is known of documents is used while their stamps are the same, and worth nothing once it is damaged."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from memoranda.core.errors import VaultFull
from memoranda.storage import document_ledger
from memoranda.storage.document_files import DocumentFiles, DocumentHead, NewDocument
from memoranda.storage.document_ledger import DocumentLedger, DocumentOrigin
from memoranda.storage.documents import Documents
from memoranda.storage.files import Stamp
from memoranda.storage.vault import VaultFolder

Damage = Callable[[bytes], bytes]


@pytest.fixture
def vault(tmp_path: Path) -> VaultFolder:
    made = VaultFolder(str(tmp_path), create=True)
    heads = [(f"d{n}", DocumentHead(title=f"T{n}", source=f"/s/{n}", hash="ab" * 32)) for n in range(3)]
    DocumentFiles(made).put("c", [NewDocument(name, head.document("text")) for name, head in heads])
    for file in (tmp_path / "docs/c").iterdir():
        os.utime(file, (1_700_000_000, 1_700_000_000))
    return made


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written just now counts as settled: a change time cannot be set."""
    monkeypatch.setattr(Stamp, "is_settled", lambda self, now: True)


def titles(vault: VaultFolder) -> list[str]:
    with DocumentLedger(vault, "c") as ledger:
        found = [one.head.title for one in ledger.documents(Documents(vault).files("c"))]
        ledger.save()
    return found


def test_edits_and_removals_are_seen(vault: VaultFolder, tmp_path: Path) -> None:
    assert titles(vault) == titles(vault) == ["T0", "T1", "T2"]
    path = tmp_path / "docs/c/d1.md"
    path.write_bytes(path.read_bytes().replace(b"T1", b"New"))
    assert titles(vault) == ["T0", "New", "T2"]
    path.unlink()
    assert titles(vault) == ["T0", "T2"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        lambda whole: b"{",
        lambda whole: b"nothing that any program wrote",
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole[:-1],
        lambda whole: whole + b"x",
        lambda whole: whole.replace(b'"T0"', b'"77"'),
        lambda whole: _checksummed(b"no database, though its checksum is right"),
        lambda whole: _checksummed(whole[:4096]),
    ],
)
def test_a_damaged_ledger_is_worth_nothing(vault: VaultFolder, tmp_path: Path, settled: None, damage: Damage) -> None:
    titles(vault)
    cache = tmp_path / ".cache/documents/c.db"
    cache.write_bytes(damage(cache.read_bytes()))
    assert titles(vault) == titles(vault) == titles(vault) == ["T0", "T1", "T2"]
    assert b'"T0"' in cache.read_bytes()
    assert [file.name for file in cache.parent.iterdir()] == ["c.db"]


def _checksummed(data: bytes) -> bytes:
    return data + zlib.crc32(data).to_bytes(4, "big")


def test_where_nothing_can_be_written_documents_are_read(vault: VaultFolder, tmp_path: Path) -> None:
    (tmp_path / ".cache").mkdir(exist_ok=True)
    (tmp_path / ".cache/documents").write_text("in the way")
    assert titles(vault) == ["T0", "T1", "T2"]


def test_nothing_is_read_twice(vault: VaultFolder, settled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    real = document_ledger.read_head
    monkeypatch.setattr(document_ledger, "read_head", lambda path: read.append(path) or real(path))
    assert titles(vault) == titles(vault) == ["T0", "T1", "T2"]
    assert len(read) == 3


def test_a_digest_counts_for_its_stamp_alone(vault: VaultFolder, tmp_path: Path) -> None:
    file = tmp_path / "source"
    file.write_text("x")
    old, digest = Stamp(1, 2, 3, 4), "ab" * 32
    with DocumentLedger(vault, "c") as ledger:
        ledger.note_digest("/a", old, digest, time.time_ns())
        ledger.note_digest("/b", Stamp.of(os.stat(file)), digest, time.time_ns())  # written just now: may change unseen
        ledger.note_digest("/c", old, "other", time.time_ns())
        ledger.save()
    with DocumentLedger(vault, "c") as again:
        assert again.digest_of("/a", old) == digest
        assert again.digest_of("/a", Stamp(1, 2, 3, 5)) == ""
        assert again.digest_of("/b", Stamp.of(os.stat(file))) == ""
        assert again.digest_of("/c", old) == "other"
        again.note(Documents(vault).files("c"))
        again.drop_digests()
        assert (again.digest_of("/a", old), again.digest_of("/c", old)) == (digest, "")


def test_what_is_expected_holds_until_files_are_looked_at(vault: VaultFolder) -> None:
    with DocumentLedger(vault, "c") as ledger:
        ledger.note(Documents(vault).files("c"))
        ledger.expect(DocumentOrigin("new", "/n", "ef" * 32))
        ledger.expect(DocumentOrigin("d0", "/s/0", "ef" * 32))
        assert "new" in ledger
        assert [one.id for one in ledger.of_source("/n")] == ["new"]
        assert [one.id for one in ledger.of_digest("ef" * 32)] == ["d0", "new"]
        assert [one.id for one in ledger.of_digest("ab" * 32)] == ["d1", "d2"]
        ledger.expect_no("d1")
        assert "d1" not in ledger
        ledger.note(Documents(vault).files("c"))
        assert [one.id for one in ledger.of_digest("ab" * 32)] == ["d0", "d1", "d2"]
        assert "new" not in ledger


def test_halves_of_characters_are_no_trouble(vault: VaultFolder, tmp_path: Path) -> None:
    made = DocumentHead(title="\ud800", source="/\udfff", hash="\ud801")
    (tmp_path / "docs/c/own.md").write_bytes(
        b'---\ntitle: "\\ud800"\nsource: "/\\udfff"\nhash: "\\ud801"\n---\n\ntext\n'
    )
    with DocumentLedger(vault, "c") as ledger:
        assert list(ledger.documents(Documents(vault).files("c")))[-1].head == made
        assert ledger.of_source("/\udfff") == [DocumentOrigin("own", "/\udfff", "\ud801")]
        ledger.save()


def test_a_system_without_room_is_told(vault: VaultFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    with DocumentLedger(vault, "c") as ledger:
        ledger._rows.execute("PRAGMA max_page_count = 1")
        with pytest.raises(VaultFull, match="could not be kept"):
            [ledger.expect(DocumentOrigin(f"n{number}", "s" * 1000, "")) for number in range(10_000)]
