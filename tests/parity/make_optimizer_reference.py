#!/usr/bin/env python3
"""Makes optimizer_reference.json: weights after each of some steps of each optimizer of the reference U-Net, f64.

  apt-get install python3-torch python3-numpy
  python3 tests/parity/make_optimizer_reference.py > tests/parity/optimizer_reference.json

Momentum, plain SGD, Adagrad and Adadelta are PyTorch's own, whose formulas are those of tf.train; Adam and RMSProp place
epsilon elsewhere in PyTorch and are written here after the documentation of tf.train.AdamOptimizer ("epsilon hat") and
tf.train.RMSPropOptimizer (inside the root, a mean square that begins at one). Rates follow tf.train.exponential_decay,
not in stairs. The gradients are tiny in part, so that the place of epsilon can be seen; weights begin at zero, so that
f32 shows it. Gradients are clipped as tf.clip_by_global_norm does, before weight decay is added to them.
"""
import json

import counter_rng
import numpy as np
import torch

SEED, SIZE, STEPS, RATE, DECAY_RATE, DECAY_STEPS = 13, 6, 12, 0.05, 0.5, 5
SCALES = np.array([1.0, 1e-2, 1e-4, 1e-6, 1e-8, 0.0])  # of the gradients, by weight


def rate(step):
    return RATE * DECAY_RATE ** (step / DECAY_STEPS)


def clipped(step, norm):
    """The gradient, no longer than `norm`; 0: as it is."""
    g = gradient(step)
    return g * (norm / max(norm, np.linalg.norm(g))) if norm > 0 else g


def gradient(step):
    return (2 * counter_rng.uniform(SEED, f"gradient/{step}", SIZE) - 1) * SCALES


class Torch:
    def __init__(self, kind, clip=0.0, **options):
        self.clip = clip
        self.w = torch.zeros(SIZE, dtype=torch.float64, requires_grad=True)
        self.optimizer = kind([self.w], lr=1.0, **options)

    def step(self, number):
        self.optimizer.param_groups[0]["lr"] = rate(number)
        self.w.grad = torch.from_numpy(clipped(number, self.clip))
        self.optimizer.step()
        return self.w.detach().numpy()


class Adam:
    def __init__(self):
        self.w, self.m, self.v = np.zeros(SIZE), np.zeros(SIZE), np.zeros(SIZE)

    def step(self, number):
        g, t = gradient(number), number + 1
        self.m = 0.9 * self.m + 0.1 * g
        self.v = 0.999 * self.v + 0.001 * g * g
        lr_t = rate(number) * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        self.w = self.w - lr_t * self.m / (np.sqrt(self.v) + 1e-8)
        return self.w


class RmsProp:
    def __init__(self, momentum, decay=0.0, clip=0.0):
        self.decay, self.clip = decay, clip
        self.momentum, self.w, self.square, self.u = momentum, np.zeros(SIZE), np.ones(SIZE), np.zeros(SIZE)

    def step(self, number):
        g = clipped(number, self.clip) + self.decay * self.w
        self.square = 0.9 * self.square + 0.1 * g * g
        self.u = self.momentum * self.u + rate(number) * g / np.sqrt(self.square + 1e-10)
        self.w = self.w - self.u
        return self.w


def adadelta(**more):
    return Torch(torch.optim.Adadelta, rho=0.95, eps=1e-8, **more)


def adagrad(**more):
    return Torch(torch.optim.Adagrad, initial_accumulator_value=0.1, eps=0.0, **more)


DECAY, CLIP = 0.3, 0.4  # the norm of the gradients is between 0 and 1: some are clipped, others not
CASES = [("sgd", 0.0, 0.0, 0.0, Torch(torch.optim.SGD)),
         ("sgd", 0.9, 0.0, 0.0, Torch(torch.optim.SGD, momentum=0.9)),
         ("adam", 0.9, 0.0, 0.0, Adam()),
         ("adadelta", 0.9, 0.0, 0.0, adadelta()),
         ("adagrad", 0.9, 0.0, 0.0, adagrad()),
         ("rmsprop", 0.0, 0.0, 0.0, RmsProp(0.0)),
         ("rmsprop", 0.9, 0.0, 0.0, RmsProp(0.9))]
for decay, clip in ((DECAY, 0.0), (0.0, CLIP), (DECAY, CLIP)):
    CASES += [("sgd", 0.9, decay, clip, Torch(torch.optim.SGD, clip, momentum=0.9, weight_decay=decay)),
              ("adadelta", 0.9, decay, clip, adadelta(clip=clip, weight_decay=decay)),
              ("adagrad", 0.9, decay, clip, adagrad(clip=clip, weight_decay=decay)),
              ("rmsprop", 0.9, decay, clip, RmsProp(0.9, decay, clip))]
norms = [np.linalg.norm(gradient(i)) for i in range(STEPS)]
assert min(norms) < CLIP < max(norms), norms
cases = [{"optimizer": name, "momentum": momentum, "weight_decay": decay, "clip_norm": clip,
          "weights": [o.step(i).tolist() for i in range(STEPS)]}
         for name, momentum, decay, clip, o in CASES]
print(json.dumps({"made_with": f"PyTorch {torch.__version__} and NumPy {np.__version__}, tests/parity/make_optimizer_reference.py",
                  "learning_rate": RATE, "decay_rate": DECAY_RATE, "decay_steps": DECAY_STEPS,
                  "gradients": [gradient(i).tolist() for i in range(STEPS)], "cases": cases}))
