"""Presentations, new and old."""

from __future__ import annotations

import struct

import pytest

from fakes.documents import compound, pptx
from memoranda.adapters.converters.limits import Limits
from memoranda.adapters.converters.powerpoint_binary import convert_ppt
from memoranda.adapters.converters.pptx import convert_pptx
from memoranda.core.documents import NotConverted


def shape(*paragraphs: str, kind: str = "") -> str:
    holder = f'<p:ph type="{kind}"/>' if kind else ""
    text = "".join(f"<a:p>{one if one.startswith('<') else f'<a:r><a:t>{one}</a:t></a:r>'}</a:p>" for one in paragraphs)
    return f"<p:sp><p:nvSpPr><p:nvPr>{holder}</p:nvPr></p:nvSpPr><p:txBody>{text}</p:txBody></p:sp>"


def made(*slides: str, **more: object) -> str:
    return convert_pptx(pptx(slides, **more), "pptx", "a.pptx", Limits()).markdown  # type: ignore[arg-type]


def test_slides_have_a_marker_a_title_lists_and_notes() -> None:
    text = made(
        shape("收入增长", "新增客户", kind="body") + shape("季度_x000B_回顾", kind="title") + shape("3", kind="sldNum"),
        shape("in a box"),
        notes={0: "不要提到裁员"},
    )

    assert text == (
        "<!-- slide 1 -->\n\n## 季度 回顾\n\n- 收入增长\n- 新增客户\n\nNotes:\n\n"
        "不要提到裁员\n\n<!-- slide 2 -->\n\nin a box\n"
    )


def test_groups_tables_pictures_and_charts_are_read() -> None:
    grid = "".join(f"<a:tr>{''.join(f'<a:tc><a:txBody>{p}</a:txBody></a:tc>' for p in row)}</a:tr>" for row in (
        ("<a:p><a:r><a:t>A</a:t></a:r></a:p>", "<a:p><a:r><a:t>B</a:t></a:r></a:p>"),
        ("<a:p><a:r><a:t>1</a:t></a:r></a:p>", "<a:p/>"),
    ))  # fmt: skip
    chart = (
        "<c:chart><c:plotArea><c:ser><c:tx><c:v>Sales</c:v></c:tx><c:cat><c:pt idx='0'><c:v>2024</c:v></c:pt></c:cat>"
        "<c:val><c:pt idx='0'><c:v>7</c:v></c:pt></c:val></c:ser></c:plotArea></c:chart>"
    )
    slide = (
        f"<p:grpSp><p:grpSp>{shape('nested')}</p:grpSp></p:grpSp>"
        f"<p:graphicFrame><a:tbl>{grid}</a:tbl></p:graphicFrame>"
        "<p:pic><p:nvPicPr><p:cNvPr descr='a chart'/></p:nvPicPr></p:pic>"
        "<p:graphicFrame><c:chart r:id='c1'/></p:graphicFrame>"
    )

    assert made(slide, charts={0: chart}) == (
        "<!-- slide 1 -->\n\nnested\n\n| A | B |\n| --- | --- |\n| 1 |  |\n\n[picture: a chart]\n\n"
        "|  | Sales |\n| --- | --- |\n| 2024 | 7 |\n"
    )


def test_a_broken_slide_is_said_and_the_others_are_read() -> None:
    found = convert_pptx(pptx([shape("one"), "<broken"]), "pptx", "a.pptx", Limits())

    assert "one" in found.markdown
    assert found.notes[0].startswith("slide 2 could not be read")


def test_a_presentation_without_text_is_empty() -> None:
    with pytest.raises(NotConverted) as caught:
        made("", shape(" "))
    assert caught.value.kind == "empty"


def record(kind: int, body: bytes, container: bool = False) -> bytes:
    return struct.pack("<HHI", 15 if container else 0, kind, len(body)) + body


def test_an_old_presentation_gives_the_texts_of_its_slides() -> None:
    outline = (
        record(0x03F3, b"")
        + record(0x0F9F, struct.pack("<I", 0))
        + record(0x0FA0, "季度回顾".encode("utf-16-le"))
        + record(0x0F9F, struct.pack("<I", 1))
        + record(0x0FA8, b"more sold")
        + record(0x03F3, b"")
        + record(0x0FA8, b"the end")
    )
    stream = record(0x03E8, record(0x0FF0, outline, True), True) + record(0x03EE, record(0x0FA8, b"drawn"), True)
    made = convert_ppt(compound({"PowerPoint Document": stream}), "ppt", "a.ppt", Limits())

    assert made.title == "季度回顾"
    assert made.markdown == ("<!-- slide 1 -->\n\n## 季度回顾\n\nmore sold\n\n<!-- slide 2 -->\n\nthe end\n\ndrawn\n")
