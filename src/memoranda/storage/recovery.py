"""Finishing or taking back a change that a crash cut short.

Only the newest write-ahead record can be unfinished: each is followed by its
journal lines before the next begins. A change of which nothing reached its
files is given up (nobody was told that it happened); any other is finished.
"""

from __future__ import annotations

import os
from contextlib import suppress

from memoranda.core.editing import Edit, splice
from memoranda.storage.categories import bytes_hash
from memoranda.storage.files import TEMPORARY_PREFIX, read_bytes, replace_file, sync_folder, writing
from memoranda.storage.history import ChangeRecord, FileChange, History, TextEdit
from memoranda.storage.install import install, uninstall
from memoranda.storage.journal import Journal, change_of, from_record
from memoranda.storage.resources import bytes_digest
from memoranda.storage.vault import VaultFolder

__all__ = ["apply_edits", "recover", "reversed_edits"]


def recover(vault: VaultFolder, history: History, journal: Journal) -> None:
    """Settle the newest record if the journal does not know it. Needs the vault's lock.

    Raises:
        VaultFull, VaultReadOnly: it could not be settled; the next attempt goes on.
    """
    record = history.last()
    if record is None or record.state or not record.journal:
        return
    if (newest := journal.last_id()) is not None and change_of(newest) == record.id:
        return
    if any(change_of(entry.id) == record.id for entry in journal.read_backwards()):
        return
    for file in record.files:
        _restore_blanked(vault, file)
    applied = [_is_applied(vault, file) for file in record.files]
    if not _has_turns(vault, record) or (record.files and not any(applied)):
        _clear_temporaries(vault, record)
        history.append(ChangeRecord(id=record.id, ts=record.ts, action=record.action, state="aborted"))
        return
    for file, done in zip(record.files, applied, strict=True):
        if not done:
            _finish(vault, file)
    _clear_temporaries(vault, record)
    journal.append(from_record(line) for line in record.journal)


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
    except FileNotFoundError:
        return []
    mine = (name for name in names if name.startswith(TEMPORARY_PREFIX) and name.endswith(".tmp"))
    return [os.path.join(folder, name) for name in sorted(mine)]


def _has_turns(vault: VaultFolder, record: ChangeRecord) -> bool:
    """Whether the turns that the change adds are all there; a part of them is cut off again."""
    turns = record.extra.get("turns")
    if record.action != "import" or not isinstance(turns, dict):
        return True
    path = vault.path(str(turns.get("path", "")))
    start, end = int(turns.get("start", 0)), int(turns.get("end", 0))
    try:
        data = read_bytes(path)
    except FileNotFoundError:
        return False
    if bytes_digest(data[start:end]) == turns.get("hash"):
        return True
    if start < len(data) <= end:
        with writing(path):
            replace_file(path, data[:start])
    return False


def _content(vault: VaultFolder, file: FileChange) -> bytes | None:
    try:
        return read_bytes(vault.absolute(file.path))
    except FileNotFoundError:
        return None


def _is_applied(vault: VaultFolder, file: FileChange) -> bool:
    data = _content(vault, file)
    found = None if data is None else bytes_hash(data)
    if found == file.after:
        return True
    if found == file.before or data is None:
        return False
    if file.after is None:
        return False
    # Somebody saved since: what the change put in tells.
    text = data.decode("utf-8", "replace")
    return all(edit.new.strip() in text for edit in file.edits)


def _finish(vault: VaultFolder, file: FileChange) -> None:
    path = os.path.realpath(vault.absolute(file.path))
    data = _content(vault, file)
    with writing(path):
        if file.after is None:
            if data is not None and bytes_hash(data) == file.before:
                uninstall(path, data)
            return
        text = "" if data is None else data.decode("utf-8", "surrogateescape")
        changed = apply_edits(text, file.edits)
        if changed is not None:
            install(path, changed.encode("utf-8", "surrogateescape"), data)


def apply_edits(text: str, edits: tuple[TextEdit, ...]) -> str | None:
    """The text after the edits: at their places, else wherever their old text stands once; None if it does not."""
    if all(text[edit.at : edit.at + len(edit.old)] == edit.old for edit in edits):
        return splice(text, [Edit(edit.at, edit.at + len(edit.old), edit.new) for edit in edits])
    for edit in edits:
        if not edit.old:
            text = text + edit.new
        elif text.count(edit.old) == 1:
            text = text.replace(edit.old, edit.new)
        else:
            return None
    return text


def _clear_temporaries(vault: VaultFolder, record: ChangeRecord) -> None:
    """Remove what the change left behind; what is neither its old nor its new content is a person's, and kept."""
    wholes = [content for file in record.files for content in _contents(vault, file)]
    for folder in {os.path.dirname(os.path.realpath(vault.absolute(file.path))) for file in record.files}:
        with suppress(FileNotFoundError), writing(folder):
            for path in _temporaries(folder):
                data = read_bytes(path)
                if any(whole.startswith(data) for whole in wholes):
                    os.unlink(path)
                else:
                    os.rename(path, os.path.join(folder, f"recovered.conflict-{os.urandom(4).hex()}.md"))
            sync_folder(folder)


def _contents(vault: VaultFolder, file: FileChange) -> list[bytes]:
    """What the file holds, and held before or was to hold after the change: a temporary is a beginning of one."""
    data = _content(vault, file)
    if data is None:
        return [edit.new.encode("utf-8", "surrogatepass") for edit in file.edits] or [b""]
    text = data.decode("utf-8", "surrogateescape")
    others = [apply_edits(text, file.edits), apply_edits(text, reversed_edits(file.edits))]
    return [data, *(other.encode("utf-8", "surrogateescape") for other in others if other is not None)]


def reversed_edits(edits: tuple[TextEdit, ...]) -> tuple[TextEdit, ...]:
    """The edits that lead back, against the text after ``edits``."""
    back, shift = [], 0
    for edit in edits:
        back.append(TextEdit(edit.at + shift, edit.new, edit.old))
        shift += len(edit.new) - len(edit.old)
    return tuple(back)
