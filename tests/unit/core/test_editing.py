from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.core.editing import CategoryEditor, Edit, splice
from memoranda.core.errors import BadName, BadText, ChangedUnderneath, NameTaken, NotFound
from memoranda.core.items import parse
from memoranda.core.metadata import EMPTY_METADATA, Metadata
from memoranda.core.names import content_hash, hash_name

LIN = Metadata((("owner", "user:lin"),))
COMMENT = "<!-- memoranda: owner=user:lin -->"


def edit(text, title="prefs"):
    return CategoryEditor(parse(text), title)


def after(text, *steps):
    """The text after some operations, each a method's name and its arguments."""
    editor = edit(text)
    for name, *arguments in steps:
        getattr(editor, name)(*arguments)
    return editor.text()


def test_splice():
    assert splice("abcdef", [Edit(0, 0, "x"), Edit(1, 3, ""), Edit(3, 4, "Y"), Edit(6, 6, "z")]) == "xaYefz"
    assert splice("abc", []) == "abc"


@pytest.mark.parametrize(
    "edits", [[Edit(2, 1, "")], [Edit(0, 2, ""), Edit(1, 3, "")], [Edit(0, 9, "")], [Edit(-1, 0, "")]]
)
def test_splice_refuses_disorder(edits):
    with pytest.raises(ValueError, match="out of order"):
        splice("abc", edits)


# New files and additions


def test_a_new_file():
    assert after("", ("add", "likes", "tea", LIN)) == f"# prefs\n\n## likes\n\ntea\n\n{COMMENT}\n"
    assert after("\ufeff", ("add", "likes", "tea", EMPTY_METADATA)) == "\ufeff# prefs\n\n## likes\n\ntea\n"


@pytest.mark.parametrize(
    ("base", "lead"),
    [
        ("## a\n\nx\n", "\n"),
        ("## a\n\nx", "\n\n"),
        ("## a\n\nx\n\n\n", ""),
        ("## a\n\nx\n   ", "\n"),
        ("# title\n", "\n"),
        ("---\na: b\n---", "\n\n"),
    ],
)
def test_an_addition_stands_behind_one_blank_line(base, lead):
    assert after(base, ("add", "b", "y", EMPTY_METADATA)) == base + lead + "## b\n\ny\n"


def test_additions_use_the_newline_of_the_file():
    base = "## a\r\n\r\nx"
    assert after(base, ("add", "b", "1\n2\r3", LIN)) == (base + f"\r\n\r\n## b\r\n\r\n1\r\n2\r\n3\r\n\r\n{COMMENT}\r\n")
    # A lone CR and a following LF must not become one line end.
    assert parse(after("x\n\n\n## a\r", ("add", "b", "y", EMPTY_METADATA))).find("b").text == "y"


def test_names_are_checked():
    editor = edit("## Likes\n\nx\n")
    with pytest.raises(NameTaken):
        editor.add("likes", "y", EMPTY_METADATA)
    with pytest.raises(BadName):
        editor.add("a|b", "y", EMPTY_METADATA)
    with pytest.raises(BadText, match="empty"):
        editor.add("new", " \n", EMPTY_METADATA)
    assert editor.edits() == ()
    editor.add("Cafe\u0301  Noir", "y", EMPTY_METADATA)
    assert editor.get("café noir").name == "Café Noir"


def test_nothing_is_added_behind_an_open_fence():
    editor = edit("## a\n\nx\n\n```\n")
    with pytest.raises(ChangedUnderneath, match="line 5"):
        editor.add("b", "y", EMPTY_METADATA)
    with pytest.raises(ChangedUnderneath, match="line 5"):
        editor.set_metadata("a", LIN)
    editor.replace("a", "closed")
    editor.add("b", "y", EMPTY_METADATA)
    assert editor.text() == "## a\n\nclosed\n\n## b\n\ny\n"


# Changes of sections

BASE = """\
---
tags: x
---
# title

Mine.

## one ##

First.

<!-- wikimem: ts=1|  zz=2 -->

Name
====

Two
---
Second
line.
## three
"""


def test_replacing_touches_the_body_only():
    changed = after(BASE, ("replace", "one", "New."))
    assert changed == BASE.replace("First.", "New.")
    assert after(BASE, ("replace", "two", "Other.")) == BASE.replace("Second\nline.", "Other.")


