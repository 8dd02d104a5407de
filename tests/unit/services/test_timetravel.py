from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from fakes.clock import FakeClock
from memoranda.bootstrap import Vault
from memoranda.core.errors import UsageError
from observing import write


def text_at(vault: Vault, address: str, moment: str) -> str | None:
    item = vault.get(address, as_of=moment)
    return None if item is None else item.text


def known_at(vault: Vault, query: str, moment: str) -> dict[str, str]:
    return {hit.address: hit.text for hit in vault.retrieve(query, as_of=moment).hits}


def test_by_the_date_of_what_was_learned(vault: Vault) -> None:
    vault.remember("c:a", "known since June", ts="2026-06-15")
    assert text_at(vault, "c:a", "2026-06-14") is None
    # A bare date is the end of that day in Shanghai, where 15 June begins at 16:00 UTC.
    assert text_at(vault, "c:a", "2026-06-15") == "known since June"
    assert text_at(vault, "c:a", "2026-06-14T15:59:59Z") is None
    assert text_at(vault, "c:a", "2026-06-14T16:00:00Z") == "known since June"
    assert text_at(vault, "c:a", "2026-06-15T00:00") == "known since June"
    assert known_at(vault, "known June", "2026-06-14") == {}
    assert list(known_at(vault, "known June", "2026-06-15")) == ["c:a"]


def test_by_when_it_held(vault: Vault) -> None:
    vault.remember("job:a", "works at a mill", ts="2026-07-01", valid_from="2020-01-01", valid_to="2023-12-31")
    assert text_at(vault, "job:a", "2019-12-31") is None
    assert text_at(vault, "job:a", "2020-01-01") is not None
    assert text_at(vault, "job:a", "2023-12-31") is not None
    assert text_at(vault, "job:a", "2024-01-01T00:00") is None
    assert text_at(vault, "job:a", "2020-01-01T00:00") is not None
    assert text_at(vault, "job:a", "2026-07-05") is None
    assert known_at(vault, "mill", "2021-05-05") == {"job:a": "works at a mill"}
    assert known_at(vault, "mill", "2026-07-05") == {}


def test_dates_by_hand_are_days_of_the_users_zone(vault: Vault, root: Path) -> None:
    comment = "<!-- memoranda: ts=2026-06-15 | valid_to=2026-06-20 | valid_from=nonsense -->"
    write(root, "memory/c.md", f"## a\n\nby hand\n\n{comment}\n")
    assert text_at(vault, "c:a", "2026-06-14T15:00:00Z") is None
    assert text_at(vault, "c:a", "2026-06-14T17:00:00Z") == "by hand"
    assert text_at(vault, "c:a", "2026-06-20T15:00:00Z") == "by hand"
    assert text_at(vault, "c:a", "2026-06-20T17:00:00Z") is None


def test_older_text_comes_from_the_history(vault: Vault, clock: FakeClock) -> None:
    for month, text in (("one", "green tea"), ("two", "black tea"), ("three", "white tea")):
        vault.remember("c:drink", f"{text} in month {month}", on_exists="revise")
        clock.advance(days=30)
    assert text_at(vault, "c:drink", "2026-07-10") == "green tea in month one"
    assert text_at(vault, "c:drink", "2026-08-10") == "black tea in month two"
    assert text_at(vault, "c:drink", "2026-09-30") == "white tea in month three"
    assert text_at(vault, "c:drink", "2026-07-09") is None
    assert known_at(vault, "tea", "2026-08-10") == {"c:drink": "black tea in month two"}
    assert vault.retrieve("white tea", as_of="2026-07-20").hits[0].text == "green tea in month one"


