"""Judge a partition: conversations in, a table of answers out, by the same calls as a run makes.

`judge_partition` is the one function that every engine calls. Nothing here touches a database.
"""

from __future__ import annotations

import asyncio
import base64
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from concord.codes import NOT_ASKED, Failure
from concord.conversation import IMAGES, Conversation
from concord.errors import CallFailed, ConcordError, RunStopped
from concord.lake.batches import LakeBatches
from concord.lake.journal import LakeJournal, PartitionJournal, known_handshakes
from concord.lake.partitions import LakeRow, column
from concord.lake.plan import ANSWER_COLUMNS, LakePlan
from concord.llm import places
from concord.llm.client import Client, limits
from concord.llm.models import Model
from concord.rating import Judgement
from concord.runs import judging
from concord.runs.benchmark import DueJudgement, due_judgements
from concord.runs.budget import Budget, check_priced
from concord.runs.call_runner import Asker, Calls
from concord.runs.handshakes import Handshakes

if TYPE_CHECKING:
    import pyarrow as pa

TRIES = 3
"""In how many attempts a judgement fails by its endpoint before it is kept as failed."""
RAW = 2000
"""Characters of an unusable reply that are kept."""


class LakeItem(NamedTuple):
    """A conversation of a partition: its key in the lake and the columns that are kept beside its answers."""

    key: str
    conversation: Conversation
    columns: tuple[str | None, ...] = ()


@dataclass
class SessionStanding:
    """What a process has done: judgements, of them failed or put off to the next attempt, and what it cost.

    `judged` counts judgements that a table has now, in this process or before.
    """

    judged: int = 0
    failed: int = 0
    put_off: int = 0
    reasons: dict[str, int] = field(default_factory=dict)

    def count(self, failure: CallFailed | str) -> None:
        """Count why a judgement failed."""
        reason = failure if isinstance(failure, str) else failure.reason
        self.reasons[reason] = self.reasons.get(reason, 0) + 1

    def take_back(self, tally: SessionStanding) -> None:
        """Count no more what a visit counted that the next one counts again."""
        self.judged -= tally.judged
        self.failed -= tally.failed
        for reason, count in tally.reasons.items():
            self.reasons[reason] -= count
            if not self.reasons[reason]:
                del self.reasons[reason]


