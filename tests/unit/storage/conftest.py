"""Vaults of their own, on a disk whose syncs cost nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fakes.clock import FakeClock
from memoranda.storage.store import Storage
from memoranda.storage.vault import VaultFolder


@pytest.fixture(autouse=True)
def _no_syncs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is synced is proven by counting the calls; the calls themselves only cost time."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of a vault."""
    return tmp_path / "vault"


@pytest.fixture
def open_storage(root: Path, clock: FakeClock) -> Callable[[], Storage]:
    """Opens the vault's storage anew, as another process would."""
    return lambda: Storage.at(VaultFolder(str(root)), clock, "tester")


@pytest.fixture
def storage(open_storage: Callable[[], Storage]) -> Storage:
    """The storage of a fresh vault."""
    return open_storage()


@pytest.fixture
def memory(storage: Storage, root: Path) -> Path:
    """The folder of the fresh vault's shared memory."""
    return root / "memory"


@pytest.fixture
def reachable(tmp_path: Path) -> Iterator[None]:
    """Other users of the machine may pass through to the test's folder, as they may to a person's."""
    closed = [path for path in (tmp_path, *tmp_path.parents) if not path.stat().st_mode & 0o001]
    modes = [path.stat().st_mode for path in closed]
    for path, mode in zip(closed, modes, strict=True):
        path.chmod(mode | 0o001)
    yield
    for path, mode in zip(closed, modes, strict=True):
        path.chmod(mode)
