#!/usr/bin/env python3
"""Stored numbers of surface_oracle_test.cc, made by SciPy and not by libcore/metrics (Debian 12: python3-scipy 1.10.1,
python3-numpy 1.24.2).

    PYTHONPATH=SURFACE_DISTANCE python3 tests/metrics/surface/surface_oracle.py > tests/metrics/surface/surface_cases.json

voxels   scipy.ndimage.binary_erosion and distance_transform_edt, numpy.percentile: the recipe of MetricsReloaded
         (Project-MONAI/MetricsReloaded, commit 00219d0, metrics/pairwise_measures.py).
surfels  scipy.ndimage.correlate and distance_transform_edt in the order of google-deepmind/surface-distance, commit
         2791a73, surface_distance/metrics.py; the areas are those of its table of triangles, lookup_tables.py, commit
         57c1e2c, in the folder SURFACE_DISTANCE.

A mask is a list of parts: ["ellipsoid", centre, radii], ["box", begin, extent], ["noise", seed, of 1000]; a voxel that
lies in an odd number of them is inside. All of it is counted in whole numbers.
"""
import json
import math

import numpy as np
import scipy
from scipy import ndimage
from surface_distance import lookup_tables

CASES = [
    # name, size, spacing_mm, tolerance_mm, prediction, reference
    ["identical", [9, 10, 11], [1, 1, 1], 1, [["ellipsoid", [4, 5, 5], [3, 4, 4]]], [["ellipsoid", [4, 5, 5], [3, 4, 4]]]],
    ["shifted", [20, 22, 24], [2.5, 0.8, 0.8], 2, [["ellipsoid", [9, 10, 11], [6, 7, 8]]],
     [["ellipsoid", [10, 11, 13], [6, 8, 8]]]],
    ["far", [16, 30, 30], [5, 0.68, 0.68], 3, [["ellipsoid", [4, 6, 6], [3, 5, 5]]], [["box", [9, 18, 17], [5, 9, 8]]]],
    ["two_parts", [14, 20, 26], [1.25, 0.9, 1.1], 1, [["ellipsoid", [6, 9, 7], [5, 6, 6]], ["box", [2, 3, 20], [3, 3, 4]]],
     [["ellipsoid", [7, 9, 8], [5, 7, 5]]]],
    ["hollow", [15, 15, 15], [1, 1.5, 2], 1.5, [["box", [2, 2, 2], [11, 11, 11]], ["box", [5, 5, 5], [4, 5, 5]]],
     [["box", [2, 3, 2], [11, 10, 10]]]],
    ["at_the_edge", [8, 9, 10], [3, 1, 1], 1, [["box", [0, 0, 0], [5, 9, 6]]], [["box", [0, 0, 0], [6, 9, 5]]]],
    ["single_voxels", [6, 7, 8], [3, 2, 1], 1, [["box", [2, 3, 1], [1, 1, 1]]], [["box", [4, 3, 6], [1, 1, 1]]]],
    ["plates", [7, 12, 12], [4, 0.5, 0.5], 4, [["box", [2, 1, 1], [1, 10, 10]]], [["box", [3, 2, 1], [1, 8, 11]]]],
    ["one_slice", [1, 18, 17], [5, 0.7, 0.9], 2.1, [["ellipsoid", [0, 8, 8], [1, 6, 5]]], [["box", [0, 4, 3], [1, 9, 9]]]],
    ["tolerance_of_three_steps", [3, 4, 24], [0.3, 0.3, 0.7], 2.1, [["box", [0, 0, 2], [3, 4, 10]]],
     [["box", [0, 0, 5], [3, 4, 10]]]],
    ["noise", [9, 8, 10], [1.3, 0.7, 2.1], 1, [["noise", 1, 300]], [["noise", 2, 450]]],
    ["rare_noise", [12, 13, 11], [2, 1.1, 0.9], 2.5, [["noise", 3, 12]], [["noise", 4, 20]]],
    ["noisy_organ", [18, 20, 22], [3, 0.9, 0.9], 1.8, [["ellipsoid", [9, 10, 10], [6, 8, 8]], ["noise", 5, 40]],
     [["ellipsoid", [9, 9, 11], [7, 7, 8]], ["noise", 6, 15]]],
]


