#!/usr/bin/env python3
"""Compares DICOM segmentations that voxshard converts with what pydicom reads frame by frame.

    python3 tests/hospital/segmentations_against_pydicom.py build/release/bin/voxshard FILE...

Every voxel of every frame is looked up at its place in the world; a voxel that several segments share must have the highest
number, and voxels outside of all frames must be 0. A fractional segment holds what is at least one half. Exit 0: all equal, 1:
some differ, 77: python3-pydicom, -nibabel or -numpy is missing.
"""
import os
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


def groups_of(data, index, name):
    for groups in (data.PerFrameFunctionalGroupsSequence[index], data.SharedFunctionalGroupsSequence[0]):
        if name in groups:
            return groups[name][0]
    return None


def expected_labels(data, inverse, shape):
    """Returns the label map on the grid of the converted file, from pydicom's frames."""
    frames = data.pixel_array
    frames = frames[None] if frames.ndim == 2 else frames
    labels = numpy.zeros(shape)
    for index, frame in enumerate(frames):
        position = numpy.array(groups_of(data, index, "PlanePositionSequence").ImagePositionPatient, float)
        cosines = numpy.array(groups_of(data, index, "PlaneOrientationSequence").ImageOrientationPatient, float)
        spacing = numpy.array(groups_of(data, index, "PixelMeasuresSequence").PixelSpacing, float)
        if data.SegmentationType == "LABELMAP":
            values = frame.astype(float)
        else:
            number = groups_of(data, index, "SegmentIdentificationSequence").ReferencedSegmentNumber
            most = data.MaximumFractionalValue if data.SegmentationType == "FRACTIONAL" else 1
            values = numpy.where(2 * frame.astype(float) >= most, number, 0)
        rows, columns = numpy.nonzero(values)
        world = position + numpy.outer(columns * spacing[1], cosines[:3]) + numpy.outer(rows * spacing[0], cosines[3:])
        ras = numpy.column_stack([world * [-1, -1, 1], numpy.ones(len(world))])
        at = (ras @ inverse.T)[:, :3]
        nearest = numpy.rint(at).astype(int)
        if len(at) and numpy.abs(at - nearest).max() > 0.05:
            raise ValueError(f"frame {index} lies {numpy.abs(at - nearest).max():.2f} voxels beside the grid")
        for (x, y, z), value in zip(nearest, values[rows, columns]):
            labels[x, y, z] = max(labels[x, y, z], value)
    return labels


def compare(voxshard, path):
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "labels.nii")
        run = subprocess.run([voxshard, "convert", path, "-o", output, "-q"], capture_output=True, text=True)
        if run.returncode != 0:
            return "refused: " + run.stderr.strip().replace(path, os.path.basename(path))
        image = nibabel.load(output)
        ours = image.get_fdata()
        labels = expected_labels(pydicom.dcmread(path), numpy.linalg.inv(image.affine), ours.shape)
        word = "equal" if numpy.array_equal(ours, labels) else "DIFFERENT"
        return f"{word}: {ours.shape}, labels {sorted(set(ours.astype(int).ravel()))[:8]}, {int((ours > 0).sum())} voxels"


def main():
    warnings.simplefilter("ignore")
    different = 0
    for path in sys.argv[2:]:
        text = compare(sys.argv[1], path)
        different += text.startswith("DIFFERENT")
        print(f"{os.path.basename(path)}: {text}")
    sys.exit(1 if different else 0)


main()
