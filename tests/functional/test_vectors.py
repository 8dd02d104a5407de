"""A vault whose vectors come from a real endpoint, which behaves well, badly, and not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from embedding_endpoint import Answer, EmbeddingEndpoint, Request, vectors
from fakes.embedder import word_vector
from functional.driving import Cli
from memoranda import Vault
from memoranda.index.embedded import digest_of

pytest.importorskip("openai", reason="the extra openai is not installed")
pytest.importorskip("numpy", reason="the extra embed is not installed")

SETTINGS = """
[embedding]
provider = "openai"
model = "some-model"
base_url = "{url}"
key = "env:TEST_EMBEDDING_KEY"
timeout = 1
"""


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("TEST_EMBEDDING_KEY", "made-up-key-0123456789abcdef")


@pytest.fixture
def endpoint() -> Iterator[EmbeddingEndpoint]:
    with EmbeddingEndpoint() as made:
        yield made


def made(root: Path, url: str) -> Vault:
    root.mkdir(exist_ok=True)
    (root / "memoranda.toml").write_text(SETTINGS.format(url=url))
    return Vault.open(root)


def wait_for(condition: Callable[[], object], seconds: float = 40.0) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.05)
    return False


def html(request: Request) -> Answer:
    return Answer(body=b"<html><body>Bad gateway</body></html>", headers={"Content-Type": "text/html"})


def wrong(request: Request) -> Answer:
    return vectors(request, 48)


FAULTS = {
    "429 three times": None,
    "500": lambda request: Answer(500, {"error": {"message": "internal"}}),
    "html": html,
    "an error with 200": lambda request: Answer(body={"error": {"message": "overloaded", "code": 529}}),
    "wrong dimension": wrong,
    "silence": lambda request: Answer(silence=30.0),
}


@pytest.mark.parametrize("name", FAULTS)
def test_whatever_the_endpoint_does_the_answer_is_in_time_nothing_is_lost_and_vectors_come_back(
    name: str, endpoint: EmbeddingEndpoint, tmp_path: Path
) -> None:
    """D7 and D12 among them: no command is given between the fault and the recovery."""
    with made(tmp_path / "v", endpoint.url) as vault:
        vault.remember("notes:boat", "Two blue boats in the harbour.")
        vault.embed()
        vault.retrieve("warm the client up: its import takes a second", deadline=5.0)
        good = endpoint.usual
        if FAULTS[name] is None:
            endpoint.script += [Answer(429, {"error": {"message": "slow down"}}, {"Retry-After": "1"})] * 3
        else:
            endpoint.usual = FAULTS[name]
        vault.remember("notes:house", "A red house with a garden.")
        begin = time.monotonic()
        found = vault.retrieve("a red house", deadline=0.5)
        assert time.monotonic() - begin < 3.0
        assert found.hits[0].address == "notes:house"
        if FAULTS[name] is not None:
            assert found.unavailable
            assert found.unavailable[0].startswith("vectors: ")
        endpoint.usual = good
        assert wait_for(
            lambda: not vault.retrieve("house", deadline=2.0).unavailable and vault.embedding_status().current
        )
        assert vault.embedding_status().rows == 2
        hit = vault.retrieve("red house", mode="vector", deadline=5.0).hits[0]
        assert hit.address == "notes:house"


def test_an_endpoint_that_is_not_there_yet_is_found_when_it_comes(tmp_path: Path) -> None:
    with EmbeddingEndpoint() as first:
        port = int(first.host.rpartition(":")[2])
    with made(tmp_path / "v", f"http://127.0.0.1:{port}/v1") as vault:
        vault.remember("notes:house", "A red house with a garden.")
        found = vault.retrieve("a red house", deadline=0.5)
        assert found.hits[0].address == "notes:house"
        assert found.unavailable[0].startswith("vectors: ")
        with EmbeddingEndpoint(port=port):
            assert wait_for(lambda: vault.retrieve("house").hits and vault.embedding_status().current)
            assert wait_for(lambda: not vault.retrieve("red house", mode="vector", deadline=5.0).unavailable)


def test_a_command_answers_by_meaning_and_leaves_what_is_new_to_a_process_of_its_own(
    cli: Cli, endpoint: EmbeddingEndpoint
) -> None:
    cli = Cli(cli.home, cli.vault, {"TEST_EMBEDDING_KEY": "made-up-key-0123456789abcdef"})
    assert cli("init").code == 0
    (cli.vault / "memoranda.toml").write_text(SETTINGS.format(url=endpoint.url))
    assert cli("remember", "notes:house", "A red house with a garden.").code == 0
    done = cli("reindex", "--vectors", "--json")
    assert done.code == 0
    assert '"embedded": 1' in done.out
    found = cli("recall", "red house", "--mode", "vector", "--explain")
    assert found.code == 0
    assert "near in meaning" in found.out
    assert cli("remember", "notes:boat", "Two blue boats.").code == 0
    assert cli("recall", "boats").code == 0
    assert wait_for(lambda: '"current": true' in cli("status", "--json").out)
    assert '"rows": 2' in cli("status", "--json").out
    assert "made-up-key" not in "".join(
        path.read_text(errors="replace") for path in cli.vault.rglob("*") if path.is_file()
    )


def test_a_missing_credential_is_one_line_that_names_it(cli: Cli, endpoint: EmbeddingEndpoint) -> None:
    assert cli("init").code == 0
    (cli.vault / "memoranda.toml").write_text(
        SETTINGS.format(url=endpoint.url).replace("TEST_EMBEDDING_KEY", "NOT_SET_ANYWHERE")
    )
    assert cli("remember", "notes:house", "A red house.").code == 0
    done = cli("reindex", "--vectors")
    assert done.code != 0
    assert "NOT_SET_ANYWHERE" in done.err
    assert "Traceback" not in done.err
    assert cli("recall", "red house").code == 0


_EMBED = "import sys; from memoranda import Vault; vault = Vault.open(sys.argv[1]); vault.embed(); vault.close()"


def test_killed_again_and_again_while_embedding_no_vector_is_anothers(
    endpoint: EmbeddingEndpoint, tmp_path: Path
) -> None:
    root, count = tmp_path / "v", 2000
    with made(root, endpoint.url) as vault, vault.batch():
        for number in range(count):
            vault.remember(f"notes:n{number}", f"Item number {number} is about thing {number * 7919 % 1000}.")
    for at in range(6):
        process = subprocess.Popen(
            [sys.executable, "-c", _EMBED, str(root)], env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        )
        time.sleep(0.8 + at * 0.35)
        process.send_signal(signal.SIGKILL)
        process.wait()
    with Vault.open(root) as vault:
        vault.embed()
        assert vault.embedding_status().rows == count
        index = vault._embedding._opened()
        for number in range(0, count, 37):
            text = f"n{number}: Item number {number} is about thing {number * 7919 % 1000}."
            near = index.cosines(word_vector(text, 64), [f"notes:n{number}"])[f"notes:n{number}"]
            assert near.digest == digest_of(text)
            assert near.cosine == pytest.approx(1.0, abs=1e-5)
