"""FED through the whole path, its figures beside an independent computation from the published files."""

import csv
import json
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from scipy import stats

from concord.store import conversations, studies

FED = Path(__file__).parents[3] / "shared" / "data" / "fed"
PEOPLE = FED / "fed_human_annotations.json"
JUDGED = {"coh": "Coherent", "div": "Diverse", "eng": "Likeable", "inf": "Informative", "ovr": "Overall"}
published = pytest.mark.skipif(not FED.exists(), reason=f"the published FED files are not at {FED}")


@published
def test_import_to_agreement(workspace, run, tmp_path):
    done = run(workspace, "import", "conversations", PEOPLE, "--study", "fed")
    assert done.exit_code == 0, done.output
    # 125 dialogues; the lists of the people's file hold 6,720 numbers, the judge's 5 qualities x 5 runs x
    # 125.
    assert "125 new conversations, 6,720 ratings by annotators in the study “fed”" in done.output

    dialogues = json.loads(PEOPLE.read_text())
    runs = json.loads((FED / "fed_gpt4_annotations.json").read_text())
    file = tmp_path / "judge.csv"
    with file.open("w", newline="") as out:
        lines = csv.writer(out)
        lines.writerow(("item_id", "criterion", "rater_type", "rater", "repeat", "score"))
        for name, scores in runs.items():
            short, number = name.split("_")
            for dialogue, score in zip(dialogues, scores, strict=True):
                item = f"{PEOPLE.stem}/{dialogue['dialogue_id']}"
                lines.writerow((item, JUDGED[short], "judge", "gpt-4", int(number) - 1, score))
    done = run(workspace, "import", "ratings", file, "--study", "fed", "--append")
    assert "new: 0 ratings by annotators, 3,125 by judges, all on stored conversations" in done.output

    shown = run(workspace, "agreement", "--study", "fed", "--format", "json", "--resamples", "200")
    assert shown.exit_code == 0, shown.output
    figures = json.loads(shown.stdout)
    for short, quality in JUDGED.items():
        people = [d["annotations"][quality] for d in dialogues]
        mean = [sum(scores) / len(scores) for scores in people]
        judge = [sum(runs[f"{short}_{n}"][i] for n in range(1, 6)) / 5 for i in range(125)]
        table = np.array([scores + [np.nan] * (5 - len(scores)) for scores in people]).T

        part = figures["sections"][quality]
        (own,) = part["judges"]["judges"]["rows"]
        assert own["rater"] == "gpt-4"
        assert own["spearman"]["value"] == pytest.approx(stats.spearmanr(judge, mean).statistic, abs=1e-9)
        assert own["p"]["value"] == pytest.approx(stats.spearmanr(judge, mean).pvalue, rel=1e-6)
        assert own["kendall"]["value"] == pytest.approx(stats.kendalltau(judge, mean).statistic, abs=1e-9)
        assert own["pearson"]["value"] == pytest.approx(stats.pearsonr(judge, mean).statistic, abs=1e-9)
        assert own["n"] == 125
        for metric, alpha in zip(("ordinal", "interval"), part["people"]["people"]["rows"], strict=False):
            expected = krippendorff.alpha(reliability_data=table, level_of_measurement=metric)
            assert alpha["value"]["value"] == pytest.approx(expected, abs=1e-9)
        # Positions are not persons: no figure may set one beside another.
        assert part["people"].keys() == {"people"}
    with workspace.read() as db:
        assert conversations.values(db, PEOPLE.stem)["player"] == ["Human", "Meena", "Mitsuku"]


def test_people_known_by_their_position_alone_are_unnamed(workspace, run, tmp_path):
    file = tmp_path / "fed.json"
    said = [{"speaker": "human", "text": "Hi"}, {"speaker": "model", "text": "Hello"}]
    ratings = ({"Coherent": [0, 2, 1], "Overall": [3]}, {"Coherent": [2], "Overall": [4, None]})
    file.write_text(
        json.dumps(
            [
                {"dialogue_id": f"d{n}", "model": "Meena", "dialog": said, "annotations": given}
                for n, given in enumerate(ratings)
            ]
        )
    )
    done = run(workspace, "import", "conversations", file, "--study", "mine")
    assert "6 ratings by annotators in the study “mine”" in done.output
    assert "1 scores are not numbers and are excluded" in done.output
    with workspace.read() as db:
        assert studies.get(db, "mine").anonymous
    out = tmp_path / "out.csv"
    run(workspace, "export", "ratings", "--study", "mine", "--out", out)
    lines = [*csv.DictReader(out.open())]
    assert sorted((line["item_id"], line["criterion"], line["rater"], line["score"]) for line in lines) == [
        ("fed/d0", "Coherent", "position 1", "0.0"),
        ("fed/d0", "Coherent", "position 2", "2.0"),
        ("fed/d0", "Coherent", "position 3", "1.0"),
        ("fed/d0", "Overall", "position 1", "3.0"),
        ("fed/d1", "Coherent", "position 1", "2.0"),
        ("fed/d1", "Overall", "position 1", "4.0"),
    ]
