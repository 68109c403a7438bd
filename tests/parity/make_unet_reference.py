#!/usr/bin/env python3
"""Makes unet_reference.json: loss, gradient norm of every parameter and ten losses of SGD with PyTorch, in f32 and in f64.

  apt-get install python3-torch python3-numpy
  python3 tests/parity/make_unet_reference.py > tests/parity/unet_reference.json

Weights and inputs are not stored: both sides make them with the same counter-based generator (libcore/base/rng.h).
"""
from typing import NamedTuple

import counter_rng
import losses
import numpy as np
import rounding
import sgd_reference
import torch
import torch.nn.functional as F

SEED, SIZE, BATCH, BASE, CLASSES, RATE, MOMENTUM = 7, (24, 16, 32), 2, 4, 3, 0.01, 0.9


class Case(NamedTuple):
    norm: str
    slope: float
    loss: str
    size: tuple = SIZE
    replicas: int = 1
    supervised: bool = False  # deep supervision: a loss at decoder level 1 too, of half the weight
    known: list = None  # rows of the classes that are known in each sample; None: all of them, and the loss is not marginal


CASES = [Case("batch", 0.0, "cross_entropy"), Case("instance", 0.01, "dice_ce"), Case("batch", 0.0, "adaptive_dice32"),
         Case("batch", 0.0, "cross_entropy", (27, 19, 33)),  # odd on some levels: pooling drops the last plane
         Case("batch", 0.0, "adaptive_dice32", replicas=2),  # with norms and losses of their own, gradients added up
         Case("instance", 0.01, "log_dice_ce", supervised=True, known=[[1, 1, 0], [1, 1, 1]])]


def uniform(name, count):
    return counter_rng.uniform(SEED, name, count)


parameters = {}
dtype = torch.float32  # of the network


def parameter(name, shape, permute=None):
    """The tensor `name` of voxshard in its own layout, then permuted to PyTorch's."""
    if name.endswith("/kernel"):
        n = int(np.prod(shape))
        limit = np.sqrt(6.0 / (n / (shape[-1] * shape[-2]) * (shape[-1] + shape[-2])))
        value = ((2 * uniform(name, n) - 1) * limit).astype(np.float32).reshape(shape)
    else:
        value = np.full(shape, 1.0 if name.endswith("/gamma") else 0.0, np.float32)
    t = torch.from_numpy(np.ascontiguousarray(value.transpose(permute) if permute else value)).to(dtype).requires_grad_()
    parameters[name] = t
    return t


class UNet:
    def __init__(self, norm, slope, supervised):
        self.norm, self.slope, self.supervised, self.layers = norm, slope, supervised, {}

    def get(self, name, shape, permute=None):
        if name not in self.layers:
            self.layers[name] = parameter(name, shape, permute)
        return self.layers[name]

    def conv(self, x, name, out, k=3):
        w = self.get(name + "/kernel", (k, k, k, x.shape[1], out), (4, 3, 0, 1, 2))
        return F.conv3d(x, w, self.get(name + "/bias", (out,)), padding=k // 2)

    def block(self, x, name, out):
        x = self.conv(x, name, out)
        gamma, beta = self.get(name + "/norm/gamma", (out,)), self.get(name + "/norm/beta", (out,))
        if self.norm == "batch":
            x = F.batch_norm(x, None, None, gamma, beta, training=True, eps=1e-3)
        else:
            x = F.instance_norm(x, None, None, gamma, beta, use_input_stats=True, eps=1e-5)
        return F.leaky_relu(x, self.slope)

    def up(self, x, name, skip):
        """To the extents of the skip: what a plane that was dropped would have made is the bias alone."""
        c = x.shape[1]
        w = self.get(name + "/kernel", (2, 2, 2, c, c), (4, 3, 0, 1, 2))
        more = [s - 2 * n for s, n in zip(skip.shape[2:], x.shape[2:])]
        return F.conv_transpose3d(x, w, self.get(name + "/bias", (c,)), stride=2, output_padding=more)

    def __call__(self, x):
        """Returns the logits, finest first; of the coarser level only where it is supervised."""
        skips, coarse = [], []
        for d in range(4):
            if d:
                x = F.max_pool3d(x, 2)
            x = self.block(x, f"encoder{d}/conv0", BASE << d)
            x = self.block(x, f"encoder{d}/conv1", BASE << (d + 1))
            skips.append(x)
        for d in (2, 1, 0):
            skip = skips[d]
            x = torch.cat([self.up(x, f"decoder{d}/up", skip), skip], 1)
            x = self.block(x, f"decoder{d}/conv0", skip.shape[1])
            x = self.block(x, f"decoder{d}/conv1", skip.shape[1])
            if self.supervised and d == 1:
                coarse = [self.conv(x, "decoder1/head", CLASSES, 1)]
        return [self.conv(x, "head", CLASSES, 1), *coarse]


def loss_of(levels, labels, case):
    """The mean over the levels, of which each has half the weight of the one above it; labels are those of one voxel of a block."""
    total, weights = 0, [2.0**-d for d in range(len(levels))]
    for d, (logits, weight) in enumerate(zip(levels, weights)):
        at = [torch.clamp(torch.arange(n) * 2**d + 2**d // 2, max=m - 1) for n, m in zip(logits.shape[2:], labels.shape[1:])]
        y = F.one_hot(labels[:, at[0]][:, :, at[1]][..., at[2]], CLASSES).to(dtype)
        p = logits.movedim(1, -1).softmax(-1)
        if case.known:
            y, p = losses.merged(y, case.known), losses.merged(p, case.known)
        total = total + weight / sum(weights) * getattr(losses, case.loss)(y, p)
    return total


cases = []
for case in CASES:
    size, voxels = case.size, BATCH * int(np.prod(case.size))
    image = torch.from_numpy((2 * uniform("image", voxels) - 1).astype(np.float32)).reshape(BATCH, 1, *size)
    labels = torch.from_numpy((uniform("labels", voxels) * CLASSES).astype(np.int64)).reshape(BATCH, *size)

    def run(of):
        """Ten steps from the same weights, in that type."""
        global dtype
        dtype = of
        parameters.clear()
        net, typed = UNet(case.norm, case.slope, case.supervised), image.to(of)
        net(typed)
        parts = list(zip(typed.chunk(case.replicas), labels.chunk(case.replicas)))
        return sgd_reference.ten_steps(parameters, lambda: sum(loss_of(net(x), y, case) for x, y in parts) / case.replicas, RATE, MOMENTUM)

    exact = run(torch.float64)  # the condition is found in f32, in which PyTorch convolves volumes forty times as fast
    cases.append({**case._asdict(), **run(torch.float32), "f64": exact, "condition": rounding.condition(exact, lambda: run(torch.float32))})
sgd_reference.print_reference("make_unet_reference.py", {"seed": SEED, "batch": BATCH, "base_filters": BASE,
                              "classes": CLASSES, "learning_rate": RATE, "momentum": MOMENTUM}, cases)
