"""A small git: enough of it to answer like a console."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Sequence

Files = dict[str, str]

OUTLINE = {"outline.md": "1 Harbour\n2 Storm\n"}
ENDING = {**OUTLINE, "ending.md": "They row home.\n"}


class Repository:
    """A repository with two commits on main. A commit is its parent, its message and its files."""

    def __init__(self) -> None:
        self.commits: dict[str, tuple[str, str, Files]] = {
            "a1f03c2": ("", "add outline", OUTLINE),
            "7be9d10": ("a1f03c2", "draft ending", ENDING),
        }
        self.branches = {"main": "7be9d10"}
        self.branch, self.index, self.files = "main", dict(ENDING), dict(ENDING)

    @property
    def head(self) -> str:
        """The commit that is checked out."""
        return self.branches[self.branch]

    def run(self, words: Sequence[str]) -> str:
        """What a command prints."""
        match list(words):
            case ["ls"]:
                return "  ".join(sorted(self.files))
            case ["cat", name]:
                return self.files.get(name, f"cat: {name}: No such file or directory").rstrip("\n")
            case ["echo", text, (">" | ">>") as way, name]:
                self.files[name] = (self.files.get(name, "") if way == ">>" else "") + text + "\n"
                return ""
            case ["git", "status"]:
                return self.status()
            case ["git", "log", *_]:
                first, *rest = (f"{mark} {self.commits[mark][1]}" for mark in self.history(self.head))
                return "\n".join([first.replace(" ", f" (HEAD -> {self.branch}) ", 1), *rest])
            case ["git", "branch"]:
                return "\n".join(f"{'*' if b == self.branch else ' '} {b}" for b in sorted(self.branches))
            case ["git", "switch" | "checkout", "-c" | "-b", name, *start]:
                if name in self.branches:
                    return f"fatal: a branch named '{name}' already exists"
                tip = self.branches.get(start[0], start[0]) if start else self.head
                return self.go(name, tip) or f"Switched to a new branch '{name}'"
            case ["git", "switch" | "checkout", name]:
                if name == self.branch:
                    return f"Already on '{name}'"
                return self.go(name, self.branches.get(name, "")) or f"Switched to branch '{name}'"
            case ["git", "add" | "rm" as does, name] if name not in (
                self.files if does == "add" else self.index
            ):
                return f"fatal: pathspec '{name}' did not match any files"
            case ["git", "add", name]:
                self.index[name] = self.files[name]
                return ""
            case ["git", "rm", name]:
                self.files.pop(name, None)
                self.index.pop(name, None)
                return f"rm '{name}'"
            case ["git", "commit", "-m", message]:
                return self.commit(message)
            case ["git", "merge", name]:
                return self.merge(name)
            case ["git", name, *_]:
                return f"git: '{name}' is not a git command. See 'git --help'."
        return f"bash: {words[0]}: command not found"

    def history(self, mark: str) -> list[str]:
        """The commits from one back to the first."""
        parent = self.commits[mark][0]
        return [mark, *self.history(parent)] if parent else [mark]

    def go(self, branch: str, mark: str) -> str:
        """Put a branch at a commit and check it out; returns what is wrong."""
        if mark not in self.commits:
            return f"fatal: invalid reference: {mark or branch}"
        self.branch, self.branches[branch] = branch, mark
        self.index, self.files = dict(self.commits[mark][2]), dict(self.commits[mark][2])
        return ""

    def status(self) -> str:
        """Staged, unstaged and untracked changes."""
        tracked = {name: text for name, text in self.files.items() if name in self.index}
        blocks = {
            "Changes to be committed:": _changes(self.index, self.commits[self.head][2]),
            "Changes not staged for commit:": _changes(tracked, self.index),
            "Untracked files:": [f"\t{name}" for name in sorted(self.files.keys() - self.index.keys())],
        }
        shown = ["\n".join([heading, *lines]) for heading, lines in blocks.items() if lines]
        return "\n".join([f"On branch {self.branch}", *(shown or ["nothing to commit, working tree clean"])])

    def commit(self, message: str) -> str:
        """A commit of what is staged."""
        changes = _changes(self.index, self.commits[self.head][2])
        if not changes:
            return self.status()
        mark = hashlib.sha1(f"{self.head} {message} {self.index}".encode()).hexdigest()[:7]
        self.commits[mark] = (self.head, message, dict(self.index))
        self.branches[self.branch] = mark
        return f"[{self.branch} {mark}] {message}\n {_count(changes)} changed"

    def merge(self, branch: str) -> str:
        """A merge of what lies ahead, as git does it without a merge commit."""
        head, other = self.head, self.branches.get(branch, "")
        if not other:
            return f"merge: {branch} - not something we can merge"
        if other in self.history(head):
            return "Already up to date."
        if head not in self.history(other):
            return "fatal: Not possible to fast-forward, aborting."
        self.go(self.branch, other)
        changes = _changes(self.files, self.commits[head][2])
        return f"Updating {head}..{other}\nFast-forward\n {_count(changes)} changed"


def _changes(new: Files, old: Files) -> list[str]:
    kinds = {name: "modified" if name in old else "new file" for name in new if new[name] != old.get(name)}
    kinds |= {name: "deleted" for name in old if name not in new}
    return [f"\t{kind + ':':<12}{name}" for name, kind in sorted(kinds.items())]


def _count(changes: Sequence[str]) -> str:
    return f"{len(changes)} file{'s' * (len(changes) > 1)}"


def console(requests: Sequence[str]) -> str:
    """Replays every command and prints what those of the last request print."""
    repository = Repository()
    printed: list[str] = []
    for request in requests:
        line = re.sub(r"^.*\bcommand is ", "", request.strip(), flags=re.S).removesuffix(".")
        commands = (_words(part) for part in re.split(r"&&|;|\n", line) if part.strip())
        printed = [text for words in commands if (text := repository.run(words))]
    return "```\n" + "".join(f"{text}\n" for text in printed) + "```"


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # a quotation mark that is not closed
        return command.split()
