"""Trajectories of other simulators: files in each form, their repairs and refusals, and their scores."""

from __future__ import annotations

import json

import pytest

from concord.benchmarks.stss.tasks import values_of
from concord.benchmarks.stss.trajectory import STAMP
from concord.benchmarks.stss.trajectory_files import NOWHERE, read_trajectory
from concord.errors import ImportRefused
from tests.stss.made import CAFE, HALL, lived, party, talk


def record(time, agent, action="x", place="a:b:c"):
    return {"time": f"2023-02-13 {time}", "agent": agent, "action": action, "place": place}


def written(tmp_path, *entries):
    file = tmp_path / "t.jsonl"
    file.write_text("\n".join(e if isinstance(e, str) else json.dumps(e) for e in entries))
    return file


def test_records_out_of_order_are_sorted_and_doubles_count_once(tmp_path):
    file = written(
        tmp_path,
        record("10:05:00", "Ada", "two"),
        record("10:00:00", "Ada", "one"),
        record("10:00:00", "Ada", "one"),
    )
    found, notes = read_trajectory(file)
    assert [found.state_at("Ada", moment).action for moment in range(2)] == ["one", "two"]
    assert any("2 records out of order" in note for note in notes)
    assert any("1 repeated record" in note for note in notes)


def test_a_short_gap_between_equal_states_is_filled_and_no_other(tmp_path):
    times = ["10:00:00", "10:05:00", "10:10:00", "10:15:00"]
    file = written(
        tmp_path,
        *(record(t, "Ada") for t in times),
        record(times[0], "Ben", "reads"),
        record(times[3], "Ben", "reads"),
        record(times[0], "Cleo", "reads"),
        record(times[3], "Cleo", "walks"),
    )
    found, notes = read_trajectory(file)
    assert [found.state_at("Ben", i).action for i in range(4)] == ["reads"] * 4
    assert [found.state_at("Cleo", i) == NOWHERE for i in range(4)] == [False, True, True, False]
    assert any("Cleo has no record at 2 of 4 moments" in note for note in notes)


def test_a_gap_of_more_than_an_hour_stays_open(tmp_path):
    file = written(
        tmp_path,
        *(record(f"{h}:00:00", "Ada") for h in (10, 11, 12)),
        record("10:00:00", "Ben"),
        record("12:00:00", "Ben"),
    )
    assert read_trajectory(file).trajectory.state_at("Ben", 1) == NOWHERE


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (["{nonsense"], "line 1, is not valid JSON"),
        ([record("25:00:00", "Ada")], "line 1: “time” must be like"),
        ([{"time": "2023-02-13 10:00:00", "agent": "Ada", "place": "a"}], "“action” must be a text"),
        (
            [record("10:00:00", "Ada", "one"), record("10:00:00", "Ada", "two")],
            "line 2: Ada at .* has another record",
        ),
        (
            [record("10:00:00", "Ada"), {"time": "2023-02-13 10:00:00", "with": ["Ada"]}],
            "line 2: “with” must name the two",
        ),
        (
            [
                record("10:00:00", "Ada"),
                {"time": "2023-02-13 10:00:00", "with": ["Ada", "Ben"], "messages": [["Cy", "hm"]]},
            ],
            "Cy speaks",
        ),
        ([{"time": "2023-02-13 10:00:00", "with": ["Ada", "Ben"]}], "has no record of what a resident did"),
        ([""], "is empty"),
        (["[1]"], "is not"),
        (
            [record("10:00:00", "Ada"), {"time": "2023-02-13T10:00:00+01:00", "agent": "A"}],
            "without a time zone",
        ),
        ([record("10:00:00", "Ada", "x" * 5000)], "longer than 4,000 characters"),
    ],
)
def test_what_cannot_be_read_is_refused_by_a_sentence(tmp_path, entries, message):
    with pytest.raises(ImportRefused, match=message):
        read_trajectory(written(tmp_path, *entries))


def movement(time, **people):
    persona = {
        name: {"movement": [1, 2], "pronunciatio": "x", "description": described, "chat": chat}
        for name, (described, chat) in people.items()
    }
    return {"persona": persona, "meta": {"curr_time": f"February 13, 2023, {time}"}}


CHAT = [["Ada", "Come to the party"], ["Ben", "Yes"]]
STEPS = [
    movement(
        "10:00:00",
        Ada=("idle @ the Ville:Café:room:table", None),
        Ben=("sleeping @ the Ville:Home:room:bed", None),
    ),
    movement(
        "10:00:10",
        Ada=("conversing about the party @ <persona> Ben", CHAT),
        Ben=("conversing about the party @ <persona> Ada", CHAT),
    ),
    movement(
        "10:00:20",
        Ada=("conversing about the party @ <persona> Ben", CHAT),
        Ben=("conversing about the party @ <persona> Ada", CHAT),
    ),
]


@pytest.mark.parametrize("form", ["folder", "simulation", "list", "lines"])
def test_movement_files_in_all_their_forms(tmp_path, form):
    if form in ("folder", "simulation"):
        folder = tmp_path / "movement"
        folder.mkdir()
        for i, step in enumerate(STEPS):
            # Sorted by step, 10 after 9: the names are numbers.
            (folder / f"{i + 8}.json").write_text(json.dumps(step))
        path = folder if form == "folder" else tmp_path
    else:
        path = tmp_path / "all.json"
        path.write_text(json.dumps(STEPS) if form == "list" else "\n".join(map(json.dumps, STEPS)))
    found, _ = read_trajectory(path)
    assert len(found.times) == 3
    assert found.state_at("Ada", 0).action == "idle"
    assert found.state_at("Ada", 0).room == ("Café", "room")
    assert [(t.pair, len(t.messages)) for t in found.talks] == [(("Ada", "Ben"), 2)]


