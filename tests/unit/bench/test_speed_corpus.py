"""The made-up memory: the same bytes for the same seed, natural shares, questions that have an answer."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from memoranda import Vault
from memoranda.core.analysis import analyze
from memoranda.core.stopwords import is_stop_word
from memoranda_bench.speed import corpus as corpora
from memoranda_bench.speed.corpus import CATEGORIES, items, joined, make
from memoranda_bench.speed.words import ENGLISH_STOP


def _digest(folder: str) -> str:
    found = hashlib.sha256()
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            found.update(name.encode() + Path(parent, name).read_bytes())
    return found.hexdigest()


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    one, again, other = (make(str(tmp_path / name), 300, seed) for name, seed in (("a", 1), ("b", 1), ("c", 2)))
    assert _digest(one.folder) == _digest(again.folder) != _digest(other.folder)
    assert one.questions == again.questions


def test_a_finished_set_is_used_again_and_a_torn_one_is_not(tmp_path: Path) -> None:
    first = make(str(tmp_path), 50, 0)
    (tmp_path / "mark").touch()
    marked = Path(first.folder, "memory", "mark.md")
    marked.touch()
    assert make(str(tmp_path), 50, 0) == first
    assert marked.exists()
    Path(first.folder, "corpus.json").write_text('{"items"')
    assert make(str(tmp_path), 50, 0) == first
    assert not marked.exists()


def test_shares_are_natural() -> None:
    found = list(items(2000, 0))
    tokens = [len(analyze(item.text)) for item in found]
    assert 24 < sum(tokens) / len(tokens) < 29
    latin = [word for item in found for word in item.words if word.isascii()]
    assert 0.42 < sum(word in ENGLISH_STOP for word in latin) / len(latin) < 0.48
    assert all(is_stop_word(word) for word in ENGLISH_STOP)
    chinese = sum(not item.text.isascii() for item in found)
    assert 0.4 < chinese / len(found) < 0.6
    assert len({item.address for item in found}) == len(found)


def test_questions_are_words_of_their_item_in_order(tmp_path: Path) -> None:
    corpus = make(str(tmp_path), 400, 3)
    by_address = {item.address: item for item in items(400, 3)}
    assert len(corpus.questions) > 390
    for question in corpus.questions:
        item = by_address[question.address]
        remaining = iter(item.text)
        assert all(character in remaining for character in question.text if character != " ")
        assert set(question.content) <= set(question.text)
        assert question.content
    assert any(question.content != question.text for question in corpus.questions)


def test_the_files_hold_the_items(tmp_path: Path) -> None:
    corpus = make(str(tmp_path), 450, 0)
    assert len(os.listdir(corpus.memory)) == CATEGORIES
    written = dict(corpus.read())
    root = tmp_path / "v"
    root.mkdir()
    os.rename(corpus.memory, root / "memory")
    with Vault.open(root) as vault:
        assert {str(item.address): item.text for item in vault.items()} == written
        assert vault.check() == []
        item = next(iter(vault.items()))
        assert item.metadata.owner == "user:lin"
        assert item.metadata.ts


@pytest.mark.parametrize(
    ("words", "text"),
    [(["我", "喜欢"], "我喜欢"), (["我", "tea", "cup", "吗", "的"], "我 tea cup 吗的"), (["a"], "a")],
)
def test_chinese_words_have_no_blanks_between(words: list[str], text: str) -> None:
    assert joined(words) == text


def test_progress_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpora, "_EVERY", 10)
    told: list[int] = []
    make(str(tmp_path), 25, 0, told.append)
    assert told == [10, 20]
