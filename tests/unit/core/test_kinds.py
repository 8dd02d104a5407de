"""The generalization matrix, and what judges of an item say together."""

from __future__ import annotations

import pytest

from memoranda.core.errors import UsageError
from memoranda.core.kinds import MATRIX, Judgement, agreed, matrix_with


def test_the_matrix_has_a_verdict_a_criterion_and_an_example_of_each_kind() -> None:
    assert {name for name, kind in MATRIX.items() if kind.verdict == "yes"} == {
        "working_mode", "design_principle", "general_experience", "common_pitfall", "preference",
    }  # fmt: skip
    assert {name for name, kind in MATRIX.items() if kind.verdict == "no"} == {
        "project_detail", "one_off_decision", "context_fragment",
    }  # fmt: skip
    assert all(kind.criterion and kind.example and kind.name == name for name, kind in MATRIX.items())


def test_settings_add_kinds_and_change_verdicts() -> None:
    matrix = matrix_with(
        {"runbook": {"verdict": "yes", "criterion": "how to mend it"}, "preference": {"verdict": "ask"}}
    )
    assert (matrix["runbook"].verdict, matrix["runbook"].criterion) == ("yes", "how to mend it")
    assert (matrix["preference"].verdict, matrix["preference"].criterion) == ("ask", MATRIX["preference"].criterion)
    assert MATRIX["preference"].verdict == "yes"


@pytest.mark.parametrize("table", [{"verdict": "maybe"}, {"verdict": "yes", "criterion": 3}, {"colour": "red"}])
def test_a_kind_that_means_nothing_is_refused(table: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=r"kinds\.x"):
        matrix_with({"x": table})


def test_judges_that_do_not_agree_ask() -> None:
    yes, no = Judgement("preference", "yes", "rules", "likes"), Judgement("project_detail", "no", "model", "a port")
    unsure = Judgement("unknown", "ask", "rules")
    assert agreed([yes, unsure]) == agreed([unsure, yes]) == yes
    assert agreed([unsure]) == unsure
    assert agreed([]).verdict == "ask"
    found = agreed([yes, no])
    assert found.verdict == "ask"
    assert "likes" in found.because
    assert "a port" in found.because
