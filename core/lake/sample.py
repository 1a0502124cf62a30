"""Draw what people rate from a lake: at random, or more where a judge gives the rare answer or judges differ.

Only the conversations that are drawn enter a workspace, with the answers that judges gave in the lake. How
many conversations each stratum has is kept with the study: every figure weighs by it.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlite_utils import Database

from concord.codes import AuditAct, LakeDraw
from concord.configuration import Reported, Use
from concord.conversation import Conversation, Unit
from concord.errors import ImportRefused, StudyError, check_known
from concord.exchange.conversations_file import digest
from concord.lake.judging import LakeItem, items_of
from concord.lake.partitions import LakeReader
from concord.lake.plan import JudgeFolder, LakePlan, judge_folders, part_number, reopened
from concord.rating import Judgement, Rater, Rating, Spent
from concord.rubrics.rubric import Rubric
from concord.rubrics.rubric_store import Numbered
from concord.runs.rubric_judge import ways
from concord.store import audit, configurations, conversations, ratings, studies
from concord.store import images as stored_images
from concord.store.studies import Study, StudySample
from concord.studies.sampling import chance_of

if TYPE_CHECKING:
    import pyarrow as pa

EVENLY = 0.5
"""The share of a sample that is spread evenly over strata; the rest is in proportion to their sizes."""
MOST_STRATA = 20
FACET = 80
"""Characters of the value of a facet."""
ONE_STRATUM = "all"
"""The stratum of a random draw."""


@dataclass
class _Lowest:
    """The n keys of a stratum that the seed puts first, and how many it has."""

    n: int
    size: int = 0
    heap: list[tuple[int, str, int]] = field(default_factory=list)

    def add(self, chance: int, key: str, number: int) -> None:
        """Take a key of a partition."""
        self.size += 1
        if len(self.heap) < self.n:
            heapq.heappush(self.heap, (-chance, key, number))
        elif -chance > self.heap[0][0]:
            heapq.heapreplace(self.heap, (-chance, key, number))

    def first(self, n: int) -> list[tuple[str, int]]:
        """The first n keys with their partitions."""
        return [(key, number) for _, key, number in sorted(self.heap, reverse=True)[:n]]


@dataclass(frozen=True)
class LakeSample:
    """Conversations by key with their strata, the size of each stratum in the lake, and images by hash."""

    items: Mapping[str, LakeItem]
    strata: Mapping[str, str]
    sizes: Mapping[str, int]
    images: Mapping[str, bytes] = field(default_factory=dict)


def draw(
    plan: LakePlan,
    n: int,
    *,
    seed: int = 0,
    method: LakeDraw = LakeDraw.RANDOM,
    judged: Sequence[JudgeFolder] = (),
    criterion: str = "",
    judge: str = "",
) -> LakeSample:
    """Draw n conversations of a plan's files by a seed.

    By answer and by difference the strata are made of what the judges answered on a criterion; what no judge
    answered is not drawn. Raises StudyError where there are fewer, ImportRefused for files.
    """
    strata: dict[str, _Lowest] = {}
    keys: Iterator[tuple[str, str, int]]
    if method == LakeDraw.RANDOM:
        keys = ((key, ONE_STRATUM, number) for key, number in _keys(plan))
    else:
        keys = _strata_of(judged, method, criterion, judge)
    for key, stratum, number in keys:
        if stratum not in strata and len(strata) >= MOST_STRATA:
            raise StudyError(f"Judges give more than {MOST_STRATA} different answers. Draw at random.")
        strata.setdefault(stratum, _Lowest(n)).add(chance_of(seed, key), key, number)
    sizes = {name: strata[name].size for name in sorted(strata)}
    total = sum(sizes.values())
    if n > total:
        raise StudyError(f"There are {total:,} conversations, too few for a sample of {n:,}.")
    target = allotted(sizes, n)
    selection = {
        key: (name, number) for name, count in target.items() for key, number in strata[name].first(count)
    }
    items, images = _read(plan, {key: number for key, (_, number) in selection.items()})
    return LakeSample(items, {key: name for key, (name, _) in selection.items()}, sizes, images)


def allotted(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """How many of n each stratum gives: half of them evenly, half in proportion, none more than it has."""
    size = np.array(list(sizes.values()), dtype=np.float64)
    ideal = n * (EVENLY / len(size) + (1 - EVENLY) * size / size.sum())
    answers = np.minimum(np.floor(ideal), size)
    while int(answers.sum()) < n:
        room = np.where(answers < size, ideal - answers, -np.inf)
        answers[int(room.argmax())] += 1
    return dict(zip(sizes, answers.astype(int).tolist(), strict=True))


def _keys(plan: LakePlan) -> Iterator[tuple[str, int]]:
    """All keys of the files, with the numbers of their partitions."""
    reader = plan.reader()
    for partition in plan.partitions:
        for key in reader.keys(partition):
            yield key, partition.number


def _strata_of(
    judged: Sequence[JudgeFolder], method: LakeDraw, criterion: str, judge: str
) -> Iterator[tuple[str, str, int]]:
    """Keys with a stratum made of what judges answered."""
    rubric = judged[0].rubric
    names = [c.name for c in rubric.criteria]
    criterion = criterion or names[0]
    check_known("criterion", criterion, names)
    scale = next(c.scale for c in rubric.criteria if c.name == criterion)
    if judge:
        check_known("judge", judge, [folder.judge for folder in judged])
        judged = [folder for folder in judged if folder.judge == judge]
    if method == LakeDraw.DIFFERENCE and len(judged) < 2:
        raise StudyError("--draw difference needs two judges. Use --draw by_answer.")
    if method == LakeDraw.BY_ANSWER:
        judged = judged[:1]
    parts: dict[int, list[list[Path]]] = {}
    for place, folder in enumerate(judged):
        for part in folder.parts:
            parts.setdefault(part_number(part), [[] for _ in judged])[place].append(part)
    for number, by_judge in sorted(parts.items()):
        answers = [_scores(batch, criterion) for batch in by_judge]
        for key in dict.fromkeys(key for one in answers for key in one):
            replies = [one[key] for one in answers if key in one]
            if len(replies) < len(answers):
                continue
            word = scale.word(replies[0])
            if method == LakeDraw.DIFFERENCE and len(set(replies)) > 1:
                word = "judges differ"
            yield key, word, number


def _scores(parts: Sequence[Path], criterion: str) -> dict[str, float]:
    """The score of each key of some files; of turns that are rated one by one the least."""
    scores: dict[str, float] = {}
    for part in parts:
        table = answers_of(part, ["key", "criterion", "score"])
        for key, name, score in zip(*(table.column(c).to_pylist() for c in range(3)), strict=True):
            if name == criterion and score is not None:
                scores[key] = min(score, scores.get(key, score))
    return scores


def answers_of(part: Path, columns: Sequence[str]) -> pa.Table:
    """Columns of a file of answers. Raises ImportRefused for a file that cannot be read."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return parquet.read_table(part, columns=list(columns))
    except (OSError, pa.ArrowException) as error:
        raise ImportRefused(f"{part} cannot be read: {str(error).splitlines()[0][:200]}.") from error


