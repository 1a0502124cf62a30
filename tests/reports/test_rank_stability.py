"""How stable a leaderboard's order is: from stored conversations to every figure, by hand; the command; other
people's files.
"""

from __future__ import annotations

import csv
import io
import json

import pytest

from concord.conversation import Conversation, Message
from concord.errors import ConcordError, ImportRefused, NotFound
from concord.exchange import ranking_csv
from concord.reports import leaderboards, rank_stability
from concord.reports.rank_stability import Other
from concord.reports.rated import gather
from concord.store import conversations
from concord.workspace import Workspace
from tests.mutual import GIVEN, fill


@pytest.fixture
def grove(tmp_path):
    """Models that play and judge each other, under two interrogators."""
    made = Workspace.open(tmp_path / "grove")
    with made.write() as db:
        fill(db)
    return made


def board_of(db, *, judges=(), resamples=0, refusals="left out"):
    rated = gather(db, "pingpong")
    return leaderboards.leaderboard(rated, judges=judges, resamples=resamples, refusals=refusals)


def found(workspace, *, study="", **kwargs):
    """Every table by its name."""
    with workspace.read() as db:
        return {t.name: t for t in rank_stability.rankings(db, board_of(db, **kwargs), study=study)}


def filled(tmp_path, *args, **kwargs):
    made = Workspace.open(tmp_path / "other")
    with made.write() as db:
        fill(db, *args, **kwargs)
    return made


def tau(found, by, a, b):
    return next(row["tau"] for row in found[f"tau-by-{by}"].rows if (row["a"], row.get("b")) == (a, b))


def mean(found, by="judge"):
    """The mean of the taus; the last row, also where there is one pair alone."""
    return found[f"tau-by-{by}"].rows[-1]["tau"]


def scores(found, by):
    """The players' scores in each ranking."""
    table = found[f"orders-by-{by}"]
    names = [c.name.removeprefix("by ") for c in table.columns if c.name.startswith("by ")]
    return {n: {r["player"]: r[f"by {n}"] for r in table.rows if f"by {n}" in r} for n in names}


def pool(found, name):
    """The judges' weights in a pool, those of weight 0 left out; or the reason why it is undefined."""
    cells = {row["judge"]: row[name] for row in found["pools"].rows}
    reasons = {cell.reason for cell in cells.values()}
    return {j: c.value for j, c in cells.items() if c.value} if reasons == {""} else reasons.pop()


# By judge


def test_each_judges_own_order_and_their_taus(grove):
    made = found(grove)
    # The second interrogator's oak is rated as the first one's yew: both end at the mean of the two.
    assert scores(made, "judge") == {
        "ash": {"elm": 4, "ash": 5, "oak": 2.5, "yew": 2.5},
        "elm": {"elm": 4, "ash": 3, "oak": 1.5, "yew": 1.5},
        "oak": {"elm": 4, "ash": 2, "oak": 3, "yew": 3},
    }
    # Of six pairs of players oak–yew is tied everywhere. ash and elm disagree on ash–elm alone: (4 − 1) / √(5
    # × 5); ash and oak on
    # ash–elm, ash–oak, ash–yew: (2 − 3) / 5; elm and oak on ash–oak and ash–yew: (3 − 2) / 5.
    assert tau(made, "judge", "ash", "elm").value == pytest.approx(3 / 5)
    assert tau(made, "judge", "ash", "oak").value == pytest.approx(-1 / 5)
    assert tau(made, "judge", "elm", "oak").value == pytest.approx(1 / 5)
    assert mean(made).value == pytest.approx((3 - 1 + 1) / 5 / 3)
    assert made["orders-by-judge"].meta["conversations"] == dict.fromkeys(GIVEN, 24)


def test_only_conversations_of_the_whole_panel_without_refusals_count(grove):
    with grove.write() as db:
        db.execute(
            "DELETE FROM scores WHERE rater_id = (SELECT id FROM raters WHERE name = 'oak') AND "
            "conversation_id = 1"
        )
        db.execute(
            "UPDATE scores SET total = 1 WHERE criterion = 'refusal' AND conversation_id = 2 AND rater_id = 1"
        )
    assert f"over the {24 - 2} conversations" in found(grove)["orders-by-judge"].notes[0]
    # A panel without oak has conversation 1 as well.
    without = found(grove, judges=["ash", "elm"])["orders-by-judge"]
    assert f"over the {24 - 1} conversations" in without.notes[0]


