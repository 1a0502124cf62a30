"""Judges by version of their prompt: tables 1 and 2 of the PingPong paper."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from concord.reports.agreement_report import AgreementReport, Options, report_of
from concord.store.studies import Study
from concord.studies.studies import StudyRatings
from tests.reports.test_agreement_report import CRITERIA

ITEMS = 40
JUDGES = {"sonnet v1": ("sonnet", "v1"), "sonnet v2": ("sonnet", "v2"), "mini": ("mini", "v2")}


def ratings(judges=JUDGES):
    """Two people and judges on two criteria of forty items; sonnet v2 is nearer to people than v1."""
    rng = np.random.default_rng(4)
    truth = rng.normal(3, 1, (ITEMS, len(CRITERIA)))
    noise = {"sonnet v1": 1.5, "sonnet v2": 0.4, "mini": 2.5}
    rows = []
    for name in ["ann", "ben", *judges]:
        model, version = judges.get(name, ("", ""))
        for item in range(ITEMS):
            for number, criterion in enumerate(CRITERIA):
                score = truth[item, number] + rng.normal(0, noise.get(name, 0.5))
                kind = "judge" if name in judges else "human"
                rows.append((item, item, None, "p", criterion.name, name, model, version, kind, 0, score))
    columns = ["unit", "conversation_id", "turn", "player", "criterion", "rater", "model", "variant", "kind"]
    return pd.DataFrame(rows, columns=[*columns, "simulated", "score"])


def report(table) -> AgreementReport:
    names = tuple(c.name for c in CRITERIA)
    return report_of(
        StudyRatings(Study("s", CRITERIA), table, names, names, {}, "mean"), Options(resamples=50)
    )


def test_versions_stand_side_by_side():
    table = ratings()
    found = report(table).section("versions", "final")["by_version"]
    assert [c.name for c in found.shown] == [
        "judge",
        *(f"{criterion} {version}" for criterion in ("wit", "care", "final") for version in ("v1", "v2")),
    ]
    rows = {row["judge"]: row for row in found.rows}
    assert [*rows] == ["mini", "sonnet", "Avg(mini, sonnet)"]
    assert "wit v1" not in rows["mini"]
    assert "wit v1" not in rows["Avg(mini, sonnet)"]
    wit = table[table.criterion == "wit"].pivot(index="unit", columns="rater", values="score")
    people = wit[["ann", "ben"]].mean(axis=1)
    for version in ("v1", "v2"):
        expected = spearmanr(wit[f"sonnet {version}"], people).statistic
        assert rows["sonnet"][f"wit {version}"].value == pytest.approx(expected)
    average = spearmanr(wit[["mini", "sonnet v2"]].mean(axis=1), people).statistic
    assert rows["Avg(mini, sonnet)"]["wit v2"].value == pytest.approx(average)


def test_a_note_names_what_the_paper_stars():
    found = report(ratings()).section("versions", "final")["by_version"]
    rows = {row["judge"]: row for row in found.rows}
    p = {name: row["p of wit v2"].value for name, row in rows.items()}
    assert p["sonnet"] < 0.0001 < p["mini"]
    assert found.notes[0].startswith("p is below 0.0001 except for: ")
    assert "mini, Wit v2" in found.notes[0]
    assert "sonnet, Wit v2" not in found.notes[0]


def test_one_version_needs_no_columns_of_its_own():
    only = {name: of for name, of in JUDGES.items() if of[1] == "v2"}
    assert report(ratings(only)).section("versions", "final") == {}
