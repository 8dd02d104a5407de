"""Credentials by reference."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from memoranda.adapters.credentials import resolve
from memoranda.core.errors import MissingExtra, UsageError


class KeyringError(Exception):
    pass


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    """A keyring in the place of this machine's."""
    held: dict[tuple[str, str], str] = {}

    def get_password(service: str, user: str) -> str | None:
        if service == "locked":
            raise KeyringError("secret details")
        return held.get((service, user))

    package, errors = ModuleType("keyring"), ModuleType("keyring.errors")
    package.get_password = get_password  # type: ignore[attr-defined]
    errors.KeyringError = KeyringError  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", package)
    monkeypatch.setitem(sys.modules, "keyring.errors", errors)
    return held


@pytest.fixture(autouse=True)
def _variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ONE_KEY", "TWO_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_a_variable_is_read_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONE_KEY", " abc\n")
    assert resolve("env:ONE_KEY") == "abc"
    monkeypatch.setenv("ONE_KEY", "def")
    assert resolve("env: ONE_KEY") == "def"


@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_variable_that_is_missing_or_empty_is_named(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    if value is not None:
        monkeypatch.setenv("ONE_KEY", value)
    with pytest.raises(UsageError, match="ONE_KEY"):
        resolve("env:ONE_KEY", ("TWO_KEY",), "placeholder")


def test_without_a_reference_it_is_the_first_usual_variable_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert resolve("", ("ONE_KEY", "TWO_KEY"), "placeholder") == "placeholder"
    with pytest.raises(UsageError, match="ONE_KEY or TWO_KEY"):
        resolve("", ("ONE_KEY", "TWO_KEY"))
    with pytest.raises(UsageError, match="env:NAME"):
        resolve("")
    monkeypatch.setenv("TWO_KEY", "abc")
    assert resolve("", ("ONE_KEY", "TWO_KEY"), "placeholder") == "abc"


@pytest.mark.parametrize("value", ["half a key", "line\nbreak", "schlüssel", "tab\tbed"])
def test_what_no_header_can_hold_is_refused_unseen(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("ONE_KEY", value)
    with pytest.raises(UsageError, match="ONE_KEY") as failed:
        resolve("env:ONE_KEY")
    assert value not in str(failed.value)


@pytest.mark.parametrize("reference", ["sk-the-secret-itself", "env:", "keyring: ", "vault:sk-the-secret-itself"])
def test_a_reference_that_is_none_is_not_repeated(reference: str) -> None:
    with pytest.raises(UsageError, match="env:NAME") as failed:
        resolve(reference)
    assert "secret" not in str(failed.value)


def test_a_keyring_is_asked_by_service_and_user(ring: dict[tuple[str, str], str]) -> None:
    ring["my/service", "lin"] = "abc"
    assert resolve("keyring:my/service/lin") == "abc"
    with pytest.raises(UsageError, match="other/lin"):
        resolve("keyring:other/lin")
    with pytest.raises(UsageError, match="SERVICE/USER"):
        resolve("keyring:other")


def test_a_keyring_that_is_shut_is_said_to_be_so_without_its_words(ring: dict[tuple[str, str], str]) -> None:
    with pytest.raises(UsageError, match="KeyringError") as failed:
        resolve("keyring:locked/lin")
    assert "secret" not in str(failed.value)


def test_a_keyring_without_the_package_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(MissingExtra, match=r"pip install 'memoranda\[keyring\]'"):
        resolve("keyring:service/lin")
