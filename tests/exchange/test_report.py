"""The report of a study: it says what the page says, and can be told apart from the report of other data."""

import io
import json
import zipfile
from datetime import date

import pandas as pd
import pytest

from core.errors import NotFound, StudyError
from core.reports import agreement_report
from core.reports import bundle as report
from core.reports.agreement_report import Options
from core.reports.summary import answer
from core.store import studies as stored
from core.store.studies import Study
from core.workspace import Workspace
from tests.exchange.test_round_trip import carried
from tests.filled import fill

FEW = Options(resamples=50)
DAY = date(2026, 3, 1)


@pytest.fixture
def filled(tmp_path):
    workspace = Workspace.open(tmp_path / "filled")
    with workspace.write() as db:
        fill(db)
    return workspace


def the_study(workspace):
    with workspace.read() as db:
        return stored.names(db)[0]


def made(workspace, options=FEW, day=DAY):
    with workspace.read() as db:
        return report.bundle(db, the_study(workspace), options, made=day)


def files(bundle):
    archive = zipfile.ZipFile(io.BytesIO(bundle))
    return {name.split("/", 1)[1]: archive.read(name).decode() for name in archive.namelist()}


def test_it_says_what_the_page_says(filled):
    found = files(made(filled))
    with filled.read() as db:
        measured = agreement_report.measure(db, the_study(filled), FEW)
    detail = agreement_report.detail(measured, measured.main)
    about = json.loads(found["about.json"])
    assert about["answer"] == answer(measured, detail) != []
    for sentence in about["answer"]:
        assert f"- {sentence}\n" in found["report.md"]
    assert json.loads(found["figures.json"]) == json.loads(json.dumps(measured.figures))
    table = pd.read_csv(io.StringIO(found["tables/final/judges.csv"]))
    assert table.rater.tolist() == detail.judges.rows.rater.tolist()
    assert table.kendall_low.tolist() == pytest.approx(detail.judges.rows.kendall_low.tolist(), nan_ok=True)


def test_equal_data_and_options_are_equal_bytes(filled):
    assert made(filled) == made(filled)
    assert made(filled) != made(filled, Options(resamples=50, seed=1))


def test_hashes_follow_the_data_and_not_the_workspace(filled, run, fresh, tmp_path):
    """Exported and imported elsewhere a study is the same; one rating taken back makes other ratings of the
    same sample.
    """
    name = the_study(filled)
    carried(run, filled, fresh, name, tmp_path)
    before, after = (json.loads(files(made(at))["about.json"]) for at in (filled, fresh))
    for digest in ("sample_sha256", "ratings_sha256"):
        assert before[digest] == after[digest]
    with filled.write() as db:
        db.execute(
            "DELETE FROM scores WHERE rowid = (SELECT min(rowid) FROM scores WHERE study_id IS NOT NULL)"
        )
    changed = json.loads(files(made(filled))["about.json"])
    assert changed["sample_sha256"] == before["sample_sha256"]
    assert changed["ratings_sha256"] != before["ratings_sha256"]


def test_judges_are_named_with_their_prompts_and_failures(filled):
    about = json.loads(files(made(filled))["about.json"])
    judges = {judge["judge"]: judge for judge in about["judges"]}
    assert {judge["prompt"] for judge in judges.values()} == {"abc123"}
    with filled.read() as db:
        [(failures,)] = db.execute(
            "SELECT count(*) FROM judgements WHERE failure <> '' AND conversation_id IN (SELECT "
            "conversation_id FROM study_units)"
        ).fetchall()
    assert judges["erratic"]["failed"] == failures > 0
    assert judges["strict"]["failed"] == 0


def test_a_panel_with_an_unknown_judge_is_refused(filled):
    with pytest.raises(NotFound, match="nobody"):
        made(filled, Options(resamples=0, panels=(("strict", "nobody"),)))


def test_a_study_without_ratings_is_refused(filled):
    with filled.write() as db:
        stored.create(db, Study("empty", stored.get(db, the_study(filled)).criteria))
    with filled.read() as db, pytest.raises(StudyError, match="no ratings yet"):
        report.bundle(db, "empty", FEW, made=DAY)


def test_the_command_writes_it(filled, run, tmp_path):
    out = tmp_path / "r.zip"
    done = run(
        filled,
        "export",
        "report",
        "--study",
        the_study(filled),
        "--resamples",
        50,
        "--panel",
        "kind, strict",
        "--out",
        out,
    )
    assert done.exit_code == 0, done.output
    assert "the panels kind + strict beside the usual ones" in files(out.read_bytes())["report.md"]
