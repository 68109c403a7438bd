#!/usr/bin/env python3
"""One training step of the same ResNet-50 or R(2+1)D-18 in PyTorch, for tests/bench/ratios.py peer; prints "step S s, peak P GiB".

  tests/bench/ratios.py peer --model resnet50 --size 1024x1024 --precision f32 --rounds 5 \
    --peer "python3 tests/bench/classifier_torch.py --model resnet50 --size 1024x1024 --precision f32"
  tests/bench/ratios.py peer --model r2plus1d18 --size 16x256x256 --precision f32 --rounds 5 \
    --peer "python3 tests/bench/classifier_torch.py --model r2plus1d18 --size 16x256x256 --precision f32"

The networks of torchvision, as libcore/models/resnet_classifier.h and resnet3d.h have them, written for PyTorch alone;
cross-entropy, SGD with momentum. --layout channels_last or contiguous (the default of PyTorch); --precision bf16 is autocast,
weights and the loss are f32. The parameter count is checked before anything is timed.
"""
import torch
import torch_step
from torch import nn
from torch.nn import functional as F

PARAMETERS = {"resnet50": 25_557_032, "r2plus1d18": 31_505_325}
CLASSES = {"resnet50": 1000, "r2plus1d18": 400}

p = torch_step.options(__doc__, size="1024x1024", precision="f32")
p.add_argument("--model", choices=list(PARAMETERS), default="resnet50")
a = p.parse_args()


class Unit(nn.Sequential):
    """Convolution without bias, batch norm, ReLU where active."""

    def __init__(self, conv, active=True):
        norm = (nn.BatchNorm3d if isinstance(conv, nn.Conv3d) else nn.BatchNorm2d)(conv.out_channels)
        super().__init__(conv, norm, *([nn.ReLU(inplace=True)] if active else []))


def plane(inputs, filters, kernel, stride=1):
    return nn.Conv2d(inputs, filters, kernel, stride, kernel // 2, bias=False)


def clip(inputs, filters, kernel, stride=(1, 1, 1)):
    return nn.Conv3d(inputs, filters, kernel, stride, tuple(k // 2 for k in kernel), bias=False)


class Residual(nn.Module):
    def __init__(self, way, shortcut):
        super().__init__()
        self.way, self.shortcut = nn.Sequential(*way), shortcut

    def forward(self, x):
        return F.relu(self.way(x) + self.shortcut(x))


def bottleneck(inputs, filters, stride):
    same = inputs == 4 * filters and stride == 1
    return Residual([Unit(plane(inputs, filters, 1)), Unit(plane(filters, filters, 3, stride)),
                     Unit(plane(filters, 4 * filters, 1), active=False)],
                    nn.Identity() if same else Unit(plane(inputs, 4 * filters, 1, stride), active=False))


def factorised(inputs, filters, stride):
    between = inputs * filters * 27 // (9 * inputs + 3 * filters)

    def convolution(channels, step, active):
        return [Unit(clip(channels, between, (1, 3, 3), (1, step, step))), Unit(clip(between, filters, (3, 1, 1), (step, 1, 1)), active)]

    same = inputs == filters and stride == 1
    return Residual([*convolution(inputs, stride, True), *convolution(filters, 1, False)],
                    nn.Identity() if same else Unit(clip(inputs, filters, (1, 1, 1), (stride,) * 3), active=False))


def resnet50():
    layers, inputs = [Unit(plane(3, 64, 7, 2)), nn.MaxPool2d(3, 2, 1)], 64
    for filters, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(blocks):
            layers.append(bottleneck(inputs, filters, stride if i == 0 else 1))
            inputs = 4 * filters
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, CLASSES["resnet50"]))


def r2plus1d18():
    layers, inputs = [Unit(clip(3, 45, (1, 7, 7), (1, 2, 2))), Unit(clip(45, 64, (3, 1, 1)))], 64
    for filters, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [factorised(inputs, filters, stride), factorised(filters, filters, 1)]
        inputs = filters
    return nn.Sequential(*layers, nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(inputs, CLASSES["r2plus1d18"]))


extents = torch_step.begin(a)
labels = torch.arange(a.batch) % CLASSES[a.model]
torch_step.time_steps(a, (resnet50 if a.model == "resnet50" else r2plus1d18)(), torch.randn(a.batch, 3, *extents),
                      lambda logits: F.cross_entropy(logits.float(), labels), parameters=PARAMETERS[a.model])
