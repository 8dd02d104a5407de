"""Rows put behind the others, and whole files made anew: order, signatures, a store without what was taken out.

Each function writes what does not count yet and gives the pointer with which it
would. A process that stops before that pointer is written has
changed nothing; what it left is removed by the next that writes.
"""

from __future__ import annotations

import numpy as np

from memoranda.core.errors import UsageError
from memoranda.core.records import replace
from memoranda.index.vectors.files import Appending, write_file
from memoranda.index.vectors.kernels import units
from memoranda.index.vectors.layout import (
    FINDABLE,
    HELD,
    ROW,
    checksum,
    file_header,
    is_sealed,
    key_line,
    record_of,
    seal,
)
from memoranda.index.vectors.order import merged
from memoranda.index.vectors.pointer import Damaged, new_token
from memoranda.index.vectors.signatures import calibrate, codes_of, frame_of, signatures_of, wants_signatures
from memoranda.index.vectors.view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from memoranda.core.vectors import VectorRow
    from memoranda.index.vectors.pointer import Pointer

__all__ = ["appended", "compacted", "ordered", "signed", "without_empty_homes"]

_PIECE = 2048


def appended(
    folder: str, view: View, fresh: bool, rows: Sequence[VectorRow], vectors: Sequence[Sequence[float]]
) -> Pointer:
    """Write rows behind the others, or with ``fresh`` into new files. Raises OSError, UsageError."""
    pointer = view.pointer
    frame = view.frame
    names = list(pointer.homes)
    homes = {home: number for number, home in enumerate(names)}
    first, offset = pointer.rows, pointer.keys_size
    new = (pointer.base,) if fresh else ()
    with Appending(
        folder, pointer.dimension, pointer.base, pointer.signatures if frame is not None else "", new
    ) as files:
        for start in range(0, len(rows), _PIECE):
            short, found = _directions(vectors[start : start + _PIECE])
            lines, records = [], []
            size = 0
            for at, row in enumerate(rows[start : start + _PIECE]):
                lines.append(key_line(row, pointer.model, pointer.dimension))
                if (home := homes.get(row.home, -1)) < 0:
                    home = homes[row.home] = len(names)
                    names.append(row.home)
                flags = HELD | (FINDABLE if found[at] else 0)
                records.append(
                    record_of(row, home, offset + size, len(lines[-1]), checksum(short[at]), flags),
                )
                size += len(lines[-1])
            table = np.array(records, ROW)
            seal(table, first + start)
            files.vectors(first + start, short)
            files.keys(offset, b"".join(lines))
            files.records(first + start, table, np.where(found, table["home"].astype("<u4") + 1, 0))
            if frame is not None:
                signs, codes = signatures_of(frame, short), codes_of(frame, short)
                signs[~found] = 0
                codes[~found] = 0
                files.signatures(first + start, signs, codes)
            offset += size
        files.finish(first + len(rows))
    return replace(
        pointer,
        rows=first + len(rows),
        live=pointer.live + len(rows),
        keys_size=offset,
        homes=tuple(names),
        # Signatures that could not be read are as good as none.
        signatures=pointer.signatures if frame is not None else "",
        calibration=pointer.calibration if frame is not None else None,
    )


def ordered(folder: str, view: View) -> Pointer:
    """Sort the hashes of everything that is held. Raises OSError."""
    entries = int(np.count_nonzero(view.table["flags"] & HELD))
    token = new_token()
    counted = 0

    def pieces() -> Iterator[bytes]:
        nonlocal counted
        yield file_header("vectors.order", token)
        for part in (0, 1):
            for column in ("address", "parent"):
                for piece in merged(view, column):
                    counted += len(piece[0]) if part else 0
                    yield piece[part].tobytes()

    write_file(folder, "vectors.order", token, pieces())
    if counted != 2 * entries:
        # Something is damaged: better look through all of them than miss one.
        return replace(view.pointer, order="", ordered=0, entries=0)
    return replace(view.pointer, order=token, ordered=view.rows, entries=entries)


