"""What the peers in PyTorch share: their options, and the training step that they time and print as "step S s, peak P GiB",
which tests/bench/ratios.py reads.

  a = torch_step.options(__doc__, size="640x640", precision="bf16").parse_args()
  torch_step.time_steps(a, model, image, loss_of, parameters=34_091_159)

A step is forward, loss, backward and SGD with momentum. Under bf16 the forward pass is autocast; weights and losses are f32.
"""
import argparse, resource, statistics, time
import torch


def options(doc, size, precision, steps=1):
    """A parser with the options that all peers have; a peer adds its own."""
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--size", default=size, help="spatial, as HxW or DxHxW")
    p.add_argument("--batch", type=int, default=1)
    p.add_argument("--steps", type=int, default=steps)
    p.add_argument("--warmup", type=int, default=1)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--layout", choices=["channels_last", "contiguous"], default="channels_last")
    p.add_argument("--precision", choices=["f32", "bf16"], default=precision)
    p.add_argument("--forward", action="store_true", help="time the forward pass alone, as a prediction makes it")
    return p


def begin(a):
    """Seed and threads; the spatial extents of --size."""
    torch.manual_seed(1)
    torch.set_num_threads(a.threads)
    return tuple(int(n) for n in a.size.split("x"))


def memory_format(a):
    if a.layout == "contiguous":
        return torch.contiguous_format
    return torch.channels_last if a.size.count("x") == 1 else torch.channels_last_3d


def time_forward(a, model, image):
    """The same for predictions: no loss, no gradients, statistics as they are used then."""
    model = model.to(memory_format=memory_format(a)).eval()
    image, seconds = image.to(memory_format=memory_format(a)), []
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=a.precision == "bf16"):
        for step in range(a.warmup + a.steps):
            start = time.perf_counter()
            model(image).argmax(1)
            if step >= a.warmup:
                seconds.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"step {statistics.median(seconds):.3f} s, peak {peak:.2f} GiB ({a.precision}, {a.layout}, forward)")


def time_steps(a, model, image, loss_of, parameters=None):
    """Times --steps steps after --warmup; loss_of takes what the model gives. `parameters`: how many it must have."""
    model, image = model.to(memory_format=memory_format(a)), image.to(memory_format=memory_format(a))
    count = sum(parameter.numel() for parameter in model.parameters())
    assert parameters in (None, count), count
    if a.forward:
        return time_forward(a, model, image)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    seconds = []
    for step in range(a.warmup + a.steps):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=a.precision == "bf16"):
            outputs = model(image)
        loss = loss_of(outputs)
        loss.backward()
        optimizer.step()
        if step >= a.warmup:
            seconds.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"step {statistics.median(seconds):.3f} s, peak {peak:.2f} GiB ({a.precision}, {a.layout}, loss {loss.item():.4f})")