@pytest.fixture
def refusing(grove):
    """One judge saw elm, and nobody else, refuse in the situations s0 and s1 of both interrogators."""
    with grove.write() as db:
        db.execute(
            "UPDATE scores SET total = 1 WHERE criterion = 'refusal' AND rater_id = 1 AND conversation_id IN "
            "(SELECT id FROM conversations WHERE player = 'elm' AND key NOT LIKE '%/2')"
        )
    return grove


def test_refusals_count_as_in_the_order_shown(refusing):
    """elm has 4 of every judge; with four of six conversations at 1 it has 2."""
    lowest, matched = (found(refusing, refusals=how) for how in ("lowest score", "matched"))
    assert [of["elm"] for of in scores(lowest, "judge").values()] == [pytest.approx(2)] * 3
    assert scores(lowest, "pool")["uniform"]["elm"] == pytest.approx(2)
    assert "24 conversations" in lowest["orders-by-judge"].notes[0]
    assert "4 of them, in which a judge saw a refusal, count" in lowest["orders-by-judge"].notes[0]
    assert scores(lowest, "judge") != scores(found(refusing), "judge")
    with refusing.read() as db:
        board = board_of(db, refusals="lowest score")
    shown = {s.player: s.final.value for s in board.standings}
    assert scores(lowest, "pool")["uniform"] == pytest.approx(shown), "the panel's mean is the table's final"
    # Matched: s0 and s1 are left out of every player.
    assert set(matched["orders-by-judge"].meta["conversations"].values()) == {8}
    assert "but for the scenarios in which a judge saw" in matched["orders-by-judge"].notes[0]


def test_the_command_takes_the_treatment_of_refusals(refusing, run):
    asked = ("leaderboard", "pingpong", "--stability", "--format", "json", "--refusals", "lowest score")
    rows = json.loads(run(refusing, *asked).stdout)["tables"]["orders-by-judge"]["rows"]
    assert {row["player"]: row["by ash"] for row in rows}["elm"] == pytest.approx(2)


def test_two_players_have_no_tau(tmp_path):
    made = filled(tmp_path, {j: {"elm": s["elm"], "ash": s["ash"]} for j, s in GIVEN.items()}, ["guest"])
    taus = found(made)["tau-by-judge"].estimates("tau")
    assert {t.reason for t in taus} == {"2 players in common, at least 3 are needed"}
    assert taus[-1].value is None


def test_a_judge_who_scores_all_alike_has_no_order(tmp_path):
    made = filled(tmp_path, {"ash": GIVEN["ash"], "flat": dict.fromkeys(GIVEN["ash"], 3)})
    assert mean(found(made)).reason == "flat scores them all alike"


def test_a_panel_of_one_is_compared_with_nobody(grove):
    one = found(grove, judges=["ash"])
    assert mean(one).reason == "fewer than two rankings to compare"
    assert [pool(one, "best two"), pool(one, "PageRank")] == [
        "the panel has no more than two judges",
        "one model here judges and plays too, at least 3 are needed",
    ]


def test_intervals_come_from_the_draws_and_repeat(grove):
    first = found(grove, resamples=200)
    low, high = mean(first).interval
    assert -1 <= low < high <= 1
    # oak and yew are tied only because two interrogators balance: other draws tell them apart.
    assert low != mean(first).value
    assert first == found(grove, resamples=200)


def test_where_nothing_was_rated_by_all_it_is_said(tmp_path):
    made = filled(tmp_path, {"ash": GIVEN["ash"]}, ["guest"])
    with made.write() as db:
        fill(db, {"elm": GIVEN["elm"], "oak": GIVEN["oak"]}, ["stranger"])
    with pytest.raises(ConcordError, match="Choose fewer judges"):
        found(made, judges=["ash", "elm"])
    # Nobody named a panel: it is one of those who rated most, and one ranking is compared with none.
    assert mean(found(made)).reason == "fewer than two rankings to compare"


