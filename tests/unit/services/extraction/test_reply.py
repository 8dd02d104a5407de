"""Replies as models write them: what is complete is found, what is not is reported, and nothing else is there."""

from __future__ import annotations

import json

import pytest

from memoranda.core.operations import Operation
from memoranda.services.extraction.reply import read_reply

A, B = '{"op":"add","text":"a"}', '{"op":"add","text":"b"}'
BOTH = f'{{"operations":[{A},{B}]}}'
ESCAPED = BOTH.replace('"', '\\"')
FENCE = "```"

#: name, reply, the texts of what is found, whether a fault is reported.
REPLIES: list[tuple[str, str, list[str], bool]] = [
    ("bare list", f"[{A},{B}]", ["a", "b"], False),
    ("single operation", A, ["a"], False),
    ("operations is one object", f'{{"operations":{A}}}', ["a"], False),
    ("JSON lines", f"{A}\n{B}\n", ["a", "b"], False),
    ("another key around", f'{{"result":{{"memories":[{A},{B}]}}}}', ["a", "b"], False),
    ("byte order mark", f"\ufeff{BOTH}", ["a", "b"], False),
    ("fence", f"{FENCE}json\n{BOTH}\n{FENCE}", ["a", "b"], False),
    ("fence that is not closed", f"{FENCE}json\n{BOTH}", ["a", "b"], False),
    ("fence within a fence", f"{FENCE}{FENCE}json\n{BOTH}\n{FENCE}\n{FENCE}", ["a", "b"], False),
    ("a fence an operation", f"{FENCE}\n{A}\n{FENCE}\nand\n{FENCE}\n{B}\n{FENCE}", ["a", "b"], False),
    ("prose around", f"Sure! I found [two] facts:\n{BOTH}\nLet me know {{if}} that's right.", ["a", "b"], False),
    ("prose between", f"First {A}, and then {B}.", ["a", "b"], False),
    ("stray bracket in prose", f"See [1 for this: {BOTH}", ["a", "b"], False),
    ("stray brace in prose", f"Use {{ with care: {BOTH}", ["a", "b"], False),
    ("apostrophes in prose", f"[that's what \"they\" said {BOTH}", ["a", "b"], False),
    ("wrapper json", f"<json>{BOTH}</json>", ["a", "b"], False),
    ("wrappers output and operations", f"<output><operations>{A}{B}</operations></output>", ["a", "b"], False),
    ("thought first", f"<think>{{maybe}} {A}?</think>\n{B}", ["b"], False),
    ("thought whose beginning is missing", f"draft: [{A}\n</think>{B}", ["b"], False),
    ("thought that was not ended", f"<think>I could say {A}, but no", [], True),
    ("an answer at the end of a thought", f"<think>Or {A}? No.\n{FENCE}json\n{B}\n{FENCE}</think>", ["b"], True),
    ("no answer at the end of a thought", f"<think>{A} would be wrong.</think>", [], True),
    ("a tag of thought in a text", '{"op":"add","text":"ends with </think> tag"', [], True),
    ("a tag of thought in prose", f"I will not <think> here. {A}", ["a"], False),
    ("cut within a text", f'{{"operations":[{A},{{"op":"add","text":"b', ["a"], True),
    ("cut within a key", f'{{"operations":[{A},{{"op":"add","te', ["a"], True),
    ("cut behind an operation", f'{{"operations":[{A},{B}', ["a", "b"], True),
    ("cut within a fence, prose behind", f'{FENCE}json\n{{"operations":[{A},\n{FENCE}\nI stopped here.', ["a"], True),
    ("brace too many", f'{{"operations":[{A}}},{B}]}}', ["a", "b"], False),
    ("brackets too many", f"[[[{A}]]]],{B}]]}}}}", ["a", "b"], False),
    ("braces doubled", f"{{{A}}}", ["a"], False),
    ("brace missing at the end of the first", f'{{"operations":[{A[:-1]},{B}]}}', ["b"], True),
    ("bracket missing", f'{{"operations":[{A},{B}}}', ["a", "b"], False),
    ("links left open", f'[{{"op":"add","text":"x","links":["a:b"}},{B}]', ["b"], True),
    ("trailing commas", '{"operations":[{"op":"add","text":"a",},{"op":"add","text":"b",},],}', ["a", "b"], False),
    ("commas missing between objects", f'{{"operations":[{A}\n{B}]}}', ["a", "b"], False),
    ("comma missing between keys", '{"op":"add"\n"text":"a"}', ["a"], False),
    ("single quotes", "{'operations':[{'op':'add','text':'a'}]}", ["a"], False),
    ("Python literals", "[{'op':'add','text':\"it's\",'target':None,'ephemeral':True}]", ["it's"], False),
    ("apostrophe in single quotes", "{'op':'add','text':'Lin's cat isn't old'}", ["Lin's cat isn't old"], False),
    ("double quotes in single quotes", "{'op':'add','text':'says \"hi\", often'}", ['says "hi", often'], False),
    ("JSON in single quotes", "{'op':'add','text':'sent {\"a\":1},{\"op\":2}'}", ['sent {"a":1},{"op":2}'], False),
    ("line break in a text", '{"op":"add","text":"one\ntwo\tthree"}', ["one\ntwo\tthree"], False),
    ("NUL in a text", '{"op":"add","text":"one\x00two"}', ["one\x00two"], False),
    ("typographic quotes", "{“op”: “add”, “text”: “喜欢”}", ["喜欢"], False),
    ("typographic quotes around such", "{“op”:“add”,“text”:“他说“你好”，走了”}", ["他说“你好”，走了"], False),
    ("wide colons and commas", '{"op"："add"，"text"："喜欢红，也喜欢“绿”"}', ["喜欢红，也喜欢“绿”"], False),
    ("an object in the list that has no key", f'[{{"op","text"}},{A}]', ["a"], True),
    ("typographic quotes in a text", '{"op":"add","text":"他说“你好”"}', ["他说“你好”"], False),
    ("quotes in a text", '[{"op":"add","text":"喜欢"红楼梦"这本书"},' + B + "]", ['喜欢"红楼梦"这本书', "b"], False),
    ("quotes that may end the text", f'[{{"op":"add","text":"said "hi", then left"}},{B}]', ["b"], True),
    ("inches", f'[{{"op":"add","text":"a 5" nail","name":"n"}},{B}]', ["b"], True),
    ("a brace in quotes in a text", f'[{{"op":"add","text":"likes "}}" braces"}},{B}]', ["b"], True),
    ("a text that was not closed", f'[{{"op":"add","text":"never closed}},{B}]', ["b"], True),
    ("a quote too many before an object", f'["{A},"{B}]', ["a", "b"], False),
    ("line comment", f'[ // both\n{A}, // "first"\n{B}]', ["a", "b"], False),
    ("block comment", f"[/* {{ */{A},{B}]", ["a", "b"], False),
    ("slashes in a text", '{"op":"add","text":"see https://a.b/c // d"}', ["see https://a.b/c // d"], False),
    ("NaN in a key that is unknown", '{"op":"add","text":"a","confidence":NaN}', ["a"], False),
    ("NaN as a text", f'[{{"op":"add","text":NaN}},{B}]', ["b"], True),
    ("number as a text", f'[{{"op":"add","text":42}},{B}]', ["b"], True),
    ("number as a name", f'[{{"op":"add","text":"a","name":7}},{B}]', ["b"], True),
    ("word as a flag", f'[{{"op":"add","text":"a","ephemeral":"yes"}},{B}]', ["b"], True),
    ("text as links", f'[{{"op":"add","text":"a","links":"a:b"}},{B}]', ["b"], True),
    ("number among links", f'[{{"op":"add","text":"a","links":["a:b",5]}},{B}]', ["b"], True),
    ("object as a text", f'[{{"op":"add","text":{{"en":"a"}}}},{B}]', ["b"], True),
    ("key twice, another value", f'[{{"op":"add","text":"a","text":"c"}},{B}]', ["b"], True),
    ("key twice, the same value", '{"op":"add","text":"a","text":"a"}', ["a"], False),
    ("unknown key twice", '{"op":"add","text":"a","x":1,"x":"2"}', ["a"], False),
    ("keys in another case", '{"Op":"add","TEXT":"a"}', ["a"], False),
    ("op in another case", '{"op":" ADD ","text":"a"}', ["a"], False),
    ("operation for op", '{"operation":"Add","text":"a"}', ["a"], False),
    ("create for add", '{"op":"create","text":"a"}', ["a"], False),
    ("update", f'[{{"op":"update","target":"c:a","text":"a"}},{B}]', ["b"], True),
    ("delete", f'[{{"op":"delete","target":"c:a"}},{B}]', ["b"], True),
    ("op is null", f'[{{"op":null,"text":"a"}},{B}]', ["b"], True),
    ("no op", f'[{{"text":"a"}},{B}]', ["b"], True),
    ("no text", f'[{{"op":"add","text":"  "}},{B}]', ["b"], True),
    ("merge without a target", f'[{{"op":"merge","text":"a"}},{B}]', ["b"], True),
    ("supersede without a text", f'[{{"op":"supersede","target":"c:a"}},{B}]', ["b"], True),
    ("null for what is not there", '{"op":"add","text":"a","links":null,"type":null,"ephemeral":null}', ["a"], False),
    ("a type that is not listed", '{"op":"add","text":"a","type":"preference"}', ["a"], True),
    ("an operation within another", '{"op":"add","text":"a","more":{"op":"add","text":"x"}}', ["a"], True),
    ("texts for operations", '{"operations":["likes tea"]}', [], True),
    ("texts among operations", f'{{"operations":[{A},"likes tea"]}}', ["a"], True),
    ("list of texts", '["likes tea","likes the sea"]', [], True),
    ("the same twice", f"{BOTH}\nFinal answer:\n{BOTH}", ["a", "b"], False),
    ("JSON in a string", f'"{ESCAPED}"', ["a", "b"], False),
    ("JSON in a string, cut", f'"{ESCAPED}'[:-12], ["a"], True),
    ("JSON with its quotes escaped", ESCAPED, ["a", "b"], False),
    ("operations in a string", json.dumps({"operations": f"[{A},{B}]"}), ["a", "b"], False),
    ("tool call", json.dumps({"name": "remember", "arguments": BOTH}), ["a", "b"], False),
    ("tool call with an object", f'{{"name":"remember","arguments":{BOTH}}}', ["a", "b"], False),
    ("tool calls", json.dumps({"tool_calls": [{"function": {"name": "x", "arguments": BOTH}}]}), ["a", "b"], False),
    ("a whole completion", json.dumps({"choices": [{"message": {"content": f"Yes: {BOTH}"}}]}), ["a", "b"], False),
    ("bare keys", '{op: "add", text: "a"}', ["a"], False),
    ("halves of a character", '{"op":"add","text":"\\ud83d\\ude00"}', ["\U0001f600"], False),
    ("halves that were not escaped", '{"op":"add","text":"\ud83d\ude00"}', ["\U0001f600"], False),
    ("half a character", '{"op":"add","text":"a\\ud83d"}', ["a\ufffd"], True),
    ("an escape that is none", '{"op":"add","text":"in C:\\dir"}', ["in C:\\dir"], False),
    ("operations outside of an object", '"op":"add","text":"a"', [], True),
    ("empty", "", [], True),
    ("blank", " \n\t", [], True),
    ("an empty object", "{}", [], True),
    ("an empty list", "[]", [], False),
    ("a refusal", "I'm sorry, but I can't help with that.", [], True),
    ("an error page", "<!DOCTYPE html><style>body { margin: 0 }</style><h1>502 Bad Gateway</h1>", [], True),
    ("an error in JSON", '{"error":{"message":"rate limit","type":"requests","code":429}}', [], True),
    ("null", "null", [], True),
    ("facts", '{"facts":["likes tea","lives in [Rome]"]}', ["likes tea", "lives in [Rome]"], True),
    ("facts, cut", '{"facts":["likes tea","lives in', ["likes tea"], True),
    ("facts that are objects", f'{{"facts":[{{"fact":"x"}},{A}]}}', ["a"], True),
]  # fmt: skip


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
