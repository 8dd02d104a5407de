"""The law of editing: the new file holds what was meant, and every other item is as it was."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import event, given, settings
from hypothesis import strategies as st

from memoranda.core.bodies import read_body
from memoranda.core.editing import CategoryEditor
from memoranda.core.errors import BadText, ChangedUnderneath, Conflict, UsageError
from memoranda.core.items import Category, parse, serialize
from memoranda.core.metadata import Metadata

LINES = [
    "", "", "", "plain", "more text", "喜欢海边。", "## a", "## b", "## 海", "  ## c ##", "##", "## a|b",
    "# title", "### deeper", "Setext", "---", "===", "- item", "- other ^id1", "  continued",
    "  - nested ^id2", "1. one", "2) two", "> quote", "para ^id3", "```", "~~~", "    code", "\ttabbed",
    "<div>", "</div>", "<!-- note", "-->", "<!-- memoranda: owner=user:lin | x=1 -->",
    "  <!-- memoranda: name=n1 | odd -->", "***", "[a]: /url", "<<<<<<< mine", "=======", ">>>>>>> theirs",
    "- [ ] task", "-", "* star", "[[a:b]] link", "\u2028odd\x85",
]  # fmt: skip
BODY_LINES = [
    "", "plain", "more", "海边。", "### deeper", "- item", "  - nested", "1. one", "> quote", "```",
    "    code", "ends ^odd", "<div>", "***", "|a|b|", "[a]: /url", "\\", "# top", "<!-- memoranda: a=b -->",
    "<!-- note -->",
]  # fmt: skip

GONE = "\0gone"

newlines = st.sampled_from(["\n", "\n", "\r\n", "\r"])
documents = st.builds(
    lambda lines, newline, bom, ended: bom + newline.join(lines) + (newline if ended else ""),
    st.lists(st.sampled_from(LINES), max_size=14),
    newlines,
    st.sampled_from(["", "", "\ufeff", "---\ntitle: x\n---\n"]),
    st.booleans(),
)
bodies = st.lists(st.sampled_from(BODY_LINES), min_size=1, max_size=4).map("\n".join)
names = st.sampled_from(["a", "b", "new", "new name", "海", "N1", "id1", "- x", "1. y"])
metadata = st.sampled_from([Metadata(), Metadata((("owner", "user:lin"),)), Metadata((("ts", "a|b--"), ("zz", "1")))])
operations = st.lists(
    st.tuples(
        st.sampled_from(["add", "replace", "rename", "remove", "set_metadata"]),
        st.integers(0, 9),
        names,
        bodies,
        metadata,
    ),
    min_size=1,
    max_size=4,
)


@dataclass
class Meant:
    """One item as it should be; ``raw`` is its old slice while nothing touched it."""

    name: str
    text: str
    metadata: dict[str, str]
    raw: str | None
    renamed: bool = False


def _meant(category: Category) -> list[Meant]:
    return [
        Meant(s.name, s.text, dict(s.metadata.pairs), category.text[s.start : s.end].strip()) for s in category.sections
    ]


def _apply(
    editor: CategoryEditor,
    category: Category,
    meant: list[Meant],
    kind: str,
    at: int,
    name: str,
    body: str,
    pairs: Metadata,
) -> None:
    """Do one operation to the editor, and what it means to the list."""
    keys = [section.key for section in category.sections]
    if kind == "add":
        editor.add(name, body, pairs)
        meant.append(Meant(name, read_body(body).text, dict(pairs.pairs), None))
        return
    if not keys:
        return
    index = at % len(keys)
    address = category.sections[index].address_name
    item = meant[index]
    if item.renamed or item.text == GONE or editor.get(address) is None:
        return  # its old name may be another item's by now
    if kind == "replace":
        editor.replace(address, body, pairs)
        item.text, item.metadata = read_body(body).text, dict(pairs.pairs)
    elif kind == "rename":
        editor.rename(address, name)
        item.name, item.renamed = name, True
    elif kind == "set_metadata":
        editor.set_metadata(address, pairs)
        item.metadata = dict(pairs.pairs)
    else:
        editor.remove(address)
        item.text = GONE
    item.raw = None


def _without_name(pairs: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in pairs.items() if key != "name"}


@settings(max_examples=400, deadline=None)
@given(documents, operations)
def test_the_new_file_holds_what_was_meant(base, steps):
    category = parse(base)
    editor = CategoryEditor(category, "title")
    meant = _meant(category)
    for kind, at, name, body, pairs in steps:
        try:
            _apply(editor, category, meant, kind, at, name, body, pairs)
        except (UsageError, Conflict) as error:
            event(type(error).__name__)
    try:
        text = editor.text()
    except BadText:
        event("refused at the end")
        return
    again = parse(text)
    assert serialize(again) == text
    left = [item for item in meant if item.text != GONE]
    assert [(s.name, s.text) for s in again.sections] == [(item.name, item.text) for item in left]
    for section, item in zip(again.sections, left, strict=True):
        assert _without_name(dict(section.metadata.pairs)) == _without_name(item.metadata)
        if item.raw is not None:
            assert text[section.start : section.end].strip() == item.raw


@settings(max_examples=200, deadline=None)
@given(documents, bodies)
def test_an_addition_keeps_every_byte_in_front_of_it(base, body):
    category = parse(base)
    editor = CategoryEditor(category, "title")
    try:
        editor.add("quite new", body, Metadata((("owner", "user:lin"),)))
        text = editor.text()
    except (BadText, ChangedUnderneath):
        return
    assert text.startswith(base)
    found = parse(text).find("quite new")
    assert found is not None
    assert found.text == read_body(body).text
    assert found.metadata.owner == "user:lin"
    assert text[-1] in "\r\n"


@settings(max_examples=200, deadline=None)
@given(documents)
def test_taking_apart_and_putting_together_gives_the_text_back(base):
    category = parse(base)
    assert serialize(category) == base
    assert all(category.find(section.address_name) is section for section in category.sections)
    assert len({section.key for section in category.sections}) == len(category.sections)
    for section in category.sections:
        assert section.start <= section.content <= section.head_end <= section.end
        assert section.start <= section.body_start <= section.body_end <= section.end


@settings(max_examples=200, deadline=None)
@given(documents)
def test_nothing_changed_is_no_edit(base):
    category = parse(base)
    editor = CategoryEditor(category, "title")
    for section in category.sections:
        editor.set_metadata(section.address_name, section.metadata)
        editor.relink(section.address_name, section.text)
    assert editor.edits() == () or editor.text() == base