class JudgeSession:
    """What the partitions of one process share: connections, handshakes, limits, and whether it goes on.

    It belongs to one event loop: use it as `async with JudgeSession(plan)`. With `max_cost` it stops there.
    """

    def __init__(
        self,
        plan: LakePlan,
        *,
        max_cost: float | None = None,
        retry_failed: bool = False,
        batch: bool = False,
        limits_of: Mapping[str, int] | None = None,
        ask_more: Callable[[float], Awaitable[float]] | None = None,
    ):
        if max_cost is not None:
            check_priced(plan.models.values())
        for model in plan.models.values():
            model.key()
            model.sent_headers()
        self.plan = plan
        self.retry_failed = retry_failed
        self.standing = SessionStanding()
        self.stop = ""
        """Why no new calls are made; “” while the work goes on."""
        self.broken = False
        self._halted = asyncio.Event()
        entries = dict(plan.models)
        for name, limit in (limits_of or {}).items():
            entries[name] = entries[name].changed(max_concurrency=limit)
        self.shaken = Handshakes(entries, known_handshakes(plan))
        self.journal = LakeJournal(plan, lambda: self.stop)
        self.client = Client(entries, admit=self.journal.admit)
        guesses = {way.judges[0]: float(way.asking.expected[1]) for way in plan.ways}
        self.budget = None
        if max_cost is not None:
            self.budget = Budget(max_cost, self.shaken.models, guesses, _granted, self.halt, ask_more)
        self.batches = LakeBatches(self, gathers=batch)
        self.calls = Calls(
            run=random.getrandbits(32) if retry_failed else 0,
            journal=self.journal,
            models=self.shaken.models,
            retry_failed=retry_failed,
            client=self.client,
            batches=self.batches,
            handshakes=self.shaken,
            budget=self.budget,
            halt=self.halt,
        )
        self.calls.answered_models.update(self.shaken.by_model)
        # Twice as many judgements as calls, so that one that is read waits for each place.
        self.places = asyncio.Semaphore(2 * sum(limits(entries.values()).values()))

    async def __aenter__(self) -> Self:
        await self.client.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.client.__aexit__(*error)

    def halt(self, reason: str, *, broken: bool = False) -> None:
        """Make no new calls. The first reason is kept."""
        if self.stop:
            return
        self.stop = reason
        self.broken = broken
        self._halted.set()
        self.client.stop()
        if self.budget:
            self.budget.stop()
        self.calls.release()

    def says(self) -> str:
        """Why calls wait, and what was settled with endpoints."""
        obstacle = self.journal.obstacle
        waits = f"No calls while the disk cannot be written: {obstacle}." if obstacle else ""
        return " ".join(
            filter(None, [*self.shaken.lines(), waits, self.client.status(), self.batches.says()])
        )

    def progress(self) -> dict[str, Any]:
        """What was judged, failed and spent so far, and why calls wait, as plain values for a coordinator."""
        return {
            "judged": self.standing.judged,
            "failed": self.standing.failed,
            "put_off": self.standing.put_off,
            "reasons": self.standing.reasons,
            "spent": list(vars(self.calls.usage).values()),
            "lost": self.budget.lost if self.budget else 0.0,
            "message": self.says(),
            "stopped": dict(self.calls.stopped),
        }

    def lacks(self, judge: str) -> bool:
        """Whether no more calls are made to a judge."""
        return judge in self.calls.stopped

    async def rest(self, seconds: float) -> None:
        """Wait, no longer than until the session stops."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._halted.wait()


async def _granted(_amount: float) -> None:
    """A session's limit is its own: nothing else spends of it."""


@dataclass
class JudgedPartition:
    """The answers of a partition: a table for each judge, and what it lacks.

    `complete` has the judges whose every judgement is in their table; `tallies` says of each judge what was
    counted.
    """

    tables: dict[str, pa.Table]
    complete: frozenset[str]
    tallies: Mapping[str, SessionStanding]
    items: int


async def judge_partition(
    items: Iterable[LakeItem],
    plan: LakePlan,
    *,
    session: JudgeSession | None = None,
    journal: PartitionJournal | None = None,
    judges: Sequence[str] | None = None,
    earlier: Mapping[str, pa.Table] | None = None,
    on_begun: Callable[[], None] = lambda: None,
) -> JudgedPartition:
    """Have judges answer a rubric about conversations.

    With a `session` it shares the connections and limits of others, with a `journal` answers that are in it
    are not paid again. `judges` are those of the plan unless named. `earlier` are answers that are kept, of
    which failures are asked again. `begun` is called once every judgement has begun.
    """
    if session is None:
        async with JudgeSession(plan) as inner:
            return await judge_partition(
                items, plan, session=inner, journal=journal, judges=judges, earlier=earlier, on_begun=on_begun
            )
    work = _Work(plan, session, journal, plan.models if judges is None else judges, earlier or {})
    try:
        async with asyncio.TaskGroup() as group:
            for item in items:
                if not await work.begin(group, item):
                    break
            on_begun()
    finally:
        on_begun()
    return work.result()


