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
