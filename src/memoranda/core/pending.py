"""One item as it is to become, and how that is laid out in the file."""

from __future__ import annotations

from functools import cache

from memoranda.core.bodies import indented, read_body, with_block_id
from memoranda.core.edits import Edit
from memoranda.core.markdown import Block, lines, scan
from memoranda.core.metadata import format_comment, parse_comment, rewrite_comment
from memoranda.core.names import clean_name, hash_name
from memoranda.core.nesting import content_column, item_lines
from memoranda.core.sections import blank_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

    from memoranda.core.bodies import Body
    from memoranda.core.metadata import Metadata
    from memoranda.core.sections import Category, Section

__all__ = ["Pending", "is_heading_at", "is_list_item_at", "section_edits", "written_block", "written_section"]

_HEADING = r" {0,3}#{1,6}(?:[ \t\r\n]|\Z)"
_LIST_ITEM = r" {0,3}(?:[-+*]|[0-9]{1,9}[.)])[ \t]"
_LINE_END = r"[ \t]*(?:\r\n?|\n|\Z)"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    import re

    return re.compile(pattern)


def is_heading_at(text: str, at: int) -> bool:
    """Whether a line that begins here is an ATX heading."""
    return _compiled(_HEADING).match(text, at) is not None


def is_list_item_at(text: str, at: int) -> bool:
    """Whether a line that begins here begins a list item."""
    return _compiled(_LIST_ITEM).match(text, at) is not None


class Pending:
    """An item of the file (``section``) or a new one (``section`` is ``None``), with its changes so far.

    ``style`` says where a block keeps its name: ``id`` (`` ^name``), ``comment``
    (``name=``), or nowhere; sections keep it in the ``heading``.
    """

    __slots__ = (
        "_body", "address", "marker", "metadata", "name", "relinked", "removed", "renamed",
        "section", "style", "text", "text_changed", "unhidden",
    )  # fmt: skip

    def __init__(self, section: Section | None, name: str, address: str, text: str, metadata: Metadata) -> None:
        self.section = section
        self.name = name
        self.address = address
        self.text = text
        self.metadata = metadata
        self.style = "heading"
        self.marker: str | None = None
        self.removed = self.renamed = self.text_changed = self.relinked = self.unhidden = False
        self._body: Body | None = None

    @classmethod
    def of(cls, section: Section) -> Pending:
        """An item as it stands in the file."""
        item = cls(section, section.name, section.address_name, section.text, section.metadata)
        if section.form != "section":
            item.style = "id" if section.block_id else "comment" if section.name else ""
        return item

    @property
    def body(self) -> Body:
        """The text with its blocks."""
        if self._body is None:
            self._body = read_body(self.text)
        return self._body

    def put_text(self, body: Body, *, relinked: bool = False) -> None:
        """Take another text."""
        if body.text == self.text and self.section is not None:
            return
        self._body, self.text = body, body.text
        self.relinked = relinked and (self.relinked or not self.text_changed)
        self.text_changed = True
        self._readdress()

    def put_name(self, name: str) -> None:
        """Take another name; a block without a place for names gets a block id."""
        self.name, self.renamed = name, True
        self.style = self.style or "id"
        self._readdress()

    def unhide(self) -> None:
        """Take the name that another item of the same name had until now."""
        self.unhidden = True
        self._readdress()

    def _readdress(self) -> None:
        if self.style == "id" and with_block_id(self.body, self.name) is None:
            self.style = "comment"
        section = self.section
        if section is not None and section.address_name.startswith("~") and not (self.renamed or self.unhidden):
            self.address = hash_name(f"{self.name}\n{self.text}" if section.form == "section" else self.text)
        else:
            self.address = ("^" if self.style == "id" else "") + clean_name(self.name)

    @property
    def written_metadata(self) -> Metadata:
        """The metadata as the comment will have it."""
        if self.style == "comment":
            return self.metadata.with_values(name=self.name)
        return self.metadata


def written_section(item: Pending, newline: str) -> str:
    """A new item as a level-2 section, its last line ended."""
    parts = [f"## {item.name}", "", *item.text.split("\n")]
    if item.metadata:
        parts += ("", format_comment(item.metadata))
    return newline.join([*parts, ""])


