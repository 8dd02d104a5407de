from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fakes.clock import FakeClock
from memoranda.bootstrap import Vault
from memoranda.core.errors import CannotUndo, ChangedUnderneath, NotFound, UsageError
from observing import crash_at, journal, memory_bytes, places_of, tree_bytes, write

#: Stands in a name and in a text; long and short, in two scripts.
CANARY = "canary-7731"
SECRET = "The canary sings 金丝雀在唱歌 at midnight."


def everything_about(vault: Vault, root: Path) -> None:
    """An item that has been through all that can happen to one."""
    vault.import_turns(
        [
            {"conversation": "talk", "turn": 1, "text": "Hello."},
            {"conversation": "talk", "turn": 2, "text": SECRET, "speaker": "lin"},
        ]
    )
    vault.remember("birds:old-canary-7731", "Canary draft 7731", source="turn/talk#2")
    vault.rename("birds:old-canary-7731", CANARY)
    vault.revise(f"birds:{CANARY}", SECRET)
    vault.remember("notes:linking", f"See [[birds:{CANARY}]] and [[birds:{CANARY}|it]].")
    vault.remember("notes:newer", "Sparrows are better.", supersedes=f"birds:{CANARY}")
    vault.remember("birds:other", "A sparrow.")
    path = root / "memory/birds.md"
    write(root, "memory/birds.md", path.read_text().replace("at midnight", "at noon, canary-7731 by hand"))
    write(root, "memory/preamble.md", f"Preamble with [[birds:{CANARY}]].\n\n## x\n\ntext\n")
    vault.retrieve("canary midnight", levels=["item", "resource"])
    vault.rename("notes:linking", "linked")
    written = vault.revise(f"birds:{CANARY}", f"{SECRET}\n\ncanary-7731 once more")
    vault.undo(written.journal_id)
    vault.close()


def assert_gone(root: Path) -> None:
    assert places_of(root, CANARY, "old-canary", SECRET, "at midnight", "Canary draft 7731", "at noon") == []


def test_nothing_is_left_of_a_forgotten_item(vault: Vault, root: Path) -> None:
    """Case D22: no hit, and no byte of it in any file of the vault."""
    everything_about(vault, root)
    assert len(places_of(root, CANARY)) > 5
    done = vault.forget(f"birds:{CANARY}")
    assert_gone(root)
    assert done.items == (f"birds:{CANARY}",)
    assert done.turns == ("turn/talk#2",)
    assert set(done.links) == {"notes:linked", "notes:newer", "memory/preamble.md"}
    assert done.history_records > 3
    assert done.warnings == ()
    assert vault.retrieve("canary midnight noon", levels=["item", "resource"]).hits == []
    # The rest is as it was.
    linked = vault.get("notes:linked")
    newer = vault.get("notes:newer")
    assert linked is not None
    assert newer is not None
    assert linked.text == "See and it."
    assert newer.metadata.supersedes is None
    assert [i.name for i in vault.items("birds")] == ["other"]
    assert (root / "memory/preamble.md").read_text() == "Preamble with .\n\n## x\n\ntext\n"
    assert [t.text for t in vault.turns("talk")] == ["Hello.", ""]
    vault.close()
    with Vault.open(root) as again:
        again.retrieve("sparrow")
        assert not [p for p in again.check() if p.kind not in ("dangling-link",)]
    assert_gone(root)
    # Each line of the journal is still one, and a later look adds none.
    assert [line["action"] for line in journal(root)].count("forget") == 1


def test_preview_tells_and_changes_nothing(vault: Vault, root: Path) -> None:
    everything_about(vault, root)
    vault.items()
    before = tree_bytes(root)
    told = vault.forget(f"birds:{CANARY}", preview=True)
    assert tree_bytes(root) == before
    assert told.preview
    assert told.journal_id is None
    done = vault.forget(f"birds:{CANARY}")
    assert (told.items, told.turns) == (done.items, done.turns)
    assert set(told.links) == set(done.links)


