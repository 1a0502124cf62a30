"""From tasks to spot-checks: how much of each step a workspace holds, and which step is next."""

from enum import StrEnum
from typing import NamedTuple

from concord.benchmarks.simulbench.dialogues import DIALOGUES
from concord.benchmarks.simulbench.scripts import SCRIPT
from concord.benchmarks.simulbench.targets import SIMULBENCH
from concord.benchmarks.simulbench.tasks import BENCHMARK, TASK, tasks
from concord.runs.planning import materials
from concord.store import conversations, holdings, scenarios, spotchecks
from concord.store.conversations import Filter
from concord.workspace import Workspace


class NextStage(StrEnum):
    """What to do next."""

    DECIDE = "decide"
    """Accept or reject what models proposed."""
    COLLECT = "collect"
    """Have models make dialogues."""
    LOOK = "look"
    """Have a judge look for challenging turns."""
    EXTRACT = "extract"
    ANSWER = "answer"
    """Have models answer the scripts."""
    SCORE = "score"
    CHECK = "check"
    """Have people check what judges gave."""
    READ = "read"
    """Read the tables: every step was done."""


class Progression(NamedTuple):
    """How much of each step there is."""

    proposals: int
    tasks: int
    dialogues: int
    looks: int
    """Dialogues in which a judge looked for challenging turns."""
    scripts: int
    answers: int
    scores: int
    """Answers that a judge scored."""
    findings: int
    """What people found of judgements."""

    @property
    def next_step(self) -> NextStage:
        """The first step that lacks something which later steps need."""
        if self.proposals:
            return NextStage.DECIDE
        if not self.scripts:
            if not self.dialogues:
                return NextStage.COLLECT
            return NextStage.EXTRACT if self.looks else NextStage.LOOK
        if not self.answers:
            return NextStage.ANSWER
        if not self.scores:
            return NextStage.SCORE
        return NextStage.READ if self.findings else NextStage.CHECK


def standing(workspace: Workspace) -> Progression:
    """How far a workspace is."""
    usable = len(tasks(materials(workspace)))
    with workspace.read() as db:
        return Progression(
            proposals=len(scenarios.keys(db, BENCHMARK, TASK, "proposed")),
            tasks=usable,
            dialogues=conversations.count(db, Filter(benchmark=DIALOGUES.name)),
            looks=holdings.judged(db, DIALOGUES.name),
            scripts=len(scenarios.accepted(db, BENCHMARK, SCRIPT)),
            answers=conversations.count(db, Filter(benchmark=SIMULBENCH.name)),
            scores=holdings.judged(db, SIMULBENCH.name),
            findings=len(spotchecks.findings(db, SIMULBENCH.name, ())),
        )
