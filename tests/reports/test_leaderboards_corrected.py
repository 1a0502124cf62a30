"""The leaderboard corrected by people: whose answers enter, how they are weighed, what cannot be said."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from concord.errors import StudyError
from concord.estimate import Estimate
from concord.reports import leaderboards
from concord.reports.agreement_report import AS_DRAWN
from concord.reports.corrected import _by_people, available_studies, check, corrected
from concord.reports.rated import gather
from concord.statistics.corrected import corrected_mean
from concord.store import studies as stored
from concord.store.studies import StudySample
from concord.studies import studies
from concord.workspace import Workspace
from tests.filled import PLAYERS, fill


@pytest.fixture
def filled(tmp_path):
    workspace = Workspace.open(tmp_path / "filled")
    with workspace.write() as db:
        fill(db, repeats=3)
    return workspace


def of(workspace, **kwargs):
    with workspace.read() as db:
        [name] = stored.names(db)
        board = leaderboards.leaderboard(gather(db, "pingpong"), resamples=0, **kwargs)
        return board, studies.ratings_for_agreement(db, name)


def test_it_is_what_plain_arithmetic_gives(filled):
    """Player by player, from the frames: people's final is the mean of their criteria's means, judges' is the
    table's.
    """
    board, people = of(filled)
    table = people.table[(people.table.kind == "human") & ~people.table.unit.isin(people.left_out)]
    means = (
        table.groupby(["conversation_id", "criterion"])
        .score.mean()
        .unstack()[list(board.weights)]
        .mean(axis=1)
    )
    found = corrected(board, people)
    assert {row["player"] for row in found.rows} == set(PLAYERS)
    for row in found.rows:
        mine = board.usable[board.usable.player == row["player"]]
        there = mine.index.intersection(means.dropna().index)
        plain = corrected_mean(
            means[there].to_numpy(),
            mine.final[there].to_numpy(),
            mine.final.drop(there).to_numpy(),
            scale=(1, 5),
        )
        assert row["corrected"].n == plain.people.n > 4
        assert row["judges"].n == plain.judges.n > 2 * row["corrected"].n
        assert (row["corrected"].value, row["corrected"].low, row["worth"].value) == pytest.approx(
            (plain.value.value, plain.value.low, plain.worth.value)
        )
    values = [figure.value for figure in found.estimates("corrected")]
    assert values == sorted(values, reverse=True)


def test_a_panel_that_leans_is_brought_back(filled):
    """“kind” gives 0.4 more than is due; corrected, its table is nearer to people than its own means are."""
    board, people = of(filled, judges=["kind"])
    for row in corrected(board, people).rows:
        people_, judges = row["people"].value, row["judges"].value
        assert abs(row["corrected"].value - people_) < abs(judges - people_)


def test_people_weigh_criteria_as_the_table_does(filled):
    board, people = of(filled, weights={"in_character": 0.0, "entertaining": 1.0, "fluency": 0.0})
    table = people.table[(people.table.kind == "human") & (people.table.criterion == "entertaining")]
    table = table[~table.unit.isin(people.left_out)]
    for row in corrected(board, people).rows:
        ids = board.usable.index[board.usable.player == row["player"]]
        mine = table[table.conversation_id.isin(ids)].groupby("conversation_id").score.mean()
        assert row["people"].value == pytest.approx(mine.mean())


@pytest.mark.parametrize(
    ("scores", "finals", "people", "said"),
    [  # Ends are 0.2 from each figure: those of 2.9 and 3.0 overlap, those of 2.0 and 3.0 do not.
        ((3, 2), (3, 2), (3.0, 2.9), "the order of the overall scores stays."),
        ((2, 3), (3, 2), (3.0, 2.9), ""),
        (
            (2, 3),
            (2, 3),
            (3.0, 2.9),
            "the overall scores of a and b do not differ significantly: their intervals overlap.",
        ),
        ((2, 3), (2, 3), (3.0, 2.0), "a is first by its overall score, not b."),
    ],
)
def test_the_order_that_people_would_give_is_said_where_it_is_told_apart(scores, finals, people, said):
    names = "ab"
    standings = [
        SimpleNamespace(player=name, score=score, final=Estimate(final))
        for name, score, final in zip(names, scores, finals, strict=True)
    ]
    board = SimpleNamespace(standings=sorted(standings, key=lambda s: -s.score))
    rows = [
        {"player": name, "corrected": Estimate(value, value - 0.2, value + 0.2)}
        for name, value in zip(names, people, strict=True)
    ]
    assert _by_people(board, rows) == (f"Corrected by annotators' scores, {said}" if said else "")


def _people(of):
    """People's final of each conversation, where somebody answered every criterion."""
    table = of.table[(of.table.kind == "human") & ~of.table.unit.isin(of.left_out)]
    means = table.groupby(["conversation_id", "criterion"]).score.mean().unstack()
    return means.mean(axis=1).rename("people")


def test_a_study_drawn_unequally_is_noted(filled):
    board, people = of(filled)
    assert AS_DRAWN not in corrected(board, people).notes
    unequal = replace(people.study, sample=StudySample(8, 4, chance=(0.25, 0.5)))
    assert AS_DRAWN in corrected(board, replace(people, study=unequal)).notes


def test_a_criterion_people_were_not_asked_is_refused(filled):
    board, people = of(filled)
    fewer = people.table[(people.table.kind == "judge") | (people.table.criterion != "fluency")]
    asked = tuple(c for c in people.criteria if c != "fluency")
    with pytest.raises(StudyError, match="not asked “fluency”"):
        corrected(
            board, studies.StudyRatings(people.study, fewer[fewer.criterion != "fluency"], asked, asked, {})
        )


def test_studies_with_people_and_conversations_of_the_table_are_offered(filled):
    board, people = of(filled)
    with filled.write() as db:
        stored.create(db, stored.Study("unrated", people.study.criteria))
        assert available_studies(db, board) == [people.study.name]


def test_the_command_prints_it_and_its_formats_agree(filled, run):
    board, people = of(filled)
    asked = ("leaderboard", "pingpong", "--resamples", 0, "--study", people.study.name, "--format")
    table, values, latex = (run(filled, *asked, form) for form in ("table", "json", "latex"))
    first = json.loads(values.stdout)["tables"]["leaderboard-pingpong-corrected"]["rows"][0]
    best = corrected(board, people).rows[0]
    value = best["corrected"].value
    assert (first["player"], first["corrected"]["value"]) == (best["player"], pytest.approx(value))
    for said in (table, latex):
        assert f"{value:.2f}" in said.stdout
    assert run(filled, *asked, "csv").stdout.splitlines()[1].startswith(best["player"])
    refused = run(filled, "leaderboard", "simulbench", "--study", people.study.name)
    assert "do not support --study" in refused.output


def test_people_of_one_language_correct_no_other(filled):
    """English conversations were drawn, Russian ones added: only a table of English is corrected."""
    with filled.write() as db:
        fill(db, languages=["ru"], people=False)
        [name] = stored.names(db)

        def board(where):
            return leaderboards.leaderboard(gather(db, "pingpong", where), resamples=0)

        check(db, board({"language": ["en"]}), name)
        with pytest.raises(StudyError, match="language en only, so it cannot correct ru") as refused:
            check(db, board({}), name)
        assert "--where language=en" in str(refused.value)
