"""What a command has to load before it can answer: counted in modules, since no test can rely on a clock."""

from __future__ import annotations

import subprocess
import sys

import pytest

from functional.driving import Cli

#: Modules that an answer from an unchanged vault has no use for: slow to load, or what others need.
UNUSED = {
    "_hashlib", "_strptime", "argparse", "ast", "asyncio", "concurrent.futures", "ctypes", "dataclasses", "difflib",
    "gettext", "hashlib", "importlib.util", "inspect", "locale", "logging", "multiprocessing", "pathlib", "pickle",
    "random", "runpy", "shutil", "signal", "socket", "subprocess", "tempfile", "tomllib", "traceback", "typing",
    "weakref", "zoneinfo",
    "memoranda.adapters", "memoranda.core.editing", "memoranda.core.items", "memoranda.core.markdown",
    "memoranda.core.merge", "memoranda.core.ports", "memoranda.faces.cli.usage", "memoranda.services.check",
    "memoranda.services.forget", "memoranda.services.overview", "memoranda.services.remember",
    "memoranda.services.undo", "memoranda.services.writer", "memoranda.storage.accounts",
    "memoranda.storage.baselines", "memoranda.storage.external", "memoranda.storage.history",
    "memoranda.storage.install", "memoranda.storage.journal", "memoranda.storage.jsonlines",
    "memoranda.storage.recovery", "memoranda.storage.transaction",
}  # fmt: skip
#: How many modules a command may load: (of this program, of the standard library). A few more than today's.
RECALL = (83, 55)
REMEMBER = (78, 62)
VERSION = (9, 11)
IMPORT = (2, 2)
VAULT = (30, 32)


def modules(cli: Cli, code: str) -> set[str]:
    """The modules that some code loads beyond those of a bare interpreter."""

    def loaded(code: str) -> set[str]:
        done = subprocess.run(
            [sys.executable, "-S", "-c", f"import sys\n{code}\nprint('\\n' + ' '.join(sys.modules))"],
            capture_output=True, env=cli.environment(), timeout=60, check=True,
        )  # fmt: skip
        return set(done.stdout.decode().split("\n")[-2].split(" "))

    return loaded(code) - loaded("")


def command(*words: str) -> str:
    """The code that runs a command to its good end."""
    return f"from memoranda.faces.cli.main import main\nassert main({list(words)!r}) == 0"


def counted(names: set[str]) -> tuple[int, int]:
    """How many modules are this program's, and how many are not."""
    own = {name for name in names if name.partition(".")[0] == "memoranda"}
    return len(own), len(names) - len(own)


def within(names: set[str], budget: tuple[int, int]) -> bool:
    """Whether no more modules were loaded than may be."""
    return all(count <= most for count, most in zip(counted(names), budget, strict=True))


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """A command line on a vault that is worth an index on disk and has one; nothing has changed since."""
    folder = tmp_path_factory.mktemp("settled")
    cli = Cli(folder, folder / "vault")
    assert cli("init").code == 0
    for number in range(30):
        items = [f"## item-{n}\n\nThe sea at noon, the {n}th walk. {'Along the shore. ' * 6}\n" for n in range(25)]
        (cli.vault / f"memory/walks-{number:02}.md").write_text("\n".join(items), encoding="utf-8")
    for _ in range(2):
        assert cli("recall", "sea").code == 0
    return cli


@pytest.mark.parametrize("words", [["sea"], ["sea", "--json"], ["sea", "-k", "3", "--scope", "shared", "--explain"]])
def test_an_answer_from_an_unchanged_vault(settled: Cli, words: list[str]) -> None:
    names = modules(settled, command("recall", *words))
    assert sorted(names & UNUSED) == []
    assert within(names, RECALL), counted(names)


def test_remembering(settled: Cli) -> None:
    cli = Cli(settled.home, settled.home / "another")
    assert cli("init").code == 0
    names = modules(cli, command("remember", "preferences:sea", "Likes the sea."))
    assert sorted(names & {"argparse", "dataclasses", "inspect", "pathlib", "tempfile", "typing"}) == []
    assert within(names, REMEMBER), counted(names)


def test_the_version(settled: Cli) -> None:
    names = modules(settled, command("--version"))
    assert within(names, VERSION), counted(names)


def test_the_package(settled: Cli) -> None:
    names = modules(settled, "import memoranda")
    assert within(names, IMPORT), counted(names)
    names = modules(settled, "from memoranda import Vault")
    assert sorted(names & UNUSED) == []
    assert within(names, VAULT), counted(names)


def test_nothing_is_listed_file_by_file_but_the_memory_itself(settled: Cli) -> None:
    """The cache has a file a category: an answer from an unchanged vault looks at none of them."""
    code = (
        "opened, asked = [], ('open', 'os.listdir', 'os.scandir')\n"
        "sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event in asked else None)\n"
        f"{command('recall', 'sea')}\n"
        "print(*(path for path in opened if '.seen' in path or path.endswith('seen')), sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys\n{code}"],
        capture_output=True, env=settled.environment(), timeout=60, check=True,
    )  # fmt: skip
    assert b".seen" not in done.stdout
    assert b"/seen" not in done.stdout
