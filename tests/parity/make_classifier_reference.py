#!/usr/bin/env python3
"""Makes classifier_reference.json: loss, gradient norm of every parameter and ten losses of SGD with PyTorch, in f64.

  apt-get install python3-torch python3-numpy
  python3 tests/parity/make_classifier_reference.py > tests/parity/classifier_reference.json

Weights, images and labels are not stored: both sides make them with the same counter-based generator (residual_network.py).
The digits CNN is without its dropout, whose mask is ours.
"""
import counter_rng
import numpy as np
import residual_network
import sgd_reference
import torch
import torch.nn.functional as F

SEED, BASE, CLASSES, RATE, MOMENTUM = 13, 8, 5, 0.001, 0.9
CASES = [("digits", (8, 28, 28)), ("resnet18", (3, 64, 96)), ("resnet50", (3, 64, 96)), ("resnet3d18", (3, 9, 40, 32)),
         ("r2plus1d18", (3, 9, 40, 32))]


class Digits(residual_network.Network):
    """libcore/models/digits.h."""

    def __init__(self):
        super().__init__(SEED, 2, 1e-3)

    def __call__(self, x):
        for name, filters, kernel, stride in (("conv0", 12, 3, 1), ("conv1", 24, 6, 2), ("conv2", 64, 6, 2)):
            x = self.norm(self.conv(x, name, filters, kernel, stride, bias=False), name, scale=False)
        x = self.dense(x, "dense", 200, bias=False)[:, :, None, None]
        return self.dense(self.norm(x, "dense", scale=False), "head", CLASSES)


class ResNet(residual_network.ResNet):
    """libcore/models/resnet_classifier.h."""

    def __init__(self, backbone):
        super().__init__(SEED, backbone, BASE, 1e-5)

    def __call__(self, x):
        return self.dense(self.groups(x)[-1].mean((2, 3), keepdim=True), "head", CLASSES)


class ResNet3d(residual_network.Network):
    """libcore/models/resnet3d.h."""

    def __init__(self, factorised):
        super().__init__(SEED, 3, 1e-5, lambda name: name.startswith("group") and name.endswith("/conv2/norm/gamma"))
        self.factorised = factorised

    def convolution(self, x, name, filters, between, stride):
        if not self.factorised:
            return self.conv(x, name, filters, 3, stride, bias=False, same=False)
        x = self.unit(x, name + "/space", between, (1, 3, 3), (1, stride, stride))
        return self.conv(x, name + "/time", filters, (3, 1, 1), (stride, 1, 1), bias=False, same=False)

    def block(self, x, name, filters, stride):
        c = x.shape[1]
        between = c * filters * 27 // (9 * c + 3 * filters)
        y = self.norm(self.convolution(x, name + "/conv1", filters, between, stride), name + "/conv1")
        y = self.norm(self.convolution(y, name + "/conv2", filters, between, 1), name + "/conv2", active=False)
        if stride > 1 or c != filters:
            x = self.unit(x, name + "/shortcut", filters, 1, stride, active=False)
        return F.relu(y + x)

    def __call__(self, x):
        if self.factorised:
            x = self.unit(x, "stem/space", BASE * 45 // 64, (1, 7, 7), (1, 2, 2))
            x = self.unit(x, "stem/time", BASE, (3, 1, 1))
        else:
            x = self.unit(x, "stem", BASE, (3, 7, 7), (1, 2, 2))
        for group in range(4):
            for i in range(2):
                x = self.block(x, f"group{group}/block{i}", BASE << group, 2 if group and i == 0 else 1)
        return self.dense(x.mean((2, 3, 4), keepdim=True), "head", CLASSES)


MAKE = {"digits": Digits, "resnet18": lambda: ResNet("resnet18"), "resnet50": lambda: ResNet("resnet50"),
        "resnet3d18": lambda: ResNet3d(False), "r2plus1d18": lambda: ResNet3d(True)}

cases = []
for model, extents in CASES:
    net, channels = MAKE[model](), 1 if model == "digits" else 3
    axes = len(extents) - 1
    image = residual_network.tensor(residual_network.signed(SEED, "image", (*extents, channels)), (0, axes + 1, *range(1, axes + 1)))
    labels = torch.from_numpy(np.floor(counter_rng.uniform(SEED, "labels", extents[0]) * CLASSES).astype(np.int64))
    net(image)
    steps = sgd_reference.conditioned_steps(net.parameters, lambda: F.cross_entropy(net(image), labels), RATE, MOMENTUM)
    cases.append({"model": model, "extents": extents, "channels": channels, **steps})
sgd_reference.print_reference("make_classifier_reference.py",
                              {"seed": SEED, "base_filters": BASE, "classes": CLASSES, "learning_rate": RATE, "momentum": MOMENTUM},
                              cases)
