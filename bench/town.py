"""The town alone, without models: steps per second with 12 and with 1,000 residents, and its perception
beside comparing all pairs.

    python bench/town.py [--residents 12,250,500,1000] [--days 2]

Residents have scripted minds that speak to nobody: what is measured is planning, walking, noticing,
remembering and recording, in processor time, the median of five lives, with the garbage collector set as in a
run. More residents than the town has are copies of its own: in towns side by side, where everybody meets as
many others as before, so that the time a resident and step takes should stay what it is with the fewest
(“×”); or crowded into the one town, where everybody meets more (“met”) and has more to do for it. “all pairs”
is the naive way to find who is near whom, every resident against every other, beside finding the rooms and
looking round.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from dataclasses import replace
from datetime import date
from pathlib import Path

from concord.benchmarks.stss.bodies import Body, encounters
from concord.benchmarks.stss.simulation import World, people
from concord.benchmarks.stss.town import DAY, Clock, Town, load_town
from concord.runs.engine import few_collections
from tests.stss.scripted import ScriptedMind

REPEATS = 5
ROOT = Path(__file__).resolve().parent.parent
TOWN = ROOT / "data" / "stss" / "en" / "merrow-quay" / "town.toml"


def crowded(town: Town, n: int) -> Town:
    own = list(town.residents.values())
    copies = [own[i % len(own)] for i in range(n)]
    residents = {
        f"{r.name} {i}": r.model_copy(update={"name": f"{r.name} {i}"}) for i, r in enumerate(copies)
    }
    return replace(town, residents=residents)


def side_by_side(town: Town, n: int) -> Town:
    own = list(town.residents.values())
    sectors, residents = {}, {}
    for i in range(n):
        r, copy = own[i % len(own)], i // len(own)
        moved = {"name": f"{r.name} {i}", "home": f"{copy} {r.home}", "work": f"{copy} {r.work}"}
        residents[moved["name"]] = r.model_copy(update=moved)
    for copy in range(-(-n // len(own))):
        for s in town.sectors.values():
            doors = tuple(f"{copy} {door}" for door in s.doors)
            sectors[f"{copy} {s.name}"] = s.model_copy(update={"name": f"{copy} {s.name}", "doors": doors})
    return replace(town, sectors=sectors, residents=residents)


def live(town: Town, days: int) -> tuple[float, list[Body], Clock]:
    clock = Clock(date(2023, 2, 13), days)
    agents = people(town, {name: ScriptedMind() for name in town.residents})
    first = next(iter(town.sectors))
    town.minutes(first, first)  # all ways are found once, before the first step
    with few_collections():
        started = time.process_time()
        asyncio.run(World(town, clock, agents).run())
        return time.process_time() - started, agents, clock


def all_pairs(agents: list[Body]) -> int:
    met = 0
    for a in agents:
        for b in agents:
            if a is not b and a.free and b.free and a.place[:2] == b.place[:2]:
                met += 1
    return met


def look_round(agents: list[Body], step: int) -> int:
    return len(encounters(agents, step))


def noticing(agents: list[Body], find) -> float:
    taken = []
    for _ in range(REPEATS):
        started = time.process_time()
        find(agents)
        taken.append(time.process_time() - started)
    return statistics.median(taken) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--residents", default="12,250,500,1000")
    parser.add_argument("--days", type=int, default=2)
    args = parser.parse_args()
    town = load_town(TOWN)
    live(town, args.days)  # what is only done once is done before the first measurement
    for title, many in (("towns side by side", side_by_side), ("one crowded town", crowded)):
        print(
            f"{title}\n{'residents':>10} {'steps/s':>9} {'µs a resident and step':>23} {'×':>5} {'met':>5} "
            f"{'noticing ms':>12} {'all pairs ms':>13} {'ratio':>7}"
        )
        fewest = None
        for n in map(int, args.residents.split(",")):
            place = many(town, n)
            taken = []
            for _ in range(REPEATS):
                seconds, agents, clock = live(place, args.days)
                taken.append(seconds)
            seconds = statistics.median(taken)
            each = seconds / clock.steps / n * 1e6
            fewest = fewest or each
            met = sum(len(agent.considered) for agent in agents) / n
            # Noon of the last day again: everybody is up and about.
            noon = clock.steps - DAY // clock.step_minutes // 2
            for agent in agents:
                agent.follow(agent.day, 0)
                agent.considered.clear()
                agent.attentive = 0
                agent.advance(noon, clock)
                agent.walking = False
            ours = noticing(agents, lambda a, noon=noon: look_round(a, noon))
            naive = noticing(agents, all_pairs)
            print(
                f"{n:>10} {clock.steps / seconds:>9,.0f} {each:>23.2f} {each / fewest:>5.1f} "
                f"{met:>5.1f} {ours:>12.2f} {naive:>13.2f} {naive / ours:>7.1f}"
            )


if __name__ == "__main__":
    main()
