"""What `concord export` writes, `concord import` reads back to the same study, in a workspace that knew
nothing of it.
"""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from concord.conversation import Unit
from concord.rating import Judgement, Rater, Rating
from concord.reports.agreement_report import Options, agreement_report
from concord.store import access, closings, conversations, frames, placements, ratings
from concord.store import studies as stored
from concord.studies import studies
from tests.exchange.round_trip_helpers import carried
from tests.filled import assigned, fill

FED = Path(__file__).parents[3] / "shared" / "data" / "fed"


def as_known(db, name):
    """A study's frame with names instead of this workspace's numbers, in an order that rows do not decide."""
    keys = {u["id"]: (u["key"], u["turn"]) for u in stored.units(db, name)}
    frame = frames.frame(db, name)
    frame["key"] = [keys[unit][0] for unit in frame.unit]
    frame["turn"] = [keys[unit][1] or 0 for unit in frame.unit]
    frame = frame.drop(columns=["unit", "conversation_id"])
    order = ["key", "turn", "criterion", "kind", "rater", "repeat"]
    return frame.sort_values(order).reset_index(drop=True)[[*order, "player", "simulated", "score"]]


def same(workspace, fresh, name):
    with workspace.read() as ours, fresh.read() as theirs:
        pd.testing.assert_frame_equal(as_known(theirs, name), as_known(ours, name))
        before, after = stored.get(ours, name), stored.get(theirs, name)
        assert after.criteria == before.criteria
        for field in ("title", "guidelines", "source", "per_turn", "overlap", "seed", "anonymous"):
            assert getattr(after, field) == getattr(before, field), field
        # The study that was imported remembers whose ratings came with its file.
        assert replace(after, own_judges=before.own_judges, created=before.created) == before
        known = as_known(theirs, name)
        judges = {rater.split()[0] for rater in known.rater[known.kind == "judge"]}
        assert {judge for judge, _ in after.own_judges} == judges
        assert [(u["key"], u["turn"], u["stratum"]) for u in stored.units(theirs, name)] == [
            (u["key"], u["turn"], u["stratum"]) for u in stored.units(ours, name)
        ]
        for unit in stored.units(ours, name)[:20]:
            assert conversations.load(theirs, unit["key"]) == conversations.load(ours, unit["key"])
            assert told(theirs, unit["key"]) == told(ours, unit["key"])
        assert dict(stored_refusals(theirs, name)) == dict(stored_refusals(ours, name))
        after, before = (agreement_report(db, name, Options(resamples=20)).as_json() for db in (theirs, ours))
        for found in (after, before):
            for sections in found["sections"].values():
                del sections["bias"]  # one of its features is the annotators' order, which is not moved
            # What judges were asked is known where they were asked, and is not moved.
            found["notes"] = [note for note in found["notes"] if "guidelines" not in note]
        assert after == before


def told(db, key):
    """Every rating of a conversation that does not depend on the store's numbers."""
    rows = ratings.of_conversation(db, conversations.find_id(db, key))
    return sorted(
        (
            r.rater.kind,
            r.rater.name,
            r.rater.variant,
            r.turn or 0,
            r.criterion,
            r.repeat,
            r.score,
            r.explanation,
            r.created,
        )
        for r in rows
    )


def stored_refusals(db, name):
    refused = frames.refusals_seen(db, name)
    return {u["key"]: u["id"] in refused for u in stored.units(db, name)}


@pytest.mark.parametrize("per_turn", [False, True], ids=["whole", "turns"])
def test_a_drawn_study(workspace, fresh, run, tmp_path, per_turn):
    """Judges of every turn, two versions of a prompt, repeats, explanations, people still at work, text that
    looks like a formula.
    """
    with workspace.write() as db:
        fill(db, people=False)
        study = studies.draw_study(
            db,
            "drawn",
            studies.StudyDraw(
                12,
                conversations.Filter("pingpong"),
                seed=7,
                per_turn=per_turn,
                title="A title",
                overlap=2,
                guidelines="# Read *first*\n\n- one",
            ),
        )
        for unit in {u["key"]: u for u in stored.units(db, "drawn")}.values():
            for variant, repeat in (("v2", 1), ("v3", 0)):
                given = tuple(
                    Rating(
                        Unit(unit["key"], turn),
                        c.name,
                        2.0 + repeat,
                        '=HYPERLINK("x")' if turn == 1 else "'=quoted\nlines",
                    )
                    for turn in (1, 2)
                    for c in study.criteria
                )
                rater = Rater("strict", "judge", variant, simulated=True)
                ratings.save_judgement(
                    db,
                    Judgement(
                        f"{unit['key']}|strict|{variant}|{repeat}", unit["key"], rater, given, repeat=repeat
                    ),
                )
        studies.invite(db, ["@ann", "ben"])
        studies.deal_study(db, "drawn", ["@ann", "ben"], overlap=2)
        for person, score in (("@ann", 4), ("ben", 2)):
            rater = access.annotator_id(db, person)
            for number, (item, _, _) in enumerate(assigned(db, rater, "drawn")):
                for criterion in study.criteria[: 1 if number == 0 else None]:
                    placements.answer(db, rater, item, criterion.name, score - number % 2)
                if number == 0:
                    continue  # begun, not submitted: does not count, and is not exported
                if number == 1:
                    placements.skip(db, rater, item, "tired")
                else:
                    placements.submit(db, rater, item)
    carried(run, workspace, fresh, "drawn", tmp_path)
    same_but_unsubmitted(workspace)
    with workspace.write() as db:
        closings.close(db, "drawn", "its ratings were exported")  # what is still open is not moved
    same(workspace, fresh, "drawn")


