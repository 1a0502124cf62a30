"""Whose ratings a table with a rating a row holds: people's, judges' or gold labels."""

from collections.abc import Collection, Mapping
from shlex import quote

from concord.errors import ImportRefused, not_found
from concord.rating import RaterKind
from concord.reading.table import SourceTable
from concord.reading.vocabulary import holds, kinds_by_name, tokens, word_set

MOST_NAMED = 8


def kinds_of_raters(
    table: SourceTable, names: Collection[str], stated_kinds: Mapping[str, RaterKind], column: str
) -> dict[str, RaterKind]:
    """The kind of each rater of a column: as options say, then as `stated_kinds` in the table, then by names.

    Where options name people, nobody else is one, and judges likewise. Where a judge is known and the column
    is called after people, such as annotator_id, raters of other names are people. Raises NotFound for a name
    in options that nobody has, ImportRefused where it is not known who the people are, or the judges.
    """
    kinds: dict[str, RaterKind | None] = {**kinds_by_name(names), **stated_kinds}
    options = table.options
    by_option: dict[RaterKind, tuple[str, ...]]
    by_option = {"human": options.people, "judge": options.judges, "gold": options.gold}
    for kind, named_raters in by_option.items():
        kinds = {
            name: None if named_raters and kind == by_name else by_name for name, by_name in kinds.items()
        }
    for kind, named_raters in by_option.items():
        for name in named_raters:
            kinds[_rater_name(name, names)] = kind
    if "judge" in kinds.values() and holds(tokens(column), word_set("people")) and not options.people:
        kinds = {name: kind or "human" for name, kind in kinds.items()}
    kinds = _with_gold(kinds, {*options.raters})
    people, judges, unsure = (
        [name for name, kind in kinds.items() if kind == rater_kind]
        for rater_kind in ("human", "judge", None)
    )
    if not people and (gold := [name for name, kind in kinds.items() if kind == "gold"]):
        people = gold
    kinds_found = {kind for kind, names_of_kind in (("human", people), ("judge", judges)) if names_of_kind}
    has_options = options.people or options.judges
    if unsure and not options.raters and {"human", "judge"} <= kinds_found:
        raise _question(table, people, judges, unsure, column)
    if (
        kinds_found
        and kinds_found.issuperset(table.needed_kinds)
        and (table.needed_kinds or has_options or not unsure)
    ):
        return {name: kind for name, kind in kinds.items() if kind}
    lacking = "annotators" if not people else "judges"
    option = "--human" if not people else "--judge"
    if not unsure:
        raise table.refusal(
            f"no raters in the column {column} are recognised as {lacking}; it has {_examples(names)}. Add "
            f"ratings, or choose raters with {option}; --rater and --score choose the columns of raters "
            "and answers."
        )
    if len(unsure) == 1 and not people and not judges:
        raise table.refusal(
            f"{unsure[0]} is the only rater in the column {column}. A comparison needs ratings of "
            "annotators and of judges; --rater chooses another column of raters."
        )
    second = ""
    if people and holds(tokens(column), word_set("people")):
        second = (
            f" If all are annotators, check the judge's file with --labels {quote(table.name)}. Else add:"
        )
    annotator_candidates, judge_candidates = (unsure, []) if judges else (unsure[:-1] or unsure, unsure[-1:])
    raise table.refusal(
        f"which raters in the column {column} are {lacking}? Candidates: {_examples(unsure)}.{second}",
        *(() if people else ("--human", quote(",".join(annotator_candidates[:40])))),
        *(("--judge", quote(judge_candidates[0])) if judge_candidates else ()),
    )


def _question(
    table: SourceTable, people: Collection[str], judges: Collection[str], unsure: Collection[str], column: str
) -> ImportRefused:
    """The question whose ratings those of raters of unknown kind are, with what to type."""
    judge_option = f"--judge {quote(','.join(judges))}"
    exclusion = f"--human {quote(','.join(people))} {judge_option}"
    return table.refusal(
        f"whose are the ratings of {_examples(unsure)} in the column {column}? To exclude them, add: "
        f"{exclusion}. "
        "If they are annotators' answers, add:",
        "--human",
        quote(",".join([*people, *unsure])),
        judge_option,
    )


def _examples(names: Collection[str]) -> str:
    listed = [*names]
    return ", ".join(listed[:MOST_NAMED]) + (" …" if len(listed) > MOST_NAMED else "")


def _rater_name(name: str, names: Collection[str]) -> str:
    """A rater's name as the table has it. Raises NotFound."""
    if name in names:
        return name
    folded = [one for one in names if " ".join(one.casefold().split()) == " ".join(name.casefold().split())]
    if len(folded) != 1:
        raise not_found("rater", name, names)
    return folded[0]


def _with_gold(
    kinds: Mapping[str, RaterKind | None], stated_raters: Collection[str]
) -> dict[str, RaterKind | None]:
    """The kinds with gold labels told from people by their names; where nobody else is a person, they stand
    for one.
    """
    gold: dict[str, RaterKind | None] = {
        name: "gold"
        for name, kind in kinds.items()
        if kind == "gold"
        or (name not in stated_raters and kind == "human" and holds(tokens(name), word_set("gold")))
    }
    if any(kind == "human" and name not in gold for name, kind in kinds.items()):
        return {**kinds, **gold}
    return {name: "human" if kind == "gold" else kind for name, kind in kinds.items()}
