"""Which documents hold a text as it stands, by ripgrep where that is installed: it reads thousands of files at once."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.storage.vault import VaultFolder

__all__ = ["documents_holding"]

_LONGEST = 1000


def documents_holding(vault: VaultFolder, text: str, seconds: float | None) -> list[str] | None:
    """The documents (``kb/<corpus>/<document>``) in whose files the text stands, letter case aside.

    ``None``: it could not be asked within the time, or the text is no line's
    part. What is only written otherwise (full-width letters, ligatures) is not found.
    """
    import shutil
    import subprocess

    program = shutil.which("rg")
    wanted = text.strip()
    if program is None or not wanted or len(wanted) > _LONGEST or "\0" in wanted or len(wanted.splitlines()) > 1:
        return None
    options = ("--no-config", "--no-ignore", "--hidden", "--no-messages", "--null", "--files-with-matches")
    command = [program, *options, "--fixed-strings", "--ignore-case", "--glob", "*.md", "-e", wanted, "--", "docs"]
    try:
        done = subprocess.run(
            command, cwd=vault.root, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    if done.returncode not in (0, 1):
        return None
    found = []
    for path in filter(None, done.stdout.split(b"\0")):
        corpus, _, name = os.fsdecode(path).replace(os.sep, "/").removeprefix("docs/").partition("/")
        if name and "/" not in name:
            found.append(f"kb/{corpus}/{name.removesuffix('.md')}")
    return found
