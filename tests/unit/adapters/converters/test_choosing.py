"""The table of converters."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

import pytest

from memoranda.adapters.converters.choosing import CONVERTERS, check_choices, converter_for
from memoranda.adapters.converters.formats import BY_NAME
from memoranda.adapters.converters.limits import Limits
from memoranda.core.documents import NotConverted
from memoranda.core.errors import UsageError


def test_every_entry_names_what_is_there() -> None:
    for one in CONVERTERS:
        assert callable(getattr(import_module(f"memoranda.adapters.converters.{one.module}"), one.function))


def test_every_format_has_a_converter() -> None:
    known = {format for one in CONVERTERS if not one.only_chosen for format in one.formats} | {"zip"}

    assert set(BY_NAME.values()) - {"iwork"} <= known


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins

    real = builtins.__import__
    monkeypatch.setattr(
        "memoranda.adapters.converters.xls.import_module", lambda name: (_ for _ in ()).throw(ImportError(name))
    )
    monkeypatch.setattr(
        "memoranda.adapters.converters.by_markitdown.import_module",
        lambda name: (_ for _ in ()).throw(ImportError(name)),
    )
    assert builtins.__import__ is real
    with pytest.raises(NotConverted) as caught:
        converter_for("xls", Limits())
    assert (caught.value.kind, str(caught.value)) == ("unsupported", "reading xls needs pip install 'memoranda[kb]'")


def test_a_choice_that_is_none_is_told_what_there_is() -> None:
    check_choices({"pdf": "docling", "docx": "pandoc", "csv": "markitdown"})
    with pytest.raises(UsageError, match="pdfium, markitdown, docling"):
        check_choices({"pdf": "pandoc"})
    with pytest.raises(UsageError, match="no such format"):
        check_choices({"nonsense": "pandoc"})


@pytest.mark.skipif(find_spec("docling") is not None, reason="docling is installed")
def test_a_chosen_converter_that_is_missing_is_not_replaced_by_another() -> None:
    with pytest.raises(NotConverted, match="pip install docling"):
        converter_for("docx", Limits(), {"docx": "docling"})
