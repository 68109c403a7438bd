"""What both generators of parity numbers do with a network: ten steps of SGD, and the file."""
import json

import torch


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


def print_reference(generator, about, cases):
    print(json.dumps({"made_with": f"PyTorch {torch.__version__}, tests/parity/{generator}", **about, "cases": cases}, indent=1))
