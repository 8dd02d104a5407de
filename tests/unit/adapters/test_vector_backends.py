"""The table of vector indexes: what is said where one is not there, and where its folder cannot be."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from memoranda.adapters.vector_backends import VECTOR_INDEXES, open_vector_index
from memoranda.core.errors import MissingExtra, UsageError, VaultError
from memoranda.storage.embedding_settings import EmbeddingSettings

EXTRAS = {"numpy": "embed", "sqlite-vec": "sqlite-vec", "chroma": "chroma", "qdrant": "qdrant"}
PACKAGES = {"sqlite-vec": "sqlite_vec", "chroma": "chromadb", "qdrant": "qdrant_client"}


def test_every_index_has_its_extra_and_a_line() -> None:
    assert {name: entry.extra for name, entry in VECTOR_INDEXES.items()} == EXTRAS
    for entry in VECTOR_INDEXES.values():
        assert "\n" not in entry.about


def test_an_unknown_name_lists_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'faiss'.*numpy, sqlite-vec, chroma, qdrant"):
        open_vector_index("faiss", str(tmp_path / "v"), "m", EmbeddingSettings())
    assert not (tmp_path / "v").exists()


@pytest.mark.parametrize("name", list(PACKAGES))
def test_a_missing_package_is_told_with_its_extra(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numpy")
    monkeypatch.setitem(sys.modules, PACKAGES[name], None)  # which is how Python itself is told that there is none
    with pytest.raises(MissingExtra, match=rf"pip install 'memoranda\[{name}\]'") as told:
        open_vector_index(name, str(tmp_path / "v"), "m", EmbeddingSettings())
    assert told.value.extra == name
    assert "\n" not in str(told.value)


def test_a_folder_that_cannot_be_made_is_a_fault_of_the_vault(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    pytest.importorskip("qdrant_client")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(VaultError, match="file"):
        open_vector_index("qdrant", str(tmp_path / "file" / "v"), "m", EmbeddingSettings())


def test_the_folder_is_its_owners_alone(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    pytest.importorskip("qdrant_client")
    open_vector_index("qdrant", str(tmp_path / "v"), "m", EmbeddingSettings()).close()
    assert stat.S_IMODE((tmp_path / "v").stat().st_mode) == 0o700


def test_the_table_imports_no_package() -> None:
    asked = "import sys, memoranda.adapters.vector_backends; print(sorted({'numpy', 'sqlite3'} & set(sys.modules)))"
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
