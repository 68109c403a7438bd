"""What plastimatch fills of a structure set, and the rule that two fillings of the same contours are held to: for the scripts that
compare contours. Raises ImportError where a package of Python is missing."""
import glob
import os
import shutil
import subprocess

import nibabel
import numpy


def plastimatch_masks(path, slices, scratch):
    """Returns {name: image} of the structures of a file, or why there are none; that begins with "skipped" without plastimatch.
    slices: the files of the image."""
    if shutil.which("plastimatch") is None:
        return "skipped: plastimatch is missing"
    prefix, folder = os.path.join(scratch, "masks"), os.path.join(scratch, "clean")
    os.makedirs(folder)
    for file in slices:  # it takes every file of a folder for a slice
        shutil.copy(file, folder)
    command = ["plastimatch", "convert", "--input", path, "--referenced-ct", folder, "--output-prefix", prefix]
    run = subprocess.run(command + ["--prefix-format", "nii"], capture_output=True, check=False)
    if run.returncode != 0:
        return f"plastimatch exits {run.returncode}"
    masks = {os.path.basename(file)[:-4]: nibabel.load(file) for file in glob.glob(os.path.join(prefix, "*.nii"))}
    return masks or "plastimatch writes no structure"


def dice(a, b):
    return 2 * (a & b).sum() / max(1, a.sum() + b.sum())


def judged(name, mask, other, distance):
    """Returns the numbers of a comparison, and whether it is within the rule: voxels differ within half a pixel of a contour alone,
    and Dice is at least 0.99 from 2000 voxels on.
    distance: of each voxel's centre to the nearest contour of its slice, in pixels."""
    different = mask != other
    farthest = float(distance[different].max()) if different.any() else 0.0
    score = dice(mask, other)
    good = farthest <= 0.5 and (max(mask.sum(), other.sum()) < 2000 or score >= 0.99)
    return f"{name}: {int(different.sum())} voxels differ, at most {farthest:.2f} pixels from a contour, Dice {score:.4f}", good


def edge_distance(mask):
    """Returns the distance for judged() of a mask (x, y, z) whose contours run along the edges of pixels: half a pixel where a
    neighbour within the slice is on the other side, infinity elsewhere."""
    padded = numpy.pad(mask, ((1, 1), (1, 1), (0, 0)))
    touches = numpy.zeros(mask.shape, bool)
    for axis in (0, 1):
        for step in (-1, 1):
            touches |= numpy.roll(padded, step, axis)[1:-1, 1:-1] != mask
    return numpy.where(touches, 0.5, numpy.inf)


def against_plastimatch(mask, affine, distance, theirs):
    """Returns what judged() does of a mask (x, y, z) and plastimatch's image; None for one that lies on another grid."""
    ours = nibabel.as_closest_canonical(nibabel.Nifti1Image(mask.astype("u1"), affine))
    near = nibabel.as_closest_canonical(nibabel.Nifti1Image(distance, affine))
    other = nibabel.as_closest_canonical(theirs)
    if other.shape != ours.shape or numpy.abs(other.affine - ours.affine).max() > 1e-3:
        return None
    return judged("plastimatch", ours.get_fdata() != 0, other.get_fdata() != 0, near.get_fdata())
