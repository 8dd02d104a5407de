"""The edits of a whole category file: items changed, taken out, and added at the end."""

from __future__ import annotations

from memoranda.core.edits import Edit, splice
from memoranda.core.items import FORM_COMMENT, parse
from memoranda.core.pending import is_heading_at, is_list_item_at, section_edits, written_block, written_section
from memoranda.core.sections import blank_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memoranda.core.pending import Pending
    from memoranda.core.sections import Category, Section

__all__ = ["assemble"]


def assemble(category: Category, title: str, changed: Mapping[int, Pending], added: Sequence[Pending]) -> list[Edit]:
    """All edits of the category's text, in order.

    ``changed`` is by index into ``category.sections``; ``added`` go to the end,
    in a new file below a heading with the ``title``.
    """
    edits = _removals(category, changed)
    for item in changed.values():
        if not item.removed:
            edits += section_edits(category, item)
    edits.sort(key=lambda edit: (edit.start, edit.end))
    size = len(category.text)
    if added:
        edits.append(Edit(size, size, _appendix(category, title, edits, changed, added)))
    elif (
        category.headed
        and edits
        and all(index in changed and changed[index].removed for index in range(len(category.sections)))
    ):
        _keep_form(category, edits)
    return [_apart(category.text, edit) for edit in edits]


def _apart(text: str, edit: Edit) -> Edit:
    """The edit with one line end more, where a lone CR and a LF would become one line end."""
    new = edit.new
    if new.startswith("\n") and text.endswith("\r", 0, edit.start):
        new = "\n" + new
    if new.endswith("\r") and text.startswith("\n", edit.end):
        new += "\r"
    return edit if new is edit.new else Edit(edit.start, edit.end, new)


def _removals(category: Category, changed: Mapping[int, Pending]) -> list[Edit]:
    """Edits that take items out, with a line end left where the neighbours would run together."""
    sections = category.sections
    edits: list[Edit] = []
    first = 0
    for index in sorted(index for index, item in changed.items() if item.removed):
        section = sections[index]
        if not edits or edits[-1].end != section.start:
            first = index
        following = changed.get(index + 1)
        runs_on = following is not None and following.removed and sections[index + 1].start == section.end
        new = "" if runs_on else _gap_for_removed(category, first, section.end)
        edits.append(Edit(section.start, section.end, new))
    return edits


def _gap_for_removed(category: Category, first: int, end: int) -> str:
    """What must stay in place of the items from ``first`` up to ``end``."""
    text, start = category.text, category.sections[first].start
    if end == len(text) or blank_lines(text, end) > end or _follows_blank_line(text, start):
        return ""
    if is_heading_at(text, end):
        return ""
    before = category.sections[first - 1] if first else None
    in_list = before is not None and before.form == "list" and before.end == start
    return "" if in_list and is_list_item_at(text, end) else category.newline


def _follows_blank_line(text: str, at: int) -> bool:
    """Whether the line that begins at ``at`` is the first, or has a blank line above it."""
    end = at - (2 if text.endswith("\r\n", 0, at) else 1)
    while end > 0 and text[end - 1] in " \t":
        end -= 1
    return end <= 0 or text[end - 1] in "\r\n" or (end == 1 and text[0] == "\ufeff")


def _keep_form(category: Category, edits: list[Edit]) -> None:
    """Where only a person's own text is left, see that it is not taken for items."""
    if not parse(splice(category.text, edits)).sections:
        return
    last, newline = edits[-1], category.newline
    gap = "" if _follows_blank_line(category.text, last.start) else newline
    behind = "" if last.end == len(category.text) else newline
    edits[-1] = Edit(last.start, last.end, f"{gap}{FORM_COMMENT}{newline}{behind}")


def _appendix(
    category: Category,
    title: str,
    edits: Sequence[Edit],
    changed: Mapping[int, Pending],
    added: Sequence[Pending],
) -> str:
    """All new items, with what must stand between them and the file's end."""
    newline = category.newline
    as_blocks = added[0].style != "heading"
    written = written_block if as_blocks else written_section
    pieces = [written(item, newline) for item in added]
    rest = splice(category.text, edits)
    if not rest.strip("\ufeff \t\r\n"):
        lead = "" if rest in ("", "\ufeff") else _lead(rest, newline)
        return f"{lead}# {title}{newline}{newline}{newline.join(pieces)}"
    if as_blocks and _is_tight(category, changed, added):
        return ("" if rest[-1] in "\r\n" else newline) + "".join(pieces)
    return _lead(rest, newline) + newline.join(pieces)


def _lead(text: str, newline: str) -> str:
    """What must follow the text so that its last line is ended and a blank line stands below it."""
    bare = text.rstrip(" \t")
    if bare and bare[-1] not in "\r\n" and bare != "\ufeff":
        return newline * 2
    if len(bare) < len(text):
        return newline
    return "" if _follows_blank_line(text, len(text)) else newline


def _is_tight(category: Category, changed: Mapping[int, Pending], added: Sequence[Pending]) -> bool:
    """Whether the file ends with a list whose items follow each other without blank lines."""
    text, at = category.text, len(category.sections) - 1
    last: Section = category.sections[at]
    if last.form != "list" or last.end != len(text) or at in changed:
        return False
    if any(item.marker is None or "\n" in item.text for item in added):
        return False
    if text[-1] in " \t" or (text[-1] in "\r\n" and _follows_blank_line(text, len(text))):
        return False
    before = category.sections[at - 1] if at else None
    if before is None or before.form != "list" or before.end != last.start:
        return True
    return not _follows_blank_line(text, last.start)
