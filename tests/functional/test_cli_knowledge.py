"""Documents taken in by ``memoranda kb``: what is kept, what is refused, and that they are found."""

from __future__ import annotations

import json
import os
import re
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


def tree(vault: Path) -> dict[str, bytes]:
    """Documents and originals as they lie there, but for when they were converted."""
    return {
        str(file.relative_to(vault)): re.sub(rb"converted_at: .*", b"", file.read_bytes())
        for kind in ("docs", "raw")
        for file in (vault / kind).rglob("*")
        if file.is_file()
    }


def outcomes(cli: Cli, *words: str) -> dict[str, str]:
    return {Path(one["path"]).name: one["outcome"] for one in cli("kb", "add", *words, "--json").json()}


def test_what_can_be_converted_is_kept_and_found_and_the_rest_says_why(cli: Cli, papers: Path) -> None:
    ran = cli("kb", "add", str(papers))
    assert ran.code == 0
    skipped, counts = ran.out.splitlines()
    assert counts == "2 stored, 1 skipped"
    assert skipped.split()[0] == "corrupt"
    assert "bad.json" in skipped
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
    assert "secret" in refused.out
    assert "line 3" in refused.out
    assert key not in refused.out + refused.err
    assert cli("kb", "add", str(paper), "--redact").code == 0
    everything = b"".join(file.read_bytes() for file in cli.vault.rglob("*") if file.is_file())
    assert key.encode() not in everything
    assert b"kept well" in everything


def test_undo_takes_back_a_run_and_then_what_was_before_it(cli: Cli, papers: Path) -> None:
    cli("remember", "a:boat", "Ana sails.")
    cli("kb", "add", str(papers))
    said = cli("undo")
    assert said.code == 0
    assert not list((cli.vault / "docs" / "main").glob("*.md"))
    assert not list((cli.vault / "raw" / "main").iterdir())
    assert cli("show", "a:boat").code == 0
    assert cli("undo").code == 0
    assert cli("show", "a:boat").code == 1
    # What was taken back can be taken back again: the journal names it.
    line = next(line for line in cli("log").out.splitlines() if "restore" in line and "kb/main" in line)
    assert cli("undo", line.split()[0]).code == 0
    assert len(list((cli.vault / "docs" / "main").glob("*.md"))) == 2
    assert cli("kb", "add", str(papers)).out.splitlines()[-1] == "2 unchanged, 1 skipped"


def test_a_changed_file_takes_the_place_of_what_was_there_and_undo_brings_that_back(cli: Cli, papers: Path) -> None:
    boats = papers / "boats.md"
    cli("kb", "add", str(boats))
    (kept,) = (cli.vault / "docs" / "main").glob("*.md")
    (raw,) = (cli.vault / "raw" / "main").iterdir()
    before = kept.read_bytes()
    boats.write_text(NOTES.replace("Brest", "Saint-Malo"), encoding="utf-8")
    assert "changed" in cli("kb", "add", str(boats)).out
    assert kept.read_bytes() == before
    assert cli("kb", "add", str(boats), "--replace").out == "1 replaced\n"
    assert b"Saint-Malo" in kept.read_bytes()
    assert raw.read_bytes() == boats.read_bytes()
    assert "Saint-Malo" in cli("kb", "search", "where does the tide turn").out
    assert cli("undo").code == 0
    assert kept.read_bytes() == before
    assert raw.read_text("utf-8") == NOTES
    assert "Saint-Malo" not in cli("kb", "search", "where does the tide turn").out
    # Removed, nothing of either version is left.
    document = kept.name.removesuffix(".md")
    assert cli("kb", "rm", document).code == 0
    left = [file for file in cli.vault.rglob("*") if file.is_file() and b"every six hours" in file.read_bytes()]
    assert left == []
    assert "for good" in cli("undo", cli("log").out.splitlines()[-1].split()[0]).err


