"""A person's work on a vault's files, and looking at what is there."""

from __future__ import annotations

import os
from pathlib import Path

from memoranda.core.addresses import Address, parse_address
from memoranda.storage.baselines import Baseline
from memoranda.storage.categories import bytes_hash
from memoranda.storage.external import account_for, account_for_absence
from memoranda.storage.snapshot import scan
from memoranda.storage.store import Storage
from memoranda.storage.transaction import Transaction, run

__all__ = ["account", "add", "known_as", "look", "save", "tree"]


def save(path: Path, data: bytes) -> None:
    """Save as most editors do: write another file and rename it over."""
    path.parent.mkdir(parents=True, exist_ok=True)
    other = path.with_name(f".{path.name}.swp")
    other.write_bytes(data)
    os.replace(other, path)


def tree(root: Path) -> dict[str, bytes]:
    """Every file that is not derived and not a lock, by its path."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".cache" not in path.relative_to(root).parts and path.name != ".lock"
    }


def look(root: Path) -> dict[str, bytes]:
    """The files of memory alone."""
    return {path: data for path, data in tree(root).items() if "memory" in path.split("/")[:3]}


def account(storage: Storage) -> None:
    """Account for everything that a person did, as the index does when it looks at the files."""
    snapshot = scan(storage.vault)
    with storage.locked():
        for found in snapshot.files.values():
            loaded = storage.reader.read(found.path)
            baseline = storage.baselines.get(found.relative)
            if loaded is not None and (baseline is None or baseline.hash != loaded.hash):
                account_for(storage, found.address, found.relative, loaded, baseline)
        for baseline in storage.baselines.vanished(snapshot.files):
            address = storage.vault.address_at(baseline.path)
            if address is not None and not snapshot.is_unknown(baseline.path):
                account_for_absence(storage, address, baseline)


def known_as(storage: Storage) -> dict[str, Baseline | None]:
    """What is known of each file that is there, and that it is what the file holds."""
    found: dict[str, Baseline | None] = {}
    for path, file in scan(storage.vault).files.items():
        found[path] = storage.baselines.get(path)
        assert storage.baselines.hash_of(path) == bytes_hash(Path(file.path).read_bytes()), path
    return found


def add(storage: Storage, address: str, text: str) -> str:
    """Add an item as a service would; returns the change's id."""
    where: Address = parse_address(address, writing=True)

    def plan(transaction: Transaction) -> str:
        added = transaction.open(where).add(where.name or "", text)
        transaction.log("add", where, after=added.hash)
        return transaction.id

    return run(storage, "add", plan)
