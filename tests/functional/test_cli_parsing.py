"""Arguments are read as argparse reads them, most of them without it."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memoranda.core.errors import UsageError
from memoranda.faces.cli.main import COMMANDS, load
from memoranda.faces.cli.usage import full_parser

# fmt: off
PLAIN = [
    "x", "想去海边玩", "a:b", "", "-", "two words", "3", "0", "0.5", "item", "resource", "grep", "json", "user/lin",
]
TRICKY = [
    "--", "-1", "-x", "-k3", "-C", "--jsno", "--level=item", "--level=no", "--json=1", "-C=d", "-k=2", "--as-of=-1",
    "-C is a language", "--on-exists=", "-i", "-f", "-n",
]
# fmt: on
NAMES = sorted({name for known in COMMANDS for one in load(known)[1].arguments if one.is_option for name in one.names})
words = st.lists(st.sampled_from(PLAIN) | st.sampled_from(NAMES) | st.sampled_from(TRICKY), max_size=7)


@settings(deadline=None)
@given(st.sampled_from(sorted(COMMANDS)), words)
@example("recall", ["a", "b", "-k", "3", "--level", "item", "--level", "resource", "--json"])
@example("recall", ["-C", "d", "a", "--", "-x"])
@example("recall", ["a", "--json", "b"])
@example("recall", ["a", "--", "b", "--", "c"])
@example("remember", ["a:b", "--pinned", "x"])
@example("revise", ["--no-pinned", "--pinned", "a:b"])
@example("ls", ["--json", "x"])
@example("status", ["--"])
def test_what_is_read_at_once_is_what_argparse_reads(name: str, words: list[str]) -> None:
    parser = load(name)[1]
    try:
        read = parser._read(words)
    except ValueError:
        return
    assert read == vars(full_parser(parser).parse(words))


@pytest.mark.parametrize(
    "line",
    ["recall a b", "recall 想去海边玩 -k 3 --level item --level resource", "recall a --as-of=2025-12-31 --json",
     "explain -C d coffee in the morning", "show a:b --text", "ls", "ls a --scope project/apollo", "status --json",
     "recall -- -x", "remember a:b some text --pinned --confidence 0.5", "undo", "log -n 20", "grep -i sea"],
)  # fmt: skip
def test_what_people_write_is_read_at_once(line: str) -> None:
    name, *words = line.split()
    assert load(name)[1]._read(words)


@pytest.mark.parametrize("words", [["a", "-k3"], ["a", "b", "-Cd"]])
def test_what_is_not_read_at_once_is_read_all_the_same(words: list[str]) -> None:
    parser = load("recall")[1]
    with pytest.raises(ValueError, match="-"):
        parser._read(words)
    assert parser.parse(words).query == [word for word in words if not word.startswith("-")]


def test_wrong_use_is_named_by_argparse() -> None:
    parser = load("recall")[1]
    for words, said in (([], "QUERY"), (["a", "-k", "0"], "from 1"), (["a", "--level", "no"], "invalid choice")):
        with pytest.raises(UsageError, match=said):
            parser.parse(words)
