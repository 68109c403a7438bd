#!/usr/bin/env python3
"""Holds the DICOM objects that predict writes against pydicom, dciodvfy, dsrdump and plastimatch.

    python3 tests/hospital/objects_against_others.py build/release/bin/voxshard [FOLDER]...

Trains a small run on generated phantoms, writes one of them as DICOM series in several orientations by pydicom, predicts each
with --write, and compares: every frame of the segmentation, also of one in several files, with the label map in NIfTI at its place in
the world; the contours, filled by an even-odd rule of this file's own, and class by class by plastimatch; the numbers of the report
with measures.json, its flags with quality.csv, and the segments that it refers to with the files. dciodvfy must exit 0 on all
objects, dsrdump on the report. The real series of the folders are predicted too: in their segmentations dciodvfy may find only
errors that the series have, in the modules that are copied; series without a segmentation are named.
Exit 0: all equal, 1: some differ, 77: python3-pydicom, -nibabel or -numpy is missing.
"""
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
try:
    import nibabel
    import numpy
    import pydicom
    from pydicom.dataset import Dataset, FileMetaDataset
    from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian

    from inherited_errors import judge_folders
    from plastimatch_masks import against_plastimatch, edge_distance, plastimatch_masks
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

ALL = "dicom-seg,measures,sr,rt-struct"
POSITIONS = {
    "axial": ([1, 0, 0], [0, 1, 0]),
    "flipped": ([1, 0, 0], [0, -1, 0]),
    "coronal": ([1, 0, 0], [0, 0, -1]),
    "oblique": ([0.8, 0.6, 0], [-0.6, 0.8, 0]),
}


def write_series(folder, volume, spacing, cosines):
    """Writes a volume (x, y, z) as a series; x runs along the rows."""
    os.makedirs(folder)
    row, column = map(numpy.array, cosines)
    normal = numpy.cross(row, column)
    for k in range(volume.shape[2]):
        data = Dataset()
        data.SOPClassUID, data.SOPInstanceUID = CTImageStorage, f"1.2.3.1.{k + 1}"
        data.StudyInstanceUID, data.SeriesInstanceUID, data.FrameOfReferenceUID = "1.2.3", "1.2.3.4", "1.2.3.9"
        data.Modality, data.PatientName, data.PatientID = "CT", "Planted^Name", "P-1"
        data.PatientBirthDate, data.PatientSex, data.StudyID, data.SeriesNumber, data.InstanceNumber = "", "O", "1", 1, k + 1
        data.StudyDate, data.StudyTime, data.SeriesDate, data.SeriesTime = "20240131", "100000", "20240131", "110000"
        data.AccessionNumber, data.ReferringPhysicianName, data.Manufacturer = "", "", "none"
        data.ImageType, data.PositionReferenceIndicator = ["ORIGINAL", "PRIMARY", "AXIAL"], ""
        data.Rows, data.Columns = volume.shape[1], volume.shape[0]
        data.PixelSpacing, data.SliceThickness = [float(spacing[1]), float(spacing[0])], round(float(spacing[2]), 6)
        data.ImageOrientationPatient = [float(v) for v in [*row, *column]]
        data.ImagePositionPatient = [round(float(v), 6) for v in numpy.array([-20.5, 11, 3]) + normal * spacing[2] * k]
        data.SamplesPerPixel, data.PhotometricInterpretation = 1, "MONOCHROME2"
        data.BitsAllocated, data.BitsStored, data.HighBit, data.PixelRepresentation = 16, 16, 15, 1
        data.RescaleSlope, data.RescaleIntercept = 1, -1024
        data.PixelData = (volume[:, :, k].T + 1024).astype("<i2").tobytes()
        data.file_meta = FileMetaDataset()
        data.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
        data.file_meta.MediaStorageSOPClassUID, data.file_meta.MediaStorageSOPInstanceUID = CTImageStorage, data.SOPInstanceUID
        data.is_little_endian, data.is_implicit_VR = True, False
        data.save_as(os.path.join(folder, f"{k}.dcm"), write_like_original=False)


