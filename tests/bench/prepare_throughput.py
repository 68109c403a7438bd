#!/usr/bin/env python3
"""`voxshard prepare` on large CT volumes against a Python pipeline of nibabel or pydicom and SciPy, and its peak memory.

  /usr/bin/python3 tests/bench/prepare_throughput.py                     # 8 cases of 512x512x400, int16 .nii.gz
  /usr/bin/python3 tests/bench/prepare_throughput.py --cases 40          # the whole figure: 45 GB of free disk
  /usr/bin/python3 tests/bench/prepare_throughput.py --cases 40 --distinct 3   # 3 images under 40 names: 25 GB
  /usr/bin/python3 tests/bench/prepare_throughput.py --size 256x256x200 --cases 0 --dicom 3

Needs Debian's python3-nibabel and python3-scipy (--dicom: python3-pydicom). Both sides make the same data from the same files:
exact percentiles, mean and deviation of the foreground, in which every case weighs the same, in a first pass; in a second one axes
turned to LPS, values clipped and normalised, image (linear, samples outside take the edge) and label (nearest) resampled to the
median spacing, and both written without compression. Python runs in two processes, voxshard with --threads 4 within --host-memory
2GiB. The files are read once before, so that both find them in memory. The last case of each side is compared: an image that
differs by more than float32 rounding ends the script. --dicom N prepares a tree of N studies as well, each a CT series of single
slices and a segmentation. One JSON document: seconds and their ratio (wall clock and processor time, which other work on the
machine disturbs less) and the planned and peak memory of voxshard, as it reports them. voxshard waits until its files are on the
disk, Python does not: a --folder in memory leaves that out.
"""
import argparse, gzip, json, multiprocessing, os, resource, shutil, subprocess, sys, tempfile, time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import nibabel
import numpy as np
from scipy import ndimage

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("--voxshard", default="build/release/bin/voxshard")
p.add_argument("--cases", type=int, default=8, help="of NIfTI files; 0: none")
p.add_argument("--distinct", type=int, default=0, help="images that are made; further cases are hard links to them; 0: all")
p.add_argument("--size", default="512x512x400")
p.add_argument("--host-memory", default="2GiB")
p.add_argument("--threads", type=int, default=4)
p.add_argument("--processes", type=int, default=2, help="of the Python pipeline")
p.add_argument("--dicom", type=int, default=0, help="DICOM studies; 0: none")
p.add_argument("--only-voxshard", action="store_true", help="leave the Python pipeline out: peak and seconds alone")
p.add_argument("--folder", help="where data go; default: a temporary folder")
a = p.parse_args()
SIZE = tuple(int(n) for n in a.size.split("x"))  # x, y, z
SPACINGS = [(0.8, 0.8, 1.0), (0.75, 0.75, 1.25), (0.9, 0.9, 1.0)]


def phantom(seed):
    """Image and label as (x, y, z): an ellipse of soft tissue with two organs in air, and noise as of a scanner."""
    draw = np.random.default_rng(seed)
    x, y = np.meshgrid(*(np.linspace(-1, 1, n, dtype=np.float32) for n in SIZE[:2]), indexing="ij")
    image = np.empty(SIZE, np.int16, order="F")
    label = np.zeros(SIZE, np.uint8, order="F")
    noise = draw.normal(0, 12, SIZE[:2] + (8,)).astype(np.int16)
    for k in range(SIZE[2]):
        z = 2 * k / SIZE[2] - 1
        body = x**2 + (1.3 * y) ** 2 < 0.8
        image[:, :, k] = np.where(body, 40, -1000) + np.roll(noise[:, :, k % 8], k, 0) * body
        for c, (cx, cy, r, hu) in enumerate([(-0.35, 0.0, 0.28, 60), (0.4, 0.1, 0.2, 25)], 1):
            organ = (x - cx) ** 2 + (y - cy) ** 2 + (0.8 * z) ** 2 < r**2
            image[:, :, k][organ] += hu
            label[:, :, k][organ] = c
    return image, label


