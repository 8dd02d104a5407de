"""What a person does first: look for any word of the question, in any case, anywhere in the text."""

from __future__ import annotations

from collections.abc import Sequence

from memoranda_bench.datasets import Document
from memoranda_bench.systems.tokens import Tokenizer, bigrams, words

__all__ = ["Grep"]


class Grep:
    """Documents by how many different words of the question they contain, then in their order."""

    def __init__(self, language: str, *, dated: bool = True) -> None:
        # Nobody greps for a whole Chinese sentence.
        self._tokens: Tokenizer = words if language == "en" else bigrams
        self._dated = dated
        self._texts: list[str] = []
        self._ids: list[str] = []

    def index(self, documents: Sequence[Document]) -> None:
        """Keep the texts, lower-case."""
        self._ids = [document.id for document in documents]
        self._texts = [document.shown(dated=self._dated).lower() for document in documents]

    def ask(self, question: str, k: int) -> list[str]:
        """See :class:`memoranda_bench.systems.interface.System`."""
        wanted = set(self._tokens(question))
        matched = [(-sum(word in text for word in wanted), place) for place, text in enumerate(self._texts)]
        return [self._ids[place] for count, place in sorted(matched)[:k] if count]

    def close(self) -> None:
        """Nothing is held outside of memory."""
