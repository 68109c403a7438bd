"""The counter-based generator of libcore/base/rng.h for NumPy: both sides of a parity test make the same weights and inputs."""
import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mix(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def stream(name):
    h = 0xCBF29CE484222325
    for ch in name.encode():
        h = ((h ^ ch) * 0x100000001B3) & (2**64 - 1)
    return np.uint64(h)


def uniform(seed, name, count):
    """`count` numbers in [0, 1) of the stream `name`."""
    with np.errstate(over="ignore"):
        key = mix(np.array([np.uint64(seed) + GOLDEN])) ^ stream(name)
        bits = mix(mix(key) + (np.arange(count, dtype=np.uint64) + np.uint64(1)) * GOLDEN)
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
