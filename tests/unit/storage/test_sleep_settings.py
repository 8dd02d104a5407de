"""``[sleep]`` and ``[kinds.NAME]``: what a person may set, and what means nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoranda.core.errors import UsageError
from memoranda.storage.settings import read_settings, usable_settings


def settings(root: Path, text: str) -> Path:
    (root / "memoranda.toml").write_text(text, encoding="utf-8")
    return root


def test_what_is_set_is_read(tmp_path: Path) -> None:
    found = read_settings(
        str(
            settings(
                tmp_path,
                '[sleep]\npromotion = "clear"\nafter = 5\nhours = ""\ncap = 900\narchive_days = 0.5\nagent = "scout"\n'
                '[kinds.runbook]\nverdict = "yes"\n',
            )
        )
    )
    assert found.sleep is not None
    assert (found.sleep.promotion, found.sleep.after, found.sleep.hours, found.sleep.cap) == ("clear", 5, "", 900)
    assert (found.sleep.archive_days, found.sleep.agent, found.sleep.most_questions) == (0.5, "scout", 100)
    assert found.kinds is not None
    assert found.kinds["runbook"].verdict == "yes"
    assert "preference" in found.kinds


@pytest.mark.parametrize(
    "text",
    [
        "sleep = 3",
        '[sleep]\npromotion = "never"',
        "[sleep]\nafter = -1",
        '[sleep]\nhours = "22-7"',
        "[sleep]\ncap = 1",
        "[sleep]\ncap = true",
        '[sleep]\nagent = "a/b"',
        "[sleep]\nmost_questions = -1",
        "[sleep]\ndream = 1",
        "kinds = 3",
        "[kinds]\nx = 3",
        '[kinds.x]\nverdict = "perhaps"',
    ],
)
def test_what_means_nothing_is_told_and_costs_that_table_alone(tmp_path: Path, text: str) -> None:
    root = str(settings(tmp_path, f"{text}\n"))
    with pytest.raises(UsageError, match=r"memoranda\.toml"):
        read_settings(root)
    found, faults = usable_settings(root)
    assert len(faults) == 1
    assert (found.sleep, found.kinds) == (None, None)
