"""Foreign commands: bounded in time, ended with all that they started."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from memoranda.adapters.backends.commands import CommandFailed, run_command


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_what_is_given_goes_in_and_what_is_printed_comes_back() -> None:
    code = "import os, sys; print(sys.stdin.read() + os.environ['SAID']); print('海', file=sys.stderr); sys.exit(3)"
    output = run_command(python(code), {"SAID": "there", "PYTHONIOENCODING": "utf-8"}, "hello 海 ", 20)
    assert (output.code, output.out.strip(), output.err.strip()) == (3, "hello 海 there", "海")


def test_a_variable_is_added_to_those_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAID_BEFORE", "yes")
    output = run_command(python("import os; print(os.environ['SAID_BEFORE'])"), {}, "", 20)
    assert output.out.strip() == "yes"


def test_a_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="no command no-such-command-here"):
        run_command(["no-such-command-here"], {}, "", 20)
    (tmp_path / "text").write_text("no program")
    with pytest.raises(CommandFailed, match=r"cannot be run \(PermissionError\)"):
        run_command([str(tmp_path / "text")], {}, "", 20)
    with pytest.raises(CommandFailed, match="cannot be run"):
        run_command(python("a\0b"), {}, "", 20)


def test_output_that_is_no_text_is_read_as_far_as_it_is() -> None:
    output = run_command(python("import sys; sys.stdout.buffer.write(b'a\\xff{')"), {}, "", 20)
    assert output.out == "a�{"


@pytest.mark.skipif(os.name == "nt", reason="process groups are of POSIX")
def test_what_is_not_done_in_time_ends_with_all_that_it_started(tmp_path: Path) -> None:
    child = tmp_path / "child"
    code = (
        "import subprocess, sys, time\n"
        "held = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(child)!r}, 'w').write(str(held.pid))\n"
        "time.sleep(60)\n"
    )
    begun = time.monotonic()
    with pytest.raises(CommandFailed, match="was not done in 3 s"):
        run_command(python(code), {}, "", 3)
    assert time.monotonic() - begun < 30  # far less than it would sleep; the machine may be busy
    number = int(child.read_text())
    until = time.monotonic() + 10
    while _lives(number):
        assert time.monotonic() < until, "what the command started is still there"
        time.sleep(0.02)


def _lives(number: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has asked after does not."""
    try:
        with open(f"/proc/{number}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        pass
    if os.path.exists("/proc/self/stat"):
        return False
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(os.name == "nt", reason="process groups are of POSIX")
def test_a_process_that_keeps_the_output_open_does_not_hold_up_the_call() -> None:
    code = (
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(5)'])\n"
        "print('done')\n"
    )
    begun = time.monotonic()
    assert run_command(python(code), {}, "", 20).out.strip() == "done"
    assert time.monotonic() - begun < 5
