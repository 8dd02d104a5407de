from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.core.links import find_links, format_link, retarget


def targets(text):
    return [link.target for link in find_links(text)]


@pytest.mark.parametrize(
    ("text", "category", "item", "shown"),
    [
        ("[[daily_life:beach-trip-plan]]", "daily_life", "beach-trip-plan", None),
        ("[[daily_life#beach-trip-plan]]", "daily_life", "beach-trip-plan", None),
        ("[[生活：去海边]]", "生活", "去海边", None),
        ("[[preferences:likes|她喜欢的]]", "preferences", "likes", "她喜欢的"),
        ("[[user/lin/preferences:likes]]", "user/lin/preferences", "likes", None),
        ("[[rules#^block]]", "rules", "^block", None),
        ("[[rules]]", "rules", None, None),
        ("[[rules|the rules]]", "rules", None, "the rules"),
        ("[[:here]]", "", "here", None),
        ("[[#here]]", "", "here", None),
        ("[[a:b:c#d]]", "a", "b:c#d", None),
        ("[[a#b:c]]", "a", "b:c", None),
        ("![[a:b]]", "a", "b", None),
        ("[[ a : b | c ]]", "a", "b", "c"),
        ("|x|[[a:b\\|c]]|", "a", "b", "c"),
        ("[see [[a:b]]]", "a", "b", None),
        ("[[[a:b]]", "a", "b", None),
        ("[[tools:vim [editor]]]", "tools", "vim [editor]", None),
        ("\\\\[[a:b]]", "a", "b", None),
    ],
)
def test_forms(text, category, item, shown):
    (link,) = find_links(text)
    assert (link.category, link.item, link.shown) == (category, item, shown)
    assert link.target == (category if item is None else f"{category}:{item}")
    assert text[link.start : link.end].startswith("[[")
    assert text[link.start : link.end].endswith("]]")


@pytest.mark.parametrize(
    "text",
    [
        "", "[[]]", "[[ ]]", "[[:]]", "[[a:]]", "[[|x]]", "[[a", "[[a\nb]]", "[[a\rb]]", "[a:b]",
        "\\[[a:b]]", "[\\[a:b]]", "`[[a:b]]`", "``[[a:b]] ` ``", "```\n[[a:b]]\n```",
        "~~~\n[[a:b]]", "    [[a:b]]", "\t[[a:b]]", "[[`[[a:b]]`]]",
        "<!-- [[a:b]] -->", "text <!-- [[a:b]] --> text", "<!-- open\n\n[[a:b]]", "<pre>\n[[a:b]]\n</pre>",
        "- ```\n  [[a:b]]\n  ```", "> ~~~\n> [[a:b]]\n> ~~~", "-     [[a:b]]", "> <!-- [[a:b]] -->",
        "- x\n  - y\n    ```\n    [[a:b]]", "> - `[[a:b]]`", "`a\n[[a:b]]`",
    ],
)  # fmt: skip
def test_text_that_is_no_link(text):
    assert find_links(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "`open [[a:b]]", "`open\n\n[[a:b]]`", "\\`[[a:b]]`", "`` ` [[a:b]]", "text <!-- [[a:b]]",
        "- `x`\n- [[a:b]] `",
        "```\ncode\n```\n[[a:b]]", "> ```\n[[a:b]]", "text\n    [[a:b]]", "- x\n\n  [[a:b]]\n",
        "<div>[[a:b]]</div>",
        "`[[x`[[a:b]]", "# `c` [[a:b]]", "`c` \\`[[a:b]]", "<!-- c -->[[a:b]]", "a `b` \\\\[[a:b]]",
        "---\nrelated: `[[a:b]]`\n---\n",
    ],
)  # fmt: skip
def test_links_beside_code(text):
    assert targets(text) == ["a:b"]


def test_a_code_span_within_a_link_belongs_to_its_text():
    (link,) = find_links("see [[tools:`ls`|the `ls`]] or `x`")
    assert (link.item, link.shown) == ("`ls`", "the `ls`")


def test_offsets_point_into_the_whole_text():
    text = "`x`\r\n> - quoted\r\n>   [[a:b|shown]]\r\n\r\n1. item\r\n\r\n   \t[[c:d]]\r\n   [[e#f]]"
    links = find_links(text)
    assert [text[link.start : link.end] for link in links] == ["[[a:b|shown]]", "[[c:d]]", "[[e#f]]"]


def test_keys_compare_names():
    assert find_links("[[Café:Ärger  x]]")[0].key == find_links("[[cafe\u0301:a\u0308RGER x]]")[0].key
    assert find_links("[[shared/a:b]]")[0].key == find_links("[[a#B]]")[0].key
    assert find_links("[[user/lin/a:b]]")[0].key != find_links("[[a:b]]")[0].key


def test_format():
    assert format_link("a", "b") == "[[a:b]]"
    assert format_link("a", "b", "c", "hash") == "[[a#b|c]]"
    assert format_link("a", None) == "[[a]]"
    assert format_link("", "b") == "[[:b]]"


letters = st.characters(exclude_characters="[]|#:：\\`<\r\n", exclude_categories=["Cc", "Cs"])
plain = st.text(letters, min_size=1, max_size=8).filter(lambda name: name == name.strip())
pieces = st.sampled_from(["[[a:b]]", "[[a#b|c]]", "[[", "]]", "`", "\n", "> ", "- ", "    ", "x", "<!--", "-->"])


@given(plain, st.none() | plain, st.none() | plain, st.sampled_from(["colon", "hash"]))
def test_what_is_formatted_is_found(category, item, shown, style):
    written = format_link(category, item, shown, style)
    (link,) = find_links(f"text {written} text")
    assert (link.category, link.item, link.shown) == (category, item, shown)
    assert link.start == 5
    assert link.end == 5 + len(written)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x [[a:b]] y", "x [[n:m]] y"),
        ("[[a#b|shown text]]", "[[n#m|shown text]]"),
        ("[[a：b]]", "[[n：m]]"),
        ("[[ A :  B | c ]]", "[[ n :  m | c ]]"),
        ("|[[a:b\\|c]]|", "|[[n:m\\|c]]|"),
        ("`[[a:b]]` ![[a:b]]", "`[[a:b]]` ![[n:m]]"),
        ("[[a]] [[a:c]] [[x:b]]", "[[a]] [[a:c]] [[x:b]]"),
        ("> - [[a:b]]\r\n> - [[a:b]] `c`\r", "> - [[n:m]]\r\n> - [[n:m]] `c`\r"),
    ],
)
def test_retargeting_changes_nothing_else(before, after):
    assert retarget(before, {("a", "b"): "n:m"}) == after


def test_retargeting_by_a_function():
    text = "[[:b]] [[#b]] [[a]] [[a:b]]"
    assert retarget(text, lambda link: ":new" if link.category == "" else None) == "[[:new]] [[#new]] [[a]] [[a:b]]"
    assert retarget(text, lambda link: "n:m" if link.item is None else None) == "[[:b]] [[#b]] [[n:m]] [[a:b]]"


@given(st.lists(pieces, max_size=20).map("".join))
def test_retargeting_to_the_same_name_is_no_change(text):
    assert retarget(text, lambda link: link.target) == text
    changed = retarget(text, {("a", "b"): "nn:mm"})
    assert [link.target for link in find_links(changed)] == [t.replace("a:b", "nn:mm") for t in targets(text)]
    assert len(changed) == len(text) + 2 * targets(text).count("a:b")
