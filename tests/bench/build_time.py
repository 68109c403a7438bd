#!/usr/bin/env python3
"""Compares what two checkouts cost to compile: processor seconds (user and system) of clean release builds.

    tests/bench/build_time.py OLD NEW              every object of both, alternately
    tests/bench/build_time.py OLD NEW --every 5    about every fifth object (by the hash of its path), scaled up, and all headers

Objects are compiled one at a time, OLD's and NEW's in turn, so that a busy machine costs both alike. Linking is left out.
"""
import argparse
import hashlib
import json
import os
import resource
import shlex
import subprocess
import tempfile


def configured(checkout, folder):
    """Configures a release build of the checkout in the folder; returns its compile commands, precompiled headers included."""
    flags = json.load(open(f"{checkout}/CMakePresets.json"))["configurePresets"][1]["cacheVariables"]
    subprocess.run(["cmake", "-G", "Ninja", "-S", checkout, "-B", folder, "-DCMAKE_CXX_COMPILER_LAUNCHER="]
                   + [f"-D{key}={value}" for key, value in flags.items()], check=True, stdout=subprocess.DEVNULL)
    # compile_commands.json would do, but leaves precompiled headers out before CMake 3.27's; ninja's database has both.
    rules = subprocess.run(["ninja", "-C", folder, "-t", "compdb"], check=True, capture_output=True, text=True).stdout
    return [entry for entry in json.loads(rules) if " -c " in entry["command"] and entry["output"].endswith((".o", ".gch"))]


def name_of(entry, checkout):
    """The source's path in the checkout: the same in both, so that both take the same sample."""
    return os.path.relpath(entry["file"], checkout)


def is_header(entry):
    return entry["output"].endswith(".gch")


def in_sample(entry, checkout, every):
    return int(hashlib.sha256(name_of(entry, checkout).encode()).hexdigest(), 16) % every == 0


def seconds(entry):
    os.makedirs(os.path.join(entry["directory"], os.path.dirname(entry["output"])), exist_ok=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(shlex.split(entry["command"]), cwd=entry["directory"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        sides = []
        for checkout in (os.path.abspath(options.old), os.path.abspath(options.new)):
            commands = configured(checkout, os.path.join(scratch, str(len(sides))))
            headers = [entry for entry in commands if is_header(entry)]
            objects = [entry for entry in commands if not is_header(entry)]
            sample = [entry for entry in objects if in_sample(entry, checkout, options.every)]
            sides.append({"checkout": checkout, "objects": len(objects), "headers": len(headers), "sample": len(sample),
                          "left": headers + sample, "header_s": 0.0, "sample_s": 0.0})
        while any(side["left"] for side in sides):
            for side in sides:
                if side["left"]:
                    entry = side["left"].pop(0)
                    side["header_s" if is_header(entry) else "sample_s"] += seconds(entry)
        for side in sides:
            side["s"] = side["header_s"] + side["sample_s"] * side["objects"] / max(side["sample"], 1)
            print(f"{side['checkout']}: {side['headers']} precompiled headers {side['header_s']:.1f} s, {side['sample']} of "
                  f"{side['objects']} objects {side['sample_s']:.1f} s; in all {side['s']:.0f} processor seconds")
        print(f"new / old: {sides[1]['s'] / sides[0]['s']:.3f}")


if __name__ == "__main__":
    main()
