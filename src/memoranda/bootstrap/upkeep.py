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
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from memoranda.adapters.chosen_embedding import ChosenEmbedding
    from memoranda.bootstrap.tiers import IdleSleep, SleepPreview
    from memoranda.bootstrap.vault import Vault
    from memoranda.core.choices import Choice
    from memoranda.core.exchanges import TurnContext
    from memoranda.core.model import Imported, Turn
    from memoranda.core.ports import LanguageModel
    from memoranda.index.vector_sync import Synced
    from memoranda.services.choices import ChoiceBox
    from memoranda.services.contents import Progress
    from memoranda.services.context import PromptContext
    from memoranda.services.embedding import EmbeddingStatus
    from memoranda.services.sleep import Slept
    from memoranda.services.sleep_preview import Probe
    from memoranda.services.status import Status

__all__ = ["Upkeep"]


class Upkeep(Memorizing):
    """Calls that take care of a vault as a whole."""

    _made_choices: ChoiceBox | None = None

    def _chosen_vectors(self) -> ChosenEmbedding:
        raise NotImplementedError

    def _has_changed(self) -> None:
        raise NotImplementedError

    def _open_apart(self, root: str) -> Vault:
        """A copy of this vault, which has all of its memory inside."""
        raise NotImplementedError

    @property
    def choices(self) -> ChoiceBox:
        """The questions that wait for the person who owns the vault, and their answers."""
        if self._made_choices is None:
            from memoranda.services.choices import ChoiceBox

            self._made_choices = ChoiceBox(
                self._storage, self._apply_choice, check=self._check_choice, mutex=self._contents.mutex
            )
        return self._made_choices

    def sleep(
        self,
        *,
        model: LanguageModel | None = None,
        interrupt: Callable[[], bool] = lambda: False,
        progress: Progress | None = None,
    ) -> Slept:
        """Consolidate now: finished stages into project memory, project memory into long-term memory, which is tidied.

        What is uncertain, or all of it (``[sleep] promotion``), becomes a choice.
        Everything that is changed is one change. ``model`` judges of what kind
        items are, once; without one rules do. ``interrupt`` is asked between any
        two steps: where it says so, or somebody works meanwhile, nothing of what
        is under way has happened, and the next sleep does it.

        Raises:
            Interrupted: see above.
            VaultBusy: another process sleeps.
            VaultFull, VaultReadOnly, Conflict: nothing was changed.
        """
        from memoranda.bootstrap import tiers

        return tiers.sleep(self, model, interrupt, progress)

    def preview_sleep(
        self, *, probes: Sequence[Probe] = (), model: LanguageModel | None = None, progress: Progress | None = None
    ) -> SleepPreview:
        """What :meth:`sleep` would do now, tried on a copy; nothing is changed here.

        ``probes`` are questions that have to find the same items before and
        after; without any they are made of items' names.

        Raises:
            VaultError, Conflict: the vault cannot be copied or read.
        """
        from memoranda.bootstrap import tiers

        return tiers.preview(self, probes, model, progress)

    def sleep_when_idle(self, *, model: LanguageModel | None = None, every: float = 60.0) -> IdleSleep:
        """Sleep by a thread whenever nobody has worked for a while (``[sleep]``); close it at the end."""
        from memoranda.bootstrap.tiers import IdleSleep

        return IdleSleep(self, model, every)

    def why_not_sleep(self) -> str:
        """Why it is not the time to sleep just now, in words; nothing where it is."""
        from memoranda.services.idle import is_time_to_sleep
        from memoranda.storage.sleep_settings import SleepSettings

        settings = self.settings.sleep or SleepSettings()
        return is_time_to_sleep(self._storage, settings, self.clock.now(), self.clock.zone())

    def context(
        self, *, project: str = "", agent: str = "", stage: str = "", query: str = "", budget: int = 2000
    ) -> PromptContext:
        """What an agent should know as it goes to work: memory of the project, its own experience, the stage so far.

        Within ``budget`` tokens, the most valuable first; what fits a ``query``
        before that. No other project is ever seen.

        Raises:
            BadName, NotFound (no such stage), VaultUnreadable.
        """
        from memoranda.bootstrap import tiers

        return tiers.context(self, project, agent, stage, query, budget)

    def _check_choice(self, choice: Choice) -> None:
        """See that what a person answers can be done. Raises Conflict, NotFound, UsageError."""
        from memoranda.services.promotion import check_answered

        check_answered(self._writer, choice, self.get)

    def _apply_choice(self, choice: Choice) -> None:
        """Promote what a person wants to be kept; other effects are their askers' to carry out."""
        from memoranda.services.promotion import promote_answered

        promote_answered(self._writer, choice, self.get)

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
