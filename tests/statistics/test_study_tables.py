"""The tables over all criteria: they show what the figures are, and name what is uncertain or missing."""

import pandas as pd
import pytest

from concord.statistics.ratings import read_ratings
from concord.statistics.study import (
    judges_table,
    people_table,
    study_agreement,
)
from concord.table import as_latex, as_text
from tests.statistics.frames import frame, people, study

PEOPLE = {"ann": [1, 2, 3, 4, 5, 3], "bob": [2, 2, 3, 5, 4, None], "cy": [1, 3, None, 4, 5, 2]}
JUDGES = {"gpt_4o": [1, 3, 3, 4, 4, 2], "k": [2, 1, 5, 4, None, 3], "flat": [4] * 6}


def ratings():
    rated, judged = ({name: 2 * row for name, row in rows.items()} for rows in (PEOPLE, JUDGES))
    parts = [study(rated, judged, name) for name in ("in_character", "fluency")]
    return read_ratings(pd.concat(parts))


@pytest.fixture(scope="module")
def found():
    return study_agreement(ratings(), resamples=50, study="R&D")


def test_judges_by_criteria(found):
    shown = as_text(judges_table(found))
    assert shown.startswith("Judges and panels: Spearman's ρ with the mean of annotators of study R&D")
    assert "12 items; 95% intervals: value ± Student's t · standard error of 50 resamples of items, " in shown
    rho = found.criteria["fluency"].rater(["gpt_4o"]).spearman
    line = next(line for line in shown.splitlines() if line.startswith("gpt_4o "))
    assert f"{rho.value:.3f} [{rho.low:.3f}, {rho.high:.3f}]" in line
    # The flat judge has no correlation.
    assert "flat, In character, Fluency, Overall score: flat is constant on the items in common" in shown


def test_nothing_to_show_is_said():
    assert "The study has no ratings." in as_text(
        people_table(study_agreement(read_ratings(frame([])), resamples=20))
    )
    alone = study_agreement(read_ratings(people({"ann": [1, 2, 3]})), resamples=20)
    assert "The study has no judges." in as_text(judges_table(alone))
    assert "no item was rated by two annotators" in as_text(people_table(alone))


def test_latex(found):
    written = as_latex(judges_table(found))
    assert "Judge or panel & In character & Fluency & Overall score" in written
    rho = [part.rater(["gpt_4o"]).spearman for part in found.criteria.values()]
    row = " & ".join(f"{r.value:.3f} [{r.low:.3f}, {r.high:.3f}]" for r in rho)
    assert rf"gpt\_4o & {row} \\" in written
    assert r"flat & -- & -- & -- \\" in written
    assert r"study R\&D" in written.splitlines()[1]
