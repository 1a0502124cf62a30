"""From a file of conversations and a rubric to ratings, a study, and its agreement."""

import json
import re

import pytest

from concord.conversation import Conversation, Message, Unit
from concord.errors import StudyError
from concord.questions import categories
from concord.rating import Criterion, Judgement, Rater, Rating
from concord.reports.agreement_report import Options, agreement_report
from concord.runs import engine, planning
from concord.runs.plans import JudgePlan
from concord.store import conversations, ratings, rubrics, studies
from concord.studies import audits, coverage
from concord.studies.purposes import spotcheck
from concord.studies.studies import deal_study, invite, ratings_for_agreement
from tests.annotated import Annotation, import_annotations
from tests.rubrics.judging_by_rubric_helpers import done, given, rated, shop, write  # noqa: F401
from tests.rubrics.rubric_files_helpers import GOOD


@pytest.mark.parametrize(
    ("unit", "turns"),
    [("each-reply", {1, 2}), ("last-reply", {2}), ("conversation", {None})],
)
def test_imported_conversations_are_judged_by_unit(shop, run, unit, turns):  # noqa: F811
    write(shop, GOOD.replace("each-reply", unit))
    assert "8 of 8 stored" in done(run(shop, "judge", "support", "--judges", "a,b"))
    found = given(shop, "c1")
    assert {r.turn for r in found} == turns
    assert {r.criterion for r in found} == {"solved", "polite", "cause", "effort"}
    assert {r.rater.variant for r in found} == {"support v1"}
    assert all(r.explanation for r in found)


def test_a_changed_rubric_is_a_new_version_and_the_old_one_stays(shop, run):  # noqa: F811
    done(run(shop, "judge", "support", "--judges", "a"))
    write(shop, GOOD.replace("The problem is solved.", "The problem is gone."))
    done(run(shop, "judge", "support", "--judges", "a"))
    assert {r.rater.variant for r in given(shop, "c0")} == {"support v1", "support v2"}
    with shop.read() as db:
        statements = [v.body["criteria"][0]["statement"] for v in rubrics.versions(db, "support")]
    assert statements == ["The problem is solved.", "The problem is gone."]
    again = done(run(shop, "judge", "support", "--judges", "a", "--version", "1", "--estimate"))
    assert " 0 to generate" in again


def test_a_study_takes_the_judges_of_its_own_rubric(shop, run):  # noqa: F811
    done(run(shop, "judge", "support", "--judges", "a"))
    other = GOOD.replace("each-reply", "conversation").replace("It is polite.", "It is kind.")
    (shop.path / "rubrics" / "other.toml").write_text(other)
    done(run(shop, "judge", "other", "--judges", "a,b"))
    done(run(shop, "study", "draw", "s", "--n", "4", "--rubric", "other"))
    told = json.loads(
        run(shop, "agreement", "--study", "s", "--format", "json").output.partition("\nError")[0]
    )
    assert "support" not in json.dumps(told)
    with shop.read() as db:
        study = studies.get(db, "s")
        assert study.rubric == "other"
        assert {r["turn"] for r in studies.units(db, "s")} == {None}
        # Judges of another rubric have finals of their own scope, and none of them is mixed.
        assert {r.rater.variant for r in ratings.of_conversation(db, 1)} == {"support v1", "other v1"}


def test_from_file_to_agreement(shop, run):  # noqa: F811
    rated(shop, run)
    shown = done(run(shop, "agreement", "--study", "s"))
    assert "Annotators of study s" in shown
    assert "a + b" in shown


def test_categories_have_nominal_figures_and_no_others(shop, run):  # noqa: F811
    rated(shop, run)
    told = json.loads(done(run(shop, "agreement", "--study", "s", "--format", "json")))
    rows = told["sections"]["cause"]["people"]["nominal"]["rows"]
    alpha = next(row for row in rows if row["coefficient"] == "alpha_nominal")
    assert (alpha["value"]["value"], alpha["n"]) == (1.0, 6)
    assert list(told["sections"]) == ["solved", "polite", "effort", "cause"]


