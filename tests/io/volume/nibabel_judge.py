"""Compares the volumes that a test has read with what nibabel reads from the same files: voxels and the affine.

    python3 tests/io/volume/nibabel_judge.py FOLDER

FOLDER holds list.json (file, size, origin, spacing, direction in LPS millimetres) and the voxels as float32. Files that nibabel
does not read are named and left out, as are the affines of files without a form, where readers centre the volume differently.
Ends with 1 where a volume differs. Written against nibabel 5.0.0.
"""
import json
import pathlib
import sys

import nibabel
import numpy as np

LEAST_COMPARED = 55


def differences(entry, folder):
    """The reasons why nibabel and the test differ on one volume."""
    image = nibabel.load(entry["file"])
    size = entry["size"]
    theirs = np.asarray(image.get_fdata(dtype=np.float64)).reshape(size, order="F").astype(np.float32)
    ours = np.fromfile(folder / entry["voxels"], dtype="<f4").reshape(size, order="F")
    found = []
    if not np.allclose(ours, theirs, rtol=3e-7, atol=0):
        found.append(f"voxels differ by up to {np.abs(ours - theirs).max()}")
    if entry["form_used"].startswith("none"):
        return found
    header = image.header
    affine = header.get_qform() if entry["form_used"] == "qform" else image.affine
    unit_mm = {"meter": 1000.0, "micron": 0.001}.get(header.get_xyzt_units()[0], 1.0)
    ras = np.diag([-1.0, -1.0, 1.0]) @ np.array(entry["direction"]).reshape(3, 3) @ np.diag(entry["spacing"])
    origin = np.array([-1.0, -1.0, 1.0]) * entry["origin"]
    corners = np.array([[x, y, z] for x in (0, size[0] - 1) for y in (0, size[1] - 1) for z in (0, size[2] - 1)], float)
    gap = corners @ ras.T + origin - unit_mm * (corners @ affine[:3, :3].T + affine[:3, 3])
    most = np.sqrt((gap ** 2).sum(axis=1)).max()
    if most > 1e-3 + entry["shear_shift_mm"]:
        found.append(f"a corner lies {most} mm elsewhere")
    return found


def main():
    folder = pathlib.Path(sys.argv[1])
    alike, failed = 0, 0
    for entry in json.loads((folder / "list.json").read_text()):
        try:
            found = differences(entry, folder)
        except nibabel.filebasedimages.ImageFileError as e:
            print(f"left out, nibabel does not read it: {entry['file']}: {e}")
            continue
        for text in found:
            print(f"{entry['file']}: {text}")
        failed += bool(found)
        alike += not found
    print(f"{alike} volumes alike, {failed} differ")
    sys.exit(failed > 0 or alike < LEAST_COMPARED)


main()
