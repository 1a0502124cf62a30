"""Another benchmark's ranking beside a leaderboard: by hand, by command, and what a file may not hold."""

from __future__ import annotations

import json

import pytest

from concord.errors import ImportRefused
from concord.exchange import ranking_csv
from concord.reports import leaderboards
from concord.reports.rated import gather
from concord.workspace import Workspace
from tests.mutual import fill


@pytest.fixture
def read(tmp_path):
    """What a file that holds a text is read as."""

    def _read(text):
        file = tmp_path / "other.csv"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return ranking_csv.read(file)

    return _read


@pytest.mark.parametrize(
    "text",
    [
        "model,score\nelm,4\nash,3.5\n",
        "\ufeffScore;other;MODEL\n4;x;elm\n3.5;y;ash\n",
        "model\tscore\nElm\t4\n\nash\t3.5",
        "rank,model,score\n1,elm,4\r\n1,ash,3.5\r\n",
    ],
)
def test_a_file_of_scores_is_read(read, text):
    assert read(text) == {"elm": 4.0, "ash": 3.5}


def test_of_ranks_less_is_better(read):
    assert read("model,rank\nelm,1\nash,2\n") == {"elm": -1.0, "ash": -2.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "other.csv is empty. It needs at least one row."),
        ("score\n4\n", "line 2, has no model. Each row needs model, score."),
        ("model\nelm\n", "line 2, has no rank. Each row needs model, rank."),
        ("model,score,rank\nelm,4,1\nash,,2\n", "line 3, has no score. Each row needs model, score."),
        ("model,score,score\nelm,4,3\n", "line 1: two columns are called score. Rename one of them"),
        ("model,score\nelm,good\n", "line 2: the score “good” is not a number."),
        ("model,score\nelm,inf\n", "line 2: the score “inf” is not a number."),
        ("model,score\nelm,4\nash,3\nELM,2\n", "line 4: “elm” is listed twice. Keep one."),
        ("model,score\n,4\n", "line 2, has no model. Each row needs model, score."),
        ("model,score\nelm,4,5\n", "line 2, has 3 cells; the first line names 2 columns."),
        ("model,score\n" + "x" * 3_000 + ",4\n", "line 2: the model is 3,000 characters long."),
        ("model,score\nelm,x\nash,y\n", "other.csv: 2 rows are wrong.\n"),
        (b"model,score\n\xe9lm,4\n", "is not UTF-8. Save the file as UTF-8"),
    ],
)
def test_a_bad_file_is_refused_with_line_and_remedy(read, text, message):
    with pytest.raises(ImportRefused) as refused:
        read(text)
    assert message in str(refused.value)


def test_the_leaderboard_beside_another_ranking(tmp_path, run):
    grove, file = Workspace.open(tmp_path / "grove"), tmp_path / "other.csv"
    with grove.write() as db:
        fill(db)
    file.write_text("model,score\nELM,3\nash,2\noak,1\nyew,4\nfir,9\n")
    # Here: elm 4, ash 10/3, oak and yew 7/3: ranks 1, 2, 3.5, 3.5. There: yew 1, elm 2, ash 3, oak 4.
    # Centred, Σ here·there = (−1.5)(−0.5) + (−0.5)(0.5) + 1·1.5 + 1·(−1.5) = 0.5; spreads 4.5 and 5.
    command = ("leaderboard", "pingpong", "--against", str(file), "--format", "json")
    tables = json.loads(run(grove, *command).output)["tables"]
    [row] = tables["against"]["rows"]
    assert row["spearman"]["value"] == pytest.approx(0.5 / 22.5**0.5)
    assert row["spearman"]["n"] == 4
    ranks = [(r["player"], r["here"], r["there"], r["rise"]) for r in tables["against-models"]["rows"]]
    assert ranks == [("elm", 1, 2, 1), ("ash", 2, 3, 1), ("oak", 3.5, 4, 0.5), ("yew", 3.5, 1, -2.5)]
    assert "leaderboard-pingpong" in tables
    file.write_text("model,score\nfir,9\n")
    [row] = json.loads(run(grove, *command).output)["tables"]["against"]["rows"]
    assert row["spearman"]["reason"] == "no model in common, at least 3 are needed"
    missing = run(grove, "leaderboard", "pingpong", "--against", str(tmp_path / "no.csv"))
    assert "no.csv cannot be read" in missing.output


@pytest.fixture
def grove(tmp_path):
    workspace = Workspace.open(tmp_path / "grove")
    with workspace.write() as db:
        fill(db)
    return workspace


def written(run, workspace, file, *words):
    """The names and scores that a leaderboard's own CSV file holds, as they are read."""
    done = run(workspace, "leaderboard", *words, "--format", "csv")
    assert done.exit_code == 0, done.output
    file.write_text(done.stdout)
    return ranking_csv.read(file)


def test_a_leaderboard_of_concords_own_is_a_ranking(grove, run, tmp_path):
    file = tmp_path / "own.csv"
    own = written(run, grove, file, "pingpong", "--resamples", 0)
    with grove.read() as db:
        board = leaderboards.leaderboard(gather(db, "pingpong"), resamples=0)
    assert own == {s.player.casefold(): pytest.approx(s.score.value) for s in board.standings}
    words = ("leaderboard", "pingpong", "--against", str(file), "--resamples", 0, "--format", "json")
    [row] = json.loads(run(grove, *words).output)["tables"]["against"]["rows"]
    assert (row["spearman"]["value"], row["spearman"]["n"]) == (pytest.approx(1), len(own))
    # With the rank correlation the command writes several tables, a figure a line.
    assert written(run, grove, file, "pingpong", "--resamples", 0, "--against", str(file)) == own


@pytest.mark.parametrize(
    "text",
    [
        "player,places,score,score_low,score_reason\nElm,1,4,3,\nash,2,3.5,3,\nyew,,,,no conversation\n",
        "player,judges,people,corrected\nElm,3,4,4\nash,3,3,3.5\n",
        "table,model,act,figure,value,low,high,n,reason\nboard,Elm,,Hard,1,,,3,\nboard,Elm,,All,4,,,3,\n"
        "board,ash,,All,3.5,,,3,\nboard,yew,,All,,,,0,no script\ntasks,,Clerk,mean,7,,,,\n",
        "table,player,architecture,figure,value\naction,Elm,GA,overall,4\naction,ash,GA,overall,3.5\n"
        "language,elm,GA,quality,7\n",
    ],
)
def test_every_form_of_concords_own_leaderboards_is_read(read, text):
    assert read(text) == {"elm": 4.0, "ash": 3.5}


def test_a_model_with_several_rows_is_told_with_both(read):
    text = "table,player,architecture,figure,value\naction,elm,GA,overall,4\naction,elm,TDP,overall,3\n"
    with pytest.raises(ImportRefused, match="line 3: “elm” is listed twice"):
        read(text)
