#!/usr/bin/env python3
"""One training step, or with --forward one prediction, of the same 3D U-Net in PyTorch, for tests/bench/ratios.py peer and
predict_time.py; prints "step S s, peak P GiB".

  tests/bench/ratios.py peer --size 64 --precision bf16 --steps 2 --rounds 7 \
    --peer "python3 tests/bench/unet3d_torch.py --size 64x64x64 --precision bf16 --steps 2"

The reference U-Net, as libcore/models/unet.h has it: two convolutions of 3^3 with bias, batch norm and ReLU on each level, max
pools, transposed convolutions of 2^3 that keep their channels; written for PyTorch alone. Mean softmax cross-entropy. The
parameter count of 32 base filters and 3 classes is checked before anything is timed.
"""
import torch
import torch_step
from torch import nn
from torch.nn import functional as F


def convolution(inputs, filters, norm):
    """A convolution with its norm and ReLU: batch norm, or instance norm with the leaky ReLU that recipes take with it."""
    after = [nn.InstanceNorm3d(filters, affine=True), nn.LeakyReLU(0.01, inplace=True)] if norm == "instance" else [
        nn.BatchNorm3d(filters, eps=1e-3, momentum=0.01), nn.ReLU(inplace=True)]
    return [nn.Conv3d(inputs, filters, 3, padding=1), *after]


def level(inputs, between, filters, norm):
    return nn.Sequential(*convolution(inputs, between, norm), *convolution(between, filters, norm))


class UNet(nn.Module):
    def __init__(self, base_filters, classes, levels=4, norm="batch"):
        super().__init__()
        widths = [base_filters * 2**i for i in range(levels)]
        inputs = [1] + [2 * w for w in widths]
        self.encoders = nn.ModuleList(level(before, width, 2 * width, norm) for before, width in zip(inputs, widths))
        channels, ups, decoders = 2 * widths[-1], [], []
        for width in reversed(widths[:-1]):  # the skip of this level has 2 x width channels
            ups.append(nn.ConvTranspose3d(channels, channels, 2, stride=2))
            decoders.append(level(channels + 2 * width, 2 * width, 2 * width, norm))
            channels = 2 * width
        self.ups, self.decoders = nn.ModuleList(ups), nn.ModuleList(decoders)
        self.predict = nn.Conv3d(channels, classes, 1)

    def forward(self, x):
        skips = []
        for encoder in self.encoders:
            x = encoder(F.max_pool3d(skips[-1], 2) if skips else x)
            skips.append(x)
        for up, decoder, skip in zip(self.ups, self.decoders, reversed(skips[:-1])):
            x = decoder(torch.cat([up(x), skip], 1))
        return self.predict(x)


def main():
    p = torch_step.options(__doc__, size="128x128x128", precision="bf16", steps=3)
    p.add_argument("--base-filters", type=int, default=32)
    p.add_argument("--classes", type=int, default=3)
    p.add_argument("--levels", type=int, default=4)
    p.add_argument("--norm", choices=["batch", "instance"], default="batch")
    a = p.parse_args()
    extents = torch_step.begin(a)
    labels = torch.randint(a.classes, (a.batch, *extents))
    published = (a.base_filters, a.classes, a.levels) == (32, 3, 4)
    torch_step.time_steps(a, UNet(a.base_filters, a.classes, a.levels, a.norm), torch.randn(a.batch, 1, *extents),
                          lambda logits: F.cross_entropy(logits.float(), labels), parameters=19_073_795 if published else None)


if __name__ == "__main__":
    main()