# By interrogator


def test_the_panels_order_by_interrogator(grove):
    made = found(grove)
    by = scores(made, "interrogator")
    third = pytest.approx
    # guest: ash (5 + 3 + 2)/3, elm 4, oak (3 + 2 + 5)/3, yew (2 + 1 + 1)/3; for the stranger oak and yew
    # change places.
    assert by["guest"] == third({"ash": 10 / 3, "elm": 4, "oak": 10 / 3, "yew": 4 / 3})
    assert by["stranger"] == third({"ash": 10 / 3, "elm": 4, "oak": 4 / 3, "yew": 10 / 3})
    # ash–elm, elm–oak, elm–yew agree, oak–yew does not; ash–oak is tied for one, ash–yew for the other: (3 −
    # 1) / √(5 × 5).
    assert tau(made, "interrogator", "guest", "stranger").value == pytest.approx(2 / 5)
    assert made["orders-by-interrogator"].meta["conversations"] == {"guest": 12, "stranger": 12}


def test_one_interrogator_is_compared_with_none(tmp_path):
    made = filled(tmp_path, GIVEN, ["guest"])
    assert not any("interrogator" in name for name in found(made))


def test_a_player_an_interrogator_never_met_is_left_out_of_its_pairs(grove):
    with grove.write() as db:
        said = (Message("user", "?"), Message("assistant", "!"))
        conversations.save(db, Conversation("pingpong", "odd", "fir", said, "en", {"interrogator": "guest"}))
        number = conversations.find_id(db, "odd")
        db.execute(
            "INSERT INTO scores (conversation_id, study_id, rater_id, criterion, repeat, total, n, extra) "
            "SELECT ?, study_id, rater_id, criterion, repeat, total, n, extra FROM scores "
            "WHERE conversation_id = 1",
            [number],
        )
    made = found(grove)
    by = scores(made, "interrogator")
    assert "fir" in by["guest"]
    assert "fir" not in by["stranger"]
    assert tau(made, "interrogator", "guest", "stranger").n == 4
    assert tau(made, "interrogator", "guest", "stranger").value == pytest.approx(2 / 5), "as without it"


# Pools


def test_pagerank_holds_its_own_equation(grove):
    ranks = found(grove)["pools"].meta["pagerank"]
    # ash gives elm 4 and oak 2.5; elm gives ash 3 and oak 1.5; oak gives ash 2 and elm 4. yew judges nobody
    # and has no part in it.
    assert sum(ranks.values()) == pytest.approx(1)
    assert ranks["ash"] == pytest.approx(0.05 + 0.85 * (ranks["elm"] * 3 / 4.5 + ranks["oak"] * 2 / 6))
    assert ranks["elm"] == pytest.approx(0.05 + 0.85 * (ranks["ash"] * 4 / 6.5 + ranks["oak"] * 4 / 6))
    assert ranks["oak"] == pytest.approx(0.05 + 0.85 * (ranks["ash"] * 2.5 / 6.5 + ranks["elm"] * 1.5 / 4.5))


def test_the_pools_without_people(grove):
    made = found(grove)
    assert pool(made, "uniform") == pytest.approx(dict.fromkeys(GIVEN, 1 / 3))
    assert made["pools"].meta["best_two_by"] == "PageRank"
    assert pool(made, "PageRank") == pytest.approx(made["pools"].meta["pagerank"])
    # elm is praised most, then ash; oak least.
    assert pool(made, "best two") == {"elm": 0.5, "ash": 0.5}
    assert scores(made, "pool")["uniform"] == pytest.approx(
        {"ash": 10 / 3, "elm": 4, "oak": 7 / 3, "yew": 7 / 3}
    )
    assert scores(made, "pool")["best two"] == {"ash": 4, "elm": 4, "oak": 2, "yew": 2}
    # uniform tells ash from elm, the best two do not; oak–yew is tied in both: 4 / √(5 × 4).
    assert tau(made, "pool", "uniform", "best two").value == pytest.approx(4 / 20**0.5)


