"""What a reader sees: text, CSV and LaTeX say what the figures say, and nothing where there is nothing."""

import csv
import io

import pandas as pd
import pytest

from core.agreement import show, study_agreement

from .frames import frame, people, study

PEOPLE = {"ann": [1, 2, 3, 4, 5, 3], "bob": [2, 2, 3, 5, 4, None], "cy": [1, 3, None, 4, 5, 2]}
JUDGES = {"gpt_4o": [1, 3, 3, 4, 4, 2], "k": [2, 1, 5, 4, None, 3], "flat": [4] * 6}


@pytest.fixture(scope="module")
def result():
    parts = [study(PEOPLE, JUDGES, name) for name in ("in_character", "fluency")]
    return study_agreement(pd.concat(parts), resamples=50, study="R&D")


def test_text(result):
    shown = show.text(result, reported={"alpha": "0.25", "panel": "0.604"})
    assert "Study R&D: 6 items; 95% percentile bootstrap over items, 50 resamples, seed 0" in shown
    rho = result["criteria"]["fluency"]["judges"][1]["spearman"]
    # Six items never reach p < 0.0001, so the correlation is starred and the star explained.
    assert f"{rho:.3f}*" in shown
    assert "* p is not below 0.0001" in shown
    assert "– flat, fluency: flat is constant on the items in common" in shown
    line = next(line for line in shown.splitlines() if line.startswith("k "))
    assert line.count("n=5") == 3
    assert "not of this study" in shown
    assert "0.604" in shown
    assert "Annotators on final" in shown


def test_text_without_stars():
    rows = study({"ann": list(range(40))}, {"j": [*range(38), 39, 38]})
    assert "*" not in show.text(study_agreement(rows, resamples=20))


def test_text_of_nothing():
    assert "The study has no ratings." in show.text(study_agreement(frame([]), resamples=20))
    shown = show.text(study_agreement(people({"ann": [1, 2, 3]}), resamples=20))
    assert "The study has no judges." in shown
    assert "– people, quality: one person alone cannot be compared" in shown


def test_many_annotators_do_not_burst_the_text():
    crowd = {f"p{i}": [1, 2, 3, 4 + i % 2] for i in range(13)}
    assert "13 annotators are too many for a matrix" in show.text(
        study_agreement(people(crowd), resamples=20)
    )


def test_csv_holds_every_figure(result):
    lines = list(csv.DictReader(io.StringIO(show.to_csv(result))))
    found = {(line["criterion"], line["figure"], line["of"], line["with"]): line for line in lines}
    assert len(found) == len(lines) == 3 * (2 + 3 + 3 * 2 + (3 + 4) * 3)
    judge = result["criteria"]["fluency"]["judges"][1]
    line = found["fluency", "spearman", judge["rater"], "mean of people"]
    assert [float(line[key]) for key in ("low", "high")] == judge["ci"]
    assert (float(line["value"]), float(line["p"])) == (judge["spearman"], judge["p"])
    tau = found["fluency", "kendall", "Avg(gpt_4o, k)", "mean of people"]
    assert float(tau["value"]) == next(
        row["kendall"] for row in result["criteria"]["fluency"]["panels"] if row["judges"] == ["gpt_4o", "k"]
    )
    flat = found["final", "spearman", "flat", "mean of people"]
    assert (flat["value"], flat["reason"]) == ("", "flat is constant on the items in common")
    ann = result["criteria"]["final"]["humans"]["each"][0]
    assert float(found["final", "spearman", "ann", "other people"]["value"]) == ann["vs_others"]


def test_latex(result):
    tables = show.latex(result)
    assert "Judge & In character & Fluency & Final" in tables
    rho = [part["judges"][1]["spearman"] for part in result["criteria"].values()]
    starred = " & ".join(f"{value:.3f}" + r"\textsuperscript{*}" for value in rho)
    assert r"gpt\_4o & " + starred + r" \\" in tables
    assert r"flat & -- & -- & -- \\" in tables
    assert r"study R\&D" in tables
    each = result["criteria"]["final"]["humans"]["each"]
    assert "Others & " + " & ".join(f"{row['vs_others']:.3f}" for row in each) in tables
    alpha = result["criteria"]["final"]["humans"]["alpha"]["ordinal"]["value"]
    assert f"(ordinal) is {alpha:.2f}" in tables


def test_annotator_matrix_is_symmetric(result):
    header, *rows = show.annotator_matrix(result)
    assert header == ["", "ann", "bob", "cy"]
    assert [row[0] for row in rows] == ["ann", "bob", "cy", "All", "Others"]
    assert [rows[i][i + 1] for i in range(3)] == ["–"] * 3
    assert rows[0][3] == rows[2][1]


def test_ceiling_is_the_mean_over_people(result):
    part = result["criteria"]["fluency"]
    each = [row["vs_others"] for row in part["humans"]["each"]]
    assert show.ceiling(part) == pytest.approx(sum(each) / 3)
    assert show.ceiling(study_agreement(people({"ann": [1, 2]}), resamples=5)["criteria"]["quality"]) is None
