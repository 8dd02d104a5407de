"""From turns to exchanges, and into the queue."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from memoranda import TurnContext, Vault
from memoranda.core.errors import BadName, UsageError
from memoranda.core.exchanges import Exchange
from memoranda.core.model import Turn
from memoranda.services.queueing import exchange_of, exchanges_in


def turns(*said: tuple[str, str], conversation: str = "c") -> list[Turn]:
    return [Turn(conversation, str(number), text, role=role) for number, (role, text) in enumerate(said)]


def ids(exchanges: list[Exchange]) -> list[str]:
    return [" ".join(turn.turn for turn in one.turns) for one in exchanges]


def test_an_exchange_ends_with_the_answer() -> None:
    said = turns(
        ("user", "a"), ("assistant", "b"), ("assistant", "c"), ("user", "d"), ("user", "e"), ("assistant", "f")
    )
    assert ids(list(exchanges_in(said, TurnContext()))) == ["0 1 2", "3 4 5"]


def test_conversations_that_are_mixed_are_told_apart() -> None:
    one, other = turns(("user", "a"), ("assistant", "b")), turns(("user", "x"), ("assistant", "y"), conversation="d")
    mixed = [one[0], other[0], one[1], other[1]]
    assert [one.conversation for one in exchanges_in(mixed, TurnContext())] == ["c", "d"]


def test_talk_among_people_is_cut_into_pieces() -> None:
    said = [Turn("c", str(number), "x", speaker="Ana") for number in range(20)]
    found = list(exchanges_in(said, TurnContext()))
    assert [len(one.turns) for one in found] == [8, 8, 4]
    assert [turn for one in found for turn in one.turns] == said


def test_whose_memory_it_is_comes_from_the_context(vault: Vault) -> None:
    context = TurnContext("c", "4", "2026-07-10T03:00:00Z", "lin", "scout", "shop", speaker="Lin", assistant="Scout")
    one = exchange_of("Hi.", "Hello.", context, "other", vault.clock)
    assert one.scopes == ("project/shop", "agent/scout", "user/lin", "shared")
    assert (one.scope, one.owner, one.source, one.ts) == ("user/lin", "user:lin", "turn/c#4", context.ts)
    assert [(turn.turn, turn.speaker, turn.role) for turn in one.turns] == [
        ("4", "Lin", "user"),
        ("4.reply", "Scout", "assistant"),
    ]


def test_a_turn_without_an_id_is_numbered_by_its_moment(vault: Vault) -> None:
    one = exchange_of("Hi.", "", TurnContext(), "conversation-1", vault.clock)
    assert one.conversation == "conversation-1"
    assert one.turns[0].turn.startswith("20260710T020000.000000-")
    assert exchange_of("Hi.", "", TurnContext(), "conversation-1", vault.clock).turns[0].turn != one.turns[0].turn
    assert one.ts == "2026-07-10T02:00:00Z"
    assert len(one.turns) == 1


@pytest.mark.parametrize(
    ("conversation", "turn", "ts", "error"),
    [("a/b", "1", "", BadName), ("c", "1#2", "", BadName), ("c", " ", "", BadName), ("c", "1", "soon", UsageError)],
)
def test_ids_and_times_that_mean_nothing_are_refused(
    vault: Vault, conversation: str, turn: str, ts: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        vault.enqueue(Exchange(conversation, (Turn(conversation, turn, "Hi.", ts),)))
    assert vault.inbox.ids() == []


def test_all_of_a_file_is_queued_once(vault: Vault) -> None:
    said = turns(("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d"))
    progress: list[int] = []
    assert vault.enqueue_all(exchanges_in(said, TurnContext()), lambda done, _: progress.append(done)) == (2, 0)
    assert vault.enqueue_all(exchanges_in(said, TurnContext())) == (0, 2)
    assert progress == [1, 2]
    first = vault.inbox.ids()[0]
    vault.inbox.note_memorized(next(exchanges_in(said, TurnContext())), "0123456789")
    vault.inbox.finish(first)
    assert vault.enqueue_all(exchanges_in(said, TurnContext())) == (0, 2)


def test_forget_removes_what_waits(vault: Vault, root: Path) -> None:
    vault.enqueue(exchange_of("Ana likes the sea.", "", TurnContext("c1", "1", user="ana"), "", vault.clock))
    vault.enqueue(exchange_of("Ben likes tea.", "", TurnContext("c2", "1", user="ben"), "", vault.clock))
    parked = vault.enqueue(exchange_of("Ana sails.", "", TurnContext("c1", "2", user="ana"), "", vault.clock))
    assert parked is not None
    vault.inbox.park(parked, vault.inbox.work(parked))
    preview = vault.forget(user="ana", preview=True)
    assert preview.preview
    assert len(list(vault.inbox.all())) == 3
    vault.forget(user="ana")
    assert [one.conversation for _, one in vault.inbox.all()] == ["c2"]
    assert not any(b"Ana" in path.read_bytes() for path in root.rglob("*") if path.is_file())
    vault.forget(source="turn/c2")
    assert list(vault.inbox.all()) == []


def test_what_was_forgotten_is_not_queued_again_from_a_file(vault: Vault) -> None:
    said = turns(("user", "I like the sea."), ("assistant", "Good."), ("user", "And hills."), ("assistant", "Fine."))
    exchanges = list(exchanges_in(said, TurnContext()))
    assert vault.enqueue_all(exchanges) == (2, 0)
    gone = vault.forget("turn/c#0")
    assert "turn/c#0" in gone.turns
    assert vault.enqueue_all(exchanges) == (0, 2)
    assert len(vault.inbox.ids()) == 1


def test_asked_for_again_it_is_queued_though_it_is_known(vault: Vault) -> None:
    (one,) = exchanges_in(turns(("user", "I like the sea.")), TurnContext())
    vault.inbox.note_memorized(one, "20260710T020000-0")
    assert vault.enqueue_all([one]) == (0, 1)
    assert vault.enqueue_all([replace(one, again=True)]) == (1, 0)
    (queued,) = [exchange for _, exchange in vault.inbox.all()]
    assert queued.again