def test_an_edit_by_hand_stands_until_it_is_told_otherwise(cli: Cli, papers: Path) -> None:
    cli("kb", "add", str(papers))
    (kept,) = (cli.vault / "docs" / "main").glob("boats*.md")
    assert cli("kb", "reconvert").out == "2 unchanged\n"
    edited = kept.read_text("utf-8").replace("six hours", "twelve hours")
    kept.write_text(edited, encoding="utf-8")
    assert "twelve hours" in cli("kb", "search", "tide at Brest").out
    document = kept.name.removesuffix(".md")
    assert f"edited by hand: {document}" in cli("kb", "status").out
    assert "edited" in cli("kb", "reconvert").out
    assert kept.read_text("utf-8") == edited
    assert cli("kb", "reconvert", document, "--force").out == "1 converted\n"
    assert "six hours" in kept.read_text("utf-8")
    assert cli("undo").code == 0
    assert kept.read_text("utf-8") == edited


def test_forget_knows_documents_and_those_of_a_person(cli: Cli, papers: Path) -> None:
    cli("kb", "create", "mine", "--scope", "user/lin")
    cli("kb", "add", str(papers / "boats.md"), "--corpus", "mine")
    cli("kb", "add", str(papers / "more"))
    assert cli("kb", "search", "花生").code == 0
    assert cli("kb", "search", "tide", "--scope", "user/lin").code == 0
    ((document, *_),) = cli("kb", "ls", "main", "--json").json()
    assert f"would forget kb/main/{document}" in cli("forget", f"kb/main/{document}", "--preview").out
    assert cli("forget", f"kb/main/{document}").code == 0
    assert cli("forget", f"kb/main/{document}").code == 1
    assert cli("forget", "kb/main").code == 2
    assert cli("kb", "search", "花生").code == 1
    assert "kb/mine/boats" in cli("forget", "--user", "lin").out
    for left in cli.vault.rglob("*"):
        assert not left.is_file() or b"every six hours" not in left.read_bytes(), left
        assert not left.is_file() or "花生".encode() not in left.read_bytes(), left


def test_undo_leaves_what_was_edited_since(cli: Cli, papers: Path) -> None:
    cli("kb", "add", str(papers / "boats.md"))
    (kept,) = (cli.vault / "docs" / "main").glob("*.md")
    kept.write_text(kept.read_text("utf-8") + "\nMine.\n", encoding="utf-8")
    ran = cli("undo")
    assert ran.code != 0
    assert "has changed since" in ran.err
    assert kept.exists()


def test_status_says_later_what_was_skipped_and_why(cli: Cli, papers: Path) -> None:
    cli("kb", "add", str(papers))
    (one,) = cli("kb", "status", "--json").json()
    assert one["documents"] == 2
    assert [(Path(row["path"]).name, row["outcome"]) for row in one["skipped"]] == [("bad.json", "corrupt")]
    assert "bad.json" in cli("kb", "status", "main").out
    (papers / "bad.json").write_text('{"now": "fine"}', encoding="utf-8")
    cli("kb", "add", str(papers))
    (one,) = cli("kb", "status", "--json").json()
    assert one["skipped"] == []
    assert not (cli.vault / "docs" / "main" / "skipped.jsonl").exists()


def test_search_names_its_place_shows_what_stands_around_and_keeps_to_a_corpus(cli: Cli, tmp_path: Path) -> None:
    paper = tmp_path / "long.md"
    paper.write_text(
        "# Long\n\n" + "".join(f"## Part {n}\n\n{f'word{n} ' * 60}\n\n" for n in range(9)), encoding="utf-8"
    )
    cli("kb", "add", str(paper), "--corpus", "a")
    cli("kb", "create", "empty")
    found = cli("kb", "search", "word4", "--neighbours", "1", "--json").json()
    hit = found["hits"][0]
    assert "Long › Part 4" in hit["citation"]
    assert [one["step"] for one in hit["around"]] == [-1, 1]
    assert "word3" in hit["around"][0]["text"]
    assert cli("kb", "search", "word4", "--corpus", "a").code == 0
    assert cli("kb", "search", "word4", "--corpus", "empty").code == 1
    assert cli("kb", "search", "word4", "--corpus", "none").code == 1
    more = cli("kb", "search", "word", "--mode", "grep", "-k", "2", "--json").json()
    assert more["truncated"]
    assert len(more["hits"]) == 2
    said = cli("kb", "search", "word4", "--mode", "vector")
    assert said.code == 0
    assert "vectors: not configured; keyword answered" in said.err


