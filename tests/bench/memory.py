#!/usr/bin/env python3
"""Peak resident memory of whole commands against what they plan. Standard library only; data are made on the spot.

  tests/bench/memory.py                     # every case; exit 1 when one is over the bound
  tests/bench/memory.py --only predict      # the cases whose name holds that word
  tests/bench/memory.py --json out.json     # the table as a document too

Nothing is subtracted: planned is the total of the table that the command prints (program and libraries included), peak is
VmHWM of the whole process. The bound is peak <= planned + 16 MiB; a plan of more than peak + 16 MiB is wide, for it refuses
what would run. A case may give a reason to be wider, which says how much:

  together  so many cases at once, whose widest moments need not meet: what all but one of them take
  drawn     steps draw sizes, and the largest, or as many as are planned for, need not be drawn: no bound
"""
import argparse, array, gzip, json, random, struct, subprocess, sys, tempfile, time
from pathlib import Path

MIB = 1 << 20
TYPES = {"i16": ("h", 4, 16), "f32": ("f", 16, 32), "u8": ("B", 2, 8)}  # array letter, NIfTI code, bits


def nifti_header(size, kind, spacing):
    """352 bytes: NIfTI-1, RAS, the code and the bits of `kind`."""
    _, code, bits = TYPES[kind]
    h = bytearray(352)
    struct.pack_into("<i", h, 0, 348)
    struct.pack_into("<8h", h, 40, 3, *size, 1, 1, 1, 1)
    struct.pack_into("<hh", h, 70, code, bits)
    struct.pack_into("<8f", h, 76, 1, *spacing, 0, 0, 0, 0)
    struct.pack_into("<fff", h, 108, 352, 1, 0)
    struct.pack_into("<hh", h, 252, 1, 1)
    struct.pack_into("<12f", h, 280, spacing[0], 0, 0, 0, 0, spacing[1], 0, 0, 0, 0, spacing[2], 0)
    h[344:348] = b"n+1\0"
    return bytes(h)


