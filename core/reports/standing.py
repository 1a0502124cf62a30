"""How a judge or a panel stands on a criterion: its row of the glance, flags, and the facts of its advice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from concord.codes import GOOD, Claim, Verdict
from concord.estimate import Estimate, value_of
from concord.reports.advice import Facts, disagree
from concord.reports.coefficient import default_coefficient
from concord.reports.evidence import Evidence
from concord.reports.flags import flags_of, on_criterion, turned_round
from concord.reports.sections import section
from concord.statistics.claims import ONE_FLAG, Flag, ranked
from concord.statistics.judges import commonest
from concord.statistics.oddities import FEWEST
from concord.statistics.ratings import panel_name
from concord.table import Cell, Table


@dataclass(frozen=True)
class Standing:
    """A judge or panel on a criterion with what its verdict, advice and words are made of."""

    evidence: Evidence
    criterion: str
    members: tuple[str, ...]
    table: Table
    row: Mapping[str, Cell]
    flags: tuple[Flag, ...]

    def figure(self, name: str) -> Estimate | None:
        """A figure of the row; None where it has none."""
        cell = self.row.get(name)
        return cell if isinstance(cell, Estimate) else None

    @property
    def verdict(self) -> Verdict:
        """The verdict of the row; undefined where nothing is compared."""
        code = self.row.get("verdict")
        return code if isinstance(code, Verdict) else Verdict.UNDEFINED

    @property
    def decided_by(self) -> str:
        """The annotator who decides the verdict alone; “” where none does."""
        return str(self.row.get("decided_by") or "")

    @property
    def alternatives(self) -> list[Mapping[str, Cell]]:
        """The rows of other judges and panels that are as good as another annotator."""
        panel = panel_name(self.members)
        good_rows = [row for row in self.table.rows if row.get("verdict") in GOOD]
        return [row for row in good_rows if row["rater"] != panel]

    @property
    def better(self) -> Mapping[str, Cell] | None:
        """The row of the member that is as good, too, and agrees better alone than all do together."""
        alone = {panel_name((member,)) for member in self.members}
        judge = value_of(self.row.get("judge"))
        members = [row for row in self.alternatives if row["rater"] in alone]
        best = max(members, key=lambda row: value_of(row["judge"]), default=None)
        if best is None or value_of(best["judge"]) <= judge:
            return None
        return best

    @property
    def copied(self) -> tuple[str, ...]:
        """The members that are shown to repeat the answers of one annotator."""
        claimed = {flag.judge for flag in self.flags if flag.claim == Claim.COPY}
        return tuple(judge for judge in self.members if judge in claimed)

    @property
    def constant(self) -> float | None:
        """The one answer that all members give to every item, where annotators give several; else None.

        A judge as good as they are may do so by chance where answers pile up: with the share of their
        commonest answer, to the power of the items. What has more than a flag's chance is not said.
        """
        scores = self.evidence.ratings[self.criterion]
        answers = {commonest(scores.judges[judge]) for judge in self.members}
        target = scores.target[np.isfinite(scores.target)]
        if len(answers) != 1 or len(target) < FEWEST or target.min() == target.max():
            return None
        answer, share = answers.pop()
        by_chance = (commonest(scores.score)[1] or 1.0) ** len(target)
        return answer if share == 1 and by_chance <= ONE_FLAG else None

    @property
    def slight(self) -> tuple[str, ...]:
        """The members of a panel that hardly agree with annotators; none where all do.

        They are shown to agree weakly and not shown to beat chance, or shown to agree slightly at most.
        """
        judges = tuple(judge for judge in self.members if disagree(self.agreement_of(judge)))
        return judges if len(judges) < len(self.members) else ()

    def agreement_of(self, judge: str) -> Estimate | None:
        """The agreement of one judge that has an interval: that behind its verdict, else that with all
        annotators; None without one.
        """
        name = default_coefficient(self.evidence, self.criterion)
        for row in self.table.rows:
            if row["rater"] != panel_name((judge,)):
                continue
            for figure in (row.get("judge"), row.get(name)):
                if isinstance(figure, Estimate) and figure.interval is not None:
                    return figure
        return None

    @property
    def facts(self) -> Facts:
        """What the advice rests on."""
        scores = self.evidence.ratings[self.criterion]
        compared = self.figure("difference")
        alone = None
        if compared is None or not compared.defined:
            alone = self.figure(default_coefficient(self.evidence, self.criterion))
        undecided_order = self.verdict in (Verdict.WORSE, Verdict.UNDEFINED)
        return Facts(
            self.verdict,
            judge=self.figure("judge"),
            person=self.figure("person"),
            alone=alone,
            good=bool(self.alternatives) and compared is not None,
            slight=bool(self.slight),
            decided_by=self.decided_by,
            copied=bool(self.copied),
            constant=self.constant is not None,
            inverted=undecided_order and turned_round(self.evidence, self.criterion, self.members),
            annotators=len(scores.people) or int((scores.present > 0).any()),
            nominal=not scores.unlinked,
        )


def standing(evidence: Evidence, criterion: str, members: Sequence[str] = ()) -> Standing:
    """The standing of judges (`members`, else all) on one criterion.

    Raises StudyError for an unknown criterion.
    """
    members = tuple(members) or evidence.primary_panel
    table = section(evidence, "glance", criterion)["glance"]
    name = default_coefficient(evidence, criterion)
    rows = {str(row["rater"]): row for row in table.rows}
    row = rows.get(panel_name(members), {})
    if len(members) > 1 and max(value_of(row.get("judge")), value_of(row.get(name))) == float("-inf"):
        # Two judges that tie have no answer together: the best of them has.
        best = max(members, key=lambda judge: value_of(rows.get(judge, {}).get(name)))
        members = (best,)
        row = rows.get(best, {})
    flags = tuple(ranked([*flags_of(evidence), *on_criterion(evidence, criterion, members)]))
    return Standing(evidence, criterion, members, table, row, flags)
