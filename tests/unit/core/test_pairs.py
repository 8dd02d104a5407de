"""The pairs of a metadata comment, one by one."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoranda.core import pairs
from memoranda.core.errors import UsageError
from memoranda.core.metadata import parse_comment, sound_metadata
from memoranda.core.pairs import encoded, fault_of, legal_key, number, read_pair

raw_text = st.text(st.sampled_from("ab1=%20579CDA-._| \t\n\u2028é") | st.characters(), max_size=20)


@given(st.text(st.sampled_from("a %20957DCA|-\t\n\r\u2028") | st.characters(), max_size=20))
@example("%20 \t%09x%20y%09 %20")
@example("a--b---c|%7c\r\n%2D")
def test_a_value_is_read_back_as_it_was(value: str) -> None:
    written = encoded(value)
    assert not {"|", "\n", "\r"} & set(written)
    assert "--" not in written
    assert read_pair(f" key = {written} ") == ("key", value)


@pytest.mark.parametrize("key", ["a", "_", "A1", "a.b-c_d", "a.", "a-"])
def test_keys(key: str) -> None:
    assert legal_key(key) == key
    assert read_pair(f"{key}=x") == (key, "x")


@pytest.mark.parametrize("key", ["", "1", ".a", "-a", "a b", "é", "a=", "aé", "a²", "²"])
def test_what_cannot_be_a_key(key: str) -> None:
    with pytest.raises(UsageError):
        legal_key(key)
    assert read_pair(f"{key.replace('=', '+')}=x")[0] is None


def test_faults_are_said() -> None:
    assert read_pair(" \t") == (None, "")
    assert read_pair("owner") == (None, "owner has no value")
    assert read_pair("a b=x") == (None, "'a b' cannot be a key")
    assert fault_of("owner", "") == "owner has no value"
    assert fault_of("confidence", "high") == "confidence is not a number: 'high'"
    assert fault_of("confidence", "0.5") == fault_of("owner", "high") == ""


def test_numbers_are_finite() -> None:
    assert number("1e3") == 1000.0
    assert [number(text) for text in ("inf", "-inf", "nan", "1e999", "", "x")] == [None] * 6


@given(
    st.lists(raw_text | st.sampled_from([" a=1 ", "b=%20", "a=2", "c=", " ", "confidence=x"]), min_size=1, max_size=4)
)
def test_sound_is_what_has_no_fault(parts: list[str]) -> None:
    body = "|".join(parts).replace("-->", "")
    found, broken = parse_comment(f"<!-- memoranda:{body}-->")
    sound = sound_metadata(body)
    assert (sound is not None) == (not broken and all(read_pair(part)[0] for part in body.split("|")))
    assert sound is None or sound == found


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "_MOST_KEPT", 10)
    remembered = pairs._SoundPairs()
    for turn in range(100):
        assert remembered[f"source=turn/c#{turn}"] == ("source", f"turn/c#{turn}")
        assert remembered["a=" + "x" * 1000 + str(turn)][0] == "a"
    assert 0 < len(remembered) <= 10
    assert max(map(len, remembered)) <= 100
