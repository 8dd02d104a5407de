"""A foreign command run for one call: within its time, with what it started, and with no more output than is read."""

from __future__ import annotations

import os

from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from subprocess import Popen
    from typing import Any

__all__ = ["CommandFailed", "Output", "run_command"]

#: Bytes of output that are read; what comes behind is left.
_MOST_OUTPUT = 32 * 2**20


class CommandFailed(Exception):
    """A command could not be started, or was not done in its time; the message may be shown."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a command left behind."""

    code: int
    out: str
    err: str


def run_command(command: Sequence[str], environment: Mapping[str, str], given: str, seconds: float) -> Output:
    """Run a command with these variables beside those of this process, and ``given`` as its standard input.

    At the end of its time, and whatever else ends the call, the command is
    killed with all that it started. Output goes through files: a process that
    keeps its end of a pipe open cannot hold up the call.

    Raises:
        CommandFailed: it could not be started, or was not done in ``seconds``.
    """
    try:
        return _run(command, {**os.environ, **environment}, given, seconds)
    except OSError as error:  # of the files, too: a disk that is full
        raise CommandFailed(f"{command[0]} cannot be run ({type(error).__name__})") from None


def _run(command: Sequence[str], environment: Mapping[str, str], given: str, seconds: float) -> Output:
    from subprocess import Popen, TimeoutExpired
    from tempfile import TemporaryFile

    with TemporaryFile() as put, TemporaryFile() as out, TemporaryFile() as err:
        put.write(given.encode("utf-8", "replace"))
        put.seek(0)
        try:
            process = Popen(list(command), stdin=put, stdout=out, stderr=err, env=environment, **_apart())
        except FileNotFoundError:
            raise CommandFailed(f"there is no command {command[0]}") from None
        except ValueError as error:
            raise CommandFailed(f"{command[0]} cannot be run ({error})") from None
        try:
            code = process.wait(seconds)
        except TimeoutExpired:
            raise CommandFailed(f"{os.path.basename(command[0])} was not done in {seconds:g} s") from None
        finally:
            _end(process)
        return Output(code, _read(out), _read(err))


def _apart() -> dict[str, Any]:
    """The command leads a group of its own, to be ended as one, and gets no Ctrl-C that was meant for this process."""
    if os.name == "nt":
        return {"creationflags": 0x00000200}  # CREATE_NEW_PROCESS_GROUP
    return {"start_new_session": True}


def _end(process: Popen[bytes]) -> None:
    """Kill a command that still runs, and what it started. One that has ended is left alone: its number is free."""
    from contextlib import suppress

    if process.poll() is not None:
        return
    with suppress(OSError):
        if os.name == "nt":
            from subprocess import DEVNULL, call

            call(["taskkill", "/F", "/T", "/PID", str(process.pid)], stdout=DEVNULL, stderr=DEVNULL)
        else:
            from signal import SIGKILL

            os.killpg(process.pid, SIGKILL)
    process.kill()
    process.wait()


def _read(file: Any) -> str:
    file.seek(0)
    return bytes(file.read(_MOST_OUTPUT)).decode("utf-8", "replace")
