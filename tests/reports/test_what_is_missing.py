"""What a study says that lacks people's ratings: who has it where it is dealt, else how to deal it."""

from dataclasses import replace

import pandas as pd
import pytest

from concord.rating import Rater
from concord.statistics.figures import basis
from concord.statistics.ratings import read_ratings
from concord.store import placements, progress, ratings, studies
from concord.studies.studies import ratings_for_agreement
from concord.workspace import Workspace
from pages.parts.plain import with_code
from tests.pages.agreement_helpers import NAME, fill, varied
from tests.reports.agreement_report_helpers import frame, measured

DEAL = "`concord study deal s`"
SAID = {
    (0, ()): f"No annotator has rated the study “s” yet. Invite annotators and assign it with {DEAL}.",
    (0, (("Ada", 20), ("Ben", 1))): (
        "No annotator has rated the study “s” yet: still open are 20 items with Ada and 1 item with Ben."
    ),
    (1, ()): (
        "Only one annotator rated the study “s”, so agreement between annotators is unknown: assign it to "
        f"a second annotator with {DEAL}."
    ),
    (1, (("Ben", 20),)): (
        "Only one annotator rated the study “s”, so agreement between annotators is unknown: "
        "still open are 20 items with Ben."
    ),
}


@pytest.mark.parametrize(("people", "waiting"), SAID)
def test_the_sentence_follows_what_is_dealt(people: int, waiting: tuple[tuple[str, int], ...]) -> None:
    given = {("human", f"p{number}"): [[1, 2], [2, 1], [3, 3]] for number in range(people)}
    report = measured(frame({**given, ("judge", "j"): [[1, 2], [3, 1], [2, 3]]}))
    report = replace(report, data=replace(report.data, waiting=dict(waiting)))
    assert report.missing[0] == SAID[people, waiting]


def test_people_who_have_the_study_are_named_until_they_rate(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db, {}, {"j": varied()})
        units = [unit["id"] for unit in studies.units(db, NAME)]
        placements.assign(db, ratings.rater_id(db, Rater("Ada", "human")), units)
        before = progress.mark(db, NAME)
        placements.assign(db, ratings.rater_id(db, Rater("Ben", "human")), units[:1])
        assert progress.mark(db, NAME) != before
        assert ratings_for_agreement(db, NAME).waiting == {"Ada": len(units), "Ben": 1}


def test_code_in_a_sentence_is_code_and_the_rest_is_plain() -> None:
    assert (
        with_code("It *is* so: `deal a-b` and `<b>`.") == "It \\*is\\* so\\: `deal a-b` and \\`\\<b\\>\\`\\."
    )


def test_an_address_in_a_sentence_is_code_that_is_copied_as_it_is() -> None:
    said = with_code("http://127.0.0.1:9/v1 is down. See (https://a.example/b_c), `x`.")
    assert said == "`http://127.0.0.1:9/v1` is down\\. See \\(`https://a.example/b_c`\\), `x`\\."


def test_one_item_of_one_person_is_singular() -> None:
    one = {"unit": [1], "criterion": ["q"], "rater": ["Ada"], "kind": ["human"], "score": [3.0]}
    assert basis(read_ratings(pd.DataFrame(one)), "q")["text"].startswith("1 item rated by 1 annotator")
    assert "each" not in basis(read_ratings(pd.DataFrame(one)), "q")["text"]
