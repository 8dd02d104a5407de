"""A document's file says where it comes from, and gives back what was put in."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.core.errors import MemorandaError, NotFound
from memoranda.core.names import content_hash, normalize_newlines
from memoranda.storage.document_files import DocumentFiles, DocumentHead, NewDocument, read_head, split_document
from memoranda.storage.vault import VaultFolder

text = st.text(st.characters(blacklist_categories=["Cs"]), max_size=60)


@pytest.fixture
def files(tmp_path: Path) -> DocumentFiles:
    return DocumentFiles(VaultFolder(str(tmp_path), create=True))


@given(text, text, st.text(st.characters(blacklist_categories=["Cs"]), max_size=200))
def test_front_matter_gives_back_what_was_written(title: str, source: str, body: str) -> None:
    body = normalize_newlines(body).strip()
    head = DocumentHead(title=title, source=source, hash="ab" * 32, format="html", converter="built-in 1")
    found, text = split_document(head.document(body).decode("utf-8"))
    assert (found.title, found.source, found.hash, found.format) == (title, source, "ab" * 32, "html")
    assert text == body
    assert found.converted_hash == content_hash(text)


def test_a_persons_own_has_no_front_matter_or_another(tmp_path: Path) -> None:
    assert split_document("# Mine\n") == (DocumentHead(), "# Mine")
    head, body = split_document("\ufeff---\ntitle: Mine\ntags: [a]\nhash: nothing\n---\n\nText.\n")
    assert (head.title, head.hash, body) == ("", "", "Text.")
    (tmp_path / "broken.md").write_bytes(b'---\ntitle: "\\x"\n\xff---\n')
    assert read_head(str(tmp_path / "broken.md")) == DocumentHead()
    assert read_head(str(tmp_path / "none.md")) == DocumentHead()


def test_what_is_put_replaced_and_brought_back_is_whole(files: DocumentFiles, tmp_path: Path) -> None:
    files.put("c", [NewDocument("a-1", b"first", b"original", ".txt"), NewDocument("b.2", b"other", b"o", "")])
    files.set_aside("change", "c", ["a-1", "none"])
    files.put("c", [NewDocument("a-1", b"second", b"another", ".pdf")])
    assert files.original("c", "a-1") == str(tmp_path / "raw/c/a-1.pdf")
    assert not (tmp_path / "raw/c/a-1.txt").exists()
    assert files.digest("c", "a-1", before="change") == content_hash("first")
    assert files.digest("c", "none", before="change") is None
    files.bring_back("change", "c", "a-1")
    assert files.read("c", "a-1") == "first"
    assert (tmp_path / "raw/c/a-1.txt").read_bytes() == b"original"
    assert not (tmp_path / "raw/c/a-1.pdf").exists()
    files.bring_back("change", "c", "b.2")  # the change made it
    assert not files.exists("c", "b.2")
    assert not (tmp_path / "raw/c/b.2").exists()
    files.erase("c", "a-1")
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and file.name.startswith("a-1")]
    assert not (tmp_path / "history/kb/c/change").exists()


def test_without_an_original_the_former_one_goes(files: DocumentFiles) -> None:
    files.put("c", [NewDocument("a", b"first", b"secret", ".txt")])
    files.put("c", [NewDocument("a", b"second")])
    assert files.original("c", "a") is None


@pytest.mark.parametrize("corpus", ["../x", ".hidden", "a/b", "", "a\n"])
def test_names_that_lead_elsewhere_are_refused(files: DocumentFiles, corpus: str) -> None:
    with pytest.raises(MemorandaError):
        files.folder("docs", corpus)
    with pytest.raises(MemorandaError):
        files.markdown("c", "../../vault")


def test_what_is_not_there_is_said(files: DocumentFiles) -> None:
    with pytest.raises(NotFound, match="no document none in c"):
        files.read("c", "none")
