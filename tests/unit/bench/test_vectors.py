"""A small real run over vectors, how they are made, and what is shown of the figures."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from memoranda_bench.__main__ import main
from memoranda_bench.embedded import CachedEmbedder
from memoranda_bench.systems.interface import SystemMissing
from memoranda_bench.vectors import corpus as corpora
from memoranda_bench.vectors import readings, texts
from memoranda_bench.vectors import run as running
from memoranda_bench.vectors.corpus import Sentences, make
from memoranda_bench.vectors.plain import looked_at
from memoranda_bench.vectors.plots import draw_vectors, recall_lines, time_lines
from memoranda_bench.vectors.run import VectorPlan, read_figures, run, systems_named
from memoranda_bench.vectors.systems import SYSTEMS
from memoranda_bench.vectors.tables import vectors_ratio_table, vectors_report, vectors_section

numpy = pytest.importorskip("numpy", reason="vectors need numpy")


class Made:
    """384 numbers by chance around a common mean, always the same ones for a text."""

    model = "made@384"

    def embed_documents(self, texts: Any) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str, seconds: float | None = None) -> list[float]:
        chance = numpy.random.default_rng(list(text.encode()))
        found: list[float] = (1 + chance.standard_normal(384)).tolist()
        return found


def _sentences(folder: Path) -> Sentences:
    written = [f"sentence {number}" for number in range(60)]
    return Sentences(written, [f"question {number}" for number in range(9)], CachedEmbedder(Made(), str(folder)))


@pytest.mark.parametrize("name", list(SYSTEMS))
@pytest.mark.parametrize("dimension", [128, 384])
def test_every_system_finds_what_is_nearest(tmp_path: Path, name: str, dimension: int) -> None:
    corpus = make(str(tmp_path), dimension, 90, 0, 5, _sentences(tmp_path))
    folder = tmp_path / "system"
    folder.mkdir()
    try:
        building = SYSTEMS[name](corpus, str(folder))
    except SystemMissing as missing:
        pytest.skip(str(missing))
    building.build()
    asked = SYSTEMS[name](corpus, str(folder))
    asked.open()
    try:
        own = asked.settings[0]
        for number, query in enumerate(corpus.queries()):
            found = asked.ask(query, own)
            cosines = numpy.asarray(corpus.vectors())[found] @ query
            assert list(cosines) == sorted(cosines, reverse=True)
            assert corpus.recall(number, found) == 1.0
    finally:
        asked.close()


def test_the_same_seed_makes_the_same_vectors(tmp_path: Path) -> None:
    first, second = (make(str(tmp_path / one), 384, 90, 3, 5, _sentences(tmp_path)) for one in "ab")
    assert numpy.array_equal(first.vectors(), second.vectors())
    assert first.real == 60
    assert "30 more of them with noise" in first.about
    assert make(str(tmp_path / "a"), 384, 90, 3, 5, None) == first  # what is there is used again
    with pytest.raises(ValueError, match="real sentences"):
        make(str(tmp_path), 384, 10, 0, 5)


def test_what_was_cut_short_is_made_anew(tmp_path: Path) -> None:
    first = make(str(tmp_path), 64, 50, 0, 5)
    os.remove(os.path.join(first.folder, "corpus.json"))
    Path(first.folder, "vectors.npy").write_bytes(b"")
    again = make(str(tmp_path), 64, 50, 0, 5)
    assert again == first
    assert again.vectors().shape == (50, 64)


def test_truth_and_recall_by_hand(tmp_path: Path) -> None:
    corpus = make(str(tmp_path), 64, 40, 1, 3)
    vectors, query = numpy.asarray(corpus.vectors()), corpus.queries()[0]
    order = [int(row) for row in numpy.argsort(-(vectors @ query))]
    assert corpus.truth()[0] == pytest.approx(sorted(vectors @ query, reverse=True)[:10], abs=1e-6)
    assert corpus.recall(0, order[:10]) == 1.0
    assert corpus.recall(0, order[1:11]) == 0.9
    assert corpus.recall(0, order[:3] * 5) == 0.3
    assert corpus.recall(0, []) == 0.0


def test_grown_vectors_lie_as_near_as_real_ones() -> None:
    chance = numpy.random.default_rng(0)
    real = corpora._unit(1 + chance.standard_normal((80, 384)).astype(numpy.float32))
    grown = numpy.zeros((400, 384), numpy.float32)
    corpora.grow(grown, real, 80, chance)
    assert numpy.array_equal(grown[:80], real)
    assert numpy.linalg.norm(grown, axis=1) == pytest.approx(numpy.ones(400), abs=1e-5)
    nearest = corpora.nearest_distances(real)
    away = numpy.sqrt(numpy.maximum(0, 2 - 2 * (grown[80:] @ real.T))).min(axis=1)
    # Nowhere on a real one, and never farther from all of them than real ones are from each other.
    assert away.min() > 0.3 * nearest.min()
    assert away.max() < 0.9 * nearest.max()


def test_sentences_are_cut() -> None:
    text = "Short. This one is long enough to say something. And i.e. this one is as well, as far as one can see."
    assert list(texts.sentences(text, "en")) == [
        "This one is long enough to say something.",
        "this one is as well, as far as one can see.",
    ]
    assert list(texts.sentences("他是枢机。1963年被擢升为天主教会的主教！好。", "zh")) == [
        "1963年被擢升为天主教会的主教！"
    ]


def test_how_much_is_looked_at() -> None:
    assert [looked_at(share, 5000) for share in ("×4", "×1000", "1 %", "0.1 %")] == [40, 5000, 50, 10]


def test_private_memory_leaves_files_out(tmp_path: Path) -> None:
    before = readings.private_memory()
    if before is None:
        pytest.skip("the system does not say which memory is private")
    numpy.save(tmp_path / "a.npy", numpy.ones(12_000_000))
    mapped = numpy.load(tmp_path / "a.npy", mmap_mode="r")
    assert mapped.sum() == 12_000_000
    between = readings.private_memory()
    with readings.watched() as most:
        own = numpy.ones(12_000_000)
        for _ in range(20):
            own += 1
    after = readings.private_memory()
    assert between is not None
    assert after is not None
    assert most.bytes is not None
    assert between - before < 48_000_000
    assert after - between > 72_000_000
    assert most.bytes >= 32_000_000


def _row(p50: float, recall: float = 1.0) -> dict[str, Any]:
    ways = {
        "calibrated": {
            "recall": recall,
            "p50": p50,
            "p99": 2 * p50,
            "cpu_p50": p50 / 2,
            "stream_ms": 0.5,
            "memory_ms": 1.0,
        }
    }
    return {
        "build": {"seconds": 3.0, "spin_ms": [5.0, 5.2]},
        "disk_bytes": 7_000_000,
        "ask": {
            "open_ms": 1.0,
            "first_ms": 2.0,
            "private": 1_500_000,
            "private_most": None,
            "settings": ways,
            "about": {"calibration": None},
        },
    }


def _figures() -> dict[str, Any]:
    ours = _row(2.0, 0.97)
    ours["ask"]["settings"]["1 %"] = {"recall": 0.9, "p50": 1.0, "p99": 1.5, "cpu_p50": 0.5, "stream_ms": 0.5}
    ours["ask"]["about"]["calibration"] = {
        "method": "cascade",
        "fraction": 0.0123,
        "rerank": 40,
        "recall": 0.985,
        "queries": 160,
        "rows": 1000,
        "seconds": 1.5,
    }
    ours["add"] = {"rows": 1000, "seconds": 0.25}
    brute = _row(8.0)
    brute["ask"]["settings"] = {"everything": brute["ask"]["settings"]["calibrated"]}
    skipped = {"skipped": "building would take some 900 s"}
    corpus = {"about": "7 sentences", "real": 7, "cosine": 0.8, "nearest": 0.9, "answer": 0.85, "tenth": 0.8}
    sizes = {
        "100000": {"corpus": corpus, "systems": {"ours": ours, "float32": brute, "chroma": skipped}},
        "200": {"skipped": "no room", "systems": {}},
    }
    return {"seed": 0, "queries": 9, "top": 10, "dimensions": {"384": sizes}}


def test_tables_show_what_was_measured_and_what_was_not() -> None:
    text = vectors_report(_figures())
    assert "| ours | calibrated | 0.970 | 2.00 | 4.00 | 4.00 (2.00) | 3.00 | 3.00 | 1.5 | – | 7.0 |" in text
    assert "| ours | 1 % | 0.900 | 1.00 | 1.50 | 2.00 (1.00) |" in text
    assert "Ours chose `cascade`, 1.23% of the rows and the best 40 of these" in text
    assert "1,000 rows more took 0.25 s." in text
    assert "`chroma`: not measured (building would take some 900 s)." in text
    assert "Not measured: no room." in text
    assert "7 sentences. Mean cosine of two vectors 0.80" in text
    assert "| 384 | 100,000 | 0.970 | 2.00 | 4.00 | 4.00 (2.00) | 2.00 (1.00) | 0.25 |" in vectors_ratio_table(
        _figures()
    )
    assert "5.0 to 5.2 ms" in text
    assert vectors_ratio_table({"dimensions": {}}) == ""
    section = vectors_section(_figures(), ["recall.svg", "vectors-384.svg"])
    assert section.startswith("## Vectors\n\n![vectors-384](vectors-384.svg)\n\nThe 10 nearest")
    few = {**_figures(), "dimensions": {"384": {"1000": _figures()["dimensions"]["384"]["100000"]}}}
    assert "| ours | calibrated | 0.970 | 2.00 | 4.00 | – |" in vectors_report(few)


def test_lines_are_those_of_the_figures(tmp_path: Path) -> None:
    assert time_lines(_figures(), 384) == [("ours", [(100_000, 2.0)]), ("float32", [(100_000, 8.0)])]
    assert recall_lines(_figures(), 384) == (
        100_000,
        [("ours", [(1.0, 0.9), (2.0, 0.97)]), ("float32", [(8.0, 1.0)])],
    )
    assert recall_lines(_figures(), 768) == (0, [])
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    assert draw_vectors(str(tmp_path), _figures()) == ["vectors-384.svg", "vectors-384-recall.svg"]
    assert "</svg>" in (tmp_path / "vectors-384.svg").read_text()


def test_a_small_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "v.json"
    call = ["vectors", "--sizes", "40", "--dims", "64", "--systems", "ours,float32,bits", "--queries", "4"]
    call += ["--json", str(kept), "--work", str(tmp_path / "work")]
    assert main(call) == 0
    first = json.loads(kept.read_text())
    rows = first["dimensions"]["64"]["40"]["systems"]
    assert list(rows) == ["ours", "float32", "bits"]
    for row in rows.values():
        assert next(iter(row["ask"]["settings"].values()))["recall"] == 1.0
        assert row["disk_bytes"] >= 40 * 64 * 4
    assert rows["ours"]["add"]["rows"] == 1000
    assert "### 40 vectors of 64 numbers" in capsys.readouterr().out
    assert len(os.listdir(tmp_path / "work")) == 1  # the corpus: nothing else is left behind
    # Once more: nothing is measured again.
    assert main([*call, "--resume"]) == 0
    assert json.loads(kept.read_text())["dimensions"] == first["dimensions"]
    with pytest.raises(ValueError, match="another seed"):
        read_figures(str(kept), VectorPlan((40,), (64,), seed=1))


def test_what_takes_too_long_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def measure(name: str, corpus: Any, *_: object) -> dict[str, Any]:
        tried.append(corpus.size)
        return _row(1.0) | {"build": {"seconds": 0.2 * corpus.size}}

    monkeypatch.setattr(running, "_measure", measure)
    sizes = run(VectorPlan((20, 40, 80, 200), (64,), ("chroma",), work=str(tmp_path), patience=10))["dimensions"]["64"]
    assert tried == [20, 40]
    assert "the limit is 10" in sizes["80"]["systems"]["chroma"]["skipped"]
    assert "the limit is 10" in sizes["200"]["systems"]["chroma"]["skipped"]
    monkeypatch.setattr(running, "free_bytes", lambda folder: 1)
    assert "GB of disk" in run(VectorPlan((30,), (64,), work=str(tmp_path)))["dimensions"]["64"]["30"]["skipped"]


def test_a_process_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "slow.py"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    if sys.platform == "win32":
        pytest.skip("needs a shell")
    monkeypatch.setattr(sys, "executable", str(slow))
    with pytest.raises(TimeoutError, match=r"too long: build took more than 0 s"):
        running._child(["build", "ours", "c", "f"], 0.2)


def test_wrong_calls(capsys: pytest.CaptureFixture[str]) -> None:
    for call in (["--systems", "elastic"], ["--sizes", "10", "--resume"]):
        assert main(["vectors", *call]) == 2
        assert capsys.readouterr().err.startswith("memoranda-bench: ")
    assert systems_named("float32, ours") == ("ours", "float32")
