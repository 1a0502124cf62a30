"""Three files that others wrote, each with a rubric of one's own, from the file to a figure, by command.

The files have the exact form of the originals; people's answers are what their desks report.
"""

import json
from pathlib import Path

import krippendorff
import pytest

from concord.reports import overview
from concord.store import access, comparisons, desk, placements
from tests.commands.three_files_helpers import BETTER, ITEMS, RUBRIC, arena, fed
from tests.conftest import toml

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "fed" / "fed_human_annotations.json"


def inspect_samples():
    for place in range(ITEMS):
        asked = f"How warm is it in town {place}?"
        yield {
            "id": place,
            "epoch": 1,
            "input": asked,
            "target": "18",
            "messages": [
                {"role": "user", "content": asked, "source": "input"},
                {"role": "assistant", "content": "18 degrees. " * (1 + place % 3)},
            ],
            "scores": {"match": {"value": "C", "explanation": "Equal."}},
        }


def inspect_json(folder):
    log = {"version": 2, "status": "success", "eval": {"task": "weather", "model": "elm"}}
    file = folder / "weather.json"
    file.write_text(json.dumps({**log, "samples": [*inspect_samples()]}))
    return file, "of the form “Inspect log”, 12 rows"


def inspect_eval(folder):
    written = pytest.importorskip("inspect_ai.log", reason="the extra “inspect” is not installed")
    spec = {"created": "2026-01-01T00:00:00+00:00", "task": "weather", "model": "elm"}
    log = {"eval": spec | {"dataset": {}, "config": {}}, "status": "success"}
    made = written.EvalLog.model_validate({**log, "samples": [*inspect_samples()]})
    file = folder / "weather.eval"
    written.write_eval_log(made, str(file), format="eval")
    return file, "of the form “Inspect log”, 12 rows"


def rate(workspace, study, person, score):
    """Everything on a person's desk, answered as `score` says."""
    with workspace.write() as db:
        rater = access.annotator_id(db, person)
        events = []
        for item, _, _ in placements.on_desk(db, rater, study):
            events.append({"item": item, "do": "answer", "criterion": "pleasant", "score": score(item)})
            events.append({"item": item, "do": "submit", "seconds": 4.0})
        numbered = [event | {"n": n} for n, event in enumerate(events, 1)]
        assert desk.apply(db, rater, "tab", numbered)[1] == []


@pytest.mark.skipif(not PUBLISHED.exists(), reason=f"the published FED dialogues are not at {PUBLISHED}")
def test_the_dialogues_have_the_form_of_the_published_ones(tmp_path):
    published, ours = json.loads(PUBLISHED.read_text()), json.loads(fed(tmp_path)[0].read_text())
    assert list(published[0]) == list(ours[0])
    assert [{**said, "text": ""} for said in published[0]["dialog"][:2]] == [
        {**said, "text": ""} for said in ours[0]["dialog"]
    ]


@pytest.mark.parametrize("file", [fed, inspect_json, inspect_eval])
def test_from_a_file_to_the_agreement_of_people_and_judges(file, fresh, run, tmp_path):
    given, form = file(tmp_path)
    rubric = tmp_path / "mine.toml"
    rubric.write_text(RUBRIC)
    asked = ("--rubric", rubric, "--mock", "--people", "Ada,Ben", "--n", ITEMS, "--no-app")
    begun = run(fresh, "quickstart", given, *asked)
    assert begun.exit_code == 0, begun.output
    assert form in begun.output
    assert "Ben: 12 items at http" in begun.output

    answers = {"Ada": lambda item: 1 + item % 5, "Ben": lambda item: 1 + item * 2 % 5}
    for person, score in answers.items():
        rate(fresh, "mine", person, score)
    command = begun.output.rpartition("When annotators have answered: ")[2].split()
    assert command[-3:] == ["agreement", "--study", "mine"]
    shown = run(fresh, *command[-3:], "--format", "json", "--resamples", 100)
    assert shown.exit_code == 0, shown.output
    part = json.loads(shown.stdout)["sections"]["pleasant"]
    items = range(1, ITEMS + 1)
    table = [[score(item) for item in items] for score in answers.values()]
    alpha = krippendorff.alpha(table, level_of_measurement="ordinal")
    assert part["people"]["people"]["rows"][0]["value"]["value"] == pytest.approx(alpha)
    assert {judge["rater"]: judge["n"] for judge in part["judges"]["judges"]["rows"][:2]} == {
        "mock-judge-lenient": ITEMS,
        "mock-judge-strict": ITEMS,
    }


def test_from_an_arena_export_to_the_agreement_of_voters_and_judges(fresh, run, mock, tmp_path):
    given = arena(tmp_path)
    rubric = fresh.path / "rubrics" / "better.toml"
    rubric.parent.mkdir(exist_ok=True)
    rubric.write_text(BETTER)
    begun = run(fresh, "quickstart", given, "--rubric", "better", "--mock", "--no-app")
    assert "concord study pairs better --rubric better." in begun.output
    judges = ("mock-judge-strict", "mock-judge-lenient")
    fresh.models_path.write_text(toml(mock, **{name: f'model = "{name}"' for name in judges}))
    for command in (
        ("import", "conversations", given, "--rubric", "better"),
        ("study", "pairs", "better", "--rubric", "better"),
        ("people", "invite", "Ada"),
        ("study", "deal", "better", "--annotators", "Ada"),
        ("compare", "better", "--judges", ",".join(judges)),
    ):
        done = run(fresh, *command)
        assert done.exit_code == 0, done.output

    [pairs] = overview.look(fresh).pairs
    assert (pairs.name, pairs.title, pairs.stands) == ("better", "Which answer is better?", "being compared")
    assert (pairs.dealt, pairs.closed, pairs.rated, pairs.judged) == (12, 0, 4, 2)
    assert pairs.simulated
    assert not [step for step in overview.next_steps(overview.look(fresh)) if "cannot be judged" in step.text]
    shown = run(fresh, "compare", "better", "--format", "json", "--resamples", 100)
    assert shown.exit_code == 0, shown.output
    # Every voter and the judge in the order of the file: a judge's win counts if it wins in both orders.
    rows = [json.loads(line) for line in given.read_text().splitlines()]
    with fresh.read() as db:
        stored = {}
        for row in comparisons.exported(db):
            stored[row["rater"], row["first"], row["second"]] = row["verdict"]
    equal = 0
    for row in rows:
        one, other = (f"arena/{row['question_id']}/{row[side]}" for side in ("model_a", "model_b"))
        voted = {"model_a": "A", "model_b": "B"}.get(row["winner"], "tie")
        assert stored[row["judge"], one, other] == voted
        there = stored["mock-judge-strict", one, other]
        turned = {"A": "B", "B": "A", "tie": "tie"}[stored["mock-judge-strict", other, one]]
        equal += (there if there == turned else "tie") == voted
    matches = json.loads(shown.stdout)["tables"]["agreement"]["rows"]
    match = next(m for m in matches if (m["a"], m["b"]) == ("mock-judge-strict", "people"))
    assert match["equal"]["value"] == pytest.approx(equal / ITEMS)
    assert match["equal"]["n"] == ITEMS
