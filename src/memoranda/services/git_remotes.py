"""Where a git repository comes from, read from its files as git reads them, and URLs of it in one form."""

from __future__ import annotations

import os
import re

from memoranda.core.errors import UsageError
from memoranda.storage.files import read_bytes, reading

__all__ = ["common_folder", "found_folder", "local_path", "origin_of", "plain_url", "read_small"]

_MOST = 1 << 20
_SECTION = re.compile(r'\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_VALUE = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*=\s*(.*)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def read_small(path: str) -> bytes | None:
    """A file that is small if it is what it should be; ``None`` if it is not there.

    Raises:
        UsageError: it is far too large, or not text.
        VaultUnreadable: it may not be read, or is no file.
    """
    with reading(path):
        try:
            if os.path.getsize(path) > _MOST:
                raise UsageError(f"{path} is too large to be what its name says")
            data = read_bytes(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
    if b"\0" in data:
        raise UsageError(f"{path} is not text")
    return data


def found_folder(marker: str) -> str | None:
    """The git folder that a ``.git`` is or, as a file, names; ``None`` if it is neither. Raises UsageError."""
    if os.path.isdir(marker):
        return marker if any(os.path.isfile(os.path.join(marker, name)) for name in ("HEAD", "config")) else None
    line = _first_line(marker)
    if line is None:
        return None
    if not line.startswith("gitdir:"):
        raise UsageError(f"{marker} does not name a git folder")
    folder = os.path.join(os.path.dirname(marker), line.removeprefix("gitdir:").strip())
    if not os.path.isdir(folder):
        raise UsageError(f"{marker} names a git folder that is not there")
    return os.path.realpath(folder)


def common_folder(git: str) -> str:
    """The folder that all worktrees of a repository share. Raises UsageError."""
    line = _first_line(os.path.join(git, "commondir"))
    folder = git if not line else os.path.join(git, line)
    if not os.path.isdir(folder):
        raise UsageError(f"{git} names a common folder that is not there")
    return os.path.realpath(folder)


def _first_line(path: str) -> str | None:
    data = read_small(path)
    if data is None:
        return None
    return os.fsdecode(data).split("\n", 1)[0].strip()


def origin_of(common: str) -> str:
    """The URL of the remote ``origin``; empty if there is none. Raises UsageError, VaultUnreadable."""
    path = os.path.join(common, "config")
    data = read_small(path) or b""
    inside = False
    for line in data.decode("utf-8", "surrogateescape").replace("\r\n", "\n").replace("\\\n", "").split("\n"):
        if (section := _SECTION.match(line)) is not None:
            name, sub = section[1].casefold(), section[2]
            inside = (name, sub) == ("remote", "origin") or (name, sub) == ("remote.origin", None)
            line = line[section.end() :]
        if inside and (value := _VALUE.match(line)) is not None and value[1].casefold() == "url":
            url = _unquoted(value[2])
            if not url.isprintable():
                raise UsageError(f"the URL of origin in {path} holds what no URL can")
            if url:
                return url
    return ""


def _unquoted(text: str) -> str:
    """A value of git's configuration without quotes, escapes and the comment after it."""
    out, quoted, at = "", False, 0
    while at < len(text):
        sign = text[at]
        if sign == "\\" and at + 1 < len(text):
            at += 1
            out += {"n": "\n", "t": "\t", "b": "\b"}.get(text[at], text[at])
        elif sign == '"':
            quoted = not quoted
        elif sign in "#;" and not quoted:
            break
        else:
            out += sign
        at += 1
    return out.strip()


def local_path(url: str, root: str) -> str | None:
    """The folder that a URL names if it is one of this machine, relative ones seen from ``root``; else ``None``."""
    if url[:7].casefold() == "file://":
        path = url[7:]
        path = path[path.find("/") :] if "/" in path else ""
        return path if path and not path.startswith("//") else None
    if _SCHEME.match(url) or url.startswith(("//", "\\\\")):
        return None  # another machine's; to look there would be to ask it
    head = url.split("/", 1)[0]
    if ":" in head and not _DRIVE.match(url):
        return None
    return os.path.join(root, url)


def plain_url(url: str) -> str:
    """Host and path of a URL: what its forms by ssh, https and the like have in common, without user and password."""
    if (scheme := _SCHEME.match(url)) is not None:
        authority, _, path = url[scheme.end() :].partition("/")
        path = re.split("[?#]", path, maxsplit=1)[0]
        authority = re.split("[?#]", authority, maxsplit=1)[0]
    elif os.path.isabs(url) or _DRIVE.match(url):
        authority, path = "", url.replace("\\", "/")
    else:
        authority, path = _scp(url)
    host = authority.rpartition("@")[2]
    host = host.partition("]")[0].removeprefix("[") if host.startswith("[") else host.partition(":")[0]
    parts = [part for part in path.split("/") if part]
    if parts[-1:] == [".git"]:
        parts.pop()
    if parts:
        # What looks like a user here is the rest of a password that should have been escaped.
        parts[-1] = parts[-1].rpartition("@")[2].removesuffix(".git")
    return "/".join([host.rstrip(".").casefold(), *parts])


def _scp(url: str) -> tuple[str, str]:
    """Host and path of ``user@host:path``; what stands before the host may hold a password, and colons."""
    head = url.split("/", 1)[0]
    rest = url[head.rfind("@") + 1 :] if ":" in head.rpartition("@")[2] else url
    colon = rest.find(":", rest.find("]") if rest.startswith("[") else 0)
    return (rest[:colon], rest[colon + 1 :]) if colon >= 0 else ("", rest)
