"""What holds for every sequence of changes."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.clock import FakeClock
from memoranda.bootstrap import Vault
from memoranda.core.errors import MemorandaError
from memoranda.core.items import parse
from observing import journal, memory_bytes, write

LAWS = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))

SEEDS = {
    "memory/hand.md": "---\ntitle: x\n---\nPreamble with [[c:a]] and *odd*   markdown\n\n##  a ##\n\none\n\n\n## b\n"
    "<!-- memoranda: owner=user:lin|x=1 -->\n\n```\n## no\n```\ntail [[hand:a]]",
    "memory/crlf.md": "\ufeff# crlf\r\n\r\n## a\r\n\r\none\r\ntwo\r\n\r\n## c\r\nthree",
    "memory/list.md": "- milk [[c:a]]\n- bread ^b\n\n  more\n* eggs\n",
    "users/lin/memory/c.md": "## a\n\nher own [[c:b]]\n## b\n\nx\n# part\n\ntext between\n",
}

#: Two files that are one category, with a name that stands in both.
TWINS = {"memory/caf\u00e9.md": "## a\n\none\n", "memory/cafe\u0301.md": "## a\n\nother one\n\n## b\n\nx\n"}

CATEGORIES = st.sampled_from(["c", "d", "hand", "crlf", "list", "user/lin/c", "caf\u00e9", "cafe\u0301"])
NAMES = st.sampled_from(["a", "A", "b", "c", "海边", "new one"])
TEXTS = st.sampled_from(
    ["one", "two\n\nthree", "[[c:a]] and [[hand:b|that]]", "喜欢海边 [[user/lin/c:a]]", "```\n## x\n```", "- l\n- m"]
)
ON_EXISTS = st.sampled_from(["conflict", "revise", "append", "rename"])
CHANGES = st.one_of(
    st.tuples(st.just("remember"), CATEGORIES, NAMES, TEXTS, ON_EXISTS),
    st.tuples(st.just("nameless"), CATEGORIES, TEXTS),
    st.tuples(st.just("revise"), CATEGORIES, NAMES, TEXTS),
    st.tuples(st.just("rename"), CATEGORIES, NAMES, NAMES),
    st.tuples(st.just("supersede"), CATEGORIES, NAMES, CATEGORIES, NAMES),
    st.tuples(st.just("batch"), CATEGORIES, CATEGORIES, TEXTS),
    st.tuples(st.just("turns"), NAMES, TEXTS),
)
HAND = st.one_of(
    st.tuples(st.just("append"), CATEGORIES, TEXTS),
    st.tuples(st.just("cut"), CATEGORIES, st.integers(0, 3)),
    st.tuples(st.just("move"), CATEGORIES),
    st.tuples(st.just("in place"), CATEGORIES),
    st.tuples(st.just("no cache"), CATEGORIES),
)


@contextmanager
def seeded(**more: str) -> Iterator[tuple[Vault, Path]]:
    folder = Path(tempfile.mkdtemp())
    try:
        for path, text in {**SEEDS, **more}.items():
            write(folder, path, text)
        yield Vault.open(folder, clock=FakeClock()), folder
    finally:
        shutil.rmtree(folder)


def change(vault: Vault, what: tuple[str, ...]) -> None:
    kind, *rest = what
    if kind == "remember":
        category, name, text, on_exists = rest
        vault.remember(f"{category}:{name}", text, on_exists=on_exists)  # type: ignore[arg-type]
    elif kind == "nameless":
        vault.remember(rest[0], rest[1])
    elif kind == "revise":
        vault.revise(f"{rest[0]}:{rest[1]}", rest[2], owner="user:ana")
    elif kind == "rename":
        vault.rename(f"{rest[0]}:{rest[1]}", rest[2])
    elif kind == "supersede":
        vault.remember(f"{rest[0]}:{rest[1]}", "newer", on_exists="rename", supersedes=f"{rest[2]}:{rest[3]}")
    elif kind == "batch":
        with vault.batch():
            vault.remember(rest[0], rest[2])
            vault.remember(f"{rest[1]}:fresh", rest[2], on_exists="append")
    else:
        vault.import_turns([{"conversation": rest[0], "turn": rest[1], "text": rest[1]}])


def hand(root: Path, what: tuple[str, ...]) -> None:
    kind, category, *rest = what
    name = "users/lin/memory/c.md" if category == "user/lin/c" else f"memory/{category}.md"
    path = root / name
    if kind == "no cache":
        shutil.rmtree(root / ".cache", ignore_errors=True)
    elif not path.exists():
        write(root, name, "## by hand\n\nfresh\n")
    elif kind == "append":
        write(root, name, path.read_bytes() + f"\n\n{rest[0]}\n".encode())
    elif kind == "cut":
        lines = path.read_bytes().split(b"\n")
        del lines[int(rest[0]) : int(rest[0]) + 4]
        write(root, name, b"\n".join(lines))
    elif kind == "move":
        path.rename(path.with_name("moved.md"))
    else:
        path.write_bytes(path.read_bytes().replace(b"one", b"1"))


def take_step(vault: Vault, root: Path, step: tuple[str, ...]) -> None:
    if step[0] in ("append", "cut", "move", "in place", "no cache"):
        hand(root, step)
    else:
        with suppress(MemorandaError):
            change(vault, step)


@LAWS
@given(st.lists(CHANGES, min_size=1, max_size=6))
def test_undo_takes_every_change_back_to_the_byte(changes: list[tuple[str, ...]]) -> None:
    with seeded() as (vault, root):
        vault.items()
        states: list[dict[str, bytes]] = []
        for what in changes:
            before = memory_bytes(root)
            lines = len(journal(root))
            try:
                change(vault, what)
            except MemorandaError:
                # What is refused changes nothing.
                assert memory_bytes(root) == before
                assert len(journal(root)) == lines
                continue
            if len(journal(root)) > lines:
                states.append(before)
            else:
                assert memory_bytes(root) == before
        for before in reversed(states):
            vault.undo()
            assert memory_bytes(root) == before


@LAWS
@given(CHANGES)
def test_an_edit_touches_nothing_but_its_slice(what: tuple[str, ...]) -> None:
    """Every line of a person's file is still there, in its order, but for those of the item that changed."""
    if what[0] in ("rename", "revise", "supersede") or "revise" in what or "append" in what or "batch" in what:
        return
    with seeded() as (vault, root):
        before = memory_bytes(root)
        with suppress(MemorandaError):
            change(vault, what)
        after = memory_bytes(root)
        for path, data in before.items():
            # Adding only adds: a prefix stays, or (a list's last line) the whole but for its last line end.
            assert after[path].startswith(data.rstrip(b"\n")), path


