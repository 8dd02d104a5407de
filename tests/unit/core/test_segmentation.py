"""Chinese by words: what gives way to them, and what does not."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from fakes.segmenter import ListSegmenter
from memoranda.core.analysis import analyze, analyze_query
from memoranda.core.segmentation import segmented_query, segmented_terms
from memoranda.core.words import LONGEST_TERM

CUT = ListSegmenter("清华大学", "喜欢", "我们", "海边", "没有", "什么")
TEXTS = st.text(
    st.sampled_from("清华大学喜欢我们海边的去没有什么食べるカフェ한국か々〇\u3400\U00020000\uf900")
    | st.sampled_from("aB1-.,，。 ｱ½é🎉ไทย\u200d")
    | st.characters(),
    max_size=40,
)


def test_words_stand_for_the_pairs_and_characters_stay() -> None:
    text = "我们喜欢清华大学"
    assert Counter(segmented_terms(text, CUT)) == Counter([*text, "我们", "喜欢", "清华大学"])


def test_a_character_that_is_no_word_has_only_itself() -> None:
    assert segmented_terms("山水", CUT) == ["山", "水"]
    assert segmented_terms("山", CUT) == ["山"]


def test_words_and_numbers_beside_it_are_as_ever() -> None:
    assert Counter(segmented_terms("DEC-0054喜欢Paintings", CUT)) == Counter(
        [*analyze("DEC-0054"), *"喜欢", "喜欢", *analyze("Paintings")]
    )


def test_no_word_goes_over_white_space_or_a_mark() -> None:
    assert "喜欢" not in segmented_terms("喜 欢", CUT)
    assert "喜欢" not in segmented_terms("喜，欢", CUT)


def test_other_scripts_keep_their_pairs_also_beside_a_han_character() -> None:
    assert segmented_terms("食べる", CUT) == analyze("食べる")
    assert segmented_terms("한국어", CUT) == analyze("한국어")
    assert "欢カ" in segmented_terms("喜欢カフェ", CUT)


def test_compatibility_forms_are_cut_as_what_they_stand_for() -> None:
    assert segmented_terms("㍿", ListSegmenter("株式会社")) == [*"株式会社", "株式会社"]


def test_a_segmenter_is_given_nothing_but_han() -> None:
    given_to: list[str] = []

    class Noting(ListSegmenter):
        def cut(self, text: str):  # type: ignore[no-untyped-def]
            given_to.append(text)
            return super().cut(text)

    segmented_terms("sea 喜欢sea海边，🎉 é ไทย 山\ud800", Noting())
    assert given_to == ["喜欢", "海边"]


def test_a_word_of_a_query_is_a_unit_of_its_own_and_stop_words_are_marked() -> None:
    terms = segmented_query("sea喜欢什么清华大学", CUT)
    words = {term.term: term for term in terms if term.kind == "word"}
    assert words.keys() == {"sea", "喜欢", "什么", "清华大学"}
    assert len({term.unit for term in words.values()}) == 4
    assert [word for word, term in words.items() if term.stop] == ["什么"]
    assert not any(term.kind in ("pair", "seam") for term in terms)
    assert {term.unit for term in terms if term.kind == "character"} == {-1}


def test_a_word_of_empty_characters_is_a_stop_word() -> None:
    assert [t.stop for t in segmented_query("我的", ListSegmenter("我的")) if t.kind == "word"] == [True]


def test_a_word_without_end_is_cut_where_terms_end() -> None:
    long = "山" * 90
    assert max(segmented_terms(long, ListSegmenter(long)), key=len) == "山" * LONGEST_TERM
    assert max((t.term for t in segmented_query(long, ListSegmenter(long))), key=len) == "山" * LONGEST_TERM


@given(TEXTS)
def test_a_query_asks_for_what_the_same_text_holds(text: str) -> None:
    assert Counter(term.term for term in segmented_query(text, CUT)) == Counter(segmented_terms(text, CUT))


@given(TEXTS)
def test_but_for_pairs_and_words_of_han_the_terms_are_the_usual_ones(text: str) -> None:
    usual, segmented = Counter(analyze(text)), Counter(segmented_terms(text, CUT))
    assert all(len(term) == 2 for term in usual - segmented)
    assert all(term in CUT.words for term in segmented - usual)
    singles = Counter({term: count for term, count in usual.items() if len(term) == 1})
    assert Counter({term: count for term, count in segmented.items() if len(term) == 1}) == singles


@given(TEXTS)
def test_units_of_a_query_are_those_of_the_usual_reading_and_new_ones(text: str) -> None:
    kept = {t.unit for t in analyze_query(text) if t.kind not in ("pair", "seam")} - {-1}
    fresh = [t.unit for t in segmented_query(text, CUT) if t.term in CUT.words]
    assert len(set(fresh)) == len(fresh)
    assert kept.isdisjoint(fresh)
