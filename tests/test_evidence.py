"""docs/evidence.md: what is computed from a folder of data sets, and how it is put into the page."""

import json
import random
import re
from pathlib import Path

import pytest

from bench import evidence
from concord.codes import Verdict

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"


@pytest.fixture
def rows(tmp_path):
    """Three annotators who agree on four of five items, a model that does too, and one that flips coins."""
    rng = random.Random(3)
    truth = {f"i{n}": rng.choice(("yes", "no")) for n in range(300)}

    def noisy(share):
        return {i: a if rng.random() > share else rng.choice(("yes", "no")) for i, a in truth.items()}

    people = {name: noisy(0.2) for name in ("ann", "ben", "cleo")}
    models = {"careful": noisy(0.1), "coin": noisy(1.0)}
    (tmp_path / "human_annotations.json").write_text(json.dumps(people))
    (tmp_path / "llm_annotations.json").write_text(json.dumps(models))
    return [*evidence.rows_of("made", evidence.measured(evidence.ratings(tmp_path)))]


def test_each_judge_and_the_panel_has_a_row(rows):
    by_judge = {row.judge: row for row in rows}
    assert by_judge["careful"].verdict is Verdict.AS_GOOD
    assert by_judge["coin"].verdict is Verdict.WORSE
    assert {row.coefficient for row in rows} == {"κ"}
    assert {row.annotators for row in rows} == {3}
    assert len(rows) == 3


def test_figures_stand_between_the_marks_and_nothing_else_changes(rows):
    page = (ROOT / "docs" / "evidence.md").read_text(encoding="utf-8")
    written = evidence.with_figures(page, rows)
    assert evidence.with_figures(written, rows) == written
    assert written.split(evidence.MARKS[0])[0] == page.split(evidence.MARKS[0])[0]
    assert written.split(evidence.MARKS[1])[1] == page.split(evidence.MARKS[1])[1]
    assert "Of 3 judges and panels" in written
    assert written.count("| made | ") == 3


def test_the_picture_has_a_mark_for_each_row(rows):
    assert evidence.picture(rows).count("<circle") == len(rows) + len(evidence.COLOURS)


def test_fed_has_unnamed_annotators_and_the_mean_of_five_runs(tmp_path):
    dialogues = [
        {"dialogue_id": f"d{n}", "annotations": {name: [n % 3, 2] for name in evidence.FED_CRITERIA.values()}}
        for n in range(4)
    ]
    runs = {f"{short}_{run}": [run, 1, 1, 1] for short in evidence.FED_CRITERIA for run in range(1, 6)}
    (tmp_path / "fed_human_annotations.json").write_text(json.dumps(dialogues))
    (tmp_path / "fed_gpt4_annotations.json").write_text(json.dumps(runs))
    frame = evidence.fed_ratings(tmp_path)
    assert len(frame) == 4 * 4 * 3
    first = frame.query("item == 'd0' and criterion == 'Overall'").set_index("rater").score
    assert first.to_dict() == {"gpt-4": 3.0, "annotator 1": 0.0, "annotator 2": 2.0}


def test_the_page_and_the_readme_say_what_the_data_give(tmp_path):
    if not DATA.is_dir():
        pytest.skip("the public data sets are not here: docs/evidence.md says where they are")
    for name in evidence.SETS:
        (tmp_path / name).symlink_to(DATA / name if name == "fed" else DATA / "public" / name)
    every = [*evidence.rows_in(tmp_path)]
    page = (ROOT / "docs" / "evidence.md").read_text(encoding="utf-8")
    assert evidence.with_figures(page, every) == page
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    good, judged, worse, open_ = map(
        int, re.search(r"(\d+) of (\d+) judges and panels as good .*?(\d+) worse, and (\d+)", readme).groups()
    )
    verdicts = [row.verdict for row in every]
    assert judged == len(every)
    assert (good, worse, open_) == tuple(
        map(verdicts.count, (Verdict.AS_GOOD, Verdict.WORSE, Verdict.INCONCLUSIVE))
    )