def written_block(item: Pending, newline: str) -> str:
    """A new item as a list item (with ``item.marker``) or paragraph, its last line ended."""
    text = (with_block_id(item.body, item.name) if item.style == "id" else None) or item.text
    if metadata := item.written_metadata:
        text += ("\n\n" if item.body.last == "html" else "\n") + format_comment(metadata)
    if item.marker is None:
        return text.replace("\n", newline) + newline
    return f"{item.marker} {indented(text, len(item.marker) + 1, newline)}{newline}"


def section_edits(category: Category, item: Pending) -> list[Edit]:
    """The edits that turn an item of the file into what is pending."""
    assert item.section is not None
    if item.relinked and not item.renamed and (edits := _line_edits(category, item)) is not None:
        return edits + _Layout(category, item, item.section, keep_body=True).edits()
    return _Layout(category, item, item.section).edits()


def _line_edits(category: Category, item: Pending) -> list[Edit] | None:
    """Edits of single lines, where the text has as many lines as before; ``None`` if it has not."""
    section = item.section
    assert section is not None
    text = category.text
    block_id = section.block_id or (-1, -1)
    if section.form == "list":
        block = Block("item", section.start, section.body_end, 0, content=section.content)
        spans = [
            (max(start, section.body_start), min(stop, section.body_end))
            for start, stop, _ in item_lines(text, block)
            if stop >= section.body_start and start <= section.body_end
        ]
    else:
        spans = [(start, stop) for start, stop, _ in lines(text, section.body_start, section.body_end)]
    spans = [(start, block_id[0] if start <= block_id[0] < stop else stop) for start, stop in spans]
    old = section.text.split("\n")
    new = item.text.split("\n")
    if len(spans) != len(new) or [text[start:stop] for start, stop in spans] != old:
        return None
    return [Edit(*span, line) for span, line, was in zip(spans, new, old, strict=True) if line != was]


