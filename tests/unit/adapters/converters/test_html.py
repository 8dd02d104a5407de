"""Pages: their content, without what surrounds it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.adapters.converters.html import convert_html, html_blocks, html_charset
from memoranda.adapters.converters.limits import Limits
from memoranda.core.documents import NotConverted

LIMITS = Limits()
PIECES = st.sampled_from(
    [
        "<p>",
        "</p>",
        "<table>",
        "<tr>",
        "<td\trowspan=3>",
        "<td\tcolspan=9>",
        "</table>",
        "<ul>",
        "<li>",
        "</ul>",
        "<pre>",
        "</pre>",
        "<a\thref=http://x>",
        "</a>",
        "<!--",
        "-->",
        "<script>",
        "</script>",
        "<",
        ">",
        "&amp;",
        "text",
        "\n",
        "<h2>",
    ]
)


def markdown(text: str) -> str:
    return html_blocks(text)[0]


def test_headings_lists_code_and_quotes() -> None:
    assert markdown(
        "<h1>海 边</h1><p>a <b>bold</b>\n word<br>next</p><ul><li>one<ul><li>two</ul><li>three</ul>"
        "<ol start=3><li>c<li>d</ol><pre><code class='language-python'>\n  if x:\n    y\n</code></pre>"
        "<p>call <code>f(x)</code></p><blockquote><p>said</p></blockquote><hr>"
    ) == (
        "# 海 边\n\na bold word\nnext\n\n- one\n  - two\n- three\n\n3. c\n4. d\n\n"
        "```python\nif x:\n  y\n```\n\ncall `f(x)`\n\n> said\n"
    )


def test_scripts_styles_navigation_and_hidden_parts_are_left_out() -> None:
    page = (
        "<title>T</title><nav>menu</nav><script>var a='<p>x</p>'</script><style>p{}</style><div hidden>h</div>"
        "<div style='display: none'>n</div><div role=navigation>r</div>"
        "<template>t</template><p>kept</p><footer>f</footer>"
    )

    assert html_blocks(page) == ("kept\n", "T")


def test_the_main_element_is_all_that_counts_where_it_holds_the_text() -> None:
    assert (
        markdown("<body><div>ads</div><main><p>the long text of the page</p></main></body>")
        == "the long text of the page\n"
    )
    assert markdown("<body><p>the long text of the whole page</p><main>x</main></body>").startswith("the long text")


def test_links_lead_out_or_are_their_text() -> None:
    assert markdown("<p><a href='https://a.b/c'>x</a> <a href='/y'>y</a> <a href='javascript:z'>z</a></p>") == (
        "[x](https://a.b/c) y z\n"
    )


def test_pictures_are_their_description_and_never_an_address() -> None:
    assert markdown("<p>a <img src=http://evil/x.png alt='a dog'> b <img src=y></p>") == "a [picture: a dog] b\n"


def test_tables_are_tables_and_layout_is_not() -> None:
    assert markdown("<table><tr><th>a<th>b<tr><td rowspan=2>1<td>2<tr><td>3</table>") == (
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 1 | 3 |\n"
    )
    assert markdown("<table><tr><td>a<td colspan=2>b<tr><td>1<td>2<td>3</table>") == (
        "| a | b |  |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n"
    )
    assert markdown("<table><tr><td><h2>x</h2><td><ul><li>y</ul></table>") == "## x\n\n- y\n"
    assert markdown("<table><tr><td>o<td><table><tr><td>i<td>j</table></table>") == "o\n\n| i | j |\n| --- | --- |\n"


def test_links_to_other_languages_are_left_out_of_lists() -> None:
    assert markdown("<ul><li><a href=x hreflang=de>Deutsch</a><li>kept</ul>") == "- kept\n"


def test_what_the_text_only_looks_like_is_escaped() -> None:
    assert markdown("<p># no heading &lt;!-- page 3 --&gt;</p>") == "\\# no heading &lt;!-- page 3 -->\n"


def test_the_declared_encoding_is_used() -> None:
    page = '<html><head><meta charset="gb18030"></head><body><p>一线城市每晚六百元</p>'
    made = convert_html(page.encode("gb18030"), "html", "a.html", LIMITS)

    assert (made.markdown, made.encoding) == ("一线城市每晚六百元\n", "gb18030")
    assert html_charset(b'<?xml version="1.0" encoding="Big5"?>') == "Big5"


def test_a_page_without_text_is_empty() -> None:
    with pytest.raises(NotConverted) as caught:
        convert_html(b"<html><script>x</script><img src=a>", "html", "a.html", LIMITS)
    assert caught.value.kind == "empty"


@pytest.mark.parametrize(
    "text", ["<!--" * 50_000, "<a " * 50_000, "<div>" * 50_000 + "x", "<" * 100_000, "<td>" * 20_000]
)
def test_hostile_pages_end(text: str) -> None:
    assert isinstance(markdown("<p>begin</p>" + text), str)


@given(st.lists(PIECES, max_size=25).map("".join))
def test_any_page_gives_markdown(text: str) -> None:
    assert isinstance(markdown(text), str)
