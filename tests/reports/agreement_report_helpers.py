"""What several tests share with `test_agreement_report`."""

from __future__ import annotations

import numpy as np
import pandas as pd

from concord.rating import Criterion
from concord.reports.agreement_report import AgreementReport, Options, report_of
from concord.store.studies import Study
from concord.studies.studies import StudyRatings

CRITERIA = (Criterion("wit", "It is witty."), Criterion("care", "It is careful."))


PLAYERS = ("amber", "birch", "cedar")


FEW = Options(resamples=200)


def measured(table: pd.DataFrame, *, options: Options = FEW, **study: object) -> AgreementReport:
    kinds = [set(rows.criterion) for _, rows in table.groupby("kind")]
    of = StudyRatings(
        Study("s", CRITERIA, **study),  # type: ignore[arg-type]
        table,
        tuple(c.name for c in CRITERIA),
        tuple(c.name for c in CRITERIA if all(c.name in kind for kind in kinds)),
        {},
    )
    return report_of(of, options)


def frame(scores: dict[tuple[str, str], list[list[float]]]) -> pd.DataFrame:
    """(kind, rater) → items × criteria, as a study's long frame; item 0 is by the first player, and so on in
    turns.
    """
    rows = [
        (item, 100 + item, None, PLAYERS[item % 3], CRITERIA[c].name, rater, kind, 0, score)
        for (kind, rater), table in scores.items()
        for item, row in enumerate(table)
        for c, score in enumerate(row)
        if score is not None
    ]
    columns = [
        "unit",
        "conversation_id",
        "turn",
        "player",
        "criterion",
        "rater",
        "kind",
        "simulated",
        "score",
    ]
    return pd.DataFrame(rows, columns=columns)


def simulated(
    *, items: int = 60, judge_noise: float, person_noise: float, shift: float = 0.0
) -> pd.DataFrame:
    """Three people and a judge who see the same quality with noise of their own, on a scale without ends that
    matter.
    """
    rng = np.random.default_rng(4)
    quality = rng.normal(3, 1, (items, 2))

    def seen(noise: float, by: float = 0.0) -> list[list[float]]:
        return np.clip(np.round(quality + by + rng.normal(0, noise, quality.shape)), 1, 5).tolist()

    people = {("human", name): seen(person_noise) for name in ("Ada", "Bo", "Chi")}
    return frame({**people, ("judge", "j"): seen(judge_noise, shift)})
