#!/usr/bin/env python3
"""Makes marginal_reference.json: value and gradient of the marginal losses in f64, by their definition.

  python3 tests/parity/make_marginal_reference.py > tests/parity/marginal_reference.json

Needs nothing but Python: it was made where neither PyTorch nor NumPy was at hand. Derivatives are those of a step along
the imaginary axis (Squire and Trapp 1998), Im f(x + ih) / h, which has no cancellation: with h = 1e-30 they are exact to
the rounding of f64. Test of the method: `plain` makes cases that make_loss_reference.py made with PyTorch's autograd, and
stops unless both agree to 1e-13.

The loss (Shi et al. 2020, arXiv 2007.03868): the probability of the classes that are not known in a sample is added to
that of the background, and a label of such a class is a label of the background; the loss of these probabilities runs
over the classes that are known in some sample of the group. The coefficients are those of make_loss_reference.py.
"""
import cmath
import json
import pathlib
import sys

SEED, SHAPE, CLASSES, EPS = 11, (2, 3, 5, 4), 4, 1e-7
VOXELS = 3 * 5 * 4  # of a sample
GOLDEN, MASK = 0x9E3779B97F4A7C15, 2**64 - 1


def mix(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def uniform(name, index):
    """The number `index` of counter_rng.uniform(SEED, name, ...)."""
    h = 0xCBF29CE484222325
    for ch in name.encode():
        h = ((h ^ ch) * 0x100000001B3) & MASK
    key = mix(mix((SEED + GOLDEN) & MASK) ^ h)
    return (mix((key + (index + 1) * GOLDEN) & MASK) >> 11) * 2.0**-53


def exp_sum(logits):
    """sum of e^x: of real parts at most 3 + 6, nothing overflows."""
    return sum(cmath.exp(x) for x in logits)


class Group:
    """The sums of samples with logits [sample][voxel][class], labels and rows of known classes."""

    def __init__(self, logits, labels, known):
        classes = range(len(known[0]))
        self.over = [c for c in classes if c == 0 or any(row[c] for row in known)]
        self.both, self.p, self.y = ([0] * len(classes) for _ in range(3))
        self.entropy, self.count = 0, 0
        for sample, marks, row in zip(logits, labels, known):
            merged = [c for c in classes if c == 0 or not row[c]]
            for x, label in zip(sample, marks):
                total = exp_sum(x)
                q = [exp_sum([x[m] for m in merged]) / total if c == 0 else 0 if c in merged else cmath.exp(x[c]) / total
                     for c in classes]
                label = 0 if label in merged else label
                for c in classes:
                    self.p[c] += q[c]
                self.both[label] += q[label]
                self.y[label] += 1
                self.entropy -= cmath.log(q[label])
                self.count += 1

    def of_known(self, sums):
        return [sums[c] for c in self.over]


def sums(g):
    return sum(g.of_known(g.both)), sum(g.of_known(g.p)), sum(g.of_known(g.y))


def cross_entropy(g):
    return g.entropy / g.count


def dice_ce(g):
    rest = g.over[1:]
    return cross_entropy(g) + 1 - sum((2 * g.both[c] + 1) / (g.p[c] + g.y[c] + 1) for c in rest) / len(rest)


def adaptive_dice32(g):
    scores = [2 * (g.both[c] + EPS) / (g.p[c] + g.y[c] + EPS) for c in g.over]
    return 1 - sum(cmath.exp(-s) * s for s in scores) / (len(scores) * cmath.exp(-1))


def dice(g):
    both, p, y = sums(g)
    return 1 - (2 * both + EPS) / (p + y + EPS)


def generalized_dice(g):
    w = {c: 1 / (g.y[c] ** 2 + EPS) for c in g.over}
    return 1 - (2 * sum(w[c] * g.both[c] for c in g.over) + EPS) / (sum(w[c] * (g.p[c] + g.y[c]) for c in g.over) + EPS)


def hamming(g):
    return 1 - sums(g)[0] / g.count


def jaccard(g):
    both, p, y = sums(g)
    return 1 - (both + EPS) / (p + y - both + EPS)


def tversky(g):
    return sum(1 - (g.both[c] + EPS) / (g.both[c] + 0.3 * (g.p[c] - g.both[c]) + 0.7 * (g.y[c] - g.both[c]) + EPS)
               for c in g.over)


LOSSES = [cross_entropy, adaptive_dice32, dice_ce, dice, generalized_dice, hamming, jaccard, tversky]


def setting(classes):
    voxels = range(SHAPE[0] * VOXELS)
    labels = [int(uniform("labels", i) * classes) for i in voxels]
    logits = [[complex(6 * uniform("logits", i * classes + c) - 3) for c in range(classes)] for i in voxels]
    return logits, labels


def made(loss, groups, known):
    classes = len(known[0])
    logits, labels = setting(classes)
    samples = SHAPE[0] // groups

    def value(group):
        at = range(group * samples, (group + 1) * samples)
        one = Group([logits[n * VOXELS:(n + 1) * VOXELS] for n in at], [labels[n * VOXELS:(n + 1) * VOXELS] for n in at],
                    [known[n] for n in at])
        return loss(one) / groups if len(one.over) > 1 else 0j  # no class is known: nothing can be wrong

    step, gradient = 1e-30, []
    for i, x in enumerate(logits):
        for c in range(classes):
            x[c] += step * 1j
            gradient.append(value(i // VOXELS // samples).imag / step)
            x[c] -= step * 1j
    return {"loss": loss.__name__, "groups": groups, "absent": False, "lowered": 0, "known": [k for r in known for k in r],
            "value": sum(value(g).real for g in range(groups)), "gradient": gradient}


def plain():
    """Compares with the numbers of PyTorch where all classes are known."""
    stored = json.loads((pathlib.Path(__file__).parent / "loss_reference.json").read_text())
    assert (stored["seed"], tuple(stored["shape"])) == (SEED, SHAPE)
    compared = set()
    for case in stored["cases"]:
        if case["absent"] or "smoothing" in case:
            continue
        mine = made(globals()[case["loss"]], case["groups"], [[1] * stored["classes"]] * 2)
        for a, b in zip([mine["value"]] + mine["gradient"], [case["value"]] + case["gradient"], strict=True):
            assert abs(a - b) <= 1e-13, (case["loss"], case["groups"], a, b)
        compared.add(case["loss"])
    assert compared == {loss.__name__ for loss in LOSSES}, compared


HALF, DIFFERENT, ONE_UNKNOWN = [[1, 1, 0, 1]] * 2, [[1, 1, 0, 0], [1, 0, 0, 1]], [[1, 1, 0, 1], [1, 0, 0, 0]]
plain()
cases = [made(loss, groups, known) for loss in LOSSES for groups in ((1, 2) if LOSSES.index(loss) < 3 else (2,))
         for known in (HALF, DIFFERENT)]
cases += [made(loss, groups, ONE_UNKNOWN) for loss in (cross_entropy, dice_ce) for groups in (1, 2)]
json.dump({"made_with": f"Python {sys.version.split()[0]}, tests/parity/make_marginal_reference.py", "seed": SEED,
           "shape": SHAPE, "classes": CLASSES, "cases": cases}, sys.stdout)
