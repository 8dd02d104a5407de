"""Documents taken in by ``memoranda kb``: what is kept, what is refused, and that they are found."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from functional.driving import Cli

NOTES = "# Boats\n\n## Tides\n\nThe tide at Brest turns every six hours.\n"


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    (folder / "more" / ".git").mkdir(parents=True)
    (folder / "boats.md").write_text(NOTES, encoding="utf-8")
    (folder / "more" / "价格.csv").write_bytes("品名,价格\n花生,三元\n".encode("gb18030"))
    (folder / "more" / ".git" / "config").write_text("[core]\n", encoding="utf-8")
    (folder / "bad.json").write_text("{", encoding="utf-8")
    return folder


def outcomes(cli: Cli, *words: str) -> dict[str, str]:
    return {Path(one["path"]).name: one["outcome"] for one in cli("kb", "add", *words, "--json").json()}


def test_what_can_be_converted_is_kept_and_found_and_the_rest_says_why(cli: Cli, papers: Path) -> None:
    ran = cli("kb", "add", str(papers))
    assert ran.code == 0
    assert ran.out == "1 corrupt, 2 stored\n"
    assert "bad.json: corrupt" in ran.err
    found = cli("recall", "when does the tide turn", "--level", "passage", "--json").json()
    assert "every six hours" in found["hits"][0]["text"]
    assert "Boats › Tides" in found["hits"][0]["citation"]
    chinese = cli("recall", "花生价格", "--level", "passage").out
    assert "三元" in chinese
    assert cli("check").code == 0


def test_twice_is_once_and_a_changed_file_is_named(cli: Cli, papers: Path) -> None:
    first = outcomes(cli, str(papers))
    assert first == {"boats.md": "stored", "价格.csv": "stored", "bad.json": "corrupt"}
    before = sorted((cli.vault / "docs" / "main").iterdir())
    (papers / "copy.md").write_text(NOTES, encoding="utf-8")
    assert outcomes(cli, str(papers))["copy.md"] == "unchanged"
    (papers / "boats.md").write_text(NOTES + "\nNew.\n", encoding="utf-8")
    assert outcomes(cli, str(papers / "boats.md")) == {"boats.md": "changed"}
    assert sorted((cli.vault / "docs" / "main").iterdir()) == before


def test_the_original_is_kept_byte_for_byte(cli: Cli, papers: Path) -> None:
    cli("kb", "add", str(papers / "more" / "价格.csv"))
    (kept,) = (cli.vault / "raw" / "main").iterdir()
    assert kept.read_bytes() == (papers / "more" / "价格.csv").read_bytes()


def test_documents_are_listed_read_and_removed(cli: Cli, papers: Path) -> None:
    cli("kb", "create", "sea", "--scope", "user/lin")
    assert json.loads((cli.vault / "docs" / "sea" / "corpus.json").read_text("utf-8"))["scope"] == "user/lin"
    cli("kb", "add", str(papers / "boats.md"), "--corpus", "sea")
    assert cli("recall", "tide at Brest", "--level", "passage").code == 1
    assert cli("recall", "tide at Brest", "--level", "passage", "--scope", "user/lin").code == 0
    ((document, *_),) = cli("kb", "ls", "sea", "--json").json()
    assert cli("kb", "ls").out.split() == ["sea", "1"]
    assert "every six hours" in cli("kb", "read", document, "--corpus", "sea").out
    assert cli("kb", "rm", document, "--corpus", "sea").out == "1 removed\n"
    assert not list((cli.vault / "raw" / "sea").iterdir())
    assert cli("recall", "tide at Brest", "--level", "passage", "--scope", "user/lin").code == 1
    assert cli("kb", "rm", document, "--corpus", "sea").code == 1


def test_a_secret_is_refused_or_taken_out_with_the_original(cli: Cli, tmp_path: Path) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    paper = tmp_path / "keys.md"
    paper.write_text(f"# Keys\n\nOurs is {key}, kept well.\n", encoding="utf-8")
    refused = cli("kb", "add", str(paper))
    assert refused.code == 1
    assert "secret" in refused.err
    assert "line 3" in refused.err
    assert key not in refused.out + refused.err
    assert cli("kb", "add", str(paper), "--redact").code == 0
    everything = b"".join(file.read_bytes() for file in cli.vault.rglob("*") if file.is_file())
    assert key.encode() not in everything
    assert b"kept well" in everything


def test_undo_passes_documents_over(cli: Cli, papers: Path) -> None:
    cli("remember", "a:boat", "Ana sails.")
    cli("kb", "add", str(papers / "boats.md"))
    assert cli("undo").code == 0
    assert cli("show", "a:boat").code == 1
    assert "nothing to undo" in cli("undo").err
    assert len(list((cli.vault / "docs" / "main").glob("*.md"))) == 1
    logged = next(line for line in cli("log").out.splitlines() if "ingest" in line)
    assert "memoranda kb" in cli("undo", logged.split()[0]).err


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no signals of that kind here")
def test_a_run_that_was_killed_is_run_again(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(400):
        (folder / f"note-{number}.md").write_text(f"# Note {number}\n\nThe number is {number * 7919}.\n", "utf-8")
    first = cli.start("kb", "add", str(folder))
    kept = cli.vault / "docs" / "main"
    until = time.monotonic() + 60
    while len(list(kept.glob("*.md"))) < 40 and first.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    first.kill()
    first.communicate()
    again = cli("kb", "add", str(folder))
    assert again.code == 0
    assert len(list(kept.glob("*.md"))) == 400
    assert len(list((cli.vault / "raw" / "main").glob("*.md"))) == 400
    assert cli("check").code == 0
    assert str(123 * 7919) in cli("recall", "note 123", "--level", "passage").out
    assert cli("kb", "add", str(folder)).out == "400 unchanged\n"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("add",), 2),
        (("add", "no-such-file"), 1),
        (("add", os.devnull), 2),
        (("create", "../out"), 2),
        (("create", "small", "--size", "3"), 2),
        (("ls", "nowhere"), 1),
        (("read", "../../vault"), 2),
    ],
)
def test_what_makes_no_sense_is_said(cli: Cli, words: tuple[str, ...], code: int) -> None:
    cli("init")
    ran = cli("kb", *words)
    assert ran.code == code, ran
    assert len(ran.err.splitlines()) <= 2
    assert "Traceback" not in ran.err
