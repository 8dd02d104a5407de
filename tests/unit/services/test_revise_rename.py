from __future__ import annotations

from pathlib import Path

import pytest

from memoranda.bootstrap import Vault
from memoranda.core.errors import BadName, ChangedUnderneath, NameTaken, NotFound, UsageError
from observing import journal, memory_bytes, write


def test_revise_keeps_owner_source_and_links(vault: Vault) -> None:
    vault.remember("c:a", "Likes tea. [[c:b]] and [[x#y|that]]", owner="user:lin", source="turn/t#1")
    written = vault.revise("c:a", "Likes coffee. [[c:b]]")
    item = vault.get("c:a")
    assert item is not None
    assert item.text == "Likes coffee. [[c:b]] [[x#y|that]]"
    assert (item.metadata.owner, item.metadata.source) == ("user:lin", "turn/t#1")
    assert written.status == "revised"
    assert written.notes == ("kept the links [[x#y|that]]",)
    vault.revise("c:a", "Likes water.", keep_links=False, owner="user:ana")
    item = vault.get("c:a")
    assert item is not None
    assert item.text == "Likes water."
    assert item.metadata.owner == "user:ana"


@pytest.mark.parametrize("text", ["```\ncode\n```", "text\n\n### heading", "a | b\n--|--\n1 | 2", "<div>x</div>"])
def test_links_kept_behind_anything(vault: Vault, text: str) -> None:
    vault.remember("c:a", "old [[c:b]]")
    vault.remember("c:z", "behind")
    vault.revise("c:a", text)
    item = vault.get("c:a")
    assert item is not None
    assert item.text.startswith(text)
    assert [link.target for link in item.links] == ["c:b"]


def test_revise_expects_what_was_read(vault: Vault, root: Path) -> None:
    first = vault.remember("c:a", "one")
    vault.revise("c:a", "two")
    before = memory_bytes(root)
    with pytest.raises(ChangedUnderneath, match=r"its hash is .*read it again"):
        vault.revise("c:a", "three", expected_hash=first.hash)
    with pytest.raises(ChangedUnderneath):
        vault.revise("c:a", "three", expected_hash="")
    assert memory_bytes(root) == before
    current = vault.get("c:a")
    assert current is not None
    assert vault.revise("c:a", "three", expected_hash=current.hash).status == "revised"


def test_revise_of_what_a_person_changed_meanwhile(vault: Vault, root: Path) -> None:
    written = vault.remember("c:a", "one")
    path = root / "memory/c.md"
    write(root, "memory/c.md", path.read_text().replace("one", "one and a half"))
    with pytest.raises(ChangedUnderneath):
        vault.revise("c:a", "two", expected_hash=written.hash)
    assert "one and a half" in path.read_text()


def test_revise_to_the_same_is_no_change(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "one [[c:b]]")
    before = (memory_bytes(root), journal(root))
    assert vault.revise("c:a", "one").status == "unchanged"
    assert vault.revise("c:a", "one [[c:b]]").status == "unchanged"
    assert (memory_bytes(root), journal(root)) == before


def test_revise_needs_an_item(vault: Vault) -> None:
    with pytest.raises(NotFound, match="there is no c:a"):
        vault.revise("c:a", "text")
    with pytest.raises(UsageError, match="is a category"):
        vault.revise("c", "text")
    vault.remember("c:a", "one")
    with pytest.raises(UsageError, match="'onwer' is no metadata"):
        vault.revise("c:a", "text", onwer="user:lin")


def test_revise_three_times_leaves_one_item(vault: Vault) -> None:
    """Case D30: one hit, and the newest text."""
    vault.remember("c:drink", "Drinks green tea in the morning.")
    for drink in ("black tea", "oolong tea", "white tea"):
        vault.revise("c:drink", f"Drinks {drink} in the morning.")
    hits = vault.retrieve("tea in the morning").hits
    assert [hit.text for hit in hits] == ["Drinks white tea in the morning."]


