"""`stss`: a play simulates two days for one task, architecture and model; it is scored by rule."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from operator import attrgetter
from pathlib import Path

from concord.benchmarks.stss import architectures
from concord.benchmarks.stss.agent import ARCHITECTURES, Agent
from concord.benchmarks.stss.mind import require_usable
from concord.benchmarks.stss.simulation import World, people
from concord.benchmarks.stss.tasks import SocialTask, read_tasks, values_of
from concord.benchmarks.stss.templates import first_day, instantiate, load_templates, missing, with_company
from concord.benchmarks.stss.thoughts import THOUGHTS
from concord.benchmarks.stss.town import Clock, Town, load_town
from concord.benchmarks.stss.trajectory import STAMP, Talk, check_stored
from concord.conversation import Conversation, Message
from concord.errors import ConcordError, ConfigError, check_known, not_found
from concord.runs.benchmark import (
    Ask,
    Benchmark,
    Expected,
    Materials,
    Option,
    Play,
    Role,
    narrowing,
    prompt_versions,
)
from concord.runs.plans import PlayPlan

NAME = "stss"
LANGUAGE = "en"
TOWN = "merrow-quay"
TEMPLATES = "templates"
"""The task set that is drawn from the town's own templates; every other is a file of tasks."""


def _files(materials: Materials, pattern: str, name: str) -> dict[str, Path]:
    """Files under `data/stss/en` by name (an attribute of theirs), the workspace's before those that ship."""
    by_name: dict[str, Path] = {}
    for folder in materials.data:
        for file in sorted((folder / NAME / LANGUAGE).glob(pattern)):
            by_name.setdefault(attrgetter(name)(file), file)
    return by_name


def towns(materials: Materials) -> dict[str, Path]:
    """Town files by name: `data/stss/en/<name>/town.toml`."""
    return _files(materials, "*/town.toml", "parent.name")


def town_titles(materials: Materials) -> dict[str, str]:
    """What each town is called, by the name of its folder, which stands for a file that cannot be read."""
    titles: dict[str, str] = {}
    for name, path in towns(materials).items():
        try:
            title = load_town(path).name
        except ConcordError:
            title = name
        titles[name] = title if title not in titles.values() else f"{title} ({name})"
    return titles


def town_named(materials: Materials, name: str) -> Town:
    """A town by name. Raises NotFound, or ConfigError where it has problems."""
    known_towns = towns(materials)
    check_known("town", name, known_towns)
    return load_town(known_towns[name])


def task_sets(materials: Materials) -> dict[str, Path]:
    """Files of imported tasks by name: `data/stss/en/tasks/<set>.json`."""
    return _files(materials, "tasks/*.json", "stem")


def tasks_of(
    materials: Materials, town_name: str, task_set: str = TEMPLATES, seed: int = 1
) -> dict[str, SocialTask]:
    """The tasks of a set by id, played in the town or not. Raises NotFound or ConfigError."""
    sets = task_sets(materials)
    if task_set not in (TEMPLATES, *sets):
        raise not_found("task set", task_set, [TEMPLATES, *sets])
    town = town_named(materials, town_name)
    if task_set != TEMPLATES:
        return {task.id: with_company(task, town, seed) for task in read_tasks(sets[task_set])}
    file = towns(materials)[town_name].with_name("templates.toml")
    if not file.is_file():
        raise ConfigError(
            f"The town “{town_name}” has no task templates of its own ({file}). Import tasks for it, and "
            "choose their task set."
        )
    templates = load_templates(file, town)
    return {name: instantiate(template, town, seed) for name, template in templates.items()}


async def simulate(
    ask: Ask,
    key: str,
    task: SocialTask,
    town: Town,
    agent: Agent,
    step_minutes: int,
    facets: Mapping[str, str],
) -> Conversation:
    """One simulation: the performer's conversations as messages, with everybody's trajectory.

    Raises CallFailed if too many of the performer's thoughts were unusable.
    """
    mind, residents_mind = agent.minds(ask)
    cast = {name: mind if name == task.performer else residents_mind for name in task.cast}
    bodies = people(town, cast, task, agent.vectors(ask))
    lived = await World(town, Clock(first_day(task), 2, step_minutes), bodies).run()
    me = next(body for body in bodies if body.name == task.performer)
    require_usable(me)
    return Conversation(
        benchmark=NAME,
        key=key,
        player=agent.player,
        messages=spoken(task.performer, lived.talks),
        language=LANGUAGE,
        facets=facets,
        context={
            "Task": f"{task.goal} {task.criteria}",
            "Performer": task.performer,
            "_task": values_of(task),
        },
        meta=agent.meta | {"town": town.name, "unusable": len(me.unusable)},
        trajectory=lived.as_stored(),
    )


def spoken(performer: str, talks: Sequence[Talk]) -> tuple[Message, ...]:
    """The performer's conversations, one after the other; the performer is the assistant."""
    return tuple(
        Message(
            "assistant" if speaker == performer else "user",
            text,
            {
                "speaker": speaker,
                "with": talk.partner(performer),
                "time": talk.time.strftime(STAMP),
                "place": talk.place,
            },
        )
        for talk in talks
        if performer in talk.pair
        for speaker, text in talk.messages
    )


