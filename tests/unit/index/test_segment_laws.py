"""A segment on disk changes no answer: not when it is old, damaged, or gone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from changing import CHANGES, HAND, TWINS, answers, seeded, take_step
from fakes.clock import FakeClock
from memoranda.bootstrap import Vault
from memoranda.index import segment_keeper
from memoranda.index.segment_keeper import SegmentKeeper

LAWS = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(autouse=True, scope="module")
def small_segments() -> Iterator[None]:
    """Segments even of the smallest vaults; none is rewritten in the background."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(segment_keeper, "_WORTH_A_SEGMENT", 0)
        patched.setattr(SegmentKeeper, "rewrite_later", lambda self, loose, total: None)
        yield


@LAWS
@given(
    st.lists(st.one_of(CHANGES, HAND), max_size=4),
    st.lists(st.one_of(CHANGES, HAND), min_size=1, max_size=6),
)
def test_what_lies_over_a_segment_equals_what_is_read_anew(
    before: list[tuple[str, ...]], after: list[tuple[str, ...]]
) -> None:
    with seeded(**TWINS) as (first, root):
        for step in before:
            take_step(first, root, step)
        first.reindex()
        assert (root / ".cache/keywords.segment").is_file()
        vault = Vault.open(root, clock=FakeClock())
        for step in after:
            take_step(vault, root, step)
            vault.retrieve("one", levels=["item", "resource"], deadline=60)
        kept = answers(vault)
        # Another process, which finds the segment as it was and the files as they are.
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(SegmentKeeper, "make_now", lambda self, unread, total, progress: False)
            assert answers(Vault.open(root, clock=FakeClock())) == kept
            shutil.rmtree(root / ".cache", ignore_errors=True)
            assert answers(Vault.open(root, clock=FakeClock())) == kept
        # One that makes a new segment.
        assert answers(Vault.open(root, clock=FakeClock())) == kept
