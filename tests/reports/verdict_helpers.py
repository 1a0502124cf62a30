"""What several tests take from `test_verdict`: two_judges."""

from __future__ import annotations

import pandas as pd

from concord.reports.agreement_report import AgreementReport
from tests.reports.agreement_report_helpers import measured, simulated


def two_judges(one: float, other: float, person: float) -> AgreementReport:
    """Judges j and k, with noises of their own."""
    table = simulated(judge_noise=one, person_noise=person)
    second = simulated(judge_noise=other, person_noise=person)
    return measured(pd.concat([table, second[second.rater == "j"].assign(rater="k")]))