def same_but_unsubmitted(workspace):
    """Answers that do not count stay at home: take them away before comparing every rating."""
    with workspace.write() as db:
        db.execute(
            "DELETE FROM ratings WHERE study_id IS NOT NULL AND EXISTS (SELECT 1 FROM items u JOIN "
            "placements a ON a.item_id = u.id WHERE u.study_id = ratings.study_id AND u.conversation_id = "
            "ratings.conversation_id AND ifnull(u.turn, 0) = ifnull(ratings.turn, 0) AND a.rater_id = "
            "ratings.rater_id AND a.state <> 'done')"
        )


def test_per_turn_exports_only_what_the_study_compares(workspace, fresh, run, tmp_path):
    """A judge who rates the whole conversation says nothing of its turns: such a rating is not part of a
    study of turns.
    """
    with workspace.write() as db:
        fill(db, people=False)
        studies.draw_study(db, "drawn", studies.StudyDraw(3, conversations.Filter("pingpong"), per_turn=True))
        key = stored.units(db, "drawn")[0]["key"]
        ratings.save_judgement(
            db, Judgement("w", key, Rater("whole", "judge"), (Rating(Unit(key), "fluency", 3),))
        )
    carried(run, workspace, fresh, "drawn", tmp_path)
    with workspace.read() as ours, fresh.read() as theirs:
        pd.testing.assert_frame_equal(as_known(theirs, "drawn"), as_known(ours, "drawn"))


@pytest.mark.skipif(not FED.exists(), reason=f"the published FED files are not at {FED}")
def test_fed(workspace, fresh, run, tmp_path):
    run(workspace, "import", "conversations", FED / "fed_human_annotations.json", "--study", "fed")
    carried(run, workspace, fresh, "fed", tmp_path)
    same(workspace, fresh, "fed")


def test_ratings_alone_are_enough_for_the_figures(workspace, fresh, run, tmp_path):
    """Without facets the scenarios are unknown, so items are assumed independent on both sides."""
    with workspace.write() as db:
        fill(db)
    scores = tmp_path / "scores.csv"
    run(workspace, "export", "ratings", "--study", "first", "--out", scores)
    done = run(fresh, "import", "ratings", scores, "--study", "first", "--uncounted", "refusal")
    assert done.exit_code == 0, done.output
    with workspace.read() as ours, fresh.read() as theirs:
        before, after = (
            agreement_report(db, "first", Options(resamples=20, cluster_by=())).as_json()["sections"]
            for db in (ours, theirs)
        )
    for criterion, figures in before.items():
        for section in ("judges", "people"):
            for name, table in figures[section].items():
                assert after[criterion][section][name]["rows"] == table["rows"]


def test_what_a_file_says_beside_its_ratings_comes_out_again(workspace, fresh, run, tmp_path):
    lines = [f"a,f,human,{who},{n},{who} says,=1+1,x{n}" for n, who in enumerate(("ann", "bob", "cy"), 1)]
    file, out = tmp_path / "in.csv", tmp_path / "out.csv"
    file.write_text("\n".join(["item_id,criterion,rater_type,rater,score,comment,study,meta", *lines]) + "\n")
    for at, *command in (
        (workspace, "import", "ratings", file, "--study", "s"),
        (workspace, "export", "ratings", "--study", "s", "--out", out),
        (fresh, "import", "ratings", out, "--study", "s"),
    ):
        assert run(at, *command).exit_code == 0
    with fresh.read() as db:
        metas = [json.loads(row["meta"]) for row in ratings.exported(db, "s")]
    assert [(m["comment"], m["meta"]) for m in metas] == [
        ("ann says", "x1"),
        ("bob says", "x2"),
        ("cy says", "x3"),
    ]


