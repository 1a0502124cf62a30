"""`concord plan FILE`: what labels would give, and the rows in the order to label them."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from concord.cli import main
from concord.statistics.hidden import share
from concord.statistics.planning import expected

N = 240


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "judged.csv"
    judge = ["pass" if i % 4 else "fail" for i in range(N)]
    pd.DataFrame({"id": range(N), "response": [f"Reply {i}, “so”" for i in range(N)], "judge": judge}).to_csv(
        path, index=False
    )
    return path


def call(*words):
    return CliRunner().invoke(main, [*map(str, words)])


def test_what_labels_would_give_is_what_labels_give(file):
    done = call("plan", file, "--format", "json")
    assert done.exit_code == 0, done.output
    rows = {row["n"]: row for row in json.loads(done.stdout)["tables"]["labelling"]["rows"]}
    assert list(rows) == [25, 50, 100, 200]
    # 75 of 100 pass and a person shares 64 of these (85%); of the 25 fails a person passes 4: 64 of 68.
    assert rows[100]["sensitivity"] == pytest.approx(share(64, 68).half_width)
    assert rows[100]["specificity"] == pytest.approx(share(21, 32).half_width)
    widths = [rows[n]["corrected"] for n in rows]
    assert widths == sorted(widths, reverse=True)


def test_rows_are_filled_from_the_top_and_checked(file, tmp_path):
    out = tmp_path / "to_label.csv"
    assert call("plan", file, "--out", out).exit_code == 0
    table = pd.read_csv(out, dtype=str, keep_default_na=False)
    assert list(table) == ["human", "id", "response", "judge"]
    assert sorted(map(int, table.id)) == list(range(N))
    assert table.id.tolist() != [str(i) for i in range(N)]
    table.loc[:99, "human"] = table.judge[:100]
    table.to_csv(out, index=False)
    whole = json.loads(call("check", out, "--format", "json", "--resamples", 50).stdout)
    assert whole["screen"]["decisions"]["rows"][0]["n"] == 100
    again = tmp_path / "again.csv"
    call("plan", file, "--out", again, "--seed", 1)
    assert pd.read_csv(again, dtype=str).id.tolist() != table.id.tolist()


def test_answers_of_people_alone_are_refused_with_the_remedy(tmp_path):
    people = tmp_path / "people.csv"
    people.write_text("item_id,criterion,rater_type,rater,score\n1,wit,human,ann,3\n2,wit,human,ann,4\n")
    done = call("plan", people)
    assert done.exit_code == 1
    assert "has no answers of a judge to plan from. Name their column with --judge." in done.output


def test_scores_are_planned_by_their_correlation():
    rows = expected(np.array([1.0, 2, 3, 4, 5] * 20)).rows
    assert [row["n"] for row in rows] == [25, 50, 100]
    assert rows[0]["rho"] > rows[1]["rho"] > rows[2]["rho"] > 0
    assert expected(np.array([np.nan, np.nan])).rows == ()
    always = expected(np.ones(30)).rows[0]
    assert always["sensitivity"] > 0
