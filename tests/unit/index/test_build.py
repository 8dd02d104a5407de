"""Builds: shared between processes, interrupted, among others, and where nothing may be written."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from fakes.clock import FakeClock
from memoranda.bootstrap import Vault
from memoranda.core.errors import VaultBusy
from memoranda.index import accounting, build, build_pool, build_tasks, rebuild
from memoranda.index.build import Builder, Source
from memoranda.index.build_pool import BuildPool, background_environment
from memoranda.index.segment_format import SegmentDamaged
from memoranda.index.segment_keeper import SegmentKeeper
from memoranda.storage.resources import Resources
from memoranda.storage.store import Storage
from memoranda.storage.vault import VaultFolder
from observing import write

WORDS = ["sea", "beach", "coffee", "morning", "海边", "咖啡", "喜欢", "project", "plan"]


def filled(root: Path, files: int = 12, items: int = 30) -> None:
    """Category files of about two kilobytes each."""
    chance = random.Random(3)
    for number in range(files):
        sections = (f"## n{n}\n\n{' '.join(chance.choices(WORDS, k=9))} word{number}-{n}\n" for n in range(items))
        write(root, f"memory/c{number:02}.md", "\n".join(sections))


def storage_of(root: Path) -> tuple[Storage, Resources]:
    folder = VaultFolder(str(root))
    return Storage.at(folder, FakeClock(), "user"), Resources(folder)


def sources(root: Path) -> list[Source]:
    found = []
    for path in sorted((root / "memory").iterdir()):
        status = path.stat()
        numbers = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        found.append(Source("item", f"memory/{path.name}", str(path), path.stem, numbers))
    return found


def built(root: Path, cache: Path, workers: int, monkeypatch: pytest.MonkeyPatch) -> bytes:
    monkeypatch.setattr(build, "usable_cores", lambda: workers)
    cache.mkdir(exist_ok=True)
    with Builder(str(cache)) as builder:
        builder.gather(sources(root))
        assert builder.assemble({"files": []})
        builder.install()
    return (cache / "keywords.segment").read_bytes()


@pytest.fixture
def tiny_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a few files, worth other processes."""
    monkeypatch.setattr(build, "_SHARED_WORK", 0)
    monkeypatch.setattr(build, "_SMALLEST_PART", 5000)
    monkeypatch.setattr(build, "_LARGEST_PART", 5000)
    monkeypatch.setattr(build, "_SHARED_TABLES", 0)


@pytest.mark.usefixtures("tiny_parts")
def test_processes_make_the_very_segment_that_one_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path)
    alone = built(tmp_path, tmp_path / "one", 1, monkeypatch)
    shared = built(tmp_path, tmp_path / "two", 3, monkeypatch)
    assert shared == alone
    assert not (tmp_path / "two/build").exists()


@pytest.mark.usefixtures("tiny_parts")
def test_an_interrupted_build_goes_on_with_the_files_it_had_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path)
    expected = built(tmp_path, tmp_path / "whole", 1, monkeypatch)
    done: list[str] = []

    def perform(task: dict[str, Any]) -> dict[str, Any]:
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(task["out"])
        return build_tasks.perform(task)

    (tmp_path / "c").mkdir()
    monkeypatch.setattr(build_pool, "perform", perform)
    with pytest.raises(KeyboardInterrupt), Builder(str(tmp_path / "c")) as builder:
        builder.gather(sources(tmp_path))
    monkeypatch.setattr(build_pool, "perform", lambda task: done.append(task["out"]) or build_tasks.perform(task))  # type: ignore[func-returns-value]
    assert built(tmp_path, tmp_path / "c", 1, monkeypatch) == expected
    gathered = [out for out in done if out.endswith(".part")]
    assert len(gathered) == len(set(gathered)) > 3


@pytest.mark.usefixtures("tiny_parts")
def test_a_part_that_is_damaged_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path)
    expected = built(tmp_path, tmp_path / "whole", 1, monkeypatch)
    (tmp_path / "c").mkdir()
    with Builder(str(tmp_path / "c")) as builder:
        builder.gather(sources(tmp_path))
    first, *_ = sorted((tmp_path / "c/build").iterdir())
    first.write_bytes(first.read_bytes()[:200])
    assert built(tmp_path, tmp_path / "c", 1, monkeypatch) == expected