def test_no_exported_cell_is_a_formula(workspace, run, tmp_path):
    with workspace.write() as db:
        fill(db, people=False)
        key = conversations.table(db).key[0]
        rating = Rating(Unit(key, 1), "fluency", -2, "=cmd|' /C calc'!A0")
        ratings.save_judgement(db, Judgement("j", key, Rater("+1", "judge"), (rating,)))
    out = tmp_path / "all.csv"
    assert run(workspace, "export", "ratings", "--out", out).exit_code == 0
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    (row,) = [row for row in rows if row["rater"].endswith("+1")]
    assert (row["rater"], row["explanation"]) == ("'+1", "'=cmd|' /C calc'!A0")
    assert row["score"] == "-2.0"  # a number is a number


def test_conversations_from_elsewhere(workspace, run, tmp_path):
    file = tmp_path / "chats.jsonl"
    entries = [
        {
            "id": 7,
            "model": "m1",
            "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}],
            "facets": {"topic": "greeting"},
        },
        {"key": "b", "language": "ru", "messages": [{"speaker": "bot", "text": "Привет"}]},
    ]
    file.write_text("\n".join(map(json.dumps, entries)) + "\n\n")
    done = run(workspace, "import", "conversations", file)
    assert done.exit_code == 0, done.output
    assert "2 new conversations" in done.output
    assert (
        "0 new conversations, 2 were stored already" in run(workspace, "import", "conversations", file).output
    )
    with workspace.read() as db:
        first, second = conversations.load(db, "7"), conversations.load(db, "b")
    assert (first.benchmark, first.player, first.facets) == ("chats", "m1", {"topic": "greeting"})
    assert (second.language, second.replies) == ("ru", ("Привет",))


GOOD = {"key": "a", "messages": [{"role": "user", "content": "Hi"}]}
BAD = {
    "not JSON": ("{oops", "line 2, is not valid JSON"),
    "no object": ("[1]", "line 2, is not a JSON object"),
    "no key": (json.dumps({"messages": []}), "line 2: the conversation has no key"),
    "no messages": (json.dumps({"key": "b"}), "line 2: the conversation has no list of messages"),
    "messages of text": (
        json.dumps({"key": "b", "messages": ["hi"]}),
        "line 2, utterance 1, must be an object",
    ),
    "facets": (json.dumps({"key": "b", "messages": [], "facets": [1]}), "line 2: “facets” must be an object"),
    "other words": (json.dumps({"key": "a", "messages": []}), "“a” is in line 1 too, with other messages"),
    "another kind": (json.dumps({"kind": "novel"}), "the kind “novel” is unknown"),
    "half a study": (
        json.dumps({"kind": "study", "name": "s"}),
        "export`: “title” is missing",
    ),
    "a criterion without answers": (
        json.dumps({"kind": "benchmark", "name": "b", "criteria": [{"name": "f"}]}),
        "statement: Field required",
    ),
    "half a character": (
        '{"key": "b", "messages": [{"role": "user", "content": "\\ud83d"}]}',
        "an incomplete character",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_lines_are_refused_and_nothing_is_stored(workspace, run, tmp_path, case):
    line, sentence = BAD[case]
    file = tmp_path / "chats.jsonl"
    file.write_text(json.dumps(GOOD) + "\n" + line + "\n")
    done = run(workspace, "import", "conversations", file)
    assert done.exit_code == 1
    assert sentence in done.output
    with workspace.read() as db:
        assert conversations.count(db) == 0


def test_a_study_is_not_imported_over_another(workspace, run, tmp_path):
    with workspace.write() as db:
        fill(db)
    out = tmp_path / "first.jsonl"
    run(workspace, "export", "conversations", "--study", "first", "--out", out)
    done = run(workspace, "import", "conversations", out)
    assert done.exit_code == 1
    assert "The study “first” exists already" in done.output


def test_an_export_that_fails_leaves_no_file(workspace, run, tmp_path):
    out = tmp_path / "ratings.csv"
    assert "no study “nope”" in run(workspace, "export", "ratings", "--study", "nope", "--out", out).output
    assert (
        "cannot be written"
        in run(workspace, "export", "conversations", "--out", tmp_path / "no" / "folder" / "x").output
    )
    assert [p.name for p in tmp_path.iterdir()] == ["workspace"]
