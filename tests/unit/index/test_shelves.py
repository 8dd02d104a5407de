"""A look by stat finds the documents that a look at every name finds, and tells which are not as they are known."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from memoranda.core.errors import VaultUnreadable
from memoranda.index.shelves import Shelf, look
from memoranda.storage.documents import Documents
from memoranda.storage.vault import VaultFolder
from observing import write


def shelves_of(documents: Documents) -> dict[str, Shelf]:
    return {corpus: Shelf([1000, 0]) for corpus in documents.corpora()}


def note(shelves: dict[str, Shelf], vault: VaultFolder, settled: int = 1) -> None:
    """Know everything as it is."""
    for file in look(vault, shelves).changed:
        shelves[file.corpus].rows[f"{file.document}.md"] = [*file.stamp, settled]


@pytest.fixture
def odd(tmp_path: Path) -> VaultFolder:
    """A vault with whatever may lie among documents."""
    root = tmp_path / "vault"
    for name in (
        "a.md",
        "B b.md",
        "海边.md",
        "no.txt",
        ".hidden.md",
        "a#b.md",
        "e\u0301.md",
        "x.MD",
        "a (conflict).md",
    ):
        write(root, f"docs/one/{name}", f"text of {name}")
    write(root, "docs/one/a.sync-conflict-20260101-000000-ABCDEFG.md", "second copy")
    write(root, "docs/one/corpus.json", "{}")
    write(root, "docs/one/folder.md/a.md", "in a folder")
    write(root, "docs/loose.md", "of no corpus")
    write(root, "docs/two/a.md", "another")
    write(root, "docs/.three/a.md", "hidden")
    write(root, "elsewhere.md", "linked")
    write(tmp_path, "outside/a.md", "of somebody else")
    os.symlink(root / "elsewhere.md", root / "docs/one/link.md")
    os.symlink(tmp_path / "outside/a.md", root / "docs/one/out.md")
    os.symlink(root / "nothing", root / "docs/one/dangling.md")
    os.symlink(tmp_path / "outside", root / "docs/four")
    os.symlink(root / "docs/two", root / "docs/five")
    return VaultFolder(str(root))


def test_it_finds_what_a_look_at_every_name_finds(odd: VaultFolder) -> None:
    documents = Documents(odd)
    shelves = shelves_of(documents)
    expected = {(file.relative, file.path, file.corpus, file.document, file.stamp) for file in documents.files()}
    found = look(odd, shelves)
    assert {(f.relative, f.path, f.corpus, f.document, f.stamp) for f in found.changed} == expected
    assert len(expected) > 5
    assert found.total == sum(stamp.size for *_, stamp in expected)
    assert [f.relative for f in found.changed] == sorted(f.relative for f in found.changed)
    note(shelves, odd)
    again = look(odd, shelves)
    assert (again.changed, again.gone, again.total) == ([], [], found.total)


def test_what_changed_came_or_went_is_told(odd: VaultFolder) -> None:
    shelves = shelves_of(Documents(odd))
    note(shelves, odd)
    root = Path(odd.root)
    write(root, "docs/one/a.md", "longer than it was before")
    write(root, "docs/two/new.md", "new")
    (root / "docs/two/a.md").unlink()
    (root / "docs/one/link.md").unlink()
    (root / "docs/one/B b.md").unlink()
    (root / "docs/one/B b.md").mkdir()
    found = look(odd, shelves)
    assert [f.relative for f in found.changed] == ["docs/five/new.md", "docs/one/a.md", "docs/two/new.md"]
    assert sorted(found.gone) == [("five", "a.md"), ("one", "B b.md"), ("one", "link.md"), ("two", "a.md")]


def test_a_stamp_that_is_not_to_be_trusted_is_a_change(odd: VaultFolder) -> None:
    shelves = shelves_of(Documents(odd))
    note(shelves, odd, settled=0)
    time.sleep(0.03)
    assert len(look(odd, shelves).changed) == len(list(Documents(odd).files()))


def test_a_file_that_now_leads_out_of_the_vault_is_gone(odd: VaultFolder, tmp_path: Path) -> None:
    shelves = shelves_of(Documents(odd))
    note(shelves, odd)
    (Path(odd.root) / "docs/one/a.md").unlink()
    os.symlink(tmp_path / "outside/a.md", Path(odd.root) / "docs/one/a.md")
    assert look(odd, shelves).gone == [("one", "a.md")]


def test_what_cannot_be_listed_is_not_gone(odd: VaultFolder) -> None:
    shelves = shelves_of(Documents(odd))
    note(shelves, odd)
    (Path(odd.root) / "docs/two").rename(Path(odd.root) / "docs/away")
    with pytest.raises(VaultUnreadable):
        look(odd, shelves)
