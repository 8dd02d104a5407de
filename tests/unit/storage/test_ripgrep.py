"""ripgrep names the documents that hold a text; without it, or in time of need, nobody is worse off."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memoranda.bootstrap import Vault
from memoranda.storage.ripgrep import documents_holding
from memoranda.storage.vault import VaultFolder

ODD = [
    "C++",
    "-x",
    "a.b*c",
    "$HOME",
    "[[a:b]]",
    "喜欢",
    "ＡＢＣ",
    "ﬁle",
    "two\nlines",
    " spaced ",
    "nothing of it",
    "É",
]


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    for number, text in enumerate(
        ["I like C++ and -x", "a.b*c, $HOME, [[a:b]]", "喜欢海边", "ABC abc", "a file É é", "two\nlines"]
    ):
        path = tmp_path / f"docs/c/d{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# D{number}\n\n{text}\n", encoding="utf-8")
    (tmp_path / "docs/c/corpus.json").write_text('{"scope": "shared"}', encoding="utf-8")
    return tmp_path


@pytest.mark.skipif(shutil.which("rg") is None, reason="ripgrep is not installed")
def test_it_names_documents_and_no_other_file(filled: Path) -> None:
    vault = VaultFolder(str(filled), create=True)
    assert documents_holding(vault, "c++", 10) == ["kb/c/d0"]
    assert documents_holding(vault, "shared", 10) == []
    assert documents_holding(vault, "two\nlines", 10) is None
    assert documents_holding(vault, " ", 10) is None
    assert documents_holding(vault, "c++", 0.0) is None


@pytest.mark.parametrize("text", ODD)
def test_answers_are_the_same_with_and_without_it(filled: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Vault.open(filled) as vault:
        found = vault.retrieve(text, levels=("passage",), mode="grep", deadline=30)
        monkeypatch.setenv("PATH", "")
        assert shutil.which("rg") is None
        again = vault.retrieve(text, levels=("passage",), mode="grep", deadline=30)
    assert [(hit.address, hit.score) for hit in found.hits] == [(hit.address, hit.score) for hit in again.hits]
    assert found.unavailable == again.unavailable == []


def test_a_program_of_that_name_that_fails_is_as_none(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = filled / "bin/rg"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 2\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    assert documents_holding(VaultFolder(str(filled), create=True), "C++", 10) is None
    with Vault.open(filled) as vault:
        assert len(vault.retrieve("C++", levels=("passage",), mode="grep", deadline=30).hits) == 1
