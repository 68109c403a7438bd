#!/usr/bin/env python3
"""Label maps of whole volumes, computed in turns and over cuts, against the uncut one, voxel by voxel. Standard library only.

  tests/bench/exactness.py 128x128x128 256x256x200 512x512x600 --budgets 60%,4GiB --cuts 1x2x2x2x1
  tests/bench/exactness.py 64x64x64 --budgets 60% --cuts 1x1x2x2x1 --steps 2       # a try

One run is trained: instance norm, base 8, few steps on `demo` phantoms. Each size is a phantom, repeated and written in planes. Of
each size come, one after another: uncut in memory, under each budget (the partition is that of the run, and the program's where
that does not fit), each cut in memory, and each cut under each budget; with --ranks N the rows of the cuts once more over N ranks,
each with that budget. A budget of N% is that share of what the uncut prediction plans; none: of the first row that was planned. A
Markdown table: voxels that differ from the first label map of that size, memory planned and at the peak, in MiB (of ranks that with
the highest peak), the file of cores that take turns (of ranks that of rank 0), seconds, and the command. Rows appear as they are
done. Ends with 1 when a voxel differs, a peak exceeds its plan by more than 16 MiB, a row is refused other than for its budget or
with a larger budget than one that does, or a label map has a single label, so that equal ones show little.
"""
import argparse, gzip, itertools, re, shutil, struct, sys, tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from memory import MIB, nifti_header, run

CHUNK, HEADER = 1 << 20, 352
UNITS = {"MiB": MIB, "GiB": 1 << 30}

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("sizes", nargs="+", help="x, y, z like 512x512x600")
p.add_argument("--voxshard", default="build/release/bin/voxshard")
p.add_argument("--budgets", default="60%,4GiB", help="values of --host-memory, or shares of the uncut plan, with commas; '': none")
p.add_argument("--cuts", default="1x1x2x2x1,1x2x2x2x1", help="values of --partition, with commas; '': none")
p.add_argument("--ranks", type=int, default=1, help="over 1: the cuts also under mpirun with so many")
p.add_argument("--base-filters", default="8")
p.add_argument("--steps", default="30", help="of the training")
p.add_argument("--precision", default="f32,bf16", help="each gives rows of its own")
p.add_argument("--threads", default="2")
p.add_argument("--folder", help="existing folder on a disk with room for the volume and the turns; default: that of temporary files")
a = p.parse_args()
voxshard = str(Path(a.voxshard).resolve())


def ours(*words, ranks=1):
    """What `run` of memory.py gives; of a command that is refused or leaves its volume out its message."""
    try:
        launcher = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] if ranks > 1 else []
        return *run(voxshard, [str(w) for w in words], launcher), ""
    except SystemExit as refused:
        return None, 0, str(refused)


def needed(*words):
    report, _, message = ours(*words)
    if report is None:
        sys.exit(message)


