"""``[model]`` in the settings."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.core.errors import UsageError
from memoranda.storage.model_settings import ModelSettings, read_model
from memoranda.storage.settings import read_settings, usable_settings


def settings_of(root: Path, text: str) -> ModelSettings | None:
    (root / "memoranda.toml").write_text(text)
    return read_settings(str(root)).model


def test_absent_means_that_there_is_no_model(tmp_path: Path) -> None:
    assert settings_of(tmp_path, "") is None
    empty = settings_of(tmp_path, "[model]\n")
    assert empty == ModelSettings()
    assert not empty
    assert settings_of(tmp_path, '[model]\nprovider = "ollama"\nmodel = "qwen3"\n')


def test_what_was_not_set_has_its_default(tmp_path: Path) -> None:
    found = settings_of(tmp_path, '[model]\nprovider = "openai"\nmodel = "some-model"\n')
    assert found == ModelSettings("openai", "some-model", "", "", 60.0, None, None, "auto")


def test_everything_can_be_set(tmp_path: Path) -> None:
    found = settings_of(
        tmp_path,
        '[model]\nprovider = "openai"\nmodel = "some-model"\nbase_url = "https://example.org/v1"\n'
        'key = "keyring:memoranda/lin"\ntimeout = 5\ntemperature = 0\nmax_tokens = 4096\njson = "object"\n',
    )
    assert found == ModelSettings(
        "openai", "some-model", "https://example.org/v1", "keyring:memoranda/lin", 5, 0, 4096, "object"
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("modle = 'x'", "'modle' is not a setting.*provider, model"),
        ("provider = 7", "provider is the name of a provider, not '7'"),
        ("provider = 'openai'", "names a provider and no model"),
        ("base_url = 'example.org'", "base_url is the address"),
        ("timeout = 0", "timeout is a number of seconds above 0"),
        ("timeout = true", "timeout is a number"),
        ("timeout = nan", "timeout is a number"),
        ("timeout = inf", "timeout is a number"),
        ("temperature = 2.5", "temperature is a number from 0 to 2"),
        ("temperature = 'low'", "temperature is a number"),
        ("max_tokens = 0", "max_tokens is a whole number"),
        ("max_tokens = 10.5", "max_tokens is a whole number"),
        ("json = 'yes'", 'json is "schema", "object", "none" or "auto"'),
    ],
)
def test_every_wrong_value_says_what_to_write(line: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said):
        settings_of(tmp_path, f"[model]\n{line}\n")


@pytest.mark.parametrize("key", ["sk-the-secret-itself", "env:", "env:sk-the-secret", "keyring: "])
def test_a_key_that_is_no_reference_is_refused_unseen(key: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="never the key itself") as failed:
        settings_of(tmp_path, f"[model]\nkey = '{key}'\n")
    assert "secret" not in str(failed.value)


def test_a_slip_costs_the_table_and_not_the_other_settings(tmp_path: Path) -> None:
    (tmp_path / "memoranda.toml").write_text("deadline = 2\n[model]\ntimeout = -1\n")
    found, faults = usable_settings(str(tmp_path))
    assert (found.deadline, found.model) == (2, None)
    assert len(faults) == 1
    assert "[model] as a whole does not count" in faults[0]


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"model is a table, as in \[model\]"):
        settings_of(tmp_path, "model = 'gpt'\n")


@given(
    value=st.dictionaries(
        st.sampled_from(["provider", "model", "key", "base_url", "timeout", "temperature", "max_tokens", "json", "x"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.just("env:NAME"),
    )
)
def test_whatever_is_written_is_settings_or_is_said_to_be_wrong(value: dict[str, object]) -> None:
    found, why = None, ""
    try:
        found = read_model(value, "memoranda.toml")
    except UsageError as error:
        why = str(error)
    if found is None:
        assert why.startswith("memoranda.toml: [model] ")
        return
    assert 0 < found.timeout <= 3600
    assert found.max_tokens is None or found.max_tokens >= 1
    assert found.model.strip() or not found.provider.strip()
