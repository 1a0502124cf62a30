"""Judges compare in both orders, people once and blind; what comes of it is one table."""

import json

import pytest

from concord.configuration import Reported
from concord.errors import ConcordError, ConfigError, NotFound
from concord.llm.models import load_models
from concord.rating import Comparison, Rater
from concord.runs import engine, planning
from concord.runs.plans import ComparePlan
from concord.store import access, configurations, conversations, scenarios
from concord.store import comparisons as store
from concord.studies import comparisons
from tests import pairs as made
from tests.pairs import PAIRS
from tests.simulbench import by_hand
from tests.simulbench.conftest import TARGETS, execute


def compare(players=TARGETS, judges=("mock-judge-strict", "mock-judge-noisy"), **options):
    return ComparePlan("simulbench", tuple(judges), tuple(players), **options)


def scripts_of(workspace):
    with workspace.read() as db:
        return {c.facets["script"] for _, c in conversations.of_benchmark(db, "simulbench")}


def test_every_pair_is_asked_in_both_orders_and_once(played):
    ended = execute(played, compare())
    pairs, orders, judges = 3, 2, 2
    wanted = len(scripts_of(played)) * pairs * orders * judges
    assert (ended.state, ended.done + ended.failed) == ("finished", wanted)
    assert execute(played, compare()).spent.calls == 0
    with played.read() as db:
        asked = db.execute(
            "SELECT first_id, second_id, rater_id, count(*) FROM comparisons GROUP BY 1, 2, 3"
        ).fetchall()
        assert len(asked) == wanted
        assert {(b, a, r) for a, b, r, _ in asked} == {(a, b, r) for a, b, r, _ in asked}
        assert db.execute("SELECT count(*) FROM journal").fetchone()[0] == 0
        found = comparisons.compared(db, "simulbench", resamples=50)
    duels, strengths, *_ = comparisons.result_tables(found, "mock-judge-strict")
    assert duels.title.endswith(", by mock-judge-strict")
    assert (duels.rows[0]["one"], duels.rows[0]["other"]) == tuple(sorted(TARGETS)[:2])
    assert all(row["n"] + row["incomplete"] == len(scripts_of(played)) for row in duels.rows)
    assert strengths.rows[0]["player"] == "mock-sim-steady"
    assert sum(figure.value for figure in strengths.estimates("strength")) == pytest.approx(0)
    assert found.raters == ("mock-judge-noisy", "mock-judge-strict", "all judges")
    noisy = next(row for row in found.bias.rows if row["rater"] == "mock-judge-noisy")
    assert noisy["first"] > noisy["second"], "it likes what it is shown first"
    assert found.basis["simulated"] == ("mock-judge-noisy", "mock-judge-strict")
    assert found.matches.rows == ()
    best = comparisons.verdict(found, "mock-judge-strict")
    unsure = (
        "the best of 3 models is inconclusive. mock-sim-steady and mock-sim-chatty do not differ "
        "significantly"
    )
    assert best.startswith(f"By mock-judge-strict, {unsure}: ")
    first, second = (row["player"] for row in strengths.rows[:2])
    duel = next(row for row in duels.rows if {row["one"], row["other"]} == {first, second})
    won, lost = (duel["won"], duel["lost"]) if duel["one"] == first else (duel["lost"], duel["won"])
    assert f"{won} won, {duel['tied']} tied, {lost} lost of {duel['n']} scenarios;" in best
    assert comparisons.verdict(found, "nobody") == ""
    again = planning.survey(played, planning.job(played, compare(judge_repeats=2)))
    assert again.measured_models == {"mock-judge-noisy", "mock-judge-strict"}, (
        "what comparing took is known by now"
    )


def test_comparing_by_batch_gives_the_same_verdicts(played):
    plan = compare(TARGETS[:2], ("mock-judge-strict",))

    def verdicts():
        with played.read() as db:
            return {row["key"]: (row["verdict"], row["raw"]) for row in db["comparisons"].rows}

    execute(played, plan)
    direct = verdicts()
    with played.write() as db:
        db["comparisons"].delete_where()
    ended = engine.execute(played, planning.job(played, plan), batch=True, wait=True)
    assert (ended.state, ended.failed) == ("finished", 0)
    assert verdicts() == direct != {}
    with played.read() as db:
        assert sum(row["lines"] for row in db["batches"].rows) == ended.spent.calls == len(direct)


def test_a_comparison_keeps_its_judge_configuration_prompt_and_cost(played):
    execute(played, compare(TARGETS[:2], ("mock-judge-strict",)))
    configuration = load_models(played.models_path)["mock-judge-strict"].configuration
    with played.read() as db:
        known = configurations.every(db)
        rows = list(db["comparisons"].rows)
        prompts = {row["hash"]: row["name"] for row in db["prompts"].rows}
    assert rows
    for row in rows:
        assert known[row["configuration_id"]] == configuration
        assert configurations.read(row["reported"]) == {Reported("mock-judge-strict", "concord-mock"): 1}
        assert prompts[row["prompt"]] == "pairwise"
        assert row["calls"] == 1
        assert row["input_tokens"] > row["output_tokens"] > 0