def test_replacing_metadata_keeps_what_does_not_change():
    metadata = parse(BASE).find("one").metadata
    changed = after(BASE, ("replace", "one", "New.", metadata.with_values(ts="2", owner="user:lin")))
    assert changed == BASE.replace("First.", "New.").replace(
        "<!-- wikimem: ts=1|  zz=2 -->", "<!-- wikimem: ts=2|  zz=2 | owner=user:lin -->"
    )
    assert after(BASE, ("set_metadata", "one", EMPTY_METADATA)) == BASE.replace("\n\n<!-- wikimem: ts=1|  zz=2 -->", "")
    assert after(BASE, ("set_metadata", "two", LIN)) == BASE.replace("line.\n", f"line.\n\n{COMMENT}\n")


def test_filling_an_empty_section():
    assert after(BASE, ("replace", "three", "Third.")) == BASE + "\nThird.\n"
    assert after("## a\n## b\n", ("replace", "a", "x", LIN)) == f"## a\n\nx\n\n{COMMENT}\n\n## b\n"
    assert after("## a", ("replace", "a", "x")) == "## a\n\nx\n"


def test_renaming_touches_the_name_only():
    assert after(BASE, ("rename", "one", "uno")) == BASE.replace("## one ##", "## uno ##")
    assert after(BASE, ("rename", "two", "dos")) == BASE.replace("Two\n---", "dos\n---")
    assert after("a\nb\n---\nx\n", ("rename", "a b", "c")) == "c\n---\nx\n"
    assert after("##\nx\n", ("rename", hash_name("\nx"), "c")) == "## c\nx\n"


def test_a_name_that_would_be_something_else_below_a_line_becomes_an_atx_heading():
    assert after("a\n---\nx\n", ("rename", "a", "- b")) == "## - b\nx\n"


def test_renaming_may_change_the_case_but_not_take_a_name():
    assert after(BASE, ("rename", "one", "ONE")) == BASE.replace("## one", "## ONE")
    with pytest.raises(NameTaken):
        edit(BASE).rename("one", "THREE")
    with pytest.raises(NotFound):
        edit(BASE).rename("none", "x")


def test_removing_takes_the_whole_section():
    assert after(BASE, ("remove", "two")) == BASE.replace("Two\n---\nSecond\nline.\n", "")
    assert after("## a\nx\n## b\nText\n---\ny\n", ("remove", "b")) == "## a\nx\n\nText\n---\ny\n"


def test_a_persons_text_does_not_become_an_item_when_the_last_section_goes():
    base = "# title\n\nMine.\n\n## a\n\nx\n"
    changed = after(base, ("remove", "a"))
    assert changed.startswith("# title\n\nMine.\n\n")
    assert parse(changed).sections == ()
    again = after(changed, ("add", "b", "y", EMPTY_METADATA))
    assert again == changed + "\n## b\n\ny\n"
    assert after("# title\n\n## a\n\nx\n", ("remove", "a")) == "# title\n\n"


def test_hand_written_duplicates():
    base = "## a\n\n1\n\n## a\n\n2\n"
    second = hash_name("a\n2")
    assert after(base, ("rename", second, "b")) == "## a\n\n1\n\n## b\n\n2\n"
    editor = edit(base)
    editor.remove("a")
    assert editor.get("a").text == "2"  # the second one has the name now
    editor.replace("a", "3")
    assert editor.text() == "## a\n\n3\n"


def test_a_comment_in_the_middle_moves_to_the_end_when_the_text_changes():
    base = f"## a\n\n1\n\n{COMMENT}\n\n2\n"
    assert after(base, ("replace", "a", "3")) == f"## a\n\n3\n\n{COMMENT}\n"
    assert after(base, ("set_metadata", "a", EMPTY_METADATA)) == "## a\n\n1\n\n2\n"


def test_an_address_by_hash_goes_on_working_after_a_change():
    editor = edit("## a|b\n\n1\n\n## c\n")
    old = hash_name("a|b\n1")
    editor.replace(old, "2")
    assert editor.get(old).name == hash_name("a|b\n2") == editor.name_of("2")
    assert parse(editor.text()).find(editor.get(old).name).text == "2"


def test_an_item_does_not_take_the_address_of_another_with_the_same_text():
    editor = edit("- a\n- b\n")
    editor.replace(hash_name("b"), "a")
    editor.set_metadata(hash_name("a"), LIN)
    assert editor.get(hash_name("b")).name == hash_name("a") + "-2"
    assert editor.text() == f"- a\n  {COMMENT}\n- a\n"