def test_undo_refuses(vault: Vault, root: Path) -> None:
    added = vault.remember("c:a", "something secret to forget")
    other = vault.remember("c:b", "other")
    revised = vault.revise("c:b", "changed")
    done = vault.forget("c:a")
    for journal_id in (done.journal_id, None):
        with pytest.raises(CannotUndo, match="forgot something for good"):
            vault.undo(journal_id)
    with pytest.raises(CannotUndo):
        vault.undo(added.journal_id)
    # Other items' changes can still be taken back.
    vault.undo(revised.journal_id)
    found = vault.get("c:b")
    assert found is not None
    assert found.text == "other"
    vault.undo(other.journal_id)
    assert vault.items() == []
    assert places_of(root, "something secret") == []


def test_forgetting_a_turn_and_what_came_of_it(vault: Vault, root: Path) -> None:
    vault.import_turns([{"conversation": "talk", "turn": n, "text": f"secret {n} was told"} for n in range(4)])
    vault.remember("c:one", "from the first", source="turn/talk#1")
    vault.remember("c:also", "also from the first", source="talk#1")
    vault.remember("c:two", "from the second", source="turn/talk#2")
    done = vault.forget("turn/talk#1")
    assert (done.items, done.turns) == ((), ("turn/talk#1",))
    assert vault.turn("turn/talk#1") is None
    assert places_of(root, "secret 1 was told") == []
    with pytest.raises(NotFound):
        vault.forget("turn/talk#1")
    done = vault.forget("c:two", derived=True)
    assert done.items == ("c:two",)
    done = vault.forget("c:one", derived=True)
    assert set(done.items) == {"c:one", "c:also"}
    assert places_of(root, "from the first", "from the second", "secret 2 was told") == []
    assert places_of(root, "secret 3 was told") != []


def test_import_does_not_bring_a_forgotten_turn_back(vault: Vault, root: Path) -> None:
    turns = [{"conversation": "talk", "turn": n, "text": f"secret {n} was told"} for n in range(3)]
    vault.import_turns(turns)
    vault.forget("turn/talk#1")
    again = vault.import_turns(turns)
    assert (again.added, again.unchanged, again.conflicts) == (0, 3, 0)
    assert places_of(root, "secret 1 was told") == []
    assert [t.forgotten for t in vault.turns("talk")] == [False, True, False]


def test_forgetting_a_source(vault: Vault, root: Path) -> None:
    for talk in ("a", "b"):
        vault.import_turns([{"conversation": talk, "turn": n, "text": f"{talk} {n} was told"} for n in (1, 2)])
    vault.remember("c:one", "learned from a", source="turn/a#1")
    vault.remember("user/lin/c:two", "also learned from a", source="a")
    vault.remember("c:three", "learned from b", source="turn/b#1")
    done = vault.forget(source="turn/a")
    assert set(done.items) == {"c:one", "user/lin/c:two"}
    assert set(done.turns) == {"turn/a#1", "turn/a#2"}
    assert places_of(root, "learned from a", "a 1 was told", "a 2 was told") == []
    assert [str(i.address) for i in vault.items()] == ["c:three"]


def test_forgetting_a_user(vault: Vault, root: Path) -> None:
    vault.import_turns(
        [
            {"conversation": "talk", "turn": 1, "text": "what Lin said herself", "speaker": "Lin"},
            {"conversation": "talk", "turn": 2, "text": "what Ana said", "speaker": "Ana"},
        ]
    )
    vault.remember("user/lin/home:address", "lives by the canary river")
    write(root, "users/lin/memory/deep/notes.md", "# notes\n\nwritten by hand about lin\n\n## a\n\nmore by hand\n")
    write(root, "users/lin/memory/empty.md", "# empty\n\n<!-- memoranda: form=sections -->\n\nstill about lin\n")
    vault.remember("c:likes", "likes the canary islands", owner="user:lin")
    vault.remember("c:other", "someone else", owner="user:ana")
    done = vault.forget(user="Lin")
    assert set(done.items) == {"user/lin/home:address", "user/lin/deep/notes:a", "c:likes"}
    assert done.turns == ("turn/talk#1",)
    assert places_of(root, "canary", "by hand", "still about lin", "what Lin said") == []
    assert not (root / "users/lin").exists()
    assert [str(i.address) for i in vault.items()] == ["c:other"]
    assert vault.turn("turn/talk#2") is not None
    with pytest.raises(NotFound):
        vault.forget(user="lin")


