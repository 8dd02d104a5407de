"""Vectors kept equal to what the files say."""

from __future__ import annotations

import json

import pytest

from fakes.vector_index import NaiveVectorIndex
from meaning import ConceptEmbedder
from memoranda.core.errors import ServiceFailed
from memoranda.index.corpus import Corpus
from memoranda.index.embedded import digest_of, embedded_text
from memoranda.index.entries import Entry
from memoranda.index.indexed_files import SourceFile
from memoranda.index.reference_texts import REFERENCE_PARENT
from memoranda.index.vector_sync import SyncState, VectorSync
from memoranda.storage.files import Stamp


def entry(name, text, category="c"):
    return Entry(f"{category}:{name}", "item", "shared", category, name, text, digest_of(text), parent=category)


def source(number, *categories, settled=True):
    return SourceFile("item", Stamp(1, 2, number, 4), settled, tuple(("item", "shared", c) for c in categories))


class Bench:
    """A corpus, an index and an embedder, and what brings them together."""

    def __init__(self, folder):
        self.path = str(folder / "state.json")
        self.corpus, self.index, self.embedder = Corpus(), NaiveVectorIndex(), ConceptEmbedder()
        self.sources = {}

    def write(self, file, number, category, **texts):
        for doc in list(self.corpus.partition("item", "shared").of_parent(category)):
            self.corpus.remove(self.corpus.partition("item", "shared").entries[doc].address)
        for name, text in texts.items():
            self.corpus.put(entry(name, text, category))
        self.sources[file] = source(number, category)

    def run(self, **more):
        self.embedder.documents.clear()
        state = SyncState(self.path, ["naive", self.embedder.model])
        return VectorSync(self.corpus, self.index, self.embedder, state, 4).run(self.sources, **more)

    def held(self):
        return {a: row.digest for a, (row, _) in self.index.rows.items() if row.parent != REFERENCE_PARENT}

    def wanted(self):
        entries = self.corpus.partition("item", "shared").entries.values()
        return {one.address: digest_of(embedded_text(one)) for one in entries}


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def test_everything_is_embedded_once_and_then_nothing(bench):
    bench.write("a.md", 1, "c", one="the sea", two="a dog")
    bench.write("b.md", 1, "d", three="coffee")
    first = bench.run()
    assert (first.embedded, first.removed) == (3, 0)
    assert bench.held() == bench.wanted()
    assert bench.run().embedded == 0
    assert bench.embedder.documents == []


def test_a_change_costs_what_has_changed(bench):
    bench.write("a.md", 1, "c", one="the sea", two="a dog")
    bench.write("b.md", 1, "d", three="coffee")
    bench.run()
    bench.write("a.md", 2, "c", one="the sea", four="espresso")
    done = bench.run()
    assert (done.embedded, done.removed, done.unchanged) == (1, 1, 1)
    assert bench.embedder.documents == ["four: espresso"]
    assert bench.held() == bench.wanted()


def test_what_is_gone_with_its_file_is_wiped(bench):
    bench.write("a.md", 1, "c", one="the sea")
    bench.write("b.md", 1, "d", three="coffee")
    bench.run()
    bench.write("b.md", 1, "d")
    del bench.sources["b.md"]
    assert bench.run().removed == 1
    assert bench.held() == bench.wanted()


def test_rows_that_no_file_accounts_for_are_wiped_where_nothing_is_known(bench, tmp_path):
    bench.write("a.md", 1, "c", one="the sea")
    bench.write("b.md", 1, "d", three="coffee")
    bench.run()
    (tmp_path / "state.json").unlink()
    bench.write("b.md", 1, "d")
    del bench.sources["b.md"]
    bench.run()
    assert bench.held() == bench.wanted()


def test_d7_nothing_is_noted_as_done_that_failed(bench):
    bench.write("a.md", 1, "c", **{f"n{at}": f"text {at}" for at in range(11)})
    bench.run()
    bench.write("a.md", 2, "c", **{f"n{at}": f"new text {at}" for at in range(11)})
    bench.embedder.fault = ServiceFailed("500")
    with pytest.raises(ServiceFailed):
        bench.run()
    bench.embedder.fault = None
    assert bench.run().embedded == 11
    assert bench.held() == bench.wanted()


def test_what_was_embedded_before_a_failure_is_not_embedded_again(bench):
    bench.write("a.md", 1, "c", **{f"n{at}": f"text {at}" for at in range(10)})
    bench.run(stopped=iter([False, True]).__next__)
    done = len(bench.held())
    assert 0 < done < 10
    assert bench.run().embedded == 10 - done
    assert bench.held() == bench.wanted()


def test_a_file_whose_stamp_cannot_be_trusted_is_looked_at_again(bench):
    bench.write("a.md", 1, "c", one="the sea")
    bench.sources["a.md"] = source(1, "c", settled=False)
    bench.run()
    bench.corpus.put(entry("one", "a dog"))
    bench.run()
    assert bench.held() == bench.wanted()


def test_a_category_that_two_files_share_keeps_what_the_other_has(bench):
    bench.write("a.md", 1, "c", one="the sea", two="a dog")
    bench.sources["A.md"] = source(1, "c")
    bench.run()
    del bench.sources["A.md"]
    bench.run()
    assert bench.held() == bench.wanted()


@pytest.mark.parametrize(
    "text", ["", "null", "{", '{"made_with": 1}', '{"made_with": [2, "naive", "concepts"], "files": 3}']
)
def test_a_broken_note_means_that_nothing_is_known(bench, tmp_path, text):
    bench.write("a.md", 1, "c", one="the sea")
    bench.run()
    (tmp_path / "state.json").write_text(text)
    done = bench.run()
    assert (done.embedded, done.unchanged) == (0, 1)


def test_the_note_is_of_one_model(bench, tmp_path):
    bench.write("a.md", 1, "c", one="the sea")
    bench.run()
    assert json.loads((tmp_path / "state.json").read_text())["files"]
    assert SyncState(bench.path, ["naive", "other"]).files == {}


def test_the_sentences_of_chance_are_in_every_index_and_embedded_once(bench):
    bench.run()
    assert len(bench.index.held(REFERENCE_PARENT)) == 48
    bench.embedder.documents.clear()
    bench.run()
    assert bench.embedder.documents == []
