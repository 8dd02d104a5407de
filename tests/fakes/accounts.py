"""Somebody else's account on the machine."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

__all__ = ["NOBODY", "as_nobody", "needs_root"]

NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user; root itself may read all")


def as_nobody(work: Callable[[], object]) -> None:
    """Do ``work`` in a child process of a user with no rights. Fails if it fails."""
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            work()
            os._exit(0)
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
