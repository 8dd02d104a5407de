"""What can be plugged in, by name: a table that is read before anything is imported."""

from __future__ import annotations

from memoranda.core.errors import UsageError
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import tzinfo
    from typing import Any

    from memoranda.core.ports import Segmenter

__all__ = [
    "IMPORT_FORMATS",
    "SEGMENTERS",
    "SEGMENTER_LOADER",
    "ImportFormat",
    "SegmenterPackage",
    "import_format",
    "load_segmenter",
    "read_foreign",
]


@dataclass(frozen=True, slots=True)
class ImportFormat:
    """One format that ``import`` reads.

    ``yields`` is ``"turns"`` (:class:`memoranda.core.model.Turn`) or ``"items"``
    (:class:`memoranda.services.intake.ForeignItem`), each mixed with
    :class:`memoranda.core.model.Problem`.
    """

    name: str
    module: str
    function: str
    reads: str
    yields: str

    def load(self) -> Callable[..., Iterator[Any]]:
        """The reading function: takes a path and the zone in which the source's clock times are meant."""
        from importlib import import_module

        function: Callable[..., Iterator[Any]] = getattr(import_module(self.module), self.function)
        return function


#: Import formats by name.
IMPORT_FORMATS = {
    entry.name: entry
    for entry in (
        ImportFormat(
            "turns",
            "memoranda.adapters.importers.turns",
            "read_turns",
            "a file of JSON lines, one turn of a conversation a line (- for standard input)",
            "turns",
        ),
        ImportFormat(
            "wikimem",
            "memoranda.adapters.importers.wikimem",
            "read_wikimem",
            "a folder of wikimem: wiki/*.md or memory/*.md, and diary/YYYY-MM-DD.md",
            "items",
        ),
        ImportFormat(
            "mem0",
            "memoranda.adapters.importers.mem0",
            "read_mem0",
            "mem0's memories as JSON (what get_all answers, an export) or JSON lines",
            "items",
        ),
        ImportFormat(
            "chatgpt",
            "memoranda.adapters.importers.chatgpt",
            "read_chatgpt",
            "ChatGPT's export: conversations.json, or the folder or .zip that holds it",
            "turns",
        ),
        ImportFormat(
            "claude",
            "memoranda.adapters.importers.claude",
            "read_claude",
            "Claude.ai's export: conversations.json, or the folder or .zip that holds it",
            "turns",
        ),
        ImportFormat(
            "obsidian",
            "memoranda.adapters.importers.obsidian",
            "read_obsidian",
            "a vault of Obsidian: a note is a category, its sections are items",
            "items",
        ),
        ImportFormat(
            "basic-memory",
            "memoranda.adapters.importers.basic_memory",
            "read_basic_memory",
            "a folder of Basic Memory: notes with observations and relations",
            "items",
        ),
        ImportFormat(
            "memory-md",
            "memoranda.adapters.importers.memory_md",
            "read_memory_md",
            "MEMORY.md, CLAUDE.md, AGENTS.md of coding agents, or a folder of them",
            "items",
        ),
        ImportFormat(
            "mcp-memory",
            "memoranda.adapters.importers.mcp_memory",
            "read_mcp_memory",
            "the file of the MCP memory server: JSON lines of entities and relations",
            "items",
        ),
    )
}


def import_format(name: str) -> ImportFormat:
    """The format of that name.

    Raises:
        UsageError: there is none; the message lists those there are.
    """
    if found := IMPORT_FORMATS.get(name.strip().casefold()):
        return found
    known = "; ".join(f"{entry.name} ({entry.reads})" for entry in IMPORT_FORMATS.values())
    raise UsageError(f"there is no import format {name!r}; there are: {known}")


def read_foreign(name: str, path: str, zone: tzinfo) -> tuple[str, Iterator[Any]]:
    """What the format yields (``"turns"`` or ``"items"``), and the records at ``path``, read one by one.

    Raises:
        UsageError: there is no such format; on reading, the source is none of it.
        NotFound: on reading, there is nothing at ``path``.
    """
    found = import_format(name)
    return found.yields, found.load()(path, zone)


@dataclass(frozen=True, slots=True)
class SegmenterPackage:
    """One segmenter of Chinese; ``extra`` is what of memoranda to install for it."""

    name: str
    module: str
    function: str
    extra: str

    def load(self) -> Segmenter:
        """The segmenter. Raises MissingExtra: its package is not installed."""
        from importlib import import_module

        found: Segmenter = getattr(import_module(self.module), self.function)(self.extra)
        return found


#: Segmenters by name: the values of the setting ``segmenter``.
SEGMENTERS = {
    entry.name: entry
    for entry in (
        SegmenterPackage("rjieba", "memoranda.adapters.segmenters", "rjieba", "zh"),
        SegmenterPackage("jieba", "memoranda.adapters.segmenters", "jieba", "zh"),
    )
}

#: Where other processes find :func:`load_segmenter`.
SEGMENTER_LOADER = "memoranda.adapters.registry:load_segmenter"


def load_segmenter(name: str) -> Segmenter:
    """The segmenter of that name.

    Raises:
        UsageError: there is none.
        MissingExtra: its package is not installed.
    """
    if found := SEGMENTERS.get(name):
        return found.load()
    raise UsageError(f"there is no segmenter {name!r}; there are: {', '.join(SEGMENTERS)}")