def mask_of(size, parts):
    d, h, w = np.indices(size, dtype=np.int64)
    inside = np.zeros(size, dtype=bool)
    for kind, a, b in parts:
        if kind == "ellipsoid":
            whole = b[0] * b[1] * b[2]
            sides = [((x - c) * (whole // r)) ** 2 for x, c, r in zip((d, h, w), a, b)]
            inside ^= sum(sides) <= whole * whole
        elif kind == "box":
            inside ^= np.logical_and.reduce([(x >= s) & (x < s + n) for x, s, n in zip((d, h, w), a, b)])
        else:
            number = ((d * size[1] + h) * size[2] + w) * 8 + a
            for _ in range(3):
                number = (number * 1103515245 + 12345) % 2**31
            inside ^= (number >> 8) % 1000 < b
    return inside


def voxels(mask, _):
    return mask & ~ndimage.binary_erosion(mask), None


def surfels(mask, spacing):
    padded = np.pad(mask, ((0, 1), (0, 1), (0, 1))).astype(np.uint8)
    codes = ndimage.correlate(padded, lookup_tables.ENCODE_NEIGHBOURHOOD_3D_KERNEL, mode="constant", cval=0)
    areas = lookup_tables.create_table_neighbour_code_to_surface_area(spacing)
    return (codes != 0) & (codes != 255), areas[codes]


def percentile(distances, weights, percent):
    if weights is None:
        return np.percentile(distances, percent)
    order = np.lexsort((weights, distances))
    reached = np.cumsum(weights[order]) / np.sum(weights)
    return distances[order][min(np.searchsorted(reached, percent / 100.0), len(order) - 1)]


def scores(surface, prediction, reference, spacing, tolerance):
    sides = []
    (mine, my_weights), (truth, true_weights) = surface(prediction, spacing), surface(reference, spacing)
    for of, weights, other in ((mine, my_weights, truth), (truth, true_weights, mine)):
        distances = ndimage.distance_transform_edt(~other, sampling=spacing)[of]
        sides.append((distances, None if weights is None else weights[of]))
    mm = [s[0] for s in sides]
    by = [np.ones(len(s[0])) if s[1] is None else s[1] for s in sides]
    total = sum(b.sum() for b in by)
    return {
        "weights": [float(b.sum()) for b in by],
        "means": [float((m * b).sum() / b.sum()) for m, b in zip(mm, by)],
        "nsd": float(sum(b[m <= tolerance].sum() for m, b in zip(mm, by)) / total),
        "hd": float(max(m.max() for m in mm)),
        "hd95": float(max(percentile(m, w, 95) for m, w in sides)),
        "assd": float(sum((m * b).sum() for m, b in zip(mm, by)) / total),
    }


cases = []
for name, size, spacing, tolerance, prediction, reference in CASES:
    mine, truth = mask_of(size, prediction), mask_of(size, reference)
    cases.append({
        "name": name, "size": size, "spacing_mm": spacing, "tolerance_mm": tolerance, "prediction": prediction,
        "reference": reference, "counts": [int((mine & truth).sum()), int(mine.sum()), int(truth.sum())],
        "vd": float((int(mine.sum()) - int(truth.sum())) * math.prod(spacing) / 1000),
        "rvd": float((int(mine.sum()) - int(truth.sum())) / int(truth.sum())),
        "voxels": scores(voxels, mine, truth, spacing, tolerance),
        "surfels": scores(surfels, mine, truth, spacing, tolerance),
    })
lines = ",\n  ".join(json.dumps(c) for c in cases)
print(f'{{"made_with": "scipy {scipy.__version__}, numpy {np.__version__}", "cases": [\n  {lines}\n]}}')