def write_volume(path, size, kind, spacing=(1, 1, 1), label=False, seed=0):
    """Noise in rows that repeat, or a label map of two bars."""
    letter, x = TYPES[kind][0], size[0]
    draw = random.Random(seed)
    if label:
        rows = [array.array(letter, [0] * (x // 4) + [1] * (x // 4) + [2] * (x // 4) + [0] * (x - 3 * (x // 4)))] * 7
    else:
        rows = [array.array(letter, draw.choices(range(-1000, 400), k=x)) for _ in range(7)]
    planes = [b"".join(rows[(p + i) % 7].tobytes() for i in range(size[1])) for p in range(3)]
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wb", 1) if path.suffix == ".gz" else open(path, "wb") as out:
        out.write(nifti_header(size, kind, spacing))
        for z in range(size[2]):
            out.write(planes[z % 3])


def write_dataset(folder, sizes, kind="i16", ending=".nii.gz", spacing=(1, 1, 1)):
    for i, size in enumerate(sizes):
        write_volume(folder / f"imagesTr/c{i:02}_0000{ending}", size, kind, spacing, seed=i)
        write_volume(folder / f"labelsTr/c{i:02}{ending}", size, "u8", spacing, label=True)
    (folder / "dataset.json").write_text(json.dumps({
        "channel_names": {"0": "CT"}, "labels": {"background": 0, "a": 1, "b": 2}, "numTraining": len(sizes), "file_ending": ending}))


def make_data(d):
    write_dataset(d / "f32", [(200, 180, 160)] * 4, "f32", ".nii")
    write_dataset(d / "i16", [(200, 180, 160)] * 4, "i16", ".nii.gz", (2, 2, 2))
    many = [(48 + 4 * (i % 12), 48 + 4 * (i * 5 % 13), 48 + 4 * (i * 3 % 11)) for i in range(40)]
    write_dataset(d / "many", many)
    write_dataset(d / "large", [(256, 256, 200)] * 16, "i16", ".nii.gz", (1.5, 1.5, 1.5))
    write_volume(d / "big/big_0000.nii.gz", (600, 500, 400), "i16", (0.7, 0.7, 0.7))
    write_volume(d / "plain/plain_0000.nii", (400, 400, 300), "f32", (1, 1, 1))


NET = "--base-filters 4 --depth 3 --precision f32 --threads 2"
FINE = "--base-filters 8 --depth 4 --precision bf16 --threads 2"
DETECTOR = "--model retinanet --backbone resnet18 --base-filters 16 --pyramid-filters 32 --precision f32 --threads 2"

# Name and command, in order: later ones read what earlier ones wrote. {d}: the folder.
CASES = [
    ("prepare f32 as it is, 1 thread", "prepare {d}/f32 -o {d}/w_f32 --spacing keep --threads 1"),
    ("prepare i16 .gz to 8 times the voxels, 2 threads", "prepare {d}/i16 -o {d}/w_up --spacing 1,1,1 --threads 2", "together 2"),
    ("prepare i16 .gz to 1/8 of the voxels, 4 threads", "prepare {d}/i16 -o {d}/w_down --spacing 4,4,4 --threads 4", "together 4"),
    ("prepare 40 sizes, 2 threads", "prepare {d}/many -o {d}/w_many --spacing keep --threads 2"),
    ("prepare 16 large, 2 threads", "prepare {d}/large -o {d}/w_large --spacing keep --threads 2", "together 2"),
    ("train crops uncut", "train {d}/w_down -o {d}/r_crop --crop 32x32x32 --steps 2 --fold all " + NET),
    ("train crops over 4 cores, bf16, of 16 large files",
     "train {d}/w_large -o {d}/r_cut --crop 64x64x64 --steps 16 --fold all --partition 1x1x2x2x1 " + FINE),
    ("train whole volumes of 40 sizes", "train {d}/w_many -o {d}/r_many --crop whole --steps 40 --fold all " + NET, "drawn"),
    ("train whole volumes of 40 sizes over 8 cores",
     "train {d}/w_many -o {d}/r_many8 --crop whole --steps 20 --fold all --partition 1x2x2x2x1 " + NET, "drawn"),
    ("train and validate whole volumes",
     "train {d}/w_many -o {d}/r_valid --crop 32x32x32 --steps 2 --fold 0 " + NET),
    ("predict 120 million voxels within 64 MiB a core", "predict {d}/r_crop {d}/big -o {d}/p_big --memory 64MiB --partition 1x2x2x2x1 --threads 2"),
    ("predict 48 million voxels, f32, over 4 cores",
     "predict {d}/r_crop {d}/plain -o {d}/p_plain --partition 1x2x2x1x1 --threads 2"),
    ("predict 40 sizes", "predict {d}/r_many {d}/many/imagesTr -o {d}/p_many --threads 2"),
    ("evaluate 40 sizes, 2 threads", "evaluate {d}/p_many {d}/many/labelsTr -o {d}/s_many.json --threads 2"),
    ("evaluate large label maps, 4 threads", "evaluate {d}/large/labelsTr {d}/large/labelsTr -o {d}/s_large.json --threads 4"),
    ("train a detector", "train {d}/pictures -o {d}/r_det --steps 4 --batch 2 --scale 0.8,1.25 " + DETECTOR, "drawn"),
    ("train a detector over 4 cores",
     "train {d}/pictures -o {d}/r_det4 --steps 4 --batch 2 --partition 1x2x2x1 " + DETECTOR, "drawn"),
    ("predict pictures", "predict {d}/r_det {d}/pictures/annotations/instances_val.json -o {d}/found.json --draw {d}/drawn --threads 2"),
    ("evaluate detections", "evaluate {d}/found.json {d}/pictures/annotations/instances_val.json -o {d}/scores.json"),
]


def run(voxshard, words, launcher=()):
    """The document that the command prints, and its seconds."""
    begin = time.monotonic()
    done = subprocess.run([*launcher, voxshard, *words, "--json", "--quiet"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\nexit {done.returncode}: {done.stderr or done.stdout}")
    return json.loads(done.stdout), time.monotonic() - begin


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--voxshard", default="build/release/bin/voxshard")
    p.add_argument("--only", default="", help="a word of the names; what they read is run too, without a row")
    p.add_argument("--folder", help="keep the data and what is written here")
    p.add_argument("--json", help="write the table here")
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        d = Path(a.folder or temporary).absolute()
        if not (d / "plain").exists():
            make_data(d)
            run(a.voxshard, ["demo", str(d / "pictures"), "--task", "detection", "--size", "large"])
        rows, wanted = [], [i for i, (name, *_) in enumerate(CASES) if a.only in name]
        print(f"{'planned':>9} {'peak':>9} {'ratio':>6}        MiB", flush=True)
        for i, (name, command, *reasons) in enumerate(CASES[: max(wanted, default=-1) + 1]):
            reason = "".join(reasons)
            words = command.format(d=d).split()
            words += ["--restart"] if words[0] == "train" else []
            memory, seconds = (lambda r: (r[0]["memory"], r[1]))(run(a.voxshard, words))
            planned, peak = memory["planned_bytes"], memory["peak_resident_bytes"]
            wide = planned - peak - 16 * MIB
            if reason.startswith("together"):
                count = int(reason.split()[1])
                wide -= (planned - memory["planned"]["base"]) * (count - 1) / count
            verdict = "OVER" if peak > planned + 16 * MIB else "wide" if wide > 0 and reason != "drawn" else ""
            if i not in wanted:
                continue
            rows.append({"case": name, "planned_bytes": planned, "peak_resident_bytes": peak, "ratio": peak / planned,
                         "verdict": verdict, "parts": memory["planned"], "seconds": seconds})
            print(f"{planned / MIB:9.1f} {peak / MIB:9.1f} {peak / planned:6.3f} {verdict:5} {name}  ({seconds:.1f} s)", flush=True)
        if a.json:
            Path(a.json).write_text(json.dumps(rows, indent=1) + "\n")
        over = [row["case"] for row in rows if row["verdict"] == "OVER"]
        print(f"{len(rows)} cases, {len(over)} over the bound, {sum(r['verdict'] == 'wide' for r in rows)} wide")
        sys.exit(1 if over or any(row["verdict"] for row in rows) else 0)


if __name__ == "__main__":
    main()
