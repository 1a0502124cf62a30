"""What several tests take from `test_round_trip`: carried."""


def carried(run, workspace, fresh, name, tmp_path):
    """Both exports of a study, imported into a fresh workspace."""
    talks, scores = tmp_path / "talks.jsonl", tmp_path / "scores.csv"
    for at, *command in (
        (workspace, "export", "conversations", "--study", name, "--out", talks),
        (workspace, "export", "ratings", "--study", name, "--out", scores),
        (fresh, "import", "conversations", talks),
        (fresh, "import", "ratings", scores, "--study", name),
    ):
        done = run(at, *command)
        assert done.exit_code == 0, done.output
