"""Documents as passages: found at once, cut again when they change, seen by those whose they are."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoranda import Vault
from memoranda.core.passages import cut
from memoranda.index import library
from memoranda.index.corpus import Corpus

WORDS = ["sea", "tea", "boat", "harbour", "storm", "anchor", "rope", "sail", "lantern", "fog", "cliff", "island"]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every question looks at the files."""
    monkeypatch.setattr(library, "_PAUSE", 0.0)


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with Vault.open(tmp_path / "vault") as opened:
        yield opened


def put(vault: Vault, corpus: str, name: str, text: str | bytes) -> Path:
    path = Path(vault.root) / "docs" / corpus / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
    return path


def configure(vault: Vault, corpus: str, **settings: object) -> None:
    folder = Path(vault.root) / "docs" / corpus
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "corpus.json").write_text(json.dumps(settings), encoding="utf-8")


def found(vault: Vault, question: str, *scopes: str) -> list[str]:
    hits = vault.retrieve(question, levels=["passage"], scopes=scopes or None, deadline=60).hits
    return [hit.address for hit in hits]


def scores(vault: Vault, question: str) -> list[tuple[str, float]]:
    hits = vault.retrieve(question, levels=["passage"], k=20, deadline=60).hits
    return [(hit.address, round(hit.score, 9)) for hit in hits]


GUIDE = """# Guide

## Mooring

Moor the boat at the third pier, with two ropes.

## 天气

海上起雾的时候不要出港，先等两个小时。

## Engine

<!-- page 7 -->

Change the oil every hundred hours.
"""


def test_a_document_is_found_by_its_words_in_both_languages_with_a_citation(vault: Vault) -> None:
    put(vault, "boat", "guide", GUIDE)
    (hit,) = vault.retrieve("where is the boat moored?", levels=["passage"], k=1).hits
    assert hit.address.startswith("kb/boat/guide#")
    assert hit.citation.startswith("docs/boat/guide.md:")
    assert "Guide" in hit.citation
    assert "third pier" in hit.text
    configure(vault, "boat", size=60)
    (fog,) = vault.retrieve("起雾了能出港吗", levels=["passage"], k=1).hits
    assert "天气" in fog.citation
    assert "两个小时" in fog.text
    (oil,) = vault.retrieve("when to change the oil", levels=["passage"], k=1).hits
    assert oil.citation.endswith("(Guide › Engine, page 7)")


def test_headings_are_searched_and_memory_and_knowledge_answer_together(vault: Vault) -> None:
    put(vault, "boat", "guide", GUIDE)
    vault.remember("boat:name", "The boat is called Petrel; its mooring costs too much.")
    found = vault.retrieve("mooring the boat", levels=["item", "passage"], k=4)
    assert {hit.level for hit in found.hits} == {"item", "passage"}


def test_an_edit_by_hand_is_seen_by_the_next_question(vault: Vault) -> None:
    path = put(vault, "boat", "guide", GUIDE)
    assert found(vault, "lighthouse keeper") == []
    path.write_text(GUIDE + "\n## Light\n\nThe lighthouse keeper answers at night.\n", encoding="utf-8")
    assert len(found(vault, "lighthouse keeper")) == 1
    path.unlink()
    assert found(vault, "lighthouse keeper") == []
    assert found(vault, "third pier ropes") == []


