"""Pre-registration: what is fixed, when it is refused, and what of it differs later."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import asdict
from datetime import date

import pytest

from concord.errors import NotAllowed, NotFound, StudyError
from concord.exchange import publish
from concord.reports.agreement_report import Options, agreement_report
from concord.store import access, audit, conversations, placements, ratings, registrations
from concord.store import studies as stored
from concord.store.actor import acting
from concord.store.conversations import Filter
from concord.studies import registration, studies
from concord.studies.purposes.adjudicate import Rule
from concord.studies.registration import EXAMPLE, Plan, PlannedTest, read_plan
from tests.filled import assigned

FEW = Options(resamples=50)
PLAN = Plan(annotators=2, test=(PlannedTest(criterion="fluency", least=-1), PlannedTest(least=1)))


@pytest.fixture
def workspace(filled):
    """A study of 12 units that nobody has rated."""
    with filled.write() as db:
        studies.draw_study(db, "s", 12, wanted=Filter("pingpong"), seed=3, guidelines="Read **all**.")
        studies.invite(db, ["ann", "bo"])
        studies.deal_study(db, "s", ["ann", "bo"])
    return filled


def rate(db, count=12) -> None:
    for person, lean in (("ann", 0), ("bo", 1)):
        rater = access.annotator_id(db, person)
        for place, (task, _, _) in enumerate(assigned(db, rater, "s")[:count]):
            for criterion in stored.get(db, "s").criteria:
                placements.answer(db, rater, task, criterion.name, float((place * 7 + lean) % 5 + 1))
            placements.submit(db, rater, task)


def results(db, options=FEW) -> dict[str, str]:
    """The result of each row, by item."""
    [table] = agreement_report(db, "s", options).section("registration", "final").values()
    return {row["item"]: row["result"] for row in table.rows if row["item"] != "test"}


def test_the_text_is_what_was_hashed_and_holds_what_was_fixed(workspace):
    with workspace.write() as db:
        made = registration.register(db, "s", PLAN, judges=["strict"])
        units = stored.units(db, "s")
    assert made.sha256 == hashlib.sha256(made.document.encode()).hexdigest()
    assert registrations.canonical(json.loads(made.document)) == made.document
    content = made.content
    assert content["units"] == sorted(unit["key"] for unit in units)
    assert content["guidelines"] == "Read **all**."
    assert content["sample"]["seed"] == 3
    assert content["judges"] == ["strict"]
    assert [test["least"] for test in content["plan"]["test"]] == [-1, 1]
    assert (made.ratings, made.late) == (0, False)


def test_equal_studies_have_equal_texts(workspace):
    with workspace.read() as db:
        assert registration.content_of(db, "s") == registration.content_of(db, "s")


def test_it_says_how_many_ratings_judges_had_given(workspace):
    """Those of the study's conversations alone; people's are counted beside them."""
    with workspace.write() as db:
        rate(db, 1)
        registration.register(db, "s", PLAN, late=True)
        ids = {unit["conversation_id"] for unit in stored.units(db, "s")}
        every = [rating for number in ids for rating in ratings.of_conversation(db, number)]
        [table] = agreement_report(db, "s", FEW).section("registration", "final").values()
    by_judges = sum(rating.rater.kind == "judge" for rating in every)
    assert 0 < by_judges < len(every)
    [row] = [row for row in table.rows if row["item"] == "ratings by judges before registration"]
    assert row["registered"] == f"{by_judges:,}"


def test_it_is_refused_once_people_answer_and_late_only_if_asked(workspace):
    with workspace.write() as db:
        rater = access.annotator_id(db, "ann")
        [first, *_] = assigned(db, rater, "s")
        placements.answer(db, rater, first[0], "fluency", 3)
        with pytest.raises(NotAllowed, match="have given 1 answers"):
            registration.register(db, "s", PLAN)
        late = registration.register(db, "s", PLAN, late=True)
        assert (late.late, late.ratings) == (True, 1)
        assert "after people had given 1 answers" in late.line


def test_the_last_one_in_time_holds_and_all_are_kept(workspace):
    with workspace.write() as db:
        registration.register(db, "s", Plan(notes="first"))
        second = registration.register(db, "s", Plan(notes="second"))
        rate(db, 1)
        third = registration.register(db, "s", Plan(notes="third"), late=True)
        made = registrations.every(db, "s")
    assert [one.content["plan"]["notes"] for one in made] == ["first", "second", "third"]
    assert registrations.binding(made) == second
    assert registrations.binding([third]) == third
    assert registrations.binding([]) is None


def test_nothing_differs_in_a_study_that_was_left_alone(workspace):
    with workspace.write() as db:
        registration.register(db, "s", PLAN, judges=["strict", "kind", "erratic"])
        rate(db)
        found = results(db)
    assert found.pop("ratings by judges before registration") == ""
    assert set(found.values()) == {"same"}
    assert found.keys() == {
        *("units", "texts", "sample", "guidelines", "rubric", "criteria", "judges", "annotators"),
    }


def test_each_change_is_told_by_its_item(workspace):
    with workspace.write() as db:
        judges = ["strict", "kind", "nobody"]
        registration.register(db, "s", PLAN, judges=judges, models=["nobody"])
        rate(db)
        stored.write_guidelines(db, "s", "Read the end.")
        stored.remember(db, "s", "extra", asdict(Rule(least=2.0)))
        spare = conversations.table(db, Filter("pingpong"))
        there = {unit["key"] for unit in stored.units(db, "s")}
        other = next(row for row in spare.itertuples() if row.key not in there)
        stored.add_units(db, "s", [(other.id, None, "")])
        changed = stored.units(db, "s")[0]
        stored_key = changed["key"]
        db.table("conversations").update(
            changed["conversation_id"], {"messages": json.dumps([["user", "new", {}]])}
        )
        [table] = agreement_report(db, "s", FEW).section("registration", "final").values()
    differs = {row["item"]: row["now"] for row in table.rows if row["result"] == "differs"}
    assert differs == {
        "units": f"1 added: {other.key}",
        "texts": f"1 added: {other.key}; 1 changed: {stored_key}",
        "sample": "1 changed: extra raters",
        "guidelines": "Read the end.",
        "judges": "1 removed: nobody; 1 added: erratic",
    }


def test_a_planned_test_is_reached_by_the_lower_end_of_its_interval(workspace):
    with workspace.write() as db:
        wanted = PlannedTest(criterion="fluency", least=0, judges=("strict", "unknown"))
        plan = Plan(test=(*PLAN.test, wanted))
        registration.register(db, "s", plan, models=["unknown"])
        rate(db)
        [table] = agreement_report(db, "s", FEW).section("registration", "final").values()
    tests = [row for row in table.rows if row["item"] == "test"]
    assert [row["result"] for row in tests] == ["reached", "not reached", "not known"]
    assert tests[0]["figure"].low >= -1
    assert "unknown" in tests[2]["figure"].reason


def test_what_was_not_registered_is_no_difference(workspace):
    with workspace.write() as db:
        registration.register(db, "s", Plan(stopping="Every item has two raters."))
        rate(db)
        [table] = agreement_report(db, "s", FEW).section("registration", "final").values()
    rows = {row["item"]: (row["registered"], row["now"], row["result"]) for row in table.rows}
    assert rows["annotators"] == ("none", "2", "not registered")
    assert rows["judges"] == ("none", "erratic, kind, strict", "not registered")
    assert rows["stopping"] == ("Every item has two raters.", "", "")


def test_an_exclusion_after_it_is_a_difference(workspace):
    from concord.store import exclusions

    with workspace.write() as db:
        registration.register(db, "s", PLAN)
        rate(db)
        exclusions.exclude(db, "s", "bo", "too fast")
        found = results(db)
    assert found["annotators"] == "differs"


def test_the_bundle_holds_it_byte_by_byte(workspace):
    with workspace.write() as db:
        made = registration.register(db, "s", PLAN)
        rate(db)
        written = publish.report_zip(db, agreement_report(db, "s", FEW), made=date(2026, 3, 1))
    archive = zipfile.ZipFile(io.BytesIO(written))
    found = {name.split("/", 1)[1]: archive.read(name) for name in archive.namelist()}
    assert hashlib.sha256(found["registration.json"]).hexdigest() == made.sha256
    about = json.loads(found["about.json"])["registration"]
    assert (about["sha256"], about["late"]) == (made.sha256, False)
    assert made.sha256 in found["report.html"].decode()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("test = 3", "test"),
        ("[[test]]\nleast = 2", "less than or equal to 1"),
        ("[[test]]\nleast = 0.5\nstatistic = 'rho'", "statistic"),
        ("unknown = 1", "unknown"),
        ("a = ", "not valid TOML"),
        ("a" + ".a" * 20_000 + " = 1", "longer than"),
    ],
)
def test_a_plan_that_cannot_be_read(text, said):
    with pytest.raises(StudyError, match=said):
        read_plan(text)


def test_a_plan_names_criteria_of_the_study(workspace):
    assert read_plan(EXAMPLE).test[0].least == 0.6
    assert read_plan("") == Plan()
    with workspace.write() as db:
        with pytest.raises(NotFound, match="wit"):
            registration.register(db, "s", Plan(test=(PlannedTest(criterion="wit", least=0),)))
        with pytest.raises(StudyError, match="name"), acting(" "):
            registration.register(db, "s", Plan())
        assert registrations.every(db, "s") == []


def test_judges_are_in_models_toml_or_have_rated(workspace, run):
    with workspace.write() as db:
        with pytest.raises(NotFound, match="Did you mean “strict”"):
            registration.register(db, "s", Plan(), judges=["strikt"])
        plan = Plan(test=(PlannedTest(least=0, judges=("gpt",)),))
        with pytest.raises(NotFound, match="Known: erratic, erratic v2, kind"):
            registration.register(db, "s", plan)
        assert registrations.every(db, "s") == []
    refused = run(workspace, "study", "register", "s", "--judges", "gpt")
    assert (refused.exit_code, "There is no judge “gpt”" in refused.output) == (1, True)
    workspace.models_path.write_text('[models.gpt]\nmodel = "g"\nbase_url = "https://example.org/v1"\n')
    assert run(workspace, "study", "register", "s", "--judges", "gpt,kind").exit_code == 0


def test_the_audit_log_says_which_one_came_after_answers(workspace):
    with workspace.write() as db:
        registration.register(db, "s", Plan())
        rate(db, 1)
        registration.register(db, "s", Plan(), late=True)
        details = {
            "after people" in line.detail for line in audit.every(db, "s") if line.what == "registered"
        }
        last = registrations.every(db, "s")[-1]
        assert details == {False, True}
        assert any(
            f", after people had given {last.ratings} answers" in line.detail for line in audit.every(db, "s")
        )


def test_by_command(workspace, run, tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(EXAMPLE, encoding="utf-8")
    assert "is not registered" in run(workspace, "export", "registration", "--study", "s").output
    made = run(workspace, "--by", "dana", "study", "register", "s", "--plan", plan, "--judges", "strict")
    assert made.exit_code == 0, made.output
    out = tmp_path / "registration.json"
    assert run(workspace, "export", "registration", "--study", "s", "--out", out).exit_code == 0
    digest = hashlib.sha256(out.read_bytes()).hexdigest()
    assert digest in made.output
    assert f"registered by dana, SHA-256 {digest}" in run(workspace, "study", "show", "s").output
    assert out.read_text(encoding="utf-8") in run(workspace, "export", "registration", "--study", "s").output
    with workspace.write() as db:
        rate(db)
    assert "--late" in run(workspace, "study", "register", "s").output
    said = run(workspace, "agreement", "--study", "s", "--section", "registration", "--resamples", 50).output
    assert "2 added: erratic, kind" in said
    assert digest in said.replace("\n", "")
