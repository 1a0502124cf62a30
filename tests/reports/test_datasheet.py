"""The datasheet: facts are those of the store, and what nobody stated is called not stated."""

from __future__ import annotations

import io
import zipfile
from datetime import date

import pytest

from concord.errors import NotFound, StudyError
from concord.exchange import dataset, publish
from concord.reports import datasheet
from concord.reports.agreement_report import Options, agreement_report
from concord.store import exclusions, studies
from concord.table import markdown_text

FEW = Options(resamples=50)


def sheet(workspace) -> str:
    with workspace.read() as db:
        return datasheet.datasheet(db, "first", agreement_report(db, "first", FEW))


def sections(text: str) -> dict[str, str]:
    return dict(part.split("\n", 1) for part in text.split("\n## ")[1:])


def test_every_heading_is_there_and_nothing_is_invented(filled):
    found = sections(sheet(filled))
    assert tuple(found) == datasheet.HEADINGS
    assert sheet(filled).count(datasheet.NOT_STATED) == len(datasheet.ASKED)
    with filled.read() as db:
        units = len(studies.units(db, "first"))
        alpha = agreement_report(db, "first", FEW).agreement.criteria["fluency"].alpha["ordinal"]
    assert f"- {units} units of {units} conversations" in found["Composition"]
    assert "- 4 players" in found["Composition"]
    assert "0 people rated, beside 3 simulated annotators" in found["Annotators"]
    assert f"{alpha.value:.3f}" in found["Agreement"]
    assert "There were no guidelines" in found["Collection process"]


def test_what_is_stated_stands_there_and_can_be_taken_back(filled):
    with filled.write() as db:
        datasheet.state(db, "first", {"payment": "12 GBP <b>an hour</b>", "uses": "This paper."})
        exclusions.exclude(db, "first", "Ada", "Ada fell asleep")
    found = sections(sheet(filled))
    assert markdown_text("12 GBP <b>an hour</b>") in found["Annotators"]
    assert "This paper" in found["Uses"]
    assert (
        markdown_text("1 are left out of the figures by a decision: annotator 1 fell asleep")
        in found["Annotators"]
    )
    assert "Left out: annotator 1" in found["Limits"].replace("\\", "")
    assert "Ada" not in sheet(filled)
    with filled.write() as db:
        datasheet.state(db, "first", {"payment": ""})
        assert datasheet.stated(studies.get(db, "first")) == {"uses": "This paper."}
        with pytest.raises(NotFound, match="paymnt"):
            datasheet.state(db, "first", {"paymnt": "1"})
        with pytest.raises(StudyError, match="characters"):
            datasheet.state(db, "first", {"uses": "x" * 5001})


def test_bundle_and_dataset_hold_it(filled):
    with filled.write() as db:
        datasheet.state(db, "first", {"payment": "Nobody was paid."})
        studies.write_guidelines(db, "first", "Read it.")
    with filled.read() as db:
        report = agreement_report(db, "first", FEW)
        packed = zipfile.ZipFile(io.BytesIO(publish.report_zip(db, report, made=date(2026, 3, 1))))
        files = dataset.folder(db, "first", made=date(2026, 3, 1))
    assert packed.read("first/datasheet.md").decode() == sheet(filled)
    assert packed.read("first/guidelines.md") == files["guidelines.md"] == b"Read it."
    card = files["README.md"].decode()
    assert "\n## Annotators\n" in card
    assert "Nobody was paid" in card
    assert not [name for name in ("Ada", "Ben", "Cleo") if name in card]


def test_by_command_without_any_rating_too(filled, run):
    done = run(filled, "study", "draw", "new", "--n", 4)
    assert done.exit_code == 0, done.output
    said = run(filled, "study", "datasheet", "new", "--say", "payment=Course credit.")
    assert said.exit_code == 0, said.output
    assert "Course credit" in said.output
    assert "Drawn from" in said.output
