"""Whose answers a table of labels holds: people's, judges' or gold labels, by options, then by names."""

from collections.abc import Collection, Mapping, Sequence
from shlex import quote

from concord.errors import not_found
from concord.exchange.answer_words import words
from concord.exchange.columns import FileTable, kinds_by_name, tokens
from concord.rating import RaterKind


def whose(
    table: FileTable,
    names: Collection[str],
    known: Collection[str],
    stated: Mapping[str, RaterKind],
    what: str = "columns",
) -> dict[str, RaterKind]:
    """The people and judges among columns (or raters): as options say, then as `stated`, then by their names.

    Where options name people, nobody else is one, and judges likewise. Raises NotFound for a name in options
    that is not `known`, ImportRefused where it is not known who the people are, or the judges. Where neither
    are needed, nobody may be left of whom that is not known, unless options name some.
    """
    kinds = {**kinds_by_name(names), **stated}
    options: dict[RaterKind, tuple[str, ...]]
    options = {"human": table.options.people, "judge": table.options.judges, "gold": table.options.gold}
    for kind, own in options.items():
        kinds = {name: None if own and kind == by_name else by_name for name, by_name in kinds.items()}
    for kind, own in options.items():
        for name in own:
            if name not in known:
                raise not_found(what.partition("s")[0], name, known)
            kinds[name] = kind
    kinds = _with_gold(table, kinds)
    people, judges, unsure = (
        [name for name, kind in kinds.items() if kind == wanted] for wanted in ("human", "judge", None)
    )
    vary = [name for name in unsure if name not in table.columns or table.columns[name].varies]
    unsure = vary or unsure
    answered = {kind for kind, of in (("human", people), ("judge", judges)) if of}
    stated_ones = table.options.people or table.options.judges
    if answered and answered.issuperset(table.needed) and (table.needed or stated_ones or not unsure):
        return {name: kind for name, kind in kinds.items() if kind}
    lacking = "a person's" if not people else "a judge's"
    if not unsure:
        columns = ", ".join([*table.columns][:12])
        message = f"no {what} are known to be {lacking}, and none is left that could be. It has {columns}."
        raise table.refusal(f"{message} Add a column of {lacking} answers.")
    if len(unsure) == 1 and not people and not judges:
        raise table.refusal(
            f"{unsure[0]} alone could hold answers. People and judges need a column each, or a column that "
            "names the rater of every row."
        )
    theirs, its = (unsure, []) if judges else (unsure[:-1] or unsure, unsure[-1:])
    raise table.refusal(
        f"which {what} are {lacking}? It may be {', '.join(unsure[:8])}.",
        *(() if people else ("--human", quote(",".join(theirs)))),
        *(("--judge", quote(its[0])) if its else ()),
    )


def _with_gold(table: FileTable, kinds: Mapping[str, RaterKind | None]) -> dict[str, RaterKind | None]:
    """The kinds with gold labels told from people by their names. Where nobody else is a person, they stand
    for one.

    A name that may be something else, such as “reference”, says it of a column only whose answers people or
    judges give too.
    """
    stated = {*table.options.people, *table.options.judges}
    answers = {name: table.columns[name].words for name in kinds if name in table.columns}
    given = {answer for name in answers if kinds[name] for answer in answers[name]}
    gold: dict[str, RaterKind | None] = {
        name: "gold"
        for name, kind in kinds.items()
        if name not in stated
        and (kind == "gold" or (kind != "judge" and not set(words("gold")).isdisjoint(tokens(name))))
        and (kind or answers.get(name, set()) <= given)
    }
    if any(kind == "human" and name not in gold for name, kind in kinds.items()):
        return {**kinds, **gold}
    return {name: "human" if kind == "gold" else kind for name, kind in kinds.items()}


def criteria_of_columns(
    table: FileTable, kinds: Mapping[str, RaterKind]
) -> dict[str, tuple[str, str, RaterKind]]:
    """Each column's criterion (“” for the only one), rater and kind."""
    rest = {column: _about(column, table.options.criteria) for column in kinds}
    by = {kind: {rest[c] for c in kinds if kinds[c] == kind} for kind in ("human", "judge")}
    shared = (by["human"] & by["judge"]) - {""}
    if not shared:
        return {column: ("", column, kind) for column, kind in kinds.items()}
    about = {}
    for column, kind in kinds.items():
        if rest[column] in shared:
            of_criterion = set(rest[column].split("_"))
            rater = " ".join(word for word in tokens(column) if word not in of_criterion) or kind
            about[column] = (rest[column], rater, kind)
    return about


def _about(column: str, criteria: Sequence[str]) -> str:
    """The criterion that a column's name holds beside whose answers they are."""
    name = tokens(column)
    for criterion in criteria:
        if set(tokens(criterion)) <= set(name):
            return "_".join(tokens(criterion))
    known = {*words("people"), *words("judges"), *words("plain")}
    return "_".join(w for w in name if w not in known and not w.isdigit() and len(w) > 1)


def comparable(table: FileTable, about: Mapping[str, tuple[str, str, RaterKind]]) -> None:
    """Raises ImportRefused for a column that shares no answer with any other on its criterion. Columns of one
    answer are left out.
    """
    if table.options.scales or table.options.passing is not None:
        return
    answers = {c: table.columns[c].words for c in about if len(table.columns[c].texts) > 1}
    for column, own in answers.items():
        others = [c for c in answers if c != column and about[c][0] == about[column][0]]
        if not others or any(not own.isdisjoint(answers[other]) for other in others):
            continue
        one, other = (f"{c} ({', '.join(table.columns[c].examples)})" for c in (column, others[0]))
        raise table.refusal(
            f"{one} and {other} share no answer. With --human and --judge name columns that answer the same "
            "question."
        )
