"""What can be read of a vault: items, categories, turns, the journal, the graph, and answers to questions."""

from __future__ import annotations

from memoranda.core.addresses import parse_address, parse_scope, parse_turn
from memoranda.core.names import name_key
from memoranda.services.contents import Contents, as_item
from memoranda.storage.clock import parse_moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from memoranda.core.model import Item, JournalEntry, Level, Turn
    from memoranda.core.ports import Clock
    from memoranda.core.stages import StageArchive
    from memoranda.retrieval.parameters import RetrievalParameters
    from memoranda.retrieval.result import Retrieval
    from memoranda.services.contents import Progress
    from memoranda.services.embedding import Embedding
    from memoranda.services.graph import Graph
    from memoranda.services.overview import CategorySummary
    from memoranda.services.status import ConversationSummary
    from memoranda.storage.resources import Resources
    from memoranda.storage.settings import Settings
    from memoranda.storage.stage_files import StageSummary
    from memoranda.storage.store import Storage

__all__ = ["Reading"]


class Reading:
    """The reading half of :class:`memoranda.Vault`. Its calls may note in the journal what a person changed by hand."""

    def __init__(self, storage: Storage, resources: Resources) -> None:
        self._storage = storage
        self._resources = resources
        self._contents = Contents(storage, resources)

    @property
    def _embedding(self) -> Embedding | None:
        """The vault's vectors, where it has any. Raises MemorandaError: they are misconfigured."""
        return None

    def _corpus_vectors(self) -> Mapping[str, Embedding | None]:
        """The vectors of corpora that have their own (``None``: none are wanted). Raises MemorandaError, as above."""
        return {}

    @property
    def root(self) -> str:
        """The vault's folder, absolute, symbolic links resolved."""
        return self._storage.vault.root

    @property
    def id(self) -> str:
        """The vault's own id, from ``vault.json``."""
        return self._storage.vault.id

    @property
    def is_new(self) -> bool:
        """Whether opening it created it."""
        return self._storage.vault.is_new

    @property
    def settings(self) -> Settings:
        """What ``memoranda.toml`` says, or the defaults."""
        return self._storage.vault.settings

    @property
    def settings_faults(self) -> list[str]:
        """What in ``memoranda.toml`` means nothing and is left out, in words."""
        return self._storage.vault.settings_faults

    @property
    def clock(self) -> Clock:
        """The clock that dates what is written, and whose zone days are counted in."""
        return self._storage.clock

    def get(self, address: str, *, as_of: str | None = None) -> Item | None:
        """The item at an address, now or as of a time; ``None`` if there is none. Raises BadName."""
        wanted = parse_address(address)
        if wanted.name is None:
            return None
        if as_of is None:
            entry = self._contents.find(wanted)
        else:
            moment = parse_moment(as_of, self.clock.zone(), end_of_day=True)
            entry = self._contents.find_as_of(wanted, moment)
        return None if entry is None else as_item(entry)

    def items(self, category: str | None = None, scope: str | None = None) -> list[Item]:
        """All items, or those of a category or scope, in file order. Raises BadName, VaultUnreadable."""
        wanted = None if category is None else parse_address(category)
        whose = None if scope is None else parse_scope(scope)
        return [as_item(entry) for entry in self._contents.items(wanted, whose)]

    def unread(self) -> list[str]:
        """The files and folders of memory that cannot be read just now, by path. Raises VaultUnreadable."""
        from memoranda.services.overview import summarize

        unread: list[str] = []
        with self._contents.mutex:
            summarize(self._storage, unread)
        return unread

    def categories(self, scope: str | None = None) -> list[CategorySummary]:
        """Every category, or those of one scope. Raises VaultUnreadable."""
        from memoranda.services.overview import summarize

        name = None if scope is None else name_key(str(parse_scope(scope)))
        with self._contents.mutex:
            return [s for s in summarize(self._storage) if name is None or name_key(s.scope) == name]

    def read_category(self, address: str) -> str:
        """A category file's text, as it is.

        Raises:
            NotFound: there is no such file.
            Conflict: it is not UTF-8.
        """
        return self._contents.text_of(parse_address(address))

    def turn(self, address: str) -> Turn | None:
        """One turn (``turn/conv_1#4``); ``None`` if it is not known or was forgotten."""
        wanted = parse_turn(address)
        if wanted is None or wanted.turn is None:
            return None
        turns = self._resources.turns(wanted.conversation)
        return next((t for t in turns if t.turn == wanted.turn and not t.forgotten), None)

    def turns(self, conversation: str) -> list[Turn]:
        """A conversation's turns in order, forgotten ones as empty tombstones; empty if it is not known."""
        return self._resources.turns(conversation)

    def conversations(self) -> list[ConversationSummary]:
        """Every conversation with its number of turns. Raises VaultUnreadable."""
        from memoranda.services.status import conversations

        return conversations(self._resources)

    def stages(self, project: str | None = None) -> list[StageSummary]:
        """The stages of a project, or of all: those that go on, and those that have ended (``ended``).

        Raises:
            BadName, OutsideVault, VaultUnreadable.
        """
        from memoranda.storage.stage_files import StageFiles

        return list(StageFiles(self._storage.vault).summaries(project))

    def stage_archive(self, project: str, name: str) -> StageArchive:
        """A stage with all its records; of one that goes on what there is so far (``ended`` is empty then).

        Raises:
            NotFound: there is no such stage.
            Conflict: its file is damaged.
            BadName, OutsideVault, VaultUnreadable.
        """
        from memoranda.storage.stage_files import StageFiles

        return StageFiles(self._storage.vault).read(project, name)

    def other_scopes(self) -> list[str]:
        """The scopes that have files and are asked only when they are named. Raises VaultUnreadable."""
        from memoranda.core.addresses import SHARED
        from memoranda.storage.snapshot import scan

        found = {file.address.scope for file in scan(self._storage.vault).files.values()}
        return sorted(str(scope) for scope in found if scope != SHARED)

    def has_turns(self) -> bool:
        """Whether any conversation is kept. Raises VaultUnreadable."""
        return any(self._resources.read(file.path) for file in self._resources.files())

    def retrieve(
        self,
        query: str,
        *,
        k: int = 10,
        budget: int | None = None,
        levels: Sequence[Level] = ("item",),
        scopes: Sequence[str] | None = None,
        mode: str = "auto",
        as_of: str | None = None,
        explain: bool = False,
        deadline: float | None = None,
        corpora: Sequence[str] | None = None,
        neighbours: int = 0,
        parameters: RetrievalParameters | None = None,
        progress: Progress | None = None,
    ) -> Retrieval:
        """Find what is worth knowing for a question: at most ``k`` hits, best first, linked items after theirs.

        ``budget`` is in tokens; ``scopes`` is whose memory may be seen (default:
        shared only). No LLM is called and no fault raised: what could not be
        asked is named in ``Retrieval.unavailable``. ``deadline`` is in seconds;
        the default is the settings' (0.3), counted once the files have been read
        for the first time, while one given here holds for everything. Of
        documents (level ``passage``) only those in ``corpora`` are looked at
        (default: all that the scopes allow); so many ``neighbours`` on each side
        come with each hit that has any (``Hit.around``).
        ``parameters`` replace the pipeline's own and what the settings say of it;
        ``progress`` is told how far that first reading is.

        Raises:
            UsageError: an argument has no meaning.
        """
        from memoranda.services.recall import recall

        return recall(
            self._storage,
            self._contents,
            query,
            k=k,
            budget=budget,
            levels=levels,
            scopes=scopes,
            mode=mode,
            as_of=as_of,
            explain=explain,
            deadline=deadline,
            corpora=corpora,
            neighbours=neighbours,
            parameters=parameters,
            progress=progress,
            embedding=lambda: self._embedding,
            corpus_vectors=self._corpus_vectors,
        )

    def warm(self, levels: Sequence[Level] = ("item", "resource"), progress: Progress | None = None) -> None:
        """Read what has not been read yet, so that the next question meets its deadline. Raises VaultUnreadable."""
        self._contents.refresh(levels, None, progress, awaited=True)

    def log(self, limit: int | None = None) -> list[JournalEntry]:
        """The journal's newest entries (all without ``limit``), newest last; a hand edit since is noted first."""
        import itertools

        self._contents.refresh()
        return list(itertools.islice(self._storage.journal.read_backwards(), limit))[::-1]

    def follow(self) -> Iterator[JournalEntry]:
        """New journal entries as they come, for ever; asks twice a second."""
        import time

        last = self._storage.journal.last_id()
        while True:
            fresh: list[JournalEntry] = []
            for entry in self._storage.journal.read_backwards():
                if entry.id == last:
                    break
                fresh.append(entry)
            for entry in reversed(fresh):
                last = entry.id
                yield entry
            time.sleep(0.5)
            self._contents.refresh()

    def graph(self, scope: str | None = None) -> Graph:
        """The graph of items, categories, links, owners, actors and conversations."""
        from memoranda.services.graph import build_graph

        entries = self._contents.items(scope=None if scope is None else parse_scope(scope))
        return build_graph(self._contents.corpus, entries)

    def export(self) -> Iterator[dict[str, Any]]:
        """Every item and turn as a JSON object."""
        from memoranda.services.status import export

        return export(self._contents.items(), self._resources)
