"""Taking in what another program remembered: its items become ours, marked with where they come from."""

from __future__ import annotations

from memoranda.core.addresses import parse_address
from memoranda.core.errors import Conflict, UsageError
from memoranda.core.metadata import EMPTY_METADATA
from memoranda.core.model import Imported, Problem, Redaction
from memoranda.core.names import normalize_newlines
from memoranda.core.records import dataclass, replace
from memoranda.retrieval.rendering import strip_injected
from memoranda.services.cleaning import field_value
from memoranda.services.redaction import redact
from memoranda.services.remember import remember

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from memoranda.core.addresses import Address
    from memoranda.core.editing import CurrentItem
    from memoranda.core.metadata import Metadata
    from memoranda.services.conversations import Progress
    from memoranda.services.writer import Writer
    from memoranda.storage.transaction import Transaction

__all__ = ["ForeignItem", "import_items"]


@dataclass(frozen=True, slots=True)
class ForeignItem:
    """An item as another program kept it; ``path`` (relative to the source) and ``line`` say where it was read.

    ``named`` says that the name is the source's own: it tells the item from another with the same text.
    """

    category: str
    name: str | None
    text: str
    metadata: Metadata = EMPTY_METADATA
    path: str = ""
    line: int = 0
    named: bool = False


class _DryRun(Exception):
    """Leaves a batch without committing it."""


def import_items(
    writer: Writer,
    items: Iterable[ForeignItem | Problem],
    origin: str,
    progress: Progress | None = None,
    *,
    dry_run: bool = False,
) -> Imported:
    """Remember every item that can be; the rest is listed. The same import twice changes nothing.

    An item that was imported before and has other text now, here or in the
    source, stays as it is here and is named. With ``dry_run`` nothing is
    written: the result says what would be.

    All of it is one change, which one ``undo`` takes back. Raises VaultFull,
    VaultReadOnly, Conflict: nothing was written.
    """
    intake = _Intake(writer, origin)
    try:
        with writer.batch():
            for number, item in enumerate(items, 1):
                intake.take(item)
                if progress is not None and number % 100 == 0:
                    progress(number, None)
            intake.finish()
            if dry_run:
                raise _DryRun
    except _DryRun:
        pass
    return intake.result()


