"""Stages as records: to JSON and back, and what a damaged one says of itself."""

from __future__ import annotations

from typing import Any

import pytest

from memoranda.core.stages import (
    StageArchive,
    StageRecord,
    archive_from_record,
    header_of,
    parse_stage,
    record_from_json,
    record_to_json,
    stage_source,
    texts_of,
)

RECORDS = (
    StageRecord("dialogue", "2026-07-10T03:00:00Z", "user", "Lin", "Prices in cents?"),
    StageRecord("tool", tool="grep", arguments={"pattern": "价格", "deep": [1, None, {"x": True}]}, result="none"),
    StageRecord("tool", tool="ls", arguments=[]),
    StageRecord("note", text="Cents.", extra={"tags": ["money"]}),
    StageRecord("reasoning", text="Floats round."),
    StageRecord("note", "2026-07-10T03:00:00Z", forgotten=True),
)
ARCHIVE = StageArchive(
    "design", "shop", "scout", "2026-07-10T03:00:00Z", "2026-07-10T04:00:00Z", RECORDS, "Cents.", {"host": {"v": 1}}
)


@pytest.mark.parametrize("record", RECORDS)
def test_a_record_comes_back(record: StageRecord) -> None:
    written = record_to_json(record)
    assert record_from_json(written) == record
    assert "" not in written.values()
    assert ("arguments" in written) == (record.arguments is not None)


def test_a_stage_comes_back_with_what_others_wrote_into_it() -> None:
    written = {**header_of(ARCHIVE), "records": [record_to_json(record) for record in RECORDS]}
    assert archive_from_record(written) == ARCHIVE
    assert ARCHIVE.source == stage_source("shop", "design") == "stage/shop/design"


def test_what_may_be_left_out() -> None:
    assert archive_from_record({"stage": "s", "project": "p"}) == StageArchive("s", "p")
    assert record_from_json({"kind": "note"}) == StageRecord("note")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "a record is a JSON object, not []"),
        ({"kind": "song"}, "kind is one of dialogue, tool, note, reasoning, not 'song'"),
        ({}, "not None"),
        ({"kind": ["note"]}, "kind is a text, not ['note']"),
        ({"kind": "note", "text": 1}, "text is a text, not 1"),
        ({"kind": "note", "ts": ["x" * 500]}, "ts is a text, not ['xxx"),
    ],
)
def test_a_damaged_record_says_what_is_wrong(value: Any, said: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is looked at
        record_from_json(value)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 120


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("x", "a stage is a JSON object, not 'x'"),
        ({"format": 2}, "its format is 2; this program knows 1"),
        ({"stage": 1}, "stage is a text, not 1"),
        ({"project": "p"}, "it does not say which stage it is"),
        ({"stage": "s"}, "it does not say which project it is"),
        ({"stage": "s", "project": "p", "records": {}}, "records is a list, not {}"),
        ({"stage": "s", "project": "p", "records": [{"kind": "note"}, 1]}, "record 2: a record is a JSON object"),
    ],
)
def test_a_damaged_stage_says_which_part_is_wrong(value: Any, said: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is looked at
        archive_from_record(value)
    assert said in str(caught.value)


def test_of_a_forgotten_record_its_kind_and_moment_are_left() -> None:
    blank = RECORDS[0].blanked()
    assert record_to_json(blank) == {"kind": "dialogue", "ts": "2026-07-10T03:00:00Z", "forgotten": True}
    assert list(texts_of(blank)) == []


def test_every_text_of_a_record_is_looked_at() -> None:
    assert sorted(texts_of(RECORDS[1])) == ["deep", "grep", "none", "pattern", "x", "价格"]
    assert sorted(texts_of(RECORDS[3])) == ["Cents.", "money", "tags"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("stage/shop/design", ("shop", "design")),
        (" stage/shop/design#4", ("shop", "design")),
        ("stage/店/设计 二", ("店", "设计 二")),
        ("turn/shop/design", None),
        ("stage/shop", None),
        ("stage/shop/a/b", None),
        ("stage/../x", None),
        ("stage/shop/a:b", None),
        ("stage//x", None),
    ],
)
def test_a_stage_as_a_source(text: str, found: tuple[str, str] | None) -> None:
    assert parse_stage(text) == found
