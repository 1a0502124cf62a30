"""Mock judges: they read the card and the turns, form an opinion of each turn, and give reasons for it."""

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from concord.llm.schemas import Schema, bounds, fill, resolve
from tests.mock.call import Call
from tests.mock.material import load, pick
from tests.mock.pingpong.features import CRITERIA, Features, Taste, answer, features_of, noise
from tests.mock.pingpong.reading import Exchange, Transcript, transcript_of, transcript_of_scene

JUDGES = ("mock-judge-strict", "mock-judge-lenient", "mock-judge-noisy", "mock-judge-erratic")
PLAIN = "plain"
"""A model that is asked to judge though it is not made for it."""
HOPELESS, BROKEN = 1 / 12, 0.3
"""The share of conversations without a usable reply of the erratic judge; of bad replies in others."""

PARTS = ("explanation", "score")
FIELDS = ("is_refusal_explanation", "is_refusal", *(f"{c}_{part}" for c in CRITERIA for part in PARTS))
V1_FIELDS = {
    "is_refusal_explanation": "is_refusal_explanation",
    "is_refusal": "is_refusal",
    **{f"stay_in_character_{part}": f"in_character_{part}" for part in PARTS},
    **{f"language_fluency_{part}": f"fluency_{part}" for part in PARTS},
    **{f"entertainment_{part}": f"entertaining_{part}" for part in PARTS},
}
"""Version 1's field → the field that the judges here know it as."""
TEN = {"type": "integer", "minimum": 1, "maximum": 10}


def verdict(call: Call) -> dict[str, Any] | str | None:
    """Every turn's verdict, in the fields that the schema asks for; None for a prompt without turns."""
    transcript = transcript_of(call)
    if transcript is None or not transcript.turns:
        return None
    key, fields = _form(call)
    rows = [
        {name: opinion.field(name, schema, call.schema or {}) for name, schema in fields.items()}
        for opinion in _opinions(transcript, call, call.model)
    ]
    return _broken(call, key, rows) if call.model == "mock-judge-erratic" else {key: rows}


