"""Figures beside the database: what is read is what would be computed, and never of other ratings."""

from __future__ import annotations

import json
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from click.testing import CliRunner
from sqlite_utils import Database

from concord.cli import main
from concord.conversation import Unit
from concord.rating import Judgement, Rater, Rating
from concord.reports import evidence, figure_cache, sections
from concord.reports.agreement_report import AgreementReport, Options, agreement_report
from concord.reports.figure_cache import from_json, stamp, to_json
from concord.store import access, exclusions, figures, looks, placements, ratings, studies
from concord.store.figures import StoredFigures
from concord.workspace import Workspace

FEW = Options(resamples=20)
STUDIES = ("demo-v1", "stss-check", "support")
SEVERITY = ("raters", "final")


def report_of(workspace: Workspace, study: str = "first", options: Options = FEW) -> AgreementReport:
    with workspace.read() as db:
        return agreement_report(db, study, options, workspace.figures_path)


def computed(workspace: Workspace, study: str = "first") -> AgreementReport:
    with workspace.read() as db:
        return agreement_report(db, study, FEW)


def same(one: Any, other: Any) -> None:
    """Equal values of the same classes, all the way down; what equality leaves out is compared as well."""
    if isinstance(one, float):
        assert isinstance(other, float)
        assert one == other
        return
    assert type(one) is type(other)
    if is_dataclass(one):
        same(*([getattr(each, field.name) for field in fields(one)] for each in (one, other)))
    elif isinstance(one, dict):
        assert [*one] == [*other]
        same([*one.values()], [*other.values()])
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for pair in zip(one, other, strict=True):
            same(*pair)
    else:
        assert one == other
        assert getattr(one, "parts", None) == getattr(other, "parts", None)


def values_of(report: AgreementReport) -> list[Any]:
    """Whatever of a report is on the disk for the next process."""
    tables = [report.section(name, report.main) for name in sections.SECTIONS]
    return [report.verdict(), report.limits, report.missing, report.agreement, tables]


