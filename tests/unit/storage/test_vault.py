"""The vault's folder: making, taking over, refusing, and where each thing lies."""

from __future__ import annotations

import json
import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.accounts import as_nobody, needs_root
from memoranda.core.addresses import SHARED, Scope, parse_address, parse_scope
from memoranda.core.errors import (
    BadName,
    OutsideVault,
    UsageError,
    VaultError,
    VaultFormat,
    VaultReadOnly,
    VaultUnreadable,
)
from memoranda.core.names import is_category, is_conflict_copy
from memoranda.storage.vault import FORMAT, VaultFolder, _as_written, _is_plain, read_format

NFC, NFD = (unicodedata.normalize(form, "café") for form in ("NFC", "NFD"))


def opened(root: Path | str, *, create: bool = True) -> VaultFolder:
    return VaultFolder(str(root), create=create)


def relatives(vault: VaultFolder, address: str) -> list[str]:
    return [relative for relative, _ in vault.category_files(parse_address(address))]


def make(path: Path, data: bytes = b"") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


class TestMaking:
    """A vault is made where there is none, and one that is there is taken as it is."""

    def test_makes_it_private(self, tmp_path: Path) -> None:
        umask = os.umask(0)
        try:
            vault = opened(tmp_path / "a" / "vault")
        finally:
            os.umask(umask)
        root = tmp_path / "a" / "vault"
        assert vault.is_new
        assert json.loads((root / "vault.json").read_bytes()) == {"format": FORMAT, "id": vault.id}
        assert ".cache/" in (root / ".gitignore").read_text()
        for path in (root, root / "memory", root.parent):
            assert path.stat().st_mode & 0o777 == 0o700
        for path in (root / "vault.json", root / ".gitignore"):
            assert path.stat().st_mode & 0o777 == 0o600
        assert sorted(p.name for p in root.iterdir()) == [".gitignore", "memory", "vault.json"]

    def test_finds_it_again(self, tmp_path: Path) -> None:
        first = opened(tmp_path / "vault")
        again = opened(tmp_path / "vault", create=False)
        assert (again.id, again.is_new) == (first.id, False)

    def test_takes_over_a_folder(self, tmp_path: Path) -> None:
        make(tmp_path / "memory" / "likes.md", b"# mine\n")
        make(tmp_path / "README.md", b"mine too")
        tmp_path.chmod(0o755)
        vault = opened(tmp_path)
        assert vault.is_new
        assert not (tmp_path / ".gitignore").exists()
        assert (tmp_path / "memory" / "likes.md").read_bytes() == b"# mine\n"
        assert tmp_path.stat().st_mode & 0o777 == 0o755

    def test_makes_nothing_when_told_not_to(self, tmp_path: Path) -> None:
        with pytest.raises(VaultUnreadable, match="memoranda init"):
            opened(tmp_path / "vault", create=False)
        with pytest.raises(VaultUnreadable, match="memoranda init"):
            opened(tmp_path, create=False)
        assert list(tmp_path.iterdir()) == []

    def test_reads_a_folder_of_markdown_without_making_anything(self, tmp_path: Path) -> None:
        make(tmp_path / "memory" / "likes.md")
        vault = opened(tmp_path, create=False)
        vault.require_present()
        assert vault.id == ""
        assert not (tmp_path / "vault.json").exists()

    def test_two_processes_make_one(self, tmp_path: Path) -> None:
        """Whoever is second finds the vault of whoever was first, with its id."""
        ready, go = os.pipe()
        out, told = os.pipe()
        children = []
        for _ in range(4):
            child = os.fork()
            if child == 0:
                os.close(go)
                os.read(ready, 1)
                os.write(told, opened(tmp_path / "vault").id.encode() + b"\n")
                os._exit(0)
            children.append(child)
        os.close(ready)
        os.close(go)
        for child in children:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        os.close(told)
        ids = set(os.read(out, 1000).decode().split())
        os.close(out)
        assert ids == {opened(tmp_path / "vault").id}
        assert [p.name for p in (tmp_path / "vault").iterdir() if p.name.endswith(".tmp")] == []

    def test_second_of_two(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from memoranda.storage import vault as module

        real = module.create_only

        def slower(temporary: str, path: str) -> None:
            make(Path(path), b'{"format": 1, "id": "theirs"}')
            real(temporary, path)

        monkeypatch.setattr(module, "create_only", slower)
        vault = opened(tmp_path / "vault")
        assert (vault.id, vault.is_new) == ("theirs", False)

    def test_a_home_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        assert opened("~/memory").root == str(tmp_path.resolve() / "memory")

    def test_a_vault_that_is_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "real")
        vault = opened(tmp_path / "link")
        assert vault.root == str((tmp_path / "real").resolve())
        assert vault.category_files(parse_address("likes"))[0][1].startswith(vault.root)


