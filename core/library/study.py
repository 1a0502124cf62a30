"""Agreement of a table of answers, and a workspace's studies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

from concord.errors import StudyError, check_known
from concord.library.result import Agreement
from concord.llm.families import families_of_names
from concord.questions import Scale, scale_of
from concord.reading import drawn
from concord.reading.labels import Treatment
from concord.reading.options import TableOptions, group_of, order_of
from concord.reports.agreement_report import Options, agreement_report, report_of
from concord.statistics.figures import People
from concord.store import ratings, studies
from concord.workspace import Workspace

if TYPE_CHECKING:
    import pandas as pd

OF_RATINGS = ("unit", "turn", "criterion", "rater", "kind", "variant", "repeat", "score", "explanation")


class Measuring(TypedDict, total=False):
    """How agreement is measured; `concord.reports.agreement_report.Options` says what each means."""

    cluster_by: Sequence[str] | None
    people: People | None
    margin: float
    resamples: int
    seed: int
    exclude_refused: bool


def agreement(
    table: Any,
    paired: Any = None,
    *,
    labels: Any = None,
    labels_id: str = "",
    weight: str = "",
    strata: str = "",
    human: Sequence[str] = (),
    judge: Sequence[str] = (),
    id: str = "",
    by: Sequence[str] = (),
    criterion: Sequence[str] = (),
    scales: Mapping[str, str | Scale] | None = None,
    pass_from: float | None = None,
    gold: Sequence[str] = (),
    text: str = "",
    rater: str = "",
    score: str = "",
    kind: str = "",
    criterion_column: str = "",
    run: str = "",
    missing: Sequence[Any] = (),
    categories: Sequence[Any] = (),
    order: str | Sequence[str] = (),
    exclude: Mapping[str, Any] | Sequence[str] = (),
    **how: Unpack[Measuring],
) -> Agreement:
    """How well judges agree with people, and people with each other.

    `table` is a path, a frame of pandas, polars or Arrow, a mapping of columns, rows as mappings, two series
    (people's answers and a judge's), or a 2-D array with a row a rater: a row an answer with a column a
    rater, or a row a rating, in Concord's own columns (unit or item_id, criterion, rater, kind or rater_type,
    score) or others. Answers are numbers, pass or fail in the usual words, or categories; an empty one is a
    missing rating. With `paired`, `table` is a series of people's answers and this one a judge's. `labels` is
    a second table with people's answers, joined by id; `labels_id` names its column of ids where it is called
    otherwise. Where labelled rows are no random draw, `weight` is a column that says how many rows each
    stands for, or `strata` the column, or the judge, by which they were drawn.

    The other arguments are the options of `concord check`: columns of people, judges and gold labels, of ids
    and groups, the criterion in names of columns, scales such as {"helpful": "1..5"}, and from which number
    an answer passes; of a table with a rating a row the columns that name the `rater`, hold the `score`, say
    the `kind` of the rater, the criterion and the `run`; values that are `missing` answers, answers that are
    `categories`, and their `order`, such as "poor<fair<good"; groups of rows to `exclude`, such as {"topic":
    "medical"} or ["topic=medical"]; `how` the options of `concord agreement`.
    Raises ImportRefused for a table of which it is not known whose answers columns hold, with the option that
    says it, and for rows that are wrong, counted from 1, and NotFound for unknown names.
    """
    check_known("argument", how, Measuring.__annotations__)
    if paired is not None:
        table = (table, paired)
    given = {name: scale_of(of) if isinstance(of, str) else of for name, of in (scales or {}).items()}
    columns = TableOptions(
        people=_names(human),
        judges=_names(judge),
        id=id,
        by=_names(by),
        criteria=_names(criterion),
        scales=given,
        passing=pass_from,
        gold=_names(gold),
        text=text,
        rater=rater,
        score=score,
        kind=kind,
        criterion_column=criterion_column,
        run=run,
        missing=_names(missing),
        categories=_names(categories),
        order=order_of(order) if isinstance(order, str) else tuple(order),
        excluded=_groups(exclude),
    )
    kept = ("cluster_by", "exclude_refused")
    treatment = {name: of for name, of in how.items() if name in kept}
    source = drawn.LabelSource(labels, labels_id, weight, strata)
    read, _ = drawn.read(table, columns, source, **cast(Treatment, treatment))
    models = {*read.data.judges, *map(str, read.data.of_units("player").values())}
    options = replace(_options(how), families=families_of_names(sorted(models)))
    return Agreement(report_of(read.data, options, read.features), read.warnings, read.columns)


def _names(names: Any) -> tuple[str, ...]:
    """Names as a caller gives them: one, or several."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        return (str(names),)
    return tuple(map(str, names))


def _groups(exclude: Mapping[str, Any] | Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The columns and values of groups: of a mapping each value, else of “topic=medical”."""
    if isinstance(exclude, Mapping):
        return tuple((str(column), value) for column, values in exclude.items() for value in _names(values))
    return tuple(group_of(text) for text in _names(exclude))


check = agreement
"""What `concord check` prints, under its name."""


class Study:
    """A study of a workspace: its ratings and their agreement, read anew at each call."""

    def __init__(self, workspace: str | Path, name: str = "") -> None:
        """Open a study; without a name the only one. Raises WorkspaceError, NotFound and StudyError."""
        self.workspace = Workspace.open(workspace, create=False)
        with self.workspace.read() as db:
            known = studies.names(db)
            if not name and len(known) != 1:
                raise StudyError(f"Name the study. There are {', '.join(known) or 'none'}.")
            self.name = studies.get(db, name or known[0]).name

    def __repr__(self) -> str:
        return f"Study({str(self.workspace.path)!r}, {self.name!r})"

    @property
    def ratings(self) -> pd.DataFrame:
        """The ratings that count, as `agreement` takes them."""
        with self.workspace.read() as db:
            return ratings_frame(ratings.exported(db, self.name))

    def agreement(self, **how: Unpack[Measuring]) -> Agreement:
        """How well judges agree with people. Raises StudyError where there are no ratings yet."""
        with self.workspace.read() as db:
            return Agreement(agreement_report(db, self.name, _options(how)))


def ratings_frame(rows: Iterable[Mapping[str, Any]], prefix: str = "") -> pd.DataFrame:
    """Stored ratings as a frame; `prefix` is taken from the names of units."""
    import pandas as pd

    of_units = [
        {"unit": str(row["item_id"]).removeprefix(prefix), "kind": row["rater_type"], **row} for row in rows
    ]
    return pd.DataFrame(of_units, columns=list(OF_RATINGS)).astype({"turn": "Int64"})


def _options(how: Measuring) -> Options:
    given: dict[str, Any] = {**how}
    if given.get("cluster_by") is not None:
        given["cluster_by"] = tuple(given["cluster_by"])
    return Options(**given)