def agents(plan: PlayPlan, materials: Materials, version: str) -> list[Agent]:
    """The agents of a plan, thinking by a version of the prompts."""
    prompts = {name: STSS.prompt(materials, name, version) for name in STSS.prompts}
    residents = plan.one("residents")
    embeddings = plan.perhaps("embeddings")
    own_architectures = architectures.own_architectures(materials)

    def agent(architecture: str, player: str) -> Agent:
        agent = Agent(player, architecture, residents, embeddings, prompts)
        if architecture not in own_architectures:
            return agent
        return replace(
            agent, own_mind=own_architectures[architecture].mind, code=own_architectures[architecture].code
        )

    selected = plan.options["architectures"] or [*ARCHITECTURES, *own_architectures]
    return [agent(architecture, player) for architecture in selected for player in plan.models["players"]]


def plays(plan: PlayPlan, materials: Materials) -> Iterator[Play]:
    """Every task × architecture × player × repeat. Raises ConfigError for a task the town cannot hold."""
    options = plan.options
    version = options["version"]
    step = int(options["step_minutes"])
    town = town_named(materials, options["town"])
    known_tasks = tasks_of(materials, options["town"], options["task_set"], int(options["seed"]))
    selected = [known_tasks[name] for name in (options["tasks"] or known_tasks)]
    for task in selected:
        check(task, town)
    for repeat, task, agent in product(range(options["repeats"]), selected, agents(plan, materials, version)):
        facets = {
            "task": task.id,
            "type": task.kind,
            "performer": task.performer,
            **agent.facets(options["town"]),
            "task_set": options["task_set"],
            "step_minutes": str(step),
            "version": version,
        }
        head = (NAME, version, options["town"], options["task_set"], task.id)
        key = agent.key(head, repeat, *([f"{step} min"] if step != STEP else []))
        yield Play(
            key,
            partial(simulate, key=key, task=task, town=town, agent=agent, step_minutes=step, facets=facets),
            expected(task, agent),
            player=agent.player,
            facets={**facets, "language": LANGUAGE},
        )


def check(task: SocialTask, town: Town) -> None:
    """Raises ConfigError where a task cannot be played in a town."""
    if lacking := missing(task, town):
        raise ConfigError(
            f"The task “{task.id}” cannot be played in {town.name}, which has no {', no '.join(lacking)}. "
            "Say in published.toml beside the town's file what they are called there, and import it again."
        )
    first = task.event_day
    if late := next((s.start for s in task.subgoals if s.start and first and s.start.date() > first), None):
        raise ConfigError(
            f"The task “{task.id}” has events on two days, the later on {late:%Y-%m-%d}; a simulation ends "
            "with the day of the first."
        )
    if len(task.cast) < 2:
        raise ConfigError(f"The task “{task.id}” does not say who else is in the simulation (all_chars).")


def expected(task: SocialTask, agent: Agent) -> tuple[Expected, ...]:
    """A first guess at a simulation's calls. Mock models need fewer than models: 22 for the performer."""
    residents_count = len(task.cast) - 1
    talking = (Expected(agent.player, 40, 750, 60), Expected(agent.residents, 16 * residents_count, 750, 80))
    if not agent.embeddings:
        return talking
    return (*talking, Expected(agent.embeddings, 6 * len(task.cast), 90, 0))


STEP = 5
TASK_FACETS = ("task", "type", "architecture")
SETTING = ("town", "residents", "embeddings", "code")
"""Facets of both levels."""
WHICH_ARCHITECTURES = narrowing("architectures", "these architectures", lambda m, c: architectures.names(m))
EMBEDDINGS = Role(
    "embeddings",
    "Model of kind “embeddings” that gives the relevance of memories; without one, words are compared.",
    multiple=False,
    required=False,
    kind="embeddings",
)
SPEAKERS = ("Partner", "Performer")
"""The user's and the assistant's side, as people and judges are told."""

STSS = Benchmark(
    name=NAME,
    title="STSS",
    description="A performer has a social task in a small town. Two days are simulated, and what residents "
    "do is "
    "scored by rule.",
    roles=(
        Role("players", "Models that are the performer: its plans and what it says."),
        Role(
            "residents",
            "Model of all other residents, which also plans the details of all days.",
            multiple=False,
        ),
        EMBEDDINGS,
    ),
    options=(
        Option("town", "The town of the simulations.", "choice", TOWN, lambda m, c: list(towns(m))),
        Option(
            "task_set",
            "Where tasks come from: the town's templates, or an imported set.",
            "choice",
            TEMPLATES,
            lambda m, c: [TEMPLATES, *task_sets(m)],
        ),
        Option("seed", "Draws performers, places, times and residents for the templates.", "count", 1),
        narrowing(
            "tasks", "these tasks", lambda m, c: list(tasks_of(m, c["town"], c["task_set"], int(c["seed"])))
        ),
        WHICH_ARCHITECTURES,
        Option("step_minutes", "Minutes of a step.", "count", STEP),
        Option("repeats", "Simulations of each task, architecture and player.", "count", 1),
        prompt_versions(NAME, "v1"),
    ),
    prompts=THOUGHTS,
    version="v1",
    facets=(*TASK_FACETS, "performer", *SETTING, "task_set", "step_minutes", "version"),
    items=("task", "type", "performer"),
    evaluated=("architecture", "embeddings"),
    plays=plays,
    check_trajectory=check_stored,
    speakers=SPEAKERS,
)
