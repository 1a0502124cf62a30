"""Look at every row of a lake before anything is paid: what is no conversation, and keys that come twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from concord.errors import ConfigError, ImportRefused, not_found
from concord.exchange.cells import MOST_NAMED, refuse
from concord.lake.judging import items_of
from concord.lake.partitions import Partition, key_hash
from concord.lake.plan import LakePlan
from concord.llm.client import billed
from concord.llm.replies import Unusable
from concord.runs.planning import Survey


@dataclass
class PartitionSurvey:
    """What the rows of a partition hold: conversations, hashes of their keys, and what is wrong.

    `present` are the columns to keep that some row has; `characters` those of the prompt of the first
    conversation.
    """

    number: int
    conversations: int = 0
    hashes: bytes = b""
    faults: int = 0
    wrong: list[str] = field(default_factory=list)
    present: set[str] = field(default_factory=set)
    facets: set[str] = field(default_factory=set)
    characters: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for another process."""
        return {
            "number": self.number,
            "conversations": self.conversations,
            "hashes": self.hashes.hex(),
            "faults": self.faults,
            "wrong": self.wrong,
            "present": sorted(self.present),
            "facets": sorted(self.facets),
            "characters": self.characters,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> PartitionSurvey:
        """What `as_dict` gave."""
        inner = dict(values)
        inner |= {"hashes": bytes.fromhex(inner["hashes"])}
        inner |= {"present": set(inner["present"]), "facets": set(inner["facets"])}
        return cls(**inner)


def survey_partition(plan: LakePlan, partition: Partition) -> PartitionSurvey:
    """Read a partition; nothing is asked."""
    result = PartitionSurvey(partition.number)
    reader = plan.reader()
    hashes = []
    wrong = list[str]()
    try:
        for item in items_of(plan, reader.rows(partition, wrong), reader.key):
            if not result.conversations:
                result.characters = _characters(plan, item.conversation)
            result.conversations += 1
            hashes.append(key_hash(item.key))
            result.present |= {
                name for name, value in zip(plan.keep, item.columns, strict=True) if value is not None
            }
            result.facets |= item.conversation.facets.keys()
    except ImportRefused as error:
        wrong.append(str(error))
    result.hashes = np.array(hashes, dtype=np.uint64).tobytes()
    result.faults = len(wrong)
    result.wrong = wrong[:MOST_NAMED]
    return result


def _characters(plan: LakePlan, conversation: Any) -> int:
    """The characters of the prompt about a conversation; 0 where it cannot be asked about."""
    way = plan.ways[0]
    try:
        prompt = way.prompt.render(**way.asking.values(conversation))
    except Unusable:
        return 0
    return billed("".join(message.content for message in prompt.messages))


def _fields(plan: LakePlan) -> list[str]:
    """The fields of the first row that holds a conversation."""
    reader = plan.reader()
    rows = (row for partition in plan.partitions for row in reader.rows(partition, []))
    return list(next(rows).fields)


@dataclass
class LakeSurvey:
    """What all rows of a lake hold."""

    conversations: int = 0
    partitions: int = 0
    faults: int = 0
    wrong: list[str] = field(default_factory=list)
    present: set[str] = field(default_factory=set)
    facets: set[str] = field(default_factory=set)
    characters: int = 0
    prompts: int = 0
    _hashes: list[npt.NDArray[np.uint64]] = field(default_factory=list)
    _numbers: list[int] = field(default_factory=list)

    def add(self, one: PartitionSurvey) -> None:
        """Count a partition."""
        self.partitions += 1
        self.conversations += one.conversations
        self.faults += one.faults
        self.wrong += one.wrong[: MOST_NAMED - len(self.wrong)]
        self.present |= one.present
        self.facets |= one.facets
        self.characters += one.characters
        self.prompts += one.characters > 0
        self._hashes.append(np.frombuffer(one.hashes, dtype=np.uint64))
        self._numbers.append(one.number)

    def check(self, plan: LakePlan) -> None:
        """Raise ImportRefused for rows that hold no conversation and keys that come twice, ConfigError for
        a column that no row has, or a question that is asked of nothing.
        """
        if self.faults:
            head = f"{self.faults:,} rows are invalid; no judge was asked."
            refuse(self.wrong, head, self.faults, [])
        if not self.conversations and plan.shard.total == 1:
            raise ImportRefused("The files hold no conversations. Name others.")
        if lacking := [name for name in plan.keep if name not in self.present and self.conversations]:
            path = plan.keep[lacking[0]]
            fields = _fields(plan)
            if path in fields:
                raise ConfigError(
                    f"--keep {path}: no row has a text or a number there. For a field inside, write "
                    f"NAME={path}.FIELD."
                )
            problem = not_found("field", path, fields)
            raise ConfigError(f"--keep: {problem} Name a field of the rows, or NAME=PATH.")
        for criterion in plan.questions.criteria:
            if unknown := [name for name in criterion.only if name not in self.facets and self.conversations]:
                raise ConfigError(
                    f"The rubric asks “{criterion.name}” of conversations with a facet "
                    f"“{unknown[0]}”, but no conversation has it."
                )
        self._check_keys(plan)

    def _check_keys(self, plan: LakePlan) -> None:
        items = np.concatenate(self._hashes) if self._hashes else np.zeros(0, dtype=np.uint64)
        items.sort()
        twice = items[1:][items[1:] == items[:-1]]
        if not len(twice):
            return
        target = {int(value) for value in twice[:MOST_NAMED]}
        places: dict[str, list[str]] = {}
        reader = plan.reader()
        for number, hashes in zip(self._numbers, self._hashes, strict=True):
            if not np.isin(hashes, twice[:MOST_NAMED]).any():
                continue
            for row in reader.rows(plan.partitions[number], []):
                for conversation in row.entry.conversations:
                    key = reader.key(conversation)
                    if key_hash(key) in target:
                        places.setdefault(key, []).append(row.place)
        shared = [
            f"“{key}” stands in {' and in '.join(place[:3])}" for key, place in places.items() if place[1:]
        ]
        refuse(
            shared[:MOST_NAMED],
            f"{len(twice):,} keys are duplicates; no judge was asked.",
            len(twice),
            ["Give each conversation a unique key, and list each file once."],
        )

    def cost(self, plan: LakePlan, judgements: Mapping[str, int]) -> Survey:
        """What so many judgements by judge would take, guessed from the length of prompts."""
        survey = Survey()
        by_batch = 0.0
        offers = False
        per_call = self.characters / max(self.prompts, 1) / 4
        for way in plan.ways:
            judge = way.judges[0]
            count = judgements.get(judge, 0)
            model = plan.models[judge]
            if model.kind == "program":
                continue
            tokens = count * per_call, count * float(way.asking.expected[1])
            survey.calls[judge] = count
            survey.tokens[judge] = tokens
            survey.cost += model.cost(round(tokens[0]), round(tokens[1]))
            by_batch += model.cost(round(tokens[0]), round(tokens[1]), batch=model.batch)
            offers |= model.batch and model.price is not None and model.price.batch is not None
            if model.price is None:
                survey.unpriced.add(judge)
        survey.by_batch = by_batch if offers else None
        return survey