def test_the_uniform_pool_is_the_tables_own_final(grove):
    with grove.read() as db:
        board = board_of(db)
    assert scores(found(grove), "pool")["uniform"] == pytest.approx(
        {s.player: s.final.value for s in board.standings}, abs=1e-8
    )


def test_the_best_two_are_those_nearest_to_people(tmp_path):
    made = filled(tmp_path, people="oak")
    pools = found(made)
    # People follow oak, ρ = 1. Their ranks of the four kinds of items are 2 3 4 1, elm's 3 4 2 1, ash's 4 3 2
    # 1:
    # ρ(elm) = 1 − 6 · 6 / 60 = 0.4, ρ(ash) = 1 − 6 · 8 / 60 = 0.2.
    assert pool(pools, "best two") == {"oak": 0.5, "elm": 0.5}
    assert pools["pools"].meta["best_two_by"] == "agreement with people in the study “grove”"
    assert scores(pools, "pool")["best two"] == {"ash": 2.5, "elm": 4, "oak": 2.25, "yew": 2.25}
    assert found(made, study="grove") == pools
    with pytest.raises(NotFound, match="Did you mean “grove”"):
        found(made, study="grave")


def test_fewer_than_three_models_that_judge_each_other_have_no_pagerank(tmp_path):
    made = filled(tmp_path, {"ash": GIVEN["ash"], "elm": GIVEN["elm"], "critic": GIVEN["oak"]})
    made = found(made)
    assert pool(made, "PageRank") == "2 models here judge and play too, at least 3 are needed"
    assert "no study of people has figures of two judges, and 2 models" in pool(made, "best two")


def test_a_judge_who_does_not_play_weighs_nothing_by_pagerank(tmp_path):
    made = filled(tmp_path, {**GIVEN, "critic": GIVEN["oak"]})
    weights = pool(found(made), "PageRank")
    assert set(weights) == set(GIVEN)
    assert sum(weights.values()) == pytest.approx(1)


# Against another ranking


def beside(workspace, other):
    with workspace.read() as db:
        return rank_stability.beside(board_of(db), other)


def test_the_table_beside_another_ranking(grove):
    # Here: elm 4, ash 10/3, oak and yew 7/3: ranks 1, 2, 3.5, 3.5. There: yew 1, elm 2, ash 3, oak 4.
    # Both sets of ranks have mean 2.5. Σ here·there, centred: (−1.5)(−0.5) + (−0.5)(0.5) + 1·1.5 + 1·(−1.5) =
    # 0.5;
    # spreads 1.5² + 0.5² + 1 + 1 = 4.5 and 5: ρ = 0.5 / √22.5.
    found = beside(grove, Other("x", "score", {"yew": 4, "elm": 3, "ash": 2, "oak": 1, "fir": 9}))
    assert found[0].rows[0]["spearman"].value == pytest.approx(0.5 / 22.5**0.5)
    assert {r["player"]: (r["rank_here"], r["rank_there"], r["rise"]) for r in found[1].rows} == {
        "elm": (1, 2, 1),
        "ash": (2, 3, 1),
        "oak": (3.5, 4, 0.5),
        "yew": (3.5, 1, -2.5),
    }
    assert (found[0].meta["only_here"], found[0].meta["only_there"]) == ([], ["fir"])


def test_of_ranks_less_is_better(grove):
    by_rank = beside(grove, Other("x", "rank", {"yew": 1, "elm": 2, "ash": 3, "oak": 4}))
    by_score = beside(grove, Other("x", "score", {"yew": 4, "elm": 3, "ash": 2, "oak": 1}))
    assert by_rank[0].rows == by_score[0].rows


