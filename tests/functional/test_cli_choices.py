"""Questions on the command line, as real processes: listed, answered on a terminal, raced for, and killed over."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from functional.driving import Cli, Ran
from memoranda.bootstrap import Vault
from memoranda.core.choices import Choice
from observing import journal

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")

OPTIONS = ("save_long", "ignore")


@pytest.fixture
def vault(cli: Cli) -> Iterator[Vault]:
    """The host's own vault, in which agents ask."""
    with Vault.open(cli.vault) as opened:
        yield opened


@contextmanager
def terminal() -> Iterator[int]:
    """One end of a terminal, for a process to read from."""
    import pty

    leader, follower = pty.openpty()
    try:
        yield follower
    finally:
        os.close(follower)
        os.close(leader)


def start(cli: Cli, stdin: int, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        cli.command(*words), stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=cli.environment()
    )


def ended(process: subprocess.Popen[bytes]) -> Ran:
    out, err = process.communicate(timeout=60)
    assert b"Traceback" not in err, err
    return Ran(process.returncode, out.decode(), err.decode())


def typed(cli: Cli, *words: str) -> Ran:
    """Run a command as a person does, on a terminal."""
    with terminal() as stdin:
        return ended(start(cli, stdin, "choices", *words))


def lines(cli: Cli, action: str) -> list[dict[str, Any]]:
    return [line["detail"] for line in journal(cli.vault) if line["action"] == action]


def on_disk(cli: Cli, choice: Choice) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((cli.vault / "choices" / f"{choice.id}.json").read_text("utf-8"))
    return found


def test_what_waits_is_listed(cli: Cli, vault: Vault) -> None:
    empty = cli("choices")
    assert (empty.code, empty.out, empty.err) == (0, "", "no question waits for you\n")
    assert cli("choices", "ls", "--all").err == "no question was asked yet\n"
    kept = vault.choices.ask(
        "这条决定对以后的项目也有用吗？\n  3 all of it", OPTIONS, agent="scout", default=["ignore"], timeout=3600,
        context="Said \x1b[31mtwice\x1b[0m.", subject="project/apollo/decisions:db", effect={"action": "none"},
    )  # fmt: skip
    vault.choices.ask("What about it?", OPTIONS, agent="mo", subject="project/apollo/decisions:db",
                      effect={"action": "none"})  # fmt: skip
    vault.choices.ask("What should it say?", type="edit", timeout=60)
    vault.choices.ask("Which of these?", ("a", "b"), multi=True, default=["a"])
    shown = cli("choices", "ls").out
    first = shown.split("\n")[:6]
    assert first[0].startswith(f"{kept.id}  ")
    assert first[0].endswith("s ago  scout, mo asks, 2 times:")
    assert first[1:5] == ["   这条决定对以后的项目也有用吗？", "   |   3 all of it", "   1 save_long", "   2 ignore"]
    assert first[5].startswith("   default: ignore, from 20")
    assert "to be answered by a text" in shown
    assert "lapses at 20" in shown
    assert "several may be chosen" in shown
    assert "default: a, but it waits for you for ever" in shown
    rows = cli("choices", "--json").json()
    assert [row["question"] for row in rows] == [choice.question for choice in vault.choices.open()]
    assert rows[0]["expires"] > rows[0]["created_at"]
    assert rows[2]["expires"] is None
    one = cli("choices", "show", kept.id).out
    assert "about: project/apollo/decisions:db" in one
    assert "| Said \\x1b[31mtwice" in one
    assert 'effect: {"action": "none"}' in one
    assert cli("choices", "show", kept.id, "--json").json()["askers"] == ["scout", "mo"]
    assert cli("status", "--json").json()["open_choices"] == 3
    assert "open choices   3" in cli("status").out


