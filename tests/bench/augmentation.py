#!/usr/bin/env python3
"""A step of `voxshard train` with all augmentation of volumes over one without, on crops of two sizes. Standard library only; data are
made on the spot.

  tests/bench/augmentation.py                                          # crops of 64^3 and 96^3
  tests/bench/augmentation.py --sizes 64 --rounds 7 --options "--precision f32"
  tests/bench/augmentation.py --json out.json                          # every figure as a document too

Each round trains both ways, and every other round in the opposite order. The seconds of a step are the median of those in metrics.jsonl
behind --warmup steps, reading and changing of samples included where a step waits for them. The processor's seconds are of the whole
command; other work on the machine disturbs them less. Ratios are with over without of one round, and their median, least and largest
are printed, beside the most planned and peak resident memory of both ways.
"""
import argparse, json, resource, shlex, statistics, tempfile
from pathlib import Path

from memory import MIB, run, write_dataset

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("--voxshard", default="build/release/bin/voxshard")
p.add_argument("--sizes", default="64,96", help="extents of the crops, with commas")
p.add_argument("--volume", type=int, default=128, help="extent of the four volumes that train, larger than every crop")
p.add_argument("--base-filters", type=int, default=32)
p.add_argument("--batch", type=int, default=2)
p.add_argument("--steps", type=int, default=10, help="that are timed")
p.add_argument("--warmup", type=int, default=2, help="steps before those")
p.add_argument("--rounds", type=int, default=3)
p.add_argument("--threads", type=int, default=2)
p.add_argument("--options", default="", help="more options of train, for both ways")
p.add_argument("--folder", help="keep the data and the runs here")
p.add_argument("--json", type=Path, help="write all figures here")
a = p.parse_args()

WAYS = {"with": "all", "without": "none"}


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def train(folder, size, augment):
    """Returns the figures of one training."""
    output, before = folder / f"run_{size}_{augment}", processor_seconds()
    report, _ = run(a.voxshard, [
        "train", str(folder / "work"), "-o", str(output), "--restart", "--fold", "all", "--crop", "x".join([str(size)] * 3),
        "--augment", augment, "--steps", str(a.warmup + a.steps), "--batch", str(a.batch), "--base-filters", str(a.base_filters),
        "--threads", str(a.threads), *shlex.split(a.options)])
    spent = processor_seconds() - before
    lines = [json.loads(line) for line in (output / "metrics.jsonl").read_text().splitlines()]
    seconds = [line["seconds"] for line in lines if "loss" in line][a.warmup :]
    return {"step_seconds": statistics.median(seconds), "processor_seconds": spent,
            "planned_bytes": report["memory"]["planned_bytes"], "peak_resident_bytes": report["memory"]["peak_resident_bytes"]}


def measure(folder, size):
    """Returns the figures of all rounds by way, and their ratios."""
    figures = {way: [] for way in WAYS}
    for turn in range(a.rounds):
        for way in list(WAYS)[:: 1 if turn % 2 == 0 else -1]:
            figures[way].append(train(folder, size, WAYS[way]))
    ratios = {key: [one[key] / other[key] for one, other in zip(figures["with"], figures["without"])]
              for key in ("step_seconds", "processor_seconds")}
    return {"size": size, "ratios": ratios, "figures": figures}


def spread(ratios):
    return f"{statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"


def line(result, way):
    of = result["figures"][way]
    most = lambda key: max(one[key] for one in of) / MIB
    return (f"{result['size']:>5} {way:8} {statistics.median(one['step_seconds'] for one in of):9.3f} "
            f"{statistics.median(one['processor_seconds'] for one in of):11.1f} {most('planned_bytes'):12.1f} "
            f"{most('peak_resident_bytes'):9.1f}")


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(a.folder or temporary).absolute()
        if not (folder / "work" / "plans.json").exists():
            write_dataset(folder / "data", [(a.volume,) * 3] * 4)
            run(a.voxshard, ["prepare", str(folder / "data"), "-o", str(folder / "work"), "--spacing", "keep"])
        results = []
        print(" crop augment   step s  processor s  planned MiB  peak MiB", flush=True)
        for size in (int(one) for one in a.sizes.split(",")):
            results.append(measure(folder, size))
            for way in WAYS:
                print(line(results[-1], way))
            print(f"{size:>5} ratio of a step {spread(results[-1]['ratios']['step_seconds'])}, of the processor's seconds "
                  f"{spread(results[-1]['ratios']['processor_seconds'])}", flush=True)
        if a.json:
            a.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
