"""Batches of a run: calls are gathered instead of made, sent together, and answered into the journal.

A run that asks by batch goes through its plan again and again. Each time, pieces of work come as far as the
journal answers them; the calls that they would make next are one wave and sent as batches. What a batch
answered is written to the journal, from which the pieces go on. So a dialogue takes one wave for each
message, and a run can be left and killed at any time: nothing but the store knows of it.

What waits is stored before it is sent. A batch that the endpoint began and the store does not know, because
the run was killed or the answer lost, is found again by the mark in its metadata.
"""

import asyncio
import hashlib
import tempfile
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import IO, Any

from concord.codes import Failure, Retry
from concord.errors import CallFailed, RunStopped
from concord.llm import batch
from concord.llm.batch import BatchStanding, Result
from concord.llm.client import Client, billed
from concord.llm.models import Model
from concord.rating import Spent
from concord.runs.batch_store import BatchEnd, BatchStore, CallOutcome
from concord.runs.budget import Budget
from concord.store.batches import Batch, Waiting
from concord.store.runs import NotedCall

TRIES = 3
"""In how many batches a call is sent that is not answered."""
UNSURE_SECONDS = 60.0
"""How long a batch is looked for whose creation was asked for and not answered; then it was not begun."""
FIRST_LOOK = 1.0
LONGEST_LOOK = 60.0
"""Seconds between two looks at batches: from, growing, to."""
CHUNK = 200
"""Answers written in one transaction."""


class Deferred(RunStopped):
    """The answer will come by batch: the piece of work goes on when it is there."""


@dataclass
class _File:
    """Calls of one model that are gathered for a batch."""

    lines: IO[bytes] = field(default_factory=tempfile.TemporaryFile)
    calls: list[Waiting] = field(default_factory=list)
    size: int = 0


