from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.clock import FakeClock
from memoranda.bootstrap import Vault
from memoranda.core.errors import NotFound, UsageError
from memoranda.core.metadata import EMPTY_METADATA
from memoranda.core.model import Problem
from memoranda.services.intake import ForeignItem, import_items
from memoranda.services.writer import Writer
from memoranda.storage.store import Storage
from memoranda.storage.vault import VaultFolder
from observing import journal, memory_bytes, tree_bytes, write


@pytest.fixture
def writer(root: Path, clock: FakeClock) -> Writer:
    return Writer(Storage.at(VaultFolder(str(root)), clock, "user"))


def foreign(name: str | None, text: str, **metadata: str) -> ForeignItem:
    return ForeignItem("c", name, text, EMPTY_METADATA.with_values(**metadata), "their.md", 3)


def test_items_come_untrusted_with_what_they_bring(writer: Writer, vault: Vault, root: Path) -> None:
    items = [foreign("a", "one", ts="2026-01-01", owner="user:lin"), foreign(None, "two")]
    items.append(foreign("t", "x", trust="high"))
    done = import_items(writer, items, "theirs")
    assert (done.added, done.unchanged, done.skipped, done.problems) == (3, 0, 0, ())
    a, two, trusted = vault.items("c")
    assert dict(a.metadata.pairs) == {
        "owner": "user:lin",
        "ts": "2025-12-31T16:00:00Z",
        "actor": "import:theirs",
        "trust": "untrusted",
    }
    assert two.metadata.ts is None
    assert trusted.metadata.trust == "high"
    again = import_items(writer, items, "theirs")
    assert (again.added, again.unchanged) == (0, 3)
    before = memory_bytes(root)
    vault.undo()
    assert memory_bytes(root) != before
    assert vault.items() == []


def test_bad_metadata_costs_the_metadata_and_not_the_item(writer: Writer, vault: Vault) -> None:
    done = import_items(
        writer,
        [foreign("a", "one", ts="long ago", confidence="very", owner="user:lin", supersedes="c:never-there")],
        "theirs",
    )
    assert (done.added, done.skipped) == (1, 0)
    assert [(p.path, p.line, p.kind) for p in done.problems] == [("their.md", 3, "metadata")] * 2
    item = vault.get("c:a")
    assert item is not None
    assert item.metadata.owner == "user:lin"
    assert item.metadata.ts is None
    assert item.metadata.supersedes == "c:never-there"


def test_what_cannot_be_stored_is_listed_and_the_rest_goes_on(writer: Writer, vault: Vault) -> None:
    fault = Problem("their.md", 1, "encoding", "not UTF-8")
    items = [fault, foreign("a", "# heading"), foreign("b|c", "bad name"), foreign("a", "one"), foreign("a", "other")]
    done = import_items(writer, items, "theirs")
    assert (done.added, done.skipped, done.total) == (2, 3, 5)
    assert [p.kind for p in done.problems] == ["encoding", "import", "import"]
    assert [i.name for i in vault.items("c")] == ["a", "a-2"]


def test_what_was_revised_since_its_import_stays_so(writer: Writer, vault: Vault) -> None:
    import_items(writer, [foreign("a", "one")], "theirs")
    vault.revise("c:a", "one, and more")
    again = import_items(writer, [foreign("a", "one")], "theirs")
    assert (again.added, again.unchanged) == (0, 1)
    assert [(i.name, i.text) for i in vault.items("c")] == [("a", "one, and more")]


def test_a_fault_in_the_source_leaves_the_vault_as_it_was(writer: Writer, vault: Vault, root: Path) -> None:
    def broken() -> Iterator[ForeignItem]:
        yield foreign("a", "one")
        raise NotFound("the folder went away")

    with pytest.raises(NotFound):
        import_items(writer, broken(), "theirs")
    assert memory_bytes(root) == {}
    assert journal(root) == []


def test_source_is_only_read(vault: Vault, tmp_path: Path, root: Path) -> None:
    write(tmp_path, "their/wiki/people.md", "# people\n\n## lin\n\nLikes the sea. [[places:sea]]\n")
    before = tree_bytes(tmp_path / "their")
    done = vault.import_from("wikimem", tmp_path / "their")
    assert done.added == 1
    assert tree_bytes(tmp_path / "their") == before
    assert vault.import_from("wikimem", str(tmp_path / "their")).added == 0
    vault.close()
    assert "people" in (root / "MEMORY.md").read_text()
    with pytest.raises(UsageError, match="no import format 'nonsense'"):
        vault.import_from("nonsense", tmp_path)


def test_turns_come_through_the_same_door(vault: Vault, tmp_path: Path) -> None:
    write(tmp_path, "turns.jsonl", '{"conversation":"t","turn":1,"text":"hello"}\nnonsense\n')
    done = vault.import_from("turns", tmp_path / "turns.jsonl")
    assert (done.added, done.skipped) == (1, 1)
    assert done.problems[0].line == 2


