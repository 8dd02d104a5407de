"""Fitting hits into a budget."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.core.tokens import estimate_tokens
from memoranda.retrieval.packing import pack
from memoranda.retrieval.rendering import frame_text, hit_text, render_block
from memoranda.retrieval.result import Hit


def hit(name: str, text: str) -> Hit:
    return Hit(f"a:{name}", "item", 1.0, text, "h", ts="2026-07-10")


FRAME = estimate_tokens(frame_text())
texts = (
    st.text(max_size=60) | st.integers(1, 60).map(lambda n: "word " * n) | st.integers(1, 60).map(lambda n: "海边" * n)
)


def test_without_a_budget_everything_fits() -> None:
    hits = [hit("x", "word " * 10_000)]
    assert pack(hits, None) == (hits, [])


def test_smaller_ones_still_enter_after_one_that_does_not_fit() -> None:
    small, large, other = hit("s", "sea"), hit("l", "word " * 500), hit("o", "sand")
    cost = estimate_tokens(hit_text(small, 1))
    kept, dropped = pack([small, large, other], FRAME + 2 * cost + 2)
    assert kept == [small, other]
    (out,) = dropped
    assert out.address == "a:l"
    assert out.tokens == estimate_tokens(hit_text(large, 2))
    assert out.reason == f"takes about {out.tokens} tokens, {cost + 2} of {FRAME + 2 * cost + 2} were left"


def test_a_budget_that_is_just_enough() -> None:
    one = hit("x", "sea")
    enough = FRAME + estimate_tokens(hit_text(one, 1))
    assert pack([one], enough) == ([one], [])
    assert pack([one], enough - 1)[0] == []
    assert pack([one], 0)[1][0].reason.endswith("0 of 0 were left")


@given(st.lists(texts, max_size=8), st.integers(0, 300))
@settings(max_examples=150, deadline=None)
def test_the_block_keeps_the_budget_and_nothing_is_lost(bodies: list[str], budget: int) -> None:
    hits = [hit(str(number), body) for number, body in enumerate(bodies)]
    kept, dropped = pack(hits, budget)
    if kept:
        assert estimate_tokens(render_block(kept)) <= budget
    assert sorted([h.address for h in kept] + [d.address for d in dropped]) == sorted(h.address for h in hits)
    assert kept == [h for h in hits if h in kept]
