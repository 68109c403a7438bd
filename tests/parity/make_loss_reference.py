#!/usr/bin/env python3
"""Makes loss_reference.json: value and gradient of the segmentation losses with PyTorch's autograd, f64.

  apt-get install python3-torch python3-numpy
  python3 tests/parity/make_loss_reference.py > tests/parity/loss_reference.json

The coefficients are those that tensorflow/tpu, models/official/unet3d/metrics.py states, written anew on one-hot labels:
of each sample by itself, and a loss is the best value less the coefficient, in the mean over the samples. Hamming of
probabilities is the expected Hamming distance. Logits and labels are not stored: both sides make them with the same
counter-based generator (libcore/base/rng.h).
"""
import json

import counter_rng
import torch

SEED, SHAPE, CLASSES, EPS = 11, (2, 3, 5, 4), 3, 1e-7
VOXELS, SPACE = 2 * 3 * 5 * 4, (1, 2, 3)


def of_all(t):
    return t.sum((1, 2, 3, 4))


def dice(y, p):
    return 1 - (2 * of_all(y * p) + EPS) / (of_all(y) + of_all(p) + EPS)


def generalized_dice(y, p):
    w = 1 / (y.sum(SPACE) ** 2 + EPS)
    return 1 - (2 * (w * (y * p).sum(SPACE)).sum(1) + EPS) / ((w * (y + p).sum(SPACE)).sum(1) + EPS)


def hamming(y, p):
    return (1 - (y * p).sum(4)).mean(SPACE)


def jaccard(y, p):
    both = of_all(y * p)
    return 1 - (both + EPS) / (of_all(y) + of_all(p) - both + EPS)


def tversky(y, p):
    both = (y * p).sum(SPACE)
    wrong, missed = ((1 - y) * p).sum(SPACE), (y * (1 - p)).sum(SPACE)
    return (1 - (both + EPS) / (both + 0.3 * wrong + 0.7 * missed + EPS)).sum(1)


def adaptive_dice32(y, p):
    """Over the samples of a replica: all, or one where two replicas share them."""
    both, sizes = (y * p).sum((0, 1, 2, 3)), (y + p).sum((0, 1, 2, 3))
    score = 2 * (both + EPS) / (sizes + EPS)
    return 1 - (torch.exp(-score) * score).sum() / (CLASSES * torch.exp(torch.tensor(-1.0, dtype=torch.float64)))


def cross_entropy(y, p):
    return torch.nn.functional.nll_loss(p.log().movedim(-1, 1), y.argmax(-1))


def dice_ce(y, p):
    """Ours: of the classes but the background, over the samples of a replica."""
    both, sizes = (y * p).sum((0, 1, 2, 3)), (y + p).sum((0, 1, 2, 3))
    return cross_entropy(y, p) + 1 - ((2 * both + 1) / (sizes + 1))[1:].mean()


def numbers(name, count):
    return torch.from_numpy(counter_rng.uniform(SEED, name, count))


def setting(absent, lowered):
    """Labels and logits; where the last class is absent from the first sample, its logits there are lowered."""
    labels = (numbers("labels", VOXELS) * CLASSES).long().reshape(SHAPE)
    logits = (6 * numbers("logits", VOXELS * CLASSES) - 3).reshape(*SHAPE, CLASSES)
    if absent:
        labels[0] = labels[0].clamp(max=CLASSES - 2)
        logits[0, ..., CLASSES - 1] -= lowered
    return labels, logits.requires_grad_()


WHOLE, ABSENT, CERTAIN = (False, 0), (True, 0), (True, 200)  # certain: the absent class has a probability of 0 in f32
CASES = [(adaptive_dice32, 1, WHOLE), (adaptive_dice32, 2, WHOLE), (dice, 2, WHOLE), (generalized_dice, 2, WHOLE),
         (hamming, 2, WHOLE), (jaccard, 2, WHOLE), (tversky, 2, WHOLE), (cross_entropy, 1, WHOLE),
         (cross_entropy, 2, WHOLE), (dice_ce, 1, WHOLE), (dice_ce, 2, WHOLE), (adaptive_dice32, 2, ABSENT),
         (generalized_dice, 2, ABSENT), (tversky, 2, ABSENT), (dice_ce, 2, ABSENT), (adaptive_dice32, 2, CERTAIN),
         (generalized_dice, 2, CERTAIN), (tversky, 2, CERTAIN), (dice_ce, 2, CERTAIN)]
cases = []
for loss, groups, (absent, lowered) in CASES:
    labels, logits = setting(absent, lowered)
    one_hot = torch.nn.functional.one_hot(labels, CLASSES).double()
    parts = [loss(y, p.softmax(-1)).mean() for y, p in zip(one_hot.chunk(groups), logits.chunk(groups))]
    value = sum(parts) / groups
    value.backward()
    cases.append({"loss": loss.__name__, "groups": groups, "absent": absent, "lowered": lowered,
                  "value": value.item(), "gradient": logits.grad.flatten().tolist()})
WEIGHTS = [0.5, 2.0, 1.25]
for smoothing, weights in ((0.1, None), (0.0, WEIGHTS), (0.2, WEIGHTS)):
    labels, logits = setting(*WHOLE)
    weight = torch.tensor(weights, dtype=torch.float64) if weights else None
    value = torch.nn.functional.cross_entropy(logits.permute(0, 4, 1, 2, 3), labels, weight=weight, label_smoothing=smoothing)
    value.backward()
    cases.append({"loss": "cross_entropy", "groups": 1, "absent": False, "lowered": 0, "smoothing": smoothing,
                  "weights": weights or [], "value": value.item(), "gradient": logits.grad.flatten().tolist()})
print(json.dumps({"made_with": f"PyTorch {torch.__version__}, tests/parity/make_loss_reference.py", "seed": SEED,
                  "shape": SHAPE, "classes": CLASSES, "cases": cases}))
