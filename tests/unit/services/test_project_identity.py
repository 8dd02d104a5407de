"""Which project a folder is: one for all clones and worktrees, and nothing that a hostile file could make a path."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from memoranda.core.errors import BadName, MemorandaError, NotFound, UsageError, VaultReadOnly, VaultUnreadable
from memoranda.core.names import check_identifier
from memoranda.services import project_identity
from memoranda.services.git_remotes import local_path, plain_url
from memoranda.services.project_identity import ProjectIdentity, identify

URL = "https://example.org/team/shop.git"
SECRET = "Tr0ub4dor"


@pytest.fixture
def git(tmp_path: Path) -> Callable[..., str]:
    """Runs git in a folder."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
    options = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"]

    def run(folder: Path, *words: str) -> str:
        done = subprocess.run(
            ["git", *options, *words], cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=True
        )
        return done.stdout

    return run


@pytest.fixture
def repository(tmp_path: Path, git: Callable[..., str]) -> Path:
    """A repository with one commit and no remote."""
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    return folder


def configured(folder: Path, config: str | bytes) -> Path:
    """A folder that looks to us as a repository with such a config."""
    (folder / ".git").mkdir(parents=True)
    (folder / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git/config").write_bytes(config if isinstance(config, bytes) else config.encode())
    return folder


def with_origin(folder: Path, url: str) -> Path:
    return configured(folder, f'[remote "origin"]\n\turl = {url}\n')


class TestIdFile:
    """``.memoranda-project``."""

    def test_in_the_folder_or_one_above(self, tmp_path: Path) -> None:
        (tmp_path / "a/b").mkdir(parents=True)
        (tmp_path / "a/.memoranda-project").write_bytes("\ufeff商店-1 \r\nwhatever else\n".encode())
        found = ProjectIdentity("商店-1", str(tmp_path / "a"), "id-file")
        assert identify(tmp_path / "a") == identify(tmp_path / "a/b") == found
        (tmp_path / "a/b/.memoranda-project").write_text("inner")
        assert identify(tmp_path / "a/b").id == "inner"

    def test_before_git(self, tmp_path: Path) -> None:
        with_origin(tmp_path / "a", URL)
        (tmp_path / ".memoranda-project").write_text("all")
        assert identify(tmp_path / "a").id == "all"

    def test_made_on_request(self, tmp_path: Path) -> None:
        folder = tmp_path / "My: Shöp (1)"
        folder.mkdir()
        with pytest.raises(NotFound, match="memoranda project --create"):
            identify(folder)
        assert os.listdir(folder) == []
        made = identify(folder, create=True)
        assert made.id.startswith("My--Shöp--1-")
        assert made == identify(folder) == identify(folder, create=True)
        assert os.listdir(folder) == [".memoranda-project"]
        (folder / ".memoranda-project").unlink()
        assert identify(folder, create=True).id != made.id

    def test_two_who_make_one_at_once(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        real = project_identity.create_only

        def late(temporary: str, path: str) -> bool:
            Path(path).write_text("theirs\n")
            return real(temporary, path)

        monkeypatch.setattr(project_identity, "create_only", late)
        assert identify(tmp_path, create=True).id == "theirs"
        assert os.listdir(tmp_path) == [".memoranda-project"]

    @pytest.mark.parametrize(
        "data",
        [
            b"", b"\n\n", b"../x", b"/etc", b"a/b", b"a:b", b"..", b".hidden", b"con", b"\x1b[31mred", b"\xff\xfe\x00x",
            b"a\0b", b"x" * 300, b"x" * (1 << 21), "a\u2028b".encode(), b"a\rb",
        ],
    )  # fmt: skip
    def test_a_hostile_one_is_an_error_in_one_line(self, data: bytes, tmp_path: Path) -> None:
        (tmp_path / ".memoranda-project").write_bytes(data)
        with_origin(tmp_path / "inner", URL)
        for folder in (tmp_path, tmp_path / "inner"):
            with pytest.raises(UsageError) as caught:
                identify(folder, create=True)
            assert str(caught.value).isprintable()
            assert len(str(caught.value)) < 300
        assert (tmp_path / ".memoranda-project").read_bytes() == data

    def test_what_is_no_file(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / ".memoranda-project")
        with pytest.raises(VaultUnreadable):
            identify(tmp_path)
        (tmp_path / "a/.memoranda-project").mkdir(parents=True)
        with pytest.raises(VaultUnreadable):
            identify(tmp_path / "a")

    def test_in_a_folder_open_to_all_only_ones_own_counts(self, tmp_path: Path) -> None:
        if os.geteuid() != 0:
            pytest.skip("needs root, to give a file away")
        (tmp_path / "a").mkdir()
        (tmp_path / ".memoranda-project").write_text("planted")
        tmp_path.chmod(0o777)
        assert identify(tmp_path / "a").id == "planted"
        os.chown(tmp_path / ".memoranda-project", 65534, 65534)
        with pytest.raises(NotFound):
            identify(tmp_path / "a")
        tmp_path.chmod(0o755)
        assert identify(tmp_path / "a").id == "planted"

    @pytest.mark.parametrize("folder", ["", "a\0b", "nowhere"])
    def test_what_is_no_folder(self, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(UsageError, match="folder"):
            identify(folder, create=True)

    def test_where_nothing_may_be_written(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object) -> str:
            raise PermissionError(13, "no", str(tmp_path))

        monkeypatch.setattr(project_identity, "write_temporary", refuse)
        with pytest.raises(VaultReadOnly):
            identify(tmp_path, create=True)


class TestUrls:
    """One repository, however its address is written."""

    @pytest.mark.parametrize(
        "url",
        [
            URL, "https://example.org/team/shop", "https://example.org/team/shop/", "http://EXAMPLE.org:8080/team/shop.git",
            f"https://lin:{SECRET}@example.org/team/shop.git", f"https://{SECRET}@example.org/team/shop.git",
            f"https://example.org/team/shop.git?private_token={SECRET}#x", "ssh://git@example.org:2222/team/shop.git",
            "git@example.org:team/shop.git", "Example.Org:team/shop", f"lin:{SECRET}@example.org:team/shop.git/",
            f"lin:p@{SECRET}@example.org:/team/shop.git", "git://example.org//team//shop.git", "git+ssh://example.org./team/shop",
            '"https://example.org/team/shop.git" ; and a comment', "https://example.org/team/shop.git # comment",
        ],
    )  # fmt: skip
    def test_the_same(self, url: str, tmp_path: Path) -> None:
        found = identify(with_origin(tmp_path / "any", url))
        assert found == ProjectIdentity("shop-eaa2e7d8", str(tmp_path / "any"), "git-remote")

    @pytest.mark.parametrize(
        "url", ["https://example.org/other/shop", "https://example.com/team/shop", "https://example.org/team/Shop",
                "git@example.org:shop", "https://example.org:/team/shop/x"],
    )  # fmt: skip
    def test_another(self, url: str, tmp_path: Path) -> None:
        assert identify(with_origin(tmp_path / "any", url)).id != "shop-eaa2e7d8"

    @pytest.mark.parametrize(
        ("url", "plain"),
        [
            ("ssh://git@[2001:DB8::1]:22/a/b.git", "2001:db8::1/a/b"),
            ("git@[2001:DB8::1]:a/b.git", "2001:db8::1/a/b"),
            ("host:a@b/repo", "host/a@b/repo"),
            (f"https://lin:{SECRET}/x@example.org", "lin/example.org"),
            ("/srv/git/repo/.git", "/srv/git/repo"),
            ("C:\\git\\repo.git", "/C:/git/repo"),
            ("https://example.org", "example.org"),
            ("nothing", "/nothing"),
        ],
    )
    def test_plain_forms(self, url: str, plain: str) -> None:
        assert plain_url(url) == plain

    @pytest.mark.parametrize(
        ("url", "path"),
        [
            ("../x", "/r/../x"), ("/srv/x", "/srv/x"), ("file:///srv/x", "/srv/x"),
            ("FILE://localhost/srv/x", "/srv/x"),
            ("file://", None), ("file:////host/x", None), ("host:x", None), (URL, None), ("//host/x", None),
            ("\\\\host\\x", None), ("ext::sh -c x", None), ("./a:b", "/r/./a:b"),
        ],
    )  # fmt: skip
    def test_which_are_of_this_machine(self, url: str, path: str | None) -> None:
        assert local_path(url, "/r") == path

    @pytest.mark.parametrize(
        ("url", "name"),
        [
            ("https://example.org/..", "project-"), ("https://example.org/a/...git", "project-"),
            ("https://example.org/con.git", "con-"), ("https://example.org/con.x", "project-"),
            ("https://example.org/a b$(id)", "a-b--id-"), ("ext::sh -c 'touch /tmp/x'", "x-"),
            ("https://example.org/" + "喜" * 300, "喜" * 40 + "-"),
            ("https://example.org/ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6", "project-"),
        ],
    )  # fmt: skip
    def test_an_id_is_always_a_name(self, url: str, name: str, tmp_path: Path) -> None:
        found = identify(with_origin(tmp_path / "any", url)).id
        assert found[:-8] == name
        assert check_identifier(found, "a project's id") == found

    @pytest.mark.parametrize(
        "config",
        [
            b"\0" * 100, b"[remote \"origin\"]\nurl = a\x1bb\n", b"[remote \"origin\"]\nurl = \xff\n", b"x" * (1 << 21),
            b'[remote "origin"]\nurl = "a\\nb"\n',
        ],
    )  # fmt: skip
    def test_a_hostile_config_is_an_error_in_one_line(self, config: bytes, tmp_path: Path) -> None:
        with pytest.raises(UsageError) as caught:
            identify(configured(tmp_path / "any", config), create=True)
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 300
        assert not (tmp_path / "any/.git/memoranda-project").exists()

    @pytest.mark.parametrize(
        "config",
        [
            '[Remote "origin"] URL=https://example.org/team/shop.git',
            '[core]\n\tbare = false\n[remote "up\\"stream"]\n\turl = https://x/y\n[remote "origin"]\r\n'
            "\tfetch = +a:b\r\n"
            "\turl = https://example.org/\\\nteam/shop.git\r\n\turl = https://second/x\n",
            "[remote.origin]\n# a comment\nurl = https://example.org/team/shop\n",
        ],
    )
    def test_configs_as_git_reads_them(self, config: str, tmp_path: Path) -> None:
        assert identify(configured(tmp_path / "any", config)).id == "shop-eaa2e7d8"

    @pytest.mark.parametrize(
        "config", ["", '[remote "origin"]\nurl =\n', '[remote "Origin"]\nurl = x\n', "[remote]\nurl = x"]
    )
    def test_no_origin(self, config: str, tmp_path: Path) -> None:
        folder = configured(tmp_path / "any", config)
        with pytest.raises(NotFound, match="no remote called origin"):
            identify(folder)
        made = identify(folder, create=True)
        assert made.how == "git-id-file"
        assert made == identify(folder)


class TestRepositories:
    """With git itself."""

    def test_worktrees_and_folders_within_are_one(self, repository: Path, git: Callable[..., str]) -> None:
        git(repository, "worktree", "add", "-q", "../tree")
        (repository / "deep/er").mkdir(parents=True)
        tree = repository.parent / "tree"
        made = identify(tree, create=True)
        assert (made.root, made.how) == (str(tree), "git-id-file")
        assert made.id.startswith("tree-")
        assert (repository / ".git/memoranda-project").exists()
        assert identify(repository / "deep/er").id == identify(repository).id == made.id
        assert git(repository, "status", "--porcelain") == ""
        git(repository, "remote", "add", "origin", URL)
        assert identify(tree).id == identify(repository).id == "shop-eaa2e7d8"

    def test_clones_are_one(self, repository: Path, git: Callable[..., str], tmp_path: Path) -> None:
        git(tmp_path, "clone", "-q", "--bare", "shop", "bare.git")
        git(tmp_path, "clone", "-q", "bare.git", "one")
        git(tmp_path, "clone", "-q", f"file://{tmp_path}/bare.git", "two")
        git(tmp_path, "clone", "-q", "one", "three")
        git(tmp_path / "bare.git", "remote", "remove", "origin")
        assert len({identify(tmp_path / name).id for name in ("one", "two", "three")}) == 1
        made = identify(repository, create=True)
        git(tmp_path, "clone", "-q", "shop", "four")
        assert identify(tmp_path / "four").id == made.id
        git(repository, "remote", "add", "origin", URL)
        assert identify(tmp_path / "four").id == "shop-eaa2e7d8"

    def test_a_submodule_is_a_project_of_its_own(
        self, repository: Path, git: Callable[..., str], tmp_path: Path
    ) -> None:
        (tmp_path / "outer").mkdir()
        git(tmp_path / "outer", "init", "-q")
        git(tmp_path / "outer", "remote", "add", "origin", "https://example.org/team/outer")
        git(tmp_path / "outer", "submodule", "--quiet", "add", str(repository), "sub")
        git(tmp_path / "outer/sub", "remote", "set-url", "origin", URL)
        assert (tmp_path / "outer/sub/.git").is_file()
        assert identify(tmp_path / "outer/sub").id == "shop-eaa2e7d8"
        assert identify(tmp_path / "outer").id.startswith("outer-")

    def test_an_origin_that_goes_round(self, tmp_path: Path) -> None:
        with_origin(tmp_path / "a", "../b")
        with_origin(tmp_path / "b", "../a")
        with_origin(tmp_path / "c", ".")
        assert check_identifier(identify(tmp_path / "a").id, "")
        assert identify(tmp_path / "c").id.startswith("c-")

    def test_paths_that_read_alike_from_two_places_are_two(self, tmp_path: Path) -> None:
        with_origin(tmp_path / "x/a", "../gone.git")
        with_origin(tmp_path / "y/a", "../gone.git")
        first, second = identify(tmp_path / "x/a").id, identify(tmp_path / "y/a").id
        assert first != second
        assert first[:-8] == second[:-8] == "gone-"

    @pytest.mark.parametrize(
        "line",
        [
            b"",
            b"hello",
            b"gitdir: /nowhere/at/all",
            b"gitdir: \0",
            b"gitdir: " + b"x/" * 5000,
            b"\xff" * 9,
            b"x" * (1 << 21),
        ],
    )
    def test_a_hostile_git_file(self, line: bytes, tmp_path: Path) -> None:
        (tmp_path / ".git").write_bytes(line)
        with pytest.raises(MemorandaError) as caught:
            identify(tmp_path, create=True)
        assert not isinstance(caught.value, NotFound)
        assert str(caught.value).isprintable()

    def test_a_hostile_common_folder(self, tmp_path: Path) -> None:
        folder = with_origin(tmp_path / "a", URL)
        (folder / ".git/commondir").write_text("../../nowhere")
        with pytest.raises(UsageError, match="not there"):
            identify(folder)

    def test_a_hostile_id_in_the_git_folder(self, tmp_path: Path) -> None:
        folder = configured(tmp_path / "a", "")
        (folder / ".git/memoranda-project").write_text("../../etc")
        with pytest.raises(BadName):
            identify(folder, create=True)

    def test_an_empty_git_folder_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "a/.git").mkdir(parents=True)
        assert identify(tmp_path / "a", create=True).how == "id-file"
