"""Passages on disk: nothing is cut that is as it was, everything is that is not, and memory pays for none of it."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.clock import FakeClock
from memoranda.bootstrap import Vault
from memoranda.core import passage_version, passages
from memoranda.core.passages import Passage
from memoranda.index import library, rebuild, segment_keeper
from memoranda.index.build_pool import background_environment
from memoranda.index.corpus import Corpus
from memoranda.index.refresh import Refresher
from memoranda.index.segment_keeper import SegmentKeeper, wipe_segment
from memoranda.storage.files import Stamp
from observing import write

WORDS = [
    "sea",
    "tea",
    "boat",
    "harbour",
    "storm",
    "anchor",
    "rope",
    "sail",
    "lantern",
    "fog",
    "cliff",
    "island",
    "海边",
]
DOCUMENTS = 20
Answers = list[list[tuple[str, float, str]]]


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What would be begun in the background; documents are looked at each time."""
    begun: list[str] = []
    monkeypatch.setattr(SegmentKeeper, "_begin", lambda self, what: begun.append(what))
    monkeypatch.setattr(segment_keeper, "_WORTH_A_SEGMENT", 100)
    monkeypatch.setattr(library, "_PAUSE", 0.0)
    return begun


@pytest.fixture
def cuts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are cut by this process."""
    done: list[str] = []
    cut: Callable[..., list[Passage]] = passages.cut

    def noted(markdown: str, **more: int) -> list[Passage]:
        done.append(markdown)
        return cut(markdown, **more)

    monkeypatch.setattr(passages, "cut", noted)
    return done


@pytest.fixture
def root(tmp_path: Path, begun: list[str]) -> Path:
    """A vault of some documents with a segment of them, and no vault open."""
    chance = random.Random(5)
    write(tmp_path, "memory/c.md", "## a\n\nThe sea in memory.\n")
    for number in range(DOCUMENTS):
        sections = [f"## part {n}\n\n{' '.join(chance.choices(WORDS, k=25))} {number}-{n}." for n in range(6)]
        write(tmp_path, f"docs/{'ab'[number % 2]}/doc{number}.md", f"# Doc {number}\n\n" + "\n\n".join(sections))
    write(tmp_path, "docs/b/corpus.json", '{"size": 120}')
    time.sleep(0.03)
    with opened(tmp_path) as vault:
        vault.warm(("item", "passage"))
    assert segment(tmp_path).is_file()
    return tmp_path


def segment(root: Path) -> Path:
    return root / ".cache/passages.segment"


def opened(root: Path) -> Vault:
    return Vault.open(root, clock=FakeClock())


def answers(vault: Vault) -> Answers:
    vault.warm(("passage",))
    queries = ["sea tea", "海边 boat", "part 3 lantern", "storm cliff island 7-2", "17-5"]
    found = [vault.retrieve(q, levels=["passage"], scopes=["shared", "user/lin"], k=30, deadline=60) for q in queries]
    assert not any(one.unavailable for one in found)
    return [[(hit.address, hit.score, hit.citation) for hit in one] for one in found]


def anew(root: Path) -> Answers:
    """As a process answers that has no segment and makes none."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(SegmentKeeper, "open", lambda self: None)
        patched.setattr(SegmentKeeper, "make_now", lambda self, unread, total, progress: False)
        return answers(opened(root))


def set_up(root: Path, corpus: str, **settings: object) -> None:
    write(root, f"docs/{corpus}/corpus.json", json.dumps(settings))


def test_nothing_is_cut_that_is_as_it_was(root: Path, cuts: list[str], begun: list[str]) -> None:
    assert answers(opened(root)) == anew(root)
    assert len(cuts) == DOCUMENTS  # by the one without a segment
    cuts.clear()
    begun.clear()
    answers(opened(root))
    assert cuts == begun == []


def test_an_edit_by_hand_is_seen_and_cuts_one_document(root: Path, cuts: list[str]) -> None:
    vault = opened(root)
    path = root / "docs/a/doc4.md"
    whole = path.read_text()
    for text in (whole.replace("part 3", "lighthouse"), "lighthouse alone", whole + "\n\nlighthouse"):
        path.write_text(text)
        with_segment = answers(vault), vault.retrieve("lighthouse", levels=["passage"], deadline=60).hits[0].address
        assert cuts.count(text) >= 1
        assert set(cuts) == {text}
        assert with_segment[0] == answers(opened(root)) == anew(root)
        assert with_segment[1].startswith("kb/a/doc4#")
        cuts.clear()