def test_a_rubric_of_categories_alone_is_measured_as_categories(shop, run):  # noqa: F811
    begin, cause = GOOD.index("[[criteria]]"), GOOD.index('[[criteria]]\nname = "cause"')
    write(shop, GOOD[:begin] + GOOD[cause : GOOD.index('[[criteria]]\nname = "effort"')])
    rated(shop, run)
    told = json.loads(done(run(shop, "agreement", "--study", "s", "--format", "json")))
    assert list(told["sections"]) == ["cause"]
    assert (told["main"], list(told["criteria"])) == ("cause", [])


def test_players_are_compared_by_a_rubric_as_by_a_benchmark(shop, run):  # noqa: F811
    done(run(shop, "judge", "support", "--judges", "a,b"))
    told = json.loads(done(run(shop, "leaderboard", "shop", "--format", "json")))
    board = told["tables"]["leaderboard-shop"]
    assert board["title"] == "shop, by support v1"
    assert (board["judges"], list(board["weights"])) == (["a", "b"], ["solved"])
    with shop.read() as db:
        for row in board["rows"]:
            of = [c.key for _, c in conversations.of_benchmark(db, "shop") if c.player == row["player"]]
            # Each judge's mean over a conversation's turns, then over judges, then over conversations.
            by = [
                [
                    [r.score for r in given(shop, key) if (r.criterion, r.rater.name) == ("solved", j)]
                    for j in "ab"
                ]
                for key in of
            ]
            means = [sum(sum(turns) / len(turns) for turns in judges) / 2 for judges in by]
            assert row["final"]["value"] == pytest.approx(sum(means) / len(means))
    write(shop, GOOD.replace('"1..7"', '"1..9"').replace("7 =", "9 ="))
    done(run(shop, "judge", "support", "--judges", "b"))
    last, first = (
        json.loads(done(run(shop, "leaderboard", "shop", "--format", "json", *by)))["tables"][
            "leaderboard-shop"
        ]
        for by in ((), ("--rubric", "support v1"))
    )
    assert (last["title"], last["judges"]) == ("shop, by support v2", ["b support v2"])
    assert (first["title"], first["judges"]) == ("shop, by support v1", ["a", "b support v1"])
    assert [row["final"] for row in first["rows"]] == [row["final"] for row in board["rows"]]
    assert "There is no rubric “other”" in run(shop, "leaderboard", "shop", "--rubric", "other").output


def test_judgements_by_a_rubric_are_spot_checked(shop, run):  # noqa: F811
    with (
        shop.read() as db,
        pytest.raises(StudyError, match="No judge has rated conversations of “shop” by a"),
    ):
        spotcheck.question(db, "shop")
    done(run(shop, "judge", "support", "--judges", "a,b"))
    with shop.write() as db:
        found = spotcheck.screen(db, conversations.find_id(db, "c1"))
        low = min((seen for seen in found.judgements), key=lambda seen: seen.score)
        spotcheck.verify(db, low.id, "Ann", "too_low")
        every, *_ = audits.findings(db, "shop").rows
        audit = audits.draw(db, "audit", "shop", n=1)
    assert (found.criterion.name, {seen.judge for seen in found.judgements}) == ("solved", {"a", "b"})
    assert (every["too_low"], audit.drawn_from) == (1, 8)


def test_people_of_a_file_and_judges_by_a_rubric_meet_in_one_agreement(shop, run, tmp_path):  # noqa: F811
    write(shop, GOOD.replace("each-reply", "conversation"))
    done(run(shop, "judge", "support", "--judges", "a,b"))
    scores = tmp_path / "people.csv"

    def people(*lines):
        head = "item_id,criterion,rater_type,rater,score"
        scores.write_text("\n".join([head, *lines]) + "\n")
        return run(shop, "import", "ratings", scores, "--study", "crowd", "--rubric", "support")

    answers = [f"c{i},solved,human,{who},{1 + (i + of) % 7}" for i in range(4) for of, who in enumerate("xy")]
    assert "is not a stored conversation" in people(*answers, "c9,solved,human,x,1").output
    assert "the rubric has other criteria: solved" in people("c0,speed,human,x,1").output
    assert "the score 8 is not on the scale of “solved” (1 to 7)" in people("c0,solved,human,x,8").output
    assert "is no stored" not in done(people(*answers))
    with shop.read() as db:
        assert studies.get(db, "crowd").rubric == "support"
        of = ratings_for_agreement(db, "crowd")
        # The file's people and both judges share all four conversations.
        solved = of.table[of.table.criterion == "solved"]
        assert solved.groupby("rater").unit.nunique().to_dict() == dict.fromkeys("abxy", 4)
    told = json.loads(done(run(shop, "agreement", "--study", "crowd", "--format", "json")))
    judged = {each["rater"]: each["n"] for each in told["sections"]["solved"]["judges"]["judges"]["rows"]}
    assert (judged["a"], judged["b"]) == (4, 4)
    refused = run(shop, "import", "ratings", scores, "--study", "crowd", "--append", "--rubric", "other")
    assert "There is no rubric “other”" in refused.output


