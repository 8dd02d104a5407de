"""The reading order of a page."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memoranda.adapters.converters.pdf_layout import Segment, body_size, page_blocks, words_of

NOTHING: frozenset[str] = frozenset()
SEGMENTS = st.lists(
    st.builds(
        lambda text, x, y, size: Segment(text, x, x + len(text) * size / 2, y, y + size, size, False),
        st.text("ab海 ", min_size=1, max_size=30),
        st.integers(0, 500),
        st.integers(0, 700),
        st.sampled_from([8.0, 10.0, 18.0]),
    ),
    max_size=40,
)


def at(x: float, y: float, text: str, *, size: float = 10.0, width: float = 0.0, bold: bool = False) -> Segment:
    return Segment(text, x, x + (width or len(text) * size / 2), y, y + size, size, bold)


def column(x: float, top: float, words: str, rows: int = 6) -> list[Segment]:
    return [at(x, top - 12 * row, f"{words} line {row} goes on and on", width=200) for row in range(rows)]


def text_of(*segments: Segment) -> str:
    return "\n\n".join(page_blocks(segments, 10.0, NOTHING))


def test_columns_are_read_one_after_the_other() -> None:
    text = text_of(
        *[one for pair in zip(column(50, 600, "left"), column(300, 600, "right"), strict=True) for one in pair]
    )

    assert text.index("left line 5") < text.index("right line 0")


def test_a_title_above_two_columns_comes_first_and_a_foot_last() -> None:
    text = text_of(
        *column(300, 600, "right"), *column(50, 600, "left"), at(50, 700, "Wide title of it all", size=20, width=450),
        at(50, 40, "the foot of the page that runs through", width=450),
    )  # fmt: skip

    assert text.startswith("# Wide title of it all")
    assert text.index("left line 5") < text.index("right line 0") < text.index("the foot")


def test_a_table_is_read_in_rows() -> None:
    cells = [at(50 + 120 * x, 600 - 14 * y, f"cell {y}.{x}") for x in range(4) for y in range(6)]

    assert "cell 2.0  cell 2.1  cell 2.2  cell 2.3\ncell 3.0" in text_of(*cells)


def test_lines_flow_into_paragraphs_and_short_ones_end_them() -> None:
    assert text_of(
        at(50, 600, "a line that is full", width=300), at(50, 588, "and ends here", width=120),
        at(50, 576, "then", width=300)
    ) == "a line that is full and ends here\nthen"  # fmt: skip
    assert text_of(at(50, 600, "一线城市每晚", width=300), at(50, 588, "六百元", width=300)) == "一线城市每晚六百元"


def test_pieces_of_a_word_stay_together_and_words_apart() -> None:
    assert (
        text_of(at(50, 600, "be", width=10), at(60.2, 600, "gin", width=14), at(78, 600, "now", width=14))
        == "begin now"
    )


def test_marks_above_the_line_belong_to_it() -> None:
    assert text_of(at(50, 600, "Lin", width=15), at(65, 604, "2", size=6, width=3)) == "Lin2"


def broken(left: str, right: str, *others: str) -> str:
    lines = (at(50, 600, left + "\u00ad", width=200), at(50, 588, right, width=200))
    known = words_of([lines, [at(0, 0, one) for one in others]])
    return "\n".join(page_blocks(lines, 10.0, known))


def test_a_broken_word_is_mended_as_the_document_writes_it() -> None:
    assert broken("the repre", "sentation of it") == "the representation of it"
    assert broken("the chat", "optimized one", "chat", "optimized") == "the chat-optimized one"
    assert broken("go with", "out it", "with", "out", "without") == "go without it"
    assert broken("a well", "known word", "well-known") == "a well-known word"


def test_headings_are_larger_or_bold_and_alone() -> None:
    assert text_of(at(50, 700, "Large", size=18), at(50, 600, "text")) == "# Large\n\ntext"
    assert text_of(at(50, 600, "text", width=300), at(50, 570, "3.1 Bold", bold=True), at(50, 540, "more")) == (
        "text\n\n### 3.1 Bold\n\nmore"
    )
    assert text_of(at(50, 600, "=====", size=18)) == "\\====="


def test_most_letters_say_what_is_large() -> None:
    assert body_size([[at(0, 0, "a" * 50, size=9), at(0, 0, "Title", size=30)]]) == 9
    assert body_size([]) == 1


@given(SEGMENTS)
def test_no_letter_is_lost(segments: list[Segment]) -> None:
    text = "".join(page_blocks(segments, 10.0, NOTHING))

    for letter in "ab海":
        assert text.count(letter) == sum(one.text.count(letter) for one in segments)
