"""What a workspace holds, and what to do next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from concord.errors import ConfigError
from concord.llm.models import Model, load_models
from concord.reports.names import first_names
from concord.rubrics import rubric_store
from concord.runs.registry import BENCHMARKS
from concord.store import conversations, holdings, ratings, runs
from concord.store.access import Annotator, annotators
from concord.store.holdings import PlayerConversations, StudyHeld
from concord.store.runs import Progress
from concord.store.studies import ranked
from concord.workspace import Workspace


@dataclass(frozen=True)
class Overview:
    """What a workspace holds. `trouble` is the error of models.toml, `waiting` people with open items by
    study; studies stand in the order of `concord.store.studies.ranked`.
    """

    models: tuple[Model, ...]
    trouble: str
    played: tuple[PlayerConversations, ...]
    mock_judges: bool
    studies: tuple[StudyHeld, ...]
    pairs: tuple[StudyHeld, ...]
    waiting: dict[str, tuple[Annotator, ...]]
    latest: Progress | None
    unreadable: tuple[int, int] = (0, 0)
    """Conversations with a failed judgement, and others with a cut reply."""
    rubrics: tuple[str, ...] = ()

    @property
    def simulated(self) -> bool:
        """Whether anything here comes from mock models."""
        contents: tuple[PlayerConversations | StudyHeld, ...] = (*self.played, *self.studies, *self.pairs)
        return self.mock_judges or any(one.simulated for one in contents)


class NextStep(NamedTuple):
    """Something to do: a sentence, and the page where it is done (“” if not in the app) with what its address
    says; `label` are the words of a button where the page's title would not do.
    """

    text: str
    page: str = ""
    parameters: Mapping[str, str] = {}
    label: str = ""


def look(workspace: Workspace) -> Overview:
    """Read what the overview shows."""
    models: tuple[Model, ...] = ()
    trouble = ""
    try:
        models = tuple(load_models(workspace.models_path).values())
    except ConfigError as error:
        trouble = str(error)
    with workspace.read() as db:
        by_name = {study.name: study for study in holdings.studies(db)}
        studies = tuple(by_name[name] for name in ranked(db))
        waiting = {
            study.name: tuple(a for a in annotators(db, study.name) if a.done + a.skipped < a.items)
            for study in studies
            if study.closed < study.dealt
        }
        return Overview(
            models,
            trouble,
            tuple(holdings.players(db)),
            any(judge.simulated for judge in ratings.judges(db)),
            studies,
            tuple(holdings.pairs(db)),
            waiting,
            next(iter(runs.recent(db, limit=1)), None),
            conversations.unreadable(db),
            tuple(rubric_store.names(workspace)),
        )


def next_steps(contents: Overview) -> list[NextStep]:
    """What to do next, the most pressing first."""
    steps = [NextStep(contents.trouble)] if contents.trouble else []
    if not contents.played:
        steps.append(NextStep("Import your own conversations or ratings from a file.", "import"))
    if not (contents.models or contents.played or contents.trouble):
        steps.append(
            NextStep("Or let models generate some: add and test models, then start a run.", "models")
        )
    elif not contents.played:
        steps.append(NextStep("Or start a run: models generate conversations and judges rate them.", "runs"))
    steps += _of_run(contents.latest)
    study_names = BENCHMARKS.keys() | {
        study.name for study in contents.studies
    }  # imported ratings are a study
    imported = {p.benchmark for p in contents.played if not p.judged} - study_names
    unasked = set() if contents.rubrics else imported
    if unasked:
        text = f"Create a rubric, the questions about {', '.join(sorted(unasked))}."
        steps.append(NextStep(text, "rubrics"))
    elif (imported or any(p.judged for p in contents.played)) and not (contents.studies or contents.pairs):
        steps.append(NextStep("Draw a blind sample for annotators.", "samples"))
    complete = unasked | {study.pairs_of for study in contents.pairs}
    due = (
        p for p in contents.played if wants_judges(p.benchmark) and (p.judged or p.benchmark not in complete)
    )
    if unjudged := sum(p.conversations - p.judged for p in due if wants_judges(p.benchmark)):
        left = f"{unjudged:,} conversations have no judgement yet"
        steps.append(NextStep(f"{left}. Let judges rate them.", "runs", {"judge": "true"}))
    if sum(contents.unreadable):
        text = f"{unreadable_words(*contents.unreadable)} See the replies."
        if contents.unreadable[0]:
            text += " Their run can retry the judgements."
        steps.append(NextStep(text, "conversations", {"unreadable": "true"}))
    return steps


def unreadable_words(failed: int, cut: int) -> str:
    """How many conversations have failed or cut replies, by kind."""
    of_judges = "an unparseable judgement"
    of_players = "a truncated reply"
    kinds = [f"{n:,} with {kind}" for n, kind in ((failed, of_judges), (cut, of_players)) if n]
    return f"{failed + cut:,} conversations have failed or truncated replies: {', '.join(kinds)}."


def wants_judges(benchmark: str) -> bool:
    """Whether judges score a benchmark's conversations, and not rules, and not only flags are asked for."""
    benchmark_value = BENCHMARKS.get(benchmark)
    if benchmark_value is None:
        return True
    return any(role.name == "judges" for role in benchmark_value.roles) and any(
        c.counted for c in benchmark_value.criteria
    )


def _of_run(latest: Progress | None) -> list[NextStep]:
    """The state of the latest run, unless it ended well."""
    words = {
        "interrupted": "was interrupted. Resume it.",
        "running": "is running. See its progress.",
        "broken": "broke off: ",
    }
    if latest is None or latest.stands not in words:
        return []
    return [NextStep(f"Run {latest.id} {words[latest.stands]}{latest.message}", "runs")]


def of_study(study: StudyHeld, waiting: Sequence[Annotator]) -> list[NextStep]:
    """What to do next in a study; `waiting` are the people who have open items in it."""
    if not study.dealt and not study.rated:
        return [NextStep("Assign it to annotators.", "samples", {"study": study.name})]
    if not waiting and study.rated and not study.judged:
        return [NextStep("Let judges rate it, too.", "runs", {"study": study.name, "judge": "true"})]
    if not waiting:
        return []
    names = first_names([a.name for a in waiting])
    sentence = f"Answers still to come: {study.dealt - study.closed:,} of {study.dealt:,}, by {names}."
    if len(waiting) == 1 and not waiting[0].simulated:
        return [NextStep(sentence, "rate", {"study": study.name, "as": waiting[0].name})]
    return [NextStep(sentence, "annotators", {"study": study.name})]
