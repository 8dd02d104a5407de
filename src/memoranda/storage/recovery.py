"""Finishing or taking back a change that a crash cut short.

Only the newest write-ahead record can be unfinished: each is followed by its
journal lines before the next begins. A change of which nothing reached its
files is given up (nobody was told that it happened); any other is finished.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

from memoranda.core.editing import CategoryEditor, Edit, splice
from memoranda.core.errors import ChangedUnderneath, MemorandaError, OutsideVault
from memoranda.core.items import parse
from memoranda.core.metadata import EMPTY_METADATA, parse_comment
from memoranda.storage.accounts import fingerprint, state_fingerprint
from memoranda.storage.categories import bytes_hash
from memoranda.storage.files import (
    TEMPORARY_PREFIX,
    read_bytes,
    reading,
    remove_file,
    replace_file,
    sync_folder,
    writing,
)
from memoranda.storage.history import TextEdit
from memoranda.storage.install import ChangedMeanwhile, conflict_copy, install, uninstall
from memoranda.storage.journal import from_record
from memoranda.storage.resources import bytes_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.metadata import Metadata
    from memoranda.storage.history import ChangeRecord, FileChange, History, ItemChange, ItemState
    from memoranda.storage.journal import Journal
    from memoranda.storage.vault import VaultFolder

__all__ = ["apply_edits", "is_placed", "recover", "reversed_edits"]

_ATTEMPTS = 20
#: What reading says where there is no file, or a folder or pipe in its place.
_NO_FILE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EINVAL})


def recover(vault: VaultFolder, history: History, journal: Journal) -> None:
    """Settle the newest record if the journal does not know all of it. Needs the vault's lock.

    Raises:
        VaultFull, VaultReadOnly, VaultUnreadable: it could not be settled; the next attempt goes on.
    """
    record = history.last()
    if record is None or record.state or not record.journal:
        return
    files = [file for file in record.files if _may_touch(vault, file)]
    written = journal.lines_of(record.id)
    missing = [line for line in record.journal if line.get("id") not in written]
    if not written:
        for file in files:
            _restore_blanked(vault, file)
        placed = [is_placed(vault, record, file) for file in files]
        if not _has_turns(vault, record) or (record.files and not any(placed)):
            _clear_temporaries(vault, files)
            history.take_back(record.id)
            return
        for file, done in zip(files, placed, strict=True):
            # What a person did has no edits: there is nothing that we could finish.
            if not done and file.edits:
                _finish(vault, record, file)
    _clear_temporaries(vault, files)
    if missing:
        journal.append(from_record(line) for line in missing)


def _may_touch(vault: VaultFolder, file: FileChange) -> bool:
    """Whether the path is a category's: somebody may have brought us a history of their own making."""
    if vault.address_at(file.path) is None:
        return False
    try:
        vault.check_inside(vault.absolute(file.path), file.path)
    except OutsideVault:
        return False
    return True


def _restore_blanked(vault: VaultFolder, file: FileChange) -> None:
    """Put back the synced content kept beside a file that a power cut left blank (see :mod:`.install`)."""
    data = _content(vault, file)
    if data is None or data.strip(b"\0") or bytes_hash(data) == file.before:
        return
    path = os.path.realpath(vault.absolute(file.path))
    kept = [other for other in _temporaries(os.path.dirname(path)) if read_bytes(other).strip(b"\0")]
    if kept:
        with writing(path):
            os.replace(max(kept, key=os.path.getsize), path)
            sync_folder(os.path.dirname(path))


