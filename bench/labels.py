"""Figures of `concord check` beside those of scikit-learn, judgekeeper and truescore, on ten tables.

They are installed elsewhere (`pip install scikit-learn judgekeeper truescore` in an environment of its own):
`python bench/labels.py ENVIRONMENT` calls them there. It prints the largest differences by figure and tool.
"""

import json
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import concord
from concord.reports.screen import screen_json

SKLEARN = """
import json, sys
import pandas as pd, sklearn
from sklearn.metrics import cohen_kappa_score, confusion_matrix, recall_score
table = pd.read_csv(sys.argv[1]).dropna()
human, judge = table["label"], table["verdict"]
print(json.dumps({"version": sklearn.__version__, "kappa": cohen_kappa_score(human, judge),
    "sensitivity": recall_score(human, judge, pos_label="pass"),
    "specificity": recall_score(human, judge, pos_label="fail")}))
"""


def tables(seed: int = 0) -> list[pd.DataFrame]:
    """Ten tables of pass and fail: of 60 to 2,000 rows, people on a part, rare fails, a poor judge."""
    rng = np.random.default_rng(seed)
    made = []
    for rows, part, rate, wrong in (
        (60, 0.9, 0.5, 0.1),
        (100, 0.5, 0.7, 0.2),
        (200, 0.3, 0.9, 0.1),
        (400, 0.3, 0.66, 0.12),
        (400, 0.9, 0.2, 0.3),
        (800, 0.1, 0.5, 0.05),
        (1000, 0.2, 0.8, 0.45),
        (1200, 0.5, 0.95, 0.1),
        (2000, 0.05, 0.6, 0.15),
        (2000, 0.9, 0.4, 0.25),
    ):
        truth = rng.random(rows) < rate
        judge = truth ^ (rng.random(rows) < wrong)
        asked = rng.random(rows) < part
        words = {True: "pass", False: "fail"}
        label = [words[bool(one)] if given else "" for one, given in zip(truth, asked, strict=True)]
        verdict = [words[bool(one)] for one in judge]
        made.append(pd.DataFrame({"id": [f"r{i}" for i in range(rows)], "label": label, "verdict": verdict}))
    return made


def ours(file: Path) -> dict[str, float]:
    """Concord's figures."""
    checked = concord.check(file, resamples=50)
    shown = screen_json(checked.report, provenance=(), left_out=())["screen"]
    row = shown["decisions"]["rows"][0]
    kappa = shown["glance"]["rows"][0]["kappa"]["value"]
    figures = {name: row[name]["value"] for name in ("sensitivity", "specificity", "corrected")}
    return {"kappa": kappa, "low": row["corrected"]["ci"][0], "high": row["corrected"]["ci"][1], **figures}


def scikit_learn(tools: Path, file: Path) -> dict[str, Any]:
    """scikit-learn's figures."""
    done = subprocess.run(
        [tools / "bin" / "python", "-c", SKLEARN, file], capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def judgekeeper(tools: Path, file: Path) -> dict[str, Any]:
    """judgekeeper's figures, from its report."""
    out = file.with_suffix(".judgekeeper")
    words = [tools / "bin" / "judgekeeper", "check", file, "--judge", "verdict", "--human", "label"]
    subprocess.run([*words, "--out", out], capture_output=True, text=True, check=False)
    headline = json.loads((out / "report.json").read_text())["headline"]
    names = {"kappa": "kappa_mean", "sensitivity": "tpr_mean", "specificity": "tnr_mean"}
    return {name: headline[theirs] for name, theirs in names.items()}


def truescore(tools: Path, file: Path) -> dict[str, Any]:
    """truescore's figures, of the same table in numbers."""
    table = pd.read_csv(file)
    numbers = {"pass": 1, "fail": 0}
    of = pd.DataFrame({"id": table.id, "judge": table.verdict.map(numbers), "gold": table.label.map(numbers)})
    path, out = file.with_suffix(".numbers.csv"), file.with_suffix(".json")
    of.astype({"gold": "Int64"}).to_csv(path, index=False)
    words = [tools / "bin" / "truescore", "audit", path, "--judge", "judge", "--gold", "gold", "--json", out]
    subprocess.run(words, capture_output=True, text=True, check=False)  # 1 and 2 are findings
    found = json.loads(out.read_text())
    of_judge, corrected = found["agreement"], found["corrected"]
    return {
        "kappa": of_judge["cohen_kappa"]["point"],
        "sensitivity": of_judge["sensitivity"]["point"],
        "specificity": of_judge["specificity"]["point"],
        "corrected": corrected["point"],
        "low": corrected["low"],
        "high": corrected["high"],
    }


def main(tools: Path) -> None:
    """Print the largest differences."""
    largest: dict[tuple[str, str], float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, table in enumerate(tables()):
            file = Path(folder) / f"table{number}.csv"
            table.to_csv(file, index=False)
            own = ours(file)
            for tool in (scikit_learn, judgekeeper, truescore):
                figures = tool(tools, file)
                for name in own.keys() & figures.keys():
                    key = (tool.__name__, name)
                    largest[key] = max(largest.get(key, 0.0), abs(own[name] - figures[name]))
    print(f"concord {version('concord')}")
    for (tool, name), difference in sorted(largest.items()):
        print(f"{tool:14} {name:12} {difference:.2e}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
