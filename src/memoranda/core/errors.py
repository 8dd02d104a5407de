"""The one exception tree. Exit codes sit on the classes; faces only read them.

::

    MemorandaError                 1
    ├── NotFound                   1   nothing of that address, id or query
    ├── UsageError                 2   the caller asked for something that has no meaning
    │   ├── BadName                    a name, address or scope that cannot be one
    │   ├── BadText                    text that would change the items around it
    │   └── OutsideVault               a path or link that leaves the vault
    ├── Conflict                   3   the vault holds something else than the caller believes
    │   ├── NameTaken                  the name holds other text
    │   ├── ChangedUnderneath          the file or item is not what was read
    │   ├── AlreadyAnswered            somebody else was faster, or the time was up
    │   └── CannotUndo                 the change cannot be taken back
    ├── VaultError                 4   the vault as a whole cannot be used for this
    │   ├── VaultUnreadable            missing, not a folder, no permission
    │   ├── VaultReadOnly              reading works, writing does not
    │   ├── VaultBusy                  another process holds the lock for too long
    │   ├── VaultFull                  the disk refused the bytes; nothing was changed
    │   └── VaultFormat                written by a newer version, or needs ``migrate``
    ├── MissingExtra               5   the feature needs a ``pip install memoranda[...]``
    └── ServiceFailed              6   something outside the machine failed
        └── ServiceRefused             and would fail the same way if it were asked again

A fault in a person's file is never an exception: it is a
:class:`memoranda.core.model.Problem` in a list.
"""

from __future__ import annotations

__all__ = [
    "AlreadyAnswered",
    "BadName",
    "BadText",
    "CannotUndo",
    "ChangedUnderneath",
    "Conflict",
    "MemorandaError",
    "MissingExtra",
    "NameTaken",
    "NotFound",
    "OutsideVault",
    "ServiceFailed",
    "ServiceRefused",
    "UsageError",
    "VaultBusy",
    "VaultError",
    "VaultFormat",
    "VaultFull",
    "VaultReadOnly",
    "VaultUnreadable",
]


class MemorandaError(Exception):
    """Base of everything that memoranda raises on purpose."""

    exit_code: int = 1


class NotFound(MemorandaError):
    """Nothing of that address, id or query exists."""

    exit_code = 1


class UsageError(MemorandaError):
    """The request has no meaning; the message says what to write instead."""

    exit_code = 2


class BadName(UsageError):
    """A name, address or scope that cannot be one."""


class BadText(UsageError):
    """Text that, written down, would change the items around it."""


class OutsideVault(UsageError):
    """A path or symbolic link that leaves the vault."""


class Conflict(MemorandaError):
    """The vault holds something else than the caller believes; nothing was written."""

    exit_code = 3


class NameTaken(Conflict):
    """The name already holds other text."""


class ChangedUnderneath(Conflict):
    """The file or item is no longer what the caller read."""


class AlreadyAnswered(Conflict):
    """The question is open no more; the message says who answered what, and how."""


class CannotUndo(Conflict):
    """The change cannot be taken back (forgotten, already undone, or overwritten since)."""


class VaultError(MemorandaError):
    """The vault as a whole cannot be used for this."""

    exit_code = 4


class VaultUnreadable(VaultError):
    """The vault is missing, not a folder, or may not be read."""


class VaultReadOnly(VaultError):
    """The vault may be read but not written."""


class VaultBusy(VaultError):
    """Another process held the vault's lock for longer than the caller would wait."""


class VaultFull(VaultError):
    """The disk took no more bytes; the vault is as it was before the call."""


class VaultFormat(VaultError):
    """The vault's format is newer than this program, or needs ``memoranda migrate``."""


class MissingExtra(MemorandaError):
    """A feature whose optional dependency is not installed."""

    exit_code = 5

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs: pip install 'memoranda[{extra}]'")
        self.extra = extra


class ServiceFailed(MemorandaError):
    """An endpoint outside this machine failed or did not answer."""

    exit_code = 6


class ServiceRefused(ServiceFailed):
    """The same request would be answered the same for ever: it is too long, or was declined."""
