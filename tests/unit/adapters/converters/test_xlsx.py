"""Workbooks."""

from __future__ import annotations

import pytest

from fakes.documents import xlsx
from memoranda.adapters.converters.limits import Limits
from memoranda.adapters.converters.xlsx import convert_xlsx
from memoranda.adapters.converters.xlsx_cells import column_of, shown_number
from memoranda.core.documents import Converted, NotConverted

STYLES = (
    '<numFmts><numFmt numFmtId="170" formatCode="yyyy\\年m\\月"/>'
    '<numFmt numFmtId="171" formatCode="&quot;d&quot;0[Red]"/>'
    '</numFmts><cellXfs><xf numFmtId="0"/>'
    '<xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="171"/><xf numFmtId="10"/></cellXfs>'
)


def made(**sheets: str) -> Converted:
    return convert_xlsx(
        xlsx(sheets, styles=STYLES, strings=["<t>王芳</t>", "<r><t>a</t></r><r><t>b</t></r>"]), "xlsx", "a", Limits()
    )


def test_each_sheet_stands_under_its_marker() -> None:
    row = '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row>'
    row += '<row r="2"><c r="C2"><v>7</v></c></row>'
    found = made(员工=row, 空="", Two='<row><c t="inlineStr"><is><t>x</t></is></c></row>')

    assert found.markdown == (
        "<!-- sheet 员工 -->\n\n## 员工\n\n| 王芳 | ab"
        " |\n| --- | --- |\n|  | 7 |\n\n<!-- sheet Two -->\n\n## Two\n\n| x |\n| --- |\n"
    )
    assert found.notes == ("empty sheets: 空",)


def test_rows_with_a_gap_between_them_are_tables_of_their_own() -> None:
    rows = '<row r="1"><c r="A1"><v>1</v></c></row><row r="4"><c r="A4"><v>2</v></c></row>'

    assert made(a=rows).markdown.endswith("| 1 |\n| --- |\n\n| 2 |\n| --- |\n")


def test_values_are_shown_as_the_workbook_shows_them() -> None:
    cells = (
        '<c s="1"><v>33069</v></c><c s="2"><v>45292</v></c><c s="3"><v>3</v></c><c s="4"><v>0.125</v></c>'
        '<c t="b"><v>1</v></c><c t="e"><v>#N/A</v></c><c t="str"><f>A1</f><v>text</v></c>'
        "<c><f>2024-1988</f></c><c><v>0.30000000000000004</v></c>"
    )

    assert (
        "| 1990-07-15 | 2024-01-01 | 3 | 12.5% | TRUE | #N/A | text | =2024-1988 | 0.3 |"
        in made(a=f"<row>{cells}</row>").markdown
    )


@pytest.mark.parametrize(
    ("number", "kind", "from_1904", "shown"),
    [
        ("1", "date", False, "1900-01-01"),
        ("61", "date", False, "1900-03-01"),
        ("0", "date", True, "1904-01-01"),
        ("0.75", "time", False, "18:00"),
        ("45292.5", "datetime", False, "2024-01-01 12:00"),
        ("1e300", "date", False, "1e300"),
        ("nan", "date", False, "nan"),
        ("12345678901234567890", "", False, "12345678901234567890"),
        ("1E3", "", False, "1000"),
        ("x", "date", False, "x"),
    ],
)
def test_numbers_that_are_moments(number: str, kind: str, from_1904: bool, shown: str) -> None:
    assert shown_number(number, kind, from_1904) == shown


def test_columns_have_letters() -> None:
    assert [column_of(one) for one in ("A1", "Z9", "AA1", "XFD1", "", "1")] == [0, 25, 26, 16383, -1, -1]


@pytest.mark.parametrize(
    ("rows", "kind"), [("", "empty"), ('<row><c r="ZZZZ1"><v>1</v></c></row>', "corrupt"), ("<row>", "corrupt")]
)
def test_a_workbook_without_cells_or_sense_is_refused(rows: str, kind: str) -> None:
    with pytest.raises(NotConverted) as caught:
        made(a=rows)
    assert caught.value.kind == kind