def test_relinking_touches_only_the_lines_with_links():
    base = "## a\r\n\n  one [[x:y]]\rtwo\r\n# three\r\n## b\n\n```\nopen [[x:y]]\n"
    assert after(base, ("relink", "a", "  one [[x:z]]\ntwo")) == base.replace("one [[x:y]]", "one [[x:z]]")
    assert after(base, ("relink", "b", "```\nopen [[x:z]]")) == base.replace("open [[x:y]]", "open [[x:z]]")
    listed = "- a [[x:y]] ^i\r\n\t- b [[x:y]]\r\n\tc\r\n"
    text = parse(listed).sections[0].text
    assert after(listed, ("relink", "i", text.replace("b [[x:y]]", "b [[x:z]]"))) == listed.replace(
        "b [[x:y]]", "b [[x:z]]"
    )


# Several operations in one editor


def test_operations_on_the_same_item_add_up():
    editor = edit("## old\n\nx\n")
    editor.add("a", "1", EMPTY_METADATA)
    editor.replace("a", "2", LIN)
    editor.rename("a", "b")
    assert editor.get("a") is None
    assert editor.get("B").text == "2"
    assert editor.get("b").hash == content_hash("2")
    assert editor.text() == f"## old\n\nx\n\n## b\n\n2\n\n{COMMENT}\n"
    editor.remove("b")
    assert editor.text() == "## old\n\nx\n"
    editor.remove("old")
    editor.add("old", "y", EMPTY_METADATA)
    editor.add("a", "z", EMPTY_METADATA)
    assert editor.text() == "# prefs\n\n## old\n\ny\n\n## a\n\nz\n"


def test_two_items_can_swap_names():
    assert after("## a\n\n1\n\n## b\n\n2\n", ("rename", "a", "c"), ("rename", "b", "a"), ("rename", "c", "b")) == (
        "## b\n\n1\n\n## a\n\n2\n"
    )


def test_edits_are_against_the_base_and_additions_are_one():
    editor = edit("## a\n\n1\n\n## b\n\n2\n")
    editor.add("c", "3", EMPTY_METADATA)
    editor.add("d", "4", EMPTY_METADATA)
    editor.replace("b", "two")
    editor.remove("a")
    assert editor.edits() == (
        Edit(0, 9, ""),
        Edit(15, 16, "two"),
        Edit(17, 17, "\n## c\n\n3\n\n## d\n\n4\n"),
    )


def test_a_change_back_is_no_change():
    editor = edit("## a\n\n1\n")
    editor.replace("a", "1", EMPTY_METADATA)
    assert editor.edits() == ()


def test_free_names():
    editor = edit("## a\n\n1\n\n## a-2\n\n1\n")
    assert editor.free_name("b") == "b"
    assert editor.free_name("A") == "A-3"
    editor.add("A-3", "x", EMPTY_METADATA)
    assert editor.free_name("a") == "a-4"


def test_finding_a_text():
    editor = edit(f"## a\n\nlikes  the\nsea\n\n{COMMENT}\n\n## b\n\nother\n")
    assert editor.find_text("likes the sea ", "user:lin") == "a"
    assert editor.find_text("likes the sea", None) is None
    assert editor.find_text("Likes the sea", "user:lin") is None
    editor.add("c", "cafe\u0301", EMPTY_METADATA)
    assert editor.find_text("caf\u00e9", None) == "c"
    editor.replace("b", "new")
    assert editor.find_text("other", None) is None
    assert editor.find_text("new", None) == "b"
    editor.rename("b", "d")
    assert editor.find_text("new", None) == "d"
    editor.remove("d")
    assert editor.find_text("new", None) is None


# Files without sections


def test_additions_in_the_manner_of_a_list():
    assert after("- a\n- b\n", ("add", "c", "x", EMPTY_METADATA)) == "- a\n- b\n- x ^c\n"
    assert after("* a\n\n* b", ("add", "c", "x", EMPTY_METADATA)) == "* a\n\n* b\n\n* x ^c\n"
    assert after("8) a\n9) b\n", ("add", "c", "x", EMPTY_METADATA), ("add", "d", "y", EMPTY_METADATA)) == (
        "8) a\n9) b\n10) x ^c\n11) y ^d\n"
    )
    assert after("- a\n", ("add", "my c", "x", LIN)) == ("- a\n- x\n  <!-- memoranda: owner=user:lin | name=my c -->\n")
    assert after("- a\n", ("add", "c", "x\n\n```\ny\n```", EMPTY_METADATA)) == (
        "- a\n\n- x\n\n  ```\n  y\n  ```\n  <!-- memoranda: name=c -->\n"
    )


