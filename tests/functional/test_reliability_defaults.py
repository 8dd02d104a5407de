"""What a default install does with a person's data, and with a reader that goes away."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import memoranda

_SOURCE = str(Path(memoranda.__file__).parents[1])
#: Runs the command line in a process in which nothing can open a socket or look up a host.
_CUT_OFF = """
import sys

def hook(event, arguments):
    if event.startswith("socket."):
        raise SystemExit(f"network: {event}")

sys.addaudithook(hook)
from memoranda.faces.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def _environment(home: Path) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key != "MEMORANDA_VAULT"}
    return {**kept, "HOME": str(home), "USERPROFILE": str(home), "PYTHONPATH": _SOURCE}


def test_data_lies_in_a_lasting_place_that_is_printed_and_nothing_is_sent(tmp_path: Path) -> None:
    """Case D38: a default install, one remember."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", _CUT_OFF, *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=_environment(tmp_path), check=False)

    done = run("remember", "preferences:tea", "Likes green tea.")
    vault = tmp_path / "memoranda"
    assert (done.returncode, done.stderr) == (0, f"new vault: {vault.resolve()}\n")
    assert "Likes green tea." in (vault / "memory/preferences.md").read_text()
    assert "preferences:tea" in run("recall", "tea").stdout
    # Nothing lies anywhere else.
    assert [path.name for path in tmp_path.iterdir()] == ["memoranda"]


def test_a_reader_that_goes_away_is_no_fault(tmp_path: Path) -> None:
    """Case D37: ``memoranda explain ... | head -1``."""
    environment = _environment(tmp_path)
    memory = tmp_path / "memoranda/memory"
    memory.mkdir(parents=True)
    text = "".join(f"## item-{n}\n\nA fact about tea, number {n}. {'More of it. ' * 200}\n\n" for n in range(300))
    (memory / "tea.md").write_text(text)
    command = [sys.executable, "-m", "memoranda", "explain", "tea", "-k", "300"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"1. tea:")
        process.stdout.close()
        said = process.stderr.read()
        assert process.wait(60) == 141
    assert b"Traceback" not in said
