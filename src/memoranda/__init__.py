"""memoranda: long-term memory and knowledge for AI agents, in plain markdown files.

::

    from memoranda import Vault

    with Vault.open("~/memory") as vault:
        vault.remember("preferences:likes-the-sea", "喜欢海边。", owner="user:lin")
        found = vault.retrieve("想去海边玩", budget=800, explain=True)
        print(found.render())
"""

from __future__ import annotations

from memoranda.version import __version__

TYPE_CHECKING = False  # typing itself would be most of what this import costs
if TYPE_CHECKING:
    from typing import Any

    from memoranda.bootstrap import Vault as Vault
    from memoranda.core import errors as errors
    from memoranda.core.errors import MemorandaError as MemorandaError
    from memoranda.core.exchanges import TurnContext as TurnContext
    from memoranda.faces.hooks.memory_hooks import MemoryHooks as MemoryHooks

__all__ = ["MemorandaError", "MemoryHooks", "TurnContext", "Vault", "__version__", "errors"]

_HOMES = {
    "MemorandaError": "memoranda.core.errors",
    "MemoryHooks": "memoranda.faces.hooks.memory_hooks",
    "TurnContext": "memoranda.core.exchanges",
    "Vault": "memoranda.bootstrap",
    "errors": "memoranda.core.errors",
}


def __getattr__(name: str) -> Any:
    # Imported where first used, so that `import memoranda` costs next to nothing; importlib would be one more.
    if name in _HOMES:
        home = __import__(_HOMES[name], fromlist=[name])
        return home if name == "errors" else getattr(home, name)
    raise AttributeError(f"module 'memoranda' has no attribute {name!r}")
