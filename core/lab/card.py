"""The judge card: one page of what a judge is, what it was validated on, and what it must not be used for.

Beside it lie files by which the judge runs elsewhere: its prompt, a Python module, and scorers of MLflow and
Inspect, all made of the same rubric and settings.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from concord.conversation import Message
from concord.errors import ConfigError
from concord.files import file_name, read_toml
from concord.lab import comparing
from concord.lab.measuring import OVERALL, Bench, Candidate
from concord.lab.parts import SELECT, TEST
from concord.llm.entries import merged
from concord.llm.handshake import differences
from concord.llm.models import load_models, pick
from concord.reports.pictures import templates
from concord.rubrics import rubric_store, writing
from concord.rubrics.rubric import EXAMPLE
from concord.runs import handshakes, rubric_judge
from concord.store import lab, studies
from concord.store.lab import JudgeUse
from concord.table import SCHEMA, Cell, Column, Table, as_values
from concord.workspace import Workspace

EXPORTED = Path(__file__).parent / "exported"
SCORERS = ("judge.py", "mlflow_scorer.py", "inspect_scorer.py")
"""The files by which a judge runs elsewhere, with places for what is its own."""


@dataclass(frozen=True)
class Card:
    """A judge's card: its fingerprint, facts by heading, sentences, tables, limits, and its prompt."""

    title: str
    fingerprint: str
    facts: Mapping[str, str]
    sentences: tuple[str, ...]
    tables: tuple[Table, ...]
    limits: tuple[str, ...]
    prompt: tuple[Message, ...]
    rubric: Mapping[str, Any]
    settings: Mapping[str, Any]
    simulated: bool

    def as_html(self, today: date) -> str:
        """One file that asks nothing of any network; every text in it is escaped."""
        environment = templates(today, site=self.title, simulated=self.simulated)
        return environment.get_template("card.html").render(heading=self.title, **vars(self))

    def as_json(self) -> str:
        """Everything as plain values, figures unrounded."""
        names = ("fingerprint", "facts", "sentences", "limits", "rubric")
        value = {"schema": SCHEMA, "card": self.title} | {name: getattr(self, name) for name in names}
        value["tables"] = {table.name: as_values(table) for table in self.tables}
        return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def card(workspace: Workspace, bench: Bench, judge: Candidate, *, robustness: Table | None = None) -> Card:
    """The card of a judge that is a version of the study's rubric.

    Its figures are of *test* where that part was opened for this judge, else of *select*, and say so: nothing
    is opened for a card. Raises ConfigError for a judge by another prompt, NotFound for one that is not in
    models.toml.
    """
    name = bench.parts.rubric
    number = bench.versions.get(judge.variant)
    if number is None:
        raise ConfigError(
            f"{judge} does not answer a version of {name}: a judge card needs a judge of a rubric."
        )
    rubric_version = rubric_store.find(workspace, name, number)
    entry = pick(load_models(workspace.models_path), judge.model)
    model = handshakes.settled_models(workspace, {entry.name: entry})[entry.name]
    entry_settings = read_toml(workspace.models_path)["models"][judge.model]
    settings = merged(entry_settings, differences(entry, model))
    with workspace.read() as db:
        openings = [one for one in lab.openings(db, bench.parts.study) if str(judge) in one.about]
        facts, limits = _facts(db, bench)
    part = TEST if openings else SELECT
    fingerprint = hashlib.sha256(
        f"{rubric_version.rubric.hash} {model.configuration.hash}".encode()
    ).hexdigest()[:16]
    cost_of_judge = bench.costs[part].get(judge)
    price = comparing.price(cost_of_judge)
    facts |= {
        "Model": f"{model.configuration.model} as {judge.model}",
        "Rubric": f"{rubric_version.variant}, hash {rubric_version.rubric.hash}",
        "Cost of 1,000 judgements": "no price" if price is None else f"{price:.2f}",
        "Seconds of a judgement": _seconds(cost_of_judge),
    }
    table = _agreement(bench, judge, part)
    sentences = [f"Fingerprint {fingerprint}: of the rubric's content and the model's settings."]
    if part == SELECT:
        sentences.append(
            "These figures are from “select”, not from the sealed part. If “select” chose this judge, they "
            "are too good."
        )
    elif len(openings) > 1:
        sentences.append(f"The sealed part was opened {len(openings)} times for this judge.")
    [prompt] = list(rubric_judge.requests(rubric_version.rubric, rubric_version.variant, EXAMPLE))[:1]
    return Card(
        f"Judge card: {judge}",
        fingerprint,
        facts,
        tuple(sentences),
        (table, *([robustness] if robustness else [])),
        tuple(limits),
        prompt.messages,
        rubric_version.rubric.body,
        settings,
        bool(cost_of_judge and cost_of_judge.simulated),
    )