def test_a_person_answers_on_a_terminal_by_number_or_text(cli: Cli, vault: Vault) -> None:
    asked = vault.choices.ask("Keep it?", OPTIONS, agent="scout")
    for words in (["1"], ["save_long"], ["nonsense"]):
        refused = cli("choices", "answer", asked.id, *words)
        assert (refused.code, refused.out) == (2, "")
        assert refused.err == "memoranda: a person answers, on a terminal: stdin is none\n"
    assert vault.choices.get(asked.id).is_open
    said = typed(cli, "answer", asked.id, "2", "--text", "不重要")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"{asked.id} answered ignore by user (terminal) at ")
    found = vault.choices.wait(asked.id, timeout=20)
    assert (found.answer, found.text, found.answered_by, found.channel) == (("ignore",), "不重要", "user", "terminal")
    assert lines(cli, "choose") == [{"choice": asked.id, "answer": ["ignore"], "by": "user", "channel": "terminal"}]
    again = typed(cli, "answer", asked.id, "1")
    assert again.code == 3
    assert "answered ignore by user (terminal)" in again.err
    shown = cli("choices", "--all").out
    assert "  *2 ignore" in shown
    assert "不重要" in shown
    assert cli("choices").out == ""


def test_answers_of_several_words_several_options_and_texts(cli: Cli, vault: Vault) -> None:
    words = vault.choices.ask("Keep it?", ("keep for ever", "drop it"))
    assert typed(cli, "answer", words.id, "Drop", "it", "--json").code == 0
    several = vault.choices.ask("Which of these?", ("a", "b", "c"), multi=True)
    assert typed(cli, "answer", several.id, "3", "a").code == 0
    edit = vault.choices.ask("What should it say?", type="edit")
    assert typed(cli, "answer", edit.id, "Likes", "it", "--text", "too").code == 2
    assert typed(cli, "answer", edit.id, "Likes", "the", "sea.").code == 0
    other = vault.choices.ask("What should it say?", type="edit")
    assert typed(cli, "answer", other.id, "--text", "喜欢海边。").code == 0
    rating = vault.choices.ask("How good?", type="rating")
    assert typed(cli, "answer", rating.id, "4").code == 0
    found = {choice.id: (choice.answer, choice.text) for choice in vault.choices.all()}
    assert found == {
        words.id: (("drop it",), ""),
        several.id: (("c", "a"), ""),
        edit.id: ((), "Likes the sea."),
        other.id: ((), "喜欢海边。"),
        rating.id: (("4",), ""),
    }


def test_wrong_use_says_so(cli: Cli, vault: Vault) -> None:
    asked = vault.choices.ask("Keep it?", OPTIONS, agent="User")
    mine = typed(cli, "answer", asked.id, "1")
    assert mine.code == 2
    assert "a person has to" in mine.err
    asked = vault.choices.ask("Is the weather fine?", OPTIONS)
    assert "'5' is none of save_long, ignore" in typed(cli, "answer", asked.id, "5").err
    assert "one answer is wanted, not 2" in typed(cli, "answer", asked.id, "1", "2").err
    assert typed(cli, "answer", asked.id).code == 2
    assert cli("choices", "show").code == 2
    assert cli("choices", "show", asked.id, "more").code == 2
    assert cli("choices", "ls", "more").code == 2
    assert cli("choices", "show", "zzzz").code == 1
    assert cli("choices", "vote").code == 2
    assert vault.choices.get(asked.id).is_open


def test_a_question_is_taken_back(cli: Cli, vault: Vault) -> None:
    asked = vault.choices.ask("Keep it?", OPTIONS)
    assert cli("choices", "cancel", asked.id[:10]).out.startswith(f"{asked.id} cancelled by user at ")
    assert vault.choices.wait(asked.id, timeout=20).status == "cancelled"
    assert cli("choices", "cancel", asked.id).code == 3
    assert len(lines(cli, "cancel")) == 1


def test_a_damaged_file_is_named_and_left_out(cli: Cli, vault: Vault) -> None:
    asked = vault.choices.ask("Keep it?", OPTIONS)
    (cli.vault / "choices" / "broken.json").write_text("{")
    shown = cli("choices")
    assert shown.code == 0
    assert shown.out.startswith(asked.id)
    assert shown.err.startswith("choices/broken.json is no JSON")
    assert cli("choices", "show", "broken").code == 3
    assert "choices/broken.json:1" in cli("check").out


def test_the_time_is_up_whoever_looks(cli: Cli, vault: Vault) -> None:
    kept = vault.choices.ask("Keep it?", OPTIONS, default=["ignore"], timeout=0.2)
    time.sleep(0.3)
    assert cli("choices").out == ""
    assert on_disk(cli, kept)["channel"] == "timeout"
    late = typed(cli, "answer", kept.id, "1")
    assert late.code == 3
    assert "answered ignore (timeout)" in late.err
    assert len(lines(cli, "choose")) == 1


