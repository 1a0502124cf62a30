"""Trajectory files of both forms, their repairs and refusals, and how a trajectory is stored."""

from __future__ import annotations

import json

import pytest

from concord.benchmarks.stss.files import read_trajectory
from concord.benchmarks.stss.trajectory import from_stored
from concord.errors import ConfigError
from tests.stss.made import at, lived, talk, write


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
    found = read_trajectory(file)
    assert [state.action for *_, state in found.runs("Ada")] == ["one", "two"]
    assert any("2 records were out of order" in n for n in found.notes)
    assert any("1 records were repeated" in n for n in found.notes)


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
    found = read_trajectory(file)
    assert [found.at("Ben", i).action for i in range(4)] == ["reads"] * 4
    assert [found.at("Cleo", i) is None for i in range(4)] == [False, True, True, False]
    assert "Cleo has no record at 2 of 4 moments; nothing is counted there." in found.notes


def test_a_gap_of_more_than_an_hour_stays_open(tmp_path):
    file = written(
        tmp_path,
        *(record(f"{h}:00:00", "Ada") for h in (10, 11, 12)),
        record("10:00:00", "Ben"),
        record("12:00:00", "Ben"),
    )
    assert read_trajectory(file).at("Ben", 1) is None


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (["{nonsense"], "line 1 is not JSON"),
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
        (["[1]"], "entry 1: a record must be a JSON object"),
    ],
)
def test_what_cannot_be_read_is_refused_by_a_sentence(tmp_path, entries, message):
    with pytest.raises(ConfigError, match=message):
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
    found = read_trajectory(path)
    assert len(found.times) == 3
    assert found.at("Ada", 0).action == "idle"
    assert found.at("Ada", 0).room == ("Café", "room")
    assert found.at("Ben", 0).asleep
    assert [(t.pair, len(t.messages)) for t in found.talks] == [(("Ada", "Ben"), 2)]


def test_a_trajectory_survives_the_store_and_its_own_file(tmp_path):
    happened = lived(
        "Ada | 1 10:00 – 1 12:00 | reads | a:b:c",
        "Ada | 1 12:30 | walks | a:b:c",
        "Ben | 1 10:30 – 1 12:30 | sleeping | d:e:f",
        talks=(talk("1 11:00", "Ada", "Ben", "hello", "hm"),),
    )
    back = from_stored(json.loads(json.dumps(happened.stored())))
    file = tmp_path / "t.jsonl"
    write(happened, file)
    for other in (back, read_trajectory(file)):
        assert other.times == happened.times
        for name in happened.residents:
            assert list(other.runs(name)) == list(happened.runs(name))
        assert other.talks == happened.talks


def test_runs_say_first_and_last_moment():
    happened = lived("Ada | 1 10:00 – 1 11:00 | reads | a:b:c", "Ada | 1 11:30 | walks | a:b:c")
    runs = list(happened.runs("Ada"))
    assert [(first, last) for first, last, _ in runs] == [
        (at("1 10:00"), at("1 11:00")),
        (at("1 11:30"), at("1 11:30")),
    ]
    assert happened.moment(at("1 11:15")) == 2
