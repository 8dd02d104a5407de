"""A file under a name that nobody has taken, whoever else makes files in that folder at the same time."""

from __future__ import annotations

import os
from contextlib import suppress

from memoranda.storage.files import create_only, make_folder, sync_folder, write_temporary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["put_new_file"]


def put_new_file(folder: str, made: Callable[[], tuple[str, bytes]]) -> str:
    """Put a file into a folder, which is made if absent; its name. Durable when this returns.

    ``made`` gives a name and what the file holds, another one each time.

    Raises:
        OSError: it is not there.
    """
    make_folder(folder)
    while True:
        name, data = made()
        temporary = write_temporary(folder, data)
        try:
            create_only(temporary, os.path.join(folder, name))
            break
        except (FileExistsError, FileNotFoundError):
            # The name is taken; or somebody who forgets cleared the temporary away.
            continue
        finally:
            with suppress(OSError):
                os.unlink(temporary)
    sync_folder(folder)
    return name
