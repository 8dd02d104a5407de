"""``reparse`` is ``parse``, only cheaper: whatever is put in, taken out or changed between two states."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from memoranda.core.items import parse, reparse
from memoranda.core.sections import Category

_LINES = st.sampled_from(
    [
        "# Title",
        "## a",
        "## b",
        "## a",
        "## c | d",
        "Setext",
        "---",
        "===",
        "text",
        "",
        "- item",
        "  ## inside",
        "```",
        "~~~",
        "<!--",
        "-->",
        "<div>",
        "> quote",
        "<!-- memoranda: owner=user:lin -->",
        "<!-- memoranda: x -->",
        "喜欢海边",
        "\ufeff## bom",
        "\ufeffSetext",
        "<<<<<<< ours",
        "=======",
        ">>>>>>> theirs",
        "[a]: /u",
        "    code",
    ]
)
_TEXTS = st.tuples(st.lists(_LINES, max_size=14), st.sampled_from(["\n", "\r\n", "\r"])).map(lambda t: t[1].join(t[0]))


def _told(category: Category) -> tuple[object, ...]:
    return (category.text, category.sections, category.problems, category.headed, category.open_at, category.newline)


@given(_TEXTS, _TEXTS, _TEXTS, _TEXTS)
@example("## a\n\nx\n\n## b\n\ny\n", "", "\n## c\n\nz\n", "")
@example("## a\nx\n## b\n", "y\n", "---\n", "")
@example("---\nx\n\n## a\n\n1\n\n## b\n\n2\n", "", "\n---\n", "")
@example("## p\n\nq\n\na\n--", "", "x", "")
@example("## p\n\nq\n\n## a\r", "", "\nx", "")
def test_reparse_is_parse(start: str, old: str, new: str, end: str) -> None:
    before, after = start + old + end, start + new + end
    assert _told(reparse(parse(before), after)) == _told(parse(after))


def test_what_stands_before_the_change_is_not_parsed_again() -> None:
    before = "".join(f"## item-{n}\n\ntext {n}\n\n" for n in range(100))
    known = parse(before)
    found = reparse(known, before + "## one-more\n\nnew\n")
    assert found.sections[50] is known.sections[50]
    assert [section.name for section in found.sections][-2:] == ["item-99", "one-more"]
