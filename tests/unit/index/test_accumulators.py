"""The best of what was added up, found without a look at all of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memoranda.index.accumulators import Accumulators, last_of_best, promising

DENSE = 40

#: Of one index, for each term, documents of its segment (ascending) and others, each with a share.
TERMS = st.lists(
    st.tuples(
        st.dictionaries(st.integers(0, DENSE - 1), st.floats(0.01, 1.0), max_size=30),
        st.dictionaries(st.integers(DENSE, DENSE + 20), st.floats(0.01, 1.0), max_size=8),
    ),
    min_size=1,
    max_size=6,
)


def added(dense, terms, factors):
    sums = Accumulators(dense, sum(len(own) + len(other) for own, other in terms))
    for (own, other), factor in zip(terms, factors, strict=True):
        docs = sorted(own)
        sums.add(docs, [own[doc] for doc in docs], factor)
        sums.add(other.keys(), other.values(), factor)
    return sums


def plain(terms, factors):
    scores = {}
    for (own, other), factor in zip(terms, factors, strict=True):
        for doc, share in (own | other).items():
            scores[doc] = scores.get(doc, 0.0) + factor * share
    return scores


FACTORS = [8.0, 4.0, 2.5, 1.0, 0.5, 0.1]


@given(TERMS, st.booleans())
def test_a_row_and_a_mapping_give_the_same_sums_to_the_last_digit(terms, in_a_row):
    factors = FACTORS[: len(terms)]
    sums = added(DENSE if in_a_row else 0, terms, factors)
    assert dict(sums.items()) == plain(terms, factors)
    assert dict(sums.scores(range(DENSE + 21))) == plain(terms, factors)


@given(TERMS, TERMS, st.integers(1, 30), st.booleans())
def test_the_best_of_two_indexes_are_among_the_promising_ones_with_their_whole_scores(first, second, size, in_a_row):
    count = min(len(first), len(second))
    factors = FACTORS[:count]
    indexes = [first[:count], second[:count]]
    sums = [added(DENSE if in_a_row else 0, terms, factors) for terms in indexes]
    lists = [
        [
            posting
            for number, terms in enumerate(indexes)
            for posting in (
                (number, sorted(terms[at][0]), []),
                (number, terms[at][1].keys(), []),
            )
        ]
        for at in range(count)
    ]
    rest = [sum(factors[at:]) * 1.000001 for at in range(count)]
    found = promising(sums, lists, rest, size)
    whole = [plain(terms, factors) for terms in indexes]
    everything = sorted(((score, n, doc) for n, scores in enumerate(whole) for doc, score in scores.items()))
    for score, number, doc in everything[-size:]:
        last = everything[-size:][0][0]
        if score > last:
            assert found[number][doc] == score
    for number, scores in enumerate(found):
        assert scores.items() <= whole[number].items()


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=600), st.integers(1, 20))
def test_the_last_of_the_best_is_what_sorting_all_finds(numbers, size):
    size = min(size, len(numbers))
    assert last_of_best([dict(enumerate(numbers))], size) == sorted(numbers)[-size]
