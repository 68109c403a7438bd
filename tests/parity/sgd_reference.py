"""What the generators of parity numbers do with a network: ten steps of SGD, their condition, and the file.

Another version of PyTorch adds what a stored file lacks, and leaves the numbers that stand there:

  python3 tests/parity/make_unet_reference.py tests/parity/unet_reference.json > more.json
"""
import json
import sys

import rounding
import torch

AGREE = 1e-12  # relative: what two versions of PyTorch may differ by in f64


def ten_steps(parameters, loss_of, rate, momentum, steps=10, decay=0.0, decays=lambda name: False):
    """The losses of `steps` steps and, in the first, the f64 norm of each parameter's gradient.

    parameters: tensors by name; loss_of: the loss of the network as it is; decay: of L2 on the parameters that decay."""
    groups = [{"params": [p for name, p in parameters.items() if decays(name) == yes], "weight_decay": decay if yes else 0.0}
              for yes in (False, True)]
    optimizer = torch.optim.SGD([g for g in groups if g["params"]], lr=rate, momentum=momentum)
    losses, norms = [], None
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        losses.append(loss.item())
        if norms is None:
            norms = {name: p.grad.double().norm().item() for name, p in parameters.items()}
        optimizer.step()
    return {"losses": losses, "gradient_norms": norms}


def conditioned_steps(parameters, loss_of, rate, momentum, **options):
    """The same of parameters in f64, with the condition of each number (rounding.py), which is found in f32: PyTorch convolves
    many times as fast in it."""
    begin = {name: p.detach().clone() for name, p in parameters.items()}

    def run(dtype):
        for name, p in parameters.items():
            p.grad, p.data = None, begin[name].to(dtype, copy=True)
        return ten_steps(parameters, loss_of, rate, momentum, **options)

    steps = run(torch.float64)
    return {**steps, "condition": rounding.condition(steps, lambda: run(torch.float32))}


def add_to_stored(stored, cases, made_with):
    """The stored file with what it lacks, further cases too: numbers that stand there stay, and those in f64 must agree."""
    for old, new in zip(stored["cases"], cases):
        if ("f64" in old) == ("f64" in new):  # else the stored numbers are of f32 alone
            for a, b in zip(*(steps.get("f64", steps)["losses"] for steps in (old, new))):
                assert abs(a - b) <= AGREE * abs(a), (a, b)
        for key in ("f64", "condition"):
            if key in new:
                old.setdefault(key, new[key])
    head = {name: value for name, value in stored.items() if name not in ("cases", "condition_made_with")}
    return {**head, "condition_made_with": made_with, "cases": stored["cases"] + cases[len(stored["cases"]):]}


def print_reference(generator, about, cases):
    """To a file that is named on the command line only what it lacks is added."""
    made_with = f"PyTorch {torch.__version__}, tests/parity/{generator}"
    whole = {"made_with": made_with, "condition_made_with": made_with, **about, "cases": cases}
    if len(sys.argv) > 1:
        with open(sys.argv[1]) as file:
            whole = add_to_stored(json.load(file), cases, made_with + ", rounding.py")
    print(json.dumps(whole, indent=1))
