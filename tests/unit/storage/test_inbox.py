"""The queue of exchanges: order, leases, and what a crash leaves at any step."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.core.errors import NotFound
from memoranda.core.exchanges import Exchange, exchange_from_record, exchange_to_record
from memoranda.core.model import Turn
from memoranda.storage import inbox as module
from memoranda.storage.inbox import Inbox, Work, conversation_key, key_of
from memoranda.storage.vault import VaultFolder


def exchange(conversation: str = "c1", turn: str = "1", text: str = "I like the sea.") -> Exchange:
    said = Turn(conversation, turn, text, "2026-07-10T03:00:00Z", "Lin", "user")
    answered = Turn(conversation, f"{turn}.reply", "Noted.", "", "", "assistant", {"tokens": 3})
    return Exchange(conversation, (said, answered), "user/lin", ("user/lin", "shared"), "user:lin")


@pytest.fixture
def folder(tmp_path: Path) -> VaultFolder:
    return VaultFolder(str(tmp_path / "vault"))


@pytest.fixture
def inbox(folder: VaultFolder) -> Inbox:
    return Inbox(folder)


def test_what_is_put_in_is_read_back_whole(inbox: Inbox) -> None:
    queued = inbox.put(exchange())
    with inbox.leased(queued) as found:
        assert found == exchange()


def test_it_lies_in_a_readable_file_that_only_its_owner_may_read(inbox: Inbox, folder: VaultFolder) -> None:
    queued = inbox.put(exchange(text="喜欢海边。"))
    path = Path(folder.path("inbox")) / f"{queued}.json"
    assert "喜欢海边。" in path.read_text(encoding="utf-8")
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_order_is_that_of_putting_in_even_if_the_clock_goes_back(
    inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = [module.datetime(2026, 7, 10, 3, 0, second, tzinfo=module.UTC) for second in (5, 1, 1, 9, 2)]

    class Clock(module.datetime):
        @classmethod
        def now(cls, tz: object = None) -> module.datetime:  # type: ignore[override]
            return moments.pop(0)

    monkeypatch.setattr(module, "datetime", Clock)
    put = [inbox.put(exchange(turn=str(number))) for number in range(5)]
    assert inbox.ids() == put
    assert len(set(put)) == 5


def test_two_at_the_same_moment_are_two(folder: VaultFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock(module.datetime):
        @classmethod
        def now(cls, tz: object = None) -> module.datetime:  # type: ignore[override]
            return module.datetime(2026, 7, 10, 3, tzinfo=module.UTC)

    monkeypatch.setattr(module, "datetime", Clock)
    ids = {Inbox(folder).put(exchange()) for _ in range(5)}
    assert len(ids) == 5
    assert set(Inbox(folder).ids()) == ids


def test_nobody_else_works_on_a_conversation_meanwhile(folder: VaultFolder) -> None:
    first, second = Inbox(folder), Inbox(folder)
    one, two, other = (first.put(exchange("c1", "1")), first.put(exchange("c1", "2")), first.put(exchange("c2", "1")))
    assert conversation_key(one) == conversation_key(two) != conversation_key(other)
    with first.leased(one) as mine:
        assert mine is not None
        with second.leased(one) as theirs:
            assert theirs is None
        with second.leased(two) as theirs:
            assert theirs is None
        with second.leased(other) as theirs:
            assert theirs == exchange("c2", "1")
    with second.leased(two) as theirs:
        assert theirs is not None


def test_threads_exclude_each_other_too(folder: VaultFolder) -> None:
    inbox = Inbox(folder)
    queued = inbox.put(exchange())
    seen: list[object] = []

    def look() -> None:
        with Inbox(folder).leased(queued) as found:
            seen.append(found)

    with inbox.leased(queued):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert seen == [None]


def test_what_is_done_is_gone(inbox: Inbox, folder: VaultFolder) -> None:
    queued = inbox.put(exchange())
    inbox.note(queued, Work(attempts=1, reply="{}", change="abc"))
    inbox.finish(queued)
    assert inbox.ids() == []
    assert not inbox.is_queued(queued)
    assert not [name for name in os.listdir(folder.path("inbox")) if queued in name]
    with inbox.leased(queued) as found:
        assert found is None
    inbox.finish(queued)


def test_work_is_read_back_and_what_cannot_be_read_counts_as_none(inbox: Inbox, folder: VaultFolder) -> None:
    queued = inbox.put(exchange())
    work = Work(3, 1, True, 12.5, "no answer", '{"operations": []}', "0123456789", ("a fault",))
    inbox.note(queued, work)
    assert inbox.work(queued) == work
    path = Path(folder.path("inbox")) / f"{queued}.work.json"
    for broken in ("", "{", "[]", '{"attempts": "many", "reply": 4, "faults": 7, "not_before": "soon"}'):
        path.write_text(broken, encoding="utf-8")
        assert inbox.work(queued) == Work()


def test_a_file_that_is_no_exchange_says_why(inbox: Inbox, folder: VaultFolder) -> None:
    queued = inbox.put(exchange())
    path = Path(folder.path("inbox")) / f"{queued}.json"
    for broken in ("{", "[]", "{}", '{"format": 2}', '{"format": 1, "conversation": "c", "turns": []}', "[" * 100_000):
        path.write_text(broken, encoding="utf-8")
        with inbox.leased(queued) as found:
            assert isinstance(found, ValueError), broken[:20]
            assert str(found)


def test_parked_it_is_out_of_the_queue_and_comes_back_on_demand(inbox: Inbox) -> None:
    queued = inbox.put(exchange())
    inbox.note(queued, Work(attempts=2, reply="no JSON"))
    inbox.park(queued, Work(attempts=2, reply="no JSON", faults=("it is no JSON",)))
    assert inbox.ids() == []
    assert inbox.parked_count() == 1
    (parked,) = inbox.parked()
    assert (parked.id, parked.exchange, parked.work.faults) == (queued, exchange(), ("it is no JSON",))
    assert key_of(exchange()) in inbox.held_keys()
    inbox.retry(queued)
    assert inbox.ids() == [queued]
    assert inbox.work(queued) == Work(again=True)
    assert inbox.parked() == []
    inbox.park(queued, Work(faults=("again",)))
    inbox.drop(queued)
    assert inbox.ids() == []
    assert inbox.parked_count() == 0
    for call in (inbox.retry, inbox.drop):
        with pytest.raises(NotFound):
            call(queued)


@pytest.mark.parametrize("at", range(1, 7))
def test_a_crash_while_parking_leaves_it_queued_or_parked_with_its_reply(
    inbox: Inbox, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued = inbox.put(exchange())
    work = Work(reply="half", faults=("cut",))
    inbox.note(queued, Work(reply="half"))
    steps = 0

    def counted(name: str) -> None:
        real = getattr(os, name)

        def call(*arguments: object, **options: object) -> object:
            nonlocal steps
            steps += 1
            if steps == at:
                raise KeyboardInterrupt
            return real(*arguments, **options)

        monkeypatch.setattr(os, name, call)

    for name in ("replace", "unlink", "fsync"):
        counted(name)
    try:
        inbox.park(queued, work)
    except KeyboardInterrupt:
        monkeypatch.undo()
    monkeypatch.undo()
    inbox.sweep()
    if inbox.is_queued(queued):
        assert inbox.work(queued).reply == "half"
    else:
        (parked,) = inbox.parked()
        assert (parked.exchange, parked.work) == (exchange(), work)


def test_sweeping_removes_work_without_its_exchange_and_nothing_that_is_needed(
    inbox: Inbox, folder: VaultFolder
) -> None:
    queued = inbox.put(exchange())
    inbox.note(queued, Work(reply="{}"))
    inside = Path(folder.path("inbox"))
    (inside / "20260101T000000000000-aaaaaaaa-bbbbbbbb.work.json").write_text("{}", encoding="utf-8")
    old, fresh = inside / ".memoranda-0000.tmp", inside / ".memoranda-1111.tmp"
    for path in (old, fresh):
        path.write_text("x", encoding="utf-8")
    os.utime(old, (0, 0))
    inbox.sweep()
    left = sorted(path.name for path in inside.iterdir())
    assert left == sorted([f"{queued}.json", f"{queued}.work.json", fresh.name])


def test_turns_that_are_done_are_remembered(inbox: Inbox) -> None:
    assert inbox.memorized() == set()
    inbox.note_memorized(exchange("c1", "1"), "0123456789")
    inbox.note_memorized(exchange("c2", "7"), "")
    assert inbox.memorized() == {("c1", "1"), ("c1", "1.reply"), ("c2", "7"), ("c2", "7.reply")}


def test_what_is_forgotten_goes_wherever_it_lies(inbox: Inbox, folder: VaultFolder) -> None:
    one, two = inbox.put(exchange("c1")), inbox.put(exchange("c2", text="Keep this."))
    three = inbox.put(exchange("c3"))
    inbox.park(three, Work(reply="I like the sea."))
    assert {queued for queued, _ in inbox.all()} == {one, two, three}
    inbox.forget([one, three])
    assert inbox.ids() == [two]
    assert inbox.parked() == []
    for path in Path(folder.path("inbox")).rglob("*.json"):
        assert "sea" not in path.read_text(encoding="utf-8")


TEXT = st.text(max_size=30)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.builds(
            Turn, st.just("c"), st.text(min_size=1, max_size=8), TEXT, TEXT, TEXT, TEXT,
            st.dictionaries(st.text(min_size=1, max_size=5).map(lambda key: f"x-{key}"), st.integers(), max_size=2),
        ),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(["shared", "user/lin"]),
    st.none() | TEXT,
)  # fmt: skip
def test_a_record_says_all_of_an_exchange(turns: list[Turn], scope: str, owner: str | None) -> None:
    one = Exchange("c", tuple(turns), scope, (scope,), owner)
    assert exchange_from_record(json.loads(json.dumps(exchange_to_record(one)))) == one
