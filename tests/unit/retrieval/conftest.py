"""A small corpus to ask, and the clock it is asked by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any

import pytest

from memoranda.core.links import find_links
from memoranda.core.metadata import Metadata
from memoranda.core.model import Level
from memoranda.index.corpus import Corpus
from memoranda.index.entries import Entry
from memoranda.retrieval.parameters import RetrievalParameters
from memoranda.retrieval.retriever import Retriever

NOON = datetime(2026, 7, 10, 12, tzinfo=UTC)


class StandingClock:
    def now(self) -> datetime:
        return NOON

    def zone(self) -> tzinfo:
        return timezone(timedelta(hours=8))


def make_entry(address: str, text: str = "", level: Level = "item", **more: Any) -> Entry:
    """An entry as its address says; what is no field of an entry becomes metadata.

    Turns stand by their numbers; items are strangers to each other unless they have a ``parent`` and an ``order``.
    """
    names = ("speaker", "ts", "citation", "scope", "parent", "order")
    fields = {name: more.pop(name) for name in names if name in more}
    if address.startswith("turn/"):
        category, _, name = address.rpartition("#")
        level = "resource"
        fields.setdefault("parent", category)
        fields.setdefault("order", int(name) if name.isdecimal() else 0)
    else:
        category, _, name = address.partition(":")
        parts = category.split("/")
        if parts[0] in ("user", "agent", "project"):
            fields.setdefault("scope", "/".join(parts[:2]))
    scope = fields.pop("scope", "shared")
    fields.setdefault("parent", address)
    metadata = Metadata(tuple(more.items()))
    return Entry(address, level, scope, category, name, text, "h", metadata, find_links(text), **fields)


@pytest.fixture
def entry() -> Callable[..., Entry]:
    return make_entry


@pytest.fixture
def retriever() -> Callable[..., Retriever]:
    def make(entries: Sequence[Entry], refresh: Any = None, parameters: RetrievalParameters | None = None) -> Retriever:
        corpus = Corpus()
        for one in entries:
            corpus.put(one)
        return Retriever(corpus, parameters or RetrievalParameters(), StandingClock(), refresh)

    return make