def indices(label_map, world):
    """Returns the voxels of a NIfTI file at places in DICOM's world."""
    ras = numpy.column_stack([world * [-1, -1, 1], numpy.ones(len(world))])
    at = (ras @ numpy.linalg.inv(label_map.affine).T)[:, :3]
    nearest = numpy.rint(at).astype(int)
    assert numpy.abs(at - nearest).max() < 0.02, "a voxel lies beside the grid"
    return nearest


def segmentation_files(folder, case):
    return [os.path.join(folder, file) for file in sorted(os.listdir(folder)) if file.startswith(case + ".seg.")]


def segments(data, classes):
    """Returns the labels of a segmentation by the numbers of its segments, which must count from 1."""
    assert [one.SegmentNumber for one in data.SegmentSequence] == list(range(1, len(data.SegmentSequence) + 1))
    return {one.SegmentNumber: classes[one.SegmentLabel] for one in data.SegmentSequence}


def add_segmentation(path, label_map, classes, labels):
    """Adds the voxels of one file to a map."""
    data = pydicom.dcmread(path)
    frames = data.pixel_array.reshape(-1, data.Rows, data.Columns)
    label_of = segments(data, classes)
    shared = data.SharedFunctionalGroupsSequence[0]
    cosines = numpy.array(shared.PlaneOrientationSequence[0].ImageOrientationPatient, float)
    spacing = shared.PixelMeasuresSequence[0].PixelSpacing
    for groups, frame in zip(data.PerFrameFunctionalGroupsSequence, frames):
        assert frame.any(), "an empty frame"
        position = numpy.array(groups.PlanePositionSequence[0].ImagePositionPatient, float)
        rows, columns = numpy.nonzero(frame)
        world = position + numpy.outer(columns * spacing[1], cosines[:3]) + numpy.outer(rows * spacing[0], cosines[3:])
        number = groups.SegmentIdentificationSequence[0].ReferencedSegmentNumber
        labels[tuple(indices(label_map, world).T)] = label_of[number]
    assert str(data.PatientName) == "Planted^Name" and data.StudyInstanceUID == "1.2.3"
    return data


def segmentation_map(folder, case, label_map, classes):
    labels = numpy.zeros(label_map.shape, int)
    files = [add_segmentation(path, label_map, classes, labels) for path in segmentation_files(folder, case)]
    assert len({one.SeriesInstanceUID for one in files}) == 1 and len({one.SOPInstanceUID for one in files}) == len(files)
    return labels


def contour_map(path, label_map):
    """Fills contours by the even-odd rule over the centres of voxels, in voxel indices of the label map."""
    data = pydicom.dcmread(path)
    inverse = numpy.linalg.inv(label_map.affine)
    labels = numpy.zeros(label_map.shape, int)
    for region in data.ROIContourSequence:
        inside = numpy.zeros(label_map.shape, bool)
        for contour in getattr(region, "ContourSequence", []):
            points = numpy.array(contour.ContourData, float).reshape(-1, 3) * [-1, -1, 1]
            at = numpy.column_stack([points, numpy.ones(len(points))]) @ inverse.T
            k = int(round(at[:, 2].mean()))
            assert numpy.abs(at[:, 2] - k).max() < 0.02, "a contour leaves its slice"
            for (x0, y0), (x1, y1) in zip(at[:, :2], numpy.roll(at[:, :2], -1, axis=0)):
                if abs(y1 - y0) < 0.5:
                    continue
                for j in range(int(numpy.ceil(min(y0, y1))), int(numpy.ceil(max(y0, y1)))):
                    x = x0 + (j - y0) / (y1 - y0) * (x1 - x0)
                    inside[int(numpy.ceil(x)):, j, k] ^= True
        labels[inside] = region.ReferencedROINumber
    return labels


def numbers_in(item, found):
    if item.ValueType == "NUM":
        found.append(float(item.MeasuredValueSequence[0].NumericValue))
    for part in getattr(item, "ContentSequence", []):
        numbers_in(part, found)
    return found


