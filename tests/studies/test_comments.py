"""Annotators' comments, and every file that holds them."""

import csv
import io
import json
import zipfile
from datetime import date

import pytest
from pyarrow import parquet

from concord.exchange import dataset, publish
from concord.reports.agreement_report import Options, agreement_report
from concord.store import access, exclusions, placements, progress, studies
from concord.store import conversations as stored
from concord.store.conversations import Filter
from concord.studies import studies as making
from concord.workspace import Workspace
from tests.filled import assigned, fill


@pytest.fixture
def commented(workspace: Workspace) -> Workspace:
    """The study “said”, rated by two: of one item Ada quotes a reply; Ben skips it, with HTML."""
    with workspace.write() as db:
        fill(db)
        study = making.draw_study(
            db, "said", making.StudyDraw(6, Filter("pingpong", language="en"), strata=())
        )
        for name in ("ada", "ben"):
            access.invite(db, name)
        making.deal_study(db, "said", ["ada", "ben"])
        for name in ("ada", "ben"):
            rater = access.annotator_id(db, name)
            for item, *_ in assigned(db, rater, "said"):
                for place, criterion in enumerate(study.criteria):
                    placements.answer(db, rater, item, criterion.name, 2.0 + place + (name == "ben"))
                placements.submit(db, rater, item)
        first = studies.units(db, "said")[0]
        words = " ".join(stored.load(db, first["conversation_id"]).replies[0].split()[:2])
        for name, text in (("ada", f"Turn 1: “{words}” odd"), ("ben", "<b>=SUM(A1)</b>")):
            rater = access.annotator_id(db, name)
            [item] = [
                item
                for item, *_ in assigned(db, rater, "said")
                if placements.get(db, rater, item).conversation_id == first["conversation_id"]
            ]
            placements.flag(db, rater, item, text)
        placements.skip(db, rater, item, "broken text")
    return workspace


def of_first(db):
    unit = studies.units(db, "said")[0]
    return unit["key"], unit["conversation_id"]


def test_they_are_a_table_in_every_form(commented, run, tmp_path):
    for form in ("csv", "jsonl", "parquet"):
        out = tmp_path / f"comments.{form}"
        done = run(commented, "export", "comments", "--study", "said", "--format", form, "--out", out)
        assert done.exit_code == 0, done.output
    rows = parquet.read_table(tmp_path / "comments.parquet").to_pylist()
    assert [json.loads(line) for line in (tmp_path / "comments.jsonl").read_text().splitlines()] == rows
    with commented.read() as db:
        key, number = of_first(db)
        first = stored.load(db, number).replies[0]
    ada, ben = rows
    assert (ada["item_id"], ada["rater"], ada["state"], ada["skipped_because"]) == (key, "ada", "done", "")
    assert ada["comment"] == f"Turn 1: “{' '.join(first.split()[:2])}” odd"
    assert (ben["state"], ben["skipped_because"]) == ("skipped", "broken text")
    assert ben["comment"] == "<b>=SUM(A1)</b>"


def test_nothing_said_is_a_sentence(commented, run):
    done = run(commented, "export", "comments", "--study", "nobody")
    assert (done.exit_code, "nobody" in done.output) == (1, True)
    with commented.read() as db:
        other = next(name for name in studies.names(db) if name != "said")
    done = run(commented, "export", "comments", "--study", other)
    assert (done.exit_code, "This study has no comments" in done.output) == (1, True)


def test_ratings_carry_them_and_bring_them_back(commented, run, fresh, tmp_path):
    with commented.read() as db:
        out = io.BytesIO()
        dataset.write(out, *dataset.rating_rows(db, "said"), "csv")
        key, _ = of_first(db)
    rows = list(csv.DictReader(io.StringIO(out.getvalue().decode())))
    said = {(r["item_id"], r["rater"]): r["comment"] for r in rows if r["rater_type"] == "human"}
    assert said.pop((key, "ada")).startswith("Turn 1: “")
    assert set(said.values()) == {""}, "Ben skipped the item that he commented on"
    for what, file in (("conversations", "said.jsonl"), ("ratings", "said.csv")):
        assert run(commented, "export", what, "--study", "said", "--out", tmp_path / file).exit_code == 0
    for what, more in (("conversations", ()), ("ratings", ("--study", "said"))):
        file = tmp_path / ("said.jsonl" if what == "conversations" else "said.csv")
        done = run(fresh, "import", what, file, *more)
        assert done.exit_code == 0, done.output
    with fresh.read() as db:
        again = io.BytesIO()
        dataset.write(again, *dataset.rating_rows(db, "said"), "csv")
    theirs = {
        (r["item_id"], r["rater"]): r["comment"]
        for r in csv.DictReader(io.StringIO(again.getvalue().decode()))
        if r["comment"]
    }
    assert {pair: text[:8] for pair, text in theirs.items()} == {(key, "ada"): "Turn 1: "}


def test_the_dataset_numbers_who_said_it_and_the_report_has_it(commented):
    with commented.read() as db:
        files = dataset.folder(db, "said", date_made=date(2026, 1, 1))
        report = agreement_report(db, "said", Options(resamples=0))
        archive = zipfile.ZipFile(io.BytesIO(publish.report_zip(db, report, date_made=date(2026, 1, 1))))
    rows = parquet.read_table(io.BytesIO(files["data/comments.parquet"])).to_pylist()
    rated = parquet.read_table(io.BytesIO(files["data/ratings.parquet"])).to_pylist()
    [ada] = [row for row in rows if row["comment"].startswith("Turn 1")]
    assert {r["rater"] for r in rated if r["comment"]} == {ada["rater"]}
    assert {row["rater"] for row in rows} == {"annotator 1", "annotator 2"}
    [name] = [name for name in archive.namelist() if name.endswith("/comments.csv")]
    kept = list(csv.DictReader(io.StringIO(archive.read(name).decode())))
    assert [row["rater"] for row in kept] == ["ada", "ben"]


def test_those_who_are_left_out_are_there_on_request(commented):
    with commented.write() as db:
        exclusions.exclude(db, "said", "ada", "too quick")
        assert [one.annotator for one in progress.remarks(db, "said")] == ["ben"]
        assert [one.annotator for one in progress.remarks(db, "said", with_excluded=True)] == ["ada", "ben"]