def test_two_processes_answer_at_the_same_moment_and_one_wins(cli: Cli, vault: Vault) -> None:
    """Twenty rounds; each process is one that has not opened the vault before."""
    for number in range(20):
        asked = vault.choices.ask("Keep it?", OPTIONS, subject=f"a:{number}")
        with terminal() as stdin:
            both = [start(cli, stdin, "choices", "answer", asked.id, option) for option in OPTIONS]
            ran = [ended(process) for process in both]
        assert sorted(one.code for one in ran) == [0, 3], ran
        won = OPTIONS[[one.code for one in ran].index(0)]
        told = next(one.err for one in ran if one.code == 3)
        assert f"answered {won} by user (terminal)" in told
        assert on_disk(cli, asked)["answer"] == [won]
        assert [line["answer"] for line in lines(cli, "choose") if line["choice"] == asked.id] == [[won]]


#: A host's process whose effect takes its time; it says how far it is, and waits there to be killed.
_KILLED = """
import os, sys, time
from memoranda.bootstrap import Vault
from memoranda.services import choice_endings
from memoranda.storage.choice_files import ChoiceFiles
from memoranda.storage.journal import Journal

folder, choice, stop = sys.argv[1:]

def hang(*_, **__):
    print("here", flush=True)
    time.sleep(600)

def after(owner, name):
    real = getattr(owner, name)
    def call(*arguments, **options):
        real(*arguments, **options)
        hang()
    setattr(owner, name, call)

with Vault.open(folder) as vault:
    def apply(choice):
        if stop == "effect":
            hang()
        vault.remember("kept:it", "Because of " + choice.answer[0])
        if stop == "applied":
            hang()
    box = vault.choices
    box._endings._apply = apply
    if stop == "file":
        after(ChoiceFiles, "change")
    elif stop == "journal":
        after(Journal, "append")
    box.answer(choice, ["save_long"], by="user", channel="host")
"""


@pytest.mark.parametrize("stop", ["file", "journal", "effect", "applied"])
def test_killed_between_any_two_steps_it_is_completed_once(cli: Cli, vault: Vault, stop: str) -> None:
    import sys

    asked = vault.choices.ask("Keep it?", OPTIONS)
    process = subprocess.Popen(
        [sys.executable, "-c", _KILLED, str(cli.vault), asked.id, stop], stdout=subprocess.PIPE, env=cli.environment()
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"here\n"
    process.send_signal(signal.SIGKILL)
    process.wait(60)
    process.stdout.close()
    assert on_disk(cli, asked)["status"] == "answered"
    assert "applied" not in on_disk(cli, asked)
    assert len(lines(cli, "choose")) == (stop != "file")
    # Whoever comes next, completes it: here a plain listing.
    assert cli("choices").out == ""
    assert on_disk(cli, asked)["applied"] is True
    assert lines(cli, "choose") == [{"choice": asked.id, "answer": ["save_long"], "by": "user", "channel": "host"}]
    assert typed(cli, "answer", asked.id, "2").code == 3
    assert cli("check").code == 0
    assert not [name for name in os.listdir(Path(cli.vault, "choices")) if name.startswith(".")]


def test_undo_does_not_mean_an_answer(cli: Cli, vault: Vault) -> None:
    cli("remember", "a:boat", "Ana sails.")
    asked = vault.choices.ask("Keep it?", OPTIONS)
    assert typed(cli, "answer", asked.id, "1").code == 0
    said = cli("undo", next(line["id"] for line in journal(cli.vault) if line["action"] == "choose"))
    assert said.code == 3
    assert said.err.count("\n") == 1
    assert "about a question" in said.err
    assert cli("undo").code == 0
    assert cli("show", "a:boat").code == 1


def test_forgetting_says_which_questions_go(cli: Cli, vault: Vault) -> None:
    cli("remember", "a:boat", "Ana sails her own boat.")
    asked = vault.choices.ask("Keep it?", OPTIONS, subject="a:boat")
    assert f"would remove the question {asked.id} about it" in cli("forget", "a:boat", "--preview").out
    assert f"removed the question {asked.id} about it" in cli("forget", "a:boat").out
    assert not os.listdir(cli.vault / "choices")
