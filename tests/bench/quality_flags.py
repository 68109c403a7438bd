#!/usr/bin/env python3
"""How many broken images the quality flags of `voxshard predict` find, and how many untouched ones they flag.

  /usr/bin/python3 tests/bench/quality_flags.py DATA RUN                                # DATA/imagesTs by the run
  /usr/bin/python3 tests/bench/quality_flags.py DATA RUN --images imagesTr --ids a,b,c  # these cases, which the run has not seen
  /usr/bin/python3 tests/bench/quality_flags.py DATA RUN --other CTS --json found.json  # CTS: of another part of the body

Needs Debian's python3-nibabel. Each image is predicted as it is, and as copies that are broken in one way each:
  cut_to_feet, cut_to_right   the field of view is the half on that side
  noise                       of 100 HU
  shifted_up, shifted_down    all values by 150 HU
  mirrored                    left and right of the voxels are swapped, without a word in the header
  upside_down                 so are head and foot
  wrong_part                  another part of the body on the grid of the image: a CT of --other, centre on centre, air around it;
                              default: the trunk of ct/totalseg in VOXSHARD_TEST_DATA; where there is none the kind is left out
One line for each kind of copy: the share of cases with any flag, and with each; of untouched images these are false alarms. The
flags of untouched images stand below, for a look. Exit 1: more than 5 % of untouched images have a flag, or an image is left out.
"""
import argparse, json, os, subprocess, sys, tempfile
from pathlib import Path

import nibabel
import numpy as np

MOST_FALSE_ALARMS = 0.05
AIR_HU = -1000

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("data", type=Path)
p.add_argument("run", type=Path)
p.add_argument("--images", help="folder in DATA", default="imagesTs")
p.add_argument("--ids", help="ids of cases, with commas; default: all of the folder")
p.add_argument("--other", type=Path, help="a CT of another part of the body, or a folder of some")
p.add_argument("--json", type=Path, help="writes the numbers there too")
p.add_argument("--voxshard", default="build/release/bin/voxshard")
a = p.parse_args()


def half(image, towards):
    """The half of an image on one side of the patient: R, L, A, P, I or S; the affine is that of the voxels which stay."""
    codes = nibabel.aff2axcodes(image.affine)
    axis = axis_of(image, towards)
    n = image.shape[axis]
    kept = slice(n - n // 2, n) if codes[axis] == towards else slice(0, n // 2)
    return image.slicer[tuple(kept if k == axis else slice(None) for k in range(3))]


def axis_of(image, side):
    """The axis of the voxels that runs to a side of the patient, or away from it."""
    pair = next(pair for pair in ("RL", "AP", "IS") if side in pair)
    return next(k for k, code in enumerate(nibabel.aff2axcodes(image.affine)) if code in pair)


def with_values(image, change):
    values = change(np.asanyarray(image.dataobj).astype(np.float32))
    return nibabel.Nifti1Image(np.clip(np.round(values), -32768, 32767).astype(np.int16), image.affine)


def flipped(image, side):
    return with_values(image, lambda x: np.flip(x, axis_of(image, side)))


def laid_over(image, other):
    """Another CT on the grid of an image, centre on centre, by nearest neighbour; air where it does not reach."""
    centre = lambda of: of.affine @ [*((np.array(of.shape[:3]) - 1) / 2), 1]
    move = np.eye(4)
    move[:3, 3] = (centre(other) - centre(image))[:3]
    into = np.linalg.inv(other.affine) @ move @ image.affine
    at = np.rint(np.tensordot(into[:3, :3], np.indices(image.shape[:3]), 1) + into[:3, 3].reshape(3, 1, 1, 1)).astype(int)
    inside = np.all([(0 <= at[k]) & (at[k] < other.shape[k]) for k in range(3)], axis=0)
    values = np.full(image.shape[:3], AIR_HU, np.float32)
    values[inside] = np.asanyarray(other.dataobj)[tuple(at[k][inside] for k in range(3))]
    return with_values(image, lambda _: values)


def other_parts():
    """The CTs of --other; without it the one of the test data."""
    file = a.other or Path(os.environ.get("VOXSHARD_TEST_DATA", "")) / "ct/totalseg/example_ct.nii.gz"
    found = sorted(file.glob("*.nii.gz")) if file.is_dir() else [file] if file.exists() else []
    if a.other and not found:
        sys.exit(f"{file} holds no .nii.gz")
    return [nibabel.load(one) for one in found]


def predicted(images, output):
    """Returns the flags of each case of a folder, and the number of cases that were left out."""
    words = [a.voxshard, "predict", str(a.run), str(images), "-o", str(output), "--json", "--quiet"]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True)
    document = json.loads(done.stdout) if done.stdout.strip() else {}
    if done.returncode not in (0, 8) or "quality" not in document:
        sys.exit(f"{' '.join(words)} ended with {done.returncode}: {document.get('error', 'the run gives no flags')}")
    return {case["id"]: case["flags"] for case in document["quality"]}, len(document["failures"])


