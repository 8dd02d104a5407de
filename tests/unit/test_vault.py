"""The facade: opening, reading, retrieving, several threads."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

import memoranda
from fakes.clock import FakeClock
from memoranda.bootstrap import Vault
from memoranda.core.errors import (
    BadName,
    Conflict,
    MemorandaError,
    NotFound,
    OutsideVault,
    UsageError,
    VaultReadOnly,
    VaultUnreadable,
)
from observing import as_nobody, journal, memory_bytes, places_of, tree_bytes, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "vault"


@pytest.fixture
def vault(root: Path) -> Iterator[Vault]:
    clock = FakeClock(datetime(2026, 7, 10, 2, 0, tzinfo=UTC), ZoneInfo("Asia/Shanghai"))
    with Vault.open(root, clock=clock) as opened:
        yield opened


def open_to_all(root: Path, mode: int = 0o755) -> None:
    """Let others read the vault, and pass the folders above it."""
    for folder in root.parents:
        if str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    for path in [root, *root.rglob("*")]:
        path.chmod(mode if path.is_dir() else mode & 0o666)


def test_is_exported(root: Path) -> None:
    assert memoranda.Vault is Vault


def test_opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(VaultUnreadable, match="there is no vault at"):
        Vault.open(tmp_path / "absent", create=False)
    with pytest.raises(VaultUnreadable):
        Vault.open(tmp_path, create=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with Vault.open("~/new/vault") as made:
        assert made.is_new
        assert made.root == os.path.realpath(tmp_path / "new/vault")
    with Vault.open(tmp_path / "new/vault", create=False) as again:
        assert not again.is_new
        assert again.id == made.id
    write(tmp_path, "file", "x")
    with pytest.raises(VaultUnreadable, match="not a folder"):
        Vault.open(tmp_path / "file")


def test_a_folder_of_markdown_is_adopted_with_not_a_byte_changed(tmp_path: Path) -> None:
    write(tmp_path, "memory/c.md", "## a\n\none\n")
    before = memory_bytes(tmp_path)
    with Vault.open(tmp_path, create=False) as reader:
        assert [i.text for i in reader.items()] == ["one"]
    with Vault.open(tmp_path) as vault:
        assert vault.is_new
        assert [i.text for i in vault.items()] == ["one"]
    assert memory_bytes(tmp_path) == before


def test_vault_behind_a_symbolic_link(vault: Vault, root: Path, tmp_path: Path) -> None:
    vault.remember("c:a", "one")
    (tmp_path / "link").symlink_to(root)
    with Vault.open(tmp_path / "link") as linked:
        assert linked.root == str(root)
        linked.remember("c:b", "two")
    assert [i.text for i in vault.items()] == ["one", "two"]
    assert (tmp_path / "link").is_symlink()


def test_links_that_leave_the_vault(vault: Vault, root: Path, tmp_path: Path) -> None:
    outside = write(tmp_path, "outside/c.md", "## a\n\nnot ours\n")
    vault.remember("c:a", "one")
    (root / "memory/linked").symlink_to(outside.parent)
    (root / "memory/file.md").symlink_to(outside)
    for address in ("linked/c:x", "file:x"):
        with pytest.raises(OutsideVault):
            vault.remember(address, "text")
        with pytest.raises(OutsideVault):
            vault.get(address)
    assert [str(i.address) for i in vault.items()] == ["c:a"]
    assert {p.kind for p in vault.check()} == {"outside"}
    assert outside.read_text() == "## a\n\nnot ours\n"


def test_links_within_the_vault_stay_links(vault: Vault, root: Path) -> None:
    write(root, "notes/real.md", "## a\n\none\n")
    (root / "memory/alias.md").symlink_to("../notes/real.md")
    vault.remember("alias:b", "two")
    assert (root / "memory/alias.md").is_symlink()
    assert "two" in (root / "notes/real.md").read_text()
    assert [i.text for i in vault.items()] == ["one", "two"]


def test_reading(vault: Vault, root: Path) -> None:
    vault.remember("b:x", "1")
    vault.remember("a:y", "2")
    vault.remember("a:x", "3")
    vault.remember("user/lin/a:z", "4")
    assert [str(i.address) for i in vault.items()] == ["a:y", "a:x", "b:x", "user/lin/a:z"]
    assert [str(i.address) for i in vault.items("A")] == ["a:y", "a:x"]
    assert [str(i.address) for i in vault.items(scope="user/Lin")] == ["user/lin/a:z"]
    assert [str(i.address) for i in vault.items(scope="shared")] == ["a:y", "a:x", "b:x"]
    assert vault.items("none") == []
    assert [(c.address, c.items, c.path) for c in vault.categories()] == [
        ("a", 2, "memory/a.md"),
        ("b", 1, "memory/b.md"),
        ("user/lin/a", 1, "users/lin/memory/a.md"),
    ]
    assert [c.address for c in vault.categories("user/lin")] == ["user/lin/a"]
    assert vault.read_category("a") == (root / "memory/a.md").read_text()
    with pytest.raises(NotFound, match="there is no category none"):
        vault.read_category("none")
    assert vault.get("a") is None
    assert vault.get("a:none") is None
    assert vault.get("none:a") is None
    item = vault.get("a:x")
    assert item is not None
    assert (item.path, item.line, item.name) == ("memory/a.md", 9, "x")
    for wrong in ("../x:a", "user/lin:a"):
        with pytest.raises(BadName):
            vault.get(wrong)
    with pytest.raises(BadName, match="a scope is shared"):
        vault.items(scope="nobody")
    assert vault.log(1)[0].item == "z"
    assert [e.item for e in vault.log()] == ["x", "y", "x", "z"]


def test_unreadable_text_of_one_category(vault: Vault, root: Path) -> None:
    write(root, "memory/bad.md", b"## a\n\n\xff\xfe\n")
    with pytest.raises(Conflict, match=r"bad.md is not UTF-8 \(line 3\)"):
        vault.read_category("bad")
    with pytest.raises(Conflict):
        vault.remember("bad:b", "text")
    assert vault.get("bad:a") is None
    assert (root / "memory/bad.md").read_bytes() == b"## a\n\n\xff\xfe\n"


@pytest.mark.parametrize("content", ["", "\n", "\ufeff", "# only a title\n", "---\nfront: matter\n---\n", "\r\n\r\n"])
def test_files_without_items(vault: Vault, root: Path, content: str) -> None:
    path = write(root, "memory/c.md", content)
    assert vault.items() == []
    vault.remember("c:a", "text")
    assert path.read_bytes().decode().startswith(content)
    assert [i.name for i in vault.items()] == ["a"]


def test_two_files_of_one_category(vault: Vault, root: Path) -> None:
    """Case D13: two Unicode forms of a name are one category, and an odd name stops nothing."""
    write(root, "memory/caf\u00e9.md", "## a\n\nfirst\n")
    write(root, "memory/cafe\u0301.md", "## a\n\nsecond\n\n## b\n\nthird\n")
    write(root, "memory/🐘.md", "## a\n\nelephant\n")
    items = vault.items("caf\u00e9")
    assert {i.text for i in items} == {"first", "second", "third"}
    assert all(vault.get(str(i.address)) == i for i in items)
    assert vault.get("cafe\u0301:b") is not None
    assert len({h.address for h in vault.retrieve("first second third").hits}) == 3
    assert vault.retrieve("elephant").hits[0].address == "🐘:a"
    vault.remember("caf\u00e9:c", "fourth")
    assert "fourth" in (root / "memory/caf\u00e9.md").read_text()
    vault.revise("caf\u00e9:b", "changed")
    assert "changed" in (root / "memory/cafe\u0301.md").read_text()
    # Only one of the two is left: it has its name back.
    (root / "memory/caf\u00e9.md").unlink()
    assert {(i.name, i.text) for i in vault.items("caf\u00e9")} == {("a", "second"), ("b", "changed")}


def test_scopes_do_not_see_each_other(vault: Vault) -> None:
    for scope in ("", "user/lin/", "user/ana/", "project/one/", "project/two/", "agent/x/"):
        vault.remember(f"{scope}notes:tea", f"tea in {scope or 'shared'}")

    def found(*scopes: str) -> set[str]:
        return {hit.scope for hit in vault.retrieve("tea", scopes=scopes or None).hits}

    assert found() == {"shared"}
    assert found("project/one", "shared") == {"project/one", "shared"}
    assert found("user/LIN") == {"user/lin"}
    assert found("project/three") == set()
    shared = [h.score for h in vault.retrieve("tea").hits]
    vault.remember("user/lin/notes:more", "tea tea tea tea")
    # What one may not see does not show in the scores either.
    assert [h.score for h in vault.retrieve("tea").hits] == shared
    with pytest.raises(UsageError):
        vault.retrieve("tea", scopes=["everybody"])


def test_links_do_not_lead_out_of_what_may_be_seen(vault: Vault) -> None:
    vault.remember("notes:a", "tea with [[user/lin/secrets:b]] and [[project/p/x:c]]")
    vault.remember("user/lin/secrets:b", "a secret")
    vault.remember("project/p/x:c", "another secret")
    assert {h.address for h in vault.retrieve("tea").hits} == {"notes:a"}
    assert "user/lin/secrets:b" in {h.address for h in vault.retrieve("tea", scopes=["shared", "user/lin"]).hits}


@pytest.mark.parametrize("save", ["rename", "in place"])
def test_an_edit_by_hand_is_seen_by_the_next_retrieve(vault: Vault, root: Path, save: str) -> None:
    """Case D17: however it was saved, and however shortly after."""
    vault.remember("c:a", "likes tea")
    path = root / "memory/c.md"
    vault.retrieve("tea")
    last = "tea"
    for drink in ("rum", "gin", "ale", "mud"):
        new, last = path.read_text().replace(last, drink), drink
        if save == "rename":
            write(root, "memory/c.md", new)
        else:
            path.write_text(new)
        hits = vault.retrieve(f"likes {drink}").hits
        assert [h.text for h in hits] == [f"likes {drink}"]
        assert drink in hits[0].text
    assert len([line for line in journal(root) if line["action"] == "external-edit"]) == 4


def test_what_another_process_wrote_is_seen(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "tea")
    vault.retrieve("tea")
    with Vault.open(root) as other:
        other.remember("c:b", "more tea")
        other.revise("c:a", "coffee")
    assert [h.address for h in vault.retrieve("tea").hits] == ["c:b"]
    assert [line["action"] for line in journal(root)] == ["add", "add", "update"]


def test_explain_says_why(vault: Vault) -> None:
    vault.remember("c:a", "likes green tea")
    hit = vault.retrieve("green tea", explain=True).hits[0]
    assert hit.explanation is not None
    assert hit.explanation.score == hit.score
    assert {part.term for part in hit.explanation.terms} >= {"green", "tea"}
    assert json.dumps(vault.retrieve("green tea", explain=True).as_dict())
    assert vault.retrieve("green tea").hits[0].explanation is None


def test_wrong_arguments(vault: Vault) -> None:
    for arguments in ({"k": 0}, {"budget": -1}, {"mode": "magic"}, {"levels": ["nothing"]}, {"deadline": -1}):
        with pytest.raises(UsageError):
            vault.retrieve("x", **arguments)


def test_first_reading_is_not_counted_by_default_but_by_a_deadline_given(vault: Vault, root: Path) -> None:
    for number in range(300):
        write(root, f"memory/c{number}.md", f"## a\n\ntea number {number}\n")
    with Vault.open(root) as strict:
        found = strict.retrieve("tea", deadline=0.0)
        assert any("not read in time" in note for note in found.unavailable)
        # What was not read is read by the next calls.
        assert strict.retrieve("tea number 299", deadline=60).hits[0].text == "tea number 299"
    write(root, "memoranda.toml", "deadline = 0.001\n")
    with Vault.open(root) as patient:
        found = patient.retrieve("tea number 299", k=5)
        assert found.hits[0].text == "tea number 299"
        assert not [note for note in found.unavailable if "not read" in note]


def test_unreadable_vault_answers_from_what_it_knows_and_says_so(vault: Vault, root: Path) -> None:
    """Case D4: what cannot be read is never taken for empty."""
    for number in range(50):
        write(root, f"memory/c{number}.md", f"## a\n\ntea number {number}\n")
    assert len(vault.items()) == 50
    before = journal(root)
    (root / "memory").rename(root / "hidden")
    (root / "memory").write_text("in its place")
    found = vault.retrieve("tea number 7")
    assert found.hits[0].text == "tea number 7"
    assert found.unavailable
    assert vault.retrieve("tea number 7", as_of="2026-12-31").hits[0].text == "tea number 7"
    for call in (vault.items, vault.check, vault.log, vault.status, lambda: list(vault.export())):
        with pytest.raises(VaultUnreadable):
            call()
    (root / "memory").unlink()
    (root / "hidden").rename(root / "memory")
    assert len(vault.items()) == 50
    assert vault.retrieve("tea").unavailable == []
    assert journal(root) == before
    shutil.move(root, root.parent / "gone")
    found = vault.retrieve("tea number 7")
    assert found.hits
    assert found.unavailable


def test_vault_that_may_not_be_read(vault: Vault, root: Path) -> None:
    """Case D4: a folder without permission fails loudly, and the rest goes on."""
    vault.remember("c:a", "tea one")
    vault.remember("deep/d:b", "tea two")
    open_to_all(root, 0o777)

    def look() -> None:
        reader = Vault.open(root)
        assert len(reader.items()) == 2
        os.chmod(root / "memory/deep", 0)
        found = reader.retrieve("tea")
        assert {h.text for h in found.hits} == {"tea one", "tea two"}
        assert any("memory/deep" in note for note in found.unavailable)
        assert any(p.kind == "unreadable" for p in reader.check())
        os.chmod(root / "memory/deep", 0o777)
        assert reader.retrieve("tea").unavailable == []
        os.chmod(root / "memory", 0)
        assert len(reader.retrieve("tea").hits) == 2
        with pytest.raises(VaultUnreadable):
            reader.items()
        os.chmod(root / "memory", 0o777)
        assert [e for e in reader.log() if e.action == "external-edit"] == []

    for path in (root / "memory", root / "memory/deep"):
        os.chown(path, 65534, 65534)
    as_nobody(look)


def test_vault_that_may_only_be_read(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "tea")
    write(root, "memory/hand.md", "## b\n\ncoffee by hand\n")
    open_to_all(root)

    def look() -> None:
        with Vault.open(root) as reader:
            assert {i.text for i in reader.items()} == {"tea", "coffee by hand"}
            assert reader.retrieve("coffee").hits[0].text == "coffee by hand"
            assert len(reader.log()) == 1
            assert reader.status().items == 2
            assert reader.check() == []
            before = tree_bytes(root)
            for call in (
                lambda: reader.remember("c:b", "x"),
                lambda: reader.revise("c:a", "x"),
                lambda: reader.rename("c:a", "x"),
                lambda: reader.forget("c:a"),
                lambda: reader.undo(),
                lambda: reader.import_turns([{"conversation": "t", "turn": 1, "text": "x"}]),
                lambda: reader.reindex(),
            ):
                with pytest.raises(VaultReadOnly):
                    call()
            assert tree_bytes(root) == before

    as_nobody(look)


def test_forgetting_that_was_cut_short_does_not_stop_a_reader(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "tea")
    vault.remember("c:b", "coffee")
    intent = {"id": "0123456789", "items": ["c:a"], "turns": [], "user": None, "names": []}
    write(root, "forgetting.json", json.dumps(intent))
    open_to_all(root)

    def look() -> None:
        with Vault.open(root) as reader:
            assert reader.retrieve("coffee").hits

    as_nobody(look)
    with Vault.open(root) as writer:
        assert [i.name for i in writer.items()] == ["b"]
    assert places_of(root, "tea") == []


def test_usage_is_noted(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "tea")
    vault.retrieve("tea")
    vault.retrieve("nothing of the kind")
    vault.retrieve("tea", as_of="2026-12-31")
    lines = [json.loads(line) for line in (root / "usage.jsonl").read_text().split("\n") if line]
    assert lines == [{"ts": "2026-07-10T02:00:00Z", "hits": ["c:a"]}]
    write(root, "memoranda.toml", "usage = false\n")
    with Vault.open(root) as quiet:
        quiet.retrieve("tea")
    assert len((root / "usage.jsonl").read_text().split("\n")) == 2


def test_retrieve_within_its_deadline_while_a_batch_is_open(vault: Vault) -> None:
    vault.remember("c:a", "tea")
    vault.retrieve("tea")
    entered, leave = threading.Event(), threading.Event()

    def batch() -> None:
        with vault.batch():
            entered.set()
            leave.wait(30)

    writer = threading.Thread(target=batch)
    writer.start()
    entered.wait(30)
    try:
        for question in ({}, {"deadline": 0.05}, {"as_of": "2026-12-31"}, {"levels": ["resource"]}):
            began = time.monotonic()
            found = vault.retrieve("tea", **question)
            assert time.monotonic() - began < 5
            assert any("another thread" in note for note in found.unavailable)
            assert bool(found.hits) == ("levels" not in question)
    finally:
        leave.set()
        writer.join()


def test_eight_threads_at_once(vault: Vault, root: Path) -> None:
    failures: list[BaseException] = []
    start = threading.Barrier(8)

    def work(number: int) -> None:
        try:
            start.wait()
            for step in range(12):
                vault.remember(f"c{step % 3}:item {number} {step}", f"tea of thread {number} step {step}")
                assert vault.retrieve("tea", deadline=60).hits
                assert vault.get(f"c{step % 3}:item {number} {step}") is not None
                if step % 4 == 3:
                    vault.revise(f"c{step % 3}:item {number} {step}", f"tea, revised by {number} {step}")
                    vault.items()
                    vault.categories()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(vault.items()) == 96
    assert len(journal(root)) == 96 + 24
    with Vault.open(root) as again:
        assert {i.text for i in again.items()} == {i.text for i in vault.items()}


def test_follow_tells_what_comes(vault: Vault, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.remember("c:before", "one")
    steps = iter([lambda: vault.remember("c:a", "two"), lambda: vault.remember("c:b", "three"), lambda: None])
    monkeypatch.setattr(time, "sleep", lambda _: next(steps)())
    entries = vault.follow()
    assert [next(entries).item, next(entries).item] == ["a", "b"]


def test_cache_may_go_at_any_moment(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "tea")
    write(root, "memory/hand.md", "## b\n\ncoffee\n")
    steps = [
        lambda: vault.items(),
        lambda: vault.remember("c:b", "rum"),
        lambda: vault.retrieve("tea"),
        lambda: vault.revise("c:a", "green tea"),
        lambda: Vault.open(root).items(),
        lambda: vault.undo(),
        lambda: Vault.open(root).close(),
    ]
    for step in steps:
        shutil.rmtree(root / ".cache", ignore_errors=True)
        step()
    assert [line["action"] for line in journal(root)] == ["add", "external-edit", "add", "update", "restore"]
    assert {i.text for i in vault.items()} == {"tea", "coffee", "rum"}


def test_file_that_went_with_the_cache_is_accounted_for(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "tea")
    vault.close()
    shutil.rmtree(root / ".cache")
    (root / "memory/c.md").unlink()
    with Vault.open(root) as again:
        assert again.items() == []
        assert [e.detail.get("kind") for e in again.log()] == [None, "removed"]
        again.undo()
        assert [i.text for i in again.items()] == ["tea"]


def test_new_files_are_private(root: Path) -> None:
    mask = os.umask(0)
    try:
        with Vault.open(root) as vault:
            vault.remember("deep/er/c:a", "tea")
            vault.remember("user/lin/c:a", "tea")
            vault.import_turns([{"conversation": "t", "turn": 1, "text": "hello"}])
            vault.retrieve("tea")
            vault.forget("user/lin/c:a")
    finally:
        os.umask(mask)
    for path in [root, *root.rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_every_error_is_ours(vault: Vault) -> None:
    for call in (
        lambda: vault.remember("", "x"),
        lambda: vault.remember(":", "x"),
        lambda: vault.revise("a:b", "x"),
        lambda: vault.undo("nonsense"),
        lambda: vault.forget("a:b"),
        lambda: vault.import_from("turns", "/nowhere/at/all"),
        lambda: vault.read_category("/etc"),
    ):
        with pytest.raises(MemorandaError):
            call()


def test_settings_that_mean_nothing_cost_only_themselves(root: Path) -> None:
    root.mkdir()
    write(root, "memoranda.toml", 'deadlin = 1\nk1 = 1.5\nb = "x"\n')
    with Vault.open(root) as vault:
        assert (vault.settings.k1, vault.settings.b) == (1.5, 0.4)
        assert len(vault.settings_faults) == 2
        assert [p.kind for p in vault.check()] == ["settings", "settings"]
    write(root, "memoranda.toml", "not toml at all [")
    with Vault.open(root) as vault:
        assert vault.settings.k1 == 1.2
        assert "TOML" in vault.settings_faults[0]


def test_what_lists_leave_out_is_named(root: Path) -> None:
    with Vault.open(root) as vault:
        vault.remember("fine:x", "text")
        write(root, "memory/bad.md", b"\xff\xfe")
        assert vault.unread() == ["memory/bad.md"]
        assert [c.address for c in vault.categories()] == ["fine"]


def test_thousands_of_files_made_by_hand_are_one_change_and_a_line_each(root: Path) -> None:
    for number in range(2500):
        write(root, f"memory/c{number}.md", f"## n\n\nfact {number}\n")
    with Vault.open(root) as vault:
        assert vault.retrieve("77", deadline=60).hits[0].address == "c77:n"
        lines = [entry for entry in vault.log() if entry.action == "external-edit"]
        assert len(lines) == 2500
        assert len({entry.id.partition(".")[0] for entry in lines}) == 2
        one = next(entry for entry in lines if entry.detail["path"] == "memory/c5.md")
        vault.undo(one.id)
        assert vault.get("c5:n") is None
        assert len(vault.items()) == 2499


@pytest.mark.parametrize("deadline", [1e18, 10**30])
def test_a_deadline_beyond_the_clock_is_none(root: Path, deadline: float) -> None:
    with Vault.open(root) as vault:
        vault.remember("a:b", "text")
        assert [hit.address for hit in vault.retrieve("text", deadline=deadline)] == ["a:b"]


def test_a_turn_that_is_no_mapping_is_a_problem(root: Path) -> None:
    with Vault.open(root) as vault:
        done = vault.import_turns(["x"])  # type: ignore[list-item]
        assert (done.added, done.skipped) == (0, 1)
