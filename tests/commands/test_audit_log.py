"""Decisions and exports by command stand in the audit log, with who decided and what was chosen."""

from __future__ import annotations

from concord.store import audit


def lines(filled):
    with filled.read() as db:
        return [(one.by, one.what, one.about, one.detail) for one in audit.every(db, "s")]


def test_each_command_leaves_a_line(filled, run):
    def done(*words):
        result = run(filled, *words)
        assert result.exit_code == 0, result.output

    done("study", "draw", "s", "--n", "2", "--benchmark", "pingpong", "--seed", "3", "--decided-by", "dana")
    done("annotators", "invite", "ann", "bob", "--study", "s", "--by", "dana")
    done("study", "deal", "s", "--overlap", "1", "--by", "cy", "--annotators", "ann,bob", "--dry-run")
    done("study", "deal", "s", "--overlap", "1", "--by", "cy", "--annotators", "ann,bob")
    done("study", "gold", "s")  # it lists
    done("study", "gold", "s", "--feedback", "--by", "cy")
    done("study", "discuss", "s", "--now")
    done("export", "ratings", "--study", "s", "--by", "eve")
    assert run(filled, "study", "pin", "s", "--by", "eve").exit_code  # nobody rated: refused, no line
    assert sorted(lines(filled)) == [
        ("cy", "dealt", "ann", "overlap 1"),
        ("cy", "dealt", "bob", "overlap 1"),
        ("cy", "gold items set", "", "feedback yes"),
        ("dana", "drawn", "", "n 2; benchmark pingpong; seed 3"),
        ("dana", "invited", "ann", ""),
        ("dana", "invited", "bob", ""),
        ("eve", "exported ratings", "", ""),
        ("researcher", "discussion set", "", "now"),
    ]