LINKS = """\
See [[people:lin]] and [[People:LIN|her]], [[people#lin]], [[people：lin]],
![[people:lin]], [[ people : lin ]].

Not [[people:lina]], [[lin]], [[other:lin]], `[[people:lin]]`, \\[[people:lin]].

```
[[people:lin]]
```
"""
REWRITTEN = LINKS.replace(
    "[[people:lin]] and [[People:LIN|her]], [[people#lin]], [[people：lin]],\n![[people:lin]], [[ people : lin ]].",
    "[[people:ada]] and [[People:ada|her]], [[people#ada]], [[people：ada]],\n![[people:ada]], [[ people : ada ]].",
)


def test_rename_rewrites_links_in_all_forms(vault: Vault, root: Path) -> None:
    assert LINKS.count("people:lin") - REWRITTEN.count("people:lin") == 2
    vault.remember("people:lin", "A friend. [[:lin]]")
    write(root, "memory/notes.md", f"# notes\n\n{LINKS}\n## one\n\n{LINKS}")
    write(root, "memory/deep/er.md", "Only a paragraph with [[people:lin]].\n")
    write(root, "memory/crlf.md", "\ufeff## x\r\n\r\n[[people:lin]]\r\n")
    before = memory_bytes(root)
    written = vault.rename("people:lin", "ada")
    assert (written.status, written.address) == ("renamed", "people:ada")
    after = memory_bytes(root)
    assert after["memory/notes.md"].decode() == f"# notes\n\n{REWRITTEN}\n## one\n\n{REWRITTEN}"
    assert after["memory/deep/er.md"].decode() == "Only a paragraph with [[people:ada]].\n"
    assert after["memory/crlf.md"].decode() == "\ufeff## x\r\n\r\n[[people:ada]]\r\n"
    assert "[[:ada]]" in after["memory/people.md"].decode()
    assert vault.get("people:lin") is None
    assert "notes:one" in written.notes[0]
    lines = [line for line in journal(root) if line["action"] == "rename"]
    assert len(lines) == 1
    assert lines[0]["detail"]["from"] == "lin"
    vault.undo(written.journal_id)
    assert memory_bytes(root) == before


def test_rename_rewrites_links_in_a_preamble_alone(vault: Vault, root: Path) -> None:
    vault.remember("people:lin", "A friend.")
    write(root, "memory/notes.md", "# notes\n\nMind [[people:lin]].\n\n## one\n\ntext\n")
    before = memory_bytes(root)
    written = vault.rename("people:lin", "ada")
    assert (root / "memory/notes.md").read_text() == "# notes\n\nMind [[people:ada]].\n\n## one\n\ntext\n"
    vault.undo(written.journal_id)
    assert memory_bytes(root) == before


def test_rename_follows_scopes(vault: Vault, root: Path) -> None:
    vault.remember("people:lin", "shared")
    vault.remember("user/kim/people:lin", "Kim's own")
    write(root, "users/kim/memory/notes.md", "## a\n\n[[people:lin]] [[shared/people:lin]] [[user/kim/people:lin]]\n")
    write(root, "users/ana/memory/notes.md", "## a\n\n[[people:lin]] [[user/kim/people:lin]]\n")
    vault.rename("people:lin", "ada")
    # Kim's link means Kim's own item; Ana has none, so hers means the shared one.
    assert (
        "[[people:lin]] [[shared/people:ada]] [[user/kim/people:lin]]"
        in (root / "users/kim/memory/notes.md").read_text()
    )
    assert "[[people:ada]] [[user/kim/people:lin]]" in (root / "users/ana/memory/notes.md").read_text()
    vault.rename("user/kim/people:lin", "li")
    assert (
        "[[people:li]] [[shared/people:ada]] [[user/kim/people:li]]" in (root / "users/kim/memory/notes.md").read_text()
    )
    assert "[[people:ada]] [[user/kim/people:li]]" in (root / "users/ana/memory/notes.md").read_text()


