"""One sleep over a large vault, as a process: its time, its memory, and whether questions find the same after it."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator, Mapping
from typing import Any

from memoranda import Vault
from memoranda.core.names import made_name
from memoranda_bench.knowledge.taking_in import memoranda
from memoranda_bench.speed.readings import spin
from memoranda_bench.speed.words import Drawer, chinese, english
from memoranda_bench.week.script import AGENTS, PROJECTS

__all__ = ["MOST_SECONDS", "many_promises", "measure_many", "write_many"]

MOST_SECONDS = 20.0
#: Of each agent's long-term memory so many items are there before; of these every so-maniest is said twice.
_LONG_TERM, _SAID_TWICE = 300, 20
_A_CATEGORY = 200
_DAYS = 200
#: How often which template is taken: what is general, what binds, what cannot be told.
_SHARES = {"general": 0.1, "bound": 0.6, "open": 0.3}
_TEMPLATES = {
    ("general", "en"): "Always check the {0} before the {1}, and never trust a {2} without a {3}.",
    ("general", "zh"): "动{0}之前一定要先看{1}，永远不要相信没有{2}的{3}。",
    ("bound", "en"): "The {0} of {project} listens on port {number} and keeps its {1} in {2}/{3}.",
    ("bound", "zh"): "{project} 的{0}跑在 {number} 端口，{1}放在 {2} 目录，归{3}管。",
    ("open", "en"): "Perhaps the {0} is like the {1}, where {2} and {3} come together.",
    ("open", "zh"): "{0}大概和{1}一样，{2}跟{3}在一起。",
}


def measure_many(folder: str, count: int, seed: int = 0) -> dict[str, Any]:
    """Make the vault, try a sleep, sleep; all that is long is done by processes of their own.

    Raises:
        SystemMissing: this system cannot say what a process took.
        RuntimeError: a process failed.
    """
    root = os.path.join(folder, "many")
    write_many(root, count, seed)
    before = spin()
    _counts(root)  # as in use: what stands there has been looked at
    dry, tried = _run(root, "sleep", "--dry-run", "--json")
    took, slept = _run(root, "sleep", "--json")
    items = _counts(root)
    figures = {
        "items": count,
        "seed": seed,
        "spin_ms": [before * 1000, spin() * 1000],
        "sleep": took,
        "dry_run": dry,
        "recall": {name: tried["recall"][name] for name in ("asked", "kept", "lost")},
        "slept": {name: len(slept[name]) for name in ("promoted", "asked", "superseded")}
        | {name: slept[name] for name in ("kept", "postponed")},
        "after": items,
    }
    return figures | {"promises": many_promises(figures)}


def many_promises(figures: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the figures are held to."""
    seconds, recall, slept = figures["sleep"]["seconds"], figures["recall"], figures["slept"]
    left = figures["after"]["project"]
    return [
        {
            "promise": f"a sleep over {figures['items']:,} items takes {MOST_SECONDS:g} s at most",
            "figure": f"{seconds:.1f} s",
            "held": seconds <= MOST_SECONDS,
        },
        {
            "promise": "it promotes, asks and merges",
            "figure": ", ".join(f"{slept[name]:,} {name}" for name in ("promoted", "asked", "superseded")),
            "held": all(slept[name] for name in ("promoted", "asked", "superseded")),
        },
        {
            "promise": "project memory keeps every item",
            "figure": f"{left:,} of {figures['items']:,}",
            "held": left == figures["items"],
        },
        {
            "promise": "questions find after it what they found before",
            "figure": f"{recall['kept']} of {recall['asked']}",
            "held": 0 < recall["asked"] == recall["kept"],
        },
    ]


def _run(root: str, *arguments: str) -> tuple[dict[str, Any], Any]:
    took, out, errors = memoranda(root, *arguments)
    try:
        return took, json.loads(out)
    except ValueError as error:
        last = errors.strip().splitlines()[-1:] or [f"exit code {took['code']}"]
        raise RuntimeError(f"{' '.join(arguments)} said nothing: {last[0]}") from error


def _counts(root: str) -> dict[str, int]:
    """How many items there are in projects, and how many of long-term memory hold."""
    with Vault.open(root, create=False) as vault:
        items = vault.items()
    long_term = [item for item in items if item.address.scope.kind == "agent"]
    return {
        "project": sum(item.address.scope.kind == "project" for item in items),
        "long_term": sum(not item.metadata.superseded_by for item in long_term),
    }


def write_many(root: str, count: int, seed: int = 0) -> None:
    """A vault with ``count`` items of project memory, and some of long-term memory; the same seed, the same files."""
    chance = random.Random(f"many {seed}")
    drawers = {"en": english(seed), "zh": chinese(seed)}
    with Vault.open(root):
        pass
    with open(os.path.join(root, "memoranda.toml"), "w", encoding="utf-8", newline="\n") as stream:
        stream.write('[sleep]\npromotion = "clear"\n')
    for at, project in enumerate(PROJECTS):
        own = count // len(PROJECTS) + (at < count % len(PROJECTS))
        texts = (_text(chance, drawers, project) for _ in range(own))
        _write_scope(chance, os.path.join(root, "projects", project), texts, acted=True)
    for agent in AGENTS:
        _write_scope(chance, os.path.join(root, "agents", agent), _experience(chance, drawers), acted=False)


def _experience(chance: random.Random, drawers: Mapping[str, Drawer]) -> Iterator[str]:
    for number in range(_LONG_TERM):
        text = _filled(chance, drawers, "general", "", chance.choice(("en", "zh")))
        yield text
        if number % _SAID_TWICE == 0:
            yield f"{text[:-1]}!"


def _text(chance: random.Random, drawers: Mapping[str, Drawer], project: str) -> str:
    [sort] = chance.choices(tuple(_SHARES), tuple(_SHARES.values()))
    return _filled(chance, drawers, sort, project, chance.choice(("en", "zh")))


def _filled(chance: random.Random, drawers: Mapping[str, Drawer], sort: str, project: str, language: str) -> str:
    drawer = drawers[language]
    words = [chance.choice(drawer.content) for _ in range(4)]
    return _TEMPLATES[sort, language].format(*words, project=project, number=chance.randint(1024, 65_000))


def _write_scope(chance: random.Random, home: str, texts: Iterator[str], *, acted: bool) -> None:
    """Write categories as files, as the product writes them."""
    os.makedirs(os.path.join(home, "memory"))
    listed = list(texts)
    for begin in range(0, len(listed), _A_CATEGORY):
        category = f"topic-{begin // _A_CATEGORY:03}"
        sections = [f"# {category}\n"]
        for number, text in enumerate(listed[begin : begin + _A_CATEGORY]):
            day = f"2026-{1 + chance.randrange(_DAYS) // 28:02}-{1 + chance.randrange(28):02}T09:00:00Z"
            said = f"ts={day} | actor={chance.choice(AGENTS)}" if acted else f"ts={day}"
            sections.append(f"\n## {made_name(text)}-{number}\n\n{text}\n\n<!-- memoranda: {said} -->\n")
        with open(os.path.join(home, "memory", f"{category}.md"), "w", encoding="utf-8", newline="\n") as stream:
            stream.write("".join(sections))
