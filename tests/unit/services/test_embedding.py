"""A vault with an embedder: meaning is found, faults are told, and nothing waits."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path

import pytest

from meaning import ConceptEmbedder
from memoranda import Vault
from memoranda.core.errors import ServiceFailed, UsageError, VaultBusy
from memoranda.core.records import replace
from memoranda.retrieval.parameters import RetrievalParameters

np = pytest.importorskip("numpy", reason="vectors need numpy")


@pytest.fixture
def embedder():
    return ConceptEmbedder()


@pytest.fixture
def vault(tmp_path, embedder):
    with Vault.open(tmp_path / "v", embedder=embedder) as opened:
        opened.remember("preferences:shore", "喜欢海")
        opened.remember("preferences:drinks", "An espresso every morning.")
        opened.remember("work:rules", "Never on a Friday.")
        yield opened


def wait_for(condition, seconds=20.0):
    until = time.monotonic() + seconds
    while not (done := condition()) and time.monotonic() < until:
        time.sleep(0.02)
    return done


def first(found):
    return found.hits[0].address if found.hits else None


def test_meaning_is_found_where_no_word_is_shared(vault):
    assert vault.retrieve("a day at the beach").no_match
    vault.embed()
    found = vault.retrieve("a day at the beach", explain=True)
    assert first(found) == "preferences:shore"
    assert found.unavailable == []
    assert "near in meaning" in found.hits[0].explanation.describe()
    assert found.hits[0].explanation.near.part > 0.0


def test_an_answer_that_is_near_in_meaning_is_not_weak(vault):
    vault.embed()
    hit = vault.retrieve("caffeine").hits[0]
    assert hit.address == "preferences:drinks"
    assert not hit.weak


def test_what_is_near_to_nothing_finds_nothing(vault):
    vault.embed()
    assert vault.retrieve("quantum chromodynamics").no_match


def test_without_vectors_the_question_is_answered_by_words_and_says_so(vault, embedder):
    vault.embed()
    embedder.fault = ServiceFailed("the endpoint said 500")
    found = vault.retrieve("espresso morning")
    assert first(found) == "preferences:drinks"
    assert found.unavailable == ["vectors: the endpoint said 500; keyword answered"]


def test_an_endpoint_that_failed_is_left_alone_for_a_while_and_then_asked_again(vault, embedder):
    vault.embed()
    embedder.fault = ServiceFailed("the endpoint said 500")
    vault.retrieve("espresso")
    embedder.fault = None
    asked = len(embedder.queries)
    assert "asked again in" in vault.retrieve("espresso").unavailable[0]
    assert len(embedder.queries) == asked
    assert wait_for(lambda: not vault.retrieve("espresso").unavailable)


def test_a_silent_endpoint_does_not_hold_up_the_answer(vault, embedder):
    vault.embed()
    embedder.gate.clear()
    begin = time.monotonic()
    found = vault.retrieve("espresso morning", deadline=0.3)
    assert time.monotonic() - begin < 5.0
    assert first(found) == "preferences:drinks"
    assert "did not answer" in found.unavailable[0]
    embedder.gate.set()


def test_a_question_is_embedded_once(vault, embedder):
    vault.embed()
    for _ in range(3):
        vault.retrieve("by the ocean")
    assert embedder.queries.count("by the ocean") == 1


def test_keyword_and_exact_questions_ask_no_embedder(vault, embedder):
    vault.embed()
    embedder.queries.clear()
    vault.retrieve("beach", mode="keyword")
    vault.retrieve("beach", mode="grep")
    assert embedder.queries == []


def test_asked_for_meaning_alone_words_do_not_count(vault):
    vault.embed()
    found = vault.retrieve("the Friday beach", mode="vector")
    assert first(found) == "preferences:shore"


def test_asked_for_vectors_without_an_embedder_keyword_answers_and_says_so(tmp_path):
    with Vault.open(tmp_path / "v") as vault:
        vault.remember("a:b", "An espresso every morning.")
        found = vault.retrieve("espresso", mode="hybrid")
        assert first(found) == "a:b"
        assert found.unavailable == ["vectors: not configured; keyword answered"]
        with pytest.raises(UsageError, match="embedding"):
            vault.embed()


def test_what_is_new_is_embedded_in_the_background(vault, embedder):
    vault.retrieve("anything")
    assert wait_for(lambda: vault.embedding_status().current)
    vault.remember("pets:rex", "A very old hound.")
    assert wait_for(lambda: first(vault.retrieve("puppy")) == "pets:rex")


def test_a_text_that_changed_is_not_found_by_what_it_meant_before(vault, embedder):
    vault.embed()
    embedder.gate.clear()
    vault.revise("preferences:shore", "Collects stamps.")
    embedder.gate.set()
    embedder.fault = None
    found = vault.retrieve("ocean", mode="vector")
    assert first(found) != "preferences:shore"


def test_vectors_catch_up_unaided_after_the_endpoint_was_down(vault, embedder):
    embedder.fault = ServiceFailed("connection refused")
    vault.retrieve("beach")
    assert wait_for(lambda: vault.embedding_status().fault == "connection refused")
    assert not vault.embedding_status().current
    embedder.fault = None
    assert wait_for(lambda: first(vault.retrieve("beach")) == "preferences:shore")


def test_one_process_embeds_at_a_time(vault, tmp_path, embedder):
    other = ConceptEmbedder()
    other.gate.clear()
    with Vault.open(tmp_path / "v", embedder=other) as second:
        second.retrieve("beach")
        assert wait_for(lambda: second._embedding._thread is not None)
        time.sleep(0.2)
        with pytest.raises(VaultBusy):
            vault.embed(patience=0.0)
        other.gate.set()
        assert wait_for(lambda: second.embedding_status().current)


def spaces(root: Path) -> list[str]:
    return sorted(path.name for path in (root / ".cache").glob("vectors/*"))


def model_in_use(root: Path) -> str:
    return json.loads((root / ".cache" / "vectors.json").read_text())["pointer"]["model"]


def test_d10_another_model_is_embedded_beside_the_old_one_and_takes_its_place_when_complete(tmp_path):
    root = tmp_path / "v"
    old, new = ConceptEmbedder("old", 400), ConceptEmbedder("new", 300)
    with Vault.open(root, embedder=old) as vault:
        vault.remember("preferences:shore", "喜欢海")
        vault.embed()
    new.fault = ServiceFailed("no quota")
    with Vault.open(root, embedder=new) as vault:
        found = vault.retrieve("beach 海")
        assert first(found) == "preferences:shore"
        assert "nothing is embedded yet" in found.unavailable[0]
        vault.remember("preferences:drinks", "An espresso every morning.")
    assert model_in_use(root) == "old"
    with Vault.open(root, embedder=old) as vault:  # back to the old one: nothing is lost
        assert first(vault.retrieve("beach")) == "preferences:shore"
        vault.embed()
        assert first(vault.retrieve("caffeine")) == "preferences:drinks"
    new.fault = None
    with Vault.open(root, embedder=new) as vault:
        vault.embed()
        assert first(vault.retrieve("beach")) == "preferences:shore"
        assert vault.embedding_status().dimension == 300
    assert model_in_use(root) == "new"
    assert spaces(root) == []


def test_deleting_the_vectors_and_embedding_again_gives_the_same_answers(vault, tmp_path):
    vault.embed()
    questions = ["beach", "caffeine and work", "海边", "release on Friday"]
    before = [[(h.address, round(h.score, 4)) for h in vault.retrieve(q).hits] for q in questions]
    for name in ("vectors.npy", "vectors.keys.jsonl"):
        (tmp_path / "v" / ".cache" / name).unlink()
    with Vault.open(tmp_path / "v", embedder=ConceptEmbedder()) as again:
        again.embed()
        after = [[(h.address, round(h.score, 4)) for h in again.retrieve(q).hits] for q in questions]
    assert after == before


def test_forgetting_wipes_the_vector_and_the_address_and_spares_the_rest(vault, tmp_path, embedder):
    vault.remember("secrets:zebra-name", "A puppy called Zebra.")
    vault.embed()
    embedder.documents.clear()
    vault.forget("secrets:zebra-name")
    cache = tmp_path / "v" / ".cache"
    assert all(b"zebra-name" not in path.read_bytes() for path in cache.rglob("*") if path.is_file())
    assert first(vault.retrieve("beach")) == "preferences:shore"
    vault.embed()
    assert embedder.documents == []


def test_forgetting_without_an_embedder_throws_all_vectors_away(vault, tmp_path):
    vault.embed()
    with Vault.open(tmp_path / "v") as plain:
        plain.forget("work:rules")
    assert not list((tmp_path / "v" / ".cache").glob("vectors*"))


def test_settings_that_mean_nothing_cost_vectors_and_not_the_answer(tmp_path):
    root = tmp_path / "v"
    root.mkdir()
    (root / "memoranda.toml").write_text('[embedding]\nprovider = "nobody"\n')
    with Vault.open(root) as vault:
        vault.remember("a:b", "An espresso every morning.")
        found = vault.retrieve("espresso")
        assert first(found) == "a:b"
        assert "nobody" in found.unavailable[0]
        with pytest.raises(UsageError, match="nobody"):
            vault.embed()


def test_turns_are_embedded_too(vault):
    vault.import_turns([{"conversation": "c", "turn": "1", "speaker": "Lin", "text": "We walked along the coast."}])
    vault.embed()
    assert first(vault.retrieve("沙滩", levels=("resource",))) == "turn/c#1"


def test_scopes_hold_for_vectors_too(vault):
    vault.remember("user/lin/pets:rex", "A very old hound.")
    vault.embed()
    assert first(vault.retrieve("puppy")) != "user/lin/pets:rex"
    assert first(vault.retrieve("puppy", scopes=["user/lin", "shared"])) == "user/lin/pets:rex"


def test_what_is_written_is_embedded_without_a_question(vault, embedder):
    vault.remember("pets:rex", "A very old hound.")
    assert wait_for(lambda: "rex: A very old hound." in embedder.documents)
    with vault.batch():
        vault.remember("pets:tom", "A cat.")
        vault.remember("pets:kim", "A bird.")
    assert wait_for(lambda: {"tom: A cat.", "kim: A bird."} <= set(embedder.documents))


def test_what_was_lost_of_the_vectors_is_made_again_without_a_command(vault, tmp_path):
    vault.embed()
    (tmp_path / "v" / ".cache" / "vectors.npy").unlink()
    with Vault.open(tmp_path / "v", embedder=ConceptEmbedder()) as again:
        assert not again.embedding_status().current
        assert wait_for(lambda: first(again.retrieve("beach")) == "preferences:shore")


def test_what_is_not_embedded_yet_is_told(vault, embedder):
    vault.embed()
    embedder.gate.clear()
    vault.remember("pets:rex", "A very old hound.")
    embedder.queries.append("")
    embedder.gate.set()
    embedder.fault = ServiceFailed("busy")
    time.sleep(0.3)
    embedder.fault = None
    told = wait_for(
        lambda: (
            "not everything is embedded" in "".join(vault.retrieve("puppy").unavailable)
            or first(vault.retrieve("puppy")) == "pets:rex"
        )
    )
    assert told


def test_forgetting_while_others_embed_waits_for_nobody_and_leaves_nothing(vault, tmp_path, embedder):
    vault.embed()
    embedder.gate.clear()
    vault.remember("secrets:zebra-name", "A puppy called Zebra.")
    assert wait_for(lambda: vault._embedding._thread is not None and vault._embedding._thread.is_alive())
    time.sleep(0.5)
    begin = time.monotonic()
    done = vault.forget("secrets:zebra-name")
    assert time.monotonic() - begin < 5.0
    assert not any("vectors" in warning for warning in done.warnings)
    embedder.gate.set()
    assert wait_for(lambda: vault.embedding_status().current)
    cache = tmp_path / "v" / ".cache"
    assert all(b"zebra-name" not in path.read_bytes() for path in cache.rglob("*") if path.is_file())
    assert first(vault.retrieve("beach")) == "preferences:shore"


def test_forgetting_with_a_damaged_index_throws_it_away_and_says_so(vault, tmp_path):
    vault.remember("secrets:zebra-name", "A puppy called Zebra.")
    vault.embed()
    vault.close()
    (tmp_path / "v" / ".cache" / "vectors.npy").write_bytes(b"short")
    with Vault.open(tmp_path / "v", embedder=ConceptEmbedder()) as again:
        done = again.forget("secrets:zebra-name")
    assert any("all vectors were thrown away" in warning for warning in done.warnings)
    cache = tmp_path / "v" / ".cache"
    assert all(b"zebra-name" not in path.read_bytes() for path in cache.rglob("*") if path.is_file())


def test_a_forgotten_person_is_not_named_beside_the_vectors(vault, tmp_path):
    vault.remember("user/linzhang/pets:rex", "A very old hound.")
    vault.embed()
    vault.forget(user="linzhang")
    cache = tmp_path / "v" / ".cache"
    assert all(b"linzhang" not in path.read_bytes() for path in cache.rglob("*") if path.is_file())


def test_a_link_in_place_of_the_folder_of_vectors_costs_nothing_outside(vault, tmp_path):
    outside = tmp_path / "photos" / "2020"
    outside.mkdir(parents=True)
    (outside / "a.jpg").write_bytes(b"a picture")
    (tmp_path / "v" / ".cache" / "vectors").symlink_to(tmp_path / "photos")
    with suppress(UsageError):  # unless what was there before it is in use already
        vault.embed()
    with Vault.open(tmp_path / "v", embedder=ConceptEmbedder("other", 300)) as other:
        with pytest.raises(UsageError):
            other.embed()
        assert first(other.retrieve("espresso morning")) == "preferences:drinks"
    assert (outside / "a.jpg").read_bytes() == b"a picture"


def test_vectors_that_the_settings_name_no_more_do_not_take_the_place_of_others(tmp_path, embedder):
    root = tmp_path / "v"
    with Vault.open(root, embedder=embedder) as vault:
        vault.remember("preferences:shore", "喜欢海")
        vault.embed()
    late = ConceptEmbedder("late", 300)
    with Vault.open(root, embedder=late) as vault:
        vault._embedding._is_wanted = lambda: False
        vault.embed()
    assert model_in_use(root) == "concepts"
    with Vault.open(root, embedder=embedder) as vault:
        assert first(vault.retrieve("beach")) == "preferences:shore"


def test_a_crash_while_a_space_takes_its_place_never_says_current_without_rows(tmp_path, embedder, monkeypatch):
    import os

    root = tmp_path / "v"
    with Vault.open(root, embedder=embedder) as vault:
        vault.remember("preferences:shore", "喜欢海")
        vault.embed()
    real, left = os.replace, [0]

    def replace(source, target):
        if "/vectors/" in str(source):
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt
        return real(source, target)

    for crash_at in range(1, 7):
        left[0] = crash_at
        new = ConceptEmbedder(f"new{crash_at}", 300)
        monkeypatch.setattr(os, "replace", replace)
        vault = Vault.open(root, embedder=new)
        with pytest.raises(KeyboardInterrupt):
            vault.embed()
        monkeypatch.setattr(os, "replace", real)
        with Vault.open(root, embedder=ConceptEmbedder(f"new{crash_at}", 300)) as again:
            assert again.embedding_status().rows == 1 or not again.embedding_status().current
            again.embed()
            assert first(again.retrieve("beach")) == "preferences:shore"


def test_who_may_not_see_a_scope_is_not_scored_by_it(tmp_path):
    def scores(others):
        with Vault.open(tmp_path / f"v{others}", embedder=ConceptEmbedder()) as vault:
            with vault.batch():
                for number in range(210):
                    vault.remember(f"notes:n{number}", f"Note number {number} about nothing.")
                vault.remember("notes:shore", "Likes the ocean.")
                for number in range(others):
                    vault.remember(f"user/bob/diary:d{number}", f"Day {number} at the beach.")
            vault.embed()
            return [(hit.address, hit.score) for hit in vault.retrieve("the sea").hits]

    assert scores(0) == scores(300)


def test_the_first_question_keeps_a_deadline_while_the_model_is_loaded(tmp_path):
    class Slow(ConceptEmbedder):
        def warm(self):
            time.sleep(1.5)

    with Vault.open(tmp_path / "v", embedder=ConceptEmbedder()) as vault:
        vault.remember("preferences:drinks", "An espresso every morning.")
        vault.embed()
    with Vault.open(tmp_path / "v", embedder=Slow()) as vault:
        vault.warm()
        begin = time.monotonic()
        found = vault.retrieve("espresso", deadline=0.2)
        assert time.monotonic() - begin < 1.2
        assert found.hits
        assert found.unavailable == ["vectors: the model is still being loaded; keyword answered"]
        assert vault.retrieve("caffeine").unavailable == []


def test_writers_readers_and_the_background_do_not_wait_for_each_other_for_ever(vault):
    import threading

    def write(name):
        for number in range(15):
            vault.remember(f"{name}:n{number}", f"Number {number} of {name}.")

    def read():
        for _ in range(40):
            vault.retrieve("the beach")

    threads = [threading.Thread(target=write, args=(f"w{at}",), daemon=True) for at in range(3)]
    threads += [threading.Thread(target=read, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert wait_for(lambda: vault.embedding_status().current, 40)
    assert vault.embedding_status().rows == 48


def test_no_match_says_what_was_nearest_in_meaning(vault):
    vault.embed()
    strict = replace(RetrievalParameters(), near=99.0, near_among_few=99.0)
    found = vault.retrieve("a day at the beach", explain=True, parameters=strict)
    assert found.no_match
    told = found.nearest.describe()
    assert "nearest in meaning was preferences:shore" in told
    assert "99.0 are needed" in told


def test_forgetting_one_spares_those_whose_names_begin_alike(vault, embedder):
    vault.remember("notes:n1", "A puppy.")
    vault.remember("notes:n10", "A hound.")
    vault.embed()
    embedder.documents.clear()
    assert vault.forget("notes:n1").warnings == ()
    vault.embed()
    assert embedder.documents == []
    assert first(vault.retrieve("dog")) == "notes:n10"
