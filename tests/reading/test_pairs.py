"""Tables of pairs: preferences, whoever is named, in whatever order the two were shown."""

import numpy as np
import pytest

from concord.errors import ImportRefused
from tests.reading.twelve import checked, kappa, taken

PEOPLE = ["A", "B", "A", "tie", "B", "A", "B", "A", "A", "B", "tie", "B", "A", "B", "A", "A"]
JUDGE = ["A", "B", "B", "tie", "B", "A", "A", "A", "tie", "B", "A", "B", "A", "B", "A", "A"]
SWAPPED = ["A", "B", "B", "tie", "A", "A", "A", "A", "tie", "B", "A", "B", "B", "B", "A", "A"]
IDS = [f"q{n}" for n in range(16)]
BOTH = [one if one == other else "tie" for one, other in zip(JUDGE, SWAPPED, strict=True)]
TURN = {"A": "B", "B": "A", "tie": "tie"}


def glance(table, **options):
    report = checked(table, **options).report
    on = report.main
    return report.section("glance", on)["glance"].rows[0], report.section("preferences", on)[
        "preferences"
    ].rows[0]


def words(answers, **of):
    return [of.get(answer, answer) for answer in answers]


WRITTEN = {
    "letters": {},
    "brackets": {"A": "[[A]]", "B": "[[B]]", "tie": "[[C]]"},
    "models": {"A": "model_a", "B": "model_b", "tie": "tie (bothbad)"},
    "sentences": {"A": "Response A is better", "B": "Response B is better", "tie": "Both are equal"},
    "signs": {"A": "A>B", "B": "B>A", "tie": "A=B"},
    "places": {"A": "left", "B": "right", "tie": "neither"},
    "numbers": {"A": "Assistant 1", "B": "Assistant 2", "tie": "Tie"},
}


@pytest.mark.parametrize("name", WRITTEN)
def test_preferences_are_read_however_they_are_written(name):
    of = WRITTEN[name]
    row, pairs = glance({"id": IDS, "human": words(PEOPLE, **of), "judge": words(JUDGE, **of)})
    assert row["kappa"].value == pytest.approx(kappa(PEOPLE, JUDGE))
    assert pairs["equal"].value == pytest.approx(np.mean(np.array(PEOPLE) == np.array(JUDGE)))


def test_strengths_count_as_the_preference():
    strong = ["A>>B" if n % 3 == 0 and word == "A" else word for n, word in enumerate(PEOPLE)]
    of = {"A": "A>B", "B": "B>A", "tie": "A=B"}
    found = checked({"id": IDS, "human": words(strong, **of), "judge": words(JUDGE, **of)})
    assert taken(found, "label") == ["preferences A", "B", "tie", "without their strength"]
    assert found.report.section("glance", "label")["glance"].rows[0]["kappa"].value == pytest.approx(
        kappa(PEOPLE, JUDGE)
    )


def test_answers_by_the_names_of_the_two_are_preferences():
    one = ["gpt", "claude", "llama", "gpt"] * 4
    other = ["claude", "llama", "gpt", "llama"] * 4
    named = [
        [{"A": a, "B": b, "tie": "tie"}[word] for word, a, b in zip(of, one, other, strict=True)]
        for of in (PEOPLE, JUDGE)
    ]
    table = {"question_id": IDS, "model_a": one, "model_b": other, "human": named[0], "gpt4_judge": named[1]}
    row, _ = glance(table)
    assert row["kappa"].value == pytest.approx(kappa(PEOPLE, JUDGE))


@pytest.mark.parametrize("places", [False, True], ids=["answers", "places"])
@pytest.mark.parametrize("second", ["judge_swapped", "judge_reversed", "judge flipped"])
def test_a_second_column_in_the_other_order_is_the_same_judge(second, places):
    swapped = [TURN[word] for word in SWAPPED] if places else SWAPPED
    row, pairs = glance({"id": IDS, "human": PEOPLE, "judge": JUDGE, second: swapped})
    assert row["rater"] == "judge"
    assert row["kappa"].value == pytest.approx(kappa(PEOPLE, BOTH))
    assert (pairs["changed"].n, pairs["changed"].value) == (16, pytest.approx(2 / 16))


@pytest.mark.parametrize(
    ("name", "straight", "swapped"),
    [
        ("order", "AB", "BA"),
        ("swapped", False, True),
        ("is_swapped", 0, 1),
        ("shown_first", "A", "B"),
        ("order", "original", "swapped"),
        ("order", "1", "2"),
    ],
)
@pytest.mark.parametrize("places", [False, True], ids=["answers", "places"])
def test_rows_in_both_orders_are_one_pair(name, straight, swapped, places):
    second = [TURN[word] for word in SWAPPED] if places else SWAPPED
    table = {
        "id": [*IDS, *IDS],
        name: [straight] * 16 + [swapped] * 16,
        "human": [*PEOPLE, *PEOPLE],
        "judge": [*JUDGE, *second],
    }
    row, pairs = glance(table)
    assert row["kappa"].value == pytest.approx(kappa(PEOPLE, BOTH))
    assert (row["n"], pairs["changed"].n, pairs["changed"].value) == (16, 16, pytest.approx(2 / 16))


def test_a_rating_a_row_of_pairs_in_either_order_is_of_one_pair():
    rows = []
    for n, (one, other) in enumerate(zip(PEOPLE, JUDGE, strict=True)):
        rows += [
            (n, "claude", "gpt", f"model_{one.lower()}" if one != "tie" else one, "expert_1"),
            (n, "gpt", "claude", f"model_{TURN[other].lower()}" if other != "tie" else other, "gpt4_pair"),
        ]
    names = ("question_id", "model_a", "model_b", "winner", "judge")
    table = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    row, _ = glance(table)
    assert (row["n"], row["kappa"].value) == (16, pytest.approx(kappa(PEOPLE, JUDGE)))


def test_raters_of_unknown_kind_are_asked_about():
    table = {
        "id": [*range(12)] * 3,
        "annotator": ["expert_1"] * 12 + ["author_2"] * 12 + ["gpt4"] * 12,
        "score": [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2] * 3,
    }
    table["annotator"] = [name.replace("annotator", "who") for name in table["annotator"]]
    named = {"by" if name == "annotator" else name: cells for name, cells in table.items()}
    with pytest.raises(ImportRefused, match="whose are the ratings of author_2") as refused:
        checked(named)
    assert "--human expert_1,author_2 --judge gpt4" in str(refused.value)


def test_letters_of_a_multiple_choice_are_no_preferences():
    letters = ["A", "B", "C", "D"] * 4
    found = checked({"id": IDS, "human": letters, "judge": [*letters[1:], "A"]})
    assert taken(found, "label")[0].startswith("categories")
    assert not found.report.section("preferences", "label")


def test_pairs_are_imported_with_one_preference_each(tmp_path):
    from concord.reading import labels, sources

    source = sources.read({"id": IDS, "human": PEOPLE, "judge": JUDGE, "judge_swapped": SWAPPED})
    file = labels.ratings_of(source)
    assert len(file.table.scores) == 32
