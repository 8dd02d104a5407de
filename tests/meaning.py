"""An embedder that knows what a few words have in common, and fails when it is told to."""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Sequence

from memoranda.core.errors import ServiceFailed

__all__ = ["ConceptEmbedder"]

_CONCEPTS = (
    ("sea", "beach", "coast", "ocean", "海", "沙滩"),
    ("coffee", "espresso", "caffeine", "咖啡"),
    ("dog", "puppy", "hound", "狗"),
    ("deploy", "release", "ship", "部署", "发布"),
)


class ConceptEmbedder:
    """Texts of one concept lie close, every text has a direction of its own beside. ``fault`` is raised if set."""

    def __init__(self, model: str = "concepts", dimension: int = 400) -> None:
        self.model = model
        self.dimension = dimension
        self.fault: Exception | None = None
        self.documents: list[str] = []
        self.queries: list[str] = []
        self.gate = threading.Event()
        self.gate.set()

    def warm(self) -> None:
        """Nothing takes long here."""

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        assert self.gate.wait(20)
        if self.fault is not None:
            raise self.fault
        self.documents += texts
        return [self.vector(text) for text in texts]

    def embed_query(self, text: str, seconds: float | None = None) -> list[float]:
        if self.fault is not None:
            raise self.fault
        if not self.gate.is_set():
            self.gate.wait(seconds)
            raise ServiceFailed(f"did not answer in {seconds:.1f} s")
        self.queries.append(text)
        return self.vector(text)

    def vector(self, text: str) -> list[float]:
        """The vector of a text: a little of itself, a lot of what it is about."""
        digest = hashlib.shake_256(f"{self.model}{text}".encode()).digest(self.dimension)
        made = [(digest[at] - 127.5) / 4000.0 for at in range(self.dimension)]
        folded = text.casefold()
        for axis, words in enumerate(_CONCEPTS):
            if any(word in folded for word in words):
                made[axis] += 1.0
        assert any(made)
        assert math.isfinite(sum(made))
        return made
