"""The demo's PingPong, version 1: three interrogators that rate as they go, and a study in two languages.

The study holds one interrogator's conversations, which version 2's judges rated, too, as in the paper. Judges
play as well, so that they can be weighed by what they give each other.
"""

from concord.benchmarks.pingpong.play import characters, situations
from concord.benchmarks.pingpong.v1 import PINGPONG_V1
from concord.runs.plans import PlayPlan
from concord.store import ratings
from concord.store.conversations import Filter
from concord.studies.guidelines import default_guidelines
from concord.studies.studies import StudyDraw, deal_study, draw_study
from concord.workspace import Workspace
from tests.annotated import import_annotations
from tests.demo import pingpong
from tests.demo.playing import run

INTERROGATORS = ("mock-judge-strict", "mock-judge-lenient", "mock-user")
RATED = INTERROGATORS[0]
"""Whose conversations people rate."""
MUTUAL = INTERROGATORS[2]
"""With whom the judges play."""
STUDY = "demo-v1"
CHARACTERS, SITUATIONS = 4, 4


def play(workspace: Workspace) -> None:
    """A run of each interrogator, and the study of one of them."""
    for interrogator in INTERROGATORS:
        for language in pingpong.LANGUAGES if interrogator == RATED else pingpong.LANGUAGES[:1]:
            players = (*pingpong.PLAYERS, *(pingpong.JUDGES if interrogator == MUTUAL else ()))
            models = {"players": players, "interrogator": (interrogator,), "judges": pingpong.JUDGES}
            run(
                workspace,
                PlayPlan(PINGPONG_V1.name, models, {"language": language, **_some(workspace, language)}),
            )
    with workspace.write() as db:
        criteria = [c for c in ratings.criteria(db, PINGPONG_V1.name) if c.counted]
        text = default_guidelines(workspace.folders("data"), PINGPONG_V1.name, criteria, language="en")
        draw_study(
            db,
            STUDY,
            StudyDraw(
                CHARACTERS * SITUATIONS * len(pingpong.PLAYERS) * len(pingpong.LANGUAGES),
                Filter(PINGPONG_V1.name, facets={"interrogator": (RATED,)}),
                strata=("player", "language"),
                seed=pingpong.SEED,
                title="Demo: version 1's dialogues, English and Russian",
                guidelines=text,
            ),
        )
        deal_study(db, STUDY, pingpong.ANNOTATORS, overlap=0)
    for index, name in enumerate(pingpong.ANNOTATORS):
        given = pingpong.rated(workspace, STUDY, index, name)
        with workspace.write() as db:
            import_annotations(db, STUDY, given)


def _some(workspace: Workspace, language: str) -> dict[str, list[str]]:
    """The first characters and situations of a language."""
    folders = workspace.folders("data")
    return {
        "characters": list(characters(folders, language))[:CHARACTERS],
        "situations": list(situations(folders, language))[:SITUATIONS],
    }
