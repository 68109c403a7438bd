#!/usr/bin/env python3
"""Ranks over MPI: memory, speed, a slow link, scaling. Standard library only; one JSON document on standard output.

  tests/bench/ranks.py memory     # 4 ranks over 1x4x1x1x1 at 128^3, base 32: peak over plan of each, arenas over the uncut one's;
                                  # exit 1 when a peak exceeds its plan + 16 MiB or an arena 0.27 of the uncut one
  tests/bench/ranks.py threads    # one process of two threads over 2 ranks of one, in pairs that take turns: their speed over its
  tests/bench/ranks.py link       # 2 hosts and 1 Gbit/s between them (hosts.sh): a step that waits for its exchanges over one that
                                  # computes the interior meanwhile
  tests/bench/ranks.py predict    # a volume of 512x512x400 voxels, base 8, alone and by 4 ranks over 1x2x2x1x1: the same bytes,
                                  # peaks over that of one process; exit 1 when they differ or a peak exceeds 0.35
  tests/bench/ranks.py scaling    # 1 to 16 cores over 1, 2 and 4 ranks, one problem for all and one per core; by the wall clock of
                                  # this machine, which does not have so many processors, and by the emulated one of a tpu-v3

Steps are those of `voxshard bench step`; the median of a run counts, and of the rounds the median. --before "chrt -f 10" stands
in front of every command whose ranks do not outnumber the processors.
"""
import argparse, gzip, json, os, shlex, statistics, struct, subprocess, sys, tempfile
from pathlib import Path

MIB = 1 << 20
HERE = Path(__file__).resolve().parent
p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("what", choices=["memory", "threads", "link", "predict", "scaling"])
p.add_argument("--voxshard", default=str(HERE.parent.parent / "build/release/bin/voxshard"))
p.add_argument("--size", help="D x H x W; of scaling one core's, 4 of which are the one problem")
p.add_argument("--partition", help="default: along D")
p.add_argument("--base-filters", type=int)
p.add_argument("--precision", default="bf16")
p.add_argument("--rate", default="1gbit", help="of the link, as tc writes it")
p.add_argument("--steps", type=int, default=2)
p.add_argument("--rounds", type=int)
p.add_argument("--options", default="", help="more options of bench step")
p.add_argument("--before", default="")
a = p.parse_args()


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def default(**values):
    for name, value in values.items():
        if getattr(a, name) is None:
            setattr(a, name, value)


