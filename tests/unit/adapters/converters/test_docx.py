"""Word documents."""

from __future__ import annotations

import pytest

from fakes.documents import docx
from memoranda.adapters.converters.docx import convert_docx
from memoranda.adapters.converters.limits import Limits
from memoranda.core.documents import Converted, NotConverted

STYLES = (
    '<w:styles><w:style w:type="paragraph" w:styleId="h1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="h2" w:type="paragraph"><w:name w:val="mine"/><w:basedOn w:val="base2"/></w:style>'
    '<w:style w:styleId="base2" w:type="paragraph"><w:basedOn w:val="h2"/>'
    '<w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>'
    '<w:style w:styleId="t" w:type="paragraph"><w:name w:val="Title"/></w:style>'
    '<w:style w:styleId="c" w:type="paragraph"><w:name w:val="Source Code"/></w:style></w:styles>'
)
NUMBERING = (
    '<w:numbering><w:abstractNum w:abstractNumId="0">'
    '<w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/>'
    '</w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl></w:abstractNum>'
    '<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
    "</w:numbering>"
)


def p(text: str, style: str = "", number: str = "", depth: int = 0) -> str:
    listed = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>' if number else ""
    styled = f'<w:pStyle w:val="{style}"/>' if style else ""
    runs = text if text.startswith("<") else f"<w:r><w:t>{text}</w:t></w:r>"
    return f"<w:p><w:pPr>{styled}{listed}</w:pPr>{runs}</w:p>"


def made(body: str, **parts: str) -> Converted:
    return convert_docx(docx(body, **parts), "docx", "a.docx", Limits())


def test_headings_come_from_styles_that_may_inherit_in_a_circle() -> None:
    found = made(p("报销", "t") + p("一", "h1") + p("二", "h2") + p("text"), styles=STYLES)

    assert found.markdown == "# 报销\n\n# 一\n\n## 二\n\ntext\n"
    assert found.title == "报销"


def test_lists_are_counted_through_and_bullets_are_bullets() -> None:
    body = p("a", number="1") + p("b", number="1", depth=1) + p("c", number="1") + p("x", number="2") + p("y")

    assert made(body, numbering=NUMBERING).markdown == "1. a\n    - 1.a) b\n2. c\n- x\n\ny\n"


def test_numbered_headings_keep_their_number() -> None:
    assert made(p("Scope", "h1", "1"), styles=STYLES, numbering=NUMBERING).markdown == "# 1. Scope\n"


def test_code_is_fenced_and_a_lone_line_of_typewriter_prose_is_not() -> None:
    mono = '<w:r><w:rPr><w:rFonts w:ascii="Courier New"/></w:rPr><w:t xml:space="preserve">{}</w:t></w:r>'
    body = (
        p("import sys", "c")
        + p("print()", "c")
        + p("then")
        + p(mono.format("a memo"))
        + p("and")
        + p(mono.format("x = 1;"))
    )

    assert made(body, styles=STYLES).markdown == (
        "```\nimport sys\nprint()\n```\n\nthen\n\na memo\n\nand\n\n```\nx = 1;\n```\n"
    )


def test_tables_keep_their_cells_and_nested_ones_their_words() -> None:
    inner = f"<w:tbl><w:tr><w:tc>{p('i')}</w:tc></w:tr></w:tbl>"
    body = (
        f"<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val='2'/></w:tcPr>{p('a')}</w:tc><w:tc>{p('b')}</w:tc></w:tr>"
        f"<w:tr><w:tc>{p('1')}{p('one')}</w:tc><w:sdt><w:sdtContent><w:tc>{p('2')}</w:tc></w:sdtContent></w:sdt>"
        f"<w:tc>{inner}</w:tc></w:tr></w:tbl>"
    )

    assert made(body).markdown == "| a |  | b |\n| --- | --- | --- |\n| 1 one | 2 | \\| i \\| \\| --- \\| |\n"


def test_links_lead_out_and_pictures_are_described_and_never_fetched() -> None:
    body = p('<w:hyperlink r:id="h"><w:r><w:t>site</w:t></w:r></w:hyperlink>') + p(
        '<w:r><w:drawing><wp:docPr descr="a dog"/></w:drawing></w:r>'
    )
    data = docx(
        body, related=[("h", "hyperlink", "https://example.com/x"), ("i", "image", "http://evil.example/x.png")]
    )

    assert (
        convert_docx(data, "docx", "a.docx", Limits()).markdown == "[site](https://example.com/x)\n\n[picture: a dog]\n"
    )


def test_inserted_text_stays_and_deleted_text_goes() -> None:
    body = p("<w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del>")

    assert made(body).markdown == "new\n"


def test_text_boxes_come_once_and_behind_their_paragraph() -> None:
    box = f"<wps:txbx xmlns:wps='urn:s'><w:txbxContent>{p('boxed')}</w:txbxContent></wps:txbx>"
    run = (
        f"<w:r><w:t>around</w:t><mc:AlternateContent><mc:Choice><w:drawing>{box}</w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict>{box}</w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )

    assert made(p(run)).markdown == "around\n\nboxed\n"


def test_notes_and_comments_stand_at_the_end() -> None:
    found = made(
        p("<w:r><w:t>said</w:t></w:r><w:r><w:footnoteReference w:id='7'/></w:r>"),
        footnotes=f"<w:footnotes><w:footnote w:id='7'>{p('where')}</w:footnote></w:footnotes>",
        comments=f"<w:comments><w:comment w:author='Lin'>{p('why')}</w:comment></w:comments>",
    )

    assert found.markdown == "said[^1]\n\n[^1]: where\n\nComments:\n\n- Lin: why\n"


@pytest.mark.parametrize(("body", "kind"), [("", "empty"), (p(" "), "empty"), ("<w:p>", "corrupt")])
def test_a_document_without_text_or_sense_is_refused(body: str, kind: str) -> None:
    with pytest.raises(NotConverted) as caught:
        made(body)
    assert caught.value.kind == kind
