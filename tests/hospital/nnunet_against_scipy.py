#!/usr/bin/env python3
"""Compares `voxshard prepare --convention nnunet` with nnU-Net's formulas in NumPy, SciPy and scikit-image.

    python3 tests/hospital/nnunet_against_scipy.py build/release/bin/voxshard DATA/ct

Data sets are made from the CTs of DATA and from generated anisotropic and MR-like volumes. For each, the fingerprint and
the plan must agree to 1e-6, prepared images within 1e-3 of their range, and labels except where a mask is a tie at 0.5.
The formulas were written anew from nnU-Net's fingerprint_extractor.py, default_experiment_planner.py, cropping.py,
default_resampling.py and batchgenerators' resize_segmentation. Exit 0: all agree, 1: some do not, 77: a package is
missing.
"""
import json
import os
import subprocess
import sys
import tempfile

try:
    import nibabel
    import numpy
    import scipy
    import skimage
    from scipy.ndimage import binary_fill_holes, map_coordinates
    from skimage.transform import resize
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

ANISOTROPY = 3


def read(path):
    """Returns voxels (z, y, x) and the spacing in this order, as SimpleITK gives them to nnU-Net."""
    image = nibabel.load(path)
    return numpy.asarray(image.dataobj).T, numpy.array(image.header.get_zooms()[:3], float)[::-1]


def crop_of(channels):
    """The box and the filled mask of what is not 0 in any channel."""
    mask = numpy.any([channel != 0 for channel in channels], 0)
    if not mask.any():
        return tuple(slice(0, n) for n in mask.shape), mask
    corners = [(axis.min(), axis.max() + 1) for axis in numpy.nonzero(mask)]
    return tuple(slice(low, high) for low, high in corners), binary_fill_holes(mask)


