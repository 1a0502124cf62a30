"""Import FED: 125 dialogues of systems and people, rated by people on eleven qualities, by a judge on five.

Mehta & Eskenazi, “Unsupervised Evaluation of Interactive Dialog with DialoGPT” (SIGDIAL 2020). The published
ratings have no names, so the study is anonymous: a rater is a position in the list of ratings.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from concord.conversation import Conversation, Unit
from concord.errors import ImportRefused
from concord.exchange.dialogue import from_list
from concord.exchange.incoming import Given, Incoming
from concord.files import read_json
from concord.questions import Scale, points
from concord.rating import Criterion, Rater
from concord.store.studies import Study

PEOPLE = "fed_human_annotations.json"
JUDGE = "fed_gpt4_annotations.json"
BENCHMARK = "fed"
GPT_4 = Rater("gpt-4", "judge")
RUNS = 5

_THREE = Scale((0, 1, 2), ("No", "Somewhat", "Yes"))
_QUALITIES = (
    ("Coherent", "The system keeps to the point, so that the dialogue holds together from start to end."),
    ("Error recovery", "After a mistake, the system finds its way back into the dialogue."),
    ("Consistent", "Nothing the system says contradicts what it said before."),
    ("Diverse", "The system's utterances differ from one another."),
    ("Depth", "The system goes into a topic instead of staying on its surface."),
    ("Likeable", "The system has a personality one would like to talk to."),
    ("Understanding", "The system seems to grasp what the person means."),
    ("Flexible", "The system adapts to the person and to what interests them."),
    ("Informative", "The system tells the person something new."),
    ("Inquisitive", "The system asks about the person and takes an interest in the answers."),
    ("Overall", "How good is the dialogue as a whole?"),
)
_SCALES = {
    "Consistent": Scale((0, 1), ("No", "Yes")),
    "Overall": Scale((0, 1, 2, 3, 4), ("Very poor", "Poor", "Fair", "Good", "Very good")),
}
JUDGED = {"coh": "Coherent", "div": "Diverse", "eng": "Likeable", "inf": "Informative", "ovr": "Overall"}
CRITERIA = tuple(
    Criterion(
        name,
        text,
        _SCALES.get(name, _THREE),
        counted=name not in _SCALES,  # a mean over scales of different width would be that of the widest
        judged=points(1, 5) if name in JUDGED.values() else None,
    )
    for name, text in _QUALITIES
)


def read(folder: Path, study: str = BENCHMARK) -> Incoming:
    """The dialogues and ratings of a folder with the two published files. Raises ImportRefused."""
    people, judge = folder / PEOPLE, folder / JUDGE
    dialogues = _published(people)
    if not isinstance(dialogues, list) or not dialogues:
        raise ImportRefused(f"{people} must be a list of dialogues. Take the file as it was published.")
    conversations = [_conversation(people, number, entry) for number, entry in enumerate(dialogues, 1)]
    keys = [c.key for c in conversations]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ImportRefused(f"{people} holds the dialogue “{twice}” twice. Remove one of them.")
    given = [*_people(people, dialogues, keys), *_judge(judge, keys)]
    published = Study(study, CRITERIA, title="FED: dialogue quality", source="fed", anonymous=True)
    return Incoming(published, given, {c.key: c for c in conversations}, file=str(folder))


def _published(path: Path) -> Any:
    if not path.exists():
        raise ImportRefused(f"There is no {path}. Name the folder that holds {PEOPLE} and {JUDGE}.")
    return read_json(path, ImportRefused)


def _conversation(path: Path, number: int, entry: Any) -> Conversation:
    match entry:
        case {"dialogue_id": str(name), "model": str(by), "dialog": [_, *_] as said, "annotations": dict()}:
            # Dialogues between people are included: one of the two speaks as “model”.
            messages = from_list(said, f"{path}, dialogue {number} ({name})")
            return Conversation(BENCHMARK, f"{BENCHMARK}/{name}", by, messages)
    raise ImportRefused(
        f"Dialogue {number} of {path} lacks one of dialogue_id, model, dialog and annotations. "
        "Take the file as it was published."
    )


def _people(path: Path, dialogues: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> Iterator[Given]:
    raters = [Rater(f"position {n}", "human") for n in range(1, RUNS + 1)]
    criteria = {c.name: c for c in CRITERIA}
    for key, entry in zip(keys, dialogues, strict=True):
        for quality, scores in entry["annotations"].items():
            criterion = criteria.get(quality)
            if criterion is None:
                raise ImportRefused(
                    f"{path} rates {key} on “{quality}”, which is not among FED's qualities: "
                    f"{', '.join(criteria)}."
                )
            if not isinstance(scores, list) or len(scores) > RUNS:
                raise ImportRefused(
                    f"{path} must give {key} a list of at most {RUNS} ratings on “{quality}”."
                )
            for rater, score in zip(raters, scores, strict=False):
                if not _number(score) or score not in criterion.scale:
                    allowed = ", ".join(f"{value:g}" for value in criterion.scale.values)
                    raise ImportRefused(
                        f"{path} rates {key} on “{quality}” with {score!r}; the scale is {allowed}. "
                        "Correct the rating."
                    )
                yield Given(Unit(key), quality, rater, float(score), where=str(path))


def _judge(path: Path, keys: Sequence[str]) -> Iterator[Given]:
    runs = _published(path)
    names = [f"{short}_{run}" for short in JUDGED for run in range(1, RUNS + 1)]
    if not isinstance(runs, dict) or set(runs) != set(names):
        raise ImportRefused(f"{path} must hold the lists {names[0]} … {names[-1]} and nothing else.")
    for name in names:
        short, run = name.split("_")
        scores = runs[name]
        if not isinstance(scores, list) or len(scores) != len(keys):
            count = len(scores) if isinstance(scores, list) else "no"
            raise ImportRefused(
                f"{path} gives {count} ratings as “{name}” for {len(keys)} dialogues. "
                "The two files must come from the same publication."
            )
        for key, score in zip(keys, scores, strict=True):
            if not _number(score):
                raise ImportRefused(f"{path} rates {key} as “{name}” with {score!r}, which is not a number.")
            yield Given(Unit(key), JUDGED[short], GPT_4, float(score), repeat=int(run) - 1, where=str(path))


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value