class TestRefusing:
    """What cannot be a vault says why."""

    @pytest.mark.parametrize("root", ["", "  ", "a\0b"])
    def test_no_path(self, root: str) -> None:
        with pytest.raises(UsageError, match="a vault is a folder"):
            opened(root)

    @pytest.mark.parametrize("create", [True, False])
    def test_a_file(self, create: bool, tmp_path: Path) -> None:
        make(tmp_path / "vault")
        with pytest.raises(VaultUnreadable, match="not a folder"):
            opened(tmp_path / "vault", create=create)
        with pytest.raises(VaultUnreadable, match="not a folder"):
            opened(tmp_path / "vault" / "below", create=create)

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ('{"format": 2, "id": "x"}', "has format 2.*upgrade"),
            ('{"format": 0}', "memoranda migrate"),
            ('{"format": true}', "does not say"),
            ('{"format": "1"}', "does not say"),
            ('{"format": 1.0}', "does not say"),
            ("{}", "does not say"),
            ("[]", "does not say"),
            ("", "does not say"),
            ('{"format": 1', "does not say"),
            ("[" * 100_000, "does not say"),
            ("\xff", "does not say"),
        ],
    )
    @pytest.mark.parametrize("create", [True, False])
    def test_another_format(self, text: str, said: str, create: bool, tmp_path: Path) -> None:
        make(tmp_path / "vault.json", text.encode("latin-1"))
        with pytest.raises(VaultFormat, match=said):
            opened(tmp_path, create=create)
        assert (tmp_path / "vault.json").read_bytes() == text.encode("latin-1")

    def test_unknown_keys_are_no_fault(self, tmp_path: Path) -> None:
        make(tmp_path / "vault.json", b'{"format": 1, "made_by": "hand"}')
        assert opened(tmp_path).id == ""
        assert read_format(str(tmp_path)) == {"format": 1, "made_by": "hand"}

    def test_a_pipe_is_not_waited_for(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "vault.json")
        with pytest.raises(VaultUnreadable):
            opened(tmp_path)

    @needs_root
    @pytest.mark.usefixtures("reachable")
    def test_without_permission(self, tmp_path: Path) -> None:
        """Case D4: what may not be read is neither empty nor absent."""
        root = tmp_path / "vault"
        opened(root)
        os.chmod(root, 0o000)

        def refused() -> None:
            for create in (True, False):
                with pytest.raises(VaultUnreadable, match="Permission denied"):
                    opened(root, create=create)

        as_nobody(refused)
        os.chmod(tmp_path, 0o700)

        def refused_above() -> None:
            with pytest.raises(VaultUnreadable, match="Permission denied"):
                opened(root, create=False)

        as_nobody(refused_above)

    @needs_root
    @pytest.mark.usefixtures("reachable")
    def test_where_nothing_can_be_made(self, tmp_path: Path) -> None:

        def refused() -> None:
            with pytest.raises(VaultReadOnly):
                opened(tmp_path / "vault")

        as_nobody(refused)

    def test_gone_while_open(self, tmp_path: Path) -> None:
        """An unmounted disk leaves an empty folder: that is no vault without memories."""
        vault = opened(tmp_path / "vault")
        vault.require_present()
        os.rename(tmp_path / "vault", tmp_path / "away")
        (tmp_path / "vault").mkdir()
        with pytest.raises(VaultUnreadable, match="any more"):
            vault.require_present()
        os.rmdir(tmp_path / "vault")
        make(tmp_path / "vault")
        with pytest.raises(VaultUnreadable):
            vault.require_present()