def launched(command, ranks):
    """The document of a command of voxshard under mpirun; 1: alone."""
    environment = dict(os.environ)
    if ranks > 1:
        if os.geteuid() == 0:
            environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), *command]
    # In real time ranks that wait take the processors from those that they wait for, if they outnumber them.
    before = shlex.split(a.before) if ranks <= len(os.sched_getaffinity(0)) else []
    done = subprocess.run([*before, *command], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def bench(size, partition, ranks=1, threads=1, hosts=None, options=()):
    """The document of one `bench step`; hosts: "2x1" is two hosts with one rank each."""
    command = [a.voxshard, "bench", "step", "--size", size, "--base-filters", str(a.base_filters), "--partition", partition,
               "--precision", a.precision, "--threads", str(threads), "--steps", str(a.steps), "--json", "--quiet",
               *shlex.split(a.options), *options]
    if not hosts:
        return launched(command, ranks)
    os.environ["RATE"] = a.rate
    return launched(["bash", str(HERE.parent / "mpi/hosts.sh"), hosts, *command], 1)


def seconds(document):
    return document["step_seconds"]["median"]


def waited(document):
    """Seconds of a step in which a rank had nothing to do before an exchange came; the mean of the ranks."""
    rows = document.get("traffic", {}).get("by_instruction", [])
    return sum(r["waited_seconds"] for r in rows if r["op"] == "exchange") / max(1, len(document.get("ranks", [])))


def pairs(first, second):
    """Ratios of the steps of two sides that take turns."""
    rounds = []
    for i in range(a.rounds):
        rounds.append([first(), second()] if i % 2 == 0 else [second(), first()][::-1])
        say(f"round {i + 1}: {seconds(rounds[-1][0]):.3f} s over {seconds(rounds[-1][1]):.3f} s")
    ratios = [seconds(x) / seconds(y) for x, y in rounds]
    return {"ratio": {"median": statistics.median(ratios), "min": min(ratios), "max": max(ratios)},
            "seconds": [[seconds(side) for side in pair] for pair in rounds],
            "waited_for_exchanges_s": [statistics.median(waited(pair[side]) for pair in rounds) for side in (0, 1)]}


def memory():
    default(size="128x128x128", partition="1x4x1x1x1", base_filters=32)
    uncut, cut = bench(a.size, "1x1x1x1x1", threads=2), bench(a.size, a.partition, ranks=4)
    whole = uncut["memory"]["planned"]["arenas"]
    rows, good = [], True
    for rank in cut["ranks"]:
        planned, peak = rank["memory"]["planned_bytes"], rank["memory"]["peak_resident_bytes"]
        rows.append({"rank": rank["rank"], "cores": rank["cores"], "planned_mib": planned / MIB, "peak_mib": peak / MIB,
                     "peak_over_plan": peak / planned, "arena_over_uncut": rank["memory"]["planned"]["arenas"] / whole,
                     **{name: rank["memory"]["planned"][name] / MIB
                        for name in ("arenas", "weights", "optimizer", "packed_weights", "workspaces")}})
        good &= peak <= planned + 16 * MIB and rows[-1]["arena_over_uncut"] <= 0.27
    return {"uncut_arena_mib": whole / MIB, "ranks": rows, "within": good}


def threads():
    default(size="64x64x64", partition="1x2x1x1x1", base_filters=16, rounds=7)
    return pairs(lambda: bench(a.size, a.partition, threads=2), lambda: bench(a.size, a.partition, ranks=2))


def link():
    default(size="32x256x256", partition="1x2x1x1x1", base_filters=8, rounds=5)
    return pairs(lambda: bench(a.size, a.partition, hosts="2x1", options=["--overlap", "off"]),
                 lambda: bench(a.size, a.partition, hosts="2x1"))


def scaling():
    default(size="32x128x128", base_filters=8, rounds=1)
    planes, *plane = (int(x) for x in a.size.split("x"))
    table = {"strong": [], "weak": []}
    for kind, rows in table.items():
        for cores in (1, 2, 4, 8, 16):
            size = "x".join(map(str, [planes * (cores if kind == "weak" else 4), *plane]))
            walls, emulated = {}, None
            for ranks in (1, 2, 4):
                if ranks <= cores:
                    runs = [bench(size, f"1x{cores}x1x1x1", ranks=ranks, threads=2 if ranks == 1 else 1,
                                  options=["--device", "tpu-v3-32"]) for _ in range(a.rounds)]
                    walls[ranks], emulated = statistics.median(map(seconds, runs)), runs[0]["emulated_seconds"]
            rows.append({"cores": cores, "size": size, "wall_s_by_ranks": walls, "emulated_s": emulated})
            say(kind, json.dumps(rows[-1]))
    return table


def write_volume(path, size):
    """Zeros but for a ramp along x in every plane: (x, y, z) voxels of 1 mm, i16."""
    h = bytearray(352)
    struct.pack_into("<i", h, 0, 348)
    struct.pack_into("<8h", h, 40, 3, *size, 1, 1, 1, 1)
    struct.pack_into("<hh", h, 70, 4, 16)
    struct.pack_into("<8f", h, 76, 1, 1, 1, 1, 0, 0, 0, 0)
    struct.pack_into("<fff", h, 108, 352, 1, 0)
    struct.pack_into("<hh", h, 252, 1, 1)
    struct.pack_into("<12f", h, 280, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0)
    h[344:348] = b"n+1\0"
    planes = [b"".join(struct.pack(f"<{size[0]}h", *((x * 7 + y * y * k) % 900 - 500 for x in range(size[0]))) for y in range(size[1]))
              for k in (1, 2, 3)]
    with gzip.open(path, "wb", 1) as out:
        out.write(bytes(h))
        for z in range(size[2]):
            out.write(planes[z % 3])


def predict():
    default(size="400x512x512", partition="1x2x2x1x1", base_filters=8)
    with tempfile.TemporaryDirectory() as folder:
        d = Path(folder)
        (d / "in").mkdir()
        write_volume(d / "in/big_0000.nii.gz", [int(x) for x in a.size.split("x")][::-1])
        for words in (f"demo {d}/data --cases 2 --test 1", f"prepare {d}/data -o {d}/work --spacing keep",
                      f"train {d}/work -o {d}/run --base-filters {a.base_filters} --precision {a.precision} --crop 32x32x32 --steps 2 --fold all"):
            subprocess.run([a.voxshard, *words.split(), "--quiet"], check=True, stdout=subprocess.DEVNULL)
        rows = {}
        for name, ranks, partition in (("alone", 1, "1x1x1x1x1"), ("ranks", 4, a.partition)):
            rows[name] = launched([a.voxshard, "predict", str(d / "run"), str(d / "in"), "-o", str(d / name), "--partition", partition,
                                   "--threads", "2" if ranks == 1 else "1", "--json", "--quiet"], ranks)
            say(name, rows[name]["memory"]["peak_resident_bytes"] / MIB, "MiB", rows[name]["cases"][0]["seconds"], "s")
        alone = rows["alone"]["memory"]["peak_resident_bytes"]
        table = [{"rank": r["rank"], "planned_mib": r["memory"]["planned_bytes"] / MIB, "peak_mib": r["memory"]["peak_resident_bytes"] / MIB,
                  "peak_over_one_process": r["memory"]["peak_resident_bytes"] / alone} for r in rows["ranks"]["ranks"]]
        same = (d / "alone/big.nii.gz").read_bytes() == (d / "ranks/big.nii.gz").read_bytes()
    return {"alone_mib": alone / MIB, "alone_s": rows["alone"]["cases"][0]["seconds"], "ranks_s": rows["ranks"]["cases"][0]["seconds"],
            "same_bytes": same, "ranks": table, "within": same and all(r["peak_over_one_process"] <= 0.35 for r in table)}


result = {"what": a.what, **{"memory": memory, "threads": threads, "link": link, "predict": predict, "scaling": scaling}[a.what]()}
print(json.dumps(result | {"size": a.size, "base_filters": a.base_filters, "precision": a.precision}, indent=1))
sys.exit(0 if result.get("within", True) else 1)
