"""A segment on disk changes no answer: not when it is old, damaged, or gone."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from changing import CHANGES, HAND, TWINS, answers, seeded, take_step
from fakes.clock import FakeClock
from memoranda.bootstrap import Vault
from memoranda.index import segment_keeper
from memoranda.index.segment_keeper import SegmentKeeper
from observing import write

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


WORDS = ["sea", "beach", "coffee", "morning", "Lin", "hangzhou", "海边", "咖啡", "喜欢", "上周", "DEC-0054", "v1.2"]
WORDS += ["project", "plan", "meeting", "photo"]
QUERIES = [" ".join(random.Random(n).choices(WORDS, k=1 + n % 5)) for n in range(200)]


def filled(root: Path) -> None:
    """A vault of some files, scopes and conversations."""
    chance = random.Random(7)
    for number in range(6):
        items = [
            f"## item {number}-{n}\n\n{' '.join(chance.choices(WORDS, k=8))} [[c{n % 6}:item {n % 6}-{n % 9}]]\n\n"
            f"<!-- memoranda: owner=user:lin | ts=2026-0{1 + n % 9}-10 -->\n"
            for n in range(12)
        ]
        folder = "users/lin/memory" if number == 5 else "memory"
        write(root, f"{folder}/c{number}.md", f"# c{number}\n\n" + "\n".join(items))
    turns = [
        {
            "conversation": f"talk{n % 2}",
            "turn": str(n),
            "speaker": ("Lin", "Ana")[n % 2],
            "ts": f"2026-07-0{1 + n // 10}",
        }
        | {"text": " ".join(chance.choices(WORDS, k=7))}
        for n in range(60)
    ]
    Vault.open(root, clock=FakeClock()).import_turns(turns)
    for number in range(8):
        sections = (f"## part {n}\n\n{' '.join(chance.choices(WORDS, k=9))} [[c{n}:item 1]]\n" for n in range(9))
        write(root, f"docs/kb{number % 2}/doc{number}.md", f"# doc {number}\n\n" + "\n".join(sections))
    write(root, "docs/kb1/corpus.json", '{"size": 90, "overlap": 20, "scope": "user/lin"}')


def found(vault: Vault) -> list[list[tuple[str, float, str]]]:
    """What all queries find."""
    levels, scopes = ["item", "resource", "passage"], ["user/lin", "shared"]
    vault.warm(("item", "resource", "passage"))
    retrieved = [vault.retrieve(q, levels=levels, scopes=scopes, deadline=60) for q in QUERIES]
    assert all(not one.unavailable for one in retrieved)
    return [[(hit.address, hit.score, hit.text) for hit in one.hits] for one in retrieved]


def damaged(data: bytes, how: str, chance: random.Random) -> bytes | None:
    """The bytes of a file after an accident; ``None``: it is gone."""
    if how == "gone":
        return None
    if how == "cut":
        return data[: chance.randrange(len(data))]
    if how == "longer":
        return data + b"\0" * 100
    changed = bytearray(data)
    for _ in range(1 if how == "one bit" else 200):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


@pytest.mark.parametrize("how", ["gone", "cut", "longer", "one bit", "many bits"])
@pytest.mark.parametrize("open_before", [False, True], ids=["opened after", "opened before"])
def test_damage_to_the_cache_changes_no_answer(
    tmp_path: Path, how: str, open_before: bool, request: pytest.FixtureRequest
) -> None:
    filled(tmp_path)
    Vault.open(tmp_path, clock=FakeClock()).reindex()
    vault = Vault.open(tmp_path, clock=FakeClock())
    right = found(vault)
    assert sum(map(bool, right)) > 150
    chance = random.Random(request.node.name)
    for path in sorted(p for p in (tmp_path / ".cache").rglob("*") if p.is_file() and p.stat().st_size):
        with open(path, "r+b") as stream:
            # In place: a process that has it open sees it change.
            changed = damaged(stream.read(), how, chance)
            stream.seek(0)
            stream.truncate()
            stream.write(changed or b"")
        if changed is None:
            path.unlink()
    if not open_before:
        vault = Vault.open(tmp_path, clock=FakeClock())
    assert found(vault) == right
    assert found(Vault.open(tmp_path, clock=FakeClock())) == right


@pytest.mark.parametrize("seed", range(12))
def test_every_flipped_bit_is_noticed_where_it_matters(tmp_path: Path, seed: int) -> None:
    filled(tmp_path)
    Vault.open(tmp_path, clock=FakeClock()).reindex()
    right = found(Vault.open(tmp_path, clock=FakeClock()))
    path = tmp_path / ".cache/keywords.segment"
    path.write_bytes(damaged(path.read_bytes(), "one bit", random.Random(seed)) or b"")
    assert found(Vault.open(tmp_path, clock=FakeClock())) == right
