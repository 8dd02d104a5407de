"""The program as a whole: help, wrong use, where the vault is, streams, signals, what is imported."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from functional.driving import Cli, Inside
from memoranda.core import errors
from memoranda.faces.cli.main import COMMANDS, GROUPS, load, overview
from memoranda.faces.cli.output import Output
from memoranda.faces.cli.session import Session
from memoranda.version import __version__

#: Modules that no command may pull in: slow to import, or a sign of a network or of a third party.
HEAVY = {
    "asyncio", "ctypes", "difflib", "distutils", "email", "http", "http.client", "logging", "multiprocessing",
    "pdb", "pydoc", "pytest", "secrets", "shutil", "socket", "sqlite3", "ssl", "tempfile", "tomllib",
    "unittest", "urllib.request", "xml", "zipfile",
}  # fmt: skip


def test_version(cli: Cli) -> None:
    ran = cli("--version")
    assert (ran.code, ran.out, ran.err) == (0, f"memoranda {__version__}\n", "")


def test_help_lists_every_command(cli: Cli) -> None:
    ran = cli("--help")
    assert ran.code == 0
    assert ran.out == overview()
    for name, (_, group, summary) in COMMANDS.items():
        assert f"  {name:<10}{summary}" in ran.out
        assert group in GROUPS


def test_no_command_is_wrong_use_and_shows_the_help(cli: Cli) -> None:
    ran = cli()
    assert (ran.code, ran.out) == (2, "")
    assert "usage: memoranda" in ran.err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_that_fits_a_terminal(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    command, parser = load(name)
    text = parser.format_help()
    assert f"usage: memoranda {name}" in text
    assert max(map(len, text.split("\n"))) <= 100
    assert callable(command.run)
    for line, _ in command.examples:
        assert f"memoranda {name}" in line


def test_help_of_a_command_in_each_way(cli: Cli) -> None:
    shown = [cli(*words) for words in (("recall", "-h"), ("--help", "recall"), ("help", "recall"))]
    assert [ran.code for ran in shown] == [0, 0, 0]
    assert shown[0].out == shown[1].out == shown[2].out
    assert "usage: memoranda recall QUERY..." in shown[0].out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rcall"], "did you mean recall?"),
        (["delete"], "did you mean forget?"),
        (["zzz"], "no such command: 'zzz'"),
        (["recall", "x", "--jsno"], "did you mean --json?"),
        (["recall", "-x"], "stands after --"),
        (["recall"], "QUERY"),
        (["recall", "x", "-k", "0"], "from 1"),
        (["recall", "x", "--mode", "magic"], "keyword"),
        (["rename", "a:b", "c", "d"], "more arguments than it takes: d"),
        (["-k", "3", "recall", "x"], "before a command"),
        (["-C"], "needs a folder"),
        (["-C", "", "ls"], "needs a folder"),
        (["remember", "a:b", "-C is a language"], "stands after --"),
        (["remember", "a:b", "x", "--confidence", "2"], "from 0 to 1"),
        (["import", "tunrs", "x"], "did you mean turns?"),
        (["forget"], "one of ADDRESS"),
        (["forget", "a:b", "--user", "lin"], "one of ADDRESS"),
        (["grep", "(a"], "at character 1"),
        (["recall", "x", "--scope", "planet/mars"], "scope"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(stocked: Cli, inside: Inside, words: list[str], said: str) -> None:
    ran = inside(*words, vault=stocked.vault)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith("memoranda: ")
    assert ran.err.count("\n") == 1
    assert said in ran.err


@pytest.mark.parametrize(
    "words",
    [["recall", "x"], ["ls"], ["show", "a:b"], ["grep", "x"], ["log"], ["status", "--json"],
     ["revise", "a:b", "x"], ["undo"], ["check"], ["export"]],
)  # fmt: skip
def test_absent_vault(inside: Inside, tmp_path: Path, words: list[str]) -> None:
    vault = tmp_path / "nowhere" / "vault"
    ran = inside(*words, vault=vault)
    assert (ran.code, ran.out) == (4, "")
    assert str(vault) in ran.err
    assert "memoranda init" in ran.err
    assert ran.err.count("\n") == 1
    assert not vault.parent.exists()


def test_where_the_vault_is(cli: Cli, tmp_path: Path) -> None:
    named, other = tmp_path / "named", tmp_path / "other"
    assert cli("-C", str(named), "remember", "a:b", "before").err == f"new vault: {named}\n"
    assert cli("remember", "a:b", "after", "-C", str(other)).code == 0
    assert "before" in cli("show", "a:b", "-C", str(named)).out
    assert "after" in cli("-C", str(other), "show", "a:b").out
    assert "after" in cli("-C", "other", "show", "a:b", cwd=tmp_path).out
    by_variable = cli("remember", "a:b", "variable")
    assert by_variable.err == f"new vault: {cli.vault}\n"
    default = cli("remember", "a:b", "default", env={"MEMORANDA_VAULT": None})
    assert default.err == f"new vault: {cli.home / 'memoranda'}\n"
    assert (cli.home / "memoranda" / "memory" / "a.md").exists()
    assert "default" in cli("-C", "~/memoranda", "show", "a:b").out


def test_a_vault_that_is_a_file(cli: Cli) -> None:
    cli.vault.write_text("not a folder")
    for words in (["ls"], ["remember", "a:b", "x"]):
        ran = cli(*words)
        assert (ran.code, ran.out) == (4, "")
        assert "not a folder" in ran.err


def _bound_by_permissions() -> list[str] | None:
    """What stands before a command so that file permissions bind it; ``None`` if they cannot."""
    if not hasattr(os, "geteuid"):
        return None
    if os.geteuid() != 0:
        return []
    setpriv = shutil.which("setpriv")
    before = [setpriv or "", "--bounding-set=-dac_override,-dac_read_search"]
    works = setpriv and subprocess.run([*before, "true"], capture_output=True, check=False).returncode == 0
    return before if works else None


def test_read_only_vault_is_read_and_not_written(cli: Cli) -> None:
    before = _bound_by_permissions()
    if before is None:
        pytest.skip("permissions do not bind this user")
    assert cli("remember", "a:b", "Readable.").code == 0
    folders = [cli.vault, *(p for p in cli.vault.rglob("*") if p.is_dir())]
    files = [p for p in cli.vault.rglob("*") if p.is_file()]
    contents = {path: path.read_bytes() for path in files}
    try:
        for path in [*files, *folders]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        shown = cli("recall", "readable", before=before)
        refused = cli("remember", "a:c", "x", before=before)
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert (shown.code, shown.err) == (0, "")
    assert "a:b" in shown.out
    assert (refused.code, refused.out) == (4, "")
    assert refused.err.startswith("memoranda: ")
    assert refused.err.count("\n") == 1
    assert {p: p.read_bytes() for p in cli.vault.rglob("*") if p.is_file()} == contents


def test_unreadable_vault_is_no_empty_one(cli: Cli) -> None:
    before = _bound_by_permissions()
    if before is None:
        pytest.skip("permissions do not bind this user")
    assert cli("remember", "a:b", "There.").code == 0
    cli.vault.chmod(0)
    try:
        ran = [cli(*words, before=before) for words in (["ls"], ["recall", "there"], ["remember", "a:c", "x"])]
    finally:
        cli.vault.chmod(0o755)
    assert [r.code for r in ran] == [4, 4, 4]
    assert all(str(cli.vault) in r.err and r.err.count("\n") == 1 and not r.out for r in ran)


@pytest.mark.parametrize(
    "locale", [{"LC_ALL": "C"}, {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}]
)
def test_chinese_in_any_locale(stocked: Cli, locale: dict[str, str | None]) -> None:
    ran = stocked("show", "daily_life:beach-trip-plan", "--text", env=locale)
    assert (ran.code, ran.out) == (0, "八月去青岛，住在海边。\n")


def test_chinese_argument_in_the_c_locale(stocked: Cli) -> None:
    ran = stocked("recall", "海边", env={"LC_ALL": "C"})
    assert ran.code == 0
    assert "喜欢海边" in ran.out


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (errors.NotFound("nothing there"), 1, "memoranda: nothing there\n"),
        (errors.NameTaken("taken"), 3, "memoranda: taken\n"),
        (errors.VaultFull("full"), 4, "memoranda: full\n"),
        (errors.MissingExtra("vectors", "embed"), 5, "pip install 'memoranda[embed]'"),
        (errors.ServiceFailed("no answer\nfrom it"), 6, "memoranda: no answer from it\n"),
        (PermissionError(13, "Permission denied", "/x/y"), 4, "memoranda: /x/y: Permission denied\n"),
        (RuntimeError("odd\x1b[1m"), 70, "memoranda: internal error: RuntimeError: odd\\x1b[1m (MEMORANDA_DEBUG=1"),
        (KeyboardInterrupt(), 130, ""),
        (BrokenPipeError(), 141, ""),
    ],
)
def test_every_fault_has_its_exit_code_and_one_line(
    inside: Inside,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    error: BaseException,
    code: int,
    said: str,
) -> None:
    def fail(self: Session) -> None:
        raise error

    monkeypatch.setattr(Session, "open", fail)
    monkeypatch.setattr(Output, "abandon", lambda self: None)
    monkeypatch.delenv("MEMORANDA_DEBUG", raising=False)
    ran = inside("ls", vault=tmp_path)
    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err
    assert ran.err.count("\n") == (1 if said else 0)


@pytest.mark.skipif(os.name == "nt", reason="signals of a POSIX system")
def test_closed_pipe(cli: Cli) -> None:
    memory = cli.vault / "memory"
    memory.mkdir(parents=True)
    text = "".join(f"## n{i}\n\n{'coffee ' * 200}\n\n" for i in range(200))
    (memory / "much.md").write_text(text)
    for words in (["explain", "coffee", "-k", "200"], ["show", "much"]):
        process = cli.start(*words)
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
        process.stderr.close()
        assert process.wait(60) in (141, -signal.SIGPIPE)
        assert errors == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_output_that_cannot_be_written(stocked: Cli) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            stocked.command("show", "preferences"),
            stdout=full,
            stderr=subprocess.PIPE,
            env=stocked.environment(),
        )
    assert done.returncode == 1
    assert done.stderr == f"memoranda: the output could not be written: {os.strerror(errno.ENOSPC)}\n".encode()


@pytest.mark.skipif(os.name == "nt", reason="signals of a POSIX system")
def test_follow_shows_new_changes_and_ctrl_c_ends_it_quietly(cli: Cli) -> None:
    assert cli("remember", "a:first", "One.").code == 0
    process = cli.start("log", "-f")
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        assert b"a:first" in process.stdout.readline()
        assert cli("remember", "a:second", "Two.").code == 0
        assert b"a:second" in process.stdout.readline()
    finally:
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (rest, errors) == (b"", b"")


def _modules(cli: Cli, *words: str) -> set[str]:
    code = (
        "import sys; from memoranda.faces.cli.main import main; "
        f"code = main({list(words)!r}); print('\\n' + ' '.join(sys.modules)); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, env=cli.environment(), timeout=60, check=True
    )
    return set(done.stdout.decode().split("\n")[-2].split(" "))


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["recall", "coffee"], ["ls"], ["show", "preferences"]])
def test_start_imports_nothing_heavy_and_nothing_from_outside(stocked: Cli, words: list[str]) -> None:
    modules = _modules(stocked, *words)
    assert not modules & HEAVY
    top = {name.partition(".")[0] for name in modules}
    assert top - set(sys.stdlib_module_names) <= {"memoranda", "__main__"}


def test_version_imports_next_to_nothing(stocked: Cli) -> None:
    modules = _modules(stocked, "--version")
    assert not modules & {"argparse", "dataclasses", "inspect", "json"}
    assert {m for m in modules if m.startswith("memoranda")} == {
        "memoranda", "memoranda.core", "memoranda.core.errors", "memoranda.faces", "memoranda.faces.cli",
        "memoranda.faces.cli.main", "memoranda.faces.cli.output", "memoranda.version",
    }  # fmt: skip


def test_a_read_starts_no_thread_and_opens_no_socket(stocked: Cli) -> None:
    code = (
        "import sys, threading\n"
        "def hook(event, args):\n"
        "    if event.startswith('socket.'): print('SOCKET', event, file=sys.stderr)\n"
        "sys.addaudithook(hook)\n"
        "from memoranda.faces.cli.main import main\n"
        "main(['recall', 'coffee'])\n"
        "assert threading.active_count() == 1\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env=stocked.environment(), timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