@pytest.mark.usefixtures("tiny_parts")
def test_a_part_that_is_found_damaged_too_late_ends_the_build_but_not_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path)
    expected = built(tmp_path, tmp_path / "whole", 1, monkeypatch)
    (tmp_path / "c").mkdir()

    def spoilt() -> None:
        with Builder(str(tmp_path / "c")) as builder:
            builder.gather(sources(tmp_path))
            path = min((tmp_path / "c/build").iterdir())
            data = bytearray(path.read_bytes())
            data[-100] ^= 1
            path.write_bytes(data)
            builder.assemble({"files": []})

    with pytest.raises(SegmentDamaged):
        spoilt()
    assert built(tmp_path, tmp_path / "c", 1, monkeypatch) == expected


def test_a_process_that_dies_leaves_its_work_to_this_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path)
    rows = [
        {"level": "item", "relative": s.relative, "path": s.path, "address": s.address, "stamp": list(s.stamp)}
        for s in sources(tmp_path)
    ]
    tasks: list[dict[str, Any]] = [{"sources": [row], "out": str(tmp_path / f"{n}.part")} for n, row in enumerate(rows)]
    with BuildPool(2) as pool:
        done = []
        for at, _ in pool.run(tasks):
            done.append(at)
            for process in pool._processes:
                process.kill()
        assert sorted(done) == list(range(len(tasks)))
    assert all((tmp_path / f"{n}.part").exists() for n in range(len(tasks)))


def answers(vault: Vault) -> list[list[tuple[str, float]]]:
    queries = ["sea 海边", "coffee plan morning", "word3-7", "喜欢咖啡"]
    both = ["item", "resource"]
    found = [vault.retrieve(query, levels=both, deadline=60) for query in queries]
    return [[(hit.address, hit.score) for hit in one] for one in found]


def test_a_conversation_that_was_copied_is_read_apart(tmp_path: Path) -> None:
    filled(tmp_path)
    vault = Vault.open(tmp_path, clock=FakeClock())
    vault.import_turns({"conversation": f"c{n % 3}", "turn": str(n), "text": f"the sea {n}"} for n in range(30))
    (month,) = (tmp_path / "resources").iterdir()
    (tmp_path / "resources/2020-01").mkdir()
    shutil.copy(month / "c1.jsonl", tmp_path / "resources/2020-01/c1.jsonl")
    time.sleep(0.03)
    right = answers(Vault.open(tmp_path, clock=FakeClock()))
    assert rebuild.rebuild(*storage_of(tmp_path))
    assert answers(Vault.open(tmp_path, clock=FakeClock())) == right


def test_nothing_forgotten_stays_in_the_cache(tmp_path: Path) -> None:
    filled(tmp_path)
    vault = Vault.open(tmp_path, clock=FakeClock())
    vault.remember("c00:secret", "the word is xylophone-4711")
    assert rebuild.rebuild(*storage_of(tmp_path))
    assert any(b"xylophone" in p.read_bytes() for p in (tmp_path / ".cache").rglob("*") if p.is_file())
    vault.forget("c00:secret")
    assert not any(b"xylophone" in p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())


def test_a_file_that_changes_meanwhile_is_read_again_before_the_segment_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path)
    storage, resources = storage_of(tmp_path)
    assemble, changes = Builder.assemble, iter(["first", "second"])

    def assembled(self: Builder, contents: Any) -> bool:
        if text := next(changes, ""):
            write(tmp_path, "memory/c03.md", f"## new\n\nxylophone {text}\n")
        return assemble(self, contents)

    monkeypatch.setattr(Builder, "assemble", assembled)
    assert rebuild.rebuild(storage, resources)
    data = (tmp_path / ".cache/keywords.segment").read_bytes()
    assert b"xylophone second" in data
    assert b"xylophone first" not in data


