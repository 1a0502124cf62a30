"""docs/evidence.md: what is computed from a folder of data sets, and how it is put into the page."""

import json
import random
import re
from pathlib import Path

import pytest

from bench import evidence
from concord.codes import Verdict

ROOT = Path(__file__).parents[1]
PUBLIC = ROOT.parent / "shared" / "data" / "public"


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


def test_the_page_and_the_readme_say_what_the_data_give():
    if not PUBLIC.is_dir():
        pytest.skip("the public data sets are not here: docs/evidence.md says where they are")
    every = [
        row
        for name in evidence.SETS
        for row in evidence.rows_of(name, evidence.measured(evidence.ratings(PUBLIC / name)))
    ]
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
