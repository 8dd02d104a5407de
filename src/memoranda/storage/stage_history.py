"""Old stages that a sleep put aside (``history/sleep/<change>/<project>/<stage>.json``): ``undo`` brings them back."""

from __future__ import annotations

import os
from contextlib import suppress

from memoranda.core.names import check_identifier
from memoranda.storage.files import make_folder, sync_folder, writing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.storage.vault import VaultFolder

__all__ = ["bring_stage_back", "set_stage_aside"]


def set_stage_aside(vault: VaultFolder, change: str, project: str, stage: str) -> bool:
    """Put the archive of a stage aside, durably; False: it is not there. Needs the lock. Raises VaultReadOnly."""
    place, aside = _places(vault, change, project, stage)
    return _move(place, aside)


def bring_stage_back(vault: VaultFolder, change: str, project: str, stage: str) -> bool:
    """Put an archive back that a change put aside; False: it is not there, or another has its name by now."""
    place, aside = _places(vault, change, project, stage)
    if os.path.lexists(place) or not _move(aside, place):
        return False
    folder = os.path.dirname(aside)
    with suppress(OSError):
        os.rmdir(folder)
        os.rmdir(os.path.dirname(folder))
    return True


def _places(vault: VaultFolder, change: str, project: str, stage: str) -> tuple[str, str]:
    name = check_identifier(stage, "a stage") + ".json"
    home = check_identifier(project, "a project")
    relative = f"projects/{home}/stages/{name}"
    kept = f"history/sleep/{check_identifier(change, 'a change')}/{home}/{name}"
    return vault.check_inside(vault.path(relative), relative), vault.check_inside(vault.path(kept), kept)


def _move(place: str, target: str) -> bool:
    if not os.path.isfile(place):
        return False
    with writing(target):
        make_folder(os.path.dirname(target))
        os.replace(place, target)
        sync_folder(os.path.dirname(target))
        sync_folder(os.path.dirname(place))
    return True
