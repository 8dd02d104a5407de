"""import, export."""

from __future__ import annotations

import json
from pathlib import Path

from functional.driving import TURNS, Cli, write_turns


def test_import_turns(cli: Cli, tmp_path: Path) -> None:
    source = write_turns(tmp_path / "turns.jsonl", TURNS)
    before = source.read_bytes()
    ran = cli("import", "turns", str(source))
    assert (ran.code, ran.out) == (0, "3 added\n")
    assert ran.err == f"new vault: {cli.vault}\n"
    again = cli("import", "turns", str(source), "--json")
    assert again.code == 0
    counts = again.json()
    assert (counts["added"], counts["unchanged"], counts["total"]) == (0, 3, 3)
    assert source.read_bytes() == before
    assert "海边很好" in cli("show", "turn/conv_1#2").out


def test_faulty_records_are_named_and_the_rest_goes_on(cli: Cli, tmp_path: Path) -> None:
    source = tmp_path / "turns.jsonl"
    good = json.dumps(TURNS[0]).encode()
    source.write_bytes(b"not json\n" + good + b'\n{"conversation": "c"}\n')
    ran = cli("import", "turns", str(source))
    assert ran.code == 0
    assert ran.out.startswith("1 added")
    assert f"{source.name}:1: " in ran.err
    assert f"{source.name}:3: " in ran.err


def test_an_import_that_failed_wholly_is_no_success(cli: Cli, tmp_path: Path) -> None:
    source = tmp_path / "turns.jsonl"
    source.write_bytes(b"not json\n[]\n")
    ran = cli("import", "turns", str(source))
    assert ran.code not in (0, 141)
    assert f"{source.name}:1: " in ran.err
    assert f"{source.name}:2: " in ran.err
    assert cli("export").out == ""
    missing = cli("import", "turns", str(tmp_path / "none.jsonl"))
    assert missing.code == 1
    assert "none.jsonl" in missing.err


def test_a_slip_makes_no_vault(cli: Cli, tmp_path: Path) -> None:
    assert cli("import", "turns", str(tmp_path / "none.jsonl")).code == 1
    assert cli("import", "tunrs", str(tmp_path)).code == 2
    assert cli("remember", "a:[[b", "text").code == 2
    assert not cli.vault.exists()


def test_turns_from_stdin(cli: Cli) -> None:
    line = json.dumps(TURNS[0], ensure_ascii=False)
    assert cli("import", "turns", "-", stdin=line + "\nbroken\n").out.startswith("1 added")
    assert cli("show", "turn/conv_1#1").code == 0


def test_an_empty_import_is_done_at_once(cli: Cli, tmp_path: Path) -> None:
    source = tmp_path / "turns.jsonl"
    source.write_bytes(b"")
    ran = cli("import", "turns", str(source))
    assert (ran.code, ran.out) == (0, "nothing to import\n")


def test_import_wikimem(cli: Cli, tmp_path: Path) -> None:
    wiki = tmp_path / "old" / "wiki"
    wiki.mkdir(parents=True)
    (wiki / "preferences.md").write_text(
        "# preferences\n\n## tea\n\nDrinks green tea.\n\n<!-- wikimem: owner=user -->\n", encoding="utf-8"
    )
    ran = cli("import", "wikimem", str(tmp_path / "old"))
    assert ran.code == 0, ran.err
    assert cli("show", "preferences:tea", "--text").out == "Drinks green tea.\n"


def test_export(stocked: Cli) -> None:
    lines = stocked("export").out.splitlines()
    records = [json.loads(line) for line in lines]
    assert records == stocked("export", "--json").json()
    assert len(records) == 7 + 3
    assert any(record.get("address") == "preferences:likes-the-sea" for record in records)
    assert any("海边很好" in record["text"] for record in records)


def _hashes(root: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted(root.rglob("*"))
    }


def test_a_dry_run_writes_nothing(cli: Cli, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "sea.md").write_text("Likes the sea.\n", encoding="utf-8")
    (notes / "bad.md").write_bytes(b"\xff")
    chats = write_turns(tmp_path / "turns.jsonl", TURNS)
    # Where there is no vault, none is made.
    ran = cli("import", "obsidian", str(notes), "--dry-run")
    assert (ran.code, ran.out) == (0, "1 to add, 1 skipped (dry run: nothing was written)\n")
    assert "bad.md:1: not UTF-8" in ran.err
    assert not cli.vault.exists()
    cli.vault.mkdir()
    assert cli("import", "obsidian", str(notes), "--dry-run").out.startswith("1 to add, 1 skipped")
    assert list(cli.vault.iterdir()) == []
    (cli.vault / "vault.json").write_text("{}", encoding="utf-8")
    assert cli("import", "obsidian", str(notes), "--dry-run").code == 4
    (cli.vault / "vault.json").unlink()
    assert cli("import", "turns", str(chats)).code == 0
    # An overview that is out of date stays so.
    (cli.vault / "memory").mkdir(exist_ok=True)
    (cli.vault / "memory" / "hand.md").write_text("## by hand\n\nx\n", encoding="utf-8")
    before = _hashes(cli.vault)
    assert cli("import", "obsidian", str(notes), "--dry-run").out.startswith("1 to add, 1 skipped")
    told = cli("import", "turns", str(chats), "--dry-run", "--json").json()
    assert (told["added"], told["unchanged"], told["dry_run"]) == (0, 3, True)
    assert _hashes(cli.vault) == before
    assert cli("import", "obsidian", str(notes)).out == "1 added, 1 skipped\n"


def test_a_dry_run_names_the_first_problems(cli: Cli, tmp_path: Path) -> None:
    source = tmp_path / "turns.jsonl"
    source.write_text("broken\n" * 25, encoding="utf-8")
    ran = cli("import", "turns", str(source), "--dry-run")
    assert ran.code == 1
    assert ran.err.count("not JSON") == 20
    assert ran.err.endswith("and 5 more\n")


def test_import_lists_every_format(cli: Cli) -> None:
    from memoranda.adapters.registry import IMPORT_FORMATS

    told = cli("import", "--help").out
    assert all(f"\n  {name} " in told for name in IMPORT_FORMATS)


def test_a_store_that_is_refused_is_one_line(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "history.db").write_bytes(b"SQLite format 3\0")
    ran = cli("import", "mem0", str(tmp_path / "store"))
    assert (ran.code, ran.out) == (2, "")
    assert "export it with mem0" in ran.err
