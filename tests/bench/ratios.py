#!/usr/bin/env python3
"""Speed and memory as ratios in one run: commands take turns, medians are compared. Standard library only.

  tests/bench/ratios.py cut     --size 128 --partition 1x4x2x2x1    # cut step over uncut step
  tests/bench/ratios.py kernels --size 128                          # whole step over the sum of its convolutions alone
  tests/bench/ratios.py peer    --size 64 --peer "python3 tests/bench/unet3d_torch.py --size 64x64x64 --steps 1"
                                                                    # our step over the peer's ("step S s, peak P GiB")
  tests/bench/ratios.py peer    --model retinanet --size 1280x1280 --options "--backbone resnet50" \
                                --peer "python3 tests/bench/retinanet_torch.py --size 1280x1280 --steps 1"
  tests/bench/ratios.py peer    --model resnet50 --size 1024x1024 --precision f32 --rounds 5 \
                                --peer "python3 tests/bench/classifier_torch.py --model resnet50 --size 1024x1024"

Each round runs each side once with --steps timed steps; the result is one JSON document with every figure.
"""
import argparse, json, re, shlex, statistics, subprocess

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("what", choices=["cut", "kernels", "peer"])
p.add_argument("--voxshard", default="build/release/bin/voxshard")
p.add_argument("--size", default="128", help="one number for a cube, or HxW, DxHxW")
p.add_argument("--model", choices=["unet3d", "retinanet", "resnet50", "r2plus1d18"], default="unet3d")
p.add_argument("--base-filters", type=int, default=32, help="of a U-Net")
p.add_argument("--options", default="", help="more options of bench")
p.add_argument("--precision", default="bf16")
p.add_argument("--partition", default="1x4x2x2x1")
p.add_argument("--threads", type=int, default=2)
p.add_argument("--steps", type=int, default=1)
p.add_argument("--rounds", type=int, default=3)
p.add_argument("--peer", help="a command that prints 'step S s, peak P GiB'")
a = p.parse_args()


def ours(what, partition):
    command = [a.voxshard, "bench", what, "--model", a.model, "--size", a.size if "x" in a.size else "x".join([a.size] * 3),
               "--partition", partition, "--precision", a.precision, "--threads", str(a.threads), "--steps", str(a.steps),
               "--json", "--quiet", *shlex.split(a.options)]
    if a.model == "unet3d":
        command += ["--base-filters", str(a.base_filters), "--loss", "cross_entropy"]
    result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {"seconds": result["step_seconds"]["median"], "peak_gib": result["peak_resident_bytes"] / 2**30,
            "planned_gib": result["memory"]["planned_bytes"] / 2**30,
            "native_bf16": result["native_bf16"]}


def peer():
    out = subprocess.run(shlex.split(a.peer), check=True, capture_output=True, text=True).stdout
    step, peak = re.search(r"step ([\d.]+) s, peak ([\d.]+) GiB", out).groups()
    return {"seconds": float(step), "peak_gib": float(peak)}


uncut = "1x1x1x1" if a.size.count("x") == 1 else "1x1x1x1x1"
sides = {"cut": [lambda: ours("step", a.partition), lambda: ours("step", uncut)],
         "kernels": [lambda: ours("step", uncut), lambda: ours("kernels", uncut)],
         "peer": [lambda: ours("step", uncut), peer]}[a.what]
rounds = [[side() for side in sides] for _ in range(a.rounds)]
ratios = [first["seconds"] / second["seconds"] for first, second in rounds]
print(json.dumps({"what": a.what, "size": a.size, "model": a.model, "precision": a.precision,
                  "ratio": {"median": statistics.median(ratios), "min": min(ratios), "max": max(ratios)},
                  "rounds": rounds}, indent=1))
