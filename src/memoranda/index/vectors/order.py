"""Which rows belong to an address or a parent: a sorted file for most, a look at each of the few that came since."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from memoranda.index.vectors.layout import HELD, hash_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

    from numpy.typing import NDArray

    from memoranda.index.vectors.view import View

__all__ = ["is_behind", "merged", "rows_at", "rows_of_addresses"]

#: So many rows may be missing from the order, or a sixteenth of them.
_LOOSE = 8192
_LOOSE_SHARE = 16
#: For so many hashes the loose rows are looked through one hash at a time; for more they are sorted first.
_FEW = 12
#: Entries in a piece that is merged at once.
_PIECE = 65_536


def is_behind(rows: int, ordered: int) -> bool:
    """Whether the order misses so many of the rows that it should be made anew."""
    return rows - ordered > max(_LOOSE, rows // _LOOSE_SHARE)


def rows_of_addresses(view: View, addresses: Collection[str], *, damaged: bool = False) -> dict[str, int]:
    """The rows of those of the addresses that are held; with ``damaged`` also of those whose line cannot be read."""
    wanted = list(dict.fromkeys(addresses))
    found: dict[str, int] = {}
    for address, rows in zip(wanted, rows_at(view, "address", [hash_of(one) for one in wanted]), strict=True):
        # The last one counts, should a fault of the disk have brought back one that was wiped.
        for row in reversed(rows):
            key = view.key(row)
            if (damaged and view.is_held(row)) if key is None else key.address == address:
                found[address] = row
                break
    return found


def rows_at(view: View, column: str, hashes: list[int]) -> list[list[int]]:
    """For each hash of an ``"address"`` or ``"parent"`` the rows that may have it, in their order."""
    found: list[list[int]] = [[] for _ in hashes]
    if not hashes or not view.rows:
        return found
    ordered = 0
    if view.order is not None:
        ordered = view.pointer.ordered
        sorted_hashes, rows = view.order[:2] if column == "address" else view.order[2:]
        _collect(found, hashes, sorted_hashes, rows, 0)
    loose = view.table[column][ordered:]
    if not len(loose):
        return found
    if len(hashes) <= _FEW:
        for at, one in enumerate(hashes):
            found[at].extend((np.flatnonzero(loose == np.uint64(one)) + ordered).tolist())
    else:
        order = np.argsort(loose, kind="stable")
        _collect(found, hashes, loose[order], order, ordered)
    return found


def _collect(
    found: list[list[int]], hashes: list[int], sorted_hashes: NDArray[Any], rows: NDArray[Any], first: int
) -> None:
    wanted = np.array(hashes, np.uint64)
    starts = np.searchsorted(sorted_hashes, wanted, "left")
    stops = np.searchsorted(sorted_hashes, wanted, "right")
    for at in np.flatnonzero(stops > starts).tolist():
        found[at].extend((np.sort(rows[starts[at] : stops[at]]).astype(np.int64) + first).tolist())


def merged(view: View, column: str) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Hashes and rows of everything that is held, sorted, piece by piece."""
    ordered = view.pointer.ordered if view.order is not None else 0
    flags = view.table["flags"]
    loose = np.flatnonzero(flags[ordered:] & HELD) + ordered
    hashes = view.table[column][loose]
    by_hash = np.argsort(hashes, kind="stable")
    hashes, loose = hashes[by_hash], loose[by_hash].astype("<u4")
    if view.order is None:
        yield hashes, loose
        return
    old_hashes, old_rows = view.order[:2] if column == "address" else view.order[2:]
    places = np.searchsorted(old_hashes, hashes, "right")
    done = 0
    for start in range(0, max(1, len(old_hashes)), _PIECE):
        stop = min(len(old_hashes), start + _PIECE)
        last = stop == len(old_hashes)
        until = len(places) if last else bisect_left(places, stop)
        held = flags[old_rows[start:stop]] & HELD != 0
        at = places[done:until] - start
        every = np.insert(old_hashes[start:stop], at, hashes[done:until])
        rows = np.insert(old_rows[start:stop], at, loose[done:until])
        kept = np.insert(held, at, True)
        yield every[kept], rows[kept]
        done = until
