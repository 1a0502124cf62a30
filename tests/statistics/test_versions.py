"""Judges by version of the prompt, as PingPong's tables 1 and 2: by hand, with stars, over all criteria."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from concord.reports.published import FILE, PublishedFigure, published
from concord.statistics.ratings import read_ratings
from concord.statistics.versions import LEAST_P, VersionedJudge, by_version
from concord.table import as_csv, as_text

JUDGES = (
    VersionedJudge("a v1", "a", "v1"),
    VersionedJudge("a v2", "a", "v2"),
    VersionedJudge("b", "b", "v2"),
)


def rated(scores, people):
    """Ratings of judges by name, and of one annotator, on two criteria alike."""
    rows = [
        (f"i{item:02}", rater, kind, criterion, score)
        for kind, given in (("judge", scores), ("human", {"Ann": people}))
        for rater, values in given.items()
        for item, score in enumerate(values)
        for criterion in ("c", "d")
    ]
    return read_ratings(pd.DataFrame(rows, columns=["unit", "rater", "kind", "criterion", "score"]))


FIVE = rated({"a v1": [1, 2, 3, 4, 5], "a v2": [2, 1, 3, 4, 5], "b": [5, 4, 3, 2, 1]}, [1, 2, 3, 4, 5])


def test_models_and_panels_by_criterion_and_version():
    rho, p = by_version(FIVE, JUDGES, {"c": "Character", "d": "Delight"})
    rows = {str(row["rater"]): row for row in rho.rows}
    assert list(rows) == ["a", "b", "Avg(a, b)"]
    assert [column.title for column in rho.columns[1:]] == [
        "Character v1",
        "Character v2",
        "Delight v1",
        "Delight v2",
    ]
    assert rows["a"]["c v1"].value == 1.0
    # Two neighbours change places: 1 − 6 · 2 / (5 · 24) = 0.9.
    assert rows["a"]["c v2"].value == pytest.approx(0.9)
    assert rows["b"]["d v2"].value == -1.0
    assert "c v1" not in rows["b"], "b did not answer version 1"
    # The panel's mean: 3.5 2.5 3 3 3, ranks 5 1 3 3 3, beside 1 to 5.
    assert rows["Avg(a, b)"]["c v2"].value == pytest.approx(
        stats.spearmanr([3.5, 2.5, 3, 3, 3], [1, 2, 3, 4, 5])[0]
    )
    # ρ = 0.9 of five: t = 0.9 · √(3 / 0.19) = 3.576 with 3 degrees of freedom, p = 0.037.
    assert p.rows[0]["c v2"].value == pytest.approx(0.0374, abs=1e-4)


def test_a_star_marks_what_is_not_below_the_least_p():
    rng = np.random.default_rng(3)
    people = rng.permutation(40).astype(float)
    ratings = rated({"sure": people + rng.normal(0, 3, 40), "weak": people + rng.normal(0, 60, 40)}, people)
    judges = [VersionedJudge(name, name, "") for name in ("sure", "weak")]
    rho, p = by_version(ratings, judges, {"c": "C"})
    sure, weak, _ = rho.rows
    assert (sure["c"].mark, weak["c"].mark) == ("", "*")
    assert p.rows[0]["c"].value < LEAST_P <= p.rows[1]["c"].value
    assert f"{weak['c'].value:.3f}*" in as_text(rho)
    assert "*" not in as_csv(rho), "files have numbers"
    assert [column.title for column in rho.columns] == ["Judge or panel", "C"], "one version has no name"


def test_part_of_the_items():
    items = np.array([True, True, True, False, False])
    rho, p = by_version(FIVE, JUDGES, {"c": "C"}, items, "en")
    assert (rho.name, p.name) == ("by_version_en", "p_by_version_en")
    a = rho.rows[0]
    # Of three items 2 1 3 beside 1 2 3: 1 − 6 · 2 / (3 · 8) = 0.5.
    assert (a["c v2"].value, a["c v2"].n) == (pytest.approx(0.5), 3)
    assert "3 items" in rho.notes[0]


def test_the_demo_prints_both_tables_of_the_paper(demo_workspace, run):
    asked = ("agreement", "--study", "demo-v1", "--section", "versions", "--format", "json")
    tables = json.loads(run(demo_workspace, *asked).stdout)["tables"]
    assert {"by_version", "by_version_en", "by_version_ru", "p_by_version_ru"} <= tables.keys()
    strict = next(row for row in tables["by_version_en"]["rows"] if row["rater"] == "mock-judge-strict")
    assert {"in_character v1", "in_character v2", "final v1", "final v2"} <= strict.keys()


def test_published_figures_stand_beside_the_studys_own(demo_workspace, run):
    asked = ("agreement", "--study", "demo-v1", "--section", "published", "--format", "json")
    rows = json.loads(run(demo_workspace, *asked).stdout)["tables"]["published"]["rows"]
    own = {(row["measure"], row["language"]): row["own"] for row in rows}
    asked = ("agreement", "--study", "demo-v1", "--section", "versions", "--format", "json")
    tables = json.loads(run(demo_workspace, *asked).stdout)["tables"]
    panel = next(row for row in tables["by_version_en"]["rows"] if str(row["rater"]).count(",") == 2)
    assert own["panel", "en"]["value"] == pytest.approx(panel["final v2"]["value"])
    assert {row["source"] for row in rows} == {f"PingPong, table {n}" for n in (1, 2, 6, 7)}


def test_published_figures_are_valid_and_of_their_benchmark_alone():
    assert FILE.is_file()
    assert all(isinstance(figure, PublishedFigure) for figure in published("pingpong"))
    assert published("stss") == []
