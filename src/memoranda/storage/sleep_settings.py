"""``[sleep]`` and ``[kinds.NAME]`` in ``memoranda.toml``: what becomes permanent, when, and how much of it."""

from __future__ import annotations

import re

from memoranda.core.errors import BadName, UsageError
from memoranda.core.kinds import Kind, matrix_with
from memoranda.core.names import check_identifier
from memoranda.core.records import dataclass
from memoranda.storage.endpoint_settings import checked_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memoranda.storage.endpoint_settings import Rules

__all__ = ["PROMOTION", "SleepSettings", "read_kinds", "read_sleep"]

#: What is asked before something is promoted: everything, what is not clear, or nothing.
PROMOTION = ("ask", "clear", "auto")
_HOURS = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d-(?:[01]\d|2[0-3]):[0-5]\d")


@dataclass(frozen=True, slots=True)
class SleepSettings:
    """What a person may set of sleep.

    ``promotion`` is one of :data:`PROMOTION`. ``after`` is in minutes without
    work, ``hours`` when sleep is preferred (``"23:00-07:00"``, in the user's
    zone), ``cap`` the tokens of one agent's long-term memory, ``archive_days``
    how long stages are kept, ``most_questions`` how many choices one sleep may
    ask for, ``agent`` whose long-term memory takes what names no agent.
    """

    promotion: str = "ask"
    after: float = 30.0
    hours: str = "23:00-07:00"
    cap: int = 20_000
    archive_days: float = 30.0
    most_questions: int = 100
    agent: str = ""


def _is_agent(value: str) -> bool:
    try:
        return not value or bool(check_identifier(value, "an agent"))
    except BadName:
        return False


_RULES: Rules = {
    "promotion": (str, '"ask", "clear" or "auto"', lambda value: value in PROMOTION),
    "after": ((int, float), "minutes, 0 to 10080", lambda value: 0 <= value <= 10_080),
    "hours": (
        str,
        'a stretch of the day such as "23:00-07:00", or ""',
        lambda value: not value or bool(_HOURS.fullmatch(value)),
    ),
    "cap": (int, "a number of tokens, 100 at least", lambda value: value >= 100),
    "archive_days": ((int, float), "a number of days, 0 at least", lambda value: value >= 0),
    "most_questions": (int, "a whole number, 0 at least", lambda value: value >= 0),
    "agent": (str, "the name of an agent", _is_agent),
}


def read_sleep(value: Any, file: str) -> SleepSettings:
    """The table ``[sleep]`` of a settings ``file``. Raises UsageError: it holds what means nothing."""
    return SleepSettings(**checked_table(value, file, "sleep", _RULES))


def read_kinds(value: Any, file: str) -> dict[str, Kind]:
    """The tables ``[kinds.NAME]`` of a settings ``file``. Raises UsageError: they hold what means nothing."""
    if not isinstance(value, dict) or not all(isinstance(table, dict) for table in value.values()):
        raise UsageError(f"{file}: kinds is a table of tables, as in [kinds.principle_of_ours]")
    try:
        return matrix_with(value)
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from error
