"""Messages: headers, one text, attachments by name; sealed ones are said to be."""

from __future__ import annotations

from email.message import EmailMessage

import pytest

from fakes.documents import compound, msg
from memoranda.adapters.converters.limits import Limits
from memoranda.adapters.converters.mail import convert_mail
from memoranda.adapters.converters.outlook import convert_msg
from memoranda.core.documents import NotConverted

LIMITS = Limits()


def mail(data: bytes) -> str:
    return convert_mail(data, "eml", "a.eml", LIMITS).markdown


def refusal(data: bytes) -> str:
    with pytest.raises(NotConverted) as caught:
        mail(data)
    return caught.value.kind


def message(**headers: str) -> EmailMessage:
    made = EmailMessage()
    for name, words in {
        "From": "王芳 <wang@example.com>",
        "To": "li@example.com",
        "Subject": "报销制度",
        **headers,
    }.items():
        made[name] = words
    return made


def test_headers_and_text_in_the_encoding_they_declare() -> None:
    made = message()
    made.set_content("请在十个工作日内提交。", charset="gb18030")

    assert mail(made.as_bytes()) == (
        "# 报销制度\n\n- From: 王芳 <wang@example.com>\n- To: li@example.com\n\n请在十个工作日内提交。\n"
    )


def test_of_two_forms_one_is_taken_and_attachments_are_named() -> None:
    made = message()
    made.set_content("the plain form")
    made.add_alternative("<p>the page form</p>", subtype="html")
    made.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="报销.pdf")

    assert "the plain form" in mail(made.as_bytes())
    assert "page form" not in mail(made.as_bytes())
    assert mail(made.as_bytes()).endswith("Attachments:\n\n- 报销.pdf\n")


def test_a_page_is_read_where_there_is_no_plain_form() -> None:
    made = message()
    made.set_content("<h2>title</h2><p>text</p>", subtype="html")

    assert mail(made.as_bytes()).endswith("## title\n\ntext\n")


def test_a_message_within_a_message_stands_below_it() -> None:
    inner, made = message(Subject="inner"), message(Subject="outer")
    inner.set_content("said before")
    made.set_content("see below")
    made.add_attachment(inner)

    text = mail(made.as_bytes())
    assert text.index("# outer") < text.index("see below") < text.index("## inner") < text.index("said before")


def test_raw_and_broken_headers_are_read_as_well_as_can_be() -> None:
    raw = b"From: a@b\nSubject: =?gbk?B?zeI=?= =?no-such?Q?x?= \xe6\xb5\xb7\n"
    raw += b'Content-Type: text/plain; charset = "UTF-8"x\n\n'

    assert "海" in mail(raw + "玫瑰是红的".encode())
    assert "玫瑰是红的" in mail(raw + "玫瑰是红的".encode())


def test_sealed_messages_are_encrypted() -> None:
    sealed = "-----BEGIN PGP MESSAGE-----\n\nxx\n-----END PGP MESSAGE-----\n"
    whole = message()
    whole.set_content(sealed)

    assert refusal(whole.as_bytes()) == "encrypted"
    assert (
        refusal(b"From: a\nContent-Type: multipart/encrypted; boundary=x\n\n--x\n\nVersion: 1\n--x--\n") == "encrypted"
    )
    assert refusal(b"From: a\nContent-Type: application/pkcs7-mime; name=smime.p7m\n\nxx\n") == "encrypted"


def test_nothing_is_empty() -> None:
    assert refusal(b"\n\n") == "empty"


def test_an_outlook_message_is_read() -> None:
    made = convert_msg(
        msg(
            {"0037": "Ausflug", "0C1A": "王芳", "5D01": "w@example.com", "0E04": "Li", "1000": "去海边\r\n"}, ["图.png"]
        ),
        "msg",
        "a.msg",
        LIMITS,
    )

    assert made.title == "Ausflug"
    assert (
        made.markdown == "# Ausflug\n\n- From: 王芳 <w@example.com>\n- To: Li\n\n去海边\n\nAttachments:\n\n- 图.png\n"
    )


def test_an_outlook_message_whose_text_is_sealed_is_encrypted() -> None:
    with pytest.raises(NotConverted) as caught:
        convert_msg(msg({"0037": "x"}, ["message.pgp"]), "msg", "a.msg", LIMITS)
    assert caught.value.kind == "encrypted"


def test_packed_rich_text_is_the_last_resort() -> None:
    rich = b"{\\rtf1\\ansi only here\\par}"
    packed = (len(rich) + 12).to_bytes(4, "little") + len(rich).to_bytes(4, "little") + b"MELA" + bytes(4) + rich
    streams = {"__properties_version1.0": bytes(32), "__substg1.0_10090102": packed}

    assert convert_msg(compound(streams), "msg", "a.msg", LIMITS).markdown == "only here\n"
