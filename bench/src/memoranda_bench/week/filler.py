"""Dialogue and calls of tools that hold nothing worth keeping: questions, acknowledgements, output."""

from __future__ import annotations

import random
from typing import Any

__all__ = ["call", "dialogue"]

_FILES = ("views.py", "index.ts", "routes.go", "main.rs", "styles.css", "query.sql", "setup.cfg", "Makefile")
_PARTS = ("the second tab", "the last run", "the diff", "that branch", "the log", "the first draft", "the screenshot")
_ASKED = {
    "en": (
        "Can you open {file} for me?",
        "Did you look at {part}?",
        "Where is {file}?",
        "Shall I go on with {part}?",
        "How far are you with {file}?",
        "What does line {number} of {file} say?",
        "Are you done with {part}?",
        "Which one is it, {file} or {other}?",
    ),
    "zh": (
        "{file} 打开看看？",
        "第 {number} 行写的什么？",
        "看完了吗？",
        "现在到哪儿了？",
        "{file} 在哪个目录？",
        "要接着看 {other} 吗？",
        "刚才说的是哪一个？",
        "{file} 和 {other} 哪个先看？",
    ),
}
_ANSWERED = {
    "en": (
        "Okay.",
        "Sure!",
        "Thanks!",
        "Yes.",
        "Thank you.",
        "Reading {file}.",
        "One moment, please.",
        "Here you are.",
    ),
    "zh": ("好的。", "嗯。", "行。", "谢谢！", "可以。", "在看 {file}。", "稍等。", "来了。"),
}
_TOOLS = ("read_file", "list_files", "git_diff", "search", "run")


def dialogue(chance: random.Random, language: str, role: str) -> str:
    """A question of the user or an answer of the assistant."""
    said = chance.choice((_ASKED if role == "user" else _ANSWERED)[language])
    file, other = chance.sample(_FILES, 2)
    return said.format(file=file, other=other, part=chance.choice(_PARTS), number=chance.randint(2, 400))


def call(chance: random.Random) -> tuple[str, dict[str, Any], str]:
    """A call of a tool: its name, its arguments, what it gave."""
    tool, file = chance.choice(_TOOLS), chance.choice(_FILES)
    lines = [f"{file}:{chance.randint(1, 900)}: {_noise(chance)}" for _ in range(chance.randint(1, 6))]
    return tool, {"path": file, "limit": chance.randint(10, 200)}, "\n".join(lines)


def _noise(chance: random.Random) -> str:
    """What looks like code."""
    names = [f"{chance.choice('abcdefghkmnpqrstvwxyz')}{chance.randint(1, 99)}" for _ in range(3)]
    return chance.choice(("{} = {}({})", "if {} < {}: return {}", "for {} in {}: {}()", "{}.{}[{}]")).format(*names)