def test_rename_of_case_alone(vault: Vault, root: Path) -> None:
    vault.remember("people:lin", "A friend. [[people:lin]]")
    assert vault.rename("people:lin", "Lin").status == "renamed"
    assert [item.name for item in vault.items("people")] == ["Lin"]
    assert "[[people:Lin]]" in (root / "memory/people.md").read_text()
    assert vault.rename("people:LIN", "Lin").status == "unchanged"


def test_rename_leads_references_in_metadata(vault: Vault) -> None:
    vault.remember("home:old", "Chengdu")
    vault.remember("home:new", "Shanghai", supersedes="home:old")
    vault.remember("agent/scout/lessons:copy", "Shanghai", source="home:new")
    vault.rename("home:new", "newest")
    vault.rename("home:old", "oldest")
    oldest, newest, copy = (vault.get(a) for a in ("home:oldest", "home:newest", "agent/scout/lessons:copy"))
    assert oldest is not None
    assert newest is not None
    assert copy is not None
    assert oldest.metadata.superseded_by == "home:newest"
    assert newest.metadata.supersedes == "home:oldest"
    assert copy.metadata.source == "home:newest"
    assert not [p for p in vault.check() if p.kind.startswith("dangling")]


def test_rename_refuses_what_is_taken_or_no_name(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "one")
    vault.remember("c:b", "two")
    before = memory_bytes(root)
    with pytest.raises(NameTaken, match="c:B is another item"):
        vault.rename("c:a", "B")
    for name in ("", "x#y", "[[x]]", "~x", "a|b", "\n"):
        with pytest.raises(BadName):
            vault.rename("c:a", name)
    with pytest.raises(NotFound):
        vault.rename("c:gone", "x")
    assert memory_bytes(root) == before


def test_rename_of_an_item_without_a_name(vault: Vault, root: Path) -> None:
    write(root, "memory/notes.md", "First thought.\n\nSecond thought.\n")
    nameless = vault.items("notes")[0]
    write(root, "memory/links.md", f"## a\n\n[[{nameless.address}]]\n")
    written = vault.rename(str(nameless.address), "first")
    assert (root / "memory/notes.md").read_text() == "First thought. ^first\n\nSecond thought.\n"
    found = vault.get("notes:first")
    assert found is not None
    assert found.text == "First thought."
    assert written.address == "notes:^first"
    assert "[[notes:first]]" in (root / "memory/links.md").read_text()


def test_rename_in_a_batch_sees_what_is_only_pending(vault: Vault, root: Path) -> None:
    vault.remember("people:lin", "A friend.")
    with vault.batch():
        vault.remember("fresh:a", "knows [[people:lin]]")
        vault.rename("people:lin", "ada")
    assert "[[people:ada]]" in (root / "memory/fresh.md").read_text()


def test_removing_an_item_is_a_change_that_undo_takes_back(vault: Vault, root: Path) -> None:
    write(root, "memory/c.md", "# c\n\nby hand\n\n## a\n\none\n\n## b\n\ntwo [[c:a]]\n")
    before = memory_bytes(root)
    item = vault.get("c:a")
    assert item is not None
    with pytest.raises(ChangedUnderneath):
        vault.remove("c:a", expected_hash="0000")
    removed = vault.remove("c:a", expected_hash=item.hash)
    assert (removed.status, removed.address) == ("removed", "c:a")
    assert vault.get("c:a") is None
    assert (root / "memory" / "c.md").read_text(encoding="utf-8") == "# c\n\nby hand\n\n## b\n\ntwo [[c:a]]\n"
    assert vault.retrieve("one").no_match
    assert [entry.action for entry in vault.log()][-1] == "remove"
    with pytest.raises(NotFound):
        vault.remove("c:a")
    with pytest.raises(UsageError):
        vault.remove("c")
    vault.undo()
    assert memory_bytes(root) == before
