from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from fakes.clock import FakeClock
from memoranda.bootstrap import Vault
from memoranda.core.model import Problem, Turn
from observing import journal, places_of, tree_bytes


def turn(number: int, text: str = "", **more: object) -> dict[str, object]:
    return {"conversation": "talk", "turn": number, "text": text or f"turn {number}", **more}


def test_turns_are_kept_once(vault: Vault, root: Path) -> None:
    first = vault.import_turns([turn(1, speaker="lin", role="user", ts="2026-07-01T10:00:00Z", mood="glad"), turn(2)])
    assert (first.added, first.unchanged, first.conflicts, first.skipped, first.total) == (2, 0, 0, 0, 2)
    before = tree_bytes(root)
    again = vault.import_turns([turn(1, speaker="lin"), turn(2), turn(2)])
    assert (again.added, again.unchanged) == (0, 3)
    assert tree_bytes(root) == before
    kept = vault.turn("turn/talk#1")
    assert kept == Turn("talk", "1", "turn 1", "2026-07-01T10:00:00Z", "lin", "user", {"mood": "glad"})
    (talk,) = vault.conversations()
    assert (talk.conversation, talk.turns, talk.first_ts) == ("talk", 2, "2026-07-01T10:00:00Z")
    assert vault.turn("turn/talk#9") is None
    assert vault.turn("turn/other#1") is None
    assert vault.turns("other") == []
    assert [line["action"] for line in journal(root)] == ["import"]


def test_other_text_of_a_known_turn_is_a_conflict(vault: Vault) -> None:
    vault.import_turns([turn(1)])
    done = vault.import_turns([turn(1, "something else"), turn(2)])
    assert (done.added, done.conflicts, done.skipped) == (1, 1, 0)
    assert "turn/talk#1 is kept with other text" in done.problems[0].message
    assert [t.text for t in vault.turns("talk")] == ["turn 1", "turn 2"]


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"conversation": "talk"},
        {"conversation": "talk", "turn": 1},
        {"conversation": "talk", "turn": 1, "text": 5},
        {"conversation": "", "turn": 1, "text": "x"},
        {"conversation": " ", "turn": 1, "text": "x"},
        {"conversation": "a/b", "turn": 1, "text": "x"},
        {"conversation": "a\nb", "turn": 1, "text": "x"},
        {"conversation": "talk", "turn": "1#2", "text": "x"},
        {"conversation": "talk", "turn": True, "text": "x"},
        {"conversation": "talk", "turn": 1, "text": "x", "ts": "yesterday"},
        {"conversation": "talk", "turn": 1, "text": "x", "when": datetime(2026, 1, 1)},
        {"conversation": "sk-proj-" + "Ab1" * 16, "turn": 1, "text": "x"},
    ],
)
def test_what_is_no_turn_is_named_by_its_place(vault: Vault, root: Path, record: dict[str, object]) -> None:
    done = vault.import_turns([turn(1), record, turn(2)])
    assert (done.added, done.skipped) == (2, 1)
    assert [p.line for p in done.problems] == [2]
    assert places_of(root, "sk-proj-") == []


def test_problems_of_a_reader_are_passed_on(vault: Vault) -> None:
    fault = Problem("file.jsonl", 7, "json", "no JSON")
    done = vault.import_turns([fault, Turn("talk", "1", "hello")])
    assert (done.added, done.skipped, done.problems) == (1, 1, (fault,))


def test_secrets_are_in_no_file(vault: Vault, root: Path) -> None:
    """Case D24: a key in a transcript is found nowhere under the vault."""
    secrets = ["sk-canary0001abcdefABCDEF0123456789abcd", "hunter2Xyz9", "ghp_" + "a1B2" * 9]
    done = vault.import_turns(
        [
            turn(1, f"export OPENAI_API_KEY={secrets[0]}"),
            turn(2, f"我的密码是{secrets[1]}", speaker=f"token {secrets[2]}"),
            turn(3, "fine", meta={"deep": [f"key {secrets[2]}"], "password": secrets[1]}),
        ]
    )
    assert done.added == 3
    assert sum(r.count for r in done.redactions) >= 5
    assert places_of(root, *secrets) == []
    again = vault.import_turns([turn(1, f"export OPENAI_API_KEY={secrets[0]}")])
    assert (again.unchanged, again.conflicts) == (1, 0)


ODD_IDS = ["CON", "..x", "a:b", "x" * 300, "海边的对话", "dot.", "a|b?*", ".hidden", "É", "%41"]


@pytest.mark.parametrize("conversation", ODD_IDS)
def test_odd_ids(vault: Vault, root: Path, conversation: str) -> None:
    vault.import_turns([{"conversation": conversation, "turn": "t 1", "text": "hello"}])
    vault.import_turns([{"conversation": conversation, "turn": "t 2", "text": "again"}])
    assert [t.turn for t in vault.turns(conversation)] == ["t 1", "t 2"]
    assert len(tree_bytes(root, "resources")) == 1
    hit = vault.retrieve("again", levels=["resource"]).hits[0]
    assert vault.turn(hit.address) == vault.turns(conversation)[1]


def test_month_is_the_users(root: Path) -> None:
    """Case D20, for turns: half past midnight on the first in Shanghai is still yesterday in UTC."""
    clock = FakeClock(datetime(2026, 4, 30, 16, 30, tzinfo=UTC), ZoneInfo("Asia/Shanghai"))
    with Vault.open(root, clock=clock) as vault:
        vault.import_turns([{"conversation": "a", "turn": 1, "text": "undated"}])
        vault.import_turns([{"conversation": "b", "turn": 1, "text": "dated", "ts": "2026-03-31T16:30:00Z"}])
    assert sorted(tree_bytes(root, "resources")) == ["resources/2026-04/b.jsonl", "resources/2026-05/a.jsonl"]


def test_progress_is_told(vault: Vault) -> None:
    seen: list[tuple[int, int | None]] = []
    vault.import_turns((turn(n) for n in range(1200)), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(500, None), (1000, None), (1200, 1200)]


def test_text_of_any_kind(vault: Vault) -> None:
    texts = ["", "\u2028\u2029\u0085", "a\r\nb\rc", "nul\x00", "half \ud83d", "x" * 200_000, "🐘"]
    vault.import_turns([{"conversation": "t", "turn": n, "text": text} for n, text in enumerate(texts)])
    expected = [text.replace("\r\n", "\n").replace("\r", "\n") for text in texts]
    assert [t.text for t in vault.turns("t")] == expected
    with Vault.open(vault.root) as again:
        assert [t.text for t in again.turns("t")] == expected


def test_a_dry_run_counts_and_writes_nothing(vault: Vault, root: Path) -> None:
    vault.import_turns([turn(1)])
    before = tree_bytes(root, ".")
    turns = [turn(1), turn(2), turn(2), turn(1, "other"), {}, turn(3, conversation="new")]
    tried = vault.import_turns(turns, dry_run=True)
    assert (tried.added, tried.unchanged, tried.conflicts, tried.skipped) == (2, 2, 1, 1)
    assert tree_bytes(root, ".") == before
    assert vault.import_turns(turns) == tried
