"""Which part of a vault one embedder is for: everything, or a corpus whose settings name another one."""

from __future__ import annotations

import os

from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from memoranda.core.model import Level
    from memoranda.index.indexed_files import SourceFile
    from memoranda.storage.vault import VaultFolder

__all__ = ["EmbeddedPart"]

_MEMORY: tuple[Level, ...] = ("item", "resource")
_KNOWLEDGE: Level = "passage"
#: The folder of a corpus's own vectors. What begins so is spared where single vectors are.
_FOLDER = ".cache/vectors.corpora"


def _none() -> Collection[str]:
    return ()


@dataclass(frozen=True, slots=True)
class EmbeddedPart:
    """One corpus's documents (``corpus``, and the scope of its partition, ``library``), or all that no other part has.

    ``apart`` gives the libraries that have parts of their own.
    """

    corpus: str = ""
    library: str = ""
    apart: Callable[[], Collection[str]] = _none

    def levels(self, vault: VaultFolder) -> tuple[Level, ...]:
        """What there is to embed: who has no documents pays for no look at them."""
        if self.corpus:
            return (_KNOWLEDGE,)
        return (*_MEMORY, _KNOWLEDGE) if os.path.isdir(vault.path("docs")) else _MEMORY

    def own(self, sources: Mapping[str, SourceFile]) -> dict[str, SourceFile]:
        """The files that are of this part."""
        apart = () if self.corpus else self.apart()
        if not self.corpus and not apart:
            return dict(sources)
        return {path: file for path, file in sources.items() if self._has(file, apart)}

    def _has(self, file: SourceFile, apart: Collection[str]) -> bool:
        libraries = {scope for level, scope, _ in file.parents if level == _KNOWLEDGE}
        return self.library in libraries if self.corpus else not libraries & set(apart)

    def gone(self, read: Collection[Level], vault: VaultFolder) -> list[Level]:
        """The levels of which a file that is not there any more is known to be gone, where these have been ``read``."""
        levels = self.levels(vault)
        return [level for level in (*_MEMORY, _KNOWLEDGE) if level in read or level not in levels]

    def cache(self, vault: VaultFolder) -> str:
        """The folder that its vectors lie in."""
        relative = f"{_FOLDER}/{self.corpus}" if self.corpus else ".cache"
        path = vault.path(relative)
        vault.check_inside(path, ".cache")
        return path

    def lock(self, name: str) -> str:
        """The name of a lock of this part."""
        return f"{name}.{self.corpus}" if self.corpus else name