def _temporaries(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    mine = (name for name in names if name.startswith(TEMPORARY_PREFIX) and name.endswith(".tmp"))
    return [path for path in (os.path.join(folder, name) for name in sorted(mine)) if _is_file(path)]


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _has_turns(vault: VaultFolder, record: ChangeRecord) -> bool:
    """Whether the turns that the change adds are all there; a part of them is cut off again."""
    turns = record.extra.get("turns")
    if record.action != "import" or not isinstance(turns, dict):
        return True
    relative, start, end = turns.get("path"), turns.get("start"), turns.get("end")
    if not (isinstance(relative, str) and isinstance(start, int) and isinstance(end, int)):
        return False
    path = vault.path(relative)
    if not relative.startswith("resources/") or not relative.endswith(".jsonl"):
        return False
    vault.check_inside(path, relative)
    with reading(path):
        try:
            data = read_bytes(path)
        except FileNotFoundError:
            return False
    if bytes_digest(data[start:end]) == turns.get("hash"):
        return True
    if start < len(data) <= end:
        with writing(path):
            if start:
                replace_file(path, data[:start])
            else:
                remove_file(path)
    return False


def _content(vault: VaultFolder, file: FileChange) -> bytes | None:
    with reading(file.path):
        try:
            return read_bytes(vault.absolute(file.path))
        except OSError as error:
            if error.errno in _NO_FILE:
                return None
            raise


def is_placed(vault: VaultFolder, record: ChangeRecord, file: FileChange) -> bool:
    """Whether a file holds what the change did to it. Raises VaultUnreadable."""
    data = _content(vault, file)
    found = None if data is None else bytes_hash(data)
    if found == file.after:
        return True
    if found == file.before or data is None or file.after is None:
        return False
    # Somebody saved since: the items tell.
    try:
        category = parse(data.decode("utf-8"))
    except UnicodeDecodeError:
        return False
    for change in record.items:
        if change.path == file.path and change.before != change.after:
            wanted = change.after or change.before
            section = None if wanted is None else category.find(wanted.name)
            if change.after is None:
                if section is None:
                    return True
            elif section is not None and fingerprint(section.text, section.metadata) == state_fingerprint(change.after):
                return True
    return False


def _finish(vault: VaultFolder, record: ChangeRecord, file: FileChange) -> None:
    path = os.path.realpath(vault.absolute(file.path))
    for _ in range(_ATTEMPTS):
        data = _content(vault, file)
        with writing(path), suppress(ChangedMeanwhile, ChangedUnderneath, NotADirectoryError, IsADirectoryError):
            if file.after is None:
                if data is not None and bytes_hash(data) == file.before:
                    uninstall(path, data)
                return
            finished = _finished(vault, record, file, data)
            if finished is not None and finished != data:
                install(path, finished, data)
            return


def _finished(vault: VaultFolder, record: ChangeRecord, file: FileChange, data: bytes | None) -> bytes | None:
    """The file's content with the change made; ``None`` where what a person did since leaves no room for it."""
    if data is None and file.before is not None:
        return None
    try:
        text = "" if data is None else data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if data is None or bytes_hash(data) == file.before:
        done = apply_edits(text, file.edits)
    else:
        address = vault.address_at(file.path)
        title = "" if address is None else address.category.rpartition("/")[2]
        done = _redone(text, title, [change for change in record.items if change.path == file.path])
    return None if done is None else done.encode("utf-8", "surrogatepass")


def _redone(text: str, title: str, changes: list[ItemChange]) -> str | None:
    """The changes made item by item, but for those whose item is no longer what it was."""
    editor = CategoryEditor(parse(text), title)
    for change in changes:
        with suppress(MemorandaError):
            _redo(editor, change.before, change.after)
    try:
        return editor.text()
    except MemorandaError:
        return None


def _redo(editor: CategoryEditor, before: ItemState | None, after: ItemState | None) -> None:
    if before is None:
        if after is not None and editor.get(after.name) is None:
            editor.add(after.name.removeprefix("^"), after.text, _metadata(after))
        return
    present = editor.get(before.name)
    if present is None or fingerprint(present.text, present.metadata) != state_fingerprint(before):
        return
    if after is None:
        editor.remove(before.name)
        return
    name = before.name
    if after.name != before.name and not before.name.startswith("~") and not after.name.startswith("~"):
        editor.rename(before.name, after.name.removeprefix("^"))
        name = after.name
    if after.text != before.text or after.comment != before.comment:
        editor.replace(name, after.text, _metadata(after))


def _metadata(state: ItemState) -> Metadata:
    return parse_comment(state.comment)[0] if state.comment else EMPTY_METADATA


def apply_edits(text: str, edits: tuple[TextEdit, ...]) -> str | None:
    """The text that the edits were made for, after them; ``None`` if they are not for this text."""
    done = 0
    for edit in edits:
        if not done <= edit.at <= len(text) or text[edit.at : edit.at + len(edit.old)] != edit.old:
            return None
        done = edit.at + len(edit.old)
    return splice(text, [Edit(edit.at, edit.at + len(edit.old), edit.new) for edit in edits])


def reversed_edits(edits: tuple[TextEdit, ...]) -> tuple[TextEdit, ...]:
    """The edits that lead back, against the text after ``edits``."""
    back, shift = [], 0
    for edit in edits:
        back.append(TextEdit(edit.at + shift, edit.new, edit.old))
        shift += len(edit.new) - len(edit.old)
    return tuple(back)


def _clear_temporaries(vault: VaultFolder, files: list[FileChange]) -> None:
    """Remove what the change left behind; what is neither its old nor its new content is a person's, and kept."""
    folders = {os.path.dirname(os.path.realpath(vault.absolute(file.path))) for file in files}
    left = {folder: found for folder in folders if (found := _temporaries(folder))}
    if not left:
        return
    wholes = [content for file in files for content in _versions(vault, file)]
    hashes = {known for file in files for known in (file.before, file.after)}
    for folder, found in left.items():
        with writing(folder):
            for path in found:
                data = read_bytes(path)
                # One that is not whole is the beginning of something.
                if bytes_hash(data) in hashes or any(whole.startswith(data) for whole in wholes):
                    os.unlink(path)
                else:
                    os.rename(path, conflict_copy(os.path.join(folder, "recovered")))
            sync_folder(folder)


def _versions(vault: VaultFolder, file: FileChange) -> list[bytes]:
    """What the file holds, held before and was to hold after the change, as far as that can be told."""
    data = _content(vault, file)
    text = "" if data is None else data.decode("utf-8", "surrogateescape")
    others = [apply_edits(text, file.edits), apply_edits(text, reversed_edits(file.edits))]
    others += ["".join(edit.old for edit in file.edits)] if file.after is None else []
    found = [other.encode("utf-8", "surrogateescape") for other in others if other is not None]
    known = [other for other in found if bytes_hash(other) in (file.before, file.after)]
    return known if data is None else [data, *known]