def test_what_was_renamed_or_removed_since(vault: Vault, root: Path, clock: FakeClock) -> None:
    vault.remember("c:old-name", "a text that moves")
    vault.remember("c:gone", "a text that goes")
    clock.advance(days=1)
    vault.rename("c:old-name", "new-name")
    path = root / "memory/c.md"
    text = path.read_text()
    write(root, "memory/c.md", text[: text.index("## gone")])
    vault.items()
    assert text_at(vault, "c:old-name", "2026-07-10") == "a text that moves"
    assert text_at(vault, "c:new-name", "2026-07-10") is None
    assert text_at(vault, "c:new-name", "2026-07-11") == "a text that moves"
    assert text_at(vault, "c:old-name", "2026-07-11") is None
    assert known_at(vault, "text", "2026-07-10") == {"c:old-name": "a text that moves", "c:gone": "a text that goes"}
    assert known_at(vault, "text", "2026-07-11") == {"c:new-name": "a text that moves"}


def test_superseded_item_was_valid_before(vault: Vault, clock: FakeClock) -> None:
    vault.remember("home:old", "lives in Chengdu")
    clock.advance(days=10)
    vault.remember("home:new", "lives in Shanghai", supersedes="home:old")
    then = vault.retrieve("lives in", as_of="2026-07-15")
    assert [(h.address, h.effects) for h in then.hits] == [("home:old", ())]
    now = vault.retrieve("lives in", as_of="2026-07-20")
    assert [h.address for h in now.hits] == ["home:new", "home:old"]
    assert now.hits[1].effects == ("superseded by home:new",)
    assert then.as_of is not None


def test_order_on_disk_decides_when_the_clock_goes_back(vault: Vault, clock: FakeClock) -> None:
    vault.remember("c:a", "first", ts="2026-01-01")
    clock.set(datetime(2026, 5, 1, tzinfo=UTC))
    vault.revise("c:a", "second")
    clock.set(datetime(2026, 8, 1, tzinfo=UTC))
    vault.revise("c:a", "third")
    assert text_at(vault, "c:a", "2026-06-01") == "second"
    assert text_at(vault, "c:a", "2026-09-01") == "third"
    assert vault.undo().notes == ("restored c:a",)
    assert text_at(vault, "c:a", "2026-09-01") == "second"


def test_undated_items(vault: Vault, root: Path, clock: FakeClock) -> None:
    """What was found may be of any age; what was written into a known file came when it came."""
    write(root, "memory/old.md", "## a\n\nfound with the vault\n")
    vault.items()
    assert text_at(vault, "old:a", "2001-01-01") == "found with the vault"
    clock.advance(days=5)
    write(root, "memory/old.md", "## a\n\nfound with the vault\n\n## b\n\nwritten later\n")
    vault.items()
    assert text_at(vault, "old:b", "2026-07-12") is None
    assert text_at(vault, "old:b", "2026-07-15") == "written later"


def test_history_may_be_pruned(vault: Vault, root: Path, clock: FakeClock) -> None:
    vault.remember("c:a", "first")
    clock.advance(days=5)
    vault.revise("c:a", "second")
    for path in (root / "history").iterdir():
        path.unlink()
    assert text_at(vault, "c:a", "2026-07-10") == "second"
    assert text_at(vault, "c:a", "2026-07-09") is None


def test_no_time(vault: Vault) -> None:
    for question in (lambda: vault.get("c:a", as_of="then"), lambda: vault.retrieve("x", as_of="2026-13-01")):
        with pytest.raises(UsageError, match="a time is a date or moment"):
            question()


def test_turns_by_when_they_were_said(vault: Vault) -> None:
    vault.import_turns(
        [
            {"conversation": "t", "turn": 1, "ts": "2026-01-01T10:00:00+08:00", "text": "early tea"},
            {"conversation": "t", "turn": 2, "ts": "2026-03-01T10:00:00+08:00", "text": "late tea"},
        ]
    )
    found = vault.retrieve("tea", levels=["resource"], as_of="2026-02-01").hits
    assert [hit.text for hit in found] == ["early tea"]


def test_history_that_cannot_be_read(vault: Vault, root: Path) -> None:
    vault.remember("c:a", "early tea", ts="2026-01-01")
    vault.remember("c:b", "late tea", ts="2026-06-01")
    (root / "history").rename(root / "elsewhere")
    (root / "history").write_text("a file")
    found = vault.retrieve("tea", as_of="2026-03-01")
    assert [h.address for h in found.hits] == ["c:a"]
    assert any(note.startswith("history") for note in found.unavailable)
