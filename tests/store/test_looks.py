"""Looks at a study's verdict: each number of items counts once, and only when no assigned rating is open."""

from concord.codes import Unknown
from concord.reports.agreement_report import Options, agreement_report
from concord.store import access, closings, exclusions, looks, schema
from concord.store.conversations import Filter
from concord.studies import dealing
from concord.studies.drawing import StudyDraw, draw_study
from concord.workspace import Workspace
from tests.filled import fill

QUICK = Options(resamples=100)


def test_a_number_of_items_counts_once_and_others_by_their_size(filled):
    study = "first"
    with filled.write() as db:
        closings.close(db, study, "enough")
        assert looks.is_new(db, study, "final", 60)
        for items in (60, 200, 60):
            looks.record(db, study, "final", items, "inconclusive")
        assert not looks.is_new(db, study, "final", 60)
        assert looks.is_new(db, study, "final", 300)
        assert looks.items_at_looks(db, study) == {"final": (60, 200)}
        looks.record(db, study, "fluency", 12, "as_good")
        assert looks.items_at_looks(db, study) == {"final": (60, 200), "fluency": (12,)}


def test_a_verdict_goes_by_the_looks_that_were_counted(filled):
    study = "first"
    with filled.read() as db:
        first = agreement_report(db, study, QUICK)
    main, items = first.main, first.items(first.main)
    assert first.look(main) == 0, "it was never read at fewer items"
    with filled.write() as db:
        for fewer in (1, 2, items):
            looks.record(db, study, main, fewer, "inconclusive")
        assert agreement_report(db, study, QUICK).look(main) == 3
        stated = agreement_report(db, study, Options(resamples=100, look=5))
    assert stated.look(main) == 5


def test_open_ratings_make_a_verdict_preliminary_until_the_study_is_closed(demo_workspace):
    with demo_workspace.write() as db:
        db.execute(
            "UPDATE placements SET state = 'open', submitted = NULL WHERE id = (SELECT p.id FROM "
            "placements p JOIN items i ON i.id = p.item_id JOIN studies s ON s.id = i.study_id "
            "WHERE p.purpose = 'first' AND p.state = 'done' ORDER BY p.id LIMIT 1)"
        )
        [name] = db.execute(
            "SELECT s.name FROM placements p JOIN items i ON i.id = p.item_id JOIN studies s ON s.id = "
            "i.study_id WHERE p.purpose = 'first' AND p.state = 'open' ORDER BY p.id LIMIT 1"
        ).fetchone()
        assert looks.unfinished(db, name) > 0
        assert not looks.is_new(db, name, "c", 5)
        report = agreement_report(db, name, QUICK)
        assert Unknown.PRELIMINARY in report.verdict().unknowns
        closings.close(db, name, "enough")
        assert looks.unfinished(db, name) == 0
        assert looks.is_new(db, name, "c", 5)
        assert Unknown.PRELIMINARY not in agreement_report(db, name, QUICK).verdict().unknowns


def test_open_items_of_an_excluded_annotator_keep_no_verdict_preliminary(tmp_path):
    with Workspace.open(tmp_path / "w").write() as db:
        fill(db, people=False)
        draw_study(db, "first", StudyDraw(4, Filter("pingpong"), ask=["fluency"]))
        for name in ("Ada", "Bo"):
            access.invite(db, name)
        dealing.deal_study(db, "first", ["Ada", "Bo"])
        assert [one.name for one in looks.annotators(db, "first")] == ["Ada", "Bo"]
        assert looks.unfinished(db, "first") == 8
        exclusions.exclude(db, "first", "Bo", "has left")
        assert [one.name for one in looks.annotators(db, "first")] == ["Ada"]
        assert looks.unfinished(db, "first") == 4
        closings.close(db, "first", "enough")
        assert looks.annotators(db, "first") == []


def test_the_command_counts_a_look(filled, run):
    with filled.write() as db:
        closings.close(db, "first", "enough")
    for _ in range(2):
        assert run(filled, "agreement", "--study", "first", "--resamples", "100").exit_code == 0
    with filled.read() as db:
        assert [len(sizes) for sizes in looks.items_at_looks(db, "first").values()] == [1]


def test_a_workspace_of_form_4_gets_the_table_and_keeps_its_studies(filled):
    with filled.write() as db:
        before = db.execute("SELECT count(*) FROM studies").fetchone()
        db.execute("DROP TABLE looks")
        [step] = [step for step in schema.STEPS if "CREATE TABLE looks" in str(step)]
        db.execute(str(step))
        assert db.execute("SELECT count(*) FROM studies").fetchone() == before
        assert looks.items_at_looks(db, "first") == {}
