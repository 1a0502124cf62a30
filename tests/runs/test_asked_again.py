"""What a judge was sent is shown again only where it is what was sent."""

from dataclasses import replace

from concord.runs.judging import asked_again
from concord.runs.planning import materials
from concord.runs.registry import get
from concord.workspace import Workspace
from tests.filled import _conversations


def test_the_request_is_rendered_from_the_prompt_of_the_same_hash_only(tmp_path):
    brought, benchmark = materials(Workspace.open(tmp_path / "workspace")), get("pingpong")
    conversation = next(_conversations("en", 1, 2))
    prompt = benchmark.prompt(brought, benchmark.asking.prompt, "v2")
    sent = prompt.render(**benchmark.asking.values(conversation)).messages
    assert [message.role for message in sent] == ["system", "user"]
    assert conversation.messages[1].content.strip() in sent[1].content
    assert asked_again(benchmark, "v2", prompt.hash, brought, conversation) == sent
    assert asked_again(benchmark, "v2", "another", brought, conversation) is None
    assert asked_again(benchmark, "no version", prompt.hash, brought, conversation) is None
    by_rule = replace(benchmark, asking=None)
    assert asked_again(by_rule, "v2", prompt.hash, brought, conversation) is None