class TestWhere:
    """Which file holds a category."""

    @pytest.mark.parametrize(
        ("address", "relative"),
        [
            ("likes", "memory/likes.md"),
            ("work/rules", "memory/work/rules.md"),
            ("user/lin/likes", "users/lin/memory/likes.md"),
            ("agent/scout/work/rules", "agents/scout/memory/work/rules.md"),
            ("project/apollo/decisions", "projects/apollo/memory/decisions.md"),
            ("喜欢", "memory/喜欢.md"),
        ],
    )
    def test_where_it_would_be_created(self, address: str, relative: str, tmp_path: Path) -> None:
        vault = opened(tmp_path)
        path = str(tmp_path.resolve() / relative)
        assert vault.category_files(parse_address(address)) == [(relative, path)]
        assert vault.absolute(relative) == path
        assert vault.relative(path) == relative
        assert str(vault.address_at(relative)) == address

    @pytest.mark.parametrize("there", ["Likes.md", "LIKES.MD", "likes.md"])
    def test_case_does_not_count(self, there: str, tmp_path: Path) -> None:
        vault = opened(tmp_path)
        make(tmp_path / "memory" / there)
        assert relatives(vault, "likes") == [f"memory/{there}"]
        assert relatives(vault, "LIKES") == [f"memory/{there}"]

    def test_nor_do_unicode_forms(self, tmp_path: Path) -> None:
        """Case D13: one category, wherever its items are."""
        vault = opened(tmp_path)
        make(tmp_path / "memory" / f"{NFD}.md")
        assert relatives(vault, NFC) == [f"memory/{NFD}.md"]
        make(tmp_path / "memory" / f"{NFC}.md")
        assert relatives(vault, NFD) == [f"memory/{NFC}.md", f"memory/{NFD}.md"]

    def test_twins_at_every_level(self, tmp_path: Path) -> None:
        vault = opened(tmp_path)
        for user in (NFC, NFD):
            for folder in ("Work", "work"):
                make(tmp_path / "users" / user / "memory" / folder / "rules.md")
        found = relatives(vault, f"user/{NFC}/work/rules")
        assert found[0] == f"users/{NFC}/memory/work/rules.md"
        assert len(found) == len(set(found)) == 4

    def test_a_new_file_goes_where_its_folder_is(self, tmp_path: Path) -> None:
        vault = opened(tmp_path)
        make(tmp_path / "memory" / "Work" / "rules.md")
        assert relatives(vault, "work/other") == ["memory/Work/other.md"]
        (tmp_path / "users" / NFD).mkdir(parents=True)
        make(tmp_path / "users" / NFC / "memory" / "a.md")
        assert relatives(vault, f"user/{NFC}/b") == [f"users/{NFC}/memory/b.md"]

    def test_a_folder_is_no_category(self, tmp_path: Path) -> None:
        vault = opened(tmp_path)
        (tmp_path / "memory" / "likes.md").mkdir()
        with pytest.raises(BadName, match="is a folder"):
            vault.category_files(parse_address("likes"))
        make(tmp_path / "memory" / "work")
        with pytest.raises(BadName, match="is a file"):
            vault.category_files(parse_address("work/rules"))

    @needs_root
    @pytest.mark.usefixtures("reachable")
    def test_a_closed_folder_is_said(self, tmp_path: Path) -> None:
        vault = opened(tmp_path)
        os.chmod(tmp_path / "memory", 0o000)

        def refused() -> None:
            with pytest.raises(VaultUnreadable):
                vault.category_files(parse_address("likes"))

        as_nobody(refused)

    @pytest.mark.parametrize("relative", ["", "memory", "memory/likes", "docs/x/y.md", "users/lin/likes.md", "x.md"])
    def test_what_is_no_category(self, relative: str, tmp_path: Path) -> None:
        assert opened(tmp_path).address_at(relative) is None

    @pytest.mark.parametrize(
        "relative",
        ["memory/../../x.md", "memory/../likes.md", "memory/a/../../../x.md", "users/../memory/x.md", "memory//x.md"],
    )
    def test_no_path_leads_out(self, relative: str, tmp_path: Path) -> None:
        address = opened(tmp_path).address_at(relative)
        assert address is None or ".." in str(address.scope)

    def test_names_that_cannot_be_addressed(self, tmp_path: Path) -> None:
        vault = opened(tmp_path)
        root = vault.memory_root(SHARED)
        for name in ("CON", "a|b", "user/x", "x ^y", "a#b"):
            assert vault.address_of(root, f"memory/{name}.md") is None

    @settings(deadline=None)
    @given(st.text("aB0-_. (/", max_size=12) | st.sampled_from(["con", "lpt1", "a_conflict-1", "A_CONFLICT-2"]))
    def test_a_plain_name_has_the_address_that_the_rules_for_names_give(self, name: str) -> None:
        """Most names are too plain for any of the rules: they are not asked."""
        if _is_plain(name):
            assert is_category(name) == is_category(name, shared=False) == name
            assert not is_conflict_copy(f"{name}.md")


