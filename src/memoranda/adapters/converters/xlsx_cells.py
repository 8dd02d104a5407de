"""What cells of a workbook show: dates, per cents, whole numbers."""

from __future__ import annotations

import re
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["column_of", "kinds_of_styles", "shown_number"]

_DATES = frozenset((14, 15, 16, 17, 22, *range(27, 32), 36, *range(50, 59)))
_TIMES = frozenset((18, 19, 20, 21, 32, 33, 34, 35, 45, 46, 47))


@cache
def _set_apart() -> re.Pattern[str]:
    """What a number format says that is no code: quoted, escaped, colours and locales in brackets."""
    return re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?![hms]+\])[^\]]*\]', re.I)


def kinds_of_styles(styles: Element | None) -> list[str]:
    """For each cell style ``date``, ``datetime``, ``time``, ``percent`` or nothing."""
    if styles is None:
        return []
    codes = {one.get("numFmtId", ""): one.get("formatCode", "") for one in styles.iter("numFmt")}
    cells = styles.find("cellXfs")
    return [_kind(one.get("numFmtId", "0"), codes) for one in (cells if cells is not None else ())]


def _kind(number: str, codes: dict[str, str]) -> str:
    if number not in codes:
        known = int(number) if number.isascii() and number.isdigit() and len(number) < 5 else 0
        if known == 22:
            return "datetime"
        return "date" if known in _DATES else "time" if known in _TIMES else "percent" if known in (9, 10) else ""
    code = _set_apart().sub("", codes[number].split(";")[0]).lower()
    if code == "general":
        return ""
    day, hour = "y" in code or "d" in code or "mmm" in code, "h" in code or "s" in code
    if day or hour:
        return "datetime" if day and hour else "date" if day else "time"
    return "percent" if "%" in code else ""


def shown_number(text: str, kind: str, from_1904: bool) -> str:
    """A number as the workbook shows it, dates as ISO 8601; text that is no number as it is."""
    try:
        value = float(text)
    except ValueError:
        return text
    if not abs(value) < 1e15:
        return text
    if kind == "percent":
        return f"{float(format(value * 100, '.12g')):.15g}%"
    if kind and value >= 0:
        return _moment(value, kind, from_1904) or text
    return text if value == int(value) and "e" not in text.lower() and "." not in text else format(value, ".15g")


def _moment(value: float, kind: str, from_1904: bool) -> str:
    from datetime import datetime, timedelta

    seconds = round((value % 1) * 86_400)
    if kind == "time" and value < 1:
        hours, rest = divmod(seconds, 3600)
        return f"{hours:02}:{rest // 60:02}" + (f":{rest % 60:02}" if rest % 60 else "")
    # Day 60 of the 1900 system is a 29 February that never was.
    base = datetime(1904, 1, 1) if from_1904 else datetime(1899, 12, 30 if value >= 60 else 31)
    try:
        when = base + timedelta(days=int(value), seconds=seconds)
    except OverflowError:
        return ""
    return f"{when:%Y-%m-%d}" if kind == "date" and not seconds else f"{when:%Y-%m-%d %H:%M:%S}".removesuffix(":00")


def column_of(reference: str) -> int:
    """The column of a cell by its name, from 0: ``"AB7"`` is 27; -1 for what is none."""
    column = 0
    for at, one in enumerate(reference):
        if not ("A" <= one <= "Z" and at < 4):
            break
        column = column * 26 + ord(one) - 64
    return column - 1
