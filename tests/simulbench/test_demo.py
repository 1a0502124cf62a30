"""The demo's SimulBench: everything is there, and simulated people answer as they are told."""

from concord.benchmarks.simulbench import toxicity
from concord.store import conversations, scenarios
from concord.studies import audits, comparisons
from tests.demo import simulbench as played
from tests.mock.simulbench import judges


def test_every_part_of_it_is_there(demo_workspace):
    with demo_workspace.read() as db:
        found = comparisons.compared(db, "simulbench", resamples=10)
        assert set(found.raters) >= {"people", *played.COMPARERS}
        assert set(found.basis["players"]) == set(played.TARGETS)
        audit = audits.findings(db, "simulbench", played.AUDIT)
        assert audit.meta["items"] == audit.meta["drawn"] > 20
        assert 0.5 < audit.rows[0]["reasonable"].value < 1
        assert audit.meta["simulated"] == [*played.PEOPLE[:1]]
        assert len(scenarios.page(db, "simulbench", "task", state="proposed")) == 6
    assert all(row["missing"] == 0 for row in toxicity.toxicity(demo_workspace, played.MODERATION).rows)


def test_simulated_people_answer_the_same_every_time_and_not_all_alike(played_once):
    with played_once.read() as db:
        found = [c for _, c in conversations.of_benchmark(db, "simulbench")]
    ada = [judges.person_score(c, "Ada") for c in found]
    assert ada == [judges.person_score(c, "Ada") for c in found]
    assert ada != [judges.person_score(c, "Ben") for c in found]
    assert set(ada) <= set(range(1, 11))
    assert len(set(ada)) > 3
    assert judges.person_finding(ada[0], found[0], "Ada") == "reasonable"
    high = next(c for c in found if judges.person_score(c, "Ada") < 5)
    assert judges.person_finding(10, high, "Ada") == "too_high"
    a, b = found[0], found[1]
    turned = {"A": "B", "B": "A", "C": "C"}
    assert judges.person_preference(b, a, "Ada") == turned[judges.person_preference(a, b, "Ada")], (
        "wherever it stands"
    )
