"""An honest converter: text whose bytes are its own format, and what a document can be told to be."""

from __future__ import annotations

from memoranda.core.documents import Converted, NotConverted, Refusal

__all__ = ["NoteConverter"]


class NoteConverter:
    """Reads ``note``: a title, a line end, a text, in UTF-8. ``!kind`` in front of it is a refusal of that kind."""

    name = "note"
    formats = ("note",)

    def __init__(self, version: str = "1") -> None:
        self.version = version

    def convert(self, data: bytes, format: str, name: str) -> Converted:
        try:
            title, _, text = data.decode("utf-8").partition("\n")
        except UnicodeDecodeError as error:
            raise NotConverted("corrupt", "no UTF-8") from error
        if title.startswith("!"):
            kind: Refusal = title[1:]  # type: ignore[assignment]
            raise NotConverted(kind, f"a note that is {title[1:]}")
        if not text.strip():
            raise NotConverted("empty", "there is no text in it")
        return Converted(f"# {title}\n\n{text.strip()}\n", format, self.name, self.version, title, "utf-8")
