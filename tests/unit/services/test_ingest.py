"""Taking documents in: what a run does with twins, faults and others at the same time."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from memoranda.bootstrap import Vault
from memoranda.core.documents import Converted, NotConverted
from memoranda.core.errors import CannotUndo, MemorandaError, UsageError, VaultFull
from memoranda.services import document_log, ingest
from memoranda.services.document_sources import Source
from memoranda.services.ingest import Ingestion
from memoranda.services.source_lookup import Ingested
from memoranda.storage import document_files


def convert(jobs: Iterable[tuple[bytes, str]]) -> Iterator[Converted | NotConverted]:
    """Markdown is what the bytes say; ``bad`` cannot be converted."""
    for data, _ in jobs:
        text = data.decode()
        yield NotConverted("corrupt", "it is bad") if text.startswith("bad") else Converted(text, "text", "fake", "1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "in"
    made.mkdir()
    return made


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with Vault.open(tmp_path / "vault") as opened:
        yield opened


def put(folder: Path, **texts: str) -> list[str]:
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [str(folder / name) for name in texts]


def outcomes(told: Iterable[Ingested]) -> dict[str, str]:
    return {os.path.basename(one.path): one.outcome for one in told}


def test_the_same_bytes_once_more_share_their_fate(vault: Vault, folder: Path) -> None:
    paths = put(folder, a="one", b="one", c="bad", d="bad", e="two", f="one")
    told = list(vault.library.add("c", paths, convert))
    assert [os.path.basename(one.path) for one in told] == list("abcdef")
    assert outcomes(told) == {
        "a": "stored", "b": "unchanged", "c": "corrupt", "d": "corrupt", "e": "stored", "f": "unchanged",
    }  # fmt: skip
    assert told[1].document == told[0].document
    again = outcomes(vault.library.add("c", paths, convert))
    assert again == outcomes(told) | {"a": "unchanged", "e": "unchanged"}
    status = vault.library.status("c")
    assert [one.reason for one in status.skipped] == ["it is bad"] * 2


def test_what_needs_no_converting_does_not_wait_for_all_that_does(
    vault: Vault, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "_MOST_WAITING", 5)
    old = put(folder, **{f"n{number:02}": f"text {number}" for number in range(40)})
    list(vault.library.add("c", old, convert))
    new = put(folder, **{f"z{number}": f"new {number}" for number in range(3)})
    asked: list[int] = []

    def late(jobs: Iterable[tuple[bytes, str]]) -> Iterator[Converted | NotConverted]:
        """Reads all the jobs that there are before the first is converted."""
        held = list(jobs)
        asked.append(len(held))
        yield from convert(held)

    paths = [new[0], *old[:20], new[1], *old[20:], new[2]]
    told = list(vault.library.add("c", paths, late))
    assert [one.path for one in told] == paths
    assert outcomes(told) == {os.path.basename(path): "stored" if path in new else "unchanged" for path in paths}
    assert asked == [1, 1, 1]


def test_a_file_that_is_named_twice_is_replaced_once(vault: Vault, folder: Path) -> None:
    (path,) = put(folder, a="one")
    list(vault.library.add("c", [path], convert))
    put(folder, a="two")
    told = list(vault.library.add("c", [path, path], convert, replacing=True))
    assert [one.outcome for one in told] == ["replaced", "unchanged"]
    put(folder, a="bad")
    told = list(vault.library.add("c", [path, path], convert, replacing=True))
    assert [one.outcome for one in told] == ["corrupt", "corrupt"]
    put(folder, a="two")
    assert outcomes(vault.library.add("c", [path], convert)) == {"a": "unchanged"}


def test_a_full_disk_keeps_what_was_told_and_the_next_run_ends_it(
    vault: Vault, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = put(folder, **{f"n{number:03}": f"text {number}" for number in range(200)})
    real, calls = document_files.write_temporary, 0

    def write(*given: object, **more: object) -> str:
        nonlocal calls
        calls += 1
        if calls > 250:
            raise OSError(errno.ENOSPC, "no room")
        return real(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(document_files, "write_temporary", write)
    told: list[Ingested] = []
    with pytest.raises(VaultFull):
        told.extend(vault.library.add("c", paths, convert))  # extend keeps what came before
    monkeypatch.undo()
    docs = Path(vault.root, "docs/c")
    kept = {file.stem for file in docs.glob("*.md")}
    assert {one.document for one in told} <= kept
    assert not [file for file in Path(vault.root).rglob("*.tmp") if ".cache" not in file.parts]
    assert len(list(vault.library.add("c", paths, convert))) == 200
    assert len(list(docs.glob("*.md"))) == 200


def test_who_stops_listening_loses_nothing_that_was_converted(vault: Vault, folder: Path) -> None:
    paths = put(folder, **{f"n{number:03}": f"text {number}" for number in range(100)})
    run = vault.library.add("c", paths, convert)
    next(run)
    run.close()  # type: ignore[attr-defined]
    assert len(vault.library.known("c")) >= 64
    assert outcomes(vault.library.add("c", paths, convert)).keys() == {os.path.basename(path) for path in paths}


def test_two_runs_at_once_store_a_document_once(vault: Vault, folder: Path) -> None:
    (path,) = put(folder, a="one")
    first = Ingestion(vault._storage, "c", convert)
    second = Ingestion(vault._storage, "c", convert)
    assert outcomes(first.run([Source.file(path)])) == {"a": "stored"}
    assert outcomes(second.run([Source.file(path)])) == {"a": "unchanged"}
    put(folder, a="two")
    third = Ingestion(vault._storage, "c", convert, replacing=True)
    fourth = Ingestion(vault._storage, "c", convert, replacing=True)
    assert outcomes(third.run([Source.file(path)])) == {"a": "replaced"}
    assert outcomes(fourth.run([Source.file(path)])) == {"a": "changed"}


def test_a_file_that_changes_while_it_is_converted_is_named(vault: Vault, folder: Path) -> None:
    (path,) = put(folder, a="one")

    def slow(jobs: Iterable[tuple[bytes, str]]) -> Iterator[Converted | NotConverted]:
        for made in convert(jobs):
            Path(path).write_text("another")
            yield made

    assert outcomes(vault.library.add("c", [path], slow)) == {"a": "changed"}
    assert vault.library.known("c") == []
    assert outcomes(vault.library.add("c", [path], convert)) == {"a": "stored"}


def test_a_file_that_goes_while_it_is_converted_is_named(vault: Vault, folder: Path) -> None:
    (path,) = put(folder, a="one")

    def slow(jobs: Iterable[tuple[bytes, str]]) -> Iterator[Converted | NotConverted]:
        for made in convert(jobs):
            os.unlink(path)
            yield made

    assert outcomes(vault.library.add("c", [path], slow)) == {"a": "unreadable"}


def test_an_undo_that_was_cut_short_is_run_again(vault: Vault, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = put(folder, a="one", b="two", c="three")
    list(vault.library.add("c", paths, convert))
    real, calls = document_files.DocumentFiles.bring_back, 0

    def bring_back(self: document_files.DocumentFiles, *given: str) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        real(self, *given)

    monkeypatch.setattr(document_files.DocumentFiles, "bring_back", bring_back)
    with pytest.raises(KeyboardInterrupt):
        vault.undo()
    monkeypatch.undo()
    assert len(vault.library.known("c")) == 2
    assert len(vault.undo().notes) == 3
    assert vault.library.known("c") == []


def test_undo_leaves_what_has_changed_since_and_takes_back_the_rest(vault: Vault, folder: Path) -> None:
    paths = put(folder, a="one", b="two")
    told = list(vault.library.add("c", paths, convert))
    kept = Path(vault.root, f"docs/c/{told[1].document}.md")
    kept.write_text(kept.read_text() + "mine")
    done = vault.undo()
    assert "has changed since" in done.notes[0]
    assert [one.id for one in vault.library.known("c")] == [told[1].document]
    assert "mine" in kept.read_text()


@pytest.mark.parametrize(
    "settings",
    [{"size": 3}, {"size": True}, {"overlap": 600}, {"max_size": 0}, {"converters": ["x"]}, {"scope": "who"}, {"x": 1}],
)
def test_settings_that_mean_nothing_are_refused(vault: Vault, settings: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        vault.library.configure("c", settings)
    assert not Path(vault.root, "docs/c/corpus.json").exists()


def test_odd_names_are_no_trouble(vault: Vault, folder: Path) -> None:
    names = ["con.foo.txt", "git_conflict.md", "my.conflict.txt", "x." + "e" * 240, "각.txt", "a b'\"#.md", "---.md"]
    paths = put(folder, **{name: f"text {at}" for at, name in enumerate(names)})
    told = list(vault.library.add("c", paths, convert))
    assert {one.outcome for one in told} == {"stored"}
    assert {one.id for one in vault.library.known("c")} == {one.document for one in told}
    status = vault.library.status("c")
    assert (status.edited, status.without_original) == ((), ())
    vault.library.remove("c", [one.document for one in told])
    assert not [file for kind in ("docs", "raw") for file in Path(vault.root, kind).rglob("*.*") if "text" in file.name]
    assert not list(Path(vault.root, "raw/c").iterdir())


def test_what_a_person_edited_is_replaced_on_demand_alone(vault: Vault, folder: Path) -> None:
    (path,) = put(folder, a="one")
    (told,) = vault.library.add("c", [path], convert)
    kept = Path(vault.root, f"docs/c/{told.document}.md")
    kept.write_text(kept.read_text() + "mine\n")
    put(folder, a="two")
    assert outcomes(vault.library.add("c", [path], convert, replacing=True)) == {"a": "edited"}
    assert "mine" in kept.read_text()
    assert outcomes(vault.library.add("c", [path], convert, replacing=True, overwriting=True)) == {"a": "replaced"}
    assert "two" in kept.read_text()
    vault.undo()
    assert "mine" in kept.read_text()


def test_who_has_the_bytes_of_what_was_kept_out_is_kept_out_with_it(vault: Vault, folder: Path) -> None:
    (path,) = put(folder, a="one")
    (told,) = vault.library.add("c", [path], convert)
    kept = Path(vault.root, f"docs/c/{told.document}.md")
    kept.write_text(kept.read_text() + "mine\n")
    paths = put(folder, a="two", b="two")
    told_both = list(vault.library.add("c", paths, convert, replacing=True))
    assert [one.outcome for one in told_both] == ["edited", "edited"]
    assert outcomes(vault.library.add("c", paths[1:], convert)) == {"b": "stored"}


def test_a_save_in_the_middle_of_a_replacement_stands(
    vault: Vault, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = put(folder, a="one")
    (told,) = vault.library.add("c", [path], convert)
    kept, raw = Path(vault.root, f"docs/c/{told.document}.md"), Path(vault.root, f"raw/c/{told.document}")
    put(folder, a="two")
    real = document_files.DocumentFiles.set_aside

    def set_aside(self: document_files.DocumentFiles, *given: object) -> None:
        real(self, *given)  # type: ignore[arg-type]
        kept.write_text("saved just now")

    monkeypatch.setattr(document_files.DocumentFiles, "set_aside", set_aside)
    assert outcomes(vault.library.add("c", [path], convert, replacing=True)) == {"a": "edited"}
    assert kept.read_text() == "saved just now"
    assert raw.read_text() == "one"


def test_a_line_that_a_crash_kept_from_the_journal_is_written_later(
    vault: Vault, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = put(folder, a="one", b="two")
    real = document_log.log_documents

    def crash(*given: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(document_log, "log_documents", crash)
    with pytest.raises(KeyboardInterrupt):
        list(vault.library.add("c", paths, convert))
    monkeypatch.setattr(document_log, "log_documents", real)
    assert len(vault.library.known("c")) == 2
    assert outcomes(vault.library.add("c", paths, convert)) == {"a": "unchanged", "b": "unchanged"}
    assert vault.undo().status == "restored"
    assert vault.library.known("c") == []
    assert not list(Path(vault.root, "history/kb/c").rglob("unlogged*"))


def test_undo_does_not_take_pruned_history_for_nothing(vault: Vault, folder: Path) -> None:
    (path,) = put(folder, a="one")
    list(vault.library.add("c", [path], convert))
    put(folder, a="two")
    list(vault.library.add("c", [path], convert, replacing=True))
    shutil.rmtree(Path(vault.root, "history/kb"))
    with pytest.raises(CannotUndo, match="pruned"):
        vault.undo()
    assert len(vault.library.known("c")) == 1


def test_a_copy_by_hand_is_not_taken_for_the_document(vault: Vault, folder: Path) -> None:
    (path,) = put(folder, a="one")
    (told,) = vault.library.add("c", [path], convert)
    kept = Path(vault.root, f"docs/c/{told.document}.md")
    copy = kept.with_name("zz-copy.md")
    copy.write_bytes(kept.read_bytes())
    put(folder, a="two")
    assert outcomes(vault.library.add("c", [path], convert, replacing=True)) == {"a": "replaced"}
    assert "two" in kept.read_text()
    assert "one" in copy.read_text()


@pytest.mark.parametrize("where", ["title", "name", "comment"])
def test_a_secret_beside_the_text_is_one_too(vault: Vault, folder: Path, where: str) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    name = f"{key}.html" if where == "name" else "a.html"
    (path,) = put(folder, **{name: f"<!-- {key} -->text" if where == "comment" else "text"})

    def made(jobs: Iterable[tuple[bytes, str]]) -> Iterator[Converted | NotConverted]:
        for _ in jobs:
            yield Converted("text", "html", "fake", "1", title=key if where == "title" else "")

    (told,) = vault.library.add("c", [path], made)
    assert told.outcome == "secret"
    (told,) = vault.library.add("c", [path], made, redacted=True)
    assert told.outcome == "stored"
    for file in Path(vault.root).rglob("*"):
        assert key not in file.name
        if file.is_file() and where != "name":
            assert key.encode() not in file.read_bytes()


def test_what_is_left_of_a_removal_that_was_cut_short_can_be_removed(vault: Vault, folder: Path) -> None:
    (path,) = put(folder, a="one")
    (told,) = vault.library.add("c", [path], convert)
    vault.undo()
    assert list(Path(vault.root, "history").rglob("*.md"))
    vault.library.remove("c", [told.document])
    assert not [file for file in Path(vault.root, "history/kb").rglob("*") if file.is_file()]


def test_a_slip_in_the_settings_shows_nobodys_documents(vault: Vault, folder: Path) -> None:
    (path,) = put(folder, a="the lighthouse")
    vault.library.create("c", {"scope": "user/lin"})
    list(vault.library.add("c", [path], convert))
    settings = Path(vault.root, "docs/c/corpus.json")
    settings.write_text(settings.read_text().replace("}", ",}"))
    assert not vault.retrieve("lighthouse", levels=("passage",), deadline=10).hits
    settings.unlink()
    settings.symlink_to("nowhere")
    assert not vault.retrieve("lighthouse", levels=("passage",), deadline=10).hits
    with pytest.raises(UsageError, match="by case alone"):
        vault.library.create("C", {})


def test_links_that_lead_out_are_neither_read_nor_written(vault: Vault, folder: Path) -> None:
    (outside,) = put(folder, secret="outside")
    (path,) = put(folder, a="one")
    list(vault.library.add("c", [path], convert))
    Path(vault.root, "docs/c/evil.md").symlink_to(outside)
    with pytest.raises(MemorandaError):
        vault.library.text("c", "evil")
    Path(vault.root, "docs/c/skipped.jsonl").symlink_to(outside)
    (bad,) = put(folder, b="bad")
    with pytest.raises(MemorandaError):
        list(vault.library.add("c", [bad], convert))
    assert Path(outside).read_text() == "outside"
