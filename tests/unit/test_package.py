"""The package as a whole: what it exports, and that importing it costs and brings nothing."""

from __future__ import annotations

import ast
import importlib
import pathlib
import subprocess
import sys

import pytest

import memoranda

SOURCE = pathlib.Path(memoranda.__file__).parent
MODULES = sorted(path for path in SOURCE.rglob("*.py") if path.name not in ("__init__.py", "__main__.py"))


def test_what_is_exported_is_there() -> None:
    assert memoranda.__all__ == sorted(memoranda.__all__)
    for name in memoranda.__all__:
        assert getattr(memoranda, name) is not None
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        getattr(memoranda, "nothing_of_the_kind")  # noqa: B009 - mypy would refuse the plain form


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_module_says_what_it_is_for_and_what_it_exports(path: pathlib.Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), "no docstring"
    names = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets)
    ]
    if path.name == "version.py":
        return
    assert names, "no __all__"
    dotted = ".".join(("memoranda", *path.relative_to(SOURCE).with_suffix("").parts))
    module = importlib.import_module(dotted)
    assert [name for name in names[0] if not hasattr(module, name)] == []


def test_importing_the_package_brings_nothing_third_party_and_no_work() -> None:
    code = (
        "import sys; before = set(sys.modules); import memoranda; new = set(sys.modules) - before\n"
        "allowed = set(sys.stdlib_module_names) | {'memoranda'}\n"
        "print(sorted(n for n in new if n.partition('.')[0] not in allowed))\n"
        "print(sorted(n for n in new if n.startswith('memoranda.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "['memoranda.version']"]
