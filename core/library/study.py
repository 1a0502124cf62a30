"""Agreement of a frame of ratings, and a workspace's studies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

import pandas as pd

from concord.errors import StudyError
from concord.exchange import incoming, labels, ratings_csv, ratings_study
from concord.library.frames import NAMES, ratings_frame
from concord.library.result import Agreement
from concord.questions import Scale, scale_of
from concord.rating import Criterion
from concord.reports.agreement_report import Options, agreement_report, asked_report
from concord.statistics.figures import People
from concord.store import access, ratings, studies
from concord.studies.studies import Runs
from concord.workspace import Workspace


class Measuring(TypedDict, total=False):
    """How agreement is measured; `concord.reports.agreement_report.Options` says what each means."""

    panels: Sequence[Sequence[str]]
    runs: Runs
    cluster_by: Sequence[str] | None
    people: People | None
    nominal: bool
    margin: float
    resamples: int
    seed: int
    exclude_refused: bool
    with_excluded: bool


def agreement(
    ratings: pd.DataFrame,
    *,
    scales: Mapping[str, str | Scale] | None = None,
    **how: Unpack[Measuring],
) -> Agreement:
    """How well judges agree with people, and people with each other.

    `ratings` has a rating a row, in the columns unit (or item_id), criterion, rater, kind (or rater_type:
    human or judge) and score, and any of turn, repeat, variant, model, language and others, as a file that
    `concord import ratings` reads. A row without a score is a missing rating. `scales` gives criteria their
    scale where the scores do not show it, such as {"helpful": "1..5"}. A frame of another form is read as
    `check` does. Raises ImportRefused, which names every row that is wrong, counted from 1, and NotFound for
    a panel of unknown judges.
    """
    if not {*ratings_csv.REQUIRED} <= {NAMES.get(str(name), str(name)).lower() for name in ratings.columns}:
        return check(ratings, scales=scales, **how)
    table = ratings_csv.read_records(_records(ratings), "the ratings")
    given = {name: scale_of(of) if isinstance(of, str) else of for name, of in (scales or {}).items()}
    brought = ratings_study.incoming(None, table, "ratings", scales=given)
    options = _options(how)
    of, features = incoming.measured(
        brought,
        runs=options.runs,
        nominal=options.nominal,
        cluster_by=options.cluster_by,
        exclude_refused=options.exclude_refused,
    )
    without = len(ratings) - len(table.lines)
    notes = (f"{without} rows have no score and are taken as missing ratings.",) if without else ()
    return Agreement(asked_report(of, options, features), notes)


def check(
    table: pd.DataFrame | str | Path,
    *,
    human: Sequence[str] = (),
    judge: Sequence[str] = (),
    id: str = "",
    by: Sequence[str] = (),
    criterion: Sequence[str] = (),
    scales: Mapping[str, str | Scale] | None = None,
    pass_from: float | None = None,
    **how: Unpack[Measuring],
) -> Agreement:
    """How far judges can be trusted, from a table as people have it: what `concord check` prints.

    `table` is a file or a frame with a row an answer and a column a rater, or a row a rating. The options are
    those of the command: columns of people and judges, of ids and groups, the criterion in names of columns,
    scales, and from which number an answer passes. Raises ImportRefused for a table of which it is not known
    whose answers columns hold, with the option that says it.
    """
    given = {name: scale_of(of) if isinstance(of, str) else of for name, of in (scales or {}).items()}
    columns = labels.TableOptions(
        tuple(human), tuple(judge), id, tuple(by), tuple(criterion), given, pass_from
    )
    if isinstance(table, pd.DataFrame):
        read = labels.of_frame(table, columns)
    else:
        read = labels.read(Path(table), columns)
    return Agreement(asked_report(read.of, _options(how), read.features), read.warnings, read.columns)


class Study:
    """A study of a workspace: its units, ratings, progress and agreement, read anew at each call."""

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
    def criteria(self) -> tuple[Criterion, ...]:
        """What people are asked."""
        with self.workspace.read() as db:
            return studies.get(db, self.name).criteria

    @property
    def units(self) -> pd.DataFrame:
        """What is rated, one unit a row: unit (the conversation's key), turn, stratum."""
        with self.workspace.read() as db:
            rows = [{"unit": row["key"], **row} for row in studies.units(db, self.name)]
        return pd.DataFrame(rows, columns=["unit", "turn", "stratum"])

    @property
    def ratings(self) -> pd.DataFrame:
        """The ratings that count, as `agreement` takes them."""
        with self.workspace.read() as db:
            return ratings_frame(ratings.exported(db, self.name))

    @property
    def progress(self) -> pd.DataFrame:
        """How far each annotator is: annotator, done, skipped, items, minutes."""
        with self.workspace.read() as db:
            people = [one for one in access.annotators(db, self.name) if one.items]
        rows = [(one.name, one.done, one.skipped, one.items, one.seconds / 60) for one in people]
        return pd.DataFrame(rows, columns=["annotator", "done", "skipped", "items", "minutes"])

    def agreement(self, **how: Unpack[Measuring]) -> Agreement:
        """How well judges agree with people. Raises StudyError where there are no ratings yet."""
        with self.workspace.read() as db:
            return Agreement(agreement_report(db, self.name, _options(how)))


def _options(how: Measuring) -> Options:
    given: dict[str, Any] = {**how}
    given |= {"panels": tuple(map(tuple, given.get("panels", ())))}
    if given.get("cluster_by") is not None:
        given["cluster_by"] = tuple(given["cluster_by"])
    return Options(**given)


def _records(frame: pd.DataFrame) -> Iterator[tuple[int, list[str]]]:
    """The scored rows of a frame as records of a file: numbered from 1, the names of the columns first."""
    names = [NAMES.get(str(name), str(name)) for name in frame.columns]
    yield 0, names
    scored = names.index("score") if "score" in names else 0
    for number, row in enumerate(frame.itertuples(index=False, name=None), 1):
        cells = [_cell(cell) for cell in row]
        if cells[scored]:
            yield number, cells


def _cell(cell: Any) -> str:
    if pd.api.types.is_scalar(cell) and pd.isna(cell):
        return ""
    return str(int(cell)) if pd.api.types.is_bool(cell) else str(cell)
