"""What holds for every sequence of changes."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from changing import CHANGES, HAND, TWINS, answers, change, seeded, take_step
from fakes.clock import FakeClock
from memoranda.bootstrap import Vault
from memoranda.core.errors import MemorandaError
from memoranda.core.items import parse
from observing import journal, memory_bytes

LAWS = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@LAWS
@given(st.lists(CHANGES, min_size=1, max_size=6))
def test_undo_takes_every_change_back_to_the_byte(changes: list[tuple[str, ...]]) -> None:
    with seeded() as (vault, root):
        vault.items()
        states: list[dict[str, bytes]] = []
        for what in changes:
            before = memory_bytes(root)
            lines = len(journal(root))
            try:
                change(vault, what)
            except MemorandaError:
                # What is refused changes nothing.
                assert memory_bytes(root) == before
                assert len(journal(root)) == lines
                continue
            if len(journal(root)) > lines:
                states.append(before)
            else:
                assert memory_bytes(root) == before
        for before in reversed(states):
            vault.undo()
            assert memory_bytes(root) == before


@LAWS
@given(CHANGES)
def test_an_edit_touches_nothing_but_its_slice(what: tuple[str, ...]) -> None:
    """Every line of a person's file is still there, in its order, but for those of the item that changed."""
    if what[0] in ("rename", "revise", "supersede") or "revise" in what or "append" in what or "batch" in what:
        return
    with seeded() as (vault, root):
        before = memory_bytes(root)
        with suppress(MemorandaError):
            change(vault, what)
        after = memory_bytes(root)
        for path, data in before.items():
            # Adding only adds: a prefix stays, or (a list's last line) the whole but for its last line end.
            assert after[path].startswith(data.rstrip(b"\n")), path


@LAWS
@given(st.lists(st.one_of(CHANGES, HAND), min_size=1, max_size=8))
def test_what_is_kept_up_to_date_equals_what_is_read_anew(steps: list[tuple[str, ...]]) -> None:
    with seeded(**TWINS) as (vault, root):
        vault.warm()
        for step in steps:
            take_step(vault, root, step)
            vault.retrieve("one", levels=["item", "resource"], deadline=60)
        kept = answers(vault)
        assert answers(Vault.open(root, clock=FakeClock())) == kept
        lines = len(journal(root))
        shutil.rmtree(root / ".cache", ignore_errors=True)
        assert answers(Vault.open(root, clock=FakeClock())) == kept
        assert answers(vault) == kept
        # Nobody changed anything since: the journal has not grown.
        assert len(journal(root)) == lines


@LAWS
@given(st.lists(st.one_of(CHANGES, HAND), min_size=1, max_size=8))
def test_journal_accounts_for_everything(steps: list[tuple[str, ...]]) -> None:
    """The items that the journal's lines add up to are those that are there."""
    with seeded() as (vault, root):
        for step in steps:
            take_step(vault, root, step)
            vault.items()
        held: Held = {}
        history = [line for path in sorted((root / "history").iterdir()) for line in _lines(path)]
        for record in history:
            for item in record["items"]:
                for side, do in (("before", _take), ("after", _put)):
                    if item[side] is not None:
                        do(held, item["path"], item[side])
        present = {
            (path, section.address_name.removeprefix("^")): section.text
            for path, data in memory_bytes(root).items()
            for section in parse(data.decode()).sections
        }
        assert held == present
        ids = {record["id"] for record in history}
        assert {line["id"].partition(".")[0] for line in journal(root)} == ids


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


Held = dict[tuple[str, str], str]


def _take(held: Held, path: str, state: dict[str, str]) -> None:
    held.pop((path, state["name"].removeprefix("^")), None)


def _put(held: Held, path: str, state: dict[str, str]) -> None:
    held[path, state["name"].removeprefix("^")] = state["text"]