def test_each_repeat_asks_every_judge_about_every_pair_in_both_orders(played):
    def planned(repeats):
        return planning.survey(played, planning.job(played, compare(judge_repeats=repeats))).planned

    pairs, orders, judges = 3, 2, 2
    each = len(scripts_of(played)) * pairs * orders * judges
    assert planned(2) - planned(1) == each
    assert planned(3) - planned(2) == each


def test_comparisons_without_a_verdict_are_failures(played):
    plan = compare(TARGETS[:2], ("mock-judge-erratic",))
    ended = execute(played, plan)
    assert ended.failed > 0
    with played.read() as db:
        raws = db.execute("SELECT raw, failure, calls FROM comparisons WHERE verdict IS NULL").fetchall()
        assert len(raws) == ended.failed
        assert all(raw and "double brackets" in failure and calls == 3 for raw, failure, calls in raws)
        found = comparisons.compared(db, "simulbench", resamples=10)
    assert found.basis["failed"] == ended.failed
    [duel] = found.duels.rows
    assert duel["incomplete"] > 0
    assert duel["n"] + duel["incomplete"] == len(scripts_of(played))
    assert execute(played, plan, retry_failed=True).done > 0


def test_only_some_scripts(played):
    execute(played, compare(TARGETS[:2], ("mock-judge-strict",), where={"kind": ("FirstChan",)}))
    with played.read() as db:
        kinds = db.execute(
            "SELECT DISTINCT f.value FROM comparisons x JOIN facets f ON f.conversation_id = x.first_id AND "
            "f.name = 'kind'"
        ).fetchall()
    assert kinds == [("FirstChan",)]


