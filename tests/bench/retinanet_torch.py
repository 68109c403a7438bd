#!/usr/bin/env python3
"""One training step of the same RetinaNet in PyTorch, for tests/bench/ratios.py peer; prints "step S s, peak P GiB".

  tests/bench/ratios.py peer --model retinanet --size 1280x1280 --peer "python3 retinanet_torch.py --size 1280x1280 --steps 1"

ResNet-50 (stride on the 3x3), pyramid of levels 3 to 7, heads shared by the levels with a batch norm for each level, focal and
Huber loss, SGD with momentum: the network of libcore/models/retinanet.h, written for PyTorch alone (no torchvision).
--precision bf16 is autocast; weights and losses are f32. The parameter count is checked before anything is timed.
"""
import math
import torch
import torch_step
from torch import nn
from torch.nn import functional as F

p = torch_step.options(__doc__, size="640x640", precision="bf16", steps=3)
p.add_argument("--classes", type=int, default=91)
a = p.parse_args()
ANCHORS, FILTERS = 9, 256


def norm(filters):
    return nn.BatchNorm2d(filters, eps=1e-4, momentum=0.003)


class Convolution(nn.Sequential):
    def __init__(self, inputs, filters, kernel, stride=1, active=True):
        super().__init__(nn.Conv2d(inputs, filters, kernel, stride, (kernel - 1) // 2, bias=False), norm(filters),
                         *([nn.ReLU(inplace=True)] if active else []))


class Bottleneck(nn.Module):
    def __init__(self, inputs, filters, stride):
        super().__init__()
        self.way = nn.Sequential(Convolution(inputs, filters, 1), Convolution(filters, filters, 3, stride),
                                 Convolution(filters, 4 * filters, 1, active=False))
        nn.init.zeros_(self.way[2][1].weight)
        same = inputs == 4 * filters and stride == 1
        self.shortcut = nn.Identity() if same else Convolution(inputs, 4 * filters, 1, stride, active=False)

    def forward(self, x):
        return F.relu(self.way(x) + self.shortcut(x))


class Head(nn.Module):
    def __init__(self, outputs, bias=0.0):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv2d(FILTERS, FILTERS, 3, padding=1) for _ in range(4))
        self.norms = nn.ModuleList(nn.ModuleList(norm(FILTERS) for _ in range(4)) for _ in range(5))
        self.predict = nn.Conv2d(FILTERS, outputs, 3, padding=1)
        nn.init.constant_(self.predict.bias, bias)

    def forward(self, x, level):
        for conv, level_norm in zip(self.convs, self.norms[level]):
            x = F.relu(level_norm(conv(x)))
        return self.predict(x)


class RetinaNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(Convolution(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1))
        groups, inputs = [], 64
        for filters, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            groups.append(nn.Sequential(*(Bottleneck(inputs if i == 0 else 4 * filters, filters, stride if i == 0 else 1)
                                          for i in range(blocks))))
            inputs = 4 * filters
        self.groups = nn.ModuleList(groups)
        self.laterals = nn.ModuleList(nn.Conv2d(inputs, FILTERS, 1) for inputs in (512, 1024, 2048))
        self.posts = nn.ModuleList(nn.Conv2d(FILTERS, FILTERS, 3, padding=1) for _ in range(3))
        self.tops = nn.ModuleList(nn.Conv2d(FILTERS, FILTERS, 3, 2, 1) for _ in range(2))
        self.norms = nn.ModuleList(norm(FILTERS) for _ in range(5))
        self.classes, self.boxes = Head(ANCHORS * a.classes, -math.log(99)), Head(4 * ANCHORS)

    def forward(self, x):
        x, features = self.stem(x), []
        for group in self.groups:
            x = group(x)
            features.append(x)
        levels = [lateral(f) for lateral, f in zip(self.laterals, features[1:])]
        for i in (1, 0):
            levels[i] = levels[i] + F.interpolate(levels[i + 1], size=levels[i].shape[2:], mode="nearest")
        levels = [post(level) for post, level in zip(self.posts, levels)]
        levels.append(self.tops[0](levels[2]))
        levels.append(self.tops[1](F.relu(levels[3])))
        levels = [level_norm(level) for level_norm, level in zip(self.norms, levels)]
        return [(self.classes(level, i), self.boxes(level, i)) for i, level in enumerate(levels)]


def loss_of(outputs, targets):
    focal = huber = positives = 0.0
    for (logits, boxes), (classes, codes) in zip(outputs, targets):
        n, _, h, w = logits.shape
        x = logits.float().view(n, ANCHORS, a.classes, h, w)
        y = F.one_hot(classes.clamp(min=0), a.classes).permute(0, 1, 4, 2, 3) * (classes >= 0).unsqueeze(2)
        probability = torch.where(y > 0, torch.sigmoid(x), torch.sigmoid(-x))
        weight = torch.where(y > 0, 0.25, 0.75) * (classes > -2).unsqueeze(2)
        focal = focal - (weight * (1 - probability) ** 1.5 * torch.log(probability.clamp(min=1e-30))).sum()
        huber = huber + (F.huber_loss(boxes.float(), codes, reduction="none", delta=0.1) * (codes != 0)).sum()
        positives = positives + (classes >= 0).sum()
    return (focal + 50 * huber / 4) / (positives + 1)


height, width = torch_step.begin(a)
targets = []
for level in range(3, 8):
    h, w = -(-height // 2**level), -(-width // 2**level)
    classes = torch.where(torch.rand(a.batch, ANCHORS, h, w) < 0.01, 5, -1)
    codes = 0.1 * torch.randn(a.batch, 4 * ANCHORS, h, w) * (classes >= 0).repeat_interleave(4, 1)
    targets.append((classes, codes))
torch_step.time_steps(a, RetinaNet(), torch.randn(a.batch, 3, height, width), lambda outputs: loss_of(outputs, targets),
                      parameters=34_091_159 if a.classes == 91 else None)