def test_only_what_an_edit_touched_is_taken_in_again(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    sections = [f"## Part {number}\n\n{' '.join(WORDS)} {number}.\n" for number in range(50)]
    configure(vault, "boat", size=80)
    path = put(vault, "boat", "long", "# Long\n\n" + "\n".join(sections))
    before = found(vault, "part 17 lantern")
    assert before
    put_before = Corpus.put
    taken: list[str] = []

    def counted(self: Corpus, entry: object) -> int:
        taken.append(entry.address)  # type: ignore[attr-defined]
        return put_before(self, entry)  # type: ignore[arg-type]

    monkeypatch.setattr(Corpus, "put", counted)
    sections[17] = sections[17].replace("fog", "mist")
    path.write_text("# Long\n\n" + "\n".join(sections), encoding="utf-8")
    found(vault, "part 17 lantern")
    assert 1 <= len(taken) <= 2


def test_whose_a_corpus_is_says_who_sees_it(vault: Vault) -> None:
    put(vault, "plans", "launch", "The launch is on the ninth of May.\n")
    configure(vault, "plans", scope="project/shop")
    assert found(vault, "launch") == []
    assert found(vault, "launch", "project/other") == []
    assert len(found(vault, "launch", "project/shop")) == 1
    configure(vault, "plans", scope="shared")
    assert len(found(vault, "launch")) == 1
    # Whose it is cannot be told: it may be private.
    configure(vault, "plans", scope="everybody")
    assert found(vault, "launch") == []
    assert found(vault, "launch", "project/shop") == []


def test_other_settings_cut_all_of_it_anew(vault: Vault) -> None:
    put(vault, "boat", "guide", "# A\n\n" + "\n\n".join(f"{word} " * 40 for word in WORDS))
    configure(vault, "boat", size=4000)
    whole = found(vault, "lantern")
    configure(vault, "boat", size=200)
    assert len(found(vault, "lantern")) >= len(whole)
    assert all(hit.text.count("lantern") < 40 for hit in vault.retrieve("lantern", levels=["passage"]).hits)
    configure(vault, "boat", size="large", overlap=-1)
    assert found(vault, "lantern")


def test_what_cannot_be_a_document_costs_only_itself(vault: Vault) -> None:
    put(vault, "boat", "guide", GUIDE)
    put(vault, "boat", "binary", b"\xff\xfe\x00\x81")
    put(vault, "boat", ".hidden", "The boat of nobody.")
    put(vault, "boat", "empty", "")
    (Path(vault.root) / "docs" / "boat" / "folder.md").mkdir()
    (Path(vault.root) / "docs" / "loose.md").write_text("The boat of no corpus.", encoding="utf-8")
    result = vault.retrieve("boat", levels=["passage"])
    assert {hit.address.partition("#")[0] for hit in result.hits} == {"kb/boat/guide"}
    assert result.unavailable == []
    configure(vault, "boat", size=1)
    problems = sorted(vault.check(), key=lambda problem: problem.path, reverse=True)
    unread = [problem.path for problem in problems if problem.kind == "not-searched"]
    assert unread == ["docs/loose.md", "docs/boat/folder.md"]
    (settings, encoding) = [problem for problem in problems if problem.kind != "not-searched"]
    assert (encoding.path, encoding.kind, encoding.line) == ("docs/boat/binary.md", "encoding", 1)
    assert (settings.path, settings.kind) == ("docs/boat/corpus.json", "settings")


def test_what_was_changed_step_by_step_is_found_as_if_it_had_been_read_at_once(vault: Vault) -> None:
    chance = random.Random(7)
    configure(vault, "one", size=120)
    texts: dict[tuple[str, str], str] = {}
    for _ in range(40):
        key = (chance.choice(["one", "two"]), chance.choice("abcd"))
        if key in texts and chance.random() < 0.3:
            del texts[key]
            (Path(vault.root) / "docs" / key[0] / f"{key[1]}.md").unlink()
        else:
            lines = [
                f"## {chance.choice(WORDS)}\n\n{' '.join(chance.choices(WORDS, k=30))}."
                for _ in range(chance.randint(1, 8))
            ]
            texts[key] = "\n\n".join(lines)
            put(vault, *key, texts[key])
        asked = " ".join(chance.choices(WORDS, k=3))
        with Vault.open(vault.root) as fresh:
            once = scores(fresh, asked)
        assert scores(vault, asked) == once
    held = sum(len(cut(text, size=120 if key[0] == "one" else 1000)) for key, text in texts.items())
    assert len(vault._contents.held(("passage",))) == held


def test_a_cell_of_twenty_thousand_letters_is_cut(vault: Vault) -> None:
    """D11: every passage under the limit."""
    put(vault, "boat", "wide", "# T\n\n| a | b |\n| --- | --- |\n| " + "x" * 21_000 + " | y |\n")
    vault.retrieve("y", levels=["passage"], deadline=60)
    assert max(len(entry.text) for entry in vault._contents.held(("passage",))) <= 1100


def test_documents_are_looked_at_once_a_second(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_PAUSE", 1000.0)
    put(vault, "boat", "guide", GUIDE)
    assert found(vault, "third pier")
    put(vault, "boat", "other", "The lighthouse.")
    assert found(vault, "lighthouse") == []