@pytest.mark.parametrize("study", STUDIES)
def test_stored_figures_are_those_that_are_computed(
    demo_workspace: Workspace, study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = values_of(computed(demo_workspace, study))
    same(values_of(report_of(demo_workspace, study)), expected)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr(evidence, "study_agreement", refuse)
    for name, section in sections.SECTIONS.items():
        monkeypatch.setitem(sections.SECTIONS, name, section.__class__(**{**vars(section), "tables": refuse}))
    same(values_of(report_of(demo_workspace, study)), expected)


def answer(db: Database) -> None:
    """Ada says something else of one item."""
    rater = access.annotator_id(db, "Ada")
    sql = "SELECT id FROM placements WHERE rater_id = ? AND state = 'done' LIMIT 1"
    (placement,) = db.execute(sql, [rater]).fetchone()
    sql = "SELECT question, value FROM answers WHERE placement_id = ? AND superseded_at IS NULL LIMIT 1"
    criterion, score = db.execute(sql, [placement]).fetchone()
    placements.reopen(db, rater, placement)
    placements.answer(db, rater, placement, criterion, 1.0 if score > 3 else 5.0)
    placements.submit(db, rater, placement)


def judge(db: Database) -> None:
    """A judge rates one item."""
    study = studies.get(db, "first")
    key = studies.units(db, "first")[0]["key"]
    scores = tuple(Rating(Unit(key, 1), criterion.name, 3.0) for criterion in study.criteria)
    ratings.save_judgement(db, Judgement("new", key, Rater("new", "judge"), scores))


CHANGES = {
    "an answer": answer,
    "a judgement": judge,
    "an exclusion": lambda db: exclusions.exclude(db, "first", "Ben", "asleep"),
    "a name": lambda db: access.forget(db, "Cleo", "asked by e-mail"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_figures_of_other_ratings_are_not_found(filled: Workspace, change: str) -> None:
    def figures_of(report: AgreementReport) -> list[Any]:
        return [report.section(name, "final") for name in ("judges", "raters")]

    before = figures_of(report_of(filled))
    with filled.write() as db:
        CHANGES[change](db)
    after = figures_of(report_of(filled))
    same(after, figures_of(computed(filled)))
    assert repr(after) != repr(before)


def test_other_options_and_other_code_have_figures_of_their_own(
    filled: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = report_of(filled)
    report.section(*SEVERITY)
    assert SEVERITY in report_of(filled).table_cache
    assert SEVERITY not in report_of(filled, options=Options(resamples=21)).table_cache
    monkeypatch.setattr(figure_cache, "_code", lambda: b"another version")
    assert SEVERITY not in report_of(filled).table_cache


def test_only_a_further_look_has_other_figures(
    filled: Workspace,
) -> None:
    report = report_of(filled)
    report.verdict("final")
    with filled.write() as db:
        looks.record(db, "first", "final", report.items("final"), report.verdict("final").verdict)
    assert "final" in report_of(filled).assessment_cache
    with filled.write() as db:
        looks.record(db, "first", "final", report.items("final") - 1, report.verdict("final").verdict)
    assert "final" not in report_of(filled).assessment_cache


def test_a_name_that_is_removed_is_in_no_file(filled: Workspace) -> None:
    report = report_of(filled)
    report.section(*SEVERITY)
    held = filled.figures_path
    ended = CliRunner().invoke(
        main, ["--workspace", str(filled.path), "people", "forget", "Ada", "--reason", "asked"]
    )
    assert ended.exit_code == 0, ended.output
    assert not held.exists()
    report.section("judges", "final")  # of a page that is still open
    assert not held.exists()
    report_of(filled).section(*SEVERITY)
    report.section("bias", "final")
    assert "Ada" not in json.dumps([*texts(report_of(filled)).values()])


def texts(report: AgreementReport) -> dict[str, str]:
    stored = report.table_cache._texts  # type: ignore[attr-defined]
    return {part: stored[part] for part in stored._texts}


def test_the_file_is_its_owners_alone_and_small(filled: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    path = filled.figures_path
    monkeypatch.setattr(figures, "MOST_BYTES", 300)
    for number in range(20):
        StoredFigures(path, f"stamp {number}")["part"] = str(list(range(100)))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with sqlite3.connect(path) as db:
        [(size,)] = db.execute("SELECT sum(length(text)) FROM figures")
    assert 0 < size <= 300
    assert StoredFigures(path, "stamp 19")["part"].startswith("[0, 1")
    with pytest.raises(KeyError):
        StoredFigures(path, "stamp 0")["part"]


@pytest.mark.parametrize("content", [b"", b"no database" * 1000])
def test_a_damaged_file_is_computed_anew(filled: Workspace, content: bytes) -> None:
    report_of(filled).section(*SEVERITY)
    filled.figures_path.write_bytes(content)
    same(report_of(filled).section(*SEVERITY), computed(filled).section(*SEVERITY))
    report_of(filled).section(*SEVERITY)
    assert SEVERITY in report_of(filled).table_cache


@pytest.mark.parametrize("text", ["[", '{"~": "Estimate", "of": []}', '{"~": "eval", "of": ["1"]}'])
def test_a_text_that_is_no_figure_is_computed_anew(filled: Workspace, text: str) -> None:
    report = report_of(filled)
    report.table_cache._texts['["tables", ["raters", "final"]]'] = text  # type: ignore[attr-defined]
    same(report_of(filled).section(*SEVERITY), computed(filled).section(*SEVERITY))


def test_writers_at_once_lose_nothing(filled: Workspace) -> None:
    path = filled.figures_path

    def write(number: int) -> None:
        StoredFigures(path, "one")[f"part {number}"] = str(number)
        StoredFigures(path, "one")["both"] = "the same"

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(40)))
    held = StoredFigures(path, "one")
    assert [held[f"part {number}"] for number in range(40)] == [str(number) for number in range(40)]
    assert held["both"] == "the same"


def test_a_folder_that_cannot_be_written_costs_the_file_only(filled: Workspace) -> None:
    filled.figures_path.mkdir()
    same(report_of(filled).section(*SEVERITY), computed(filled).section(*SEVERITY))


def test_equal_values_have_one_stamp_whichever_objects_they_are() -> None:
    text = "".join(["a", "b"])
    assert stamp([text, text]) == stamp(["".join(["a", "b"]), "".join(["a", "b"])])
    assert stamp([1]) != stamp([1.0]) != stamp(["1"])
    with pytest.raises(TypeError):
        stamp(lambda: 0)
    with pytest.raises(TypeError):
        to_json(object())
    assert from_json(json.loads(json.dumps(to_json({1: ("a", {"~": [None, 0.1]})})))) == {
        1: ("a", {"~": [None, 0.1]})
    }
