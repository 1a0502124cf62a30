"""The town alone, without models: steps per second with 12 and with 1,000 residents, and its perception beside comparing all pairs.

    python bench/town.py [--residents 12,250,500,1000] [--days 2]

Residents have scripted minds that speak to nobody: what is measured is planning, walking, noticing, remembering and recording, in
processor time. More residents than the town has are copies of its own: in towns side by side, so that everybody meets as many others
as before, or crowded into the one town, where everybody meets more. “all pairs” is the naive way to find who is near whom: every
resident against every other. The garbage collector is on, as in a run: it goes through all that residents remember, so its share
grows with their number (without it the time a resident and step takes stays the same from 250 to 2,000).
"""

from __future__ import annotations

import argparse
import asyncio
import time
from dataclasses import replace
from datetime import date
from pathlib import Path

from core.benchmarks.stss.agent import Agent
from core.benchmarks.stss.clock import Clock
from core.benchmarks.stss.encounters import encounters
from core.benchmarks.stss.scripted import ScriptedMind
from core.benchmarks.stss.simulation import World, people
from core.benchmarks.stss.town import Town, load_town

ROOT = Path(__file__).resolve().parent.parent
TOWN = ROOT / "data" / "stss" / "en" / "merrow-quay" / "town.toml"


def crowded(town: Town, n: int) -> Town:
    own = list(town.residents.values())
    copies = [own[i % len(own)] for i in range(n)]
    residents = {
        f"{r.name} {i}": r.model_copy(update={"name": f"{r.name} {i}"}) for i, r in enumerate(copies)
    }
    return replace(town, residents=residents, _ways={})


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
    return replace(town, sectors=sectors, residents=residents, _ways={})


def live(town: Town, days: int) -> tuple[float, list[Agent], Clock]:
    clock = Clock(date(2023, 2, 13), days)
    agents = people(town, list(town.residents), lambda name: ScriptedMind())
    first = next(iter(town.sectors))
    town.minutes(first, first)  # all ways are found once, before the first step
    started = time.process_time()
    asyncio.run(World(town, clock, agents).run())
    return time.process_time() - started, agents, clock


def all_pairs(agents: list[Agent]) -> int:
    met = 0
    for a in agents:
        for b in agents:
            if a is not b and a.free and b.free and a.place[:2] == b.place[:2]:
                met += 1
    return met


def noticing(agents: list[Agent], rounds: int, find) -> float:
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        find(agents)
        best = min(best, time.process_time() - started)
    return best * 1000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--residents", default="12,250,500,1000")
    parser.add_argument("--days", type=int, default=2)
    args = parser.parse_args()
    town = load_town(TOWN)
    for title, many in (("towns side by side", side_by_side), ("one crowded town", crowded)):
        print(
            f"{title}\n{'residents':>10} {'steps/s':>9} {'µs a resident and step':>23} {'noticing ms':>12} {'all pairs ms':>13} {'ratio':>7}"
        )
        for n in map(int, args.residents.split(",")):
            place = many(town, n)
            seconds, agents, clock = min((live(place, args.days) for _ in range(3)), key=lambda run: run[0])
            # Noon of the last day again: everybody is up and about.
            noon = clock.steps - clock.steps_a_day // 2
            for agent in agents:
                agent.follow(agent.me.day, 0)
                agent.considered.clear()
                agent.attentive = 0
                agent.advance(noon, clock)
                agent.walking = False
            ours = noticing(agents, 5, lambda a, noon=noon: encounters(a, noon))
            naive = noticing(agents, 5, all_pairs)
            print(
                f"{n:>10} {clock.steps / seconds:>9,.0f} {seconds / clock.steps / n * 1e6:>23.2f} {ours:>12.2f} {naive:>13.2f} {naive / ours:>7.1f}"
            )


if __name__ == "__main__":
    main()
