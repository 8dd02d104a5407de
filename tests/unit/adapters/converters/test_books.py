"""Books, OpenDocument, rich text and archives of documents."""

from __future__ import annotations

import pytest

from fakes.documents import docx, epub, odt, zipped
from memoranda.adapters.converters.choosing import converter_for
from memoranda.adapters.converters.epub import convert_epub
from memoranda.adapters.converters.limits import Limits
from memoranda.adapters.converters.opendocument import convert_opendocument
from memoranda.adapters.converters.rtf import rtf_blocks, unpacked_rtf
from memoranda.core.documents import Converted, NotConverted

LIMITS = Limits()


def bundle(data: bytes, limits: Limits = LIMITS) -> Converted:
    return converter_for("zip", limits).convert(data, "zip", "a.zip")


def refusal(data: bytes, limits: Limits = LIMITS) -> str:
    with pytest.raises(NotConverted) as caught:
        bundle(data, limits)
    return caught.value.kind


def test_chapters_come_in_the_order_of_the_spine() -> None:
    made = convert_epub(
        epub({"b.xhtml": "<h1>第一章</h1><p>猫&nbsp;三岁</p>", "a.xhtml": "<p>二</p>"}), "epub", "a", LIMITS
    )

    assert made.markdown == "Title: 书\n\n# 第一章\n\n猫 三岁\n\n二\n"
    assert made.title == "书"


def test_a_book_under_lock_is_encrypted_and_disguised_fonts_are_no_lock() -> None:
    lock = "<encryption><EncryptedData><EncryptionMethod Algorithm='{}'/></EncryptedData></encryption>"
    font = {"META-INF/encryption.xml": lock.format("http://www.idpf.org/2008/embedding")}
    text = {"META-INF/encryption.xml": lock.format("http://www.w3.org/2001/04/xmlenc#aes256-cbc")}

    assert convert_epub(epub({"a": "<p>x</p>"}, extra=font), "epub", "a", LIMITS).markdown.endswith("x\n")
    with pytest.raises(NotConverted) as caught:
        convert_epub(epub({"a": "<p>x</p>"}, extra=text), "epub", "a", LIMITS)
    assert caught.value.kind == "encrypted"


def test_an_opendocument_text_has_headings_lists_tables_and_no_deleted_text() -> None:
    content = (
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
        "<text:h text:outline-level='2'>报销</text:h>"
        "<text:p>a<text:s/><text:span>b</text:span><text:line-break/>c</text:p>"
        "<text:list><text:list-item><text:p>one</text:p>"
        "<text:list><text:list-item><text:p>two</text:p></text:list-item>"
        "</text:list></text:list-item></text:list><table:table><table:table-row><table:table-cell><text:p>x</text:p>"
        "</table:table-cell><table:table-cell table:number-columns-repeated='16000'/></table:table-row></table:table>"
    )
    made = convert_opendocument(odt(content), "odt", "a.odt", LIMITS)

    assert made.markdown == "## 报销\n\na b\nc\n\n- one\n    - two\n\n| x |\n| --- |\n"
    assert made.title == "报销"


def test_opendocument_sheets_and_slides_have_markers() -> None:
    rows = (
        "<table:table table:name='价'><table:table-row>"
        "<table:table-cell><text:p>1</text:p></table:table-cell></table:table-row>"
        "<table:table-row table:number-rows-repeated='1000000'/><table:table-row><table:table-cell><text:p>2</text:p>"
        "</table:table-cell></table:table-row></table:table>"
    )
    page = "<draw:page><draw:frame><draw:text-box><text:p>hi</text:p></draw:text-box></draw:frame></draw:page>"

    assert convert_opendocument(odt(rows, "spreadsheet"), "ods", "a", LIMITS).markdown == (
        "<!-- sheet 价 -->\n\n## 价\n\n| 1 |\n| --- |\n\n| 2 |\n| --- |\n"
    )
    assert convert_opendocument(odt(page, "presentation"), "odp", "a", LIMITS).markdown == "<!-- slide 1 -->\n\nhi\n"


def test_an_opendocument_file_with_a_password_is_encrypted() -> None:
    with pytest.raises(NotConverted) as caught:
        convert_opendocument(odt("", manifest="<manifest><encryption-data/></manifest>"), "odt", "a", LIMITS)
    assert caught.value.kind == "encrypted"


def test_rich_text_is_read_in_its_code_page_and_in_unicode() -> None:
    text = rb"{\rtf1\ansi\ansicpg936\uc1{\fonttbl{\f0\fcharset134 x;}{\f1\fcharset0 y;}}{\info{\title no}}"
    text += rb"{\pard\outlinelevel0 Head\par}\f0 \'b1\'a8\'cf\'fa {\f1 caf\'e9} \u28023?\u-10179?\u-8704? \{x\}\par"
    text += rb"{\*\unknown hidden}\trowd a\cell b\cell\row c\cell\row\pard after\par}"

    assert rtf_blocks(text) == "# Head\n\n报销 café 海😀 {x}\n\n| a | b |\n| --- | --- |\n| c |\n\nafter\n"


def test_rich_text_that_is_none_is_refused() -> None:
    with pytest.raises(NotConverted):
        rtf_blocks(b"plain")
    with pytest.raises(NotConverted):
        unpacked_rtf(b"short")


def test_packed_rich_text_is_unpacked() -> None:
    # The example of [MS-OXRTFCP], section 3.1.1.
    packed = bytes.fromhex(
        "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0"
    )

    assert unpacked_rtf(packed) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"


def test_an_archive_is_its_members_under_their_names() -> None:
    made = bundle(
        zipped(
            {
                "中文/a.md": "# 海\n",
                "b.docx": docx("<w:p><w:r><w:t>word</w:t></w:r></w:p>"),
                "c.bin": bytes(range(256)) * 4,
            }
        )
    )

    assert made.markdown == (
        "<!-- file 中文/a.md -->\n\n# 中文/a.md\n\n# 海\n\n<!-- file b.docx -->\n\n# b.docx\n\nword\n"
    )
    assert made.notes == ("c.bin: binary data of an unknown format",)


def test_archives_in_archives_are_read_as_deep_as_is_allowed() -> None:
    nested = zipped({"a.txt": "deep"})
    for at in range(2):
        nested = zipped({f"{at}.zip": nested})

    assert "deep" in bundle(nested).markdown
    assert refusal(zipped({"x.zip": nested})) == "unsafe"


def test_one_unsafe_member_makes_the_archive_unsafe() -> None:
    assert refusal(zipped({"ok.txt": "fine", "x.zip": zipped({"../../escape.txt": "x"})})) == "unsafe"


def test_a_member_whose_parser_fails_is_said_and_the_others_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(rows: object) -> str:
        raise IndexError

    monkeypatch.setattr("memoranda.adapters.converters.structured.table", fail)

    assert bundle(zipped({"a.csv": "x,y", "b.md": "fine"})).notes == ("a.csv: damaged, it cannot be read (IndexError)",)


def test_an_archive_without_documents_says_why() -> None:
    assert refusal(zipped({"a.bin": bytes(range(256)) * 4})) == "unsupported"
    assert refusal(zipped({})) == "empty"
    assert refusal(zipped({"a.txt": "x" * 900}), Limits(markdown=500)) == "too_large"
