"""Excel files written by hand, which no spreadsheet program would write."""

import zipfile
from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import escape

NAMESPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def row(number: int, *values: object, at: str = "A", of: str = "", after: str = "") -> str:
    """One row; the first value stands in column `at`, others follow. `of` is the type of all cells."""
    cells = []
    for place, value in enumerate(values):
        kind = of or ("str" if isinstance(value, str) else "n")
        where = f' r="{at}{number}"' if place == 0 else ""
        cells.append(f'<c{where} t="{kind}"><v>{escape(str(value))}</v></c>')
    return f'<row r="{number}">{"".join(cells)}{after}</row>'


def workbook(
    path: Path,
    rows: Iterable[str],
    *,
    texts: Iterable[str] = (),
    before: str = "",
    after: str = "",
    times: int = 1,
    dimension: str = '<dimension ref="A1"/>',
) -> Path:
    """A workbook of one sheet, named `times`; `before` and `after` stand around what the sheet holds."""
    override = '<Override PartName="/xl/{}" ContentType="' + TYPE + '.{}+xml"/>'
    names = {"workbook.xml": "sheet.main", "sheet.xml": "worksheet", "texts.xml": "sharedStrings"}
    types = "".join(override.format(name, kind) for name, kind in names.items())
    listed = "".join(f'<sheet name="s{n}" sheetId="{n + 1}" r:id="r1"/>' for n in range(times))
    to_sheet = f'<Relationship Id="r1" Type="{OFFICE}/worksheet" Target="sheet.xml"/>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", f'<Types xmlns="{PACKAGE}/content-types">{types}</Types>')
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{NAMESPACE}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{PACKAGE}/relationships">{to_sheet}</Relationships>',
        )
        with archive.open("xl/texts.xml", "w", force_zip64=True) as out:
            out.write(f'<sst xmlns="{NAMESPACE}">'.encode())
            for text in texts:
                out.write(text.encode())
            out.write(b"</sst>")
        with archive.open("xl/sheet.xml", "w", force_zip64=True) as out:
            out.write(f'{before}<worksheet xmlns="{NAMESPACE}">{dimension}<sheetData>'.encode())
            for text in rows:
                out.write(text.encode())
            out.write((after or "</sheetData>").encode())
            out.write(b"</mergeCells></worksheet>" if "<mergeCells>" in after else b"</worksheet>")
    return path