class TestLinks:
    """A symbolic link that leaves the vault is not followed."""

    @pytest.fixture
    def vault(self, tmp_path: Path) -> VaultFolder:
        make(tmp_path / "outside" / "secret.md", b"kept")
        return opened(tmp_path / "vault")

    @pytest.mark.parametrize("link", ["memory/likes.md", "memory/work", "users", "users/lin", "users/lin/memory"])
    @pytest.mark.parametrize("there", [True, False])
    def test_out_of_the_vault(self, link: str, there: bool, vault: VaultFolder, tmp_path: Path) -> None:
        path = tmp_path / "vault" / link
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(tmp_path / "outside" / ("secret.md" if link.endswith(".md") else "") if there else "/nowhere/x")
        address = {"m": "work/rules", "u": "user/lin/likes"}[link[0]] if not link.endswith(".md") else "likes"
        with pytest.raises((OutsideVault, BadName)):
            vault.category_files(parse_address(address))

    def test_within_the_vault(self, vault: VaultFolder, tmp_path: Path) -> None:
        make(tmp_path / "vault" / "notes" / "likes.md")
        (tmp_path / "vault" / "memory" / "likes.md").symlink_to("../notes/likes.md")
        assert relatives(vault, "likes") == ["memory/likes.md"]
        (tmp_path / "vault" / "memory" / "work").symlink_to("../notes")
        assert relatives(vault, "work/likes") == ["memory/work/likes.md"]

    def test_to_another_category(self, vault: VaultFolder, tmp_path: Path) -> None:
        """One file has one name: what is written under the other would be looked for in vain."""
        make(tmp_path / "vault" / "memory" / "work" / "rules.md")
        (tmp_path / "vault" / "memory" / "likes.md").symlink_to("work/rules.md")
        (tmp_path / "vault" / "memory" / "job").symlink_to("work")
        for address in ("likes", "job/rules"):
            with pytest.raises(BadName, match=r"link to work/rules\.md"):
                vault.category_files(parse_address(address))
        make(tmp_path / "vault" / "users" / "lin" / "memory" / "a.md")
        (tmp_path / "vault" / "users" / "lin" / "memory" / "b.md").symlink_to("a.md")
        with pytest.raises(BadName, match=r"link to a\.md"):
            vault.category_files(parse_address("user/lin/b"))

    @pytest.mark.parametrize(
        ("scope", "target", "is_own"),
        [
            ("user/lin", "users/Lin/notes/x.md", True),
            ("user/lin", "users/ana/memory/x.md", False),
            ("user/lin", "projects/lin/memory/x.md", False),
            ("user/lin", "memory/x.md", True),
            ("user/lin", "notes/x.md", True),
            ("user/lin", "resources/2026-07/x.jsonl", False),
            ("user/lin", "history/2026-07.jsonl", False),
            ("user/lin", "journal.jsonl", False),
            ("shared", "users/lin/memory/x.md", False),
            ("shared", "vault.json", True),
        ],
    )
    def test_a_scope_has_its_own_and_what_is_nobodys(
        self, scope: str, target: str, is_own: bool, vault: VaultFolder
    ) -> None:
        path = vault.path(target)
        if is_own:
            assert vault.check_own(path, target, parse_scope(scope)) == path
        else:
            with pytest.raises(OutsideVault, match="neither read nor written"):
                vault.check_own(path, target, parse_scope(scope))

    def test_names_that_begin_alike_are_not_inside(self, tmp_path: Path) -> None:
        vault = opened(tmp_path / "vault")
        make(tmp_path / "vault-2" / "x.md")
        with pytest.raises(OutsideVault):
            vault.check_inside(str(tmp_path / "vault-2" / "x.md"), "x")
        assert vault.relative(str(tmp_path / "vault-2" / "x.md")).endswith("vault-2/x.md")
        assert vault.check_inside(vault.root, "the vault") == vault.root