def test_names_are_matched_exactly_first_then_tolerantly(tmp_path):
    made = filled(
        tmp_path, {"j": {"gpt-4o_mini": 4, "GPT 4o mini": 3, "Big-One": 2, "left": 1, "twin-a": 1}}, ["guest"]
    )
    found = beside(
        made,
        # The first is there letter for letter; so “GPT 4o mini” is left alone on its side for “gpt_4o_mini”.
        Other(
            "x",
            "score",
            {"gpt-4o_mini": 1, "gpt_4o_mini": 2, "big one": 3, "twin_a": 4, "TWIN-A": 5, "bigone": 6},
        ),
    )
    assert {r["player"]: r["model"] for r in found[1].rows} == {
        "gpt-4o_mini": "gpt-4o_mini",
        "GPT 4o mini": "gpt_4o_mini",
        "Big-One": "big one",
    }
    assert set(found[0].meta["only_here"]) == {"left", "twin-a"}, (
        "two names there could be twin-a: neither is taken"
    )
    assert set(found[0].meta["only_there"]) == {"twin_a", "TWIN-A", "bigone"}


def read(text):
    return ranking_csv.read(text if isinstance(text, bytes) else text.encode(), "other.csv")


@pytest.mark.parametrize(
    "text",
    [
        "model,score\nelm,4\nash,3.5\n",
        "\ufeffScore;other;MODEL\n4;x;elm\n3.5;y;ash\n",
        "model\tscore\nelm\t4\n\nash\t3.5",
        "rank,player,score\n1,elm,4\r\n1,ash,3.5\r\n",
        'model,score\n"elm",4\n"ash",3.5\n',
    ],
    ids=[
        "plain",
        "semicolons, another order, a byte order mark",
        "tabs, a blank line",
        "a leaderboard's own CSV",
        "quoted",
    ],
)
def test_a_file_of_scores_is_read(text):
    assert read(text) == Other("other.csv", "score", {"elm": 4.0, "ash": 3.5})


def test_a_file_of_ranks_is_read():
    assert read("model,rank\nelm,1\nash,2\n") == Other("other.csv", "rank", {"elm": 1.0, "ash": 2.0})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "other.csv is empty. Its first line must name the columns: model, and score or rank."),
        ("model,score\n", "other.csv holds no models"),
        ("score\n4\n", "other.csv, line 1: the column model is missing."),
        (
            "model,elo\nelm,4\n",
            "line 1: the column score (or rank) is missing. The first line must name model, and score or "
            "rank; it names model, elo.",
        ),
        ("model,score,score\nelm,4,3\n", "line 1: two columns are called score. Rename one of them."),
        (
            "model,score\nelm,good\n",
            "line 2: the score “good” is not a number. Correct it, or remove the line.",
        ),
        ('model,score\nelm,"4,5"\n', "line 2: the score “4,5” is not a number. Write 4.5 with a point."),
        ("model,score\nelm,nan\n", "line 2: the score “nan” is not a number."),
        ("model,score\nelm,inf\n", "line 2: the score “inf” is not a number."),
        (
            "model,score\nelm,4\nash,3\nelm,2\n",
            "line 4: “elm” stands in line 2 already. Keep one of the two.",
        ),
        ("model,score\n,4\n", "line 2, has no model. Fill it in, or remove the line."),
        ("model,score\nelm,\n", "line 2, has no score. Fill it in, or remove the line."),
        ("model,score\nelm,4,5\n", "line 2, has 3 cells; the first line names 2 columns."),
        ("model,rank\nelm,0\n", "line 2: the rank 0 is below 1, which is the best."),
        (
            "model,score\n" + "x" * 201 + ",4\n",
            "line 2: the model's name is 201 characters long. Shorten it to 200.",
        ),
        ("model,score\nelm,x\nash,y\n", "other.csv: 2 lines are wrong.\n  other.csv, line 2: "),
        ('model,score\n"elm,4\n', "the record that begins in line 2 is not valid CSV"),
        (b"model,score\n\xe9lm,4\n", "line 2, is not UTF-8 (byte 0xe9). Save the file as UTF-8"),
        ("model,score\nelm,4\n".encode("utf-16"), "is UTF-16. Save it as UTF-8"),
        (b"x" * 1_000_001, "is larger than 1,000,000 bytes"),
    ],
)
def test_a_bad_file_is_refused_with_line_and_remedy(text, said):
    with pytest.raises(ImportRefused) as refused:
        read(text)
    assert said in str(refused.value)