def _broken(call: Call, key: str, rows: list[dict[str, Any]]) -> dict[str, Any] | str:
    """The reply, or now and then no JSON, one that is cut short, lacks a turn, or leaves the scale."""
    rng = call.rng("erratic")
    prose: str = _lines()["prose"][0]
    if call.steady_rng("hopeless").random() < HOPELESS:
        return prose
    if rng.random() > BROKEN:
        return {key: rows}
    text = json.dumps({key: rows}, ensure_ascii=False)
    beyond = [{name: 11 if name.endswith("_score") else v for name, v in row.items()} for row in rows]
    broken: list[dict[str, Any] | str] = [prose, text[: len(text) * 2 // 3], {key: rows[:-1]}, {key: beyond}]
    return rng.choice(broken)


def rated_last(call: Call) -> dict[str, Any]:
    """Version 1: the verdict on the player's last reply on a scale of ten; no scores before there is one."""
    transcript = transcript_of_scene(call)
    if not transcript.turns:
        nothing = {"explanation": "nothing said yet", "score": None, "refusal": False}
        return {name: nothing[name.rpartition("_")[2]] for name in V1_FIELDS}
    opinion = _opinions(transcript, call, PLAIN)[-1]
    return {name: opinion.field(own, TEN, {}) for name, own in V1_FIELDS.items()}


@dataclass(frozen=True)
class Opinion:
    """What a judge thinks of one turn: points 1 to 5 by criterion, and whether it takes it for a refusal."""

    turn: Exchange
    seen: Features
    points: Mapping[str, float]
    refused: bool
    rng: random.Random

    def field(self, name: str, schema: Schema, root: Schema) -> Any:
        """One field of the verdict, in the form its schema wants."""
        if name == "turn":
            return self.turn.number
        if name == "is_refusal":
            return self.refused
        if name == "is_refusal_explanation":
            said = self.rng.choice(_lines()["refusal" if self.refused else "playing"])
            return f"{_quoted(self.turn.reply, self.seen.refusal)} {said}"
        criterion, _, what = name.rpartition("_")
        points = self.points.get(criterion, sum(self.points.values()) / len(self.points))
        if what == "explanation":
            return self.reason(criterion if criterion in CRITERIA else CRITERIA[0], answer(points))
        if what == "score":
            return answer(points, *(bounds(resolve(schema, root)) if schema else (1, 5)))
        return fill(schema, self.rng, root)

    def reason(self, criterion: str, score: int) -> str:
        """A quote, a half sentence that fits the score, with evidence if there is any, and the answer."""
        lines, f = _lines()[criterion], self.seen
        slots = {
            "own": ", ".join(dict.fromkeys((*f.own_words[:1], *f.own_words[-1:]))),
            "new": f.own_words[-1] if f.own_words else "",
            "stock": f.stock_phrase,
            "slips": ", ".join(f"“{slip}”" for slip in dict.fromkeys(f.slips[:2])),
        }
        good, bad = (
            [x for sign, said in lines[way].items() if _shows(f, sign) for x in said]
            for way in ("good", "bad")
        )
        if score == 3 and bad:
            said = f"{pick(good or lines['middle'], self.rng, slots)}, but {pick(bad, self.rng, slots)}"
        else:
            plain = lines["high" if score > 3 else "low" if score < 3 else "middle"]
            said = pick((good if score > 3 else bad if score < 3 else []) or plain, self.rng, slots)
            said = said or pick(plain, self.rng)
        around = f.slips[:1] if criterion == "fluency" else (f.stock_phrase, *f.own_words[:1])
        return f"{_quoted(self.turn.reply, *around)} {said}, so I {_lines()['likert'][score - 1]}."


def _shows(seen: Features, sign: str) -> bool:
    """Whether a turn's features show a sign such as “repeat > 0.4”, or “slips” for any."""
    name, _, bound = sign.partition(" ")
    value = getattr(seen, name)
    if not bound:
        return bool(value)
    return bool(value > float(bound[2:]) if bound[0] == ">" else value < float(bound[2:]))


def _opinions(transcript: Transcript, call: Call, model: str) -> list[Opinion]:
    """The model's opinion of each turn: its taste and noise, a part of which is the same in all turns.

    Chance depends on what is judged and not on how it is asked for.
    """
    rng = random.Random(f"{call.seed}|{call.own_seed}|{call.model}|{transcript.card.text}|{transcript.turns}")
    about = _lines()["judges"].get(model) or _lines()["judges"][PLAIN]
    taste = Taste(**about["taste"])
    whole = noise(rng, taste.noise_whole * 0.7)
    shifts = {c: whole + noise(rng, taste.noise_whole * 0.7 + taste.unsure.get(c, 0.0)) for c in CRITERIA}
    seen = features_of(tuple((t.user, t.reply) for t in transcript.turns), transcript.card)
    opinions = []
    for turn, f in zip(transcript.turns, seen, strict=True):
        points = {c: p + shifts[c] + noise(rng, taste.noise_turn) for c, p in taste.opinion(f).items()}
        refused = bool(f.refusal)
        errs = rng.random() < about.get("overlooks" if refused else "imagines", 0.0)
        opinions.append(Opinion(turn, f, points, refused != errs, rng))
    return opinions


def _form(call: Call) -> tuple[str, Mapping[str, Schema]]:
    """The name of the list of verdicts and the fields of one; PingPong's where there is no schema."""
    root = call.schema or {}
    for name, schema in call.fields.items():
        item = resolve(resolve(schema, root).get("items", {}), root)
        if isinstance(item.get("properties"), dict):
            return name, item["properties"]
    return "scores", {name: {} for name in ("turn", *FIELDS)}


def _quoted(reply: str, *around: str) -> str:
    """Some words of the reply in single quotes: around the first of `around` in it, else its beginning."""
    spoken = reply.split()
    marks = [word.split()[0].lower() for word in around if word]
    at = next((i for mark in marks for i, word in enumerate(spoken) if mark in word.lower()), 0)
    begin = max(0, at - 2)
    return "'" + " ".join(spoken[begin : begin + 7]).strip("'\"“”«»,;:") + "'"


def _lines() -> dict[str, Any]:
    return load("pingpong", "en", "judge")
