"""`concord gate`: passes and fails by the lower end of the interval, and says in one sentence why."""

import json
import random
from pathlib import Path

import pytest

from concord.codes import Exclusion, GateOutcome
from concord.commands.gate import STATISTICS
from concord.questions import categories
from concord.rating import Criterion
from concord.reports.agreement_report import Options, agreement_report
from concord.reports.coefficient import with_people
from concord.reports.sections import glance_with
from concord.statistics.coefficients import COEFFICIENTS
from concord.statistics.ratings import panel_name
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


def shown_by_check(workspace, criterion, members):
    """The agreement of the glance, which `check` and the page show."""
    with workspace.read() as db:
        (name,) = studies.names(db)
        report = agreement_report(db, name, Options(resamples=200))
    return next(
        row["judge"]
        for row in glance_with(report, criterion, members).rows
        if row["rater"] == panel_name(members)
    )


@pytest.mark.parametrize(
    ("words", "criterion", "members"),
    [
        ((), "final", ("erratic", "kind", "strict")),
        (("--criterion", "fluency", "--judges", "kind"), "fluency", ("kind",)),
        (("--judges", "kind,strict"), "final", ("kind", "strict")),
        (("--judges", "strict,kind"), "final", ("kind", "strict")),
    ],
)
def test_the_lower_end_of_the_interval_decides(filled, gate, words, criterion, members):
    found = shown_by_check(filled, criterion, members)
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


def outcome(run, workspace, file, *words):
    """What a gate of 0.7 says of a file, as values."""
    done = run(workspace, "gate", file, "--min-agreement", 0.7, "--format", "json", *words)
    [one] = json.loads(done.stdout)["outcomes"]
    assert done.exit_code == (0 if one["passed"] else 2)
    return one


def glance(run, workspace, file, *words):
    """The rows of judges and panels of `check`, by name."""
    done = run(workspace, "check", file, "--format", "json", *words)
    return {row["rater"]: row for row in json.loads(done.stdout)["screen"]["glance"]["rows"]}


def table(path, seed, people, judges, n=400, answers=("pass", "fail"), unanswered=0.0):
    """A file of labels: raters with the shares on which they are wrong, at random."""
    rng = random.Random(seed)
    lines = [["id", *people, *judges]]
    for item in range(n):
        truth = rng.choice(answers)
        cells = []
        for name, share in (people | judges).items():
            wrong = rng.choice([answer for answer in answers if answer != truth])
            cells.append(wrong if rng.random() < share else truth)
            if name in judges and rng.random() < unanswered:
                cells[-1] = ""
        lines.append([f"q{item}", *cells])
    path.write_text("\n".join(",".join(line) for line in lines) + "\n")
    return path


ONE, TWO, THREE = {"human": 0.02}, {"human_1": 0.05, "human_2": 0.05}, {f"human_{i}": 0.1 for i in (1, 2, 3)}
JUDGES_OF_TWO = {"judge_a": 0.22, "judge_b": 0.22}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("people", "judges", "options"),
    [
        (ONE, JUDGES_OF_TWO, {}),
        (TWO, JUDGES_OF_TWO, {}),
        (THREE, JUDGES_OF_TWO, {}),
        (ONE, JUDGES_OF_TWO, {"unanswered": 0.1}),
        (ONE, {f"judge_{i}": 0.4 for i in "abcd"}, {}),
        (ONE, {"judge_a": 0.3, "judge_b": 0.3}, {"answers": ("red", "green", "blue")}),
    ],
)
def test_a_panel_that_splits_where_it_errs_does_not_pass(fresh, run, tmp_path, seed, people, judges, options):
    file = table(tmp_path / "labels.csv", seed, people, judges, **options)
    together, rows = outcome(run, fresh, file), glance(run, fresh, file)
    panel = rows[f"Avg({', '.join(judges)})"]
    figure = panel.get("judge") or panel["kappa"]
    assert together["outcome"] == GateOutcome.BELOW
    assert (together["value"], together["ci"]) == (figure["value"], figure["ci"])
    assert together["n"] == panel["n"] == 400 - panel["excluded"]
    assert sum(together["excluded"].values()) == panel["excluded"]
    if not options.get("unanswered"):
        assert together["n"] == 400
    else:
        assert set(together["excluded"]) == {Exclusion.NO_ANSWER}
    for judge in judges:
        alone = outcome(run, fresh, file, "--judges", judge)
        own = rows[judge].get("judge") or rows[judge]["kappa"]
        assert (alone["value"], alone["n"]) == (own["value"], rows[judge]["n"])


