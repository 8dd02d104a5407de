"""What may be written of what a model proposes, and what becomes of the rest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memoranda import Vault
from memoranda.core.addresses import Address, parse_address
from memoranda.core.exchanges import Exchange
from memoranda.core.model import Item, Turn
from memoranda.core.operations import Operation
from memoranda.services.extraction.validation import LONGEST_TEXT, MOST_OPERATIONS, Accepted, Refused, Validation
from memoranda.services.remember import extend


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with Vault.open(tmp_path / "vault") as opened:
        opened.remember("user/lin/home:porto", "Lin lives in Porto.", owner="user:lin", source="turn/c0#1")
        opened.remember("user/lin/hobbies:sails", "Lin sails.", owner="user:lin")
        extend(opened._writer, "user/lin/hobbies:sails", "Lin has a boat.", "turn/c0#9")
        opened.remember("trips:beach", "A trip to the beach.")
        opened.remember("project/x/plans:launch", "The launch is in May.")
        yield opened


def check(
    vault: Vault, *operations: Operation, said: str = "I live in Porto.", **about: Any
) -> list[Accepted | Refused]:
    exchange = Exchange(
        "c1",
        (Turn("c1", "4", said, role="user"),),
        about.get("scope", "user/lin"),
        about.get("scopes", ("user/lin", "shared")),
        about.get("owner", "user:lin"),
    )

    def find(address: Address) -> Item | None:
        return vault.get(str(address))

    return list(Validation(exchange, find, lambda _: vault.items(scope=exchange.scope)).check(operations))


def one(vault: Vault, operation: Operation, **about: Any) -> Accepted:
    (found,) = check(vault, operation, **about)
    assert isinstance(found, Accepted), found
    return found


def no(vault: Vault, operation: Operation, **about: Any) -> Refused:
    (found,) = check(vault, operation, **about)
    assert isinstance(found, Refused), found
    return found


def test_it_goes_into_the_scope_of_the_turn(vault: Vault) -> None:
    found = one(vault, Operation("add", "family", "has-a-sister", "Lin has a sister.", type="profile"))
    assert str(found.address) == "user/lin/family:has-a-sister"
    assert (found.type, found.flags) == ("profile", ())
    same = one(vault, Operation("add", "user/lin/family", "has-a-sister", "Lin has a sister."))
    assert str(same.address) == "user/lin/family:has-a-sister"


@pytest.mark.parametrize("category", ["user/ana/family", "project/x/plans", "agent/scout/notes"])
def test_no_other_scope_is_reached(vault: Vault, category: str) -> None:
    found = check(vault, Operation("add", category, "n", "Something new."))[0]
    if isinstance(found, Accepted):
        assert found.address.scope == parse_address("user/lin/x").scope
    else:
        assert found.kind in ("scope", "name")
    assert no(vault, Operation("merge", target="project/x/plans:launch", text="More.")).kind in ("scope", "target")


def test_what_is_said_about_an_item_of_another_scope_stands_beside_it_in_ones_own(vault: Vault) -> None:
    for op in ("merge", "supersede"):
        found = one(vault, Operation(op, name="no-trip", target="trips:beach", text="Lin does not go."))
        assert (found.op, str(found.address), found.older) == ("add", "user/lin/trips:no-trip", None)
        assert (found.text, found.flags) == ("Lin does not go. [[trips:beach]]", ("beside",))


def test_nothing_is_put_behind_what_a_person_vouches_for(vault: Vault) -> None:
    vault.remember("user/lin/rules:tests", "Run the tests.", trust="high", pinned=True)
    found = one(vault, Operation("merge", target="rules:tests", text="And skip them on Fridays."))
    assert (found.op, found.flags) == ("add", ("beside",))


def test_without_a_category_the_type_says_where(vault: Vault) -> None:
    assert str(one(vault, Operation("add", text="Lin broke a leg.", type="event")).address) == "user/lin/events"
    found = one(vault, Operation("add", text="Lin broke a leg."))
    assert (str(found.address), found.flags) == ("user/lin/facts", ("category",))


def test_an_address_in_the_place_of_a_category_is_taken_apart(vault: Vault) -> None:
    found = one(vault, Operation("add", "family:has-a-sister", "", "Lin has a sister."))
    assert str(found.address) == "user/lin/family:has-a-sister"


def test_a_name_that_cannot_be_one_costs_the_name_and_not_the_fact(vault: Vault) -> None:
    found = one(vault, Operation("add", "family", "a|b#c", "Lin has a sister."))
    assert (found.address.name, found.flags) == (None, ("name",))


@pytest.mark.parametrize("category", ["..", "con", "a/../b", "x" * 300])
def test_a_category_that_cannot_be_one_is_refused(vault: Vault, category: str) -> None:
    refused = no(vault, Operation("add", category, "n", "Lin has a sister."))
    assert refused.is_fault
    assert refused.piece == "Lin has a sister."


def test_secrets_are_refused_and_not_shown(vault: Vault) -> None:
    for text in ("The key is sk-proj-canary000111222333.", "The code is [redacted:openai-key]."):
        refused = no(vault, Operation("add", "notes", "n", text))
        assert refused.kind == "secret"
        assert "canary" not in str(refused)


def test_a_recalled_block_is_refused_wherever_it_stands(vault: Vault) -> None:
    block = vault.retrieve("Porto", scopes=["user/lin"]).render()
    assert no(vault, Operation("add", "notes", "n", f"Note: {block}")).kind == "injected"
    assert no(vault, Operation("add", "notes", block[:40], "A text.")).kind in ("injected", "name")


def test_what_will_not_matter_is_left_out_without_a_fault(vault: Vault) -> None:
    refused = no(vault, Operation("add", "moods", "tired", "Lin is tired today.", ephemeral=True))
    assert (refused.kind, refused.is_fault) == ("ephemeral", False)


def test_a_transcript_is_no_fact(vault: Vault) -> None:
    assert no(vault, Operation("add", "notes", "n", "x" * (LONGEST_TEXT + 1))).kind == "long"


def test_no_more_than_a_set_number_of_one_exchange(vault: Vault) -> None:
    many = [Operation("add", f"c{n}", f"n{n}", f"House {n} has {n * 7} rooms.") for n in range(MOST_OPERATIONS + 3)]
    found = check(vault, Operation("skip"), *many)
    assert [isinstance(x, Accepted) for x in found] == [True] * MOST_OPERATIONS + [False] * 3
    assert {x.kind for x in found if isinstance(x, Refused)} == {"limit"}
    repeats = [Operation("add", "home", f"n{n}", "Lin lives in Porto.") for n in range(MOST_OPERATIONS)]
    assert isinstance(check(vault, *repeats, Operation("add", "family", "n", "Lin has a sister."))[-1], Accepted)
    assert len(check(vault, *many * 1000)) < 300


@pytest.mark.parametrize(
    "text",
    [
        "Lin lives in Porto.",
        "lin lives in porto",
        "Lin lives in Porto. [[trips:beach]]",
        "Lin lives in [[c:porto|Porto]].",
        "Lin has a boat.",
    ],
)
def test_what_an_item_says_already_is_a_repetition(vault: Vault, text: str) -> None:
    refused = no(vault, Operation("add", "other", "n", text))
    assert (refused.kind, refused.is_fault) == ("repeat", False)


@pytest.mark.parametrize(
    ("known", "text"),
    [
        ("Lin lives in [[cities:porto]].", "Lin lives in [[cities:faro]]."),
        ("Lin married [[p:ana|Ana]].", "Lin married [[p:bea|Bea]]."),
        ("[[a:tea]] is better than [[a:coffee]]", "[[a:coffee]] is better than [[a:tea]]"),
        ("Rejected:\nUse MySQL", "Use MySQL"),
        ("If it rains:\n\nLin works at home.", "Lin works at home."),
    ],
)
def test_what_only_looks_alike_is_news(vault: Vault, known: str, text: str) -> None:
    vault.remember("user/lin/other:known", known, owner="user:lin")
    assert one(vault, Operation("add", "other", "n", text))


def test_what_is_over_may_be_true_again(vault: Vault) -> None:
    vault.remember("user/lin/work:acme", "Lin works at Acme.", valid_to="2020-01-01", source="turn/c0#1")
    vault.remember(
        "user/lin/events:run", "Lin ran a marathon.", type="event", ts="2026-05-01T10:00:00Z", source="turn/c0#2"
    )
    again = Operation("add", "work", "acme-again", "Lin works at Acme.")
    run = Operation("add", "events", "run-again", "Lin ran a marathon.", type="event")
    exchange = Exchange("c1", (Turn("c1", "4", "x", "2026-07-01T10:00:00Z", role="user"),), "user/lin")
    validation = Validation(exchange, lambda one: vault.get(str(one)), lambda _: vault.items(scope="user/lin"))
    found = validation.check([again, run])
    assert [type(one) for one in found] == [Accepted, Accepted]


def test_of_another_owner_the_same_is_news(vault: Vault) -> None:
    vault.remember("user/lin/home:ana", "Ana sails.", owner="user:ana")
    assert one(vault, Operation("add", "other", "n", "Ana sails."))


def test_what_the_same_reply_says_twice_is_said_once(vault: Vault) -> None:
    found = check(vault, *(Operation("add", "family", name, "Lin has a sister.") for name in ("one", "two")))
    assert isinstance(found[0], Accepted)
    assert isinstance(found[1], Refused)
    assert found[1].kind == "repeat"


def test_links_to_what_is_there_or_comes_stay_and_others_are_shown_plain(vault: Vault) -> None:
    found = check(
        vault,
        Operation(
            "add",
            "plans",
            "trip",
            "Lin plans a trip by [[hobbies:sails|boat]] from [[plans:start]] to [[gone:island|the island]].",
            links=("trips:beach", "[[user/lin/home:porto]]", "nowhere:at-all", "trips", "hobbies#sails"),
        ),
        Operation("add", "plans", "start", "The start is in Porto harbour."),
    )
    assert isinstance(found[0], Accepted)
    assert found[0].text == (
        "Lin plans a trip by [[hobbies:sails|boat]] from [[plans:start]] to the island. [[trips:beach]] [[home:porto]]"
    )
    assert found[0].flags == ("unlinked",)


def test_a_link_does_not_reach_what_the_scopes_do_not(vault: Vault) -> None:
    found = one(vault, Operation("add", "plans", "n", "The launch.", links=("project/x/plans:launch",)))
    assert (found.text, found.flags) == ("The launch.", ("unlinked",))
    inside = one(
        vault,
        Operation("add", "plans", "n", "The launch.", links=("project/x/plans:launch",)),
        scopes=("project/x", "user/lin", "shared"),
    )
    assert inside.text == "The launch. [[project/x/plans:launch]]"


def test_another_language_than_what_was_said_is_kept_and_flagged(vault: Vault) -> None:
    said = "我住在波尔图，每个周末都出海，还有一条自己的小船。"
    foreign = "This person goes out to sea at the weekend and owns a small boat of their own."
    assert one(vault, Operation("add", "notes", "n", foreign), said=said).flags == ("other-language",)
    assert one(vault, Operation("add", "notes", "n", "他每个周末都出海去玩。"), said=said).flags == ()


def test_a_target_must_be_there(vault: Vault) -> None:
    for op in ("merge", "supersede"):
        for target in ("home:faro", "home", "", "///"):
            assert no(vault, Operation(op, target=target, text="Lin lives in Faro.")).kind == "target"


def test_superseding_keeps_the_older_item_and_its_name(vault: Vault) -> None:
    unnamed = one(vault, Operation("supersede", target="home:porto", text="Lin lives in Faro."))
    assert str(unnamed.address) == "user/lin/home"
    found = one(vault, Operation("supersede", name="Porto", target="home:porto", text="Lin lives in Faro."))
    assert str(found.older) == "user/lin/home:porto"
    assert str(found.address) == "user/lin/home:porto-2"
    named = one(vault, Operation("supersede", target="[[user/lin/home:porto]]", name="faro", text="Lin lives in Faro."))
    assert str(named.address) == "user/lin/home:faro"
    moved = one(vault, Operation("supersede", "places", "faro", "Lin lives in Faro.", "home:porto"))
    assert str(moved.address) == "user/lin/places:faro"


def test_of_items_that_took_each_others_place_the_last_is_meant(vault: Vault) -> None:
    vault.remember("user/lin/home:faro", "Lin lives in Faro.", supersedes="user/lin/home:porto")
    found = one(vault, Operation("supersede", name="braga", target="home:porto", text="Lin lives in Braga."))
    assert str(found.older) == "user/lin/home:faro"


def test_an_older_turn_does_not_take_the_place_of_what_came_later(vault: Vault) -> None:
    exchange = Exchange("c1", (Turn("c1", "4", "x", "2020-07-01T10:00:00Z", role="user"),), "user/lin")
    operation = Operation("supersede", name="faro", target="home:porto", text="Lin lives in Faro.")
    (found,) = Validation(exchange, lambda one: vault.get(str(one)), lambda _: ()).check([operation])
    assert isinstance(found, Refused)
    assert "later day" in found.reason


def test_superseding_by_what_is_there_already_marks_the_older_one(vault: Vault) -> None:
    vault.remember("user/lin/home:faro", "Lin lives in Faro.", owner="user:lin")
    found = one(vault, Operation("supersede", name="new", target="home:porto", text="Lin lives in Faro."))
    assert (found.op, str(found.address), str(found.older)) == ("mark", "user/lin/home:faro", "user/lin/home:porto")


def test_what_cannot_be_seen_is_taken_out(vault: Vault) -> None:
    found = one(vault, Operation("add", "family", "ri\u202eta", "Rita\x00 sails\u200b.", about="Rita\u202e"))
    assert (found.address.name, found.text, found.about) == ("rita", "Rita sails.", "Rita")
    assert no(vault, Operation("add", "fa\u202emily", "n", "Rita rows.")).kind == "name"


def test_merging_what_the_item_says_is_a_repetition(vault: Vault) -> None:
    assert no(vault, Operation("merge", target="hobbies:sails", text="Lin has a boat.")).kind == "repeat"
    assert (
        str(one(vault, Operation("merge", target="hobbies:sails", text="Lin races.")).address)
        == "user/lin/hobbies:sails"
    )
