"""Writing items: remember, revise, rename, remove. Each is a plan over a transaction; see :mod:`.writer`."""

from __future__ import annotations

from memoranda.core.addresses import parse_address
from memoranda.core.bodies import read_body
from memoranda.core.errors import ChangedUnderneath, NameTaken, NotFound, UsageError
from memoranda.core.exchanges import MERGED_FROM, joined_sources, split_sources
from memoranda.core.links import find_links, format_link
from memoranda.core.metadata import EMPTY_METADATA, KNOWN_KEYS
from memoranda.core.model import Redaction, Written
from memoranda.core.names import check_item_name, made_name, name_key
from memoranda.core.records import replace
from memoranda.services.cleaning import checked_fields, cleaned, merged
from memoranda.services.linking import Retarget, rewrite_pointers
from memoranda.services.redaction import redact
from memoranda.storage.clock import written_moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Literal

    from memoranda.core.addresses import Address
    from memoranda.core.editing import CurrentItem
    from memoranda.core.metadata import Metadata
    from memoranda.core.model import Item
    from memoranda.services.writer import Writer
    from memoranda.storage.transaction import OpenCategory, Transaction

__all__ = [
    "OnExists",
    "extend",
    "is_news",
    "mark_superseded",
    "relink",
    "remember",
    "remove",
    "rename",
    "revise",
]

if TYPE_CHECKING:
    OnExists = Literal["conflict", "revise", "append", "rename"]
else:
    OnExists = str
_ON_EXISTS: tuple[OnExists, ...] = ("conflict", "revise", "append", "rename")
_REVISABLE = (*(key for key in KNOWN_KEYS if key not in ("name", "superseded_by")), MERGED_FROM)


def remember(
    writer: Writer,
    address: str,
    text: str,
    *,
    on_exists: OnExists = "conflict",
    fields: Mapping[str, object],
    dated: bool = True,
    linked: bool = True,
) -> Written:
    """Add an item; see :meth:`memoranda.Vault.remember`.

    ``dated`` gives one without ``ts`` the present moment. Unless ``linked``,
    ``supersedes`` is kept as it is written and marks nothing.
    """
    if on_exists not in _ON_EXISTS:
        raise UsageError(f"on_exists is one of {', '.join(_ON_EXISTS)}, not {on_exists!r}")
    wanted = parse_address(address, writing=True)
    wanted, body, redactions = cleaned(wanted, text)
    values, more = checked_fields(fields, writer.storage.clock.zone())
    redactions = merged(redactions, more)
    given = {key: value for key, value in values.items() if value is not None}
    if dated and values.get("ts") is None:
        values["ts"] = written_moment(writer.storage.clock.now().replace(microsecond=0))
    if writer.storage.actor != "user" and values.get("actor") is None:
        values["actor"] = writer.storage.actor
    superseded = _superseded(values, wanted) if linked else None
    metadata = EMPTY_METADATA.with_values(**values)

    def plan(transaction: Transaction) -> Written:
        category = _opened(writer, transaction, wanted)
        present = None if wanted.name is None else category.get(wanted.name)
        older = None if superseded is None else _present(writer, transaction, superseded)
        if present is not None and on_exists == "revise":
            return _revised(writer, transaction, category, present, body, values, True, redactions, older)
        if present is not None and on_exists == "append":
            return _appended(writer, transaction, category, present, body, redactions)
        known = _same_text(category, present, body, values.get("owner"))
        if known is not None and linked and on_exists == "rename" and is_news(category.get(known), values):
            known = None
        if known is not None:
            same = wanted.name is None or name_key(known) == name_key(wanted.name)
            note = "this text is remembered already" + ("" if same else f" as {category.address.named(known)}")
            status: Literal["unchanged", "duplicate"] = "unchanged" if same and wanted.name else "duplicate"
            written = _unchanged(category, known, status, note, redactions)
            return replace(written, notes=(*written.notes, *_not_taken(category.get(known), given)))
        name = wanted.name or category.editor.free_name(made_name(body))
        notes: tuple[str, ...] = ()
        if present is not None and on_exists == "conflict":
            raise NameTaken(
                f"{category.address.named(present.name)} holds other text (hash {present.hash}); "
                "revise it, or say what to do: on_exists=revise, append or rename"
            )
        earlier = category.category.find(name) is not None
        if present is not None and earlier and not linked and present.metadata.actor == metadata.actor:
            note = "it was changed here since it was imported, and stays so"
            return _unchanged(category, present.name, "unchanged", note, redactions)
        if present is not None:
            name = category.editor.free_name(name)
            notes = (f"{wanted.name} holds other text; stored as {name}",)
        added = category.add(name, body, metadata)
        where = category.address.named(added.name)
        if older is not None:
            notes = (*notes, _supersede(writer, transaction, older, where))
        transaction.log("add", where, after=added.hash, source=metadata.source, detail={"path": category.relative})
        writer.touch(where)
        return Written(str(where), "added", added.hash, transaction.id, redactions, notes)

    return writer.run("add", plan)


