"""How the leaf blocks and list markers of CommonMark 0.31 begin and end.

Every function looks at one line, given as offsets into the whole text:
``first`` is its first character that is no space or tab, ``stop`` the end of its
content. :mod:`memoranda.core.markdown` decides where they may stand.
"""

from __future__ import annotations

import re
from functools import cache

__all__ = [
    "atx_heading",
    "atx_text",
    "definition_lines",
    "fence_closes",
    "fence_opens",
    "html_begins",
    "html_ends",
    "list_marker",
    "measure",
    "setext_level",
    "simple_block",
]

# Without possessive quantifiers, which early releases of 3.11 get wrong; so \r\n must not come apart on the way back.
_EOL = r"(?:\r\n|\r(?!\n)|\n)"

# Names whose tags begin an HTML block of kind 6.
_BLOCK_NAMES = (
    "address article aside base basefont blockquote body caption center col colgroup dd details dialog dir"
    " div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html"
    " iframe legend li link main menu menuitem nav noframes ol optgroup option p param search section"
    " summary table tbody td tfoot th thead title tr track ul"
)


@cache
def simple_block() -> re.Pattern[str]:
    """Blocks that one match settles when nothing is open, with the blank lines behind them.

    The group that closes last tells which: 3 heading, 4 paragraph, 5 comment on one line,
    7 list item of one line, none for blank lines. Whatever else there is goes the long way.
    """
    digit = r"[0-9](?![0-9]{0,8}[.)])"
    plain = rf"(?:[^#>*+\-=_`~<0-9\[ \t\r\n]|\*{{1,2}}[^* \t\r\n]|`{{1,2}}[^`\r\n]|\[\[|{digit})"
    blank = rf"(?:[ \t]*{_EOL})"
    marker = r"(?:[-+*]|[0-9]{1,9}[.)])\ "
    return re.compile(
        rf"""(?:
        [ ]{{0,3}}(\#{{1,6}})(?:[ \t]+([^\r\n]*))?(?:{_EOL}|\Z)()
        |[ ]{{0,3}}{plain}[^\r\n]*(?:{_EOL}[ \t]*(?:{plain}|\[)[^\r\n]*)*(?:{_EOL}|\Z)()
            (?=[ \t]*(?:[\r\n]|\Z)|[ ]{{0,3}}(?:\#{{1,6}}[ \t\r\n]|<!--))
        |[ ]{{0,3}}<!(?=--)[^\r\n]*?-->[^\r\n]*(?:{_EOL}|\Z)()
        |({marker})[^ \t\r\n\-+*][^\r\n]*(?:{_EOL}|\Z)()
            (?={marker}|\#{{1,6}}\ |{blank}*\Z|{blank}+[^ \t\r\n])
        |(?=[ \t]*[\r\n])
        ){blank}*""",
        re.VERBOSE,
    )


# Each is compiled when the first line comes that needs it.
_compiled = cache(re.compile)
_ATX = r"(#{1,6})(?:[ \t]+([^\r\n]*)|\Z)"
_SETEXT = r"(?:=+|-+)[ \t]*\Z"
_MARKER = r"(?:[-+*]|[0-9]{1,9}[.)])(?=[ \t]|\Z)"
_FENCE = r"`{3,}(?=[^`]*\Z)|~{3,}"
_END_OF_LINE = r"[ \t]*(?:\n|\Z)"


def measure(text: str, pos: int, stop: int, column: int) -> tuple[int, int]:
    """The first character at or behind ``pos`` that is no space or tab, and the columns up to it.

    ``column`` is where ``pos`` stands; tabs reach to the next multiple of four.
    """
    reached = column
    while pos < stop:
        character = text[pos]
        if character == " ":
            reached += 1
        elif character == "\t":
            reached += 4 - reached % 4
        else:
            break
        pos += 1
    return pos, reached - column


def atx_text(raw: str) -> str:
    """The text of an ATX heading from what stands behind its opening ``#`` and spaces."""
    body = raw.strip(" \t")
    if body.endswith("#"):
        opened = body.rstrip("#")
        if not opened or opened[-1] in " \t":
            return opened.rstrip(" \t")
    return body


def atx_heading(text: str, first: int, stop: int) -> tuple[int, str, int] | None:
    """Level, text and the offset of the text of an ATX heading; ``None`` if the line is none."""
    found = _compiled(_ATX).match(text, first, stop)
    if found is None:
        return None
    if found[2] is None:
        return len(found[1]), "", stop
    return len(found[1]), atx_text(found[2]), found.start(2)