def test_promoted_copies_go_too(vault: Vault, root: Path) -> None:
    vault.remember("project/p/notes:a", "the secret lesson of all")
    vault.remember("agent/x/lessons:b", "the secret lesson of all", source="project/p/notes:a")
    vault.remember("agent/y/lessons:c", "the secret lesson of all, shared", source="agent/x/lessons:b")
    done = vault.forget("project/p/notes:a")
    assert len(done.items) == 3
    assert places_of(root, "secret lesson") == []


def test_what_is_gone_from_the_files_is_still_in_the_history(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "the secret that was cut out by hand")
    write(root, "memory/c.md", "# c\n")
    vault.items()
    assert places_of(root, "cut out by hand") != []
    vault.forget("c:a")
    assert places_of(root, "cut out by hand") == []


def test_heading_that_was_changed_by_hand(vault: Vault, root: Path) -> None:
    vault.remember("c:canary-name", "short")
    path = root / "memory/c.md"
    write(root, "memory/c.md", path.read_text().replace("canary-name", "renamed"))
    vault.forget("c:renamed")
    assert places_of(root, "canary-name", "renamed", "short") == []


@pytest.mark.parametrize("text", ["PIN 4711", "密码", "x", "a\n\nb"])
def test_short_texts(vault: Vault, root: Path, text: str) -> None:
    write(root, "memory/list.md", f"- other\n- {text.split(chr(10))[0]} 4711\n- more\n")
    vault.remember("c:tea", f"{text} 4711")
    vault.remember("c:other", "I like tea. 1")
    vault.revise("c:other", "I like tea. 2")
    for address in ("c:tea", *(str(i.address) for i in vault.items("list") if "4711" in i.text)):
        vault.forget(address)
    assert places_of(root, "4711") == []
    assert [i.text for i in vault.items("list")] == ["other", "more"]
    vault.undo([e for e in vault.log() if e.action == "update"][-1].id)
    other = vault.get("c:other")
    assert other is not None
    assert other.text == "I like tea. 1"


def test_item_that_was_nothing_but_a_link(vault: Vault, root: Path) -> None:
    vault.remember("birds:canary", "the secret bird of all birds")
    write(root, "memory/list.md", "- [[birds:canary]]\n- other\n")
    write(root, "memory/paragraphs.md", "[[birds:canary]]\n\nother\n")
    vault.forget("birds:canary")
    assert places_of(root, "canary") == []
    assert (root / "memory/list.md").read_text() == "- …\n- other\n"
    assert (root / "memory/paragraphs.md").read_text() == "…\n\nother\n"


def test_same_line_elsewhere_is_told(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "a line that stands in two places")
    vault.remember("d:b", "> a line that stands in two places\n\nwith more")
    write(root, "memory/c (conflicted copy).md", "## a\n\na line that stands in two places\n")
    done = vault.forget("c:a")
    assert done.warnings == (
        "memory/c (conflicted copy).md still holds some of the text",
        "memory/d.md still holds some of the text",
    )


def test_git_is_warned_of(root: Path, clock: FakeClock) -> None:
    (root / ".git").mkdir(parents=True)
    with Vault.open(root, clock=clock) as vault:
        vault.remember("c:a", "text")
        for preview in (True, False):
            assert "is a git repository" in vault.forget("c:a", preview=preview).warnings[0]


def test_one_thing_at_a_time(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "text")
    for arguments in ({}, {"address": "c:a", "user": "lin"}, {"address": "c"}, {"address": "turn/x"}):
        with pytest.raises(UsageError):
            vault.forget(**arguments)  # type: ignore[arg-type]
    for arguments in ({"address": "c:b"}, {"source": "nothing"}, {"user": "nobody"}, {"address": "turn/a#1"}):
        with pytest.raises(NotFound):
            vault.forget(**arguments)  # type: ignore[arg-type]
    with vault.batch(), pytest.raises(UsageError, match="end the batch first"):
        vault.forget("c:a")
    assert [line["action"] for line in journal(root)] == ["add"]