def revise(
    writer: Writer,
    address: str,
    text: str,
    *,
    expected_hash: str | None = None,
    keep_links: bool = True,
    fields: Mapping[str, object],
) -> Written:
    """Replace an item's text; see :meth:`memoranda.Vault.revise`."""
    for key in fields:
        if key not in _REVISABLE:
            raise UsageError(f"{key!r} is no metadata; what can be changed is {', '.join(_REVISABLE)}")
    wanted = _item_address(address)
    _, body, redactions = cleaned(replace(wanted, name=None), text)
    values, more = checked_fields(fields, writer.storage.clock.zone())
    redactions = merged(redactions, more)
    superseded = _superseded(values, wanted)

    def plan(transaction: Transaction) -> Written:
        category, present = _present(writer, transaction, wanted)
        older = None if superseded is None else _present(writer, transaction, superseded)
        _check_hash(wanted, present, expected_hash)
        return _revised(writer, transaction, category, present, body, values, keep_links, redactions, older)

    return writer.run("update", plan)


def rename(writer: Writer, address: str, new_name: str) -> Written:
    """Rename an item and every link that points at it; see :meth:`memoranda.Vault.rename`."""
    wanted = _item_address(address)
    new, redactions = redact(new_name)
    new = check_item_name(new)

    def plan(transaction: Transaction) -> Written:
        category, present = _present(writer, transaction, wanted)
        if present.name == new:
            return _unchanged(category, present.name, "unchanged", "it has that name already", redactions)
        other = category.get(new)
        if other is not None and name_key(other.name) != name_key(present.name):
            raise NameTaken(f"{wanted.named(new)} is another item; choose another name or forget that one first")
        old = category.address.named(present.name)
        renamed = category.rename(present.name, new)
        where = old.named(renamed.name)
        writer.touch(where)
        linked = rewrite_pointers(transaction, writer.storage, writer.pending, old, Retarget(where))
        detail = {"path": category.relative, "from": present.name, "links": len(linked)}
        transaction.log("rename", where, before=present.hash, after=renamed.hash, detail=detail)
        notes = (f"links rewritten in {', '.join(linked)}",) if linked else ()
        return Written(str(where), "renamed", renamed.hash, transaction.id, redactions, notes)

    return writer.run("rename", plan)


def remove(writer: Writer, address: str, *, expected_hash: str | None = None) -> Written:
    """Take an item out of its file; see :meth:`memoranda.Vault.remove`."""
    wanted = _item_address(address)

    def plan(transaction: Transaction) -> Written:
        category, present = _present(writer, transaction, wanted)
        _check_hash(wanted, present, expected_hash)
        where = category.address.named(present.name)
        removed = category.remove(present.name)
        transaction.log("remove", where, before=removed.hash, detail={"path": category.relative})
        writer.touch(where)
        return Written(str(where), "removed", "", transaction.id)

    return writer.run("remove", plan)


