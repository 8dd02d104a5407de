"""One run of a command: its arguments, its streams, and the vault it works on."""

from __future__ import annotations

import sys

from memoranda.core.errors import UsageError
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.bootstrap import Vault
    from memoranda.faces.cli.output import Output
    from memoranda.faces.cli.parsing import Arguments

__all__ = ["Session"]


@dataclass(frozen=True, slots=True)
class Session:
    """What a command gets to do its work."""

    arguments: Arguments
    out: Output

    def folder(self) -> str:
        """The vault's folder as it was asked for: ``-C``, ``MEMORANDA_VAULT``, else ``~/memoranda``."""
        given: str | None = self.arguments.vault
        if given is not None:
            if not given:
                raise UsageError("-C needs a folder")
            return given
        from memoranda.bootstrap import default_vault

        return default_vault()

    def open(self) -> Vault:
        """The vault, which must be there.

        Raises:
            VaultUnreadable: it is not; the message names the folder and ``memoranda init``.
        """
        from memoranda.bootstrap import Vault

        return self.tell_faults(Vault.open(self.folder(), create=False, background="process"))

    def tell_faults(self, vault: Vault) -> Vault:
        """Say on stderr what is wrong with the vault's settings."""
        for fault in vault.settings_faults:
            self.out.note(f"memoranda.toml {fault}")
        return vault

    def tell_unread(self, vault: Vault) -> None:
        """Say on stderr what a list of everything had to leave out."""
        for path in vault.unread():
            self.out.note(f"{path} cannot be read and is left out; see memoranda check")

    def open_or_create(self) -> Vault:
        """The vault; a new one is named on stderr, so that nobody wonders where it lies."""
        from memoranda.bootstrap import Vault

        vault = self.tell_faults(Vault.open(self.folder(), create=True, background="process"))
        if vault.is_new:
            self.out.note(f"new vault: {vault.root}")
        return vault

    def text(self) -> str:
        """The text of ``[TEXT|-]``: its words joined, or what stdin holds less one final newline.

        Raises:
            UsageError: no text, an empty one, or one that is not UTF-8.
        """
        words: list[str] = self.arguments.text
        text = read_stdin() if words in ([], ["-"]) else " ".join(words)
        if not text.strip():
            raise UsageError("the text is empty")
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise UsageError(f"the text is not UTF-8 (character {error.start + 1})") from None
        return text


def read_stdin() -> str:
    """All of stdin as UTF-8, less a byte order mark and one final newline.

    Raises:
        UsageError: nobody feeds stdin, or its bytes are not UTF-8.
    """
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("no text: write it after the address, or feed it through stdin")
    # The descriptor's own bytes: the locale has no say.
    data = sys.stdin.buffer.read()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"stdin is not UTF-8 (byte {error.start + 1})") from None
    for newline in ("\r\n", "\n", "\r"):
        if text.endswith(newline):
            return text[: -len(newline)]
    return text