def fingerprint(cases):
    """Numbers of each channel, spacings, sizes, and the median share that the crop keeps; one generator draws for all channels of a case."""
    samples, spacings, sizes, shares = [], [], [], []
    for channels, label, spacing in cases:
        box, _ = crop_of(channels)
        random = numpy.random.RandomState(1234)
        drawn = []
        for channel in channels:
            foreground = channel[box].astype(numpy.float32)[label[box] > 0]
            drawn.append(random.choice(foreground, int(10e7 // len(cases)), replace=True) if len(foreground) else [])
        samples.append(drawn)
        spacings.append(spacing)
        sizes.append(label[box].shape)
        shares.append(numpy.prod(label[box].shape) / numpy.prod(label.shape))
    numbers = []
    for channel in range(len(samples[0])):
        values = numpy.concatenate([drawn[channel] for drawn in samples])
        low, median, high = numpy.percentile(values, (0.5, 50, 99.5))
        numbers.append(
            {
                "mean": float(numpy.mean(values, dtype=numpy.float64)),
                "std": float(numpy.std(values, dtype=numpy.float64)),
                "min": float(values.min()),
                "max": float(values.max()),
                "percentile_00_5": low,
                "median": median,
                "percentile_99_5": high,
            }
        )
    return numbers, numpy.array(spacings), numpy.array(sizes), float(numpy.median(shares))


def target_spacing(spacings, sizes):
    target, size = numpy.percentile(spacings, 50, 0), numpy.percentile(sizes, 50, 0)
    worst = int(numpy.argmax(target))
    others = [axis for axis in range(3) if axis != worst]
    widest = max(target[others])
    if target[worst] > ANISOTROPY * widest and size[worst] * ANISOTROPY < min(size[others]):
        finer = numpy.percentile(spacings[:, worst], 10)
        target[worst] = max(widest, finer) + 1e-5 if finer < widest else finer
    return target


def slice_axis(spacing, target):
    for candidate in (spacing, target):
        if candidate.max() / candidate.min() > ANISOTROPY:
            axes = numpy.where(candidate.max() / candidate == 1)[0]
            return int(axes[0]) if len(axes) == 1 else None
    return None


def resize_mask_sums(label, shape, visit):
    for value in numpy.unique(label):
        visit(value, resize((label == value).astype(float), shape, 1, mode="edge", clip=True, anti_aliasing=False))


def resize_label(label, shape):
    """Returns the resized labels and where a mask is a tie."""
    result, ties = numpy.zeros(shape, label.dtype), numpy.zeros(shape, bool)

    def visit(value, mask):
        result[mask >= 0.5] = value
        ties[numpy.abs(mask - 0.5) < 1e-9] = True

    resize_mask_sums(label, shape, visit)
    return result, ties


def resize_image(image, shape):
    return resize(image, shape, 3, mode="edge", anti_aliasing=False)


def resample(volume, shape, axis, function):
    if tuple(volume.shape) == tuple(shape):
        return volume
    if axis is None:
        return function(volume, shape)
    plane = [n for a, n in enumerate(shape) if a != axis]
    slices = numpy.stack([function(part, plane) for part in numpy.moveaxis(volume, axis, 0)], axis)
    if slices.shape[axis] == shape[axis]:
        return slices
    places = numpy.array(numpy.meshgrid(*[numpy.arange(n) for n in shape], indexing="ij"), float)
    for a, n in enumerate(shape):
        places[a] = slices.shape[a] / n * (places[a] + 0.5) - 0.5
    return map_coordinates(slices, places, order=0, mode="nearest")


def prepared(channels, label, spacing, target, schemes, numbers, in_mask):
    """Returns the images of all channels, the label map, and where it is a tie."""
    box, mask = crop_of(channels)
    label, mask = label[box].astype(numpy.int16), mask[box]
    shape = [int(round(i / j * k)) for i, j, k in zip(spacing, target, label.shape)]
    axis = slice_axis(spacing, target)
    images = []
    for channel, scheme, of_channel in zip(channels, schemes, numbers):
        image = channel[box].astype(numpy.float32)
        if scheme == "ct":
            image = numpy.clip(image, of_channel["percentile_00_5"], of_channel["percentile_99_5"])
            image = (image - of_channel["mean"]) / max(of_channel["std"], 1e-8)
        elif in_mask:
            inside = mask | (label != 0)
            image[inside] = (image[inside] - image[inside].mean(dtype=float)) / max(image[inside].std(dtype=float), 1e-8)
        else:
            image = (image - image.mean(dtype=float)) / max(image.std(dtype=float), 1e-8)
        images.append(resample(image.astype(float), shape, axis, resize_image))
    ties = resample(label, shape, axis, lambda part, size: resize_label(part, size)[1])
    ties = ties if ties.dtype == bool else numpy.zeros(shape, bool)
    return images, resample(label, shape, axis, lambda part, size: resize_label(part, size)[0]), ties


def gap(ours, theirs):
    ours, theirs = numpy.asarray(ours, float), numpy.asarray(theirs, float)
    return float(numpy.max(numpy.abs(ours - theirs) / numpy.maximum(numpy.abs(theirs), 1)))


def compare(voxshard, name, data, schemes):
    """Prepares a data set and returns one line about it, and whether all agrees. `schemes`: ct or zscore, of each channel."""
    with open(os.path.join(data, "dataset.json"), encoding="utf-8") as file:
        description = json.load(file)
    ids = sorted(entry[: -len(".nii.gz")] for entry in os.listdir(os.path.join(data, "labelsTr")))
    count = len(schemes)
    cases = []
    for case in ids:
        channels = [read(os.path.join(data, "imagesTr", f"{case}_{c:04}{description['file_ending']}"))[0] for c in range(count)]
        label, spacing = read(os.path.join(data, "labelsTr", case + description["file_ending"]))
        cases.append((channels, label, spacing))
    numbers, spacings, sizes, share = fingerprint(cases)
    target = target_spacing(spacings, sizes)
    with tempfile.TemporaryDirectory() as folder:
        work = os.path.join(folder, "work")
        command = [voxshard, "prepare", data, "-o", work, "--convention", "nnunet", "-q"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            return f"{name}: DIFFERENT: prepare ended with {run.returncode}: {run.stderr.strip()}", False
        with open(os.path.join(work, "plans.json"), encoding="utf-8") as file:
            plan = json.load(file)["prepare"]
        with open(os.path.join(work, "fingerprint.json"), encoding="utf-8") as file:
            found = json.load(file)
        of_channels = [plan] + plan.get("further_channels", [])
        by_channel = [found["foreground_hu"]] if count == 1 else [one["values"] for one in found["foreground_by_channel"]]
        gaps = [gap(ours[key], value) for ours, theirs in zip(by_channel, numbers) for key, value in theirs.items()]
        gaps.append(gap(found["median_relative_size_after_cropping"], share))
        gaps.append(gap(plan["spacing_mm"][::-1], target))
        for scheme, one, of_channel in zip(schemes, numbers, of_channels):
            if scheme == "ct":
                gaps.append(gap(of_channel["clip_hu"], [one["percentile_00_5"], one["percentile_99_5"]]))
        in_mask = "zscore" in schemes and share < 0.75
        image_gap, wrong, tied = 0.0, 0, 0
        for case, (channels, label, spacing) in zip(ids, cases):
            images, label, ties = prepared(channels, label, spacing, target, schemes, numbers, in_mask)
            labels, _ = read(os.path.join(work, "labels", case + ".nii"))
            for c, image in enumerate(images):
                ours, _ = read(os.path.join(work, "images", case + (f"_{c:04}" if count > 1 else "") + ".nii"))
                if ours.shape != image.shape or labels.shape != label.shape:
                    return f"{name}: DIFFERENT: {case} has {ours.shape} voxels, expected {image.shape}", False
                image_gap = max(image_gap, float(numpy.abs(ours - image).max() / numpy.ptp(image)))
            different = labels != label
            wrong += int((different & ~ties).sum())
            tied += int((different & ties).sum())
        good = max(gaps) <= 1e-6 and image_gap <= 1e-3 and wrong == 0 and bool(plan["zscore_in_nonzero"]) == in_mask
        axes = sorted({str(slice_axis(spacing, target)) for _, _, spacing in cases})
        return (
            f"{name}: {'equal' if good else 'DIFFERENT'}: {len(ids)} cases of {count} channels, target {numpy.round(target[::-1], 4).tolist()} mm, "
            f"slices along {', '.join(axes)}; numbers differ by {max(gaps):.1e}, images by {image_gap:.1e} of their range, "
            f"labels in {wrong} voxels and {tied} ties",
            good,
        )


def write(folder, name, channels, cases, classes):
    data = os.path.join(folder, name)
    for part in ("imagesTr", "labelsTr"):
        os.makedirs(os.path.join(data, part))
    labels = {"background": 0, **{f"class_{k}": k for k in range(1, classes)}}
    names = {str(c): channel for c, channel in enumerate(channels)}
    with open(os.path.join(data, "dataset.json"), "w", encoding="utf-8") as file:
        json.dump({"channel_names": names, "labels": labels, "file_ending": ".nii.gz", "numTraining": len(cases)}, file)
    for index, (images, label, spacing) in enumerate(cases):
        files = [("imagesTr", f"_{c:04}", image) for c, image in enumerate(images)] + [("labelsTr", "", label)]
        for part, ending, voxels in files:
            volume = nibabel.Nifti1Image(voxels.T, numpy.diag([-spacing[2], -spacing[1], spacing[0], 1]))
            nibabel.save(volume, os.path.join(data, part, f"case_{index}{ending}.nii.gz"))
    return data


def generated(seed, spacings, sizes, frame):
    """Volumes of smooth noise with three overlapping ellipsoids; `frame` voxels of zeros around them."""
    random = numpy.random.RandomState(seed)
    cases = []
    for spacing, size in zip(spacings, sizes):
        coarse = random.uniform(20, 400, [max(2, n // 4) for n in size])
        image = resize(coarse, size, 3, mode="edge", anti_aliasing=False)
        label = numpy.zeros(size, numpy.int16)
        grid = numpy.meshgrid(*[(numpy.arange(n) + 0.5) / n for n in size], indexing="ij")
        for k in range(1, 4):
            centre, radius = random.uniform(0.35, 0.65, 3), random.uniform(0.15, 0.3, 3)
            label[sum(((g - c) / r) ** 2 for g, c, r in zip(grid, centre, radius)) < 1] = k
        if frame:
            outside = numpy.ones(size, bool)
            outside[tuple(slice(frame, n - frame) for n in size)] = False
            image[outside] = 0
            label[outside] = 0
            image[size[0] // 2, size[1] // 2, size[2] // 2] = 0  # a hole that is filled
        cases.append(([image.astype(numpy.float32)], label, spacing))
    return cases


def with_channel(cases, seed, frame):
    """Adds a channel of other numbers, which is 0 in half of the volume: what is not 0 in any channel is more than in each."""
    random = numpy.random.RandomState(seed)
    for images, label, _ in cases:
        further = random.uniform(1, 9, label.shape).astype(numpy.float32)
        further[:, :, : label.shape[2] // 2] = 0
        outside = numpy.ones(label.shape, bool)
        outside[tuple(slice(frame, n - frame) for n in label.shape)] = False
        further[outside] = 0
        images.append(further)
    return cases


def linked(folder, name, channel, pairs, classes):
    """A data set of files of the test data."""
    data = write(folder, name, [channel], [], classes)
    for image, label in pairs:
        case = os.path.basename(label)[: -len(".nii.gz")]
        os.symlink(image, os.path.join(data, "imagesTr", case + "_0000.nii.gz"))
        os.symlink(label, os.path.join(data, "labelsTr", case + ".nii.gz"))
    return data


def main():
    voxshard, data = sys.argv[1], os.path.abspath(sys.argv[2])
    print(f"NumPy {numpy.__version__}, SciPy {scipy.__version__}, scikit-image {skimage.__version__}, nibabel {nibabel.__version__}")
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        sets = []
        kbp = os.path.join(data, "Dataset001_OpenKBP")
        if os.path.isdir(kbp):
            names = sorted(os.listdir(os.path.join(kbp, "labelsTr")))[::4]
            pairs = [(os.path.join(kbp, "imagesTr", n.replace(".nii.gz", "_0000.nii.gz")), os.path.join(kbp, "labelsTr", n)) for n in names]
            sets.append(("head and neck CT", linked(folder, "kbp", "CT", pairs, 8), ["ct"]))
        spleen = os.path.join(data, "spleen2", "sub-spleen2_ct")
        lung = os.path.join(data, "lung", "lung")
        if os.path.isfile(spleen + ".nii.gz"):
            pairs = [(spleen + ".nii.gz", spleen + "_seg-manual.nii.gz"), (lung + "_ct.nii.gz", lung + "_mask.nii.gz")]
            sets.append(("spleen and lung CT", linked(folder, "mixed", "CT", pairs, 2), ["ct"]))
        thick = [(5, 0.8, 0.8), (6, 0.7, 0.7), (4, 0.9, 0.9)]
        cases = generated(1, thick, [(9, 50, 44), (8, 61, 52), (11, 47, 40)], 0)
        sets.append(("thick slices", write(folder, "thick", ["CT"], cases, 4), ["ct"]))
        cases = generated(2, [(1.5, 1, 1.2), (1.2, 1, 1), (2, 1.1, 0.9)], [(20, 30, 28), (26, 31, 33), (18, 28, 36)], 4)
        sets.append(("MR in a frame of zeros", write(folder, "frame", ["T2"], cases, 4), ["zscore"]))
        cases = generated(3, [(1, 4, 1), (1, 3.6, 1.1)], [(40, 9, 36), (44, 10, 31)], 0)
        sets.append(("coronal slices", write(folder, "coronal", ["T1"], cases, 4), ["zscore"]))
        cases = generated(4, [(0.3, 1.25, 1.25), (0.3, 1.2, 1.2)], [(30, 20, 22), (34, 21, 20)], 0)
        sets.append(("two wide axes", write(folder, "wide", ["CT"], cases, 4), ["ct"]))
        cases = with_channel(generated(5, thick, [(9, 50, 44), (8, 61, 52), (11, 47, 40)], 0), 6, 0)
        sets.append(("CT and PET", write(folder, "pet", ["CT", "PET"], cases, 4), ["ct", "zscore"]))
        cases = with_channel(generated(7, [(1.5, 1, 1.2), (1.2, 1, 1)], [(30, 36, 40), (33, 38, 36)], 8), 8, 6)
        sets.append(("two MR in frames of zeros", write(folder, "mr", ["T1", "T2"], cases, 4), ["zscore", "zscore"]))
        cases = with_channel(generated(9, [(1.5, 1, 1.2), (1.2, 1, 1)], [(30, 36, 40), (33, 38, 36)], 8), 10, 6)
        sets.append(("MR and CT in frames of zeros", write(folder, "mixed_frames", ["T1", "CT"], cases, 4), ["zscore", "ct"]))
        for name, path, schemes in sets:
            line, good = compare(voxshard, name, path, schemes)
            bad += not good
            print(line)
    sys.exit(1 if bad else 0)


main()