def setext_level(text: str, first: int, stop: int) -> int:
    """1 for a line of ``=``, 2 for a line of ``-``, 0 for any other."""
    if _compiled(_SETEXT).match(text, first, stop) is None:
        return 0
    return 1 if text[first] == "=" else 2


def list_marker(text: str, first: int, stop: int) -> int:
    """Length of the list marker at ``first``; 0 if there is none."""
    found = _compiled(_MARKER).match(text, first, stop)
    return found.end() - first if found else 0


def fence_opens(text: str, first: int, stop: int) -> str:
    """The run of backticks or tildes that opens a fence; empty if the line opens none."""
    found = _compiled(_FENCE).match(text, first, stop)
    return found[0] if found else ""


def fence_closes(text: str, first: int, stop: int, fence: str) -> bool:
    """Whether the line closes the fence that ``fence`` opened."""
    if not text.startswith(fence, first, stop):
        return False
    return not text[first:stop].rstrip(" \t").strip(fence[0])


@cache
def _html_start() -> re.Pattern[str]:
    attribute = (
        r"[ \t]+[A-Za-z_:][A-Za-z0-9_.:-]*"
        r"""(?:[ \t]*=[ \t]*(?:[^ \t"'=<>`\r\n]+|'[^'\r\n]*'|"[^"\r\n]*"))?"""
    )
    names = _BLOCK_NAMES.replace(" ", "|")
    verbatim = "(?:script|pre|style|textarea)"
    return re.compile(
        rf"<(?:(?P<verbatim>{verbatim}(?=[ \t>]|\Z))"
        r"|(?P<comment>!--)|(?P<instruction>\?)|(?P<cdata>!\[CDATA\[)|(?P<declaration>![A-Za-z])"
        rf"|(?P<block>/?(?:{names})(?=[ \t]|/?>|\Z))"
        rf"|(?P<tag>(?:/[A-Za-z][A-Za-z0-9-]*[ \t]*"
        rf"|(?!{verbatim}[ \t/>])[A-Za-z][A-Za-z0-9-]*(?:{attribute})*[ \t]*/?)>[ \t]*\Z))",
        re.IGNORECASE | re.ASCII,
    )


@cache
def _verbatim_end() -> re.Pattern[str]:
    return re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE | re.ASCII)


_HTML_ENDS = {"comment": "-->", "instruction": "?>", "cdata": "]]>", "declaration": ">"}


def html_begins(text: str, first: int, stop: int) -> str:
    """What kind of HTML block the line begins; empty if none.

    The kinds 1 to 7 are called ``verbatim``, ``comment``, ``instruction``,
    ``declaration``, ``cdata``, ``block`` and ``tag``; the last two end at a blank line.
    """
    found = _html_start().match(text, first, stop)
    return (found.lastgroup or "") if found else ""


def html_ends(text: str, first: int, stop: int, kind: str) -> bool:
    """Whether the line is the last of an HTML block of one of the kinds 1 to 5."""
    if kind == "verbatim":
        return _verbatim_end().search(text, first, stop) is not None
    return text.find(_HTML_ENDS[kind], first, stop) >= 0 if kind in _HTML_ENDS else False


@cache
def _definition_parts() -> tuple[re.Pattern[str], re.Pattern[str]]:
    head = re.compile(
        r"\[(?=[^\]]*[^ \t\n\]])(?:[^\\\[\]]|\\[\\\[\]]?){1,999}\]:[ \t]*\n?[ \t]*"
        r"(?:<(?:[^<>\n\\]|\\[<>\\]?)*>|(?!<)([^\x00-\x20\x7f]+))"
    )
    title = re.compile(
        r"(?:[ \t]+(?:\n[ \t]*)?|\n[ \t]*)"
        r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\))[ \t]*(?:\n|\Z)""",
        re.DOTALL,
    )
    return head, title


def _balanced(destination: str) -> bool:
    depth = 0
    for character in re.sub(r"\\[()\\]", "", destination):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return depth == 0


def definition_lines(paragraph: list[str]) -> int:
    """How many leading lines of a paragraph are link reference definitions (``[label]: /url "title"``)."""
    text = "\n".join(paragraph)
    head, title = _definition_parts()
    end_of_line = _compiled(_END_OF_LINE)
    pos = taken = 0
    while pos < len(text) and (found := head.match(text, pos)):
        if found[1] is not None and not _balanced(found[1]):
            break
        rest = title.match(text, found.end()) or end_of_line.match(text, found.end())
        if rest is None:
            break
        taken += text.count("\n", pos, rest.end()) + (not text.endswith("\n", pos, rest.end()))
        pos = rest.end()
    return taken
