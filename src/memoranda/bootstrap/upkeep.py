"""What takes care of a vault as a whole: checking, importing, vectors, the index."""

from __future__ import annotations

import os

from memoranda.core.errors import UsageError
from memoranda.core.model import Problem
from memoranda.core.records import replace
from memoranda.services.memorizing import Memorizing

# What only some calls need is imported by them: the command line pays for its own command alone.

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from memoranda.adapters.chosen_embedding import ChosenEmbedding
    from memoranda.core.exchanges import TurnContext
    from memoranda.core.model import Imported, Turn
    from memoranda.index.vector_sync import Synced
    from memoranda.services.contents import Progress
    from memoranda.services.embedding import EmbeddingStatus
    from memoranda.services.status import Status

__all__ = ["Upkeep"]


class Upkeep(Memorizing):
    """Calls that take care of a vault as a whole."""

    def _chosen_vectors(self) -> ChosenEmbedding:
        raise NotImplementedError

    def _has_changed(self) -> None:
        raise NotImplementedError

    def check(self, repair: bool = False) -> list[Problem]:
        """Every fault in the files, by path and line; with ``repair`` what is left after mending what can be.

        Raises:
            VaultUnreadable: the vault as a whole may not be read.
        """
        from memoranda.services import check

        with self._contents.mutex:
            self._contents.refresh()
            problems = check.check(self._storage, self._resources, self._contents.corpus)
            if repair and check.repair(self._writer, self._contents.corpus, problems):
                self._contents.refresh()
                problems = check.check(self._storage, self._resources, self._contents.corpus)
            return problems

    def import_turns(
        self,
        turns: Iterable[Turn | Problem | Mapping[str, Any]],
        *,
        progress: Progress | None = None,
        dry_run: bool = False,
    ) -> Imported:
        """Keep turns of conversations as they were said; those known already are counted, not doubled.

        With ``dry_run`` nothing is written: the result says what would be.

        Raises:
            VaultReadOnly, VaultFull, VaultBusy: what was reported added before is kept.
        """
        from memoranda.services.conversations import import_turns

        with self._contents.mutex:
            done = import_turns(self._storage, self._resources, turns, progress, dry_run=dry_run)
        if not dry_run:
            self._has_changed()
        return done

    def import_from(
        self,
        format: str,
        path: str | os.PathLike[str],
        *,
        progress: Progress | None = None,
        dry_run: bool = False,
        memorize: TurnContext | None = None,
    ) -> Imported:
        """Take in a file or folder of another format; what is there is only read.

        With ``dry_run`` nothing is written into the vault either: the result
        says what would be. Conversations are queued, too, where ``memorize``
        says whose memories they are to become.

        Raises:
            UsageError: no such format, nothing of it at ``path``, or nothing in it to memorize.
            VaultReadOnly, VaultFull, VaultBusy.
        """
        from memoranda.adapters.registry import read_foreign
        from memoranda.services.intake import import_items

        with self._contents.mutex:
            kind, records = read_foreign(format, os.fspath(path), self.clock.zone())
            if kind == "turns":
                if memorize is not None:
                    return self._imported_to_memorize(list(records), memorize, progress, dry_run)
                return self.import_turns(records, progress=progress, dry_run=dry_run)
            if memorize is not None:
                raise UsageError(f"{format} holds items, which are memories already; conversations can be memorized")
            return import_items(self._writer, records, format.strip().casefold(), progress, dry_run=dry_run)

    def _imported_to_memorize(
        self, records: list[Turn | Problem], context: TurnContext, progress: Progress | None, dry_run: bool
    ) -> Imported:
        from memoranda.services.queueing import exchanges_in

        done = self.import_turns(records, progress=progress, dry_run=dry_run)
        if dry_run:
            return done
        turns = [record for record in records if not isinstance(record, Problem)]
        queued, _ = self.enqueue_all(exchanges_in(turns, context), progress)
        return replace(done, queued=queued)

    def status(self) -> Status:
        """The vault in numbers. Raises VaultUnreadable."""
        from memoranda.services.status import status_of

        problems = self.check()
        return status_of(self._storage, self._resources, self.inbox, self.categories(), len(problems))

    def embed(self, progress: Progress | None = None, *, anew: bool = False, patience: float = 60.0) -> Synced:
        """Embed what is not embedded yet, now; ``anew``: everything, whatever vectors there are.

        Raises:
            UsageError: no embedder is configured.
            VaultBusy: for longer than ``patience`` seconds another process has been doing so.
            ServiceFailed, MissingExtra: the embedder.
            VaultError: the vectors could not be written.
        """
        return self._chosen_vectors().sync(progress, anew=anew, patience=patience)

    def embedding_status(self) -> EmbeddingStatus | None:
        """How the vectors stand; ``None`` where no embedder is configured. Raises MissingExtra, VaultError."""
        return None if (embedding := self._embedding) is None else embedding.status()

    def reindex(self, progress: Progress | None = None) -> Status:
        """Throw away everything derived and make it again from the files.

        Raises:
            VaultUnreadable: the files cannot be read; nothing was thrown away.
            VaultReadOnly.
        """
        from memoranda.services.overview import refresh_overview
        from memoranda.storage.cache import clear_cache

        with self._contents.mutex:
            self._contents.refresh(("item", "resource"))
            has_documents = os.path.isdir(self._storage.vault.path("docs"))
            if has_documents:
                from memoranda.storage.documents import Documents

                for _ in Documents(self._storage.vault).files():
                    pass  # all can be looked at
            with self._storage.locked(), self._contents.renewed():
                clear_cache(self._storage, spare_vectors=True)
                self._contents.refresh(("item", "resource"), None, progress)
                if self.settings.overview:
                    refresh_overview(self._storage)
            if has_documents:  # without the lock: writers need not wait for so much
                self._contents.refresh(("passage",), None, progress)
            return self.status()
