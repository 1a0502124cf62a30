"""The demo's human check of the language level: three simulated annotators answer the goal conditions."""

import random

from sqlite_utils import Database

from concord.conversation import Unit
from concord.rating import Rating
from concord.store import conversations, studies
from concord.store.conversations import Filter
from concord.studies.studies import StudyDraw, deal_study, draw_study
from concord.workspace import Workspace
from tests.annotated import Annotation, import_annotations
from tests.demo import pingpong, stss

BENCHMARK, STUDY, CONVERSATIONS = "stss-language", "stss-check", 40
ANNOTATORS = pingpong.ANNOTATORS[:3]
SLIPS = (0.04, 0.08, 0.16)
"""How often each annotator answers otherwise than the strict judge."""


def play(workspace: Workspace) -> None:
    """A sample spread over types and agents, answered by everybody."""
    with workspace.write() as db:
        draw_study(
            db,
            STUDY,
            StudyDraw(
                CONVERSATIONS,
                Filter(BENCHMARK),
                strata=("type", "architecture"),
                seed=pingpong.SEED,
                title="Demo: are the goal conditions met?",
            ),
        )
        deal_study(db, STUDY, ANNOTATORS, overlap=0)
    for name, share in zip(ANNOTATORS, SLIPS, strict=True):
        answers = _answers(workspace, name, share)
        with workspace.write() as db:
            import_annotations(db, STUDY, answers)


def _answers(workspace: Workspace, name: str, share: float) -> list[Annotation]:
    """The strict judge's answers, some of them turned round."""
    chance = random.Random(f"{pingpong.SEED} {name}")
    answers = []
    with workspace.read() as db:
        criteria = {criterion.name: criterion for criterion in studies.get(db, STUDY).criteria}
        for unit in studies.units(db, STUDY):
            conversation = conversations.load(db, unit["conversation_id"])
            for criterion, score in _of_judge(db, unit["conversation_id"]):
                if criterion in criteria and criteria[criterion].asked_of(conversation.facets):
                    answer = 1 - score if chance.random() < share else score
                    rating = Rating(Unit(conversation.key), criterion, answer)
                    answers.append(Annotation(rating, name, seconds=chance.uniform(3, 12)))
    return answers


def _of_judge(db: Database, conversation: int) -> list[tuple[str, float]]:
    """What the strict judge answered: criterion, score."""
    rows = db.execute(
        "SELECT r.criterion, r.score FROM ratings r JOIN raters x ON x.id = r.rater_id "
        "WHERE r.conversation_id = ? AND x.name = ? AND x.kind = 'judge' ORDER BY r.id",
        [conversation, stss.JUDGES[0]],
    )
    return rows.fetchall()
