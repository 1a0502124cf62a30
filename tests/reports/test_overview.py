"""What to do next follows from what a workspace holds."""

from __future__ import annotations

import pytest

from concord.conversation import Conversation, Message
from concord.rating import Rater
from concord.reports import overview
from concord.reports.overview import next_steps
from concord.store import access, conversations, holdings, placements, ratings, runs, studies, summaries
from concord.store.conversations import Filter
from concord.store.database import now
from concord.workspace import Workspace
from tests.filled import PLAYERS, assigned, fill

MODEL = "[models.a]\nmodel = 'mock-fixed'\n"


@pytest.fixture
def workspace(tmp_path):
    return Workspace.open(tmp_path / "workspace")


def steps(workspace):
    return [(step.text, step.page) for step in next_steps(overview.look(workspace))]


def of_studies(workspace):
    found = overview.look(workspace)
    steps = [
        s for study in found.studies for s in overview.of_study(study, found.waiting.get(study.name, ()))
    ]
    return [(step.text, step.page, step.parameters.get("as", "")) for step in steps]


def held(workspace):
    [study] = overview.look(workspace).studies
    return study


def text(workspace):
    return "\n".join(said for said, _ in steps(workspace))


def test_without_models_one_is_to_name_them(workspace):
    assert [page for _, page in steps(workspace)] == ["import", "models"]
    assert text(workspace).endswith("add and test models, then start a run.")
    assert text(workspace).startswith("Import your own conversations or ratings from a file.")


def test_a_models_file_that_cannot_be_read_is_the_first_thing_said(workspace):
    workspace.models_path.write_text("[models.a\n")
    assert "is not valid TOML" in steps(workspace)[0][0]


def test_with_models_and_no_conversations_one_is_to_start_a_run(workspace):
    workspace.models_path.write_text(MODEL)
    assert steps(workspace) == [
        ("Import your own conversations or ratings from a file.", "import"),
        ("Or start a run: models generate conversations and judges rate them.", "runs"),
    ]


def test_judged_and_not_yet_sampled(workspace):
    workspace.models_path.write_text(MODEL)
    with workspace.write() as db:
        fill(db, people=False)
    assert ("Draw a blind sample for annotators.", "samples") in steps(workspace)


def test_conversations_nobody_judged(workspace):
    from tests.filled import _conversations

    with workspace.write() as db:
        for conversation in _conversations("en", 1, 1):
            conversations.save(db, conversation)
    assert ("64 conversations have no judgement yet. Let judges rate them.", "runs") in steps(workspace)
    assert "sample" not in text(workspace)


def test_a_study_is_followed_from_its_dealing_to_its_figures(workspace):
    with workspace.write() as db:
        fill(db, people=False)
        studies.create(db, studies.Study("s", (), "A study"))
        unit = studies.add_units(db, "s", [(1, None, "")])
    assert of_studies(workspace) == [("Assign it to annotators.", "samples", "")]
    with workspace.write() as db:
        access.invite(db, "Ada")
        placements.assign(db, access.annotator_id(db, "Ada"), unit)
    assert of_studies(workspace) == [("Answers still to come: 1 of 1, by Ada.", "rate", "Ada")]
    assert held(workspace).stands == "being rated"
    with workspace.write() as db:
        rater = ratings.rater_id(db, Rater("Ada", "human"))
        placements.submit(db, rater, assigned(db, rater, "s")[0][0])
        ratings.insert_rows(
            db, [ratings.Row(1, None, "fluency", rater, 0, studies.study_id(db, "s"), 3.0, "", None, now())]
        )
        summaries.refresh(db)
    assert of_studies(workspace) == []
    assert held(workspace).stands == "complete"


def test_many_who_are_not_done_are_counted(workspace):
    with workspace.write() as db:
        fill(db, people=False)
        studies.create(db, studies.Study("s", (), "A study"))
        unit = studies.add_units(db, "s", [(1, None, "")])
        for name in ("Ada", "Ben", "Cleo", "Dov", "Eva"):
            access.invite(db, name)
            placements.assign(db, access.annotator_id(db, name), unit)
    said = "Answers still to come: 5 of 5, by Ada, Ben, Cleo and 2 more."
    assert of_studies(workspace) == [(said, "annotators", "")]


def test_a_run_that_was_killed_or_broke_off_is_named(workspace):
    with workspace.write() as db:
        number = runs.start(db, "pingpong", {}, pid=2**22 + 1)
    assert (f"Run {number} was interrupted. Resume it.", "runs") in steps(workspace)
    with workspace.write() as db:
        runs.end(db, number, "broken", "The key is refused.")
    assert (f"Run {number} broke off: The key is refused.", "runs") in steps(workspace)
    with workspace.write() as db:
        runs.end(db, number, "finished")
    assert "Run" not in text(workspace)


def test_what_is_held_is_counted(workspace):
    with workspace.write() as db:
        fill(db, languages=("en", "ru"))
    with workspace.read() as db:
        played, [study] = holdings.players(db), holdings.studies(db)
    # 4 characters × 4 situations for each player and language
    assert [(p.player, p.language, p.conversations, p.judged) for p in played] == [
        (player, language, 16, 16) for language in ("en", "ru") for player in sorted(PLAYERS)
    ]
    # 128 conversations, every third one is in the study: 43 units for three people, of whom one did half.
    assert (study.units, study.dealt, study.closed, study.rated) == (43, 129, 43 + 43 + 21, 3)
    assert overview.look(workspace).simulated


def test_failed_judgements_are_to_be_asked_again(workspace):
    with workspace.write() as db:
        fill(db, people=False)
    with workspace.read() as db:
        count, cut = conversations.unreadable(db)
        every = conversations.count(db, Filter(failed=True))
    assert count + cut == every > 0
    [text] = [text for text, page in steps(workspace) if page == "conversations"]
    kinds = f"{count} with an unparseable judgement"
    assert text.startswith(f"{every} conversations have failed or truncated replies: {kinds}")


def test_the_usual_study_is_the_fullest_that_was_rated_blind(workspace):
    with workspace.write() as db:
        fill(db)
        fullest = studies.names(db)[0]
        for name, n in (("small", 3), ("fair", 9)):
            rated(db, name, n)
    with workspace.read() as db:
        assert studies.ranked(db) == [fullest, "fair", "small"]


def rated(db, name, n):
    """A study of which one person rated `n` conversations."""
    studies.create(db, studies.Study(name, ()))
    studies.add_units(db, name, [(number, None, "") for number in range(1, n + 1)])
    rater, study = ratings.rater_id(db, Rater("Zoe", "human")), studies.study_id(db, name)
    rows = [
        ratings.Row(number, None, "fluency", rater, 0, study, 3.0, "", None, now())
        for number in range(1, n + 1)
    ]
    ratings.insert_rows(db, rows)
    summaries.refresh(db)


def test_imported_conversations_lead_to_a_rubric_then_to_raters(workspace):
    workspace.models_path.write_text(MODEL)
    dialogue = (Message("user", "Where is it?"), Message("assistant", "On its way."))
    with workspace.write() as db:
        conversations.save(db, Conversation("shop", "k", "m", dialogue))
    assert steps(workspace) == [("Create a rubric, the questions about shop.", "rubrics")]
    (workspace.path / "rubrics").mkdir()
    (workspace.path / "rubrics" / "mine.toml").write_text(
        '[[criteria]]\nname = "kind"\nstatement = "Kind."\n'
    )
    assert steps(workspace) == [
        ("Draw a blind sample for annotators.", "samples"),
        ("1 conversations have no judgement yet. Let judges rate them.", "runs"),
    ]