class _Intake:
    """One import: its counts, and the items that wait for the others."""

    def __init__(self, writer: Writer, origin: str) -> None:
        self._writer = writer
        self._actor = f"import:{origin}"
        self._counts = {"added": 0, "unchanged": 0, "skipped": 0}
        self._problems: list[Problem] = []
        self._redactions: dict[str, int] = {}
        self._stands: set[tuple[str, str, str]] = set()
        self._waiting: list[tuple[ForeignItem, CurrentItem]] = []
        self._alike: list[tuple[ForeignItem, str | None, str]] = []

    def take(self, item: ForeignItem | Problem) -> None:
        """Remember one item, or put it off where its name holds other text from an earlier import."""
        if isinstance(item, Problem):
            self._problems.append(item)
            self._counts["skipped"] += 1
            return
        item = _sound(item)
        present = self._present(item)
        if present is None or present.metadata.actor != self._actor or not _differ(present.text, item.text):
            self._remember(item, item.name)
        elif item.named and not _differ(present.text, _with_name(item)):
            self._remember(replace(item, text=_with_name(item)), item.name)
        else:
            self._waiting.append((item, present))

    def finish(self) -> None:
        """See to the items that waited.

        Where the one of the same name is another of this import's, or says that
        it comes from elsewhere, both are wanted. Else it is the same item, and
        was changed since. Where a text is another item's already, and that one is
        this import's too, its name is put before it; else it is the same item, renamed.
        """
        for item, present in self._waiting:
            wanted = parse_address(f"{item.category}:{item.name}")
            elsewhere = item.metadata.source and present.metadata.source not in (None, item.metadata.source)
            if elsewhere or wanted.key in self._stands:
                self._remember(item, self._writer.run("add", _free(wanted)))
            elif (address := self._remember(item, item.name)) and parse_address(address).key == wanted.key:
                message = f"{address} holds other text here than in the source, for one of them has changed; it stays"
                self._problems.append(Problem(item.path, item.line, "kept", message))
        for item, name, holder in self._alike:
            if parse_address(holder).key in self._stands:
                self._remember(replace(item, text=_with_name(item), named=False), name)
            else:
                self._counts["unchanged"] += 1
                self._stands.add(parse_address(holder).key)

    def _present(self, item: ForeignItem) -> CurrentItem | None:
        """The vault's item of that name, this import's own included; ``None`` for a name that cannot be."""
        if item.name is None:
            return None
        try:
            wanted = parse_address(f"{item.category}:{item.name}", writing=True)
            return self._writer.run("add", _look(wanted))
        except (UsageError, Conflict):
            return None

    def _remember(self, item: ForeignItem, name: str | None) -> str | None:
        """The address under which the item stands now; ``None`` if it cannot."""
        fields, faults = _fields(self._writer, item)
        self._problems += faults
        fields.setdefault("trust", "untrusted")
        fields.setdefault("actor", self._actor)
        address = item.category if name is None else f"{item.category}:{name}"
        try:
            written = remember(
                self._writer, address, item.text, on_exists="rename", fields=fields, dated=False, linked=False
            )
        except (UsageError, Conflict) as error:
            self._problems.append(Problem(item.path, item.line, "import", str(error)))
            self._counts["skipped"] += 1
            return None
        if written.status == "duplicate" and item.named:
            self._alike.append((item, name, written.address))
            return None
        self._counts["added" if written.status == "added" else "unchanged"] += 1
        for redaction in written.redactions:
            self._redactions[redaction.kind] = self._redactions.get(redaction.kind, 0) + redaction.count
        self._stands.add(parse_address(written.address).key)
        return written.address

    def result(self) -> Imported:
        """What was done."""
        return Imported(
            **self._counts,
            problems=tuple(self._problems),
            redactions=tuple(Redaction(kind, count) for kind, count in self._redactions.items()),
        )


def _look(wanted: Address) -> Callable[[Transaction], CurrentItem | None]:
    """A plan that finds the item of an address."""
    return lambda transaction: transaction.open(wanted, wanted.name).get(wanted.name or "")


def _free(wanted: Address) -> Callable[[Transaction], str]:
    """A plan that finds a name like the wanted one which no item has."""
    return lambda transaction: transaction.open(wanted, wanted.name).editor.free_name(wanted.name or "")


def _sound(item: ForeignItem) -> ForeignItem:
    """The item without halves of characters, which no file can hold."""
    texts = (item.text, *(value for _, value in item.metadata.pairs))
    if all(text.isascii() or _is_whole(text) for text in texts):
        return item
    metadata = item.metadata.with_values(**{key: _whole(value) for key, value in item.metadata.pairs})
    return replace(item, text=_whole(item.text), metadata=metadata)


def _with_name(item: ForeignItem) -> str:
    """The text with the item's name before it: of two items that say the same, what tells the second from the first."""
    return f"{item.name}\n\n{item.text}"


def _is_whole(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _whole(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _differ(present: str, text: str) -> bool:
    """Whether two texts differ by more than white space, once the second is cleaned as it would be stored."""
    return present.split() != redact(strip_injected(normalize_newlines(text)))[0].split()


def _fields(writer: Writer, item: ForeignItem) -> tuple[dict[str, str], list[Problem]]:
    """The item's metadata without what cannot be kept: a bad date costs the date, not the item."""
    fields: dict[str, str] = {}
    faults: list[Problem] = []
    for key, value in item.metadata.pairs:
        try:
            if value.strip():
                fields[key] = field_value(key, value.strip(), writer.storage.clock.zone())
        except UsageError as error:
            faults.append(Problem(item.path, item.line, "metadata", f"{key} is left out: {error}"))
    return fields, faults