class _Work:
    """A partition at work."""

    def __init__(
        self,
        plan: LakePlan,
        session: JudgeSession,
        journal: PartitionJournal | None,
        judges: Iterable[str],
        earlier: Mapping[str, pa.Table],
    ):
        self.plan = plan
        self.session = session
        self.journal = journal
        self.judges = tuple(judges)
        self.ways = [way for way in plan.ways if way.judges[0] in self.judges]
        self.rows = {judge: Rows(tuple(plan.keep)) for judge in self.judges}
        self.earlier = dict(earlier)
        self.kept = {judge: settled_keys(table) for judge, table in earlier.items()}
        self.lacking: set[str] = set()
        self.tallies = {judge: SessionStanding() for judge in self.judges}
        self.items = 0
        self.ended_early = False

    async def begin(self, group: asyncio.TaskGroup, item: LakeItem) -> bool:
        """Begin the judgements of a conversation as places become free; False where the work has stopped."""
        self.items += 1
        for one in due_judgements(self.ways, 1, item.conversation.key):
            if item.key in self.kept.get(one.judge, ()):
                continue
            await self.session.places.acquire()
            if self.session.stop:
                self.session.places.release()
                self.ended_early = True
                return False
            group.create_task(self._one(item, one))
        return True

    async def _one(self, item: LakeItem, one: DueJudgement) -> None:
        session = self.session
        journal = self.journal
        try:
            if session.lacks(one.judge):
                self.lacking.add(one.judge)
                return
            noted = journal.noted.pop(one.key, {}) if journal is not None else {}
            if journal is not None:
                session.journal.of[one.key] = journal
            ask = Asker(session.calls, one.key, noted)
            model = session.calls.models[one.judge]
            judged = await self._judged(ask, item.conversation, one, model)
            if judged is None:
                self.lacking.add(one.judge)
                return
            judgement = replace(judged, spent=ask.spent)
            use = ask.use(one.judge)
            failure = ask.failure
            self.rows[one.judge].add(
                item,
                self.plan,
                one,
                judgement,
                use.configuration.hash if use.configuration else "",
                next((report.model for report in use.reported if report.model), ""),
                failure,
            )
            for standing in (session.standing, self.tallies[one.judge]):
                standing.judged += 1
                if judgement.failure is not None:
                    standing.failed += 1
                    standing.count(failure or NOT_ASKED)
        finally:
            session.journal.of.pop(one.key, None)
            session.places.release()

    async def _judged(
        self, ask: Asker, conversation: Conversation, one: DueJudgement, model: Model
    ) -> Judgement | None:
        """The judgement; None where it is put off to the next attempt."""
        session = self.session
        journal = self.journal
        try:
            judged, *_ = await judging.judged(ask, [conversation], one, model)
        except CallFailed as failure:
            session.standing.put_off += 1
            session.standing.count(failure)
            if journal is None or session.lacks(one.judge) or failure.code.stops_model:
                return None
            journal.fail(one.key, failure.code)
            if journal.failures[one.key] < TRIES:
                return None
            session.standing.put_off -= 1
            ask.failure = failure
            judged = judging.verdict_failed(one, [conversation], model, failure)
        except RunStopped:
            return None
        except ConcordError as error:
            session.halt(str(error), broken=True)
            return None
        assert isinstance(judged, Judgement)
        return judged

    def result(self) -> JudgedPartition:
        """What there is now."""
        complete = frozenset() if self.ended_early else frozenset(self.judges) - self.lacking
        tables = {}
        for judge, rows in self.rows.items():
            table = rows.table(self.plan)
            if judge in self.earlier:
                import pyarrow as pa

                table = pa.concat_tables([without_failures(self.earlier[judge]), table])
            tables[judge] = table
        return JudgedPartition(tables, complete, self.tallies, self.items)


def settled_keys(table: pa.Table) -> frozenset[str]:
    """The keys of a table whose judgement did not fail."""
    return frozenset(without_failures(table).column("key").to_pylist())


def without_failures(table: pa.Table) -> pa.Table:
    """The rows of a table whose judgement did not fail."""
    import pyarrow.compute as pc

    return table.filter(pc.is_null(table.column("failure")))


