"""Mock judges: they read the card and the turns out of the prompt, form an opinion of each turn, and give reasons for it."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.demo.mock.call import Call, Schema
from core.demo.mock.features import CRITERIA, Features, features_of
from core.demo.mock.reading import Exchange, Transcript, fields_asked, transcript_of
from core.demo.mock.reasons import LIKERT, quoted, reason
from core.demo.mock.schemas import bounds, fill, resolve
from core.demo.mock.tastes import Taste, answer, blur, leaning

STRICT = Taste(
    bias=-0.5,
    gain=1.25,
    halo=0.1,
    likes={"own": 0.15, "repeat": -0.2},
    blur_turn=0.45,
    blur_whole=0.65,
    unsure={"entertaining": 0.6},
)
LENIENT = Taste(
    bias=0.5,
    gain=0.85,
    halo=0.35,
    likes={"length": 0.2, "lively": 0.1},
    blur_turn=0.45,
    blur_whole=0.55,
    unsure={"in_character": 0.5, "fluency": 0.2},
)
NOISY = Taste(gain=0.9, halo=0.3, likes={"lively": 0.15, "variety": 0.2}, blur_turn=0.9, blur_whole=1.0)
PLAIN = Taste(halo=0.25, blur_turn=0.5, blur_whole=0.6)

FIELDS = (
    "turn",
    "is_refusal_explanation",
    "is_refusal",
    *(f"{criterion}_{part}" for criterion in CRITERIA for part in ("explanation", "score")),
)


def strict(call: Call) -> str:
    """Sees every fault, looks for the card's own words, and is sparing with high answers."""
    return _verdict(call, STRICT)


def lenient(call: Call) -> str:
    """Generous, fond of long and lively replies; lets one refusal in four pass for playing."""
    return _verdict(call, LENIENT, overlooks=0.25)


def noisy(call: Call) -> str:
    """Often far from its own opinion, and now and then sees a refusal where there is none."""
    return _verdict(call, NOISY, overlooks=0.1, imagines=0.01)


def plain(call: Call) -> str:
    """A model that is asked to judge though judging is not what it is there for."""
    return _verdict(call, PLAIN, overlooks=0.1)


def erratic(call: Call) -> str:
    """A plain judge whose reply is now and then no JSON, cut short, without a turn, or with an answer off the scale.

    Asked again in the same conversation it may do better; in one conversation of twelve it never does.
    """
    reply = plain(call)
    rng = call.rng("erratic")
    if call.steady_rng("hopeless").random() > 1 / 12 and rng.random() > 0.3:
        return reply
    kind = rng.choice(("prose", "cut", "fewer", "beyond"))
    scores = json.loads(reply).get("scores", []) if kind in ("fewer", "beyond") else []
    if kind == "fewer" and scores:
        return json.dumps({"scores": scores[:-1]}, ensure_ascii=False)
    if kind == "beyond" and scores:
        return json.dumps({"scores": [{**s, "entertaining_score": 11} for s in scores]}, ensure_ascii=False)
    return (
        reply[: len(reply) * 2 // 3]
        if kind == "cut"
        else "I enjoyed this conversation and would give it four stars."
    )


def _verdict(call: Call, taste: Taste, overlooks: float = 0.0, imagines: float = 0.0) -> str:
    transcript = transcript_of(call)
    if transcript is None or not transcript.turns:
        return json.dumps(fill(call.schema or {"type": "object"}, call.rng("anything")), ensure_ascii=False)
    chance = random.Random(
        f"{call.seed}|{call.own_seed}|{call.model}|{transcript.card.text}|{transcript.turns}"
    )
    opinions = opinions_of(transcript, taste, chance)
    key, fields = _form(call)
    rows = []
    for turn, features, points in zip(transcript.turns, features_in(transcript), opinions, strict=True):
        refused = bool(features.refusal)
        if chance.random() < (overlooks if refused else imagines):
            refused = not refused
        rows.append(
            {
                name: field_of(name, schema, turn, features, points, refused, chance, call.schema)
                for name, schema in fields.items()
            }
        )
    others = {
        name: fill(schema, chance, call.schema) for name, schema in fields_asked(call).items() if name != key
    }
    return json.dumps({key: rows, **others}, ensure_ascii=False)


def features_in(transcript: Transcript) -> Sequence[Features]:
    """What is to be seen in each turn."""
    return features_of([(t.user, t.reply) for t in transcript.turns], transcript.card)


def opinions_of(transcript: Transcript, taste: Taste, chance: random.Random) -> list[dict[str, float]]:
    """Points per turn and criterion: the taste's leaning and its noise, a part of which is the same in all turns."""
    whole = blur(chance, taste.blur_whole * 0.7)
    by_criterion = {
        c: whole + blur(chance, taste.blur_whole * 0.7 + taste.unsure.get(c, 0.0)) for c in CRITERIA
    }
    return [
        {
            c: points + by_criterion[c] + blur(chance, taste.blur_turn)
            for c, points in leaning(features, taste).items()
        }
        for features in features_in(transcript)
    ]


def _form(call: Call) -> tuple[str, Mapping[str, Schema]]:
    """The name of the list of verdicts and the fields of one, as the schema has them; PingPong's where there is no schema."""
    root = call.schema or {}
    for name, schema in fields_asked(call).items():
        item = resolve(resolve(schema, root).get("items", {}), root)
        if isinstance(item.get("properties"), dict):
            return name, item["properties"]
    return "scores", {name: {} for name in FIELDS}


def field_of(
    name: str,
    schema: Schema,
    turn: Exchange,
    features: Features,
    points: Mapping[str, float],
    refused: bool,
    chance: random.Random,
    root: Schema | None,
) -> Any:
    """One field of a verdict on a turn, in the form its schema wants."""
    if name == "turn":
        return turn.number
    if name == "is_refusal":
        return refused
    if name == "is_refusal_explanation":
        said = quoted(turn.reply, features.refusal)
        return f"{said} " + (
            "steps out of the part and declines to go on, so this is a refusal."
            if refused
            else "is said inside the part, so this is no refusal."
        )
    criterion = re.sub(r"_(?:explanation|score)$", "", name)
    opinion = points.get(criterion, sum(points.values()) / len(points))
    if name.endswith("_explanation"):
        score = answer(opinion)
        return f"{quoted(turn.reply, *_evidence(criterion, features))} {reason(criterion, score, features, chance)}, so I {LIKERT[score]}."
    if name.endswith("_score"):
        return answer(opinion, *(bounds(resolve(schema, root or {})) if schema else (1, 5)))
    return fill(schema, chance, root)


def _evidence(criterion: str, features: Features) -> tuple[str, ...]:
    """Words of the reply around which to quote."""
    if criterion == "fluency":
        return features.slips[:1]
    return (features.stock_phrase, *features.own_words[:1]) if features.stock else features.own_words[:1]
