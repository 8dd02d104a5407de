"""The report: a page without paths, the same pictures for the same figures, and every figure that others win."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memoranda_bench import report as reporting
from memoranda_bench.__main__ import main
from memoranda_bench.conditions import conditions
from memoranda_bench.plots import draw, growth, recall_bars
from memoranda_bench.report import page
from memoranda_bench.report_summary import losses, summary

Row = dict[str, Any]
Figures = Callable[..., dict[str, Any]]


def _group(recall: float) -> dict[str, Any]:
    return {
        "n": 10,
        "recall": {"1": 0.1, "5": 0.2, "10": recall, "20": 0.9},
        "ndcg": recall,
        "mrr": recall,
        "interval": 0.05,
        "empty": 0,
    }


def _result(ours: float, grep: float) -> dict[str, Any]:
    gain = {"mean": ours - grep, "lower": 0.01, "upper": 0.2}
    return {
        "set": "cranfield",
        "language": "en",
        "collections": ["cranfield"],
        "dropped": 0,
        "k": 10,
        "dated": True,
        "systems": {
            name: {"ms": {"p50": 1.0, "p95": 2.0}, "groups": {"all": _group(recall)}}
            for name, recall in (("ours", ours), ("grep", grep))
        },
        "skipped": {},
        "unfit": {},
        "baseline": "grep",
        "gains": [{"group": "all", "system": "ours", "n": 10, "R@10": gain, "MRR": gain}],
    }


FLOOR = {
    "set": "unanswerable",
    "language": "zh",
    "collections": ["a", "b"],
    "has_floor": True,
    "systems": {
        "ours": {
            "all": {
                "unanswerable": 10,
                "nothing": 4,
                "no_match": 4,
                "weak_only": 5,
                "answerable": 8,
                "silenced": 1,
                "hits": 49,
                "hits_without": 50,
                "bare_hits": 47,
                "bare_hits_without": 50,
            }
        }
    },
}


def test_the_summary_has_what_counts(figures: Figures, ours_row: Row, peer_row: Row) -> None:
    text = summary([_result(0.5, 0.4), FLOOR], figures(ours=ours_row, fts5=peer_row))
    assert "| cranfield, all: recall@10, MRR | 0.500 ± 0.050, 0.500 |" in text
    assert "| cranfield, all: gain in recall@10 over `grep`, mean and 95 % | +0.100 [+0.010, +0.200] |" in text
    assert "| unanswerable (zh), all: questions met with nothing | 40.0% of 10 |" in text
    assert "| answerable (zh), all: relevant hits kept | 98.0% of 50 |" in text
    assert "| p50: ours / fts5, common words included | 0.25 (0.30) |" in text


def test_losses_are_said(figures: Figures, ours_row: Row, peer_row: Row) -> None:
    assert losses([_result(0.5, 0.4), FLOOR], None) == []
    [line] = losses([_result(0.4, 0.5)], None)
    assert line.startswith("cranfield, all: recall@10 0.400 (grep 0.500); nDCG 0.400")
    [line] = losses([], figures(ours=ours_row, fts5=peer_row, tantivy={"skipped": "x"}))
    # ours answers faster than this peer; it builds slower, takes more memory, finds less
    assert line == "1,000 items: building, s 4.00 (fts5 2.00); memory, MB 45.00 (fts5 30.00); found 90.0% (fts5 100.0%)"


def test_plots_have_the_figures(figures: Figures, ours_row: Row, peer_row: Row) -> None:
    assert recall_bars([_result(0.5, 0.4), FLOOR]) == [("cranfield", {"ours": (0.5, 0.05), "grep": (0.4, 0.05)})]
    found = {name: dict(lines) for name, _, lines in growth(figures(ours=ours_row, fts5=peer_row))}
    assert found["warm"]["ours"] == [(1000, 1.0)]
    assert found["warm"]["ours, without the look at the files"] == [(1000, 0.6)]
    assert found["warm"]["fts5, content words alone"] == [(1000, 2.0)]
    assert found["build"] == {"ours": [(1000, 4.0)], "fts5": [(1000, 2.0)]}
    assert found["memory"] == {"ours": [(1000, 45.0)], "fts5": [(1000, 30.0)]}


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed")
def test_pictures_are_the_same_bytes_for_the_same_figures(
    tmp_path: Path, figures: Figures, ours_row: Row, peer_row: Row
) -> None:
    written = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        names = draw(str(tmp_path / name), [_result(0.5, 0.4)], figures(ours=ours_row, fts5=peer_row))
        assert names == ["recall.svg", "warm.svg", "build.svg", "memory.svg"]
        written.append([(tmp_path / name / one).read_bytes() for one in names])
    assert written[0] == written[1]
    assert b"<dc:date>" not in b"".join(written[0])
    assert draw(str(tmp_path), [FLOOR], None) == []


def test_the_page_names_no_machine(tmp_path: Path, figures: Figures, ours_row: Row, peer_row: Row) -> None:
    measured = figures(ours=ours_row, fts5=peer_row) | {"conditions": conditions()}
    text = page(
        {"results": [_result(0.4, 0.5), FLOOR], "conditions": conditions()}, measured, ["warm.svg"], ["docs: x"]
    )
    assert "![one question by size](warm.svg)" in text
    assert "recall.svg" not in text
    assert "Not measured: docs: x." in text
    assert "### unanswerable (zh)" in text
    assert "Python" in text
    for name in (os.uname().nodename if hasattr(os, "uname") else "", str(Path.home()), os.getcwd(), sys.prefix):
        if len(name) > 3:
            assert name not in text


def _data(folder: Path) -> str:
    folder.mkdir()
    passage = {"id": "DEV_0", "context": "运河很长。", "qas": [{"question": "什么很长？", "id": "q", "answers": []}]}
    (folder / "cmrc2018_dev.json").write_text(json.dumps({"data": [{"paragraphs": [passage]}]}))
    return str(folder)


def test_the_command_writes_and_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("memoranda_bench.systems.NAMES", ("ours", "grep"))
    out = tmp_path / "out"
    call = ["report", "--data", _data(tmp_path / "data"), "--out", str(out), "--sizes", ""]
    assert main(call) == 0
    assert capsys.readouterr().out.strip() == str(out / "README.md")
    text = (out / "README.md").read_text(encoding="utf-8")
    assert "### cmrc2018" in text
    assert str(tmp_path) not in text + (out / "quality.json").read_text(encoding="utf-8")

    def never(*_: object, **__: object) -> None:
        raise AssertionError("measured again")

    monkeypatch.setattr(reporting, "measure_sets", never)
    assert main([*call, "--resume"]) == 0


def test_no_data_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--data", str(tmp_path), "--out", str(tmp_path / "o"), "--sizes", ""]) == 2
    assert capsys.readouterr().err.count("\n") == 1
