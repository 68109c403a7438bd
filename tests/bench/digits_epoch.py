#!/usr/bin/env python3
"""Seconds of an epoch of the digits CNN on MNIST over those of a peer, in turns; one JSON document. Standard library only.

  tests/bench/digits_epoch.py --data mnist --partition 1x4x1x1 --peer "python3 tests/bench/digits_torch.py --data mnist"

Both sides count steps and what feeds them, not validation. Ours: the column of seconds in results.csv.
"""
import argparse, csv, json, pathlib, re, shlex, statistics, subprocess, tempfile

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("--voxshard", default="build/release/bin/voxshard")
p.add_argument("--data", required=True)
p.add_argument("--partition", default="1x4x1x1")
p.add_argument("--precision", default="f32")
p.add_argument("--threads", type=int, default=2)
p.add_argument("--rounds", type=int, default=3)
p.add_argument("--peer", required=True, help="a command that prints 'epoch S s'")
a = p.parse_args()


def ours():
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        subprocess.run([a.voxshard, "train", a.data, "-o", run, "--model", "digits", "--batch", "64", "--steps", "938",
                        "--preset", "reference", "--learning-rate", "0.01", "--partition", a.partition, "--precision",
                        a.precision, "--threads", str(a.threads), "-q"], check=True)
        return sum(float(row["seconds"]) for row in csv.DictReader((run / "results.csv").open()))


def peer():
    out = subprocess.run(shlex.split(a.peer), check=True, capture_output=True, text=True).stdout
    return float(re.search(r"epoch ([\d.]+) s", out)[1])


rounds = [[ours(), peer()] for _ in range(a.rounds)]
ratios = [first / second for first, second in rounds]
print(json.dumps({"partition": a.partition, "precision": a.precision,
                  "ratio": {"median": statistics.median(ratios), "min": min(ratios), "max": max(ratios)},
                  "rounds": rounds}, indent=1))
