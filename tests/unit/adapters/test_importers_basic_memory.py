"""Basic Memory: observations become items, relations links, and the note itself the item they point at."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoranda.adapters.importers.basic_memory import read_basic_memory
from memoranda.core.errors import NotFound
from memoranda.core.model import Problem
from memoranda.services.intake import ForeignItem
from sources import lay_down, state_of, told_apart

COFFEE = """---
title: Pour Over Coffee
type: guide
tags: [coffee, brewing]
permalink: drinks/pour-over
created: 2026-07-10T03:00:00Z
---

# Pour Over Coffee

Slow, and worth it.

## Observations
- [method] Pour slowly in circles #technique (from a friend)
- [提示] 水温九十三度。
- [method] Pour slowly in circles twice
  and then wait
- [ ] buy filters
- [x] done
- [link](https://example.org) is no observation

```
- [code] is not one either
```

## Relations
- requires [[Grinding]]
- see also [[drinks/water]] (for the taste)
- contrasts with [[Tea]]
"""

FILES: dict[str, str | bytes] = {
    "drinks/Pour Over.md": COFFEE,
    "drinks/Grinding.md": "---\ntitle: Grinding\n---\n- [fact] Finer is stronger\n\nSee [[Pour Over Coffee]].\n",
    "Water.md": "---\npermalink: drinks/water\n---\n- [fact] Soft water is best\n",
}


def _read(root: Path, files: dict[str, str | bytes]) -> tuple[list[ForeignItem], list[Problem]]:
    return told_apart(read_basic_memory(str(lay_down(root / "project", files))))


def test_a_project(tmp_path: Path) -> None:
    items, problems = _read(tmp_path, FILES)
    assert problems == []
    texts = {(i.category, i.name): i.text for i in items}
    assert list(texts) == [
        ("note", "soft-water-is-best"),
        ("drinks", "Grinding"),
        ("drinks", "finer-is-stronger"),
        ("drinks", "Pour Over Coffee"),
        ("drinks", "pour-slowly-in-circles-technique-from"),
        ("drinks", "水温九十三度"),
        ("drinks", "pour-slowly-in-circles-twice"),
    ]
    assert texts["note", "soft-water-is-best"] == "Soft water is best"
    assert texts["drinks", "水温九十三度"] == "水温九十三度。 [[drinks:Pour Over Coffee]]"
    assert texts["drinks", "pour-slowly-in-circles-twice"] == (
        "Pour slowly in circles twice\nand then wait\n\n[[drinks:Pour Over Coffee]]"
    )
    own = texts["drinks", "Pour Over Coffee"]
    assert own.startswith("Slow, and worth it.\n\n### Observations\n- [ ] buy filters\n- [x] done\n- [link](")
    assert "- [code] is not one either" in own
    assert "- requires [[drinks:Grinding|Grinding]]\n" in own
    assert "- see also [[note|drinks/water]] (for the taste)\n" in own
    assert own.endswith("- contrasts with Tea")
    assert texts["drinks", "Grinding"] == "See [[drinks:Pour Over Coffee|Pour Over Coffee]]."


def test_what_is_known_of_them(tmp_path: Path) -> None:
    items, _ = _read(tmp_path, {"x.md": COFFEE})
    own, observation, *_ = items
    assert dict(own.metadata.pairs) == {
        "source": "basic-memory/drinks/pour-over",
        "ts": "2026-07-10T03:00:00Z",
        "type": "guide",
        "tags": "coffee, brewing",
    }
    assert dict(observation.metadata.pairs) == {
        "source": "basic-memory/drinks/pour-over",
        "ts": "2026-07-10T03:00:00Z",
        "type": "method",
        "note": "Pour Over Coffee",
    }
    assert (own.category, own.line, observation.line) == ("guide", 8, 14)


def test_files_that_hold_nothing_or_cannot_be_read(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "a.md": "# a\n\n## Observations\n",
        "b.md": b"\xff",
        ".hidden/c.md": "x",
        "d.txt": "x",
    }
    items, problems = _read(tmp_path, files)
    assert items == []
    assert [(p.path, p.kind) for p in problems] == [("a.md", "empty"), ("b.md", "encoding")]
    with pytest.raises(NotFound):
        list(read_basic_memory(str(tmp_path / "none")))


def test_the_source_is_only_read(tmp_path: Path) -> None:
    root = lay_down(tmp_path / "project", FILES)
    before = state_of(root)
    assert list(read_basic_memory(str(root)))
    assert state_of(root) == before
