"""PDF, scans and programs."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from fakes.documents import pdf
from memoranda.adapters.converters.choosing import convert_here
from memoranda.adapters.converters.limits import Limits
from memoranda.core.documents import Converted, NotConverted

LIMITS = Limits(seconds=30)

needs_pdfium = pytest.mark.skipif(find_spec("pypdfium2") is None, reason="pypdfium2 is not installed")
needs_shell = pytest.mark.skipif(sys.platform == "win32", reason="a program is a script of the shell here")


def made(data: bytes) -> Converted:
    return convert_here(data, "pdf", "a.pdf", LIMITS)


def refusal(data: bytes) -> tuple[str, str]:
    with pytest.raises(NotConverted) as caught:
        made(data)
    return caught.value.kind, str(caught.value)


@needs_pdfium
def test_pages_are_marked_and_those_without_text_are_said() -> None:
    found = made(
        pdf([[(72, 700, 24, "Head"), (72, 650, 10, "text of the first page")], [], [(72, 700, 10, "third (page)")]])
    )

    assert found.markdown == (
        "<!-- page 1 -->\n\n# Head\n\ntext of the first page\n\n<!-- page 2 -->\n\n<!-- page 3 -->\n\nthird (page)\n"
    )
    assert (found.title, found.notes, found.converter) == ("Head", ("page 2 holds no text",), "pdfium")


@needs_pdfium
@pytest.mark.parametrize("rotate", [90, 180, 270])
def test_turned_pages_are_read_as_they_are_shown(rotate: int) -> None:
    places = {90: [(100, 100), (120, 100)], 180: [(300, 400), (300, 420)], 270: [(400, 500), (380, 500)]}[rotate]
    found = made(pdf([[(*places[0], 10, "one"), (*places[1], 10, "two")]], rotate=rotate))

    assert found.markdown.index("one") < found.markdown.index("two")


@needs_pdfium
def test_what_cannot_be_read_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    whole = pdf([[(72, 700, 10, "text")]])

    assert refusal(pdf([[], []])) == ("no_text", "a scan or pictures: none of its 2 pages holds text (it needs OCR)")
    assert refusal(pdf([[(72, 700, 10, "text")]], end=False)) == ("corrupt", "cut off: the end of the PDF is missing")
    assert refusal(b"%PDF-1.4\nstartxref\n0\n%%EOF")[0] == "corrupt"
    assert made(whole).markdown.endswith("text\n")


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@needs_pdfium
@needs_shell
def test_a_scan_is_read_by_ocr_where_that_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(
        tmp_path,
        "tesseract",
        'case "$1" in --version) echo tesseract 5;; --list-langs) printf "x\neng\n";; *) wc -c >&2; echo seen;; esac',
    )
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = made(pdf([[], []]))

    assert found.markdown == "<!-- page 1 -->\n\nseen\n\n<!-- page 2 -->\n\nseen\n"
    assert (found.format, found.converter, found.version) == ("pdf", "tesseract", "tesseract 5")
    assert convert_here(b"\x89PNG\r\n\x1a\n", "image", "a.png", LIMITS).markdown == "seen\n"


def test_a_picture_without_ocr_has_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NotConverted) as caught:
        convert_here(b"\x89PNG", "image", "a.png", LIMITS)

    assert caught.value.kind == "no_text"
    assert "tesseract" in str(caught.value)


@needs_shell
def test_pandoc_is_asked_where_it_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "pandoc", 'if [ "$1" = --version ]; then echo pandoc 3.1; else echo "args $*"; cat; fi')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = convert_here(b"<p>x", "html", "a.html", LIMITS, {"html": "pandoc"})

    assert (found.converter, found.version) == ("pandoc", "pandoc 3.1")
    assert "--sandbox" in found.markdown
    assert found.markdown.endswith("<p>x")


@needs_shell
@pytest.mark.parametrize(
    ("script", "kind"), [("echo bad >&2; exit 1", "corrupt"), ("cat >/dev/null", "empty"), ("sleep 9", "too_slow")]
)
def test_a_program_that_fails_is_a_refusal(
    script: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, "pandoc", f'if [ "$1" = --version ]; then echo pandoc 3.1; else {script}; fi')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(NotConverted) as caught:
        convert_here(b"x", "html", "a.html", Limits(seconds=0.3), {"html": "pandoc"})

    assert caught.value.kind == kind
