#!/usr/bin/env python3
"""`voxshard prepare` on large CT volumes against a Python pipeline of nibabel and SciPy, and its peak memory.

  /usr/bin/python3 tests/bench/prepare_throughput.py                     # 8 cases of 512x512x400, int16 .nii.gz
  /usr/bin/python3 tests/bench/prepare_throughput.py --cases 40          # the whole figure: 45 GB of free disk
  /usr/bin/python3 tests/bench/prepare_throughput.py --size 256x256x200 --dicom 1

Needs Debian's python3-nibabel and python3-scipy (--dicom: python3-pydicom). Both sides make the same data from the same files:
exact percentiles, mean and deviation of the foreground of all cases in a first pass; in a second one axes turned to LPS, values
clipped and normalised, image (linear, samples outside take the edge) and label (nearest) resampled to the median spacing, and
both written without compression. Python runs in two processes, voxshard with --threads 4 within --host-memory 2GiB. The files are
read once before, so that both find them in memory. The last case of each side is compared. --dicom N converts N DICOM series
of the same size, against pydicom in two processes. One JSON document: seconds and their ratio (wall clock and processor time, which
other work on the machine disturbs less) and the planned and peak memory of voxshard, as it reports them. voxshard waits until its
files are on the disk, Python does not: a --folder in memory leaves that out.
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
p.add_argument("--cases", type=int, default=8)
p.add_argument("--size", default="512x512x400")
p.add_argument("--host-memory", default="2GiB")
p.add_argument("--threads", type=int, default=4)
p.add_argument("--processes", type=int, default=2, help="of the Python pipeline")
p.add_argument("--dicom", type=int, default=0, help="DICOM series to convert; 0: none")
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


def write_series(folder, i):
    from pydicom.dataset import FileDataset, FileMetaDataset
    from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian
    image, _ = phantom(i)
    folder.mkdir(parents=True)
    for k in range(SIZE[2]):
        meta = FileMetaDataset()
        meta.MediaStorageSOPClassUID, meta.TransferSyntaxUID = CTImageStorage, ExplicitVRLittleEndian
        meta.MediaStorageSOPInstanceUID = f"1.2.3.{i}.{k + 1}"
        d = FileDataset(None, {}, file_meta=meta, preamble=b"\0" * 128)
        d.is_little_endian, d.is_implicit_VR = True, False
        d.SOPClassUID, d.SOPInstanceUID = CTImageStorage, f"1.2.3.{i}.{k + 1}"
        d.StudyInstanceUID, d.SeriesInstanceUID, d.Modality = "1.2.3", f"1.2.3.{i}", "CT"
        d.ImagePositionPatient, d.ImageOrientationPatient = [0, 0, k], [1, 0, 0, 0, 1, 0]
        d.PixelSpacing, d.SliceThickness, d.RescaleSlope, d.RescaleIntercept = [0.8, 0.8], 1, 1, -1024
        d.Rows, d.Columns, d.SamplesPerPixel, d.PhotometricInterpretation = SIZE[1], SIZE[0], 1, "MONOCHROME2"
        d.BitsAllocated, d.BitsStored, d.HighBit, d.PixelRepresentation = 16, 16, 15, 1
        d.PixelData = (image[:, :, k].T + np.int16(1024)).tobytes()
        d.save_as(folder / f"{k:04}.dcm", write_like_original=False)


def foreground_counts(job):
    image_file, label_file = job
    image = np.asanyarray(nibabel.load(image_file).dataobj)
    inside = image[np.asanyarray(nibabel.load(label_file).dataobj) > 0]
    return np.bincount(inside.astype(np.int32) + 32768, minlength=65536), nibabel.load(image_file).header.get_zooms()


def resampled(voxels, spacing, target, order):
    size = [max(1, round(s * n / t)) for s, n, t in zip(spacing, voxels.shape, target)]
    if list(voxels.shape) == size:
        return voxels
    zoom = [m / n for m, n in zip(size, voxels.shape)]
    return ndimage.zoom(voxels, zoom, order=order, mode="nearest", grid_mode=True, prefilter=False)


def prepare_one(job):
    image_file, label_file, target, low, high, mean, std, out = job
    image, label = nibabel.load(image_file), nibabel.load(label_file)
    spacing = image.header.get_zooms()
    voxels = np.asanyarray(image.dataobj)[::-1, ::-1].astype(np.float32)  # RAS to LPS
    np.clip(voxels, low, high, out=voxels)
    voxels -= np.float32(mean)
    voxels /= np.float32(std)
    voxels = resampled(voxels, spacing, target, 1)
    np.save(out + "_image.npy", voxels)
    np.save(out + "_label.npy", resampled(np.asanyarray(label.dataobj)[::-1, ::-1], spacing, target, 0))
    return voxels.shape


def python_prepare(data, out):
    files = [(str(i), str(data / "labelsTr" / i.name.replace("_0000", ""))) for i in sorted((data / "imagesTr").iterdir())]
    out.mkdir()
    with multiprocessing.Pool(a.processes) as pool:
        found = pool.map(foreground_counts, files, chunksize=1)
        counts = np.sum([c for c, _ in found], 0)
        values, total = np.arange(-32768, 32768), counts.cumsum()
        at = lambda share: values[np.searchsorted(total, share * (total[-1] - 1), "right")]
        low, high = float(at(0.005)), float(at(0.995))
        clipped = np.clip(values, low, high)
        mean = (counts * clipped).sum() / total[-1]
        std = np.sqrt((counts * (clipped - mean) ** 2).sum() / total[-1])
        target = np.median([z for _, z in found], 0)
        pool.map(prepare_one, [(*f, target, low, high, mean, std, str(out / f"c{i:02}")) for i, f in enumerate(files)], chunksize=1)


def python_convert(job):
    import pydicom
    folder, out = job
    slices = sorted((pydicom.dcmread(f) for f in Path(folder).iterdir()), key=lambda d: float(d.ImagePositionPatient[2]))
    volume = np.stack([d.pixel_array.astype(np.float32) * float(d.RescaleSlope) + float(d.RescaleIntercept) for d in slices], -1)
    nibabel.Nifti1Image(volume.transpose(1, 0, 2).astype(np.int16), np.diag([-0.8, -0.8, 1.0, 1.0])).to_filename(out)


def python_convert_all(jobs):
    with multiprocessing.Pool(a.processes) as pool:
        pool.map(python_convert, jobs, chunksize=1)


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


room = Path(a.folder) if a.folder else Path(tempfile.mkdtemp(prefix="voxshard_prepare_"))
room.mkdir(exist_ok=True)
try:
    data = room / "data"
    if not (data / "dataset.json").exists():
        with multiprocessing.Pool(a.processes) as pool:
            pool.map(write_case, [(data, i) for i in range(a.cases)], chunksize=1)
        (data / "dataset.json").write_text(json.dumps({"channel_names": {"0": "CT"}, "labels": {"background": 0, "a": 1, "b": 2},
                                                       "numTraining": a.cases, "file_ending": ".nii.gz"}))
    warm(data)
    shutil.rmtree(room / "work", ignore_errors=True)
    mine, said = timed(lambda: ours("prepare", data, "-o", room / "work", "--threads", a.threads, "--host-memory", a.host_memory))
    report = {"cases": a.cases, "size": a.size, "voxshard": mine,
              "memory": said.get("memory")}
    last = np.array(nibabel.load(sorted((room / "work/images").iterdir())[-1]).dataobj)
    shutil.rmtree(room / "work")
    if not a.only_voxshard:
        shutil.rmtree(room / "python", ignore_errors=True)
        theirs, _ = timed(lambda: python_prepare(data, room / "python"))
        other = np.load(sorted((room / "python").glob("*_image.npy"))[-1])
        if other.shape != last.shape:
            sys.exit(f"not the same grid: {other.shape} and {last.shape}")
        report |= {"python": theirs, "ratio": ratios(mine, theirs), "largest_difference": float(np.abs(other - last).max())}
        shutil.rmtree(room / "python")
    if a.dicom:
        for i in range(a.dicom):
            write_series(room / f"dicom{i}", i)
            warm(room / f"dicom{i}")
        jobs = [(room / f"dicom{i}", room / f"ours{i}.nii") for i in range(a.dicom)]
        mine, _ = timed(lambda: [ours("convert", f, "-o", o) for f, o in jobs])
        theirs, _ = timed(lambda: python_convert_all([(str(f), str(o).replace("ours", "theirs")) for f, o in jobs]))
        for f, o in jobs:
            x, y = nibabel.load(o), nibabel.load(str(o).replace("ours", "theirs"))
            if not np.array_equal(np.asanyarray(x.dataobj), np.asanyarray(y.dataobj)) or not np.allclose(x.affine, y.affine):
                sys.exit(f"{o}: not pydicom's voxels")
        report["dicom"] = {"voxshard": mine, "python": theirs, "ratio": ratios(mine, theirs)}
    print(json.dumps(report, indent=2))
finally:
    if not a.folder:
        shutil.rmtree(room, ignore_errors=True)