def test_of_a_document_in_the_segment_only_what_an_edit_touched_is_taken_in_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = root / "docs/b/doc5.md"
    vault = opened(root)
    vault.retrieve("sea", levels=["passage"], deadline=60)
    taken: list[str] = []
    put = Corpus.put
    monkeypatch.setattr(Corpus, "put", lambda self, entry: taken.append(entry.address) or put(self, entry))
    path.write_text(path.read_text() + "\n\n## last\n\nxylophone " + "word " * 20)
    (hit,) = vault.retrieve("xylophone", levels=["passage"], deadline=60).hits
    assert hit.address in taken
    assert len(taken) <= 3
    corpus = vault._contents.corpus
    with corpus.lock:
        (partition,) = corpus.partitions(("passage",))[1:]
        last = partition.by_key[("kb/b/doc5", hit.address.rpartition("#")[2])]
        run, at = partition.run(last)
        assert partition.run(run[0]) == (run, 0)
        assert at == len(run) - 1 > 5
        assert [partition.entries[doc].order for doc in run] == list(range(1, len(run) + 1))
        assert {doc < partition.stored for doc in run} == {True, False}


def test_a_change_within_one_tick_of_the_clock_is_seen(root: Path) -> None:
    path = root / "docs/a/doc4.md"
    vault = opened(root)
    for word in ("xylophones", "trombones!", "clarinets."):
        path.write_text(f"only {word}")
        assert vault.retrieve(word, levels=["passage"], deadline=60).hits
        assert opened(root).retrieve(word, levels=["passage"], deadline=60).hits


