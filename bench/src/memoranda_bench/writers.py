"""The child processes of the crash and the concurrency measurement.

Run as ``python -m memoranda_bench.writers remember VAULT CATEGORY PREFIX FIRST COUNT``
or ``… person FILE PREFIX``. Each says ``ready`` and waits for a line on standard
input, so that all begin together; then each acknowledged write is one line,
sent at once: ``+ address``, and a refused one ``! reason``.
"""

from __future__ import annotations

import os
import sys
import time

__all__ = ["item_text", "main"]


def item_text(name: str) -> str:
    """What is remembered under ``name``: distinct, in two languages, longer than a line."""
    return f"Entry {name} was acknowledged only after it was on disk.\n第 {name} 条：写下来的，就不会丢。"


def _say(line: str) -> None:
    os.write(1, line.encode() + b"\n")


def _wait() -> None:
    _say("ready")
    sys.stdin.readline()


def _remember(root: str, category: str, prefix: str, first: int, count: int) -> None:
    from memoranda import Vault

    with Vault.open(root) as vault:
        _wait()
        for number in range(first, first + count):
            name = f"{prefix}-{number}"
            try:
                written = vault.remember(f"{category}:{name}", item_text(name))
            except Exception as error:  # every kind of failure is counted, and named to the parent
                _say(f"! {name} {type(error).__name__}: {error}".replace("\n", " "))
            else:
                _say(f"+ {written.address}")


def _person(path: str, prefix: str) -> None:
    """An editor that knows of no lock: reads, appends a line, saves by a temporary and a rename."""
    _wait()
    number = 0
    while True:
        try:
            with open(path, "rb") as stream:
                data = stream.read()
        except FileNotFoundError:
            time.sleep(0.002)
            continue
        number += 1
        marker = f"{prefix}-{number}-by-hand"
        temporary = f"{path}.editor~"
        with open(temporary, "wb") as stream:
            stream.write(data + f"\n{marker}\n".encode())
        os.replace(temporary, path)
        _say(f"+ {marker}")
        time.sleep(0.001 * (number % 17))


def main(arguments: list[str]) -> None:
    """Run the child that the first argument names."""
    if arguments[0] == "remember":
        root, category, prefix, first, count = arguments[1:]
        _remember(root, category, prefix, int(first), int(count))
    elif arguments[0] == "person":
        _person(*arguments[1:])
    else:
        raise SystemExit(f"no such child: {arguments[0]}")


if __name__ == "__main__":
    main(sys.argv[1:])
