#!/usr/bin/env python3
"""Compares contours of RT structure sets that voxshard fills with an even-odd rule of its own, and with plastimatch.

    python3 tests/hospital/contours_against_others.py build/release/bin/voxshard [RS.dcm IMAGE_FOLDER]...

It writes series with structure sets (a ball, a ring, a keyhole contour, islands, contours with gaps; upright, oblique and with
flipped axes), converts each structure by its name on its series, and casts a ray from the centre of every voxel in patient
coordinates, contour by contour. Voxels may differ only where their centre lies within half a pixel of a contour, and Dice must be
0.99 from 2000 voxels on. plastimatch fills rings, and knows upright series only: elsewhere it is not asked. Exit 0: all agree, 1:
some differ, 77: python3-pydicom, -nibabel or -numpy is missing.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
try:
    import nibabel
    import numpy
    import pydicom
    from pydicom.dataset import Dataset, FileMetaDataset
    from pydicom.sequence import Sequence

    from plastimatch_masks import against_plastimatch, judged, plastimatch_masks
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

CT, STRUCTURES = "1.2.840.10008.5.1.4.1.1.2", "1.2.840.10008.5.1.4.1.1.481.3"
ROWS, COLUMNS, SLICES = 72, 80, 24
SPACING = (0.9, 1.1, 2.5)  # between columns, rows, slices


def new_data(sop_class, instance):
    data = Dataset()
    data.file_meta = FileMetaDataset()
    data.file_meta.MediaStorageSOPClassUID = data.SOPClassUID = sop_class
    data.file_meta.MediaStorageSOPInstanceUID = data.SOPInstanceUID = instance
    data.file_meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
    data.is_little_endian, data.is_implicit_VR = True, False
    data.StudyInstanceUID, data.FrameOfReferenceUID = "1.2.3", "1.2.3.9"
    data.PatientName, data.PatientID, data.StudyID = "Nobody", "0", "1"
    return data


def write_series(folder, origin, row, column):
    """Writes a CT in air whose slices follow the normal of the plane."""
    normal = numpy.cross(row, column)
    os.makedirs(folder)
    for z in range(SLICES):
        data = new_data(CT, f"1.2.3.4.{z + 1}")
        data.SeriesInstanceUID, data.Modality, data.InstanceNumber = "1.2.3.4", "CT", z + 1
        data.ImageType = ["ORIGINAL", "PRIMARY", "AXIAL"]
        position = origin + normal * z * SPACING[2]
        data.ImagePositionPatient = [f"{v:.8g}" for v in position]
        data.ImageOrientationPatient = [f"{v:.10g}" for v in numpy.concatenate([row, column])]
        data.PixelSpacing, data.SliceThickness = [SPACING[1], SPACING[0]], SPACING[2]
        data.Rows, data.Columns, data.SamplesPerPixel = ROWS, COLUMNS, 1
        data.PhotometricInterpretation = "MONOCHROME2"
        data.BitsAllocated = data.BitsStored = 16
        data.HighBit, data.PixelRepresentation = 15, 1
        data.RescaleSlope, data.RescaleIntercept = 1, -1000
        data.PixelData = numpy.zeros((ROWS, COLUMNS), numpy.int16).tobytes()
        data.save_as(os.path.join(folder, f"{z:03}.dcm"), write_like_original=False)


def circle(x, y, radius, points=90, turns=1):
    angles = numpy.linspace(0, turns * 2 * numpy.pi, points, endpoint=False)
    return [(x + radius * numpy.cos(a), y + 0.8 * radius * numpy.sin(a)) for a in angles]


def ball(x, y, z, radius, step=1):
    """Yields (slice, contour in mm within the plane)."""
    for k in range(0, SLICES, step):
        height = (k - z) * SPACING[2]
        if abs(height) < radius - 0.5:
            yield k, circle(x, y, (radius**2 - height**2) ** 0.5)


def structures():
    """Returns {name: (contours as (slice, points), whether it has holes)}."""
    shell = list(ball(40, 40, 12, 28)) + [(k, list(reversed(c))) for k, c in ball(42, 38, 12, 15)]
    keyhole = []
    for k in range(5, 18):
        outer, inner = circle(30, 35, 22), circle(30, 35, 9, turns=-1)
        keyhole.append((k, outer + outer[:1] + inner + inner[:1]))
    islands = [(k, circle(15 + 3 * i, 20 + 22 * i, 6 + i, 40)) for k in range(4, 20) for i in range(3)]
    return {
        "ball": (list(ball(38, 38, 11, 26)), False),
        "shell": (shell, True),
        "keyhole": (keyhole, True),
        "islands": (islands, False),
        "gaps": (list(ball(38, 38, 11, 26, step=3)), False),
        "beyond": (list(ball(2, 70, 3, 20)), False),
    }


def write_structures(path, origin, row, column):
    normal = numpy.cross(row, column)
    data = new_data(STRUCTURES, "1.2.3.77")
    data.SeriesInstanceUID, data.Modality, data.StructureSetLabel = "1.2.3.5", "RTSTRUCT", "test"
    data.StructureSetDate, data.StructureSetTime = "20200101", "000000"
    frame, study, series = Dataset(), Dataset(), Dataset()
    series.SeriesInstanceUID, series.ContourImageSequence = "1.2.3.4", Sequence([])
    study.ReferencedSOPClassUID, study.ReferencedSOPInstanceUID = "1.2.840.10008.3.1.2.3.1", "1.2.3"
    study.RTReferencedSeriesSequence = Sequence([series])
    frame.FrameOfReferenceUID, frame.RTReferencedStudySequence = "1.2.3.9", Sequence([study])
    data.ReferencedFrameOfReferenceSequence = Sequence([frame])
    data.StructureSetROISequence, data.ROIContourSequence = Sequence([]), Sequence([])
    data.RTROIObservationsSequence = Sequence([])
    for number, (name, (contours, _)) in enumerate(structures().items(), 1):
        roi, drawn, observed = Dataset(), Dataset(), Dataset()
        roi.ROINumber, roi.ROIName, roi.ReferencedFrameOfReferenceUID = number, name, "1.2.3.9"
        roi.ROIGenerationAlgorithm = ""
        drawn.ReferencedROINumber, drawn.ROIDisplayColor, drawn.ContourSequence = number, [255, 0, 0], Sequence([])
        observed.ObservationNumber = observed.ReferencedROINumber = number
        observed.RTROIInterpretedType, observed.ROIInterpreter = "ORGAN", ""
        for k, points in contours:
            contour = Dataset()
            contour.ContourGeometricType, contour.NumberOfContourPoints = "CLOSED_PLANAR", len(points)
            places = [origin + x * row + y * column + k * SPACING[2] * normal for x, y in points]
            contour.ContourData = [f"{v:.3f}" for place in places for v in place]
            drawn.ContourSequence.append(contour)
        data.StructureSetROISequence.append(roi)
        data.ROIContourSequence.append(drawn)
        data.RTROIObservationsSequence.append(observed)
    data.save_as(path, write_like_original=False)


def contours_of(path):
    """Returns {name: list of contours, each (points, 3)} of closed contours."""
    data = pydicom.dcmread(path)
    names = {roi.ROINumber: roi.ROIName for roi in data.StructureSetROISequence}
    found = {}
    for roi in data.ROIContourSequence:
        closed = [c for c in roi.get("ContourSequence", []) if c.ContourGeometricType == "CLOSED_PLANAR"]
        found[names[roi.ReferencedROINumber]] = [numpy.array(c.ContourData, float).reshape(-1, 3) for c in closed]
    return found


def slices_of(folder):
    """Returns the slices' positions along the normal and the plane's vectors in mm."""
    headers = [pydicom.dcmread(path, stop_before_pixels=True) for path in sorted(glob.glob(os.path.join(folder, "*")))]
    headers = [h for h in headers if h.get("Modality") == "CT"]
    cosines = numpy.array(headers[0].ImageOrientationPatient, float)
    row, column = cosines[:3], cosines[3:]
    normal = numpy.cross(row, column)
    headers.sort(key=lambda h: float(normal @ numpy.array(h.ImagePositionPatient, float)))
    return headers, row, column, normal


def cast_rays(contours, headers, row, column, normal):
    """Returns the voxels (z, y, x) inside, and the distance of each centre to the nearest contour of its slice, in pixels."""
    positions = [numpy.array(h.ImagePositionPatient, float) for h in headers]
    along = numpy.array([normal @ p for p in positions])
    step = float(numpy.median(numpy.diff(along))) if len(along) > 1 else float(headers[0].SliceThickness)
    spacing = numpy.array(headers[0].PixelSpacing, float)  # between rows, between columns
    shape = (len(headers), headers[0].Rows, headers[0].Columns)
    inside, distance = numpy.zeros(shape, bool), numpy.full(shape, numpy.inf)
    xs, ys = numpy.meshgrid(numpy.arange(shape[2]) * spacing[1], numpy.arange(shape[1]) * spacing[0])
    for z, position in enumerate(positions):
        planes = [float(normal @ c.mean(axis=0)) for c in contours]
        near = [abs(p - along[z]) for p in planes]
        if not near or min(near) > step / 2:
            continue
        for contour, gap in zip(contours, near):
            if gap > min(near) + 1e-3:
                continue
            points = numpy.stack([(contour - position) @ row, (contour - position) @ column], axis=1)
            crossed = numpy.zeros(xs.shape, bool)
            for a, b in zip(points, numpy.roll(points, -1, axis=0)):
                if a[1] != b[1]:
                    crosses = (a[1] > ys) != (b[1] > ys)
                    crossed ^= crosses & (xs < (b[0] - a[0]) * (ys - a[1]) / (b[1] - a[1]) + a[0])
                # The distance to the edge, with pixels as the unit of both axes.
                start, edge = a / spacing[::-1], (b - a) / spacing[::-1]
                px, py = xs / spacing[1] - start[0], ys / spacing[0] - start[1]
                length = float(edge @ edge)
                part = numpy.clip((px * edge[0] + py * edge[1]) / length, 0, 1) if length > 0 else 0
                distance[z] = numpy.minimum(distance[z], numpy.hypot(px - part * edge[0], py - part * edge[1]))
            inside[z] ^= crossed
    return inside, distance


def ours(voxshard, path, folder, name, scratch):
    """Returns the mask (z, y, x) of a structure, by name, and the affine in LPS."""
    classes, output = os.path.join(scratch, "one.json"), os.path.join(scratch, "labels.nii")
    with open(classes, "w", encoding="utf-8") as file:
        json.dump({"class": [{"name": name}]}, file)
    command = [voxshard, "convert", path, "--like", folder, "--classes", classes, "-o", output, "-q"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        return run.stderr.strip(), None
    image = nibabel.load(output)
    return numpy.asanyarray(image.dataobj).transpose(2, 1, 0) != 0, numpy.diag([-1, -1, 1, 1]) @ image.affine


def compare(voxshard, path, folder, title, ask_plastimatch):
    headers, row, column, normal = slices_of(folder)
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        theirs = {}
        if ask_plastimatch:
            theirs = plastimatch_masks(path, [header.filename for header in headers], scratch)
        if isinstance(theirs, str):
            print(f"{title}: {theirs}")
            failed += not theirs.startswith("skipped")
            theirs = {}
        for name, contours in contours_of(path).items():
            mask, affine = ours(voxshard, path, folder, name, scratch)
            if isinstance(mask, str):
                print(f"{title}, {name}: refused: {mask}")
                failed += 1
                continue
            inside, distance = cast_rays(contours, headers, row, column, normal)
            if mask.shape != inside.shape or numpy.abs(affine[:3, 3] - headers[0].ImagePositionPatient).max() > 1e-3:
                print(f"{title}, {name}: DIFFERENT grids")
                failed += 1
                continue
            text, good = judged("rays", mask, inside, distance)
            holes = structures().get(name, ([], False))[1]
            if name in theirs and not holes:
                ras, across = numpy.diag([-1, -1, 1, 1]) @ affine, distance.transpose(2, 1, 0)
                # It makes up a grid where it does not find the image that a file names.
                own_grid = ("plastimatch: a grid of its own", name not in structures())
                more, fine = against_plastimatch(mask.transpose(2, 1, 0), ras, across, theirs[name]) or own_grid
                text, good = f"{text}; {more}", good and fine
            print(f"{title}, {name}: {int(mask.sum())} voxels; {text}{'' if good else '; DIFFERENT'}")
            failed += not good
    return failed


def main():
    warnings.simplefilter("ignore")  # pydicom's, about odd headers
    voxshard, pairs = sys.argv[1], sys.argv[2:]
    failed = 0
    turn = numpy.array([[0.9541666, 0.2785886, 0.1096], [-0.2080757, 0.880128, -0.4267], [0.2151061, -0.3843997, -0.8976]])
    axes, _ = numpy.linalg.qr(turn)
    grids = {
        "upright": ((-35.0, -48.0, 12.0), (1, 0, 0), (0, 1, 0)),
        "flipped": ((35.0, 48.0, -12.0), (-1, 0, 0), (0, -1, 0)),
        "feet first": ((35.0, -48.0, -12.0), (-1, 0, 0), (0, 1, 0)),
        "sagittal": ((5.0, -48.0, 60.0), (0, 1, 0), (0, 0, -1)),
        "oblique": ((123.0, -432.0, 30.0), axes[:, 0], axes[:, 1]),
    }
    for title, (origin, row, column) in grids.items():
        with tempfile.TemporaryDirectory() as folder:
            image, path = os.path.join(folder, "ct"), os.path.join(folder, "RS.dcm")
            place = [numpy.array(v, float) for v in (origin, row, column)]
            write_series(image, *place)
            write_structures(path, *place)
            failed += compare(voxshard, path, image, title, title == "upright")
    for path, folder in zip(pairs[::2], pairs[1::2]):
        failed += compare(voxshard, path, folder, os.path.basename(path), True)
    sys.exit(1 if failed else 0)


main()