@pytest.mark.parametrize("variant", ["", "v3", "support v7"])
@pytest.mark.parametrize("with_rubric", [True, False])
def test_judges_that_come_with_a_file_count_in_its_study(shop, run, tmp_path, variant, with_rubric):  # noqa: F811
    """They were asked by no rubric of this workspace, or by another version of it."""
    write(shop, GOOD.replace("each-reply", "conversation"))
    done(run(shop, "judge", "support", "--judges", "a"))
    scores = tmp_path / "all.csv"
    lines = ["item_id,criterion,rater_type,rater,variant,score"]
    for item in range(4):
        lines += [f"c{item},solved,human,{who},,{1 + (item + of) % 7}" for of, who in enumerate("xy")]
        lines.append(f"c{item},solved,judge,remote,{variant},{1 + item}")
    scores.write_text("\n".join(lines) + "\n")
    words = ("--rubric", "support") if with_rubric else ()
    assert "4 by judges" in done(run(shop, "import", "ratings", scores, "--study", "crowd", *words))
    with shop.read() as db:
        of = ratings_for_agreement(db, "crowd")
    assert of.judges == (("a", "remote") if with_rubric else ("remote",))
    assert "No judge has rated" not in done(run(shop, "agreement", "--study", "crowd"))


def test_judges_that_are_added_to_a_study_by_rubric_count_in_it(shop, run, tmp_path):  # noqa: F811
    write(shop, GOOD.replace("each-reply", "conversation"))
    done(run(shop, "judge", "support", "--judges", "a"))
    head, scores = "item_id,criterion,rater_type,rater,score", tmp_path / "scores.csv"
    people = [f"c{item},solved,human,x,{1 + item}" for item in range(4)]
    scores.write_text("\n".join([head, *people]) + "\n")
    done(run(shop, "import", "ratings", scores, "--study", "crowd", "--rubric", "support"))
    scores.write_text(
        "\n".join([head, *(f"c{item},solved,judge,remote,{2 + item}" for item in range(4))]) + "\n"
    )
    done(run(shop, "import", "ratings", scores, "--study", "crowd", "--append"))
    with shop.read() as db:
        assert ratings_for_agreement(db, "crowd").judges == ("a", "remote")
        # They are nobody's judges elsewhere: another study of the rubric has its own alone.
        assert studies.get(db, "crowd").own_judges == (("remote", ""),)


def test_a_partial_version_is_named_with_the_run_that_makes_up_for_it(shop, run, tmp_path):  # noqa: F811
    write(shop, GOOD.replace("each-reply", "conversation"))
    done(run(shop, "judge", "support", "--judges", "a"))
    scores = tmp_path / "people.csv"
    people = [f"c{item},solved,human,x,{1 + item}" for item in range(4)]
    scores.write_text("\n".join(["item_id,criterion,rater_type,rater,score", *people]) + "\n")
    done(run(shop, "import", "ratings", scores, "--study", "crowd", "--rubric", "support"))
    write(shop, GOOD.replace("each-reply", "conversation").replace("is solved.", "is gone."))
    job = planning.job(shop, JudgePlan("shop", ("a",), rubric="support", among=("c0",)))
    engine.execute(shop, job)
    with shop.read() as db:
        report = agreement_report(db, "crowd", Options(resamples=0))
        assert report.judges == ("a support v1",)
        [partial] = report.partial
        assert (partial.judge.variant, partial.rated, len(partial.lacks)) == ("support v2", 1, 3)
        plan = coverage.rest(db, "crowd", partial)
    assert plan == JudgePlan("shop", ("a",), version="2", rubric="support", among=("c1", "c2", "c3"))
    command = re.search("`concord (.*?)`", " ".join(report.notes)).group(1)
    assert command == "judge support --version 2 --judges a --study crowd"
    assert "· 3 calls (" in done(run(shop, *command.split()))
    with shop.read() as db:
        report = agreement_report(db, "crowd", Options(resamples=0))
    assert (report.judges, report.partial) == (("a support v2",), ())


