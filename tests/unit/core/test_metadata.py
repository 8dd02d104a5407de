from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoranda.core.errors import UsageError
from memoranda.core.markdown import scan
from memoranda.core.metadata import (
    EMPTY_METADATA,
    KNOWN_KEYS,
    Metadata,
    find_comment,
    format_comment,
    is_comment,
    parse_comment,
    rewrite_comment,
)

COMMENT = "<!-- memoranda: owner=user:lin | source=conv_20260710#4 | ts=2026-07-10T03:00:00Z | type=profile -->"

keys = st.one_of(st.sampled_from(KNOWN_KEYS), st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,6}", fullmatch=True))
values = st.one_of(
    st.text(max_size=20),
    st.text(alphabet=" \t%|-0123457ACDac\r\n>!<=", max_size=16),
    st.sampled_from(["-->", "%7C", "%2520", " %20", "--", "a|b", "\ud800", "\u2028", "50%", "%"]),
)
metadatas = st.dictionaries(keys, values, max_size=6).map(lambda pairs: Metadata(tuple(pairs.items())))


def test_reads_the_comment_of_the_documentation():
    metadata, broken = parse_comment(COMMENT)
    assert broken == []
    assert metadata.pairs == (
        ("owner", "user:lin"),
        ("source", "conv_20260710#4"),
        ("ts", "2026-07-10T03:00:00Z"),
        ("type", "profile"),
    )
    assert (metadata.owner, metadata.type, metadata.trust) == ("user:lin", "profile", None)
    assert format_comment(metadata) == COMMENT


@given(metadatas)
@example(Metadata((("a", "%20 "), ("b", "x%%20"), ("c", "%2"), ("d", "- --> -"))))
def test_what_is_written_is_read_back(metadata):
    comment = format_comment(metadata)
    assert parse_comment(comment)[0] == metadata
    assert "\n" not in comment
    assert "\r" not in comment
    assert is_comment(comment)
    assert comment.count("-->") == 1
    block, *others = scan(comment)
    assert (block.kind, block.closed, others) == ("html", True, [])


def test_encodes_only_what_would_break_the_comment():
    metadata = Metadata((("source", "https://x.org/a%20b?q=1&r=100%#f"), ("name", "a-b - c")))
    assert format_comment(metadata) == ("<!-- memoranda: source=https://x.org/a%20b?q=1&r=100%#f | name=a-b - c -->")


def test_leaves_other_percent_codes_alone():
    metadata, _ = parse_comment("<!-- memoranda: source=a%20b%E6%B5%B7 | x=1%7c2%2D%2D%0a -->")
    assert metadata.get("source") == "a%20b%E6%B5%B7"
    assert metadata.get("x") == "1|2--\n"


@pytest.mark.parametrize(
    ("comment", "pairs", "problem"),
    [
        ("<!-- memoranda: owner -->", (), "owner has no value"),
        ("<!-- memoranda: owner= -->", (("owner", ""),), "owner has no value"),
        ("<!-- memoranda: =x | ts=1 -->", (("ts", "1"),), "'' cannot be a key"),
        ("<!-- memoranda: 所有者=x -->", (), "'所有者' cannot be a key"),
        ("<!-- memoranda: ts=1 | ts=2 -->", (("ts", "1"),), "ts stands twice; the first one counts"),
        (
            "<!-- memoranda: confidence=high -->",
            (("confidence", "high"),),
            "confidence is not a number: 'high'",
        ),
        ("<!-- note -->", (), "this is no metadata comment"),
    ],
)
def test_says_what_is_broken(comment, pairs, problem):
    metadata, broken = parse_comment(comment)
    assert metadata.pairs == pairs
    assert broken == [problem]


@given(st.text(max_size=80))
def test_never_raises(text):
    parse_comment(text)
    parse_comment(f"<!-- memoranda:{text}-->")
    find_comment(text, 0, len(text))


def test_reads_the_older_word_and_many_lines():
    metadata, broken = parse_comment("<!-- wikimem:\n  owner = user:lin |\r\n  zz=1 |\n-->")
    assert metadata.pairs == (("owner", "user:lin"), ("zz", "1"))
    assert broken == []


def test_keys_are_compared_case_sensitively():
    metadata, broken = parse_comment("<!-- memoranda: Owner=a | owner=b -->")
    assert (metadata.owner, metadata.get("Owner"), broken) == ("b", "a", [])


@pytest.mark.parametrize(("value", "pinned"), [("true", True), ("Yes", True), ("1", True), ("no", False), ("", False)])
def test_pinned(value, pinned):
    assert Metadata((("pinned", value),)).pinned is pinned


@pytest.mark.parametrize(
    ("value", "confidence"),
    [("0.7", 0.7), ("1", 1.0), ("nan", None), ("inf", None), ("high", None), ("", None)],
)
def test_confidence(value, confidence):
    assert Metadata((("confidence", value),)).confidence == confidence


def test_changes_keep_places_and_new_keys_come_in_the_known_order():
    metadata = Metadata((("zz", "1"), ("type", "event"), ("owner", "user:lin")))
    changed = metadata.with_values(owner="user:mei", aa="2", trust="high", source="s", zz=None)
    assert changed.pairs == (
        ("type", "event"),
        ("owner", "user:mei"),
        ("source", "s"),
        ("trust", "high"),
        ("aa", "2"),
    )
    assert bool(EMPTY_METADATA) is False
    assert bool(changed) is True


def test_refuses_a_key_that_cannot_be_written():
    with pytest.raises(UsageError, match="'a b'"):
        EMPTY_METADATA.with_values(**{"a b": "1"})
    with pytest.raises(UsageError, match="'a='"):
        format_comment(Metadata((("a=", "1"),)))


def test_finds_the_last_comment_that_stands_alone():
    text = (
        "a <!-- memoranda: x=1 -->\n<!-- memoranda: x=2 -->  \r\n  <!-- wikimem: x=3 -->\nb\n<!-- memoranda: x=4 --> c"
    )
    found = find_comment(text, 0, len(text))
    assert found is not None
    assert text[slice(*found)] == "<!-- wikimem: x=3 -->"
    assert find_comment(text, 0, 20) is None


def test_rewriting_keeps_the_raw_text_of_what_stays():
    comment = "<!-- wikimem:  Zz = %2D |owner= user:lin|broken |  ts=1\n-->"
    metadata, _ = parse_comment(comment)
    assert rewrite_comment(comment, metadata) == comment
    assert (
        rewrite_comment(comment, metadata.with_values(owner="a|b"))
        == "<!-- wikimem:  Zz = %2D |owner= a%7Cb|broken |  ts=1\n-->"
    )
    assert (
        rewrite_comment(comment, metadata.with_values(ts=None, type="event"))
        == "<!-- wikimem:  Zz = %2D |owner= user:lin|broken | type=event -->"
    )
    assert rewrite_comment("<!-- memoranda: a=1 | b=2 -->", Metadata((("b", "2"),))) == "<!-- memoranda: b=2 -->"
    assert rewrite_comment("no comment", Metadata((("b", "2"),))) == "<!-- memoranda: b=2 -->"


@given(metadatas, st.dictionaries(keys, st.none() | values, max_size=4))
def test_rewriting_writes_what_it_is_given(metadata, changes):
    changed = metadata.with_values(**changes)
    comment = format_comment(metadata).replace("<!-- memoranda: ", "<!-- wikimem:broken| ")
    rewritten = rewrite_comment(comment, changed)
    assert parse_comment(rewritten)[0] == changed
    assert rewritten.startswith("<!-- wikimem:broken")
