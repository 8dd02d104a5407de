"""A vault's segments: opened if they are its own, made when that pays, rewritten in the background when much is new.

There is one of what is remembered (``keywords``: items and turns) and one of
knowledge (``passages``). Neither is read, or made anew, for the other's sake.
"""

from __future__ import annotations

import os
from contextlib import suppress

from memoranda.core.analysis import ANALYSIS_VERSION
from memoranda.core.errors import OutsideVault
from memoranda.index.segment import Segment
from memoranda.index.segment_format import VERSION, SegmentDamaged
from memoranda.storage.files import Stamp, read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from typing import Literal

    from memoranda.index.segmenting import Segmentation
    from memoranda.storage.resources import Resources
    from memoranda.storage.store import Storage
    from memoranda.storage.vault import VaultFolder

    Kind = Literal["keywords", "passages"]
else:
    Kind = str

__all__ = ["Kind", "SegmentKeeper", "build_folder", "made_with", "wipe_segment"]

#: Fewer bytes of files are read faster than a segment is worth its place.
_WORTH_A_SEGMENT = 64_000
#: Up to here a segment is made anew on the spot, whatever part of it changed.
_MADE_AT_ONCE = 1_000_000
#: What share of all files may be read anew by every process before the segment is rewritten.
_LOOSE_SHARE = 0.1


def made_with(segmentation: Segmentation | None = None, kind: Kind = "keywords") -> list[int | str]:
    """What shapes a segment beside the files; one that was made with something else is made anew."""
    shaped = [VERSION, ANALYSIS_VERSION, *(() if segmentation is None else segmentation.made_with)]
    if kind == "passages":
        from memoranda.core.passage_version import PASSAGES_VERSION

        shaped += [kind, PASSAGES_VERSION]
    return shaped


def build_folder(kind: Kind) -> str:
    """What a segment is made of lies here, below ``.cache``. Each kind's own: a build that is done removes it."""
    return "build" if kind == "keywords" else f"build-{kind}"


def wipe_segment(vault: VaultFolder, kind: Kind) -> None:
    """Remove a segment and what one is being made of, for the sake of a text that is to be nowhere. Needs the lock.

    A build that is under way may not put in place what it has: its files are not as it read them.
    """
    import shutil

    with suppress(OSError):
        for name in os.listdir(vault.path(".cache")):
            # With what lies beside it: one that is just being written is as good.
            if name.startswith(f"{kind}.segment"):
                os.unlink(vault.path(f".cache/{name}"))
    shutil.rmtree(vault.path(f".cache/{build_folder(kind)}"), ignore_errors=True)


class SegmentKeeper:
    """Looks after one segment of one vault for one process."""

    def __init__(
        self,
        storage: Storage,
        resources: Resources,
        segmentation: Segmentation | None = None,
        kind: Kind = "keywords",
    ) -> None:
        self._storage = storage
        self._resources = resources
        self._segmentation = segmentation
        self._kind = kind
        self._path = storage.vault.path(f".cache/{kind}.segment")
        self._rewriting: subprocess.Popen[bytes] | None = None
        self._accounting: subprocess.Popen[bytes] | None = None
        self._tried_at = 0

    def open(self) -> Segment | None:
        """The segment, if there is one and it is this vault's and this program's."""
        try:
            if os.path.islink(os.path.dirname(self._path)):
                self._storage.vault.check_inside(self._path, ".cache")
            segment = Segment(self._path)
        except (OSError, SegmentDamaged, OutsideVault):
            return None
        about = segment.contents
        if about.get("vault") != self._storage.vault.id or about.get("made_with") != self._made_with():
            segment.close()
            return None
        return segment

    def _made_with(self) -> list[int | str]:
        return made_with(self._segmentation, self._kind)

    def discard(self) -> None:
        """Remove a segment that is not what was written."""
        with suppress(OSError):
            os.unlink(self._path)

    def make_now(self, unread: int, total: int, progress: Callable[[int, int | None], None] | None) -> bool:
        """Make a segment before anything is read, if so many of all bytes would have to be read; whether it was made.

        Raises:
            VaultUnreadable: the vault as a whole may not be read.
        """
        if unread < max(_WORTH_A_SEGMENT, _LOOSE_SHARE * total):
            return False
        if unread * 2 < total and total > _MADE_AT_ONCE:
            return False
        from memoranda.index.rebuild import rebuild

        before = self._stamp()
        made = rebuild(self._storage, self._resources, progress, self._segmentation, self._kind)
        # Where another process was faster, its segment will do.
        return made or self._stamp() not in (None, before)

    def rewrite_later(self, loose: int, total: int) -> None:
        """Rewrite the segment in a process of its own, if so many of all bytes are not as it has them."""
        if loose < max(_WORTH_A_SEGMENT, _LOOSE_SHARE * total, self._tried_at * 1.2):
            return
        if self._rewriting is None or self._rewriting.poll() is not None:
            self._tried_at = loose
            self._rewriting = self._begin(self._kind)

    def account_later(self) -> None:
        """Journal in a process of its own what nobody has accounted for, once by each process at most."""
        if self._accounting is None:
            self._accounting = self._begin("journal")

    def is_accounted(self, segment: Segment) -> bool:
        """Whether all that the segment has is accounted for in the journal."""
        if segment.contents.get("accounted"):
            return True
        try:
            return read_bytes(f"{self._path}.accounted") == self._identity()
        except OSError:
            return False

    def mark_accounted(self) -> None:
        """Note that all that the present segment has is accounted for."""
        from memoranda.storage.baseline_files import replace_unsynced

        with suppress(OSError):
            replace_unsynced(f"{self._path}.accounted", self._identity())

    def _identity(self) -> bytes:
        stamp = Stamp.of(os.stat(self._path))
        return f"{stamp.inode} {stamp.size} {stamp.mtime_ns}".encode("ascii")

    def _stamp(self) -> Stamp | None:
        try:
            return Stamp.of(os.stat(self._path))
        except OSError:
            return None

    def _begin(self, what: str) -> subprocess.Popen[bytes] | None:
        """Start :mod:`memoranda.index.rebuild` and leave it to itself."""
        from memoranda.index.build_pool import begin_in_background

        origin = () if self._segmentation is None else self._segmentation.origin
        return begin_in_background("memoranda.index.rebuild", what, self._storage.vault.root, *origin)

    def has_rewritten(self) -> bool:
        """Whether a rewriting that this process began has put a new segment in place since it was last asked."""
        if self._rewriting is None or self._rewriting.poll() is None:
            return False
        code, self._rewriting = self._rewriting.returncode, None
        if code == 0:
            self._tried_at = 0
        return code == 0
