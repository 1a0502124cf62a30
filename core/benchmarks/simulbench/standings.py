"""SimulBench's table of target models as CSV, as the LaTeX table of the paper, and what a reader has to know of it."""

from __future__ import annotations

import csv
import io
from typing import Any

from core.benchmarks.simulbench import tables
from core.table import latex_text as escape


def as_csv(found: tables.Subsets) -> str:
    """Models × columns, each with the half width of its interval and its number of scripts."""
    rows: list[dict[str, Any]] = []
    for row in found.rows:
        flat: dict[str, Any] = {"model": row.player, "simulated": row.simulated}
        for name, cell in row.cells.items():
            flat |= {name: cell.mean.value, f"{name}_ci": cell.mean.half_width, f"{name}_n": cell.n}
        rows.append(flat)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]) if rows else ["model"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def as_latex(found: tables.Subsets) -> str:
    """Models × the columns of the paper's table 4. Wants booktabs."""
    lines = [
        r"\begin{tabular}{l" + "r" * len(tables.SUBSETS) + "}",
        r"\toprule",
        " & ".join(["Model", *tables.SUBSETS]) + r" \\",
        r"\midrule",
        *(
            " & ".join(
                [
                    escape(row.player),
                    *("--" if c.mean.value is None else f"{c.mean.value:.2f}" for c in row.cells.values()),
                ]
            )
            + r" \\"
            for row in found.rows
        ),
        r"\bottomrule",
        r"\end{tabular}",
        *(f"% {note}" for note in notes(found)),
    ]
    return "\n".join(lines) + "\n"


def notes(found: tables.Subsets) -> list[str]:
    """What a reader has to know of the figures, one sentence each."""
    told = [
        f"Means over scripts and the panel {', '.join(found.judges)}; stateless and stateful are within FirstChan; Hard is FirstChan and "
        f"SubseqChan. 95% intervals: percentile bootstrap over scripts, {found.resamples} resamples, seed {found.seed}."
    ]
    sizes = {row.cells["All"].n for row in found.rows}
    if len(sizes) > 1:
        told.append(
            f"The models were not scored on equally many scripts ({min(sizes)} to {max(sizes)}): their means are of different scripts."
        )
    left_out = sum(row.cells["All"].left_out for row in found.rows)
    if left_out:
        told.append(
            f"{left_out} replies are left out because a judge of the panel has not usably scored them."
        )
    if found.discarded:
        told.append(f"{found.discarded} scripts were set aside and do not count.")
    if found.unaccepted:
        told.append(
            f"{found.unaccepted} scripts are of tasks that were rejected or wait for a decision: they are asked no more; what was answered before counts."
        )
    if found.simulated or any(row.simulated for row in found.rows):
        told.append("Mock models take part: these figures say nothing about language models.")
    return told
