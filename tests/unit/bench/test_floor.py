"""Counting what a floor keeps silent about: unanswerable and answerable questions apart."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from memoranda_bench import floor
from memoranda_bench.datasets import Collection, DataSet, Document, Question
from memoranda_bench.floor import Decision, count, measure_floor
from memoranda_bench.quality_tables import floor_report

OWN = Question("own", {"a": 1, "b": 1}, 1)
STRANGE = Question("strange", {}, 1)


def test_counts() -> None:
    decisions = [
        Decision(
            1,
            OWN,
            nothing=False,
            no_match=False,
            weak_only=False,
            hits=2,
            hits_without=2,
            bare_hits=1,
            bare_hits_without=2,
        ),
        Decision(
            1,
            OWN,
            nothing=True,
            no_match=True,
            weak_only=True,
            hits=0,
            hits_without=1,
            bare_hits=0,
            bare_hits_without=2,
        ),
        Decision(1, STRANGE, nothing=True, no_match=True, weak_only=True, hits=0, hits_without=0),
        Decision(1, STRANGE, nothing=True, no_match=False, weak_only=True, hits=0, hits_without=0),
        Decision(1, STRANGE, nothing=False, no_match=False, weak_only=True, hits=0, hits_without=0),
    ]
    counted = count(decisions)
    assert counted == {
        "unanswerable": 3,
        "nothing": 2,
        "no_match": 1,
        "weak_only": 3,
        "answerable": 2,
        "silenced": 1,
        "hits": 2,
        "hits_without": 3,
        "bare_hits": 1,
        "bare_hits_without": 4,
    }
    report = floor_report({"language": "en", "has_floor": True, "systems": {"ours": {"all": counted}}})
    # Of three silences two were right; two of three unanswerable questions were met with silence.
    assert "| all | ours | 3 | 66.7% | 33.3% | 100.0% | 2 | 50.0% | 3 | 66.7% (25.0%) | 66.7% | 66.7% |" in report


def test_the_product_is_asked() -> None:
    turns = tuple(
        Document(f"D1:{n}", text, "Ana", "2023-05-08T13:56:00Z", "8 May", n, "conv-1")
        for n, text in enumerate(("The heron stood in the estuary.", "The kettle is broken."))
    )
    asked = (Question("Where did the heron stand?", {"D1:0": 1}, 4), Question("zeppelin hangar", {}, 4))
    result = measure_floor(DataSet("unanswerable", "en", (Collection("c", 1, turns, asked),)), ["ours", "grep"])
    assert list(result["systems"]) == ["ours"]
    counted = result["systems"]["ours"]["all"]
    assert (counted["unanswerable"], counted["nothing"], counted["no_match"]) == (1, 1, 1)
    assert (counted["answerable"], counted["silenced"], counted["hits"], counted["hits_without"]) == (1, 0, 1, 1)


def test_what_the_floor_takes_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    hit = SimpleNamespace(weak=False)

    class Silent:
        """Answers with a name in the question, or without a floor."""

        def index(self, documents: object) -> None: ...

        def close(self) -> None: ...

        def retrieve(self, question: str, k: int, parameters: object = None) -> SimpleNamespace:
            hits = [hit] if "Ana" in question or parameters == "off" else []
            return SimpleNamespace(hits=hits, no_match=not hits)

        def ids(self, found: SimpleNamespace) -> list[str]:
            return ["a"] * len(found.hits)

    monkeypatch.setattr(floor, "Ours", Silent)
    monkeypatch.setattr(floor, "create", lambda name, language: Silent())
    monkeypatch.setattr(floor, "without_floor", lambda: "off")
    said = (Document("a", "text", "Ana"),)
    asked = (Question("Ana's?", {"a": 1, "b": 1}, 4), Question("hers?", {}, 4))
    result = measure_floor(DataSet("unanswerable", "en", (Collection("c", 1, said, asked),)), ["ours"])
    assert result["has_floor"]
    counted = result["systems"]["ours"]["all"]
    assert (counted["hits"], counted["hits_without"]) == (1, 1)
    assert (counted["bare_hits"], counted["bare_hits_without"]) == (0, 1)
    assert (counted["nothing"], counted["silenced"]) == (1, 0)
