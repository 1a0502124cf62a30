"""Toxicity of tasks, scripts and replies in six attributes, from a `moderations` endpoint.

The paper used a service that is being retired. Here each attribute is the largest of some categories of the
OpenAI protocol; profanity has no counterpart and is undefined.
"""

import asyncio
from collections.abc import Mapping, Sequence

from sqlite_utils import Database

from concord.benchmarks.simulbench.scripts import SCRIPT, scripts_by_key
from concord.benchmarks.simulbench.targets import SIMULBENCH
from concord.benchmarks.simulbench.tasks import BENCHMARK, tasks
from concord.codes import AuditAct
from concord.configuration import Use
from concord.estimate import Estimate, undefined
from concord.llm.client import Client
from concord.llm.models import load_models, pick
from concord.reports.wording import count_words
from concord.runs.handshakes import check_unchanged
from concord.runs.planning import materials
from concord.scores import marked
from concord.store import audit, conversations, moderations, scenarios
from concord.table import Cell, Column, Table
from concord.workspace import Workspace

ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    "toxicity": ("harassment", "harassment/threatening", "hate", "hate/threatening"),
    "severe toxicity": ("harassment/threatening", "hate/threatening"),
    "identity attack": ("hate", "hate/threatening"),
    "insult": ("harassment",),
    "profanity": (),
    "threat": ("harassment/threatening", "hate/threatening", "violence"),
}
"""The paper's attributes, and the categories each is read from: the largest counts."""

SOURCES = ("tasks", "scripts", "replies")
BATCH = 16
"""Texts in one call."""


def texts(workspace: Workspace, db: Database) -> dict[str, list[str]]:
    """The texts to score: tasks, scripts, and last replies that are not empty, together and by model."""
    texts_of_source = {
        "tasks": [task.task_description for task in tasks(materials(workspace)).values()],
        "scripts": [
            "\n\n".join(m.content for m in script.history)
            for script in scripts_by_key(scenarios.accepted(db, BENCHMARK, SCRIPT)).values()
        ],
        "replies": [],
    }
    for _, conversation in conversations.of_benchmark(db, SIMULBENCH.name):
        reply = conversation.messages[-1].content
        if reply.strip():
            texts_of_source["replies"].append(reply)
            texts_of_source.setdefault(f"replies of {conversation.player}", []).append(reply)
    return texts_of_source


def unscored(workspace: Workspace, model: str) -> list[str]:
    """The texts that a model has not scored yet, each once."""
    with workspace.read() as db:
        by_kind = texts(workspace, db)
        distinct = list(dict.fromkeys(text for name in SOURCES for text in by_kind[name]))
        scores = moderations.scored(db, model, distinct)
    return [text for text in distinct if text not in scores]


def measure(workspace: Workspace, model: str) -> int:
    """Have texts scored that were not yet, with a line of the audit log; returns how many.

    Raises CallFailed; what was scored is kept, and the line counts it.
    """
    entry = pick(load_models(workspace.models_path), model)
    check_unchanged(workspace, {model: entry})
    left = unscored(workspace, model)
    batches = [left[start : start + BATCH] for start in range(0, len(left), BATCH)]

    async def one(client: Client, batch: list[str]) -> None:
        result = await client.moderate(model, batch)
        use = Use(entry.configuration, {result.reported: 1})
        with workspace.write() as db:
            moderations.save(db, use, zip(batch, result.scores, strict=True))

    async def go() -> list[BaseException | None]:
        async with Client({model: entry}) as client:
            return await asyncio.gather(*(one(client, batch) for batch in batches), return_exceptions=True)

    errors = asyncio.run(go())
    if scored := len(left) - len(unscored(workspace, model)):
        with workspace.write() as db:
            audit.record(db, AuditAct.TOXICITY_SCORED, detail=f"{count_words(scored, 'text')} by {model}")
    for error in errors:
        if error is not None:
            raise error
    return len(left)


def toxicity(workspace: Workspace, model: str) -> Table:
    """Means by kind of text of what a model has scored. Raises NotFound if it is not in models.toml."""
    simulated = pick(load_models(workspace.models_path), model).simulated
    with workspace.read() as db:
        texts_of_source = texts(workspace, db)
        rows = [
            _row(name, source_texts, moderations.scored(db, model, source_texts))
            for name, source_texts in texts_of_source.items()
            if source_texts
        ]
    columns = (
        Column("what", "Mean over"),
        *(Column(name, name.capitalize(), digits=3) for name in ATTRIBUTES),
        Column("n", help="Texts scored"),
        Column("missing", help="Texts not scored yet"),
    )
    read = "; ".join(f"{name} from {', '.join(names)}" for name, names in ATTRIBUTES.items() if names)
    notes = [f"Means over texts, 0 to 1. Each attribute is the largest of some endpoint categories: {read}."]
    if simulated:
        notes.append("The scores come from a mock that counts words; they say nothing about toxicity.")
    title = f"Toxicity, by {marked(model, simulated)}"
    meta = {"model": model, "simulated": simulated}
    return Table("toxicity", title, columns, tuple(rows), notes=tuple(notes), meta=meta)


def attributes(scores: Mapping[str, float]) -> dict[str, float | None]:
    """The six attributes of one text, from the categories that the endpoint gave."""
    return {
        name: max((scores[c] for c in categories if c in scores), default=None)
        for name, categories in ATTRIBUTES.items()
    }


def _row(
    source: str, source_texts: Sequence[str], scores_of_text: Mapping[str, Mapping[str, float]]
) -> dict[str, Cell]:
    attribute_rows = [attributes(scores_of_text[text]) for text in source_texts if text in scores_of_text]
    row: dict[str, Cell] = {
        "what": source,
        "n": len(attribute_rows),
        "missing": len(source_texts) - len(attribute_rows),
    }
    for name, categories in ATTRIBUTES.items():
        values = [
            value for attributes_of_text in attribute_rows if (value := attributes_of_text[name]) is not None
        ]
        reason = "no score yet" if categories else "no category stands for it"
        row[name] = Estimate(sum(values) / len(values), n=len(values)) if values else undefined(reason)
    return row
