"""Cases of what people take in: tables without end, odd bytes, pictures of text, runs in which nothing works."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import pytest

from embedding_endpoint import EmbeddingEndpoint
from functional.driving import Cli
from memoranda.bootstrap import Vault
from memoranda.core.sentences import columns
from observing import write


def picture_pdf() -> bytes:
    """A page that is a picture and holds no text."""
    pixels = zlib.compress(b"\x80" * 100 * 100)
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</XObject<</I 5 0 R>>>>>>",
        b"<</Length 31>>stream\nq 200 0 0 200 0 0 cm /I Do Q   \nendstream",
        b"<</Type/XObject/Subtype/Image/Width 100/Height 100/ColorSpace/DeviceGray/BitsPerComponent 8"
        b"/Filter/FlateDecode/Length %d>>stream\n%s\nendstream" % (len(pixels), pixels),
    ]
    made, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj%s endobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return made + b"xref\n0 6\n0000000000 65535 f \n%strailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        table,
        len(made),
    )


def test_a_table_with_one_endless_cell_becomes_passages_of_bounded_size(cli: Cli, tmp_path: Path) -> None:
    """Case D11."""
    paper = write(tmp_path, "in/t.md", "# T\n\n| a | b |\n| --- | --- |\n| 1 | " + "x" * 21_000 + " |\n")
    assert cli("kb", "add", str(paper)).code == 0
    with Vault.open(cli.vault) as vault:
        vault.warm(("passage",))
        passages = vault.retrieve("x" * 400, mode="grep", levels=("passage",), k=1000, deadline=30).hits
        assert sum(hit.text.count("x") for hit in passages) >= 21_000 - 1000
        assert max(columns(hit.text) for hit in passages) <= 1000


def test_bytes_of_all_kinds_are_read_or_named_and_never_rewritten(cli: Cli, tmp_path: Path) -> None:
    """Case D14, and D39: the folder is byte-identical afterwards."""
    files = {
        "gb.txt": "海边的小屋需要在春天重新粉刷一遍，油漆已经买好了。".encode("gb18030"),
        "bom.md": "\ufeff---\ntitle: 笔记\n---\n\n# 海\n\n喜欢海边散步\n".encode(),
        "crlf.md": b"---\r\ntitle: Lines\r\n---\r\n\r\nEnds of lines from elsewhere.\r\n\r\n---",
        "wide.txt": "Sixteen bits a letter, says the lighthouse.".encode("utf-16"),
        "noise.md": bytes(range(256)) * 40,
    }
    for name, data in files.items():
        write(tmp_path, f"in/{name}", data)
    stamps = {name: os.stat(tmp_path / "in" / name).st_mtime_ns for name in files}
    rows = {Path(one["path"]).name: one for one in cli("kb", "add", str(tmp_path / "in"), "--json").json()}
    assert {name: one["outcome"] for name, one in rows.items() if one["outcome"] == "stored"}.keys() == {
        "gb.txt", "bom.md", "crlf.md", "wide.txt",
    }  # fmt: skip
    assert rows["noise.md"]["reason"]
    for question, part in (
        ("粉刷", "海边的小屋"),
        ("海边散步", "喜欢"),
        ("elsewhere", "Ends"),
        ("lighthouse", "Sixteen"),
    ):
        assert part in cli("kb", "search", question).out
    for name, data in files.items():
        assert (tmp_path / "in" / name).read_bytes() == data
        assert os.stat(tmp_path / "in" / name).st_mtime_ns == stamps[name]
    # The same bytes put into the vault by hand are read where they are text, and stay as they are.
    for name in ("bom.md", "crlf.md", "noise.md"):
        write(cli.vault, f"docs/mine/{name}", files[name])
    assert cli("kb", "search", "海边散步", "--corpus", "mine").code == 0
    assert "docs/mine/noise.md" in cli("check").out
    assert all(
        (cli.vault / "docs/mine" / name).read_bytes() == files[name] for name in ("bom.md", "crlf.md", "noise.md")
    )


def test_a_picture_of_text_is_flagged_and_never_stored_empty(cli: Cli, tmp_path: Path) -> None:
    """Case D21."""
    pytest.importorskip("pypdfium2", reason="the extra kb is not installed")
    paper = write(tmp_path, "in/scan.pdf", picture_pdf())
    ran = cli("kb", "add", str(paper))
    assert ran.code == 1
    assert ran.out.startswith("no_text")
    assert not list((cli.vault / "docs").rglob("*.md"))
    assert not (cli.vault / "raw").exists()


def test_where_everything_fails_each_is_named_and_the_next_run_is_free(cli: Cli, tmp_path: Path) -> None:
    """Case D33."""
    for number in range(3):
        write(tmp_path, f"in/{number}.json", "{")
    ran = cli("kb", "add", str(tmp_path / "in"))
    assert ran.code == 1
    assert [line.split()[0] for line in ran.out.splitlines()[:3]] == ["corrupt"] * 3
    assert all(f"{number}.json" in ran.out for number in range(3))
    for number in range(3):
        write(tmp_path, f"in/{number}.json", f'{{"number": {number}}}')
    assert cli("kb", "add", str(tmp_path / "in")).out == "3 stored\n"


def test_after_an_edit_by_hand_only_the_touched_passages_are_embedded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The edit is found at once; the endpoint counts what it was asked."""
    pytest.importorskip("openai", reason="the extra openai is not installed")
    with EmbeddingEndpoint() as endpoint:
        write(
            tmp_path,
            "memoranda.toml",
            f'[embedding]\nprovider = "openai"\nmodel = "m"\nbase_url = "{endpoint.url}"\nkey = "env:TEST_KEY"\n',
        )
        monkeypatch.setenv("TEST_KEY", "made-up-key-0123456789abcdef")
        parts = [f"## Part {n}\n\n{f'word{n} river ' * 50}\n" for n in range(12)]
        paper = write(tmp_path, "docs/main/long.md", "# Long\n\n" + "\n".join(parts))
        with Vault.open(tmp_path) as vault:
            assert vault.embed().embedded >= 12
            before = sum(len(request.texts) for request in endpoint.requests)
            parts[5] = parts[5].replace("river", "glacier")
            paper.write_text("# Long\n\n" + "\n".join(parts), encoding="utf-8")
            assert vault.embed().embedded == 1
            assert sum(len(request.texts) for request in endpoint.requests) - before == 1
            assert "glacier" in vault.retrieve("glacier", levels=("passage",)).hits[0].text