def test_where_the_cache_may_not_be_written_there_is_no_segment_but_an_answer(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    filled(tmp_path)
    Vault.open(tmp_path, clock=FakeClock()).close()
    (tmp_path / ".cache").chmod(0o500)
    try:
        assert not rebuild.rebuild(*storage_of(tmp_path))
        assert answers(Vault.open(tmp_path, clock=FakeClock()))[0]
    finally:
        (tmp_path / ".cache").chmod(0o700)


def test_a_cache_that_is_a_file_means_no_segment_but_an_answer(tmp_path: Path) -> None:
    filled(tmp_path, files=40, items=60)
    VaultFolder(str(tmp_path))
    (tmp_path / ".cache").write_text("in the way")
    assert not rebuild.rebuild(*storage_of(tmp_path))
    assert answers(Vault.open(tmp_path, clock=FakeClock()))[0]


def test_killed_at_any_moment_the_next_build_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SegmentKeeper, "_begin", lambda self, what: None)
    filled(tmp_path, files=20, items=60)
    storage, resources = storage_of(tmp_path)
    chance = random.Random(11)
    for _ in range(6):
        command = [sys.executable, "-m", "memoranda.index.rebuild", "keywords", str(tmp_path)]
        process = subprocess.Popen(command, env=background_environment())
        time.sleep(chance.uniform(0.05, 0.4))
        process.send_signal(signal.SIGKILL)
        process.wait()
    right = answers(Vault.open(tmp_path, clock=FakeClock()))
    assert rebuild.rebuild(storage, resources)
    assert answers(Vault.open(tmp_path, clock=FakeClock())) == right
    assert not (tmp_path / ".cache/build").exists()


def test_a_process_of_its_own_rewrites_the_segment_when_much_is_new(tmp_path: Path) -> None:
    filled(tmp_path, files=30, items=60)
    vault = Vault.open(tmp_path, clock=FakeClock())
    vault.warm()
    path = tmp_path / ".cache/keywords.segment"
    before = path.stat().st_ino
    for number in range(30):
        name = tmp_path / f"memory/c{number:02}.md"
        write(tmp_path, f"memory/c{number:02}.md", name.read_text() + f"\n## late\n\nxylophone {number}\n")
    time.sleep(0.03)
    assert len(vault.retrieve("xylophone", k=100, deadline=60)) == 30
    for _ in range(600):
        if path.stat().st_ino != before:
            break
        time.sleep(0.05)
    assert path.stat().st_ino != before
    right = answers(vault)
    assert len(vault.retrieve("xylophone", k=100, deadline=60)) == 30
    assert answers(Vault.open(tmp_path, clock=FakeClock())) == right


@pytest.mark.parametrize("what", ["heading", "link", "turn", "conversation"])
def test_a_name_of_any_length_is_indexed(tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SegmentKeeper, "_begin", lambda self, what: None)
    filled(tmp_path)
    vault = Vault.open(tmp_path, clock=FakeClock())
    long = "sea" * 30_000
    if what in ("heading", "link"):
        text = f"## {long}\n\nxylophone\n" if what == "heading" else f"## a\n\nxylophone [[c00:{long}]]\n"
        write(tmp_path, "memory/long.md", text)
    else:
        turn, conversation = (long, "c") if what == "turn" else ("1", long[:90_000])
        vault.import_turns([{"conversation": conversation, "turn": turn, "text": "xylophone"}])
    right = answers(vault), [h.address for h in vault.retrieve("xylophone", levels=["item", "resource"], deadline=60)]
    assert rebuild.rebuild(*storage_of(tmp_path))
    again = Vault.open(tmp_path, clock=FakeClock())
    assert right[0] == answers(again)
    assert right[1] == [h.address for h in again.retrieve("xylophone", levels=["item", "resource"], deadline=60)]
    assert right[1]


def test_a_copy_of_a_conversation_comes_and_goes(tmp_path: Path) -> None:
    filled(tmp_path)
    vault = Vault.open(tmp_path, clock=FakeClock())
    vault.import_turns({"conversation": "talk", "turn": str(n), "text": f"the sea {n}"} for n in range(9))
    assert rebuild.rebuild(*storage_of(tmp_path))
    vault = Vault.open(tmp_path, clock=FakeClock())
    right = answers(vault)
    (month,) = (tmp_path / "resources").iterdir()
    (tmp_path / "resources/2020-01").mkdir()
    copy = tmp_path / "resources/2020-01/talk.jsonl"
    copy.write_bytes(b"".join((month / "talk.jsonl").read_bytes().splitlines(True)[:5]))
    time.sleep(0.03)
    assert answers(vault) == answers(Vault.open(tmp_path, clock=FakeClock()))
    copy.unlink()
    assert answers(vault) == right
    assert answers(Vault.open(tmp_path, clock=FakeClock())) == right