def write_case(job):
    folder, i = job
    image, label = phantom(i)
    affine = np.diag([*SPACINGS[i % 3], 1.0])  # RAS: both sides turn it to LPS
    for kind, name, voxels in (("imagesTr", f"c{i:02}_0000", image), ("labelsTr", f"c{i:02}", label)):
        nifti = nibabel.Nifti1Image(voxels, affine)
        header = nifti.header
        header.set_data_dtype(voxels.dtype)
        path = folder / kind / f"{name}.nii.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(path, "wb", 4) as out:
            out.write(nifti.to_bytes())


def link_case(folder, i, distinct):
    for kind, ending in (("imagesTr", "_0000.nii.gz"), ("labelsTr", ".nii.gz")):
        os.link(folder / kind / f"c{i % distinct:02}{ending}", folder / kind / f"c{i:02}{ending}")


def dicom_file(sop_class, uid, study, **values):
    from pydicom.dataset import FileDataset, FileMetaDataset
    from pydicom.uid import ExplicitVRLittleEndian
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID, meta.TransferSyntaxUID = sop_class, ExplicitVRLittleEndian
    meta.MediaStorageSOPInstanceUID = uid
    d = FileDataset(None, {}, file_meta=meta, preamble=b"\0" * 128)
    d.is_little_endian, d.is_implicit_VR = True, False
    d.SOPClassUID, d.SOPInstanceUID, d.StudyInstanceUID, d.FrameOfReferenceUID = sop_class, uid, study, study + ".9"
    d.Rows, d.Columns, d.SamplesPerPixel, d.PhotometricInterpretation = SIZE[1], SIZE[0], 1, "MONOCHROME2"
    for name, value in values.items():
        setattr(d, name, value)
    return d


def one(**values):
    """A sequence of one item."""
    from pydicom.dataset import Dataset
    item = Dataset()
    for name, value in values.items():
        setattr(item, name, value)
    return [item]


def write_study(job):
    """A CT series, a file a slice, and a segmentation of its organs: frames of the slices that are not empty."""
    from pydicom.uid import CTImageStorage, SegmentationStorage
    folder, i = job
    image, label = phantom(i)
    study, (x_mm, y_mm, z_mm) = f"1.2.3.{i + 1}", SPACINGS[i % 3]
    (folder / "ct").mkdir(parents=True)
    for k in range(SIZE[2]):
        dicom_file(CTImageStorage, f"{study}.1.{k + 1}", study, SeriesInstanceUID=study + ".1", Modality="CT",
                   ImagePositionPatient=[0, 0, k * z_mm], ImageOrientationPatient=[1, 0, 0, 0, 1, 0], PixelSpacing=[y_mm, x_mm],
                   SliceThickness=z_mm, RescaleSlope=1, RescaleIntercept=-1024, BitsAllocated=16, BitsStored=16, HighBit=15,
                   PixelRepresentation=1, PixelData=(image[:, :, k].T + np.int16(1024)).tobytes()
                   ).save_as(folder / "ct" / f"{k:04}.dcm", write_like_original=False)
    frames, bits = [], []
    for c in (1, 2):
        for k in range(SIZE[2]):
            mask = label[:, :, k].T == c
            if mask.any():
                frames += one(PlanePositionSequence=one(ImagePositionPatient=[0, 0, k * z_mm]),
                              SegmentIdentificationSequence=one(ReferencedSegmentNumber=c))
                bits.append(np.packbits(mask.ravel(), bitorder="little"))
    shared = one(PlaneOrientationSequence=one(ImageOrientationPatient=[1, 0, 0, 0, 1, 0]),
                 PixelMeasuresSequence=one(PixelSpacing=[y_mm, x_mm], SliceThickness=z_mm, SpacingBetweenSlices=z_mm))
    segments = [one(SegmentNumber=c, SegmentLabel=name, SegmentAlgorithmType="MANUAL")[0] for c, name in ((1, "a"), (2, "b"))]
    dicom_file(SegmentationStorage, study + ".2.1", study, SeriesInstanceUID=study + ".2", Modality="SEG",
               ReferencedSeriesSequence=one(SeriesInstanceUID=study + ".1"), SegmentationType="BINARY", SegmentSequence=segments,
               SharedFunctionalGroupsSequence=shared, PerFrameFunctionalGroupsSequence=frames, NumberOfFrames=len(frames),
               BitsAllocated=1, BitsStored=1, HighBit=0, PixelRepresentation=0, PixelData=np.concatenate(bits).tobytes()
               ).save_as(folder / "labels.dcm", write_like_original=False)


