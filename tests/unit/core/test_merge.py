from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.core import merge as module
from memoranda.core.markdown import lines
from memoranda.core.merge import Merge, merge

# Few different lines and all endings: what makes a merge of lines hard.
WHOLE_LINES = st.lists(
    st.tuples(st.sampled_from(["", "a", "b", "c", "## x"]), st.sampled_from(["\n", "\n", "\r\n", "\r"])),
    max_size=8,
).map(lambda parts: "".join(line + ending for line, ending in parts))
TEXTS = st.builds(str.__add__, WHOLE_LINES, st.sampled_from(["", "tail"]))


def contents(text: str) -> list[str]:
    return [text[start:stop] for start, stop, _ in lines(text)]


def text_of(*parts: str) -> str:
    return "".join(part + "\n" for part in parts)


BASE = text_of("a", "b", "c", "d", "e")


@pytest.mark.parametrize(
    ("ours", "theirs", "merged"),
    [
        (("a", "B", "c", "d", "e"), ("a", "b", "c", "D", "e"), ("a", "B", "c", "D", "e")),
        (("a", "B", "c", "d", "e"), ("a", "b", "C", "d", "e"), ("a", "B", "C", "d", "e")),
        (("a", "b", "c", "d", "e", "o"), ("a", "b", "c", "d", "e", "t"), ("a", "b", "c", "d", "e", "t", "o")),
        (("a", "x", "b", "c", "d", "e"), ("a", "x", "b", "c", "d", "E"), ("a", "x", "b", "c", "d", "E")),
        (("a", "c", "d", "e"), ("a", "b", "c", "d", "x", "e"), ("a", "c", "d", "x", "e")),
        (("a", "b", "d", "e"), ("a", "b", "d", "e", "f"), ("a", "b", "d", "e", "f")),
        (("b", "c", "d", "e"), ("a", "b", "c", "d"), ("b", "c", "d")),
        (("o", "a", "b", "c", "d", "e"), ("A", "b", "c", "d", "e"), ("o", "A", "b", "c", "d", "e")),
        (("a", "b", "c", "d", "E"), ("a", "b", "c", "d", "e", "t"), ("a", "b", "c", "d", "E", "t")),
        (("a", "b"), ("A", "b", "c", "d", "e"), ("A", "b")),
    ],
)
def test_changes_of_different_lines_are_both_taken(
    ours: tuple[str, ...], theirs: tuple[str, ...], merged: tuple[str, ...]
) -> None:
    assert merge(BASE, text_of(*ours), text_of(*theirs)) == Merge(text_of(*merged), False)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (("a", "O", "c", "d", "e"), ("a", "T", "c", "d", "e")),
        (("a", "c", "d", "e"), ("a", "B", "c", "d", "e")),
        (("a", "e"), ("a", "b", "c", "D", "e")),
        (("a", "e"), ("a", "b", "x", "c", "d", "e")),
        (("a", "O", "O", "d", "e"), ("a", "b", "T", "T", "e")),
    ],
)
def test_changes_of_the_same_lines_are_a_conflict(ours: tuple[str, ...], theirs: tuple[str, ...]) -> None:
    ours_text, theirs_text = text_of(*ours), text_of(*theirs)
    assert merge(BASE, ours_text, theirs_text) == Merge(theirs_text, True)
    assert merge(BASE, theirs_text, ours_text) == Merge(ours_text, True)


def test_two_items_appended_to_a_category_are_both_kept() -> None:
    base = "# food\n\n## tea\n\ngreen\n"
    ours = base + "\n## cake\n\ncarrot\n"
    theirs = base.replace("green", "black") + "\n## soup\n\nmiso\n"
    assert merge(base, ours, theirs) == Merge(
        "# food\n\n## tea\n\nblack\n\n## soup\n\nmiso\n\n## cake\n\ncarrot\n", False
    )


def test_line_endings_are_kept() -> None:
    assert merge("a\r\nb\r\nc\r\n", "A\r\nb\r\nc\r\n", "a\r\nb\r\nC\r\n").text == "A\r\nb\r\nC\r\n"
    assert merge("a\rb\rc\r", "A\rb\rc\r", "a\rb\rC\r").text == "A\rb\rC\r"
    assert merge("a\u2028b\nc\n", "a\u2028B\nc\n", "a\u2028b\nC\n").text == "a\u2028B\nC\n"
    assert merge("a\nb\n", "a\u2028b\nb\n", "x\u2028a\nb\n").conflict


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_a_last_line_without_ending_gets_one_when_lines_follow(ending: str) -> None:
    base = f"a{ending}"
    assert merge(base, f"a{ending}ours{ending}", f"a{ending}theirs").text == f"a{ending}theirs{ending}ours{ending}"
    assert merge(base, f"a{ending}ours", f"a{ending}theirs").text == f"a{ending}theirs{ending}ours"


