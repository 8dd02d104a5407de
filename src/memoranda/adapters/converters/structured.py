"""CSV, JSON and notebooks: text with a structure of its own."""

from __future__ import annotations

import json
import re
from functools import cache
from io import StringIO

from memoranda.adapters.converters.encodings import decode
from memoranda.adapters.converters.markdown_text import blocks, clean, fence, table
from memoranda.adapters.converters.plain import built, encoding_notes
from memoranda.core.documents import NotConverted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from memoranda.adapters.converters.limits import Limits
    from memoranda.core.documents import Converted

__all__ = ["convert_csv", "convert_json", "convert_json_lines", "convert_notebook"]

_DELIMITERS = ",;\t|"
#: So many lines say what parts the cells.
_SNIFFED = 50


def convert_csv(data: bytes, format: str, name: str, limits: Limits) -> Converted:
    """Comma-, semicolon-, tab- or bar-separated values as one table; its first row is the head."""
    import csv

    decoded = decode(data)
    text = clean(decoded.text)
    delimiter = _delimiter(text)
    csv.field_size_limit(max(len(text), 1 << 17))
    try:
        rows = list(csv.reader(StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise NotConverted("corrupt", f"no table can be made of it: {error}") from error
    notes = encoding_notes(decoded)
    if len({len(row) for row in rows if row}) > 1:
        notes += ("its rows are of different lengths",)
    return built(blocks((table(rows),)), format, encoding=decoded.encoding, notes=notes)


def _delimiter(text: str) -> str:
    """The character that stands equally often in most of the first lines, outside quotes; a comma if in doubt."""
    lines = [re.sub(r'"[^"]*"', '""', line) for line in text[:200_000].split("\n")[:_SNIFFED] if line.strip()]
    best, most = ",", 0.0
    for one in _DELIMITERS:
        counts = [line.count(one) for line in lines]
        if not any(counts):
            continue
        usual = max(set(counts), key=lambda count: (counts.count(count), count))
        agree = counts.count(usual) / len(counts) if usual else 0.0
        worth = agree + min(sum(counts) / len(counts), 20) / 100
        if worth > most:
            best, most = one, worth
    return best


def convert_json(data: bytes, format: str, name: str, limits: Limits) -> Converted:
    """JSON in a fence, a value a line, with characters written out instead of escaped."""
    decoded = decode(data)
    text = decoded.text.strip()
    if not text:
        raise NotConverted("empty", "nothing but white space")
    _load(text)
    return built(
        blocks((fence(_laid_out(text), "json"),)), format, encoding=decoded.encoding, notes=encoding_notes(decoded)
    )


def convert_json_lines(data: bytes, format: str, name: str, limits: Limits) -> Converted:
    """A JSON value a line, in a fence; lines that are none are kept and said."""
    decoded = decode(data)
    kept, bad = [], 0
    for line in clean(decoded.text).split("\n"):
        if line.strip():
            try:
                _load(line)
                kept.append(_token().sub(_readable, line.strip()))
            except NotConverted:
                bad += 1
                kept.append(line.strip())
    if bad and bad == len(kept):
        raise NotConverted("corrupt", "no line of it is JSON")
    notes = encoding_notes(decoded) + ((f"{bad} lines are no JSON",) if bad else ())
    markdown = blocks((fence("\n".join(kept), "json"),)) if kept else ""
    return built(markdown, format, encoding=decoded.encoding, notes=notes)


def _load(text: str) -> Any:
    try:
        # Numbers stay text: none is too long, and none is rounded.
        return json.loads(text, parse_int=str, parse_float=str)
    except RecursionError as error:
        raise NotConverted("unsafe", "JSON that is nested too deeply") from error
    except ValueError as error:
        where = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise NotConverted("corrupt", f"no JSON, or cut off{where}") from error


@cache
def _token() -> re.Pattern[str]:
    return re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


def _readable(match: re.Match[str]) -> str:
    """A string token with its characters written out, where a text can hold them; any other as it is."""
    if not match[0].startswith('"') or "\\" not in match[0]:
        return match[0]
    written = json.dumps(json.loads(match[0]), ensure_ascii=False)
    return written if clean(written) == written else match[0]


def _laid_out(text: str) -> str:
    """Valid JSON, indented; its numbers, its doubled keys and their order as they were."""
    written: list[str] = []
    depth, before = 0, ""
    for match in _token().finditer(text):
        token = match[0]
        if token in "}]":
            depth -= 1
            if before not in "{[":
                written.append("\n" + " " * min(depth * 2, 60))
        elif before in ("{", "[", ","):
            written.append("\n" + " " * min(depth * 2, 60))
        if token in "{[":
            depth += 1
        written.append(": " if token == ":" else _readable(match))
        before = token
    return "".join(written)


def convert_notebook(data: bytes, format: str, name: str, limits: Limits) -> Converted:
    """A Jupyter notebook: markdown cells as they are, code and what it printed in fences."""
    found = _load(decode(data).text.strip() or "null")
    if not isinstance(found, dict):
        raise NotConverted("corrupt", "no notebook: there is no table of cells in it")
    cells = found.get("cells")
    if cells is None:  # before version 4
        sheets = found.get("worksheets")
        known = [one for one in sheets if isinstance(one, dict)] if isinstance(sheets, list) else []
        cells = [cell for one in known for cell in one.get("cells") or ()] if known else None
    if not isinstance(cells, list):
        raise NotConverted("corrupt", "no notebook: there are no cells in it")
    language = _language(found.get("metadata"))
    parts = [part for cell in cells if isinstance(cell, dict) for part in _cell(cell, language)]
    title = next((line[2:].strip() for part in parts for line in part.split("\n") if line.startswith("# ")), "")
    return built(blocks(parts), format, title=title)


def _language(metadata: Any) -> str:
    for key, field in (("kernelspec", "language"), ("language_info", "name")):
        about = metadata.get(key) if isinstance(metadata, dict) else None
        if isinstance(about, dict) and isinstance(about.get(field), str):
            return "".join(one for one in about[field].lower() if one.isalnum() or one in "+#-")[:20]
    return "python"


def _cell(cell: dict[str, Any], language: str) -> Iterator[str]:
    text = _joined(cell.get("source", cell.get("input")))
    if cell.get("cell_type") == "code":
        if text.strip():
            yield fence(text, language)
        for output in cell.get("outputs") or ():
            if isinstance(output, dict) and (shown := _output(output)).strip():
                yield fence(shown)
    elif text.strip():
        yield clean(text)


def _output(output: dict[str, Any]) -> str:
    bundle = output.get("data")
    if isinstance(bundle, dict):
        return _joined(bundle.get("text/plain")) or _joined(bundle.get("text/markdown"))
    if output.get("output_type") in ("error", "pyerr"):
        return f"{_joined(output.get('ename'))}: {_joined(output.get('evalue'))}"
    return _joined(output.get("text"))


def _joined(value: Any) -> str:
    if isinstance(value, list):
        return "".join(one for one in value if isinstance(one, str))
    return value if isinstance(value, str) else ""
