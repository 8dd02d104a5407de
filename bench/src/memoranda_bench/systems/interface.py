"""What a system under measurement is: it takes documents, then answers questions with their ids."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

from memoranda_bench.datasets import Document

__all__ = ["System", "SystemMissing", "SystemUnfit", "require"]


class SystemMissing(Exception):
    """A system cannot run here; the message names what to install."""


class SystemUnfit(Exception):
    """A system is not meant for this language."""


class System(Protocol):
    """One way to find documents."""

    def index(self, documents: Sequence[Document]) -> None:
        """Take in the documents, in their order; called once."""

    def ask(self, question: str, k: int) -> list[str]:
        """The ids of at most ``k`` documents, best first; none that has nothing in common with the question.

        Documents that score the same come in the order in which they were given.
        """

    def close(self) -> None:
        """Leave nothing behind."""


def require(module: str, package: str | None = None) -> Any:
    """Import an optional package.

    Raises:
        SystemMissing: it is not installed; the message says how to.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise SystemMissing(f"{package or module} is not installed: pip install {package or module}") from error