def _read(plan: LakePlan, selection: Mapping[str, int]) -> tuple[dict[str, LakeItem], dict[str, bytes]]:
    """The conversations of keys, from their partitions, and their images."""
    reader: LakeReader = plan.reader()
    items = dict[str, LakeItem]()
    images = dict[str, bytes]()
    for number, count in sorted(Counter(selection.values()).items()):
        left = count
        for row in reader.rows(plan.partitions[number], []):
            for item in items_of(plan, [row], reader.key):
                if selection.get(item.key) == number and item.key not in items:
                    items[item.key] = item
                    images |= row.entry.images
                    left -= 1
            if not left:
                break
    return items, images


def store(
    db: Database,
    study: str,
    plan: LakePlan,
    sample: LakeSample,
    rubric: Numbered,
    *,
    judged: Sequence[JudgeFolder] = (),
    method: LakeDraw = LakeDraw.RANDOM,
    seed: int = 0,
    overlap: int = 0,
    title: str = "",
) -> Study:
    """Store the conversations of a sample and a study of them, with what judges answered in the lake.

    Raises StudyError where a study has this name, or none can be rated, ImportRefused for a conversation that
    is stored with other messages.
    """
    studies.refuse_taken(db, study)
    present = conversations.existing(db, [item.conversation.key for item in sample.items.values()])
    for item in sample.items.values():
        number = present.get(item.conversation.key)
        if number is not None and digest(conversations.load(db, number)) != digest(item.conversation):
            raise ImportRefused(
                f"A conversation “{item.conversation.key}” with other messages is stored already. Name the "
                "lake's conversations otherwise: --name."
            )
    rubric.publish(db)
    by_name = {key: _with_columns(item, plan) for key, item in sample.items.items()}
    stored_images.save(db, dict(sample.images))
    conversations.save_all(db, list(by_name.values()))
    ids = conversations.existing(db, [conversation.key for conversation in by_name.values()])
    units: list[tuple[int, int | None, str]] = []
    for key in sorted(sample.strata, key=lambda key: chance_of(seed, key, "order")):
        conversation = by_name[key]
        units += [
            (ids[conversation.key], turn, sample.strata[key]) for turn in _turns(rubric.rubric, conversation)
        ]
    if not units:
        raise StudyError("The rubric has no question for the drawn conversations.")
    facets = () if method == LakeDraw.RANDOM else (method.value,)
    study_sample = StudySample(
        sum(sample.sizes.values()),
        len(sample.items),
        facets=facets,
        draw=method.value,
        files=tuple(file.address for file in plan.files[:20]),
        strata=sample.sizes if len(sample.sizes) > 1 else {},
    )
    content = rubric.rubric
    created = Study(
        study,
        content.criteria,
        title or content.title,
        content.guidance,
        per_turn=content.per_turn,
        overlap=overlap,
        seed=seed,
        benchmark=plan.name,
        asked_rubric=rubric.noted,
        sample=study_sample,
    )
    studies.create(db, created)
    studies.add_units(db, study, units)
    audit.record(db, AuditAct.DRAW, study, detail=audit.facts(n=study_sample.size, by=facets, seed=seed))
    for folder in judged:
        if folder.rubric.hash == content.hash:
            _store_answers(db, folder, rubric, by_name)
    return studies.get(db, study)