@dataclass
class Batches:
    """What a run knows of batches. `on` gathers calls; without it only those that wait already are known.

    `guess` has the tokens out to expect of a model; `paid` is told what the answers that were collected cost.
    """

    store: BatchStore
    models: Mapping[str, Model]
    client: Client
    on: bool
    guess: Mapping[str, float]
    budget: Budget | None
    paid: Callable[[Spent], None]
    problems: dict[str, str] = field(default_factory=dict)
    """Why calls to a model are neither sent nor collected: its endpoint refused a batch, or does not know it.
    """
    elsewhere: Callable[[], float] = lambda: 0.0
    """What calls may cost that wait for others who spend of the same budget."""
    paused: Collection[str] = ()
    """Models of which nothing is gathered for now."""
    at_limit: bool = False
    """Whether calls were excluded because they might cost more than the budget."""
    _waiting_calls: dict[str, Waiting] = field(default_factory=dict)
    _files: dict[str, list[_File]] = field(default_factory=dict)
    _capped: dict[str, int] = field(default_factory=dict)
    _open: list[Batch] = field(default_factory=list)
    _reserved: float = 0.0
    """What the calls that wait or were gathered may cost."""
    _unanswered: int = 0
    _problem_of_looking: str = ""
    """Why batches cannot be looked at for now."""

    async def ask(
        self,
        work: str,
        step: str,
        prompt_hash: str,
        model: str,
        body: Callable[[], Mapping[str, Any]],
        *,
        gathers: bool = True,
    ) -> None:
        """Returns if the call is to be made directly. Raises Deferred if it comes by batch, and CallFailed if
        it did and failed finally, which is told once. Where it does not gather, a call is made directly that
        waits in no batch.
        """
        if not (self.on or self._waiting_calls):
            return
        configuration = self.models[model]
        call = hashlib.sha256(f"{work}\n{step}\n{prompt_hash}".encode()).hexdigest()[:32]
        waiting = self._waiting_calls.get(call)
        if waiting is not None and waiting.kind is not None:
            del self._waiting_calls[call]
            self.store.settle(call)
            raise CallFailed(
                waiting.message, code=Failure(waiting.kind), raw=waiting.raw, reason=waiting.reason
            )
        if waiting is not None and waiting.batch_id is not None:
            raise Deferred("It waits in a batch.")
        if self.on and configuration.batch and gathers:
            line = batch.line(call, body())
            tokens_out = round(self.guess.get(model, 0))
            cost = configuration.cost(billed(line.decode()) // 4, tokens_out, batch=True)
            self._gather(line, Waiting(call, None, model, work, step, prompt_hash, cost))
            # Calls that were asked for together, as of residents of a town, are gathered together.
            await asyncio.sleep(0)
            raise Deferred("It is gathered for a batch.")
        if waiting is not None:
            self.store.settle(call)

    def _gather(self, line: bytes, call: Waiting) -> None:
        if call.model in self.problems or call.model in self.paused:
            return
        if self.budget and call.cost > self.budget.left - self._reserved - self.elsewhere():
            self.at_limit = True
            return
        files = self._files.setdefault(call.model, [_File()])
        line_limit = self._capped.get(call.model, batch.MOST_LINES)
        if len(files[-1].calls) >= line_limit or files[-1].size + len(line) > batch.MOST_BYTES:
            if call.model in self._capped:
                return  # The endpoint's queue is small: one batch after the other.
            files.append(_File())
        files[-1].lines.write(line)
        files[-1].calls.append(call)
        files[-1].size += len(line)
        self._reserved += call.cost

    async def collect(self) -> bool:
        """Look at all batches of the models, write what was answered to the journal; whether anything was.

        Raises CallFailed if an endpoint cannot be asked.
        """
        changed = False
        passing: CallFailed | None = None
        for one in (await self.store.standing()).batches:
            try:
                changed |= await self._collected(one)
            except CallFailed as failure:
                # Batches of other models go on.
                if failure.code.retry is Retry.NEVER:
                    self.problems[one.model] = str(failure)
                else:
                    passing = failure
        await self.refresh()
        if passing is not None and not changed:
            raise passing
        return changed

    async def _collected(self, one: Batch) -> bool:
        """Look at one batch; whether it has ended and what it answered is in the journal."""
        model = self.models[one.model]
        if not await self.store.adopt(one):
            return False
        if not one.name:
            return await self._unsure(one, model)
        try:
            standing = await batch.look(self.client, model, one.name)
        except CallFailed as failure:
            if failure.status != 404:
                raise
            self.problems[one.model] = (
                f"The endpoint of “{one.model}” does not know the batch {one.name}, in which "
                f"{one.lines:,} calls wait. Have its key or base_url changed? If the batch is lost, "
                f"{self.store.remedy(one)}"
            )
            return False
        return await self._take_answers(one, model, standing)

    async def _take_answers(self, one: Batch, model: Model, standing: BatchStanding) -> bool:
        """Take what a batch has answered, if it has ended; whether it has."""
        if not standing.is_final:
            if standing.status != one.state:
                await self.store.change(one.id, standing.status)
            return False
        if standing.status == "failed" and not standing.outputs:
            reason = standing.reason or "it does not say why"
            await self.store.take(one, [], BatchEnd("refused", reason))
            if not standing.full or one.lines == 1:
                sentence = f"The endpoint of “{one.model}” refused the batch {one.name}: {reason}."
                self.problems[one.model] = sentence
            return True
        waiting = await self.store.calls(one.id)
        for name in standing.outputs:
            with tempfile.TemporaryFile() as file:
                await batch.download(self.client, model, name, file, lines=one.lines)
                results = batch.results(self.client, model, file)
                while chunk := list(islice(results, CHUNK)):
                    # What is unknown now was not asked, or answered before.
                    answers = [(waiting.pop(result.id), result) for result in chunk if result.id in waiting]
                    self.paid(await self.store.take(one, self._outcomes(one, answers), None))
        tried = standing.status == "completed"
        left = [(call, Result(call.id, retry=True, counts=int(tried))) for call in waiting.values()]
        end = BatchEnd("collected", "" if tried else standing.status)
        await self.store.take(one, self._outcomes(one, left), end)
        return True

    def _outcomes(self, one: Batch, results: Sequence[tuple[Waiting, Result]]) -> list[CallOutcome]:
        """Answers for the journal; calls without one are asked again, or have failed finally."""
        model = self.models[one.model]
        outcomes = []
        for call, result in results:
            tries = call.tries + result.counts
            answer = result.answer
            failure = result.failure
            if answer is not None:
                cost = model.usage(answer.tokens, 0.0, batch=True)
                details = answer.details.as_dict()
                note = NotedCall(call.asked, answer.text, answer.cut, cost, answer.reported, details)
                outcomes.append(CallOutcome(call, note))
            elif result.retry and tries < TRIES:
                outcomes.append(CallOutcome(call, values={"tries": tries}))
            else:
                if failure is None:
                    failure = CallFailed(
                        f"“{call.model}” gave no answer in {TRIES} batches.",
                        code=Failure.SERVER,
                        reason="no answer in batches",
                    )
                values = {
                    "kind": failure.code.value,
                    "message": str(failure),
                    "reason": failure.reason,
                    "raw": failure.raw,
                }
                outcomes.append(CallOutcome(call, values=values))
        return outcomes

    async def _unsure(self, one: Batch, model: Model) -> bool:
        """A batch that the endpoint has not named: find it, or have its calls asked again; whether it did."""
        standing = None
        if one.state != "prepared":
            standing = await batch.find(self.client, model, one.mark)
            if standing is None and one.age < UNSURE_SECONDS:
                return False
        if standing is None:
            await self.store.forget(one.id)
            return True
        found_batch = replace(one, name=standing.id)
        await self.store.change(one.id, standing.status, name=standing.id)
        return await self._take_answers(found_batch, model, standing)

    async def submit(self) -> None:
        """Send what was gathered. A refusal is kept in `problems`; its calls wait to be asked again."""
        files = self._files
        self._files = {}
        for name, parts in files.items():
            for part in parts:
                with part.lines:
                    if part.calls and name not in self.problems:
                        await self._send(name, part)
        await self.refresh()

    async def _send(self, name: str, part: _File) -> None:
        mark = uuid.uuid4().hex
        model = self.models[name]
        number = await self.store.prepare(name, mark, part.calls)
        file = ""
        try:
            file = await batch.upload(self.client, model, f"concord-{mark}.jsonl", part.lines)
            await self.store.change(number, "uploaded", file=file)
            standing = await batch.create(self.client, model, file, mark)
        except CallFailed as failure:
            if file and failure.code.retry not in (Retry.NEVER, Retry.THROTTLED):
                # It may have begun: it will be looked for by its mark.
                self._unanswered += 1
                if self._unanswered >= TRIES:
                    self.problems[name] = str(failure)
                return
            await self.store.forget(number)
            self.problems[name] = _no_batches(failure, name)
            return
        await self.store.change(number, standing.status, name=standing.id)

    async def rest(self, stopped: Callable[[], bool]) -> bool:
        """Wait until a batch has ended and was collected; False if the run has stopped or nothing waits."""
        pause = FIRST_LOOK
        while any(one.model not in self.problems for one in self._open) and not stopped():
            await self.client.rest(next(iter(self.models.values())), pause)
            pause = min(LONGEST_LOOK, pause * 1.5)
            try:
                if not stopped() and await self.collect():
                    return True
                self._problem_of_looking = ""
            except CallFailed as failure:
                if failure.code.retry is Retry.NEVER:
                    raise
                self._problem_of_looking = str(failure)  # Batches go on without us: look again later.
        return False

    @property
    def waits(self) -> int:
        """Calls that wait at an endpoint."""
        return sum(call.batch_id is not None for call in self._waiting_calls.values())

    def ends_for(self) -> str:
        """Why a run ends although work is left; “” where batches are not the reason."""
        if self.problems:
            return " ".join(self.problems.values())
        if self.at_limit:
            return ". ".join(
                filter(
                    None, ["Further calls might exceed the spending limit. Raise --max-cost", self.status()]
                )
            )
        return f"{self.status()}. The same run collects the answers." if self.waits else ""

    def status(self) -> str:
        """What waits at endpoints; “” if nothing does."""
        if not self._open:
            return ""
        count = f"{len(self._open)} batches" if len(self._open) > 1 else "a batch"
        states = ", ".join(sorted({one.state.replace("_", " ") for one in self._open}))
        sentence = f"{self.waits:,} calls wait in {count} ({states})"
        return f"{sentence}. {self._problem_of_looking}" if self._problem_of_looking else sentence

    async def refresh(self) -> None:
        """Read what waits from the store."""
        self._waiting_calls, self._open, small = await self.store.standing()
        self._capped = {name: max(1, min(lines) // 2) for name, lines in small.items() if lines}
        for one in self._open:
            if one.model in self._capped:
                self._capped[one.model] = 0
        gathered = [call for files in self._files.values() for part in files for call in part.calls]
        waits = [call for call in self._waiting_calls.values() if call.batch_id is not None]
        self._reserved = sum(call.cost for call in [*waits, *gathered])


def _no_batches(failure: CallFailed, name: str) -> str:
    if failure.status in (404, 405):
        return (
            f"The endpoint of “{name}” offers no Batch API ({failure.reason}). Run without --batch, or set "
            f"`batch = false` for it in models.toml."
        )
    return str(failure)
