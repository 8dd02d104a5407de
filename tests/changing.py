"""Sequences of changes to a vault, by its own calls and by a person's hand, and what it answers after them."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hypothesis import strategies as st

from fakes.clock import FakeClock
from memoranda.bootstrap import Vault
from memoranda.core.errors import MemorandaError
from observing import write

__all__ = ["CHANGES", "HAND", "TWINS", "answers", "change", "seeded", "take_step"]

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