def _turns(rubric: Rubric, conversation: Conversation) -> tuple[int | None, ...]:
    try:
        return rubric.units(conversation)
    except StudyError:
        return ()


def _with_columns(item: LakeItem, plan: LakePlan) -> Conversation:
    """The conversation, with the kept columns among its facets, so that figures are shown by them."""
    columns = {
        name: value[:FACET] for name, value in zip(plan.keep, item.columns, strict=False) if value is not None
    }
    return replace(item.conversation, facets={**columns, **item.conversation.facets})


def _store_answers(
    db: Database, folder: JudgeFolder, rubric: Numbered, by_name: Mapping[str, Conversation]
) -> None:
    """Store what a judge answered in the lake about these conversations: nothing is paid twice."""
    if folder.configuration is None:
        return
    program = folder.entry.get("kind") == "program"
    [way] = ways(rubric.rubric, rubric.variant, {folder.judge: program})
    prompt = way.prompt
    ratings.remember_prompt(db, prompt.hash, prompt.benchmark, prompt.version, prompt.name, prompt.body)
    target = ["key", "turn", "criterion", "score", "reason", "failure", "calls", "input_tokens"]
    target += ["output_tokens", "cost", "model", "simulated"]
    answers: dict[str, list[dict[str, Any]]] = {}
    for part in folder.parts:
        for row in _rows_of(part, target, by_name):
            answers.setdefault(row["key"], []).append(row)
    for key, rows in answers.items():
        conversation = by_name[key]
        scored = tuple(
            Rating(Unit(conversation.key, row["turn"]), row["criterion"], row["score"], row["reason"] or "")
            for row in rows
            if row["score"] is not None
        )
        if not scored:
            continue
        expense = Spent(
            *(sum(row[name] for row in rows) for name in ("calls", "input_tokens", "output_tokens"))
        )
        judgement = Judgement(
            f"{conversation.key}|{folder.judge}|{rubric.variant}|0",
            conversation.key,
            Rater(folder.judge, "judge", rubric.variant, rows[0]["simulated"]),
            scored,
            prompt=prompt.hash,
            spent=replace(expense, cost=sum(row["cost"] for row in rows)),
        )
        use = Use(folder.configuration, {Reported(rows[0]["model"] or ""): 1})
        ratings.save_judgement(db, judgement, configurations.columns(db, use))


def _rows_of(part: Path, columns: Sequence[str], keys: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a file of answers that are about some keys."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = answers_of(part, columns)
    rows: list[dict[str, Any]] = table.filter(
        pc.is_in(table.column("key"), value_set=pa.array(list(keys), pa.string()))
    ).to_pylist()
    return rows


def judged_folders(answers: Path, rubric: str = "") -> tuple[LakePlan, list[JudgeFolder]]:
    """The files of a folder of answers, and its judges by one rubric. Raises ConfigError or NotFound."""
    plan = reopened(answers)
    folders = judge_folders(answers)
    names = {f"{folder.path.parent.name}": folder.rubric.name for folder in folders}
    selection = [key for key, name in names.items() if not rubric or rubric in (key, name)]
    if rubric and not selection:
        check_known("rubric", rubric, names.values())
    if len(selection) > 1:
        raise StudyError(
            f"{answers} has answers by several rubrics: {', '.join(selection)}. Choose one: --rubric."
        )
    return plan, [folder for folder in folders if folder.path.parent.name in selection]
