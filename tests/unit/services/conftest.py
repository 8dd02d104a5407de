"""A vault with a clock that stands still."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from fakes.clock import FakeClock
from memoranda.bootstrap import Vault


@pytest.fixture
def clock() -> FakeClock:
    """Ten in the morning of 10 July 2026 in Shanghai."""
    return FakeClock(datetime(2026, 7, 10, 2, 0, tzinfo=UTC), ZoneInfo("Asia/Shanghai"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Where the vault is."""
    return tmp_path / "vault"


@pytest.fixture
def vault(root: Path, clock: FakeClock) -> Iterator[Vault]:
    """An open vault, empty."""
    with Vault.open(root, clock=clock) as opened:
        yield opened
