"""What a query asks for."""

from __future__ import annotations

from math import log

from memoranda.retrieval.query import QueryWeights, read_query


def test_function_words_are_left_out() -> None:
    query = read_query("What is the colour of the sea?")
    assert query.weights == {"colour": 1.0, "sea": 1.0}
    assert query.stop_words == ("what", "is", "the", "of")


def test_a_query_of_function_words_alone_asks_for_them() -> None:
    query = read_query("who are you")
    assert query.weights.keys() == {"who", "are", "you"}
    assert query.stop_words == ()
    assert read_query("他是谁").weights.keys() == {"他", "是", "谁", "他是", "是谁"}


def test_nothing_to_ask_for() -> None:
    assert not read_query("… → %")
    assert not read_query("")
    assert read_query("sea")


def test_kinds_weigh_differently() -> None:
    weights = QueryWeights(word=2.0, whole=3.0, part=0.25, pair=5.0, character=0.5, seam=0.75)
    query = read_query("sea DEC-0054 的海边", weights)
    assert query.weights == {
        "sea": 2.0,
        "dec-0054": 3.0,
        "dec": 0.25,
        "0054": 0.25,
        "海": 0.5,
        "边": 0.5,
        "海边": 5.0,
        "的海": 0.75,
    }


def test_repetition_adds_little() -> None:
    assert read_query("sea sea sea").weights == {"sea": 1.0 + log(3)}
    assert read_query("sea sea sea").evidence == {"sea": 1.0}


def test_a_word_that_is_also_a_part_counts_in_full() -> None:
    assert read_query("node.js on a node").weights["node"] > 1.0


def test_how_a_term_is_shown() -> None:
    assert read_query("Caroline’s Painting").shown == {"carolin": "caroline", "paint": "painting"}


def test_as_evidence_a_word_of_two_characters_is_about_one_word() -> None:
    assert read_query("sea picnic").evidence == {"sea": 1.0, "picnic": 1.0}
    assert read_query("海边").evidence == {"海": 0.3, "边": 0.3, "海边": 0.6}
    assert read_query("DEC-0054").evidence == {"dec-0054": 1.0, "dec": 0.5, "0054": 0.5}
    assert read_query("the sea").evidence.keys() == {"sea"}