class TestProjects:
    """A project's memory may lie in its own repository."""

    @pytest.fixture
    def vault(self, tmp_path: Path) -> VaultFolder:
        make(tmp_path / "vault" / "memoranda.toml", b'[projects.Apollo]\npath = "../apollo"\n')
        make(tmp_path / "vault" / "vault.json", b'{"format": 1, "id": "x"}')
        return opened(tmp_path / "vault")

    def test_where(self, vault: VaultFolder, tmp_path: Path) -> None:
        path = str(tmp_path.resolve() / "apollo" / "memory" / "work" / "rules.md")
        relative = "projects/Apollo/memory/work/rules.md"
        assert vault.category_files(parse_address("project/apollo/work/rules")) == [(relative, path)]
        assert vault.absolute(relative) == path
        assert str(vault.address_at(relative)) == "project/Apollo/work/rules"
        make(Path(path))
        assert vault.check_inside(path, relative) == path

    def test_one_in_the_vault_of_the_same_name_is_not_a_second(self, vault: VaultFolder, tmp_path: Path) -> None:
        make(tmp_path / "apollo" / "memory" / "a.md")
        make(tmp_path / "vault" / "projects" / "apollo" / "memory" / "b.md")
        make(tmp_path / "vault" / "projects" / "zeus" / "memory" / "c.md")
        roots = [root.prefix for root in vault.memory_roots(lambda *_: None)]
        assert roots == ["memory", "projects/zeus/memory", "projects/Apollo/memory"]

    def test_a_folder_is_its_projects_alone(self, vault: VaultFolder, tmp_path: Path) -> None:
        path = str(tmp_path.resolve() / "apollo/memory/x.md")
        assert vault.check_own(path, "x", Scope("project", "apollo")) == path
        for other in (SHARED, Scope("project", "zeus"), Scope("user", "apollo")):
            with pytest.raises(OutsideVault, match="of project/Apollo"):
                vault.check_own(path, "x", other)

    def test_scopes_by_name(self, vault: VaultFolder) -> None:
        assert vault.memory_root(Scope("project", "APOLLO")).scope == Scope("project", "Apollo")
        assert vault.memory_root(Scope("project", "zeus")).prefix == "projects/zeus/memory"


def test_failures_of_the_disk_are_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "mkdir", refused)
    with pytest.raises(VaultError, match="no room"):
        opened(tmp_path / "vault")


@settings(deadline=None)
@given(
    st.binary(max_size=60)
    | st.text("0aZ-é", max_size=16).map(lambda text: f'{{"format": 1, "id": "{text}"}}\n'.encode())
)
def test_what_is_read_without_json_is_what_json_reads(data: bytes) -> None:
    found = _as_written(data)
    assert found is None or found == json.loads(data)


def test_what_this_program_writes_is_read_without_json(tmp_path: Path) -> None:
    vault = opened(tmp_path / "v")
    data = (tmp_path / "v/vault.json").read_bytes()
    assert _as_written(data) == json.loads(data) == {"format": FORMAT, "id": vault.id}
