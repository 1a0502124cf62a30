"""`concord gate`: passes and fails by the lower end of the interval, and says in one sentence why."""

import pytest

from concord.reports.agreement_report import Options, agreement_report
from concord.store import studies
from concord.workspace import Workspace
from tests.filled import fill


@pytest.fixture
def filled(tmp_path):
    workspace = Workspace.open(tmp_path / "filled")
    with workspace.write() as db:
        fill(db)
    return workspace


@pytest.fixture
def gate(filled, run):
    with filled.read() as db:
        (name,) = studies.names(db)

    def call(*words, study=name):
        return run(filled, "gate", "--study", study, "--resamples", 200, *words)

    return call


def figure(workspace, criterion, members):
    with workspace.read() as db:
        (name,) = studies.names(db)
        report = agreement_report(db, name, Options(resamples=200, panels=(members,) if members[1:] else ()))
        return report.agreement.criteria[criterion].rater(members).spearman


@pytest.mark.parametrize(
    ("words", "criterion", "members"),
    [
        ((), "final", ("erratic", "kind", "strict")),
        (("--criterion", "fluency", "--judges", "kind"), "fluency", ("kind",)),
        (("--judges", "kind,strict"), "final", ("kind", "strict")),
    ],
)
def test_the_lower_end_of_the_interval_decides(filled, gate, words, criterion, members):
    found = figure(filled, criterion, members)
    assert found.low < found.value
    passed = gate("--min-agreement", found.low - 0.001, *words)
    assert (passed.exit_code, passed.stderr) == (0, "")
    assert passed.stdout.startswith("Passed: ")
    assert f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}], {found.n} items" in passed.stdout
    # The value itself would pass: few items must not pass by luck.
    failed = gate("--min-agreement", found.low + 0.001, *words)
    assert (failed.exit_code, failed.stdout) == (1, "")
    assert failed.stderr.startswith("Not passed: ")
    assert len(failed.stderr.splitlines()) == 1


def test_an_agreement_that_is_not_known_does_not_pass(filled, run, tmp_path):
    csv = tmp_path / "few.csv"
    rows = [
        f"{item},care,{kind},{rater},{item}"
        for item in (1, 2)
        for kind, rater in (("human", "a"), ("judge", "j"))
    ]
    csv.write_text("item_id,criterion,rater_type,rater,score\n" + "\n".join(rows) + "\n")
    assert run(filled, "import", "ratings", csv, "--study", "few").exit_code == 0
    done = run(filled, "gate", "--study", "few", "--min-agreement", "-1")
    assert done.exit_code == 1
    assert "is not known: 2 items in common, at least 3 are needed" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--judges", "kid"), "There is no judge “kid”. Did you mean “kind”?"),
        (("--criterion", "fluent"), "There is no criterion “fluent”. Did you mean “fluency”?"),
    ],
)
def test_unknown_names_are_told(gate, words, said):
    done = gate("--min-agreement", 0, *words)
    assert done.exit_code == 1
    assert said in done.output
