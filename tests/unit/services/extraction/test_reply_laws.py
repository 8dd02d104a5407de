"""Laws of reading replies: a cut loses what it cuts, valid JSON is read as JSON, no damage makes a fact of nothing."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memoranda.core.operations import ITEM_TYPES
from memoranda.services.extraction.reply import read_reply

#: Texts that a reader of braces, fences, tags or quotes would trip over.
TEXTS = [
    "喜欢海边，提到过想去海边玩。",
    'says "hi", then {"op":"add","text":"x"}, and [left]',
    "use ```json fences``` in docs\n```\nend",
    "ends </think> with <think> tags, C:\\dir\\",
    "“你好” and it's 5' 3\" \U0001f600 // no comment /* at all",
    '}],"facts":["none"]},{"op": "skip"}',
]

OPERATIONS = [
    {"op": "add", "category": "c", "name": f"n{number}", "text": text, "links": ["a:b", "c:[d]"], "type": None}
    for number, text in enumerate(TEXTS)
]


def texts(reply: str) -> list[str]:
    return [one.text for one in read_reply(reply).operations]


def plain(operations: list[dict[str, object]]) -> str:
    return json.dumps({"operations": operations}, ensure_ascii=False)


def indented(operations: list[dict[str, object]]) -> str:
    return json.dumps({"operations": operations}, indent=2)


def fenced(operations: list[dict[str, object]]) -> str:
    return f"Here it is:\n```json\n{indented(operations)}\n```\nThat's all."


def thoughtful(operations: list[dict[str, object]]) -> str:
    return f"<think>Maybe {{this}} or [that]?</think>\n{plain(operations)}"


def in_lines(operations: list[dict[str, object]]) -> str:
    return "\n".join(json.dumps(one) for one in operations)


def called(operations: list[dict[str, object]]) -> str:
    return json.dumps({"tool_calls": [{"function": {"name": "remember", "arguments": plain(operations)}}]})


FORMS = [plain, indented, fenced, thoughtful, in_lines, called]


@pytest.mark.parametrize("form", FORMS)
def test_cut_at_any_byte_what_had_closed_is_found(form: Callable[[list[dict[str, object]]], str]) -> None:
    reply = form(OPERATIONS)
    assert texts(reply) == TEXTS
    # An operation has closed where its last key's value is followed by its brace.
    last = "null" if form is not called else "null}"
    ends, at = [], 0
    for _ in OPERATIONS:
        at = reply.index(last, at)
        at = reply.index("}", at) + 1
        ends.append(len(reply[:at].encode()))
    data = reply.encode()
    for cut in range(len(data) + 1):
        closed = sum(end <= cut for end in ends)
        read = read_reply(data[:cut].decode("utf-8", "replace"))
        assert [one.text for one in read.operations] == TEXTS[:closed], data[max(0, cut - 60) : cut]
        assert not read.whole or cut == len(data)
        assert read.whole or read.faults or closed


nasty = st.text(
    st.sampled_from(list('""\\\'{}[],:`<>/\n\t\x00 ab海“”‘’')) | st.characters(exclude_categories=["Cs"]), min_size=1
).filter(lambda text: text == text.strip() and "\ufffd" not in text)
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | nasty
values = st.recursive(
    leaves, lambda inner: st.lists(inner) | st.dictionaries(nasty.map("x{}".format), inner), max_leaves=8
)
operations = st.fixed_dictionaries(
    {"op": st.just("add"), "text": nasty},
    optional={
        "name": nasty,
        "type": st.sampled_from(ITEM_TYPES),
        "links": st.just([]),
        "ephemeral": st.booleans(),
        "x-unknown": values,
    },
)


def distinct(found: list[dict[str, object]]) -> list[dict[str, object]]:
    return [one for at, one in enumerate(found) if all(one["text"] != other["text"] for other in found[:at])]


@settings(deadline=None)
@given(st.lists(operations, max_size=4).map(distinct), st.booleans(), st.sampled_from([None, 1]))
def test_valid_json_is_read_as_json(said: list[dict[str, object]], ascii_only: bool, indent: int | None) -> None:
    reply = json.dumps({"operations": said}, ensure_ascii=ascii_only, indent=indent)
    read = read_reply(reply)
    assert [one.text for one in read.operations] == [one["text"] for one in said]
    assert [one.name for one in read.operations] == [one.get("name", "") for one in said]
    assert read.whole
    assert read.faults == ()


@settings(max_examples=200, deadline=None)
@given(st.lists(operations, min_size=1, max_size=3).map(distinct), st.booleans(), st.data())
def test_cut_anywhere_what_had_closed_is_found(
    said: list[dict[str, object]], ascii_only: bool, data: st.DataObject
) -> None:
    bodies = [json.dumps(one, ensure_ascii=ascii_only) for one in said]
    reply = f'{{"operations": [{", ".join(bodies)}]}}'
    cut = data.draw(st.integers(0, len(reply)))
    ends = [len('{"operations": [') + len(", ".join(bodies[: at + 1])) for at in range(len(bodies))]
    assert texts(reply[:cut]) == [one["text"] for one, end in zip(said, ends, strict=True) if end <= cut]


@settings(deadline=None)
@given(st.lists(operations, max_size=3).map(distinct), st.text("ab .,!\n`*#-海"), st.text("ab .,!\n`*#-海"))
def test_prose_around_changes_nothing(said: list[dict[str, object]], before: str, behind: str) -> None:
    reply = f"{before}{json.dumps(said)}{behind}"
    assert texts(reply) == [one["text"] for one in said]


@settings(deadline=None)
@given(values)
def test_json_in_which_no_object_says_what_to_do_holds_no_operation(value: object) -> None:
    assert read_reply(json.dumps(value)).operations == ()


#: An operation between others, to be damaged; each text is like no other.
DAMAGED = [
    {"op": "add", "category": "preferences", "name": "tea", "text": '喜欢绿茶, and "oolong" too'},
    {
        "op": "supersede",
        "target": "profile:city",
        "text": "lives in {Xiamen}",
        "links": ["trips:a"],
        "ephemeral": False,
    },
    {"op": "merge", "target": "a:b", "text": "says [ok]: yes"},
]


@pytest.mark.parametrize("indent", [None, 1])
def test_one_character_less_costs_at_most_its_operation(indent: int | None) -> None:
    reply = json.dumps({"operations": DAMAGED}, ensure_ascii=False, indent=indent)
    spans, at = [], 0
    for one in DAMAGED:
        begin = reply.index("{", max(at, reply.index("[")))
        at = json.JSONDecoder().raw_decode(reply, begin)[1]
        spans.append((begin, at, str(one["text"])))
    for gone in range(len(reply)):
        read = read_reply(reply[:gone] + reply[gone + 1 :])
        found = [one.text for one in read.operations]
        for begin, end, text in spans:
            # Within the operation it may cost that, or be a letter less of the text.
            assert begin <= gone < end or text in found, reply[max(0, gone - 20) : gone + 20]
        assert len(found) == len(DAMAGED) or read.faults
        assert all(any(is_near(one, text) for *_, text in spans) for one in found)


@pytest.mark.parametrize("mark", list("\"'{}[],:\\\nx“"))
def test_one_character_more_makes_no_fact_of_nothing_and_loses_none_in_silence(mark: str) -> None:
    reply = json.dumps({"operations": DAMAGED}, ensure_ascii=False)
    said = [str(one["text"]) for one in DAMAGED]
    for at in range(len(reply)):
        read = read_reply(reply[:at] + mark + reply[at:])
        found = [one.text for one in read.operations]
        assert len(found) == len(said) or read.faults
        assert all(any(is_near(one, text) for text in said) for one in found)


def is_near(one: str, text: str) -> bool:
    """Whether at most one character of the text is other, and one more or less is there."""
    same = 0
    while same < min(len(one), len(text)) and one[same] == text[same]:
        same += 1
    tail = 0
    while tail < min(len(one), len(text)) - same and one[-1 - tail] == text[-1 - tail]:
        tail += 1
    return same + tail >= len(text) - 1 and len(one) <= len(text) + 1


MARKS = [
    "op",
    "text",
    "add",
    '{"op":',
    '"text":',
    '{"op":"add",',
    "},",
    "think>",
    "```",
    "*/",
    "海",
    *'"""\'{}[],,::\\\n `<>/“”',
]
junk = st.lists(st.sampled_from(MARKS)).map("".join)


@settings(max_examples=400, deadline=None)
@given(junk, st.text(), st.integers(0, 400), st.integers(0, 40))
@example('{"op":"add","text":"a\\', "\ud800", 0, 0)
def test_no_damage_raises_anything(junk: str, text: str, at: int, length: int) -> None:
    reply = plain(OPERATIONS)
    for one in (junk, text, reply[:at] + junk + reply[at + length :], reply[:at] + reply[at + length :] + junk):
        read = read_reply(one)
        assert all(0 < len(fault) <= 120 for fault in read.faults)
        assert read.operations or read.faults or "[]" in "".join(one.split())
        for operation in read.operations:
            assert operation.op == "skip" or operation.text
            operation.text.encode()
