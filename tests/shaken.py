"""Endpoints that were asked before: what they take is known, as after an earlier run."""

from __future__ import annotations

from concord.conversation import Message
from concord.llm import handshake
from concord.llm.client import request
from concord.llm.handshake import Handshake
from concord.llm.models import load_models
from concord.llm.replies import json_schema
from concord.runs.planning import materials
from concord.runs.registry import BENCHMARKS
from concord.store import handshakes
from concord.workspace import Workspace

SAID = (Message("system", "Instructions."), Message("user", "Hello."))


def shaken(workspace: Workspace) -> Workspace:
    """The workspace, whose models take every request of every benchmark as it is."""
    brought = materials(workspace)
    prompts = [
        benchmark.prompt(brought, name) for benchmark in BENCHMARKS.values() for name in benchmark.prompts
    ]
    with workspace.write() as db:
        for model in load_models(workspace.models_path).values():
            shapes = []
            for prompt in prompts:
                schema = json_schema(prompt.reply, (1, 2)) if prompt.reply else None
                body = request(model, SAID, params=prompt.params, schema=schema)
                shapes.append(handshake.shape(body, schema))
            handshakes.put(db, model.asked_as, Handshake({}, tuple(shapes)).as_dict())
    return workspace
