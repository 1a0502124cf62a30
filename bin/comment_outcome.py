"""Run `concord $ARGUMENTS` for action.yml: its Markdown goes into the job's summary and a comment.

The comment of an earlier run with the same arguments is replaced. The exit code is the command's.
"""

import hashlib
import os
import shlex
import subprocess
import sys
from pathlib import Path

ERROR_CHARACTERS = 2000
"""Of a message in the comment where the command could not run."""
NO_PERMISSION = "The pull request gets no comment: the job needs the permission pull-requests: write."


def main() -> int:
    """Run, report, and give the command's exit code."""
    arguments = os.environ["ARGUMENTS"]
    done = subprocess.run(
        ["concord", *shlex.split(arguments), "--format", "markdown"],
        check=False,
        capture_output=True,
        text=True,
    )
    print(done.stdout, end="")
    print(done.stderr, end="", file=sys.stderr)
    mark = f"<!-- concord: {hashlib.sha256(arguments.encode()).hexdigest()[:16]} -->"
    body = f"{mark}\n{done.stdout if done.stdout.startswith('### ') else could_not_run(done.stderr)}"
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(body)
    if os.environ.get("COMMENT", "true") == "true" and os.environ.get("PULL_REQUEST"):
        comment(mark, body)
    return done.returncode


def could_not_run(error: str) -> str:
    """A comment with the end of an error message, which no sign in it can leave."""
    shown = error[-ERROR_CHARACTERS:].strip().replace("```", "'''")
    return f"### ❌ concord could not run\n\n```text\n{shown}\n```\n"


def comment(mark: str, body: str) -> None:
    """Write the comment of the pull request, in place of the one that begins with this mark."""
    comments = f"repos/{os.environ['REPOSITORY']}/issues/{os.environ['PULL_REQUEST']}/comments"
    marked = f'.[] | select(.body | startswith("{mark}")) | .id'
    listed = subprocess.run(
        ["gh", "api", "--paginate", comments, "--jq", marked], check=False, capture_output=True, text=True
    )
    earlier = listed.stdout.split()
    if earlier:
        target = ["-X", "PATCH", f"repos/{os.environ['REPOSITORY']}/issues/comments/{earlier[-1]}"]
    else:
        target = [comments]
    words = ["gh", "api", *target, "-F", "body=@-"]
    sent = subprocess.run(words, check=False, input=body, capture_output=True, text=True)
    if sent.returncode:
        print(NO_PERMISSION, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
