"""Logs of Inspect: `.eval` through Inspect's own reader where it is installed, else a sentence."""

import sys

import pytest

from concord.errors import ImportRefused
from concord.exchange import conversations_file


def test_without_the_extra_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    (tmp_path / "a.eval").write_bytes(b"PK\3\4")
    with pytest.raises(ImportRefused, match=r"extra “inspect”, or convert the log with `inspect log"):
        conversations_file.survey(tmp_path / "a.eval")


@pytest.fixture(params=[None, [1]], ids=["without ids", "with ids"])
def log(request, tmp_path):
    """A log of two samples, as Inspect writes it; older ones do not list the samples' ids."""
    written = pytest.importorskip("inspect_ai.log", reason="the extra “inspect” is not installed")
    model = pytest.importorskip("inspect_ai.model")
    scorer = pytest.importorskip("inspect_ai.scorer")
    said = [
        model.ChatMessageUser(content="How warm is it?"),
        model.ChatMessageAssistant(content="18 degrees."),
    ]
    samples = [
        written.EvalSample(
            id=1,
            epoch=epoch,
            input="How warm is it?",
            target="18",
            messages=said,
            scores={"match": scorer.Score(value=value, explanation="Looked.")},
        )
        for epoch, value in ((1, "C"), (2, "I"))
    ]
    spec = written.EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task="weather",
        dataset=written.EvalDataset(sample_ids=request.param),
        model="elm",
        config=written.EvalConfig(epochs=2),
    )
    made = written.EvalLog(eval=spec, status="success", samples=samples)
    file = tmp_path / "weather.eval"
    written.write_eval_log(made, str(file), format="eval")
    return file


def test_samples_are_conversations_and_scores_a_judges_ratings(log, fresh, run):
    done = run(fresh, "import", "conversations", log, "--scores-as", "scorer")
    assert done.exit_code == 0, done.output
    assert "is Inspect of the form “Inspect log”, 2 rows" in done.output
    assert "2 new conversations, 2 by judges" in done.output
    found = conversations_file.survey(log)
    (_, first), (_, second) = found.examples
    (one,) = first.conversations
    assert (one.player, one.facets["task"], one.context) == ("elm", "weather", {"Reference": "18"})
    assert [(s.criterion, s.score, s.explanation, s.rater.name) for s in (*first.scores, *second.scores)] == [
        ("match", 1.0, "Looked.", "code"),
        ("match", 0.0, "Looked.", "code"),
    ]


def test_half_a_log_is_refused(log, fresh, run):
    log.write_bytes(log.read_bytes()[:-200])
    done = run(fresh, "import", "conversations", log)
    assert done.exit_code == 1
    assert "is not a log that Inspect can read" in done.output
