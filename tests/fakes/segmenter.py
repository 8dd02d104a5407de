"""An honest segmenter: the longest of its words that stands next, or one character."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["ListSegmenter"]


class ListSegmenter:
    """Cuts by a list of words; what is in none of them stands alone."""

    def __init__(self, *words: str, version: str = "1") -> None:
        self.name = f"list {version}"
        self.words = sorted(words, key=len, reverse=True)

    def cut(self, text: str) -> Iterator[str]:
        at = 0
        while at < len(text):
            word = next((word for word in self.words if text.startswith(word, at)), text[at])
            yield word
            at += len(word)
