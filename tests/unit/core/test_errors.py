"""The exception tree: one root, an exit code each, and the drawing in its docstring is complete."""

from __future__ import annotations

import inspect

import pytest

from memoranda.core import errors


def test_every_error_is_exported_drawn_and_below_the_root() -> None:
    classes = {n: c for n, c in vars(errors).items() if inspect.isclass(c) and c.__module__ == errors.__name__}
    assert sorted(classes) == errors.__all__
    for name, found in classes.items():
        assert issubclass(found, errors.MemorandaError)
        assert name in (errors.__doc__ or "")


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (errors.NotFound, 1),
        (errors.BadName, 2),
        (errors.BadText, 2),
        (errors.OutsideVault, 2),
        (errors.NameTaken, 3),
        (errors.CannotUndo, 3),
        (errors.VaultReadOnly, 4),
        (errors.VaultFull, 4),
        (errors.VaultFormat, 4),
        (errors.ServiceFailed, 6),
    ],
)
def test_exit_codes(found: type[errors.MemorandaError], code: int) -> None:
    assert found.exit_code == code


def test_a_missing_extra_names_the_install_to_run() -> None:
    error = errors.MissingExtra("Watching files", "watch")
    assert str(error) == "Watching files needs: pip install 'memoranda[watch]'"
    assert error.exit_code == 5
    assert error.extra == "watch"
