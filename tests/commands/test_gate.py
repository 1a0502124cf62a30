"""`concord gate`: passes and fails by the lower end of the interval, and says in one sentence why."""

from pathlib import Path

import pytest

from concord.commands.gate import STATISTICS
from concord.questions import categories
from concord.rating import Criterion
from concord.reports.agreement_report import Options, agreement_report
from concord.reports.coefficient import with_people
from concord.statistics.coefficients import COEFFICIENTS
from concord.store import studies
from concord.store.studies import Study

EXAMPLE = Path(__file__).parents[2] / "data" / "examples" / "ratings.csv"


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
        report = agreement_report(db, name, Options(resamples=200))
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
    assert (failed.exit_code, failed.stdout) == (2, "")
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
    assert done.exit_code == 2
    assert "is not known: 2 items in common, at least 3 are needed" in done.stderr


def test_a_figure_without_an_interval_is_said_with_the_remedy(filled, run):
    done = run(filled, "gate", EXAMPLE, "--min-agreement", "0.6")
    assert done.exit_code == 2
    assert "all resamples have the same value (Cohen's κ with the majority of people 1.000, " in done.stderr
    assert "--judges and --statistic choose another figure" in done.stderr
    assert run(filled, "gate", EXAMPLE, "--min-agreement", "0.6", "--judges", "large_judge").exit_code == 0


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


@pytest.mark.parametrize("name", STATISTICS)
def test_each_statistic_decides(filled, gate, name):
    with filled.read() as db:
        report = agreement_report(db, studies.names(db)[0], Options(resamples=200))
    found = with_people(report, "fluency", ("kind",), [name])[name]
    words = ("--criterion", "fluency", "--judges", "kind", "--statistic", name)
    passed = gate("--min-agreement", found.low - 0.001, *words)
    assert passed.exit_code == 0
    assert f"{COEFFICIENTS[name]} with the " in passed.stdout
    assert f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}], {found.n} items" in passed.stdout
    assert gate("--min-agreement", found.low + 0.001, *words).exit_code == 2


def test_the_statistics_offered_are_those_that_are_computed():
    assert tuple(COEFFICIENTS) == STATISTICS


@pytest.fixture
def of_categories(fresh, run, tmp_path):
    """A study of tones, which a judge names right on 18 of 20 items."""
    with fresh.write() as db:
        studies.create(db, Study("tones", (Criterion("tone", "How?", categories(("warm", "cold", "flat"))),)))
    lines = ["item_id,criterion,rater_type,rater,score"]
    for item in range(20):
        lines += [f"{item},tone,human,{person},{item % 3}" for person in ("Ada", "Ben")]
        lines.append(f"{item},tone,judge,j,{(item + (item > 17)) % 3}")
    file = tmp_path / "tones.csv"
    file.write_text("\n".join(lines))
    assert run(fresh, "import", "ratings", file, "--study", "tones", "--append").exit_code == 0
    return fresh


def test_categories_are_measured_by_kappa(of_categories, run):
    call = ("gate", "--study", "tones", "--resamples", 200, "--min-agreement")
    passed = run(of_categories, *call, 0.3)
    assert (passed.exit_code, passed.stderr) == (0, "")
    assert "j on Tone in the study tones: Cohen's κ with the majority of people 0.8" in passed.stdout
    assert run(of_categories, *call, 0.99).exit_code == 2
    without_order = run(of_categories, *call, -1, "--statistic", "spearman")
    assert without_order.exit_code == 2
    assert "the answers are categories, which have no order" in without_order.stderr


def test_a_mistake_in_the_call_is_no_finding(gate):
    assert gate("--min-agreement", "much").exit_code == 1
