"""Compound files and old Word documents."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.documents import compound, doc
from memoranda.adapters.converters.compound_file import CompoundFile
from memoranda.adapters.converters.limits import Limits
from memoranda.adapters.converters.word_binary import convert_doc
from memoranda.core.documents import NotConverted

STREAMS = {
    "small": b"x" * 100,
    "large": bytes(range(256)) * 40,
    "empty": b"",
    "folder/inner": b"y" * 65,
    "folder/b": b"z",
}
WHOLE = compound(STREAMS)


def test_every_stream_is_read_by_its_path() -> None:
    file = CompoundFile(WHOLE)

    assert {path: file.read(path) for path in file} == STREAMS
    assert file.storages == ["folder"]
    assert "none" not in file


def streams_of(data: bytes) -> dict[str, bytes] | str:
    """The streams of a compound file, or why it is none."""
    try:
        file = CompoundFile(data)
        return {path: file.read(path) for path in file}
    except NotConverted as fault:
        return fault.kind


@given(st.integers(0, len(WHOLE)))
def test_a_file_that_is_cut_off_is_corrupt_or_read(length: int) -> None:
    found = streams_of(WHOLE[:length])

    assert found == "corrupt" or set(found) <= set(STREAMS)


@given(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=8))
def test_a_damaged_file_never_loops(at: int, damage: bytes) -> None:
    found = streams_of(WHOLE[:at] + damage + WHOLE[at + len(damage) :])

    assert found == "corrupt" or all(len(one) <= len(WHOLE) + 4096 for one in dict(found).values())


@pytest.mark.parametrize("wide", [True, False])
def test_an_old_word_document_gives_paragraphs_and_tables(wide: bool) -> None:
    text = 'first\x0bline\rgo \x13HYPERLINK "x"\x14there\x15\rA\x07B\x07\x07C\x07D\x07\x07after\r'
    made = convert_doc(doc(text, wide=wide), "doc", "a.doc", Limits())

    assert made.markdown == "first\nline\n\ngo there\n\n| A | B |\n| --- | --- |\n| C | D |\n\nafter\n"
    assert made.notes


def test_an_old_word_document_in_chinese() -> None:
    assert convert_doc(doc("报销制度\r"), "doc", "a.doc", Limits()).markdown == "报销制度\n"


def test_an_old_word_document_with_a_password_is_encrypted() -> None:
    with pytest.raises(NotConverted) as caught:
        convert_doc(doc("x", encrypted=True), "doc", "a.doc", Limits())
    assert caught.value.kind == "encrypted"
