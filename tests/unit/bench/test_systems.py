"""Every system finds what it should by the one interface, in both languages, and says what is missing."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import pytest

from memoranda_bench import systems
from memoranda_bench.datasets import Document
from memoranda_bench.systems import System, SystemMissing, SystemUnfit
from memoranda_bench.systems import interface as interface_module
from memoranda_bench.systems.fts5 import any_word
from memoranda_bench.systems.ours import Ours, parameters_with, takes_parameters
from memoranda_bench.systems.tokens import bigrams, words

_SAID = [
    ("D1:1", "Ana", "The heron stood in the estuary."),
    ("D1:2", "Bob", "我昨天去了运河边跑步。"),
    ("D1:3", "Ana", 'Fine, "thanks" AND OR NOT (really)!'),
    ("D1:4", "Bob", "The heron came back; the heron was hungry."),
]
TURNS = [
    Document(id, text, who, "2023-05-08T13:56:00Z", "1:56 pm on 8 May, 2023", n, "conv-1")
    for n, (id, who, text) in enumerate(_SAID)
]
PASSAGES = [Document(id, text, order=n) for n, (id, _, text) in enumerate(_SAID)]


def _open(name: str, language: str, *, dated: bool = True) -> System:
    try:
        return systems.create(name, language, dated=dated)
    except SystemMissing as error:
        pytest.skip(str(error))


@pytest.fixture(params=[(name, kind) for name in systems.NAMES for kind in ("turns", "passages")], ids=str)
def english(request: pytest.FixtureRequest) -> Iterator[System]:
    name, kind = request.param
    system = _open(name, "en")
    system.index(TURNS if kind == "turns" else PASSAGES)
    yield system
    system.close()


def test_english(english: System) -> None:
    assert english.ask("Where did the heron stand in the estuary?", 10)[0] == "D1:1"
    assert set(english.ask("heron", 2)) == {"D1:1", "D1:4"}
    assert len(english.ask("heron", 1)) == 1
    assert english.ask("zeppelin", 10) == []
    assert english.ask('AND ("', 1) in ([], ["D1:3"])  # nothing in a question is syntax
    assert english.ask("", 10) == []


@pytest.mark.parametrize("name", [name for name in systems.NAMES if name != "bm25-stemmed"])
@pytest.mark.parametrize("documents", [TURNS, PASSAGES], ids=["turns", "passages"])
def test_chinese(name: str, documents: list[Document]) -> None:
    system = _open(name, "zh")
    system.index(documents)
    assert system.ask("昨天去哪里跑步", 10)[0] == "D1:2"
    assert "D1:1" in system.ask("Ana的heron", 10)
    system.close()


@pytest.mark.parametrize("name", [name for name in systems.NAMES if name != "ours"])
def test_the_others_get_speaker_and_date_as_text(name: str) -> None:
    dated, bare = _open(name, "en"), _open(name, "en", dated=False)
    for system in (dated, bare):
        system.index(TURNS)
    assert set(dated.ask("May", 10)) == {"D1:1", "D1:2", "D1:3", "D1:4"}
    assert bare.ask("May", 10) == []
    assert set(bare.ask("bob", 10)) == {"D1:2", "D1:4"}
    for system in (dated, bare):
        system.close()


def test_ours_with_other_settings() -> None:
    system = systems.create("ours:b=0.0,k1=2.5", "en")
    assert isinstance(system, Ours)
    assert (system.vault.settings.b, system.vault.settings.k1) == (0.0, 2.5)
    system.close()
    with pytest.raises(ValueError, match="NAME=VALUE"):
        systems.create("ours:b", "en")
    with pytest.raises(ValueError, match=r"."):
        systems.create("ours:bee=1", "en")


@pytest.mark.skipif(takes_parameters(), reason="this version takes parameters")
def test_parameters_that_the_product_does_not_take() -> None:
    with pytest.raises(SystemMissing, match="parameters"):
        systems.create("ours:link_share=0.25", "en")


@pytest.mark.skipif(not takes_parameters(), reason="this version takes no parameters")
def test_ours_with_other_parameters() -> None:
    system = systems.create("ours:link_share=0.25", "en")
    system.index(TURNS)
    assert system.ask("heron", 1) != []
    system.close()


def test_parameters_keep_their_kind() -> None:
    usual = parameters_with({})
    changed = parameters_with({"links_per_hit": "2", "link_share": "0.25", "passages.b": "0.5"})
    assert (changed.links_per_hit, changed.link_share, changed.passages.b) == (2, 0.25, 0.5)
    assert isinstance(changed.links_per_hit, int)
    assert changed.passages.k1 == usual.passages.k1
    assert changed.memory == usual.memory
    for name, value in (("link_shade", "1"), ("passages", "1"), ("passages.c", "1"), ("links_per_hit", "many")):
        with pytest.raises(ValueError, match=r"."):
            parameters_with({name: value})


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> object:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(interface_module, "import_module", absent)
    for name, package in (("bm25s", "bm25s"), ("tantivy", "tantivy")):
        with pytest.raises(SystemMissing, match=f"pip install {package}"):
            systems.create(name, "en")


def test_stemming_is_for_english() -> None:
    with pytest.raises(SystemUnfit):
        systems.create("bm25-stemmed", "zh")
    assert systems.baseline_for("en") == "bm25-stemmed"
    assert systems.baseline_for("zh-en") == "bm25s"


@pytest.mark.parametrize("name", ["bm25", "grep:b=1", ""])
def test_unknown_systems(name: str) -> None:
    with pytest.raises(ValueError, match="there are"):
        systems.create(name, "en")


def test_no_system_is_imported_before_it_is_used() -> None:
    module = importlib.import_module("memoranda_bench.systems")
    assert not {"bm25s", "tantivy", "sqlite3", "numpy"} & set(vars(module))


def test_tokens_of_the_others() -> None:
    assert words("Ana's v2, OK?") == ["ana", "s", "v2", "ok"]
    assert bigrams("我去了Ana家，好") == ["我去", "去了", "ana", "家", "好"]
    assert any_word(["a", 'b"', "a"]) == '"a" OR "b"""'
