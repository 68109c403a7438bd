"""What the generators of parity numbers of residual networks share: parameters by name with the layouts of voxshard, in f64.

Every parameter is filled, so that no gradient is zero because a gamma begins at 0: kernels within the Glorot limit, gammas within
0.1 of 1 (the last ones of residual blocks of 0.2, else f32 itself differs from f64 by percents), biases and betas within 0.1
of 0. Numbers come from counter_rng.py, as on the other side; batch norm over the whole batch.
"""
import counter_rng
import numpy as np
import torch
import torch.nn.functional as F

CONV = {2: F.conv2d, 3: F.conv3d}


def signed(seed, name, shape):
    return 2 * counter_rng.uniform(seed, name, int(np.prod(shape))).reshape(shape) - 1


def tensor(value, permute):
    return torch.from_numpy(np.ascontiguousarray(value.astype(np.float32).astype(np.float64).transpose(permute)))


def same_padding(x, kernel, stride):
    """As TensorFlow's SAME, the odd element behind; F.pad wants the last axis first."""
    pads = []
    for extent, k, s in reversed(list(zip(x.shape[2:], kernel, stride))):
        total = max((-(-extent // s) - 1) * s + k - extent, 0)
        pads += [total // 2, total - total // 2]
    return pads


class Network:
    """x is (N, C, spatial axes). `last` are the layers whose gammas lie around 0.2."""

    def __init__(self, seed, rank, epsilon=1e-5, last=lambda name: False):
        self.seed, self.rank, self.epsilon, self.last, self.parameters = seed, rank, epsilon, last, {}

    def get(self, name, shape, permute=None):
        if name not in self.parameters:
            value = signed(self.seed, name, shape)
            if name.endswith("/kernel"):
                value *= np.sqrt(6.0 / (int(np.prod(shape)) / (shape[-1] * shape[-2]) * (shape[-1] + shape[-2])))
            else:
                value = 0.1 * value + ((0.2 if self.last(name) else 1.0) if name.endswith("/gamma") else 0.0)
            self.parameters[name] = tensor(value, permute or range(len(shape))).requires_grad_()
        return self.parameters[name]

    def axes(self, value):
        return (value,) * self.rank if isinstance(value, int) else tuple(value)

    def conv(self, x, name, filters, kernel=3, stride=1, bias=True, same=True):
        k, s = self.axes(kernel), self.axes(stride)
        w = self.get(name + "/kernel", (*k, x.shape[1], filters), (self.rank + 1, self.rank, *range(self.rank)))
        fixed = [p for n in reversed(k) for p in ((n - 1) // 2, n - 1 - (n - 1) // 2)]
        x = F.pad(x.to(w.dtype), same_padding(x, k, s) if same else fixed)  # an image takes the type of the weights
        return CONV[self.rank](x, w, self.get(name + "/bias", (filters,)) if bias else None, s)

    def norm(self, x, name, active=True, scale=True):
        c = (x.shape[1],)
        gamma = self.get(name + "/norm/gamma", c) if scale else None
        beta = self.get(name + "/norm/beta", c)
        x = F.batch_norm(x.to(beta.dtype), None, None, gamma, beta, training=True, eps=self.epsilon)
        return F.relu(x) if active else x

    def unit(self, x, name, filters, kernel, stride=1, active=True):
        return self.norm(self.conv(x, name, filters, kernel, stride, bias=False, same=False), name, active)

    def dense(self, x, name, filters, bias=True):
        """Of all that a sample holds, in the order spatial axes, channels."""
        shape = (*x.shape[2:], x.shape[1], filters)
        w = self.get(name + "/kernel", shape).reshape(-1, filters)
        x = x.permute(0, *range(2, x.dim()), 1).reshape(x.shape[0], -1) @ w
        return x + self.get(name + "/bias", (filters,)) if bias else x


class ResNet(Network):
    """libcore/models/resnet.h."""

    BLOCKS = {"resnet18": (2, 2, 2, 2), "resnet34": (3, 4, 6, 3), "resnet50": (3, 4, 6, 3)}

    def __init__(self, seed, backbone, base, epsilon):
        self.backbone, self.base = backbone, base
        conv = "/conv3/" if backbone == "resnet50" else "/conv2/"
        super().__init__(seed, 2, epsilon, lambda name: name.startswith("backbone/group") and conv in name)

    def block(self, x, name, filters, stride, first):
        if self.backbone != "resnet50":
            y = self.unit(x, name + "/conv1", filters, 3, stride)
            y, out = self.unit(y, name + "/conv2", filters, 3, active=False), filters
        else:
            y = self.unit(x, name + "/conv1", filters, 1)
            y = self.unit(y, name + "/conv2", filters, 3, stride)
            y, out = self.unit(y, name + "/conv3", 4 * filters, 1, active=False), 4 * filters
        if first:
            x = self.unit(x, name + "/shortcut", out, 1, stride, active=False)
        return F.relu(y + x)

    def groups(self, x):
        x = self.unit(x, "backbone/stem", self.base, 7, 2)
        x = F.max_pool2d(F.pad(x, same_padding(x, (3, 3), (2, 2)), value=-np.inf), 3, 2)
        features = []
        for group, blocks in enumerate(self.BLOCKS[self.backbone]):
            for i in range(blocks):
                x = self.block(x, f"backbone/group{group + 2}/block{i}", self.base << group, 2 if group and i == 0 else 1, i == 0)
            features.append(x)
        return features
