"""The demo's PingPong: runs in two languages, a study with simulated annotators, another not rated yet."""

import random

from sqlite_utils import Database

from concord.benchmarks.pingpong.play import PINGPONG
from concord.conversation import Unit
from concord.demo.workspace import TRIAL, VISITOR
from concord.rating import Rating
from concord.runs.plans import PlayPlan
from concord.store import access, conversations, ratings, studies
from concord.store.conversations import Filter
from concord.studies.guidelines import default_guidelines
from concord.studies.studies import StudyDraw, deal_study, draw_study
from concord.workspace import Workspace
from tests.annotated import Annotation, import_annotations
from tests.demo.playing import run
from tests.mock.pingpong.features import rate

PLAYERS = ("mock-vivid", "mock-bland", "mock-refuser", "mock-typist")
JUDGES = ("mock-judge-strict", "mock-judge-lenient", "mock-judge-noisy")
INTERROGATOR = "mock-user"
LANGUAGES = ("en", "ru")
STUDY = "demo"
UNITS, TRIAL_UNITS = 250, 12
STRATA = ("player", "character", "situation")
ANNOTATORS = tuple(f"{name} (simulated)" for name in ("Ada", "Ben", "Cleo", "Dov", "Eva"))
SEED = 7


def play(workspace: Workspace) -> None:
    """Two runs, the study that was rated, and the one to try."""
    models = {"players": PLAYERS, "interrogator": (INTERROGATOR,), "judges": JUDGES}
    for language in LANGUAGES:
        plan = PlayPlan(PINGPONG.name, models, {"language": language})
        run(workspace, plan)
    _study(workspace)
    with workspace.write() as db:
        access.invite(db, VISITOR)
        _draw(db, workspace, TRIAL, TRIAL_UNITS, SEED + 1, "Try the desk: a dozen dialogues")
        deal_study(db, TRIAL, [VISITOR], overlap=1)


def _study(workspace: Workspace) -> None:
    with workspace.write() as db:
        for name in ANNOTATORS:
            access.invite(db, name, simulated=True, days=0)
        _draw(db, workspace, STUDY, UNITS, SEED, "Demo: 250 English dialogues")
        deal_study(db, STUDY, ANNOTATORS, overlap=0)
    for index, name in enumerate(ANNOTATORS):
        given = rated(workspace, STUDY, index, name)
        with workspace.write() as db:
            import_annotations(db, STUDY, given)


def rated(workspace: Workspace, study: str, index: int, name: str) -> list[Annotation]:
    """What a simulated annotator gives every item of a study."""
    pace = random.Random(f"{SEED} {name}")
    given = []
    with workspace.read() as db:
        criteria = [criterion.name for criterion in studies.get(db, study).criteria]
        for unit in studies.units(db, study):
            conversation = conversations.load(db, unit["conversation_id"])
            for criterion in criteria:
                score = rate(conversation, criterion, index, SEED)
                rating = Rating(Unit(conversation.key), criterion, score)
                given.append(Annotation(rating, name, seconds=pace.uniform(4, 20)))
    return given


def _draw(db: Database, workspace: Workspace, name: str, n: int, seed: int, title: str) -> None:
    criteria = [c for c in ratings.criteria(db, PINGPONG.name) if c.counted]
    text = default_guidelines(workspace.folders("data"), PINGPONG.name, criteria, language="en")
    wanted = Filter(PINGPONG.name, "en")
    draw_study(db, name, StudyDraw(n, wanted, strata=STRATA, seed=seed, title=title, guidelines=text))
