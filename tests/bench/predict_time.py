#!/usr/bin/env python3
"""`voxshard predict` on one large CT, from its .nii.gz to the label map on the disk, at several memory budgets.

  /usr/bin/python3 tests/bench/predict_time.py                                   # 512x512x119, base 8, in 4GiB and 2.5GiB
  /usr/bin/python3 tests/bench/predict_time.py --size 512x512x600 --budgets 4GiB --rounds 1
  /usr/bin/python3 tests/bench/predict_time.py --peer "python3 tests/bench/unet3d_torch.py --forward --norm instance \\
      --size 120x512x512 --base-filters 8 --precision f32 --layout contiguous"

Needs Debian's python3-nibabel. The network is that of `train` on `demo` phantoms after two steps: what it finds is of no use, how
long it takes is that of a trained one. The volume repeats a phantom up to the size that is asked for. Budgets take turns, each once a
round; the label maps of all budgets must be the same voxels, or the script ends with an error. One JSON document: medians of wall
clock, processor time of the program and of the system (page faults are part of it), page faults, planned and peak memory; with --peer
its median and the ratio of the first budget to it.
"""
import argparse, gzip, hashlib, json, os, re, shlex, shutil, statistics, subprocess, sys, tempfile, time
from pathlib import Path

import nibabel
import numpy as np

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("--voxshard", default="build/release/bin/voxshard")
p.add_argument("--size", default="512x512x119", help="x, y, z")
p.add_argument("--base-filters", type=int, default=8)
p.add_argument("--budgets", default="4GiB,2.5GiB")
p.add_argument("--precision", choices=["f32", "bf16"], help="default: the one that train chooses for this processor; the report names it")
p.add_argument("--threads", type=int, default=2)
p.add_argument("--rounds", type=int, default=3)
p.add_argument("--peer", help="a command that prints 'step S s, peak P GiB'")
a = p.parse_args()
voxshard = str(Path(a.voxshard).resolve())


def ours(*words):
    """Runs the program; returns its report and what the system says that it took."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([voxshard, *map(str, words), "--json", "--quiet"], stdout=out)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - start
        out.seek(0)
        if child.returncode:
            sys.exit(f"{' '.join(map(str, words))} ended with {child.returncode}")
        report = json.load(out)
    return report, {"wall_s": wall, "user_s": used.ru_utime, "system_s": used.ru_stime, "page_faults": used.ru_minflt + used.ru_majflt}


def make_run(room):
    """A run of two steps, and a volume of the size that is asked for."""
    ours("demo", room / "data", "--cases", 3, "--test", 1)
    ours("prepare", room / "data", "-o", room / "work")
    ours("train", room / "work", "-o", room / "run", "--base-filters", a.base_filters, "--steps", 2, "--crop", "32x32x32")
    phantom = nibabel.load(sorted((room / "data" / "imagesTr").glob("*.nii.gz"))[0])
    size = tuple(int(n) for n in a.size.split("x"))
    voxels = np.asanyarray(phantom.dataobj)
    tiled = np.tile(voxels, [-(-n // m) for n, m in zip(size, voxels.shape)])[tuple(slice(n) for n in size)]
    nibabel.save(nibabel.Nifti1Image(tiled, phantom.affine, dtype=np.int16), room / "large.nii.gz")


def predict(room, budget):
    out = room / "out"
    shutil.rmtree(out, ignore_errors=True)
    report, took = ours("predict", room / "run", room / "large.nii.gz", "-o", out, "--threads", a.threads, "--host-memory", budget,
                        *(["--precision", a.precision] if a.precision else []))
    voxels = hashlib.sha256(gzip.decompress((out / "large.nii.gz").read_bytes())[352:]).hexdigest()
    memory = report["memory"]
    return took | {"planned_mib": memory["planned_bytes"] / 2**20, "peak_mib": memory["peak_resident_bytes"] / 2**20,
                   "scratch_mib": report["scratch_bytes"] / 2**20}, voxels


def peer_seconds():
    said = subprocess.run(shlex.split(a.peer), check=True, capture_output=True, text=True).stdout
    return tuple(float(n) for n in re.search(r"step ([\d.]+) s, peak ([\d.]+) GiB", said).groups())


room = Path(tempfile.mkdtemp(prefix="voxshard_predict_"))
try:
    make_run(room)
    budgets = a.budgets.split(",")
    rounds, peers, found = {budget: [] for budget in budgets}, [], set()
    for _ in range(a.rounds):
        for budget in budgets:
            took, voxels = predict(room, budget)
            rounds[budget].append(took)
            found.add(voxels)
        if a.peer:
            peers.append(peer_seconds())
    if len(found) != 1:
        sys.exit("the budgets give different label maps")
    median = {budget: {key: round(statistics.median(one[key] for one in all), 2) for key in all[0]} for budget, all in rounds.items()}
    precision = a.precision or json.loads((room / "run" / "run.json").read_text())["model"]["precision"]
    report = {"size": a.size, "base_filters": a.base_filters, "precision": precision, "threads": a.threads, "rounds": a.rounds,
              "budgets": median}
    if peers:
        seconds = statistics.median(s for s, _ in peers)
        report |= {"peer_s": seconds, "peer_gib": max(p for _, p in peers), "ratio": round(median[budgets[0]]["wall_s"] / seconds, 3)}
    print(json.dumps(report, indent=2))
finally:
    shutil.rmtree(room, ignore_errors=True)
