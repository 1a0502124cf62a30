"""Configurations of models in the store, each stored once, and the results made with them."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, fields
from typing import Any

from sqlite_utils import Database

from concord.configuration import Configuration, Reported, Use
from concord.store.database import find, insert, now, update
from concord.store.studies import study_id


def remember(db: Database, configuration: Configuration) -> int:
    """The id of a configuration, which is stored if it is new."""
    row = find(db, "model_configurations", "id", hash=configuration.hash)
    if row is not None:
        return int(row["id"])
    parameters = json.dumps(dict(configuration.parameters), ensure_ascii=False, sort_keys=True)
    row = {**asdict(configuration), "parameters": parameters, "hash": configuration.hash, "created": now()}
    return insert(db, "model_configurations", row)


def latest(db: Database, nicknames: Collection[str]) -> dict[str, Configuration]:
    """The latest configuration of each of these names that was ever called."""
    rows = db.query(
        "SELECT * FROM model_configurations WHERE nickname IN (SELECT value FROM json_each(?)) ORDER BY id",
        [json.dumps(list(nicknames))],
    )
    return {row["nickname"]: of_row(row) for row in rows}


def of_conversation_were(db: Database, conversation_id: int, uses: Iterable[Use]) -> None:
    """Record which models made a conversation."""
    made_by: list[list[Any]] = []
    for use in uses:
        if use.configuration:
            made_by.append([remember(db, use.configuration), _listed(use.reported)])
    update(db, "conversations", conversation_id, made_by=json.dumps(made_by, ensure_ascii=False))


def columns(db: Database, use: Use) -> dict[str, Any]:
    """What a judgement, a comparison or a moderation keeps of the model that gave it."""
    assert use.configuration is not None
    return {"configuration_id": remember(db, use.configuration), "reported": dump(use.reported)}


def of_conversation(db: Database, conversation_id: int) -> list[Use]:
    """The models that made a conversation; none if that was not recorded."""
    rows = db.query(
        "SELECT m.*, u.reported FROM conversation_configurations u JOIN model_configurations m "
        "ON m.id = u.configuration_id WHERE u.conversation_id = ? ORDER BY m.nickname",
        [conversation_id],
    )
    return [_use(row) for row in rows]


def of_judgements(db: Database, conversation_id: int) -> dict[str, Use]:
    """The model behind each judgement of a conversation, by the judgement's key."""
    rows = db.query(
        "SELECT j.key, j.reported, m.* FROM judgements j "
        "LEFT JOIN model_configurations m ON m.id = j.configuration_id WHERE j.conversation_id = ?",
        [conversation_id],
    )
    return {row["key"]: _use(row) for row in rows}


def of_study_judges(db: Database, study: str) -> list[tuple[dict[str, Any], Use]]:
    """The judges of a study by prompt and configuration: judge, variant, simulated, prompt, judgements,
    failed, first, last; and the configuration. Raises NotFound.

    `prompt` is its hash, empty for judgements that were imported.
    """
    rows = db.query(
        "SELECT x.name AS judge, x.variant, x.simulated, j.prompt, count(*) AS judgements, "
        "count(j.failure) AS failed, min(j.created) AS first, max(j.created) AS last, "
        "json_group_array(json(j.reported)) AS reported, m.* "
        "FROM judgements j JOIN raters x ON x.id = j.rater_id "
        "LEFT JOIN model_configurations m ON m.id = j.configuration_id "
        "WHERE j.conversation_id IN (SELECT conversation_id FROM items WHERE study_id = ? AND known = '') "
        "GROUP BY x.id, j.prompt, j.configuration_id ORDER BY x.name, x.variant, j.prompt, m.id",
        [study_id(db, study)],
    )
    names = ("judge", "variant", "simulated", "prompt", "judgements", "failed", "first", "last")
    judges: list[tuple[dict[str, Any], Use]] = []
    for row in rows:
        judge = {name: row[name] for name in names}
        judge["simulated"] = bool(row["simulated"])
        judges.append((judge, _summed(row)))
    return judges


def of_study_models(db: Database, study: str) -> list[tuple[str, int, Use]]:
    """The models that made a study's conversations: name, number of conversations, and configuration.

    Conversations without a recorded configuration count under their player. Raises NotFound.
    """
    rows = db.query(
        "SELECT ifnull(m.nickname, c.player) AS name, count(*) AS n, "
        "json_group_array(json(ifnull(u.reported, '[]'))) AS reported, m.* FROM conversations c "
        "LEFT JOIN conversation_configurations u ON u.conversation_id = c.id "
        "LEFT JOIN model_configurations m ON m.id = u.configuration_id WHERE c.id IN (SELECT conversation_id "
        "FROM items WHERE study_id = ? AND known = '') GROUP BY name, m.id ORDER BY name, m.id",
        [study_id(db, study)],
    )
    return [(row["name"], row["n"], _summed(row)) for row in rows]


def every(db: Database) -> dict[int, Configuration]:
    """All configurations by id."""
    return {row["id"]: of_row(row) for row in db.table("model_configurations").rows}


def _summed(row: Mapping[str, Any]) -> Use:
    """The use of one configuration in several results."""
    reported: Counter[Reported] = Counter()
    for of_one in json.loads(row["reported"]):
        for model, fingerprint, count in of_one:
            reported[Reported(model, fingerprint)] += count
    return _use({**row, "reported": dump(reported)})


def _use(row: Mapping[str, Any]) -> Use:
    configuration = None if row["nickname"] is None else of_row(row)
    return Use(configuration, read(row["reported"]))


def read(reported: str) -> dict[Reported, int]:
    """What endpoints reported, as it is stored."""
    return {Reported(model, fingerprint): count for model, fingerprint, count in json.loads(reported)}


def dump(reported: Mapping[Reported, int]) -> str:
    """What endpoints reported, to be stored."""
    return json.dumps(_listed(reported), ensure_ascii=False)


def _listed(reported: Mapping[Reported, int]) -> list[list[Any]]:
    return [[model, fingerprint, count] for (model, fingerprint), count in sorted(reported.items())]


def of_row(row: Mapping[str, Any]) -> Configuration:
    """The configuration that a row of the table holds."""
    values = {field.name: row[field.name] for field in fields(Configuration)}
    return Configuration(**{**values, "parameters": json.loads(row["parameters"])})
