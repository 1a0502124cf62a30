"""Pairwise votes move between workspaces, and have the same figures as comparisons made here."""

import csv
import json

import pytest

from concord.conversation import Conversation, Message
from concord.exchange import comparisons_file
from concord.store import comparisons as stored
from concord.store import conversations
from concord.studies import comparisons
from concord.workspace import Workspace

NAMES = ("elm", "oak", "ash")


def lines():
    """Votes of a judge in both orders and of two people, on twelve scenarios of three models."""
    for n in range(12):
        for i, one in enumerate(NAMES):
            for other in NAMES[i + 1 :]:
                pair = {"first": f"{n}-{one}", "second": f"{n}-{other}"}
                swapped = {"first": pair["second"], "second": pair["first"]}
                judge = {"rater_type": "judge", "rater": "gpt"}
                yield pair | judge | {"verdict": "A"}
                yield swapped | judge | {"verdict": "A" if n % 4 == 0 else "B"}
                yield {**pair, "rater_type": "human", "rater": "ann", "verdict": "A" if n % 3 else "tie"}
                yield {**pair, "rater_type": "human", "rater": "bob", "verdict": "A" if n % 2 else "B"}


@pytest.fixture
def fresh(fresh):
    """A workspace with the conversations that are compared; of one it is not known what was asked."""
    rated = [
        Conversation(
            "votes", f"votes/{n}-{name}", name, (Message("assistant", "Yes."),), facets={"scenario": f"s{n}"}
        )
        for n in range(12)
        for name in NAMES
    ]
    with fresh.write() as db:
        conversations.save_all(db, [*rated, Conversation("votes", "votes/odd", "elm", rated[0].messages)])
    return fresh


@pytest.fixture
def votes(tmp_path):
    file = tmp_path / "votes.csv"
    rows = list(lines())
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return file


def figures(workspace):
    with workspace.read() as db:
        return comparisons.compared(db, "votes", resamples=50)


def test_votes_have_wins_strengths_position_bias_and_agreement(fresh, run, votes):
    done = run(fresh, "import", "comparisons", votes)
    assert done.output == "New: 72 comparisons by annotators, 72 by judges.\n"
    found = figures(fresh)
    (bias,) = found.bias.rows
    assert (bias["rater"], bias["n"], bias["flips"], bias["first"]) == ("gpt", 36, 9, 9)
    duels, strengths, *_ = comparisons.result_tables(found, "gpt")
    won = {(d["one"], d["other"]): (d["won"], d["tied"], d["lost"]) for d in duels.rows}
    assert won["elm", "oak"] == (9, 3, 0)
    strengths = {s["player"]: s["strength"].value for s in strengths.rows}
    assert strengths["elm"] > strengths["oak"] > strengths["ash"]
    ann_bob = next(m for m in found.matches.rows if (m["a"], m["b"]) == ("ann", "bob"))
    assert ann_bob["equal"].value == 4 / 12


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_what_is_exported_is_imported_with_the_same_figures(fresh, run, votes, tmp_path, form):
    run(fresh, "import", "comparisons", votes)
    out, chats = tmp_path / f"out.{form}", tmp_path / "chats.jsonl"
    assert run(fresh, "export", "comparisons", "--format", form, "--out", out).exit_code == 0
    run(fresh, "export", "conversations", "--out", chats)
    other = Workspace.open(tmp_path / "other")
    run(other, "import", "conversations", chats)
    assert (
        "New: 72 comparisons by annotators, 72 by judges.\n"
        in run(other, "import", "comparisons", out).output
    )
    assert figures(other) == figures(fresh)
    with fresh.read() as here, other.read() as there:
        assert [*stored.exported(there)] == [*stored.exported(here)], "when each was given, too"
    again = run(other, "import", "comparisons", out)
    assert again.output == "New: 0 comparisons by annotators, 0 by judges. 144 were stored already.\n"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"verdict": "better"}, "line 2: the verdict is “better”; it must be A, B or tie"),
        ({"second": "0-elm"}, "line 2: “0-elm” is compared with itself"),
        ({"rater_type": "dog"}, "line 2: rater_type is “dog”"),
        ({"rater": ""}, "line 2, has no rater"),
        ({"repeat": "-1"}, "line 2: the repeat “-1” is not a whole number"),
        ({"first": "0-yew"}, "line 2: “0-yew” is not a conversation of this workspace"),
        ({"second": "1-elm"}, "line 2: “votes/0-elm” and “votes/1-elm” may answer different prompts"),
        ({"second": "odd"}, "line 2: “votes/0-elm” and “votes/odd” may answer different prompts"),
    ],
)
def test_a_wrong_vote_refuses_the_file(fresh, run, tmp_path, change, why):
    file = tmp_path / "votes.csv"
    row = {"repeat": "0", **next(iter(lines())), **change}
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, list(row))
        writer.writeheader()
        writer.writerow(row)
    done = run(fresh, "import", "comparisons", file)
    assert done.exit_code == 1
    assert why in done.output
    with fresh.read() as db:
        assert db.execute("SELECT count(*) FROM comparisons").fetchone() == (0,)


def test_another_verdict_refuses_the_file_and_leaves_what_was_there(fresh, run, tmp_path, monkeypatch):
    monkeypatch.setattr(comparisons_file, "AT_ONCE", 2)
    file = tmp_path / "votes.jsonl"
    every = list(lines())
    file.write_text("\n".join(json.dumps(row) for row in every if row["rater"] == "bob"))
    run(fresh, "import", "comparisons", file)
    first, *_ = rows = [row for row in every if row["rater"] == "ann"]
    file.write_text("\n".join(map(json.dumps, [*rows, {**first, "verdict": "B"}])))
    done = run(fresh, "import", "comparisons", file)
    assert "ann compared “votes/0-elm” with “votes/0-oak” already" in done.output
    with fresh.read() as db:
        assert db.execute("SELECT count(*) FROM comparisons").fetchone() == (36,)


def test_judges_are_beside_the_vote_of_people_and_people_beside_each_other(fresh, run, votes):
    run(fresh, "import", "comparisons", votes)
    every = {(m["a"], m["b"]) for m in figures(fresh).matches.rows}
    assert every == {("gpt", "people"), ("ann", "bob"), ("people", "each other")}


def test_gold_labels_are_a_kind_of_their_own(fresh, run, votes):
    assert run(fresh, "import", "comparisons", votes).exit_code == 0
    before = figures(fresh)
    with votes.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["rater"] == "ann"]
    labelled = votes.with_name("votes.jsonl")
    gold = [row | {"rater_type": "gold", "rater": "key", "verdict": "A"} for row in rows]
    labelled.write_text("".join(json.dumps(row) + "\n" for row in gold))
    done = run(fresh, "import", "comparisons", labelled)
    assert "0 by judges, 36 gold labels." in done.output
    found = figures(fresh)
    rows = found.matches.rows
    of_gold = {(row["a"], row["b"]): row["equal"] for row in rows if row["b"] == comparisons.GOLD}
    # The judge says A in both orders in the 27 pairs where it does not follow the place; the others are ties.
    assert of_gold["gpt", comparisons.GOLD].value == 27 / 36
    assert of_gold[comparisons.PEOPLE, comparisons.GOLD].n == 36
    assert [row for row in rows if row["b"] != comparisons.GOLD] == list(before.matches.rows)
    assert found.basis["people"] == 2