def extend(writer: Writer, address: str, addition: str, source: str) -> Written:
    """Put more behind an item's text, which stays as it is, and note where that comes from.

    An addition that begins with all of the text, to the letter, is taken as the
    text with what is new behind it. Raises NotFound.
    """
    wanted = _item_address(address)
    _, body, redactions = cleaned(replace(wanted, name=None), addition)

    def plan(transaction: Transaction) -> Written:
        category, present = _present(writer, transaction, wanted)
        rest = body.removeprefix(present.text)
        if body in present.text.split("\n\n") or not rest.strip():
            return _unchanged(category, present.name, "unchanged", "it holds this text already", redactions)
        goes_on = present.text and rest != body and (rest[0].isspace() or not (rest[0] + present.text[-1]).isalnum())
        text = body if goes_on else f"{present.text}\n\n{body}" if present.text else body
        sources = [*split_sources(present.metadata.get(MERGED_FROM)), source]
        metadata = present.metadata.with_values(**{MERGED_FROM: joined_sources(sources)})
        extended = category.replace(present.name, text, metadata)
        where = category.address.named(extended.name)
        detail = {"path": category.relative, "appended": True}
        transaction.log("update", where, before=present.hash, after=extended.hash, source=source, detail=detail)
        writer.touch(where)
        return Written(str(where), "appended", extended.hash, transaction.id, redactions)

    return writer.run("update", plan)


def relink(writer: Writer, address: str, change: Callable[[str], str]) -> None:
    """Change links in an item's text, as part of the change under way. Does nothing where there is no such item."""
    wanted = _item_address(address)

    def plan(transaction: Transaction) -> None:
        category = _opened(writer, transaction, wanted)
        present = category.get(wanted.name or "")
        if present is not None and (text := change(present.text)) != present.text:
            category.replace(present.name, text)

    writer.run("update", plan)


def mark_superseded(writer: Writer, older: str, successor: str) -> Written:
    """Say of an item that another one has taken its place. Raises NotFound: one of them is not there."""
    one, other = _item_address(older), _item_address(successor)

    def plan(transaction: Transaction) -> Written:
        category, present = _present(writer, transaction, other)
        where = category.address.named(present.name)
        note = _supersede(writer, transaction, _present(writer, transaction, one), where)
        return Written(str(where), "revised", present.hash, transaction.id, (), (note,))

    return writer.run("supersede", plan)


def _check_hash(wanted: Address, present: CurrentItem, expected: str | None) -> None:
    if expected is not None and not present.hash.startswith(expected.strip() or "?"):
        raise ChangedUnderneath(
            f"{wanted} is not what was read: its hash is {present.hash}, not {expected}; read it again"
        )


def _superseded(values: dict[str, str | None], wanted: Address) -> Address | None:
    """The address of the item that is to be marked; ``values`` gets it in its full form."""
    if (text := values.get("supersedes")) is None:
        return None
    older = _item_address(text)
    if older.key == wanted.key:
        raise UsageError(f"{wanted} cannot supersede itself")
    values["supersedes"] = str(older)
    return older


def _supersede(
    writer: Writer, transaction: Transaction, older: tuple[OpenCategory, CurrentItem], successor: Address
) -> str:
    """Mark the older item; it stays where it is and ranks below its successor."""
    category, present = older
    old = category.address.named(present.name)
    marked = category.set_metadata(present.name, present.metadata.with_values(superseded_by=str(successor)))
    detail = {"path": category.relative, "superseded_by": str(successor)}
    transaction.log("supersede", old, before=present.hash, after=marked.hash, detail=detail)
    writer.touch(old)
    return f"supersedes {old}"


def _same_text(category: OpenCategory, present: CurrentItem | None, body: str, owner: str | None) -> str | None:
    """The name of an item that says the same of the same owner; who names no owner means whoever has it."""
    if present is not None and present.text == body and owner in (None, present.metadata.owner):
        return present.name
    return category.editor.find_text(body, owner, any_owner=owner is None)


def is_news(known: CurrentItem | Item | None, said: Mapping[str, str | None]) -> bool:
    """Whether a text that is there already says something new where it is said again.

    ``said`` is its metadata now. It does if what was true is not any more
    (somebody moved back), and if an event took place on another day.
    """
    if known is None or said.get("source") in (None, known.metadata.source):
        return False
    metadata, ts = known.metadata, said.get("ts") or ""
    if metadata.superseded_by or (metadata.valid_to and ts and metadata.valid_to < ts):
        return True
    events = said.get("type") == "event" and metadata.type == "event"
    return bool(events and ts and metadata.ts and metadata.ts[:10] != ts[:10])