@pytest.mark.parametrize(
    ("players", "judges", "error", "told"),
    [
        (TARGETS[:1], ("mock-judge-strict",), ConfigError, "at least two models"),
        ((TARGETS[0], "nobody"), ("mock-judge-strict",), NotFound, "nobody"),
        (TARGETS, (), ConfigError, "at least one judge"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_is_paid(played, players, judges, error, told):
    with pytest.raises(error, match=told):
        execute(played, compare(players, judges))


def test_a_benchmark_without_a_pairwise_prompt_says_so(workspace):
    with pytest.raises(ConfigError, match="no prompt for comparing"):
        execute(workspace, ComparePlan("pingpong", ("mock-judge-strict",), ("a", "b")))


@pytest.fixture
def filled(workspace):
    with workspace.write() as db:
        by_hand.fill(db, {(s, p): [5] for s in ("s1", "s2", "s3", "s4") for p in ("x", "y", "z")})
    return workspace


def sit(workspace, person, prefer, study=PAIRS, **options):
    """Compare everything, preferring by `prefer`(player A, player B); returns what was shown."""
    with workspace.write() as db:
        access.invite(db, person)
        made.deal(db, [person], study=study, **options)
        shown = made.compare(db, person, prefer, study=study)
        both = [[conversations.load(db, number) for number in pair] for pair in shown]
    return [(a.facets["script"], a.player, b.player) for a, b in both]


def test_people_see_the_same_pairs_in_orders_of_their_own(filled):
    ada = sit(filled, "Ada", lambda a, b: "C")
    ben = sit(filled, "Ben", lambda a, b: "C")
    assert len(ada) == 4 * 3
    assert {(s, frozenset((a, b))) for s, a, b in ada} == {(s, frozenset((a, b))) for s, a, b in ben}
    assert ada != ben
    assert {a < b for _, a, b in ada} == {True, False}


def test_people_and_their_agreement_are_in_the_table(filled, run):
    better = {"x": 3, "y": 2, "z": 1}
    sit(filled, "Ada", lambda a, b: "A" if better[a] > better[b] else "B")
    sit(filled, "Ben", lambda a, b: "A" if better[a] > better[b] else "B")
    with filled.write() as db:
        found = comparisons.compared(db, "simulbench", resamples=0)
    assert found.raters == ("people",)
    assert [tuple(row[c] for c in ("one", "other", "won", "tied", "lost")) for row in found.duels.rows] == [
        ("x", "y", 4, 0, 0),
        ("x", "z", 4, 0, 0),
        ("y", "z", 4, 0, 0),
    ]
    strength = found.strengths.rows[0]["strength"]
    assert strength.value is None, "z never took a point: no distance can be given"
    assert [(m["a"], m["b"], m["equal"].n, m["equal"].value) for m in found.matches.rows] == [
        ("people", "each other", 12, 1.0),
        ("Ada", "Ben", 12, 1.0),
    ]
    told = run(filled, "compare", "simulbench")
    assert told.exit_code == 0, told.output
    assert "never won or tied" in told.output
    values = json.loads(run(filled, "compare", "simulbench", "--format", "json").stdout)
    assert (values["schema"], values["tables"]["duels"]["people"]) == (1, 2)


def test_each_judge_stands_beside_people_on_the_pairs_that_it_answered(filled, run):
    sit(filled, "Mia", lambda a, b: "A" if a < b else "C", players=["x", "y"])
    with filled.write() as db:
        # Of the four pairs that Mia compared the judge answered s1 and s2 in both orders and s3 in one, and
        # was not asked about s4.
        for script, verdicts in {"s1": "AB", "s2": "BA", "s3": "A-"}.items():
            for (one, other), verdict in zip(("xy", "yx"), verdicts, strict=True):
                keys = [by_hand.key(script, player) for player in (one, other)]
                failure = "No usable reply." if verdict == "-" else None
                store.save(
                    db,
                    Comparison(
                        "|".join(keys),
                        *keys,
                        Rater("j", "judge"),
                        None if failure else verdict,
                        failure=failure,
                    ),
                )
        found = comparisons.compared(db, "simulbench", resamples=0)
        rows = found.matches.rows
        assert [(m["a"], m["b"], m["equal"].n) for m in rows] == [("j", "people", 2)]
    told = run(filled, "compare", "simulbench").output
    assert "the annotators' majority on a pair" in " ".join(told.split())


def test_conditions_choose_what_is_compared_and_by_which_prompt(filled, run):
    sit(filled, "Ada", lambda a, b: "A")
    with filled.write() as db:
        for variant in ("v1", "strict"):
            for one, other in (("x", "y"), ("y", "x")):
                keys = [by_hand.key("s1", player) for player in (one, other)]
                store.save(
                    db, Comparison("|".join([*keys, variant]), *keys, Rater("j", "judge", variant), "A")
                )
        every = comparisons.compared(db, "simulbench", resamples=0)
        strict = comparisons.compared(db, "simulbench", facets={"prompt": ["strict"]}, resamples=0)
        english = comparisons.compared(db, "simulbench", facets={"language": ["en"]}, resamples=0)
        with pytest.raises(NotFound, match="There is no language “xx”"):
            comparisons.compared(db, "simulbench", facets={"language": ["xx"]})
    assert set(every.raters) == {"j strict", "j v1", "all judges", "people"}
    assert set(strict.raters) == {"j", "people"}
    assert (english.duels.rows, english.strengths) == (every.duels.rows, every.strengths)
    mixed = "2 values of prompt are mixed (strict, v1)"
    assert [mixed in " ".join(of.duels.notes) for of in (every, strict)] == [True, False]


def test_nothing_compared_yet_is_said(workspace, run):
    with workspace.read() as db, pytest.raises(ConcordError, match="No comparisons yet"):
        comparisons.compared(db, "simulbench")
    assert "No comparisons yet" in run(workspace, "compare", "simulbench").output


def test_a_filter_that_nothing_has_is_named_with_what_there_is(filled, run):
    told = run(filled, "compare", "simulbench", "--where", "kind=Nope")
    assert told.exit_code == 1
    assert "There is no kind “Nope”. Known: FirstChan, LastOnly, SubseqChan." in told.output
    assert (
        "There is no facet “kin”. Did you mean “kind”?"
        in run(filled, "compare", "simulbench", "--where", "kin=FirstChan").output
    )


def test_an_interrupted_comparison_is_resumed_by_its_number(played, run):
    text = played.models_path.read_text()
    entry = "[models.mock-judge-strict]"
    assert entry in text
    played.models_path.write_text(text.replace(entry, f"{entry}\nprice = {{ input = 1, output = 1 }}"))
    execute(played, compare(TARGETS[:2], ("mock-judge-strict",)), max_cost=0.0)
    with played.read() as db:
        number = db.execute("SELECT max(id) FROM runs").fetchone()[0]
        assert db.execute("SELECT count(*) FROM comparisons").fetchone()[0] == 0
    told = run(played, "run", "resume", number, "--max-cost", 1000)
    assert told.exit_code == 0, told.output
    with played.read() as db:
        assert db.execute("SELECT count(*) FROM comparisons").fetchone()[0] == len(scripts_of(played)) * 2


def test_by_command(played, run):
    where = ("--where", "kind=FirstChan,SubseqChan")
    models = ",".join(TARGETS)
    estimate = run(
        played,
        "compare",
        "simulbench",
        "--models",
        models,
        "--judges",
        "mock-judge-strict",
        *where,
        "--estimate",
    )
    assert "calls" in estimate.output
    told = run(played, "compare", "simulbench", "--models", models, "--judges", "mock-judge-strict", *where)
    assert told.exit_code == 0, told.output
    for heading in ("Win/tie/loss of all pairs of models", "Bradley–Terry strengths", "Position bias"):
        assert heading in told.output
    assert "Rule-based mock models (not people, not language models): mock-judge-strict." in told.output
    assert "FACET=VALUE" in run(played, "compare", "simulbench", "--where", "kind").output


def test_scripts_set_aside_are_compared_no_more_and_leave_the_table(filled):
    with filled.write() as db:
        by_hand.store_scripts(db, "s1", "s2")
    sit(filled, "Ada", lambda a, b: "A")
    with filled.write() as db:
        scenarios.decide(db, "simulbench", "script", "s1", "discarded", "Ada")
        assert {row["n"] for row in comparisons.compared(db, "simulbench", resamples=0).duels.rows} == {3}
    assert {s for s, _, _ in sit(filled, "Ben", lambda a, b: "A", "new")} == {"s2", "s3", "s4"}
