"""Tables as people lay them out: rows that sum up, names in two lines, runs, copies of scores."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from concord.reading import labels
from tests.reading.twelve import HUMAN, IDS, JUDGE, OTHER, SECOND, checked, rho, taken

PLAIN = {"id": IDS, "human": HUMAN, "judge": JUDGE}


def figures(found, criterion=""):
    """The ρ and n of each judge on a criterion, else on the only one."""
    judges = found[criterion].judges if criterion else found.judges
    return {name: (round(of["spearman"].value, 9), of["spearman"].n) for name, of in judges.items()}


def expected(people, judge):
    return round(rho(people, judge), 9), len(people)


SUMMARIES = {
    "a mean": [["Average", "3.0", "2.9"]],
    "blank rows between": [["", "", ""], ["Total", "36", "35"], ["Cohen's kappa", "0.6", ""]],
    "what pandas describes": [[name, "3", "3"] for name in ("count", "mean", "std", "min", "25%", "max")],
    "in German": [["Mittelwert", "3", "3"]],
}


@pytest.mark.parametrize("below", SUMMARIES.values(), ids=SUMMARIES)
def test_rows_that_sum_up_a_table_are_excluded(tmp_path, below):
    file = tmp_path / "table.csv"
    file.write_text(pd.DataFrame(PLAIN).to_csv(index=False) + "".join(",".join(row) + "\n" for row in below))
    assert [*figures(checked(file)).values()] == [expected(HUMAN, JUDGE)]
    [warning] = labels.read(file).warnings
    assert "up the table and" in warning
    assert f"({below[-1][0]})" in warning


def test_criteria_and_ids_called_as_a_sum_are_no_summaries():
    rows = [
        {"criterion": name, "id": key, "human": a, "judge": b}
        for name in ("fluency", "total")
        for key, a, b in zip(IDS, HUMAN, JUDGE, strict=True)
    ]
    assert labels.read(rows).warnings == ()
    letters = {**PLAIN, "id": [*"cdefghijklmn"]}
    assert labels.read(letters).warnings == ()
    assert len(labels.read(letters).keys) == len(IDS)


MERGED = {
    "raters above criteria": [
        ["", "Human", "", "GPT-4o", ""],
        ["ID", "Fluency", "Tone", "Fluency", "Tone"],
    ],
    "with a note": [
        ["ID", "Human", "", "GPT-4o", "", ""],
        ["", "Fluency", "Tone", "Fluency", "Tone", "Note"],
    ],
}
ANSWERS = [*zip(IDS, HUMAN, OTHER, JUDGE, SECOND, strict=True)]


@pytest.mark.parametrize("head", MERGED.values(), ids=MERGED)
@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_names_over_several_columns_are_joined_with_those_below(tmp_path, head, suffix):
    file = tmp_path / f"table.{suffix}"
    width = len(head[0])
    rows = pd.DataFrame([*head, *([*row, *[""] * (width - 5)] for row in ANSWERS)])
    rows.to_csv(file, header=False, index=False) if suffix == "csv" else rows.replace("", None).to_excel(
        file, header=False, index=False
    )
    found = checked(file)
    assert [*figures(found, "Fluency").values()] == [expected(HUMAN, JUDGE)]
    assert [*figures(found, "Tone").values()] == [expected(OTHER, SECOND)]


def test_an_unnamed_column_is_no_second_line_of_names(tmp_path):
    file = tmp_path / "table.csv"
    words = np.where(np.array(JUDGE) > 2, "pass", "fail")
    body = "".join(f"{key},{word},x{key},{word}\n" for key, word in zip(IDS, words, strict=True))
    file.write_text(f"id,human,,judge\n{body}")
    assert len(labels.read(file).keys) == len(IDS)
    assert taken(checked(file), "annotators") == ["human"]
