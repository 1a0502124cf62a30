"""An agent architecture of one's own: ReAct (Yao et al. 2023) in STSS. `docs/stss.md` says how to run it.

Before it speaks, the performer thinks aloud and may look things up, in its memory or in its plan of the day,
until it knows what to say. All other thoughts are those of the generative agent.
"""

from typing import Literal

from concord.benchmarks.stss.mind import Mind, Now, Self, Transcript
from concord.benchmarks.stss.schedule import hour_of
from concord.benchmarks.stss.thoughts import Speech
from concord.llm.replies import Reply, Text

LOOK_UPS = 3
"""What may be looked up before an utterance."""


class Thought(Reply):
    """One step: why, what is done, and its words: a query, or the utterance."""

    thought: str
    action: Literal["recall", "look_at_plan", "say", "take_leave"]
    words: Text


class Agent(Mind):
    """Thinks, acts, observes, and thinks again before each utterance."""

    name = "ReAct"

    async def says(self, me: Self, partner: Self, transcript: Transcript, now: Now) -> Speech:
        """The next utterance, after at most `LOOK_UPS` steps; an empty one without a usable reply."""
        seen: list[str] = []
        for step in range(LOOK_UPS + 1):
            left = LOOK_UPS - step
            reply = await self.thinks(
                me,
                now,
                f"says {len(transcript)}",
                self.question(me, partner, transcript, seen, left),
                Thought,
            )
            if reply is None:
                break
            if reply.action in ("say", "take_leave") or not left:
                return Speech(utterance=reply.words, done=reply.action == "take_leave")
            seen += [f"Thought: {reply.thought}", f"Action: {reply.action} {reply.words}"]
            seen += [f"Observation: {line}" for line in await self.observe(me, reply, now)]
        return Speech(utterance="", done=True)

    async def observe(self, me: Self, reply: Thought, now: Now) -> list[str]:
        """What an action shows: three memories about its words, or what is left of the day's plan."""
        if reply.action == "recall":
            return [memory.text for memory in await me.memory.retrieve(reply.words, now.time, 3)] or [
                "nothing"
            ]
        minute = now.clock.minute(now.step)
        return [f"{hour_of(a.start)} {a.text} ({a.place})" for a in me.day if a.end > minute] or ["nothing"]

    def question(self, me: Self, partner: Self, transcript: Transcript, seen: list[str], left: int) -> str:
        """What the model is asked."""
        task = f"{me.task.goal} {me.task.criteria}" if me.task else "none"
        talk = "\n".join(f"{speaker}: {text}" for speaker, text in transcript) or "(nothing yet: you begin)"
        return (
            f"You are {me.name}, {me.resident.innate}. You are at {me.place} with {partner.name}.\n"
            f"Your task, which others do not know: {task}\n\nThe conversation so far:\n{talk}\n\n"
            + "".join(f"{line}\n" for line in seen)
            + f"\nThink, then act: recall (a query) or look_at_plan, {left} times more; say (what"
            " you say next), or take_leave (your last words).\nReply with one JSON object: "
            '{"thought": "…", "action": "recall", "words": "…"}'
        )
