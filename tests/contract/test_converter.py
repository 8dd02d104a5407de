"""What every converter promises."""

from __future__ import annotations

from importlib.util import find_spec
from shutil import which

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.converter import NoteConverter
from fakes.documents import compound, doc, docx, epub, msg, odt, pdf, pptx, xlsx, zipped
from memoranda.adapters.converters.choosing import CONVERTERS, converter_for
from memoranda.adapters.converters.limits import Limits
from memoranda.core.documents import Converted, NotConverted
from memoranda.core.ports import Converter

WORDS = "去海边 the sea 42"
SHAPE = f"<p:sp><p:txBody><a:p><a:r><a:t>{WORDS}</a:t></a:r></a:p></p:txBody></p:sp>"
#: A document of each format that holds the words, and one that holds none.
DOCUMENTS: dict[str, tuple[bytes, bytes]] = {
    "note": (f"title\n{WORDS}".encode(), b"title\n"),
    "text": (WORDS.encode(), b" \n"),
    "markdown": (f"# x\n\n{WORDS}".encode(), b"\n"),
    "source": (f"# {WORDS}".encode(), b"\n"),
    "csv": (f"a,b\n{WORDS},1".encode(), b",\n,"),
    "json": (f'["{WORDS}"]'.encode(), b" "),
    "jsonl": (f'["{WORDS}"]\n'.encode(), b"\n"),
    "ipynb": (f'{{"cells": [{{"cell_type": "markdown", "source": "{WORDS}"}}]}}'.encode(), b'{"cells": []}'),
    "html": (f"<p>{WORDS}".encode(), b"<p>"),
    "eml": (f"From: a\nSubject: x\n\n{WORDS}".encode(), b"\n"),
    "msg": (msg({"1000": WORDS}), msg({})),
    "rtf": (b"{\\rtf1\\ansi \\u21435?\\u28023?\\u-28743? the sea 42}", b"{\\rtf1}"),
    "docx": (docx(f"<w:p><w:r><w:t>{WORDS}</w:t></w:r></w:p>"), docx("<w:p/>")),
    "xlsx": (xlsx({"a": f'<row><c t="inlineStr"><is><t>{WORDS}</t></is></c></row>'}), xlsx({"a": ""})),
    "pptx": (pptx([SHAPE]), pptx([""])),
    "epub": (epub({"a": f"<p>{WORDS}"}), epub({"a": "<p>"})),
    "odt": (odt(f"<text:p>{WORDS}</text:p>"), odt("<text:p/>")),
    "doc": (doc(WORDS), doc(" ")),
    "zip": (zipped({"a.txt": WORDS}), zipped({})),
}
SEA = pdf([[(72, 700, 10, "the sea 42")]])


def converters() -> list[tuple[str, str]]:
    every = [("note", "fake"), ("zip", "built-in")]
    return every + [
        (format, one.name) for one in CONVERTERS for format in one.formats if format in DOCUMENTS or format == "pdf"
    ]


@pytest.fixture(params=converters(), ids=lambda pair: f"{pair[1]}-{pair[0]}", scope="module")
def case(request: pytest.FixtureRequest) -> tuple[Converter, str]:
    format, name = request.param
    if name == "fake":
        return NoteConverter(), format
    needed = {"pdfium": "pypdfium2", "xlrd": "xlrd", "markitdown": "markitdown", "docling": "docling"}.get(name)
    if needed and find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    if name == "markitdown" and format in ("docx", "xlsx", "pptx"):
        pytest.skip("these are packages as small as they can be, which MarkItDown's parsers do not take")
    if name == "docling":
        pytest.skip("docling fetches models")
    if name == "pandoc" and which(name) is None:
        pytest.skip(f"there is no program {name}")
    return converter_for(format, Limits(), {} if name == "built-in" else {format: name}), format


def test_it_says_what_it_is(case: tuple[Converter, str]) -> None:
    converter, format = case

    assert converter.name
    assert converter.version
    assert format in converter.formats


def test_the_words_of_a_document_are_in_its_markdown(case: tuple[Converter, str]) -> None:
    converter, format = case
    data = SEA if format == "pdf" else DOCUMENTS[format][0]
    made = converter.convert(data, format, f"a.{format}")

    assert isinstance(made, Converted)
    assert (WORDS if format != "pdf" else "the sea 42") in " ".join(made.markdown.split())
    assert (made.format, made.converter, made.version) == (format, converter.name, converter.version)
    assert converter.convert(data, format, f"a.{format}") == made


def test_a_document_without_text_is_refused_and_never_empty(case: tuple[Converter, str]) -> None:
    converter, format = case
    if converter.name == "markitdown" and format != "pdf":
        pytest.skip("MarkItDown writes headings where there is no text")
    with pytest.raises(NotConverted) as caught:
        converter.convert(pdf([[]]) if format == "pdf" else DOCUMENTS[format][1], format, "a")

    assert caught.value.kind in ("empty", "no_text")
    assert str(caught.value)
    assert "\n" not in str(caught.value)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.floats(0, 1), damage=st.binary(min_size=1, max_size=20))
def test_a_damaged_document_is_converted_or_refused(case: tuple[Converter, str], at: float, damage: bytes) -> None:
    converter, format = case
    data = SEA if format == "pdf" else DOCUMENTS[format][0]
    place = int(at * len(data))
    refused = ""
    made = None
    try:
        made = converter.convert(data[:place] + damage + data[place + len(damage) :], format, "a")
    except NotConverted as fault:
        refused = str(fault)
    except (MemoryError, RecursionError, ValueError, LookupError, TypeError, AttributeError, OverflowError):
        return  # faults of parsers are mapped by the process that a converter runs in
    assert "\n" not in refused
    assert refused or (made is not None and made.markdown.strip())


def test_compound_files_of_other_kinds_are_no_word_document() -> None:
    with pytest.raises(NotConverted):
        converter_for("doc", Limits()).convert(compound({"Workbook": b"x"}), "doc", "a.doc")
