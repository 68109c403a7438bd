#!/usr/bin/env python3
"""Stored numbers of nnunet_summary_test.cc, made by NumPy and not by the program (Debian 12: python3-numpy 1.24.2).

    python3 tests/pipelines/tasks/segmentation/nnunet_summary_oracle.py > tests/pipelines/tasks/segmentation/nnunet_summary.json

The formulas and the order of the means are those of MIC-DKFZ/nnUNet, commit 0a50fa0, nnunetv2/evaluation/evaluate_predictions.py
(region_or_label_to_mask, compute_tp_fp_fn_tn, compute_metrics, compute_metrics_on_folder). NaN is stored as null.

The label maps are (4, 6, 8) voxels of whole-number formulas; case 1 has no class 3 in either map, case 2 no class 2 in the
reference; label 4 of the reference is ignored where a variant says so.
"""
import json
import warnings

import numpy as np

SIZE = (4, 6, 8)


def maps(case):
    d, h, w = np.indices(SIZE)
    reference = (d + 2 * (h // 2) + w // 3 + case) % 5
    prediction = (d + 2 * ((h + 1) // 2) + (w + case) // 3 + case) % 4
    if case == 1:
        reference[reference == 3] = 0
        prediction[prediction == 3] = 1
    if case == 2:
        reference[reference == 2] = 1
    return reference, prediction


def mask_of(labels, region):
    return np.isin(labels, region if isinstance(region, tuple) else (region,))


def scores(reference, prediction, region, ignored):
    truth, mine = mask_of(reference, region), mask_of(prediction, region)
    use = np.ones(SIZE, bool) if ignored is None else reference != ignored
    tp, fp = np.sum(truth & mine & use), np.sum(~truth & mine & use)
    fn, tn = np.sum(truth & ~mine & use), np.sum(~truth & ~mine & use)
    return {"Dice": 2 * tp / (2 * tp + fp + fn), "IoU": tp / (tp + fp + fn), "FP": fp, "TP": tp, "FN": fn, "TN": tn,
            "n_pred": fp + tp, "n_ref": fn + tp}


def summary(regions, ignored):
    cases = [{r: scores(*maps(case), r, ignored) for r in regions} for case in range(4)]
    means = {r: {m: np.nanmean([c[r][m] for c in cases]) for m in cases[0][r]} for r in regions}
    foreground = {m: np.mean([means[r][m] for r in regions]) for m in means[regions[0]]}
    numbers = lambda row: {m: None if np.isnan(v) else float(v) for m, v in row.items()}
    keyed = lambda rows: {str(r): numbers(row) for r, row in rows.items()}
    return {"foreground_mean": numbers(foreground), "mean": keyed(means), "metric_per_case": [keyed(c) for c in cases]}


warnings.simplefilter("ignore")  # 0 / 0
variants = {"classes": ([1, 2, 3, 4], None), "ignored": ([1, 2, 3], 4), "regions": ([(1, 2, 3), (2, 3), 3], None),
            "regions_ignored": ([(1, 2, 3), (2, 3), 3], 4), "never": ([1, 2, 3, 9], None)}
lines = ",\n  ".join(f'"{name}": {json.dumps(summary(*variant), sort_keys=True)}' for name, variant in variants.items())
print(f'{{"made_with": "numpy {np.__version__}",\n  {lines}\n}}')
