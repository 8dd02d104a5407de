"""What passes between processes."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.adapters.converters.limits import Limits
from memoranda.adapters.converters.messages import (
    Request,
    pack_answer,
    pack_request,
    read_frame,
    unpack_answer,
    unpack_request,
    write_frame,
)
from memoranda.core.documents import Converted, NotConverted

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def through(frame: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    stream = BytesIO()
    write_frame(stream, frame)
    stream.seek(0)
    read = read_frame(stream)
    assert read is not None
    return read


@given(st.binary(max_size=50), TEXTS, st.floats(0.1, 900), st.dictionaries(TEXTS, TEXTS, max_size=2))
def test_a_request_arrives_as_it_was_sent(data: bytes, name: str, seconds: float, choices: dict[str, str]) -> None:
    request = Request(data, name, Limits(seconds=seconds), tuple(choices.items()))

    assert unpack_request(through(pack_request(request))) == request


@given(TEXTS, TEXTS, st.lists(TEXTS, max_size=3))
def test_an_answer_arrives_as_it_was_sent(markdown: str, title: str, notes: list[str]) -> None:
    made = Converted(markdown, "pdf", "pdfium", "1", title, "utf-8", tuple(notes))

    assert unpack_answer(through(pack_answer(made))) == made


def test_a_refusal_arrives_as_it_was_sent() -> None:
    found = unpack_answer(through(pack_answer(NotConverted("unsafe", "炸弹"))))

    assert isinstance(found, NotConverted)
    assert (found.kind, str(found)) == ("unsafe", "炸弹")


def test_letters_that_no_file_can_hold_are_replaced() -> None:
    found = unpack_answer(through(pack_answer(Converted("a\ud800b", "text", "x"))))

    assert isinstance(found, Converted)
    assert found.markdown == "a?b"


def test_a_frame_that_is_cut_off_or_too_long_is_none() -> None:
    stream = BytesIO()
    write_frame(stream, (b"head", b"body"))
    whole = stream.getvalue()

    assert all(read_frame(BytesIO(whole[:length])) is None for length in range(len(whole)))
    assert read_frame(BytesIO(whole), most=7) is None
    assert read_frame(BytesIO(b"\xff" * 16)) is None


def test_what_is_no_answer_is_an_error() -> None:
    for head in (b"", b"{", b"{}", b"[]", b'{"refused": "x"}'):
        with pytest.raises((ValueError, KeyError, TypeError)):
            unpack_answer((head, b""))
