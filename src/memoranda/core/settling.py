"""Any text made to stand as the text of an item, as little changed as can be.

In a category file a heading of level 1 or 2 begins something new. So in an
item's text such a heading becomes one of level 3 (what is deeper stays), a
fence or HTML block that is never closed gets its end, and a comment that would
be read as the item's metadata goes.
"""

from __future__ import annotations

import re
from contextlib import suppress

from memoranda.core.blocks import comment_in
from memoranda.core.bodies import check_body
from memoranda.core.errors import BadText
from memoranda.core.markdown import scan
from memoranda.core.names import normalize_newlines

__all__ = ["settled", "standing"]

_HTML_ENDS = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<!", ">"), ("<?", "?>"))
_VERBATIM = ("script", "style", "pre", "textarea")


def standing(text: str) -> str:
    """The text as it can stand as an item's, with nothing left out; empty where it says nothing.

    What cannot be :func:`settled` without that goes into a fence whole. A half
    of a character becomes U+FFFD.
    """
    whole = normalize_newlines(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    if not whole.strip():
        return ""
    longest = max((len(run) for run in re.findall("`{3,}", whole)), default=2)
    mark = "`" * (longest + 1)
    # Of a set of merge markers one line would be read as that below a heading.
    laid_out = whole if "<<<<<<<" in whole else settled(whole)
    for attempt in (whole, laid_out, f"{mark}\n{whole}\n{mark}"):
        with suppress(BadText):
            if attempt.count("<!--") >= whole.count("<!--"):
                return check_body(attempt).text
    return ""


def settled(text: str) -> str:
    """The text as it can stand as an item's: see the module. Without blank lines around it."""
    shifted = "\n" + text
    pieces: list[str] = []
    done = 0
    end = ""
    for block in scan(shifted):
        if block.kind == "heading" and block.level <= 2:
            pieces.append(shifted[done : block.start])
            title = " ".join(block.text.split())
            # Where a heading without words goes, what stood above it must not join what stands below.
            pieces.append(f"### {title}\n" if title else "\n")
            done = block.end
        elif block.kind == "html" and (comment := comment_in(shifted, block)):
            pieces.append(shifted[done : comment[0]])
            done = comment[1]
        elif not block.closed and block.kind == "fence":
            opening = shifted[block.start : block.end].lstrip(" ")
            end = "\n" + opening[0] * (len(opening) - len(opening.lstrip(opening[0])))
        elif not block.closed:
            end = "\n" + _html_end(shifted[block.start : block.end].lstrip(" "))
    pieces.append(shifted[done:])
    whole = "".join(pieces).strip("\n")
    return whole.rstrip() + end if end else whole.rstrip()


def _html_end(html: str) -> str:
    """What closes an HTML block that does not end at a blank line."""
    for opening, closing in _HTML_ENDS:
        if html.startswith(opening):
            return closing
    name = html[1:10].casefold()
    return next((f"</{one}>" for one in _VERBATIM if name.startswith(one)), "")
