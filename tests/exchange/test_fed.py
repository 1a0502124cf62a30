"""FED through the whole path, its figures beside an independent computation from the published files."""

import json
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from scipy import stats

from concord.errors import ImportRefused
from concord.exchange import fed, incoming
from concord.reports.agreement_report import Options, report_of
from concord.store import conversations
from concord.studies import studies

FED = Path(__file__).parents[3] / "shared" / "data" / "fed"
published = pytest.mark.skipif(not FED.exists(), reason=f"the published FED files are not at {FED}")


@published
def test_import_to_agreement(workspace, run):
    done = run(workspace, "import", "fed", FED, "--study", "fed")
    assert done.exit_code == 0, done.output
    # 125 dialogues; the lists of the people's file hold 6,720 numbers, the judge's 5 qualities × 5 runs ×
    # 125.
    assert "new: 6,720 ratings by people, 3,125 by judges, 125 units" in done.output

    shown = run(workspace, "agreement", "--study", "fed", "--format", "json", "--resamples", "200")
    assert shown.exit_code == 0, shown.output
    figures = json.loads(shown.stdout)

    dialogues = json.loads((FED / fed.PEOPLE).read_text())
    runs = json.loads((FED / fed.JUDGE).read_text())
    for short, quality in fed.JUDGED.items():
        people = [d["annotations"][quality] for d in dialogues]
        mean = [sum(scores) / len(scores) for scores in people]
        judge = [sum(runs[f"{short}_{n}"][i] for n in range(1, 6)) / 5 for i in range(125)]
        table = np.array([scores + [np.nan] * (5 - len(scores)) for scores in people]).T

        part = figures["criteria"][quality]
        (row,) = part["judges"]
        assert row["rater"] == "gpt-4"
        assert row["spearman"] == pytest.approx(stats.spearmanr(judge, mean).statistic, abs=1e-9)
        assert row["p"] == pytest.approx(stats.spearmanr(judge, mean).pvalue, rel=1e-6)
        assert row["kendall"] == pytest.approx(stats.kendalltau(judge, mean).statistic, abs=1e-9)
        assert row["pearson"] == pytest.approx(stats.pearsonr(judge, mean).statistic, abs=1e-9)
        assert row["n"] == 125
        for metric in ("ordinal", "interval"):
            expected = krippendorff.alpha(reliability_data=table, level_of_measurement=metric)
            assert part["humans"]["alpha"][metric]["value"] == pytest.approx(expected, abs=1e-9)
        # Positions are not persons: no figure may set one beside another.
        assert part["humans"]["pairs"] == []
        assert part["humans"]["each"] == []
        assert part["humans"]["reason"]


@published
def test_final_is_the_mean_of_what_both_rated_on_one_scale(workspace):
    with workspace.write() as db:
        incoming.store(db, fed.read(FED))
        ratings = studies.ratings_for_agreement(db, "fed")
    # People answer these from 0 to 2; Overall, from 0 to 4, would decide their mean.
    assert ratings.counted == ("Coherent", "Diverse", "Likeable", "Informative")


@published
def test_single_runs_are_judges_of_their_own_and_no_panel(workspace):
    with workspace.write() as db:
        incoming.store(db, fed.read(FED))
        ratings = studies.ratings_for_agreement(db, "fed", runs="single")
    assert ratings.judges == tuple(f"gpt-4 #{n}" for n in range(1, 6))
    part = report_of(ratings, Options(resamples=20)).agreement.criteria["Overall"]
    dialogues, runs = json.loads((FED / fed.PEOPLE).read_text()), json.loads((FED / fed.JUDGE).read_text())
    mean = [np.mean(d["annotations"]["Overall"]) for d in dialogues]
    for number, row in enumerate(part.judges, 1):
        assert row.spearman.value == pytest.approx(
            stats.spearmanr(runs[f"ovr_{number}"], mean).statistic, abs=1e-9
        )
    assert part.panels == ()


@published
def test_dialogues_can_be_browsed(workspace):
    with workspace.write() as db:
        incoming.store(db, fed.read(FED))
        systems = conversations.values(db, "fed")["player"]
        first = conversations.load(db, "fed/fed-dial_00000")
    assert systems == ["Human", "Meena", "Mitsuku"]
    assert [m.role for m in first.messages[:2]] == ["user", "assistant"]


