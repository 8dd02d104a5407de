"""Replies as models write them: what is complete is found, what is not is reported, and nothing else is there."""

from __future__ import annotations

import json

import pytest

from memoranda.core.operations import Operation
from memoranda.services.extraction.reply import read_reply
from replies import BOTH, REPLIES, A


def texts(reply: str) -> list[str]:
    return [one.text for one in read_reply(reply).operations]


@pytest.mark.parametrize(("reply", "complete", "faulty"), [pytest.param(*row[1:], id=row[0]) for row in REPLIES])
def test_what_is_complete_is_found_and_what_is_not_is_reported(reply: str, complete: list[str], faulty: bool) -> None:
    read = read_reply(reply)
    assert [one.text for one in read.operations] == complete
    assert bool(read.faults) == faulty
    assert not read.whole


def test_there_are_many_kinds_of_malformed_replies() -> None:
    assert len({row[0] for row in REPLIES}) == len(REPLIES) >= 45


@pytest.mark.parametrize(
    "reply",
    [
        BOTH,
        json.dumps(json.loads(BOTH), indent=2),
        f" \n{BOTH}\n",
        '{"operations":[]}',
        '{"operations":[{"op":"skip","reason":"nothing new"}]}',
        '{"operations":[{"op":"add","text":"a","type":null,"note":[1,{"x":2.5}]}]}',
    ],
)
def test_what_was_asked_for_is_whole(reply: str) -> None:
    read = read_reply(reply)
    assert read.whole
    assert read.faults == ()
    assert len(read.operations) == len(json.loads(reply)["operations"])


def test_all_fields_are_read() -> None:
    said = {
        "op": "supersede",
        "category": " profile ",
        "name": "lives-in-xiamen",
        "text": " Lin lives in Xiamen.\n",
        "target": "[[profile:lives-in-hangzhou|Hangzhou]]",
        "type": "Profile",
        "about": "user:lin",
        "links": ["trips:a", "[[trips:b]]", " "],
        "ephemeral": True,
        "reason": "said so",
    }
    assert read_reply(json.dumps({"operations": [said]})).operations == (
        Operation(
            "supersede",
            "profile",
            "lives-in-xiamen",
            "Lin lives in Xiamen.",
            "profile:lives-in-hangzhou",
            "profile",
            "user:lin",
            ("trips:a", "trips:b"),
            True,
            "said so",
        ),
    )


def test_a_fence_within_a_text_ends_nothing() -> None:
    """Case D18: one fact, its text as it was written, without a category; that it was no operation is said."""
    read = read_reply('{"facts":["use ```json fences``` in docs"]}')
    assert read.operations == (Operation("add", text="use ```json fences``` in docs"),)
    assert [fault.split(":")[0] for fault in read.faults] == ["facts without operations, added without a category"]
    fenced = '```json\n{"operations":[{"op":"add","text":"use ```json fences```\\n```\\n in docs"}]}\n```'
    assert texts(fenced) == ["use ```json fences```\n```\n in docs"]


@pytest.mark.parametrize(("word", "op"), [("noop", "skip"), ("none", "skip"), ("NOTHING", "skip"), ("insert", "add")])
def test_few_words_stand_for_others(word: str, op: str) -> None:
    assert read_reply(f'{{"op":"{word}","text":"a"}}').operations == (Operation(op, text="a"),)


@pytest.mark.parametrize("word", ["update", "replace", "delete", "remove", "append", "remember", "addd", ""])
def test_no_other_word_is_guessed(word: str) -> None:
    read = read_reply(f'{{"op":"{word}","text":"a","target":"c:a"}}')
    assert read.operations == ()
    assert read.faults[0].startswith("no such operation")


def test_faults_show_their_piece_and_are_short() -> None:
    long = json.dumps({"operations": [{"op": "update", "text": "tea\n\x07" * 500}]})
    (fault,) = read_reply(long).faults
    assert fault.startswith('no such operation as \'update\': {"op": "update"')
    assert len(fault) <= 120
    assert fault.isprintable()


def test_of_many_faults_the_rest_is_counted() -> None:
    read = read_reply('{"op":"update"}' * 1000 + A)
    assert len(read.faults) == 50
    assert read.faults[-1] == "951 further faults"
    assert len(read.operations) == 1


def test_json_is_unwrapped_a_few_times_only() -> None:
    reply = A
    for wrapped in range(6):
        assert (texts(reply) == ["a"]) == (wrapped <= 3)
        reply = json.dumps({"arguments": reply})


@pytest.mark.parametrize(
    "begin", ["[", "{", '{"a":', '{"op":', '[{"op":"add","links":[', '{"arguments":"', "<think>", '{\\"']
)
def test_deep_and_endless_replies_end(begin: str) -> None:
    """Were the time not linear, or the depth the stack's, this would not end."""
    reply = begin * (300_000 // len(begin))
    assert read_reply(reply).operations == ()


def test_a_thought_ends_however_deep_its_brackets() -> None:
    assert texts(f"{'[{ ' * 10_000}</think>{A}") == ["a"]


@pytest.mark.parametrize(
    "piece",
    [
        '"',
        '\\"',
        '"a',
        "'a",
        "“a”",
        '},{"op":\'x',
        '},{"op":"',
        "/*",
        "//",
        ",'",
        ", ",
        "a:",
        "\\",
        "1",
        " ",
        "<",
        "]}",
    ],
)
@pytest.mark.parametrize(
    "begin", ["", "{", "[", '{"op":"add","text":', '{"op":"add","text":"', '{"op":"add","links":[']
)
def test_hostile_replies_end(begin: str, piece: str) -> None:
    """Were the time not linear, this would not end."""
    reply = begin + piece * (100_000 // len(piece))
    assert read_reply(reply) == read_reply(reply)
    assert read_reply(f"{reply}x").whole is False


def test_a_long_reply_is_read_to_its_end() -> None:
    said = [{"op": "add", "text": f'第{number} fact, "quoted"\n'} for number in range(10_000)]
    reply = json.dumps({"operations": said})
    assert texts(reply) == [one["text"].strip() for one in said]
    assert len(texts(reply[:-3])) == 9_999
