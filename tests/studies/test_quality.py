"""How people are getting on: progress, remarks, and what looks careless."""

import pandas as pd

from concord.rating import Criterion
from concord.store.progress import Item
from concord.studies import quality
from concord.studies.quality import quality_table
from tests.studies.quality_helpers import item


def given(rater: str, scores: list[list[float]], kind: str = "human") -> pd.DataFrame:
    """Scores of items × criteria as a long frame."""
    return pd.DataFrame(
        [(u, f"c{c}", rater, kind, score) for u, row in enumerate(scores) for c, score in enumerate(row)],
        columns=["unit", "criterion", "rater", "kind", "score"],
    )


def suspicions(items: list[Item], answers: pd.DataFrame) -> list[str]:
    flags = quality.suspicions(items, answers, [Criterion(f"c{c}", "It is good.") for c in range(3)])
    return [flag.text for flag in flags]


VARIED = [[1 + i % 5, 1 + (i + 2) % 5, 1 + (i * 3) % 5] for i in range(20)]


def test_progress_counts_states_and_takes_the_median_time() -> None:
    items = [
        item(unit=1, state="done", seconds=10.0, submitted="2026-01-01"),
        item(unit=2, state="done", seconds=40.0, submitted="2026-01-03"),
        item(unit=3, state="done", seconds=0.0, submitted="2026-01-02"),  # imported: its time is unknown
        item(unit=4, state="skipped", reason="broken", submitted="2026-01-01"),
        item(unit=5, flag="look", seconds=99.0),
        item("Bo", 1),
    ]
    ada, bo = quality_table(items, given("Ada", [[1, 2, 3]])).rows
    assert (ada["items"], ada["done"], ada["skipped"], ada["flagged"]) == (5, 3, 1, 1)
    assert ada["seconds"] == 25  # of 10 and 40
    assert (bo["annotator"], bo["done"], bo["seconds"]) == ("Bo", 0, None)


def test_skips_and_flags_are_remarks() -> None:
    items = [
        item(unit=1, state="done"),
        item(unit=2, state="skipped", submitted="2026-01-01"),
        item(unit=3, state="done", flag="odd", submitted="2026-01-02"),
    ]
    assert [i.unit for i in items if i.remarked] == [2, 3]


def test_nothing_is_said_of_somebody_who_rates_with_care() -> None:
    items = [item(unit=u, state="done", seconds=30) for u in range(20)]
    assert suspicions(items, given("Ada", VARIED)) == []


def test_one_answer_nearly_always() -> None:
    # 19 of 20 answers to c0 are 4: 95%; Bo and Cy give 4 to 4 of 20 items each.
    scores = [[4 if i else 1, *row[1:]] for i, row in enumerate(VARIED)]
    others = pd.concat([given("Bo", VARIED), given("Cy", VARIED)])
    assert suspicions([], pd.concat([given("Ada", scores), others])) == [
        "Ada answered 4 on c0 to 95% of 20 items; the other annotators to 20% of them."
    ]
    assert suspicions([], given("Ada", scores)) == [], "with nobody to compare it with"


def test_one_answer_to_a_rare_question_is_no_carelessness() -> None:
    """98% of answers are 0, everybody's: those of a careful rater, too."""
    rare = [[1.0 if i == 7 else 0.0] for i in range(50)]
    never = [[0.0] for _ in range(50)]
    assert suspicions([], pd.concat([given("Ada", never), given("Bo", rare), given("Cy", rare)])) == []
    # Of 200 items of which others say yes to 40 and Ada to none, something is to be said.
    often = [[1.0 if i % 5 == 0 else 0.0] for i in range(200)]
    rows = [given("Ada", [[0.0]] * 200), given("Bo", often), given("Cy", often)]
    assert suspicions([], pd.concat(rows)) == [
        "Ada answered 0 on c0 to 100% of 200 items; the other annotators to 80% of them."
    ]


def test_faster_than_anybody_reads() -> None:
    # 600 characters take 10 seconds at 60 a second: 5 of 20 items were done in 3.
    items = [item(unit=u, state="done", seconds=3 if u < 5 else 30) for u in range(20)]
    (said,) = suspicions(items, given("Ada", VARIED))
    assert said.startswith("Ada was faster than the replies can be read on 5 of 20 items")
    assert suspicions(items[1:], given("Ada", VARIED)) != []
    assert suspicions(items[2:], given("Ada", VARIED)) == []  # 3 of 18 are a sixth


def test_few_items_and_judges_are_not_spoken_of() -> None:
    assert suspicions([], given("Ada", [[4, 4, 4]] * 9)) == []
    assert suspicions([], given("judge", [[4, 4, 4]] * 50, kind="judge")) == []


def test_how_one_annotator_works() -> None:
    both = pd.concat([given(name, [[3.0, 3.0, 3.0]] * 16) for name in ("Ada", "Bo")])
    items = [
        item(unit=u, state="done", seconds=5.0 if u < 4 else 30.0, submitted=f"2026-01-{u + 1:02}")
        for u in range(16)
    ]
    [row] = quality_table(items, both, ["Ada"]).rows
    # 600 characters in 30 s are 50 s for 1000; 10 s is the fastest reading, and 4 of 16 took 5 s.
    assert (row["seconds"], row["per_1000"], row["note"]) == (30.0, 50.0, "excluded")
    assert (row["fast"].value, row["straight"].value) == (0.25, 1.0)


def test_extra_items_count_in_how_somebody_works() -> None:
    both = pd.concat([given(name, [[1 + i % 3] * 3 for i in range(10)]) for name in ("Ada", "Bo")])
    both["extra"] = (both.rater == "Ada") & (both.unit >= 8)
    items = [item(unit=u, state="done", seconds=30.0) for u in range(10)]
    [row] = quality_table(items, both).rows
    assert (row["fast"].n, row["straight"].n) == (10, 10)


def test_what_was_not_measured_has_no_figures() -> None:
    items = [item(unit=u, state="done") for u in range(7)]
    [row] = quality_table(items, given("Ada", [[1 + i % 3] for i in range(7)])).rows
    assert (row["fast"].reason, row["straight"].reason) == (
        "no time was measured",
        "no item has three criteria",
    )
