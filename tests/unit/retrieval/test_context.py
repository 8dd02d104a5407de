"""What stands around a document speaks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isclose
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoranda.core.analysis import analyze
from memoranda.index.bm25 import Bm25Parameters, inverse_document_frequency
from memoranda.index.entries import ASKS, Entry
from memoranda.retrieval.context import Context
from memoranda.retrieval.explanation import Explanation
from memoranda.retrieval.parameters import RetrievalParameters
from memoranda.retrieval.query import read_query
from memoranda.retrieval.result import Hit, Retrieval
from memoranda.retrieval.retriever import Retriever

Make = Callable[..., Retriever]
MakeEntry = Callable[..., Entry]

TURNS = RetrievalParameters().turns
ALONE = RetrievalParameters(turns=Context(), items=Context(), floor=0.0)
words = st.sampled_from(["lake", "sunrise", "kayak", "paint", "sand", "海边", "日出"])
sentences = st.lists(
    st.lists(words, max_size=6).flatmap(lambda w: st.sampled_from([" ".join(w), " ".join(w) + "?"])),
    min_size=1,
    max_size=9,
)


def talk(entry: MakeEntry, texts: Sequence[str], name: str = "c", **more: str) -> list[Entry]:
    return [entry(f"turn/{name}#{number}", text, **more) for number, text in enumerate(texts, start=1)]


def ask(retriever: Retriever, query: str, **how: object) -> Retrieval:
    return retriever.retrieve(query, k=100, levels=["resource"], deadline=None, **how)  # type: ignore[arg-type]


def addresses(found: Retrieval) -> list[str]:
    return [hit.address for hit in found]


def scores(found: Retrieval) -> dict[str, float]:
    return {hit.address: hit.score for hit in found}


def by_the_formula(texts: Sequence[str], query: str) -> dict[int, float]:
    """BM25F as the module's docstring has it, over one sitting, without any short cut."""
    bm25, context = Bm25Parameters(), TURNS
    asks = [text.endswith("?") for text in texts]
    terms = [[*analyze(text), *([ASKS] if ask else [])] for text, ask in zip(texts, asks, strict=True)]
    average = sum(map(len, terms)) / len(texts) or 1.0
    weights: Mapping[str, float] = read_query(query).weights
    found: dict[int, float] = {}
    holders = {term: [n for n, held in enumerate(terms) if term in held] for term in weights}
    pool = {n for held in holders.values() for n in held}
    for at in {n + step for n in pool for step in range(-2, 3)} & set(range(len(texts))):
        score = 0.0
        for term, weight in weights.items():

            def own(place: int, term: str = term) -> float:
                if not 0 <= place < len(texts):
                    return 0.0
                length = 1.0 - bm25.b + bm25.b * len(terms[place]) / average
                return terms[place].count(term) / length

            before = context.answer if at and asks[at - 1] else context.near
            f = own(at) + before * own(at - 1) + context.near * own(at + 1) + context.far * (own(at - 2) + own(at + 2))
            f += context.sitting * any(other != at for other in holders[term])
            idf = inverse_document_frequency(len(texts), len(holders[term]))
            score += weight * idf * (bm25.k1 + 1.0) * f / (bm25.k1 + f)
        if score > 0.0:
            found[at + 1] = score * (context.asking if asks[at] else 1.0)
    return found


@given(sentences, st.lists(words, min_size=1, max_size=4).map(" ".join))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_scores_are_those_of_the_formula(retriever: Make, entry: MakeEntry, texts: list[str], query: str) -> None:
    asked = retriever(talk(entry, texts), parameters=RetrievalParameters(floor=0.0))
    expected = by_the_formula(texts, query)
    found = {int(address.rpartition("#")[2]): score for address, score in scores(ask(asked, query)).items()}
    assert found == pytest.approx(expected)


@given(sentences, st.lists(words, min_size=1, max_size=4).map(" ".join))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_nothing_is_lent_to_scores_by_its_own_words(
    retriever: Make, entry: MakeEntry, texts: list[str], query: str
) -> None:
    strangers = [entry(f"turn/c{number}#1", text.rstrip("?")) for number, text in enumerate(texts)]
    plain = ask(retriever(strangers, parameters=ALONE), query)
    assert scores(ask(retriever(strangers, parameters=RetrievalParameters(floor=0.0)), query)) == scores(plain)


@given(sentences, sentences, st.lists(words, min_size=1, max_size=4).map(" ".join), st.randoms())
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_answer_does_not_depend_on_the_order_in_which_entries_came(
    retriever: Make, entry: MakeEntry, first: list[str], second: list[str], query: str, chance: Random
) -> None:
    entries = talk(entry, first, "c") + talk(entry, second, "d")
    expected = ask(retriever(entries), query, explain=True)
    chance.shuffle(entries)
    assert ask(retriever(entries), query, explain=True) == expected


@given(sentences, st.lists(words, min_size=1, max_size=4).map(" ".join))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_explained_adds_up(retriever: Make, entry: MakeEntry, texts: list[str], query: str) -> None:
    for hit in ask(retriever(talk(entry, texts)), query, explain=True):
        said = explained(hit)
        whole = sum(part.part for part in said.terms) + sum(part.part for part in said.lent)
        for factor in said.factors:
            whole *= factor.times
        assert isclose(whole, hit.score)
        assert all(part.part > 0.0 for part in said.lent)


