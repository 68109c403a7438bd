#!/usr/bin/env python3
"""A plain recipe for organs in CT in PyTorch, trained for a given time, to hold `voxshard train --time` against.

  /usr/bin/python3 tests/bench/organs_torch.py DATA --seconds 3600 --seed 0 --write found --voxshard build/release/bin/voxshard

Needs Debian's python3-torch and python3-nibabel. DATA is a data set in nnU-Net's form with imagesTs and labelsTs. The network is the
reference U-Net (unet3d_torch.py) of 16 filters with instance norm; crops of 64^3, batch 1, bf16 where --precision does not say f32;
Adam at 0.001 with polynomial decay; cross-entropy and Dice without the background; 70 % of the crops around a voxel of an organ of
the case; HU clipped to [-200, 1000]; intensities jittered, noise; nothing resampled, mirrored or rotated. An organ without a voxel in
a case counts as not contoured: its probability is added to that of the background (--missing background: it is background).
All of imagesTr trains and nothing validates, as with `voxshard train --fold all`. The steps are fixed before the first by the time of
ten on a copy of the network, so that the decay ends when the time does; reading the data and predicting come on top. --steps takes
what was measured so before, on a machine that is busy since. Label maps of imagesTs go to --write and are scored by
`voxshard evaluate`, once; prints "trained N steps in S s" and what evaluate prints.
"""
import argparse, copy, random, subprocess, time
from pathlib import Path

import nibabel
import numpy as np
import torch
from torch.nn import functional as F
from unet3d_torch import UNet

SIDE = 64
MEASURED = 10  # steps before the first

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("data", type=Path)
p.add_argument("--seconds", type=float, default=3600)
p.add_argument("--steps", type=int, help="in place of --seconds: nothing is measured")
p.add_argument("--seed", type=int, default=0)
p.add_argument("--threads", type=int, default=2)
p.add_argument("--base-filters", type=int, default=16)
p.add_argument("--precision", choices=["bf16", "f32"], default="bf16", help="the faster one: f32 without AVX-512, where bf16 is emulated")
p.add_argument("--missing", choices=["unknown", "background"], default="unknown")
p.add_argument("--write", type=Path, required=True, help="a new folder")
p.add_argument("--voxshard", default="build/release/bin/voxshard")
a = p.parse_args()
a.write.mkdir(parents=True)
random.seed(a.seed)
torch.manual_seed(a.seed)
torch.set_num_threads(a.threads)


def label_name(image):
    return image.name.removesuffix("_0000.nii.gz") + ".nii.gz"


def values_of(image):
    return torch.from_numpy((np.clip(image.get_fdata(dtype=np.float32), -200, 1000) - 100) / 300)


def padded(volume, multiple, least, value):
    """Grows the far ends of (D, H, W) to `least` voxels and a multiple."""
    grow = [max(least, -(-n // multiple) * multiple) - n for n in reversed(volume.shape)]
    return F.pad(volume, [n for one in grow for n in (0, one)], value=value)


def case_of(image):
    label = image.parent.with_name("labelsTr") / label_name(image)
    values, labels = values_of(nibabel.load(image)), np.asarray(nibabel.load(label).dataobj)
    values, labels = padded(values, 1, SIDE, -1.0), padded(torch.from_numpy(labels.astype(np.uint8)), 1, SIDE, 0)
    return values, labels, {c: (labels == c).nonzero() for c in labels.unique().tolist() if c != 0}


cases = [case_of(image) for image in sorted((a.data / "imagesTr").glob("*_0000.nii.gz"))]
classes = 1 + max(max((0, *voxels)) for _, _, voxels in cases)


def sample():
    """A crop, its labels, and for each class whether the case tells it from the background."""
    values, labels, voxels = random.choice(cases)
    centre = [random.randrange(n) for n in labels.shape]
    if voxels and random.random() < 0.7:
        where = voxels[random.choice(list(voxels))]
        centre = where[random.randrange(len(where))].tolist()
    begin = [min(max(0, c - SIDE // 2), n - SIDE) for c, n in zip(centre, labels.shape)]
    box = tuple(slice(b, b + SIDE) for b in begin)
    known = torch.zeros(classes, dtype=torch.bool)
    known[[0, *voxels]] = True
    values = values[box] * (1 + 0.1 * random.gauss(0, 1)) + 0.05 * torch.randn([SIDE] * 3)
    return values[None, None], labels[box][None].long(), known if a.missing == "unknown" else torch.ones_like(known)


def logits_of(network, values):
    with torch.autocast("cpu", torch.bfloat16, enabled=a.precision == "bf16"):
        return network(values.contiguous(memory_format=torch.channels_last_3d)).float()


def step(network, optimizer):
    values, labels, known = sample()
    logits = logits_of(network, values)
    unknown = (~known).nonzero().flatten()
    log_p = F.log_softmax(logits, 1)
    background = torch.logsumexp(log_p[:, [0, *unknown.tolist()]], 1, keepdim=True)
    log_p = torch.cat([background, log_p[:, 1:]], 1)
    probability, target = log_p.exp()[:, known], F.one_hot(labels, classes).movedim(-1, 1).float()[:, known]
    axes = (0, 2, 3, 4)
    dice = (2 * (probability * target).sum(axes) + 1) / ((probability + target).sum(axes) + 1)
    loss = F.nll_loss(log_p, labels) + 1 - dice[1:].sum() / max(1, len(dice) - 1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


network = UNet(a.base_filters, classes, norm="instance").to(memory_format=torch.channels_last_3d)
begin = time.monotonic()


def steps_that_fit():
    tried = copy.deepcopy(network)
    optimizer = torch.optim.Adam(tried.parameters(), 1e-3)
    seconds = []
    for _ in range(MEASURED):
        start = time.monotonic()
        step(tried, optimizer)
        seconds.append(time.monotonic() - start)
    rate = sum(sorted(seconds)[1:-1]) / (MEASURED - 2)  # without the fastest and the slowest
    steps = max(1, int((a.seconds - (time.monotonic() - begin)) / rate))
    print(f"{rate:.3f} s a step: {steps} steps", flush=True)
    return steps


steps = a.steps or steps_that_fit()
optimizer = torch.optim.Adam(network.parameters(), 1e-3)
for at in range(steps):
    optimizer.param_groups[0]["lr"] = 1e-3 * (1 - at / steps) ** 0.9
    loss = step(network, optimizer)
    if (at + 1) % 250 == 0:
        print(f"step {at + 1}: {time.monotonic() - begin:.0f} s, loss {loss:.3f}", flush=True)
print(f"trained {steps} steps in {time.monotonic() - begin:.0f} s", flush=True)

network.eval()
for image in sorted((a.data / "imagesTs").glob("*_0000.nii.gz")):
    source = nibabel.load(image)
    values = values_of(source)
    with torch.inference_mode():
        found = logits_of(network, padded(values, 8, 8, -1.0)[None, None])[0].argmax(0)
    labels = found[tuple(slice(n) for n in values.shape)].numpy().astype(np.uint8)
    nibabel.save(nibabel.Nifti1Image(labels, source.affine), a.write / label_name(image))
subprocess.run([a.voxshard, "evaluate", str(a.write), str(a.data / "labelsTs"), "-o", f"{a.write}.json", "--dataset", str(a.data)], check=True)
