from __future__ import annotations

from pathlib import Path

import pytest

from memoranda.bootstrap import Vault
from memoranda.core.errors import Conflict, NameTaken, NotFound, UsageError
from observing import journal, memory_bytes, tree_bytes, write


def test_all_of_it_or_nothing(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "one")
    before = tree_bytes(root, "memory", "history", "journal.jsonl")

    def half() -> None:
        with vault.batch():
            vault.remember("c:b", "two")
            vault.rename("c:a", "z")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    assert tree_bytes(root, "memory", "history", "journal.jsonl") == before
    with vault.batch():
        vault.remember("c:b", "two")
        assert memory_bytes(root) == {k: v for k, v in before.items() if k.startswith("memory")}
        assert vault.remember("c:b", "two").status == "unchanged"
        vault.revise("c:b", "three")
    assert [i.text for i in vault.items("c")] == ["one", "three"]


def test_a_failed_call_inside_leaves_no_half_of_itself(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "one")
    with vault.batch():
        vault.remember("c:b", "two")
        with pytest.raises(NotFound):
            vault.remember("c:c", "three", supersedes="c:gone")
        with pytest.raises(NameTaken):
            vault.rename("c:b", "a")
    assert [i.name for i in vault.items("c")] == ["a", "b"]
    assert [line["action"] for line in journal(root)] == ["add", "add"]


def test_five_thousand_at_once(vault: Vault, root: Path) -> None:
    with vault.batch():
        for number in range(5000):
            vault.remember(f"c{number % 7}:item {number}", f"text number {number}")
    assert len(vault.items()) == 5000
    assert len(journal(root)) == 5000
    assert len({line["id"].partition(".")[0] for line in journal(root)}) == 1
    with Vault.open(root) as again:
        assert again.retrieve("text number 4321").hits[0].address == "c2:item 4321"
    vault.undo()
    assert memory_bytes(root) == {}


def test_a_save_meanwhile_is_kept(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "one")
    with vault.batch():
        vault.remember("c:b", "two")
        write(root, "memory/c.md", (root / "memory/c.md").read_text() + "\n## mine\n\nby hand\n")
        vault.remember("d:x", "three")
    assert [i.name for i in vault.items("c")] == ["a", "mine", "b"]
    assert [line["action"] for line in journal(root)] == ["add", "external-edit", "add", "add"]


def test_a_save_meanwhile_that_does_not_go_together(vault: Vault, root: Path) -> None:
    def overtaken() -> None:
        with vault.batch():
            vault.remember("c:a", "by a tool")
            vault.remember("d:x", "three")
            write(root, "memory/c.md", "## a\n\nby hand\n")

    with pytest.raises(Conflict):
        overtaken()
    assert memory_bytes(root) == {"memory/c.md": b"## a\n\nby hand\n"}


def test_another_process_meanwhile(vault: Vault, root: Path) -> None:
    with vault.batch():
        vault.remember("c", "the same text")
        with Vault.open(root) as other:
            other.remember("c", "the same text")
            other.remember("c:b", "more")
        vault.remember("c:z", "last")
    assert [i.text for i in vault.items("c")] == ["the same text", "more", "last"]


def test_baselines_survive_a_repeated_batch(vault: Vault, root: Path) -> None:
    """A batch that had to begin anew is one change, also where the cache is made anew from the history."""
    import shutil

    vault.remember("c:a", "one")
    with vault.batch():
        vault.remember("c:b", "two")
        write(root, "memory/c.md", (root / "memory/c.md").read_text() + "\n## mine\n\nby hand\n")
    lines = journal(root)
    shutil.rmtree(root / ".cache")
    with Vault.open(root) as again:
        assert len(again.items()) == 3
    assert journal(root) == lines


def test_batches_do_not_nest(vault: Vault) -> None:
    with vault.batch(), pytest.raises(UsageError, match="open already"), vault.batch():
        pass


def test_retrieve_within_a_batch(vault: Vault) -> None:
    vault.remember("c:a", "tea")
    with vault.batch():
        vault.remember("c:b", "coffee")
        assert [h.address for h in vault.retrieve("tea coffee").hits] == ["c:a"]
    assert {h.address for h in vault.retrieve("tea coffee").hits} == {"c:a", "c:b"}


def test_empty_batch(vault: Vault, root: Path) -> None:
    before = tree_bytes(root)
    with vault.batch():
        pass
    assert tree_bytes(root) == before


def test_files_that_do_not_stop_changing(vault: Vault, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from memoranda.storage.install import ChangedMeanwhile
    from memoranda.storage.transaction import Transaction

    def never(self: Transaction) -> None:
        raise ChangedMeanwhile("c.md")

    monkeypatch.setattr(Transaction, "commit", never)

    def batch() -> None:
        with vault.batch():
            vault.remember("c:a", "one")

    for call in (batch, lambda: vault.remember("c:a", "one")):
        with pytest.raises(Conflict, match="did not stop changing"):
            call()
    assert memory_bytes(root) == {}