# The command


@pytest.fixture
def other(tmp_path):
    file = tmp_path / "other.csv"
    file.write_text("model,score\nELM,3\nash,2\noak,1\nyew,4\n=fir,9\n")
    return file


def test_every_format_tells_the_same(grove, run, other):
    asked = ("leaderboard", "pingpong", "--stability", "--resamples", 100, "--against", other, "--format")
    table, values, lines = (run(grove, *asked, form) for form in ("table", "json", "csv"))
    document = json.loads(values.stdout)
    found = document["tables"]
    assert document["schema"] == 1
    assert found["tau-by-judge"]["rows"][-1]["tau"]["value"] == pytest.approx(1 / 5)
    assert found["tau-by-interrogator"]["rows"][0]["tau"]["value"] == pytest.approx(2 / 5)
    assert found["pools"]["best_two_by"] == "PageRank"
    against = found["against"]["rows"][0]
    assert against["spearman"]["n"] == 4
    assert found["against"]["only_there"] == ["=fir"]
    assert {(row["player"], row["model"]) for row in found["against-models"]["rows"]} >= {("elm", "ELM")}
    rows = list(csv.DictReader(io.StringIO(lines.stdout)))
    taus = {(r["table"], r["a"], r["b"]): r["value"] for r in rows if r["figure"] == "tau"}
    assert {k: float(v) for k, v in taus.items() if k[0] == "tau-by-judge"} == {
        ("tau-by-judge", t["a"], t.get("b", "")): t["tau"]["value"] for t in found["tau-by-judge"]["rows"]
    }
    spearman = next(r for r in rows if r["figure"] == "spearman")
    assert float(spearman["value"]) == against["spearman"]["value"]
    for said in (f"{against['spearman']['value']:.3f}", "0.400", "guest", "best two"):
        assert said in table.stdout
    for done in (table, values, lines):
        assert done.exit_code == 0
        assert "24 conversations that all of ash, elm, oak rated" in done.output
        assert "Only in" in done.output


def test_undefined_figures_are_null_beside_their_reason(tmp_path, run):
    made = filled(tmp_path, {"ash": GIVEN["ash"], "flat": dict.fromkeys(GIVEN["ash"], 3)})
    found = json.loads(run(made, "leaderboard", "pingpong", "--stability", "--format", "json").stdout)[
        "tables"
    ]
    mean = found["tau-by-judge"]["rows"][0]["tau"]
    assert (mean["value"], mean["ci"], mean["reason"]) == (None, None, "flat scores them all alike")
    pagerank = found["pools"]["rows"][0]["PageRank"]
    assert (pagerank["value"], pagerank["reason"]) == (
        None,
        "one model here judges and plays too, at least 3 are needed",
    )


def test_the_panel_and_the_weights_are_the_leaderboards(grove, run):
    found = json.loads(
        run(
            grove,
            "leaderboard",
            "--stability",
            "pingpong",
            "--judges",
            "ash,oak",
            "--weights",
            "2,1,1",
            "--where",
            "language=en",
            "--format",
            "json",
        ).stdout
    )
    basis = found["tables"]["orders-by-judge"]
    assert basis["judges"] == ["ash", "oak"]
    assert basis["where"] == {"language": ["en"]}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("pingpang",), "Did you mean “pingpong”?"),
        (("pingpong", "--judges", "esh"), "Did you mean “ash”?"),
        (("pingpong", "--where", "language=xx"), "There is no language “xx”"),
        (("pingpong", "--weights", "1"), "--weights wants 3 numbers"),
        (("pingpong", "--study", "grove"), "There are none yet."),
        (("pingpong", "--against", "nowhere.csv"), "nowhere.csv cannot be read: No such file or directory."),
        (("stss",), "has no such table"),
    ],
)
def test_wrong_arguments_are_answered_with_a_sentence(grove, run, asked, said):
    done = run(grove, "leaderboard", "--stability", *asked)
    assert done.exit_code == 1
    assert said in done.stderr
    assert "Traceback" not in done.output
