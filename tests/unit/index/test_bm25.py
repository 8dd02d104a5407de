"""The pieces of the formula, and how a posting is packed."""

from __future__ import annotations

from math import isclose, log

from hypothesis import given
from hypothesis import strategies as st

from memoranda.index.bm25 import (
    Bm25Index,
    Bm25Parameters,
    Impacts,
    inverse_document_frequency,
    length_norm,
    pack,
    unpack,
)


@given(tf=st.integers(1, 4095), length=st.integers(0, 1_048_575))
def test_a_code_holds_both_numbers_in_32_bits(tf: int, length: int) -> None:
    assert unpack(pack(tf, length)) == (tf, length)
    assert pack(tf, length) < 1 << 32


def test_what_is_beyond_a_code_counts_as_its_most() -> None:
    assert unpack(pack(5000, 2_000_000)) == (4095, 1_048_575)


@given(tf=st.integers(1, 50), length=st.integers(1, 500))
def test_an_impact_is_the_formula_without_idf(tf: int, length: int) -> None:
    parameters = Bm25Parameters(1.2, 0.4)
    impacts = Impacts(*length_norm(10, 200, parameters))
    assert isclose(impacts[pack(tf, length)], tf / (tf + 1.2 * (1 - 0.4 + 0.4 * length / 20)))
    assert impacts[pack(tf, length)] == impacts[pack(tf, length)]


def test_idf_falls_with_the_frequency_and_stays_above_zero() -> None:
    values = [inverse_document_frequency(10, df) for df in range(11)]
    assert values == sorted(values, reverse=True)
    assert values[10] > 0
    assert isclose(values[3], log(1 + 7.5 / 3.5))


def test_bounds_follow_what_is_put_in_after_they_were_asked_for() -> None:
    index = Bm25Index()
    index.put(1, ["sea", "sand", "sand"])
    assert index.bounds("sea") == (1, 3)
    index.put(2, ["sea", "sea"])
    assert index.bounds("sea") == (2, 2)