def _seconds(judging_cost: JudgeUse | None) -> str:
    return (
        f"{judging_cost.seconds / judging_cost.judgements:.1f}"
        if judging_cost and judging_cost.judgements
        else "not measured"
    )


def _facts(db: Database, bench: Bench) -> tuple[dict[str, str], list[str]]:
    """What the study is, and what follows for the judge's use."""
    study = studies.get(db, bench.parts.study)
    people = studies.raters(db, bench.parts.study)
    units = studies.units(db, bench.parts.study)
    players = sorted({unit["player"] for unit in units})
    simulated = sum(simulated for _, simulated in people)
    people_words = f"{len(people)} people" + (f", {simulated} of them simulated" if simulated else "")
    labels = ", ".join(c.label for c in bench.criteria)
    facts = {
        "Validated on": f"{len(bench.parts.units)} items of {study.title or study.name}, by {people_words}",
        "Asked": labels,
        "Answers of": ", ".join(players[:10]) + (" …" if len(players) > 10 else ""),
    }
    limits = [
        f"Questions other than {labels}, or the same questions in other words: another prompt is another "
        "judge.",
        f"Conversations unlike those of “{bench.parts.benchmark}”, or in other languages: not tested.",
        "Decisions about single items: the figures are means over items.",
        "Comparisons of models whose difference is smaller than the judge's bias between them.",
    ]
    if simulated:
        limits.insert(0, "Any real use: the annotators of this study are simulated.")
    return facts, limits


def _agreement(bench: Bench, judge: Candidate, part: str) -> Table:
    """A judge compared with another annotator, criterion by criterion, and its bias in points."""
    rows: list[dict[str, Cell]] = [
        {
            "criterion": OVERALL,
            "agreement": bench.average(bench.agreement(judge), part),
            "person": bench.average(bench.one_more_person(), part),
        }
    ]
    for criterion in bench.criteria:
        row: dict[str, Cell] = {"criterion": criterion.label}
        row["agreement"] = bench.average(bench.agreement(judge, criterion.name), part)
        answer = bench.answers[judge].get(criterion.name)
        if answer is not None and criterion.scale.ordered:
            row["bias"] = bench.average(answer - bench.people[criterion.name].target, part, bounded=False)
        rows.append(row)
    columns = (
        Column("criterion"),
        Column("agreement", digits=3, interval="ends"),
        Column(
            "person",
            "another annotator",
            digits=3,
            interval="ends",
            help="A held-out annotator with the others",
        ),
        Column("bias", "bias in points", digits=2, interval="ends", signed=True),
    )
    caption = f"Agreement with annotators' mean on the part “{part}”; intervals assume independent items."
    return Table("agreement", f"Agreement with annotators on {part}", columns, tuple(rows), caption)


def write(judge_card: Card, folder: Path, today: date) -> list[Path]:
    """Write the card, and the files by which the judge runs elsewhere, into a folder, which is made if it is
    not there. Raises ConfigError where it cannot be written.
    """
    title = judge_card.title.replace('"', "'").replace("\\", "")
    name = file_name(title.removeprefix("Judge card: ").replace(" ", "-"))
    texts = {
        "title": title,
        "fingerprint": judge_card.fingerprint,
        "rubric": repr(json.dumps(judge_card.rubric, ensure_ascii=True)),
        "settings": repr(json.dumps(judge_card.settings, ensure_ascii=True)),
        "judge": repr(name),
        "name": repr(name),
    }
    prompt = "\n\n".join(f"── {message.role}\n\n{message.content}" for message in judge_card.prompt)
    files = {
        "card.html": judge_card.as_html(today),
        "card.json": judge_card.as_json(),
        "prompt.txt": prompt + "\n",
        "rubric.toml": writing.toml(judge_card.rubric),
    } | {name: (EXPORTED / f"{name}.txt").read_text(encoding="utf-8").format(**texts) for name in SCORERS}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"The card cannot be written to {folder}: {error.strerror}.") from error
    return [folder / file for file in files]