def read_nifti(files):
    """Image and label as (x, y, z) in LPS, and the spacing."""
    image, label = (nibabel.load(file) for file in files)
    return *(np.asanyarray(volume.dataobj)[::-1, ::-1] for volume in (image, label)), image.header.get_zooms()


def read_study(folder):
    import pydicom
    slices = sorted((pydicom.dcmread(f) for f in (Path(folder) / "ct").iterdir()), key=lambda d: float(d.ImagePositionPatient[2]))
    image = np.stack([d.pixel_array.T.astype(np.float32) * float(d.RescaleSlope) + float(d.RescaleIntercept) for d in slices], -1)
    place = {round(float(d.ImagePositionPatient[2]), 3): k for k, d in enumerate(slices)}
    seg = pydicom.dcmread(Path(folder) / "labels.dcm")
    label = np.zeros(image.shape, np.uint8)
    for frame, groups in zip(seg.pixel_array, seg.PerFrameFunctionalGroupsSequence):
        k = place[round(float(groups.PlanePositionSequence[0].ImagePositionPatient[2]), 3)]
        plane = label[:, :, k]
        np.maximum(plane, frame.T * np.uint8(groups.SegmentIdentificationSequence[0].ReferencedSegmentNumber), out=plane)
    d = slices[0]
    step = float(slices[1].ImagePositionPatient[2]) - float(d.ImagePositionPatient[2])
    return image, label, (float(d.PixelSpacing[1]), float(d.PixelSpacing[0]), step)


def foreground_counts(job):
    read, source = job
    image, label, spacing = read(source)
    return np.bincount(image[label > 0].astype(np.int32) + 32768, minlength=65536), spacing


def resampled(voxels, spacing, target, order):
    size = [max(1, round(s * n / t)) for s, n, t in zip(spacing, voxels.shape, target)]
    if list(voxels.shape) == size:
        return voxels
    zoom = [m / n for m, n in zip(size, voxels.shape)]
    return ndimage.zoom(voxels, zoom, order=order, mode="nearest", grid_mode=True, prefilter=False)


def prepare_one(job):
    read, source, target, low, high, mean, std, out = job
    image, label, spacing = read(source)
    voxels = image.astype(np.float32)
    np.clip(voxels, low, high, out=voxels)
    voxels -= np.float32(mean)
    voxels /= np.float32(std)
    np.save(out + "_image.npy", resampled(voxels, spacing, target, 1))
    np.save(out + "_label.npy", resampled(label, spacing, target, 0))


def python_prepare(read, sources, out):
    out.mkdir()
    with multiprocessing.Pool(a.processes) as pool:
        found = pool.map(foreground_counts, [(read, source) for source in sources], chunksize=1)
        share = np.mean([counts / counts.sum() for counts, _ in found], 0)  # every case weighs the same
        values, below = np.arange(-32768, 32768), share.cumsum()
        low, high = (float(values[np.searchsorted(below, part * (1 - 1e-12))]) for part in (0.005, 0.995))
        mean = (share * values).sum()  # of the foreground as it is, as nnU-Net has it
        std = np.sqrt((share * values**2.0).sum() - mean**2)
        target = np.median([spacing for _, spacing in found], 0)
        pool.map(prepare_one, [(read, source, target, low, high, mean, std, str(out / f"c{i:02}")) for i, source in enumerate(sources)],
                 chunksize=1)