class _Layout:
    """Works out the edits of one item of the file."""

    def __init__(self, category: Category, item: Pending, section: Section, keep_body: bool = False) -> None:
        self.text = category.text
        self.newline = category.newline
        self.item = item
        self.section = section
        self.is_block = section.form != "section"
        self.first, self.last = section.body_start, section.body_end
        if section.block_id is not None:
            self.last = max(self.last, section.block_id[1])
        self.pad = 0
        if section.form == "list":
            self.pad = content_column(self.text, Block("item", section.start, section.end, 0, content=section.content))
        gets_id = item.style == "id" and section.block_id is None
        self.new_body = (item.text_changed or gets_id) and not keep_body

    def edits(self) -> list[Edit]:
        """All edits, in order."""
        item, section = self.item, self.section
        edits: list[Edit] = []
        if item.renamed and not self.is_block:
            edits.append(_heading_edit(self.text, section, item.name, self.newline))
        comment, old = self._comment(), section.comment
        inside = old is not None and self.first < old[0] < self.last
        if inside and (self.new_body or comment is None):
            whole = self._content() + (self._gap() + comment if comment else "")
            edits.append(Edit(self.first, self.last, whole + self._gap_behind(self.last)))
            return edits
        if self.first == self.last and not self.is_block:
            edits += self._fill(comment, old)
        else:
            edits += self._change(comment, old)
        if not self.new_body and section.block_id is not None and (item.renamed or item.style != "id"):
            edits.append(self._id_edit(section.block_id))
        return sorted(edits, key=lambda edit: (edit.start, edit.end))

    def _comment(self) -> str | None:
        """The comment as it is to be; ``None`` for none."""
        metadata, old = self.item.written_metadata, self.section.comment
        if old is None:
            return format_comment(metadata) if metadata else None
        raw = self.text[slice(*old)]
        if metadata == self.section.metadata:
            return raw
        new = rewrite_comment(raw, metadata)
        return new if metadata or parse_comment(new)[1] else None  # what is broken is not thrown away

    def _content(self) -> str:
        """The body with its block id and indentation, in the file's line endings."""
        item = self.item
        text = (with_block_id(item.body, item.name) if item.style == "id" else None) or item.text
        return indented(text, self.pad, self.newline)

    def _gap(self) -> str:
        """What stands between body and comment."""
        if not self.is_block:
            return self.newline * 2
        return self.newline * (2 if self.item.body.last == "html" else 1) + " " * self.pad

    def _fill(self, comment: str | None, old: tuple[int, int] | None) -> list[Edit]:
        """Edits of a section without a text."""
        at = self.section.head_end
        parts = [self._content()] if self.new_body and self.item.text else []
        edits = []
        if old is not None and comment is None:
            edits.append(Edit(old[0], old[1], ""))
        elif old is not None and comment is not None and comment != self.text[slice(*old)]:
            edits.append(Edit(*old, comment))
        elif old is None and comment is not None:
            parts.append(comment)
        if not parts:
            return edits
        ended = self.text[at - 1 : at] in ("\r", "\n")
        new = ("" if ended else self.newline) + self.newline + (self.newline * 2).join(parts) + self.newline
        if at < len(self.text) and blank_lines(self.text, at) == at:
            new += self.newline
        return [Edit(at, at, new), *edits]

    def _change(self, comment: str | None, old: tuple[int, int] | None) -> list[Edit]:
        """Edits of an item with a text."""
        edits = []
        first, last = self.first, self.last
        if self.new_body:
            content = self._content()
            if self.section.form == "list":
                if first == last and self.text[first - 1] not in " \t":
                    content = " " + content
            else:
                while first > self.section.start and self.text[first - 1] == " ":
                    first -= 1  # indentation before the old first line would become part of a new one
                if self.section.form == "paragraph" and not self.item.body.is_paragraph:
                    self.pad = 2
                    content = "- " + self._content()
            if old is None and comment is not None:
                content += self._gap() + comment
            edits.append(Edit(first, last, content + self._gap_behind(last)))
        elif old is None and comment is not None:
            edits.append(Edit(last, last, self._gap() + comment))
        if old is not None and comment is None:
            span = (last, old[1]) if old[0] >= last else (old[0], first)
            edits.append(Edit(*span, ""))
        elif old is not None and comment is not None and comment != self.text[slice(*old)]:
            edits.append(Edit(*old, comment))
        return edits

    def _gap_behind(self, at: int) -> str:
        """A line end, where what follows the body would otherwise be taken for its continuation."""
        line = _compiled(_LINE_END).match(self.text, at)
        if line is None or line.end() == len(self.text) or blank_lines(self.text, line.end()) > line.end():
            return ""
        ends_open = self.item.body.last == "html"
        if self.section.comment is not None and self.text.find("<!--", line.end()) == self.section.comment[0]:
            closes = self.text[line.end() : self.section.comment[0]].strip(" ") == ""
            return self.newline if ends_open or not closes else ""
        if is_list_item_at(self.text, line.end()) and self.is_block:
            return ""
        return "" if is_heading_at(self.text, line.end()) and not ends_open else self.newline

    def _id_edit(self, span: tuple[int, int]) -> Edit:
        raw = self.text[slice(*span)]
        if self.item.style != "id":
            return Edit(*span, "")
        return Edit(*span, raw[: raw.index("^") + 1] + self.item.name)


def _heading_edit(text: str, section: Section, name: str, newline: str) -> Edit:
    """The edit of a heading's text; of the whole heading, where the name cannot stand in its form."""
    start, end = section.content, section.content + len(section.name)
    new = name
    if is_heading_at(text, section.start):
        if not section.name:
            new = ("" if text[start - 1] in " \t" else " ") + name + (" " if text.startswith("#", start) else "")
    else:
        *written, _ = lines(text, section.start, section.head_end)
        end = written[-1][1]
    head = text[section.start : start] + new + text[end : section.head_end]
    blocks = scan("\n" + head)
    if len(blocks) == 1 and blocks[0].level == 2 and blocks[0].text == name:
        return Edit(start, end, new)
    ending = newline if text[section.head_end - 1] in "\r\n" else ""
    return Edit(section.start, section.head_end, f"## {name}{ending}")
