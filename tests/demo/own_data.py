"""The demo's own data: the support dialogues that ship, by a rubric of two versions.

With what real life holds: a judge whose replies break off or are no JSON, runs that are repeated, prices, two
runs to compare, people who differ, and pairs.
"""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from statistics import median_low

from click.testing import CliRunner

from concord.cli import main
from concord.conversation import Conversation, Unit
from concord.demo.workspace import RECORDED, VISITOR
from concord.files import SHIPPED
from concord.rating import Criterion, Rater, Rating
from concord.runs.plans import ComparePlan, JudgePlan
from concord.store import access, conversations, placements, ratings, studies
from concord.store.actor import acting
from concord.studies import annotation_flow
from concord.studies.purposes import adjudicate
from concord.workspace import Workspace
from tests.annotated import Annotation, import_annotations
from tests.demo.playing import run
from tests.mock.faults import Faults
from tests.mock.rubrics import quality

EXAMPLES = SHIPPED / "data" / "examples"
RUBRIC, STUDY = "support", "support"
PAIRS, PAIRS_RUBRIC, QUESTION = "support-pairs", "which-better", "better"
JUDGES = ("mock-judge-strict", "mock-judge-lenient")
ERRATIC = "mock-judge-erratic"
FAULTS = Faults(malformed=2, truncated=3, models=(ERRATIC,))
"""Of the erratic judge: so many replies cannot be used that some of its judgements fail."""
PEOPLE = ("Ada (simulated)", "Ben (simulated)", "Cleo (simulated)")
ADJUDICATOR, SETTLED = "Eva (simulated)", 5
"""Who settles how many of the items in dispute; the others are left to whoever tries it."""
WHO = "demo"
SEED = 7


def play(workspace: Workspace) -> None:
    """Judges before and after a change of the rubric, three people, an adjudication, and pairs."""
    rubric = workspace.path / "rubrics" / f"{RUBRIC}.toml"
    rubric.write_bytes((EXAMPLES / f"{RUBRIC}.toml").read_bytes())
    with tempfile.TemporaryDirectory() as folder:
        marked = Path(folder) / f"{RUBRIC}.jsonl"
        lines = (EXAMPLES / marked.name).read_text(encoding="utf-8").splitlines()
        marked.write_text("\n".join(json.dumps(json.loads(line) | {"simulated": True}) for line in lines))
        command(workspace, "import", "conversations", marked)
    run(workspace, JudgePlan(RUBRIC, (ERRATIC,), rubric=RUBRIC))
    run(workspace, JudgePlan(RUBRIC, JUDGES, judge_repeats=3, rubric=RUBRIC))
    drawn = ("--benchmark", RUBRIC, "--n", 24, "--rubric", RUBRIC)
    command(workspace, "--by", WHO, "study", "draw", STUDY, *drawn)
    command(workspace, "--by", WHO, "study", "deal", STUDY, "--annotators", ",".join(PEOPLE))
    for person in PEOPLE:
        with workspace.write() as db:
            criteria = studies.get(db, STUDY).criteria
            annotations = [
                answer
                for unit in studies.units(db, STUDY)
                for answer in _answers(conversations.load(db, unit["conversation_id"]), criteria, person)
            ]
            import_annotations(db, STUDY, annotations)
    with workspace.write() as db:
        with acting(WHO):
            adjudicate.set_rule(db, STUDY, adjudicate.Rule(2, "helpful"))
        queue = annotation_flow.look(db, "adjudicate", STUDY, None)
        assert queue
        who = ratings.rater_id(db, Rater(ADJUDICATOR, "human"))
        for item, questions in [*queue.items.items()][:SETTLED]:
            for question in questions:
                score = median_low(answer.score for answer in question.shown_answers)
                answer = STUDY, who, item, question.criterion.name, score, "The answer in the middle."
                annotation_flow.answer(db, "adjudicate", *answer)
    rubric.write_bytes((RECORDED / "rubrics" / f"{RUBRIC}.toml").read_bytes())
    run(workspace, JudgePlan(RUBRIC, JUDGES, judge_repeats=3, rubric=RUBRIC))
    command(workspace, "--by", WHO, "study", "pairs", PAIRS, "--rubric", PAIRS_RUBRIC, "--benchmark", RUBRIC)
    command(
        workspace, "--by", WHO, "study", "deal", PAIRS, "--annotators", ",".join(PEOPLE[:2]), "--overlap", 2
    )
    for person in PEOPLE[:2]:
        _compare(workspace, person)
    # The visitor finds some at the desk.
    with workspace.write() as db:
        eight = [unit["id"] for unit in studies.units(db, PAIRS)][:8]
        placements.assign(db, access.annotator_id(db, VISITOR), eight)
    run(workspace, ComparePlan(RUBRIC, (*JUDGES, "mock-judge-noisy"), study=PAIRS))


def command(workspace: Workspace, *words: object) -> None:
    """Carry out a command on the workspace."""
    outcome = CliRunner().invoke(main, ["--workspace", str(workspace.path), *map(str, words)])
    assert outcome.exit_code == 0, outcome.output


def _answers(conversation: Conversation, criteria: tuple[Criterion, ...], person: str) -> list[Annotation]:
    """What a person answers: by the words of the dialogue, with a taste and a pace of their own."""
    chance = random.Random(f"{SEED} {person} {conversation.key}")
    place = quality(" ".join(conversation.replies)) + chance.gauss(0, 0.18)
    annotations = []
    for criterion in criteria:
        values = criterion.scale.values
        share = min(max(place + chance.gauss(0, 0.08), 0.0), 1.0)
        if criterion.name == "effort":
            share = 1 - share
        value = round(values[0] + share * (values[-1] - values[0]))
        annotations.append(
            Annotation(
                Rating(Unit(conversation.key), criterion.name, value), person, seconds=chance.uniform(5, 25)
            )
        )
    return annotations


def _compare(workspace: Workspace, person: str) -> None:
    chance = random.Random(f"{SEED} {person}")
    with workspace.write() as db:
        rater = access.annotator_id(db, person)
        for item, *_ in placements.on_desk(db, rater, PAIRS):
            shown = placements.numbered(db, rater, item).shown
            first, second = (quality(" ".join(conversations.load(db, side).replies)) for side in shown)
            lead = first - second + chance.gauss(0, 0.15)
            score = 0 if abs(lead) < 0.08 else 1 if lead > 0 else -1
            placements.answer(db, rater, item, QUESTION, score)
