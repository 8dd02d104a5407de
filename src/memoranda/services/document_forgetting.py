"""Documents removed for good: what is derived of them, and what was noted of their use, goes with them."""

from __future__ import annotations

from memoranda.core.addresses import parse_document
from memoranda.core.errors import NotFound
from memoranda.core.model import Forgotten
from memoranda.core.records import replace
from memoranda.index.segment_keeper import wipe_segment
from memoranda.services.forget import make_cache_anew
from memoranda.services.scrub import scrub_documents, scrub_usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from memoranda.services.embedding import Embedding
    from memoranda.services.library import Library
    from memoranda.storage.store import Storage

__all__ = ["forget_everywhere", "wipe_documents"]


def _forget_documents(library: Library, named: Mapping[str, Sequence[str]], *, preview: bool) -> Forgotten:
    """Remove documents, by corpus, for good; ``preview`` only tells.

    Raises:
        NotFound: there is no such document; nothing was removed.
        VaultReadOnly, VaultBusy.
    """
    change = None
    for corpus, documents in named.items():
        known = {one.id for one in library.known(corpus)}
        for document in documents:
            if document not in known:
                raise NotFound(f"there is no document {document} in {corpus}")
    for corpus, documents in named.items():
        if not preview:
            change = library.remove(corpus, documents)
    items = tuple(f"kb/{corpus}/{document}" for corpus, documents in named.items() for document in documents)
    return Forgotten(items, journal_id=change, preview=preview)


def forget_everywhere(
    library: Library, address: str | None, user: str | None, memory: Callable[[], Forgotten], *, preview: bool
) -> Forgotten:
    """Forget a document, or what ``memory`` forgets; of a user both. Raises what either does."""
    if address is not None and address.startswith("kb/"):
        corpus, document = parse_document(address)
        return _forget_documents(library, {corpus: [document]}, preview=preview)
    mine = {} if user is None else library.of_user(user)
    if not mine:
        return memory()
    also = _forget_documents(library, mine, preview=preview)
    try:
        done = memory()
    except NotFound:
        return also
    return replace(done, items=(*done.items, *also.items))


def wipe_documents(storage: Storage, embedding: Embedding | None, parents: Sequence[str]) -> None:
    """Remove what is derived of documents (``kb/<corpus>/<document>``); needs the lock.

    The segment of passages holds their text and goes whole; so does everything
    derived where single vectors cannot be wiped. All of it is made again from
    the files.
    """
    scrub_usage(storage, (), parents)
    scrub_documents(storage, parents)
    wipe_segment(storage.vault, "passages")
    if embedding is not None and not embedding.wipe_parents(parents):
        make_cache_anew(storage, spare_vectors=False)
