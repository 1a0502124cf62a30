"""The demo's PingPong: runs in two languages, a study with simulated annotators, another not rated yet."""

import random

from sqlite_utils import Database

from concord.benchmarks.pingpong.mock.features import rate
from concord.benchmarks.pingpong.play import PINGPONG
from concord.conversation import Unit
from concord.demo.workspace import VISITOR, Told, run
from concord.rating import Annotation, Rating
from concord.runs.plans import PlayPlan
from concord.store import access, conversations, ratings, studies
from concord.store.conversations import Filter
from concord.studies.guidelines import default_guidelines
from concord.studies.studies import deal_study, draw_study
from concord.workspace import Workspace

PLAYERS = ("mock-vivid", "mock-bland", "mock-refuser", "mock-typist")
JUDGES = ("mock-judge-strict", "mock-judge-lenient", "mock-judge-noisy")
INTERROGATOR = "mock-user"
MODELS = (*PLAYERS, "mock-parrot", INTERROGATOR, *JUDGES, "mock-judge-erratic")
"""The chat models that models.toml needs."""
LANGUAGES = ("en", "ru")
STUDY, TRIAL = "demo", "try-the-desk"
UNITS, TRIAL_UNITS = 250, 12
STRATA = ("player", "character", "situation")
ANNOTATORS = tuple(f"{name} (simulated)" for name in ("Ada", "Ben", "Cleo", "Dov", "Eva"))
SEED = 7


def build(workspace: Workspace, told: Told) -> None:
    """Bring PingPong to its full state while the mock server is up; what is stored is not made again."""
    models = {"players": PLAYERS, "interrogator": (INTERROGATOR,), "judges": JUDGES}
    for language in LANGUAGES:
        plan = PlayPlan(PINGPONG.name, models, {"language": language})
        run(workspace, f"Conversations and judgements ({language})", told, plan)
    _study(workspace, told)
    with workspace.write() as db:
        access.invite(db, VISITOR)
        _draw(db, workspace, TRIAL, TRIAL_UNITS, SEED + 1, "Try the desk: a dozen dialogues")
        deal_study(db, TRIAL, [VISITOR], overlap=1)


def is_complete(workspace: Workspace) -> bool:
    """Whether everything was built: the study for the visitor comes last."""
    with workspace.read() as db:
        return TRIAL in studies.names(db)


def _study(workspace: Workspace, told: Told) -> None:
    with workspace.write() as db:
        if STUDY not in studies.names(db):
            for name in ANNOTATORS:
                access.invite(db, name, simulated=True)
            _draw(db, workspace, STUDY, UNITS, SEED, "Demo: 250 English dialogues")
            deal_study(db, STUDY, ANNOTATORS, overlap=0)
    with workspace.read() as db:
        done = {a.name for a in access.annotators(db, STUDY) if a.done}
    for index, name in enumerate(ANNOTATORS):
        if name not in done:
            given = _rated(workspace, index, name)
            with workspace.write() as db:
                studies.import_annotations(db, STUDY, given)
        told("A study, rated by simulated annotators", (index + 1) / len(ANNOTATORS))


def _rated(workspace: Workspace, index: int, name: str) -> list[Annotation]:
    pace = random.Random(f"{SEED} {name}")
    given = []
    with workspace.read() as db:
        criteria = [criterion.name for criterion in studies.get(db, STUDY).criteria]
        for unit in studies.units(db, STUDY):
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
    draw_study(db, name, n, wanted=wanted, by=STRATA, seed=seed, title=title, guidelines=text)
