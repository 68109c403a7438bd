#!/usr/bin/env python3
"""Epochs of the digits CNN on MNIST's IDX files in PyTorch; prints "epoch S s, accuracy A" of each, as
tests/bench/digits_epoch.py reads it.

  python3 tests/bench/digits_torch.py --data mnist --epochs 1

The network of libcore/models/digits.h, Adam with the rate 0.01 x 0.7^epoch, all images in memory as f32: nothing but the
step is timed. --size-multiplier enlarges the images, --steps ends the epoch early and prints the median step.
"""
import argparse, gzip, pathlib, statistics, time
import numpy as np
import torch
from torch import nn

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("--data", required=True, type=pathlib.Path)
p.add_argument("--epochs", type=int, default=1)
p.add_argument("--steps", type=int, default=0)
p.add_argument("--batch", type=int, default=64)
p.add_argument("--threads", type=int, default=2)
p.add_argument("--size-multiplier", type=int, default=1)
p.add_argument("--channels-last", action="store_true")
a = p.parse_args()


def idx(name, head, shape):
    file = a.data / name
    raw = file.read_bytes() if file.exists() else gzip.decompress((a.data / (name + ".gz")).read_bytes())
    return torch.from_numpy(np.frombuffer(raw, np.uint8, offset=head).reshape(shape).copy())


def convolution(inputs, filters, kernel, stride):
    pad = {3: 1, 6: 2}[kernel]
    return [nn.Conv2d(inputs, filters, kernel, stride, pad, bias=False), norm(nn.BatchNorm2d, filters), nn.ReLU(inplace=True)]


def norm(kind, filters):
    layer = kind(filters, eps=1e-3, momentum=0.01)
    layer.weight.requires_grad_(False)
    return layer


torch.set_num_threads(a.threads)
torch.manual_seed(0)
m = a.size_multiplier
net = nn.Sequential(*convolution(1, 12, 3, 1), *convolution(12, 24, 6, 2), *convolution(24, 64, 6, 2), nn.Flatten(),
                    nn.Linear(64 * (7 * m) ** 2, 200, bias=False), norm(nn.BatchNorm1d, 200), nn.ReLU(inplace=True),
                    nn.Dropout(0.4), nn.Linear(200, 10))
adam = torch.optim.Adam([w for w in net.parameters() if w.requires_grad], 0.01, eps=1e-8)
images, labels = idx("train-images-idx3-ubyte", 16, (-1, 1, 28, 28)), idx("train-labels-idx1-ubyte", 8, -1).long()
scale = lambda x: torch.repeat_interleave(torch.repeat_interleave((x.float() / 255 - 0.1307) / 0.3081, m, 2), m, 3)
if a.channels_last:
    net = net.to(memory_format=torch.channels_last)
for epoch in range(a.epochs):
    for group in adam.param_groups:
        group["lr"] = 0.01 * 0.7**epoch
    net.train()
    order, times = torch.randperm(len(images)), []
    began = time.perf_counter()
    for step, batch in enumerate(order.split(a.batch)):
        start = time.perf_counter()
        x = scale(images[batch])
        if a.channels_last:
            x = x.contiguous(memory_format=torch.channels_last)
        adam.zero_grad()
        nn.functional.cross_entropy(net(x), labels[batch]).backward()
        adam.step()
        times.append(time.perf_counter() - start)
        if step + 1 == a.steps:
            break
    seconds = time.perf_counter() - began
    if a.steps:
        print(f"step {statistics.median(times):.4f} s")
        break
    net.eval()
    tests, truth = idx("t10k-images-idx3-ubyte", 16, (-1, 1, 28, 28)), idx("t10k-labels-idx1-ubyte", 8, -1).long()
    with torch.no_grad():
        right = sum((net(scale(x)).argmax(1) == y).sum().item() for x, y in zip(tests.split(500), truth.split(500)))
    print(f"epoch {seconds:.1f} s, accuracy {right / len(truth):.4f}", flush=True)
