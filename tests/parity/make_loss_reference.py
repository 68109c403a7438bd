#!/usr/bin/env python3
"""Makes loss_reference.json: value and gradient of the segmentation losses (losses.py) with PyTorch's autograd, f64.

  apt-get install python3-torch python3-numpy
  python3 tests/parity/make_loss_reference.py > tests/parity/loss_reference.json
"""
import json

import torch
from losses import (SEED, SHAPE, adaptive_dice32, cross_entropy, dice, dice_ce, generalized_dice, hamming, jaccard, log_dice_ce, setting,
                    tversky)

CLASSES = 3
WHOLE, ABSENT, CERTAIN = (False, 0), (True, 0), (True, 200)  # certain: the absent class has a probability of 0 in f32


def lowered_setting(absent, lowered):
    """Where the last class is absent from the first sample, its logits there are lowered."""
    labels, logits = setting(CLASSES)
    if absent:
        labels[0] = labels[0].clamp(max=CLASSES - 2)
        logits[0, ..., CLASSES - 1] -= lowered
    return labels, logits.requires_grad_()


CASES = [(adaptive_dice32, 1, WHOLE), (adaptive_dice32, 2, WHOLE), (dice, 2, WHOLE), (generalized_dice, 2, WHOLE),
         (hamming, 2, WHOLE), (jaccard, 2, WHOLE), (tversky, 2, WHOLE), (cross_entropy, 1, WHOLE),
         (cross_entropy, 2, WHOLE), (dice_ce, 1, WHOLE), (dice_ce, 2, WHOLE), (log_dice_ce, 1, WHOLE), (log_dice_ce, 2, WHOLE)]
CASES += [(loss, 2, absent) for absent in (ABSENT, CERTAIN)
          for loss in (adaptive_dice32, generalized_dice, tversky, dice_ce, log_dice_ce)]
cases = []
for loss, groups, (absent, lowered) in CASES:
    labels, logits = lowered_setting(absent, lowered)
    one_hot = torch.nn.functional.one_hot(labels, CLASSES).double()
    parts = [loss(y, p.softmax(-1)).mean() for y, p in zip(one_hot.chunk(groups), logits.chunk(groups))]
    value = sum(parts) / groups
    value.backward()
    cases.append({"loss": loss.__name__, "groups": groups, "absent": absent, "lowered": lowered,
                  "value": value.item(), "gradient": logits.grad.flatten().tolist()})
WEIGHTS = [0.5, 2.0, 1.25]
for smoothing, weights in ((0.1, None), (0.0, WEIGHTS), (0.2, WEIGHTS)):
    labels, logits = lowered_setting(*WHOLE)
    weight = torch.tensor(weights, dtype=torch.float64) if weights else None
    value = torch.nn.functional.cross_entropy(logits.permute(0, 4, 1, 2, 3), labels, weight=weight, label_smoothing=smoothing)
    value.backward()
    cases.append({"loss": "cross_entropy", "groups": 1, "absent": False, "lowered": 0, "smoothing": smoothing,
                  "weights": weights or [], "value": value.item(), "gradient": logits.grad.flatten().tolist()})
print(json.dumps({"made_with": f"PyTorch {torch.__version__}, tests/parity/make_loss_reference.py", "seed": SEED,
                  "shape": SHAPE, "classes": CLASSES, "cases": cases}))
