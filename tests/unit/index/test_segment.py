"""What is written into a segment is read from it, and nothing that was not written is believed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from memoranda.core.links import find_links
from memoranda.core.metadata import Metadata
from memoranda.core.passages import cut
from memoranda.core.records import replace
from memoranda.index.entries import Entry, address_key, encode_key, passage_entry
from memoranda.index.segment import Segment
from memoranda.index.segment_format import SegmentDamaged
from segments import analyzed, make_segment


def turn(number: int, ts: str, speaker: str = "Lin", talk: str = "talk") -> Entry:
    address = f"turn/{talk}#{number}"
    entry = Entry(address, "resource", "shared", talk, "", "said", "", parent=talk, order=number)
    return replace(entry, citation=address, speaker=speaker, ts=ts)


def item(name: str, text: str, line: int = 1, category: str = "c", **metadata: str) -> Entry:
    category = f"user/Lin/{category}"
    address = f"{category}:{name}"
    entry = Entry(address, "item", "user/Lin", category, name, text, "0123456789", parent=category, order=line)
    about = Metadata(tuple(metadata.items()))
    path = f"users/Lin/memory/{category.rpartition('/')[2]}.md"
    return replace(entry, metadata=about, links=find_links(text), citation=f"{path}:{line}", ts=metadata.get("ts", ""))


def test_an_entry_comes_back_as_it_was(tmp_path: Path) -> None:
    first = item("海边 \U0001f30a", "text \ud800 with \x00 and [[a:b|shown]] \u2028", 3, ts="2026-07-10", odd="=|&#10;")
    second = item("plain", "喜欢", 9, "d")
    segment = make_segment(tmp_path / "s", [[first], [second]])
    partition = segment.partition("item", "user/Lin")
    assert [partition.entry(0), partition.entry(1)] == [first, second]
    moved = partition.entry(1, 12)
    assert (moved.order, moved.citation) == (12, "users/Lin/memory/d.md:12")


def test_a_passage_comes_back_as_it_was(tmp_path: Path) -> None:
    text = "# A: b\n\n\U0001f30a 海边 [[c:d|e]].\n\n" + "\n\n".join(f"## {n}\n\n{'sea ' * 30}" for n in range(5))
    place = "<!-- page 7 -->\n"
    cut_texts = [cut(text, size=80), cut(place + text, size=200)]
    entries = [
        [passage_entry("Boat", f"doc-{n}", one, f"docs/Boat/doc-{n}.md") for one in passages]
        for n, passages in enumerate(cut_texts)
    ]
    partition = make_segment(tmp_path / "s", entries).partition("passage", "kb/boat")
    whole = [*entries[0], *entries[1]]
    assert [partition.entry(doc) for doc in range(partition.documents)] == whole
    assert len(whole) > 8
    assert "page 7" in whole[-1].citation
    assert partition.run(0) == range(len(entries[0]))
    assert [partition.find(encode_key(address_key(entry.address))) for entry in whole] == list(range(len(whole)))
    assert partition.parents_named("kb/Boat/doc-1") == partition.parents_in("docs/Boat/doc-1.md") == [1]


def test_documents_are_found_by_the_key_of_their_address(tmp_path: Path) -> None:
    entries = [item(f"Name {n}", "x [[a:y]]" if n % 2 else "z", 1, "cd"[n >= 150]) for n in range(400)]
    partition = make_segment(tmp_path / "s", [entries[:150], entries[150:]]).partition("item", "user/Lin")
    for doc, entry in enumerate(entries):
        assert partition.find(encode_key(address_key(entry.address))) == doc
    assert partition.find(b"user/lin/c\0name") is None
    assert partition.inbound(encode_key(("a", "y"))) == 200
    assert partition.inbound(b"a\0z") == 0


def test_runs_end_where_the_time_jumps_and_where_the_parent_does(tmp_path: Path) -> None:
    times = ["10T10:00Z", "", "10T10:50Z", "10T11:51Z", "11T10:00Z", "11T10:00Z"]
    turns = [turn(n, ts and f"2026-07-{ts}", talk="ab"[n >= 4]) for n, ts in enumerate(times)]
    partition = make_segment(tmp_path / "s", [turns[:4], turns[4:]]).partition("resource", "shared")
    assert [partition.run(doc) for doc in range(6)] == [range(0, 3)] * 3 + [range(3, 4)] + [range(4, 6)] * 2
    assert partition.moment(1) is None
    ten = partition.moment(0)
    assert ten is not None
    assert [doc for _, doc in partition.dated(ten, ten + 3600)] == [2, 0]
    assert [doc for _, doc in partition.dated(0, 1e12)] == [5, 4, 3, 2, 0]
    assert list(partition.dated(5, 4)) == []


def test_who_speaks(tmp_path: Path) -> None:
    turns = [turn(n, "", name, "ab"[n >= 2]) for n, name in enumerate(["Lin", "Ana", "", "LIN"])]
    partition = make_segment(tmp_path / "s", [turns[:2], turns[2:]]).partition("resource", "shared")
    assert [partition.speaker(doc) for doc in range(4)] == ["lin", "ana", "", "lin"]
    assert partition.speakers() == {"lin": 2, "ana": 1}


def test_what_may_be_superseded_is_listed(tmp_path: Path) -> None:
    first = [item("a", "x"), item("b", "x", superseded_by="a")]
    second = [item("c", "x", 1, "d", valid_to="2026"), item("d", "x", 1, "d", odd="valid_to")]
    partition = make_segment(tmp_path / "s", [first, second]).partition("item", "user/Lin")
    assert partition.limited == [1, 2]


def test_the_terms_are_those_of_the_entries(tmp_path: Path) -> None:
    texts = ["sea sea", "the sea 海边", "海边 海边 beach " * 30]
    entries = [item(str(n), text, 1, "cd"[n > 0]) for n, text in enumerate(texts)]
    partition = make_segment(tmp_path / "s", [entries[:1], entries[1:]]).partition("item", "user/Lin")
    assert set(partition.terms()) == {term for entry in entries for term in analyzed(entry)}
    assert partition.total_length == sum(len(analyzed(entry)) for entry in entries)
    assert partition.document_frequency("sea") == 2
    assert partition.bounds("sea")[0] == 2
    assert partition.document_frequency("nowhere") == 0
    assert partition.columns("nowhere") is None


def test_any_flipped_bit_is_found_or_harmless(tmp_path: Path) -> None:
    texts = [f"word{n % 7} sea 海边 [[c:n{n // 2}]]" for n in range(40)]
    entries = [item(f"n{n}", text, 1, "cd"[n >= 20], ts="2026-07-10") for n, text in enumerate(texts)]
    path = tmp_path / "s"
    make_segment(path, [entries[:20], entries[20:]]).close()
    data = path.read_bytes()
    chance = random.Random(5)
    noticed = 0
    for _ in range(300):
        changed = bytearray(data)
        changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(changed)
        try:
            segment = Segment(str(path))
            partition = segment.partition("item", "user/Lin")
            assert [partition.entry(doc) for doc in range(40)] == entries
            assert partition.document_frequency("sea") == 40
            assert [doc for doc, _ in partition.codes("word3", range(40))] == [n for n in range(40) if n % 7 == 3]
            assert partition.find(b"user/lin/c\0n7") == 7
        except SegmentDamaged:
            noticed += 1
    assert noticed > 80


@pytest.mark.parametrize("size", [0, 10, 47, 48, 100, 1000])
def test_a_file_that_ends_too_soon_is_no_segment(tmp_path: Path, size: int) -> None:
    path = tmp_path / "s"
    make_segment(path, [[item("a", "sea")]]).close()
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(SegmentDamaged):
        Segment(str(path))
