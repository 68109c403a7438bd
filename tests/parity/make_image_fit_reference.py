#!/usr/bin/env python3
"""Makes image_fit_reference.json: pictures and boxes fitted into an output of fixed size with NumPy.

  apt-get install python3-numpy
  python3 tests/parity/make_image_fit_reference.py > tests/parity/image_fit_reference.json

After tensorflow/tpu, models/official/detection/utils/input_utils.py (resize_and_crop_image without jitter, and
resize_and_crop_boxes) and the bilinear kernel of tf.image.resize_images with align_corners=False: sizes in f32, rounded
to even; a pixel of the result is linear between those around its index times the ratio of the extents; zeros at the bottom
and right. Pictures are made by the counter-based generator (libcore/base/rng.h), boxes are y0 x0 y1 x1.
"""
import json

import counter_rng
import numpy as np

SEED = 17
CASES = [((7, 5), (9, 16)), ((6, 11), (8, 8)), ((5, 5), (5, 5)), ((3, 8), (12, 4)), ((13, 9), (4, 6))]
SIZES = [((375, 500), (640, 640)), ((427, 640), (640, 640)), ((640, 333), (512, 896)), ((1, 3000), (640, 640)), ((853, 1280), (640, 640))]


def fit(size, output):
    size, output = np.array(size, np.float32), np.array(output, np.float32)
    return np.round(size * np.min(output / size)).astype(int)


def bilinear(picture, size):
    for axis in (0, 1):
        old = picture.shape[axis]
        place = np.arange(size[axis]) * (old / size[axis])
        low = np.minimum(np.floor(place).astype(int), old - 1)
        share = (place - low).reshape([-1 if a == axis else 1 for a in range(3)])
        picture = picture.take(low, axis) * (1 - share) + picture.take(np.minimum(low + 1, old - 1), axis) * share
    return picture


cases = []
for size, output in CASES:
    picture = counter_rng.uniform(SEED, "picture", size[0] * size[1] * 3).astype(np.float32).astype(float).reshape(*size, 3)
    box = np.array([0.25 * size[0], 0.1 * size[1], 0.75 * size[0], 0.9 * size[1]])
    scaled = fit(size, output)
    by = scaled / np.array(size)
    canvas = np.zeros((*output, 3))
    canvas[:scaled[0], :scaled[1]] = bilinear(picture, scaled)
    cases.append({"size": size, "output": output, "box": box.tolist(), "scaled_box": (box * np.tile(by, 2)).tolist(),
                  "pixels": canvas.round(9).flatten().tolist()})
sizes = [{"size": s, "output": o, "scaled": np.maximum(fit(s, o), 1).tolist()} for s, o in SIZES]
print(json.dumps({"made_with": f"NumPy {np.__version__}, tests/parity/make_image_fit_reference.py", "seed": SEED,
                  "cases": cases, "sizes": sizes}))
