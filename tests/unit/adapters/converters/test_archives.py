"""Archives and XML of strangers are bounded before they are unpacked."""

from __future__ import annotations

import zipfile

import pytest

from fakes.documents import docx, zipped
from memoranda.adapters.converters import archives
from memoranda.adapters.converters.archives import Archive, parse_xml, read_xml_stream
from memoranda.adapters.converters.docx import convert_docx
from memoranda.adapters.converters.limits import Limits
from memoranda.core.documents import NotConverted

LIMITS = Limits(expanded=8 << 20, ratio=100)
BOMB = (
    '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + at)} "{f"&{chr(97 + at)};" * 10}">' for at in range(9))
    + "]><l>&j;</l>"
)


def kind_of(data: bytes, limits: Limits = LIMITS) -> str:
    with pytest.raises(NotConverted) as caught:
        Archive(data, limits)
    return caught.value.kind


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/x", "C:\\x", "c:x", "\\\\host\\x", "..\\x"])
def test_names_that_lead_out_are_unsafe(name: str) -> None:
    assert kind_of(zipped({"ok.txt": "x", name: "x"})) == "unsafe"


def test_names_with_dots_in_them_are_not() -> None:
    assert Archive(zipped({"a..b/.c/...": "x"}), LIMITS).names == ["a..b/.c/..."]


def test_links_are_unsafe() -> None:
    link = zipfile.ZipInfo("link")
    link.create_system, link.external_attr = 3, 0o120777 << 16

    assert kind_of(zipped({link: "/etc/passwd"})) == "unsafe"  # type: ignore[dict-item]


def test_more_than_may_be_unpacked_is_unsafe_before_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kind_of(zipped({str(at): bytes(1 << 20) for at in range(9)}, zipfile.ZIP_STORED)) == "unsafe"
    monkeypatch.setattr(archives, "_SMALL", 1000)
    assert kind_of(zipped({"a": bytes(1 << 20)})) == "unsafe"
    assert kind_of(zipped({str(at): "x" for at in range(20)}), Limits(members=19)) == "unsafe"


def test_a_member_that_is_longer_than_it_said_is_cut_short() -> None:
    data = bytearray(zipped({"a": b"x" * 5000}, zipfile.ZIP_STORED))
    at = data.rindex(b"PK\x01\x02")
    data[at + 20 : at + 28] = (100).to_bytes(4, "little") * 2
    with pytest.raises(NotConverted):
        Archive(bytes(data), LIMITS).read("a")


def test_what_is_read_counts_together() -> None:
    archive = Archive(zipped({"a": bytes(5 << 20), "b": b"x"}, zipfile.ZIP_STORED), LIMITS)
    archive.read("a")

    with pytest.raises(NotConverted) as caught:
        archive.read("a")
    assert caught.value.kind == "unsafe"


def test_names_are_found_in_other_cases() -> None:
    assert Archive(zipped({"Word/Document.XML": "x"}), LIMITS).read("word/document.xml") == b"x"


@pytest.mark.parametrize(
    "text",
    [BOMB, '<!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/passwd">]><l>&a;</l>', '<!DOCTYPE l [<!ENTITY % a "x">]><l/>'],
    ids=["billion laughs", "external", "parameter"],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused_in_any_encoding(text: str, encoding: str) -> None:
    for read in (parse_xml, lambda data: list(read_xml_stream(data, "l"))):
        with pytest.raises(NotConverted) as caught:
            read(text.replace('<?xml version="1.0"?>', "").encode(encoding))
        assert caught.value.kind == "unsafe"


def test_a_document_type_without_entities_is_none_of_that() -> None:
    assert parse_xml(b'<!DOCTYPE l PUBLIC "x" "y"><l>a</l>').text == "a"


def test_a_bomb_within_a_document_is_refused() -> None:
    with pytest.raises(NotConverted) as caught:
        convert_docx(docx("<w:p/>", styles=BOMB.partition("]>")[2]), "docx", "a.docx", LIMITS)
    assert caught.value.kind == "empty"
    laughing = zipped({"[Content_Types].xml": "<a/>", "word/document.xml": BOMB})
    with pytest.raises(NotConverted) as caught:
        convert_docx(laughing, "docx", "a.docx", LIMITS)
    assert caught.value.kind == "unsafe"


def test_names_lose_their_namespaces_and_relations_keep_theirs() -> None:
    root = parse_xml(b'<a:x xmlns:a="urn:a" xmlns:r="http://x/relationships" a:id="1" r:id="2"><a:y/></a:x>')

    assert (root.tag, root.attrib, root[0].tag) == ("x", {"id": "1", "r:id": "2"}, "y")


def test_a_stream_gives_elements_one_by_one_and_says_where_it_breaks() -> None:
    found = read_xml_stream(b"<a><b>1</b><b>2</b><b>", "b")

    assert [next(found).text, next(found).text] == ["1", "2"]
    with pytest.raises(NotConverted):
        next(found)
