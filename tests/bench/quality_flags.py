#!/usr/bin/env python3
"""How many broken images the quality flags of `voxshard predict` find, and how many untouched ones they flag.

  /usr/bin/python3 tests/bench/quality_flags.py DATA RUN                        # DATA/imagesTs by the run
  /usr/bin/python3 tests/bench/quality_flags.py DATA RUN --other LUNGS/imagesTs  # also images of another part of the body

Needs Debian's python3-nibabel. Each image is predicted as it is, and as copies that are broken in one way each: the field of view cut
to the half on the side of the feet, and to the right half; noise of 100 HU; all values shifted by 150 HU up, and down; left and right
swapped without a word in the header. One JSON document: by kind of copy the number of cases, the share with any flag, and the share by
code; of the untouched ones these are false alarms. `listed` has the flags of the untouched ones, for a look.
"""
import argparse, json, subprocess, sys, tempfile
from pathlib import Path

import nibabel
import numpy as np

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("data", type=Path)
p.add_argument("run", type=Path)
p.add_argument("--images", help="folder in DATA", default="imagesTs")
p.add_argument("--other", type=Path, help="folder of images of another part of the body")
p.add_argument("--voxshard", default="build/release/bin/voxshard")
a = p.parse_args()


def half(image, towards):
    """The half of an image on one side of the patient: R, L, A, P, I or S; the affine is that of the voxels which stay."""
    codes = nibabel.aff2axcodes(image.affine)
    axis = next(k for k, code in enumerate(codes) if {code, towards} <= set("RL") or {code, towards} <= set("AP") or {code, towards} <= set("IS"))
    n = image.shape[axis]
    kept = slice(n - n // 2, n) if codes[axis] == towards else slice(0, n // 2)
    return image.slicer[tuple(kept if k == axis else slice(None) for k in range(3))]


def with_values(image, change):
    values = change(np.asanyarray(image.dataobj).astype(np.float32))
    return nibabel.Nifti1Image(np.clip(np.round(values), -32768, 32767).astype(np.int16), image.affine)


def swapped(image):
    axis = next(k for k, pair in enumerate(nibabel.aff2axcodes(image.affine)) if pair in "RL")
    return with_values(image, lambda x: np.flip(x, axis))


random = np.random.default_rng(0)
KINDS = {
    "untouched": lambda image: image,
    "cut_to_feet": lambda image: half(image, "I"),
    "cut_to_right": lambda image: half(image, "R"),
    "noise": lambda image: with_values(image, lambda x: x + random.normal(0, 100, x.shape)),
    "shifted_up": lambda image: with_values(image, lambda x: x + 150),
    "shifted_down": lambda image: with_values(image, lambda x: x - 150),
    "swapped_sides": swapped,
}


def predicted(images, output):
    """Returns the flags of each case of a folder."""
    words = [a.voxshard, "predict", str(a.run), str(images), "-o", str(output), "--json", "--quiet"]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True)
    document = json.loads(done.stdout)
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


report, listed = {}, {}
with tempfile.TemporaryDirectory() as folder:
    room = Path(folder)
    for kind, change in KINDS.items():
        images = room / kind
        images.mkdir()
        for file in sorted((a.data / a.images).glob("*.nii.gz")):
            nibabel.save(change(nibabel.load(file)), images / file.name)
        flags, left_out = predicted(images, room / f"of_{kind}")
        report[kind] = shares(flags, left_out)
        if kind == "untouched":
            listed = {case: [flag["what"] for flag in of] for case, of in flags.items() if of}
    if a.other:
        report["other_part"] = shares(*predicted(a.other, room / "of_other"))
print(json.dumps({"kinds": report, "listed": listed}, indent=1))
