#!/usr/bin/env python3
"""How well `--device host` knows this machine, after `voxshard doctor`. Standard library only.

  tests/bench/host_model.py steps   --sizes 64x64x64 96x96x96 --grids 1x1x1x1x1 1x2x2x1x1   # predicted over measured seconds
  tests/bench/host_model.py choices --problem "--size 64x64x64 --base-filters 8 --cores 8"  # the planner's choice among all

Commands take turns, round by round, and medians of their steps are compared. `steps` prints one row per size and grid;
`choices` measures every plan that fits a problem (options of `voxshard plan`) and says where the chosen one stands.
"""
import argparse, json, shlex, statistics, subprocess

GRIDS = ["1x1x1x1x1", "1x2x1x1x1", "1x2x2x1x1", "1x2x2x2x1", "1x1x1x4x1", "1x8x1x1x1", "1x4x2x2x1"]
PROBLEMS = ["--model unet3d --size 64x64x64 --base-filters 8 --cores 8",
            "--model unet3d --size 40x32x48 --base-filters 8 --batch 2 --cores 4",
            "--model unet2d --size 128x192 --base-filters 16 --cores 8"]
p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("what", choices=["steps", "choices"])
p.add_argument("--voxshard", default="build/release/bin/voxshard")
p.add_argument("--sizes", nargs="+", default=["64x64x64", "96x96x96"])
p.add_argument("--grids", nargs="+", default=GRIDS)
p.add_argument("--base-filters", type=int, default=8)
p.add_argument("--problem", action="append", help="options of plan; may be given several times")
p.add_argument("--threads", type=int, default=2)
p.add_argument("--rounds", type=int, default=5)
a = p.parse_args()


def run(command, options):
    line = [a.voxshard, *command, *shlex.split(options), "--threads", str(a.threads), "--json", "--quiet"]
    return json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)


def measured(jobs, rounds):
    """Seconds of a step per job (options of bench step), each once per round, and what was predicted."""
    seconds, predicted = {job: [] for job in jobs}, {}
    for _ in range(rounds):
        for job in jobs:
            result = run(["bench", "step"], job + " --steps 1")
            seconds[job].append(result["step_seconds"]["median"])
            predicted[job] = result["predicted_seconds"]
    return {job: statistics.median(values) for job, values in seconds.items()}, predicted


def steps():
    rows = []
    for size in a.sizes:
        jobs = {grid: f"--size {size} --base-filters {a.base_filters} --partition {grid}" for grid in a.grids}
        seconds, predicted = measured(list(jobs.values()), a.rounds)
        for grid, job in jobs.items():
            rows.append({"size": size, "grid": grid, "measured_seconds": seconds[job], "predicted_seconds": predicted[job],
                         "residual": predicted[job] / seconds[job] - 1})
    return {"rounds": a.rounds, "worst_residual": max((r["residual"] for r in rows), key=abs), "rows": rows}


def choice(problem):
    plan = run(["plan", "--device", "host", "--explain"], problem)
    fits = [c for c in plan["candidates"] if c["fits"]]
    common, cores = problem.rsplit("--cores", 1)  # of plan; bench takes the plan itself
    jobs = {}
    for c in fits:
        key = (c["partition"], c["replicas"], c["recompute"], c["thinnest_slab"])
        jobs[key] = common + " ".join(cores.split()[1:]) + (f" --partition {c['partition']} --replicas {c['replicas']}"
                                                            f" --recompute {c['recompute']} --thinnest-slab {c['thinnest_slab']}")
    seconds, _ = measured(list(jobs.values()), a.rounds)
    ranked = sorted(jobs, key=lambda key: seconds[jobs[key]])
    chosen = plan["chosen"]
    key = (chosen["partition"], chosen["replicas"], chosen["recompute"], chosen["thinnest_slab"])
    best = seconds[jobs[ranked[0]]]
    return {"problem": problem, "candidates": len(fits), "chosen": key, "place": 1 + ranked.index(key),
            "over_best": seconds[jobs[key]] / best - 1, "best": ranked[0], "best_seconds": best,
            "slowest_over_best": seconds[jobs[ranked[-1]]] / best - 1}


print(json.dumps(steps() if a.what == "steps" else [choice(problem) for problem in a.problem or PROBLEMS], indent=1))