def test_crash_at_any_step_is_finished_by_the_next_opening(tmp_path: Path, clock: FakeClock) -> None:
    """Once it has begun, a forgetting ends, however often it is cut short."""
    step, crashed, begun = 0, True, False
    with Vault.open(tmp_path / "original", clock=clock) as vault:
        everything_about(vault, tmp_path / "original")
        assert vault.get(f"birds:{CANARY}") is not None
    while crashed:
        root = tmp_path / f"vault-{step}"
        shutil.copytree(tmp_path / "original", root)
        crashed = crash_at(step, lambda root=root: Vault.open(root, clock=clock).forget(f"birds:{CANARY}"))
        intended = (root / "forgetting.json").exists()
        if intended and step % 5 == 0:
            # And once more in the middle of finishing it.
            crash_at(step % 11 + 3, lambda root=root: Vault.open(root, clock=clock))
        with Vault.open(root, clock=clock) as vault:
            begun = begun or intended
            present = vault.get(f"birds:{CANARY}")
            if begun:
                assert present is None, step
            names = [i.name for i in vault.items("birds")]
            assert "other" in names
            vault.remember("birds:later", "goes on")
        if begun:
            assert_gone(root)
            assert not (root / "forgetting.json").exists()
            assert [line["action"] for line in journal(root)].count("forget") == 1
            assert not [p for p in tree_bytes(root) if p.endswith(".tmp")], step
        assert memory_bytes(root)["memory/notes.md"]
        step += 1
    assert begun
    assert step > 20


def test_forget_that_fails_has_not_happened_and_does_not_happen_later(
    vault: Vault, root: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor that holds the file open: the caller is told that nothing was done, so nothing may be."""
    from memoranda.storage.transaction import Transaction

    def refused(self: Transaction) -> None:
        raise ChangedUnderneath("the file is open for writing in another program; nothing was written")

    vault.remember("c:a", "alpha")
    vault.remember("c:b", "beta")
    before = memory_bytes(root)
    with monkeypatch.context() as patched:
        patched.setattr(Transaction, "commit", refused)
        with pytest.raises(ChangedUnderneath):
            vault.forget("c:a")
    assert not (root / "forgetting.json").exists()
    with Vault.open(root, clock=clock) as other:
        assert [h.address for h in other.retrieve("alpha")] == ["c:a"]
    assert memory_bytes(root) == before


def test_what_cannot_be_finished_now_does_not_keep_anybody_from_reading(
    vault: Vault, root: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memoranda.storage.transaction import Transaction

    def refused(self: Transaction) -> None:
        raise ChangedUnderneath("the file is open for writing in another program; nothing was written")

    vault.remember("c:a", "alpha")
    vault.remember("c:b", "beta")
    write(root, "forgetting.json", '{"id": "0123456789", "items": ["c:a"], "turns": [], "user": null, "names": []}')
    with monkeypatch.context() as patched:
        patched.setattr(Transaction, "commit", refused)
        with Vault.open(root, clock=clock) as other:
            assert [h.address for h in other.retrieve("beta")] == ["c:b"]
    with Vault.open(root, clock=clock) as other:
        assert other.get("c:a") is None
    assert not (root / "forgetting.json").exists()


def test_a_removed_link_takes_its_space_along(vault: Vault) -> None:
    vault.remember("c:a", "alpha")
    vault.remember("c:b", "Ends with [[c:a]]\n\nand [[c:a]] within, and [[c:a|shown]].")
    vault.forget("c:a")
    found = vault.get("c:b")
    assert found is not None
    assert found.text == "Ends with\n\nand within, and shown."


def test_a_turn_that_was_never_brought_in_is_not_brought_in_later(vault: Vault, root: Path) -> None:
    vault.remember("c:a", SECRET, source="turn/talk#2")
    vault.forget("c:a")
    said = [{"conversation": "talk", "turn": n, "text": text} for n, text in ((1, "Hello."), (2, SECRET))]
    assert vault.import_turns(said).added == 1
    assert [t.text for t in vault.turns("talk") if not t.forgotten] == ["Hello."]
    assert places_of(root, "midnight") == []
