"""The demo's vault is a good example: no problems, no dangling link, every source there."""

from __future__ import annotations

from memoranda.adapters.importers.turns import check_record
from memoranda.core.addresses import parse_address, parse_turn
from memoranda.core.items import Section, parse
from memoranda.core.links import find_links
from memoranda.core.model import Turn
from memoranda.core.names import name_key
from memoranda.demo import QUERIES, demo_files, demo_turns
from memoranda.services.redaction import redact


def _items() -> dict[tuple[str, str], Section]:
    found: dict[tuple[str, str], Section] = {}
    for path, data in demo_files():
        scope, _, category = path.removesuffix(".md").rpartition("memory/")
        prefix = f"user/{scope.split('/')[1]}/" if scope else ""
        parsed = parse(data.decode("utf-8"))
        assert parsed.problems == (), path
        for section in parsed.sections:
            found[(name_key(prefix + category), section.key)] = section
    return found


def test_files_parse_without_a_problem() -> None:
    items = _items()
    assert len(items) >= 30
    assert len({category for category, _ in items}) >= 6
    assert {section.form for section in items.values()} == {"section", "list"}
    assert ("reading", name_key("sea-around-us")) in items


def test_every_link_leads_somewhere() -> None:
    items = _items()
    links = [link.key for section in items.values() for link in find_links(section.text)]
    assert len(links) >= 12
    assert [key for key in links if key not in items] == []


def test_succession_and_sources_are_there() -> None:
    items = _items()
    turns = {(t["conversation"], t["turn"]) for t in demo_turns()}
    for section in items.values():
        if source := section.metadata.source:
            turn = parse_turn(source)
            assert turn is not None
            assert (turn.conversation, turn.turn) in turns
    old = next(s for s in items.values() if s.metadata.superseded_by)
    successor = parse_address(old.metadata.superseded_by or "")
    new = items[(name_key(successor.category), name_key(successor.name or ""))]
    assert new.metadata.supersedes == f"daily_life:{old.name}"


def test_turns_are_turns_and_hold_no_secret() -> None:
    records = list(demo_turns())
    assert len(records) == 16
    assert all(isinstance(check_record(record, "turns.jsonl", 1), Turn) for record in records)
    text = "\n".join([record["text"] for record in records] + [d.decode() for _, d in demo_files()])
    assert redact(text) == (text, ())


def test_three_questions() -> None:
    assert len(QUERIES) == 3
