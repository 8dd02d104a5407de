"""The line that says what was recalled."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from memoranda.services.usage import _line
from memoranda.storage.jsonlines import encode_line


@settings(deadline=None)
@given(st.lists(st.text(max_size=12), max_size=4))
@example(["preferences:likes-the-sea", "喜好:海边", 'a:"b"', "a:back\\slash", "a:\u3000", "a:\ud800"])
def test_is_what_json_writes(hits: list[str]) -> None:
    assert _line("2026-07-10T02:00:00Z", hits) == encode_line({"ts": "2026-07-10T02:00:00Z", "hits": hits})
