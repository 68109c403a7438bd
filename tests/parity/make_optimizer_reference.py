#!/usr/bin/env python3
"""Makes optimizer_reference.json: weights after each of some steps of each optimizer of the reference U-Net, f64.

  apt-get install python3-torch python3-numpy
  python3 tests/parity/make_optimizer_reference.py > tests/parity/optimizer_reference.json

Momentum, plain SGD, Adagrad and Adadelta are PyTorch's own, whose formulas are those of tf.train; Adam and RMSProp place
epsilon elsewhere in PyTorch and are written here after the documentation of tf.train.AdamOptimizer ("epsilon hat") and
tf.train.RMSPropOptimizer (inside the root, a mean square that begins at one). Rates follow tf.train.exponential_decay,
not in stairs. The gradients are tiny in part, so that the place of epsilon can be seen; weights begin at zero, so that
f32 shows it.
"""
import json

import counter_rng
import numpy as np
import torch

SEED, SIZE, STEPS, RATE, DECAY_RATE, DECAY_STEPS = 13, 6, 12, 0.05, 0.5, 5
SCALES = np.array([1.0, 1e-2, 1e-4, 1e-6, 1e-8, 0.0])  # of the gradients, by weight


def rate(step):
    return RATE * DECAY_RATE ** (step / DECAY_STEPS)


def gradient(step):
    return (2 * counter_rng.uniform(SEED, f"gradient/{step}", SIZE) - 1) * SCALES


class Torch:
    def __init__(self, kind, **options):
        self.w = torch.zeros(SIZE, dtype=torch.float64, requires_grad=True)
        self.optimizer = kind([self.w], lr=1.0, **options)

    def step(self, number):
        self.optimizer.param_groups[0]["lr"] = rate(number)
        self.w.grad = torch.from_numpy(gradient(number))
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
    def __init__(self, momentum):
        self.momentum, self.w, self.square, self.u = momentum, np.zeros(SIZE), np.ones(SIZE), np.zeros(SIZE)

    def step(self, number):
        g = gradient(number)
        self.square = 0.9 * self.square + 0.1 * g * g
        self.u = self.momentum * self.u + rate(number) * g / np.sqrt(self.square + 1e-10)
        self.w = self.w - self.u
        return self.w


CASES = [("sgd", 0.0, Torch(torch.optim.SGD)),
         ("sgd", 0.9, Torch(torch.optim.SGD, momentum=0.9)),
         ("adam", 0.9, Adam()),
         ("adadelta", 0.9, Torch(torch.optim.Adadelta, rho=0.95, eps=1e-8)),
         ("adagrad", 0.9, Torch(torch.optim.Adagrad, initial_accumulator_value=0.1, eps=0.0)),
         ("rmsprop", 0.0, RmsProp(0.0)),
         ("rmsprop", 0.9, RmsProp(0.9))]
cases = [{"optimizer": name, "momentum": momentum, "weights": [o.step(i).tolist() for i in range(STEPS)]}
         for name, momentum, o in CASES]
print(json.dumps({"made_with": f"PyTorch {torch.__version__} and NumPy {np.__version__}, tests/parity/make_optimizer_reference.py",
                  "learning_rate": RATE, "decay_rate": DECAY_RATE, "decay_steps": DECAY_STEPS,
                  "gradients": [gradient(i).tolist() for i in range(STEPS)], "cases": cases}))
