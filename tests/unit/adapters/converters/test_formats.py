"""A document is what its bytes are, whatever it is called."""

from __future__ import annotations

import pytest

from fakes.documents import compound, doc, docx, epub, msg, odt, pdf, pptx, xlsx, zipped
from memoranda.adapters.converters.formats import may_be_plain, recognise
from memoranda.adapters.converters.limits import Limits
from memoranda.core.documents import NotConverted

LIMITS = Limits()
MAIL = b"From: a@example.com\nTo: b@example.com\nSubject: hi\n\ntext\n"
ZIPPED = {
    "docx": docx("<w:p/>"),
    "xlsx": xlsx({"a": ""}),
    "pptx": pptx([""]),
    "epub": epub({"a.xhtml": "<p>x</p>"}),
    "odt": odt(""),
    "ods": odt("", "spreadsheet"),
    "odp": odt("", "presentation"),
    "zip": zipped({"a.txt": "x"}),
}
OTHERS = {
    "doc": doc("text"),
    "msg": msg({"0037": "subject"}),
    "xls": compound({"Workbook": b"x" * 5000}),
    "ppt": compound({"PowerPoint Document": b"x"}),
    "pdf": pdf([[(72, 700, 12, "hi")]]),
    "rtf": b"{\\rtf1 hi}",
    "image": b"\x89PNG\r\n\x1a\n" + bytes(20),
    "html": b"<!DOCTYPE html><html><body>x",
}


def kind_of(data: bytes, name: str) -> str:
    return recognise(data, name, LIMITS).format


def refused(data: bytes, name: str) -> tuple[str, str]:
    with pytest.raises(NotConverted) as caught:
        recognise(data, name, LIMITS)
    assert "\n" not in str(caught.value)
    return caught.value.kind, str(caught.value)


@pytest.mark.parametrize("format", [*ZIPPED, *OTHERS])
@pytest.mark.parametrize("name", ["", "letter", "x.pdf", "x.bin"])
def test_bytes_come_before_the_name(format: str, name: str) -> None:
    found = recognise((ZIPPED | OTHERS)[format], name, LIMITS)

    assert found.format == format
    assert bool(found.notes) == (name == "x.pdf" and format != "pdf")


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.md", "markdown"),
        ("a.txt", "text"),
        ("README", "text"),
        ("a.CSV", "csv"),
        ("a.tsv", "csv"),
        ("a.py", "source"),
        ("Makefile", "source"),
        ("a.json", "json"),
        ("a.jsonl", "jsonl"),
        ("a.ipynb", "ipynb"),
        ("a.htm", "html"),
        ("a.eml", "eml"),
    ],
)
def test_text_is_what_its_name_says(name: str, format: str) -> None:
    assert kind_of(b"some, text\n", name) == format


def test_mail_is_known_without_a_name_but_not_in_a_text_file() -> None:
    assert kind_of(MAIL, "") == "eml"
    assert kind_of(MAIL, "a.txt") == "text"
    assert kind_of(b"to: do\nfrom: now on\n\nx", "") == "text"


def test_mislabelled_documents_say_so() -> None:
    assert recognise(b"<html><p>x", "a.csv", LIMITS).notes == ("named .csv, but it is html",)
    assert recognise(b"just text", "a.docx", LIMITS).notes == ("named .docx, but it is text",)


def test_what_cannot_be_recognised_is_refused_in_one_line() -> None:
    noise = bytes(range(128, 256)) * 8

    assert refused(b"", "a.pdf") == ("empty", "the file is empty: 0 bytes")
    assert refused(b" \n\t ", "a.txt")[0] == "empty"
    assert refused(noise, "a.bin")[0] == "unsupported"
    assert refused(noise, "a.docx")[0] == "corrupt"
    assert refused(noise, "a.txt")[0] == "corrupt"
    assert refused(b"\x1f\x8b\x08" + noise, "a.gz") == ("unsupported", "a gzip archive: unpack it first")
    assert refused(b"\x7fELF" + noise, "a")[0] == "unsupported"
    assert refused(docx("<w:p/>")[:200], "a.docx")[0] == "corrupt"
    assert refused(zipped({"[Content_Types].xml": "<a/>", "word/nothing.xml": "<a/>"}), "a.docx")[0] == "corrupt"
    assert refused(zipped({"a.txt": "x"}), "a.xlsx")[0] == "corrupt"
    assert refused(compound({"EncryptedPackage": b"x"}), "a.docx") == ("encrypted", "protected by a password")
    assert refused(zipped({"Index/Document.iwa": b"x"}), "a.pages")[0] == "unsupported"
    assert refused(doc("x")[:600], "a.doc")[0] == "corrupt"


def test_only_what_may_be_text_is_looked_at_without_a_process() -> None:
    assert may_be_plain(b"text", "a.md")
    assert may_be_plain(b"text", "")
    assert not may_be_plain(zipped({"a": "x"}), "a.txt")
    assert not may_be_plain(doc("x"), "")
    assert not may_be_plain(b"a,b", "a.csv")
