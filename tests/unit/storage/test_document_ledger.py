"""What is known of documents is used while their stamps are the same, and worth nothing once it is damaged."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from memoranda.storage.document_files import DocumentFiles, DocumentHead, NewDocument
from memoranda.storage.document_ledger import DocumentLedger
from memoranda.storage.documents import Documents
from memoranda.storage.files import Stamp
from memoranda.storage.vault import VaultFolder


@pytest.fixture
def vault(tmp_path: Path) -> VaultFolder:
    made = VaultFolder(str(tmp_path), create=True)
    heads = [(f"d{n}", DocumentHead(title=f"T{n}", source=f"/s/{n}", hash="ab" * 32)) for n in range(3)]
    DocumentFiles(made).put("c", [NewDocument(name, head.document("text")) for name, head in heads])
    for file in (tmp_path / "docs/c").iterdir():
        os.utime(file, (1_700_000_000, 1_700_000_000))
    return made


def titles(vault: VaultFolder) -> list[str]:
    ledger = DocumentLedger(vault, "c")
    found = [one.head.title for one in ledger.documents(Documents(vault).files("c"))]
    ledger.save()
    return found


def test_edits_removals_and_damage_are_seen(vault: VaultFolder, tmp_path: Path) -> None:
    assert titles(vault) == titles(vault) == ["T0", "T1", "T2"]
    path = tmp_path / "docs/c/d1.md"
    path.write_bytes(path.read_bytes().replace(b"T1", b"New"))
    assert titles(vault) == ["T0", "New", "T2"]
    path.unlink()
    assert titles(vault) == ["T0", "T2"]
    cache = tmp_path / ".cache/documents/c.json"
    for damage in (b"", b"{", b"[]", b'{"version":1,"documents":{"d0":[1]},"sources":3}', b"\xff"):
        cache.write_bytes(damage)
        assert titles(vault) == ["T0", "T2"]
    cache.write_bytes(cache.read_bytes().replace(b'"T0"', b"7777"))
    assert titles(vault)[1] == "T2"


def test_a_digest_counts_for_its_stamp_alone(vault: VaultFolder, tmp_path: Path) -> None:
    file = tmp_path / "source"
    file.write_text("x")
    old = Stamp(1, 2, 3, 4)
    ledger = DocumentLedger(vault, "c")
    ledger.note_digest("/a", old, "abc", time.time_ns())
    ledger.note_digest("/b", Stamp.of(os.stat(file)), "def", time.time_ns())  # written just now: it may change unseen
    ledger.save()
    again = DocumentLedger(vault, "c")
    assert again.digest_of("/a", old) == "abc"
    assert again.digest_of("/a", Stamp(1, 2, 3, 5)) == ""
    assert again.digest_of("/b", Stamp.of(os.stat(file))) == ""
    again.keep_digests({"other"})
    assert again.digest_of("/a", old) == ""
