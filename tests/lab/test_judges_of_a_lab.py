"""The judges of a lab count in the figures of its study, such as one of imported ratings."""

from concord.lab import parts
from concord.reports.agreement_report import Options, agreement_report
from concord.rubrics import rubric_store
from concord.store import rubrics, studies
from concord.workspace import Workspace
from tests.mock import lab as mock


def test_agreement_finds_the_judges_of_the_lab(tmp_path):
    workspace = Workspace.open(tmp_path / "w")
    mock.made(workspace)
    first = rubric_store.find(workspace, mock.RUBRIC)
    with workspace.write() as db:
        db.execute("UPDATE studies SET rubric = ''")
        mock.answer(db, first, [unit["key"] for unit in studies.units(db, mock.STUDY)])
        report = agreement_report(db, mock.STUDY, options=Options(resamples=20))
        assert any("No judge has rated" in sentence for sentence in report.missing)
        divided = parts.divide(db, mock.STUDY, rubric=mock.RUBRIC)
        report = agreement_report(db, mock.STUDY, options=Options(resamples=20))
        assert list(report.ratings.judges) == ["mock-judge"]
        assert not report.missing
        second = mock.variant(db, divided, first, mock.CURE)
        mock.answer(db, second, divided.keys("develop"))
        report = agreement_report(db, mock.STUDY, options=Options(resamples=20))
        [partial] = report.partial
        command = f"concord judge {mock.RUBRIC} --version 2 --judges mock-judge --study {mock.STUDY}"
        assert command in partial.sentence(report.data.study)


def test_other_judges_are_those_of_neither_rubric(tmp_path):
    workspace = Workspace.open(tmp_path / "w")
    mock.made(workspace)
    first = rubric_store.find(workspace, mock.RUBRIC)
    with workspace.write() as db:
        mock.answer(db, first, [unit["key"] for unit in studies.units(db, mock.STUDY)][:3])
        assert rubrics.other_judges(db, ("", mock.RUBRIC)) == []
        assert rubrics.other_judges(db, (mock.RUBRIC,)) == []
        assert len(rubrics.other_judges(db, ("",))) == 1