def write_phantom(source, target, size):
    """Repeats a phantom of i16 up to the size, as an uncompressed file. Memory: one phantom and one plane."""
    with gzip.open(source) as packed:
        header, voxels = packed.read(HEADER), packed.read()
    x, y, z = struct.unpack_from("<3h", header, 42)
    if struct.unpack_from("<h", header, 70)[0] != 4 or len(voxels) != 2 * x * y * z:
        sys.exit(f"{source} is not a volume of i16 behind {HEADER} bytes")
    row = lambda j, k: (voxels[2 * x * (j + y * k):][: 2 * x] * (size[0] // x + 1))[: 2 * size[0]]
    with open(target, "wb") as out:
        out.write(nifti_header(size, "i16", struct.unpack_from("<3f", header, 80)))
        for k in range(size[2]):
            plane = b"".join(row(j, k % z) for j in range(y))
            out.write((plane * (size[1] // y + 1))[: 2 * size[0] * size[1]])


def chunks(path):
    """The voxels of a .nii.gz of bytes in pieces."""
    with gzip.open(path) as file:
        header = file.read(HEADER)
        if struct.unpack_from("<h", header, 70)[0] != 2 or struct.unpack_from("<f", header, 108)[0] != HEADER:
            sys.exit(f"{path}: not a label map of bytes behind {HEADER} bytes")
        while piece := file.read(CHUNK):
            yield piece


def differing(one, other):
    """How many voxels differ. Each pair of pieces is one long number: equal bytes are zero in their exclusive or."""
    count = 0
    for x, y in itertools.zip_longest(chunks(one), chunks(other), fillvalue=b""):
        if len(x) != len(y):
            sys.exit(f"{one} and {other} have different sizes")
        if x != y:
            count += len(x) - (int.from_bytes(x) ^ int.from_bytes(y)).to_bytes(len(x)).count(0)
    return count


def labels_of(path):
    found = set()
    for piece in chunks(path):
        found |= set(piece)
    return found


def bytes_of(budget, whole):
    if budget.endswith("%"):
        return int(whole * float(budget[:-1]) / 100)
    number, unit = re.fullmatch(r"([\d.]+)(MiB|GiB)", budget).groups()
    return int(float(number) * UNITS[unit])


def rows_of(room, size, precision):
    """Prints the rows of a size and yields what is wrong in them."""
    budgets, cuts = [b for b in a.budgets.split(",") if b], [c for c in a.cuts.split(",") if c]
    ways = [("", "", 1), *(("", b, 1) for b in budgets)]
    for ranks in sorted({1, a.ranks}):
        ways += [*((c, "", ranks) for c in cuts), *((c, b, ranks) for c in cuts for b in budgets)]
    reference, whole = room / f"first_{precision}.nii.gz", 0
    refused, did = [], []  # cut with its ranks, and MiB of the budget
    for cut, budget, ranks in ways:
        words = ["predict", "run", "volume.nii", "-o", "out", "--precision", precision, "--threads", a.threads]
        words += ["--partition", cut] if cut else []
        if budget.endswith("%") and not whole:
            continue  # nothing was planned yet of which it would be a share
        allowed = bytes_of(budget, whole) // MIB if budget else 0
        words += ["--host-memory", f"{allowed}MiB"] if budget else []
        out = room / "out"
        shutil.rmtree(out, ignore_errors=True)
        report, seconds, message = ours(*(str(room / w) if w in ("run", "volume.nii", "out") else w for w in words), ranks=ranks)
        name = f"| {size} | {precision} | {cut or 'of the run'}{f' over {ranks} ranks' if ranks > 1 else ''} | {budget or '-'} |"
        command = f"`{f'mpirun -n {ranks} ' if ranks > 1 else ''}voxshard {' '.join(words)}`"
        cut = (cut, ranks)
        if report is None:
            reason = message.replace(str(room) + "/", "").partition("\n")[2].strip()
            print(f"{name} refused | | | | | {command} |", flush=True)
            print(reason, file=sys.stderr, flush=True)
            if not reason.startswith("exit 7"):
                yield f"{command}: {reason}"
            refused.append((cut, allowed))
            if smaller := [one for of, one in did if of == cut and 0 < one <= allowed]:
                yield f"{command}: {allowed}MiB are refused, {smaller[0]}MiB did"
            continue
        did.append((cut, allowed))
        if larger := [one for of, one in refused if of == cut and allowed and one >= allowed]:
            yield f"{command}: {larger[0]}MiB were refused, {allowed}MiB do"
        memory = max((one["memory"] for one in report.get("ranks", [report])), key=lambda one: one["peak_resident_bytes"])
        whole, labels = whole or memory["planned_bytes"], out / "volume.nii.gz"
        if reference.exists():
            count = differing(reference, labels)
            if count:
                yield f"{command}: {count} voxels differ"
        else:
            labels.rename(reference)
            count, found = "first", labels_of(reference)
            if len(found) < 2:
                yield f"{command}: the label map has {len(found)} label, so that equal ones show little"
        if memory["peak_resident_bytes"] > memory["planned_bytes"] + 16 * MIB:
            yield f"{command}: the peak is over the plan"
        print(f"{name} {count} | {memory['planned_bytes'] / MIB:.0f} | {memory['peak_resident_bytes'] / MIB:.0f} | "
              f"{report['scratch_bytes'] / MIB:.0f} | {seconds:.1f} | {command} |", flush=True)
    reference.unlink(missing_ok=True)


wrong = []
with tempfile.TemporaryDirectory(prefix="exactness_", dir=a.folder) as temporary:
    room = Path(temporary)
    needed("demo", room / "data", "--cases", 4, "--test", 0)
    needed("prepare", room / "data", "-o", room / "work", "--spacing", "keep")
    training = ["train", "work", "-o", "run", "--norm", "instance", "--base-filters", a.base_filters, "--crop", "32x32x32", "--steps", a.steps]
    needed(*(room / w if w in ("work", "run") else w for w in training), "--fold", "all")
    print(f"`voxshard {' '.join(training)} --fold all`; each command ran in a folder with `run` and `volume.nii`.\n")
    print("| size | precision | cut | budget | voxels that differ | planned MiB | peak MiB | file MiB | s | command |")
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    for size in a.sizes:
        source = sorted((room / "data/imagesTr").glob("*.nii.gz"))[0]
        write_phantom(source, room / "volume.nii", tuple(int(n) for n in size.split("x")))
        for precision in a.precision.split(","):
            wrong += rows_of(room, size, precision)
print(*(f"\nwrong: {one}" for one in wrong), sep="")
sys.exit(1 if wrong else 0)
