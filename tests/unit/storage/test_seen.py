"""Most looks at a vault are answered by one small file: what it tells, and when it is not believed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.editor import account, add, save
from memoranda.storage.baselines import Baselines
from memoranda.storage.history import History
from memoranda.storage.seen import SeenState, path_number, read_state, state_file
from memoranda.storage.store import Storage

Open = Callable[[], Storage]
paths = st.sets(st.text(st.characters(codec=None, exclude_characters="\0"), max_size=30), max_size=12)


def of(known: set[str]) -> SeenState:
    return SeenState((("2026-07.jsonl", 1, 2), 3), len(known), 0, sum(map(path_number, known)))


@settings(deadline=None)
@given(paths, paths)
def test_tells_of_these_paths_and_no_others(known: set[str], present: set[str]) -> None:
    assert of(known).tells_of(known)
    assert of(known).tells_of(present) == (known == present)


def test_swapped_digits_are_other_paths() -> None:
    known = {"memory/cat-01.md", "memory/cat-10.md"}
    assert not of(known).tells_of({"memory/cat-00.md", "memory/cat-11.md"})


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=20), st.lists(st.integers(-1, 2**70), min_size=6, max_size=6))
def test_reads_what_was_written(tmp_path_factory: pytest.TempPathFactory, vault: str, numbers: list[int]) -> None:
    root = tmp_path_factory.mktemp("vault")
    size, inode, journal, *rest = numbers
    state = SeenState((("2026-07.jsonl", size, inode), journal), *rest)
    file = Path(state_file(str(root)))
    file.parent.mkdir(parents=True)
    file.write_bytes(state.line(vault))
    assert read_state(str(root), vault) == state
    assert read_state(str(root), vault + "x") is None
    data = state.line(vault)
    for at in range(0, len(data), 7):
        file.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert read_state(str(root), vault) is None
        file.write_bytes(data[:at])
        assert read_state(str(root), vault) is None


@pytest.fixture
def no_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads the history or a baseline fails."""

    def fail(*arguments: object) -> None:
        raise AssertionError("read")

    for name in ("last", "read", "read_backwards", "since"):
        monkeypatch.setattr(History, name, fail)
    monkeypatch.setattr(Baselines, "__init__", fail)


class TestAnUnchangedVault:
    """Nothing is read of it but the state."""

    @pytest.fixture
    def vault(self, storage: Storage, root: Path) -> Storage:
        add(storage, "likes:tea", "Green.")
        save(root / "memory/days.md", b"## monday\n\nBegins.\n")
        account(storage)
        return storage

    @pytest.mark.usefixtures("vault", "no_reading")
    def test_is_settled_and_has_lost_nothing(self, open_storage: Open) -> None:
        storage = open_storage()
        with storage.locked():
            pass
        assert storage.baselines.vanished({"memory/likes.md": 1, "memory/days.md": 1}) == []

    @pytest.mark.usefixtures("vault", "no_reading")
    @pytest.mark.parametrize("present", [["memory/likes.md"], ["memory/likes.md", "memory/other.md"], []])
    def test_of_which_a_file_is_gone_is_looked_at(self, open_storage: Open, present: list[str]) -> None:
        with pytest.raises(AssertionError, match="read"):
            open_storage().baselines.vanished(present)

    @pytest.mark.usefixtures("vault")
    @pytest.mark.parametrize("name", ["journal.jsonl", "history"])
    def test_in_which_somebody_wrote_is_looked_at(
        self, open_storage: Open, root: Path, name: str, request: pytest.FixtureRequest
    ) -> None:
        path = next((root / name).iterdir()) if name == "history" else root / name
        with path.open("ab") as stream:
            stream.write(b"\n")
        request.getfixturevalue("no_reading")
        with pytest.raises(AssertionError, match="read"), open_storage().locked():
            pass


def test_a_state_of_another_moment_is_not_asked_what_is_gone(storage: Storage, root: Path, open_storage: Open) -> None:
    add(storage, "likes:tea", "Green.")
    state = Path(state_file(str(root)))
    before = state.read_bytes()
    add(storage, "days:monday", "Begins.")
    state.write_bytes(before)
    fresh = open_storage()
    with fresh.locked():
        (gone,) = fresh.baselines.vanished(["memory/likes.md"])
    assert gone.path == "memory/days.md"


def test_a_leftover_that_could_not_be_removed_is_removed_by_the_next_process(
    storage: Storage, root: Path, open_storage: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(storage, "likes:tea", "Green.")

    def refused(path: str, *arguments: object, **options: object) -> None:
        if ".memoranda-" in path:
            raise PermissionError(path)
        unlink(path)

    unlink = os.unlink
    monkeypatch.setattr(os, "unlink", refused)
    add(storage, "likes:milk", "Yes.")
    monkeypatch.undo()
    left = [name for name in os.listdir(root / "memory") if name.startswith(".memoranda-")]
    assert left
    with open_storage().locked():
        pass
    assert os.listdir(root / "memory") == ["likes.md"]


def test_what_is_written_after_a_quick_look_is_summed_up(storage: Storage, root: Path, open_storage: Open) -> None:
    """A process that had no need to load the baselines keeps them up to date all the same."""
    add(storage, "likes:tea", "Green.")
    fresh = open_storage()
    with fresh.locked():
        pass
    add(fresh, "likes:milk", "Yes.")
    add(fresh, "days:monday", "Begins.")
    line = Path(state_file(str(root))).read_bytes()
    (root / ".cache/seen/state").unlink()
    with open_storage().locked():
        pass
    made_again = read_state(str(root), fresh.vault.id)
    assert made_again is not None
    Path(state_file(str(root))).write_bytes(line)
    kept = read_state(str(root), fresh.vault.id)
    assert kept is not None
    assert (kept.standing, kept.count, kept.paths) == (made_again.standing, made_again.count, made_again.paths)
