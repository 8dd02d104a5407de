"""Passages on disk change no answer: what lies over a segment, however it came to be, equals what is read anew."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from changing import CHANGES, change
from fakes.clock import FakeClock
from memoranda.bootstrap import Vault
from memoranda.core.errors import MemorandaError
from memoranda.index import library, segment_keeper
from memoranda.index.segment_keeper import SegmentKeeper
from observing import write

LAWS = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
LEVELS = ("item", "resource", "passage")


@pytest.fixture(autouse=True, scope="module")
def small_segments() -> Iterator[None]:
    """Segments even of the smallest vaults, none rewritten in the background; documents are looked at each time."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(segment_keeper, "_WORTH_A_SEGMENT", 0)
        patched.setattr(SegmentKeeper, "rewrite_later", lambda self, loose, total: None)
        patched.setattr(library, "_PAUSE", 0.0)
        yield


CORPORA = st.sampled_from(["boat", "Plans"])
DOCUMENTS = st.sampled_from(["a", "b", "guide"])
SECTIONS = st.sampled_from(
    [
        "# One\n\none two three",
        "## Two\n\n喜欢海边，还有 [[c:a]]。",
        "## Long\n\n" + "one fresh two. " * 12,
        "plain words by hand",
        "| own | milk |\n| --- | --- |\n" + "| three | 海边 |\n" * 8,
        "<!-- page 2 -->\n\n## One\n\none two three",
        "",
    ]
)
TEXTS = st.lists(SECTIONS, min_size=1, max_size=4).map("\n\n".join)
SIZES = st.sampled_from([60, 61, 1000])
HAND = st.one_of(
    st.tuples(st.just("put"), CORPORA, DOCUMENTS, TEXTS),
    st.tuples(st.just("before"), CORPORA, DOCUMENTS, SECTIONS),
    st.tuples(st.just("behind"), CORPORA, DOCUMENTS, SECTIONS),
    st.tuples(st.just("in place"), CORPORA, DOCUMENTS),
    st.tuples(st.just("touch"), CORPORA, DOCUMENTS),
    st.tuples(st.just("no text"), CORPORA, DOCUMENTS),
    st.tuples(st.just("delete"), CORPORA, DOCUMENTS),
    st.tuples(st.just("rename"), CORPORA, DOCUMENTS),
    st.tuples(st.just("whole corpus"), CORPORA),
    st.tuples(st.just("settings"), CORPORA, SIZES, st.sampled_from([0, 30]), st.sampled_from(["shared", "user/lin"])),
    st.tuples(st.just("no cache")),
)
STEPS = st.one_of(HAND, HAND, HAND, CHANGES)


def take_step(vault: Vault, root: Path, step: tuple[object, ...]) -> None:
    kind, *rest = step
    if kind in ("remember", "nameless", "revise", "supersede", "batch", "turns") or (
        kind == "rename" and len(rest) > 2
    ):
        with suppress(MemorandaError):
            change(vault, step)  # type: ignore[arg-type]
        return
    if kind == "no cache":
        shutil.rmtree(root / ".cache", ignore_errors=True)
        return
    folder = root / "docs" / str(rest[0])
    if kind == "whole corpus":
        shutil.rmtree(folder, ignore_errors=True)
        return
    if kind == "settings":
        size, overlap, scope = rest[1:]
        write(folder, "corpus.json", json.dumps({"size": size, "overlap": overlap, "scope": scope}))
        return
    path = folder / f"{rest[1]}.md"
    if kind in ("put", "no text"):
        write(folder, path.name, str(rest[2]) if kind == "put" else b"one \xff\xfe")
    elif path.exists():
        before = path.read_bytes()
        if kind == "before":
            path.write_bytes(f"{rest[2]}\n\n".encode() + before)
        elif kind == "behind":
            path.write_bytes(before + f"\n\n{rest[2]}".encode())
        elif kind == "in place":
            path.write_bytes(before.replace(b"one", b"own"))
        elif kind == "touch":
            path.touch()
        elif kind == "delete":
            path.unlink()
        else:
            path.rename(folder / "renamed.md")


def answers(vault: Vault) -> dict[str, object]:
    found: dict[str, object] = {}
    for query in ("one", "海边", "two three", "own", "fresh by hand", "milk"):
        for scopes in (None, ["user/lin", "shared"]):
            for levels in (["passage"], LEVELS):
                result = vault.retrieve(query, scopes=scopes, levels=levels, k=50, deadline=60)
                assert result.unavailable == []
                found[f"{query} {scopes} {levels}"] = [
                    (h.address, h.score, h.text, h.hash, h.citation, h.via, h.weak) for h in result.hits
                ]
    held = vault._contents.held(("passage",))
    found["held"] = sorted(held, key=lambda entry: entry.address)
    assert len({entry.address for entry in held}) == len(held)
    assert len(vault._contents.corpus) == len(vault._contents.held(LEVELS))
    corpus = vault._contents.corpus
    with corpus.lock:
        for partition in corpus.partitions(("passage",)):
            for doc, entry in partition.entries.items():
                assert corpus.get(entry.address) == entry
                run, at = partition.run(doc)
                assert run[at] == doc
                found[f"run {entry.address}"] = [partition.entries[other].address for other in run]
                found[f"family {entry.address}"] = {
                    partition.entries[n].address for n in partition.of_parent(entry.parent)
                }
    sources = vault._contents.sources()
    found["sources"] = {path: (one.level, one.stamp, one.parents) for path, one in sources.items()}
    return found


@LAWS
@given(st.lists(STEPS, max_size=6), st.lists(STEPS, min_size=1, max_size=7))
def test_what_lies_over_a_segment_equals_what_is_read_anew(
    before: list[tuple[object, ...]], after: list[tuple[object, ...]]
) -> None:
    root = Path(tempfile.mkdtemp())
    try:
        write(root, "memory/c.md", "## a\n\none [[kb/boat/guide#x]]\n")
        write(root, "docs/boat/guide.md", "# Guide\n\none two\n\n## 海边\n\n" + "own milk one. " * 9)
        write(root, "docs/boat/corpus.json", '{"size": 60}')
        first = Vault.open(root, clock=FakeClock())
        for step in before:
            take_step(first, root, step)
        first.reindex()
        vault = Vault.open(root, clock=FakeClock())
        for number, step in enumerate(after):
            take_step(vault, root, step)
            if number % 2 == 0:
                vault.retrieve("one", levels=LEVELS, deadline=60)
        kept = answers(vault)
        # Another process, which finds the segments as they were and the files as they are.
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(SegmentKeeper, "make_now", lambda self, unread, total, progress: False)
            assert answers(Vault.open(root, clock=FakeClock())) == kept
            shutil.rmtree(root / ".cache", ignore_errors=True)
            assert answers(Vault.open(root, clock=FakeClock())) == kept
        # One that makes new segments, and one that takes all from there.
        assert answers(Vault.open(root, clock=FakeClock())) == kept
        assert answers(Vault.open(root, clock=FakeClock())) == kept
    finally:
        shutil.rmtree(root, ignore_errors=True)