def flags_in(item, found):
    """Collects (code, sentence) of the flags of a report."""
    if item.ValueType == "TEXT" and item.ConceptNameCodeSequence[0].CodingSchemeDesignator == "99VOXSHARD":
        found.append((item.ConceptNameCodeSequence[0].CodeValue, item.TextValue))
    for part in getattr(item, "ContentSequence", []):
        flags_in(part, found)
    return found


def segments_in(item, found):
    """Collects (tracking identifier, UID of the file, number of the segment) of the groups of a report."""
    parts = getattr(item, "ContentSequence", [])
    names = [p.TextValue for p in parts if p.ValueType == "TEXT" and p.ConceptNameCodeSequence[0].CodeValue == "112039"]
    for part in parts:
        if part.ValueType == "IMAGE" and names:
            image = part.ReferencedSOPSequence[0]
            numbers = image.ReferencedSegmentNumber
            found.append((names[0], image.ReferencedSOPInstanceUID, int(numbers if isinstance(numbers, (int, str)) else numbers[0])))
        segments_in(part, found)
    return found


def judge_report(name, folder, case, classes):
    report = pydicom.dcmread(os.path.join(folder, case + ".sr.dcm"))
    told = sorted(sum((flags_in(part, []) for part in report.ContentSequence), []))
    with open(os.path.join(folder, "quality.csv")) as file:
        wanted = sorted((row["code"], row["what"] + ".") for row in csv.DictReader(file) if row["case"] == case and row["code"])
    same = told == wanted
    print(f"{name}: report, {len(told)} flags, {'equal' if same else 'DIFFERENT'}")
    by_uid = {}
    for path in segmentation_files(folder, case):
        data = pydicom.dcmread(path, stop_before_pixels=True)
        by_uid[data.SOPInstanceUID] = segments(data, classes)
    groups = sum((segments_in(part, []) for part in report.ContentSequence), [])
    right = bool(groups) and all(by_uid[uid][number] == classes[label] for label, uid, number in groups)
    print(f"{name}: report, {len(groups)} segments in {len(by_uid)} files, {'right' if right else 'WRONG'}")
    return same and right, len(told)


def judge_filling(name, contours, label_map, classes):
    """Holds each class of a label map against what plastimatch fills of its contours."""
    truth = numpy.asarray(label_map.dataobj)
    series = os.path.join(os.path.dirname(os.path.dirname(contours)), "ct")
    with tempfile.TemporaryDirectory() as scratch:
        theirs = plastimatch_masks(contours, [os.path.join(series, file) for file in os.listdir(series)], scratch)
        if isinstance(theirs, str):
            print(f"{name}: {theirs}")
            return theirs.startswith("skipped")
        same = True
        for label, number in classes.items():
            mask = truth == number
            if number == 0 or not mask.any():
                continue
            text, good = "plastimatch: no structure", False
            if label in theirs:
                others_grid = ("plastimatch: another grid", False)
                text, good = against_plastimatch(mask, label_map.affine, edge_distance(mask), theirs[label]) or others_grid
            print(f"{name}, {label}: {int(mask.sum())} voxels; {text}{'' if good else '; DIFFERENT'}")
            same = same and good
    return same