def shares(flags, left_out):
    codes = sorted({flag["code"] for of in flags.values() for flag in of})
    part = lambda found: round(sum(found) / max(1, len(flags)), 4)
    return {
        "cases": len(flags),
        "left_out": left_out,
        "flagged": part(bool(of) for of in flags.values()),
        "by_code": {code: part(any(flag["code"] == code for flag in of) for of in flags.values()) for code in codes},
    }


def table(kinds):
    codes = sorted({code for one in kinds.values() for code in one["by_code"]})
    lines = [["", "cases", "any flag", *codes]]
    for kind, one in kinds.items():
        lines.append([kind, str(one["cases"]), *(f"{100 * share:.0f} %" for share in (one["flagged"], *(one["by_code"].get(c, 0) for c in codes)))])
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join("  ".join(word.ljust(width) if k == 0 else word.rjust(width) for k, (word, width) in enumerate(zip(line, widths))) for line in lines)


random = np.random.default_rng(0)
KINDS = {
    "untouched": lambda image: image,
    "cut_to_feet": lambda image: half(image, "I"),
    "cut_to_right": lambda image: half(image, "R"),
    "noise": lambda image: with_values(image, lambda x: x + random.normal(0, 100, x.shape)),
    "shifted_up": lambda image: with_values(image, lambda x: x + 150),
    "shifted_down": lambda image: with_values(image, lambda x: x - 150),
    "mirrored": lambda image: flipped(image, "R"),
    "upside_down": lambda image: flipped(image, "S"),
}
others = other_parts()
if others:
    turns = iter(range(1 << 30))
    KINDS["wrong_part"] = lambda image: laid_over(image, others[next(turns) % len(others)])

ids = set(a.ids.split(",")) if a.ids else None
files = [f for f in sorted((a.data / a.images).glob("*.nii.gz")) if ids is None or f.name.removesuffix(".nii.gz").rsplit("_", 1)[0] in ids]
if not files or ids and len(files) < len(ids):
    sys.exit(f"{a.data / a.images} lacks images ID_0000.nii.gz" + (" of these ids" if ids else ""))
kinds, listed = {}, {}
with tempfile.TemporaryDirectory() as folder:
    room = Path(folder)
    for kind, change in KINDS.items():
        images = room / kind
        images.mkdir()
        for file in files:
            nibabel.save(change(nibabel.load(file)), images / file.name)
        flags, left_out = predicted(images, room / f"of_{kind}")
        kinds[kind] = shares(flags, left_out)
        if kind == "untouched":
            listed = {case: [flag["code"] + " " + flag["what"] for flag in of] for case, of in flags.items() if of}
print(table(kinds))
for case, what in listed.items():
    print(f"untouched, {case}: " + "; ".join(what))
if a.json:
    a.json.write_text(json.dumps({"kinds": kinds, "listed": listed}, indent=1) + "\n")
untouched = kinds["untouched"]
sys.exit(1 if untouched["flagged"] > MOST_FALSE_ALARMS or untouched["left_out"] else 0)