def test_the_table_of_the_readme_has_one_kappa(fresh, run):
    panel = glance(run, fresh, EXAMPLE)["Avg(large_judge, small_judge)"]
    together = outcome(run, fresh, EXAMPLE)
    assert (together["value"], together["n"]) == (panel["judge"]["value"], 160)
    assert round(together["value"], 2) == 0.71
    # Named, the statistic compares with the majority, and says on how many items there is none.
    majority = outcome(run, fresh, EXAMPLE, "--statistic", "kappa")
    assert (majority["n"], majority["excluded"]) == (142, {Exclusion.ANNOTATORS_TIE: 18})
    assert majority["value"] == panel["kappa"]["value"]


def test_the_library_and_the_fixture_have_the_same_kappa(fresh, run, tmp_path, concord_check):
    file = table(tmp_path / "labels.csv", 1, ONE, JUDGES_OF_TWO)
    together, checked = outcome(run, fresh, file), concord_check(file)
    figure = checked[checked.report.main].panels["a + b"]["kappa"]
    assert (figure.value, list(figure.interval), figure.n) == (together["value"], together["ci"], 400)
    with pytest.raises(AssertionError, match="the lower end is below"):
        checked.agrees(at_least=0.7)
    checked.agrees(at_least=together["ci"][0] - 0.001)


def test_scores_of_a_file_have_one_rho(fresh, run, tmp_path):
    scale = tuple("12345")
    file = table(tmp_path / "labels.csv", 5, TWO, JUDGES_OF_TWO, answers=scale)
    panel = glance(run, fresh, file)["Avg(judge_a, judge_b)"]
    assert outcome(run, fresh, file)["value"] == panel["judge"]["value"]


def test_an_agreement_that_is_not_known_does_not_pass(filled, run, tmp_path):
    csv = tmp_path / "few.csv"
    rows = [
        f"{item},care,{kind},{rater},{item}"
        for item in (1, 2)
        for kind, rater in (("human", "a"), ("judge", "j"))
    ]
    csv.write_text("item_id,criterion,rater_type,rater,score\n" + "\n".join(rows) + "\n")
    assert run(filled, "import", "ratings", csv, "--study", "few").exit_code == 0
    done = run(filled, "gate", "--study", "few", "--min-agreement", "-1", "--format", "json")
    assert done.exit_code == 2
    (outcome,) = json.loads(done.stdout)["outcomes"]
    assert (outcome["outcome"], outcome["n"]) == (GateOutcome.UNKNOWN, 2)


def test_equal_answers_pass_by_their_exact_bound(fresh, run, tmp_path):
    """400 of 400 equal: κ is at least 1 − 2 · (1 − .025^(1/400)) = .982."""
    file = table(tmp_path / "labels.csv", 2, {"human": 0.0}, {"judge": 0.0})
    assert run(fresh, "gate", file, "--min-agreement", "0.98").exit_code == 0
    assert run(fresh, "gate", file, "--min-agreement", "0.99").exit_code == 2


def test_a_figure_without_an_interval_is_said_with_the_remedy(fresh, run, tmp_path):
    file = table(tmp_path / "labels.csv", 2, {"human": 0.0}, {"judge": 0.0}, n=6)
    done = run(fresh, "gate", file, "--min-agreement", "0.6")
    assert done.exit_code == 2
    assert "no interval: 6 items are too few, at least 8 are needed" in done.stderr
    assert "--judges and --statistic choose another figure" in done.stderr
    assert outcome(run, fresh, file)["outcome"] == GateOutcome.UNKNOWN
    assert run(fresh, "gate", EXAMPLE, "--min-agreement", "0.6", "--judges", "large_judge").exit_code == 0


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
    assert "j on Tone in the study tones: κ with annotators 0.8" in passed.stdout
    assert run(of_categories, *call, 0.99).exit_code == 2
    without_order = run(of_categories, *call, -1, "--statistic", "spearman")
    assert without_order.exit_code == 2
    assert "the answers are categories, which have no order" in without_order.stderr


def test_a_mistake_in_the_call_is_no_finding(gate):
    assert gate("--min-agreement", "much").exit_code == 1
