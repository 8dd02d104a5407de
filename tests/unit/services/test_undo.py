from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fakes.clock import FakeClock
from memoranda.bootstrap import Vault
from memoranda.core.errors import CannotUndo, NotFound, UsageError
from observing import crash_at, journal, memory_bytes, tree_bytes, write


def test_newest_change_first(vault: Vault, root: Path) -> None:
    states = [memory_bytes(root)]
    vault.remember("c:a", "one")
    states.append(memory_bytes(root))
    vault.remember("d:b", "two")
    states.append(memory_bytes(root))
    vault.revise("c:a", "three")
    for state in reversed(states):
        assert vault.undo().status == "restored"
        assert memory_bytes(root) == state
    with pytest.raises(NotFound, match="nothing to undo"):
        vault.undo()
    assert [line["action"] for line in journal(root)] == ["add", "add", "update", "restore", "restore", "restore"]


def test_by_id_and_by_prefix(vault: Vault, root: Path) -> None:
    first = vault.remember("c:a", "one")
    vault.remember("d:b", "two")
    assert first.journal_id is not None
    written = vault.undo(first.journal_id[:6])
    assert written.notes == ("removed c:a",)
    assert vault.get("c:a") is None
    assert vault.get("d:b") is not None
    with pytest.raises(CannotUndo, match="undone already"):
        vault.undo(first.journal_id)
    with pytest.raises(NotFound, match="has no ffff"):
        vault.undo("ffffffffff")
    with pytest.raises(NotFound):
        vault.undo(first.journal_id[:3])


