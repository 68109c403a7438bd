#!/usr/bin/env python3
"""Makes marginal_reference.json: value and gradient of the marginal losses (losses.py) with PyTorch's autograd, f64.

  apt-get install python3-torch python3-numpy
  python3 tests/parity/make_marginal_reference.py > tests/parity/marginal_reference.json

The loss (Shi et al. 2020, arXiv 2007.03868): the probability of the classes that are not known in a sample is added to
that of the background, and a label of such a class is a label of the background; the loss of these probabilities runs
over the classes that are known in some sample of the group.
"""
import json

import torch
from losses import (SEED, SHAPE, adaptive_dice32, cross_entropy, dice, dice_ce, generalized_dice, hamming, jaccard, log_dice_ce, merged,
                    setting, tversky)

CLASSES = 4
OF_REPLICAS = [cross_entropy, adaptive_dice32, dice_ce, log_dice_ce]
HALF, DIFFERENT, ONE_UNKNOWN = [[1, 1, 0, 1]] * 2, [[1, 1, 0, 0], [1, 0, 0, 1]], [[1, 1, 0, 1], [1, 0, 0, 0]]


def made(loss, groups, known):
    labels, logits = setting(CLASSES)
    logits.requires_grad_()
    y = merged(torch.nn.functional.one_hot(labels, CLASSES).double(), known)
    q = merged(logits.softmax(-1), known)
    value, samples = 0 * logits.sum(), SHAPE[0] // groups
    for first in range(0, SHAPE[0], samples):
        group = slice(first, first + samples)
        over = [c for c in range(CLASSES) if any(row[c] for row in known[group])]
        if len(over) > 1:  # else no class is known: nothing can be wrong
            value = value + loss(y[group][..., over], q[group][..., over]).mean() / groups
    value.backward()
    return {"loss": loss.__name__, "groups": groups, "absent": False, "lowered": 0, "known": [k for row in known for k in row],
            "value": value.item(), "gradient": logits.grad.flatten().tolist()}


cases = [made(loss, groups, known) for loss in [*OF_REPLICAS, dice, generalized_dice, hamming, jaccard, tversky]
         for groups in ((1, 2) if loss in OF_REPLICAS else (2,)) for known in (HALF, DIFFERENT)]
cases += [made(loss, groups, ONE_UNKNOWN) for loss in (cross_entropy, dice_ce, log_dice_ce) for groups in (1, 2)]
print(json.dumps({"made_with": f"PyTorch {torch.__version__}, tests/parity/make_marginal_reference.py", "seed": SEED,
                  "shape": SHAPE, "classes": CLASSES, "cases": cases}))
