"""What another memory system is to this one: it takes turns and finds texts, and never fails whoever asks."""

from __future__ import annotations

from typing import Protocol

from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Backend", "Committed", "Retrieved", "address_of", "line_of"]


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was found, the best first.

    ``sources`` are the turns that the texts came from, ``conversation#turn``,
    in the same order; empty where a text came from elsewhere. ``unavailable``
    says why nothing was found where something was in the way.
    """

    texts: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    unavailable: str = ""


@dataclass(frozen=True, slots=True)
class Committed:
    """How many of the turns are held now, from the first on; ``fault`` says why it is not all of them."""

    count: int = 0
    fault: str = ""


class Backend(Protocol):
    """Another memory system. Its calls raise nothing: what went wrong is in what they return.

    A turn is a table as :meth:`memoranda.Vault.import_turns` takes it:
    ``conversation``, ``turn`` and ``text``, and ``speaker``, ``role``, ``ts``
    where they are known. A turn that is held already may be committed again.
    """

    def retrieve(self, query: str, k: int) -> Retrieved:
        """At most ``k`` texts that have to do with the query. Calls no language model."""
        ...

    def commit(self, turns: Sequence[Mapping[str, object]]) -> Committed:
        """Keep turns, word for word: no language model reads them first."""
        ...

    def close(self) -> None:
        """Give back what is held open."""
        ...


def address_of(turn: Mapping[str, object]) -> str:
    """What a turn is called elsewhere, and found again by: ``conversation#turn``. Raises KeyError: it lacks one."""
    return f"{turn['conversation']}#{turn['turn']}"


def line_of(turn: Mapping[str, object]) -> str:
    """A turn on one line, with who said it in front. Raises KeyError: it has no text."""
    text = " ".join(str(turn["text"]).split()).encode("utf-8", "replace").decode().replace("\0", "")
    speaker = str(turn.get("speaker") or turn.get("role") or "")
    return f"{speaker}: {text}" if speaker else text
