"""What a person may set, and what every wrong value says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memoranda.core.errors import UsageError, VaultUnreadable
from memoranda.storage.settings import SETTINGS_FILE, Settings, read_settings


def settings_of(root: Path, text: str | bytes) -> Settings:
    (root / SETTINGS_FILE).write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_settings(str(root))


def test_absent_means_the_defaults(tmp_path: Path) -> None:
    assert read_settings(str(tmp_path)) == Settings()
    assert settings_of(tmp_path, "") == Settings()


def test_everything_can_be_set(tmp_path: Path) -> None:
    text = """
    link_style = "hash"
    deadline = 2
    k1 = 1.5
    b = 0
    overview = false
    usage = false
    [projects.apollo]
    path = "sub/apollo"
    [projects."项目"]
    path = "/elsewhere/项目"
    """
    projects = {"apollo": str(tmp_path.resolve() / "sub/apollo"), "项目": "/elsewhere/项目"}
    assert settings_of(tmp_path, text) == Settings("hash", 2, 1.5, 0, False, False, projects)


@pytest.mark.parametrize(
    "data", [b"\xef\xbb\xbfdeadline = 1.0\r\n", b"deadline = 1.0", b"deadline = 1.0\n# \xe6\xb5\xb7\n"]
)
def test_as_any_editor_saves_it(data: bytes, tmp_path: Path) -> None:
    assert settings_of(tmp_path, data).deadline == 1.0


def test_a_deadline_may_be_none(tmp_path: Path) -> None:
    assert settings_of(tmp_path, "deadline = inf").deadline == float("inf")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('link_style = "wiki"', '"colon" or "hash", not \'wiki\''),
        ("link_style = 1", '"colon" or "hash"'),
        ("link_style = []", '"colon" or "hash"'),
        ("deadline = 0", "seconds above 0"),
        ("deadline = -1", "seconds above 0"),
        ("deadline = nan", "seconds above 0"),
        ("deadline = true", "seconds above 0 .*, not true"),
        ('deadline = "1"', "seconds above 0"),
        (f"deadline = {10**400}", "seconds above 0 .*…"),
        ("deadline = 2026-07-10", "seconds above 0"),
        ("k1 = -0.1", "from 0 to 10"),
        ("k1 = 11", "from 0 to 10"),
        ("k1 = nan", "from 0 to 10"),
        ("b = 1.1", "from 0 to 1"),
        ("b = [0.5]", "from 0 to 1"),
        ("overview = 1", "true or false"),
        ('usage = "no"', "true or false"),
        ('segmenter = "spaces"', '"rjieba" or "jieba", not \'spaces\''),
        ("segmenter = true", '"rjieba" or "jieba", not true'),
        ("colour = true", "'colour' is not a setting .*link_style.*projects"),
        ("[limits]\nk1 = 1", "'limits' is not a setting"),
        ("projects = 1", "table of tables"),
        ("[projects]\napollo = 1", "holds one line, path"),
        ("[projects.apollo]", "holds one line, path"),
        ("[projects.apollo]\npath = 1", "holds one line, path"),
        ('[projects.apollo]\npath = "x"\nowner = "y"', "holds one line, path"),
        ('[projects."a/b"]\npath = "x"', "memoranda.toml: a project's id may not hold '/'"),
        ('[projects.CON]\npath = "x"', "Windows device"),
        ('[projects.Apollo]\npath = "x"\n[projects.apollo]\npath = "y"', "the same project"),
        ('[projects.apollo]\npath = ""', "no folder's"),
        ('[projects.apollo]\npath = "a\\u0000b"', "no folder's"),
        ('[projects.apollo]\npath = "."', "may not be the vault itself"),
        ('[projects.apollo]\npath = "projects/zeus/memory"', "lies in projects/ of the vault, which is not its own"),
        ('[projects.apollo]\npath = "history"', "lies in history/ of the vault"),
        ('[projects.a]\npath = "x"\n[projects.b]\npath = "x"', "would share their memory"),
        ('[projects.a]\npath = "x"\n[projects.b]\npath = "x/memory/y"', "would share their memory"),
        ("deadline", "not TOML"),
        ("deadline = 1\ndeadline = 2", "not TOML"),
        (b"deadline = 1 # \xff", "not TOML"),
    ],
)
def test_every_wrong_value_says_what_to_write(text: str | bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        settings_of(tmp_path, text)
    assert SETTINGS_FILE in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_project_lies_where_a_person_means(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    vault = tmp_path / "vault"
    vault.mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "repository")
    text = "".join(f'[projects.{p}]\npath = "{path}"\n' for p, path in (("a", "~/a"), ("b", "../b"), ("c", "../link")))
    found = settings_of(vault, text)
    home = tmp_path.resolve()
    assert found.projects == {"a": f"{home}/home/a", "b": f"{home}/b", "c": f"{home}/repository"}


def test_a_pipe_is_refused_rather_than_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / SETTINGS_FILE)
    with pytest.raises(VaultUnreadable):
        read_settings(str(tmp_path))


def test_a_folder_is_no_settings_file(tmp_path: Path) -> None:
    (tmp_path / SETTINGS_FILE).mkdir()
    with pytest.raises(VaultUnreadable):
        read_settings(str(tmp_path))
