"""``memoranda sleep`` as a person runs it: tried first, carried out, taken back, killed, and by cron."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memoranda.bootstrap import Vault


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    with Vault.open(root) as opened, opened.stage("design", project="shop", agent="developer") as stage:
        stage.note("Never log a token, not even at debug level.")
        stage.note("The checkout service listens on port 8081.")
        stage.note("Perhaps keep queues small.")
    return root


def run(vault: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "memoranda", "-C", str(vault), *words], capture_output=True, text=True, check=False
    )


def memory(vault: Path) -> dict[str, str]:
    return {str(path.relative_to(vault)): path.read_text() for path in sorted(vault.glob("*/*/memory/*.md"))}


def test_tried_carried_out_and_taken_back(vault: Path) -> None:
    tried = run(vault, "sleep", "--dry-run")
    assert tried.returncode == 0
    assert "+The checkout service listens on port 8081." in tried.stdout
    assert "would be: 1 stages taken in, 4 items added to project memory, 2 questions" in tried.stdout
    assert memory(vault) == {}
    done = run(vault, "sleep")
    assert done.returncode == 0
    assert "2 questions (memoranda choices)" in done.stdout
    assert "stages.md" in " ".join(memory(vault))
    assert len(json.loads(run(vault, "choices", "--json").stdout)) == 2
    assert run(vault, "sleep").stdout == "nothing to do\n"
    change = done.stderr.split("memoranda undo ")[1].split()[0]
    assert run(vault, "undo", change).returncode == 0
    assert memory(vault) == {}
    assert json.loads(run(vault, "choices", "--json").stdout) == []


def test_cron_does_not_sleep_where_somebody_works(vault: Path) -> None:
    found = run(vault, "sleep", "--when-idle")
    assert (found.returncode, found.stdout) == (0, "")
    assert "not now: somebody worked 0 min ago" in found.stderr
    (vault / "memoranda.toml").write_text('[sleep]\nafter = 0\nhours = ""\n')
    assert "questions" in run(vault, "sleep", "--when-idle").stdout


def test_probes_are_asked(vault: Path, tmp_path: Path) -> None:
    run(vault, "sleep")
    probes = tmp_path / "probes"
    probes.write_text('{"question": "port", "scopes": ["project/shop"]}\ntoken\n')
    found = run(vault, "sleep", "--dry-run", "--probes", str(probes), "--json")
    assert json.loads(found.stdout)["recall"] == {"asked": 1, "kept": 1, "lost": []}
    assert run(vault, "sleep", "--probes", str(probes)).returncode == 2
    assert run(vault, "sleep", "--dry-run", "--probes", str(tmp_path / "none")).returncode == 1
    for nonsense in (b"{}\n", b'{"question": 5}', b"\xff\xfe\x00"):
        probes.write_bytes(nonsense)
        refused = run(vault, "sleep", "--dry-run", "--probes", str(probes))
        assert refused.returncode == 2
        assert str(probes) in refused.stderr


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_killed_at_any_moment_it_ends_where_it_would_have(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    with Vault.open(root) as opened:
        for number in range(8):
            with opened.stage(f"s{number}", project="shop", agent="developer") as stage:
                for part in range(4):
                    stage.note(f"Perhaps part {number}{part} matters to {chr(97 + number)}.")
    for pause in (0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6):
        process = subprocess.Popen(
            [sys.executable, "-m", "memoranda", "-C", str(root), "sleep"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert run(root, "sleep").returncode == 0
    with Vault.open(root) as opened:
        assert opened.check() == []
        notes = [item.text for item in opened.items(scope="project/shop") if item.text.startswith("Perhaps")]
        assert len(notes) == len(set(notes)) == 32
        subjects = [choice.subject for choice in opened.choices.open()]
        assert len(subjects) == len(set(subjects)) == 32
    assert not (root / "sleep/pending.json").exists()
