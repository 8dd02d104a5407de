"""Stages that are put aside come back as they were, and take nobody's place."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoranda.core.errors import BadName, OutsideVault
from memoranda.storage.stage_history import bring_stage_back, set_stage_aside
from memoranda.storage.vault import VaultFolder


@pytest.fixture
def vault(tmp_path: Path) -> VaultFolder:
    made = VaultFolder(str(tmp_path / "vault"), create=True)
    (tmp_path / "vault/projects/shop/stages").mkdir(parents=True)
    (tmp_path / "vault/projects/shop/stages/s.json").write_bytes(b"bytes")
    return made


def test_there_and_back(vault: VaultFolder, tmp_path: Path) -> None:
    place = tmp_path / "vault/projects/shop/stages/s.json"
    assert set_stage_aside(vault, "c1", "shop", "s")
    assert not place.exists()
    assert not set_stage_aside(vault, "c1", "shop", "s")
    assert bring_stage_back(vault, "c1", "shop", "s")
    assert place.read_bytes() == b"bytes"
    assert not bring_stage_back(vault, "c1", "shop", "s")
    assert not (tmp_path / "vault/history/sleep/c1").exists()


def test_another_stage_of_that_name_stays(vault: VaultFolder, tmp_path: Path) -> None:
    place = tmp_path / "vault/projects/shop/stages/s.json"
    set_stage_aside(vault, "c1", "shop", "s")
    place.write_bytes(b"new")
    assert not bring_stage_back(vault, "c1", "shop", "s")
    assert place.read_bytes() == b"new"


@pytest.mark.parametrize("names", [("../x", "s"), ("shop", "../../../x"), ("shop", "a/b"), ("", "s")])
def test_no_name_is_a_path(vault: VaultFolder, names: tuple[str, str]) -> None:
    with pytest.raises(BadName):
        set_stage_aside(vault, "c1", *names)


def test_a_link_out_of_the_vault_is_not_followed(vault: VaultFolder, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/s.json").write_bytes(b"other")
    (tmp_path / "vault/projects/atlas").mkdir()
    (tmp_path / "vault/projects/atlas/stages").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutsideVault):
        set_stage_aside(vault, "c1", "atlas", "s")
