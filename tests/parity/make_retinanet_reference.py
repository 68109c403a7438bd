#!/usr/bin/env python3
"""Makes retinanet_reference.json: loss, gradient norm of every parameter and ten losses of SGD with PyTorch, in f64.

  apt-get install python3-torch python3-numpy
  python3 tests/parity/make_retinanet_reference.py > tests/parity/retinanet_reference.json

Weights, image and targets are not stored: both sides make them with the same counter-based generator (residual_network.py).
PyTorch in f32 differs from these numbers by up to 5e-4 in a loss and 9e-3 in a gradient's norm: ReLUs near 0 fall to the other
side, which is what the condition measures.
"""
import counter_rng
import numpy as np
import residual_network
import sgd_reference
import torch
import torch.nn.functional as F

SEED, SIZE, BATCH, BASE, PYRAMID, ANCHORS, RATE, MOMENTUM = 11, (128, 192), 2, 8, 16, 9, 0.0005, 0.9
CASES = [("resnet50", "detection", 4), ("resnet50", "legacy", 3), ("resnet18", "detection", 4)]
DECAY = 20.0  # of the case that trains as the legacy model: large, so that ten steps show what decays
LEVELS = range(3, 8)


def signed(name, shape):
    return residual_network.signed(SEED, name, shape)


class RetinaNet(residual_network.ResNet):
    """The network of libcore/models/retinanet.h, layer names and layouts included."""

    def __init__(self, backbone, classes):
        super().__init__(SEED, backbone, BASE, 1e-4)
        self.classes = classes

    def head(self, x, name, outputs, level):
        for i in range(4):
            conv = f"{name}/conv{i}"
            x = self.norm(self.conv(x, conv, PYRAMID), f"{conv}/p{level}")
        return self.conv(x, name + "/predict", outputs)

    def __call__(self, x):
        features = self.groups(x)
        levels = [self.conv(f, f"fpn/lateral{l}", PYRAMID, 1) for l, f in zip((3, 4, 5), features[1:])]
        for i in (1, 0):
            levels[i] = levels[i] + F.interpolate(levels[i + 1], scale_factor=2, mode="nearest")[:, :, :levels[i].shape[2], :levels[i].shape[3]]
        levels = [self.conv(x, f"fpn/p{l}", PYRAMID) for l, x in zip((3, 4, 5), levels)]
        levels.append(self.conv(levels[2], "fpn/p6", PYRAMID, stride=2))
        levels.append(self.conv(F.relu(levels[3]), "fpn/p7", PYRAMID, stride=2))
        levels = [self.norm(x, f"fpn/p{l}", active=False) for l, x in zip(LEVELS, levels)]
        return [(self.head(x, "class_head", ANCHORS * self.classes, l), self.head(x, "box_head", ANCHORS * 4, l))
                for l, x in zip(LEVELS, levels)]


def targets_of(classes):
    """Per level: 3 % of the anchors carry a class, 3 % are ignored (-2), the others have none (-1); boxes where a class is."""
    targets = []
    for level in LEVELS:
        h, w = -(-SIZE[0] // 2**level), -(-SIZE[1] // 2**level)
        u = counter_rng.uniform(SEED, f"class_targets/{level}", BATCH * h * w * ANCHORS).reshape(BATCH, h, w, ANCHORS)
        target = np.where(u < 0.03, np.floor(u / 0.03 * classes), np.where(u < 0.06, -2, -1)).astype(np.int64)
        boxes = signed(f"box_targets/{level}", (BATCH, h, w, ANCHORS, 4)).astype(np.float32) * (target >= 0)[..., None]
        boxes = boxes.reshape(BATCH, h, w, 4 * ANCHORS).transpose(0, 3, 1, 2).astype(np.float64)
        targets.append((torch.from_numpy(target.transpose(0, 3, 1, 2).copy()), torch.from_numpy(boxes.copy())))
    return targets


def loss_of(outputs, targets, classes):
    focal = huber = positives = 0.0
    for (logits, boxes), (target, codes) in zip(outputs, targets):
        n, _, h, w = logits.shape
        x = logits.view(n, ANCHORS, classes, h, w)
        y = F.one_hot(target.clamp(min=0), classes).permute(0, 1, 4, 2, 3) * (target >= 0).unsqueeze(2)
        log_p = torch.where(y > 0, F.logsigmoid(x), F.logsigmoid(-x))
        weight = torch.where(y > 0, 0.25, 0.75) * (target > -2).unsqueeze(2)
        focal = focal - (weight * (1 - log_p.exp()) ** 1.5 * log_p).sum()
        huber = huber + (F.huber_loss(boxes, codes.to(boxes.dtype), reduction="none", delta=0.1) * (codes != 0)).sum()
        positives = positives + (target >= 0).sum()
    return (focal + 50 * huber / 4) / (positives + 1)


image = torch.from_numpy(signed("image", (BATCH, *SIZE, 3)).astype(np.float32).astype(np.float64).transpose(0, 3, 1, 2).copy())
cases = []
for backbone, variant, classes in CASES:
    net, targets = RetinaNet(backbone, classes), targets_of(classes)
    net(image)
    steps = sgd_reference.conditioned_steps(net.parameters, lambda: loss_of(net(image), targets, classes), RATE, MOMENTUM)
    cases.append({"backbone": backbone, "variant": variant, "classes": classes, **steps})

# As models/official/retinanet trains: L2 on all but the backbone's norms, the first convolution left as it is.
net, targets = RetinaNet("resnet18", 3), targets_of(3)
net(image)
net.parameters["backbone/stem/kernel"].requires_grad_(False)
steps = sgd_reference.conditioned_steps({name: p for name, p in net.parameters.items() if p.requires_grad},
                                        lambda: loss_of(net(image), targets, 3), RATE, MOMENTUM, decay=DECAY,
                                        decays=lambda name: not (name.startswith("backbone/") and "/norm/" in name))
cases.append({"backbone": "resnet18", "variant": "legacy", "classes": 3, "weight_decay": DECAY, **steps})
sgd_reference.print_reference("make_retinanet_reference.py", {"seed": SEED, "size": SIZE, "batch": BATCH, "base_filters": BASE,
                              "pyramid_filters": PYRAMID, "learning_rate": RATE, "momentum": MOMENTUM}, cases)
