#!/usr/bin/env python3
"""Compares series that voxshard converts with what other programs read.

    python3 tests/hospital/series_against_others.py build/release/bin/voxshard FOLDER...

For each folder it asks `voxshard info --json` for the series, converts each, and compares every voxel (slope x stored +
intercept, per slice) and the affine (ImagePositionPatient per slice, never SliceThickness) with pydicom's; where
dcm2niix and plastimatch are installed and read the series, also with theirs, both turned to the same orientation. One
slice has no distance to the next: there dcm2niix takes SpacingBetweenSlices, voxshard SliceThickness, and the step is not
compared. Padded pixels of a CT are air to voxshard and stay to the others: they are set so in pydicom's values by the rule
of io/README.md, and not compared with the other programs'. Exit 0: all are equal to what others read, 1: some differ,
77: python3-pydicom, -nibabel or -numpy is missing.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings

try:
    import nibabel
    import numpy
    import pydicom
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


def frames_of(path):
    """Yields (position, orientation, spacing, values, which of them are padded) of each frame of a file."""
    data = pydicom.dcmread(path, force=True)
    stored = data.pixel_array
    if stored.ndim == 2:
        stored = stored[None]
    shared = data.get("SharedFunctionalGroupsSequence", [None])[0]
    for index, frame in enumerate(stored):
        own = data.PerFrameFunctionalGroupsSequence[index] if "PerFrameFunctionalGroupsSequence" in data else None

        def value(group, name):
            for groups in (own, shared):
                if groups is not None and group in groups and name in groups[group][0]:
                    return groups[group][0][name].value
            return data.get(name)

        position = numpy.array(value("PlanePositionSequence", "ImagePositionPatient"), float)
        cosines = numpy.array(value("PlaneOrientationSequence", "ImageOrientationPatient"), float)
        spacing = numpy.array(value("PixelMeasuresSequence", "PixelSpacing"), float)
        slope = float(value("PixelValueTransformationSequence", "RescaleSlope") or 1)
        intercept = float(value("PixelValueTransformationSequence", "RescaleIntercept") or 0)
        values = slope * frame.astype(numpy.float64) + intercept
        padded = is_padding(data, frame, values)
        yield position, cosines, spacing, numpy.where(padded, -1024.0, values), padded


def is_padding(data, stored, values):
    """Returns which pixels a CT pads outside of its field of view with values that no tissue has: those of
    PixelPaddingValue, and of about the one value that all four corners have."""
    padded = numpy.zeros(values.shape, bool)
    if data.get("Modality") != "CT" or not str(data.get("RescaleType") or "HU").startswith("HU"):
        return padded
    padding = data.get("PixelPaddingValue")
    if padding is not None:
        limit = data.get("PixelPaddingRangeLimit", padding)
        in_range = (stored >= min(padding, limit)) & (stored <= max(padding, limit))
        padded |= in_range & ((values < -1024) | (values > 3071))
    corners = values[[0, 0, -1, -1], [0, -1, 0, -1]]
    if "RescaleSlope" in data and corners.max() < -1200 and corners.max() - corners.min() <= 64:
        padded |= (values >= corners.min() - 64) & (values <= corners.max() + 64)
    return padded


def expected(files):
    """Returns voxels (x, y, z), the LPS affine of a series, the number of its slices, and which voxels are padded."""
    frames = [frame for path in files for frame in frames_of(path)]
    row, column = frames[0][1][:3], frames[0][1][3:]
    normal = numpy.cross(row, column)
    frames.sort(key=lambda frame: float(normal @ frame[0]))
    affine = numpy.eye(4)
    affine[:3, 0], affine[:3, 1] = row * frames[0][2][1], column * frames[0][2][0]
    affine[:3, 3] = frames[0][0]
    if len(frames) > 1:
        affine[:3, 2] = (frames[-1][0] - frames[0][0]) / (len(frames) - 1)
    voxels, padded = (numpy.stack([frame[i].T for frame in frames], axis=2) for i in (3, 4))
    return voxels, affine, len(frames), padded


def nifti_of(program, files, folder):
    """Lets another program convert files; returns an image, or the reason why there is none."""
    source = os.path.join(folder, "source")
    os.makedirs(source, exist_ok=True)
    for index, path in enumerate(files):
        link = os.path.join(source, f"{index}.dcm")
        if not os.path.lexists(link):
            os.symlink(os.path.abspath(path), link)
    target = os.path.join(folder, program)
    os.makedirs(target)
    command = {
        "dcm2niix": ["dcm2niix", "-z", "n", "-b", "n", "-f", "out", "-o", target, source],
        "plastimatch": ["plastimatch", "convert", "--input", source, "--output-img", os.path.join(target, "out.nii")],
    }[program]
    subprocess.run(command, capture_output=True, check=False)
    found = [name for name in os.listdir(target) if name.endswith(".nii")]
    return nibabel.load(os.path.join(target, found[0])) if len(found) == 1 else f"{len(found)} volumes"


def against(program, ours, padded, files, folder):
    """Returns what comparing with another program says; it begins with DIFFERENT where it read something else."""
    if shutil.which(program) is None:
        return f"{program} is not installed"
    theirs = nifti_of(program, files, folder)
    if isinstance(theirs, str):
        return f"{program}: {theirs}"
    a, b = nibabel.as_closest_canonical(ours), nibabel.as_closest_canonical(theirs)
    if a.shape != b.shape:
        return f"DIFFERENT from {program}: {b.shape} voxels"
    mine = a.get_fdata()
    compared = nibabel.as_closest_canonical(nibabel.Nifti1Image((~padded).astype(numpy.uint8), ours.affine)).get_fdata()
    step = numpy.array([count > 1 for count in a.shape] + [True])
    gap = (numpy.abs(mine - b.get_fdata()) * compared).max()
    affine_gap = numpy.abs((a.affine - b.affine) * step).max()
    # Their values are slope x stored of a slope that is written as f32: 24 bits.
    word = program if gap <= 2.0**-23 * numpy.abs(mine).max() and affine_gap < 1e-3 else f"DIFFERENT from {program}"
    return f"{word}: voxels differ by {gap:g}, the affine by {affine_gap:.1e} mm"


def compare(voxshard, address, files):
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "volume.nii")
        run = subprocess.run([voxshard, "convert", address, "-o", output, "-q"], capture_output=True, text=True)
        if run.returncode != 0:
            return "refused: " + run.stderr.strip()
        image = nibabel.load(output)
        try:
            voxels, affine, count, padded = expected(files)
        except Exception as error:  # pylint: disable=broad-except
            return f"read by voxshard only; pydicom: {error}"
        ours = numpy.asanyarray(image.dataobj, dtype=numpy.float64)
        lps = numpy.diag([-1, -1, 1, 1]) @ image.affine
        if count == 1:
            lps[:3, 2] = affine[:3, 2] = 0  # one slice has no distance to another
        if ours.shape != voxels.shape:
            return f"DIFFERENT: {ours.shape} and {voxels.shape} voxels"
        voxel_gap, affine_gap = numpy.abs(ours - voxels.astype(numpy.float32)).max(), numpy.abs(lps - affine).max()
        # Values are compared in f32, as written; headers of NIfTI-1 hold f32 numbers of some hundred mm.
        word = "equal" if voxel_gap == 0 and affine_gap < 1e-3 else "DIFFERENT"
        others = [against(program, image, padded, files, folder) for program in ("dcm2niix", "plastimatch")]
        return (
            f"{word}: {ours.shape}, voxels differ by {voxel_gap:g}, the affine by {affine_gap:.1e} mm; "
            + "; ".join(others)
        )


def main():
    warnings.simplefilter("ignore")  # pydicom's, about odd headers
    voxshard, folders = sys.argv[1], sys.argv[2:]
    different = 0
    for folder in folders:
        run = subprocess.run([voxshard, "info", "--json", folder], capture_output=True, text=True)
        report = json.loads(run.stdout)
        for section in report["folders"]:
            for volume in section["files"]:
                name = volume["path"]
                if not volume["readable"]:
                    print(f"{name}: left out: {volume['problem']}")
                    continue
                text = compare(voxshard, name, volume["files"])
                different += "DIFFERENT" in text
                print(f"{name}: {text}")
    sys.exit(1 if different else 0)


main()
