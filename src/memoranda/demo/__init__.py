"""A small vault to try things on: the memory of a made-up developer between Hangzhou and Lisbon."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["QUERIES", "demo_files", "demo_turns"]

#: Questions that the demo's memory answers: in Chinese, in English, and across both by an identifier.
QUERIES = (
    "我对什么过敏，出去吃饭要先问什么？",
    "How do I get to Marta's studio?",
    "DEC-0012 为什么不用 Redis",
)


def demo_files() -> Iterator[tuple[str, bytes]]:
    """The vault's files: path relative to the vault (``memory/people.md``), and content."""
    from importlib.resources import files

    def below(folder: Any, prefix: str) -> Iterator[tuple[str, bytes]]:
        for entry in sorted(folder.iterdir(), key=lambda e: e.name):
            path = prefix + entry.name
            if entry.is_dir():
                yield from below(entry, path + "/")
            elif path.endswith(".md"):
                yield path, entry.read_bytes()

    yield from below(files(__name__) / "vault", "")


def demo_turns() -> Iterator[dict[str, Any]]:
    """Two conversations that the demo's items came from, as records for ``Vault.import_turns``."""
    import json
    from importlib.resources import files

    for line in (files(__name__) / "turns.jsonl").read_bytes().split(b"\n"):
        if line.strip():
            yield json.loads(line)