def _not_taken(known: CurrentItem | None, given: Mapping[str, str | None]) -> tuple[str, ...]:
    """A note on metadata that came with a text already remembered, where the item says something else."""
    other = [key for key, value in given.items() if known is not None and known.metadata.get(key) != value]
    return (f"its metadata stays; revise it to change {', '.join(other)}",) if other else ()


def _item_address(address: str) -> Address:
    wanted = parse_address(address)
    if wanted.name is None:
        raise UsageError(f"{address!r} is a category; an item's address is CATEGORY:NAME")
    return wanted


def _opened(writer: Writer, transaction: Transaction, wanted: Address) -> OpenCategory:
    """The category under the name that its file has, however it was asked for."""
    category = transaction.open(wanted, wanted.name)
    category.address = writer.storage.vault.address_at(category.relative) or category.address
    return category


def _present(writer: Writer, transaction: Transaction, wanted: Address) -> tuple[OpenCategory, CurrentItem]:
    category = _opened(writer, transaction, wanted)
    present = category.get(wanted.name or "")
    if present is None:
        raise NotFound(f"there is no {wanted}")
    return category, present


def _unchanged(
    category: OpenCategory,
    name: str,
    status: Literal["unchanged", "duplicate"],
    note: str,
    redactions: tuple[Redaction, ...],
) -> Written:
    present = category.get(name)
    where = str(category.address.named(name))
    return Written(where, status, present.hash if present else "", None, redactions, (note,))


def _revised(
    writer: Writer,
    transaction: Transaction,
    category: OpenCategory,
    present: CurrentItem,
    body: str,
    values: dict[str, str | None],
    keep_links: bool,
    redactions: tuple[Redaction, ...],
    older: tuple[OpenCategory, CurrentItem] | None,
) -> Written:
    notes: tuple[str, ...] = ()
    if keep_links:
        body, kept = _with_links_of(present.text, body)
        notes = (f"kept the links {' '.join(kept)}",) if kept else ()
    metadata = _changed_metadata(present.metadata, values)
    if body == present.text and metadata == present.metadata:
        return _unchanged(category, present.name, "unchanged", "it holds this text already", redactions)
    if body == present.text:
        revised = category.set_metadata(present.name, metadata)
    else:
        revised = category.replace(present.name, body, None if metadata == present.metadata else metadata)
    where = category.address.named(revised.name)
    if older is not None:
        notes = (*notes, _supersede(writer, transaction, older, where))
    detail = {"path": category.relative}
    transaction.log("update", where, before=present.hash, after=revised.hash, source=metadata.source, detail=detail)
    writer.touch(where)
    return Written(str(where), "revised", revised.hash, transaction.id, redactions, notes)


def _changed_metadata(metadata: Metadata, values: dict[str, str | None]) -> Metadata:
    return metadata.with_values(**values) if values else metadata


def _with_links_of(old: str, new: str) -> tuple[str, list[str]]:
    """The new text with those links of the old one that it lacks, at its end."""
    present = {link.key for link in find_links(new)}
    kept: list[str] = []
    for link in find_links(old):
        if link.key not in present:
            present.add(link.key)
            kept.append(format_link(link.category, link.item, link.shown, _style(old, link.start, link.end)))
    if not kept:
        return new, kept
    # Behind a fence or a heading the links would become a part of it.
    gap = " " if read_body(new).last in ("paragraph", "item") else "\n\n"
    return f"{new.rstrip()}{gap}{' '.join(kept)}", kept


def _style(text: str, start: int, end: int) -> Literal["colon", "hash"]:
    written = text[start:end].partition("|")[0]
    return "hash" if "#" in written and ":" not in written.partition("#")[0] else "colon"


def _appended(
    writer: Writer,
    transaction: Transaction,
    category: OpenCategory,
    present: CurrentItem,
    body: str,
    redactions: tuple[Redaction, ...],
) -> Written:
    if body in present.text:
        return _unchanged(category, present.name, "unchanged", "it holds this text already", redactions)
    appended = category.replace(present.name, f"{present.text}\n\n{body}" if present.text else body)
    where = category.address.named(appended.name)
    detail = {"path": category.relative, "appended": True}
    transaction.log("update", where, before=present.hash, after=appended.hash, detail=detail)
    writer.touch(where)
    return Written(str(where), "appended", appended.hash, transaction.id, redactions)
