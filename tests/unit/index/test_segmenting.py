"""A vault whose Chinese is cut into words: index and questions alike, in every process; anew when what cuts changes."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from fakes.clock import FakeClock
from fakes.segmenter import ListSegmenter
from memoranda.adapters.registry import SEGMENTER_LOADER, SEGMENTERS, load_segmenter
from memoranda.bootstrap import Vault
from memoranda.core.analysis import analyze_query
from memoranda.core.errors import MissingExtra, UsageError
from memoranda.core.segmentation import SEGMENTATION_VERSION
from memoranda.index import build, build_pool, rebuild
from memoranda.index.build import Builder, Source
from memoranda.index.build_pool import background_environment
from memoranda.index.segment import Segment
from memoranda.index.segment_keeper import SegmentKeeper, made_with
from memoranda.index.segmenting import Segmentation, load_segmentation
from memoranda.storage.settings import read_settings
from observing import write

PACKAGE = """
WORDS = ("清华大学", "喜欢", "咖啡", "海边", "散步")

def cut(text):
    at = 0
    while at < len(text):
        word = next((word for word in WORDS if text.startswith(word, at)), text[at])
        yield word
        at += len(word)
"""
SENTENCES = ["我喜欢清华大学", "她在海边散步", "海边的咖啡", "昨天下雨了", "sea 海边 plan"]
QUERIES = ["清华大学在哪里", "喜欢咖啡", "海边", "下雨", "sea plan"]

Install = Callable[[str], None]
BEGIN = SegmentKeeper._begin


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Puts a package ``rjieba`` of some version where this process and its children find it."""
    site = tmp_path / "site"
    write(site, "rjieba/__init__.py", PACKAGE)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", str(site))
    monkeypatch.delitem(sys.modules, "rjieba", raising=False)

    def installed(version: str) -> None:
        for old in site.glob("*.dist-info"):
            shutil.rmtree(old)
        about = f"Metadata-Version: 2.1\nName: rjieba\nVersion: {version}\n"
        write(site, f"rjieba-{version}.dist-info/METADATA", about)
        load_segmentation.cache_clear()

    installed("9.1")
    yield installed
    sys.modules.pop("rjieba", None)
    load_segmentation.cache_clear()


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault that says ``segmenter = "rjieba"``, enough in it for a segment, and nothing in the background."""
    monkeypatch.setattr(SegmentKeeper, "_begin", lambda self, what: None)
    root = tmp_path / "vault"
    for number in range(10):
        sections = (f"## n{n}\n\n{SENTENCES[(n + number) % 5]} word{number}-{n}\n" for n in range(240))
        write(root, f"memory/c{number}.md", "\n".join(sections))
    write(root, "memoranda.toml", 'segmenter = "rjieba"\n')
    time.sleep(0.03)
    return root


def opened(root: Path) -> Vault:
    return Vault.open(root, clock=FakeClock())


def answers(vault: Vault) -> list[list[tuple[str, float]]]:
    vault.warm()
    found = [vault.retrieve(query, k=30, deadline=60) for query in QUERIES]
    assert not any(one.unavailable for one in found)
    return [[(hit.address, hit.score) for hit in one] for one in found]


def terms_met(vault: Vault, query: str, **more: Any) -> set[str]:
    vault.warm()
    best = next(iter(vault.retrieve(query, explain=True, deadline=60, **more)))
    assert best.explanation is not None
    return {part.term for part in best.explanation.terms}


def segment_made_with(root: Path) -> object:
    segment = Segment(str(root / ".cache/keywords.segment"))
    try:
        return segment.contents["made_with"]
    finally:
        segment.close()


def stored_terms(root: Path) -> set[str]:
    segment = Segment(str(root / ".cache/keywords.segment"))
    try:
        return set(segment.partition("item", "shared").terms())
    finally:
        segment.close()


def sources(root: Path) -> list[Source]:
    stats = [(path, path.stat()) for path in sorted((root / "memory").iterdir())]
    return [
        Source("item", f"memory/{path.name}", str(path), path.stem, (s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns))
        for path, s in stats
    ]


@pytest.mark.usefixtures("install")
def test_questions_ask_for_words_and_find_them(root: Path) -> None:
    vault = opened(root)
    assert vault.settings_faults == []
    assert terms_met(vault, "清华大学在哪里") == {"清", "华", "大", "学", "清华大学"}
    assert {"清华大学", "喜欢"} <= stored_terms(root)
    assert "华大" not in stored_terms(root)


@pytest.mark.usefixtures("install")
def test_what_is_remembered_afterwards_and_as_of_a_moment_is_cut_too(root: Path) -> None:
    vault = opened(root)
    vault.warm()
    vault.remember("late:x", "咖啡散步清华大学")
    assert next(iter(vault.retrieve("咖啡散步清华大学", deadline=60))).address == "late:x"
    assert terms_met(vault, "咖啡散步清华大学") >= {"咖啡", "散步", "清华大学"}
    assert "华大" not in terms_met(vault, "清华大学", as_of="2027-01-01")
    assert "清华大学" in terms_met(vault, "清华大学", as_of="2027-01-01")


@pytest.mark.usefixtures("install")
def test_a_question_about_a_time_is_cut_too(root: Path) -> None:
    vault = opened(root)
    vault.remember("late:x", "去了清华大学", ts="2026-07-09")
    assert "清华大学" in terms_met(vault, "昨天去了清华大学吗")


@pytest.mark.usefixtures("install")
def test_answers_from_a_segment_are_those_from_memory(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = answers(opened(root))
    assert (root / ".cache/keywords.segment").exists()
    shutil.rmtree(root / ".cache")
    monkeypatch.setattr(SegmentKeeper, "make_now", lambda self, unread, total, progress: False)
    assert answers(opened(root)) == stored
    assert not (root / ".cache/keywords.segment").exists()


@pytest.mark.usefixtures("install")
def test_processes_make_the_very_segment_that_one_makes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "_SHARED_WORK", 0)
    monkeypatch.setattr(build, "_SMALLEST_PART", 20_000)
    monkeypatch.setattr(build, "_LARGEST_PART", 20_000)

    def built(name: str, workers: int, segmentation: Segmentation | None) -> bytes:
        monkeypatch.setattr(build, "usable_cores", lambda: workers)
        cache = root / name
        cache.mkdir()
        with Builder(str(cache), segmentation=segmentation) as builder:
            builder.gather(sources(root))
            assert builder.assemble({"files": []})
            builder.install()
        return (cache / "keywords.segment").read_bytes()

    chosen = load_segmentation(SEGMENTER_LOADER, "rjieba")
    alone = built("one", 1, chosen)
    assert built("plain", 1, None) != alone

    def nothing_here(task: dict[str, Any]) -> dict[str, Any]:
        raise AssertionError("the other processes could not do it")

    monkeypatch.setattr(build_pool, "perform", nothing_here)
    assert built("two", 2, chosen) == alone


def test_another_version_or_none_makes_the_segment_anew(root: Path, install: Install) -> None:
    first = answers(opened(root))
    assert segment_made_with(root) == [*made_with(), SEGMENTATION_VERSION, "rjieba 9.1"]
    install("9.2")
    assert answers(opened(root)) == first
    assert segment_made_with(root) == [*made_with(), SEGMENTATION_VERSION, "rjieba 9.2"]
    write(root, "memoranda.toml", "")
    assert terms_met(opened(root), "清华大学") >= {"清华", "华大", "大学"}
    assert segment_made_with(root) == made_with()
    assert "清华大学" not in stored_terms(root)


@pytest.mark.usefixtures("install")
def test_the_same_version_opens_the_segment_that_is_there(root: Path) -> None:
    answers(opened(root))
    before = (root / ".cache/keywords.segment").stat().st_ino
    answers(opened(root))
    assert (root / ".cache/keywords.segment").stat().st_ino == before


@pytest.mark.usefixtures("install")
def test_a_damaged_segment_is_made_anew_with_words(root: Path) -> None:
    right = answers(opened(root))
    path = root / ".cache/keywords.segment"
    data = bytearray(path.read_bytes())
    data[len(data) // 4 : len(data) * 3 // 4] = bytes(len(data) * 3 // 4 - len(data) // 4)
    path.write_bytes(data)
    assert answers(opened(root)) == right
    assert segment_made_with(root) == [*made_with(), SEGMENTATION_VERSION, "rjieba 9.1"]
    assert path.read_bytes() != data


@pytest.mark.usefixtures("install")
@pytest.mark.parametrize("what", ["keywords", "journal"])
def test_a_process_of_its_own_cuts_alike(what: str, root: Path) -> None:
    opened(root).close()
    command = [sys.executable, "-m", "memoranda.index.rebuild", what, str(root), SEGMENTER_LOADER, "rjieba"]
    assert subprocess.run(command, env=background_environment(), timeout=60, check=False).returncode == 0
    assert segment_made_with(root) == [*made_with(), SEGMENTATION_VERSION, "rjieba 9.1"]


@pytest.mark.usefixtures("install")
def test_the_process_in_the_background_is_told_what_cuts(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(build_pool, "Background", lambda command, **_: started.append(command))
    chosen = Segmentation(ListSegmenter(), "module:function", "name")
    for segmentation in (chosen, None):
        vault = opened(root)
        BEGIN(SegmentKeeper(vault._storage, vault._resources, segmentation), "keywords")
    assert [command[3:] for command in started] == [
        ["keywords", str(root), "module:function", "name"],
        ["keywords", str(root)],
    ]


def test_where_it_is_not_installed_everything_works_and_the_fault_says_what_to_do(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rjieba", None)
    vault = opened(root)
    (fault,) = vault.settings_faults
    assert fault.startswith("segmenter = \"rjieba\" needs: pip install 'memoranda[zh]'")
    assert [p.path for p in vault.check() if p.kind == "settings"] == ["memoranda.toml"]
    found = answers(vault)
    assert segment_made_with(root) == made_with()
    write(root, "memoranda.toml", "")
    assert answers(opened(root)) == found


def test_a_package_that_cannot_be_imported_is_named_as_missing(install: Install, tmp_path: Path) -> None:
    write(tmp_path / "site", "rjieba/__init__.py", "import no_such_module_of_its_own")
    segmenter = load_segmenter("rjieba")
    with pytest.raises(MissingExtra, match=r"no_such_module_of_its_own.*memoranda\[zh\]"):
        segmenter.cut("海边")


def test_the_background_does_nothing_where_it_cannot_cut(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rjieba", None)
    opened(root).close()
    load_segmentation.cache_clear()
    assert rebuild.main("keywords", str(root), SEGMENTER_LOADER, "rjieba") == 1
    assert not (root / ".cache/keywords.segment").exists()


def test_the_table_and_the_setting_know_the_same_names(tmp_path: Path) -> None:
    for name, entry in SEGMENTERS.items():
        assert entry.name == name
        write(tmp_path, "memoranda.toml", f'segmenter = "{name}"\n')
        assert read_settings(str(tmp_path)).segmenter == name
    write(tmp_path, "memoranda.toml", 'segmenter = "spaces"\n')
    with pytest.raises(UsageError, match='segmenter is "" .none., ' + " or ".join(f'"{name}"' for name in SEGMENTERS)):
        read_settings(str(tmp_path))
    with pytest.raises(UsageError, match=", ".join(SEGMENTERS)):
        load_segmenter("spaces")


def test_a_vault_without_one_loads_nothing_of_it(tmp_path: Path) -> None:
    code = (
        "import sys; from memoranda import Vault; v = Vault.open(sys.argv[1]); v.remember('c:a', '海边散步')\n"
        "assert v.retrieve('海边', deadline=60).hits; v.close()\n"
        "print([n for n in sys.modules if 'segmenta' in n or 'segmenti' in n or 'segmenters' in n or 'jieba' in n])"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "v")]
    done = subprocess.run(command, env=background_environment(), capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", SEGMENTERS)
def test_with_the_package_itself(name: str, tmp_path: Path) -> None:
    if find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    write(tmp_path, "memoranda.toml", f'segmenter = "{name}"\n')
    vault = opened(tmp_path)
    vault.remember("days:visit", "昨天我去参观了清华大学")
    vault.remember("days:rain", "昨天下雨了")
    assert vault.settings_faults == []
    assert "清华大学" in terms_met(vault, "清华大学怎么样")
    assert "清华大学" not in {term.term for term in analyze_query("清华大学怎么样")}