def test_a_dry_run_says_what_would_be_and_writes_nothing(writer: Writer, vault: Vault, root: Path) -> None:
    import_items(writer, [foreign("a", "one")], "theirs")
    items: list[ForeignItem | Problem] = [foreign("a", "one"), foreign("b", "two"), foreign("b", "2"), foreign("c", "")]
    items.append(Problem("x", 1, "json", "broken"))
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    bytes_before = tree_bytes(root)
    tried = import_items(writer, items, "theirs", dry_run=True)
    assert (tried.added, tried.unchanged, tried.skipped) == (2, 1, 2)
    assert tree_bytes(root) == bytes_before
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before
    assert import_items(writer, items, "theirs") == tried
    assert [i.name for i in vault.items("c")] == ["a", "b", "b-2"]
    assert vault.remember("c:d", "a batch is not left open").status == "added"


def test_what_was_changed_on_one_side_stays_and_is_named(writer: Writer, vault: Vault) -> None:
    import_items(writer, [foreign("a", "one", source="s/1")], "theirs")
    again = import_items(writer, [foreign("a", "one, but newer", source="s/1")], "theirs")
    assert (again.added, again.unchanged) == (0, 1)
    assert [(p.path, p.line, p.kind) for p in again.problems] == [("their.md", 3, "kept")]
    assert [i.text for i in vault.items("c")] == ["one"]


def test_one_name_from_two_sources_is_two_items(writer: Writer, vault: Vault) -> None:
    import_items(writer, [foreign("a", "one", source="s/1")], "theirs")
    second = [foreign("a", "two", source="s/2")]
    for added in (1, 0):
        done = import_items(writer, second, "theirs")
        assert (done.added, done.unchanged, done.problems) == (added, 1 - added, ())
    assert [(i.name, i.text) for i in vault.items("c")] == [("a", "one"), ("a-2", "two")]


def test_a_new_item_is_not_taken_for_an_old_one_of_its_name(writer: Writer, vault: Vault) -> None:
    import_items(writer, [foreign("a", "one")], "theirs")
    for items in ([foreign("a", "one"), foreign("a", "two")], [foreign("a", "two"), foreign("a", "one")]):
        done = import_items(writer, items, "theirs")
        assert done.problems == ()
    assert [(i.name, i.text) for i in vault.items("c")] == [("a", "one"), ("a-2", "two")]


def test_what_another_hand_wrote_under_the_name_is_left_alone(writer: Writer, vault: Vault) -> None:
    vault.remember("c:a", "by hand")
    done = import_items(writer, [foreign("a", "theirs")], "theirs")
    assert (done.added, done.problems) == (1, ())
    assert [(i.name, i.text) for i in vault.items("c")] == [("a", "by hand"), ("a-2", "theirs")]


def test_half_a_character_costs_itself_and_not_the_import(writer: Writer, vault: Vault) -> None:
    done = import_items(writer, [foreign("a", "x \ud83d y", note="\udc00"), foreign("b", "\U0001f600")], "theirs")
    assert done.added == 2
    assert [i.text for i in vault.items("c")] == ["x \ufffd y", "\U0001f600"]
    assert vault.items("c")[0].metadata.get("note") == "\ufffd"


def test_a_format_is_one_actor_however_it_is_written(vault: Vault, tmp_path: Path) -> None:
    write(tmp_path, "their/a.md", "## n\n\nold\n")
    vault.import_from("WikiMem", tmp_path / "their")
    write(tmp_path, "their/a.md", "## n\n\nnew\n")
    assert vault.import_from("wikimem", tmp_path / "their").added == 0


def _named(name: str, text: str) -> ForeignItem:
    return ForeignItem("c", name, text, EMPTY_METADATA, "their.md", 3, named=True)


def test_items_of_their_own_names_may_say_the_same(writer: Writer, vault: Vault) -> None:
    items = [_named("Monday", "gym"), _named("Tuesday", "gym"), _named("Friday", "gym"), foreign("made-up", "gym")]
    done = import_items(writer, items, "theirs")
    assert (done.added, done.unchanged, done.problems) == (3, 1, ())
    assert {i.name: i.text for i in vault.items("c")} == {
        "Monday": "gym",
        "Tuesday": "Tuesday\n\ngym",
        "Friday": "Friday\n\ngym",
    }
    for order in (items, items[::-1]):
        again = import_items(writer, order, "theirs")
        assert (again.added, again.unchanged, again.problems) == (0, 4, ())


def test_what_was_renamed_since_its_import_is_not_brought_again(writer: Writer, vault: Vault) -> None:
    items = [_named("Monday", "gym"), _named("Tuesday", "swim")]
    import_items(writer, items, "theirs")
    vault.rename("c:Monday", "Montag")
    again = import_items(writer, items, "theirs")
    assert (again.added, again.unchanged, again.problems) == (0, 2, ())
    assert [i.name for i in vault.items("c")] == ["Montag", "Tuesday"]
