"""One look at the vault: what there is, what is wrong, and what cannot be told."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.accounts import as_nobody, needs_root
from fakes.editor import save
from memoranda.core.errors import VaultUnreadable
from memoranda.storage.snapshot import Snapshot, scan
from memoranda.storage.store import Storage


@pytest.fixture
def look(storage: Storage) -> Callable[[], Snapshot]:
    return lambda: scan(storage.vault)


def problems(snapshot: Snapshot) -> dict[str, str]:
    return {problem.path: problem.kind for problem in snapshot.problems}


def open_to_all(path: Path) -> None:
    path.chmod(0o755)


def test_everything_of_every_scope(look: Callable[[], Snapshot], root: Path) -> None:
    names = ["memory/likes.md", "memory/work/a/rules.MD", "users/lin/memory/x.md", "agents/scout/memory/x.md"]
    names += ["projects/apollo/memory/x.md", "memory/🐘.md", "memory/喜欢.md"]
    for name in names:
        save(root / name, b"# x\n")
    for other in ("memory/notes.txt", "memory/.hidden.md", "memory/.git/x.md", "users/x.md", "users/.lin/memory/x.md"):
        save(root / other, b"")
    (root / "users" / "empty").mkdir()
    found = look()
    assert sorted(found.files) == sorted(names)
    assert found.problems == []
    assert str(found.files["agents/scout/memory/x.md"].address) == "agent/scout/x"
    assert found.files["memory/likes.md"].stamp.size == 4


def test_a_save_by_renaming_is_seen(look: Callable[[], Snapshot], memory: Path) -> None:
    """Case D17."""
    save(memory / "likes.md", b"one")
    before = look().files["memory/likes.md"].stamp
    save(memory / "likes.md", b"two")
    assert look().files["memory/likes.md"].stamp != before


@needs_root
@pytest.mark.usefixtures("reachable")
def test_a_closed_folder_is_unknown_and_the_rest_is_there(look: Callable[[], Snapshot], root: Path) -> None:
    """Case D17: what may not be looked at is not gone."""
    closed = ["memory/closed", "users", "agents/scout", "projects/apollo/memory"]
    inside = ["memory/closed/deep/a.md", "users/lin/memory/a.md", "agents/scout/memory/a.md"]
    inside.append("projects/apollo/memory/a.md")
    for name in (*inside, "memory/open.md", "agents/other/memory/b.md"):
        save(root / name, b"")
    for name in closed:
        (root / name).chmod(0o000)
    for name in ("", "memory", "agents", "projects", "agents/other", "agents/other/memory", "projects/apollo"):
        (root / name).chmod(0o755)
    open_to_all(root)
    (root / "vault.json").chmod(0o644)

    def looking() -> None:
        found = look()
        assert sorted(found.files) == ["agents/other/memory/b.md", "memory/open.md"]
        assert all(found.is_unknown(name) for name in inside)
        assert not found.is_unknown("memory/other.md")
        assert not found.is_unknown("memory/closed2/a.md")
        assert set(problems(found)) == set(closed)
        assert set(problems(found).values()) == {"unreadable"}

    as_nobody(looking)


@needs_root
@pytest.mark.usefixtures("reachable")
def test_a_folder_that_lists_but_does_not_open(look: Callable[[], Snapshot], root: Path) -> None:
    save(root / "memory/listed/a.md", b"")
    save(root / "memory/listed/b/c.md", b"")
    (root / "memory/listed").chmod(0o744)
    (root / "memory").chmod(0o755)
    open_to_all(root)

    def looking() -> None:
        found = look()
        assert found.files == {}
        assert found.is_unknown("memory/listed/a.md")
        assert found.is_unknown("memory/listed/b/c.md")

    as_nobody(looking)


@needs_root
@pytest.mark.usefixtures("reachable")
@pytest.mark.parametrize("closed", [".", "memory"])
def test_an_unreadable_vault_is_not_an_empty_one(closed: str, look: Callable[[], Snapshot], root: Path) -> None:
    """Case D4."""
    for n in range(50):
        save(root / f"memory/{n}.md", b"")
    open_to_all(root)
    (root / closed).chmod(0o000)

    def looking() -> None:
        with pytest.raises(VaultUnreadable):
            look()

    as_nobody(looking)


def test_shared_memory_that_is_a_file(look: Callable[[], Snapshot], root: Path) -> None:
    (root / "memory").rmdir()
    (root / "memory").write_bytes(b"")
    with pytest.raises(VaultUnreadable):
        look()


def test_no_memory_yet(look: Callable[[], Snapshot], root: Path) -> None:
    (root / "memory").rmdir()
    assert look().files == {}
    assert look().problems == []


def test_a_vault_that_is_gone(look: Callable[[], Snapshot], root: Path) -> None:
    (root / "vault.json").unlink()
    with pytest.raises(VaultUnreadable):
        look()


class TestProblems:
    """What is there and is no category is said, and the rest goes on."""

    @pytest.fixture(autouse=True)
    def _good(self, memory: Path) -> None:
        save(memory / "good.md", b"")

    @pytest.mark.parametrize(
        "name",
        [
            "likes.sync-conflict-20260710-030000-ABCDEFG.md",
            "likes (Lin's conflicted copy 2026-07-10).md",
            "likes (conflicted copy 2026-07-10 030000).md",
            "likes (冲突副本 2026-07-10).md",
            "likes (Lin 的冲突副本 2026-07-10).md",
            "likes_conflict-20260710.md",
            "likes.conflict-0123abcd.md",
            "recovered.conflict-0123abcd.md",
        ],
    )
    def test_second_copies(self, name: str, look: Callable[[], Snapshot], memory: Path) -> None:
        save(memory / name, b"")
        assert list(look().files) == ["memory/good.md"]
        assert problems(look()) == {f"memory/{name}": "sync-conflict"}

    @pytest.mark.parametrize("name", ["conflict.md", "conflicts (old).md", "sync.md", "like.conflicts.md"])
    def test_names_that_only_sound_like_it(self, name: str, look: Callable[[], Snapshot], memory: Path) -> None:
        save(memory / name, b"")
        assert f"memory/{name}" in look().files

    @pytest.mark.parametrize("name", ["CON.md", "a|b.md", "a#b.md", "a:b.md", "a^b.md", "x\u2028y.md", "a[b].md"])
    def test_names_that_no_address_can_hold(self, name: str, look: Callable[[], Snapshot], memory: Path) -> None:
        save(memory / name, b"")
        assert list(look().files) == ["memory/good.md"]
        assert problems(look()) == {f"memory/{name}": "name"}

    def test_reserved_first_folders(self, look: Callable[[], Snapshot], root: Path) -> None:
        save(root / "memory/user/x.md", b"")
        save(root / "users/lin/memory/user/x.md", b"")
        assert problems(look()) == {"memory/user/x.md": "name"}
        assert "users/lin/memory/user/x.md" in look().files

    def test_a_name_that_is_not_utf_8(self, look: Callable[[], Snapshot], memory: Path) -> None:
        for name in (b"caf\xe9.md", b"\xe9/x.md"):
            path = os.path.join(os.fsencode(memory), name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb"):
                pass
        found = look()
        assert list(found.files) == ["memory/good.md"]
        assert problems(found) == {"memory/caf\\xe9.md": "name", "memory/\\xe9/x.md": "name"}
        assert all(problem.path.isascii() and "UTF-8" in problem.message for problem in found.problems)

    @pytest.mark.parametrize("kind", ["users", "agents", "projects"])
    def test_an_owner_no_address_can_hold(self, kind: str, look: Callable[[], Snapshot], root: Path) -> None:
        save(root / kind / "a:b" / "memory" / "x.md", b"")
        assert list(look().files) == ["memory/good.md"]
        assert problems(look()) == {f"{kind}/a:b": "name"}

    def test_what_is_no_file(self, look: Callable[[], Snapshot], memory: Path) -> None:
        os.mkfifo(memory / "pipe.md")
        (memory / "folder.md").mkdir()
        save(memory / "folder.md" / "x.md", b"")
        (memory / "dangling.md").symlink_to("nothing.md")
        found = look()
        assert sorted(found.files) == ["memory/folder.md/x.md", "memory/good.md"]
        assert problems(found) == {"memory/pipe.md": "not-a-file", "memory/dangling.md": "dangling"}

    def test_unicode_twins_are_two_files_of_one_category(self, look: Callable[[], Snapshot], memory: Path) -> None:
        """Case D13."""
        for form in ("NFC", "NFD"):
            save(memory / f"{unicodedata.normalize(form, 'café')}.md", b"")
        twins = [file.address.key for path, file in look().files.items() if "caf" in path]
        assert len(twins) == 2
        assert twins[0] == twins[1]


class TestLinks:
    """Links are followed within the vault, count once, and never go round."""

    def test_loops_end(self, look: Callable[[], Snapshot], memory: Path) -> None:
        """Case D17."""
        save(memory / "a" / "x.md", b"")
        for name, target in (("here", "."), ("a/up", ".."), ("a/self", "../a"), ("self.md", "self.md")):
            (memory / name).symlink_to(target)
        found = look()
        assert sorted(found.files) == ["memory/a/x.md"]
        assert set(problems(found)) == {"memory/here", "memory/a/up", "memory/a/self", "memory/self.md"}

    def test_many_folders_that_lead_to_each_other(self, look: Callable[[], Snapshot], memory: Path) -> None:
        names = [f"f{n}" for n in range(12)]
        for name in names:
            save(memory / name / "x.md", b"")
            for other in names:
                (memory / name / f"to-{other}").symlink_to(f"../{other}")
        assert sorted(look().files) == sorted(f"memory/{name}/x.md" for name in names)

    def test_what_has_a_name_of_its_own_counts_under_that(self, look: Callable[[], Snapshot], memory: Path) -> None:
        save(memory / "z" / "x.md", b"")
        (memory / "a").symlink_to("z")
        (memory / "b.md").symlink_to("z/x.md")
        found = look()
        assert list(found.files) == ["memory/z/x.md"]
        assert problems(found) == {"memory/a": "loop", "memory/b.md": "alias"}

    def test_memory_of_others_counts_as_theirs(self, look: Callable[[], Snapshot], root: Path) -> None:
        save(root / "users/lin/memory/x.md", b"")
        (root / "memory/lin").symlink_to("../users/lin/memory")
        assert list(look().files) == ["users/lin/memory/x.md"]

    def test_elsewhere_in_the_vault(self, look: Callable[[], Snapshot], root: Path) -> None:
        save(root / "notes/deep/x.md", b"")
        (root / "notes/y.md").write_bytes(b"")
        (root / "notes/back").symlink_to("../notes")
        (root / "memory/notes").symlink_to("../notes")
        (root / "memory/y.md").symlink_to("../vault.json")
        found = look()
        assert sorted(found.files) == ["memory/notes/deep/x.md", "memory/notes/y.md", "memory/y.md"]
        assert problems(found) == {"memory/notes/back": "loop"}

    @pytest.mark.parametrize("link", ["memory/out.md", "memory/out", "users/lin/memory", "users/lin"])
    def test_out_of_the_vault(self, link: str, look: Callable[[], Snapshot], root: Path) -> None:
        outside = root.parent / "outside"
        save(outside / "memory/x.md", b"secret")
        path = root / link
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(outside / "memory/x.md" if link.endswith(".md") else outside)
        found = look()
        assert found.files == {}
        shown = "users/lin/memory" if link == "users/lin" else link
        assert problems(found) == {shown: "outside"}
        assert found.is_unknown(f"{shown}/x.md")


def test_a_project_that_is_not_mounted_is_unknown(
    root: Path, open_storage: Callable[[], Storage], storage: Storage
) -> None:
    save(root / "memoranda.toml", b'[projects.apollo]\npath = "../apollo"\n')
    save(root.parent / "apollo/memory/x.md", b"")
    vault = open_storage().vault
    assert list(scan(vault).files) == ["projects/apollo/memory/x.md"]
    os.rename(root.parent / "apollo", root.parent / "away")
    found = scan(vault)
    assert found.files == {}
    assert found.is_unknown("projects/apollo/memory/x.md")
    (root.parent / "apollo").mkdir()
    assert not scan(vault).is_unknown("projects/apollo/memory/x.md")


def test_what_goes_while_one_looks_is_gone(
    look: Callable[[], Snapshot], memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(memory / "a" / "x.md", b"")
    save(memory / "b.md", b"")
    real = os.scandir

    def slow(path: str) -> object:
        if path.endswith("/a"):
            (memory / "a" / "x.md").unlink()
            (memory / "a").rmdir()
        listing = real(path)
        if path.endswith("/memory"):
            (memory / "b.md").unlink()
        return listing

    monkeypatch.setattr(os, "scandir", slow)
    found = look()
    assert (found.files, found.problems, found.unreadable) == ({}, [], [])
