"""Records are to their users what the standard library's dataclasses are."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from memoranda.core import records
from memoranda.core.records import asdict, dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Point:
    """Frozen, with every kind of default."""

    x: int
    y: int = 2
    tags: list[str] = field(default_factory=list)
    note: str = field(default="", compare=False, repr=False)


@dataclasses.dataclass(frozen=True, slots=True)
class Model:
    """What it is held against."""

    x: int
    y: int = 2
    tags: list[str] = dataclasses.field(default_factory=list)
    note: str = dataclasses.field(default="", compare=False, repr=False)


@dataclass(slots=True)
class Checked:
    """Not frozen, with a look at its own fields."""

    size: int = 0

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError("below 0")


CALLS: list[Callable[[Any], Any]] = [
    lambda cls: cls(1),
    lambda cls: cls(1, 3, ["a"], "n"),
    lambda cls: cls(y=1, x=0),
    lambda cls: cls(1, note="n"),
    lambda cls: cls(),
    lambda cls: cls(y=1),
    lambda cls: cls(1, x=1),
    lambda cls: cls(1, 2, [], "", 5),
    lambda cls: cls(1, z=1),
]


def outcome(cls: Any, call: Callable[[Any], Any]) -> object:
    try:
        made = call(cls)
    except TypeError as error:
        return str(error).replace(cls.__name__, "")
    return [getattr(made, name) for name in ("x", "y", "tags", "note")]


@pytest.mark.parametrize("number", range(len(CALLS)))
@pytest.mark.parametrize("made_before", [0, 100])
def test_is_made_as_a_dataclass_is(number: int, made_before: int) -> None:
    """The first ones are filled without compiled code, those after it with it."""
    fresh = dataclass(frozen=True, slots=True)(
        type("Fresh", (), {"__annotations__": Point.__annotations__, "__module__": __name__,
                           "y": 2, "tags": field(default_factory=list),
                           "note": field(default="", compare=False, repr=False)})
    )  # fmt: skip
    for _ in range(made_before):
        fresh(0)  # type: ignore[call-arg]
    assert outcome(fresh, CALLS[number]) == outcome(Model, CALLS[number])


def test_code_is_compiled_for_what_is_made_often_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    real = records._compile_init  # type: ignore[attr-defined]
    monkeypatch.setattr(records, "_compile_init", lambda cls, *a: compiled.append(cls.__name__) or real(cls, *a))
    seldom, often = (
        dataclass(slots=True)(type(name, (), {"__annotations__": {"x": "int"}, "__module__": __name__}))
        for name in ("Seldom", "Often")
    )
    for _ in range(3):
        seldom(1)  # type: ignore[call-arg]
    for number in range(300):
        assert often(number).x == number  # type: ignore[call-arg, attr-defined]
    assert compiled == ["Often"]


def test_is_compared_shown_and_copied_as_a_dataclass_is() -> None:
    point = Point(1, tags=["a"], note="n")
    assert point == Point(1, tags=["a"])
    assert point != Point(2, tags=["a"])
    assert point != Model(1, tags=["a"])
    assert repr(point) == repr(Model(1, tags=["a"])).replace("Model", "Point")
    assert hash(replace(point, tags=())) == hash(Point(1, tags=()))  # type: ignore[arg-type]
    for same in (copy.copy(point), copy.deepcopy(point), pickle.loads(pickle.dumps(point))):
        assert (same, same.note) == (point, "n")
    assert asdict(point) == dataclasses.asdict(point) == {"x": 1, "y": 2, "tags": ["a"], "note": "n"}
    assert [one.name for one in dataclasses.fields(point)] == ["x", "y", "tags", "note"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        object.__setattr__(point, "z", 1)


def test_what_looks_at_its_own_fields() -> None:
    for size in (*range(100), -1):
        if size < 0:
            with pytest.raises(ValueError, match="below 0"):
                Checked(size)
        else:
            assert Checked(size).size == size
    assert replace(Checked(1), size=2) == Checked(2)


def test_a_default_that_is_made_is_made_anew_each_time() -> None:
    for _ in range(50):
        made = Point(1)
        assert made.tags == []
        made.tags.append("x")