DAYS = (
    f"Ada | 1 09:00 – 2 22:00 | having a party | {CAFE}",
    f"Ben | 1 09:00 – 2 18:30 | working | {HALL}",
    f"Ben | 2 19:00 – 2 22:00 | enjoying the party | {CAFE}",
    f"Cem | 1 09:00 – 2 22:00 | sleeping | {HALL}",
)
TALKS = (talk("1 10:00", "Ada", "Ben", "Come to my party!", "Yes."),)


@pytest.fixture
def files(tmp_path):
    """A task of a party with three others, and the records of two days in which one of them came."""
    happened = lived(*DAYS, talks=TALKS)
    records = [
        {"time": time.strftime(STAMP), "agent": name, **happened.state_at(name, moment)._asdict()}
        for moment, time in enumerate(happened.times)
        for name in happened.residents
    ]
    for each in happened.talks:
        records.append(
            {
                "time": each.time.strftime(STAMP),
                "with": list(each.pair),
                "messages": list(map(list, each.messages)),
            }
        )
    tasks, trajectory = tmp_path / "tasks.json", tmp_path / "t.jsonl"
    tasks.write_text(json.dumps([values_of(party())]))
    trajectory.write_text("\n".join(map(json.dumps, records)))
    return tasks, trajectory


def scored(run, fresh, tasks, trajectory, *more):
    return run(fresh, "stss", "score", "--tasks", tasks, "--trajectory", trajectory, *more)


def test_a_trajectory_of_another_simulator_is_scored(fresh, run, files):
    done = scored(run, fresh, *files, "--format", "json")
    assert done.exit_code == 0, done.output
    tables = json.loads(done.stdout)["tables"]
    [row] = tables["scores"]["rows"]
    # One of three came, and one of three was told.
    assert (row["score"], row["ratio"]) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert tables["evidence"]["rows"][0]["who"] == "Ben"
    assert tables["evidence"]["rows"][0]["counted"] is True
    means = {each["type"]: each["score"] for each in tables["by_type"]["rows"]}
    assert means == {"public": pytest.approx(1 / 3), "all": pytest.approx(1 / 3)}


def test_a_table_of_records_is_scored_too(fresh, run, files, tmp_path):
    tasks, trajectory = files
    rows = [json.loads(line) for line in trajectory.read_text().splitlines()]
    table = tmp_path / "t.csv"
    lines = [f"{r['time']},{r['agent']},{r['action']},{r['place']}" for r in rows if "agent" in r]
    table.write_text("time,agent,action,place\n" + "\n".join(lines))
    done = scored(run, fresh, tasks, table, "--format", "json")
    [row] = json.loads(done.stdout)["tables"]["scores"]["rows"]
    assert (row["score"], row["ratio"]) == (pytest.approx(1 / 3), 0.0)


def test_an_exported_simulation_is_scored_as_on_its_leaderboard(fresh, run, files, tmp_path):
    tasks, _ = files
    entry = {"kind": "conversation", "trajectory": lived(*DAYS, talks=TALKS).as_stored()}
    exported = tmp_path / "export.jsonl"
    exported.write_text("\n".join(map(json.dumps, [{"kind": "benchmark"}, entry])))
    [row] = json.loads(scored(run, fresh, tasks, exported, "--format", "json").stdout)["tables"]["scores"][
        "rows"
    ]
    assert row["score"] == pytest.approx(1 / 3)
    exported.write_text("\n".join(map(json.dumps, [entry, entry])))
    assert "holds 2 simulations" in scored(run, fresh, tasks, exported).stderr
    exported.write_text(json.dumps({**entry, "trajectory": {"times": 3}}))
    assert "not in the form of an export" in scored(run, fresh, tasks, exported).stderr


def test_what_cannot_be_scored_is_a_sentence_and_the_rest_is_scored(fresh, run, files):
    tasks, trajectory = files
    stranger, later = party(id="stranger", performer="Zoe"), values_of(party(id="later"))
    later["task"]["goal"][0]["start_time"] = "2024-02-14 19:00"
    tasks.write_text(json.dumps([values_of(party()), values_of(stranger), later]))
    done = scored(run, fresh, tasks, trajectory, "--format", "json")
    assert done.exit_code == 1
    assert len(json.loads(done.stdout)["tables"]["scores"]["rows"]) == 1
    assert "names Zoe, who is not in the trajectory" in done.stderr
    assert "is at another time than the trajectory" in done.stderr
    only = scored(run, fresh, tasks, trajectory, "--task", "partly")
    assert only.exit_code == 1
    assert "There is no task “partly”" in only.stderr


def test_an_empty_file_is_a_sentence(fresh, run, files, tmp_path):
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    done = scored(run, fresh, files[0], empty)
    assert done.exit_code == 1
    assert "is empty" in done.stderr
    nothing = tmp_path / "folder"
    nothing.mkdir()
    assert "holds no movement files" in scored(run, fresh, files[0], nothing).stderr
