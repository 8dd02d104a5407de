"""Credentials: found by a reference at the moment of use, never written down, never shown."""

from __future__ import annotations

from memoranda.core.errors import MissingExtra, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["resolve"]


def resolve(reference: str, usual: Sequence[str] = (), placeholder: str = "", table: str = "embedding") -> str:
    """The credential that a reference names: ``env:NAME`` or ``keyring:SERVICE/USER``.

    An empty reference is the first of the ``usual`` variables that is set, else
    the ``placeholder``, for servers that ask for none. ``table`` is where the
    settings of what needs it are, for messages.

    Raises:
        UsageError: there is none, or what there is cannot be sent; the message
            names where it was looked for, and nothing of what was found.
        MissingExtra: the reference is to a keyring, and the package is missing.
    """
    from os import environ

    if not reference:
        for name in usual:
            if found := environ.get(name, "").strip():
                return _sendable(found, f"the environment variable {name}")
        if placeholder:
            return placeholder
        raise UsageError(
            f'no key: set the environment variable {" or ".join(usual)}, or key = "env:NAME" under [{table}]'
            if usual
            else f'no key: set key = "env:NAME" under [{table}]'
        )
    kind, _, rest = reference.partition(":")
    rest = rest.strip()
    if kind == "env" and rest:
        if found := environ.get(rest, "").strip():
            return _sendable(found, f"the environment variable {rest}")
        raise UsageError(f"the environment variable {rest}, which is to hold the key, is not set or empty")
    if kind == "keyring" and rest:
        return _from_keyring(rest)
    # What was written here may be the secret itself: it is not repeated.
    raise UsageError('a key is named by "env:NAME" or "keyring:SERVICE/USER"')


def _from_keyring(rest: str) -> str:
    service, slash, user = rest.rpartition("/")
    if not slash or not service or not user:
        raise UsageError(f'a key in the keyring is named by "keyring:SERVICE/USER", not "keyring:{rest}"')
    from importlib import import_module

    try:
        keyring, errors = import_module("keyring"), import_module("keyring.errors")
    except ImportError as error:
        raise MissingExtra(f'key = "keyring:{rest}"', "keyring") from error
    failed = ""
    try:
        found = keyring.get_password(service, user)
    except errors.KeyringError as error:
        failed = type(error).__name__
    if failed:
        raise UsageError(f'the keyring of this machine cannot be read ({failed}); a variable can: key = "env:NAME"')
    if not found or not found.strip():
        raise UsageError(f"the keyring holds no key for {service}/{user}: keyring set {service} {user}")
    return _sendable(found.strip(), f"the keyring's entry {service}/{user}")


def _sendable(found: str, place: str) -> str:
    """A credential goes into a header: anything else would be refused there, with its text in the message."""
    if not found.isascii() or not found.isprintable() or " " in found:
        raise UsageError(f"{place} holds what cannot be a key: a space, a line break or a letter beyond ASCII")
    return found