def test_a_stamp_that_may_be_shared_by_the_next_change_is_not_trusted(
    root: Path, cuts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = opened(root)
    write(root, "docs/a/doc4.md", "lighthouse")
    with monkeypatch.context() as patched:
        patched.setattr(Stamp, "is_settled", lambda self, now_ns: False)
        for number in range(1, 4):
            assert vault.retrieve("lighthouse", levels=["passage"], deadline=60).hits
            assert len(cuts) == number
        assert rebuild.main("passages", str(root)) == 0
    assert opened(root).retrieve("lighthouse", levels=["passage"], deadline=60).hits
    assert len(cuts) == 3 + DOCUMENTS * 2  # the build, and one who trusts none of it
    time.sleep(0.03)
    vault.retrieve("lighthouse", levels=["passage"], deadline=60)
    cuts.clear()
    vault.retrieve("lighthouse", levels=["passage"], deadline=60)
    assert cuts == []


def test_what_was_removed_or_renamed_is_gone(root: Path, cuts: list[str]) -> None:
    vault = opened(root)
    answers(vault)
    (root / "docs/a/doc4.md").unlink()
    (root / "docs/b/doc5.md").rename(root / "docs/b/other.md")
    found = answers(vault)
    assert len(set(cuts)) == 1
    assert found == answers(opened(root)) == anew(root)
    addresses = {address for one in found for address, *_ in one}
    assert not any(address.startswith(("kb/a/doc4#", "kb/b/doc5#")) for address in addresses)
    shutil.rmtree(root / "docs/b")
    assert answers(vault) == answers(opened(root)) == anew(root)
    shutil.rmtree(root / "docs")
    assert answers(vault) == answers(opened(root)) == [[]] * 5


def test_other_settings_cut_the_documents_of_that_corpus_anew(root: Path, cuts: list[str]) -> None:
    vault = opened(root)
    answers(vault)
    for settings in ({"size": 70}, {"size": 70, "overlap": 30}, {"size": "large"}):
        set_up(root, "b", **settings)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(SegmentKeeper, "make_now", lambda self, unread, total, progress: False)
            cuts.clear()
            found = answers(vault)
            assert len(set(cuts)) == DOCUMENTS // 2
            assert found == answers(opened(root))
        assert found == anew(root)


def test_whose_a_corpus_is_cuts_nothing(root: Path, cuts: list[str]) -> None:
    vault = opened(root)
    answers(vault)
    set_up(root, "b", size=120, scope="user/lin")
    for one in (vault, opened(root)):
        hits = one.retrieve("sea tea boat", levels=["passage"], k=100, deadline=60).hits
        assert {hit.address[:5] for hit in hits} == {"kb/a/"}
        hits = one.retrieve("sea tea boat", levels=["passage"], scopes=["user/lin"], k=100, deadline=60).hits
        assert {hit.address[:5] for hit in hits} == {"kb/b/"}
    set_up(root, "b", size=120, scope="nobody's")
    for one in (vault, opened(root)):
        assert not one.retrieve("sea tea boat", levels=["passage"], scopes=["user/lin"], deadline=60).hits
    assert cuts == []


def test_passages_of_another_version_are_cut_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = segment(root).stat().st_ino
    monkeypatch.setattr(passage_version, "PASSAGES_VERSION", 99)
    assert answers(opened(root))
    assert segment(root).stat().st_ino != before
    contents = segment(root).read_bytes()
    assert b'"passages",99]' in contents or b'"passages", 99]' in contents


@pytest.mark.parametrize("what", ["torn", "of memory", "of another vault", "noise", "a folder"])
def test_a_segment_that_is_none_of_this_vault_is_made_anew(
    root: Path, tmp_path_factory: pytest.TempPathFactory, what: str
) -> None:
    right, path = anew(root), segment(root)
    if what == "torn":
        path.write_bytes(path.read_bytes()[:-100])
    elif what == "of memory":
        assert rebuild.rebuild(opened(root)._storage, opened(root)._resources)
        shutil.copy(root / ".cache/keywords.segment", path)
    elif what == "of another vault":
        other = tmp_path_factory.mktemp("other")
        write(other, "docs/a/doc4.md", "Another one's sea. " * 30)
        opened(other).warm(("passage",))
        shutil.copy(segment(other), path)
    elif what == "noise":
        path.write_bytes(bytes(5000))
    else:
        path.unlink()
        path.mkdir()
    assert answers(opened(root)) == right
    assert answers(opened(root)) == right
    assert path.is_file()


def test_a_question_to_memory_looks_at_no_document(root: Path) -> None:
    """Nor does it open their segment, or load what reads them."""
    code = (
        "import sys; from memoranda import Vault; asked, events = [], ('open', 'os.listdir', 'os.scandir')\n"
        "sys.addaudithook(lambda event, args: asked.append(str(args[0])) if event in events else None)\n"
        f"hits = Vault.open({str(root)!r}).retrieve('sea', levels=['item', 'resource'], deadline=60).hits\n"
        "assert [hit.address for hit in hits] == ['c:a'], hits\n"
        "assert asked\n"
        f"print([path for path in asked if '/docs' in path and path.startswith({str(root)!r}) or 'passages' in path], "
        "[m for m in sys.modules if m in ('memoranda.index.library', 'memoranda.index.shelves', "
        "'memoranda.storage.documents', 'memoranda.core.passages')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=background_environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == "[] []"


def test_an_answer_from_the_segment_loads_nothing_that_cuts(root: Path) -> None:
    code = (
        f"import sys; from memoranda import Vault; v = Vault.open({str(root)!r})\n"
        "assert v.retrieve('sea', levels=['passage'], deadline=60).hits\n"
        "print([m for m in sys.modules if m in ('memoranda.core.passages', 'memoranda.core.markdown', 'subprocess')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=background_environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_sources_of_documents_that_only_the_segment_knows(root: Path) -> None:
    def sources() -> dict[str, object]:
        vault = opened(root)
        vault.warm(("passage",))
        return dict(vault._contents.sources())

    stored = sources()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(SegmentKeeper, "open", lambda self: None)
        patched.setattr(SegmentKeeper, "make_now", lambda self, unread, total, progress: False)
        assert sources() == stored
    assert len(stored) == DOCUMENTS
    assert stored["docs/a/doc4.md"].parents == (("passage", "kb/a", "kb/a/doc4"),)  # type: ignore[attr-defined]


def test_what_is_loose_is_rewritten_in_the_background(root: Path, begun: list[str]) -> None:
    vault = opened(root)
    write(root, "docs/a/doc4.md", "short")
    vault.retrieve("short", levels=["passage"], deadline=60)
    assert begun == []
    for number in (0, 2, 6, 8):
        path = root / f"docs/a/doc{number}.md"
        path.write_text(path.read_text() + "\n\nmore")
    vault.retrieve("short", levels=["passage"], deadline=60)
    assert begun == ["passages"]


def test_what_was_removed_is_loose_too(root: Path, begun: list[str]) -> None:
    vault = opened(root)
    for number in range(0, 10, 2):
        (root / f"docs/a/doc{number}.md").unlink()
    answers(vault)
    assert begun == ["passages"]
    assert rebuild.main("passages", str(root)) == 0
    begun.clear()
    found = answers(opened(root))
    assert begun == []
    assert answers(vault) == found == anew(root)


def test_what_was_rewritten_is_taken_from_there(root: Path, cuts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    vault = opened(root)
    write(root, "docs/a/doc4.md", "lighthouse " * 20)
    time.sleep(0.03)
    right = answers(vault)
    assert len(vault._contents._refresher._library._held) == 1  # type: ignore[union-attr]
    assert rebuild.main("passages", str(root)) == 0
    with monkeypatch.context() as patched:
        patched.setattr(SegmentKeeper, "has_rewritten", lambda self: self._kind == "passages")
        assert answers(vault) == right
    assert vault._contents._refresher._library._held == {}  # type: ignore[union-attr]


def test_what_cannot_be_read_makes_no_segment_again_and_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, "docs/a/broken.md", b"\xff\xfe" * 20_000)
    time.sleep(0.03)
    assert answers(opened(root)) == anew(root)
    before = segment(root).stat().st_ino
    assert answers(opened(root)) == anew(root)
    assert segment(root).stat().st_ino == before
    write(root, "docs/a/broken.md", "a lighthouse")
    assert opened(root).retrieve("lighthouse", levels=["passage"], deadline=60).hits


def test_reindex_makes_both_segments(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = answers(opened(root))
    before = segment(root).stat().st_ino
    refreshed: list[tuple[str, ...]] = []
    refresh = Refresher.refresh
    monkeypatch.setattr(
        Refresher,
        "refresh",
        lambda self, levels=("item",), *more: refreshed.append(tuple(levels)) or refresh(self, levels, *more),
    )  # type: ignore[func-returns-value]
    opened(root).reindex()
    assert segment(root).stat().st_ino != before
    assert answers(opened(root)) == right
    assert ("passage",) in refreshed
    shutil.rmtree(root / "docs")
    refreshed.clear()
    opened(root).reindex()
    assert not any("passage" in levels for levels in refreshed)


def test_wiped_it_leaves_no_text(root: Path) -> None:
    storage = opened(root)._storage
    write(root, ".cache/build-passages/x.part", "lantern")
    write(root, ".cache/passages.segment.12.new", "lantern")
    assert any(b"lantern" in path.read_bytes() for path in (root / ".cache").rglob("*") if path.is_file())
    with storage.locked():
        wipe_segment(storage.vault, "passages")
    assert not any(b"lantern" in path.read_bytes() for path in (root / ".cache").rglob("*") if path.is_file())
    assert answers(opened(root)) == anew(root)


def test_processes_share_the_cutting_and_tell_how_far_they_are(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from memoranda.index import build

    right = answers(opened(root))
    segment(root).unlink()
    for name in ("_SHARED_WORK", "_SMALLEST_PART", "_SHARED_TABLES"):
        monkeypatch.setattr(build, name, 0)
    monkeypatch.setattr(build, "_LARGEST_PART", 5000)
    monkeypatch.setattr(build, "usable_cores", lambda: 2)
    told: list[tuple[int, int | None]] = []
    vault = opened(root)
    vault.warm(("passage",), lambda done, total: told.append((done, total)))
    assert len(told) > 3
    assert told[-1] == (90, 100)
    assert answers(vault) == right


def test_in_a_hurry_what_is_not_read_is_said_and_read_by_the_next(root: Path) -> None:
    for number in range(DOCUMENTS):
        path = root / f"docs/{'ab'[number % 2]}/doc{number}.md"
        path.write_text(path.read_text() + "\n\nlighthouse")
    vault = opened(root)
    result = vault.retrieve("lighthouse", levels=["passage"], deadline=0.0, k=50)
    assert any("documents not read in time" in one for one in result.unavailable)
    assert len(vault.retrieve("lighthouse", levels=["passage"], deadline=60, k=50).hits) == DOCUMENTS