def test_of_repeated_runs_the_category_given_most_often_counts(shop):  # noqa: F811
    """Means of 0, 2, 0 and of 2, 0, 1 would be 2/3, which is no category, and 1, which nobody gave twice."""
    cause = Criterion("cause", "What was it about?", categories(["billing", "delivery", "else"]))
    runs = {"c0": (0, 2, 0), "c1": (1, 1, 2), "c2": (2, 0, 2), "c3": (2, 0, 1)}
    with shop.write() as db:
        studies.create(db, studies.Study("s", (cause,)))
        studies.add_units(db, "s", [(conversations.find_id(db, key), None, "") for key in runs])
        invite(db, ["Ann"])
        deal_study(db, "s", ["Ann"])
        people = zip(runs, (0, 1, 2, 0), strict=True)
        import_annotations(
            db, "s", [Annotation(Rating(Unit(key), "cause", score), "Ann") for key, score in people]
        )
        for key, given in runs.items():
            for repeat, score in enumerate(given):
                rating = (Rating(Unit(key), "cause", score),)
                made = Judgement(f"{key} {repeat}", key, Rater("j", "judge"), rating, repeat=repeat)
                ratings.save_judgement(db, made)
        of = ratings_for_agreement(db, "s")
        assert of.table[of.table.rater == "j"].score.tolist() == [0, 1, 2, 2]
        report = agreement_report(db, "s", Options(resamples=0))
    rows = report.section("people", "cause")["nominal"].rows
    kappa = next(row for row in rows if (row["a"], row["b"]) == ("j", "Ann"))
    # j 0 1 2 2, Ann 0 1 2 0: 3 of 4 are equal; by chance (1·2 + 1·1 + 2·1) ÷ 16 = 5 ÷ 16.
    assert kappa["value"].value == pytest.approx((3 / 4 - 5 / 16) / (1 - 5 / 16))


def test_what_cannot_be_asked_about_is_a_failure_without_a_call(shop, run):  # noqa: F811
    with shop.write() as db:
        conversations.save(db, Conversation("shop", "silent", "m", (Message("user", "Hello?"),)))
    judged = run(shop, "judge", "support", "--judges", "a")
    assert judged.exit_code == 2
    with shop.read() as db:
        (failed,) = ratings.judgements_of(db, conversations.find_id(db, "silent"))
    assert failed["failure"] == "The conversation has no reply to rate."
    assert failed["calls"] == 0


def test_a_study_by_a_rubric_is_moved_whole(shop, run, fresh, tmp_path):  # noqa: F811
    rated(shop, run)
    told = json.loads(done(run(shop, "agreement", "--study", "s", "--format", "json")))
    moved, scores = tmp_path / "s.jsonl", tmp_path / "s.csv"
    done(run(shop, "export", "conversations", "--study", "s", "--out", moved))
    done(run(shop, "export", "ratings", "--study", "s", "--out", scores))
    done(run(fresh, "import", "conversations", moved))
    done(run(fresh, "import", "ratings", scores, "--study", "s", "--append"))
    with shop.read() as db, fresh.read() as other:
        assert studies.get(other, "s").criteria == studies.get(db, "s").criteria
    again = json.loads(done(run(fresh, "agreement", "--study", "s", "--format", "json")))
    assert again["criteria"] == told["criteria"]
    assert again["sections"]["cause"]["people"] == told["sections"]["cause"]["people"]


def test_a_run_that_lasts_says_where_it_stands(shop, run, monkeypatch):  # noqa: F811
    monkeypatch.setattr("concord.commands.progress.PLAIN_SECONDS", 0.0)
    said = done(run(shop, "judge", "support", "--judges", "a"))
    assert said.count("stored ·") > 1
