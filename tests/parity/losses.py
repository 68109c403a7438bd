"""The segmentation losses of libcore/kernels/loss.h for PyTorch's autograd, written anew on one-hot labels y and probabilities p of shape
(N, D, H, W, classes), f64.

The coefficients are those that tensorflow/tpu, models/official/unet3d/metrics.py states, of each sample by itself, and a loss is the best
value less the coefficient, in the mean over the samples. Hamming of probabilities is the expected Hamming distance. Logits and labels are
not stored: both sides make them with the same counter-based generator (libcore/base/rng.h).
"""
import counter_rng
import torch

SEED, SHAPE, EPS = 11, (2, 3, 5, 4), 1e-7
VOXELS, SPACE = 2 * 3 * 5 * 4, (1, 2, 3)


def of_all(t):
    return t.sum((1, 2, 3, 4))


def of_classes(y, p):
    """I and P + Y of each class, over the samples of a replica: all, or one where two replicas share them."""
    return (y * p).sum((0, 1, 2, 3)), (y + p).sum((0, 1, 2, 3))


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
    both, sizes = of_classes(y, p)
    score = 2 * (both + EPS) / (sizes + EPS)
    return 1 - (torch.exp(-score) * score).sum() / (len(score) * torch.exp(torch.tensor(-1.0, dtype=torch.float64)))


def cross_entropy(y, p):
    return -(y * p).sum(4).log().mean()


def dice_ce(y, p):
    """Ours: of the classes but the background."""
    both, sizes = of_classes(y, p)
    return cross_entropy(y, p) + 1 - ((2 * both + 1) / (sizes + 1))[1:].mean()


def log_dice_ce(y, p):
    """Of the classes but the background that have a voxel."""
    both, sizes = of_classes(y, p)
    present = (y.sum((0, 1, 2, 3)) > 0)[1:]
    return cross_entropy(y, p) - ((2 * both + EPS) / (sizes + EPS))[1:][present].log().sum() / len(present)


def merged(values, known):
    """Adds what stands at the classes that are not known to the background, which is class 0. known: (N, classes) of 0 and 1."""
    known = torch.tensor(known, dtype=values.dtype)[:, None, None, None]
    background = values[..., :1] + (values * (1 - known)).sum(-1, keepdim=True)
    return torch.cat([background, (values * known)[..., 1:]], -1)


def numbers(name, count):
    return torch.from_numpy(counter_rng.uniform(SEED, name, count))


def setting(classes):
    """Labels and logits; these are no leaf of a graph yet."""
    labels = (numbers("labels", VOXELS) * classes).long().reshape(SHAPE)
    return labels, (6 * numbers("logits", VOXELS * classes) - 3).reshape(*SHAPE, classes)