def test_additions_in_the_manner_of_paragraphs():
    assert after("A.\n", ("add", "c", "x\ny", LIN)) == f"A.\n\nx\ny ^c\n{COMMENT}\n"
    assert after("A.\n", ("add", "c", "x\n\ny", EMPTY_METADATA)) == "A.\n\n- x\n\n  y ^c\n"


def test_a_new_block_is_found_with_and_without_caret():
    editor = edit("- a\n")
    editor.add("likes", "x", EMPTY_METADATA)
    assert editor.get("likes") == editor.get("^Likes")
    assert editor.get("likes").name == "^likes"
    with pytest.raises(NameTaken):
        editor.add("likes", "y", EMPTY_METADATA)


def test_changes_of_blocks():
    base = "# t\n\n- one ^i\n  - sub\n- two\n\n> quote\n"
    assert after(base, ("replace", "i", "new\n- sub2")) == base.replace("one ^i\n  - sub", "new ^i\n  - sub2")
    assert after(base, ("rename", "i", "j")) == base.replace("^i", "^j")
    assert after(base, ("rename", "i", "two words")) == base.replace(
        "one ^i\n  - sub", "one\n  - sub\n  <!-- memoranda: name=two words -->"
    )
    assert after(base, ("rename", hash_name("two"), "j")) == base.replace("two", "two ^j")
    assert after(base, ("remove", hash_name("two"))) == base.replace("- two\n\n", "")[:-8] + "\n> quote\n"
    assert after(base, ("set_metadata", "i", LIN)) == base.replace("sub\n", f"sub\n  {COMMENT}\n")


def test_removing_a_block_does_not_join_its_neighbours():
    assert after("A.\n- b\n\nC.\n", ("remove", hash_name("b"))) == "A.\n\nC.\n"
    assert after("- a\n- b\n- c\n", ("remove", hash_name("b"))) == "- a\n- c\n"


def test_a_paragraph_that_gets_more_than_one_becomes_a_list_item():
    assert after("A. ^i\n\nB.\n", ("replace", "i", "1\n\n2")) == "- 1\n\n  2 ^i\n\nB.\n"


def test_what_would_change_the_neighbours_is_refused():
    editor = edit("- a\n\n## b\n  ## c\n")
    editor.remove("b")
    with pytest.raises(BadText, match="nothing was changed"):
        editor.edits()
    unheaded = edit("- a\n")
    with pytest.raises(BadText, match="read back"):
        unheaded.add("has space", "ends like ^this", EMPTY_METADATA)


# Files of ordinary shape are never refused

words = st.sampled_from(
    [
        "plain text",
        "喜欢海边。[[a:b]]",
        "two\nlines",
        "- a\n- b",
        "### deeper\n\nx",
        "```\n## x\n```",
        "> quote\n> more",
    ]
)
names = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=5)


@settings(max_examples=150, deadline=None)
@given(names, st.data(), st.sampled_from(["\n", "\r\n"]))
def test_ordinary_files_take_any_ordinary_change(old, data, newline):
    meant = {name: data.draw(words) for name in old}
    base = "# t\n\nMine.\n\n" + "\n\n".join(f"## {name}\n\n{text}" for name, text in meant.items())
    if not old:
        base = "# t\n"
    editor = edit(base.replace("\n", newline))
    for at in range(data.draw(st.integers(1, 5))):
        kind = data.draw(st.sampled_from(["add", "replace", "rename", "remove"]))
        if kind == "add" or not meant:
            meant[f"new {at}"] = data.draw(words)
            editor.add(f"new {at}", meant[f"new {at}"], EMPTY_METADATA)
            continue
        name = data.draw(st.sampled_from(sorted(meant)))
        if kind == "replace":
            meant[name] = data.draw(words)
            editor.replace(name, meant[name])
        elif kind == "rename":
            meant[f"renamed {at}"] = meant.pop(name)
            editor.rename(name, f"renamed {at}")
        else:
            del meant[name]
            editor.remove(name)
    text = editor.text()
    assert {section.address_name: section.text for section in parse(text).sections} == meant
    assert newline == "\n" or text.count("\n") == text.count("\r\n")
