"""`concord compare BENCHMARK --models a,b,c`: judges compare stored conversations two by two in both orders; and the tables of it."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from core.agreement.pairwise import Duel
from core.benchmarks.benchmark import Plan
from core.commands import options, printing
from core.commands.options import names
from core.commands.run import finish
from core.runs import planning
from core.studies import comparisons
from core.workspace import Workspace


@click.command("compare")
@click.argument("benchmark")
@click.option(
    "--models", metavar="A,B[,C]", default="", help="Players to compare; all that were compared unless given."
)
@click.option(
    "--judges", metavar="A,B", default="", help="Models that compare; left out: only show what was compared."
)
@options.where("scenarios")
@click.option("--version", default="", help="Version of the prompt; the benchmark's own unless given.")
@click.option(
    "--judge-repeats",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Times each judge compares a pair in an order.",
)
@options.form("json")
@options.resamples("scenarios")
@options.seed
@click.option("--estimate", is_flag=True, help="Say what would be done and what it would cost; do nothing.")
@click.option("--max-cost", type=float, help="Stop cleanly once this much was spent.")
@click.option("--retry-failed", is_flag=True, help="Ask again for comparisons that failed.")
@click.pass_obj
def command(
    folder: str, benchmark: str, models: str, judges: str, facets: dict[str, tuple[str, ...]], version: str, judge_repeats: int, form: str,
    resamples: int, seed: int, estimate: bool, max_cost: float | None, retry_failed: bool,
) -> None:  # fmt: skip
    """Win, tie, lose of every two models, position bias, strengths on one scale, and how far judges agree with people."""
    workspace = Workspace.open(folder, create=not judges)
    if judges:
        options = {
            "compare": True,
            "players": names(models),
            "facets": facets,
            "version": version,
            "judge_repeats": judge_repeats,
        }
        job = planning.job(workspace, Plan(benchmark, {"judges": names(judges)}, options))
        finish(workspace, job, estimate=estimate, max_cost=max_cost, retry_failed=retry_failed)
        if estimate:
            return
    with workspace.read() as db:
        found = comparisons.compared(
            db, benchmark, players=names(models), facets=facets, resamples=resamples, seed=seed
        )
    if form == "json":
        click.echo(json.dumps(asdict(found), ensure_ascii=False, indent=2))
    else:
        _show(found)
    for note in comparisons.notes(found):
        click.echo(note, err=True)


def _show(found: comparisons.Compared) -> None:
    console = printing.console()
    for standing in found.standings:
        table = printing.table(f"{standing.rater}: win, tie and lose of the first model")
        for heading in ("model", "against", "win %", "tie %", "lose %", "Δ", "95%", "n", "left out"):
            table.add_column(heading, justify="left" if heading in ("model", "against") else "right")
        for duel in standing.duels:
            table.add_row(*_duel(duel))
        console.print(table)
        if standing.strengths:
            table = printing.table(f"{standing.rater}: Bradley–Terry strengths (log scale, mean 0)")
            for heading in ("model", "strength", "95%", "pairs"):
                table.add_column(heading, justify="left" if heading == "model" else "right")
            for s in standing.strengths:
                table.add_row(s.player, _number(s.value) or f"undefined: {s.reason}", _ends(s.ci), str(s.n))
            console.print(table)
    if found.bias:
        table = printing.table("Verdicts that changed with the order")
        for heading in ("judge", "flips", "of", "%", "to the first", "to the second"):
            table.add_column(heading, justify="left" if heading == "judge" else "right")
        for b in found.bias:
            table.add_row(
                b.rater, str(b.flips), str(b.n), f"{100 * b.flips / b.n:.1f}", str(b.first), str(b.second)
            )
        console.print(table)
    if found.matches:
        table = printing.table("Agreement")
        for heading in (
            "",
            "",
            "equal",
            "n",
            "equal without ties",
            "n",
            "Cohen's kappa",
            "left out: not asked",
            "an order missing",
        ):
            table.add_column(heading, justify="right" if heading else "left")
        for m in found.matches:
            table.add_row(
                m.a, m.b, _number(m.equal), str(m.n), _number(m.equal_decided), str(m.n_decided), _number(m.kappa) or f"undefined: {m.reason}",
                str(m.unasked or ""), str(m.incomplete or ""),
            )  # fmt: skip
        console.print(table)


def _duel(duel: Duel) -> list[str]:
    shares = [f"{100 * k / duel.n:.2f}" if duel.n else "" for k in (duel.won, duel.tied, duel.lost)]
    delta = "" if duel.delta is None else f"{100 * duel.delta:+.2f}"
    ends = "" if duel.ci is None else f"[{100 * duel.ci[0]:+.1f}, {100 * duel.ci[1]:+.1f}]"
    return [duel.one, duel.other, *shares, delta, ends, str(duel.n), str(duel.incomplete)]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _ends(ci: tuple[float, float] | None) -> str:
    return "" if ci is None else f"[{ci[0]:.2f}, {ci[1]:.2f}]"
