"""A form that is told with `--map NAME=PATH`, of its own or added to one that is recognised."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from concord.codes import Scorer
from concord.errors import ConcordError
from concord.exchange.row_paths import Paths
from concord.exchange.shapes import ROWS, ScorePaths, Shape, Side, Turns, Votes

SPOKEN = ("messages", "talk", "system", "user", "assistant", "first", "second")
OF_TURNS = ("conversation", "speaker", "text", "order")
WORDS = (*SPOKEN, *OF_TURNS, "winner", "gold", "rater", "key", "player", "language", "scenario")
PREFIXES = ("facet", "context", "score", "human", "code", "out")


def mapped(mapping: Mapping[str, str], recognised: Shape | None = None) -> Shape:
    """A form that is told with `--map NAME=PATH`: of its own, or added to one that is recognised.

    Raises ConcordError for a name that has no meaning.
    """
    for name in mapping:
        if name not in WORDS and (name.partition(":")[0] not in PREFIXES or not name.partition(":")[2]):
            raise ConcordError(
                f"--map {name}=…: “{name}” is unknown. It is {', '.join(WORDS)}, or facet:NAME, "
                "context:HEADING, score:CRITERION (a judge's), human:CRITERION (a person's), code:CRITERION "
                "(a program's) or out:COLUMN."
            )
    pair = "first" in mapping and "second" in mapping
    if recognised is None and not pair and not {"messages", "talk", "assistant", *OF_TURNS} & set(mapping):
        raise ConcordError(
            "--map must say where the messages are: messages=PATH, user=PATH and assistant=PATH, for two "
            "replies first=PATH and second=PATH, or for a turn a row conversation=PATH."
        )

    def mapped_paths(prefix: str) -> dict[str, Paths]:
        return {n.partition(":")[2]: (path,) for n, path in mapping.items() if n.partition(":")[0] == prefix}

    def path(name: str, default: Paths = ()) -> Paths:
        return (mapping[name],) if name in mapping else default

    needs = tuple(mapping[name] for name in (*SPOKEN, "conversation") if mapping.get(name))
    base = recognised or Shape("--map", needs, (Side(),))
    turns = base.turns
    if {*OF_TURNS} & set(mapping):
        conversation, order, speaker, text = map(path, ("conversation", "order", "speaker", "text"))
        turns = Turns(conversation, order, speaker, text)
        base = replace(base, sides=(Side(messages=(ROWS,), player=base.sides[0].player),), several=None)
        base = replace(base, key=conversation)
    messages = {name: path(name) for name in ("messages", "talk", "user", "assistant") if name in mapping}
    mapped_parts: dict[str, Any] = messages | {
        name: path(name) for name in ("system", "player") if name in mapping
    }
    sides = base.sides
    if pair:
        sides = tuple(
            Side(**mapped_parts | {"assistant": path(name)}, unnamed=name) for name in ("first", "second")
        )
    else:
        if {"messages", "talk"} & set(messages) or {"user", "assistant"} <= set(messages):
            sides = (Side(player=sides[0].player, system=sides[0].system),)
        sides = tuple(replace(side, **mapped_parts) for side in sides)
    several = None if pair or messages else base.several
    votes = Votes(path("winner"), rater=path("rater")) if "winner" in mapping else base.votes
    if "gold" in mapping:
        votes = Votes(path("gold"), rater_kind="gold", unnamed="gold")
    scores = tuple(
        ScorePaths(paths[0], criterion=criterion, scorer=kind, rater=path("rater"))
        for prefix, kind in _SCORED.items()
        for criterion, paths in mapped_paths(prefix).items()
    )
    return replace(
        base,
        sides=sides,
        votes=votes if len(sides) == 2 or several is not None else None,
        several=several,
        turns=turns,
        key=path("key", base.key),
        scenario=path("scenario", base.scenario),
        language=path("language", base.language),
        context={**base.context, **mapped_paths("context")},
        facets={**base.facets, **mapped_paths("facet")},
        scores=(*base.scores, *scores),
        excluded=tuple(paths[0] for paths in mapped_paths("out").values()),
    )


_SCORED: Mapping[str, Scorer] = {
    "score": Scorer.JUDGE,
    "human": Scorer.HUMAN,
    "code": Scorer.CODE,
}