def judge(name, folder, case):
    with open(os.path.join(folder, "classes.json")) as file:
        names = json.load(file)["labels"]
    label_map = nibabel.load(os.path.join(folder, case + ".nii.gz"))
    truth = numpy.asarray(label_map.dataobj).astype(int)
    same = True
    contours = os.path.join(folder, case + ".rtstruct.dcm")
    maps = [("segmentation", segmentation_map(folder, case, label_map, names))]
    maps += [("contours", contour_map(contours, label_map))] if os.path.exists(contours) else []
    for what, found in maps:
        differ = int((found != truth).sum())
        print(f"{name}: {what}, {int((truth > 0).sum())} voxels, {differ} differ")
        same = same and differ == 0
    with open(os.path.join(folder, "measures.json")) as file:
        classes = json.load(file)["cases"][0]["classes"]
    wanted = sorted(value for one in classes if one["voxels"] for value in
                    (one["ml"], one["mean"], one["deviation"], one["diameter_mm"]))
    report = pydicom.dcmread(os.path.join(folder, case + ".sr.dcm"))
    found = sorted(sum((numbers_in(part, []) for part in report.ContentSequence), []))
    close = len(found) == len(wanted) and numpy.allclose(found, wanted, rtol=1e-9)
    print(f"{name}: report, {len(found)} numbers, {'equal' if close else 'DIFFERENT'}")
    good, flags = judge_report(name, folder, case, names)
    same = same and close and good
    checked = [("dciodvfy", os.path.basename(path)[len(case):]) for path in segmentation_files(folder, case)]
    checked += [("dciodvfy", ".rtstruct.dcm")] if os.path.exists(contours) else []
    for program, ending in [*checked, ("dciodvfy", ".sr.dcm"), ("dsrdump", ".sr.dcm")]:
        if shutil.which(program) is None:
            print(f"skipped: {program} is missing")
            continue
        done = subprocess.run([program, os.path.join(folder, case + ending)], capture_output=True, text=True)
        print(f"{name}: {program} exits {done.returncode} on the {ending[1:-4]}")
        if done.returncode != 0:
            print("".join(line + "\n" for line in (done.stdout + done.stderr).splitlines() if "rror" in line), end="")
        same = same and done.returncode == 0
    if os.path.exists(contours):
        same = judge_filling(name, contours, label_map, names) and same
    return same, flags


def main():
    voxshard, folders = os.path.abspath(sys.argv[1]), sys.argv[2:]
    same = True
    with tempfile.TemporaryDirectory() as top:
        def run(*words):
            subprocess.run([voxshard, *words, "--quiet"], cwd=top, check=True, capture_output=True)
        run("demo", "data", "--cases", "9", "--test", "1")  # of fewer than 8 nothing is usual, and no flag is given
        run("prepare", "data", "-o", "work", "--spacing", "8,8,8")
        run("train", "work", "-o", "run", "--base-filters", "4", "--depth", "3", "--crop", "16x16x16", "--steps", "80", "--fold", "all")
        image = nibabel.load(os.path.join(top, "data", "imagesTr", "phantom_000_0000.nii.gz"))
        volume = numpy.rint(numpy.asarray(image.dataobj)).astype(int)
        volume = volume[: volume.shape[0] // 2 * 2 - 1, : volume.shape[1] // 2 * 2 - 3]  # slices of an odd number of pixels
        spacing = numpy.array(image.header.get_zooms()[:3], float)

        def judged(name, voxels, spacing, cosines, *options):
            folder = os.path.join(top, name)
            os.makedirs(folder)
            write_series(os.path.join(folder, "ct"), voxels, spacing, cosines)
            run("predict", "run", os.path.join(name, "ct"), "-o", os.path.join(name, "out"), "--write", *options)
            (case,) = [file[:-7] for file in os.listdir(os.path.join(folder, "out")) if file.endswith(".nii.gz")]
            return judge(name, os.path.join(folder, "out"), case)

        for name, cosines in POSITIONS.items():
            same = judged(name, volume, spacing, cosines, ALL)[0] and same
        half = volume[:, :, : volume.shape[2] // 2]
        good, flags = judged("cut", half, spacing, POSITIONS["axial"], ALL)
        same = same and good and flags > 0
        times = -(-900 // volume.shape[2])  # each slice as many thin ones: more than 400 frames
        good, _ = judged("parts", numpy.repeat(volume, times, axis=2), spacing / [1, 1, times], POSITIONS["axial"],
                         "dicom-seg,measures,sr", "--segments-per-file", "2")
        parts = len([file for file in os.listdir(os.path.join(top, "parts", "out")) if ".seg." in file])
        print(f"parts: the segmentation has {parts} files")
        same = same and good and parts > 1
        if folders:
            same = judge_folders(voxshard, os.path.join(top, "run"), folders, top) and same
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