def test_ambiguous_prefix(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = iter(["abcdef0001", "abcdef0002", "abcdef0003", "abcdef0004"])
    monkeypatch.setattr("memoranda.storage.transaction.new_change_id", lambda: next(ids))
    vault.remember("c:a", "one")
    vault.remember("c:b", "two")
    with pytest.raises(UsageError, match="could be abcdef0001 or abcdef0002; write more of it"):
        vault.undo("abcdef")
    assert vault.undo("abcdef0001").notes == ("removed c:a",)


def test_undo_of_an_undo(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "one")
    written = vault.revise("c:a", "two")
    done = memory_bytes(root)
    undone = vault.undo(written.journal_id)
    redone = vault.undo(undone.journal_id)
    assert memory_bytes(root) == done
    assert redone.status == "restored"
    # The change holds again, so it can be taken back again.
    vault.undo(written.journal_id)
    found = vault.get("c:a")
    assert found is not None
    assert found.text == "one"


def test_later_changes_of_other_items_in_the_file_stay(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "one", owner="user:lin")
    revised = vault.revise("c:a", "two", owner="user:ana")
    vault.remember("c:b", "three")
    write(root, "memory/c.md", (root / "memory/c.md").read_text() + "\n## by-hand\n\nfour\n")
    vault.undo(revised.journal_id)
    assert [(i.name, i.text) for i in vault.items("c")] == [("a", "one"), ("b", "three"), ("by-hand", "four")]
    item = vault.get("c:a")
    assert item is not None
    assert item.metadata.owner == "user:lin"


def test_later_change_of_the_same_item_is_in_the_way(vault: Vault, root: Path) -> None:
    added = vault.remember("c:a", "one")
    vault.revise("c:a", "two")
    vault.remember("c:b", "other")
    before = tree_bytes(root, "memory", "history", "journal.jsonl")
    with pytest.raises(CannotUndo, match="c:a has changed since; undo the newer change first"):
        vault.undo(added.journal_id)
    assert tree_bytes(root, "memory", "history", "journal.jsonl") == before


def test_later_metadata_is_not_lost(vault: Vault, root: Path) -> None:
    added = vault.remember("home:old", "Chengdu")
    revised = vault.revise("home:old", "Chengdu, Sichuan")
    vault.remember("home:new", "Shanghai", supersedes="home:old")
    vault.undo(revised.journal_id)
    item = vault.get("home:old")
    assert item is not None
    assert item.text == "Chengdu"
    assert item.metadata.superseded_by == "home:new"
    with pytest.raises(CannotUndo, match="home:old has changed since"):
        vault.undo(added.journal_id)


def test_name_that_is_taken_meanwhile(vault: Vault, root: Path) -> None:
    vault.remember("c:b", "stays")
    vault.remember("c:a", "one")
    text = (root / "memory/c.md").read_text()
    write(root, "memory/c.md", text[: text.index("## a")])
    vault.log()
    vault.remember("c:a", "something else")
    with pytest.raises(CannotUndo, match="c:a is another item now; rename that one first"):
        vault.undo(journal(root)[-2]["id"])


def test_removal_by_hand_is_brought_back_as_one_change(vault: Vault, root: Path) -> None:
    for name in ("a", "b", "c", "d"):
        vault.remember(f"c:{name}", f"text {name}", owner="user:lin")
    text = (root / "memory/c.md").read_text()
    kept = text[: text.index("## b")] + text[text.index("## d") :]
    write(root, "memory/c.md", kept + "\n## mine\n\nby hand\n")
    removed = [e for e in vault.log() if e.detail.get("kind") == "removed"]
    assert [e.item for e in removed] == ["b", "c"]
    assert len({e.id.partition(".")[0] for e in removed}) == 1
    written = vault.undo()
    assert set(written.notes) == {"brought back c:b", "brought back c:c"}
    assert {i.name for i in vault.items("c")} == {"a", "b", "c", "d", "mine"}
    item = vault.get("c:b")
    assert item is not None
    assert (item.text, item.metadata.owner) == ("text b", "user:lin")


def test_one_line_of_a_removal_by_hand(vault: Vault, root: Path) -> None:
    for name in ("a", "b", "c"):
        vault.remember(f"c:{name}", f"text {name}")
    write(root, "memory/c.md", "# c\n")
    removed = [e for e in vault.log() if e.detail.get("kind") == "removed"]
    second = next(e for e in removed if e.item == "b")
    assert vault.undo(second.id).notes == ("brought back c:b",)
    assert [i.name for i in vault.items("c")] == ["b"]
    with pytest.raises(CannotUndo, match="undone already"):
        vault.undo(second.id)
    # The rest of the same save.
    assert {i.name for i in vault.items("c")} == {"b"}
    vault.undo()
    assert {i.name for i in vault.items("c")} == {"a", "b", "c"}


def test_what_a_person_wrote_is_taken_back_only_by_its_id(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "one")
    write(root, "memory/c.md", (root / "memory/c.md").read_text() + "\n## mine\n\nby hand\n")
    write(root, "memory/new.md", "## whole\n\nfile by hand\n")
    entries = {e.detail.get("kind"): e for e in vault.log()}
    assert vault.undo().notes == ("removed c:a",)
    assert vault.get("c:mine") is not None
    assert vault.get("new:whole") is not None
    with pytest.raises(NotFound):
        vault.undo()
    assert vault.undo(entries["added"].id).notes == ("removed c:mine",)
    assert vault.get("c:mine") is None
    assert vault.undo(entries["found"].id).notes == ("removed new:whole",)


def test_change_by_hand_is_taken_back_only_by_its_id(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "one")
    before = memory_bytes(root)
    write(root, "memory/c.md", (root / "memory/c.md").read_text().replace("one", "two"))
    by_hand = memory_bytes(root)
    with pytest.raises(CannotUndo, match="changed since"):
        vault.undo()
    assert memory_bytes(root) == by_hand
    vault.undo(vault.log(1)[0].id)
    assert memory_bytes(root) == before


def test_file_removed_by_hand_is_brought_back(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "one")
    vault.remember("c:b", "two")
    (root / "memory/c.md").unlink()
    assert vault.items("c") == []
    vault.undo()
    assert [(i.name, i.text) for i in vault.items("c")] == [("a", "one"), ("b", "two")]


def test_batch_is_taken_back_whole(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "one")
    before = memory_bytes(root)
    with vault.batch():
        written = [vault.remember(f"{c}:{n}", f"text {n}") for c in ("c", "d", "e") for n in range(4)]
        vault.revise("c:a", "two")
    assert len({w.journal_id for w in written}) == 1
    assert len(journal(root)) == 14
    assert vault.undo().journal_id is not None
    assert memory_bytes(root) == before


def test_imported_turns_are_taken_back(vault: Vault, root: Path) -> None:
    def turns(conversation: str, first: int, last: int) -> list[dict[str, object]]:
        return [{"conversation": conversation, "turn": n, "text": f"turn {n}"} for n in range(first, last)]

    vault.import_turns(turns("talk", 0, 3))
    first = tree_bytes(root, "resources")
    vault.import_turns(turns("talk", 3, 5))
    vault.import_turns(turns("other", 0, 2))
    ids = [e.id for e in vault.log()]
    assert vault.undo().notes == ("took back 2 turns of resources/2026-07/other.jsonl",)
    vault.undo()
    assert tree_bytes(root, "resources") == first
    # Brought in again, then the first import goes from before it.
    vault.import_turns(turns("talk", 3, 5))
    last = vault.log()[-1].id
    vault.undo(ids[0])
    assert [t.turn for t in vault.turns("talk")] == ["3", "4"]
    vault.undo(last)
    assert tree_bytes(root, "resources") == {}
    assert vault.retrieve("turn", levels=["resource"]).hits == []
    with pytest.raises(NotFound):
        vault.undo()


def test_turns_that_changed_since_stay(vault: Vault, root: Path) -> None:
    vault.import_turns([{"conversation": "talk", "turn": 1, "text": "hello"}])
    path = root / "resources/2026-07/talk.jsonl"
    path.write_text(path.read_text().replace("hello", "goodbye"))
    with pytest.raises(CannotUndo, match="has changed since"):
        vault.undo()
    assert "goodbye" in path.read_text()


def test_pruned_history(vault: Vault, root: Path) -> None:
    written = vault.remember("c:a", "one")
    for path in (root / "history").iterdir():
        path.unlink()
    with pytest.raises(CannotUndo, match="pruned"):
        vault.undo(written.journal_id)
    assert vault.get("c:a") is not None


def test_undo_within_a_batch_is_refused(vault: Vault) -> None:
    vault.remember("c:a", "one")
    with vault.batch(), pytest.raises(UsageError, match="end the batch first"):
        vault.undo()


def test_undo_by_another_process_and_over_months(root: Path, clock: FakeClock) -> None:
    with Vault.open(root, clock=clock) as vault:
        written = vault.remember("c:a", "one")
    clock.advance(days=60)
    with Vault.open(root, clock=clock) as vault:
        vault.remember("c:b", "two")
        assert vault.undo(written.journal_id).notes == ("removed c:a",)
    clock.advance(days=-120)
    with Vault.open(root, clock=clock) as vault:
        # The clock went back; the order of what happened did not.
        assert vault.undo().notes == ("removed c:b",)


def test_crash_while_an_import_is_taken_back(tmp_path: Path, clock: FakeClock) -> None:
    original = tmp_path / "original"
    with Vault.open(original, clock=clock) as vault:
        vault.import_turns([{"conversation": "talk", "turn": 1, "text": "first"}])
        vault.import_turns([{"conversation": "talk", "turn": 2, "text": "second"}])
        change = vault.log()[-1].id
    step, crashed = 0, True
    while crashed:
        root = tmp_path / f"vault-{step}"
        shutil.copytree(original, root)
        crashed = crash_at(step, lambda root=root: Vault.open(root, clock=clock).undo(change))
        with Vault.open(root, clock=clock) as vault:
            if "restore" not in {e.action for e in vault.log()}:
                vault.undo(change)
            assert [t.turn for t in vault.turns("talk")] == ["1"], step
            assert [e.action for e in vault.log()] == ["import", "import", "restore"]
            assert vault.import_turns([{"conversation": "talk", "turn": 2, "text": "second"}]).added == 1
        step += 1
    assert step > 5


def test_rename_is_taken_back_although_the_file_has_changed(vault: Vault, root: Path) -> None:
    write(root, "memory/list.md", "- milk ^m\n- bread\n")
    write(root, "memory/links.md", "## x\n\n[[c:a]] [[list:m]]\n")
    vault.remember("c:a", "one [[c:a]]")
    first = vault.rename("c:a", "b")
    second = vault.rename("list:m", "n")
    bread = vault.items("list")[1]
    third = vault.rename(str(bread.address), "loaf")
    for address in ("c:later", "list:later", "links:later"):
        vault.remember(address, "added later")
    assert "[[c:b]] [[list:n]]" in (root / "memory/links.md").read_text()
    with pytest.raises(CannotUndo, match="links:x has changed since"):
        vault.undo(first.journal_id)
    vault.undo(second.journal_id)
    vault.undo(first.journal_id)
    assert "[[c:a]] [[list:m]]" in (root / "memory/links.md").read_text()
    assert [i.name for i in vault.items("c")] == ["a", "later"]
    assert [i.name for i in vault.items("list")] == ["^m", "^loaf", "^later"]
    # A name by hash cannot be given; that is said, and nothing is written.
    before = memory_bytes(root)
    with pytest.raises(CannotUndo, match="cannot be taken back"):
        vault.undo(third.journal_id)
    assert memory_bytes(root) == before


def test_item_without_a_name_is_taken_back_although_the_file_has_changed(vault: Vault, root: Path) -> None:
    write(root, "memory/list.md", "- milk\n- bread\n")
    milk, bread = vault.items("list")
    revised = vault.revise(str(milk.address), "oat milk")
    vault.remember("list:eggs", "a dozen eggs")
    vault.undo(revised.journal_id)
    assert [i.text for i in vault.items("list")] == ["milk", "bread", "a dozen eggs"]
    text = (root / "memory/list.md").read_text()
    write(root, "memory/list.md", text.replace("- bread\n", ""))
    vault.items()
    (note,) = vault.undo().notes
    restored = vault.get(f"list:{note.rpartition(' as ')[2]}")
    assert note.startswith(f"brought back {bread.address} as ")
    assert restored is not None
    assert restored.text == "bread"


def test_text_outside_items_is_in_the_way_of_nothing_but_itself(vault: Vault, root: Path) -> None:
    vault.remember("people:lin", "A friend.")
    write(root, "memory/notes.md", "Mind [[people:lin]].\n\n## one\n\ntext\n")
    written = vault.rename("people:lin", "ada")
    vault.revise("notes:one", "changed")
    before = memory_bytes(root)
    with pytest.raises(CannotUndo, match=r"memory/notes.md has changed since"):
        vault.undo(written.journal_id)
    assert memory_bytes(root) == before
    vault.undo()
    vault.undo()
    assert "[[people:lin]]" in (root / "memory/notes.md").read_text()


def test_a_persons_words_around_items_are_no_change_to_take_back(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "one")
    write(root, "memory/c.md", "My words.\n\n" + (root / "memory/c.md").read_text())
    entry = vault.log()[-1]
    assert entry.detail["kind"] == "text outside items"
    with pytest.raises(CannotUndo, match="holds nothing"):
        vault.undo(entry.id)
    assert vault.undo().notes == ("removed c:a",)
    assert (root / "memory/c.md").read_text().startswith("My words.")


def test_brought_back_twice_is_once(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "one")
    text = (root / "memory/c.md").read_text()
    write(root, "memory/c.md", "# c\n")
    vault.items()
    removed = vault.log()[-1].id
    write(root, "memory/c.md", text)
    vault.items()
    assert vault.undo(removed).status == "restored"
    assert [i.text for i in vault.items("c")] == ["one"]