class Rows:
    """The answers of a judge, column by column. A row is one answer: of a unit, on a criterion.

    What a judgement cost stands in its first row, 0 in its others, so that sums are right. A failed judgement
    has a row for each criterion, without a score.
    """

    def __init__(self, keep: tuple[str, ...]):
        self.columns: dict[str, list[Any]] = {name: [] for name in (*ANSWER_COLUMNS, *keep)}
        self._keep = keep

    def add(
        self,
        item: LakeItem,
        plan: LakePlan,
        one: DueJudgement,
        judgement: Judgement,
        configuration: str,
        reported: str,
        failure: CallFailed | None,
    ) -> None:
        """Add a judgement."""
        conversation = item.conversation
        expense = judgement.spent
        replies = conversation.replies
        shared: dict[str, Any] = {
            "key": item.key,
            "judge": one.judge,
            "failure": judgement.failure,
            "failure_class": None,
            "refused": False,
            "raw": None,
            "configuration": configuration,
            "rubric": plan.questions.hash,
            "prompt": one.prompt.hash,
            "model": reported,
            "simulated": judgement.judge.simulated,
            "chars": sum(map(len, replies)) // max(len(replies), 1),
            "turns": len(replies),
            **dict(zip(self._keep, item.columns, strict=False)),
        }
        answers: list[tuple[int | None, str, float | None, str | None]] = [
            (rating.unit.turn, rating.criterion, rating.score, rating.explanation or None)
            for rating in judgement.ratings
        ]
        if judgement.failure is not None:
            raw = judgement.raw or (failure.raw if failure else "")
            shared["failure_class"] = failure.code.value if failure else NOT_ASKED
            shared["refused"] = bool(failure and (failure.code is Failure.REFUSED or places.refuses(raw)))
            shared["raw"] = raw[:RAW] or None
            answers = [(None, criterion.name, None, None) for criterion in one.asking.criteria]
        cost_columns = {
            "calls": expense.calls,
            "input_tokens": expense.input_tokens,
            "output_tokens": expense.output_tokens,
            "cost": expense.cost,
        }
        for place, (turn, criterion, score, reason) in enumerate(answers):
            row = shared | {"turn": turn, "criterion": criterion, "score": score, "reason": reason}
            row |= cost_columns if place == 0 else _UNPAID
            for name, values in self.columns.items():
                values.append(row[name])

    def table(self, plan: LakePlan) -> pa.Table:
        """The answers as an Arrow table."""
        import pyarrow as pa

        return pa.table(self.columns, schema=schema(tuple(plan.keep)))


_UNPAID = {"calls": 0, "input_tokens": 0, "output_tokens": 0, "cost": 0.0}


def schema(keep: Sequence[str] = ()) -> pa.Schema:
    """The columns of answers, with those that are kept of the files."""
    import pyarrow as pa

    by_name = {**ANSWER_COLUMNS, **dict.fromkeys(keep, "string")}
    return pa.schema([(name, pa.type_for_alias(kind)) for name, kind in by_name.items()])


def items_of(
    plan: LakePlan, rows: Iterable[LakeRow], key: Callable[[Conversation], str]
) -> Iterable[LakeItem]:
    """The conversations of rows, with the columns that are kept."""
    vision = any(model.vision for model in plan.models.values())
    for row in rows:
        for conversation in row.entry.conversations:
            columns = tuple(column(row, conversation, path) for path in plan.keep.values())
            if vision and row.entry.images:
                conversation = _pictured(conversation, row.entry.images)
            yield LakeItem(key(conversation), conversation, columns)


def _pictured(conversation: Conversation, bodies: Mapping[str, bytes]) -> Conversation:
    """The conversation with its images as data URLs."""
    messages = []
    for message in conversation.messages:
        urls = {
            text: f"data:image/{Path(name).suffix[1:]};base64,{base64.b64encode(bodies[name]).decode()}"
            for text, name in message.images.items()
            if name in bodies
        }
        messages.append(replace(message, meta={**message.meta, IMAGES: urls}) if urls else message)
    return replace(conversation, messages=tuple(messages))