Answer = tuple[object, ...]


def answers(vault: Vault) -> dict[str, list[Answer]]:
    found: dict[str, list[Answer]] = {}
    for query in ("one", "海边", "two three", "own", "fresh by hand", "milk"):
        for scopes in (None, ["user/lin", "shared"]):
            hits = vault.retrieve(query, scopes=scopes, levels=["item", "resource"], k=50, deadline=60).hits
            found[f"{query} {scopes}"] = [
                (h.address, round(h.score, 9), h.text, h.hash, h.citation, h.via, h.weak, h.effects) for h in hits
            ]
    found["items"] = [(str(i.address), i.text, i.path, i.line, i.metadata.pairs) for i in vault.items()]
    return found


@LAWS
@given(st.lists(st.one_of(CHANGES, HAND), min_size=1, max_size=8))
def test_what_is_kept_up_to_date_equals_what_is_read_anew(steps: list[tuple[str, ...]]) -> None:
    with seeded(**TWINS) as (vault, root):
        vault.warm()
        for step in steps:
            take_step(vault, root, step)
            vault.retrieve("one", levels=["item", "resource"], deadline=60)
        kept = answers(vault)
        assert answers(Vault.open(root, clock=FakeClock())) == kept
        lines = len(journal(root))
        shutil.rmtree(root / ".cache", ignore_errors=True)
        assert answers(Vault.open(root, clock=FakeClock())) == kept
        assert answers(vault) == kept
        # Nobody changed anything since: the journal has not grown.
        assert len(journal(root)) == lines


@LAWS
@given(st.lists(st.one_of(CHANGES, HAND), min_size=1, max_size=8))
def test_journal_accounts_for_everything(steps: list[tuple[str, ...]]) -> None:
    """The items that the journal's lines add up to are those that are there."""
    with seeded() as (vault, root):
        for step in steps:
            take_step(vault, root, step)
            vault.items()
        held: Held = {}
        history = [line for path in sorted((root / "history").iterdir()) for line in _lines(path)]
        for record in history:
            for item in record["items"]:
                for side, do in (("before", _take), ("after", _put)):
                    if item[side] is not None:
                        do(held, item["path"], item[side])
        present = {
            (path, section.address_name.removeprefix("^")): section.text
            for path, data in memory_bytes(root).items()
            for section in parse(data.decode()).sections
        }
        assert held == present
        ids = {record["id"] for record in history}
        assert {line["id"].partition(".")[0] for line in journal(root)} == ids


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


Held = dict[tuple[str, str], str]


def _take(held: Held, path: str, state: dict[str, str]) -> None:
    held.pop((path, state["name"].removeprefix("^")), None)


def _put(held: Held, path: str, state: dict[str, str]) -> None:
    held[path, state["name"].removeprefix("^")] = state["text"]
