from __future__ import annotations

import json
from pathlib import Path

import pytest

from memoranda.bootstrap import Vault, default_vault, migrate
from memoranda.core.errors import VaultFormat, VaultReadOnly, VaultUnreadable
from observing import as_nobody, memory_bytes, tree_bytes, write


def test_status_counts(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "one")
    vault.remember("user/lin/d:b", "two [[gone:x]]")
    vault.import_turns([{"conversation": c, "turn": 1, "text": "hello"} for c in ("s", "t")])
    status = vault.status()
    assert json.loads(json.dumps(status.as_dict())) == {
        "root": str(root),
        "id": vault.id,
        "format": 1,
        "scopes": ["shared", "user/lin"],
        "categories": 2,
        "items": 2,
        "conversations": 2,
        "turns": 2,
        "changes": 4,
        "last_change": "2026-07-10T02:00:00Z",
        "torn": 0,
        "problems": 1,
        "queued": 0,
        "parked": 0,
        "waiting_for": "",
        "open_choices": 0,
    }


def test_export_holds_everything(vault: Vault) -> None:
    vault.remember("c:a", "one [[c:b]]", owner="user:lin")
    vault.import_turns([{"conversation": "t", "turn": n, "text": f"turn {n}", "mood": "glad"} for n in (1, 2)])
    vault.forget("turn/t#2")
    rows = [json.loads(json.dumps(row)) for row in vault.export()]
    assert [(r["kind"], r.get("address") or r["turn"]) for r in rows] == [("item", "c:a"), ("turn", "1")]
    assert rows[0]["links"] == ["c:b"]
    assert rows[0]["metadata"]["owner"] == "user:lin"
    assert rows[1]["mood"] == "glad"


def test_reindex_makes_the_same_again(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "tea")
    before = (memory_bytes(root), vault.retrieve("tea").hits)
    (root / ".cache/rubbish").write_text("x")
    status = vault.reindex()
    assert not (root / ".cache/rubbish").exists()
    assert status.items == 1
    assert (memory_bytes(root), vault.retrieve("tea").hits) == before
    assert (root / "MEMORY.md").exists()


def test_reindex_of_what_cannot_be_read_throws_nothing_away(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "tea")
    cache = tree_bytes(root, ".cache")
    (root / "memory").rename(root / "elsewhere")
    (root / "memory").write_text("a file")
    with pytest.raises(VaultUnreadable):
        vault.reindex()
    assert tree_bytes(root, ".cache") == cache


def test_bare_folder_becomes_a_vault(tmp_path: Path) -> None:
    write(tmp_path, "memory/c.md", "## a\n\none\n")
    assert migrate(str(tmp_path)) == ["wrote vault.json (format 1)"]
    assert migrate(str(tmp_path)) == []
    with Vault.open(tmp_path, create=False) as vault:
        assert [i.text for i in vault.items()] == ["one"]


def test_broken_description_is_set_aside(tmp_path: Path) -> None:
    write(tmp_path, "memory/c.md", "## a\n\none\n")
    write(tmp_path, "vault.json", '{"format": ')
    with pytest.raises(VaultFormat, match="migrate"):
        Vault.open(tmp_path)
    assert len(migrate(str(tmp_path))) == 2
    assert (tmp_path / "vault.json.broken").read_text() == '{"format": '
    with Vault.open(tmp_path) as vault:
        assert [i.text for i in vault.items()] == ["one"]


@pytest.mark.parametrize("version", [2, 99])
def test_newer_format_is_refused(tmp_path: Path, version: int) -> None:
    write(tmp_path, "vault.json", json.dumps({"format": version, "id": "x"}))
    before = tree_bytes(tmp_path)
    for attempt in (lambda: Vault.open(tmp_path), lambda: migrate(str(tmp_path))):
        with pytest.raises(VaultFormat, match=f"format {version}"):
            attempt()
    assert tree_bytes(tmp_path) == before


def test_format_that_never_was(tmp_path: Path) -> None:
    write(tmp_path, "vault.json", '{"format": -1}')
    with pytest.raises(VaultFormat):
        migrate(str(tmp_path))


def test_nothing_to_migrate(tmp_path: Path) -> None:
    with pytest.raises(VaultUnreadable, match="no vault"):
        migrate(str(tmp_path / "absent"))


def test_migrate_where_nothing_may_be_written(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    write(root, "vault.json", "broken")
    for folder in (root, *root.parents):
        if str(folder).startswith("/tmp/"):
            folder.chmod(0o755)

    def attempt() -> None:
        with pytest.raises(VaultReadOnly):
            migrate(str(root))

    as_nobody(attempt)


def test_default_vault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/lin")
    monkeypatch.delenv("MEMORANDA_VAULT", raising=False)
    assert default_vault() == "/home/lin/memoranda"
    monkeypatch.setenv("MEMORANDA_VAULT", "/data/memory")
    assert default_vault() == "/data/memory"
