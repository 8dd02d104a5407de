"""Ignore files are read as git reads them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.services.ignoring import is_left_out, read_rules

NAMES = ("a", "b.txt", "c.md", "ab", "a.b")
part = st.sampled_from([*NAMES, "*", "?", "*.md", "[ab]", "[!a]*", "**", "a*"])
lines = st.lists(
    st.builds(
        lambda take_back, front, parts, end: take_back + front + "/".join(parts) + end,
        st.sampled_from(["", "", "!"]),
        st.sampled_from(["", "/"]),
        st.lists(part, min_size=1, max_size=3),
        st.sampled_from(["", "/"]),
    ),
    min_size=1,
    max_size=4,
)


def left_out(folder: Path, path: Path) -> bool:
    """As who walks the folder decides it: what stands below something left out is left out."""
    rules = read_rules(folder)
    if rules is None:
        return False
    at = folder
    for name in path.relative_to(folder).parts:
        at = at / name
        if is_left_out(str(at), at.is_dir(), (rules,)):
            return True
    return False


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree")
    for path in ("a/b.txt", "a/ab/c.md", "a/a.b", "b.txt", "c.md", "ab/a/c.md", "ab/b.txt", "a.b/ab"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("x")
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@settings(deadline=None, max_examples=300)
@given(lines)
def test_the_same_files_are_left_out_as_by_git(tree: Path, written: list[str]) -> None:
    (tree / ".gitignore").write_text("\n".join(written) + "\n")
    files = [path for path in tree.rglob("*") if path.is_file() and ".git" not in path.parts[len(tree.parts) :][:1]]
    files = [path for path in files if path.name != ".gitignore"]
    asked = "\0".join(str(path.relative_to(tree)) for path in files)
    said = subprocess.run(
        ["git", "-C", str(tree), "check-ignore", "-z", "--stdin", "--no-index"],
        input=asked.encode(),
        capture_output=True,
        check=False,
    ).stdout.decode()
    assert {str(path.relative_to(tree)) for path in files if left_out(tree, path)} == set(
        filter(None, said.split("\0"))
    )


def test_the_deepest_file_decides_and_remarks_are_none(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / ".gitignore").write_text("# *.md\n\n*.log\n")
    (tmp_path / "in" / ".memorandaignore").write_text("!keep.log\n")
    above, below = read_rules(str(tmp_path)), read_rules(str(tmp_path / "in"))
    assert above is not None
    assert below is not None
    assert is_left_out(str(tmp_path / "in/b.log"), False, (above, below))
    assert not is_left_out(str(tmp_path / "in/keep.log"), False, (above, below))
    assert not is_left_out(str(tmp_path / "a.md"), False, (above,))
    assert read_rules(str(tmp_path / "none")) is None


@pytest.mark.parametrize("rule", ["[z-a]", "*a" * 40 + "b", "**/" * 30 + "x", "[", "\\", "a\\", "[]", "**", "/", "!"])
def test_no_rule_is_a_trap(tmp_path: Path, rule: str) -> None:
    (tmp_path / ".gitignore").write_text(f"{rule}\n")
    rules = read_rules(str(tmp_path))
    path = tmp_path / ("a" * 120)
    deep = tmp_path.joinpath(*"abcdefghijklmnopqrstuvw")
    if rules is not None:
        assert is_left_out(str(path), False, (rules,)) in (True, False)
        assert is_left_out(str(deep), False, (rules,)) in (True, False)
