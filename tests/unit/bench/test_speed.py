"""A small real speed run, what it keeps when it is stopped, and what it says when something does not work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memoranda_bench.__main__ import main
from memoranda_bench.speed import cold, readings
from memoranda_bench.speed import run as running
from memoranda_bench.speed.run import Plan, read_figures, run, systems_named
from memoranda_bench.speed.tables import noise, ratios, speed_report

Row = dict[str, Any]
Figures = Callable[..., dict[str, Any]]


def test_ratios_by_hand(figures: Figures, ours_row: Row, peer_row: Row) -> None:
    found = ratios(
        figures(ours=ours_row, fts5=peer_row, **{"fts5-raw": peer_row, "tantivy": peer_row})["sizes"]["1000"]
    )
    wanted = {
        "p50: ours / fts5, common words included": (0.25, 0.3),
        "the same without the look at the files (fts5, common words included)": (0.15, 0.2),
        "p50: ours / fts5, content words alone": (0.5, 0.6),
        "the same without the look at the files (fts5, content words alone)": (0.3, 0.4),
        "p50: ours / tantivy, common words included": (0.25, 0.3),
        "the same without the look at the files (tantivy, common words included)": (0.15, 0.2),
        "p50: recall right after an addition / right before it": (1.5, 1.4),
        "build: ours / fts5": (2.0, 3.0),
        "build: ours once more / fts5": (1.5, 2.5),
        "build: ours / fts5-raw": (2.0, 3.0),
        "build: ours once more / fts5-raw": (1.5, 2.5),
        "new process: recall less bare interpreter, ms": (49.0, 48.0),
    }
    assert list(found) == list(wanted)
    for name, pair in wanted.items():
        assert found[name] == pytest.approx(pair), name
    assert ratios({"systems": {"fts5": peer_row}}) == {}


def test_tables_show_what_was_measured_and_what_was_not(figures: Figures, ours_row: Row, peer_row: Row) -> None:
    missing = {"skipped": "x is not installed: pip install x"}
    text = speed_report(figures(ours=ours_row, fts5=peer_row, tantivy=missing, bm25s={"failed": "bm25s was killed"}))
    assert "| ours | 4.00 | 1.00 | 2.00 | 0.90 | 1.90 | 90.0% | 45.0 | 1.0 |" in text
    assert "| ours, without the look at the files |  | 0.60 | 1.60 | 0.50 | 1.50 |" in text
    assert "| memory of the first opening, and of its largest worker | 50.0, 35.0 MB |" in text
    assert "`tantivy`: not measured (x is not installed: pip install x)." in text
    assert "`bm25s`: not measured (bm25s was killed)." in text
    assert "| new process: recall less bare interpreter, ms | 49.00 (48.00) |" in text
    unmeasured = {"seed": 0, "queries": 1, "categories": 200, "sizes": {"10": {"skipped": "no room", "systems": {}}}}
    assert "Not measured: no room." in speed_report(unmeasured)


def test_noise_is_said(figures: Figures, ours_row: Row, peer_row: Row) -> None:
    assert "5.0 to 9.0 ms" in noise(figures(ours=ours_row))
    assert "not quiet" in noise(figures(ours=ours_row))
    assert "was quiet" in noise(figures(fts5=peer_row))


def test_systems_are_named() -> None:
    assert systems_named("fts5, ours") == ("ours", "fts5-raw", "fts5-trigram", "fts5")
    with pytest.raises(ValueError, match="there are"):
        systems_named("ours,elastic")


def test_a_small_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "speed.json"
    call = ["speed", "--items", "60", "--systems", "ours,fts5", "--queries", "7", "--json", str(kept)]
    call += ["--work", str(tmp_path / "work")]
    assert main(call) == 0
    first = json.loads(kept.read_text())
    rows = first["sizes"]["60"]["systems"]
    assert list(rows) == ["ours", "fts5-raw", "fts5-trigram", "fts5"]
    assert rows["fts5"]["natural"]["found"] == 1.0
    assert rows["ours"]["warm"]["natural"]["found"] > 0.8
    assert rows["ours"]["add"]["found"] == 1.0
    assert rows["ours"]["cold"]["rounds"] == 11
    assert rows["ours"]["cold"]["recall_ms"] > rows["ours"]["cold"]["bare_ms"]
    assert "### 60 items" in capsys.readouterr().out
    assert sorted(os.listdir(tmp_path / "work")) == ["corpus-1-0-60"]  # nothing else is left behind
    # Once more: nothing is measured again.
    assert main([*call, "--resume"]) == 0
    assert json.loads(kept.read_text())["sizes"] == first["sizes"]


def _measure(names: list[str], row: Row, stop_at: str | None = None) -> Any:
    def measure(name: str, *_: object) -> dict[str, Any]:
        if name == stop_at:
            raise KeyboardInterrupt
        names.append(name)
        return row

    return measure


def test_a_stopped_run_goes_on_from_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, figures: Figures, peer_row: Row
) -> None:
    kept, measured = str(tmp_path / "s.json"), []
    plan = Plan((20, 30), ("fts5-raw", "fts5"), 0, 5, str(tmp_path / "work"))
    monkeypatch.setattr(running, "_measure", _measure(measured, peer_row, stop_at="fts5"))
    with pytest.raises(KeyboardInterrupt):
        run(plan, kept)
    assert list(json.loads(Path(kept).read_text())["sizes"]["20"]["systems"]) == ["fts5-raw"]
    monkeypatch.setattr(running, "_measure", _measure(measured, peer_row))
    run(plan, kept, resume=True)
    assert measured == ["fts5-raw", "fts5", "fts5-raw", "fts5"]
    with pytest.raises(ValueError, match="another seed"):
        read_figures(kept, Plan((20,), seed=1))


def test_what_failed_is_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, figures: Figures, peer_row: Row
) -> None:
    kept = tmp_path / "s.json"
    before = figures(fts5={"failed": "killed"}, tantivy=peer_row)
    before["queries"] = 5
    kept.write_text(json.dumps(before))
    measured: list[str] = []
    monkeypatch.setattr(running, "_measure", _measure(measured, peer_row))
    run(Plan((1000,), ("fts5", "tantivy"), 0, 5, str(tmp_path / "work")), str(kept), resume=True)
    assert measured == ["fts5"]


def test_what_would_not_fit_is_not_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, peer_row: Row) -> None:
    measured: list[str] = []
    monkeypatch.setattr(running, "_measure", _measure(measured, peer_row))
    monkeypatch.setattr(running, "free_memory", lambda: 10_000)
    plan = Plan((20,), ("ours", "fts5"), 0, 5, str(tmp_path))
    rows = run(plan)["sizes"]["20"]["systems"]
    assert measured == ["fts5"]
    assert "GB of memory" in rows["ours"]["skipped"]
    monkeypatch.setattr(running, "free_bytes", lambda folder: 1)
    assert "GB of disk" in run(plan)["sizes"]["20"]["skipped"]


def test_memory_is_expected_in_proportion_to_a_smaller_size(figures: Figures) -> None:
    found = figures()
    found["sizes"] = {"10000": {"systems": {"ours": {"build": {"peak": 100}}, "fts5": {"peak": 7}}}}
    assert running._expected_memory("ours", 1_000_000, found) == 10_000
    assert running._expected_memory("fts5", 20_000, found) == 14
    assert running._expected_memory("tantivy", 10, found) == 3000


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="the system does not list its processes")
def test_background_work_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = str(tmp_path / "v")
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(0.5)", vault])
    # A process that has ended and was not waited for has no arguments any more.
    assert running._settle(vault) > 0.05
    assert readings.processes_with(vault) == []
    assert process.wait() == 0
    assert running._settle(vault) == 0.0
    monkeypatch.setattr(running, "_PATIENCE", -1.0)
    monkeypatch.setattr(running, "processes_with", lambda argument: [1])
    with pytest.raises(RuntimeError, match="background"):
        running._settle(vault)


def test_a_process_that_fails_is_a_row(tmp_path: Path, capfd: pytest.CaptureFixture[str], figures: Figures) -> None:
    with pytest.raises(RuntimeError, match="failed"):
        running._figures(["memoranda_bench.speed.measuring", "nothing"], os.pathsep.join(sys.path))
    assert "not enough values" in capfd.readouterr().err


def test_a_new_process_is_timed(tmp_path: Path) -> None:
    took, cpu, peak, code = cold.run_once([sys.executable, "-c", "import time; time.sleep(0.05); raise SystemExit(3)"])
    assert took >= 0.05
    assert code == 3
    assert peak is None or peak > 1_000_000
    assert cpu is None or 0 < cpu < 60
    with pytest.raises(RuntimeError, match="ended with 4"):
        cold.measure(str(tmp_path / "nowhere"), ["q"], 1, 1.0)


def test_wrong_calls(capsys: pytest.CaptureFixture[str]) -> None:
    for call in (["--systems", "elastic"], ["--items", "10", "--resume"]):
        assert main(["speed", *call]) == 2
        assert capsys.readouterr().err.startswith("memoranda-bench: ")


def test_readings(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_bytes(b"12345")
    assert readings.directory_bytes(str(tmp_path)) == 5
    assert readings.directory_bytes(str(tmp_path / "nowhere")) == 0
    assert readings.spin() > 0
    peak, now = readings.peak_memory(), readings.resident_memory()
    if peak is not None and now is not None:
        assert peak >= now > 1_000_000
