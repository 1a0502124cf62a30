"""The answer rests on judges that cover a study; a version that was tried on a few items is named instead."""

import json

import pytest

from concord.reports.agreement_report import Options, agreement_report
from concord.studies.coverage import Judge, covering, partial
from tests.rubrics.judging_by_rubric_helpers import done

ITEMS = set(range(40))


def judges(*versions):
    return [Judge(f"{model} {variant}", model, variant) for model, variant in versions]


@pytest.mark.parametrize(
    ("rated", "chosen", "incomplete"),
    [
        # The lab's part of 14 items takes nothing over; 36 of 40 are enough, as replies may be unusable.
        ({"j v1": 40, "j v2": 14}, ["j v1"], {"j v2": 26}),
        ({"j v1": 40, "j v2": 28}, ["j v1"], {"j v2": 12}),
        ({"j v1": 40, "j v2": 36}, ["j v2"], {}),
        ({"j v1": 40, "j v2": 35}, ["j v1"], {"j v2": 5}),
        # v10 comes after v9, and an earlier version that is partial is nobody's loss.
        ({"j v9": 40, "j v10": 40}, ["j v10"], {}),
        ({"j v1": 14, "j v2": 40}, ["j v2"], {}),
        ({"j v1": 40, "j v2": 14, "j v3": 10}, ["j v1"], {"j v2": 26, "j v3": 30}),
        # Another model that was tried in the lab is in no panel; one that lacks a few items is.
        ({"j v1": 40, "k v1": 14}, ["j v1"], {"k v1": 26}),
        ({"j v1": 40, "k v1": 30}, ["j v1", "k v1"], {}),
        # While all are at work, the answer rests on all.
        ({"j v1": 14, "k v1": 12}, ["j v1", "k v1"], {}),
        ({"j v1": 0, "k v1": 0}, ["j v1", "k v1"], {}),
        ({}, [], {}),
    ],
)
def test_the_answer_rests_on_the_last_version_that_covers_the_study(rated, chosen, incomplete):
    every = judges(*(name.split(" ") for name in rated))
    units = {name: set(range(number)) for name, number in rated.items()}
    assert [judge.name for judge in covering(every, units)] == chosen
    assert {one.judge.name: len(one.lacks) for one in partial(every, units)} == incomplete
    for one in partial(every, units):
        assert one.rated + len(one.lacks) == one.total


def ratings_csv(path, v2_items):
    """40 items of two people and a judge under two versions, of which the second has rated some."""
    lines = ["item_id,criterion,rater_type,rater,variant,score"]
    for item in range(40):
        lines += [
            f"i{item},care,human,{who},,{1 + (item * 7 + of) % 5}" for of, who in enumerate(("Ada", "Ben"))
        ]
        lines.append(f"i{item},care,judge,j,v1,{1 + item * 7 % 5}")
        if item < v2_items:
            lines.append(f"i{item},care,judge,j,v2,{1 + item * 3 % 5}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(("v2_items", "members", "n"), [(14, "j v1", 40), (40, "j v2", 40)])
def test_a_partial_version_does_not_overturn_the_verdict(fresh, run, tmp_path, v2_items, members, n):
    file = ratings_csv(tmp_path / "ratings.csv", v2_items)
    done(run(fresh, "import", "ratings", file, "--study", "care"))
    words = ("agreement", "--study", "care", "--resamples", 50)
    report = json.loads(done(run(fresh, *words, "--format", "json")))
    rows = {row["rater"]: row["n"] for row in report["sections"]["care"]["glance"]["glance"]["rows"]}
    assert rows == {"j v1": 40, "j v2": v2_items}
    lacking = [(one["name"], one["rated"], one["of"], one["lacks"]) for one in report["partial"]]
    assert lacking == ([("j v2", 14, 40, 26)] if v2_items < 40 else [])
    with fresh.read() as db:
        assert agreement_report(db, "care", Options(resamples=50)).verdict().members == (members,)
    assert ("j v2 rated 14 of 40 items" in done(run(fresh, *words))) == bool(lacking)
    gate = run(
        fresh, "gate", "--study", "care", "--min-agreement", 0.5, "--resamples", 50, "--format", "json"
    )
    [outcome] = json.loads(gate.stdout)["outcomes"]
    assert (outcome["name"].startswith(members), outcome["n"]) == (True, n)
