"""The report of a study: it says what the page says, and can be told apart from the report of other data."""

import io
import json
import zipfile
from datetime import date
from html import escape, unescape

import pytest

from concord.errors import StudyError
from concord.exchange import publish
from concord.reports.agreement_report import AgreementReport, Options, agreement_report
from concord.reports.sections import SECTIONS
from concord.store import studies as stored
from concord.store.studies import Study
from concord.table import FORMS, as_csv, as_document
from tests.exchange.round_trip_helpers import carried

FEW = Options(resamples=50)
DAY = date(2026, 3, 1)


def the_study(workspace):
    with workspace.read() as db:
        return stored.names(db)[0]


def made(workspace, options=FEW, day=DAY):
    with workspace.read() as db:
        return publish.report_zip(db, agreement_report(db, the_study(workspace), options), date_made=day)


def files(bundle):
    archive = zipfile.ZipFile(io.BytesIO(bundle))
    return {name.split("/", 1)[1]: archive.read(name).decode() for name in archive.namelist()}


def test_it_holds_what_the_page_shows(filled):
    found = files(made(filled))
    with filled.read() as db:
        shown = agreement_report(db, the_study(filled), FEW)
    about = json.loads(found["about.json"])
    assert about["summary"] == shown.summary != []
    for sentence in (*about["summary"], *about["provenance"], about["ratings_sha256"]):
        assert sentence in unescape(found["report.html"])
    assert found["figures.json"] == shown.document("json")
    for criterion in shown.criteria:
        tables = shown.tables(criterion).values()
        assert len(tables) > 8
        for table in tables:
            assert found[f"tables/{criterion}/{table.name}.csv"] == as_csv(table)
    for sentence in shown.notes:
        assert sentence in unescape(found["report.html"])


def test_no_title_of_a_criterion_is_markup_in_the_report(filled, monkeypatch):
    title = "<img src=x> **fluent**"
    monkeypatch.setattr(AgreementReport, "label", lambda self, criterion: title)
    text = files(made(filled))["report.html"]
    assert escape(title) in text
    assert title not in text


@pytest.mark.parametrize("form", FORMS)
def test_the_command_prints_the_same_report(filled, run, form):
    """Page, command and bundle read one report: the command prints that report's document in any form."""
    options = Options(resamples=20, seed=3)
    call = ("--study", the_study(filled), "--resamples", 20, "--seed", 3, "--format", form)
    done = run(filled, "agreement", *call)
    with filled.read() as db:
        shown = agreement_report(db, the_study(filled), options)
    # A command that it names can be pasted as it stands.
    pasted = f"concord --workspace {filled.path} agreement"
    assert done.stdout.replace(pasted, "concord agreement") == shown.document(form)
    for note in shown.notes:
        assert (f"{note}\n" in done.stderr) == (form == "csv")


def test_every_table_gives_the_same_figures_as_the_overview(filled):
    """The Spearman and the alphas of a criterion are the same Estimates in every table that shows them."""
    with filled.read() as db:
        shown = agreement_report(db, the_study(filled), FEW)
    by_criterion = shown.section("criteria", shown.main)["by_criterion"]
    for criterion, part in shown.agreement.criteria.items():
        tables = shown.tables(criterion)
        for row in part.raters:
            overview = next(r for r in by_criterion.rows if r["rater"] == row.name)
            assert overview[criterion] == row.spearman
        for row in tables["judges"].rows:
            assert row["spearman"] == next(r.spearman for r in part.raters if r.name == row["rater"])
        by_name = {row["coefficient"]: row["value"] for row in tables["people"].rows}
        for metric, alpha in part.alpha.items():
            assert by_name[f"alpha_{metric}"] == alpha


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
            "conversation_id FROM items)"
        ).fetchall()
    assert judges["erratic"]["failed"] == failures > 0
    assert judges["strict"]["failed"] == 0


def test_a_study_without_ratings_is_refused(filled):
    with filled.write() as db:
        stored.create(db, Study("empty", stored.get(db, the_study(filled)).criteria))
    with filled.read() as db, pytest.raises(StudyError, match="no ratings yet"):
        publish.report_zip(db, agreement_report(db, "empty", FEW), date_made=DAY)


def test_the_command_writes_it(filled, run, tmp_path):
    out = tmp_path / "r.zip"
    done = run(filled, "export", "report", "--study", the_study(filled), "--out", out)
    assert done.exit_code == 0, done.output
    about = json.loads(files(out.read_bytes())["about.json"])
    assert about["options"]["resamples"] == Options().resamples


@pytest.mark.parametrize("section", SECTIONS)
def test_the_command_prints_every_section_of_the_report(filled, run, section):
    """A section's tables are those of the report, on the criterion asked for."""
    call = ("--study", the_study(filled), "--resamples", 20, "--format", "json", "--section", section)
    done = run(filled, "agreement", *call, "--criterion", "entertaining")
    with filled.read() as db:
        shown = agreement_report(db, the_study(filled), Options(resamples=20)).section(
            section, "entertaining"
        )
    assert json.loads(done.stdout)["tables"].keys() == shown.keys()
    assert done.stdout == as_document([*shown.values()], "json")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("--section", "alt"), "There is no section “alt”"),
        (("--section", "all", "--criterion", "wit"), "“wit”"),
    ],
)
def test_an_unknown_section_or_criterion_is_named(filled, run, call, said):
    done = run(filled, "agreement", "--study", the_study(filled), *call)
    assert done.exit_code == 1
    assert said in done.stderr
