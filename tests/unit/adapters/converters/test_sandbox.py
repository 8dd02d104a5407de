"""What a converting process can no longer do. Each is tried in a process of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from memoranda.adapters.converters.child import answer
from memoranda.adapters.converters.limits import Limits
from memoranda.adapters.converters.messages import Request
from memoranda.core.documents import Converted, NotConverted

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")

HOME = "memoranda.adapters.converters"
ENTER = f"import os, sys\nfrom {HOME} import sandbox\nfrom {HOME}.limits import Limits\n"


def run(script: str, folder: Path, limits: str = "") -> subprocess.CompletedProcess[str]:
    whole = f"{ENTER}apart = sandbox.enter(Limits({limits}), {str(folder)!r})\n{script}"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-B", "-c", whole], capture_output=True, text=True, env=environment, cwd=folder, check=False
    )


def test_there_is_no_network(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        for attempt in (
            f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)",
            f"import urllib.request as u; u.urlopen('http://127.0.0.1:{port}', timeout=2)",
            "import socket; socket.getaddrinfo('example.com', 80)",
            f"import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {port}))",
        ):
            done = run(attempt, tmp_path)
            assert done.returncode != 0
            assert "a converter has no network" in done.stderr
        server.settimeout(0.05)
        with pytest.raises(TimeoutError):
            server.accept()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="network namespaces are Linux's")
def test_programs_that_it_starts_have_no_network_either_where_the_kernel_lets_it(tmp_path: Path) -> None:
    done = run(
        "print(apart, len(os.listdir('/sys/class/net')) if not apart else open('/proc/net/route').read().count('\\n'))",
        tmp_path,
    )
    apart, routes = done.stdout.split()
    if apart == "False":
        pytest.skip("the kernel lets no process into a network namespace of its own")
    assert int(routes) <= 1


def test_it_writes_in_its_own_folder_alone(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    assert run("open('a', 'w').write('x'); open(os.devnull, 'w')", own).returncode == 0
    for path in ("../b", str(tmp_path / "b"), "../own-not/b"):
        assert "a converter writes nothing" in run(f"open({path!r}, 'w')", own).stderr
    (tmp_path / "kept").write_text("x")
    for change in ("os.remove('../kept')", "os.rename('a', '../a')", "os.chmod('../kept', 0)", "os.mkdir('../c')"):
        assert "a converter writes nothing" in run(change, own).stderr
    assert sorted(one.name for one in tmp_path.iterdir()) == ["kept", "own"]


def test_memory_is_bounded(tmp_path: Path) -> None:
    done = run("x = bytearray(600 << 20)", tmp_path, "memory=400 << 20")

    assert "MemoryError" in done.stderr


def test_processor_time_is_bounded(tmp_path: Path) -> None:
    done = run("sandbox.allow_seconds(1)\nwhile True: pass", tmp_path)

    assert done.returncode == -signal.SIGXCPU


def test_files_are_bounded(tmp_path: Path) -> None:
    done = run(
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nf = open('a', 'wb')\nf.truncate(1 << 40)",
        tmp_path,
    )

    assert "File too large" in done.stderr


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (MemoryError(), "too_large"),
        (RecursionError(), "unsafe"),
        (KeyError("x"), "corrupt"),
        (NotConverted("empty", "x"), "empty"),
    ],
)
def test_whatever_a_converter_raises_is_the_documents_fault(
    fault: BaseException, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Converted:
        raise fault

    monkeypatch.setattr("memoranda.adapters.converters.child.convert_here", fail)
    found = answer(Request(b"a,b", "a.csv", Limits()))

    assert isinstance(found, NotConverted)
    assert found.kind == kind


def test_too_much_markdown_is_too_large() -> None:
    found = answer(Request(b"a,b\n" * 100, "a.csv", Limits(markdown=50)))

    assert isinstance(found, NotConverted)
    assert found.kind == "too_large"


def test_what_was_recognised_otherwise_is_among_the_notes() -> None:
    found = answer(Request(b"<html><p>x", "a.pdf", Limits()))

    assert isinstance(found, Converted)
    assert found.notes == ("named .pdf, but it is html",)
