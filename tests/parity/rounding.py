"""How far the numbers of a parity case move when each stored value is off by what f32 may round it by: their condition.

Every result of PyTorch, in the forward pass, in the backward pass and in the optimizer, is moved by a uniform random number of
either sign: an element by 8 epsilon of itself; a sum of n products (convolutions, dense layers and their gradients) by 8 epsilon
sqrt(n) of the root mean square of the result, eight deviations of the random walk of n roundings. So no rounding carries a value
near zero across a ReLU, or another maximum into a pool, as often as these numbers do, whatever the order of additions. Norms
and losses, whose sums are f64 in libcore/kernels, count as one rounding. This knows no processor.
"""
import math

import torch
from torch.utils._python_dispatch import TorchDispatchMode

EPSILON = 2.0**-24  # of f32, half the distance of neighbouring numbers at 1
WALKS = 8  # deviations of the random walk, as product_allowance() of libcore/check/tolerance.h has it
RUNS = 8
SUMS = {"aten.convolution", "aten.convolution_backward", "aten.mm", "aten.addmm", "aten.native_batch_norm",
        "aten.native_batch_norm_backward", "aten.sum", "aten.mean"}
MOVES = {"aten.constant_pad_nd", "aten.cat", "aten.clone", "aten.max_pool2d_with_indices", "aten.max_pool3d_with_indices"}  # exact


def products(name, args, index):
    """How many products an element of result `index` adds up in f32."""
    if name == "aten.convolution":
        w, transposed = args[1], args[6]
        return w.numel() // w.shape[1 if transposed else 0]
    if name == "aten.convolution_backward" and index < 2:
        d_y, w, transposed = args[0], args[2], args[7]
        return w.numel() // w.shape[0 if transposed else 1] if index == 0 else d_y.numel() // d_y.shape[1]
    if name in ("aten.mm", "aten.addmm"):
        return args[-2].shape[1]
    return 1


class Rounding(TorchDispatchMode):
    """While it is entered, results move; `terms` is the largest number of products seen."""

    def __init__(self, seed):
        super().__init__()
        self.generator, self.terms = torch.Generator().manual_seed(seed), 1

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        name = str(func).rsplit(".", 1)[0] if str(func).count(".") > 1 else str(func)
        if name in MOVES:
            return out
        for index, (kind, x) in enumerate(zip(func._schema.returns, out if isinstance(out, (tuple, list)) else (out,))):
            fresh = kind.alias_info is None or kind.alias_info.is_write  # else a view, whose owner has moved
            if not fresh or not isinstance(x, torch.Tensor) or not x.is_floating_point() or x.numel() == 0:
                continue
            noise = torch.empty(x.shape).uniform_(-WALKS * EPSILON, WALKS * EPSILON, generator=self.generator).to(x.dtype)
            if name in SUMS:
                n = products(name, args, index)
                self.terms = max(self.terms, n)
                x.add_(noise.mul_(math.sqrt(n) * x.square().mean().sqrt()))
            else:
                x.add_(noise.mul_(x))
        return out


def condition(steps, run):
    """The most by which losses and gradient norms of run() leave those of `steps`, over what they were moved by: a value that
    crosses a ReLU in one run of eight moves as far as in any."""
    moved, terms = [], 1
    for seed in range(RUNS):
        with Rounding(seed) as rounding:
            moved.append(run())
        terms = max(terms, rounding.terms)

    def spread(exact, values):
        return float("%.3g" % (max(abs(v - exact) for v in values) / (WALKS * EPSILON * math.sqrt(terms))))

    return {"terms": terms, "losses": [spread(x, [m["losses"][i] for m in moved]) for i, x in enumerate(steps["losses"])],
            "gradient_norms": {name: spread(x, [m["gradient_norms"][name] for m in moved])
                               for name, x in steps["gradient_norms"].items()}}
