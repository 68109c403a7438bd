#!/usr/bin/env python3
"""Cuts CT volumes with labels into slabs of slices by whether an organ is in them: a data set of classes for resnet3d18.

  apt-get install python3-nibabel
  tests/bench/organ_slabs.py Dataset001_OpenKBP slabs --labels 3,4 --slices 8
  voxshard train slabs -o run --model resnet3d18 ...

An nnU-Net folder; slabs lie next to each other along the third axis, whole in the other two. Cases of imagesTs become test,
every fifth of imagesTr val, the others train: never slabs of one patient in two parts. A slab is "present" from --least voxels
of the labels on, "absent" without one, and left out in between. Prints how many there are of each.
"""
import argparse, collections, pathlib
import nibabel
import numpy as np

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("data", type=pathlib.Path)
p.add_argument("output", type=pathlib.Path)
p.add_argument("--labels", default="3,4", help="numbers of the organ's labels")
p.add_argument("--slices", type=int, default=8)
p.add_argument("--least", type=int, default=20)
a = p.parse_args()
wanted = [int(n) for n in a.labels.split(",")]
counts = collections.Counter()
for images, labels in (("imagesTr", "labelsTr"), ("imagesTs", "labelsTs")):
    for index, file in enumerate(sorted((a.data / images).glob("*_0000.nii*"))):
        case, ending = file.name.split("_0000")
        part = "test" if images == "imagesTs" else "val" if index % 5 == 0 else "train"
        volume = nibabel.load(file)
        inside = np.isin(np.asarray(nibabel.load(a.data / labels / (case + ending)).dataobj), wanted)
        for first in range(0, volume.shape[2] - a.slices + 1, a.slices):
            voxels = int(inside[:, :, first:first + a.slices].sum())
            if 0 < voxels < a.least:
                counts[part, "left out"] += 1
                continue
            name = "present" if voxels else "absent"
            folder = a.output / part / name
            folder.mkdir(parents=True, exist_ok=True)
            nibabel.save(volume.slicer[:, :, first:first + a.slices], folder / f"{case}_{first:03d}.nii.gz")
            counts[part, name] += 1
for (part, name), count in sorted(counts.items()):
    print(part, name, count)