def published_like(folder, dialogues=2):
    """Two files of the published form, small."""
    people = [
        {
            "dialogue_id": f"d{n}",
            "model": "Meena",
            "dialog": [{"speaker": "human", "text": "Hi"}, {"speaker": "model", "text": f"Hello {n}"}],
            "annotations": {"Coherent": [n % 3, 2], "Overall": [3]},
        }
        for n in range(dialogues)
    ]
    judge = {f"{short}_{run}": [3.0] * dialogues for short in fed.JUDGED for run in range(1, 6)}
    write(folder, people, judge)
    return people, judge


def write(folder, people, judge):
    (folder / fed.PEOPLE).write_text(json.dumps(people))
    (folder / fed.JUDGE).write_text(json.dumps(judge))


def test_the_same_file_twice_is_refused(workspace, run, tmp_path):
    published_like(tmp_path)
    assert run(workspace, "import", "fed", tmp_path).exit_code == 0
    again = run(workspace, "import", "fed", tmp_path)
    assert again.exit_code == 1
    assert "There is a study “fed” with ratings already" in again.output


def test_under_another_name_the_dialogues_and_the_judge_are_shared(workspace, run, tmp_path):
    published_like(tmp_path)
    run(workspace, "import", "fed", tmp_path)
    again = run(workspace, "import", "fed", tmp_path, "--study", "again")
    assert again.exit_code == 0, again.output
    assert (
        "0 by judges, 2 units, all on conversations that were here. 50 ratings were here already."
        in again.output
    )  # 5 qualities × 5 runs × 2
    with workspace.read() as db:
        assert len(studies.ratings_for_agreement(db, "again").table) == 2 * 3 + 2 * 5  # people; mean of runs


def no_text(people, judge):
    del people[1]["dialog"][0]["text"]


def other_speaker(people, judge):
    people[0]["dialog"][0]["speaker"] = "dog"


def no_model(people, judge):
    del people[0]["model"]


def off_scale(people, judge):
    people[0]["annotations"]["Coherent"] = [3]


def a_word(people, judge):
    people[0]["annotations"]["Coherent"] = ["good"]


def unknown_quality(people, judge):
    people[0]["annotations"]["Charm"] = [1]


def twice(people, judge):
    people[1]["dialogue_id"] = "d0"


def short_run(people, judge):
    judge["coh_3"].pop()


def judge_word(people, judge):
    judge["coh_3"][1] = None


def missing_run(people, judge):
    del judge["ovr_5"]


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (no_text, "dialogue 2 (d1), utterance 1"),
        (other_speaker, "dialogue 1 (d0), utterance 1"),
        (no_model, "Dialogue 1 of"),
        (off_scale, "“Coherent” with 3; the scale is 0, 1, 2"),
        (a_word, "with 'good'"),
        (unknown_quality, "“Charm”"),
        (twice, "“fed/d0” twice"),
        (short_run, "1 ratings as “coh_3” for 2 dialogues"),
        (judge_word, "as “coh_3” with None"),
        (missing_run, "coh_1 … ovr_5"),
    ],
)
def test_a_broken_file_is_refused_with_its_place(tmp_path, broken, sentence):
    people, judge = published_like(tmp_path)
    broken(people, judge)
    write(tmp_path, people, judge)
    with pytest.raises(ImportRefused, match=None) as refused:
        fed.read(tmp_path)
    assert sentence in str(refused.value)


def test_missing_and_malformed_files_are_refused(workspace, run, tmp_path):
    gone = run(workspace, "import", "fed", tmp_path)
    assert gone.exit_code == 1
    assert "Name the folder that holds" in gone.output
    published_like(tmp_path)
    (tmp_path / fed.JUDGE).write_text('{"coh_1": [1,\n oops')
    bad = run(workspace, "import", "fed", tmp_path)
    assert bad.exit_code == 1
    assert "line 2" in bad.output
    with workspace.read() as db:
        assert conversations.count(db) == 0
