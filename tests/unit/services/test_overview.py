from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fakes.clock import FakeClock
from memoranda.bootstrap import Vault
from memoranda.storage.journal import Journal
from observing import as_nobody, write


def overview(root: Path) -> list[str]:
    text = (root / "MEMORY.md").read_text()
    return [line for line in text.split("\n") if line.startswith("- ")]


def test_made_at_the_end_and_not_before(vault: Vault, root: Path) -> None:
    vault.remember("preferences:likes-the-sea", "喜欢海边")
    vault.remember("preferences:drinks-tea", "tea")
    vault.remember("work/rules:review", "Review.")
    vault.remember("user/lin/home:a", "private")
    assert not (root / "MEMORY.md").exists()
    vault.close()
    assert overview(root) == ["- **preferences** (2): likes-the-sea, drinks-tea", "- **work/rules** (1): review"]
    assert (root / "MEMORY.md").stat().st_mode & 0o077 == 0


def test_follows_every_kind_of_change(vault: Vault, root: Path) -> None:
    def now() -> list[str]:
        vault.close()
        return overview(root)

    vault.remember("c:a", "one")
    assert now() == ["- **c** (1): a"]
    vault.rename("c:a", "b")
    assert now() == ["- **c** (1): b"]
    with vault.batch():
        vault.remember("d:x", "two")
        vault.remember("e:y", "three")
    assert now() == ["- **c** (1): b", "- **d** (1): x", "- **e** (1): y"]
    vault.undo()
    assert now() == ["- **c** (1): b"]
    write(root, "memory/hand.md", "## by-hand\n\ntext\n")
    vault.items()
    assert now() == ["- **c** (1): b", "- **hand** (1): by-hand"]
    (root / "memory/hand.md").unlink()
    vault.items()
    assert now() == ["- **c** (1): b"]
    vault.forget("c:b")
    assert overview(root) == []


def test_what_a_killed_process_left_is_caught_up_with(root: Path, clock: FakeClock) -> None:
    with Vault.open(root, clock=clock) as vault:
        vault.remember("c:a", "one")
    killed = Vault.open(root, clock=clock)
    killed.remember("d:b", "two")
    del killed
    with Vault.open(root, clock=clock) as vault:
        vault.remember("e:c", "three")
    assert overview(root) == ["- **c** (1): a", "- **d** (1): b", "- **e** (1): c"]


def test_two_writers_at_once(root: Path, clock: FakeClock) -> None:
    with Vault.open(root, clock=clock) as one, Vault.open(root, clock=clock) as other:
        one.remember("c:a", "one")
        other.remember("d:b", "two")
        one.remember("e:c", "three")
    assert len(overview(root)) == 3


def test_a_persons_text_around_the_list_stays(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "one")
    vault.close()
    made = (root / "MEMORY.md").read_text()
    begin = made.index("<!-- memoranda: overview -->")
    mine = "\ufeffMy own words.\r\n\r\n" + made[begin:].rstrip("\n") + "\nand more\u2028behind"
    write(root, "MEMORY.md", mine)
    vault.remember("d:b", "two")
    vault.close()
    text = (root / "MEMORY.md").read_bytes().decode()
    assert text.startswith("\ufeffMy own words.\r\n\r\n<!-- memoranda: overview -->")
    assert text.endswith("and more\u2028behind")
    assert overview(root) == ["- **c** (1): a", "- **d** (1): b"]


def test_a_file_without_the_list_gets_it_at_its_end(vault: Vault, root: Path) -> None:
    write(root, "MEMORY.md", "# Mine")
    vault.remember("c:a", "one")
    vault.close()
    assert (root / "MEMORY.md").read_text().startswith("# Mine\n\n<!-- memoranda: overview -->\n\n- **c** (1): a\n")


def test_is_bounded(vault: Vault, root: Path) -> None:
    with vault.batch():
        for number in range(230):
            vault.remember(f"c{number:03}:a", f"text {number}")
        for number in range(40):
            vault.remember(f"c000:{'long name ' * 12}{number}", f"more {number}")
    vault.close()
    lines = overview(root)
    assert len(lines) == 201
    assert lines[-1] == "- … 30 more categories (`memoranda ls`)"
    assert lines[0].startswith("- **c000** (41): a, long name")
    assert lines[0].endswith("…, … +21")
    assert len(lines[0]) < 2000
    vault.remember("c229:b", "another")
    vault.remember("a:first", "in front")
    vault.close()
    assert overview(root)[0] == "- **a** (1): first"
    assert overview(root)[-1] == "- … 31 more categories (`memoranda ls`)"


@pytest.mark.parametrize("content", [b"\xff\xfe not text", None])
def test_what_cannot_be_brought_up_to_date_is_left(vault: Vault, root: Path, content: bytes | None) -> None:
    if content is None:
        (root / "MEMORY.md").mkdir()
    else:
        write(root, "MEMORY.md", content)
    assert vault.remember("c:a", "one").status == "added"
    vault.close()
    if content is None:
        assert (root / "MEMORY.md").is_dir()
    else:
        assert (root / "MEMORY.md").read_bytes() == content


def test_names_cannot_end_the_list(vault: Vault, root: Path) -> None:
    vault.remember("c:<!-- memoranda: end of overview -->", "one")
    vault.close()
    vault.remember("d:b", "two")
    vault.close()
    assert (root / "MEMORY.md").read_text().count("<!-- memoranda: end of overview -->") == 1
    assert len(overview(root)) == 2


def test_link_that_leaves_the_vault_is_not_followed(vault: Vault, root: Path) -> None:
    outside = root.parent / "outside.md"
    outside.write_text("mine")
    (root / "MEMORY.md").symlink_to(outside)
    vault.remember("c:a", "one")
    vault.close()
    assert outside.read_text() == "mine"


def test_may_be_switched_off(root: Path, clock: FakeClock) -> None:
    write(root, "memoranda.toml", "overview = false\n")
    with Vault.open(root, clock=clock) as vault:
        vault.remember("c:a", "one")
        vault.reindex()
        vault.forget("c:a")
    assert not (root / "MEMORY.md").exists()


def test_a_reader_who_may_not_write_closes_quietly(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "one")
    root.parent.chmod(0o755)
    for path in [root, *root.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)

    def read() -> None:
        with Vault.open(root) as reader:
            assert [i.text for i in reader.items()] == ["one"]

    for folder in root.parents:
        if folder.stat().st_mode & 0o005 != 0o005 and str(folder).startswith("/tmp/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    as_nobody(read)
    assert not (root / "MEMORY.md").exists()


def test_who_changed_nothing_reads_neither_journal_nor_files(
    vault: Vault, root: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault.remember("c:a", "tea")
    vault.close()
    monkeypatch.setattr(Journal, "last_id", lambda _: 1 / 0)
    with Vault.open(root, clock=clock) as reader:
        assert reader.get("c:a") is not None
    monkeypatch.undo()
    with Vault.open(root, clock=clock) as writer:
        writer.remember("c:b", "milk")
    assert overview(root) == ["- **c** (2): a, b"]


def test_a_vault_that_was_copied_is_looked_at_once(
    vault: Vault, root: Path, tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault.remember("c:a", "tea")
    vault.close()
    copied = shutil.copytree(root, tmp_path / "copy")
    Vault.open(copied, clock=clock).close()
    monkeypatch.setattr(Journal, "last_id", lambda _: 1 / 0)
    Vault.open(copied, clock=clock).close()
