"""What importing the core costs: nothing heavy is loaded, and no pattern is compiled, before there is a text for it."""

from __future__ import annotations

import subprocess
import sys

READING = ["addresses", "analysis", "links", "metadata", "names", "stemming", "stopwords"]
PARSING = ["blocks", "bodies", "frontmatter", "items", "markdown", "nesting", "plain_sections", "prose", "scripts"]
HEAVY = {"re", "enum", "functools", "collections", "hashlib", "unicodedata", "typing", "dataclasses", "inspect", "math"}


def answer(code: str) -> str:
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout.strip()


def imported(names: list[str]) -> str:
    return "import " + ", ".join(f"memoranda.core.{name}" for name in names)


def test_what_a_reading_command_needs_loads_nothing_heavy() -> None:
    code = f"import sys; before = set(sys.modules); {imported(READING)}; print(*sorted(set(sys.modules) - before))"
    loaded = set(answer(code).split())
    assert "memoranda.core.analysis" in loaded
    assert not HEAVY & loaded
    assert "memoranda.core.markdown" not in loaded


def test_plain_questions_and_names_compile_nothing() -> None:
    code = f"""
import sys
before = set(sys.modules)
{imported(READING)}
from memoranda.core import analysis, links, metadata, names
analysis.analyze_query("When did Caroline's well-known group meet (at 10.30)?")
analysis.analyze_query("我喜欢海边，用GPT-4写代码吗？")
analysis.analyze("likes-the-sea: she is going, isn't she?")
metadata.parse_comment("<!-- memoranda: owner=user:lin | ts=2026 -->")
links.find_links("no link")
names.check_category("work/rules"), names.name_key("Likes  The Sea"), names.check_item_name("a:b")
print("re" in set(sys.modules) - before)
"""
    assert answer(code) == "False"


def test_no_pattern_is_compiled_at_import() -> None:
    code = f"""
import re
made, compile_ = [], re.compile
re.compile = lambda *given: made.append(given) or compile_(*given)
{imported(READING[1:] + PARSING)}
print(made)
"""
    assert answer(code) == "[]"