def test_two_forms_of_one_category_with_one_name_both_answer(tmp_path: Path) -> None:
    write(tmp_path, "memory/c.md", "## a\n\nthe sea in a heading\n")
    write(tmp_path, "memory/C.md", "- the sea in a list ^a\n")
    vault = Vault.open(tmp_path, clock=FakeClock())
    assert len(vault.items()) == 2
    found = vault.retrieve("sea", deadline=60)
    assert len(found.hits) == 2
    assert found.unavailable == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize("name", ["keywords.segment", "keywords.segment.accounted", "seen/state", "build"])
def test_a_pipe_in_the_cache_is_not_waited_for(tmp_path: Path, name: str) -> None:
    filled(tmp_path)
    right = answers(Vault.open(tmp_path, clock=FakeClock()))
    assert rebuild.rebuild(*storage_of(tmp_path))
    path = tmp_path / ".cache" / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    code = (
        "import sys; from memoranda import Vault; v = Vault.open(sys.argv[1]); v.warm(); "
        "print(len(v.retrieve('sea 海边', deadline=60).hits))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], env=background_environment(), timeout=60, capture_output=True
    )
    assert int(run.stdout) == len(right[0])


def test_links_in_the_cache_lead_nowhere(tmp_path: Path) -> None:
    vault, outside = tmp_path / "v", tmp_path / "outside"
    filled(vault)
    outside.mkdir()
    (outside / "kept.tmp").write_text("mine")
    os.utime(outside / "kept.tmp", (0, 0))
    storage, resources = storage_of(vault)
    assert rebuild.rebuild(storage, resources)
    (vault / ".cache/build").symlink_to(outside)
    (vault / ".cache/keywords.segment.accounted").unlink(missing_ok=True)
    (vault / ".cache/keywords.segment.accounted").symlink_to(outside / "kept.tmp")
    assert rebuild.rebuild(storage, resources)
    Vault.open(vault, clock=FakeClock()).log()
    assert [(p.name, p.read_text()) for p in outside.iterdir()] == [("kept.tmp", "mine")]


def test_more_of_one_moment_than_are_looked_at_are_the_same_wherever_they_are_kept(tmp_path: Path) -> None:
    items = [f"## n{n}\n\nthe sea {n}\n\n<!-- memoranda: ts=2026-07-01 -->\n" for n in range(700)]
    write(tmp_path, "memory/days.md", "\n".join(items))
    assert rebuild.rebuild(*storage_of(tmp_path))
    vault = Vault.open(tmp_path, clock=FakeClock())
    vault.items()
    write(tmp_path, "memory/days.md", "# days\n\n## first\n\nnew\n\n" + "\n".join(reversed(items)))
    kept = [h.address for h in vault.retrieve("what happened on 2026-07-01", k=50, deadline=60)]
    shutil.rmtree(tmp_path / ".cache")
    anew = Vault.open(tmp_path, clock=FakeClock()).retrieve("what happened on 2026-07-01", k=50, deadline=60)
    assert len(kept) == 50
    assert set(kept) == {h.address for h in anew}


def test_only_much_is_left_to_a_process_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    monkeypatch.setattr(SegmentKeeper, "_begin", lambda self, what: begun.append(what))
    filled(tmp_path)

    def busy(self: Storage, patience: float | None = None) -> None:
        raise VaultBusy("another process is writing")

    with monkeypatch.context() as patched:
        # What little was found waits for the next question.
        patched.setattr(Storage, "locked", busy)
        Vault.open(tmp_path, clock=FakeClock()).warm()
    assert begun == []
    monkeypatch.setattr(accounting, "_MUCH", 10)
    write(tmp_path, "memory/more.md", "## a\n\nxylophone\n")
    Vault.open(tmp_path, clock=FakeClock()).warm()
    assert begun == ["journal"]


def test_a_segment_that_is_damaged_again_and_again_is_done_without(tmp_path: Path) -> None:
    filled(tmp_path)
    contents = Vault.open(tmp_path, clock=FakeClock())._contents
    tries: list[int] = []

    def work() -> str:
        tries.append(1)
        if len(tries) < 3:
            raise SegmentDamaged("again")
        return "answer"

    assert contents.undamaged(work) == "answer"
    assert not contents._with_segment
