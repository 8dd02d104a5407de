"""Seeing that edits mean what they were meant to mean, before anything is written.

The new text is parsed again and compared with what is intended. In a file of
sections that is done only around the changed ones: at a level-2 heading nothing
is open, so what lies beyond the next heading cannot be affected.
"""

from __future__ import annotations

from memoranda.core.edits import Edit, splice
from memoranda.core.errors import BadText
from memoranda.core.items import parse
from memoranda.core.pending import Pending
from memoranda.core.sections import Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memoranda.core.metadata import Metadata
    from memoranda.core.sections import Category

__all__ = ["verify"]


def verify(category: Category, edits: Sequence[Edit], changed: Mapping[int, Pending], added: Sequence[Pending]) -> None:
    """Parse the edited text again, as far as needed, and compare.

    ``changed`` is by index into ``category.sections``; ``added`` stand at the end.

    Raises:
        BadText: an item would not read back as intended, or others would change.
    """
    at = 0
    for first, last in _windows(category, changed, bool(added)):
        sections = category.sections
        start = sections[first].start if first > 0 else 0
        following = sections[last + 1] if last + 1 < len(sections) else None
        end = len(category.text) if following is None else following.head_end
        inside = []
        while at < len(edits) and (following is None or edits[at].start <= following.start):
            inside.append(Edit(edits[at].start - start, edits[at].end - start, edits[at].new))
            at += 1
        intended: list[Section | Pending] = []
        for index in range(max(first, 0), last + 1):
            item = changed.get(index)
            if item is None:
                intended.append(sections[index])
            elif not item.removed:
                intended.append(item)
        if following is None:
            intended.extend(added)
        _compare(category, splice(category.text[start:end], inside), intended, following)


def _windows(category: Category, changed: Mapping[int, Pending], appended: bool) -> list[tuple[int, int]]:
    """Ranges of sections to parse again, each from one before to the last changed one."""
    size = len(category.sections)
    # A first line "---" that opens no front matter yet may do so by a line anywhere below.
    if not category.headed or category.text.startswith(("---", "\ufeff---")):
        return [(0, size - 1)] if changed or appended else []
    windows: list[tuple[int, int]] = []
    touched = sorted(changed)
    if appended:
        touched.append(size)
    for index in touched:
        last = min(index, size - 1)
        if windows and index - 2 <= windows[-1][1]:
            windows[-1] = (windows[-1][0], last)
        else:
            windows.append((index - 1, last))
    return windows


def _compare(category: Category, text: str, intended: Sequence[Section | Pending], following: Section | None) -> None:
    found = parse(text)
    sections = list(found.sections)
    if following is not None:
        last = sections.pop() if sections else None
        if (
            last is None
            or last.name != following.name
            or len(text) - last.start != following.head_end - following.start
        ):
            raise BadText(_message(intended, f"the item {following.address_name!r} after it"))
    elif found.open_at is not None and category.open_at is None:
        raise BadText(_message(intended, "the end of the file"))
    if sections and found.headed != category.headed and category.sections:
        raise BadText(_message(intended, "what counts as an item"))
    for section, meant in zip(sections, intended, strict=False):
        if not _agree(section, meant):
            raise BadText(_message(intended, f"the item {_address(meant)!r}"))
    if len(sections) != len(intended):
        raise BadText(_message(intended, "the number of items"))


def _agree(section: Section, meant: Section | Pending) -> bool:
    if isinstance(meant, Section):
        name, text, metadata = meant.name, meant.text, meant.metadata
    else:
        name = meant.name if meant.style else ""
        text, metadata = meant.text, meant.written_metadata
    return section.name == name and section.text == text and _same(section.metadata, metadata)


def _same(one: Metadata, other: Metadata) -> bool:
    return one == other or dict(one.pairs) == dict(other.pairs)


def _address(meant: Section | Pending) -> str:
    return meant.address_name if isinstance(meant, Section) else meant.address


def _message(intended: Sequence[Section | Pending], what: str) -> str:
    names = [repr(_address(item)) for item in intended if isinstance(item, Pending)]
    whose = f" of {', '.join(names[:3])}" if names else ""
    return f"this change{whose} would alter {what}; nothing was changed"