def test_memory_and_documents_answer_one_call(cli: Cli, papers: Path) -> None:
    cli("remember", "sea:tide", "The tide at Brest frightens Ana.")
    cli("kb", "add", str(papers))
    hits = cli("recall", "tide at Brest", "--level", "item", "--level", "passage", "--json").json()["hits"]
    assert {hit["level"] for hit in hits} == {"item", "passage"}
    # Documents have no history: what is there now is there at any time.
    assert cli("recall", "tide", "--level", "passage", "--as-of", "2099-01-01").code == 0


def test_a_corpus_can_be_set_and_its_settings_hold(cli: Cli, papers: Path) -> None:
    cli("init")
    assert cli("kb", "configure", "main", "--size", "80").code == 1
    assert cli("kb", "create", "main", "--size", "900").code == 0
    assert cli("kb", "create", "main", "--size", "900").code == 3
    assert cli("kb", "configure", "main").code == 2
    assert cli("kb", "configure", "main", "--size", "80", "--max-size", "1").code == 0
    assert cli("kb", "configure", "main", "--converter", "html=nothing").code == 2
    assert cli("kb", "configure", "main", "--overlap", "79").code == 2
    assert cli("kb", "configure", "main", "--embedding", "provider=nobody").code == 2
    assert cli("kb", "configure", "main", "--embedding", "ollama").code == 2
    assert cli("kb", "configure", "main", "--embedding", "provider=openai", "--embedding", "key=sk-1").code == 2
    assert cli("kb", "configure", "main", "--embedding", "none").code == 0
    assert "embedded by none" in cli("kb", "status").out
    assert cli("kb", "configure", "main", "--embedding", "default").code == 0
    big = papers / "big.txt"
    big.write_text("word " * 300_000, encoding="utf-8")
    assert outcomes(cli, str(big)) == {"big.txt": "too_large"}
    settings = json.loads((cli.vault / "docs" / "main" / "corpus.json").read_text("utf-8"))
    assert settings == {"scope": "shared", "size": 80, "max_size": 1 << 20}


def test_what_ignore_files_name_links_and_closed_folders_are_left_out_and_the_rest_is_taken(
    cli: Cli, tmp_path: Path
) -> None:
    folder = tmp_path / "notes"
    (folder / "drafts").mkdir(parents=True)
    (folder / "sub").mkdir()
    for name in ("a.md", "b.log", "keep.log", "drafts/c.md", "sub/d.md", "sub/e.tmp"):
        (folder / name).write_text(f"Text of {name}.\n", encoding="utf-8")
    (folder / ".gitignore").write_text("*.log\n!keep.log\n/drafts/\n", encoding="utf-8")
    (folder / "sub" / ".memorandaignore").write_text("*.tmp\n", encoding="utf-8")
    (folder / "loop").symlink_to(folder)
    closed = folder / "closed"
    closed.mkdir()
    closed.chmod(0)
    try:
        found = outcomes(cli, str(folder))
    finally:
        closed.chmod(0o755)
    if os.geteuid() == 0:
        found.pop("closed", None)  # root looks into everything
    else:
        assert found.pop("closed") == "unreadable"
    assert found == {"a.md": "stored", "keep.log": "stored", "d.md": "stored"}


def test_the_vault_itself_is_not_taken_in(cli: Cli, papers: Path) -> None:
    cli("kb", "add", str(papers))
    assert not any(str(cli.vault) in one["path"] for one in cli("kb", "add", str(cli.vault.parent), "--json").json())


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8080/x", "https://localhost/", "http://[::1]/", "http://169.254.169.254/"]
)
def test_addresses_inside_are_refused(cli: Cli, url: str) -> None:
    ran = cli("kb", "add", url)
    assert ran.code == 1
    assert ran.out.startswith("unsafe")
    assert "Traceback" not in ran.err


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
    whole = Cli(cli.home, cli.vault.parent / "whole", cli.env)
    assert whole("kb", "add", str(folder)).code == 0
    assert tree(whole.vault) == tree(cli.vault)
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