def test_an_answer_is_found_by_its_question(retriever: Make, entry: MakeEntry) -> None:
    texts = ["Hello!", "Which agency did you pick?", "The one by the river.", "Good.", "Bye.", "See you."]
    found = ask(retriever(talk(entry, texts)), "agency pick", explain=True)
    assert addresses(found) == ["turn/c#2", "turn/c#3", "turn/c#1", "turn/c#4"]
    answer = explained(found.hits[1])
    assert answer.terms == ()
    assert [(part.address, part.where) for part in answer.lent] == [
        ("turn/c#2", "the question before it"),
        ("", "the rest of its sitting"),
    ]
    assert answer.lent[0].words == ("agency", "pick")
    said = answer.describe().split("\n")
    assert said[1].startswith("turn/c#2, the question before it, lends “agency”, “pick”: +")
    assert said[2].startswith("the rest of its sitting lends “agency”, “pick”: +")
    assert "does not hold: agency, pick" in said


@pytest.mark.parametrize("mark", ["?", "？", '?"', "?)", "?!", "? ", "？」"])
def test_a_question_lends_more_to_what_follows_it(retriever: Make, entry: MakeEntry, mark: str) -> None:
    asking = scores(ask(retriever(talk(entry, [f"an agency{mark}", "by the river"])), "agency"))
    saying = scores(ask(retriever(talk(entry, ["an agency.", "by the river"])), "agency"))
    assert asking["turn/c#2"] > saying["turn/c#2"]
    assert asking["turn/c#1"] < saying["turn/c#1"], "and is less of an answer itself"


def test_the_end_of_a_question_is_no_word(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever(talk(entry, ["an agency?", "by the river"]))
    assert ask(asked, "?", mode="keyword").hits == []
    assert addresses(ask(asked, "?")) == ["turn/c#1"], "looked for as it stands"


def test_the_nearer_the_more(retriever: Make, entry: MakeEntry) -> None:
    found = scores(ask(retriever(talk(entry, ["one", "two", "kayak", "four", "five", "six"])), "kayak"))
    assert found["turn/c#3"] > found["turn/c#2"] == found["turn/c#4"] > found["turn/c#1"] == found["turn/c#5"]
    assert "turn/c#6" not in found


def test_nothing_is_lent_across_a_pause(retriever: Make, entry: MakeEntry) -> None:
    entries = [
        entry("turn/c#1", "kayak", ts="2026-07-01T10:00:00Z"),
        entry("turn/c#2", "on the river", ts="2026-07-01T10:30:00Z"),
        entry("turn/c#3", "next day", ts="2026-07-02T10:30:00Z"),
    ]
    assert addresses(ask(retriever(entries), "kayak")) == ["turn/c#1", "turn/c#2"]


def test_nothing_is_lent_from_one_conversation_to_another(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever([*talk(entry, ["kayak"], "c"), *talk(entry, ["river"], "d")])
    assert addresses(ask(asked, "kayak")) == ["turn/c#1"]


def test_what_may_not_be_seen_lends_nothing(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever(talk(entry, ["the secret kayak?", "red", "kayak"]))

    def visible(one: Entry) -> bool:
        return one.address != "turn/c#1"

    found = ask(asked, "kayak", visible=visible, explain=True)
    assert addresses(found) == ["turn/c#3", "turn/c#2"]
    first, second = map(explained, found)
    assert first.lent == ()
    assert isclose(first.score, sum(part.part for part in first.terms))
    assert [part.address for part in second.lent] == ["turn/c#3", ""]
    assert "secret" not in str(found.as_dict())


def explained(hit: Hit) -> Explanation:
    assert hit.explanation is not None
    return hit.explanation


def items(entry: MakeEntry, texts: Sequence[str]) -> list[Entry]:
    return [entry(f"sport:n{number}", text, parent="sport", order=number) for number, text in enumerate(texts, start=1)]


def test_an_item_is_helped_by_its_neighbours_but_never_found_for_their_sake(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever(items(entry, ["kayak on the lake", "a lake", "sand", "sand", "a lake"]))
    found = asked.retrieve("kayak lake", k=10)
    assert addresses(found) == ["sport:n1", "sport:n2", "sport:n5"]
    assert scores(found)["sport:n2"] > scores(found)["sport:n5"]


def test_context_can_be_switched_off(retriever: Make, entry: MakeEntry) -> None:
    found = ask(retriever(talk(entry, ["kayak", "river"]), parameters=ALONE), "kayak", explain=True)
    assert addresses(found) == ["turn/c#1"]
    assert explained(found.hits[0]).lent == ()


def test_a_long_query_says_enough_by_itself(retriever: Make, entry: MakeEntry) -> None:
    long = " ".join(f"w{number}x" for number in range(200))
    found = ask(retriever(talk(entry, [long, "river"])), long, explain=True)
    assert addresses(found) == ["turn/c#1"]
    assert found.hits[0].weak is False


def test_settings_without_saturation_are_answered(retriever: Make, entry: MakeEntry) -> None:
    flat = RetrievalParameters(memory=Bm25Parameters(0.0, 0.0))
    found = ask(retriever(talk(entry, ["kayak kayak", "river"]), parameters=flat), "kayak", explain=True)
    assert addresses(found) == ["turn/c#1"]
    steep = RetrievalParameters(memory=Bm25Parameters(1.2, 1.0))
    assert addresses(ask(retriever(talk(entry, ["kayak", "river"]), parameters=steep), "kayak"))[0] == "turn/c#1"


def test_a_neighbour_far_down_the_list_is_looked_around(retriever: Make, entry: MakeEntry) -> None:
    others = [one for n in range(30) for one in talk(entry, ["kayak kayak", "on"], f"d{n:02}")]
    asked = retriever([*others, *talk(entry, ["a kayak and a long tale of how it came to be there", "red"])])
    assert "turn/c#2" in addresses(ask(asked, "kayak"))
