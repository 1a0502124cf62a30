"""What `concord agreement` does not load: each of these takes as long as the figures of a study."""

import subprocess
import sys

SLOW = {"pandas", "scipy.stats", "scipy.optimize", "pydantic", "concord.benchmarks"}
CALL = (
    "import sys; from concord.cli import main; main(sys.argv[1:], standalone_mode=False); "
    f"print(sorted({SLOW} & {{*sys.modules}}), file=sys.stderr)"
)


def loaded(*call: object) -> str:
    done = subprocess.run(
        [sys.executable, "-c", CALL, *map(str, call)], capture_output=True, text=True, check=True
    )
    return done.stderr.splitlines()[-1]


def test_the_figures_of_a_study_load_no_slow_library(fresh, run, tmp_path):
    lines = ["item_id,criterion,rater,rater_type,score"]
    for item in range(12):
        lines += [f"{item},wit,{rater},human,{1 + (item + place) % 5}" for place, rater in enumerate("ab")]
        lines += [f"{item},wit,{judge},judge,{1 + item % place}" for place, judge in enumerate("jk", 3)]
    file = tmp_path / "ratings.csv"
    file.write_text("\n".join(lines))
    assert run(fresh, "import", "ratings", file, "--study", "s").exit_code == 0
    assert loaded("--workspace", fresh.path, "agreement", "--study", "s") == "[]"