def signed(folder: str, view: View) -> Pointer:
    """Make signatures with the mean of what is held now, and try them out. Raises OSError, Damaged."""
    token, frame = new_token(), frame_of(view)
    write_file(folder, "vectors.mean", token, [frame.encode(token)])
    with Appending(folder, view.dimension, "", token, (token,)) as files:
        for start in range(0, view.rows, _PIECE):
            vectors = view.vectors[start : start + _PIECE]
            lost = view.homes[start : start + _PIECE] == 0
            signs, codes = signatures_of(frame, vectors), codes_of(frame, vectors)
            signs[lost] = 0
            codes[lost] = 0
            files.signatures(start, signs, codes)
        files.finish()
    pointer = replace(view.pointer, signatures=token, signed_at=view.rows, calibration=None)
    made = View(folder, pointer)
    if made.frame is None:
        raise Damaged(made.fault)
    return replace(pointer, calibration=calibrate(made))


def compacted(folder: str, view: View) -> Pointer:
    """Copy what is held, and sound, to new files; signatures keep their mean. Raises OSError."""
    old = view.pointer
    base = new_token()
    live = np.flatnonzero(view.table["flags"] & HELD)
    live = live[[not view.is_being_wiped(row) for row in live.tolist()]] if old.wiping else live
    keep = view.frame if wants_signatures(len(live), view.dimension) else None
    signatures = new_token() if keep is not None else ""
    homes: dict[int, int] = {}
    names: list[str] = []
    rows = offset = 0
    if keep is not None:
        write_file(folder, "vectors.mean", signatures, [keep.encode(signatures)])
    fresh = tuple(token for token in (base, signatures) if token)
    with Appending(folder, view.dimension, base, signatures, fresh) as files:
        for start in range(0, len(live), _PIECE):
            part = live[start : start + _PIECE]
            vectors = view.vectors[part]
            records = view.table[part]
            sound = np.array(
                [
                    is_sealed(record, row) and checksum(vector) == int(record["crc"])
                    for row, vector, record in zip(part.tolist(), vectors, records, strict=True)
                ]
            )
            part, vectors, records = part[sound], vectors[sound], records[sound]
            lines = []
            for record in records:
                lines.append(view.line(record))
                home = int(record["home"])
                if home not in homes:
                    homes[home] = len(names)
                    names.append(old.homes[home])
                record["home"], record["offset"] = homes[home], offset
                offset += len(lines[-1])
            seal(records, rows)
            found = view.homes[part] != 0
            files.vectors(rows, vectors)
            files.records(rows, records, np.where(found, records["home"] + 1, 0))
            if lines:
                files.keys(offset - sum(map(len, lines)), b"".join(lines))
            if keep is not None:
                signs, codes = signatures_of(keep, vectors), codes_of(keep, vectors)
                signs[~found] = 0
                codes[~found] = 0
                files.signatures(rows, signs, codes)
            rows += len(part)
        files.finish(rows)
    made = replace(
        old,
        rows=rows,
        live=rows,
        keys_size=offset,
        base=base,
        order="",
        ordered=0,
        entries=0,
        signatures=signatures,
        signed_at=min(old.signed_at, rows),
        homes=tuple(names),
        wiping=(),
        calibration=old.calibration if keep is not None else None,
    )
    return made


def without_empty_homes(view: View) -> Pointer | None:
    """Without the names of homes that have no rows any more, which may be those of people; ``None``: there are none."""
    count = len(view.pointer.homes)
    used = np.bincount(np.minimum(view.homes, count), minlength=count + 1)[1:] > 0
    empty = [number for number in np.flatnonzero(~used).tolist() if view.pointer.homes[number]]
    if not empty:
        return None
    # Rows that cannot be found have homes too, which are told by their records alone.
    lost = np.flatnonzero(view.homes == 0)
    lost = lost[(view.table["flags"][lost] & HELD) != 0]
    kept = set(view.table["home"][lost].tolist())
    gone = {number for number in empty if number not in kept}
    if not gone:
        return None
    names = ["" if number in gone else home for number, home in enumerate(view.pointer.homes)]
    return replace(view.pointer, homes=tuple(names))


def _directions(vectors: Sequence[Sequence[float]]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Vectors of length 1, and which of them have a direction. Raises UsageError: something else than numbers."""
    try:
        return units(np.array(vectors, np.float64))
    except (ValueError, TypeError) as error:
        raise UsageError("a vector holds what is no number") from error