def test_two_lines_never_melt_into_one() -> None:
    assert merge("c\n", "\n", "a\rc\n") == Merge("a\r\r", False)


def test_no_change_of_a_text_without_final_ending() -> None:
    assert merge("a\nb", "A\nb", "a\nb\n") == Merge("A\nb\n", False)
    assert merge("a", "a\no", "a\nt") == Merge("a\nt", True)


def test_moved_and_repeated_lines() -> None:
    base = text_of("x", "", "y", "", "z", "")
    assert merge(
        base, text_of("x", "", "q", "", "y", "", "z", ""), text_of("x", "", "y", "", "z", "", "r", "")
    ) == Merge(text_of("x", "", "q", "", "y", "", "z", "", "r", ""), False)
    assert merge(base, text_of("z", "", "x", "", "y", ""), base + "end\n") == Merge(
        text_of("z", "", "x", "", "y", "", "end"), False
    )


def test_large_files_are_merged() -> None:
    base = [f"## item {n}\n\nabout {n // 7}\n\n" for n in range(20_000)]
    ours, theirs = list(base), list(base)
    for n in range(0, 20_000, 1000):
        ours[n] = ours[n].replace("about", "on")
        theirs[n + 500] = "## new\n\nthere\n\n" + theirs[n + 500]
    expected = [mine if mine != old else their for old, mine, their in zip(base, ours, theirs, strict=True)]
    assert merge("".join(base), "".join(ours), "".join(theirs)) == Merge("".join(expected), False)


def test_files_without_a_line_in_common_that_stands_once() -> None:
    base = "a\n" * 3000 + "b\n" * 3000
    swapped = "b\n" * 3000 + "a\n" * 3000
    assert merge(base, swapped, "t\n" + base) == Merge("t\n" + swapped, False)
    assert merge(base, base + "o\n", "t\n" + base) == Merge("t\n" + base + "o\n", False)


@given(TEXTS, TEXTS)
def test_one_side_alone(base: str, other: str) -> None:
    assert merge(base, base, other) == Merge(other, False)
    assert merge(base, other, base) == Merge(other, False)
    assert merge(base, other, other) == Merge(other, False)


@given(TEXTS, TEXTS, TEXTS)
@settings(max_examples=400)
def test_no_inserted_line_is_lost_and_none_is_made_up(base: str, ours: str, theirs: str) -> None:
    merged = merge(base, ours, theirs)
    if merged.conflict:
        assert merged.text == theirs
        return
    kept = contents(merged.text)
    for side in (ours, theirs):
        for line in set(contents(side)) - set(contents(base)):
            assert kept.count(line) >= contents(side).count(line)
    assert set(kept) <= set(contents(base)) | set(contents(ours)) | set(contents(theirs))


@given(TEXTS, TEXTS, TEXTS)
def test_both_sides_see_the_same_conflicts(base: str, ours: str, theirs: str) -> None:
    assert merge(base, ours, theirs).conflict == merge(base, theirs, ours).conflict


@given(st.data())
@settings(max_examples=200)
def test_changes_made_apart_are_exactly_both_made(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    base = [f"line {n}\n" for n in range(count)]
    edits = st.sampled_from(["keep", "keep", "change", "delete", "insert"])
    owners = st.sampled_from(["ours", "theirs"])
    sides: dict[str, list[str]] = {"ours": [], "theirs": [], "merged": []}
    for n, line in enumerate(base):
        edit, owner = data.draw(edits), data.draw(owners)
        edited = {
            "keep": [line],
            "change": [f"{owner} changed {n}\n"],
            "delete": [],
            "insert": [f"{owner} added {n}\n", line],
        }[edit]
        for side, text in sides.items():
            text += edited if side in (owner, "merged") else [line]
    merged = merge("".join(base), "".join(sides["ours"]), "".join(sides["theirs"]))
    assert merged == Merge("".join(sides["merged"]), False)


@pytest.mark.parametrize(("rounds", "pairs"), [(24, 40_000), (1, 0), (0, 9)])
@given(WHOLE_LINES, TEXTS)
@settings(max_examples=150)
def test_one_side_is_taken_whole_however_it_is_compared(rounds: int, pairs: int, old: str, new: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MOST_ROUNDS", rounds)
        patch.setattr(module, "_MOST_PAIRS", pairs)
        assert merge(old, new, "theirs\n" + old) == Merge("theirs\n" + new, False)


def test_what_both_sides_inserted_first_stands_once() -> None:
    merged = merge("a\n", "a\nitem\nm1\n", "a\nitem\nm2\n")
    assert not merged.conflict
    assert merged.text == "a\nitem\nm2\nm1\n"


def test_shared_blank_lines_are_not_taken_for_the_same_insertion() -> None:
    merged = merge("a\n", "a\n\n## ours\n", "a\n\n## theirs\n")
    assert merged.text == "a\n\n## theirs\n\n## ours\n"
