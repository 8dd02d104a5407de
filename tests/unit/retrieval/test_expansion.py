"""One hop along the links."""

from __future__ import annotations

from collections.abc import Callable
from math import isclose, log

from memoranda.index.corpus import Corpus
from memoranda.index.entries import Entry
from memoranda.retrieval.parameters import RetrievalParameters
from memoranda.retrieval.retriever import Retriever
from memoranda.retrieval.view import View

Make = Callable[..., Retriever]
MakeEntry = Callable[..., Entry]


def test_linked_comes_right_after_its_hit(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever(
        [
            entry("likes:sea", "sea sea [[daily:trip]] [[gone:nowhere]] [[daily]]"),
            entry("daily:trip", "Friday, by train. [[likes:third]]"),
            entry("likes:second", "something of the sea"),
            entry("likes:third", "unrelated"),
        ]
    )
    found = asked.retrieve("sea", explain=True)
    assert [hit.address for hit in found] == ["likes:sea", "daily:trip", "likes:second"]
    first, linked, _ = found
    assert linked.via == "[[daily:trip]] of likes:sea"
    assert isclose(linked.score, first.score * 0.5 / (1 + log(2)))
    assert linked.explanation is not None
    assert linked.explanation.links == ("[[daily:trip]] of likes:sea",)
    assert first.via == ""


def test_what_is_a_hit_itself_stays_in_its_place(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever(
        [
            entry("a:x", "sea sea sea [[a:z]] [[a:x]]"),
            entry("a:y", "sea sea"),
            entry("a:z", "sea, words and words"),
        ]
    )
    found = asked.retrieve("sea")
    assert [(hit.address, hit.via) for hit in found] == [("a:x", ""), ("a:y", ""), ("a:z", "")]


def test_linked_do_not_take_the_place_of_direct_hits(retriever: Make, entry: MakeEntry) -> None:
    links = " ".join(f"[[b:n{n}]]" for n in range(4))
    asked = retriever(
        [
            entry("a:x", f"sea sea {links}"),
            entry("a:y", "sea sand"),
            *(entry(f"b:n{n}", "land") for n in range(4)),
        ]
    )
    found = asked.retrieve("sea", k=2)
    assert [hit.address for hit in found if not hit.via] == ["a:x", "a:y"]
    assert len(found) == 4, "as many linked ones as k at most"


def test_one_hit_does_not_bring_everything(retriever: Make, entry: MakeEntry) -> None:
    links = " ".join(f"[[b:n{n}]]" for n in range(9))
    asked = retriever(
        [entry("a:x", f"sea {links}"), *(entry(f"b:n{n}", "land") for n in range(9))],
        parameters=RetrievalParameters(links_per_hit=3),
    )
    assert [hit.address for hit in asked.retrieve("sea")] == ["a:x", "b:n0", "b:n1", "b:n2"]


def test_hubs_are_damped(retriever: Make, entry: MakeEntry) -> None:
    fans = [entry(f"c:n{n}", "[[b:hub]]") for n in range(30)]
    asked = retriever([entry("a:x", "sea [[b:hub]] [[b:leaf]]"), entry("b:hub"), entry("b:leaf"), *fans])
    found = asked.retrieve("sea")
    assert [hit.address for hit in found] == ["a:x", "b:leaf", "b:hub"]
    assert isclose(found.hits[2].score, found.hits[0].score * 0.5 / (1 + log(1 + 31)))


def test_links_lead_only_where_may_be_seen(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever(
        [
            entry("a:x", "sea [[user/mia/b:y]] [[project/p/b:y]] [[b:y]]"),
            entry("user/mia/b:y", "secret"),
            entry("project/p/b:y", "secret"),
            entry("b:y", "open"),
        ]
    )
    assert [hit.address for hit in asked.retrieve("sea")] == ["a:x", "b:y"]
    wider = asked.retrieve("sea", scopes=["shared", "user/mia"])
    assert [hit.address for hit in wider] == ["a:x", "b:y", "user/mia/b:y"]


def test_a_link_in_a_scope_leads_into_that_scope_first(retriever: Make, entry: MakeEntry) -> None:
    entries = [entry("user/lin/a:x", "sea [[b:y]]"), entry("b:y", "everyone's")]
    scopes = ["user/lin", "shared"]
    assert [h.address for h in retriever(entries).retrieve("sea", scopes=scopes)] == ["user/lin/a:x", "b:y"]
    entries.append(entry("user/lin/b:y", "her own"))
    assert [h.address for h in retriever(entries).retrieve("sea", scopes=scopes)] == [
        "user/lin/a:x",
        "user/lin/b:y",
    ]
    assert [h.address for h in retriever(entries).retrieve("sea", scopes=["user/lin"])][1:] == ["user/lin/b:y"]


def test_what_the_caller_hides_is_not_brought(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever([entry("a:x", "sea [[a:y]]"), entry("a:y", "later")])
    assert [h.address for h in asked.retrieve("sea", visible=lambda one: one.name != "y")] == ["a:x"]


def test_a_superseded_hit_brings_its_successor_before_itself(retriever: Make, entry: MakeEntry) -> None:
    asked = retriever(
        [entry("a:old", "lives in Berlin", superseded_by="a:new"), entry("a:new", "moved to Munich in May")]
    )
    found = asked.retrieve("Berlin")
    assert [(hit.address, hit.via) for hit in found] == [("a:new", "successor of a:old"), ("a:old", "")]


def test_the_links_of_a_weak_hit_are_weak(retriever: Make, entry: MakeEntry) -> None:
    others = [entry(f"b:n{n}", "melanie works") for n in range(20)]
    asked = retriever([entry("a:x", "melanie [[a:y]]"), entry("a:y", "unrelated"), *others])
    hits = {hit.address: hit for hit in asked.retrieve("melanie painted sunrise", k=30)}
    assert hits["a:y"].via
    assert hits["a:y"].weak is True


def test_who_links_to_what_depends_on_who_may_be_seen(entry: MakeEntry) -> None:
    corpus = Corpus()
    shared, own = entry("b:y"), entry("user/lin/b:y")
    for one in (
        shared,
        entry("a:x1", "[[b:y]]"),
        entry("a:x2", "[[user/lin/b:y]]"),
        entry("user/lin/a:x3", "[[b:y]]"),
        entry("user/lin/b:x4", "[[:y]]"),
        entry("user/mia/a:x5", "[[b:y]]"),
    ):
        corpus.put(one)

    def inbound(target: Entry, *scopes: str) -> int:
        return View(corpus.partitions(["item"], scopes)).inbound(target)

    assert inbound(shared, "shared") == 1
    assert inbound(shared, "shared", "user/lin") == 2
    assert inbound(shared, "shared", "user/lin", "user/mia") == 3
    corpus.put(own)
    assert inbound(shared, "shared", "user/lin", "user/mia") == 2
    assert inbound(own, "shared", "user/lin", "user/mia") == 3
    assert inbound(own, "user/lin") == 2
