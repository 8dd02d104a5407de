"""Many documents, in processes that are replaced after a fault."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from fakes.documents import docx
from memoranda.adapters.converters import process as process_module
from memoranda.adapters.converters.limits import Limits
from memoranda.adapters.converters.pool import ConverterPool, Job, Result, convert, convert_many
from memoranda.core.documents import NotConverted
from memoranda.core.errors import UsageError

WORD = docx("<w:p><w:r><w:t>word</w:t></w:r></w:p>")
SLOW = b"<table>" + b"<tr><td rowspan=65000 colspan=1000>x" * 100_000

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")


@pytest.fixture(scope="module")
def pool() -> Iterator[ConverterPool]:
    with ConverterPool(1) as made:
        yield made


def refusal(pool: ConverterPool, data: bytes | Path, name: str = "") -> tuple[str, str]:
    with pytest.raises(NotConverted) as caught:
        pool.convert(data, name)
    return caught.value.kind, str(caught.value)


def child_of(pool: ConverterPool) -> int:
    (found,) = pool._every
    assert found._process is not None
    return found._process.pid


def test_results_come_in_the_order_of_their_jobs() -> None:
    jobs = [Job(b"# %d" % at, "a.md") if at % 3 else Job(b"a,b\n%d,x" % at, "a.csv") for at in range(20)]
    results = list(convert_many(iter(jobs), workers=2))

    assert [one.job for one in results] == jobs
    for at, one in enumerate(results):
        assert one.converted is not None
        assert str(at) in one.converted.markdown
        assert isinstance(one.job.source, bytes)
        assert (one.digest, one.size) == (sha256(one.job.source).hexdigest(), len(one.job.source))


def test_jobs_are_read_as_they_are_needed() -> None:
    asked = []

    def jobs() -> Iterator[Job]:
        for at in range(1000):
            asked.append(at)
            yield Job(b"text", "a.txt")

    with ConverterPool(1) as pool:
        next(pool.convert_many(jobs()))
        assert len(asked) == 1


def test_text_and_markdown_need_no_process() -> None:
    with ConverterPool(1) as pool:
        assert [one.converted is not None for one in pool.convert_many([Job(b"a", "a.md"), Job(b"a", "")])] == [
            True,
            True,
        ]
        assert pool._threads is None


def test_a_document_that_fails_is_a_result_and_the_rest_goes_on() -> None:
    jobs = [Job(b"", "a.docx"), Job(WORD, "b.docx"), Job(WORD[:100], "c.docx"), Job(b"ok", "d.txt")]
    results: list[Result] = list(convert_many(jobs))

    assert [one.refused.kind if one.refused else "" for one in results] == ["empty", "", "corrupt", ""]


def test_paths_are_read_and_left_alone(tmp_path: Path, pool: ConverterPool) -> None:
    path = tmp_path / "报销.docx"
    path.write_bytes(WORD)
    before = path.stat()

    assert pool.convert(path).markdown == "word\n"
    assert pool.convert(str(path)).converter == "built-in"
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert refusal(pool, tmp_path)[0] == "unsupported"
    assert refusal(pool, tmp_path / "none.md")[0] == "unsupported"
    assert list(tmp_path.iterdir()) == [path]


def test_one_process_converts_many_documents(pool: ConverterPool) -> None:
    pool.convert(WORD, "a.docx")
    first = child_of(pool)
    refusal(pool, WORD[:100], "a.docx")
    pool.convert(WORD, "a.docx")

    assert child_of(pool) == first


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with ConverterPool(1, limits=Limits(size=10)) as pool:
        assert refusal(pool, path)[0] == "too_large"
        assert refusal(pool, b"x" * 11, "a.txt")[0] == "too_large"
        assert pool.convert(b"x" * 10, "a.txt").markdown == "x" * 10


@posix
def test_a_document_that_takes_too_long_is_ended_and_the_next_one_read() -> None:
    with ConverterPool(1, limits=Limits(seconds=1.5)) as pool:
        pool.convert(WORD, "a.docx")
        first = child_of(pool)
        assert refusal(pool, SLOW, "a.html") == ("too_slow", "took more than 1.5 seconds")
        assert pool.convert(WORD, "a.docx").markdown == "word\n"
        assert child_of(pool) != first
        with pytest.raises(ProcessLookupError):
            os.kill(first, 0)


@posix
def test_processor_time_is_bounded_for_each_document() -> None:
    with ConverterPool(1, limits=Limits(cpu_seconds=1)) as pool:
        assert refusal(pool, SLOW, "a.html") == ("too_slow", "took more than 1 seconds of the processor's time")
        assert pool.convert(WORD, "a.docx").markdown == "word\n"


@posix
def test_memory_is_bounded_for_each_document() -> None:
    wide = b"a,b\n" + b"x,y\n" * 2_000_000
    with ConverterPool(1, limits=Limits(memory=260 << 20)) as pool:
        assert refusal(pool, wide, "a.csv") == ("too_large", "needs more than the 260 MB of memory that are allowed")
        assert pool.convert(WORD, "a.docx").markdown == "word\n"


@posix
@pytest.mark.parametrize(("number", "kind"), [(signal.SIGSEGV, "corrupt"), (signal.SIGKILL, "too_large")])
def test_a_process_that_dies_is_the_documents_fault_and_replaced(number: int, kind: str) -> None:
    with ConverterPool(1) as pool:
        pool.convert(WORD, "a.docx")
        found: list[str] = []
        asking = threading.Thread(target=lambda: found.append(refusal(pool, SLOW, "a.html")[0]))
        asking.start()
        time.sleep(0.3)
        os.kill(child_of(pool), number)
        asking.join(30)

        assert found == [kind]
        assert pool.convert(WORD, "a.docx").markdown == "word\n"


def test_a_process_that_died_between_documents_is_replaced_unseen(pool: ConverterPool) -> None:
    pool.convert(WORD, "a.docx")
    os.kill(child_of(pool), signal.SIGTERM)
    time.sleep(0.1)

    assert pool.convert(WORD, "a.docx").markdown == "word\n"


def test_a_converter_knows_no_secrets_of_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    monkeypatch.setenv("HTTPS_PROXY", "http://user:canary@proxy")

    assert "canary" not in str(process_module._environment(str(tmp_path)))


def test_without_a_process_nothing_is_converted_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    with ConverterPool(1) as pool:
        assert refusal(pool, WORD, "a.docx") == ("unsupported", "no process can be started to convert it in")
        assert pool.convert(b"text", "a.txt").markdown == "text"


def test_a_pool_that_is_closed_early_ends_its_processes() -> None:
    with ConverterPool(2) as pool:
        results = pool.convert_many([Job(WORD, "a.docx"), Job(SLOW, "a.html"), Job(SLOW, "b.html")])
        assert next(results).converted is not None
        running = [one._process for one in pool._every if one._process is not None]
    assert running
    assert all(one.poll() is not None for one in running)


def test_one_call_converts_one_document() -> None:
    assert convert(WORD, "a.docx").markdown == "word\n"
    with pytest.raises(UsageError):
        convert(WORD, "a.docx", choices={"docx": "nonsense"})
