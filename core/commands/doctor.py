"""`concord doctor`: check every model with one small call."""

import asyncio
from collections.abc import Mapping

import click

from concord.commands.printing import echo
from concord.conversation import Message
from concord.errors import ConcordError
from concord.llm import replies
from concord.llm.client import Client
from concord.llm.completions import Completion
from concord.llm.models import Model, load_models, pick
from concord.workspace import Workspace


class Ping(replies.Reply):
    """The smallest reply there is."""

    ok: bool


ASKED = (
    Message("system", "You check connections."),
    Message("user", 'Reply with the JSON object {"ok": true} and nothing else.'),
)
TEXT = "A check of the connection."
"""The text whose vector is asked of a model of kind “embeddings”."""


async def examine(models: Mapping[str, Model]) -> dict[str, str | None]:
    """For each model None where it answered as asked, else a sentence with the cause and the remedy."""

    async def one(name: str) -> str | None:
        async def call(step: str, messages: object, /) -> Completion:
            schema = replies.json_schema(Ping)
            return await client.complete(name, ASKED, params={"max_tokens": 200}, schema=schema)

        talks = models[name].kind == "chat"
        try:
            if talks:
                await replies.answer(call, "doctor", ASKED, Ping)
            else:
                await client.embed(name, [TEXT])
        except ConcordError as error:
            unread = talks and getattr(error, "kind", "") in ("unparsable", "bad_request")
            return str(error) + (' Try replies = "text" in models.toml.' if unread else "")
        return None

    async with Client(models, retries=1) as client:
        found = await asyncio.gather(*(one(name) for name in models))
    return dict(zip(models, found, strict=True))


@click.command(name="doctor")
@click.argument("names", nargs=-1)
@click.pass_obj
def command(folder: str, names: tuple[str, ...]) -> None:
    """Check every configured model (or those named) with one tiny call."""
    workspace = Workspace.open(folder)
    models = load_models(workspace.models_path)
    if not models:
        raise ConcordError(
            f"No model is named in {workspace.models_path} yet. Add a [models.NAME] table: the file says how."
        )
    chosen = {name: pick(models, name, None) for name in names} or models
    found = asyncio.run(examine(chosen))
    for name, wrong in found.items():
        echo(f"{'✗' if wrong else '✓'} {name}: {wrong or 'answers as asked'}")
    if any(found.values()):
        raise SystemExit(1)