def timed(act):
    """(wall seconds, processor seconds with those of child processes), result"""
    def used():
        return sum(u.ru_utime + u.ru_stime for u in (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
    start, before = time.monotonic(), used()
    result = act()
    return {"wall_s": round(time.monotonic() - start, 1), "processor_s": round(used() - before, 1)}, result


def ours(*words):
    """Runs the program and returns its report."""
    done = subprocess.run([a.voxshard, *map(str, words), "--json", "--quiet"], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def warm(folder):
    for file in folder.rglob("*"):
        if file.is_file():
            file.read_bytes()


def ratios(mine, theirs):
    return {clock: round(theirs[clock] / mine[clock], 2) for clock in mine}


def compare(work, python):
    """Of the last case: the largest difference of the images, and the share of labels that differ."""
    ours = {kind: np.asanyarray(nibabel.load(sorted((work / f"{kind}s").iterdir())[-1]).dataobj) for kind in ("image", "label")}
    theirs = {kind: np.load(sorted(python.glob(f"*_{kind}.npy"))[-1]) for kind in ours}
    for kind in ours:
        if ours[kind].shape != theirs[kind].shape:
            sys.exit(f"not the same grid: {theirs[kind].shape} and {ours[kind].shape}")
    largest = float(max(np.abs(x - y).max() for x, y in zip(ours["image"].T, theirs["image"].T)))
    most = 32 * float(np.finfo(np.float32).eps) * max(float(np.abs(ours["image"]).max()), 1)  # some ten roundings to float32
    if largest > most:
        sys.exit(f"the images differ by {largest}, more than rounding: {most}")
    return {"largest_difference": largest, "share_of_labels_that_differ": float((ours["label"] != theirs["label"]).mean())}


def measure(words, read, sources):
    """Both sides on the same files."""
    work, python = room / "work", room / "python"
    for folder in (work, python):
        shutil.rmtree(folder, ignore_errors=True)
    mine, said = timed(lambda: ours("prepare", *words, "--spacing", "median", "--normalise", "ct", "-o", work, "--threads", a.threads, "--host-memory", a.host_memory))
    report = {"cases": len(sources), "size": a.size, "voxshard": mine, "memory": said.get("memory")}
    if not a.only_voxshard:
        theirs, _ = timed(lambda: python_prepare(read, sources, python))
        report |= {"python": theirs, "ratio": ratios(mine, theirs)} | compare(work, python)
    for folder in (work, python):
        shutil.rmtree(folder, ignore_errors=True)
    return report


def nifti_report():
    data, distinct = room / "data", min(a.distinct or a.cases, a.cases)
    if not (data / "dataset.json").exists():
        with multiprocessing.Pool(a.processes) as pool:
            pool.map(write_case, [(data, i) for i in range(distinct)], chunksize=1)
        for i in range(distinct, a.cases):
            link_case(data, i, distinct)
        (data / "dataset.json").write_text(json.dumps({"channel_names": {"0": "CT"}, "labels": {"background": 0, "a": 1, "b": 2},
                                                       "numTraining": a.cases, "file_ending": ".nii.gz"}))
    warm(data)
    images = sorted((data / "imagesTr").iterdir())
    return measure([data], read_nifti, [(str(i), str(data / "labelsTr" / i.name.replace("_0000", ""))) for i in images])


def dicom_report():
    studies, classes = room / "studies", room / "classes.toml"
    if not classes.exists():
        with multiprocessing.Pool(a.processes) as pool:
            pool.map(write_study, [(studies / f"s{i:02}", i) for i in range(a.dicom)], chunksize=1)
        classes.write_text("".join(f'[[class]]\nname = "{name}"\n' for name in "ab"))
    warm(studies)
    return measure([studies, "--classes", classes, "--keep-names"], read_study, [str(s) for s in sorted(studies.iterdir())])


room = Path(a.folder) if a.folder else Path(tempfile.mkdtemp(prefix="voxshard_prepare_"))
room.mkdir(exist_ok=True)
try:
    reports = ({"nifti": nifti_report()} if a.cases else {}) | ({"dicom": dicom_report()} if a.dicom else {})
    print(json.dumps(reports, indent=2))
finally:
    if not a.folder:
        shutil.rmtree(room, ignore_errors=True)
